"""Row 25: loops, calls and multiplications in templates are counted; limits are reported with their line."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import Diagnostic, SiteError
from blogsmith.render.templates import budget as template_budget
from blogsmith.render.templates.theme import load_theme
from tests.rows import thinned
from tests.test_theme import BUNDLED, failure, page, plain, site

DOUBLING = "{% set n = namespace(x='ab') %}\n{% for a in range(60) %}\n{% set n.x = OF %}\n{% endfor %}"
SHARED = (
    "{% set n = namespace(x=(1, 2), y=(1, 2)) %}{% for a in range(60) %}{% set n.x = (n.x, n.x) %}"
    "{% set n.y = (n.y, n.y) %}{% endfor %}\n"
)

ENDLESS = {
    "loops": "\n{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    "empty loops": "{% for a in range(99999) %}\n{% for b in range(99999) %}{% endfor %}\n{% endfor %}",
    "a condition that never holds": (
        "{% for a in range(99999) %}\n{% for b in range(99999) if b < 0 %}{% endfor %}\n{% endfor %}"
    ),
    "loops in a call": (
        "{% macro m() %}{{ caller() }}{% endmacro %}\n"
        "{% for a in range(99999) %}{% for b in range(99999) %}\n"
        "{% call m() %}x{% endcall %}{% endfor %}{% endfor %}"
    ),
    "macros that fork": (
        "{% macro m(n) %}\n{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}\n{{ m(60) }}"
    ),
    "loops that call themselves": (
        "{% for a in [1, 2] recursive %}\n{{ loop([1, 2]) if loop.depth < 25 else '' }}{% endfor %}"
    ),
    "blocks that fork": (
        "{% set n = namespace(d=0) %}{% block b %}\n{% if depth is not defined %}{% for i in range(99999) %}"
        "{% for j in range(9999) %}{{ j }}{% endfor %}{% endfor %}{% endif %}{% endblock %}"
    ),
    "includes in loops": (
        "{% for a in range(99999) %}\n{% for b in range(99999) %}{% include 'partials/p.html' %}"
        "{% endfor %}{% endfor %}"
    ),
    "filters in loops": "{% for a in range(99999) %}\n{{ range(99999) | sum }}{% endfor %}",
    "selections in loops": (
        "{% for a in range(99999) %}\n"
        "{{ range(99999) | select('equalto', -1) | first | default }}{% endfor %}"
    ),
    "searches in loops": "{% set l = range(99999) | list %}\n{% for a in l %}\n{{ -1 in l }}{% endfor %}",
}

HUGE = {
    "product": "\n{{ 'a' * 10**10 }}",
    "product of a list": "\n{{ [1] * 10**10 }}",
    "power": "\n{{ 2 ** (10**9) }}",
    "power of powers": "\n{{ 10 ** (10 ** (10 ** 10)) }}",
    "large numbers": "{% set n = namespace(x=3) %}\n"
    "{% for a in range(60) %}{% set n.x = n.x * n.x %}{% endfor %}",
    "percent": "\n{{ '%1000000000d' % 1 }}",
    "precision": "\n{{ '%.1000000000f' % 1 }}",
    "starred width": "\n{{ '%*d' % (1000000000, 1) }}",
    "percent, many fields": "\n{{ ('%s' * 1000000) % (('a' * 1000,) * 1000000) }}",
    "format": "\n{{ '{:>1000000000}'.format(1) }}",
    "nested format": "\n{{ '{:{}}'.format(1, 1000000000) }}",
    "format_map": "\n{{ '{a:>1000000000}'.format_map({'a': 1}) }}",
    "format of HTML": "\n{{ ('{:>1000000000}' | safe).format('a') }}",
    'filter "format"': "\n{{ '%1000000000s' | format('a') }}",
    "constant filter": "\n{{ 'a' | center(10000000000) }}",
    "center": "\n{{ page.title | center(10**10) }}",
    "method center": "\n{{ page.title.center(10**10) }}",
    "attribute center": "\n{{ (page.title | attr('center'))(10**10) }}",
    "mapped center": "\n{{ [page.title] | map('center', 10**10) | list }}",
    "zfill": "\n{{ '1'.zfill(10**10) }}",
    "ljust": "\n{{ 'a'.ljust(10**10) }}",
    "expandtabs": "\n{{ '\t'.expandtabs(10**9) }}",
    "to_bytes": "\n{{ (1).to_bytes(10**10, 'big') | length }}",
    "bytes": "\n{{ 'a'.encode().center(10**10) | length }}",
    "numbers of bytes": "\n{{ (1).from_bytes(('a' * 9999).encode(), 'big') }}",
    "int": "\n{{ ('f' * 9999999) | int(0, 16) }}",
    "round": "\n{{ 1.5 | round(10**9, 'ceil') }}",
    "indent": "\n{{ 'a\nb' | indent(10**10) }}",
    "indent by text": "\n{{ ('\n' * 99999) | indent('a' * 9999) }}",
    "wordwrap": "\n{{ ('a ' * 99999) | wordwrap(1, wrapstring='a' * 9999) }}",
    "replace": "\n{{ ('a' * 99999) | replace('a', 'b' * 9999) }}",
    "method replace": "\n{{ ('a' * 99999).replace('a', 'b' * 9999) }}",
    "join": "\n{{ range(99999) | join('a' * 9999) }}",
    "method join": "\n{{ ('a' * 9999).join(range(99999) | map('string')) }}",
    "join of attributes": "\n{{ ([page] * 99999) | join(attribute='content') | length }}",
    "translate": "\n{{ ('a' * 99999).translate({97: 'b' * 9999}) }}",
    "split": "\n{{ ('a ' * 9999999).split() | length }}",
    "splitlines": "\n{{ ('a\n' * 9999999).splitlines() | length }}",
    "list": "\n{{ ('a' * 9999999) | list | length }}",
    "wordcount": "\n{{ ('a ' * 9999999) | wordcount }}",
    "batch": "\n{{ [1] | batch(10**10, 0) | list | length }}",
    "slice": "\n{{ [1] | slice(10**10) | list | length }}",
    "tojson": "\n{{ [[1]] | tojson(indent=10**9) }}",
    "urlize": "\n{{ ('a.de ' * 9999) | urlize(target='a' * 99999) }}",
    "truncate": "\n{{ ('a' * 99) | truncate(9, end='a' * 99999999 ~ 'b' * 99999999) }}",
    "sum": "\n{{ ([[1] * 999] * 9999) | sum(start=[]) | length }}",
    "range": "\n{{ range(10**9) | list }}",
    "lipsum": "\n{{ lipsum(n=10**9) }}",
    "cycler": "\n{{ cycler(*range(99999)).next() ~ 'a' * 10**10 }}",
    "doubling ~": DOUBLING.replace("OF", "n.x ~ n.x"),
    "doubling +": DOUBLING.replace("OF", "n.x + n.x"),
    "doubling by replace": DOUBLING.replace("OF", "n.x | replace('a', 'aa') | replace('b', 'bb')"),
    "doubling lists": "{% set n = namespace(x=[1]) %}\n"
    "{% for a in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "slices": (
        "{% set s = 'a' * 9999999 %}{% set n = namespace(x=[]) %}\n"
        "{% for a in range(9999) %}{% set n.x = n.x + [s[1:]] %}{% endfor %}"
    ),
    "escapes": "{% set s = '<' * 9999999 %}\n"
    "{% set t %}{% for a in range(9999) %}{{ s }}{% endfor %}{% endset %}",
    "page text": "\n{% for a in range(9999) %}{{ page.content }}{% endfor %}",
    "page text kept": (
        "{% set n = namespace(x=[]) %}\n"
        "{% for a in range(9999) %}{% set n.x = n.x + [page.content] %}{% endfor %}"
    ),
    "text of the template": "\n{% for a in range(99999) %}" + "a" * 9999 + "{% endfor %}",
    "shared lists as text": SHARED + "{{ n.x }}",
    "shared lists by the filter string": SHARED + "{{ n.x | string | length }}",
    "shared lists as JSON": SHARED + "{{ n.x | tojson }}",
    "shared lists as JSON of ours": SHARED + "{{ n.x | json }}",
    "shared lists joined": SHARED + "{{ 'a' ~ n.x }}",
    "shared lists formatted": SHARED + "{{ '{}'.format(n.x) }}",
    "shared lists by percent": SHARED + "{{ '%s' % (n.x,) }}",
    "shared lists compared": SHARED + "{{ n.x == n.y }}",
    "shared lists searched": SHARED + "{{ n.x in [n.y] }}",
    "shared lists hashed": SHARED + "{{ {n.x: 1} }}",
    "shared lists as a key": SHARED + "{{ {}[n.x] }}",
    "shared lists counted": SHARED + "{{ [n.y].index(n.x) }}",
    "shared lists printed": SHARED + "{{ n.x | pprint }}",
    "a namespace as text": SHARED + "{{ n }}",
}


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> int:
    """Set a small step budget and return it."""
    monkeypatch.setattr(template_budget, "STEPS", 300_000)
    return 300_000


def refusal(root: Path, template: str) -> Diagnostic:
    """Return the diagnostic of a layout that exceeds a limit."""
    theme = plain(root, {"layouts/post.html": template, "partials/p.html": "{{ 1 }}"})
    with pytest.raises(SiteError) as caught:
        theme.render("post", page(content="<b>" * 99_999), site())
    (found,) = caught.value.diagnostics
    return found


@pytest.mark.parametrize("template", ENDLESS.values(), ids=ENDLESS)
def test_endless_work_is_told_with_template_and_line(tmp_path: Path, few_steps: int, template: str) -> None:
    found = refusal(tmp_path, template)
    assert (found.code, found.path) == ("template-limit", "layouts/post.html") and found.place
    assert found.message == f"more than {few_steps:,} steps in the templates of one page"
    assert found.source_line == template.split("\n")[found.place.line - 1] and found.hint


@pytest.mark.parametrize("template", thinned(HUGE.values(), every=3), ids=HUGE)
def test_huge_values_are_told_before_they_are_made(tmp_path: Path, few_steps: int, template: str) -> None:
    found = refusal(tmp_path, template)
    assert found.path == "layouts/post.html" and found.place
    assert found.place.line >= 2 and found.source_line
    # Python and Jinja have their own limits for some of them.
    if found.code != "template-limit":
        assert found.message.startswith(("OverflowError", '"lipsum" is not defined')), found.message


def test_a_text_that_only_the_clock_can_stop_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template_budget, "NET_S", 0.3)
    monkeypatch.setattr(template_budget, "STEPS", 10**12)
    found = refusal(
        tmp_path, "\n{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}"
    )
    assert (found.code, found.path, found.place and found.place.line) == (
        "template-limit",
        "layouts/post.html",
        2,
    )
    assert found.message.startswith("more than ") and "CPU time" in found.message


def test_other_threads_count_too(tmp_path: Path, few_steps: int) -> None:
    """Signals arrive only in the main thread, but steps are counted everywhere."""
    template = ENDLESS["loops"]
    here, there = refusal(tmp_path, template), []
    thread = threading.Thread(target=lambda: there.append(refusal(tmp_path, template)))
    thread.start()
    thread.join()
    assert there == [here]


def test_each_page_has_a_budget_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that is done once, for compiled templates and macros of partials, is charged to no page."""
    macros = "{% set all = range(9999) | list %}{% macro m() %}x{% endmacro %}"
    theme = plain(
        tmp_path,
        {
            "layouts/post.html": "{% from 'partials/m.html' import m %}"
            "{% for a in range(999) %}{{ m() }}{% endfor %}",
            "partials/m.html": macros,
        },
    )
    monkeypatch.setattr(template_budget, "STEPS", 16_000)
    pages = {theme.render("post", page(), site()) for _ in range(5)}
    assert pages == {"x" * 999 + "\n"}


