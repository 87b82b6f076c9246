"""Formats exceptions and warnings as Python prints them, but only with frames of the author's code and
without paths of the machine.

A location in a cell is `File "<cell 2>", line 3`. Files of the site are named relative to its root, and files
of libraries by the part after `site-packages/` or `lib/python3.11/`. Other files are named without their
folder.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traceback import TracebackException
    from types import TracebackType
    from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__)) + "/"  # noqa: PTH100, PTH120 - pathlib costs 5 ms
_LIBRARY = re.compile(
    r"/(?:lib(?:64)?/python3\.\d+/)?(?:site|dist)-packages/|/lib(?:64)?/python3\.\d+/",
)
_BEFORE_PATHS = tuple(" \n\t'\"()[]<>=:,;|")
_MAX_PATH = 4096
_COLOUR = re.compile(r"(?<=\x1b\[)[\d;]*m")
"""Rest of an escape sequence, after its bracket."""
_CELL = re.compile(r"<cell (\d+)>")
_SUGGESTION = re.compile(r"[.?] ?Did you mean: .*\?$")
_MAX_CHARACTERS = 64 * 1024
_SUGGESTED = (NameError, AttributeError, ImportError)


class Tracebacks:
    """Formatter for exceptions of one session."""

    def __init__(self, root: str, sources: dict[str, str]) -> None:
        self._root = root.rstrip("/") + "/"
        self._sources = sources
        """Name of a cell, such as `<cell 2>` → its code."""

    def failure(self, error: BaseException) -> dict[str, Any]:
        """Return the `failure` field of a message: name, message, text, and innermost location in a cell."""
        cell, line = _cell_location(error)
        return {
            "name": type(error).__name__,
            "message": self._without_paths(_truncate(_message(error))),
            "text": self.text(error),
            "cell": cell,
            "line": line,
        }

    def text(self, error: BaseException) -> str:
        """Return the traceback without frames of the worker and paths of the machine. A long traceback is cut
        in the middle."""
        import linecache
        import traceback

        for name in self._sources:
            self.remember(name)  # again, as `linecache` may have been cleared
        if isinstance(error, SyntaxError) and not error.text:
            # found after parsing, such as `return` outside a function
            error.text = linecache.getline(error.filename or "", error.lineno or 0)
        shown = traceback.TracebackException(type(error), error, error.__traceback__)
        suggestion = _suggestion(error)
        self._cut(shown, set())
        lines = shown.format() if shown.stack else shown.format_exception_only()
        text = self._without_paths(_truncate("".join(lines)))
        if suggestion and not text.rstrip("\n").endswith(suggestion):
            text = text.rstrip("\n") + suggestion + "\n"
        return text

    def remember(self, name: str) -> None:
        """Register a cell's code with `linecache`, which `inspect` uses too."""
        import linecache

        # Without the last newline, Python 3.11 places carets one column too far.
        code = self._sources[name].rstrip("\n") + "\n"
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)

    def short_path(self, path: str) -> str:
        """Return the name of a file without machine-specific parts."""
        if not path.startswith("/"):
            return path
        return path[len(self._root) :] if self._is_of_site(path) else short_path(path)

    def _is_of_site(self, path: str) -> bool:
        # an environment may be located in the site
        return path.startswith(self._root) and not _LIBRARY.search(path)

    def install(self) -> None:
        """Format warnings, and exceptions outside cells, in the same way on stderr."""
        import threading
        import warnings

        original = warnings.formatwarning

        def formatwarning(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            line: str | None = None,
        ) -> str:
            if filename.startswith(_HERE):  # the author set a `stacklevel` that points above the cell
                return original(message, category, "sys", 1, "")
            text = original(message, category, filename, lineno, line)
            return self.short_path(filename) + text[len(filename) :]

        def excepthook(args: threading.ExceptHookArgs) -> None:
            if args.exc_value is None or isinstance(args.exc_value, SystemExit):
                return
            error = args.exc_value.with_traceback(_drop_frames(args.exc_traceback, threading.__file__))
            name = args.thread.name if args.thread else "?"
            print(f"Exception in thread {name}:\n{self.text(error)}", end="", file=sys.stderr)

        def unraisablehook(args: sys.UnraisableHookArgs) -> None:
            error = args.exc_value
            said = f"{args.err_msg or 'Exception ignored in'}: {args.object!r}\n"
            print(self._without_paths(said) + (self.text(error) if error else ""), end="", file=sys.stderr)

        warnings.formatwarning = formatwarning
        threading.excepthook = excepthook
        sys.unraisablehook = unraisablehook

    def _cut(self, shown: TracebackException, seen: set[int]) -> None:
        """Remove frames of the worker from an exception and from all exceptions related to it."""
        if id(shown) in seen:
            return
        seen.add(id(shown))
        shown.stack[:] = [frame for frame in shown.stack if not frame.filename.startswith(_HERE)]
        for frame in shown.stack:
            frame.filename = self.short_path(frame.filename)
        if isinstance(getattr(shown, "filename", None), str):
            shown.filename = self.short_path(shown.filename)
        for other in (shown.__cause__, shown.__context__, *(getattr(shown, "exceptions", None) or ())):
            if other is not None:
                self._cut(other, seen)

    def _without_paths(self, text: str) -> str:
        # Replace the site first: its path may contain spaces, at which other paths in a text end.
        return without_libraries(text.replace(self._root, ""))


