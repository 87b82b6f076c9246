"""The preview's pipeline gives the result of a build after every edit: all bytes and messages."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.build.incremental import IncrementalPipeline, UpdateRequest
from blogsmith.preview.events.publisher import all_problems
from blogsmith.preview.pages.site import RenderedPages, awaited_sources
from blogsmith.project.program import open_rows
from blogsmith.project.trust.consent import trust
from tests.preview_sites import built, new_line, options, outputs, page_paths, problems, settled
from tests.rows import examples, thinned
from tests.site_files import NOW, build, build_text, put_bare, read_site_text
from tests.test_broken import FILES
from tests.test_sites import SITES, copied

# What one edit may do to a file of the site below; each gives the paths it has touched.
POSTS = {
    "content/posts/a.md": "---\ntitle: A\ndate: 2026-01-01\ntags: [x, y]\n---\n[b](b.md#end), {@b#eq-one}.\n",
    "content/posts/b.md": "---\ntitle: B\ndate: 2026-01-02\ntags: [x]\n---\n$$x = 1$$ {#eq-one}\n\n## End\n",
    "content/posts/c/index.md": "---\ntitle: C\ndate: 2026-01-03\nseries: S\n---\n![one](one.svg) [h](/)\n",
    "content/posts/c/one.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"></svg>\n',
    "content/about.md": "---\ntitle: About\n---\n[](posts/a.md) and [the file](/data.txt).\n",
    "static/data.txt": "1\n",
    "blogsmith.yaml": "title: Site\nbase_url: https://example.org/sub\npagination: 2\n",
    "shortcodes/hi.html": "<p>hi {{ args.name }}</p>\n",
    "partials/site_footer.html": "<footer>one</footer>\n",
}
TEXTS = (
    "See [b](b.md#end).\n",
    "See [nothing](gone.md).\n",
    '{% hi name="x" %}\n',
    "## End\n\n$$y = \\sqrt{2}$$ {#eq-one}\n",
    "$\\wrong$\n",
    "```python\nprint(1)\n```\n",
    '{% include code.html file="src/f.py" region="f" %}\n',
    "",
)
HEADS = (
    "---\ntitle: New\ndate: 2026-02-01\ntags: [z]\n---\n",
    "---\ntitle: A\ndate: 2026-01-01\ndraft: true\n---\n",
    "---\ntitle: Other\ndate: 2026-01-05\nslug: elsewhere\naliases: [/old/]\n---\n",
    "---\ntitel: wrong\n---\n",
    "",
)
OTHERS = (
    ("src/f.py", "def f():\n    return 1\n"),
    ("src/f.py", "def f():\n    return 2\n"),
    ("content/posts/src/f.py", "def f():\n    return 3\n"),
    ("blogsmith.yaml", "title: Another\npagination: 1\narchive_pagination: 2\n"),
    ("blogsmith.yaml", "title: Site\nbase_url: https://example.org/sub\nnumbering: true\n"),
    ("blogsmith.yaml", "tittle: Wrong\n"),
    ("shortcodes/hi.html", "<p>hello {{ args.name }}</p>\n"),
    ("shortcodes/hi.html", "<p>{{ args.name }</p>\n"),
    ("partials/site_footer.html", "<footer>two</footer>\n"),
    ("static/data.txt", "2\n"),
    ("static/more.css", "p { color: red }\n"),
    ("content/posts/c/one.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="3"></svg>\n'),
)
PLUGIN = "def register(hooks):\n    hooks.page_rendered(lambda html, page: html{})\n"
PLUGINS = (
    ("plugins/ruler.py", PLUGIN.format(" + '<hr>'")),
    ("plugins/ruler.py", PLUGIN.format(".strip()")),
    ("blogsmith.yaml", "title: Site\nplugins: [ruler]\n"),
    ("blogsmith.yaml", "title: Site\nplugins: [cloudflare_redirects, external_links]\n"),
    ("blogsmith.yaml", "title: Site\nllms_txt: true\nbase_url: https://example.org\n"),
)
POST_PATHS = ("content/posts/a.md", "content/posts/b.md", "content/posts/d.md", "content/about.md")

edits = st.one_of(
    st.tuples(
        st.sampled_from(POST_PATHS), st.builds(str.__add__, st.sampled_from(HEADS), st.sampled_from(TEXTS))
    ),
    st.tuples(st.sampled_from([*POST_PATHS, "static/data.txt", "content/posts/c/one.svg"]), st.none()),
    st.sampled_from(OTHERS),
)


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_the_same_files_as_a_build(site: Path, tmp_path: Path) -> None:
    root = copied(site, tmp_path / "site")
    report = build(root)
    present = settled(new_line(root))
    assert outputs(present) == built(root / "public")
    assert set(problems(present)) == set(report.diagnostics)


# Cells that fail do so in the runner of the preview, which has tests of its own; nothing is written here; it
# makes its pages itself.
QUIET = ("run-", "output-foreign", "output-not-ours", "build-executor")


@pytest.mark.parametrize(
    "file",
    thinned((file for file in FILES if not file.stem.startswith(QUIET)), every=6),
    ids=lambda file: file.stem,
)
def test_the_same_messages_as_a_build(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = build_text(read_site_text(file), tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".state"))
    try:
        present = settled(new_line(tmp_path))
    except SiteError as error:
        assert set(error.diagnostics) <= set(report.diagnostics)
        return
    pages = RenderedPages()
    for path in page_paths(present):
        pages.render_page(present, path)
    assert all_problems(present, (), pages.problems(present)) == report.diagnostics


@examples(100)
@given(
    script=st.lists(
        st.lists(edits | st.sampled_from(PLUGINS), min_size=1, max_size=3), min_size=1, max_size=6
    ),
    quickly=st.booleans(),
)
def test_edits_in_any_order(
    script: list[list[tuple[str, str | None]]], quickly: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("edited")
    for path, first in POSTS.items():
        write(root / path, first)
    line = new_line(root)
    present = settled(line)
    reopen = False
    for step in script:
        for path, text in step:
            write(root / path, text)
        trust(root)
        changed = tuple(sorted({path for path, _ in step}))
        asked = UpdateRequest(changed, everything=reopen)
        try:
            if quickly and not reopen:
                for path in changed:
                    present = line.update_page(present, path, asked) or present
            present = settled(line, present, asked)
            reopen = False
        except SiteError:
            # the fixed part is not known
            reopen = True
    if not reopen:
        report = build(root, output=root / "public")
        pages = RenderedPages()
        for path in page_paths(present):
            pages.render_page(present, path)
        assert all_problems(present, (), pages.problems(present)) == report.diagnostics
        if report.ok:
            assert outputs(present) == built(root / "public")
    shutil.rmtree(root)


@examples(40)
@given(
    script=st.lists(
        st.lists(edits | st.sampled_from(PLUGINS), min_size=1, max_size=3), min_size=1, max_size=4
    ),
)
def test_edits_in_any_order_after_a_start_from_the_cache(
    script: list[list[tuple[str, str | None]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Pages of an earlier preview are rebuilt as soon as something that they asked for has changed."""
    root = tmp_path_factory.mktemp("edited")
    for path, first in POSTS.items():
        write(root / path, first)
    for step in ([], *script):
        with open_rows(root) as rows:
            line = IncrementalPipeline(root, options(), lambda: NOW, rows=rows)
            with suppress(SiteError):
                present = settled(line)
                for path, text in step:
                    write(root / path, text)
                trust(root)
                changed = tuple(sorted({path for path, _ in step}))
                present = settled(line, present, UpdateRequest(changed, everything=False))
                line.keep_files(present)
                expected = settled(new_line(root))
                assert problems(present) == problems(expected)
                assert outputs(present) == outputs(expected)
        for path, text in step:
            # also where the site could not be read
            write(root / path, text)
    shutil.rmtree(root)


