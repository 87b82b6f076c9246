"""Finds out what a session depends on, apart from the files of the site that it opens.

Dependencies are found through audit events and observed calls. Some can be compared later, so that a change
makes the result stale: queried paths, listed folders, files outside the site, databases, files that the code
or a command names, environment variables. Other dependencies cannot be compared. They are recorded as reasons
why the result is not repeatable, such as `network` or `program ls`.
"""

from __future__ import annotations

import os
import re
import sys
from os import stat
from time import time_ns
from typing import TYPE_CHECKING

from .callers import IMPORT, OWN, Callers, module_name
from .path_states import NONE, PathStates, folder_stamp, is_live, state_of_status
from .watched_calls import Repeatability, watch_open, watch_paths, watch_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType
    from typing import Any

    from .notes import Notes

_PATH_CALLERS = frozenset(("genericpath", "os", "pathlib", "posixpath"))
_TIMES = frozenset(("getatime", "getctime", "getmtime"))
"""Functions of `os.path` that return the times of files."""
_NETWORK = frozenset(
    ("socket.connect", "socket.getaddrinfo", "socket.gethostbyaddr", "socket.gethostbyname", "socket.sendto")
)
_PROGRAMS = {
    "os.exec": 1,
    "os.posix_spawn": 1,
    "os.spawn": 2,
    "os.system": 0,
    "pty.spawn": 0,
    "subprocess.Popen": 1,
}
"""Audit event for the start of a program → index of the event's argument that contains the command."""
_INTERPRETERS = frozenset(
    ("multiprocessing.popen_forkserver", "multiprocessing.popen_spawn_posix", "_interpreters")
)
"""Modules that start Python again, outside of this process and its forks."""
_MACHINE_PROGRAMS = frozenset(
    ("cc", "fc-list", "gcc", "ld", "ldconfig", "lscpu", "nvidia-smi", "sysctl", "uname")
)
"""Programs that packages run to learn about the machine or to compile their own code."""
_CLOCK = re.compile(
    r"\.(?:now|utcnow|today)\s*\(|(?:datetime64|Timestamp|to_datetime)\s*\(\s*[\"'](?:now|today)\b"
)
"""Matches Python code that reads the clock through a type such as `datetime`. Calls of these types cannot be
observed."""
_RANDOM = re.compile(r"\bRandom\(\s*\)|\btorch\.seed\(\s*\)")
_IN_MEMORY = ("", ":memory:")
_MAX_NAME = 200
_MAX_SOURCE = 256 * 1024


