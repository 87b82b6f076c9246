"""Setup of a Python kernel before its first cell. This file runs in the kernel, in any Python from 3.9 on.

Its source is sent as a string, since blogsmith may not be installed where the kernel runs. Locations in
tracebacks and warnings become `<cell 2>`, as in the worker.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import time
import traceback
import warnings
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_IPYTHON_NAMES = frozenset(("In", "Out", "exit", "quit", "get_ipython", "open"))
"""Names in the namespace that belong to IPython, not to the author. All names that begin with an underscore
do so too."""
_LATEX = "_repr_latex_"
_VALUE_BYTES = 64 * 1024
_FLUSH_S = 0.02
_SEND_S = 0.001
_FLUSH_WAIT_S = 0.05


class KernelReport:
    """Wrapper of a string. IPython displays it as exactly this string, so the bridge receives the string
    unchanged."""

    def __init__(self, text: str, latex: str = "") -> None:
        self._data = {"text/plain": text[:_VALUE_BYTES], "text/latex": latex[:_VALUE_BYTES]}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self._data


def report_value(value: Any, conversion: str, spec: str) -> KernelReport:
    """Return the value of a `{= … =}`, converted and formatted as in an f-string."""
    convert: Any = {"r": repr, "s": str, "a": ascii}.get(conversion)
    text = format(convert(value) if convert else value, spec)
    offers = not (conversion or spec or isinstance(value, type)) and hasattr(value, _LATEX)
    return KernelReport(text, (getattr(value, _LATEX)() or "") if offers else "")


def state(names: Sequence[str], root: str) -> KernelReport:
    """Return the device and the packages that a cell has used. names: names that the code imports. root: site
    root."""
    versions: Any = sys.modules["_blogsmith_versions"]
    imports = versions.used_packages(names, lambda file: file.startswith(root + "/"))
    return KernelReport(json.dumps({"device": versions.device(), "imports": imports}))


def machine(names: Sequence[str]) -> KernelReport:
    """Return the fields of `results.Machine`, which describe this machine. names: packages whose versions are
    recorded."""
    versions: Any = sys.modules["_blogsmith_versions"]
    return KernelReport(json.dumps(versions.machine(names)))


def seed(number: int) -> None:
    """Seed the random generators, so that the following random numbers are reproducible."""
    module: Any = sys.modules["_blogsmith_seeds"]
    if not hasattr(module, "kept"):
        module.kept = module.Seeds()
    module.kept.seed(number)


def begin_run(binding: str, leaves: bool) -> None:
    """Bind the variables of one run of a sweep. binding: names and values as JSON. leaves: whether names that
    the cell binds are kept; if not, `end_run` removes them."""
    ipython: Any = sys.modules["IPython"]
    sweeps: Any = sys.modules["_blogsmith_sweeps"]
    shell = ipython.get_ipython()
    # The history database allows one entry for each number, and would print a complaint about a second one.
    shell.history_manager.enabled = False
    names = shell.user_ns
    sweeps.before = None if leaves else sweeps.SessionState(names, _IPYTHON_NAMES)
    names.update(json.loads(binding))


def end_run() -> KernelReport:
    """Restore the state before `begin_run`. Report the name of a variable that the run changed in place, if
    any."""
    sweeps: Any = sys.modules["_blogsmith_sweeps"]
    return KernelReport(json.dumps({"changed": sweeps.before.restore()}))


def prepare(stack_file: str, package: str) -> None:
    """Make IPython name cells as blogsmith does, and flush printed output so that a crash loses none.

    stack_file: file where a dying process writes its stack; empty if the bridge could not read the file.
    package: folder of the package blogsmith, where cells find `blogsmith.lab`; empty if that folder is on
    another machine.
    """
    lab_finder: Any = sys.modules["_blogsmith_lab_finder"]
    if package:
        lab_finder.install(package)
    _flush_at_exit(_enable_stack_dump(stack_file) if stack_file else None)
    _flush_streams()
    warnings.filterwarnings("ignore", "To exit: use")
    ipython: Any = sys.modules["IPython"]
    shell = ipython.get_ipython()
    library = os.path.dirname(os.path.dirname(ipython.__file__))  # noqa: PTH120 - as in the worker

    def structured(kind: Any, error: BaseException, trace: Any = None, *_: Any, **__: Any) -> list[str]:
        # For syntax errors, IPython passes something other than a traceback.
        return _lines(error, trace if isinstance(trace, TracebackType) else None, library)

    shell.compile.get_code_name = lambda raw, transformed, number: f"<cell {number}>"
    for shower in (shell.InteractiveTB, shell.SyntaxTB):
        shower.structured_traceback = structured


def number_cells(number: int) -> None:
    """Set the number of the next cell."""
    ipython: Any = sys.modules["IPython"]
    ipython.get_ipython().execution_count = number


def _lines(error: BaseException, trace: TracebackType | None, library: str) -> list[str]:
    """Return the traceback as Python prints it, without the frames of the kernel."""
    found = traceback.TracebackException(type(error), error, trace)
    seen: set[int] = set()
    waiting: list[Any] = [found]
    while waiting:
        shown_error = waiting.pop()
        if shown_error is None or id(shown_error) in seen:
            continue
        seen.add(id(shown_error))
        shown_error.stack[:] = [
            frame for frame in shown_error.stack if not _is_internal(frame.filename, library)
        ]
        waiting += [shown_error.__cause__, shown_error.__context__]
        waiting += getattr(shown_error, "exceptions", None) or ()
    lines = found.format() if found.stack else found.format_exception_only()
    return "".join(lines).rstrip("\n").split("\n")


def _is_internal(file: str, library: str) -> bool:
    packages = tuple(f"{library}/{name}" for name in ("IPython/", "ipykernel/"))
    return file.startswith(packages) or file == "<blogsmith>"


def _enable_stack_dump(stack_file: str) -> Any:
    """Dump the stack to a file when the process crashes, and when the bridge requests it before a kill.
    Return the open file."""
    file = open(stack_file, "w")  # noqa: PTH123, SIM115 - it stays open as long as the process
    faulthandler.enable(file, all_threads=False)
    faulthandler.register(signal.SIGUSR2, file, all_threads=False)
    return file


def _flush_at_exit(file: Any) -> None:
    """Flush all output when code calls `os._exit`. file: open file that receives the stack of this call; None
    if the bridge could not read it."""
    leave, kernel = os._exit, os.getpid()

    def leave_flushed(status: int) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        # A forked child normally exits this way; that says nothing about the kernel's location.
        if os.getpid() == kernel:
            time.sleep(_FLUSH_WAIT_S)
            if file is not None:
                faulthandler.dump_traceback(file, all_threads=False)
        leave(status)

    os._exit = leave_flushed  # type: ignore[assignment]


def _flush_streams() -> None:
    """Send the first lines of output immediately, and flush one stream before another is written to.
    Otherwise a kernel buffers printed output for a while and would lose it in a crash."""
    last: list[Any] = [None, 0.0]

    def wrap_write(stream: Any, write: Any) -> Any:
        def write_in_order(text: str) -> Any:
            if last[0] is not None and last[0] is not stream:
                last[0].flush()
            last[0] = stream
            written = write(text)
            if "\n" in text and time.monotonic() - last[1] > _FLUSH_S:
                stream.flush()
                # Another thread sends the message, but ends with the process, so give it time.
                time.sleep(_SEND_S)
                last[1] = time.monotonic()
            return written

        return write_in_order

    streams: list[Any] = [sys.stdout, sys.stderr]
    for stream in streams:
        stream.write = wrap_write(stream, stream.write)