def test_a_page_from_the_cache_is_made_again_when_an_answer_changes(tmp_path: Path) -> None:
    write(tmp_path / "blogsmith.yaml", "title: Site\n")
    write(tmp_path / "content/about.md", "[](posts/b.md)\n")
    write(tmp_path / "content/posts/b.md", "---\ntitle: Old\n---\n")
    with open_rows(tmp_path) as rows:
        line = IncrementalPipeline(tmp_path, options(), lambda: NOW, rows=rows)
        line.keep_files(settled(line))
    with open_rows(tmp_path) as rows:
        line = IncrementalPipeline(tmp_path, options(), lambda: NOW, rows=rows)
        present = settled(line)
        assert line.reasons == {}, "all pages come from the cache"
        write(tmp_path / "content/posts/b.md", "---\ntitle: New\n---\n")
        present = settled(line, present, UpdateRequest(("content/posts/b.md",), everything=False))
        assert ">New</a>" in present.rendered["content/about.md"].body.html


def test_only_what_is_affected_is_rendered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, text in POSTS.items():
        write(tmp_path / path, text)
    line = new_line(tmp_path)
    before = settled(line)
    write(tmp_path / "content/posts/b.md", POSTS["content/posts/b.md"].replace("## End", "## The end"))
    after = settled(line, before, UpdateRequest(("content/posts/b.md",), everything=False))
    again = {path for path, item in after.rendered.items() if item.body is not before.rendered[path].body}
    # a.md links to a heading that is gone; the others do not look at b.md
    assert again == {"content/posts/a.md", "content/posts/b.md"}
    assert [found.code for found in problems(after)] == ["link-anchor"]


