"""Checks for every formula: a result or a `TexError`, fast, safe, and the same twice."""

from __future__ import annotations

import re
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import html5lib

from blogsmith.tex.analysis.linear import linear_text
from blogsmith.tex.analysis.numbering import split_rows
from blogsmith.tex.convert import TexError, convert_formula
from blogsmith.tex.errors import Kind
from blogsmith.tex.parse.state import RowNumber

from .fuzz_formulas import Case

LIMIT_S = 1.0
"""Seconds of processor time for one formula."""

_ELEMENTS = """
a annotation b code i math menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts
mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover none semantics span
"""
_ATTRIBUTES = """
aria-label accent accentunder alttext arg class columnalign columnlines columnspacing columnspan depth dir
display displaystyle encoding fence form frame height href id intent largeop linethickness lspace
mathbackground mathcolor mathsize mathvariant maxsize minsize movablelimits notation rowlines rowspacing
rowspan rspace scriptlevel separator stretchy style symmetric voffset width
"""
ELEMENTS = frozenset(_ELEMENTS.split())
ATTRIBUTES = frozenset(_ATTRIBUTES.split())
_FORBIDDEN_STYLE = re.compile(
    r"url|expression|import|position|content|behavior|\\|[<>\"'{}@]|/\*", re.IGNORECASE
)
DRAWN_VALUE = re.compile(r"(?:[MLCQ\d. -]|em)*|none|round|true|currentColor|#\w+|max-width:none")
"""Value of an attribute of the arrows of a diagram."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_SCHEMES = frozenset(("http", "https", "mailto"))
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Answer:
    """The converter's answer to a case."""

    mathml: str = ""
    defined: tuple[tuple[str, object], ...] = ()
    """The macros defined by the formula."""
    error: TexError | None = None

    @property
    def said(self) -> tuple[object, ...]:
        """Return everything to compare."""
        error = self.error
        place = (error.kind, error.offset, error.length, error.message, error.hint) if error else ()
        return self.mathml, self.defined, *place


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a case."""

    fault: str
    """A short name of the fault, the same for all cases with this fault; empty if there is none."""
    typeset: bool
    """Whether the formula was accepted."""


def judge(case: Case, *, thorough: bool = False) -> Verdict:
    """Convert `case` and check all rules.

    thorough: also check that an HTML parser reads the same tree; slow.
    """
    started, depth = time.process_time(), sys.getrecursionlimit()
    try:
        answer = convert(case)
    except Exception as error:  # any exception is a fault
        return Verdict(_raised(error), False)
    if sys.getrecursionlimit() != depth:
        return Verdict("another limit for recursion", answer.error is None)
    if time.process_time() - started > LIMIT_S:
        return Verdict(f"slow: {case.family}", answer.error is None)
    return Verdict(next(_faults(case, answer, thorough), ""), answer.error is None)


def convert(case: Case) -> Answer:
    """Return the converter's answer. Exceptions other than `TexError` are not caught."""
    rows = [RowNumber(number, f"eq-{at}") if number else None for at, number in enumerate(case.numbers)]
    try:
        made = convert_formula(
            case.tex, display=case.display, macros=case.macros, rows=rows, packages=case.packages
        )
    except TexError as error:
        return Answer(error=error)
    return Answer(made.mathml, tuple(made.macros.items()))


def _raised(error: Exception) -> str:
    """Return the exception type and its innermost line in our code; useless after a stack overflow."""
    if isinstance(error, RecursionError):
        return "RecursionError"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "blogsmith" in frame.filename]
    place = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"


def _faults(case: Case, answer: Answer, thorough: bool) -> Iterator[str]:
    yield from _faulty_readers(case)
    if answer.error:
        yield from _faulty_error(case, answer.error)
    elif answer.mathml or not answer.defined:
        yield from _faulty_markup(case, answer.mathml, thorough)
    try:
        if convert(case).said != answer.said:
            yield "another answer the second time"
    except Exception as error:
        yield f"the second time {_raised(error)}"


