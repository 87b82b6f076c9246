"""What a session read and imported from the site, and how attention was computed, seen by an audit hook.

Seen: `open`, `os.open` and all that is built on them (pathlib, `np.load`, `pd.read_csv`). Not seen: files
that C code opens itself, and listings of folders. Not counted: installed packages, files outside the site,
and what the session wrote before, but for files of measured rows that a cell draws. The hook only notes a
path and what is there; everything else waits for the end of the cell.
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
"""What is done with a file: it is read; read and perhaps written; written, whatever was in it; changed or
removed unread."""
_PACKAGES = ("/site-packages/", "/dist-packages/")
_INSTALLED = (*_PACKAGES, "/__pycache__/")
_ATTENTION = "blogsmith.lab.ran"
"""Raised by `blogsmith.lab` with device, backend and operator."""
_ROWS = "blogsmith.lab.rows"
"""Raised by `blogsmith.lab` with the path of a file whose rows, of other machines too, a cell shows."""
_BACKEND = re.compile(r"[a-z][a-z0-9-]{0,31}")
_OPERATOR = re.compile(r"[A-Za-z_][A-Za-z0-9_:.]{0,79}")
_MOST_ATTENTION = 16
_MOST_ROWS = 64


class FileAccess:
    """Files and modules of the site, as one session comes to use them.

    before_spawn: called before another program starts.
    foreign_code: called when C code from outside Python is loaded, which may print by itself.
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
        # opened by every import, by the hundred
        library = "/lib/python{}.{}/".format(*sys.version_info)
        self._skipped = (sys.prefix + library, sys.base_prefix + library)
        self._before_spawn = before_spawn
        self._foreign_code = foreign_code
        self._folder = ""
        """Working folder; empty: not asked yet."""
        self._opened: deque[tuple[str, str]] = deque()
        """Absolute path, and what is done with it."""
        self._noted: set[tuple[str, str]] = set()
        """The same, of the whole session."""
        self._stamps = FileStamps()
        self._known: set[str] = set()
        """Files that are reported, or written before they were read."""
        self._rows: deque[str] = deque()
        """Paths of files of rows."""
        self._told: set[str] = set()
        """Those of them that are reported, by name."""
        self._modules: set[str] = set(sys.modules)
        self._shadows = Shadows(self.name_of)
        self._of_site: list[str] = []
        """Names of modules of the site, those last imported."""
        self._inside: dict[str, bool] = {}
        """Folder → whether its files count."""
        self._attention: dict[tuple[Any, ...], str] = {}
        """What an event said → the same as one text."""
        self.external: ExternalState | None = None
        """Told of what checkpoints have to know, if there are to be any."""
        self.is_paused = False
        """Whether what happens is the worker's own doing."""

    def install(self) -> None:
        """From here on. A hook cannot be removed again."""
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if self.is_paused:
            return
        if event == "open":
            path, mode, flags = args
            if type(path) is not str or path[:1] != "/":
                path = self.absolute(path)
            access = _access(mode, flags)
            if self.external is not None and path:
                self.external.note_open(path, access, flags)
            self._note_open(path, access)
            return
        if self.external is not None:
            self.external.note(event, args)
        if event == "import":
            # only for extension modules is the file known here
            if args[1] is not None and "/lib-dynload/" not in args[1]:
                self._stamps.note(self.absolute(args[1]))
                self._foreign_code()
        elif event == "ctypes.dlopen":
            self._foreign_code()
        elif event in SPAWNS:
            self._stamps.end()
            self._before_spawn()
        elif event == "os.chdir":
            self._folder = ""
        elif event == "os.rename":
            self._opened.append((self.absolute(args[0]), _CHANGE))
            self._opened.append((self.absolute(args[1]), _WRITE))
        elif event in _CHANGES:
            self._opened.append((self.absolute(args[0]), _CHANGE))
        elif event == "shutil.rmtree":
            self._stamps.end()  # the files in it are removed by names that say nothing of their folder
        elif event == _ATTENTION:
            self._note_attention(args)
        elif event == _ROWS and len(args) == 1 and type(args[0]) is str and len(self._rows) < _MOST_ROWS:
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
        # anybody may raise the event, with anything; `type`, since a subclass brings methods of its own
        if len(args) != 3 or not type(args[0]) is type(args[1]) is type(args[2]) is str:
            return
        if args not in self._attention and len(self._attention) < _MOST_ATTENTION:
            seen = _attention(*args)
            if seen:
                self._attention[args] = seen

    def absolute(self, path: object) -> str:
        """A path as an audit event has it, from the root; empty for a descriptor."""
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
        """Files read and files imported since the last call, relative to the root, sorted."""
        modules = self._new_modules()
        self._known.update(modules)
        reads: list[str] = []
        while self._opened:
            path, access = self._opened.popleft()
            name = self.name_of(path)
            if name and access != _READ:
                self._stamps.retract(name)
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
        """To be asked behind `take_new`: what its files were when they were opened, as in `file_stamps.py`;
        None for one that the session has changed since."""
        return self._stamps.drain()

    def _new_rows(self) -> list[str]:
        """Files of rows since the last call, also those that the session has written to."""
        paths, self._rows = self._rows, deque()
        names = {self.name_of(path) for path in paths if os.path.isfile(path)}  # noqa: PTH113
        new = sorted(name for name in names - self._told if name)
        self._told.update(new)
        self._known.update(new)
        return new

    def attention(self) -> list[str]:
        """What computed attention since the last call, as `CellRun.sdpa` has it."""
        seen, self._attention = self._attention, {}
        return sorted(seen.values())

    def name_of(self, path: str) -> str:
        """A file's name from the root; empty if it does not count."""
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
        self._of_site = sorted(name for name, file in found.items() if file)
        for name in self._of_site:
            self._stamps.report(found[name], self.absolute(files[name]))
        return sorted({file for file in found.values() if file and file not in self._known})

    def absent(self, imported: Iterable[str]) -> list[str]:
        """To be asked behind `take_new`: files that would hide what was imported since, as in `shadows.py`.

        imported: names that cells import themselves.
        """
        return self._shadows.absent(imported, self._of_site)


