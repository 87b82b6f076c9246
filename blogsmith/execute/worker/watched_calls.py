"""Observes functions of Python that raise no audit event: states of paths, clocks, randomness, variables.

A function is replaced in its module by an object that calls it. The object is not a descriptor, because
`pathlib` of Python 3.9 stores some of these functions in a class. Only calls from the author's code matter;
see `callers.py`. Objects of the author are never changed.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from os import lstat, stat
from typing import TYPE_CHECKING

from .importing import after_import

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from .callers import Callers

_SUPPORTED = ("supports_dir_fd", "supports_fd", "supports_follow_symlinks", "supports_effective_ids")
"""Names of sets in `os` that contain functions. Other code looks up functions in these sets, so each
replacement is added to them."""
_STOPWATCHES = ("perf_counter", "monotonic", "process_time", "thread_time")
_CLOCKS = ("time", "clock_gettime")
_DATED = {"localtime": 0, "gmtime": 0, "ctime": 0, "strftime": 1, "asctime": 0}
"""Function → it uses the current time if it has at most this number of arguments."""
_SYSTEM = {
    "getpid": "process numbers",
    "getppid": "process numbers",
    "getloadavg": "load",
    "statvfs": "disk space",
    "times": "processor time",
}
"""Function of `os` → kind of information about the running system that it returns."""
_SYSTEM_CALLERS = frozenset(("shutil",))
_ENTROPY_CALLERS = frozenset(("random", "secrets", "uuid"))
_PROFILER = os.path.join("torch", "autograd", "profiler.py")  # noqa: PTH118
"""File of torch that gives each trace a random name. This randomness does not matter, because the name is in
no result."""
_VARIABLE_CALLERS = frozenset(("os", "_collections_abc"))


class WatchedCall:
    """Replacement of a function, which calls the function and then an observer. after: the observer, which
    receives the caller's frame, the arguments and the result. If the function raises an exception, the result
    is None."""

    def __init__(
        self, function: Any, after: Callable[[FrameType, tuple[Any, ...], dict[str, Any], Any], None]
    ):
        self._function = function
        self._after = after
        self.__name__ = self.__qualname__ = function.__name__
        self.__doc__ = function.__doc__
        self.__self__ = getattr(function, "__self__", None)

    def __call__(self, *args: Any, **options: Any) -> Any:
        try:
            result = self._function(*args, **options)
        except OSError:
            self._after(sys._getframe(1), args, options, None)
            raise
        self._after(sys._getframe(1), args, options, result)
        return result

    def __reduce__(self) -> str:
        return str(self.__name__)

    def __repr__(self) -> str:
        return repr(self._function)


def _replace(module: Any, name: str, after: Callable[..., None]) -> None:
    function = getattr(module, name, None)
    if function is None:
        return
    watched = WatchedCall(function, after)
    watched.__module__ = module.__name__
    setattr(module, name, watched)
    for supported in _SUPPORTED if module is os else ():
        known = getattr(os, supported, None)
        if isinstance(known, set) and function in known:
            known.add(watched)


def watch_paths(look: Callable[[FrameType, object, object, Any], None]) -> None:
    """Call `look` after each query of a path, with frame, path, `dir_fd` and state. The state is the result
    of `os.stat` or `os.lstat`; None if the path does not exist."""

    def after(frame: FrameType, args: tuple[Any, ...], options: dict[str, Any], result: Any) -> None:
        path = args[0] if args else options.get("path")
        look(frame, path, options.get("dir_fd"), result)

    def queried(query: Callable[..., Any]) -> Callable[..., None]:
        def after(frame: FrameType, args: tuple[Any, ...], options: dict[str, Any], result: Any) -> None:
            path, folder = (args[0] if args else options.get("path")), options.get("dir_fd")
            try:
                status = query(path, dir_fd=folder)
            except (OSError, ValueError, TypeError):
                status = None
            look(frame, path, folder, status)

        return after

    for name in ("stat", "lstat"):
        _replace(os, name, after)
    _replace(os, "access", queried(stat))
    _replace(os, "readlink", queried(lstat))


def watch_open(note: Callable[[object, int, int], None]) -> None:
    """Call `note` after each call of `os.open` with a folder's descriptor, with path, flags and descriptor.
    The audit event does not contain the descriptor."""

    def after(frame: FrameType, args: tuple[Any, ...], options: dict[str, Any], result: Any) -> None:
        folder = options.get("dir_fd")
        if folder is not None and len(args) > 1:
            note(args[0], args[1], folder)

    _replace(os, "open", after)


class WatchedVariables(dict):  # type: ignore[type-arg]
    """Content of `os.environ`, which notes the variables that the author's code reads. If the code copies all
    variables, as in `{**os.environ}`, nothing is noted, because the variables are passed on, not used."""

    def __init__(self, content: dict[bytes, bytes], callers: Callers, note: Callable[[str], None]) -> None:
        super().__init__(content)
        self._callers = callers
        self._note = note
        self._own: set[bytes] = set()
        self._copied: list[bytes] = []
        """Variables that a loop over all of them will read, in reverse order."""

    def __getitem__(self, name: bytes) -> bytes:
        if self._copied and self._copied[-1] == name:
            self._copied.pop()
        elif name not in self._own and self._callers.is_author(sys._getframe(1), _VARIABLE_CALLERS):
            self._note(os.fsdecode(name))
        return dict.__getitem__(self, name)  # type: ignore[no-any-return]

    def __setitem__(self, name: bytes, value: bytes) -> None:
        self._own.add(name)
        dict.__setitem__(self, name, value)

    def __iter__(self) -> Any:
        names = list(dict.__iter__(self))
        self._copied = names[::-1]
        return iter(names)


def watch_variables(callers: Callers, note: Callable[[str], None]) -> None:
    """Call `note` with each environment variable that the author's code reads, set or not."""
    environ: Any = os.environ
    watched = WatchedVariables(environ._data, callers, note)
    environ._data = watched
    os.environb._data = watched  # type: ignore[attr-defined]


