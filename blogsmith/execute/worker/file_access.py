"""Audit hook that records the files of the site that a session reads and imports. It also records how
`blogsmith.lab` computed attention.

The hook sees `open`, `os.open` and everything built on them (pathlib, `np.load`, `pd.read_csv`), also in
forked children. It does not see files that C code opens itself. `dependencies.py` handles all other
dependencies of a result. Installed packages are ignored. Files that the session itself wrote are ignored too,
except files of measured rows that a cell draws. During a cell, the hook only notes a path and a stamp;
everything else is done at the end of the cell.
"""

from __future__ import annotations

import os
import re
import sys
from _frozen_importlib_external import source_from_cache
from collections import deque
from os import lstat
from stat import S_ISDIR, S_ISLNK
from typing import TYPE_CHECKING

from .callers import Callers
from .dependencies import Dependencies
from .file_stamps import SPAWNS, FileStamps
from .notes import Notes
from .path_states import PathStates
from .shadows import Shadows
from .watched_calls import WatchedCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType
    from typing import Any

    from .external_state import ExternalState
    from .file_stamps import Stamp

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs 5 ms
_OURS = os.path.dirname(os.path.dirname(_HERE)) + "/"  # noqa: PTH120
"""Folder of the package blogsmith, whose version is recorded."""
_CHANGES = frozenset(("os.remove", "os.truncate", "os.utime"))
_FOLDER_CHANGES = {"os.link": 1, "os.mkdir": 0, "os.rmdir": 0, "os.symlink": 1}
"""Audit event of a call that changes a folder → index of the changed path in its arguments."""
_FORKS = frozenset(("os.fork", "os.forkpty"))
_READ, _UPDATE, _WRITE, _CHANGE = "read", "update", "write", "change"
"""Kinds of access: read; read and possibly written; written without reading; changed or removed without
reading."""
_PACKAGES = ("/site-packages/", "/dist-packages/")
_INSTALLED = (*_PACKAGES, "/__pycache__/")
_ATTENTION_EVENT = "blogsmith.lab.ran"
"""Event raised by `blogsmith.lab` with device, backend and operator."""
_ROWS_EVENT = "blogsmith.lab.rows"
"""Event raised by `blogsmith.lab` with the path of a file whose rows, also from other machines, a cell shows.
"""
_BACKEND = re.compile(r"[a-z][a-z0-9-]{0,31}")
_OPERATOR = re.compile(r"[A-Za-z_][A-Za-z0-9_:.]{0,79}")
_MOST_ATTENTION = 16
_MOST_ROWS = 64


