"""Audit hook that records which files of the site a session read and imported, and how attention was
computed.

It sees `open`, `os.open` and everything built on them (pathlib, `np.load`, `pd.read_csv`). It does not
see files that C code opens itself, nor folder listings. Installed packages, files outside the site, and
files that the session itself wrote are ignored, except files of measured rows that a cell draws. The
hook only notes a path and a stamp; everything else is done at the end of the cell.
"""

from __future__ import annotations

import os
import re
import sys
from collections import deque
from typing import TYPE_CHECKING

from .file_stamps import SPAWNS, FileStamps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .external_state import ExternalState
    from .file_stamps import Stamp

_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs 5 ms
_CHANGES = frozenset(("os.remove", "os.truncate", "os.utime"))
_READ, _UPDATE, _WRITE, _CHANGE = "read", "update", "write", "change"
"""Kinds of access: read; read and perhaps written; written, whatever the old content; changed or removed
unread."""
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
    """Files and modules of the site used by one session.

    before_spawn: called before another program starts.
    foreign_code: called when third-party C code is loaded, which may print by itself.
    """

    def __init__(
        self,
        root: str,
        exclude: Iterable[str],
        before_spawn: Callable[[], None],
        foreign_code: Callable[[], None],
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
        """Working folder; empty until it is queried."""
        self._opened: deque[tuple[str, str]] = deque()
        """Absolute path and kind of access."""
        self._noted: set[tuple[str, str]] = set()
        """The same, for the whole session."""
        self._stamps = FileStamps()
        self._known: set[str] = set()
        """Files that were reported, or written before they were read."""
        self._rows: deque[str] = deque()
        """Paths of files with measured rows."""
        self._told: set[str] = set()
        """Names of reported files with rows."""
        self._modules: set[str] = set(sys.modules)
        self._shadows = Shadows(self.name_of)
        self._site_modules: list[str] = []
        """Names of the last imported modules of the site."""
        self._inside: dict[str, bool] = {}
        """Folder → whether its files belong to the site."""
        self._attention: dict[tuple[Any, ...], str] = {}
        """Arguments of an event → the same as one string."""
        self.external: ExternalState | None = None
        """Receives events for checkpoints; None if there are none."""
        self.is_paused = False
        """Whether events are ignored because they are the worker's own."""

    def install(self) -> None:
        """Install the hook. It cannot be removed again."""
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if self.is_paused:
            return
        if event == "open":
            path, mode, flags = args
            if type(path) is not str or path[:1] != "/":
                path = self.absolute(path)
            access = _access_kind(mode, flags)
            if self.external is not None and path:
                self.external.note_open(path, access, flags)
            self._note_open(path, access)
            return
        if self.external is not None:
            self.external.note(event, args)
        if event == "import":
            # the file is known here only for extension modules
            if args[1] is not None and "/lib-dynload/" not in args[1]:
                self._stamps.note(self.absolute(args[1]))
                self._foreign_code()
        elif event == "ctypes.dlopen":
            self._foreign_code()
        elif event in SPAWNS:
            self._stamps.withdraw_all()
            self._before_spawn()
        elif event == "os.chdir":
            self._folder = ""
        elif event == "os.rename":
            self._opened.append((self.absolute(args[0]), _CHANGE))
            self._opened.append((self.absolute(args[1]), _WRITE))
        elif event in _CHANGES:
            self._opened.append((self.absolute(args[0]), _CHANGE))
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
                self._stamps.note_bytecode(path)
            return
        if access == _READ:
            self._stamps.note(path)
        self._opened.append(note)

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
        """Return the path of an audit event as an absolute path. Empty for a descriptor."""
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
        while self._opened:
            path, access = self._opened.popleft()
            name = self.name_of(path)
            if name and access != _READ:
                self._stamps.withdraw(name)
            if not name or name in self._known or access == _CHANGE:
                continue
            if access == _WRITE:
                self._known.add(name)
            elif os.path.isfile(path):  # noqa: PTH113
                self._known.add(name)
                self._stamps.report(name, path)
                reads.append(name)
        return sorted({*reads, *self._new_rows()}), sorted(modules)

    def stamps(self) -> dict[str, Stamp]:
        """Return the stamps of its files when they were opened, see `file_stamps.py`.

        Call this after `take_new`.

        The stamp is None for a file that the session has changed since.
        """
        return self._stamps.take_new()

    def _new_rows(self) -> list[str]:
        """Return files of rows since the last call, including those that the session has written to."""
        paths, self._rows = self._rows, deque()
        names = {self.name_of(path) for path in paths if os.path.isfile(path)}  # noqa: PTH113
        new = sorted(name for name in names - self._told if name)
        self._told.update(new)
        self._known.update(new)
        return new

    def attention(self) -> list[str]:
        """Return the attention computed since the last call, in the form of `CellRun.sdpa`."""
        seen, self._attention = self._attention, {}
        return sorted(seen.values())

    def name_of(self, path: str) -> str:
        """Return the name of a file relative to the root. Empty if the file is ignored."""
        if not path:
            return ""
        path = os.path.normpath(path)
        if not path.startswith(self._root):
            path = os.path.realpath(path)
            if not path.startswith(self._real_root):
                return ""
            path = self._root + path[len(self._real_root) :]
        folder = path.rpartition("/")[0]
        if folder not in self._inside:
            self._inside[folder] = self._counts(folder + "/")
        return path[len(self._root) :] if self._inside[folder] else ""

    def _counts(self, folder: str) -> bool:
        if folder.startswith(self._exclude) or any(part in folder for part in _INSTALLED):
            return False
        # a folder with pyvenv.cfg is a virtual environment
        while folder.startswith(self._root):
            if os.path.exists(folder + "pyvenv.cfg"):  # noqa: PTH110
                return False
            folder = folder[: folder.rindex("/", 0, -1) + 1]
        return True

    def _new_modules(self) -> list[str]:
        names = sys.modules.keys() - self._modules
        self._modules |= names
        files = {name: getattr(sys.modules.get(name), "__file__", None) for name in names}
        found = {name: self.name_of(file) for name, file in files.items() if isinstance(file, str)}
        self._site_modules = sorted(name for name, file in found.items() if file)
        for name in self._site_modules:
            self._stamps.report(found[name], self.absolute(files[name]))
        return sorted({file for file in found.values() if file and file not in self._known})

    def absent(self, imported: Iterable[str]) -> list[str]:
        """Return files that would hide modules imported since the last call, see `Shadows`.

        Call this after `take_new`.

        imported: names that cells import directly.
        """
        return self._shadows.absent(imported, self._site_modules)


def _attention(device: str, backend: str, operator: str) -> str:
    """Return backend and operator as one string. Empty if they do not have the expected form."""
    if device not in ("cpu", "cuda") or not (_BACKEND.fullmatch(backend) and _OPERATOR.fullmatch(operator)):
        return ""
    says_it_itself = device == "cuda" or operator.endswith("_for_cpu")
    return f"{backend} {operator}" if says_it_itself else f"{backend} {operator} cpu"


def _access_kind(mode: str | None, flags: int) -> str:
    if mode is None:
        if flags & os.O_ACCMODE == os.O_WRONLY or flags & os.O_TRUNC:
            return _WRITE
        return _UPDATE if flags & os.O_ACCMODE == os.O_RDWR else _READ
    if "w" in mode or "x" in mode or ("r" not in mode and "+" not in mode):
        return _WRITE
    return _UPDATE if "+" in mode else _READ


# Files of the site that do not exist, but would be imported instead of the present module if they did.
#
# Python uses the first module it finds for a name. It searches the folder of the post and the site root
# before installed packages. So a result depends on files that do not exist: `numpy.py` next to the post,
# `sums/` next to `sums.py`. Modules of the site are checked, and modules that they and cells import
# directly. Imports between packages are not checked.


_BUILT_IN = ("built-in", "frozen")
_DEFINED = (type(lambda: 0), type(len), type)


class Shadows:
    """Files that could hide the modules of one session.

    name_of: converts the path of a file to its name relative to the site root; empty if it is ignored.
    """

    def __init__(self, name_of: Callable[[str], str]) -> None:
        self._name_of = name_of
        self._known: set[str] = set()
        """Names of modules that were checked."""

    def absent(self, imported: Iterable[str], of_site: Iterable[str]) -> list[str]:
        """Return sorted paths, relative to the root and without `.py`, where neither that file nor that
        package exists.

        imported: names that cells import.
        of_site: names of modules whose files belong to the site.
        """
        names = {*imported, *of_site}
        found: set[str] = set()
        for name in of_site:
            names.update(_list_safely(_module_origins(sys.modules.get(name))))
        new = names - self._known - {"__main__"}
        self._known |= new
        for name in new:
            found.update(_list_safely(self._earlier_modules(name)))
        return sorted(found)

    def _earlier_modules(self, name: str) -> Iterator[str]:
        module = sys.modules.get(name)
        spec = getattr(module, "__spec__", None)
        if getattr(spec, "origin", None) in _BUILT_IN:
            return
        file = getattr(module, "__file__", None)
        file = os.path.abspath(file) if isinstance(file, str) else ""  # noqa: PTH100 - pathlib costs 5 ms
        parent, _, own = name.rpartition(".")
        places = getattr(sys.modules.get(parent), "__path__", ()) if parent else sys.path
        for place in places:
            stem = os.path.abspath(f"{place}/{own}")  # noqa: PTH100
            if file.startswith(f"{stem}/__init__."):
                return
            if file.startswith(f"{stem}."):
                yield from self._free(f"{stem}/__init__")
                return
            yield from self._free(stem)

    def _free(self, stem: str) -> Iterator[str]:
        name = self._name_of(f"{stem}.py")
        if name and not any(os.path.exists(f"{stem}{end}") for end in (".py", "/__init__.py")):  # noqa: PTH110
            yield name[: -len(".py")]


def _list_safely(found: Iterator[str]) -> list[str]:
    """Return all items. Return none if a cell replaced a module by an object without its attributes."""
    try:
        return list(found)
    except Exception:
        return []


def _module_origins(module: Any) -> Iterator[str]:
    """Yield the top-level names of the modules that define the values of a module."""
    for value in list(vars(module).values()) if isinstance(module, type(sys)) else ():
        source = value.__name__ if type(value) is type(sys) else None
        if type(value) in _DEFINED:
            source = value.__module__
        if isinstance(source, str):
            yield source.partition(".")[0]