class Repeatability:
    """Observes clocks and random generators, which make two runs of the same code differ. note: receives a
    reason, in the form of `Uses.reasons`."""

    def __init__(self, callers: Callers, note: Callable[[str], None]) -> None:
        self._callers = callers
        self._note = note
        self._states: dict[str, Any] = {}
        """Module with a global generator → its state at the last check."""
        self._is_seeded = False
        """Whether the code has seeded `random`."""
        self._torch_seed: int | None = None
        """Random seed that torch started with; None if torch started with a fixed seed, as it does in a new
        process."""

    def install(self) -> None:
        """Replace the functions, and observe the generators now or when they are imported."""
        for name in _STOPWATCHES:
            for each in (name, f"{name}_ns"):
                _replace(time, each, self._after_clock("stopwatch"))
        for name in _CLOCKS:
            for each in (name, f"{name}_ns"):
                _replace(time, each, self._after_clock("clock"))
        for name, arguments in _DATED.items():
            _replace(time, name, self._after_clock("clock", arguments))
        for name, what in _SYSTEM.items():
            _replace(os, name, self._after_system(what))
        for module, function, observer in (
            ("resource", "getrusage", self._after_system("resource usage")),
            ("uuid", "uuid1", self._after_clock("clock")),
            ("email.utils", "formatdate", self._after_clock("clock", 0)),
        ):
            after_import(module, partial(_replace, name=function, after=observer))
        for name in ("urandom", "getrandom"):
            _replace(os, name, self._after_entropy)
        after_import("random", self._begin_random)
        after_import("numpy.random", self._begin_numpy)
        if "torch" in sys.modules:  # the server of prepared processes has seeded it
            self._torch_seed = sys.modules["torch"].initial_seed()

    def check(self, *, is_seeded: bool) -> None:
        """Note if random numbers were taken from a generator without a seed since the last call. is_seeded:
        whether blogsmith has seeded all generators."""
        for name, read in (
            ("random", _random_state),
            ("numpy.random", _numpy_state),
            ("torch", _torch_state),
        ):
            module = sys.modules.get(name)
            if module is None:
                continue
            try:
                state, has_seed = read(module)
            except Exception:  # a cell has replaced the module, or it is only partly imported
                continue
            if name == "torch":
                has_seed = module.initial_seed() != self._torch_seed
            has_seed = has_seed or is_seeded or (name == "random" and self._is_seeded)
            before = self._states.get(name)
            self._states[name] = state
            if not has_seed and before is not None and before != state:
                self._note("random")

    def _after_clock(self, reason: str, arguments: int | None = None) -> Callable[..., None]:
        def after(frame: FrameType, args: tuple[Any, ...], options: dict[str, Any], result: Any) -> None:
            if (arguments is None or len(args) <= arguments) and self._callers.is_author(frame):
                self._note(reason)

        return after

    def _after_system(self, what: str) -> Callable[..., None]:
        def after(frame: FrameType, args: tuple[Any, ...], options: dict[str, Any], result: Any) -> None:
            if self._callers.is_author(frame, _SYSTEM_CALLERS):
                self._note(f"system {what}")

        return after

    def _after_entropy(
        self, frame: FrameType, args: tuple[Any, ...], options: dict[str, Any], result: Any
    ) -> None:
        caller = frame.f_back
        if caller is not None and caller.f_code.co_filename.endswith(_PROFILER):
            return
        nearest = self._callers.nearest(frame, _ENTROPY_CALLERS)
        if nearest == "author" or (nearest == "package" and self._callers.origin(frame) == "package"):
            self._note("random")

    def _begin_random(self, module: Any) -> None:
        def after(frame: FrameType, args: tuple[Any, ...], options: dict[str, Any], result: Any) -> None:
            self._is_seeded = bool(args or options) and (*args, *options.values())[0] is not None

        _replace(module, "seed", after)
        self._states["random"] = _random_state(module)[0]

    def _begin_numpy(self, module: Any) -> None:
        self._states["numpy.random"] = _numpy_state(module)[0]


def _random_state(module: Any) -> tuple[Any, bool]:
    """Return the state of the global generator, and whether it is known to have a seed."""
    return module._inst.getstate(), False


def _numpy_state(module: Any) -> tuple[Any, bool]:
    bits = module.mtrand._rand._bit_generator
    state = bits.state["state"]
    # a generator with a seed of the old kind has no sequence of seeds
    return (state["pos"], state["key"].tobytes()), bits._seed_seq is None


def _torch_state(module: Any) -> tuple[Any, bool]:
    return module.get_rng_state().numpy().tobytes(), False
