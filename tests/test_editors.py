"""`editor:` and BLOGSMITH_EDITOR: which link or command opens a source file, and security rules."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import cast
from urllib.parse import unquote

import pytest

from blogsmith.config.editors import EDITORS, read_editor
from blogsmith.config.load import load_config, parse_config
from blogsmith.config.schema import Config
from blogsmith.preview import editors
from blogsmith.preview.editors import BY_COMMAND, Editor, editor_link, url_path
from blogsmith.project.trust.consent import execution_settings, is_trusted, trust
from tests.rows import each_row

# Writes its arguments as JSON where a test can read them.
WRITER = (
    "import json, os, sys; json.dump([os.getcwd(), *sys.argv[1:]], open(os.environ['SEEN'] + '~', 'w')); "
)
WRITER += "os.replace(os.environ['SEEN'] + '~', os.environ['SEEN'])"
NASTY = ("a b.md", "a#b?c.md", "größe.md", "100%.md", "{line}.md", "a'b\"c;d&e.md", "$(touch x).md", "-x.md")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a folder with a post, in a path that needs escapes."""
    root = tmp_path / "my site"
    (root / "content").mkdir(parents=True)
    (root / "content" / "a.md").write_text("x")
    return root


# -- the words --


@each_row("name", EDITORS)
def test_every_name_is_a_url_or_a_command_with_the_file_and_the_line(name: str) -> None:
    choice = read_editor(name)
    assert (choice.problem, choice.runs_site_command) == ("", False)
    assert bool(choice.url) != bool(choice.command)
    told = choice.url or " ".join(choice.command)
    assert told.count("{file}") == told.count("{line}") == 1


@each_row(
    ("text", "url", "command"),
    [
        ("", "", ()),
        ("  ", "", ()),
        ("my://open?file={file}&line={line}", "my://open?file={file}&line={line}", ()),
        # as the manual of VS Code writes it; two slashes would be another path
        ("vscode://file/{file}:{line}", "vscode://file{file}:{line}", ()),
        ("my://open?url=file://{file}", "my://open?url=file://{file}", ()),
        ("vim-tab {file} '+{line}'", "", ("vim-tab", "{file}", "+{line}")),
        (
            '"/opt/my editor" --at={line}:{column} {file}',
            "",
            ("/opt/my editor", "--at={line}:{column}", "{file}"),
        ),
        ("kitty -e hx {file}:{line}", "", ("kitty", "-e", "hx", "{file}:{line}")),
    ],
)
def test_what_an_author_writes(text: str, url: str, command: tuple[str, ...]) -> None:
    choice = read_editor(text)
    assert (choice.url, choice.command, choice.problem) == (url, command, "")
    assert choice.runs_site_command == bool(command)


@each_row(
    ("text", "problem", "hint"),
    [
        ("vscod", 'unknown editor "vscod"', "did you mean `vscode`?"),
        ("vim", 'unknown editor "vim"', "write one of "),
        ("nano -w", 'unknown editor "nano -w"', "write one of `vscode`, "),
        ("code {path}", 'unknown placeholder "{path}"', "write one of `{file}`, `{line}`, `{column}`"),
        ("code {fil}", 'unknown placeholder "{fil}"', "did you mean `file`?"),
        ("code '{file}", 'missing closing quote in "code \'{file}"', "quote arguments as in a shell"),
        ("{file}", "the editor command must start with a program", "write a command such as `emacsclient"),
        (
            "./{file} x",
            "the editor command must start with a program",
            "write a command such as `emacsclient",
        ),
        (
            "javascript://%0aalert(1)//{file}",
            'scheme "javascript:" is not allowed in the URL of an editor',
            "write a URL such as `my",
        ),
        (
            "HTTPS://evil.example/{file}",
            'scheme "https:" is not allowed in the URL of an editor',
            "write a URL such as `my",
        ),
        ("file://{file}", 'scheme "file:" is not allowed in the URL of an editor', "write a URL such as `my"),
        ('my://{file}"onclick=x', "the URL of the editor contains a space or a quote", "percent-encode it"),
        ("my://open {file}", "the URL of the editor contains a space or a quote", "percent-encode it"),
    ],
)
def test_what_is_no_editor(text: str, problem: str, hint: str) -> None:
    choice = read_editor(text)
    assert choice.problem == problem
    assert choice.hint.startswith(hint)
    assert (choice.url, choice.command, choice.runs_site_command) == ("", (), False)


