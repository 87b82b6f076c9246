"""Formula conversion as JSON lines, one answer line per input line, for editors and scripts.

An input line is `{"id", "tex", "display", "macros", "packages"}`; only `tex` is required. Lines are answered
in order by `{"id", "mathml"}` or `{"id", "error", "kind", "offset", "length", "hint"}`, where offset and
length count characters of `tex`. Every line gets exactly one answer, whatever it contains: no input ends the
conversation. Only errors not caused by a line, such as a closed output, end it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ..tex.analysis.tags import convert_unnumbered
from ..tex.convert import Convert
from ..tex.errors import TexError

MAX_LINE = 4_000_000
"""Maximum size of a line in bytes: the longest allowed formula, escaped, and as much again for macros."""
_CHUNK = 1 << 16
_MAX_DELAY_S = 0.01
"""How long an answer waits for later ones. Writing many answers together saves a tenth of the time."""


def answer_lines(
    read: Callable[[int], bytes],
    write: Callable[[bytes], object],
    answer: Callable[[bytes], bytes],
    seconds: Callable[[], float] = time.perf_counter,
) -> None:
    """Answer every line until the input ends.

    read: returns at most the given number of bytes and waits only for the first; b"" at the end.
    write: sends to the reader immediately, so a client may wait for each answer before its next request.
    """
    rest = b""
    while chunk := read(_CHUNK):
        if len(rest) > MAX_LINE and b"\n" not in chunk:
            continue  # the line is too long and is rejected when it ends
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
    """Converter of request lines to answer lines, with defaults for keys that a line omits."""

    macros: Mapping[str, str]
    """Macros for all formulas. The macros of a line take precedence."""
    display: bool
    """Default for a line without `display`."""
    packages: frozenset[str]
    """Default LaTeX packages for a line without `packages`."""
    decode: Callable[[str], Any]
    encode: Callable[[Any], str]
    convert: Convert | None = None
    """Converter of a plugin; None: our own."""

    def __call__(self, line: bytes) -> bytes:
        """Return the answer to one line, including the line end."""
        answer = self._answer(line)
        try:
            text = self.encode(answer)
        except (ValueError, RecursionError):  # infinite, or nested too deeply to be written
            text = self.encode({"id": None, "error": "the id cannot be written as JSON"})
        # A lone surrogate is valid in JSON but not in UTF-8, so it stays escaped.
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
    macros: Mapping[str, str],
    *,
    display: bool = False,
    packages: frozenset[str] = frozenset(),
    convert: Convert | None = None,
) -> Answerer:
    """Return an `Answerer` with strict JSON: NaN and Infinity are rejected in both directions."""
    decoder = json.JSONDecoder(parse_constant=_reject_constant)
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
    return Answerer(macros, display, packages, decoder.decode, encoder.encode, convert)


def with_backslashes(macros: Mapping[str, str]) -> dict[str, str]:
    r"""Return the macros under their TeX names: `RR` becomes `\RR`; a character such as `ℝ` is unchanged."""
    return {f"\\{name}" if name.isascii() and name.isalpha() else name: macros[name] for name in macros}


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f'"{word}" is not valid JSON')


def _problem(tex: object, display: object, macros: object, packages: object) -> str:
    """Return the first type error in a request, or an empty string."""
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
