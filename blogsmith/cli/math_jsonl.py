"""Formula conversion for editors and scripts. Requests and answers are lines of JSON.

A request is `{"id", "tex", "display", "macros", "packages"}`; only `tex` is required. An answer is `{"id",
"mathml"}` or `{"id", "error", "kind", "offset", "length", "hint"}`, where offset and length count characters
of `tex`. Every line gets exactly one answer, in order, whatever it contains. Only errors that no line has
caused, such as a closed output, end the conversation.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ..model.tex_macros import Macro
from ..tex.analysis.tags import convert_unnumbered
from ..tex.convert import Convert
from ..tex.errors import TexError

MAX_LINE = 4_000_000
"""Maximum size of a line in bytes: the longest allowed formula with escapes, and the same size for macros."""
_CHUNK = 1 << 16
_MAX_DELAY_S = 0.01
"""Maximum time in seconds that an answer waits for further ones. Writing several together makes the
conversion a tenth faster."""


def answer_lines(
    read: Callable[[int], bytes],
    write: Callable[[bytes], object],
    answer: Callable[[bytes], bytes],
    seconds: Callable[[], float] = time.perf_counter,
) -> None:
    """Answer every line until the input ends.

    read: function that returns at most the given number of bytes, and waits until there is at least one; b""
    at the end. write: function that sends bytes immediately, because a client may wait for each answer before
    its next request. answer: function that returns the answer to one line.
    """
    rest = b""
    while chunk := read(_CHUNK):
        if len(rest) > MAX_LINE and b"\n" not in chunk:
            continue  # the line is too long; it is rejected when its end is read
        *lines, rest = (rest + chunk).split(b"\n")
        waiting: list[bytes] = []
        since = seconds()
        for line in lines:
            waiting.append(answer(line))
            if seconds() - since > _MAX_DELAY_S:
                write(b"".join(waiting))
                waiting, since = [], seconds()
        if waiting:
            write(b"".join(waiting))
    if rest:
        write(answer(rest))


@dataclass(frozen=True, slots=True)
class Answerer:
    """Converts requests (lines of JSON) to answers. Its fields are the defaults for keys that a request
    omits."""

    macros: Mapping[str, str | Macro]
    """Macros for all formulas. Macros in a request take precedence."""
    display: bool
    """Default for requests without `display`."""
    packages: frozenset[str]
    """LaTeX packages for requests without `packages`."""
    decode: Callable[[str], Any]
    encode: Callable[[Any], str]
    convert: Convert | None = None
    """Converter of a plugin; None for the converter of blogsmith."""

    def __call__(self, line: bytes) -> bytes:
        """Return the answer to one line, including the line end."""
        answer = self._answer(line)
        try:
            text = self.encode(answer)
        except (ValueError, RecursionError):  # infinity, or data nested too deeply for JSON
            text = self.encode({"id": None, "error": "the id cannot be written as JSON"})
        # A surrogate without its partner is valid in JSON but not in UTF-8, so it stays escaped.
        return f"{text}\n".encode("utf-8", "backslashreplace")

    def _answer(self, line: bytes) -> dict[str, Any]:
        if len(line) > MAX_LINE:
            return {"id": None, "error": f"the line has more than {MAX_LINE:,} bytes"}
        try:
            asked = self.decode(line.decode())
        except (ValueError, RecursionError) as error:
            return {"id": None, "error": f"the line is not JSON: {error}"}
        if not isinstance(asked, dict):
            return {"id": None, "error": "the line is not a JSON object"}
        return {"id": asked.get("id"), **self._typeset(asked)}

    def _typeset(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        tex, display, macros = asked.get("tex"), asked.get("display"), asked.get("macros")
        packages = asked.get("packages")
        problem = _problem(tex, display, macros, packages)
        if problem:
            return {"error": problem}
        known = {**self.macros, **with_backslashes(macros)} if macros else self.macros
        try:
            formula = convert_unnumbered(
                str(tex),
                display=self.display if display is None else display,
                macros=known,
                packages=frozenset(packages) if packages else self.packages,
                convert=self.convert,
            )
        except TexError as error:
            return _error_answer(error)
        except Exception as error:  # an internal error, which must not affect other formulas
            return {"error": f"blogsmith has a bug: {type(error).__name__}: {error}"}
        return {"mathml": formula.mathml}


def make_answerer(
    macros: Mapping[str, str | Macro],
    *,
    display: bool = False,
    packages: frozenset[str] = frozenset(),
    convert: Convert | None = None,
) -> Answerer:
    """Return an `Answerer` that rejects NaN and Infinity, which are not JSON, in requests and answers."""
    decoder = json.JSONDecoder(parse_constant=_reject_constant)
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
    return Answerer(macros, display, packages, decoder.decode, encoder.encode, convert)


def with_backslashes(macros: Mapping[str, str]) -> dict[str, str]:
    r"""Return the macros under their TeX names: `RR` becomes `\RR`. A name that contains other characters
    than ASCII letters, such as `ℝ`, is unchanged."""
    return {f"\\{name}" if name.isascii() and name.isalpha() else name: macros[name] for name in macros}


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f'"{word}" is not valid JSON')


def _problem(tex: object, display: object, macros: object, packages: object) -> str:
    """Return a message about the first value of a wrong type in a request; empty if there is none."""
    if not isinstance(tex, str):
        return '"tex" must be a string'
    if display is not None and not isinstance(display, bool):
        return '"display" must be true or false'
    if macros is not None and not (
        isinstance(macros, dict) and all(isinstance(body, str) for body in macros.values())
    ):
        return '"macros" must be an object of strings'
    if packages is not None and not (
        isinstance(packages, list) and all(isinstance(name, str) for name in packages)
    ):
        return '"packages" must be a list of strings'
    return ""


def _error_answer(error: TexError) -> dict[str, Any]:
    answer = {"error": error.message, "kind": error.kind, "offset": error.offset, "length": error.length}
    return {**answer, "hint": error.hint} if error.hint else answer