def test_a_wrong_setting_is_reported_at_its_place() -> None:
    loaded = parse_config("title: A\neditor: vscod\n")
    (found,) = loaded.diagnostics
    assert (found.code, found.message, found.hint) == (
        *("config-value", 'unknown editor "vscod"', "did you mean `vscode`?"),
    )
    assert found.place is not None and (found.place.line, found.place.column) == (2, 9)
    assert loaded.config.editor == ""


# -- links --


def test_a_name_becomes_a_link_with_places_for_the_page() -> None:
    editor = editor_link("vscode", {}, Path("/home/me/notes"), trusted=False)
    assert editor.template == "vscode://file/home/me/notes/{path}:{line}:{column}"
    assert editor.problem == ""


def test_what_means_something_in_a_url_is_escaped_in_the_path() -> None:
    editor = editor_link("idea", {}, Path("/a b/c#d?e&f/ü%{line}"), trusted=False)
    head, _, rest = editor.template.partition("?file=")
    path, _, places = rest.partition("&line=")
    assert head == "idea://open"
    assert path == "/a%20b/c%23d%3Fe%26f/%C3%BC%25%7Bline%7D/{path}"
    assert places == "{line}&column={column}"
    assert unquote(path) == "/a b/c#d?e&f/ü%{line}/{path}"


def test_folders_as_a_url_shows_them() -> None:
    assert url_path(Path("/")) == ""
    assert url_path(Path("/a:b")) == "/a%3Ab"
    windows = cast(Path, PureWindowsPath(r"C:\Users\me\my notes"))
    assert url_path(windows) == "/C:/Users/me/my%20notes"
    assert editor_link("vscode", {}, windows, trusted=False).template == (
        "vscode://file/C:/Users/me/my%20notes/{path}:{line}:{column}"
    )


def test_without_an_editor_nothing_is_opened(site: Path) -> None:
    editor = editor_link("", {"BLOGSMITH_EDITOR": ""}, site, trusted=True)
    assert editor == Editor(site)
    with pytest.raises(ValueError, match="no editor command"):
        editor.open_file("content/a.md")


def test_the_author_goes_before_the_site(site: Path) -> None:
    environ = {"BLOGSMITH_EDITOR": "zed"}
    assert editor_link("vscode", environ, site, trusted=True).template.startswith("zed://file/")
    mine = editor_link("vscode", {"BLOGSMITH_EDITOR": "ed {file}"}, site, trusted=False)
    assert (mine.template, mine.command) == (BY_COMMAND, ("ed", "{file}"))


def test_a_mistake_in_the_variable_is_told(site: Path) -> None:
    editor = editor_link("vscode", {"BLOGSMITH_EDITOR": "vscod"}, site, trusted=True)
    assert editor.template == ""
    assert editor.problem == 'BLOGSMITH_EDITOR: unknown editor "vscod"; did you mean `vscode`?'


def test_a_command_of_the_site_needs_trust(site: Path) -> None:
    editor = editor_link("ed {file}", {}, site, trusted=False)
    assert (editor.template, editor.command) == ("", ())
    assert "not trusted" in editor.problem
    assert editor_link("ed {file}", {}, site, trusted=True).command == ("ed", "{file}")
    # the commands of the table are ours
    assert editor_link("emacs", {}, site, trusted=False).template == BY_COMMAND


# -- trust --


def test_a_changed_command_asks_again(site: Path) -> None:
    settings = site / "blogsmith.yaml"
    settings.write_text("title: A\n")
    trust(site)
    settings.write_text("title: A\neditor: evil {file}\n")
    assert not is_trusted(site)
    trust(site)
    assert is_trusted(site) and is_trusted(site, load_config(site).config)
    settings.write_text("title: A\neditor: evil -x {file}\n")
    assert not is_trusted(site)


def test_what_runs_nothing_asks_nobody() -> None:
    for harmless in ("vscode", "emacs", "my://{file}"):
        assert execution_settings(Config(editor=harmless)) == {}
    assert execution_settings(Config(editor="ed {file}")) == {"editor": "ed {file}"}


# -- commands --


