"""A generated course whose numbered parts and references have keys, and the numbers shown for them.

A key such as `q3x7az` is the seventh of the third lecture. One function reads numbers from the text of a page
and from the text of a PDF, so both can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from blogsmith.paper.elements import HtmlElement, read_elements

SERIES = "Analysis"
_SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><path d="M0 0h80v{height}z"/></svg>'
_SETTINGS = f"""\
title: Course
base_url: https://example.org
author: Ada Lovelace
series: {{{SERIES}: {{numbering: by part, solutions: {{show: end}}}}}}
"""
_KINDS = ("THEOREM", "LEMMA", "DEFINITION", "COROLLARY", "PROPOSITION")
_LABEL = "Theorem|Lemma|Definition|Corollary|Proposition|Exercise|Figure|Table"
_NUMBER = rf"((?:(?:{_LABEL})\s?)?[\[(]?\d+(?:\.\d+)*(?:,\s?\d+)*[\])]?)"
_INLINE = ("a", "cite", "span", "sup")
_KEY = re.compile(r"q\d+x\d+([ab])z")


def course(lectures: int) -> dict[str, str]:
    """Return the files of a site with one series of lectures."""
    files = {"blogsmith.yaml": _SETTINGS}
    for part in range(1, lectures + 1):
        files[f"content/lectures/l{part}/index.md"] = _Lecture(part).text()
        files[f"content/lectures/l{part}/plot.svg"] = _SVG.format(height=part)
    return files


class _Lecture:
    """Writer of one lecture. The shape of each section depends on the numbers of lecture and section only."""

    def __init__(self, part: int) -> None:
        self._part = part
        self._keys = 0

    def key(self, side: str) -> str:
        """Return a new key. side: `a` if the number follows the key, `b` if it precedes it."""
        self._keys += 1
        return f"q{self._part}x{self._keys}{side}z"

    def text(self) -> str:
        part = self._part
        works = "".join(
            f"  - {{id: w{n}, author: {self.key('b')}, title: Work {n}, year: {1900 + n}}}\n"
            for n in range(1, 4)
        )
        head = (
            f"---\ntitle: Lecture on topic {chr(64 + part % 26)}{part}\ndate: 2026-01-{part:02}\n"
            f"series: {{name: {SERIES}, part: {part}}}\nreferences:\n{works}---\n"
        )
        return head + "\n".join("\n\n".join(self._section(n)) for n in range(1, 5))

    def _section(self, n: int) -> Iterator[str]:
        part, a, b = self._part, partial(self.key, "a"), partial(self.key, "b")
        yield f"## {b()} in {n} steps"
        yield f"$$ \\sum_{{i=1}}^{{{n}}} x_i \\le \\text{{{a()}}} \\label{{eq:s{n}}} $$"
        if n % 2:
            rows = "\\\\ ".join(f"a_{row} &= b + \\text{{{a()}}} \\label{{eq:r{n}{row}}}" for row in (1, 2))
            yield f"\\begin{{align}} {rows} \\end{{align}}"
        kind = _KINDS[(part + n) % len(_KINDS)]
        yield f"> [!{kind}] {b()} {{#thm-t{n}}}\n> Let $x \\in A_{{{n}}}$.[^t{n}]\n>\n> 1. one\n> 2. two"
        yield f"> [!PROOF]\n> By {a()} \\eqref{{eq:s{n}}} it holds."
        yield f'![A plot](plot.svg "{b()} caption"){{#fig-f{n}}}'
        yield f"| name | value |\n| --- | --: |\n| one | 1 |\n\n: {b()} rows {{#tbl-d{n}}}"
        yield f"> [!EXERCISE] {b()} {{#exr:e{n}}}\n> Show $a = b$ for $n = {n}$."
        yield "> [!SOLUTION]\n> Trivial."
        targets = [f"@eq:s{n}", f"{{@thm-t{n}}}", f"{{@fig-f{n}}}", f"{{@tbl-d{n}}}", f"{{@exr-e{n}}}"]
        targets += [f"[@w{1 + n % 3}]", "[@w1; @w2]"]
        if part > 1:
            targets.append(f"{{@l{part - 1}#thm-t{n}}}")
        yield "\n".join(f"See {a()} {target} there." for target in targets)
        yield f"Noted {a()}[^n{n}] and once more {a()}[^t{n}] there."
        yield f"[^n{n}]: {b()} is a note with $y$.\n\n[^t{n}]: {b()} is a note of a statement."


def page_text(html: str) -> str:
    """Return the text of a page, with the numbers of the items of its notes and references."""
    return " ".join(_texts(read_elements(html)))


def _texts(element: HtmlElement) -> Iterator[str]:
    counts = element.name == "ol"
    number = 0
    for child in element.children:
        if isinstance(child, str):
            yield child
            continue
        if counts and child.name == "li":
            number += 1
            yield f" {number} "
        yield "".join(_texts(child)) if child.name in _INLINE else f"{' '.join(_texts(child))} "


def numbers(text: str) -> dict[str, set[str]]:
    """Return the numbers of each key of a text."""
    found: dict[str, set[str]] = {}
    # LaTeX hyphenates words
    text = re.sub(r"(?<=[a-z])- (?=[a-z])", "", re.sub(r"\s+", " ", text))
    for key in _KEY.finditer(text):
        if key[1] == "a":
            number = re.compile(rf"\s*{_NUMBER}").match(text, key.end())
        else:
            number = re.search(rf"{_NUMBER}[\s:(\].·]*$", text[max(0, key.start() - 40) : key.start()])
        if number:
            found.setdefault(key[0], set()).add(re.sub(r"[\s()\[\]]", "", number[1]))
    return found