@pytest.mark.parametrize(
    ("more", "is_quick"),
    [
        ("description: Something", True),
        ("slug: elsewhere", False),
        ("date: 2026-03-01", False),
        ("draft: true", False),
        ("series: S", False),
        ("aliases: [/old/]", False),
        ("tags: [x]", False),
        ("categories: [c]", False),
    ],
)
def test_only_a_page_that_keeps_its_place_is_shown_by_itself(
    more: str, is_quick: bool, tmp_path: Path
) -> None:
    path = "content/posts/a.md"
    put_bare(tmp_path, {"blogsmith.yaml": "title: Site\n", path: "---\ntitle: A\n---\nText.\n"})
    line = new_line(tmp_path)
    present = settled(line)
    write(tmp_path / path, f"---\ntitle: A\n{more}\n---\nText.\n")
    edited = line.update_page(present, path, UpdateRequest((path,), everything=False))
    assert (edited is not None) == is_quick


def test_a_page_can_be_asked_for_before_the_others_are_read(tmp_path: Path) -> None:
    for path, text in POSTS.items():
        write(tmp_path / path, text)
    line = new_line(tmp_path)
    early = next(present for present in line.update_site(None, UpdateRequest()) if present)
    assert len(early.unrendered) == 4
    early = line.render_pages(early, ["content/posts/b.md"])
    assert early.unrendered == early.resolved.documents.keys() - {"content/posts/b.md"}
    whole = settled(new_line(tmp_path))
    url = "/sub/posts/b/"
    assert early.views[url].content == whole.views[url].content


@pytest.mark.parametrize("first", [(), ("content/posts/a.md",), ("content/about.md",)])
@pytest.mark.parametrize("edited", [("b",), ("b", "c", "d", "e")])
def test_who_is_looked_at_first_sees_what_changed_last(
    first: tuple[str, ...], edited: tuple[str, ...], tmp_path: Path
) -> None:
    write(tmp_path / "blogsmith.yaml", "title: Site\n")
    write(tmp_path / "content/about.md", "[](posts/b.md)\n")
    write(tmp_path / "content/posts/a.md", "[](b.md)\n")
    for name in "bcde":
        write(tmp_path / f"content/posts/{name}.md", f"---\ntitle: Old {name}\n---\n")
    line = new_line(tmp_path)
    present = settled(line)
    for round_ in range(2):
        for name in edited:
            text = f"---\ntitle: New {name} {round_}\ndate: 2026-01-0{round_ + 1}\n---\n"
            write(tmp_path / f"content/posts/{name}.md", text)
        changed = tuple(f"content/posts/{name}.md" for name in edited)
        present = settled(line, present, UpdateRequest(changed, everything=False, first=first))
        for path in ("content/about.md", "content/posts/a.md"):
            assert f">New b {round_}</a>" in present.rendered[path].body.html


def test_what_shortcodes_include(tmp_path: Path) -> None:
    write(tmp_path / "blogsmith.yaml", "title: Site\ntheme: own\n")
    write(tmp_path / "themes/own/theme.yaml", "extends: paper\n")
    write(tmp_path / "themes/own/static/x.css", "p {}\n")
    write(tmp_path / "shortcodes/one.html", "{{ asset('x.css') }} {% include 'layouts/piece.html' %}\n")
    write(tmp_path / "layouts/piece.html", "before\n")
    write(tmp_path / "content/a.md", "{% one %}\n")
    line = new_line(tmp_path)
    before = settled(line)
    write(tmp_path / "layouts/piece.html", "after\n")
    between = settled(line, before, UpdateRequest(("layouts/piece.html",), everything=False))
    assert "after" in between.rendered["content/a.md"].body.html
    write(tmp_path / "themes/own/static/x.css", "p { color: red }\n")
    after = settled(line, between, UpdateRequest(("themes/own/static/x.css",), everything=False))
    assert after.rendered["content/a.md"].body.html != between.rendered["content/a.md"].body.html


def test_an_image_that_was_saved_within_one_tick_of_the_clock(tmp_path: Path) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"></svg>\n'
    write(tmp_path / "blogsmith.yaml", "title: Site\n")
    write(tmp_path / "content/one.svg", svg)
    write(tmp_path / "content/a.md", "![one](one.svg)\n")
    line = new_line(tmp_path)
    before = settled(line)
    stamp = (tmp_path / "content/one.svg").stat()
    write(tmp_path / "content/one.svg", svg.replace("4", "8"))
    os.utime(tmp_path / "content/one.svg", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    after = settled(line, before, UpdateRequest(("content/one.svg",), everything=False))
    assert 'width="8"' in after.rendered["content/a.md"].body.html


def test_python_for_browsers_comes_into_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "blogsmith.yaml", "title: Site\nbrowser: {pyodide: static/pyodide}\n")
    write(tmp_path / "content/a.md", "```python\n#| run-in: browser\nprint(1)\n```\n")
    line = new_line(tmp_path)
    before = settled(line)
    assert {found.code for found in problems(before)} == {"pyodide-folder"}
    write(tmp_path / "static/pyodide/pyodide.mjs", "// something\n")
    after = settled(line, before, UpdateRequest(("static/pyodide/pyodide.mjs",), everything=False))
    assert problems(after) != problems(before)


