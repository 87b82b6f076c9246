"""The author's editor at a place in a source file: as a link of the page, or as a command that runs here.

A link is followed by the browser. A command is started by this process, with the author's rights: one that
the site's settings bring is code of the site and runs only where the site is trusted; one of the author's
own, in BLOGSMITH_EDITOR, needs nobody's consent.
"""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from ..base.patterns import lazy_pattern
from ..config.editors import read_editor

VARIABLE = "BLOGSMITH_EDITOR"
BY_COMMAND = "command"
"""What a page is told in place of a link: ask the preview to open the editor."""
GRACE_S = 1.0
"""How long a command may take to fail and be heard, in seconds."""
_LAST_LINE = 10_000_000
_DRIVE = lazy_pattern(r"[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class Editor:
    """How a source file of one site is opened."""

    root: Path
    template: str = ""
    """A URL with places `{path}` (percent-encoded, relative to the root), `{line}` and `{column}`; or
    `BY_COMMAND`; or empty: nothing can be opened."""
    command: tuple[str, ...] = ()
    """Program and arguments with places `{file}`, `{line}` and `{column}`."""
    problem: str = ""
    """Why there is no editor although one is named, for the author; may be empty."""

    def edit(self, data: Mapping[str, object]) -> None:
        """Open what a page asks for: `path`, `line` and `column`. ValueError says what is wrong."""
        path = data.get("path")
        if not isinstance(path, str):
            raise ValueError("path must be a text")
        self.open_at(path, _number(data.get("line", 1)), _number(data.get("column", 1)))

    def open_at(self, path: str, line: int = 1, column: int = 1) -> None:
        """Start the command for a file of the site; ValueError if there is no such file or no such program.

        The command goes on by itself. One that fails within `GRACE_S` is a ValueError, too.
        """
        if not self.command:
            raise ValueError("no command for an editor is set")
        places = {"file": str(_file_of_site(self.root, path)), "line": str(line), "column": str(column)}
        _start([_fill(argument, places) for argument in self.command], self.root)


def editor_link(setting: str, environ: Mapping[str, str], root: Path, trusted: bool, why: str = "") -> Editor:
    """The editor that the author names in BLOGSMITH_EDITOR, else that of the site's setting.

    trusted: whether code of the site may run here. why: why it may not any more, in words.
    """
    own = environ.get(VARIABLE, "").strip()
    choice = read_editor(own or setting)
    if choice.problem:
        where = VARIABLE if own else "editor"
        hint = f"; {choice.hint}" if choice.hint else ""
        return Editor(root, problem=f"{where}: {choice.problem}{hint}")
    if choice.url:
        return Editor(root, choice.url.replace("{file}", f"{url_path(root)}/{{path}}"))
    if not choice.command:
        return Editor(root)
    if choice.is_code and not own and not trusted:
        reason = f" ({why})" if why else ""
        problem = f"editor: a command of a site that is not trusted does not run{reason}"
        return Editor(root, problem=f"{problem}; blogsmith trust lets it")
    return Editor(root, BY_COMMAND, choice.command)


def url_path(folder: Path) -> str:
    """The path of a folder as it stands in a URL: a slash in front and none behind, percent-encoded."""
    parts = folder.as_posix().strip("/").split("/")
    # the colon of a drive stays: C%3A is no drive for those who do not decode
    encoded = [
        part if _DRIVE.fullmatch(part) and not at else quote(part, safe="") for at, part in enumerate(parts)
    ]
    return "/" + "/".join(encoded) if parts != [""] else ""


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LAST_LINE:
        raise ValueError("line and column must be whole numbers from 1 on")
    return value


def _file_of_site(root: Path, path: str) -> Path:
    """The absolute path of a file of the site, links resolved."""
    relative = PurePosixPath(path)
    named = bool(path) and "\\" not in path and not relative.is_absolute() and ".." not in relative.parts
    # a name too long, a loop of links, a NUL: as little a file as one that is not there
    with suppress(OSError, RuntimeError, ValueError):
        file = (root / relative).resolve()
        if named and file.is_relative_to(root.resolve()) and file.is_file():
            return file
    raise ValueError("path must be that of a file of the site")


def _fill(argument: str, places: Mapping[str, str]) -> str:
    """The argument with its places filled, in one pass: a path may hold braces."""
    return re.sub(r"\{(file|line|column)\}", lambda found: places[found[1]], argument)


def _start(command: list[str], folder: Path) -> None:
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # the author's Ctrl-C ends the preview, not the editor
            start_new_session=True,
        )
    except OSError as error:
        raise ValueError(f"{command[0]} cannot be started: {error.strerror or error}") from error
    try:
        code = process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        # an editor that stays: somebody must take its exit code, or it remains as a zombie
        threading.Thread(target=process.wait, daemon=True, name="editor").start()
        return
    if code:
        raise ValueError(f"{command[0]} ended with exit code {code}")
