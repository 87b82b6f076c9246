"""The outline of a body: the policy made from it equals that made from the whole page."""

from __future__ import annotations

from functools import partial
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.characters import remove_forbidden
from blogsmith.config.schema import Config, Markup, Security
from blogsmith.model.texts import EncodedText, PageParts, PageText, compress_text, lazy_text
from blogsmith.render.policy.outline import body_outline, page_outline
from blogsmith.render.policy.policy import guard_page, guard_parts
from tests.rows import each_row

BEFORE = (
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>T</title>\n</head>\n<body>\n'
)
AFTER = "\n</body>\n</html>\n"
CONFIGS = (Config(), Config(security=Security(csp="off")), Config(markup=Markup(untrusted=True)))

OUTLINED = [
    "<p>Text</p>\n",
    '<p><img src="https://a.example/b.png">\x20text</p>',
    '<p style="color: red">x</p>',
    '<p style = "background: url(//a.example/b.png)">x</p>',
    '<p><a href="/" target="_blank">x</a></p>',
    '<iframe src="https://player.vimeo.com/video/1"></iframe>',
    '<iframe srcdoc="&lt;img src=//a.example/b.png>"></iframe>',
    '<button onclick="a()">x</button>',
    '<figure data-embed-url="https://www.youtube-nocookie.com/embed/a"></figure>',
    '<pre data-pyodide="x"></pre>',
    '<span title="<img src=https://a.example/b.png>">x</span>',
    '<P><IMG SRC="//A.example/B.png"></P>',
]
WHOLE = [
    "",
    "Text",
    "<p>Text",
    "<p>\x01</p>",
    "<!-- a --><p>b</p>",
    "<p>--></p>",
    "<script>a()</script>",
    "<p></textarea></p>",
    "<title>a</title>",
    '<meta charset="utf-8">',
    '<img alt="x><p>y</p>',
    '<p><br srcset="https://a.example/b.png 1x">target</p>',
]
REACHING = [
    # closes a quote
    '<p title="\' src=https://a.example/b.png ">x</p>',
    # belongs to the previous tag
    'data-embed-url="https://a.example/"><p>x</p>',
    # is a tag that affects the following text
    '<p>x</p><br srcset="https://a.example/b.png 1x">',
]
FRONTS = [
    *("<html ", "<body><i "),
    *("", "<p>", "<body>", "<body><!-- ", "<body><script>", "<body><textarea>", "<body><style>"),
    *(
        '<body><img alt="',
        '<body><img alt="x>',
        "<body><img alt='x>",
        "<body><img alt=",
        "<body ",
        "<html <body>",
    ),
    '<meta http-equiv="Content-Security-Policy" content="default-src *"><body>',
]
BACKS = [
    *(
        "",
        "\n",
        "text</body>",
        "target<p>",
        "' onclick=a>",
        '" src="https://b.example/c.png">',
        "-->",
        "</script>",
    ),
    *("</textarea><p>", "<script>b()</script>", '<meta charset="utf-8">', "<a target=_blank href=/>", "<"),
]


def is_equal(before: str, body: str, after: str) -> bool:
    """Return whether a page in parts gets the same policy as in a single string."""
    front, data, back = (text.encode("utf-8", "surrogatepass") for text in (before, body, after))
    parts = PageParts(front, EncodedText(data, body_outline(data)), back)
    whole = remove_forbidden(before + body + after).encode()
    return all(guard_parts(parts, config) == guard_page(whole, config) for config in CONFIGS)


@each_row("body", OUTLINED)
def test_a_body_is_known_by_few_of_its_tags(body: str) -> None:
    outline = body_outline(f"{body}<p>{'<i>x</i>' * 1000}</p>".encode())
    assert 0 < len(outline) < len(body) + 50
    parts = PageParts(
        BEFORE.encode(), EncodedText(body.encode(), body_outline(body.encode())), AFTER.encode()
    )
    assert page_outline(parts) is not None
    assert is_equal(BEFORE, body, AFTER)


@each_row("body", WHOLE)
def test_what_may_reach_into_its_page_has_none(body: str) -> None:
    assert body_outline(body.encode()) == b""
    assert is_equal(BEFORE, body, AFTER)


@each_row("before", FRONTS)
def test_a_page_that_reaches_into_its_body_is_read_as_a_whole(before: str) -> None:
    for body, after in product((*REACHING, *OUTLINED[:5]), BACKS):
        assert is_equal(before, body, after), (body, after)


PIECES = st.lists(
    st.sampled_from([*OUTLINED, *WHOLE, *FRONTS, *BACKS, ">", "<", '"', "'", " on", "="]), max_size=4
)


@given(PIECES, PIECES, PIECES, st.booleans())
def test_whatever_stands_in_a_page(
    before: list[str], body: list[str], after: list[str], is_plain: bool
) -> None:
    front, back = (BEFORE, AFTER) if is_plain else ("", "")
    assert is_equal(front + "".join(before), "".join(body), "".join(after) + back)


def test_it_is_kept_with_the_text() -> None:
    for body in (*OUTLINED, *WHOLE, "<p>\ud800</p>"):
        text = PageText.from_string(body, body_outline)
        again = lazy_text(text.digest, partial(compress_text, text))
        assert (again, again.read()) == (text, body)
        assert again.encode() == again.open().encode() == text.open().encode()
        assert (again.encode().data, again.encode().outline) == (text.encode().data, text.encode().outline)
        assert again.encode().outline == body_outline(again.encode().data)