def test_a_text_that_takes_too_long(tmp_path: Path) -> None:
    write(tmp_path / "blogsmith.yaml", "title: Site\n")
    loop = "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"
    write(tmp_path / "shortcodes/slow.html", loop)
    write(tmp_path / "content/a.md", "{% slow %}\n")
    write(tmp_path / "content/b.md", "Text.\n")
    line = IncrementalPipeline(tmp_path, options(), lambda: NOW, limit_s=0.2)
    present = settled(line)
    assert [(found.code, found.path) for found in problems(present)] == [("page-slow", "content/a.md")]
    assert "Text." in present.rendered["content/b.md"].body.html
    write(tmp_path / "shortcodes/slow.html", "<p>quick</p>\n")
    present = settled(line, present, UpdateRequest(("shortcodes/slow.html",), everything=False))
    assert problems(present) == []


def test_nothing_of_the_preview_is_in_a_build(tmp_path: Path) -> None:
    root = copied(SITES[0], tmp_path / "site")
    assert build(root).ok
    for file in (root / "public").rglob("*"):
        data = file.read_bytes() if file.is_file() else b""
        assert b"/_blogsmith/" not in data
        assert b"blogsmith-live" not in data
        assert b"data-cell=" not in data
        assert b"idiomorph" not in data.lower()


def write(file: Path, text: str | None) -> None:
    """Write the file, or remove it if `text` is None."""
    if text is None:
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/sub/about/", {"about"}),
        ("/sub/about/index.html", {"about"}),
        # two posts to a page of a list
        ("/sub/", {"posts/c/index", "posts/b"}),
        ("/sub/posts/", {"posts/c/index", "posts/b"}),
        ("/sub/notes/", {"notes/_index", "notes/one"}),
        ("/sub/de/", {"de/posts/seite", "de/_index"}),
        ("/sub/tags/x/", set()),
        ("/sub/data.txt", set()),
        ("/elsewhere/", set()),
    ],
)
def test_pages_that_a_browser_waits_for_are_read_first(
    address: str, expected: set[str], tmp_path: Path
) -> None:
    more = {
        "content/notes/_index.md": "---\ntitle: Notes\n---\n",
        "content/notes/one.md": "---\ntitle: One\nunlisted: false\n---\n",
        "content/notes/hidden.md": "---\ntitle: Two\nunlisted: true\n---\n",
        "content/de/_index.md": "---\ntitle: Start\nlang: de\n---\n",
        "content/de/posts/seite.md": "---\ntitle: Seite\nlang: de\n---\n",
    }
    for path, text in {**POSTS, **more}.items():
        write(tmp_path / path, text)
    with (tmp_path / "blogsmith.yaml").open("a") as settings:
        settings.write("languages: {de: {}}\n")
    line = new_line(tmp_path)
    request = UpdateRequest(find_first_pages=lambda resolved: awaited_sources(resolved, [address]))
    early = next(present for present in line.update_site(None, request) if present)
    assert early.resolved.documents.keys() - early.unrendered == {f"content/{name}.md" for name in expected}
    whole = settled(new_line(tmp_path))
    assert [early.rendered[f"content/{name}.md"].body.html for name in expected] == [
        whole.rendered[f"content/{name}.md"].body.html for name in expected
    ]


def test_a_page_that_a_browser_waits_for_and_that_a_plugin_fails_on(tmp_path: Path) -> None:
    code = (
        "def register(hooks):\n    @hooks.page_rendered\n    def check(html, document):\n"
        "        return 1 / 0 if 'b.md' in str(document.path) else html\n"
    )
    settings = f"{POSTS['blogsmith.yaml']}plugins: [own]\n"
    for path, text in {**POSTS, "plugins/own.py": code, "blogsmith.yaml": settings}.items():
        write(tmp_path / path, text)
    trust(tmp_path)
    line, found = new_line(tmp_path), []
    request = UpdateRequest(find_first_pages=lambda resolved: ["content/about.md", "content/posts/b.md"])
    with pytest.raises(SiteError, match="ZeroDivisionError"):
        for present in line.update_site(None, request):
            found += [present] if present else []
    # the other pages can be viewed while the plugin is being fixed
    assert [present.unrendered & {"content/about.md", "content/posts/b.md"} for present in found] == [
        {"content/posts/b.md"}
    ]
