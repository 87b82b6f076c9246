"""The style sheet inside a drawing, resolved: each element with the presentation attributes it comes to.

A `<style>` in a page would count for the whole page and weigh more than the drawing. Only properties
that SVG also has as attributes are kept; animations, fonts and what depends on the reader's hand
(`:hover`) are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from xml.etree.ElementTree import Element

import cssselect2
import tinycss2
from tinycss2.ast import Declaration, QualifiedRule

from ...model.names import name_set
from .simplification import Styles, local_name

PROPERTIES = name_set(
    "clip-path display dominant-baseline fill fill-opacity fill-rule font-size font-style font-weight "
    "marker-end marker-mid marker-start opacity stop-color stop-opacity stroke stroke-dasharray "
    "stroke-linecap stroke-linejoin stroke-opacity stroke-width text-anchor text-decoration visibility"
)
"""Presentation attributes a drawing may have."""

Rule = tuple[bool, str, str]
"""(important, property, value)"""


def resolve_styles(root: Element) -> Styles:
    """The declared value of each property of each element of `root`; inheritance is left to the browser."""
    sheets = (element.text or "" for element in root.iter() if local_name(element) == "style")
    matcher = _matcher("\n".join(sheets))
    tree = cssselect2.ElementWrapper.from_xml_root(root)
    return {node.etree_element: _style(node, matcher) for node in tree.iter_subtree()}


# a renderer has one style sheet for each kind of diagram, and reading it is half of the work
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
        return  # a selector newer than the matcher: its rule is decoration
    for selector in selectors:
        # shapes without pseudo-element only: `::before` draws nothing in SVG
        if selector.pseudo_element is None:
            matcher.add_selector(selector, declared)


def _declarations(css: object) -> Iterator[Rule]:
    for found in tinycss2.parse_blocks_contents(css, skip_comments=True, skip_whitespace=True):
        if isinstance(found, Declaration) and found.lower_name in PROPERTIES:
            yield found.important, found.lower_name, tinycss2.serialize(found.value).strip()


def _style(node: cssselect2.ElementWrapper, matcher: cssselect2.Matcher) -> Mapping[str, str]:
    """Attributes, then rules by weight, then the `style` attribute; what is important last."""
    element = node.etree_element
    rules = [rule for match in matcher.match(node) for rule in match[3]]
    rules += _declarations(element.get("style", ""))
    style = {name: value for name, value in element.attrib.items() if name in PROPERTIES}
    for wanted in (False, True):
        style |= {name: value for important, name, value in rules if important is wanted}
    return style
