"""A run that is told to end ends everything it has started first.

Ctrl-C raises KeyboardInterrupt anyway. SIGTERM and SIGHUP, with which systems and closing terminals end a
program, would leave processes and folders behind.
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
class Ending:
    """Whether the program was told to end."""

    number: int = 0
    """The signal that said so."""

    def check(self) -> None:
        """Raise what the signal raised. That is lost where exceptions go nowhere, as in a `__del__`."""
        if self.number == signal.SIGINT:
            raise KeyboardInterrupt
        if self.number:
            raise SystemExit(128 + self.number)


@contextmanager
def ending_in_order() -> Iterator[Ending]:
    """Inside, SIGTERM and SIGHUP raise SystemExit with 128 plus their number, as a shell would report them.

    The first of these signals or Ctrl-C counts; more of them do not disturb the end. Only the main thread
    hears signals: in another one nothing changes. A signal that is ignored or handled already stays so.
    Code that goes on for ever asks `Ending.check` now and then.
    """
    ending = Ending()
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
        # lost in a callback of a weak reference: `check` raises it again, and nobody needs to read of it
        if not (ending.number and issubclass(lost.exc_type, KeyboardInterrupt | SystemExit)):
            report(lost)

    for number in ours:
        signal.signal(number, end)
    sys.unraisablehook = report_others
    try:
        yield ending
    except RuntimeError as error:
        # Python 3.11 makes one of what is raised in `__set_name__`, that is, while a module is imported
        if isinstance(error.__cause__, KeyboardInterrupt | SystemExit):
            raise error.__cause__ from None
        raise
    finally:
        sys.unraisablehook = report
        for number in ours:
            signal.signal(number, before[number])


def _numbers() -> list[signal.Signals]:
    return [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
