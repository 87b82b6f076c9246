"""Standard streams that never make a command fail: closed, broken, or unable to spell a character."""

from __future__ import annotations

import io
import os
import sys


def prepare_streams() -> None:
    """Let stdout and stderr show every text: what their encoding lacks becomes an escape."""
    # A stream closed by the shell (`2>&-`) is None; print() would then fall back to the other one.
    sys.stdout = sys.stdout or open_devnull()
    sys.stderr = sys.stderr or open_devnull()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_line(text: str) -> None:
    """Print a result on stdout; a reader that went away (`| head`) is no error."""
    try:
        print(_replace_arrows(text), flush=True)
    except BrokenPipeError:
        # The text is still buffered; without this the flush at exit would complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def warn(text: str) -> None:
    """Print a message on stderr."""
    print(text, file=sys.stderr)


def _replace_arrows(text: str) -> str:
    """`text` with ASCII arrows where stdout cannot show real ones."""
    try:
        text.encode(sys.stdout.encoding or "utf-8", "surrogatepass")
    except (UnicodeError, LookupError):
        return text.replace("→", "->")
    return text


def open_devnull() -> io.TextIOWrapper:
    """A stream that throws away what it is given."""
    return open(os.devnull, "w", encoding="utf-8")
