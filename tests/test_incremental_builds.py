"""A build with the cache gives the same bytes and messages as one without."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blogsmith.base.storage.cache_file import remove_site_cache
from blogsmith.build.plan import OutputPlan
from blogsmith.cli.main import main
from blogsmith.execute.session.jobs import SessionJob
from blogsmith.execute.session.session import SilentObserver
from blogsmith.features.site_cells import execute_site
from blogsmith.model.documents import Document
from blogsmith.project.report import BuildOptions, ExecutionOptions
from blogsmith.project.trust.consent import trust
from blogsmith.render.html import render_body
from blogsmith.rows.page_rows import _TITLES
from blogsmith.rows.trace import _SHARED, INDEPENDENT_LOOKUPS
from blogsmith.site import feeds
from blogsmith.stages import site_options
from blogsmith.syntax.parser import Parsed, parse_document
from tests.build_scripts import CELL, STEPS, Step, build_twice_at_once, compare, play
from tests.preview_sites import built
from tests.recorded import unsealed
from tests.site_files import NOW, build, put, put_bare
from tests.test_preview_line import OTHERS, POSTS, write
from tests.test_sites import SITES, copied

SHORT = st.lists(STEPS, min_size=1, max_size=5)
LONG = st.lists(STEPS, min_size=20, max_size=20)


@settings(max_examples=3, deadline=None)
@given(script=SHORT)
def test_edits_in_any_order(script: list[Step], tmp_path_factory: pytest.TempPathFactory) -> None:
    play(script, tmp_path_factory.mktemp("edited") / "site")


@pytest.mark.long
@settings(max_examples=500, deadline=None)
@given(script=LONG)
def test_edits_in_any_order_for_long(script: list[Step], tmp_path_factory: pytest.TempPathFactory) -> None:
    play(script, tmp_path_factory.mktemp("edited") / "site")


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_sites_twice(site: Path, tmp_path: Path) -> None:
    root = copied(site, tmp_path / "site")
    compare(root)
    again = compare(root)
    assert again.written == 0
    assert again.rebuilt == {}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a site of a few posts that has been built once."""
    root = put_bare(tmp_path / "site", {path: text for path, text in POSTS.items() if "partials" not in path})
    build(root, use_cache=True)
    return root


def test_a_post_shows_the_present_picture_of_the_next_one(tmp_path: Path) -> None:
    write(tmp_path / "blogsmith.yaml", "title: S\n")
    post = "---\ntitle: {}\ndate: 2026-01-0{}\ndescription: D\n---\nText.\n\n$$ {} = 1 $$\n"
    write(tmp_path / "content/posts/a.md", post.format("A", 1, "a"))
    shown = []
    for symbol in "bc":
        write(tmp_path / "content/posts/b.md", post.format("B", 2, symbol))
        build(tmp_path, use_cache=True)
        page = (tmp_path / "public/posts/a/index.html").read_text("utf-8")
        card = page.partition('class="next-picture"')[2].partition("</div>")[0]
        shown.append([one for one in "bc" if f"<mi>{one}</mi>" in card])
    assert shown == [["b"], ["c"]]


def test_no_stylesheet_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "blogsmith.yaml", "title: S\n")
    write(tmp_path / "themes/own/theme.yaml", "extends: paper\nstyles: [own.css]\n")
    own = tmp_path / "themes/own/static/own.css"
    write(own, "a { color: red }")
    with (tmp_path / "blogsmith.yaml").open("a") as settings:
        settings.write("theme: own\n")
    build(tmp_path, use_cache=True)
    with monkeypatch.context() as patch:
        patch.setattr(site_options, "_make", lambda *sheet: pytest.fail("a stylesheet is made again"))
        write(tmp_path / "content/posts/a.md", "---\ntitle: A\ndate: 2026-01-01\n---\nText.\n")
        assert build(tmp_path, use_cache=True).written > 0
    write(own, "a { color: blue }")
    compare(tmp_path)
    assert any("a{color:blue}" in sheet.read_text() for sheet in (tmp_path / "public").rglob("*.css"))


def test_feeds_are_no_matter_of_templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = put_bare(
        tmp_path / "site", {**POSTS, "blogsmith.yaml": "title: S\nbase_url: https://example.org\n"}
    )
    build(root, use_cache=True)
    with monkeypatch.context() as patch:
        patch.setattr(feeds, "_xml", lambda feed: pytest.fail("a feed is made anew"))
        layout = root / "themes/bare/layouts/post.html"
        write(layout, layout.read_text("utf-8") + "<!-- more -->")
        assert build(root, use_cache=True).written > 0
    compare(root)


def rebuilt(root: Path) -> dict[str, str]:
    return dict(build(root, use_cache=True).rebuilt)


