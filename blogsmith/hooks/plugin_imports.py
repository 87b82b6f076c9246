"""Import guard for plugins of a site: from the site, they can import only code that consent covers.

While plugins of a site load or run, our finder precedes Python's own finders, calls them to locate each
module, and checks the result. Modules outside the site are not restricted. A module inside the site runs from
the hashed bytes if consent covers its source. Everything else is rejected: other sources in the site,
bytecode, extension modules, archives.

An audit hook stays until the process ends, so that threads and `atexit` functions are checked too. It rejects
code of the site that reaches `exec` without the finders, lines of `.pth` files, libraries that `ctypes` loads
from the site, source of a loader that is not the content of its file, and text that a plugin compiles or
executes itself.

The guard cannot check text that a library executes for a plugin (as `timeit` does), bytecode that a plugin
builds, and programs that it starts; the manual says so. Consent is given to code that may do these things.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import site
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType, FrameType, MappingProxyType, ModuleType

from ..base.diagnostics.model import Diagnostic, Place, SiteError
from .plugin_code import FOLDER, PluginCode, is_covered

PACKAGE = "blogsmith_plugins"
"""Name of the package that contains the plugins of a site, so that `from .helper import draw` finds
helper.py."""
_OWN = (Path(__file__).parents[1], Path(__file__).parents[2] / FOLDER)
"""Folders of blogsmith: its package and, in a checkout, its plugins. Either may be inside a site."""
_FILE_ARGUMENTS: Mapping[str, Callable[[tuple[object, ...]], object]] = MappingProxyType(
    {
        # only events of extension modules have a file name
        "import": lambda arguments: arguments[1],
        "ctypes.dlopen": lambda arguments: arguments[0],
        # `site` executes lines of these files, and ignores errors in them
        "open": lambda arguments: str(arguments[0]).endswith(".pth") and arguments[0],
    }
)
"""Maps an audit event to a function that returns a file from the event's arguments. The file must not be in
the site."""
_EVENTS = frozenset({"exec", "compile", *_FILE_ARGUMENTS})
_MAX_PATHS = 4096
"""Maximum number of files for which the result of `_covered_path` is cached."""
_BINARY = (".pyc", ".pyd", ".so", ".dll", ".dylib")
_HINT = f"move it to {FOLDER}/, which `blogsmith trust` covers, and write `from .{{name}} import …`"


@contextmanager
def guard_site_imports(code: PluginCode) -> Iterator[None]:
    """Check imports in the `with` block against `code`, the plugins of a site. The audit hook stays."""
    guard, before = _site_guard(str(code.root)), list(sys.path)
    guard.use(code)
    sys.meta_path.insert(0, guard)
    try:
        yield
    finally:
        # Not by index: the guards of two sites may end in any order.
        sys.meta_path.remove(guard)
        if sys.path != before:
            # Later imports are not checked, so remove folders of the site that plugins have added.
            sys.path[:] = [entry for entry in sys.path if entry in before or not guard.is_inside(entry)]


def load_plugin_module(name: str, code: PluginCode) -> ModuleType:
    """Load the module of `plugins/<name>.py` from `code.sources`. Call inside `guard_site_imports`."""
    path = f"{FOLDER}/{name}.py"
    full_name = f"{PACKAGE}.{re.sub('[^0-9A-Za-z_]', '_', name)}"
    spec = _spec(full_name, str(code.root / path), code.sources[path])
    module = importlib.util.module_from_spec(spec)
    sys.modules[full_name] = module
    try:
        spec.loader.exec_module(module)  # type: ignore[union-attr]
    except BaseException:
        sys.modules.pop(full_name, None)
        raise
    return module


def forget_plugin_modules(code: PluginCode) -> None:
    """Replace the package of plugins by an empty one, so that their modules are imported again."""
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if name == PACKAGE or isinstance(getattr(spec, "loader", None), HashedSourceLoader):
            del sys.modules[name]
    package = ModuleType(PACKAGE)
    package.__path__ = [str(code.root / FOLDER)]
    sys.modules[PACKAGE] = package


class HashedSourceLoader(InspectLoader):
    """Loader of one module from hashed bytes."""

    def __init__(self, file: str, data: bytes) -> None:
        self._file = file
        self._data = data

    def exec_module(self, module: ModuleType) -> None:
        """Run the code of the module."""
        exec(self.get_code(module.__name__), module.__dict__)

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source. Bytecode on disk is not used because anyone could have written it."""
        return compile(self._data, self._file, "exec", dont_inherit=True)

    def get_source(self, fullname: str) -> str:
        """Return the source, for tracebacks and `inspect`."""
        return importlib.util.decode_source(self._data)


