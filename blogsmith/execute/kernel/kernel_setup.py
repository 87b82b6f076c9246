"""What a Python kernel is told before its first cell; it runs in the kernel, in any Python from 3.9 on.

It is sent as text, since the kernel may run where blogsmith is not installed. Places in tracebacks and
warnings become `<cell 2>`, as the worker names them.
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

_OF_IPYTHON = frozenset(("In", "Out", "exit", "quit", "get_ipython", "open"))
"""Names beside those of the author; and all that begin with an underscore."""
_LATEX = "_repr_latex_"
_VALUE_BYTES = 64 * 1024
_FLUSH_S = 0.02
_AWAY_S = 0.001
_GONE_S = 0.05


class KernelReports:
    """Something that is to reach the bridge as text."""

    def __init__(self, text: str, latex: str = "") -> None:
        self._data = {"text/plain": text[:_VALUE_BYTES], "text/latex": latex[:_VALUE_BYTES]}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self._data


def report_value(value: Any, conversion: str, spec: str) -> KernelReports:
    """A value of the text: converted and formatted as in an f-string."""
    convert: Any = {"r": repr, "s": str, "a": ascii}.get(conversion)
    text = format(convert(value) if convert else value, spec)
    offers = not (conversion or spec or isinstance(value, type)) and hasattr(value, _LATEX)
    return KernelReports(text, (getattr(value, _LATEX)() or "") if offers else "")


def state(names: Sequence[str], root: str) -> KernelReports:
    """What a cell used. names: that the code imports; root: of the site."""
    versions: Any = sys.modules["_blogsmith_versions"]
    imports = versions.count_packages(names, lambda file: file.startswith(root + "/"))
    return KernelReports(json.dumps({"device": versions.device(), "imports": imports}))


def machine(names: Sequence[str]) -> KernelReports:
    """The fields of `results.Machine`. names: of the packages whose versions count."""
    versions: Any = sys.modules["_blogsmith_versions"]
    return KernelReports(json.dumps(versions.machine(names)))


def seed(number: int) -> None:
    """From here on random numbers come out equal."""
    module: Any = sys.modules["_blogsmith_seeds"]
    if not hasattr(module, "kept"):
        module.kept = module.Seeds()
    module.kept.seed(number)


def begin_run(binding: str, leaves: bool) -> None:
    """Bind the names of a sweep, given as JSON. leaves: else `end_run` takes back what the cell binds."""
    ipython: Any = sys.modules["IPython"]
    sweeps: Any = sys.modules["_blogsmith_sweeps"]
    shell = ipython.get_ipython()
    # its database takes one text for each number, and complains of a second one among what the cell prints
    shell.history_manager.enabled = False
    names = shell.user_ns
    sweeps.before = None if leaves else sweeps.SessionState(names, _OF_IPYTHON)
    names.update(json.loads(binding))


def end_run() -> KernelReports:
    """Go back to where `begin_run` was; the name of what was changed in place, or nothing."""
    sweeps: Any = sys.modules["_blogsmith_sweeps"]
    return KernelReports(json.dumps({"changed": sweeps.before.restore()}))


def prepare(stack_file: str, package: str) -> None:
    """Let IPython name cells as blogsmith does, and lose nothing that was printed.

    stack_file: where a process that ends badly writes where it stood; empty: nobody could read it.
    package: folder of the package blogsmith, for imports of its lab; empty: it is on another machine.
    """
    lab_finder: Any = sys.modules["_blogsmith_lab_finder"]
    if package:
        lab_finder.install(package)
    _leave_in_order(_dump_stack_to(stack_file) if stack_file else None)
    _flush_streams()
    warnings.filterwarnings("ignore", "To exit: use")
    ipython: Any = sys.modules["IPython"]
    shell = ipython.get_ipython()
    library = os.path.dirname(os.path.dirname(ipython.__file__))  # noqa: PTH120 - as in the worker

    def structured(kind: Any, error: BaseException, trace: Any = None, *_: Any, **__: Any) -> list[str]:
        # for errors of syntax IPython hands in something else
        return _lines(error, trace if isinstance(trace, TracebackType) else None, library)

    shell.compile.get_code_name = lambda raw, transformed, number: f"<cell {number}>"
    for shower in (shell.InteractiveTB, shell.SyntaxTB):
        shower.structured_traceback = structured


def number_cells(number: int) -> None:
    """The next cell has this number."""
    ipython: Any = sys.modules["IPython"]
    ipython.get_ipython().execution_count = number


def _lines(error: BaseException, trace: TracebackType | None, library: str) -> list[str]:
    """The traceback as Python prints it, without the frames of the kernel."""
    found = traceback.TracebackException(type(error), error, trace)
    seen: set[int] = set()
    waiting: list[Any] = [found]
    while waiting:
        shown_error = waiting.pop()
        if shown_error is None or id(shown_error) in seen:
            continue
        seen.add(id(shown_error))
        shown_error.stack[:] = [frame for frame in shown_error.stack if not _is_ours(frame.filename, library)]
        waiting += [shown_error.__cause__, shown_error.__context__]
        waiting += getattr(shown_error, "exceptions", None) or ()
    lines = found.format() if found.stack else found.format_exception_only()
    return "".join(lines).rstrip("\n").split("\n")


def _is_ours(file: str, library: str) -> bool:
    packages = tuple(f"{library}/{name}" for name in ("IPython/", "ipykernel/"))
    return file.startswith(packages) or file == "<blogsmith>"


def _dump_stack_to(stack_file: str) -> Any:
    """At a crash, and when the bridge asks before it kills. Gives the file that is written to."""
    file = open(stack_file, "w")  # noqa: PTH123, SIM115 - it stays open as long as the process
    faulthandler.enable(file, all_threads=False)
    faulthandler.register(signal.SIGUSR2, file, all_threads=False)
    return file


def _leave_in_order(file: Any) -> None:
    """Lose nothing at `os._exit`. file: for where it was called; None: nobody could read it."""
    leave, kernel = os._exit, os.getpid()

    def leave_flushed(status: int) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        # a child that was forked leaves so as a rule, and says nothing of where the kernel stood
        if os.getpid() == kernel:
            time.sleep(_GONE_S)
            if file is not None:
                faulthandler.dump_traceback(file, all_threads=False)
        leave(status)

    os._exit = leave_flushed  # type: ignore[assignment]


def _flush_streams() -> None:
    """Let the first lines out at once, and what goes to one stream before what goes to the other.

    A kernel holds back what is printed for a while: after a crash it would be lost.
    """
    last: list[Any] = [None, 0.0]

    def watched(stream: Any, write: Any) -> Any:
        def write_in_order(text: str) -> Any:
            if last[0] is not None and last[0] is not stream:
                last[0].flush()
            last[0] = stream
            written = write(text)
            if "\n" in text and time.monotonic() - last[1] > _FLUSH_S:
                stream.flush()
                # the message is on its way in another thread, which ends with the process
                time.sleep(_AWAY_S)
                last[1] = time.monotonic()
            return written

        return write_in_order

    streams: list[Any] = [sys.stdout, sys.stderr]
    for stream in streams:
        stream.write = watched(stream, stream.write)
