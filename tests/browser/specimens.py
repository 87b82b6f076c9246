"""Pages cut down to one block of each kind: a browser sees every kind of element once, and few of them twice.

What an element is like, and below what it stands, is its kind. A page that has no kind of its own is left out.
Headings stay, so that their order does; so does what other elements are named by.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_TAG = re.compile(r"""<(/?)([a-zA-Z][\w-]*)((?:[^<>"']|"[^"]*"|'[^']*')*)>|<!--.*?-->""", re.DOTALL)
_ATTRIBUTE = re.compile(r'([\w:-]+)(?:="([^"]*)")?')
_HEADING = re.compile(r"<h[1-6][ >]")
_NAMED_BY = re.compile(r'\baria-(?:labelledby|describedby|controls|details)="([^"]+)"')
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_TOLD_BY_VALUE = frozenset(
    # what style sheets and accessibility rules ask for by its value
    (
        *("aria-current", "aria-selected", "data-icon", "data-kind", "data-status", "data-toc", "dir"),
        *(
            "display",
            "displaystyle",
            "form",
            "lang",
            "linethickness",
            "minsize",
            "rel",
            "role",
            "scope",
            "type",
        ),
    )
)
_TEXT = ".post-content"


@dataclass(slots=True)
class _Element:
    tag: str
    kind: str
    start: int
    is_first: bool
    """Of those in its parent."""
    is_block: bool
    """Whether its parent is the text of the page."""
    end: int = 0
    after: int = 0
    """The number of the next element that it does not contain."""


def kinds(html: str) -> frozenset[str]:
    """The kinds of the elements of a page."""
    return frozenset(element.kind for element in _elements(html))


def specimens(pages: Mapping[str, str]) -> dict[str, str]:
    """Path → HTML of the pages that have kinds of their own, each cut down to these; the richest comes first."""
    read = {path: list(_elements(html)) for path, html in pages.items()}
    known: set[str] = set()
    cut = {}
    for path in sorted(read, key=lambda path: (-len({element.kind for element in read[path]}), path)):
        if not known.issuperset(element.kind for element in read[path]):
            cut[path] = _without(pages[path], _known_parts(pages[path], read[path], known))
    return cut


def write_specimens(site: Path, pages: Mapping[str, str], folder: Path) -> None:
    """A copy of a built site in which only the specimens of `pages`, by path, are pages."""
    shutil.copytree(site, folder, copy_function=os.link, ignore=shutil.ignore_patterns("*.html"))
    for path, html in specimens(pages).items():
        file = folder / path.removeprefix("/")
        file = file / "index.html" if path.endswith("/") else file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(html, "utf-8")


def _known_parts(html: str, elements: list[_Element], known: set[str]) -> Iterator[tuple[int, int]]:
    """What can go: blocks, lines of code, items and rows with nothing new. `known` grows by what stays."""
    needed = {name for names in _NAMED_BY.findall(html) for name in names.split()}
    number = 0
    while number < len(elements):
        element = elements[number]
        inside = (one.kind for one in elements[number : element.after])
        if _may_go(element, html[element.start : element.end], needed) and known.issuperset(inside):
            yield element.start, element.end
            number = element.after
        else:
            known.add(element.kind)
            number += 1


def _may_go(element: _Element, html: str, needed: set[str]) -> bool:
    above, _, own = element.kind.rpartition(" > ")
    is_one_of_many = element.tag in ("li", "tr") or ".line" in own.split() or above.startswith("details")
    is_repeated = is_one_of_many and not element.is_first
    if not (element.is_block or is_repeated) or _HEADING.search(html):
        return False
    return not needed.intersection(re.findall(r'\bid="([^"]+)"', html))


def _without(html: str, parts: Iterator[tuple[int, int]]) -> str:
    pieces, last = [], 0
    for start, end in parts:
        pieces.append(html[last:start])
        last = end
    return "".join([*pieces, html[last:]])


def _elements(html: str) -> Iterator[_Element]:
    """The elements of a page in the order of their beginnings, as our own pages have them: each is closed."""
    found: list[_Element] = []
    open_ones: list[_Element] = []
    for match in _TAG.finditer(html):
        if match[2] is None:
            continue
        if match[1]:
            _close(open_ones, match[2], match.end(), len(found))
            continue
        parent = open_ones[-1] if open_ones else None
        element = _opened(match, parent, found)
        found.append(element)
        element.end, element.after = match.end(), len(found)
        if match[2] not in _VOID and not match[3].endswith("/"):
            open_ones.append(element)
    return iter(found)


def _close(open_ones: list[_Element], tag: str, end: int, after: int) -> None:
    if all(element.tag != tag for element in open_ones):
        return
    while open_ones:
        element = open_ones.pop()
        element.end, element.after = end, after
        if element.tag == tag:
            return


def _opened(match: re.Match[str], parent: _Element | None, found: list[_Element]) -> _Element:
    own = _own_kind(match[2], match[3])
    above = parent.kind.rpartition(" > ")[2] if parent else ""
    return _Element(
        tag=match[2],
        kind=f"{above} > {own}",
        start=match.start(),
        is_first=bool(parent and found and found[-1] is parent),
        is_block=_TEXT in above.split(),
    )


def _own_kind(tag: str, attributes: str) -> str:
    """Its name, its classes, the names of its attributes, and the values of those that tell by them."""
    parts = []
    for name, value in _ATTRIBUTE.findall(attributes):
        if name == "class":
            parts += [f".{one}" for one in value.split()]
        else:
            parts.append(f"{name}={value}" if name in _TOLD_BY_VALUE else name)
    return " ".join([tag, *sorted(set(parts) - {"id", "href"})])
