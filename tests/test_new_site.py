"""New sites in a new folder, an empty one or a repository: valid by their own check, and rejected input."""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.build.site import build_site
from blogsmith.cli.main import main
from blogsmith.cli.new_site import FirstSettings, default_author, new_site, text_language
from blogsmith.languages.bundled_languages import bundled_tags
from blogsmith.project.bundled_folders import bundled_folder
from blogsmith.project.report import BuildOptions
from blogsmith.project.trust.consent import trust
from tests.test_new import head_of

ROOT = Path(__file__).parent.parent
TODAY = dt.date(2026, 3, 1)
NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
REPOSITORY = {
    ".git/HEAD": "ref: refs/heads/main\n",
    ".github/workflows/ci.yml": "on: push\n",
    ".gitignore": "__pycache__/\npublic/",
    "LICENSE": "MIT\n",
    "README.md": "# Notes\n",
}
"""A repository created on a website, with one more file."""


def files_in(root: Path) -> dict[str, str]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in files}


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_a_new_site_has_configuration_home_and_first_post(tmp_path: Path) -> None:
    made = new_site(tmp_path / "my notes", TODAY)
    on_disk = files_in(tmp_path / "my notes")
    assert {*on_disk} == {str(path) for path in made.written}
    assert {"blogsmith.yaml", ".gitignore", "content/_index.md", "content/about.md"} <= {*on_disk}
    assert [name for name, text in on_disk.items() if "my notes" in text] == ["blogsmith.yaml"]
    assert (made.extended_lists, made.existing_names) == ((), ())
    settings = yaml.safe_load(on_disk["blogsmith.yaml"])
    assert settings["title"] == "my notes"
    assert settings["markup"] == {"smart_quotes": True}
    assert head_of(tmp_path / "my notes/content/posts/hello/index.md")["date"] == TODAY


def test_git_is_told_about_output_cache_and_records(tmp_path: Path) -> None:
    new_site(tmp_path, TODAY)
    assert {"/public/", "/.blogsmith/"} <= {*(tmp_path / ".gitignore").read_text().splitlines()}
    assert "-merge" in (tmp_path / "_freeze/.gitattributes").read_text()


def test_a_new_site_builds_without_a_word(tmp_path: Path) -> None:
    new_site(tmp_path, TODAY)
    trust(tmp_path)
    report = build_site(tmp_path, BuildOptions(now=NOON, strict=True))
    assert report.diagnostics == ()
    assert (report.ok, report.code_blocks, report.images, report.executed_cells) == (True, 2, 1, 2)
    assert report.formulas > 5


def test_a_new_site_has_search_feed_switch_author_and_a_figure_for_both_schemes(tmp_path: Path) -> None:
    new_site(tmp_path, TODAY, FirstSettings("My notes", author="Ada Lovelace"))
    trust(tmp_path)
    assert build_site(tmp_path, BuildOptions(now=NOON)).ok
    home, post = (
        (tmp_path / "public" / name / "index.html").read_text("utf-8") for name in (".", "posts/hello")
    )
    for page in (home, post):
        assert '<a class="search-link"' in page
        assert '<a class="feed-link" href="/atom.xml">' in page
        assert '<button type="button" class="theme-switch"' in page
        assert "Ada Lovelace" in page
    assert '<h1 class="page-title">Ada Lovelace</h1>' in home
    assert '<a class="site-title" href="/">My notes</a>' in home
    assert "<title>My notes</title>" in home
    assert '<p class="profile-line">Mathematics, with formulas and code</p>' in home
    assert '<img class="portrait"' in home
    (card,) = re.findall(r'<li class="card">.*?</li>\n</ol>', home, re.DOTALL)
    assert '<div class="card-picture" aria-hidden="true"><picture><source srcset="/posts/hello/fig-' in card
    feed = ElementTree.parse(tmp_path / "public/atom.xml")
    atom = "{http://www.w3.org/2005/Atom}"
    entry = feed.find(f"{atom}entry")
    assert entry is not None and entry.findtext(f"{atom}author/{atom}name") == "Ada Lovelace"
    dark, light = re.findall(r'(?:srcset|<img src)="(/posts/hello/fig-temperature[^"]+)"', post)[:2]
    drawn = [(tmp_path / "public" / url[1:]).read_text("utf-8") for url in (dark, light)]
    assert drawn[0] != drawn[1]
    assert all("<svg" in svg and "temperature" in svg for svg in drawn)


