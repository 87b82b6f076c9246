"""Rows 23 to 25: posts are never templates, and templates access only the theme and the page."""

from __future__ import annotations

import re
from pathlib import Path

import html5lib
import pytest

from tests.check import render
from tests.rows import each_row
from tests.security.judgement import codes
from tests.site_files import build, printed, put, put_bare
from tests.test_sites import tree

SECRET = "the-secret-of-the-house"

# -- 23: data is never a template --

EXPRESSIONS = (
    "{{ ''.__class__.__mro__ }}",
    "{{ config }}",
    "{{ 7 * 191 }}",
    "{% raw %}x{% endraw %}",
    "{% set x = 7 * 191 %}{{ x }}",
    "{# gone #}left",
    "{{ cycler.__init__.__globals__.os.environ }}",
    "${7 * 191}",
    "<%= 7 * 191 %>",
    "#{7 * 191}",
    "{{{{ 7 * 191 }}}}",
    "{%- include 'layouts/post.html' -%}",
)


@pytest.mark.parametrize("words", EXPRESSIONS)
def test_row_23_expressions_in_data_are_words(words: str, tmp_path: Path) -> None:
    quoted = "'" + words.replace("'", "''") + "'"
    head = "".join(f"{key}: {quoted}\n" for key in ("title", "subtitle", "description", "author", "series"))
    lists = f"tags: [{quoted}]\ncategories: [{quoted}]\nextra_key: {quoted}\n"
    post = f"---\n{head}date: 2026-01-01\n{lists}---\nx\n"
    config = f"title: {quoted}\ndescription: {quoted}\nauthor: {quoted}\nbase_url: https://example.org\n"
    menu = f"menu:\n  - {{title: {quoted}, url: /posts/}}\n"
    root = put_bare(tmp_path / "s", {"blogsmith.yaml": config + menu, "content/posts/a.md": post})
    report = build(root)
    assert report.ok, printed(report)
    files = {
        path: data.decode() for path, data in tree(root / "public").items() if path.endswith(("l", ".txt"))
    }
    assert not [path for path, text in files.items() if "1337" in text or "<class" in text or "PATH" in text]
    page = files["posts/a/index.html"]
    title = html5lib.parse(page, namespaceHTMLElements=False).find(".//h1")
    assert title is not None and "".join(title.itertext()) == words, "nothing of it was taken away"


@each_row("words", EXPRESSIONS)
@each_row(
    "place",
    [
        "{}",
        "## {}",
        "> [!NOTE] {}\n> x",
        "`{}`",
        "[x](/ '{}')",
        "![{}](a.png)",
        "| {} |\n|-|",
        "$\\text{{{}}}$",
    ],
)
def test_row_23_expressions_in_a_post_are_words(place: str, words: str) -> None:
    rendered = render(place.format(words))
    assert "1337" not in rendered.html and "&lt;class" not in rendered.html


# -- 24: a post includes nothing from outside --

INCLUDED = (
    '{% include "../../secret.md" %}',
    '{% include "../secret.html" %}',
    "{% include ../../secret.md %}",
    '{% include "/etc/passwd" %}',
    '{% include "~/secret.md" %}',
    '{% include "file:///etc/passwd" %}',
    '{% include "shortcodes/../../../secret.md" %}',
    '{% include "..%2f..%2fsecret.md" %}',
    '{% include "img.html/../../secret.md" %}',
    '{% include "img.html\x00" %}',
    '{% include img.html src="../../../secret.png" %}',
    '{% include img.html src="/../secret.png" %}',
    '{% include img.html src="/etc/passwd" %}',
    '{% include img.html src="~/secret.png" %}',
    '{% include img.html src="out.png" %}',
    '{% include img.html src="a.png%00.html" %}',
    '{% include img.html src="file:///etc/passwd" %}',
    "{% ../../secret %}",
    '{% extends "../../secret.md" %}',
    '{% import "../../secret.md" as x %}',
    "![x](../../../secret.png)",
    "![x](/../secret.png)",
    "![x](%2e%2e/%2e%2e/secret.png)",
    "![x](out.png)",
    "[x](../../../secret.md)",
    "[x](out.md)",
    '{% video-embed src="../../../secret.mp4" %}',
    '{% image-compare before="../../../secret.png" after="a.png" %}',
)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>'


