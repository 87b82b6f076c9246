"""Themes: where templates come from, what they may do, and error messages."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jinja2 import nodes
from markupsafe import Markup

from blogsmith.base.diagnostics.model import Diagnostic, SiteError
from blogsmith.languages.language import ENGLISH
from blogsmith.model.documents import TocEntry
from blogsmith.model.template_views import Link, PageGroup, PageView, SeriesPart, SiteView
from blogsmith.model.texts import PageText
from blogsmith.render.templates import metering
from blogsmith.render.templates.environment import iso_date
from blogsmith.render.templates.theme import Theme, load_theme

BUNDLED = Path(__file__).parent.parent / "themes"
PLAIN = {"themes/plain/theme.yaml": "name: plain\n"}


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def plain(root: Path, files: Mapping[str, str], base_path: str = "") -> Theme:
    return load_theme("plain", write(root, {**PLAIN, **files}), BUNDLED, base_path=base_path)


def page(**fields: Any) -> PageView:
    given: dict[str, Any] = {"kind": "post", "path": "content/posts/a.md", "url": "/posts/a/"}
    given |= {"canonical_url": "", "title": "A", "title_html": "A"}
    given |= {"body": PageText.from_string(fields.pop("content", ""))}
    return PageView(**{**given, **fields})


def site(**fields: Any) -> SiteView:
    given: dict[str, Any] = {"title": "Site", "description": "", "author": "", "lang": "en", "base_path": ""}
    given |= {"base_url": "", "menu": (), "sections": (), "options": {}, "generator": "blogsmith"}
    return SiteView(**{**given, **fields})


def shortcode(root: Path, template: str, **context: object) -> str:
    return plain(root, {"shortcodes/x.html": template}).render_shortcode("x", context)


def failure(root: Path, files: Mapping[str, str], **fields: object) -> Diagnostic:
    """Return the only diagnostic of rendering layout `post`."""
    theme = plain(root, files)
    with pytest.raises(SiteError) as caught:
        theme.render("post", page(**fields), site())
    (found,) = caught.value.diagnostics
    return found


class TestLookup:
    def test_order(self, tmp_path: Path) -> None:
        """Site, then theme, then its parents, then plugins: one file overrides one file."""
        names = [f"shortcodes/{name}.html" for name in "abcd"]
        root = write(
            tmp_path / "site",
            {
                names[0]: "site",
                "themes/child/theme.yaml": "extends: parent\n",
                "themes/parent/theme.yaml": "",
                **{f"themes/child/{name}": "child" for name in names[:2]},
                **{f"themes/parent/{name}": "parent" for name in names[:3]},
            },
        )
        plugin = write(tmp_path / "plugin", {f"{name}.html": "plugin" for name in "abcd"})
        theme = load_theme("child", root, BUNDLED, [plugin])
        assert theme.shortcode_names() == ("a", "b", "c", "d")
        assert [theme.render_shortcode(name, {}) for name in "abcd"] == ["site", "child", "parent", "plugin"]

    def test_site_theme_goes_before_bundled(self, tmp_path: Path) -> None:
        write(tmp_path, {"themes/paper/theme.yaml": "", "themes/paper/layouts/only.html": "mine"})
        theme = load_theme("paper", tmp_path, BUNDLED)
        assert theme.layouts() == ("only",)

    def test_override_can_extend_what_it_overrides(self, tmp_path: Path) -> None:
        files = {
            "layouts/post.html": '{% extends "plain/layouts/post.html" %}{% block b %}new{% endblock %}',
            "themes/plain/layouts/post.html": "<{% block b %}old{% endblock %}>",
        }
        assert plain(tmp_path, files).render("post", page(), site()) == "<new>\n"

    def test_static_files_come_from_the_chain(self, tmp_path: Path) -> None:
        files = {
            "themes/plain/theme.yaml": "extends: parent\n",
            "themes/plain/static/a.svg": "child",
            "themes/parent/theme.yaml": "",
            "themes/parent/static/a.svg": "parent",
            "themes/parent/static/fonts/b.woff2": "font",
            "themes/parent/static/.hidden": "",
            "themes/parent/static/run.py": "code",
            "themes/parent/static/__pycache__/run.cpython-311.pyc": "compiled",
        }
        theme = load_theme("plain", write(tmp_path, files), BUNDLED)
        assert [(str(asset.path), asset.file.read_text()) for asset in theme.static_files()] == [
            ("assets/plain/a.svg", "child"),
            ("assets/plain/fonts/b.woff2", "font"),
            ("assets/plain/run.py", "code"),
        ]

    def test_only_files_that_pages_load_are_copied(self, tmp_path: Path) -> None:
        face = '/* licence: fonts/OFL-{0}.txt */ @font-face {{ src: url("fonts/{0}.woff2") }}'
        names = ("joined", "named", "mine", "other")
        files = {
            "themes/plain/theme.yaml": "styles: [joined.css, {file: other.css, when: {font: other}}]\n"
            "options: {font: {default: mine, choices: [mine, other]}, own: {default: '', kind: files}}\n",
            **{f"themes/plain/static/{name}.css": face.format(name) for name in names},
            **{f"themes/plain/static/fonts/{name}.woff2": "" for name in names},
            **{f"themes/plain/static/fonts/OFL-{name}.txt": "" for name in names},
            "themes/plain/static/imported.css": "@import 'named.css';",
            "themes/plain/static/fonts/free.woff2": "",
            "layouts/post.html": "{{ asset('imported.css') }}",
        }
        options = {"own": ["/assets/plain/mine.css?v=1"]}
        theme = load_theme("plain", write(tmp_path, files), BUNDLED, chosen=options)
        fonts = [f"fonts/{name}" for name in ("OFL-{}.txt", "{}.woff2")]
        kept = {font.format(name) for font in fonts for name in ("joined", "named", "mine")}
        assert {str(one.path).removeprefix("assets/plain/") for one in theme.static_files()} == kept | {
            "fonts/free.woff2",
            "imported.css",
            "mine.css",
            "named.css",
        }

    def test_options_have_defaults(self, tmp_path: Path) -> None:
        files = {
            "themes/plain/theme.yaml": "extends: parent\noptions: {b: child}\n",
            "themes/parent/theme.yaml": "options: {a: parent, b: parent, c: parent}\n",
            "layouts/post.html": "{{ site.options.a }} {{ site.options.b }} {{ site.options.c }}",
        }
        shown = plain(tmp_path, files).render("post", page(), site(options={"c": "site"}))
        assert shown == "parent child site\n"

    def test_inline_shortcodes(self, tmp_path: Path) -> None:
        theme = plain(
            tmp_path, {"shortcodes/badge.inline.html": "<b>{{ text }}</b>", "shortcodes/x.html": ""}
        )
        assert theme.inline_shortcodes() == {"badge"}
        assert theme.has_shortcode("badge") and not theme.has_shortcode("badge.inline")
        assert theme.render_shortcode("badge", {"text": "<"}) == "<b>&lt;</b>"

    @pytest.mark.parametrize("target", ["file", "folder"])
    def test_symbolic_link_out_of_the_theme(self, tmp_path: Path, target: str) -> None:
        secret = write(tmp_path / "outside", {"secret.html": "secret"})
        root = write(tmp_path / "site", {**PLAIN, "layouts/post.html": ""})
        (root / "layouts" / "out.html").symlink_to(secret / "secret.html" if target == "file" else secret)
        with pytest.raises(SiteError) as caught:
            load_theme("plain", root, BUNDLED)
        assert [(d.code, d.path) for d in caught.value.diagnostics] == [("template", "layouts/out.html")]


BAD_THEMES = [
    ("papr", {}, "theme-missing", "blogsmith.yaml", 'unknown theme "papr"', "did you mean `paper`?"),
    ("../paper", {}, "theme-value", "blogsmith.yaml", 'invalid theme name "../paper"', "letters"),
    (
        "x",
        {"extends: papr"},
        "theme-missing",
        "themes/x/theme.yaml",
        'unknown theme "papr"',
        "did you mean `paper`?",
    ),
    ("x", {"extends: x"}, "theme-value", "themes/x/theme.yaml", 'cycle: "x → x"', ""),
    ("x", {"extend: paper"}, "theme-value", "themes/x/theme.yaml", 'unknown key "extend"', "mean `extends`?"),
    (
        "x",
        {"options: [a]"},
        "theme-value",
        "themes/x/theme.yaml",
        'invalid "options": expected a mapping',
        "",
    ),
    (
        "x",
        {"name: y"},
        "theme-value",
        "themes/x/theme.yaml",
        'invalid theme name "y": expected "x", the name of the folder',
        "",
    ),
    ("x", {"- a"}, "theme-value", "themes/x/theme.yaml", "`key: value` lines", ""),
]


@pytest.mark.parametrize(("name", "settings", "code", "path", "message", "hint"), BAD_THEMES)
def test_bad_theme(
    tmp_path: Path, name: str, settings: set[str], code: str, path: str, message: str, hint: str
) -> None:
    write(tmp_path, {"themes/x/theme.yaml": "\n".join(settings)} if settings else {})
    with pytest.raises(SiteError) as caught:
        load_theme(name, tmp_path, BUNDLED)
    (found,) = caught.value.diagnostics
    assert (found.code, found.path) == (code, path)
    assert message in found.message
    assert hint in found.hint


def test_circle_of_two_names_the_chain(tmp_path: Path) -> None:
    write(tmp_path, {"themes/a/theme.yaml": "extends: b", "themes/b/theme.yaml": "extends: a"})
    with pytest.raises(SiteError, match="a → b → a"):
        load_theme("a", tmp_path, BUNDLED)


def test_template_that_is_not_utf8(tmp_path: Path) -> None:
    write(tmp_path, {**PLAIN, "layouts/post.html": ""})
    (tmp_path / "layouts" / "bad.html").write_bytes(b"ab\xff")
    with pytest.raises(SiteError) as caught:
        load_theme("plain", tmp_path, BUNDLED)
    assert [(d.code, d.path, d.message) for d in caught.value.diagnostics] == [
        ("encoding", "layouts/bad.html", "invalid UTF-8 at byte 2")
    ]


BAD_TEMPLATES = [
    ("<p>\n{% if %}\n", 2, "expected an expression"),
    ("\n\n{{ page.titel }}", 3, '"page" has no field "titel"; did you mean `title`?'),
    ("{{ pge.title }}", 1, '"pge" is not defined'),
    ("{{ site.options.fotter }}", 1, 'unknown entry "fotter"'),
    ('\n{% include "partials/tocc.html" %}', 2, 'template not found: "partials/tocc.html"; did you mean'),
    ('{% include "../../etc/passwd" %}', 1, 'template not found: "../../etc/passwd"'),
    ('{% extends "layouts/post.html" %}', 1, "without end"),
    ('x\n{% include "layouts/post.html" %}', 2, "without end"),
    ("{{ page.__class__.__mro__ }}", 1, "not allowed in templates"),
    ("{{ [].append(1) }}", 1, "not allowed in templates"),
    ('{{ asset("them.css") }}', 1, 'theme file not found: "static/them.css"; did you mean `theme.css`?'),
    ("a\n{{ 1 / 0 }}", 2, "ZeroDivisionError"),
    ("{{ page.date | date }}", 1, "AttributeError"),
    ("{{ 1 | random }}", 1, 'no filter named "random"'),
    ("{{ lipsum() }}", 1, '"lipsum" is not defined'),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD_TEMPLATES)
def test_bad_template(tmp_path: Path, text: str, line: int, message: str) -> None:
    files = {"layouts/post.html": text, "partials/toc.html": "", "themes/plain/static/theme.css": ""}
    found = failure(tmp_path, files)
    assert (found.code, found.path) == ("template", "layouts/post.html")
    assert found.place is not None and found.place.line == line
    assert found.source_line == text.split("\n")[line - 1]
    assert message in f"{found.message}; {found.hint}"
    assert found.hint.endswith("(found while rendering content/posts/a.md)")


def test_error_points_at_the_innermost_template(tmp_path: Path) -> None:
    files = {
        "layouts/post.html": '{% include "partials/a.html" %}',
        "themes/plain/partials/a.html": '{% from "partials/m.html" import m %}\n{{ m() }}',
        "partials/m.html": "{% macro m() %}\n\n  {{ nothing }}{% endmacro %}",
    }
    found = failure(tmp_path, files, path="", url="/tags/")
    assert found.path == "partials/m.html" and found.hint.endswith("(found while rendering /tags/)")
    assert found.place is not None
    assert (found.place.line, found.place.column, found.place.length) == (3, 6, 7)


def test_error_in_a_bundled_template_names_its_theme(tmp_path: Path) -> None:
    write(tmp_path, {"partials/macros.html": ""})
    with pytest.raises(SiteError) as caught:
        load_theme("paper", tmp_path, BUNDLED).render("post", page(), site())
    assert caught.value.diagnostics[0].path == "themes/paper/partials/post_header.html"


def test_unknown_layout(tmp_path: Path) -> None:
    with pytest.raises(SiteError) as caught:
        plain(tmp_path, {"layouts/post.html": "", "layouts/wide.html": ""}).render("pots", page(), site())
    (found,) = caught.value.diagnostics
    assert (found.code, found.path) == ("layout-unknown", "content/posts/a.md")
    assert found.message == 'unknown layout "pots"'
    assert found.hint == "did you mean `post`?"


class TestEscaping:
    def test_our_html_passes_and_text_does_not(self, tmp_path: Path) -> None:
        template = (
            "{{ page.content }}{{ page.title_html }}{{ page.description_html }}{{ page.toc[0].html }}"
            "{{ page.toc[0].children[0].html }}{{ page.pages[0].title_html }}|"
            "{{ page.title }}{{ page.extra.x }}{{ page.toc[0].text }}{{ site.title }}"
        )
        toc = (TocEntry(2, "a", "<i>", "<i>", (TocEntry(3, "b", "<b>", ""),)),)
        view = page(
            content="<p>",
            title_html="<h>",
            description_html="<d>",
            toc=toc,
            pages=(page(title_html="<l>"),),
            title="<t>",
            extra={"x": "<x>"},
        )
        shown = plain(tmp_path, {"layouts/post.html": template}).render("post", view, site(title="<s>"))
        assert shown == "<p><h><d><i><b><l>|&lt;t&gt;&lt;x&gt;&lt;i&gt;&lt;s&gt;\n"

    @pytest.mark.parametrize(
        ("template", "expected"),
        [
            ("{{ page.content }}", "<p>"),
            ("{{ page.content }}{{ page.content }}", "<p><p>"),
            ("{% set html %}{{ page.content }}!{% endset %}{{ html }}{{ html | length }}", "<p>!4"),
            ("{% macro m(p) %}{{ p.content }}{% endmacro %}{{ m(page) }}{{ m(page) | length }}", "<p>3"),
            ("{% filter upper %}{{ page.content }}{% endfilter %}", "<P>"),
            ("{% block a %}{{ page.content }}{% endblock %}{{ self.a() | upper }}", "<p><P>"),
            ("{% autoescape false %}{{ page.content }}{{ '<' }}{% endautoescape %}", "<p><"),
            (
                "{% import 'partials/own.html' as own with context %}{{ own }}{{ own | string | length }}",
                "<p>3",
            ),
            ("{% set p = page %}{% include 'partials/own.html' %}{{ p.content }}", "<p><p>"),
            ("{{ page['content'] }}", "<p>"),
            ("{{ page | attr('content') }}", "<p>"),
            ("{{ [page] | map(attribute='content') | join }}", "<p>"),
            ("{% set body = page.content %}{{ body }}{{ '<p' in body }}", "<p>True"),
            ("{{ page.section.title_html }}{{ page.section.title }}", "<l>&lt;l&gt;"),
            ("{{ page.related[0].title_html }}{{ page.previous.title_html }}", "<l><l>"),
            ("{{ page.series[0].title_html }}{{ page.series[0].title }}", "<s>&lt;s&gt;"),
            ("{{ page.page_groups[0].pages[0].content }}", "<q>"),
            ("{{ page.pages | map(attribute='title_html') | join('|') }}", "<q>"),
            ("{{ page.next is none }}{{ page.pager is none }}", "TrueTrue"),
            ("{{ page.body is defined }}{{ page['body'] is defined }}", "FalseFalse"),
            ("{{ (page | attr('body')) is defined }}", "False"),
        ],
    )
    def test_html_is_known_however_it_is_read(self, tmp_path: Path, template: str, expected: str) -> None:
        link, listed = Link("<l>", "/l/", "<l>"), page(content="<q>", title_html="<q>")
        view = page(
            content="<p>",
            section=link,
            previous=link,
            related=(link,),
            series=(SeriesPart("<s>", "/s/", 1, True, "<s>"),),
            pages=(listed,),
            page_groups=(PageGroup("2026", (listed,)),),
        )
        files = {"layouts/post.html": template, "partials/own.html": "{{ page.content }}"}
        assert plain(tmp_path, files).render("post", view, site()) == f"{expected}\n"

    @pytest.mark.parametrize("name", ["__class__", "__dataclass_fields__", "__init__", "_x"])
    def test_records_show_their_fields_only(self, tmp_path: Path, name: str) -> None:
        for template in (f"{{{{ page.{name}.x }}}}", f"{{{{ page['{name}'].x }}}}"):
            assert failure(tmp_path, {"layouts/post.html": template}).code == "template"

    def test_shortcode_data(self, tmp_path: Path) -> None:
        shown = shortcode(tmp_path, '<a title="{{ a }}">{{ b }}</a>', a='"<', b=Markup("<b>"))
        assert shown == '<a title="&#34;&lt;"><b></a>'


class TestHelpers:
    @pytest.mark.parametrize(
        ("address", "shown"),
        [
            ("/", "/blog/"),
            ("/posts/", "/blog/posts/"),
            ("https://example.org/", "https://example.org/"),
            ("//example.org/", "//example.org/"),
            ("#top", "#top"),
            ("a.png", "a.png"),
        ],
    )
    def test_url(self, tmp_path: Path, address: str, shown: str) -> None:
        theme = plain(tmp_path, {"shortcodes/x.html": "{{ a | url }}"}, base_path="/blog")
        assert theme.render_shortcode("x", {"a": address}) == shown

    @pytest.mark.parametrize(
        "template",
        [
            """{{ "/" | url }}""",
            """{% set x = "/" | url %}{{ x }}""",
            """{{ ["/"] | map("url") | first }}""",
            """{% if "/" | url == "/a/" %}/a/{% else %}{{ "/" | url | upper | lower }}{% endif %}""",
            """{% filter url %}/{% endfilter %}""",
            """{% macro m(x="/" | url) %}{{ x }}{% endmacro %}{{ m() }}""",
            """{{ "/" | url if "/" | url | length else "" }}""",
            """{{ {"a": "/" | url}["a"] ~ "" }}""",
        ],
    )
    def test_sites_of_one_process_keep_their_addresses(self, tmp_path: Path, template: str) -> None:
        """Their templates are compiled once, and Jinja evaluates constants at compile time."""
        shown = []
        for base_path in ("/a", "", "/b", "/a"):
            theme = plain(tmp_path, {"shortcodes/x.html": template}, base_path=base_path)
            shown.append(theme.render_shortcode("x", {}))
        assert shown == ["/a/", "/", "/b/", "/a/"]

    def test_sites_of_one_process_keep_their_files(self, tmp_path: Path) -> None:
        files = {"shortcodes/x.html": "{{ asset('t.css') }} {% include 'partials/p.html' %}"}
        texts = []
        for name in ("a", "b"):
            more = {"themes/plain/static/t.css": name, "themes/plain/partials/p.html": f"part {name}"}
            texts.append(plain(tmp_path / name, {**files, **more}).render_shortcode("x", {}))
        assert [text.partition(" ")[2] for text in texts] == ["part a", "part b"]
        assert len(set(texts)) == len({text.partition(" ")[0] for text in texts}) == 2

    def test_a_template_is_compiled_once_for_all_sites(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        compiled = []
        meter = metering.meter

        def count(template: nodes.Template) -> None:
            compiled.append(template)
            meter(template)

        monkeypatch.setattr(metering, "meter", count)
        files = {"shortcodes/x.html": "{{ 'once' }} {{ a }}"}
        for site in ("first", "second"):
            theme = plain(tmp_path / site, files, base_path=f"/{site}")
            assert theme.render_shortcode("x", {"a": site}) == f"once {site}"
        assert len(compiled) == 1
        # an error is reported in each of them
        for site in ("first", "second"):
            theme = plain(tmp_path / site, {"shortcodes/x.html": "\n{{ 1 | nothing }}"})
            with pytest.raises(SiteError) as error:
                theme.render_shortcode("x", {})
            assert [(d.path, d.place.line if d.place else 0) for d in error.value.diagnostics] == [
                ("shortcodes/x.html", 2)
            ]

    def test_asset_address_changes_with_the_file(self, tmp_path: Path) -> None:
        found = set()
        for text in ("a", "b"):
            files = {"shortcodes/x.html": "{{ asset('t.css') }}", "themes/plain/static/t.css": text}
            found.add(plain(tmp_path, files, base_path="/blog").render_shortcode("x", {}))
        assert found == {"/blog/assets/plain/t.css?v=ca978112", "/blog/assets/plain/t.css?v=3e23e816"}

    @pytest.mark.parametrize(
        ("value", "words", "iso"),
        [
            (dt.datetime(2026, 3, 3, tzinfo=dt.UTC), "3 March 2026", "2026-03-03"),
            (dt.datetime(2026, 12, 31, 9, 5, tzinfo=dt.UTC), "31 December 2026", "2026-12-31T09:05:00+00:00"),
            (dt.date(987, 1, 10), "10 January 987", "0987-01-10"),
        ],
    )
    def test_dates(self, value: dt.date, words: str, iso: str) -> None:
        assert (ENGLISH.format_date(value), iso_date(value)) == (words, iso)

    def test_another_base_path_is_refused(self, tmp_path: Path) -> None:
        theme = plain(tmp_path, {"layouts/post.html": ""})
        with pytest.raises(ValueError, match="/blog"):
            theme.render("post", page(), site(base_path="/blog"))
