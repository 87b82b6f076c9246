"""The stylesheet of a drawing, converted to presentation attributes of each element.

A `<style>` would apply to the whole page, and be larger than the drawing. Only properties that are also SVG
attributes are kept, so animations, fonts and interactive states (`:hover`) are lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from xml.etree.ElementTree import Element

import cssselect2
import tinycss2
from tinycss2.ast import Declaration, QualifiedRule

from ...base.patterns import lazy_pattern
from ...model.names import name_set

PROPERTIES = name_set(
    "clip-path display dominant-baseline fill fill-opacity fill-rule font-size font-style font-weight "
    "marker-end marker-mid marker-start opacity stop-color stop-opacity stroke stroke-dasharray "
    "stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width "
    "text-anchor text-decoration visibility"
)
"""Presentation attributes that a drawing may have."""
INHERITED = PROPERTIES - {"clip-path", "display", "opacity", "stop-color", "stop-opacity", "text-decoration"}
"""Attributes that apply to the content of a group, unless an element sets its own."""

Rule = tuple[bool, str, str]
"""A declaration: whether it has `!important`, property, value."""


def resolve_styles(root: Element) -> Styles:
    """Return the properties that attributes and stylesheets of the drawing set for each element, without
    inherited ones, because browsers handle inheritance."""
    sheets = (element.text or "" for element in root.iter() if local_name(element) == "style")
    matcher = _matcher("\n".join(sheets))
    tree = cssselect2.ElementWrapper.from_xml_root(root)
    return {node.etree_element: _style(node, matcher) for node in tree.iter_subtree()}


# a renderer uses one stylesheet for each kind of diagram, and parsing it takes half of the time
@lru_cache(maxsize=32)
def _matcher(sheet: str) -> cssselect2.Matcher:
    matcher = cssselect2.Matcher()
    for rule in tinycss2.parse_stylesheet(sheet, skip_comments=True, skip_whitespace=True):
        if isinstance(rule, QualifiedRule):
            _add(matcher, rule)
    return matcher


def _add(matcher: cssselect2.Matcher, rule: QualifiedRule) -> None:
    declared = list(_declarations(rule.content))
    try:
        selectors = cssselect2.compile_selector_list(rule.prelude) if declared else []
    except cssselect2.SelectorError:
        return  # the library does not know the selector, whose rule is only decoration
    for selector in selectors:
        # rules for a pseudo-element such as `::before` are left out, because SVG does not draw them
        if selector.pseudo_element is None:
            matcher.add_selector(selector, declared)


def _declarations(css: object) -> Iterator[Rule]:
    for found in tinycss2.parse_blocks_contents(css, skip_comments=True, skip_whitespace=True):
        if isinstance(found, Declaration) and found.lower_name in PROPERTIES:
            yield found.important, found.lower_name, tinycss2.serialize(found.value).strip()


def _style(node: cssselect2.ElementWrapper, matcher: cssselect2.Matcher) -> Mapping[str, str]:
    """Return the properties of an element. In order of precedence, lowest first: attributes, rules by
    specificity, the `style` attribute, `!important`."""
    element = node.etree_element
    rules = [rule for match in matcher.match(node) for rule in match[3]]
    rules += _declarations(element.get("style", ""))
    style = {name: value for name, value in element.attrib.items() if name in PROPERTIES}
    for wanted in (False, True):
        style |= {name: value for important, name, value in rules if important is wanted}
    return style


# Simplifications of the parsed drawing. Text in `<defs>` that a `<use>` shows cannot be searched or selected
# in a page, so a group that is used once is moved to its `<use>`. A shape that is drawn as an area and then
# as an outline becomes one shape.


Styles = Mapping[Element, Mapping[str, str]]
"""Element → its presentation attributes."""

_NUMBER = lazy_pattern(r"-?\d+\.\d{2,}(?:e-?\d+)?")
_END = lazy_pattern(r"(-?[\d.]+)[ ,](-?[\d.]+)\s*(?=[A-Za-z]|$)")


def local_name(element: Element) -> str:
    """Return the element's tag without its namespace; empty for comments and processing instructions."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def referenced_id(element: Element) -> str:
    """Return the id in the file that a `<use>` refers to; empty for other elements, and for URLs outside the
    file."""
    if local_name(element) != "use":
        return ""
    hrefs = (value for key, value in element.attrib.items() if key.rpartition("}")[2] == "href")
    return next((href[1:] for href in hrefs if href.startswith("#")), "")