HEADS = {
    "toml": '+++\ntitle = "{title}"\ndate = {date}\ntags = ["x"]\n+++\n',
    "json": '{{\n"title": "{title}",\n"date": "{date}",\n"tags": ["x"]\n}}\n\n',
}


@pytest.mark.parametrize("form", HEADS)
def test_heads_that_are_no_yaml(form: str, tmp_path: Path) -> None:
    """A string, a title, a date, an error and its fix: the site always equals that of a clean build."""
    head, path = HEADS[form], "content/posts/a.md"
    first = head.format(title="A", date="2026-01-01")
    files = {path: f"{first}Text $x$.\n", "content/posts/b.md": first.replace("A", "B") + "[a](a.md)\n"}
    root = put_bare(tmp_path / "site", files)
    assert compare(root).ok
    for text in (
        f"{first}Another text $y$.\n",
        head.format(title="New $x$", date="2026-01-01") + "Another text $y$.\n",
        head.format(title="New", date="2024-05-06") + "Another text $y$.\n",
        first.replace('"x"', '"x", "y"') + "Another text $y$.\n",
    ):
        write(root / path, text)
        assert compare(root).ok
    write(root / path, first.replace('"x"', '"x') + "Text.\n")
    assert not compare(root).ok
    write(root / path, f"{first}Text $x$.\n")
    assert compare(root).ok


def test_a_shortcode_that_is_known_from_now_on(tmp_path: Path) -> None:
    """Before, its call is text in a sentence."""
    root = put_bare(
        tmp_path / "site", {"content/posts/a.md": "---\ntitle: A\n---\nOne {% cite key=x %} two.\n"}
    )
    write(root / "blogsmith.yaml", "theme: bare\ndiagnostics: {shortcode-unknown: warning}\n")
    assert compare(root).ok
    page = root / "public/posts/a/index.html"
    assert "<p>One {% cite key=x %} two.</p>" in page.read_text()
    write(root / "shortcodes/cite.html", "<hr>\n")
    assert compare(root).ok
    assert "<p>One</p>\n<hr>\n<p>two.</p>" in page.read_text()
    (root / "shortcodes/cite.html").unlink()
    assert compare(root).ok


def test_pages_are_made_anew_by_what_their_shortcodes_load(tmp_path: Path) -> None:
    """Loaded directly or indirectly, found or missing; a page with another shortcode is not rebuilt."""
    first, second, third = (f"content/posts/{name}.md" for name in "abc")
    root = put_bare(
        tmp_path / "site",
        {
            first: "---\ntitle: A\n---\n{% one %}\n\n{% one %}\n",
            second: "---\ntitle: B\n---\nText {% two %}.\n",
            third: "---\ntitle: C\n---\nNone.\n",
            "shortcodes/one.html": "<p>{% include 'partials/piece.html' %}</p>\n",
            "shortcodes/two.inline.html": "{% include ['partials/absent.html', 'partials/there.html'] %}",
            "partials/piece.html": "<i>{{ asset('x.css') }}</i>",
            "partials/there.html": "<b>there</b>",
            "themes/bare/static/x.css": "p {}\n",
            "themes/bare/static/y.css": "p {}\n",
        },
    )
    assert compare(root).ok

    def remade(edits: dict[str, str]) -> set[str]:
        put(root, edits)
        report = compare(root)
        assert report.ok
        return {*report.rebuilt}

    assert remade({"shortcodes/one.html": "<div>{% include 'partials/piece.html' %}</div>\n"}) == {first}
    assert remade({"partials/piece.html": "<em>{{ asset('x.css') }}</em>"}) == {first}
    assert remade({"themes/bare/static/x.css": "p { color: red }\n"}) == {first}
    assert remade({"themes/bare/static/y.css": "p { color: red }\n"}) == set()
    assert remade({"partials/absent.html": "<b>no more</b>"}) == {second}
    assert remade({"partials/there.html": "<b>unseen</b>"}) == set()
    assert remade({"shortcodes/three.html": "<hr>\n"}) == {first, second, third}


def test_what_a_wrong_shortcode_says_is_as_new(tmp_path: Path) -> None:
    """Its message suggests file names."""
    root = put_bare(
        tmp_path / "site",
        {
            "content/posts/a.md": "---\ntitle: A\n---\n{% one %}\n",
            "shortcodes/one.html": "{{ asset('widget.js') }} {% include 'partials/piece.html' %}\n",
        },
    )
    assert not compare(root).ok
    put(root, {"themes/bare/static/widget.jss": ""})
    assert not compare(root).ok
    put(root, {"themes/bare/static/widget.js": ""})
    assert not compare(root).ok
    put(root, {"partials/pieces.html": "p"})
    assert not compare(root).ok
    put(root, {"partials/piece.html": "p"})
    assert compare(root).ok