def short_path(path: str) -> str:
    """Return the part of a path that starts with the library. For paths outside libraries, return the file
    name."""
    found = _LIBRARY.search(path)
    return path[found.end() :] if found else path.rpartition("/")[2]


def without_libraries(text: str) -> str:
    """Return text with paths of installed files shortened. The text is read only once, so this is fast for
    long text too."""
    pieces, done = [], 0
    for match in _LIBRARY.finditer(text):
        begin = max(done, match.start() - _MAX_PATH)
        start = begin + 1 + max(text[begin : match.start()].rfind(end) for end in _BEFORE_PATHS)
        if colour := _COLOUR.match(text, start):
            start = colour.end()
        pieces.append(text[done:start])
        done = match.end()
    return "".join((*pieces, text[done:]))


def _cell_location(error: BaseException) -> tuple[int, int]:
    """Return the cell number and the line of the innermost frame in a cell. 0, 0 if no frame is in a cell."""
    found = (0, 0)
    step = error.__traceback__
    while step is not None:
        if match := _CELL.fullmatch(step.tb_frame.f_code.co_filename):
            found = int(match[1]), step.tb_lineno or 0
        step = step.tb_next
    if isinstance(error, SyntaxError) and (match := _CELL.fullmatch(error.filename or "")):
        found = int(match[1]), error.lineno or 0
    return found


def _drop_frames(trace: TracebackType | None, file: str) -> TracebackType | None:
    """Return a traceback without its first frames that are in `file`; None if no frame remains."""
    while trace is not None and trace.tb_frame.f_code.co_filename == file:
        trace = trace.tb_next
    return trace


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "<exception str() failed>"


def _suggestion(error: BaseException) -> str:
    """Return a suggestion such as `. Did you mean: 'total'?`. Python 3.10 and 3.11 add it only when they
    print an exception themselves."""
    if not isinstance(error, _SUGGESTED) or not (3, 10) <= sys.version_info < (3, 12):
        return ""
    import io
    from contextlib import redirect_stderr

    with redirect_stderr(io.StringIO()) as printed:
        sys.__excepthook__(type(error), error, error.__traceback__)
    match = _SUGGESTION.search(printed.getvalue().rstrip("\n"))
    return match[0] if match else ""


def _truncate(text: str) -> str:
    if len(text) <= _MAX_CHARACTERS:
        return text
    half = _MAX_CHARACTERS // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