@pytest.mark.parametrize("text", INCLUDED)
def test_row_24_what_lies_outside_is_not_included(text: str, tmp_path: Path) -> None:
    outside = {f"secret{ending}": f"{SECRET}{SVG}" for ending in (".md", ".html", ".png", ".mp4")}
    put(tmp_path, outside)
    root = put(
        tmp_path / "s",
        {"blogsmith.yaml": "title: T\n", "content/posts/a.md": f"---\ntitle: A\n---\n{text}\n"},
    )
    if "out." in text:
        (root / "content/posts/out.png").symlink_to("../../../secret.png")
        (root / "content/posts/out.md").symlink_to("../../../secret.md")
    report = build(root)
    assert not tree(root / "public")
    assert SECRET not in printed(report)
    named = [found for found in report.diagnostics if found.path == "content/posts/a.md" and found.place]
    assert named and {found.severity for found in named} == {"error"}


@pytest.mark.parametrize("folder", ["shortcodes", "layouts", "partials", "themes/mine/layouts"])
def test_row_24_templates_that_are_links_out_of_the_site_are_not_read(folder: str, tmp_path: Path) -> None:
    put(tmp_path, {"secret.html": SECRET})
    post = (
        '---\ntitle: A\n---\n{% include "secret.html" %}\n'
        if folder == "shortcodes"
        else "---\ntitle: A\n---\n"
    )
    files = {"blogsmith.yaml": "title: T\n", "content/posts/a.md": post}
    if "mine" in folder:
        files |= {"blogsmith.yaml": "theme: mine\n", "themes/mine/theme.yaml": "extends: paper\n"}
    root = put(tmp_path / "s", files)
    (root / folder).mkdir(parents=True, exist_ok=True)
    name = {"shortcodes": "secret.html", "partials": "site_footer.html"}.get(folder, "post.html")
    (root / folder / name).symlink_to(tmp_path / "secret.html")
    report = build(root)
    assert not [path for path, data in tree(root / "public").items() if SECRET.encode() in data]
    assert SECRET not in printed(report)
    assert not report.ok


# -- 25: templates --

REACHING = (
    "../../secret.html",
    "../secret.html",
    "layouts/../../secret.html",
    "/etc/passwd",
    "~/secret.html",
    "paper/../../../secret.html",
    "..\\secret.html",
    "./../../secret.html",
    "",
    "layouts",
    "secret\x00.html",
    "x" * 5000,
)


@pytest.mark.parametrize("form", ['{{% include "{}" %}}', '{{% extends "{}" %}}', '{{% import "{}" as x %}}'])
@pytest.mark.parametrize("name", REACHING)
def test_row_25_a_template_names_only_templates(name: str, form: str, tmp_path: Path) -> None:
    put(tmp_path, {"secret.html": SECRET})
    layout = form.format(name.replace("\\", "\\\\"))
    files = {
        "blogsmith.yaml": "title: T\n",
        "content/posts/a.md": "---\ntitle: A\n---\n",
        "layouts/post.html": layout,
    }
    report = build(put_bare(tmp_path / "s", files))
    (found, *_) = report.diagnostics
    assert (found.code, found.path, found.place and found.place.line) == ("template", "layouts/post.html", 1)
    assert SECRET not in printed(report)
    assert not (tmp_path / "s/public").exists()


INCLUDE_A = '{% include "partials/a.html" %}'


@pytest.mark.parametrize(
    "files",
    [
        {"layouts/post.html": '{% include "layouts/post.html" %}'},
        {"layouts/post.html": '{% extends "layouts/post.html" %}'},
        {"layouts/post.html": INCLUDE_A, "partials/a.html": '{% include "layouts/post.html" %}'},
        {
            "layouts/post.html": '{% from "partials/a.html" import m %}{{ m() }}',
            "partials/a.html": "{% macro m() %}{{ m() }}{% endmacro %}",
        },
        {
            "layouts/post.html": '{% import "partials/a.html" as a %}',
            "partials/a.html": '{% import "layouts/post.html" as a %}',
        },
    ],
    ids=["include", "extends", "two", "macro", "import"],
)
def test_row_25_circles_end_with_their_template_named(files: dict[str, str], tmp_path: Path) -> None:
    site = {"blogsmith.yaml": "title: T\n", "content/posts/a.md": "---\ntitle: A\n---\n"}
    report = build(put_bare(tmp_path, {**site, **files}))
    (found, *_) = report.diagnostics
    assert found.code == "template" and found.path in files and found.place
    assert "in a cycle" in found.message or "without end" in found.message
    assert "RecursionError" not in printed(report)


