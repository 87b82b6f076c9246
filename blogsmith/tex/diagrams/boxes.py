"""Estimates of the height of MathML, with the width from `mathml/widths.py`.

Heights are those of STIX Two Math: enough to keep arrows off the content of cells, not to set type.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from ..mathml.fragments import group_fragments
from ..mathml.widths import measure
from ..parse.parser import Parser
from ..parse.scan import text_of
from ..parse.state import DISPLAY, SCRIPT
from .records import EMPTY, SizedFormula

AXIS = 0.26
"""Height of the line on which fraction bars and horizontal arrows are."""
SCRIPT_SCALE = 0.71
_LOW = frozenset("acemnorsuvwxzαεικνοπστυω.,:…⋯·∙•−=~∼→←")
_DEEP = frozenset("gjpqyβγζημξρφχψςQ,;()[]{}|∥⟨⟩/∫")
_LENGTH_OF_EM = "em"


def typeset(parser: Parser, tokens: Sequence[str], style: int, color: str = "") -> SizedFormula:
    """Return the tokens as MathML with its size. style: Style of the content, as in `parse/state.py`."""
    if all(token == " " for token in tokens):
        return EMPTY
    parser.spend(len(tokens))
    xml = group_fragments(parser.parse_group(list(tokens), style))
    is_script, is_display = style >= SCRIPT, style == DISPLAY
    ascent, descent = _extents(ElementTree.fromstring(f"<mrow>{xml}</mrow>"), is_display)
    width = measure(xml, is_display=is_display)
    scale = SCRIPT_SCALE if is_script else 1.0
    level = ' scriptlevel="1"' if is_script else ""
    level += f' mathcolor="{color}"' if color else ""
    styled = f'<mstyle displaystyle="{str(is_display).lower()}"{level}>{xml}</mstyle>'
    return SizedFormula(styled, width * scale, ascent * scale, descent * scale, text_of(tokens).strip())


def _extents(element: ElementTree.Element, is_display: bool) -> tuple[float, float]:
    """Return the height above and the depth below the baseline, in em."""
    name, children = element.tag, list(element)
    if name in ("mi", "mn", "mo", "mtext", "a", "span", "code"):
        text = "".join(element.itertext())
        if not text.strip():
            return 0.0, 0.0
        tall = 0.95 if name == "mo" and is_display and text in "∑∏∐⋃⋂⨁⨂⨆∫∮⋁⋀" else 0.0
        return max(tall, 0.48 if set(text) <= _LOW else 0.72), max(
            tall - 0.5, 0.22 * (text == "f" or any(c in _DEEP for c in text))
        )
    if name == "mspace":
        return _length(element, "height"), _length(element, "depth")
    sizes = [_extents(child, is_display and name != "mfrac") for child in children] or [(0.0, 0.0)]
    up, down = max(size[0] for size in sizes), max(size[1] for size in sizes)
    if name == "mpadded":
        return _length(element, "height", up), _length(element, "depth", down)
    if name == "mfrac":
        # STIX Two Math: FractionNumeratorShiftUp and related constants
        small, up, down = (1.0, 0.68, 0.69) if is_display else (SCRIPT_SCALE, 0.46, 0.4)
        (above, over), (below, under) = sizes[0], sizes[-1]
        up, down = max(up, AXIS + 0.12 + small * over), max(down, 0.12 - AXIS + small * below)
        return up + small * above, down + small * under
    if name in ("msub", "msup", "msubsup", "mmultiscripts"):
        base, scripts = sizes[0], [(SCRIPT_SCALE * a, SCRIPT_SCALE * b) for a, b in sizes[1:]]
        has_low, has_high = name != "msup", name != "msub"
        raised = max((0.36 + a for a, _ in scripts), default=0.0) if has_high else 0.0
        lowered = max((0.16 + b for _, b in scripts), default=0.0) if has_low else 0.0
        return max(base[0], raised), max(base[1], lowered)
    if name in ("mover", "munder", "munderover"):
        extra = [SCRIPT_SCALE * sum(size) + 0.1 for size in sizes[1:]]
        if element.get("accent") == "true":
            return sizes[0][0] + 0.22, sizes[0][1]
        over, under = extra[-1] if name != "munder" else 0.0, extra[0] if name != "mover" else 0.0
        return sizes[0][0] + over, sizes[0][1] + under
    if name in ("msqrt", "mroot"):
        return up + 0.16, down + 0.04
    if name == "mtable":
        total = sum(max(up_down[0], 0.7) + max(up_down[1], 0.3) for up_down in sizes) + 0.1 * (len(sizes) - 1)
        return total / 2 + AXIS, max(0.0, total / 2 - AXIS)
    return up, down


def _length(element: ElementTree.Element, name: str, default: float = 0.0) -> float:
    value = element.get(name, "")
    try:
        return float(value.removesuffix(_LENGTH_OF_EM)) if value else default
    except ValueError:
        return default