class Dependencies:
    """Dependencies of one session. notes: receives notes, also from forked children. absolute: converts the
    path of an audit event to an absolute path; returns an empty string if the argument is not a path."""

    def __init__(
        self, states: PathStates, notes: Notes, callers: Callers, absolute: Callable[[object], str]
    ) -> None:
        self._states = states
        self._notes = notes
        self._callers = callers
        self._absolute = absolute
        self._repeatability = Repeatability(callers, self._note_reason)
        self._variables: set[str] = set()
        self._reasons: set[str] = set()
        self._named: dict[str, list[Any]] = {}
        self._seen: set[str] = set()
        """Paths, as written in the code, that were noted since the working folder last changed."""
        self._is_busy = False
        self._began_ns = time_ns()
        self._handlers: dict[str, Callable[[str, tuple[Any, ...]], None]] = {
            "ctypes.dlopen": self._note_library,
            "cpython.PyInterpreterState_New": self._note_interpreter,
            "glob.glob/2" if sys.version_info >= (3, 10) else "glob.glob": self._note_glob,
            "import": self._note_import,
            "os.chdir": lambda event, args: self._seen.clear(),
            "os.listdir": self._note_listing,
            "os.scandir": self._note_listing,
            "pathlib.Path.glob": self._note_path_glob,
            "pathlib.Path.rglob": self._note_path_glob,
            "sqlite3.connect": self._note_database,
            "socket.gethostname": self._note_host_name,
            **dict.fromkeys(_NETWORK, self._note_network),
            **dict.fromkeys(_PROGRAMS, self._note_program),
        }

    def install(self) -> None:
        """Start to observe calls. It cannot be undone."""
        self._notes.install()
        watch_paths(self._look)
        watch_open(self._open_in_folder)
        watch_variables(self._callers, lambda name: self._notes.add("variable", name))
        self._repeatability.install()

    def note(self, event: str, args: tuple[Any, ...]) -> None:
        """Note an audit event. `open` is handled by `note_open` instead."""
        handler = self._handlers.get(event)
        if handler is not None and not self._is_busy:
            self._is_busy = True
            try:
                handler(event, args)
            finally:
                self._is_busy = False

    def note_open(self, path: str, name: str, *, reads: bool, exists: bool) -> None:
        """Note that a file is about to be opened. name: name of the file relative to the site root; empty if
        it is not part of the site. reads: whether it is opened for reading."""
        if reads and not exists:
            self._note_state(path, NONE, sys._getframe(3))
        elif reads and not name:
            self._note_outside(path, sys._getframe(3))

    def note_change(self, path: str) -> None:
        """Note that the session changes a path."""
        self._states.change(path)

    def note_all_changed(self) -> None:
        """Note that another program starts, which may change any path."""
        self._states.change_all()

    def note_module(self, path: str) -> None:
        """Note the file of an imported module that is not part of the site."""
        while path and not os.path.exists(path):  # noqa: PTH110 - in an archive
            path = path.rpartition("/")[0]
        self._states.use_outside(path)

    def scan_source(self, code: str) -> None:
        """Note dependencies that are visible only in the text of the author's Python code."""
        if _CLOCK.search(code):
            self._note_reason("clock")
        if _RANDOM.search(code):
            self._note_reason("random")

    def scan_module(self, path: str) -> None:
        """Note dependencies that are visible only in the text of a module of the site."""
        self._is_busy = True
        try:
            with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                self.scan_source(file.read(_MAX_SOURCE))
        except OSError:
            return
        finally:
            self._is_busy = False

    def scan_names(self, code: CodeType) -> None:
        """Note existing files of the site whose name is a string in the code, because C code may open them
        unobserved."""
        for text in _strings(code.co_consts):
            if "." in text and len(text) <= _MAX_NAME and "\n" not in text and "\0" not in text:
                self._name_file(text)

    def note_program_fact(self, kind: str, text: str) -> None:
        """Note a fact about a compiled program. kind: kind of fact, as in `Programs.run`. text: reason why
        the program is not repeatable, or a string of its code, which may name a file."""
        if kind == "reason":
            self._note_reason(text)
        elif len(text) <= _MAX_NAME and "\0" not in text:
            self._name_file(text)

    def is_busy(self) -> bool:
        """Return whether the present events come from the worker itself, not from the author's code."""
        return self._is_busy

    def take(self, note: tuple[str, ...]) -> None:
        """Add a dependency from a note that was taken from `notes`."""
        kind, *parts = note
        if kind == "variable":
            self._variables.update(parts)
        elif kind == "reason":
            self._reasons.update(parts)
        elif kind == "look":
            self._states.look(*parts)
        elif kind == "list":
            self._states.list_folder(*parts)
        elif kind == "match":
            self._states.match(*parts)
        elif kind == "outside":
            self._states.use_outside(*parts)
        elif kind == "named":
            name = self._states.key_of(parts[0])
            if self._states.is_written(name):
                return
            if name[:1] not in ("", "~", "/"):
                if parts[1] == "database" or name not in self._named:
                    self._named[name] = [parts[1], *map(int, parts[2:])]
            elif parts[1] == "database":
                self._states.use_outside(parts[0])

    def take_new(self, *, is_seeded: bool) -> dict[str, Any]:
        """Return all dependencies found since the last call. Call this after all notes were taken. is_seeded:
        whether blogsmith has seeded the random generators."""
        self._repeatability.check(is_seeded=is_seeded)
        for note in self._notes.take():
            self.take(note)
        if self._states.is_cut:
            self._reasons.add("files")
            self._states.is_cut = False
        variables, self._variables = self._variables, set()
        reasons, self._reasons = self._reasons, set()
        named, self._named = self._named, {}
        self._notes.forget("reason")
        return {
            "states": self._states.take_new(),
            "named": named,
            "variables": sorted(variables),
            "reasons": sorted(reasons),
        }

    def _note_reason(self, reason: str) -> None:
        self._notes.add("reason", reason)

    def _look(self, frame: FrameType, path: object, folder: object, status: Any) -> None:
        if self._is_busy or isinstance(path, int) or path is None:
            return
        if frame.f_code.co_name in _TIMES and self._callers.is_author(frame, _PATH_CALLERS):
            self._note_reason("times")
        if folder is None and type(path) is str and path in self._seen:
            return
        self._is_busy = True
        try:
            found = self._path_in(path, folder)
            if found and not self._notes.is_known("seen", found):
                self._note_state(found, state_of_status(status, found), frame)
            if folder is None and type(path) is str and self._notes.is_known("seen", found):
                self._seen.add(path)
        finally:
            self._is_busy = False

    def _note_state(self, path: str, state: str, frame: FrameType | None) -> None:
        key = self._states.key_of(path)
        if not key or not state or path.rpartition("/")[2].startswith("<"):
            return
        if key[0] in "~/":
            if not self._callers.is_author(frame, _PATH_CALLERS):
                return
        elif self._callers.origin(frame) in (IMPORT, OWN):
            return
        self._notes.add("seen", path)
        self._notes.add("look", path, state)

    def _note_outside(self, path: str, frame: FrameType | None) -> None:
        direct = self._callers.is_author(frame, _PATH_CALLERS)
        if path in ("/dev/urandom", "/dev/random"):
            if direct:
                self._note_reason("random")
        elif is_live(path):
            if direct:
                self._note_reason(f"system {path[:80]}")
        elif not self._states.key_of(path):
            return
        elif direct or (not self._states.is_quiet(path) and self._callers.origin(frame) not in (IMPORT, OWN)):
            self._notes.add("outside", path)

    def _open_in_folder(self, path: object, flags: int, folder: object) -> None:
        if (
            flags & os.O_ACCMODE == os.O_RDONLY
            and not self._is_busy
            and (found := self._path_in(path, folder))
        ):
            self._notes.add("open", found, "read")

    def _path_in(self, path: object, folder: object) -> str:
        """Return an absolute path; empty if the path is unknown. folder: descriptor of the folder that `path`
        is relative to; None for the working folder."""
        try:
            text = os.fsdecode(path)  # type: ignore[arg-type]
        except TypeError:
            return ""
        if folder is None or text[:1] == "/":
            return self._absolute(text)
        place = _descriptor_path(folder)
        return f"{place}/{text}" if place else ""

    def _note_listing(self, event: str, args: tuple[Any, ...]) -> None:
        frame = sys._getframe(3)
        if _is_glob(frame) or self._callers.origin(frame) in (IMPORT, OWN):
            return
        path = _descriptor_path(args[0]) if isinstance(args[0], int) else self._absolute(args[0] or ".")
        key = self._states.key_of(path) if path else ""
        counts = key and (key[0] not in "~/" or self._callers.is_author(frame, _PATH_CALLERS))
        if counts and not self._notes.is_known("listed", path):
            self._notes.add("listed", path)
            self._notes.add("list", path, folder_stamp(path))

    def _note_glob(self, event: str, args: tuple[Any, ...]) -> None:
        pattern, rest = args[0], args[2:]
        if rest and rest[1] is not None:
            return
        text = os.fsdecode(pattern)
        if rest and rest[0] is not None:
            text = os.path.join(os.fsdecode(rest[0]), text)  # noqa: PTH118 - pathlib costs 5 ms
        self._note_pattern(self._absolute(text))

    def _note_path_glob(self, event: str, args: tuple[Any, ...]) -> None:
        folder, pattern = args
        middle = "/**/" if event.endswith("rglob") else "/"
        self._note_pattern(self._absolute(os.fspath(folder)) + middle + str(pattern))

    def _note_pattern(self, pattern: str) -> None:
        frame = sys._getframe(4)
        if pattern and self._callers.origin(frame) not in (IMPORT, OWN):
            self._notes.add("match", pattern)

    def _note_database(self, event: str, args: tuple[Any, ...]) -> None:
        try:
            name = os.fsdecode(args[0])
        except TypeError:
            return
        if name.startswith("file:"):
            name = name[5:].partition("?")[0]
            name = re.sub("^//(?=/)", "", name)
        if name not in _IN_MEMORY:
            self._name_file(name, "database")

    def _note_program(self, event: str, args: tuple[Any, ...]) -> None:
        given = args[_PROGRAMS[event]] if args else ""
        folder = args[2] if event == "subprocess.Popen" else None
        words = list(_command_words(given))
        for word in words[1:] if event != "os.system" else words:
            self._name_file(word, "argument", folder)
        name = _program_name(words)
        frame = sys._getframe(3)
        origin = self._callers.origin(frame)
        is_own_tool = name in _MACHINE_PROGRAMS and not self._is_started_by_author(frame)
        if origin not in (IMPORT, OWN) and not is_own_tool:
            self._note_reason(f"program {name}")

    def _is_started_by_author(self, frame: FrameType | None) -> bool:
        return self._callers.is_author(frame, frozenset(("os", "pty", "subprocess")))

    def _note_import(self, event: str, args: tuple[Any, ...]) -> None:
        if args[0] in _INTERPRETERS or str(args[0]).endswith(".popen_loky_posix"):
            self._note_reason("processes")

    def _note_interpreter(self, event: str, args: tuple[Any, ...]) -> None:
        self._note_reason("processes")

    def _note_library(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._callers.is_author(sys._getframe(3), frozenset(("ctypes",))):
            return
        name = args[0] if isinstance(args[0], str) else ""
        self._note_reason(f"code {name.rpartition('/')[2] or 'C library'}"[:80])
        if name:
            self._name_file(name)

    def _note_network(self, event: str, args: tuple[Any, ...]) -> None:
        frame: FrameType | None = sys._getframe(3)
        while frame is not None:
            if "/multiprocessing/" in frame.f_code.co_filename:
                return
            frame = frame.f_back
        if self._callers.origin(sys._getframe(3)) not in (IMPORT, OWN):
            self._note_reason("network")

    def _note_host_name(self, event: str, args: tuple[Any, ...]) -> None:
        if self._callers.is_author(sys._getframe(3), frozenset(("socket",))):
            self._note_reason("system host name")

    def _name_file(self, name: str, kind: str = "named", folder: object = None) -> None:
        """Note a file that code, an argument or a database call names, if it exists."""
        path = self._absolute(name)
        if folder is not None and name[:1] != "/":
            path = self._absolute(f"{os.fsdecode(folder)}/{name}")  # type: ignore[arg-type]
        try:
            status = stat(path) if path else None  # noqa: PTH116
        except (OSError, ValueError):
            status = None
        if status is None or status.st_mode & 0o170000 != 0o100000:
            return
        # A file younger than the session may be the output of an earlier cell.
        is_old = status.st_mtime_ns < self._began_ns or kind == "database"
        if is_old and self._states.key_of(path):
            numbers = (status.st_size, status.st_mtime_ns, status.st_ino)
            self._notes.add("named", path, kind, *map(str, numbers))


def _strings(constants: tuple[Any, ...]) -> Iterator[str]:
    for value in constants:
        if type(value) is str:
            yield value
        elif type(value) in (tuple, frozenset):
            yield from _strings(tuple(value))
        elif hasattr(value, "co_consts"):
            yield from _strings(value.co_consts)


def _command_words(given: Any) -> Iterator[str]:
    """Yield the words of a command. A word that contains a command for a shell is split into words too."""
    parts = [given] if isinstance(given, (str, bytes, os.PathLike)) else list(given or ())
    for part in parts:
        try:
            text = os.fsdecode(part)
        except TypeError:
            continue
        if not any(character in text for character in " \n<>|;="):
            yield text
            continue
        yield text
        yield from filter(None, re.split(r"[\s<>|;&()='\"]+", text))


def _program_name(words: list[str]) -> str:
    """Return the name of a program. If the words are a command for a shell, return the name of the first
    program in it."""
    names = [word.rpartition("/")[2] for word in words if word[:1] not in ("-", "")]
    shells = ("sh", "bash", "zsh", "env", "")
    found = next(
        (name for name in names if name not in shells and " " not in name), names[0] if names else ""
    )
    return "".join(character for character in found if character.isprintable())[:60] or "of unknown name"


def _descriptor_path(descriptor: Any) -> str:
    """Return the path of an open folder, given its descriptor; empty if the system does not know the path."""
    try:
        return os.path.realpath(os.readlink(f"/proc/self/fd/{int(descriptor)}"))  # noqa: PTH115
    except (OSError, TypeError, ValueError):
        return ""


def _is_glob(frame: FrameType | None) -> bool:
    """Return whether a folder is listed only to find the matches of a pattern. In this case the pattern
    itself is noted."""
    is_pathlib = False
    while frame is not None and (name := module_name(frame.f_code.co_filename)) in ("glob", "pathlib"):
        if name == "glob":
            return True
        if frame.f_code.co_name in ("iterdir", "walk"):
            return False
        is_pathlib, frame = True, frame.f_back
    return is_pathlib
