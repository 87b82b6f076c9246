"""Opening of a source file in the author's editor, either by a link in the page or by a command on this
machine.

The browser follows a link. This process starts a command, with the author's rights. A command in the site's
settings is code of the site and runs only if the site is trusted. A command in the variable BLOGSMITH_EDITOR
is the author's own and needs no consent.
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
"""Value of `data-editor` if there is no link: pages then request that the preview opens the editor."""
START_TIMEOUT_S = 1.0
"""Time in seconds after the start during which a failure of the command is reported."""
_LAST_LINE = 10_000_000
_DRIVE = lazy_pattern(r"[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class Editor:
    """How a source file of one site is opened."""

    root: Path
    template: str = ""
    """URL with placeholders `{path}` (percent-encoded, relative to the root), `{line}` and `{column}`, or
    `BY_COMMAND`. Empty if no file can be opened."""
    command: tuple[str, ...] = ()
    """Program and arguments with placeholders `{file}`, `{line}` and `{column}`."""
    problem: str = ""
    """Reason why the configured editor cannot be used, as a message for the author; empty if it can be
    used."""

    def edit(self, data: Mapping[str, object]) -> None:
        """Open the location that a page requests by `path`, `line` and `column`. Raise ValueError with the
        reason if that fails."""
        path = data.get("path")
        if not isinstance(path, str):
            raise ValueError('invalid "path": expected a string')
        self.open_file(path, _number(data.get("line", 1)), _number(data.get("column", 1)))

    def open_file(self, path: str, line: int = 1, column: int = 1) -> None:
        """Start the command for a file of the site. Raises ValueError if the file or the program does not
        exist.

        The command continues in the background. If it fails within `START_TIMEOUT_S`, ValueError is raised,
        too.
        """
        if not self.command:
            raise ValueError("no editor command is set")
        places = {"file": str(_resolve_site_file(self.root, path)), "line": str(line), "column": str(column)}
        _start([_fill(argument, places) for argument in self.command], self.root)


def editor_link(setting: str, environ: Mapping[str, str], root: Path, trusted: bool, why: str = "") -> Editor:
    """Return the editor in the variable BLOGSMITH_EDITOR, or if it is not set, the editor in the site's
    settings. trusted: whether code of the site may run here. why: reason why the author's trust has ended, as
    a message; may be empty."""
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
    if choice.runs_site_command and not own and not trusted:
        reason = f" ({why})" if why else ""
        problem = f"editor: a command of a site that is not trusted cannot run{reason}"
        return Editor(root, problem=f"{problem}; run `blogsmith trust` to allow it")
    return Editor(root, BY_COMMAND, choice.command)


def url_path(folder: Path) -> str:
    """Return the path of a folder for a URL. It is percent-encoded, and has a leading but no trailing
    slash."""
    parts = folder.as_posix().strip("/").split("/")
    # keeps the colon of a drive: programs that do not decode URLs would not recognize C%3A
    encoded = [
        part if _DRIVE.fullmatch(part) and not at else quote(part, safe="") for at, part in enumerate(parts)
    ]
    return "/" + "/".join(encoded) if parts != [""] else ""


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LAST_LINE:
        raise ValueError('invalid "line" or "column": expected a whole number of at least 1')
    return value


def _resolve_site_file(root: Path, path: str) -> Path:
    """Return the absolute path of a file of the site, with links resolved. Raise ValueError if there is
    none."""
    relative = PurePosixPath(path)
    named = bool(path) and "\\" not in path and not relative.is_absolute() and ".." not in relative.parts
    # these errors mean that the file does not exist: a name that is too long, a loop of links, a NUL
    # character
    with suppress(OSError, RuntimeError, ValueError):
        file = (root / relative).resolve()
        if named and file.is_relative_to(root.resolve()) and file.is_file():
            return file
    raise ValueError('invalid "path": expected a file of the site')


def _fill(argument: str, places: Mapping[str, str]) -> str:
    """Replace the placeholders of an argument by `places`, all in one pass, because a path may contain
    braces."""
    return re.sub(r"\{(file|line|column)\}", lambda found: places[found[1]], argument)


def _start(command: list[str], folder: Path) -> None:
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # the author's Ctrl-C must end the preview, but not the editor
            start_new_session=True,
        )
    except OSError as error:
        raise ValueError(f"cannot start {command[0]}: {error.strerror or error}") from error
    try:
        code = process.wait(START_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        # the editor keeps running, and a thread must read its exit code, or the process becomes a zombie
        threading.Thread(target=process.wait, daemon=True, name="editor").start()
        return
    if code:
        raise ValueError(f"{command[0]} ended with exit code {code}")