def _attention(device: str, backend: str, operator: str) -> str:
    """Backend and operator as one text; empty if they are not of the form agreed on."""
    if device not in ("cpu", "cuda") or not (_BACKEND.fullmatch(backend) and _OPERATOR.fullmatch(operator)):
        return ""
    says_it_itself = device == "cuda" or operator.endswith("_for_cpu")
    return f"{backend} {operator}" if says_it_itself else f"{backend} {operator} cpu"


def _access(mode: str | None, flags: int) -> str:
    if mode is None:
        if flags & os.O_ACCMODE == os.O_WRONLY or flags & os.O_TRUNC:
            return _WRITE
        return _UPDATE if flags & os.O_ACCMODE == os.O_RDWR else _READ
    if "w" in mode or "x" in mode or ("r" not in mode and "+" not in mode):
        return _WRITE
    return _UPDATE if "+" in mode else _READ


# Files of the site that are not there, and that would be imported in place of what was, if they were.
#
# Python takes the first module of a name that it finds, and looks in the folder of the post and in the root
# of the site before it looks among installed packages. So a result depends on files that do not exist:
# `numpy.py` beside the post, `sums/` beside `sums.py`. Looked at are modules of the site, and what they and
# cells import themselves; a name that packages import among themselves is not.


_BUILT_IN = ("built-in", "frozen")
_DEFINED = (type(lambda: 0), type(len), type)


class Shadows:
    """What could hide the modules of one session.

    name_of: path of a file → its name from the root of the site; empty if it does not count.
    """

    def __init__(self, name_of: Callable[[str], str]) -> None:
        self._name_of = name_of
        self._known: set[str] = set()
        """Names of modules that were looked at."""

    def absent(self, imported: Iterable[str], of_site: Iterable[str]) -> list[str]:
        """Paths from the root without `.py`, sorted: neither that file nor a package of the name is there.

        imported: names that cells import. of_site: names of modules whose files are the site's.
        """
        names = {*imported, *of_site}
        found: set[str] = set()
        for name in of_site:
            names.update(_list_safely(_names_in(sys.modules.get(name))))
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
    """All of it; nothing if a stand-in for a module, put there by a cell, is not what it stands for."""
    try:
        return list(found)
    except Exception:
        return []


def _names_in(module: Any) -> Iterator[str]:
    """Top-level names of the modules that the values of a module come from."""
    for value in list(vars(module).values()) if isinstance(module, type(sys)) else ():
        source = value.__name__ if type(value) is type(sys) else None
        if type(value) in _DEFINED:
            source = value.__module__
        if isinstance(source, str):
            yield source.partition(".")[0]