class SiteImportGuard(MetaPathFinder):
    """Finder that delegates to Python's finders and rejects modules of the site that are not covered."""

    def __init__(self, root: str) -> None:
        """Create the guard of the site at `root`, an absolute path without symbolic links."""
        self.code = PluginCode(Path(root))
        """Code that consent covers now."""
        self._root = root
        self._running_path = functools.lru_cache(_MAX_PATHS)(self._covered_path)

    def use(self, code: PluginCode) -> None:
        """Use `code` as the code that consent covers from now on."""
        self.code = code
        self._running_path.cache_clear()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the location of a module for `import`; None if no finder knows it. Raise SiteError if it is
        rejected."""
        found = self._find_in_site(fullname, path, target)
        if found is None:
            return None
        folders = list(found.submodule_search_locations or ())
        # Modules without a file have an origin such as "built-in".
        origin = found.origin if found.has_location else None
        inside = [place for place in (origin, *folders) if place and self.is_inside(place)]
        if not inside:
            return found
        if found.origin is None and all(map(self._is_plugin_folder, inside)):
            return found
        source = self._source(found.origin or "")
        if source is None:
            raise self._rejection_error(inside[0])
        # a link to another file until now may name this source
        self._running_path.cache_clear()
        is_package = found.submodule_search_locations is not None
        return _spec(fullname, str(found.origin), source, folders if is_package else None)

    def check_event(self, event: str, arguments: tuple[object, ...]) -> None:
        """Check an audit event. Raise SiteError if it would run code that consent does not cover."""
        path = _FILE_ARGUMENTS[event](arguments) if event in _FILE_ARGUMENTS else None
        if isinstance(path, str) and self.is_inside(path):
            raise self._rejection_error(path)
        if event not in ("exec", "compile"):
            return
        # The frames of this function and of the hook precede the caller of `exec` or `compile`.
        caller = sys._getframe(2).f_code
        if caller in (HashedSourceLoader.exec_module.__code__, HashedSourceLoader.get_code.__code__):
            return
        if event == "compile":
            self._check_source(caller, *arguments)
        elif isinstance(code := arguments[0], CodeType) and not _is_jinja(caller):
            if self.is_inside(code.co_filename):
                raise self._rejection_error(code.co_filename)
            if code.co_filename == "<string>" and (
                self._is_plugin(caller) or caller.co_filename == site.__file__
            ):
                raise self._text_error()

    def _check_source(self, caller: CodeType, source: object, file: object = "") -> None:
        """Raise an error if code outside `self.code` compiles text that consent does not cover. Only plugins
        and loaders are restricted, because libraries such as `dataclasses` generate code."""
        text = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
        if not isinstance(text, bytes):
            return
        if caller.co_filename.startswith("<frozen importlib"):
            # A loader of a plugin's own may return any text under any name.
            if self._importer()[0] and not self.is_inside(str(file)) and not _is_content(str(file), text):
                raise self._text_error()
        elif self._is_plugin(caller) and text not in self.code.sources.values():
            raise self._text_error()

    def _is_plugin(self, code: CodeType) -> bool:
        return self._running_path(code.co_filename) is not None

    def is_inside(self, path: str) -> bool:
        """Return whether a path is in the site, but not in a Python environment there. Checked with and
        without links resolved."""
        forms = _path_variants(path)
        if any(_is_below(form, folder) for form in forms for folder in _environment_folders()):
            return False
        return any(_is_below(form, self._root) for form in forms)

    def _find_in_site(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if not isinstance(finder, SiteImportGuard):
                found = finder.find_spec(name, path, target)
                if found is not None:
                    return found
        # for plugins that have added their folder to sys.path and import later
        return PathFinder.find_spec(name, [str(self.code.root / FOLDER)]) if path is None else None

    def _source(self, file: str) -> bytes | None:
        path = self._covered_path(file)
        return self.code.sources[path] if path else None

    def _covered_path(self, file: str) -> str | None:
        """Return the path in the site of a covered source; None for other files.

        `_running_path` caches the results, because libraries compile thousands of times. The file of code
        that is already running does not change.
        """
        names = (_posix(os.path.relpath(form, self._root)) for form in _path_variants(file))
        return next((name for name in names if name in self.code.sources), None)

    def _is_plugin_folder(self, path: str) -> bool:
        return any(_is_below(form, str(self.code.root / FOLDER)) for form in _path_variants(path))

    def _rejection_error(self, file: str) -> SiteError:
        path = _posix(os.path.relpath(_path_variants(file)[0], self._root))
        importer, line = self._importer()
        why = self.code.uncovered.get(path) or _rejection_reason(path)
        message = f'plugin "{Path(importer).stem}" may not import "{path}": {why}'
        return SiteError(self._diagnostic(importer, line, message, _HINT.format(name=Path(path).stem)))

    def _diagnostic(self, importer: str, line: int, message: str, hint: str) -> Diagnostic:
        lines = self.code.sources.get(importer, b"").decode("utf-8", "replace").split("\n")
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        place = Place(line, len(text) - len(text.lstrip()) + 1, max(1, len(text.strip()))) if line else None
        return Diagnostic("plugin-import", message, importer, place, text, hint)

    def _text_error(self) -> SiteError:
        importer, line = self._importer()
        message = f'text run as code is not allowed in plugin "{Path(importer).stem}"'
        hint = f"write the code in a file in {FOLDER}/, and `from .name import …`"
        return SiteError(self._diagnostic(importer, line, message, hint))

    def _importer(self) -> tuple[str, int]:
        """Return the covered source that is importing, and its line; an empty string and 0 if there is
        none."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            path = self._running_path(frame.f_code.co_filename)
            if path:
                return path, frame.f_lineno
            frame = frame.f_back
        return "", 0