def test_the_first_figure_needs_no_packages(tmp_path: Path) -> None:
    """NumPy and Matplotlib are extras: their imports fail here, and the starter still builds."""
    new_site(tmp_path, TODAY)
    for name in ("numpy", "matplotlib"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('not installed')\n")
    trust(tmp_path)
    report = build_site(tmp_path, BuildOptions(now=NOON, strict=True))
    assert (report.diagnostics, report.executed_cells) == ((), 2)


@pytest.mark.parametrize("tag", bundled_tags())
def test_first_pages_are_in_the_language_of_the_site(tmp_path: Path, tag: str) -> None:
    """All languages have the same pages, none in English, and build without a warning."""
    new_site(tmp_path, TODAY, FirstSettings("N", lang=tag))
    trust(tmp_path)
    report = build_site(tmp_path, BuildOptions(now=NOON, strict=True))
    assert (report.diagnostics, report.ok) == ((), True)
    folder = bundled_folder("starter_texts")
    own, english = (yaml.safe_load((folder / f"{name}.yaml").read_text("utf-8")) for name in (tag, "en"))
    assert own.keys() == english.keys()
    if tag != "en":
        # strings that are the same in that language
        assert {key for key in own if own[key] == english[key]} <= {"score"}
    for key in ("intro", "explanation", "note", "limit", "value"):
        assert re.findall(r"\$[^$]+\$|\{[=@][^}]+\}|\[\^\w+\]", own[key]) == re.findall(
            r"\$[^$]+\$|\{[=@][^}]+\}|\[\^\w+\]", english[key]
        ), key
    page = (tmp_path / "public/posts/hello/index.html").read_text("utf-8")
    assert own["post_title"] in page


@pytest.mark.parametrize(
    ("lang", "text"), [("pt-BR", "pt"), ("zh-Hant", "zh"), ("sv", "en"), ("en-GB", "en")]
)
def test_the_nearest_language_has_the_texts(lang: str, text: str) -> None:
    assert text_language(lang) == text


@pytest.mark.parametrize(
    ("config", "name"),
    [("[user]\n\tname = Ada  Lovelace\n", "Ada Lovelace"), ("", ""), ("[user\n", "")],
)
@pytest.mark.skipif(os.name == "nt" or not shutil.which("git"), reason="asks Git")
def test_the_author_is_the_one_that_git_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, name: str
) -> None:
    (tmp_path / "gitconfig").write_text(config)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    assert default_author() == name


def test_the_author_is_a_placeholder_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert default_author() == ""
    new_site(tmp_path, TODAY)
    assert 'name: "Your Name"' in (tmp_path / "blogsmith.yaml").read_text("utf-8")


def test_settings_of_a_repository_name_no_author(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, {".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[user]\n\tname = Mallory\n"})
    (tmp_path / ".git/objects").mkdir()
    (tmp_path / ".git/refs").mkdir()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    assert default_author() == ""


def test_check_has_nothing_to_say_before_the_first_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "site"]) == 0
    assert capsys.readouterr().out.endswith("files written\nnext: blogsmith serve\n")
    for _ in range(2):
        assert main(["check", "--strict"]) == 0
        out, err = capsys.readouterr()
        assert (err, "2 cells (3 results pending until the next build)" in out) == ("", True)
    assert main(["build", "--strict"]) == 0
    assert main(["check", "--strict"]) == 0
    out, err = capsys.readouterr()
    assert (err, "to make" in out) == ("", False)


def test_nor_when_the_sample_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "site", "."]) == 0
    shutil.rmtree("content/posts/hello")
    assert main(["check", "--strict"]) == 0
    # macros of the author are a library, too
    text = Path("blogsmith.yaml").read_text()
    Path("blogsmith.yaml").write_text(text.replace(r"\softmax", r"\lse"))
    assert main(["check", "--strict"]) == 0
    assert capsys.readouterr().err == ""