def _faulty_readers(case: Case) -> Iterator[str]:
    """Check the two other readers of formulas, which must accept every formula."""
    started = time.process_time()
    try:
        linear_text(case.tex)
        split_rows(case.tex)
    except Exception as error:
        yield _raised(error)
    if time.process_time() - started > LIMIT_S:
        yield f"slow readers: {case.family}"


def _faulty_error(case: Case, error: TexError) -> Iterator[str]:
    if error.kind not in get_args(Kind):
        yield f"error of unknown kind {error.kind}"
    if not 0 <= error.offset <= len(case.tex) or error.offset + error.length > len(case.tex) + 1:
        yield f"error {error.kind} points outside of the formula"
    if not error.message.strip() or "\n" in error.message:
        yield f"error {error.kind} is no line of text"


def _faulty_markup(case: Case, markup: str, thorough: bool) -> Iterator[str]:
    if _UNPRINTABLE.search(markup):
        yield "a character that no page may hold"
    try:
        root = ElementTree.fromstring(markup)
    except ElementTree.ParseError as error:
        yield f"no XML: {str(error).partition(':')[0]}"
        return
    whole = root
    if root.tag == "a" and len(root) == 1:  # a formula that is one link
        root = root[0]
    if root.tag != "math":
        yield f"root is {root.tag}"
    for element in whole.iter():
        yield from _faulty_element(element)
    if not _UNPRINTABLE.search(case.tex) and not _is_spelt(case.tex, root.get("alttext", "")):
        yield "alttext is not the formula"
    if thorough:
        yield from _read_otherwise(markup, whole)


def _faulty_element(element: ElementTree.Element) -> Iterator[str]:
    if element.tag in ("svg", "path"):
        # the arrows of a diagram
        wrong = (name for name, value in element.attrib.items() if not DRAWN_VALUE.fullmatch(value))
        yield from (f"attribute {name} of a drawing" for name in wrong)
        yield from (f"element {inner.tag} in a drawing" for inner in element if inner.tag != "path")
        return
    if element.tag not in ELEMENTS:
        yield f"element {element.tag}"
    for name, value in element.attrib.items():
        if name not in ATTRIBUTES:
            yield f"attribute {name}"
        elif name == "href" and not _is_harmless(value):
            yield "a forbidden address"
        elif name == "style" and _FORBIDDEN_STYLE.search(value):
            yield "a forbidden style"
        elif name == "id" and (not value or _SPACES.search(value)):
            yield "an id with spaces"
    if element.tag in ("mfrac", "mroot", "msub", "msup", "munder", "mover") and len(element) != 2:
        yield f"{element.tag} with {len(element)} parts"
    if element.tag in ("msubsup", "munderover") and len(element) != 3:
        yield f"{element.tag} with {len(element)} parts"


def _is_harmless(address: str) -> bool:
    # browsers drop control characters and spaces before they read the scheme
    scheme = _SCHEME.match(re.sub(r"[\x00-\x20]", "", address))
    return scheme is None or scheme.group(1).lower() in _SCHEMES


def _is_spelt(tex: str, alttext: str) -> bool:
    return _SPACES.sub(" ", tex).strip() == _SPACES.sub(" ", alttext).strip()


def _read_otherwise(markup: str, root: ElementTree.Element) -> Iterator[str]:
    """Check that HTML and XML parsers see the same tree, so that nothing breaks out."""
    document: Any = html5lib.parse(f"<p>{markup}</p>", namespaceHTMLElements=False)
    body = document.find("body")
    if len(body) != 1 or len(body[0]) != 1 or [*_outline(body[0][0])] != [*_outline(root)]:
        yield "HTML reads another tree"


def _outline(root: Any) -> Iterator[tuple[int, str]]:
    """Yield depth and name of every element, in document order."""
    waiting = [(0, root)]
    while waiting:
        depth, element = waiting.pop()
        yield depth, str(element.tag).rpartition("}")[2]
        waiting += [(depth + 1, child) for child in reversed(element)]
