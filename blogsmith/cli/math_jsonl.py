"""Formulas as a conversation: a line of JSON in, a line of JSON out, for editors and scripts.

Asked `{"id", "tex", "display", "macros", "packages"}`, of which only `tex` must be there, each line is
answered in its turn by `{"id", "mathml"}` or `{"id", "error", "kind", "offset", "length", "hint"}`, where
offset and length count characters of `tex`. There is exactly one answer to every line, whatever it
holds: nothing a line says ends the conversation. What no line could be blamed for is not answered
(output that nobody reads), it ends it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ..tex.analysis.tags import convert_alone
from ..tex.convert import Convert
from ..tex.errors import TexError

MAX_LINE = 4_000_000
"""Bytes of a line: the longest formula that is read, in escapes, and macros as long again."""
_CHUNK = 1 << 16
_PATIENCE_S = 0.01
"""How long an answer waits for those behind it; one write for many saves a tenth of the time."""


def converse(
    read: Callable[[int], bytes],
    write: Callable[[bytes], object],
    answer: Callable[[bytes], bytes],
    seconds: Callable[[], float] = time.perf_counter,
) -> None:
    """Answer every line until the input ends.

    read: at most so many bytes, without waiting for more than the first; b"" at the end.
    write: to the reader at once. Who waits for an answer before the next question therefore gets it.
    """
    rest = b""
    while chunk := read(_CHUNK):
        if len(rest) > MAX_LINE and b"\n" not in chunk:
            continue  # `rest` is refused already, as soon as its line ends
        *lines, rest = (rest + chunk).split(b"\n")
        waiting: list[bytes] = []
        since = seconds()
        for line in lines:
            waiting.append(answer(line))
            if seconds() - since > _PATIENCE_S:
                write(b"".join(waiting))
                waiting, since = [], seconds()
        if waiting:
            write(b"".join(waiting))
    if rest:
        write(answer(rest))


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers lines; knows what counts where a line says nothing."""

    macros: Mapping[str, str]
    """Known to every formula; those of a line come on top."""
    display: bool
    """For a line without `display`."""
    packages: frozenset[str]
    """LaTeX packages, for a line without `packages`."""
    decode: Callable[[str], Any]
    encode: Callable[[Any], str]
    convert: Convert | None = None
    """What typesets; None: blogsmith."""

    def __call__(self, line: bytes) -> bytes:
        """The answer to one line, with its line end."""
        answer = self._answer(line)
        try:
            text = self.encode(answer)
        except (ValueError, RecursionError):  # infinite, or nested as deep as can be read but not written
            text = self.encode({"id": None, "error": "the id cannot be written as JSON"})
        # half of a surrogate pair, which JSON can name and UTF-8 cannot hold, stays the escape it was
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
            formula = convert_alone(
                str(tex),
                display=self.display if display is None else display,
                macros=known,
                packages=frozenset(packages) if packages else self.packages,
                convert=self.convert,
            )
        except TexError as error:
            return _as_answer(error)
        except Exception as error:  # an internal error, which must not take the other formulas with it
            return {"error": f"blogsmith has a bug: {type(error).__name__}: {error}"}
        return {"mathml": formula.mathml}


def answerer(
    macros: Mapping[str, str],
    *,
    display: bool = False,
    packages: frozenset[str] = frozenset(),
    convert: Convert | None = None,
) -> Answerer:
    """An `Answerer` whose JSON is strict both ways: NaN and Infinity are none."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
    return Answerer(macros, display, packages, decoder.decode, encoder.encode, convert)


def with_backslashes(macros: Mapping[str, str]) -> dict[str, str]:
    """The macros under the names TeX has for them: `RR` is `\\RR`; a sign such as `ℝ` stays itself."""
    return {f"\\{name}" if name.isascii() and name.isalpha() else name: macros[name] for name in macros}


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _problem(tex: object, display: object, macros: object, packages: object) -> str:
    """What of a question has the wrong type; empty if nothing has."""
    if not isinstance(tex, str):
        return "tex must be a text"
    if display is not None and not isinstance(display, bool):
        return "display must be true or false"
    if macros is not None and not (
        isinstance(macros, dict) and all(isinstance(body, str) for body in macros.values())
    ):
        return "macros must be an object of texts"
    if packages is not None and not (
        isinstance(packages, list) and all(isinstance(name, str) for name in packages)
    ):
        return "packages must be a list of texts"
    return ""


def _as_answer(error: TexError) -> dict[str, Any]:
    answer = {"error": error.message, "kind": error.kind, "offset": error.offset, "length": error.length}
    return {**answer, "hint": error.hint} if error.hint else answer
