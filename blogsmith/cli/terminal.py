"""Standard streams for which printing never fails, even if they are closed or cannot encode a character."""

from __future__ import annotations

import io
import os
import sys


def prepare_streams() -> None:
    """Make stdout and stderr accept any text. Characters that their encoding lacks are escaped."""
    # A stream closed by the shell (`2>&-`) is None; print() would then write to stdout instead.
    sys.stdout = sys.stdout or open_devnull()
    sys.stderr = sys.stderr or open_devnull()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_line(text: str) -> None:
    """Print a result on stdout. A closed pipe (`| head`) is not an error."""
    try:
        print(_replace_arrows(text), flush=True)
    except BrokenPipeError:
        # The text is still in the buffer; without this, the flush at exit would report an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def warn(text: str) -> None:
    """Print a message on stderr."""
    print(text, file=sys.stderr)


def _replace_arrows(text: str) -> str:
    """Replace arrows by ASCII if stdout cannot encode them."""
    try:
        text.encode(sys.stdout.encoding or "utf-8", "surrogatepass")
    except (UnicodeError, LookupError):
        return text.replace("→", "->")
    return text


def open_devnull() -> io.TextIOWrapper:
    """Return a stream that discards its input."""
    return open(os.devnull, "w", encoding="utf-8")