ESCAPES = (
    "{{ ''.__class__ }}",
    "{{ ''['__class__'] }}",
    "{{ '' | attr('__class__') }}",
    "{{ [''] | map(attribute='__class__') | list }}",
    "{{ [''] | map('attr', '__class__') | list }}",
    "{{ '' | attr('__cla' ~ 'ss__') }}",
    "{{ '{0.__class__}'.format('') }}",
    "{{ '{0.__class__.__mro__}' | format('') }}",
    "{{ '%s' | format(page.__class__) }}",
    "{{ '{x.__class__}'.format_map({'x': ''}) }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ url.__globals__ }}",
    "{{ asset.__globals__ }}",
    "{{ asset.__code__ }}",
    "{{ asset.__closure__ }}",
    "{{ page.__dataclass_fields__ }}",
    "{{ page.date.__reduce__() }}",
    "{{ page.content.__html__.__globals__ }}",
    "{{ page.extra.__class__ }}",
    "{{ page.title.__init_subclass__ }}",
    "{{ dict.__base__ }}",
    "{{ range.__class__.__base__.__subclasses__() }}",
    "{{ lipsum.__globals__ }}",
    "{{ get_flashed_messages.__globals__ }}",
    "{{ caller.__globals__ }}",
    "{% macro m() %}{{ caller.__globals__ }}{% endmacro %}{% call m() %}{% endcall %}",
    "{% macro m() %}{% endmacro %}{{ m.__init__.__globals__ }}",
    "{{ loop.__class__ }}",
    "{% for x in [1] %}{{ loop.__init__.__globals__ }}{% endfor %}",
    "{% set x = page %}{{ x.__class__ }}",
    "{{ ().__class__.__bases__[0].__subclasses__() }}",
    "{{ (1).__class__ }}",
    "{{ (page.tags | first).__class__ }}",
    "{{ site.__init__ }}",
    "{{ import('os') }}",
    "{{ open('/etc/passwd').read() }}",
    "{% do page.tags.append(1) %}",
    "{{ page.extra.update({'x': 1}) }}",
    "{{ site.options.clear() }}",
    "{% debug %}",
)


@pytest.mark.parametrize("template", ESCAPES)
def test_row_25_the_sandbox_has_no_door(
    template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", SECRET)
    files = {
        "blogsmith.yaml": "title: T\n",
        "content/posts/a.md": "---\ntitle: A\ndate: 2026-01-01\ntags: [x]\n---\nx\n",
        "layouts/post.html": f"<title>x</title>[{template}]",
    }
    report = build(put_bare(tmp_path, files))
    if report.ok:
        page = (tmp_path / "public/posts/a/index.html").read_text("utf-8")
        # An undefined name renders as nothing.
        assert re.search(r"\[(\[Undefined\])?\]", page), page
    else:
        assert {found.code for found in report.diagnostics} == {"template"}
        assert report.diagnostics[0].path == "layouts/post.html"
    assert SECRET not in printed(report)


def test_row_25_a_shortcode_is_as_confined_as_a_layout(tmp_path: Path) -> None:
    for number, template in enumerate(ESCAPES):
        files = {
            "blogsmith.yaml": "title: T\n",
            "content/a.md": "---\ntitle: A\n---\n{% mine %}\n",
            "shortcodes/mine.html": f"<p>[{template}]</p>",
        }
        if number % 4 == 0:
            report = build(put_bare(tmp_path / str(number), files))
            assert not report.ok or "0x" not in (tmp_path / str(number) / "public/a/index.html").read_text(
                "utf-8"
            )


def test_row_24_and_25_are_said_at_their_place() -> None:
    rendered = render('One.\n\n{% include "../../x" %}\n')
    (found,) = rendered.diagnostics
    assert found.place and found.place.line == 3 and codes(rendered)