def test_a_check_that_may_not_run_cells_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    new_site(tmp_path, TODAY)
    assert main(["check", "--strict"]) == 1
    assert "[cell-pending]" in capsys.readouterr().err


def test_what_a_cell_needs_is_told_also_where_cells_may_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    main(["new", "site"])
    post = "---\ntitle: A\ndate: 2026-01-01\n---\n\n```python\n#| needs: cuda\nprint(1)\n```\n"
    put(tmp_path, {"content/posts/a.md": post})
    assert main(["check"]) == 0
    err = capsys.readouterr().err
    assert "content/posts/a.md:6:4: warning: no recorded result for cell 1" in err
    assert "hint: run `blogsmith execute` where `cuda` is available" in err


def test_no_placeholder_is_left(tmp_path: Path) -> None:
    new_site(tmp_path / "a", TODAY)
    for text in files_in(tmp_path).values():
        assert not re.search(r"@\"?[a-z_]+\"?@", text)


def test_a_repository_keeps_its_files(tmp_path: Path) -> None:
    put(tmp_path, REPOSITORY)
    made = new_site(tmp_path, TODAY)
    after = files_in(tmp_path)
    assert {name: after[name] for name in REPOSITORY if name != ".gitignore"} == {
        name: text for name, text in REPOSITORY.items() if name != ".gitignore"
    }
    assert after[".gitignore"] == "__pycache__/\npublic/\n/.blogsmith/\n/.venv/\n"
    assert [str(path) for path in made.extended_lists] == [".gitignore"]
    assert made.existing_names == (".git", ".github", ".gitignore", "LICENSE", "README.md")


def test_a_gitignore_that_has_it_all_is_untouched(tmp_path: Path) -> None:
    put(tmp_path, {".gitignore": "public\n/.blogsmith\n.venv/"})
    assert new_site(tmp_path, TODAY).extended_lists == ()
    assert (tmp_path / ".gitignore").read_text() == "public\n/.blogsmith\n.venv/"


def test_line_ends_of_a_gitignore_stay(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes(b"public/\r\n*.o\r\n")
    new_site(tmp_path, TODAY)
    assert (tmp_path / ".gitignore").read_bytes() == b"public/\r\n*.o\r\n/.blogsmith/\r\n/.venv/\r\n"


def test_what_would_be_replaced_is_named(tmp_path: Path) -> None:
    mine = {"content/_index.md": "years of work", "content/about.md": "me", "thesis.tex": "more"}
    put(tmp_path, mine)
    with pytest.raises(SiteError, match=r"would replace: content/_index\.md, content/about\.md$"):
        new_site(tmp_path, TODAY)
    assert files_in(tmp_path) == mine


def test_a_file_where_a_folder_goes_is_named(tmp_path: Path) -> None:
    put(tmp_path, {"content": "a file"})
    with pytest.raises(SiteError, match=r"would replace: content/_index\.md"):
        new_site(tmp_path, TODAY)
    assert files_in(tmp_path) == {"content": "a file"}


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "site").mkdir()
    (tmp_path / "site/content").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SiteError, match="would replace"):
        new_site(tmp_path / "site", TODAY)
    assert files_in(tmp_path) == {}
    (tmp_path / "list").write_text("mine\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/.gitignore").symlink_to(tmp_path / "list")
    with pytest.raises(SiteError, match="cannot write"):
        new_site(tmp_path / "other", TODAY)
    assert files_in(tmp_path / "other").keys() == {".gitignore"}
    assert (tmp_path / "list").read_text() == "mine\n"


def test_a_site_is_a_site_already(tmp_path: Path) -> None:
    new_site(tmp_path, TODAY)
    with pytest.raises(SiteError, match="is already a site"):
        new_site(tmp_path, TODAY)


def test_new_site_refuses_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SiteError, match="cannot write"):
        new_site(tmp_path / "file", TODAY)


