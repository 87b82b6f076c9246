"""Pages reduced to one block of each kind, so that a browser rarely sees the same kind of element twice.

The kind of an element consists of its name, classes and attributes, and of the name and classes of its
parent. A page whose frame has new kinds stays. New blocks of other pages are moved to the end of a page with
the same policy.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_TAG = re.compile(r"""<(/?)([a-zA-Z][\w-]*)((?:[^<>"']|"[^"]*"|'[^']*')*)>|<!--.*?-->""", re.DOTALL)
_ATTRIBUTE = re.compile(r'([\w:-]+)(?:="([^"]*)")?')
_HEADING = re.compile(r"<h[1-6][ >]")
_ID = re.compile(r'\bid="([^"]+)"')
_NAMED_BY = re.compile(r'\baria-(?:labelledby|describedby|controls|details)="([^"]+)"')
_NAMES = re.compile(
    r'\b(?P<key>id|for|name|aria-(?:labelledby|describedby|controls|details))="(?P<names>[^"]+)"'
    r'|(?P<link>\bhref="#|url\(#|\baria-label=")'
)
_LOADED = re.compile(r'<link rel="stylesheet"[^>]*>|<script[^>]* src="[^>]*></script>')
_LIKENESS = re.compile(r'<html[^>]*>|<meta http-equiv="Content-Security-Policy"[^>]*>')
_OWN_TITLE = re.compile(r' data-title="[^"]*"')
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_TOLD_BY_VALUE = frozenset(
    # Attributes whose values matter to style sheets and accessibility rules.
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
    own: str
    """Name, classes, attribute names, and some attribute values."""
    above: str
    """Name and classes of its parent."""
    start: int
    is_first: bool
    """Whether it is the first element in its parent."""
    end: int = 0
    after: int = 0
    """Number of the next element that it does not contain."""

    @property
    def kind(self) -> str:
        return f"{self.above} > {self.own}"

    @property
    def is_block(self) -> bool:
        """Whether its parent is the text of the page."""
        return _TEXT in self.above.split()


@dataclass(slots=True)
class _Page:
    path: str
    html: str
    elements: list[_Element]
    added: list[str] = field(default_factory=list)
    """Blocks moved from other pages."""

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(element.kind for element in self.elements)

    def blocks(self) -> Iterator[int]:
        """Yield the numbers of the elements directly in its text."""
        number = 0
        while number < len(self.elements):
            if self.elements[number].is_block:
                yield number
                number = self.elements[number].after
            else:
                number += 1

    def kinds_of(self, number: int) -> frozenset[str]:
        """Return the kinds of an element and of all elements in it."""
        return frozenset(one.kind for one in self.elements[number : self.elements[number].after])

    def frame(self) -> frozenset[str]:
        """Return the kinds of the elements outside its text."""
        inside = {number for block in self.blocks() for number in range(block, self.elements[block].after)}
        head = next((element.after for element in self.elements if element.tag == "head"), 0)
        numbers = (number for number in range(head, len(self.elements)) if number not in inside)
        return frozenset(self.elements[number].kind for number in numbers)


def kinds(html: str) -> frozenset[str]:
    return frozenset(element.kind for element in _elements(html))


def specimens(pages: Mapping[str, str]) -> dict[str, str]:
    """Return path → HTML of the pages that stay; together they have all kinds of elements."""
    read = [_Page(path, html, _elements(html)) for path, html in pages.items()]
    known: set[str] = set()
    frames: set[str] = set()
    hosts: dict[str, _Page] = {}
    cut: dict[str, str] = {}
    for page in sorted(read, key=lambda page: (-len(page.kinds), page.path)):
        likeness = _OWN_TITLE.sub("", "".join(_LIKENESS.findall(page.html)))
        if likeness not in hosts or not frames.issuperset(page.frame()) or _has_new_headings(page, known):
            frames |= page.frame()
            cut[page.path] = _cut(page, 0, len(page.elements), known)
            hosts.setdefault(likeness, page)
        else:
            hosts[likeness].added += _moved(page, known, hosts[likeness])
    for host in hosts.values():
        cut[host.path] = _with_added(cut[host.path], host.added)
    return cut


def write_specimens(site: Path, pages: Mapping[str, str], folder: Path) -> None:
    """Write a copy of a built site where the only pages are the specimens of `pages`, by path."""
    shutil.copytree(site, folder, copy_function=os.link, ignore=shutil.ignore_patterns("*.html"))
    for path, html in specimens(pages).items():
        file = folder / path.removeprefix("/")
        file = file / "index.html" if path.endswith("/") else file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(html, "utf-8")


def _has_new_headings(page: _Page, known: set[str]) -> bool:
    """Return whether a new block contains a heading, because headings must keep the order of their page."""
    new = (page.elements[number] for number in page.blocks() if not known.issuperset(page.kinds_of(number)))
    return any(_HEADING.search(page.html[block.start : block.end]) for block in new)


def _moved(page: _Page, known: set[str], host: _Page) -> Iterator[str]:
    """Return the new blocks, with unique ids, and the style sheets and scripts that the host lacks."""
    found = []
    for number in page.blocks():
        if not known.issuperset(page.kinds_of(number)):
            found.append(_renamed(_cut(page, number, page.elements[number].after, known), page.path))
    loaded = "".join([host.html, *host.added])
    needed = [tag for tag in _LOADED.findall(page.html) if tag not in loaded] if found else []
    return iter([*needed, *found])


def _renamed(html: str, path: str) -> str:
    prefix = f"{path.strip('/').replace('/', '-')}--"

    def rename(match: re.Match[str]) -> str:
        if match["link"]:
            return f"{match[0]}{prefix}"
        names = " ".join(f"{prefix}{name}" for name in match["names"].split())
        return f'{match["key"]}="{names}"'

    return _NAMES.sub(rename, html)


def _with_added(html: str, added: list[str]) -> str:
    """Return the page with blocks added at the end of its text, and with their style sheets and scripts."""
    text = next((element for element in _elements(html) if _TEXT in element.own.split()), None)
    if text is None:
        return html
    end = html.rindex("</", text.start, text.end)
    loaded = "".join(one for one in added if _LOADED.fullmatch(one))
    blocks = "".join(one for one in added if not _LOADED.fullmatch(one))
    return f"{html[:end]}{blocks}{html[end:]}".replace("</head>", f"{loaded}</head>", 1)


def _cut(page: _Page, first: int, after: int, known: set[str]) -> str:
    """Return some elements without the parts that are known, and add the kinds of the rest to `known`."""
    pieces, last = [], page.elements[first].start if first else 0
    for start, end in _known_parts(page, first, after, known):
        pieces.append(page.html[last:start])
        last = end
    return "".join([*pieces, page.html[last : page.elements[first].end if first else None]])


def _known_parts(page: _Page, first: int, after: int, known: set[str]) -> Iterator[tuple[int, int]]:
    """Yield the ranges that can be removed: blocks, lines of code, items and rows with nothing new."""
    needed = {name for names in _NAMED_BY.findall(page.html) for name in names.split()}
    number = first
    while number < after:
        element = page.elements[number]
        html = page.html[element.start : element.end]
        if _may_go(element, html, needed) and known.issuperset(page.kinds_of(number)):
            yield element.start, element.end
            number = element.after
        else:
            known.add(element.kind)
            number += 1


def _may_go(element: _Element, html: str, needed: set[str]) -> bool:
    is_one_of_many = element.tag in ("li", "tr") or ".line" in element.own.split()
    is_repeated = not element.is_first and (is_one_of_many or element.above.startswith("details"))
    if not (element.is_block or is_repeated) or _HEADING.search(html):
        return False
    return not needed.intersection(_ID.findall(html))


def _elements(html: str) -> list[_Element]:
    """Return the elements of a page in document order. Our own pages close every element."""
    found: list[_Element] = []
    open_ones: list[_Element] = []
    for match in _TAG.finditer(html):
        if match[2] is None:
            continue
        if match[1]:
            _close(open_ones, match[2], match.end(), len(found))
            continue
        parent = open_ones[-1] if open_ones else None
        is_first = bool(parent and found[-1] is parent)
        own, above = _own_kind(match[2], match[3]), _tag_and_classes(parent.own) if parent else ""
        element = _Element(match[2], own, above, match.start(), is_first, match.end())
        found.append(element)
        element.after = len(found)
        if match[2] not in _VOID and not match[3].endswith("/"):
            open_ones.append(element)
    return found


def _tag_and_classes(own: str) -> str:
    tag, *others = own.split()
    return " ".join([tag, *(one for one in others if one.startswith("."))])


def _close(open_ones: list[_Element], tag: str, end: int, after: int) -> None:
    if all(element.tag != tag for element in open_ones):
        return
    while open_ones:
        element = open_ones.pop()
        element.end, element.after = end, after
        if element.tag == tag:
            return


def _own_kind(tag: str, attributes: str) -> str:
    """Return name, classes, attribute names, and the values of attributes where values matter."""
    parts: set[str] = set()
    for name, value in _ATTRIBUTE.findall(attributes):
        if name == "class":
            parts.update(f".{one}" for one in value.split())
        else:
            parts.add(f"{name}={value}" if name in _TOLD_BY_VALUE else name)
    return " ".join([tag, *sorted(parts - {"id", "href"})])