def test_only_what_has_changed_is_made(site: Path) -> None:
    assert rebuilt(site) == {}
    write(site / "content/about.md", "Another text.\n")
    assert rebuilt(site) == {"content/about.md": "its file has changed"}


def test_who_asked_is_made_anew(site: Path) -> None:
    write(site / "content/posts/b.md", POSTS["content/posts/b.md"].replace("## End", "## The end"))
    assert rebuilt(site) == {
        "content/posts/a.md": 'the target of the link "b.md#end" has changed',
        "content/posts/b.md": "its file has changed",
    }


def test_every_lookup_has_a_reason_in_words() -> None:
    assert {*_SHARED, *INDEPENDENT_LOOKUPS} == _TITLES.keys()


def test_an_image_of_another_size(site: Path) -> None:
    path, svg = next((path, text) for path, text in OTHERS if path.endswith(".svg"))
    write(site / path, svg)
    assert rebuilt(site) == {"content/posts/c/index.md": 'the image "one.svg" has changed'}
    compare(site)


@pytest.mark.parametrize(
    ("setting", "is_anew"), [("title: Another", False), ("pagination: 1", False), ("numbering: true", True)]
)
def test_settings_that_reach_texts(setting: str, is_anew: bool, site: Path) -> None:
    text = (site / "blogsmith.yaml").read_text()
    lines = [line for line in text.splitlines() if line.split(":")[0] != setting.split(":")[0]]
    write(site / "blogsmith.yaml", "\n".join([*lines, setting, ""]))
    assert len(rebuilt(site)) == (4 if is_anew else 0)
    compare(site)


def test_options_of_the_command(site: Path) -> None:
    write(site / "content/posts/draft.md", "---\ntitle: D\ndraft: true\n---\n[a](a.md)\n")
    write(site / "content/about.md", "[](posts/draft.md)\n")
    for options in ({}, {"drafts": True}, {"base_url": "https://example.com/other"}, {"strict": True}):
        report = build(site, use_cache=True, output=site / "public", **options)
        clean = build(site, output=site.with_name("fresh"), **options)
        assert report.diagnostics == clean.diagnostics
        assert not report.ok or built(site / "public") == built(site.with_name("fresh"))


def test_a_check_leaves_what_a_build_uses(site: Path) -> None:
    write(site / "content/about.md", "Let $ x^2 $ be.\n")
    first = build(site, use_cache=True, write=False)
    again = build(site, use_cache=True, write=False)
    assert again.diagnostics == first.diagnostics == build(site, write=False).diagnostics
    assert rebuilt(site) == {}


RUNS = "---\ntitle: Runs\n---\n```{python}\nprint(20 + 1)\n```\n"