def writer(site: Path, *arguments: str) -> Editor:
    return Editor(site, BY_COMMAND, (sys.executable, "-c", WRITER, *arguments))


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Increase the timeout: on a busy machine, even a short program is slow to end."""
    monkeypatch.setattr(editors, "START_TIMEOUT_S", 60.0)


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file where `WRITER` writes."""
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    return tmp_path / "seen"


def test_a_command_gets_the_place(site: Path, seen: Path) -> None:
    writer(site, "+{line}:{column}", "{file}", "{other}").edit(
        {"path": "content/a.md", "line": 12, "column": 3}
    )
    assert json.loads(seen.read_text()) == [str(site), "+12:3", str(site / "content/a.md"), "{other}"]


@pytest.mark.parametrize("name", NASTY)
def test_no_name_of_a_file_is_more_than_one_argument(site: Path, seen: Path, name: str) -> None:
    (site / name).write_text("x")
    writer(site, "{file}").open_file(name, 1, 1)
    assert json.loads(seen.read_text()) == [str(site), str(site / name)]


def test_a_command_that_stays_is_not_waited_for(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editors, "START_TIMEOUT_S", 0.05)
    code = "import os, sys; os.read(os.open(sys.argv[1], os.O_RDONLY), 1)"
    fifo = site / "fifo"
    os.mkfifo(fifo)
    Editor(site, BY_COMMAND, (sys.executable, "-c", code, str(fifo), "{file}")).open_file("content/a.md")
    (waiting,) = [thread for thread in threading.enumerate() if thread.name == "editor"]
    fifo.write_text("x")
    waiting.join(60)
    assert not waiting.is_alive()


def test_a_command_that_fails_is_told(site: Path) -> None:
    with pytest.raises(ValueError, match=r"ended with exit code 3"):
        Editor(site, BY_COMMAND, (sys.executable, "-c", "raise SystemExit(3)", "{file}")).open_file(
            "content/a.md"
        )
    with pytest.raises(ValueError, match="cannot start no-such-editor: "):
        Editor(site, BY_COMMAND, ("no-such-editor", "{file}")).open_file("content/a.md")


@pytest.mark.parametrize(
    "path",
    [
        *("", ".", "content", "content/b.md", "/etc/passwd", "../secret.md", "content/../../secret.md"),
        *("content/../content/a.md", "content\\a.md", "content/a.md\0", "link.md", "loop", "x" * 5000),
    ],
)
def test_only_files_of_the_site_are_opened(site: Path, seen: Path, path: str) -> None:
    (site.parent / "secret.md").write_text("x")
    (site / "link.md").symlink_to(site.parent / "secret.md")
    (site / "loop").symlink_to(site / "loop")
    with pytest.raises(ValueError, match="a file of the site"):
        writer(site, "{file}").open_file(path)
    assert not seen.exists()


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"path": 1},
        {"path": ["content/a.md"]},
        *({"path": "content/a.md", "line": line} for line in (0, -1, 1.5, "2", True, None, 10**9)),
        {"path": "content/a.md", "column": "--eval"},
    ],
)
def test_what_a_page_sends_is_checked(site: Path, seen: Path, data: Mapping[str, object]) -> None:
    with pytest.raises(ValueError):
        writer(site, "{file}", "{line}", "{column}").edit(data)
    assert not seen.exists()


def test_a_link_within_the_site_is_followed(site: Path, seen: Path) -> None:
    (site / "link.md").symlink_to("content/a.md")
    writer(site, "{file}").open_file("link.md")
    assert json.loads(seen.read_text())[1] == str(site / "content/a.md")


# -- the manual --

PAGE = (Path(__file__).parent.parent / "content" / "docs" / "preview.md").read_text("utf-8")


@each_row("name", EDITORS)
def test_every_name_is_in_the_manual(name: str) -> None:
    rows = [line for line in PAGE.split("\n") if line.startswith("|") and f"`{name}`" in line]
    assert len(rows) == 1
    if not EDITORS[name].partition("://")[1]:
        assert f"`{EDITORS[name]}`" in rows[0]


def test_every_editor_in_the_manual_is_one() -> None:
    shown = [text for text in re.findall(r"`([^`\n]+)`", PAGE) if "{file}" in text and text != "{file}"]
    assert len(shown) > 10
    assert {text: read_editor(text).problem for text in shown} == dict.fromkeys(shown, "")
    for command in re.findall(r"BLOGSMITH_EDITOR=(\S+)", PAGE):
        assert read_editor(command.strip("'")).problem == ""