class FileAccess:
    """Files and modules of the site that one session uses.

    folder: working folder at the start. before_spawn: called before another program starts. foreign_code:
    called when third-party C code is loaded, which may print without using Python's streams.
    """

    def __init__(
        self,
        root: str,
        exclude: Iterable[str],
        before_spawn: Callable[[], None],
        foreign_code: Callable[[], None],
        folder: str = "",
    ) -> None:
        self._root = os.path.normpath(root) + "/"
        self._real_root = os.path.realpath(root) + "/"
        self._exclude = tuple(os.path.normpath(path) + "/" for path in (*exclude, _HERE))
        # imports open hundreds of these files
        library = "/lib/python{}.{}/".format(*sys.version_info)
        self._skipped = (sys.prefix + library, sys.base_prefix + library)
        self._before_spawn = before_spawn
        self._foreign_code = foreign_code
        self._folder = ""
        """Working folder; empty until it is needed and queried."""
        self._notes = Notes(os.environ.get("TMPDIR", ""))
        """Notes of `dependencies.py`, and notes about opened files: `open`, absolute path, kind of access."""
        self._noted: set[tuple[str, str]] = set()
        """Pairs (absolute path, kind of access) noted in the whole session."""
        self._stamps = FileStamps()
        self._known: set[str] = set()
        """Names of files that need no further report, because they were reported, or written before they were
        read."""
        self._rows: deque[str] = deque()
        """Paths of files with measured rows."""
        self._told: set[str] = set()
        """Names of files with measured rows that were already reported."""
        self._modules: set[str] = set(sys.modules)
        self._shadows = Shadows(self.name_of)
        self._site_modules: list[str] = []
        """Names of the last imported modules of the site."""
        self._real_folders: dict[str, str] = {}
        """Path of a folder → its path with links resolved."""
        self._inside: dict[str, bool] = {}
        """Folder → whether its files belong to the site."""
        callers = Callers(lambda file: bool(self.name_of(file)))
        home = os.environ.get("HOME", "")
        states = PathStates(self.name_of, self._is_installed, self._exclude, root, folder or root, home)
        self._dependencies = Dependencies(states, self._notes, callers, self.absolute)
        self._attention: dict[tuple[Any, ...], str] = {}
        """Arguments of an attention event → string to record."""
        self.external: ExternalState | None = None
        """Receives events for checkpoints; None if the session has no checkpoints."""
        self.is_paused = False
        """Whether events are ignored, because they come from the worker itself."""

    def install(self) -> None:
        """Install the hook. It cannot be removed again."""
        self._dependencies.install()
        sys.addaudithook(self._hook)

    @property
    def notes_file(self) -> int:
        """Descriptor of the file for notes of forked children; -1 if there is none."""
        return self._notes.file

    def become_session(self) -> None:
        """Continue as the session, in a process that was forked from a checkpoint."""
        self._notes.become_session()

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if self.is_paused or self._dependencies.is_busy():
            return
        if event == "open":
            path, mode, flags = args
            if mode is None and _has_folder(sys._getframe(1)):
                return  # relative to a folder that the event does not name
            if type(path) is not str or path[:1] != "/":
                path = self.absolute(path)
            access = _access_kind(mode, flags)
            if self.external is not None and path:
                self.external.note_open(path, access, flags)
            self._note_open(path, access)
            return
        if self.external is not None:
            self.external.note(event, args)
        self._dependencies.note(event, args)
        if event == "import":
            # the file is known here only for extension modules
            if args[1] is not None and "/lib-dynload/" not in args[1]:
                self._stamps.note(self.absolute(args[1]))
                self._foreign_code()
        elif event == "ctypes.dlopen":
            self._foreign_code()
        elif event in SPAWNS:
            if event in _FORKS:
                self._notes.share()
            self._stamps.withdraw_all()
            self._notes.add_again("changed")
            self._before_spawn()
        elif event == "os.chdir":
            self._folder = ""
        elif event == "os.rename":
            self._notes.add_again("open", self.absolute(args[0]), _CHANGE)
            self._notes.add_again("open", self.absolute(args[1]), _WRITE)
        elif event in _CHANGES:
            self._notes.add_again("open", self.absolute(args[0]), _CHANGE)
        elif event in _FOLDER_CHANGES:
            self._notes.add_again("change", self.absolute(args[_FOLDER_CHANGES[event]]))
        elif event == "shutil.rmtree":
            self._stamps.withdraw_all()  # removed files are reported by names without their folder
        elif event == _ATTENTION_EVENT:
            self._note_attention(args)
        elif (
            event == _ROWS_EVENT and len(args) == 1 and type(args[0]) is str and len(self._rows) < _MOST_ROWS
        ):
            self._rows.append(self.absolute(args[0]))

    def _note_open(self, path: str, access: str) -> None:
        note = path, access
        if note in self._noted or path.startswith(self._skipped):
            return
        self._noted.add(note)
        if path.endswith(".pyc"):
            if not any(part in path for part in _PACKAGES):
                self._note_bytecode(path)
            return
        if access == _READ and path:
            exists = self._stamps.note(path)
            name = "" if any(part in path for part in _INSTALLED) else self.name_of(path)
            self._dependencies.note_open(path, name, reads=True, exists=exists)
        self._notes.add_again("open", *note)

    def _note_bytecode(self, path: str) -> None:
        self._stamps.note_bytecode(path)
        if self._notes.is_child:  # nobody sees the modules of a child
            try:
                self._notes.add("open", source_from_cache(path), _READ)
            except (ValueError, NotImplementedError):
                return

    def _note_attention(self, args: tuple[Any, ...]) -> None:
        # Anyone may raise the event with any arguments. `type` is used because a subclass has methods of its
        # own.
        if len(args) != 3 or not type(args[0]) is type(args[1]) is type(args[2]) is str:
            return
        if args not in self._attention and len(self._attention) < _MOST_ATTENTION:
            seen = _attention(*args)
            if seen:
                self._attention[args] = seen

    def absolute(self, path: object) -> str:
        """Convert the path of an audit event to an absolute path. Empty if `path` is a descriptor."""
        if isinstance(path, int):
            return ""
        text = path if type(path) is str else os.fsdecode(path)  # type: ignore[arg-type]
        if text[:1] == "/":
            return text
        try:
            self._folder = self._folder or os.getcwd()  # noqa: PTH109
        except OSError:  # it was removed
            return ""
        return f"{self._folder}/{text}"

    def take_new(self) -> tuple[list[str], list[str]]:
        """Return files read and files imported since the last call, sorted and relative to the root."""
        modules = self._new_modules()
        self._known.update(modules)
        reads: list[str] = []
        for note in self._notes.take():
            if note[0] == "open":
                reads += self._take_open(*note[1:])
            elif note[0] == "change":
                self._dependencies.note_change(note[1])
            elif note[0] == "changed":
                self._dependencies.note_all_changed()
            else:
                self._dependencies.take(note)
        return sorted({*reads, *self._new_rows()}), sorted(modules)

    def _take_open(self, path: str, access: str) -> Iterator[str]:
        """Yield the name of the opened file if it belongs to the site and is read for the first time."""
        name = self.name_of(path)
        if access != _READ and path:
            self._dependencies.note_change(path)
            if name:
                self._stamps.withdraw(name)
        if not name or name in self._known or access == _CHANGE:
            return
        if access == _WRITE:
            self._known.add(name)
        elif os.path.isfile(path):  # noqa: PTH113
            self._known.add(name)
            self._stamps.report(name, path)
            yield name

    def uses(self, *, is_seeded: bool) -> dict[str, Any]:
        """Return all dependencies found since the last call except read and imported files, in the form of
        the message to the builder. Call this after `take_new`. is_seeded: whether blogsmith has seeded the
        random generators."""
        return self._dependencies.take_new(is_seeded=is_seeded)

    def scan(self, code: str) -> None:
        """Note dependencies that are visible only in the text of a cell."""
        self._dependencies.scan_source(code)

    def scan_names(self, code: CodeType) -> None:
        """Note files that strings of a cell name."""
        self._dependencies.scan_names(code)

    def follow_program(self, steps: Iterator[tuple[str, str]]) -> None:
        """Run the steps of `Programs.run`. Note the facts that they yield, even if a step fails."""
        found: list[tuple[str, str]] = []
        self.is_paused = True
        try:
            for step in steps:
                found.append(step)
        finally:
            self.is_paused = False
            self._before_spawn()  # the program has printed to the descriptors
            for kind, text in found:
                if kind != "header":
                    self._dependencies.note_program_fact(kind, text)
                elif self.name_of(text):
                    self._note_open(os.path.normpath(text), _READ)

    def stamps(self) -> dict[str, Stamp]:
        """Map each new file to its stamp when it was opened, see `file_stamps.py`. The stamp is None if the
        session has changed the file since. Call this after `take_new`."""
        return self._stamps.take_new()

    def _new_rows(self) -> list[str]:
        """Return files with measured rows that were read since the last call, including files that the
        session has written to."""
        paths, self._rows = self._rows, deque()
        names = {self.name_of(path) for path in paths if os.path.isfile(path)}  # noqa: PTH113
        new = sorted(name for name in names - self._told if name)
        self._told.update(new)
        self._known.update(new)
        return new

    def attention(self) -> list[str]:
        """Return how attention was computed since the last call, in the form of `CellRun.sdpa`."""
        seen, self._attention = self._attention, {}
        return sorted(seen.values())

    def name_of(self, path: str) -> str:
        """Return the name of a file relative to the root. Empty if results do not depend on the file."""
        if not path:
            return ""
        path = os.path.normpath(path)
        if not path.startswith(self._root):
            path = self._real_path(path)
            if not path.startswith(self._real_root):
                return ""
            path = self._root + path[len(self._real_root) :]
        folder = path.rpartition("/")[0]
        if folder not in self._inside:
            self._inside[folder] = self._counts(folder + "/")
        return path[len(self._root) :] if self._inside[folder] else ""

    def _real_path(self, path: str) -> str:
        """Return the result of `os.path.realpath`. Links in folders are resolved only once, because an import
        of NumPy asks for a hundred files in few folders, which would take longer than the import itself."""
        if not path or path in self._real_folders:
            return self._real_folders.get(path, "")
        parent, _, name = path.rpartition("/")
        real = f"{self._real_path(parent)}/{name}"
        try:
            mode = lstat(real).st_mode
        except OSError:
            return real
        if S_ISDIR(mode):
            self._real_folders[path] = real
        return os.path.realpath(real) if S_ISLNK(mode) else real

    def _counts(self, folder: str) -> bool:
        if folder.startswith(self._exclude) or any(part in folder for part in _INSTALLED):
            return False
        # a folder with pyvenv.cfg is a virtual environment
        while folder.startswith(self._root):
            if os.path.exists(folder + "pyvenv.cfg"):  # noqa: PTH110
                return False
            folder = folder[: folder.rindex("/", 0, -1) + 1]
        return True

    def _is_installed(self, path: str) -> bool:
        """Return whether a path for which `name_of` returns an empty string belongs to the site's folder, to
        Python or to a package."""
        inside = os.path.normpath(path) + "/"
        return (
            inside.startswith((self._root, self._real_root, _OURS, *self._skipped))
            or any(part in inside for part in _INSTALLED)
            or path == "/"
        )

    def _new_modules(self) -> list[str]:
        names = sys.modules.keys() - self._modules
        self._modules |= names
        files = {name: getattr(sys.modules.get(name), "__file__", None) for name in names}
        found = {name: self.name_of(file) for name, file in files.items() if isinstance(file, str)}
        self._site_modules = sorted(name for name, file in found.items() if file)
        for name in self._site_modules:
            self._stamps.report(found[name], self.absolute(files[name]))
            if found[name] not in self._known:
                self._dependencies.scan_module(self.absolute(files[name]))
        for name, file in files.items():
            if isinstance(file, str) and not found[name] and not file.startswith(self._skipped):
                self._dependencies.note_module(self.absolute(file))
        return sorted({file for file in found.values() if file and file not in self._known})

    def absent(self, imported: Iterable[str]) -> list[str]:
        """Return the files, missing at present, that would hide modules imported since the last call; see
        `Shadows`. Call this after `take_new`. imported: names that cells import directly."""
        return self._shadows.absent(imported, self._site_modules)


def _attention(device: str, backend: str, operator: str) -> str:
    """Return backend and operator as one string. Empty if they do not have the expected form."""
    if device not in ("cpu", "cuda") or not (_BACKEND.fullmatch(backend) and _OPERATOR.fullmatch(operator)):
        return ""
    says_it_itself = device == "cuda" or operator.endswith("_for_cpu")
    return f"{backend} {operator}" if says_it_itself else f"{backend} {operator} cpu"


def _has_folder(frame: FrameType) -> bool:
    """Return whether `os.open` was called with a folder's descriptor; see `watch_open`."""
    is_watched = frame.f_code is WatchedCall.__call__.__code__
    return is_watched and frame.f_locals["options"].get("dir_fd") is not None


def _access_kind(mode: str | None, flags: int) -> str:
    if mode is None:
        if flags & os.O_ACCMODE == os.O_WRONLY or flags & os.O_TRUNC:
            return _WRITE
        return _UPDATE if flags & os.O_ACCMODE == os.O_RDWR else _READ
    if "w" in mode or "x" in mode or ("r" not in mode and "+" not in mode):
        return _WRITE
    return _UPDATE if "+" in mode else _READ