@pytest.mark.parametrize("command", [["execute"], ["freeze", "status"]])
def test_commands_that_make_no_site_read_what_is_kept(
    command: list[str], site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parsed: list[str] = []
    write(site / "content/about.md", "---\ntags: x\n---\n$\\unknown$\n")
    write(site / "content/runs.md", RUNS)
    monkeypatch.chdir(site)

    def ask() -> tuple[object, ...]:
        parsed.clear()
        capsys.readouterr()
        code = main([*command, "--site", str(site)])
        told = capsys.readouterr()
        return code, told.err, told.out.partition(" in ")[0]

    def watched(document: Document, *rest: Any) -> Parsed:
        parsed.append(str(document.path))
        return parse_document(document, *rest)

    monkeypatch.setattr("blogsmith.syntax.parser.parse_document", watched)
    ask()  # the cell runs
    remove_site_cache(site)
    clean = ask()
    assert len(parsed) == len(list(site.rglob("content/**/*.md")))
    assert ask() == clean and parsed == []
    # what they keep is what a build begins with, and the other way round
    remove_site_cache(site)
    build(site, use_cache=True, drafts=True, future=True)
    assert ask() == clean and parsed == []
    write(site / "content/about.md", "Mended.\n")
    ask()
    assert parsed == ["content/about.md"]


def test_what_a_build_keeps_while_cells_run(site: Path) -> None:
    """Cells may run for hours: the cache is not locked that long, and not reset."""
    write(site / "content/runs.md", RUNS)

    class Builder(SilentObserver):
        def cell_started(self, job: SessionJob, position: int) -> None:
            write(site / "content/about.md", "Written while it ran.\n")
            assert "content/about.md" in rebuilt(site)

    asked = ExecutionOptions(execute="stale", watch=Builder())
    report = execute_site(site, (), BuildOptions(now=NOW, use_cache=True, execution=asked))
    assert (report.ok, report.executed_cells) == (True, 1)
    assert "content/about.md" not in rebuilt(site)


def test_records_that_are_edited(site: Path) -> None:
    write(site / "content/posts/cell.md", CELL)
    trust(site)
    assert compare(site).ok
    assert rebuilt(site) == {}
    record = next((site / "_freeze").rglob("outputs.json"))
    pictures = [file for file in record.parent.iterdir() if file != record]
    assert pictures
    for file in pictures:
        file.write_bytes(file.read_bytes().replace(b'width="4"', b'width="9"'))
    assert "freeze-damaged" in [found.code for found in build(site, use_cache=True).diagnostics]
    compare(site)
    assert build(site, use_cache=True, execution=ExecutionOptions(execute="stale")).ok
    assert compare(site).ok
    write(record, record.read_text().replace("2026", "2025"))
    assert not compare(site).ok
    write(record, unsealed(record.read_bytes()).decode())
    assert compare(site).ok
    write(site / "content/posts/cell.md", CELL.replace('"3"', '"5"'))
    compare(site)
    shutil.rmtree(site / "_freeze")
    compare(site)


def test_a_plugin_of_the_site_may_read_other_files(site: Path) -> None:
    code = """\
from pathlib import Path
from unittest.mock import patch
def register(hooks):
    here = Path(__file__).parents[1]
    hooks.page_rendered(lambda html, page: html + (here / "data.txt").read_text())
"""
    put(site, {"plugins/reads.py": code, "data.txt": "one"})
    write(site / "blogsmith.yaml", "title: Site\nplugins: [reads]\n")
    trust(site)
    assert compare(site).ok
    write(site / "content/about.md", "Another text.\n")
    assert list(rebuilt(site)) == ["content/about.md"]
    write(site / "data.txt", "two")
    compare(site)
    assert "two" in (site / "public/about/index.html").read_text()


def test_pages_that_are_gone_are_not_kept(site: Path) -> None:
    texts = {path: (site / path).read_text() for path in ("content/posts/a.md", "content/posts/b.md")}
    for path in texts:
        (site / path).unlink()
    build(site, use_cache=True)
    for path, text in texts.items():
        write(site / path, text)
    again = rebuilt(site)
    assert {again[path] for path in texts} == {"it is not in the cache"}


def _build_and_die(root: Path, after: int) -> None:
    """Build, and be killed after this many rendered pages."""
    left = [after]

    def render_or_die(*arguments: object) -> object:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return render_body(*arguments)  # type: ignore[arg-type]

    with patch("blogsmith.render.html.render_body", render_or_die):
        build(root, use_cache=True)


@pytest.mark.parametrize("after", [0, 2])
def test_a_build_that_is_killed(after: int, site: Path) -> None:
    write(site / "blogsmith.yaml", "title: Site\nnumbering: true\ntheme: bare\n")
    dying = multiprocessing.get_context("fork").Process(target=_build_and_die, args=(site, after))
    dying.start()
    dying.join()
    assert dying.exitcode == -signal.SIGKILL
    compare(site)


def test_two_builds_at_once(site: Path) -> None:
    write(site / "content/about.md", "Another text.\n")
    build_twice_at_once(site)
    assert rebuilt(site) == {}
    compare(site)


def test_feeds_are_made_when_a_post_in_them_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    atom = feeds.atom

    def watched(name: str, *arguments: Any) -> bytes:
        made.append(name)
        return atom(name, *arguments)

    monkeypatch.setattr(feeds, "atom", watched)
    post = "---\ntitle: {0}\ndate: 2026-01-0{0}\ntags: [t{0}]\n---\nText {1}.\n"
    config = "title: S\nbase_url: https://example.org\nfeeds: {entries: 2}\n"
    files = {f"content/posts/p{number}.md": post.format(number, "") for number in (1, 2, 3)}
    root = put_bare(tmp_path, {"blogsmith.yaml": config, **files})
    steps = ((1, ["S", "S: t1", "S: t2", "S: t3"]), (3, ["S: t1"]), (2, ["S", "S: t2", "S: t3"]))
    for number, (edited, expected) in enumerate(steps):
        assert build(root, use_cache=True).ok
        assert sorted(made) == expected
        made.clear()
        put(root, {f"content/posts/p{edited}.md": post.format(edited, f"anew {number}")})


def test_lists_that_show_texts(site: Path) -> None:
    put(site, {"layouts/section.html": "{% for post in page.pages %}{{ post.content }}{% endfor %}\n"})
    assert compare(site).ok
    write(site / "content/posts/a.md", POSTS["content/posts/a.md"] + "\nOne more sentence.\n")
    assert compare(site).written > 1
    assert "One more sentence" in (site / "public/posts/page/2/index.html").read_text()


def test_lists_that_show_none(site: Path) -> None:
    assert compare(site).ok
    write(site / "content/posts/a.md", POSTS["content/posts/a.md"] + "\nOne more sentence.\n")
    with patch.object(OutputPlan, "page", autospec=True, side_effect=OutputPlan.page) as made:
        build(site, use_cache=True, output=site / "public")
    assert [call.args[1].path for call in made.call_args_list] == ["content/posts/a.md"]
