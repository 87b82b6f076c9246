"""Limit on the elements that a browser draws for an SVG.

Nested `<use>` multiplies: 600 bytes can become 10⁸ elements, which keep a reader's browser busy for minutes.
"""

from __future__ import annotations

from contextlib import suppress

MAX_ELEMENTS = 1_000_000
"""Maximum number of elements after replacing each `<use>` by its target. A plot with 100,000 points has
200,000."""
_MIN_USES = 10
_Node = list[int]
"""Indexes of the elements that browsers draw as parts of an element: its children, and the target of a
`<use>`."""


def draws_too_much(data: bytes) -> bool:
    """Return whether the SVG in a file draws more than `MAX_ELEMENTS` elements."""
    return data.count(b"use") >= _MIN_USES and _count_drawn(_read_parts(data)) > MAX_ELEMENTS


def _read_parts(data: bytes) -> list[_Node]:
    """Return a node for each element, with node 0 for the document. After an XML error, return the elements
    before the error, because browsers draw them."""
    from xml.parsers import expat

    nodes: list[_Node] = [[]]
    above, by_id, uses = [0], dict[str, int](), list[tuple[int, str]]()

    def start(name: str, attributes: dict[str, str]) -> None:
        number = len(nodes)
        nodes.append([])
        nodes[above[-1]].append(number)
        above.append(number)
        by_id.setdefault(attributes.get("id", ""), number)
        if name.rpartition(":")[2] == "use":
            target = attributes.get("href") or attributes.get("xlink:href") or ""
            uses.append((number, target.strip().removeprefix("#")))

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: above.pop()
    with suppress(expat.ExpatError, LookupError, ValueError):
        parser.Parse(data, True)
    for number, target in uses:
        if target and target in by_id:
            nodes[number].append(by_id[target])
    return nodes


def _count_drawn(nodes: list[_Node]) -> int:
    """Return the number of elements that are drawn for node 0. Browsers do not draw circular references."""
    counts: dict[int, int] = {}
    opened: set[int] = set()
    waiting = [0]
    while waiting:
        number = waiting[-1]
        if number in counts:
            waiting.pop()
        elif number in opened:
            counts[number] = 1 + sum(counts.get(part, 0) for part in nodes[number])
            waiting.pop()
        else:
            opened.add(number)
            waiting += [part for part in nodes[number] if part not in counts and part not in opened]
    return counts[0]