def round_numbers(value: str) -> str:
    """Return the value with its numbers rounded to one decimal, because a tenth of a pixel is not visible."""
    return _NUMBER.sub(lambda found: f"{round(float(found.group()), 1):g}", value.strip())


def flatten_groups(root: Element) -> None:
    """If the last child of a group is a group, and the outer group only sets inherited properties, move the
    inner group after the outer one. `dvisvgm` nests one group deeper at each change of a colour."""
    parents = [root]
    while parents:
        parent = parents.pop()
        parts, pending = list[Element](), list(reversed(parent))
        while pending:
            child = pending.pop()
            parts.append(child)
            last = child[-1] if len(child) else child
            is_nested = last is not child and local_name(child) == local_name(last) == "g"
            if is_nested and INHERITED.issuperset(child.attrib):
                child.remove(last)
                last.attrib.update({**child.attrib, **last.attrib})
                pending.append(last)
        parent[:] = [part for part in parts if len(part) or local_name(part) != "g"]
        parents += parent


def inline_single_uses(root: Element) -> None:
    """If exactly one `<use>` refers to a group, move the group to the position of this `<use>`."""
    counts = Counter(referenced_id(element) for element in root.iter())
    groups = {g.get("id", ""): (parent, g) for parent in root.iter() for g in parent if local_name(g) == "g"}
    for use in [element for element in root.iter() if counts[referenced_id(element)] == 1]:
        parent, group = groups.get(referenced_id(use), (None, None))
        if parent is None or group is None or any(part is use for part in group.iter()):
            continue
        parent.remove(group)
        use.append(group)
    for use in [element for element in root.iter() if local_name(element) == "use" and len(element)]:
        _become_group(use)
        for part in use.iter():
            if local_name(part) == "svg" and part.get("viewBox", "").startswith("0 0 "):
                _become_group(part)


def merge_patterns(root: Element) -> None:
    """Copy into each pattern the attributes that it takes from another pattern by reference."""
    patterns = {found.get("id", ""): found for found in root.iter() if local_name(found) == "pattern"}
    for pattern in patterns.values():
        for key in [key for key in pattern.attrib if key.rpartition("}")[2] == "href"]:
            other = patterns.get(pattern.attrib.pop(key)[1:])
            for name, value in other.attrib.items() if other is not None else ():
                pattern.attrib.setdefault(name, value)


def _become_group(element: Element) -> None:
    """Turn a `<use>` or an unscaled `<svg>` into the equivalent group."""
    x, y = element.get("x", "0"), element.get("y", "0")
    element.tag = "g"
    shift = "" if {x, y} <= {"0", "0.0"} else f"translate({x},{y})"
    transform = f"{element.get('transform', '')} {shift}".strip()
    element.attrib.clear()
    if transform:
        element.set("transform", transform)


def merge_outlines(root: Element, styles: Styles) -> Styles:
    """Return the styles after merging pairs of paths in `root`: an area without stroke and the following
    outline without fill become one shape with the outline's stroke. Renderers with a hand-drawn style draw
    these pairs, with each outline twice."""
    changed = dict(styles)
    for group in root.iter():
        parts = list(group)
        if len(parts) != 2 or any(local_name(part) != "path" for part in parts):
            continue
        area, outline = parts
        if styles[area].get("stroke") == "none" == styles[outline].get("fill") and _is_outline(area, outline):
            stroke = {key: value for key, value in styles[outline].items() if key.startswith("stroke")}
            changed[area] = {**styles[area], **stroke}
            group.remove(outline)
    return changed


def _is_outline(area: Element, outline: Element) -> bool:
    """Return whether all corners of `outline` are corners of `area`. If so, and if `outline` is closed, close
    the path of `area`."""
    corners = [_END.findall(round_numbers(part.get("d", ""))) for part in (area, outline)]
    if not corners[0] or not set(corners[1]) <= set(corners[0]):
        return False
    if corners[1].count(corners[0][0]) > 1 and not area.get("d", "").rstrip().endswith(("z", "Z")):
        area.set("d", area.get("d", "") + "Z")
    return True
