"""Writer of MathML as expressions of Typst.

The input is MathML of `tex/`, as described in `tex/mathml/allowlist.py`. Text reaches Typst as strings, so
Typst evaluates no part of a formula. Each operator gets the class of Typst with the same spaces, since Typst
has TeX's table of spaces. Typst does not use that table next to an explicit space, so there the space of the
operator is written too. `functions.typ` defines the functions with short names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from ..api.books import (
    DICTIONARY_BINARY,
    DICTIONARY_CLOSING,
    DICTIONARY_OPENING,
    DICTIONARY_RELATIONS,
    lazy_pattern,
    name_set,
)
from .elements import HtmlElement
from .formula_tables import write_table

SVG = "http://www.w3.org/2000/svg"
_EM = lazy_pattern(r"(-?\d*\.?\d+)(?:em)?")
_MARGIN = lazy_pattern(r"margin-left:\s*(-?[\d.]+)em")
_ARROW = lazy_pattern("[\u2190-\u21ff\u27f0-\u27ff\u2900-\u297f\u2b00-\u2bff]")
_COLOR = lazy_pattern(r"#[0-9a-f]{3}(?:[0-9a-f]{3})?")
_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064\u200b")
_LARGE = frozenset("∏∐∑∫∬∭∮∯∰∱∲∳⋀⋁⋂⋃⨀⨁⨂⨃⨄⨅⨆⨉⨋⨌⨍⨎⨏⨐⨑⨒⨓⨔⨕⨖⨗⨘⨙⨚⨛⨜")
_ACCENTS = {
    **{"^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "¯": "\u0304", "‾": "\u0305"},
    **{"˙": "\u0307", ".": "\u0307", "¨": "\u0308", "ˇ": "\u030c", "´": "\u0301", "`": "\u0300"},
    **{"˘": "\u0306", "˚": "\u030a", "→": "\u20d7", "←": "\u20d6", "↔": "\u20e1", "⇀": "\u20d1"},
    **{"↼": "\u20d0", "\u20d7": "\u20d7", "\u20db": "\u20db", "\u20dc": "\u20dc"},
}
_ACCENTS_BELOW = {
    **{"→": "\u20ef", "←": "\u20ee", "↔": "\u034d", "⇀": "\u20ec", "↼": "\u20ed"},
    **{"^": "\u032d", "ˆ": "\u032d", "~": "\u0330", "˜": "\u0330"},
}
"""Character of an accent → combining character that Typst uses for this accent."""
_BRACES = {
    **{"⏞": "overbrace", "⏟": "underbrace", "⎴": "overbracket", "⎵": "underbracket"},
    **{"⏜": "overparen", "⏝": "underparen", "‾": "overline", "¯": "overline", "_": "underline"},
}
"""Character that stretches over or under a formula → function of Typst."""
_ENCLOSED = {
    "math-cancel": "math.cancel({})",
    "math-cancelto": "math.cancel({})",
    "math-bcancel": "math.cancel(inverted: true, {})",
    "math-xcancel": "math.cancel(cross: true, {})",
    "math-sout": "math.cancel(angle: 90deg, {})",
    "math-boxed": "boxed({})",
    "math-fbox": "boxed({})",
    "math-angl": "angled({})",
    "math-longdiv": "divided({})",
    "math-phase": "phased({})",
}
"""Class of a row → the expression around it."""
_WITH_SCRIPTS = name_set("msub msup msubsup munder mover munderover mmultiscripts")
_TALL = ("mfrac", "mtable", "munderover", "munder")
_LEAN_EM = 0.12
"""Space beside tall brackets, which extend beyond their boxes, in em."""
_NO_SPACE = 0.05
_QUOTED = lazy_pattern('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')


def quote(text: str) -> str:
    """Return a string literal of Typst, on one line."""
    return f'"{_QUOTED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char in '"\\':
        return f"\\{char}"
    return "\ufffd" if "\ud800" <= char <= "\udfff" else f"\\u{{{ord(char):x}}}"


def standalone_svg(source: str) -> str:
    """Return the SVG file for a drawing of a page."""
    return source if "xmlns=" in source else source.replace("<svg", f'<svg xmlns="{SVG}"', 1)


def write_math(element: HtmlElement) -> str:
    """Return the content of a `math` or `mtd` element as an expression.

    If the formula is nested too deeply, return an expression that the compiler rejects.
    """
    if element.is_cut:
        return 'panic("nested too deeply")'
    return _row(_with_small_parts(element, False).children)


def _with_small_parts(element: HtmlElement, is_script: bool) -> HtmlElement:
    """Mark tables and boxes in scripts. A marked element gets the size of the script for its content, because
    Typst does not reduce cells and boxes."""
    is_base = element.name in _WITH_SCRIPTS
    children = tuple(
        child if isinstance(child, str) else _with_small_parts(child, is_script or (is_base and bool(index)))
        for index, child in enumerate(element.children)
    )
    has_box = element.name in ("mtable", "mpadded") or not _ENCLOSED.keys().isdisjoint(element.classes)
    attributes = {**element.attributes, "scriptlevel": "1"} if is_script and has_box else element.attributes
    return HtmlElement(element.name, attributes, children, element.source)


def _row(children: Sequence[HtmlElement | str]) -> str:
    """Return the expression of a row, including fences that grow with its content."""
    shown = [child for child in children if isinstance(child, HtmlElement) or child.strip()]
    parts = [_expression(shown, index) for index in range(len(shown))]
    is_whole = any(map(_is_growing, shown[:1] + shown[-1:]))
    # a fence inside a row grows with the rest of it
    inner = (index for index, part in enumerate(shown) if _is_growing(part, "prefix"))
    start = 0 if is_whole else next(inner, len(shown))
    grown = [part for part in parts[start:] if part]
    return _join([*filter(None, parts[:start]), *([_fenced(shown[start:], grown)] if grown else [])])


def _fenced(shown: Sequence[HtmlElement | str], parts: Sequence[str]) -> str:
    """Return the expression of a row with fences that grow around its content. shown: elements of the row.
    parts: expressions of these elements."""
    has_table = any(isinstance(part, HtmlElement) and part.name == "mtable" for part in shown)
    # as high as the struts of the rows
    written = f"math.lr({'size: 100% + 0.2em, ' if has_table else ''}{_join(parts)})"
    parts_of_row = HtmlElement("mrow", {}, tuple(shown))
    if not any(parts_of_row.find(*_TALL)):
        return written
    left, right = (_LEAN_EM * _is_growing(shown[end]) for end in (0, -1))
    return f"fenced({left}em, {right}em, {written})"


def _join(parts: Sequence[str]) -> str:
    if not parts:
        return "[]"
    return parts[0] if len(parts) == 1 else f"{{{'; '.join(parts)}}}"


def _expression(row: Sequence[HtmlElement | str], index: int) -> str:
    """Return the expression of the element at `index` in a row; empty if the element shows nothing."""
    element = row[index]
    if isinstance(element, str):
        return f"words({quote(element)})"
    if element.name == "mo":
        return _operator(element, row, index)
    write = _ELEMENTS.get(element.name)
    return write(element) if write else _group(element)


def _one(element: HtmlElement | str) -> str:
    return _expression((element,), 0) or "[]"


def _arguments(element: HtmlElement, count: int) -> list[HtmlElement]:
    """Return the first `count` children of a construct as its arguments. Replace missing arguments by empty
    rows."""
    found = list(element.elements)
    return [*found, *(HtmlElement("mrow", {}, ()),) * count][:count]


# operators


def _is_growing(part: HtmlElement | str, form: str = "") -> bool:
    """Return whether a part of a row is a fence that grows. form: the only `form` (prefix, infix or postfix)
    to accept."""
    if isinstance(part, str) or part.name != "mo" or part.get("stretchy") == "false":
        return False
    if part.get("minsize") or part.get("maxsize"):
        return False
    if form:
        return part.get("fence") == "true" and part.get("form") == form
    return part.get("fence") == "true" or part.text in DICTIONARY_OPENING | DICTIONARY_CLOSING - {"!"}


def _operator(element: HtmlElement, row: Sequence[HtmlElement | str], index: int) -> str:
    text = element.text.strip()
    if not text or text in _INVISIBLE:
        return ""
    left, right = _spaces(element, text, row, index)
    kind = _class(element, text, left, right)
    if len(row) > 1 and kind == "normal" and _is_growing(element):
        return f"math.mid({_symbol(text)})"
    written = f"{kind}({_symbol(text)})"
    if "font-weight:bold" in element.get("style"):
        written = f"math.bold({written})"
    if size := _em(element.get("minsize")):
        written = f"math.lr(size: {size}em, {written})"
    if kind in ("relation", "binary", "punctuation"):
        # the left side of the first operator in a cell is in the cell before
        has_space = _is_space(row[index - 1]) if index else len(row) > 1
        before = [f"h({left}em)"] if left and has_space else []
        is_before_space = index + 1 < len(row) and _is_space(row[index + 1])
        after = [f"h({right}em)"] if right and is_before_space else []
        written = _join([*before, written, *after])
    return written


def _spaces(
    element: HtmlElement, text: str, row: Sequence[HtmlElement | str], index: int
) -> tuple[float, float]:
    """Return the space before and after an operator, in em."""
    form = element.get("form") or (
        "infix"
        if len(row) == 1
        else "prefix"
        if index == 0
        else "postfix"
        if index == len(row) - 1
        else "infix"
    )
    left = right = 0.0
    if text in DICTIONARY_RELATIONS or _ARROW.fullmatch(text):
        left = right = 0.2778
    elif text in DICTIONARY_BINARY and form != "prefix":
        left = right = 0.2222
    elif text in (",", ";"):
        right = 0.1667
    values = (element.get("lspace"), element.get("rspace"))
    return (_em(values[0]) if values[0] else left), (_em(values[1]) if values[1] else right)


def _class(element: HtmlElement, text: str, left: float, right: float) -> str:
    form = element.get("form")
    if text in DICTIONARY_OPENING or (element.get("fence") and form == "prefix"):
        return "opening"
    if (text in DICTIONARY_CLOSING and text != "!") or (element.get("fence") and form == "postfix"):
        return "closing"
    if text in _LARGE and element.get("largeop") != "false":
        return "large"
    most = max(left, right)
    if most > 0.25:
        return "relation"
    if most > 0.2:
        return "binary"
    return "punctuation" if right > 0.1 and left < _NO_SPACE else "normal"


def _is_space(element: HtmlElement | str) -> bool:
    return isinstance(element, HtmlElement) and (
        element.name == "mspace" or bool(_MARGIN.search(element.get("style")))
    )


def _em(value: str) -> float:
    found = _EM.fullmatch(value)
    return float(found[1]) if found else 0.0


def _symbol(text: str) -> str:
    return quote(text.replace("-", "−"))


# leaves


def _letter(element: HtmlElement) -> str:
    text = element.text.strip()
    if not text or text in _INVISIBLE:
        return ""
    if element.name == "mi" and len(text) == 1 and element.get("mathvariant") != "normal":
        return f"italic({quote(text)})"
    return f"upright({quote(text)})"


def _text(element: HtmlElement) -> str:
    parts = [
        f"words({quote(child)})" if isinstance(child, str) else _one(child) for child in element.children
    ]
    return _join(parts)


def _space(element: HtmlElement) -> str:
    width, height = _em(element.get("width")), _em(element.get("height"))
    if "background-color" in element.get("style"):
        return f"box(width: {width}em, height: {height + _em(element.get('depth'))}em, fill: black)"
    return f"h({width}em)" if width else ""


# constructs


def _group(element: HtmlElement) -> str:
    written = _sized(element, _row(element.children))
    if found := _MARGIN.search(element.get("style")):
        return _join([f"h({found[1]}em)", *([] if written == "[]" else [written])])
    for name in element.classes:
        if name in _ENCLOSED:
            return _ENCLOSED[name].format(written)
    return written


def _sized(element: HtmlElement, written: str) -> str:
    return f"math.script({written})" if element.get("scriptlevel") else written


def _style(element: HtmlElement) -> str:
    written = _row(element.children)
    is_display, level = element.get("displaystyle"), element.get("scriptlevel")
    if is_display == "true":
        written = f"math.display({written})"
    elif level == "1":
        written = f"math.script({written})"
    elif level == "2":
        written = f"math.sscript({written})"
    elif is_display == "false":
        written = f"math.inline({written})"
    if size := _em(element.get("mathsize")):
        written = f"text(size: {size}em, {written})"
    return _colored(element, written)


def _colored(element: HtmlElement, written: str) -> str:
    color, ground = element.get("mathcolor"), element.get("mathbackground")
    if _COLOR.fullmatch(color):
        written = f"text(fill: rgb({quote(color)}), {written})"
    if _COLOR.fullmatch(ground) or "border" in element.get("style"):
        fill = f"rgb({quote(ground)})" if _COLOR.fullmatch(ground) else "none"
        stroke = "0.5pt" if "border" in element.get("style") else "none"
        written = f"colored({fill}, {stroke}, {written})"
    return written


def _padded(element: HtmlElement) -> str:
    classes = element.classes
    if "math-diagram" in classes:
        return _diagram(element)
    written = _colored(element, _sized(element, _row(element.children)))
    for name, side in (("math-llap", "right"), ("math-rlap", "left"), ("math-clap", "center")):
        if name in classes:
            return f"lap({side}, {_em(element.get('width'))}em, {written})"
    if element.get("width") == "0":
        return f"overlaid({written})"
    if offset := _em(element.get("voffset")):
        height = _em(element.get("height"))
        strut = f"; box(width: 0pt, height: {height}em)" if height else ""
        return f"{{raised({offset}em, {written}){strut}}}"
    return written


def _diagram(element: HtmlElement) -> str:
    """Return the expression of a diagram. Its arrows are an image, and its formulas are placed over the
    image."""
    parts = []
    for child in element.elements:
        drawing = next(child.find("svg"), None)
        offset, start = _em(child.get("voffset")), _em(child.get("lspace"))
        if drawing is not None:
            width, height = _em(drawing.get("width")), _em(drawing.get("height"))
            parts.append(f"drawn({width}em, {height}em, {offset}em, {quote(standalone_svg(drawing.source))})")
        else:
            parts.append(f"placed({start}em, {offset}em, {_row(child.children)})")
    return f"diagram({_em(element.get('width'))}em, {_join(parts)})"


def _fraction(element: HtmlElement) -> str:
    above, below = map(_one, _arguments(element, 2))
    thickness = element.get("linethickness")
    if thickness and not _em(thickness.removesuffix("px")):
        return f"stacked({above}, {below})"
    return f"math.frac({above}, {below})"


def _root(element: HtmlElement) -> str:
    if element.name == "msqrt":
        return f"math.sqrt({_row(element.children)})"
    base, index = map(_one, _arguments(element, 2))
    return f"math.root({index}, {base})"


def _scripts(element: HtmlElement) -> str:
    base, *scripts = _arguments(element, 3 if element.name == "msubsup" else 2)
    names = {"msub": ("b",), "msup": ("t",), "msubsup": ("b", "t")}[element.name]
    written = ", ".join(f"{name}: {_one(script)}" for name, script in zip(names, scripts, strict=True))
    return f"math.attach(math.scripts({_one(base)}), {written})"


def _multiscripts(element: HtmlElement) -> str:
    base, *rest = _arguments(element, max(1, len(element.elements)))
    at = next((i for i, script in enumerate(rest) if script.name == "mprescripts"), len(rest))
    after, before = rest[:at], rest[at + 1 :]
    pairs = zip(("b", "t", "bl", "tl"), (*_pair(after), *_pair(before)), strict=True)
    written = "".join(f", {name}: {_one(script)}" for name, script in pairs if script.children)
    return f"math.attach(math.scripts({_one(base)}){written})"


def _pair(scripts: Sequence[HtmlElement]) -> tuple[HtmlElement, HtmlElement]:
    """Return the subscript and the superscript. If there are several pairs, join them into one."""
    low, high = scripts[::2], scripts[1::2]
    return HtmlElement("mrow", {}, tuple(low)), HtmlElement("mrow", {}, tuple(high))


def _stack(element: HtmlElement) -> str:
    r"""Return the expression of content over or under a base, such as an accent, a brace, or the limits of
    `\sum`."""
    base, *scripts = _arguments(element, 3 if element.name == "munderover" else 2)
    names = {"munder": ("b",), "mover": ("t",), "munderover": ("b", "t")}[element.name]
    if len(scripts) == 1 and (found := _accent(element, base, scripts[0])):
        return found
    pad = "h(0.58em)" if "math-xarrow" in element.classes else ""
    texts = [_join([part for part in (pad, _one(script), pad) if part]) for script in scripts]
    written = ", ".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True))
    core = _one(base)
    if base.name == "mo" and base.get("stretchy") == "true":
        core = f"relation-stretched({_symbol(base.text.strip())})"
        return f"math.attach(math.limits({core}), {written})"
    is_movable = base.name == "mo" and base.get("movablelimits") != "false"
    return f"math.attach(math.limits(inline: {'false' if is_movable else 'true'}, {core}), {written})"


def _accent(element: HtmlElement, base: HtmlElement, script: HtmlElement) -> str:
    """Return the expression of an accent or brace; empty if `script` is neither."""
    text = script.text.strip()
    is_stretchy = script.get("stretchy") != "false"
    if script.name != "mo" or len(text) > 1:
        return ""
    if is_stretchy and text in _BRACES:
        name = _BRACES[text]
        if element.name == "munder":
            name = name.replace("over", "under")
        return f"math.{name}({_one(base)})"
    accents = _ACCENTS if element.name == "mover" else _ACCENTS_BELOW
    if text in accents:
        size = "" if is_stretchy else ", size: 0%"
        return f"math.accent({_one(base)}, {quote(accents[text])}{size})"
    side = "b" if element.name == "munder" else "t"
    grown = f"math.stretch({_one(script)})" if is_stretchy else _one(script)
    return f"math.attach(math.limits({_one(base)}), {side}: {grown})"


def _link(element: HtmlElement) -> str:
    address = element.get("href")
    written = _row(element.children)
    return f"link({quote(address)}, {written})" if address.startswith(("http", "mailto:")) else written


def _formatted(element: HtmlElement) -> str:
    if element.name == "code":
        return f"raw({quote(element.text)})"
    name = {"b": "math.bold", "i": "math.italic", "s": "strike", "u": "underline"}[element.name]
    return f"{name}({_text(element)})"


def _span(element: HtmlElement) -> str:
    return f"math.sans({_text(element)})" if "math-sans" in element.classes else _text(element)


def cell_content(cell: HtmlElement) -> str:
    """Return the content of a cell of a display."""
    written = write_math(cell)
    return f"math.display({written})" if written != "[]" else written


_ELEMENTS: Mapping[str, Callable[[HtmlElement], str]] = {
    **dict.fromkeys(("mi", "mn"), _letter),
    "mtext": _text,
    "mspace": _space,
    "mstyle": _style,
    "mpadded": _padded,
    "mphantom": lambda element: f"hide({_row(element.children)})",
    "mfrac": _fraction,
    **dict.fromkeys(("msqrt", "mroot"), _root),
    **dict.fromkeys(("msub", "msup", "msubsup"), _scripts),
    **dict.fromkeys(("munder", "mover", "munderover"), _stack),
    "mmultiscripts": _multiscripts,
    "mtable": lambda element: write_table(element, write_math),
    "a": _link,
    **dict.fromkeys(("b", "i", "s", "u", "code"), _formatted),
    "span": _span,
}
"""Element → function that writes it. All other elements are written as rows."""
