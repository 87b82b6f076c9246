"""Signal handling that lets a terminated run end everything that it has started.

Ctrl-C raises `KeyboardInterrupt` by default. But SIGTERM and SIGHUP, which systems and closing terminals
send, would leave processes and folders.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass(slots=True)
class Termination:
    """Record of the signal that is ending the program, if there is one."""

    number: int = 0
    """Signal that ended the program; 0 if none."""

    def check(self) -> None:
        """If a signal has ended the program, raise its exception again. The exception can get lost where
        exceptions are ignored, as in `__del__`."""
        if self.number == signal.SIGINT:
            raise KeyboardInterrupt
        if self.number:
            raise SystemExit(128 + self.number)


@contextmanager
def handle_termination() -> Iterator[Termination]:
    """In the `with` block, raise `SystemExit` on SIGTERM and SIGHUP. The exit code is 128 plus the signal
    number, as in a shell.

    Only the first SIGTERM, SIGHUP or Ctrl-C has an effect; later ones do not disturb the shutdown. Only the
    main thread receives signals, so in another thread nothing changes. Signals that were already ignored or
    handled stay so. Code with an endless loop must call `Termination.check` regularly.
    """
    ending = Termination()
    if threading.current_thread() is not threading.main_thread():
        yield ending
        return
    before = {number: signal.getsignal(number) for number in _numbers()}
    plain = (signal.SIG_DFL, signal.default_int_handler)
    ours = [number for number, handler in before.items() if handler in plain]

    def end(number: int, frame: FrameType | None) -> None:
        for other in ours:
            signal.signal(other, signal.SIG_IGN)
        ending.number = number
        ending.check()

    report = sys.unraisablehook

    def report_others(lost: sys.UnraisableHookArgs) -> None:
        # If it is lost in a callback of a weak reference, `check` raises it again, so it need not be printed.
        if not (ending.number and issubclass(lost.exc_type, KeyboardInterrupt | SystemExit)):
            report(lost)

    for number in ours:
        signal.signal(number, end)
    sys.unraisablehook = report_others
    try:
        yield ending
    except RuntimeError as error:
        # Python 3.11 wraps an exception raised in `__set_name__`, that is, while a module is imported.
        if isinstance(error.__cause__, KeyboardInterrupt | SystemExit):
            raise error.__cause__ from None
        raise
    finally:
        sys.unraisablehook = report
        for number in ours:
            signal.signal(number, before[number])


def _numbers() -> list[signal.Signals]:
    return [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