def _spec(name: str, file: str, source: bytes, folders: list[str] | None = None) -> ModuleSpec:
    loader = HashedSourceLoader(file, source)
    spec = importlib.util.spec_from_file_location(
        name, file, loader=loader, submodule_search_locations=folders
    )
    assert spec is not None, "the loader is given"
    return spec


def _rejection_reason(path: str) -> str:
    if path.endswith(_BINARY):
        return "only Python sources of a site may run"
    if not is_covered(path):
        return f"it is not in {FOLDER}/, and trust does not cover it"
    return "it cannot be imported, or was added after trust was checked"


def _path_variants(path: str) -> tuple[str, ...]:
    """Return the absolute path as given and, if different, the path with links resolved."""
    if path.startswith("<"):
        return ()
    # not Path.resolve(), which follows links
    named = os.path.abspath(path)  # noqa: PTH100
    real = os.path.realpath(path)
    return (named,) if named == real else (named, real)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _posix(path: str) -> str:
    return path.replace(os.sep, "/")


@functools.cache
def _environment_folders() -> tuple[str, ...]:
    """Return the folders of this Python and of blogsmith. They may be inside the site, because the user chose
    them."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = [sysconfig.get_path(name) for name in names]
    folders += [*site.getsitepackages(), site.getusersitepackages(), *map(str, _OWN)]
    return tuple(dict.fromkeys(form for folder in folders for form in _path_variants(folder)))


@functools.cache
def _site_guard(root: str) -> SiteImportGuard:
    """Return the guard of a site. It also receives all audit events of this process, until the process ends,
    because Python cannot remove an audit hook."""
    guard = SiteImportGuard(root)

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if event in _EVENTS:
            guard.check_event(event, arguments)

    sys.addaudithook(audit)
    return guard


def _is_content(file: str, data: bytes) -> bool:
    try:
        return Path(file).read_bytes() == data
    except (OSError, ValueError):
        return False


def _is_jinja(caller: CodeType) -> bool:
    """Return whether the caller is Jinja, running a template or raising an error at its line. Templates run
    in a sandbox."""
    modules = (sys.modules.get(f"jinja2.{name}") for name in ("environment", "debug"))
    return any(caller.co_filename == getattr(module, "__file__", None) for module in modules)
