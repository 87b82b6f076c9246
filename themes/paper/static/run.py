"""Runner for a page's code in the reader's browser: a small version of the build's worker, for Pyodide.

run-worker.js installs it as a package together with run_output.py. Code locations are named `<cell 2>` at
run time and are replaced with lines of the post in the output, as in a build. Standard library only.
"""

import ast
import builtins
import importlib.util
import inspect
import linecache
import os
import random
import re
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from .run_output import BACKEND, Figures, Output, Stream, Values

TRACEBACK_CHARACTERS = 64 * 1024

_HERE = __file__.rpartition("/")[0] + "/"
_PLACE = re.compile(r'File "<cell (\d+)>", line (\d+)|<cell (\d+)>:(\d+)')
_LIBRARY = re.compile(r"/\S*?/(?:site-packages|python3\.?\d+(?:\.zip)?)/")


class Runner:
    """Runner for the blocks of a page. Each session has a namespace of its own."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._places: list[tuple[str, int]] = []
        """For each run: path of the post (empty if the code was edited), and first line of the code in it."""
        self._sessions: dict[str, types.ModuleType] = {}
        self._output = Output(send, self._in_post)
        self._values = Values(self._output)
        self._figures = Figures(self._output)

    def install(self) -> None:
        """Install our streams, our `display` and our backend of matplotlib."""
        sys.stdout, sys.stderr = Stream(self._output, "stdout"), Stream(self._output, "stderr")
        builtins.display = self._values.display  # type: ignore[attr-defined]
        sys.modules[BACKEND] = self._figures
        os.environ["MPLBACKEND"] = f"module://{BACKEND}"
        warnings.formatwarning = _warning_in_words

    async def run(self, code: str, session: str, file: str, line: int, seed: int | None) -> str:
        """Run code and send its output. Return `ok` or `error`.

        file, line: Start of the code in the post; file is empty for code that a reader has changed.
        """
        self._places.append((file, line))
        name = f"<cell {len(self._places)}>"
        # Without the last newline, carets are one column too far to the right.
        text = code.rstrip("\n") + "\n"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        namespace = self._namespace(session)
        namespace.pop("__warningregistry__", None)
        self._output.begin()
        self._figures.shown = []
        status = await self._guarded(lambda: self._cell(code, name, namespace, seed))
        if await self._guarded(self._draw) == "error":
            status = "error"
        self._output.end()
        return status

    def _namespace(self, session: str) -> dict[str, Any]:
        if session not in self._sessions:
            self._sessions[session] = types.ModuleType("__main__")
            self._sessions[session].__dict__["__builtins__"] = builtins
        # Pickle and dataclasses search names there.
        sys.modules["__main__"] = self._sessions[session]
        return self._sessions[session].__dict__

    async def _guarded(self, work: Callable[[], Any]) -> str:
        """Return the status of `work`. Any exception of the code becomes data."""
        try:
            await work()
        except BaseException as error:
            self._output.emit(event="failure", text=_shortened(self._traceback(error)))
            return "error"
        return "ok"

    async def _draw(self) -> None:
        self._figures.send_open()

    async def _cell(self, code: str, name: str, namespace: dict[str, Any], seed: int | None) -> None:
        if seed is not None:
            _seed_random(seed)
        tree = _compile(code, name, "exec", namespace, ast.PyCF_ONLY_AST)
        last = tree.body[-1].value if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        if last is None or _is_silenced(code, last):
            await _run(_compile(tree, name, "exec", namespace), namespace)
            return
        tree.body.pop()
        await _run(_compile(tree, name, "exec", namespace), namespace)
        value = await _run(_compile(ast.Expression(last), name, "eval", namespace), namespace)
        if value is not None:
            self._values.show(value, "value")

    def _traceback(self, error: BaseException) -> str:
        """Return the traceback as Python prints it, with only the frames of the author and libraries."""
        shown = traceback.TracebackException(type(error), error, error.__traceback__)
        for one in _linked_exceptions(shown):
            one.stack[:] = [frame for frame in one.stack if not frame.filename.startswith(_HERE)]
        lines = shown.format() if shown.stack else shown.format_exception_only()
        return self._in_post(_LIBRARY.sub("", "".join(lines)))

    def _in_post(self, text: str) -> str:
        """Return the text with locations in cells as lines of the post, or of the edited code."""
        return _PLACE.sub(self._place, text) if "<cell " in text else text

    def _place(self, match: re.Match[str]) -> str:
        number, line = int(match[1] or match[3]), int(match[2] or match[4])
        if not 0 < number <= len(self._places):
            return match[0]
        file, first = self._places[number - 1]
        name, line = (file, line + first - 1) if file else ("edited code", line)
        return f'File "{name}", line {line}' if match[1] else f"{name}:{line}"


async def _run(code: types.CodeType, namespace: dict[str, Any]) -> Any:
    value = eval(code, namespace)
    return await value if code.co_flags & inspect.CO_COROUTINE else value


def _compile(source: Any, name: str, mode: str, namespace: dict[str, Any], flags: int = 0) -> Any:
    """Compile code or its tree. `await` is allowed at top level; `from __future__` lasts for the session."""
    future = importlib.import_module("__future__")
    if getattr(namespace.get("annotations"), "compiler_flag", 0):
        flags |= future.annotations.compiler_flag
    return compile(source, name, mode, flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def _shortened(text: str) -> str:
    half = TRACEBACK_CHARACTERS // 2
    return text if len(text) <= 2 * half else f"{text[:half]}\n… left out …\n{text[-half:]}"


def _is_silenced(code: str, last: ast.expr) -> bool:
    """Return whether a semicolon follows the expression, after optional brackets and comments."""
    lines = code.encode("utf-8", "replace").split(b"\n")[(last.end_lineno or 0) - 1 :]
    lines[0] = lines[0][last.end_col_offset or 0 :]
    return b"".join(line.partition(b"#")[0].strip() for line in lines).endswith(b";")


def _seed_random(seed: int) -> None:
    """Seed random numbers as in a build. NumPy is only available if code of the page imports it."""
    random.seed(seed)
    if importlib.util.find_spec("numpy"):
        importlib.import_module("numpy.random").seed(seed % 2**32)


def _linked_exceptions(shown: traceback.TracebackException) -> Iterator[traceback.TracebackException]:
    """Yield an exception and all exceptions linked to it."""
    waiting, seen = [shown], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [other for other in (one.__cause__, one.__context__, *(one.exceptions or ())) if other]


def _warning_in_words(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    text = line if line is not None else linecache.getline(filename, lineno)
    source = f"\n  {text.strip()}" if text.strip() else ""
    return f"{_LIBRARY.sub('', filename)}:{lineno}: {category.__name__}: {message}{source}\n"
