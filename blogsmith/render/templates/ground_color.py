"""Background colour of pages, read from stylesheets; browsers use it for the frame of their window.

The property is `--paper` of the whole page, set to a plain colour or a pair in `light-dark()`. Rules that
apply to some screens only are ignored, except for those about the colour scheme. Computed colours are not
evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...base.patterns import lazy_pattern
from ...model.template_views import Ground
from .css_text import statements
from .theme_options import is_color

_PROPERTY = "--paper"
_RULE = lazy_pattern(r"(?:^|[{},])(?::root|html)\{[^{}]*?--paper:([^;{}]+)")
_PAIR = lazy_pattern(r"light-dark\(((?:[^(),]|\([^()]*\))+),((?:[^(),]|\([^()]*\))+)\)")
_SCHEME = lazy_pattern(r"@media \(prefers-color-scheme:(light|dark)\)")


def find_background(sheets: Iterable[str]) -> Ground:
    """Return the background colours that these stylesheets set together. The last declaration of each scheme
    applies. Empty if one of the two colours is unknown."""
    found = {"light": "", "dark": ""}
    for css in sheets:
        for rule in statements(css) if _PROPERTY in css else ():
            scheme = _SCHEME.match(rule)
            if rule.startswith("@") and not scheme:
                continue
            for value in _RULE.findall(rule if not scheme else rule[scheme.end() :]):
                pair = _PAIR.fullmatch(value.strip())
                light, dark = (pair[1].strip(), pair[2].strip()) if pair else (value.strip(),) * 2
                for name, colour in (("light", light), ("dark", dark)):
                    if is_color(colour) and "var(" not in colour and (not scheme or scheme[1] == name):
                        found[name] = colour
    return Ground(**found) if all(found.values()) else Ground()