def test_a_list_of_five_thousand_posts_takes_a_small_part_of_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template_budget, "STEPS", template_budget.STEPS // 100)
    monkeypatch.setattr(template_budget, "CHARACTERS", template_budget.CHARACTERS // 100)
    posts = tuple(page(title=f"Post {number}", url=f"/posts/{number}/") for number in range(500))
    theme = load_theme("paper", tmp_path, BUNDLED)
    html = theme.render("section", page(kind="section", layout="section", pages=posts), site())
    assert html.count("/posts/499/") == 1
    index = "[{% for p in page.pages %}{{ p.title | tojson }}{{ ',' if not loop.last }}{% endfor %}]"
    text = plain(tmp_path, {"layouts/post.html": index}).render("post", page(pages=posts), site())
    assert text.startswith('["Post 0",')


def test_operations_of_every_day_are_as_they_were(tmp_path: Path) -> None:
    template = (
        "{{ 'a' * 3 }} {{ 2 ** 10 }} {{ '%05.2f' % 3.14159 }} {{ '%s-%s' % ('a', 'b') }} {{ [1] + [2] }} "
        "{{ '{:>4}|{a}'.format('x', a=1) }} {{ '%s %s' | format('a', 2) }} {{ [1, 2] | join(', ') }} "
        "{{ 'a b'.split() | last }} {{ 'a' ~ 1 ~ '<' }} {{ 'abc'[1:] }} {{ [3, 1] | sort | list }} "
        "{{ 'x' in {'x': 1} }} {{ '<' ~ ('<b>' | safe) }} {{ [{'n': 'k'}] | join('', attribute='n') }} "
        "{{ 7 % 4 }} {{ 'a\nb' | indent(2) }} {{ ['a', 'b'] | batch(3, '-') | list }} "
        "{{ -1.5 | round | int }} "
        "{% for a in range(4) if a % 2 %}{{ loop.last }}{{ a }}{% endfor %} {{ {'a': 1}.items() | list }}"
    )
    assert plain(tmp_path, {"layouts/post.html": template}).render("post", page(), site()) == (
        "aaa 1024 03.14 a-b [1, 2]    x|1 a 2 1, 2 b a1&lt; bc [1, 3] True &lt;<b> k 3 a\n  b "
        "[[&#39;a&#39;, &#39;b&#39;, &#39;-&#39;]] -2 False1True3 [(&#39;a&#39;, 1)]\n"
    )


OUTSIDE = (
    "../../blogsmith.yaml",
    "/etc/passwd",
    "~/.ssh/id_rsa",
    "..%2fblogsmith.yaml",
    "partials/../../x.html",
    "",
)


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize(
    "call", ["{% include N %}", "{% extends N %}", "{% import N as m %}", "{% from N import m %}"]
)
def test_row_25_no_template_comes_from_outside_the_theme(tmp_path: Path, call: str, name: str) -> None:
    template = "{% set a = 1 %}\n" + call.replace("N", f"'{name}'")
    found = refusal(tmp_path, template)
    assert (found.code, found.path, found.place and found.place.line) == ("template", "layouts/post.html", 2)
    assert found.message == f'template not found: "{name}"'


CIRCLES = {
    "include": (
        "{% include 'partials/b.html' %}",
        "{% include 'partials/c.html' %}",
        "{% include 'partials/b.html' %}",
    ),
    "extends": (
        "{% extends 'partials/b.html' %}",
        "{% extends 'partials/c.html' %}",
        "{% extends 'partials/b.html' %}",
    ),
    "import": (
        "{% import 'partials/b.html' as b %}",
        "{% import 'partials/c.html' as c %}",
        "{% import 'partials/b.html' as b %}",
    ),
}


@pytest.mark.parametrize("texts", CIRCLES.values(), ids=CIRCLES)
def test_row_25_a_circle_is_told_with_all_that_is_in_it(tmp_path: Path, texts: tuple[str, str, str]) -> None:
    names = ("layouts/post.html", "partials/b.html", "partials/c.html")
    found = failure(tmp_path, dict(zip(names, texts, strict=True)))
    assert (found.code, found.path) == ("template", "partials/b.html") and found.source_line == texts[1]
    assert found.message == (
        "templates include or extend each other in a cycle: "
        "partials/b.html → partials/c.html → partials/b.html"
    )


def test_row_25_a_macro_that_calls_itself_is_told_with_its_line(tmp_path: Path) -> None:
    found = failure(tmp_path, {"layouts/post.html": "{% macro m() %}\n{{ m() }}{% endmacro %}\n{{ m() }}"})
    assert found.message == 'template "layouts/post.html" includes, extends or calls itself without end'
    assert found.place and found.place.line == 2
