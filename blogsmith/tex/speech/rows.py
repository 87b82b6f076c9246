"""Rows of a formula as a reader hears them: without groups, with pairs of brackets and bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

GROUPS = frozenset(("math", "mrow", "mstyle", "mpadded", "mtd", "span", "a", "b", "i", "u", "s", "code"))
SCRIPTS = frozenset(("msub", "msup", "msubsup", "munder", "mover", "munderover"))
LEAVES = frozenset(("mi", "mn", "mo", "mtext"))
SILENT = frozenset(("mspace", "mphantom"))
BRACKETS: Mapping[str, tuple[str, str]] = {
    "|": ("|", "absolute-value"),
    "‖": ("‖", "norm"),
    "⌊": ("⌋", "floor"),
    "⌈": ("⌉", "ceiling"),
}
"""Opening delimiter with a spoken name → its closing delimiter, and the pair's concept of `intent`."""
_OPENING, _CLOSING = ("(", "[", "{", "⟨"), (")", "]", "}", "⟩")
_REACH = 200
"""Maximum number of elements searched for a matching bracket, so that the time is linear."""


def flatten(elements: Sequence[Element]) -> list[Element]:
    """Return the elements. Groups such as `<mrow>` without a meaning are replaced by their content."""
    flat: list[Element] = []
    for element in elements:
        if (
            element.tag in GROUPS
            and (not element.get("intent") or _is_bracketed(element))
            and not element.get("class", "").startswith(
                ("math-cancel", "math-bcancel", "math-xcancel", "math-boxed", "math-sout")
            )
        ):
            text = Element("mtext")
            text.text = element.text
            flat += [text] if (element.text or "").strip() else []
            flat += flatten([*element])
        elif element.tag not in SILENT and "".join(element.itertext()) != "\u2061":
            flat.append(element)
    return flat


def text_of(element: Element) -> str:
    """Return the characters of an element, without white space."""
    return "".join("".join(element.itertext()).split())


def base_of(element: Element) -> Element:
    """Return the base of an element with scripts; any other element unchanged."""
    return element[0] if element.tag in SCRIPTS else element


def _is_bracketed(element: Element) -> bool:
    """Return whether the element is a norm or absolute value with its delimiters, spoken as one name."""
    is_pair = element.get("intent") in ("norm($x)", "absolute-value($x)")
    return is_pair and len(element) > 1 and text_of(element[0]) in ("|", "‖")


def find_end(row: Sequence[Element], index: int) -> int:
    """Return the index of the bracket that closes the one at `index`. If there is no opening bracket at
    `index`, return the end of the brackets around it. Return the length of the row if nothing closes them."""
    depth = 0 if text_of(row[index]) in _OPENING else 1
    for position in range(index, min(len(row), index + _REACH)):
        text = text_of(base_of(row[position]))
        depth += (text in _OPENING) - (text in _CLOSING)
        if not depth:
            return position
    return len(row)


def find_closing(row: Sequence[Element], index: int) -> int:
    """Return the index of the delimiter that closes the one at `index`; 0 if the one at `index` is not an
    opening one.

    A bar that TeX does not know as a delimiter opens if another bar follows in the same brackets. It does not
    if it follows an operand and a relation or a comma is between the bars: `|x|`, but not `a|b, c|d`.
    """
    opening, text = row[index], text_of(row[index])
    form = "postfix" if text in "⌊⌈" else opening.get("form", "")
    if form == "infix" or (form == "postfix" and text in "|‖"):
        return 0
    end = min(len(row), index + _REACH) if form else find_end(row, index)
    depth = position = 0
    for place in range(index + 1, end):
        base = base_of(row[place])
        name = text_of(base)
        if name == BRACKETS[text][0] and (base.get("form", "postfix") == "postfix" if form else not depth):
            position = place
            break
        depth += (name in _OPENING) - (name in _CLOSING)
    inner = row[index + 1 : position]
    if not inner or (len(inner) == 1 and inner[0].tag == "mtable"):
        return 0
    is_after_operand = text == "|" and not form and index > 0 and row[index - 1].tag != "mo"
    return 0 if is_after_operand and any(map(_is_relation, inner)) else position


def is_in_parentheses(element: Element) -> bool:
    """Return whether the content is between one pair of parentheses."""
    row = flatten([element])
    return len(row) > 2 and text_of(row[0]) == "(" and find_end(row, 0) == len(row) - 1


def _is_relation(element: Element) -> bool:
    return element.tag == "mo" and text_of(element) not in (*_OPENING, *_CLOSING, *"+−⋅×/∘")


def find_condition(row: Sequence[Element], index: int) -> str:
    """Return the key in the table of words for a bar inside brackets, in a set, or after the name of a
    function. Return an empty string for any other bar."""
    depth = 0
    for position in range(index - 1, max(-1, index - _REACH), -1):
        text = text_of(base_of(row[position]))
        depth += (text in _CLOSING) - (text in _OPENING)
        if depth < 0:
            is_call = position > 0 and row[position - 1].tag != "mo" and text in ("(", "[")
            if text_of(row[index]) in (text_of(row[index - 1]), text_of(row[min(index + 1, len(row) - 1)])):
                return ""
            if text_of(row[index]) in ("|", "∣"):
                return "such that" if text == "{" else "given" if is_call else ""
            return "‖" if is_call else ""
    return ""


def is_simple(element: Element) -> bool:
    """Return whether the element is so short that speech need not announce its end. This is true of a symbol
    with scripts, and of a product of a number and letters."""
    return is_simple_row([element] if element.tag not in ("msqrt", "mrow") else [*element])


def is_simple_row(elements: Sequence[Element]) -> bool:
    """Return whether several elements together are as short as `is_simple` requires."""
    row = flatten(elements)
    if len(row) == 1 and row[0].tag in SCRIPTS:
        return all(len(flatten([part])) == 1 and part.tag in LEAVES for part in row[0])
    signs = [*row[1:]] if row and text_of(row[0]) == "−" else row
    return len(signs) <= 2 and all(one.tag in ("mi", "mn", "mtext") for one in signs)
