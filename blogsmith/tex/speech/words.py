"""Words of a formula, made from its MathML with the wording of ClearSpeak, and names in HTML made of these
words.

Source of the wording: ClearSpeak rules and preferences, Educational Testing Service,
https://docs.mathjax.org/en/latest/_static/ClearSpeakRulesAndPreferences.pdf. Words such as "end root"
announce the end of any part longer than a symbol with scripts, because a name has no pauses that could show
it.

An element around the formula has the name, never `<math>` itself: a name there would hide the formula from
software that explores it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape, unescape
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

from ...base.html_tags import read_text
from ...base.patterns import lazy_pattern
from ..analysis.linear import linear_text
from .rows import (
    BRACKETS,
    GROUPS,
    LEAVES,
    SCRIPTS,
    SILENT,
    base_of,
    find_closing,
    find_condition,
    find_end,
    flatten,
    is_in_parentheses,
    is_simple,
    is_simple_row,
    text_of,
)

_EDGE = lazy_pattern(r"<(/?)math\b[^>]*>")
_TEX = (lazy_pattern(r' data-tex="([^"]*)"'), lazy_pattern(r' alttext="([^"]*)"'))
_NAMED = lazy_pattern(r'<span role="img" aria-label="([^"]*)"><math\b.*?</math></span>', re.DOTALL)


def name_formulas(html: str, language: str) -> str:
    """Return HTML with a name for each formula, in the words of a language (BCP 47 tag).

    If the language has no table, the name is the linear form, as in `sqrt(d_k)`, because a voice would read
    words of another language with wrong sounds.
    """
    pieces: list[str] = []
    depth = start = end = 0
    for edge in _EDGE.finditer(html):
        if not edge[1]:
            start = start if depth else edge.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:  # text in a formula may contain another one
                pieces += [html[end:start], _name(html[start : edge.end()], language)]
                end = edge.end()
    return "".join((*pieces, html[end:]))


def _name(math: str, language: str) -> str:
    try:
        words = formula_words(math, language)
    except ParseError:  # a plugin typesets formulas, and its markup is HTML
        words = ""
    if not words:
        tex = next((found[1] for pattern in _TEX if (found := pattern.search(math))), "")
        words = linear_text(unescape(tex))
    return f'<span role="img" aria-label="{escape(words)}">{math}</span>' if words else math


def spoken_text(text: str, html: str) -> str:
    """Return a title with the names of its formulas, for software that shows neither HTML nor MathML.

    text: the title as plain text. html: the title as HTML, with named formulas; empty if it has no formula.
    """
    named, end = "", 0
    for found in _NAMED.finditer(html):
        named += html[end : found.start()]
        name, end = _without_repetition(read_text(named), found[1]), found.end()
        named += name
    return " ".join(read_text(named + html[end:]).split()) if named else text


def _without_repetition(before: str, name: str) -> str:
    """Return the name without its first words if `before`, the text before the formula, ends with them, as in
    "The norm" before "the norm of x"."""
    known, words = before.lower().split(), name.split()
    for start in (0, 1):  # without the article, too
        for end in range(len(words) - 1, start, -1):
            if words[end] in _AFTER_NOUNS and known[start - end :] == words[start:end]:
                return " ".join(words[end:])
    return name


_AFTER_NOUNS = ("of", "from", "over", "von", "aus")
"""Words that can follow the name of a function, in the tables of all languages."""
_FOLDER = Path(__file__).parent
_CALL = lazy_pattern(r"\$?([\w-]+)((?::[\w-]+)*)\s*(\(?)")
_INTERVALS: Mapping[str, str] = {"[)": "closed-open-interval", "(]": "open-closed-interval"}
_CONDITIONS = ("|", "∣", "‖", "∥")
_CHARGE = lazy_pattern(r"\d+[+−]")
_SELECTORS = {0xFE00: None, 0xFE01: None}
"""Variation selectors. They are removed, because voices read them as unknown characters."""
_FACES = ("double-struck", "bold", "script", "fraktur", "sans-serif", "monospace")
_FUNCTIONS = ("f", "g", "h")
"""Letters that ClearSpeak reads as functions if parentheses follow."""
_SUFFIX = lazy_pattern(r" -(?=[^\W\d])")
_MAX_DEPTH = 60


@lru_cache(maxsize=4)
def read_table(language: str) -> Mapping[str, str]:
    """Return the table of a language: key → words. Empty if there is none.

    language: BCP 47 tag; only its first part is used.
    """
    file = _FOLDER / f"{language.partition('-')[0].lower()}.txt"
    if not file.stem.isalpha() or not file.is_file():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("\t") for line in lines if line and line[0] != "#")
    return {key: words for key, _, words in pairs}


def formula_words(mathml: str, language: str) -> str:
    """Return the words of a formula; an empty string if the language has no table.

    mathml: One `<math>` element of our converter.
    """
    table = read_table(language)
    if not table:
        return ""
    row = flatten([fromstring(mathml)])
    if row and text_of(row[-1]) == ".":  # of the sentence around it
        del row[-1]
    words = " ".join(_Speaker(table).row(row).split())
    words = words.replace(" ,", ",").replace(" ;", ";").replace(",,", ",")
    return _SUFFIX.sub("-", words).strip(" ,;")


class _Speaker:
    """Converter from the elements of one formula to words."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table
        self._depth = 0

    def say(self, element: Element) -> str:
        """Return the words of one element."""
        return self.row([element])

    def row(self, elements: Sequence[Element]) -> str:
        """Return the words of a row of elements."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            said = " ".join("".join(one.itertext()) for one in elements)
        else:
            row = [*flatten(elements)]
            parts: list[str] = []
            index = 0
            while index < len(row):
                words, index = self._item(row, index)
                parts.append(words)
            said = " ".join(part for part in parts if part)
        self._depth -= 1
        return said

    def _fill(self, key: str, *parts: str) -> str:
        return self._table[key].format(*parts)

    def _item(self, row: Sequence[Element], index: int) -> tuple[str, int]:
        """Return the words of the item at `index`, of one or more elements, and the index after the item."""
        element, text = row[index], text_of(row[index])
        if text in BRACKETS and (end := find_closing(row, index)):
            return self._within(row[index : end + 1], row[end]), end + 1
        if text in _CONDITIONS and (key := find_condition(row, index)):
            return self._table[key], index + 1
        if text in ("[", "(") and (end := find_end(row, index)) < len(row):
            commas = [one for one in range(index + 2, end - 1) if text_of(row[one]) == ","]
            key = _INTERVALS.get(text + text_of(row[end]), "")
            if key and len(commas) == 1:
                ends = (self.row(row[index + 1 : commas[0]]), self.row(row[commas[0] + 1 : end]))
                return self._fill(f"intent {key}", *ends), end + 1
        if text == "(" and index and text_of(base_of(row[index - 1])) in _FUNCTIONS:
            if index + 2 < len(row) and text_of(row[index + 2]) == ")" and is_simple(row[index + 1]):
                return f"{self._table['of']} {self.say(row[index + 1])}", index + 3
            return f"{self._table['of']} {self._table[text]}", index + 1
        matrix = row[index + 1] if index + 2 < len(row) else None
        if text in ("(", "[", "|", "‖") and matrix is not None and matrix.tag == "mtable":
            kind = "determinant" if text == "|" else "matrix"
            if text_of(base_of(row[index + 2])) in (")", "]", "|", "‖"):
                name = self._matrix(matrix, kind)
                last = row[index + 2]
                return (self._scripts(last, name) if last.tag in SCRIPTS else name), index + 3
        return self._element(element), index + 1

    def _within(self, row: Sequence[Element], scripted: Element) -> str:
        """Return the words of a norm, an absolute value or the like. row: its elements, with the delimiters.
        scripted: last element of the row, or the element with scripts that contains the row."""
        inner, concept = row[1:-1], BRACKETS[text_of(row[0])][1]
        has_scripts = scripted.tag in SCRIPTS
        is_dot = len(inner) == 1 and text_of(inner[0]) in ("⋅", "·")
        words = self._table["argument"] if is_dot else self.row(inner)
        low = scripted[1] if has_scripts and "sub" in scripted.tag else None
        if concept == "norm" and low is not None:
            name = self._fill("norm of kind", words, self.say(low))
            has_scripts = scripted.tag == "msubsup"
        else:
            name, low = self._fill(f"intent {concept}", words), None
        if has_scripts or not (is_dot or is_simple_row(inner)):
            name += self._table[f"end {concept}"]
        if not has_scripts:
            return name
        return self._scripts(scripted, name) if low is None else self._power(name, scripted[2])

    def _element(self, element: Element) -> str:
        tag = element.tag
        if (intent := element.get("intent")) and (said := self._intent(intent, element)):
            return said
        if tag in LEAVES:
            return self._leaf(element)
        if tag in SILENT:
            return ""
        if tag == "mfrac":
            return self._fraction(*element) if element.get("linethickness") != "0" else self._stack(element)
        if tag in ("msqrt", "mroot"):
            return self._root(element)
        if tag in SCRIPTS:
            return self._scripts(element, "")
        if tag == "mmultiscripts":
            return self._multiscripts(element)
        if tag == "mtable":
            return "; ".join(filter(None, (self.row([*line]) for line in element)))
        frame = element.get("class", "")
        words = self.row([*element])
        if element.get("intent") == ":unit":
            words = words.replace(f" {self._table['/']} ", f" {self._table['per']} ")
        return self._fill(frame, words) if frame in self._table else words

    def _intent(self, intent: str, element: Element) -> str:
        """Return the words of an intent such as `norm($x)`; an empty string if the table lacks it."""
        parts = {one.get("arg"): one for one in element.iter() if one.get("arg")}

        def read(position: int) -> tuple[str, int]:
            found = _CALL.match(intent, position)
            if found is None:
                return "", len(intent)
            if found[0].startswith("$"):
                part = parts.get(found[1])
                return ("" if part is None else self._part(part)), found.end(2)
            position, given = found.end(), list[str]()
            while found[3] and position < len(intent) and intent[position - 1] != ")":
                word, position = read(position)
                given.append(word)
                position += 1
            key = f"intent {found[1]}"
            return (self._fill(key, *given) if key in self._table and all(given) else ""), position

        return read(0)[0]

    def _part(self, element: Element) -> str:
        """Return the words of an argument of an intent."""
        return self.row([*element]) if element.tag in GROUPS else self._element(element)

    def _leaf(self, element: Element) -> str:
        text = " ".join("".join(element.itertext()).translate(_SELECTORS).split())
        if element.tag == "mtext":
            return self._table.get(text, text)
        if text in self._table:
            return self._table[text]
        if element.tag == "mn" or len(text) > 1:
            return self._letter(text) if len(text) == 1 else unicodedata.normalize("NFKC", text)
        return self._letter(text) if text else ""

    def _letter(self, letter: str) -> str:
        """Return the words of one character: its typeface, its case and its name."""
        plain = unicodedata.normalize("NFKC", letter)
        name = unicodedata.name(letter, "").replace("BLACK-LETTER", "FRAKTUR")
        faces = [self._table[face] for face in _FACES if face.upper() in name.split()]
        found = self._table.get(plain, "")
        if not found and plain.isalpha():
            found = _letter_name(plain)
            if plain.isupper():
                found = self._fill("capital", found)
        return " ".join((*faces, found or plain))

    def _fraction(self, above: Element, below: Element) -> str:
        number = f"{text_of(above)}/{text_of(below)}"
        if number in self._table:
            return self._table[number]
        key = "over" if is_simple(above) and is_simple(below) else "fraction"
        return self._fill(key, self.say(above), self.say(below))

    def _stack(self, element: Element) -> str:
        return ", ".join(self.say(part) for part in element)

    def _root(self, element: Element) -> str:
        if element.tag == "msqrt":
            radicand, key = self.row([*element]), "square root"
            is_short = is_simple(element)
        else:
            radicand, is_short = self.say(element[0]), is_simple(element[0])
            key = "cube root" if text_of(element[1]) == "3" else "root"
        words = self._fill(key, radicand, self._ordinal(element[1]) if key == "root" else "")
        return words if is_short else f"{words}{self._table['end root']}"

    def _ordinal(self, element: Element) -> str:
        text = text_of(element)
        found = self._table.get(f"ordinal {text}")
        return found or self._fill("ordinal", self.say(element))

    def _scripts(self, element: Element, name: str) -> str:
        """Return the words of a base with scripts. name: words of the base; empty if not known yet."""
        base, scripts = element[0], [*element[1:]]
        low = scripts[0] if "sub" in element.tag or "under" in element.tag else None
        high = scripts[-1] if "sup" in element.tag or "over" in element.tag else None
        text = text_of(base)
        row = () if name else flatten([base])
        if len(row) > 2 and text_of(row[0]) in BRACKETS and find_closing(row, 0) == len(row) - 1:
            return self._within(row, element)
        if element.tag in ("mover", "munder") and (key := f"mark {text_of(scripts[0])}") in self._table:
            said = self.say(base)
            if is_simple(base):
                return self._fill(key, said)
            return self._fill(key, self._fill("quantity", said)) + ","
        if f"large {text}" in self._table:
            return self._large(self._table[f"large {text}"], low, high)
        said = name or self._table.get(f"plain {text}") or self.say(base)
        if "under" in element.tag or "over" in element.tag:
            # arrows may have empty labels
            for key, part in (("below", low), ("above", high)):
                if part is not None and (words := self.say(part)):
                    said = self._fill(key, said, words)
            return said
        if text == "log" and low is not None:
            said, low = self._fill("log base", self.say(low)), None
        if low is not None:
            said = self._fill("sub" if is_simple(low) else "long sub", said, self.say(low))
        return said if high is None else self._power(said, high)

    def _power(self, base: str, high: Element) -> str:
        text = text_of(high)
        if (key := f"power {text}") in self._table:
            return self._fill(key, base)
        if text == "−1" and base in _FUNCTIONS:
            return self._fill("intent inverse", base)
        if _CHARGE.fullmatch(text):
            return self._fill("charge", base, self.say(high))
        if is_in_parentheses(high):
            return self._fill("superscript", base, self.say(high))
        if all(sign in "′″‴⁗" for sign in text):
            return f"{base} {self.say(high)}"
        if high.tag in LEAVES:
            return self._fill("power", base, self._ordinal(high), self.say(high))
        return self._fill("simple power" if is_simple(high) else "long power", base, self.say(high))

    def _large(self, name: str, low: Element | None, high: Element | None) -> str:
        if low is not None and name == self._table["large lim"]:
            words = self.say(low).replace(self._table["→"], self._table["approaches"])
            return self._fill("limit", words)
        if low is None:
            return self._fill("large", name) if high is None else self._fill("large to", name, self.say(high))
        if high is None:
            return self._fill("large over", name, self.say(low))
        return self._fill("large from", name, self.say(low), self.say(high))

    def _multiscripts(self, element: Element) -> str:
        said = self.say(element[0])
        scripts = [*element[1:]]
        cut = next((n for n, one in enumerate(scripts) if one.tag == "mprescripts"), len(scripts))
        for low, high in zip(scripts[cut + 1 :: 2], scripts[cut + 2 :: 2], strict=False):
            before = [self._fill("before", words) for words in (self.say(high), self.say(low)) if words]
            said = " ".join((*before, said))
        for low, high in zip(scripts[:cut:2], scripts[1:cut:2], strict=False):
            if words := self.say(low):
                said = self._fill("sub", said, words)
            if self.say(high):
                said = self._power(said, high)
        return said

    def _matrix(self, table: Element, kind: str) -> str:
        rows = [[self.say(cell) for cell in line] for line in table]
        size = self._fill(kind, str(len(rows)), str(max(map(len, rows), default=0)))
        lines = (self._fill("row", str(n), ", ".join(cells)) for n, cells in enumerate(rows, 1))
        return "; ".join((size, *lines)) + self._table["end matrix"]


def _letter_name(letter: str) -> str:
    """Return the name of a Greek letter, or the letter itself."""
    # normalization spells ligatures as several letters
    name = unicodedata.name(letter, "") if len(letter) == 1 else ""
    if not name.startswith("GREEK"):
        return letter
    return name.rpartition(" ")[2].lower().replace("lamda", "lambda")