def test_new_site_refuses_ones_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert main(["new", "site"]) == 1
    assert "the home folder is not allowed as a site" in capsys.readouterr().err
    assert files_in(tmp_path) == {}


def test_plugins_that_were_there_are_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    put(tmp_path, {"plugins/theirs.py": "raise SystemExit\n"})
    assert main(["new", "site"]) == 0
    out, err = capsys.readouterr()
    assert "plugins/ existed before" in err
    assert out.endswith("next: blogsmith trust && blogsmith serve\n")
    assert main(["build"]) == 0
    assert "[cell-pending]" in capsys.readouterr().err


@pytest.mark.parametrize(
    "theme", sorted(file.parent.name for file in bundled_folder("themes").glob("*/theme.yaml"))
)
def test_settings_that_were_asked_for(tmp_path: Path, theme: str) -> None:
    lang = bundled_tags()[1]
    settings = FirstSettings('A "b": c # d', "https://example.org/blog", theme, lang)
    new_site(tmp_path, TODAY, settings)
    trust(tmp_path)
    report = build_site(tmp_path, BuildOptions(now=NOON, strict=True))
    assert report.diagnostics == ()
    read = yaml.safe_load((tmp_path / "blogsmith.yaml").read_text("utf-8"))
    assert (read["title"], read["base_url"]) == (settings.title, settings.base_url)
    assert (read["theme"], read["lang"]) == (theme, lang)


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_guided_asks_and_asks_again(tmp_path: Path) -> None:
    wrong = (
        "Notes: on maths",
        "Ada Lovelace",
        "example.org",
        "https://example.org/n",
        "papr",
        "terminal",
        "english, please",
        "de",
    )
    shown, code = at_a_terminal(["new", "site", "a b", "--guided"], tmp_path, [*wrong, "rsync"])
    assert code == 0, shown
    for text in (
        "Title of the site [a b]: ",
        'must start with "http',
        "did you mean `paper`?",
        "as en or pt-BR",
    ):
        assert text in shown
    assert "next: cd 'a b' && blogsmith serve\n" in shown
    assert shown.endswith("\nthen: blogsmith publish setup rsync --destination user@host:/folder/\n")
    read = yaml.safe_load((tmp_path / "a b/blogsmith.yaml").read_text("utf-8"))
    assert (read["title"], read["base_url"]) == ("Notes: on maths", "https://example.org/n")
    assert (read["theme"], read["lang"], read["person"]["name"]) == ("terminal", "de", "Ada Lovelace")
    assert 'title: "Über mich"' in (tmp_path / "a b/content/about.md").read_text("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_guided_reports_a_language_without_texts(tmp_path: Path) -> None:
    shown, code = at_a_terminal(["new", "site", "s", "--guided"], tmp_path, ["", "", "", "", "sv", ""])
    assert (code, 'the first pages are in English: blogsmith has no first pages in "sv"' in shown) == (
        0,
        True,
    )


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_every_question_has_an_answer(tmp_path: Path) -> None:
    shown, code = at_a_terminal(["new", "site", "notes", "--guided"], tmp_path, [""] * 6)
    assert code == 0, shown
    new_site(tmp_path / "plain/notes", TODAY, FirstSettings("notes", author=default_author()))
    settings = [files_in(tmp_path / name)["blogsmith.yaml"] for name in ("notes", "plain/notes")]
    assert settings[0] == settings[1]


def test_guided_needs_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "site", "--guided"]) == 2
    assert "needs a terminal" in capsys.readouterr().err
    assert files_in(tmp_path) == {}


def at_a_terminal(command: list[str], folder: Path, answers: Sequence[str]) -> tuple[str, int]:
    """Return the terminal output of a command with typed answers, and its exit code."""
    import pty

    ours, theirs = pty.openpty()
    program = [sys.executable, "-m", "blogsmith", *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        program,
        cwd=folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        start_new_session=True,
    )
    os.close(theirs)
    os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
    shown = b""
    with suppress(OSError):  # Linux raises this when the other end is closed
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    return shown.decode().replace("\r\n", "\n"), process.wait()
