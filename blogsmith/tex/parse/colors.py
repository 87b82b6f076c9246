"""Colours by name or number, converted to CSS.

Names: CSS Color 4 and xcolor's `dvipsnames`. Models: `HTML`, `rgb`, `RGB`, `gray`, `cmyk` (xcolor manual,
2.4).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...base.patterns import lazy_pattern
from .errors import ParseError
from .reader import Macro, TokenReader

if TYPE_CHECKING:
    from .parser import Parser

_DEFINED = "\\definecolor "
_HEX = lazy_pattern(r"#?(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})")
_NAME = lazy_pattern(r"[A-Za-z]+")
_EXTENDED = lazy_pattern(r"rgb,255:red,(\d+);green,(\d+);blue,(\d+)")
"""Matches a colour as quiver writes it (xcolor manual, 2.3.3)."""
# as sRGB
_DVIPS = """
Apricot FBB982 Aquamarine 00B5BE Bittersweet C04F17 Black 221E1F Blue 2D2F92 BlueGreen 00B3B8 BlueViolet
473992 BrickRed B6321C Brown 792500 BurntOrange F7921D CadetBlue 74729A CarnationPink F282B4 Cerulean
00A2E3 CornflowerBlue 41B0E4 Cyan 00AEEF Dandelion FDBC42 DarkOrchid A4538A Emerald 00A99D ForestGreen
009B55 Fuchsia 8C368C Goldenrod FFDF42 Gray 949698 Green 00A64F GreenYellow DFE674 JungleGreen 00A99A
Lavender F49EC4 LimeGreen 8DC73E Magenta EC008C Mahogany A9341F Maroon AF3235 Melon F89E7B MidnightBlue
006795 Mulberry A93C93 NavyBlue 006EB8 OliveGreen 3C8031 Orange F58137 OrangeRed ED135A Orchid AF72B0
Peach F7965A Periwinkle 7977B8 PineGreen 008B72 Plum 92268F ProcessBlue 00B0F0 Purple 99479B RawSienna
974006 Red ED1B23 RedOrange F26035 RedViolet A1246B Rhodamine EF559F RoyalBlue 0071BC RoyalPurple 613F99
RubineRed ED017D Salmon F69289 SeaGreen 3FBC9D Sepia 671800 SkyBlue 46C5DD SpringGreen C6DC67 Tan DA9D76
TealBlue 00AEB3 Thistle D883B7 Turquoise 00B4CE Violet 58429B VioletRed EF58A0 White FFFFFF
WildStrawberry EE2967 Yellow FFF200 YellowGreen 98CC70 YellowOrange FAA21A
"""
_CSS = """
aliceblue f0f8ff antiquewhite faebd7 aqua 00ffff aquamarine 7fffd4 azure f0ffff beige f5f5dc bisque
ffe4c4 black 000000 blanchedalmond ffebcd blue 0000ff blueviolet 8a2be2 brown a52a2a burlywood deb887
cadetblue 5f9ea0 chartreuse 7fff00 chocolate d2691e coral ff7f50 cornflowerblue 6495ed cornsilk fff8dc
crimson dc143c cyan 00ffff darkblue 00008b darkcyan 008b8b darkgoldenrod b8860b darkgray a9a9a9
darkgreen 006400 darkgrey a9a9a9 darkkhaki bdb76b darkmagenta 8b008b darkolivegreen 556b2f darkorange
ff8c00 darkorchid 9932cc darkred 8b0000 darksalmon e9967a darkseagreen 8fbc8f darkslateblue 483d8b
darkslategray 2f4f4f darkslategrey 2f4f4f darkturquoise 00ced1 darkviolet 9400d3 deeppink ff1493
deepskyblue 00bfff dimgray 696969 dimgrey 696969 dodgerblue 1e90ff firebrick b22222 floralwhite fffaf0
forestgreen 228b22 fuchsia ff00ff gainsboro dcdcdc ghostwhite f8f8ff gold ffd700 goldenrod daa520 gray
808080 green 008000 greenyellow adff2f grey 808080 honeydew f0fff0 hotpink ff69b4 indianred cd5c5c
indigo 4b0082 ivory fffff0 khaki f0e68c lavender e6e6fa lavenderblush fff0f5 lawngreen 7cfc00
lemonchiffon fffacd lightblue add8e6 lightcoral f08080 lightcyan e0ffff lightgoldenrodyellow fafad2
lightgray d3d3d3 lightgreen 90ee90 lightgrey d3d3d3 lightpink ffb6c1 lightsalmon ffa07a lightseagreen
20b2aa lightskyblue 87cefa lightslategray 778899 lightslategrey 778899 lightsteelblue b0c4de lightyellow
ffffe0 lime 00ff00 limegreen 32cd32 linen faf0e6 magenta ff00ff maroon 800000 mediumaquamarine 66cdaa
mediumblue 0000cd mediumorchid ba55d3 mediumpurple 9370db mediumseagreen 3cb371 mediumslateblue 7b68ee
mediumspringgreen 00fa9a mediumturquoise 48d1cc mediumvioletred c71585 midnightblue 191970 mintcream
f5fffa mistyrose ffe4e1 moccasin ffe4b5 navajowhite ffdead navy 000080 oldlace fdf5e6 olive 808000
olivedrab 6b8e23 orange ffa500 orangered ff4500 orchid da70d6 palegoldenrod eee8aa palegreen 98fb98
paleturquoise afeeee palevioletred db7093 papayawhip ffefd5 peachpuff ffdab9 peru cd853f pink ffc0cb
plum dda0dd powderblue b0e0e6 purple 800080 rebeccapurple 663399 red ff0000 rosybrown bc8f8f royalblue
4169e1 saddlebrown 8b4513 salmon fa8072 sandybrown f4a460 seagreen 2e8b57 seashell fff5ee sienna a0522d
silver c0c0c0 skyblue 87ceeb slateblue 6a5acd slategray 708090 slategrey 708090 snow fffafa springgreen
00ff7f steelblue 4682b4 tan d2b48c teal 008080 thistle d8bfd8 tomato ff6347 turquoise 40e0d0 violet
ee82ee wheat f5deb3 white ffffff whitesmoke f5f5f5 yellow ffff00 yellowgreen 9acd32
"""
_KATEX = """
blue 6495ed orange ffa500 pink ff00af red df0030 green 28ae7b gray 808080 purple 9d38bd blueA ccfaff blueB
80f6ff blueC 63d9ea blueD 11accd blueE 0c7f99 tealA 94fff5 tealB 26edd5 tealC 01d1c1 tealD 01a995 tealE
208170 greenA b6ffb0 greenB 8af281 greenC 74cf70 greenD 1fab54 greenE 0d923f goldA ffd0a9 goldB ffbb71
goldC ff9c39 goldD e07d10 goldE a75a05 redA fca9a9 redB ff8482 redC f9685d redD e84d39 redE bc2612
maroonA ffbde0 maroonB ff92c6 maroonC ed5fa6 maroonD ca337c maroonE 9e034e purpleA ddd7ff purpleB c6b9fc
purpleC aa87ff purpleD 7854ab purpleE 543b78 mintA f5f9e8 mintB edf2df mintC e0e5cc grayA f6f7f7 grayB
f0f1f2 grayC e3e5e6 grayD d6d8da grayE babec2 grayF 888d93 grayG 626569 grayH 3b3e40 grayI 21242c kaBlue
314453 kaGreen 71b307
"""
NAMES: Mapping[str, str] = MappingProxyType(
    {name: "#" + code for name, code in zip(_CSS.split()[::2], _CSS.split()[1::2], strict=True)}
    | {name: "#" + code.lower() for name, code in zip(_DVIPS.split()[::2], _DVIPS.split()[1::2], strict=True)}
)
"""Name → CSS colour in hexadecimal, as HTML checkers know few names. Lower-case names are those of CSS."""
_LIGHT = 0.35
"""Background luminance above which black is more readable than white, with a margin for grey."""
_DIM = 0.2
"""Relative luminance below which a colour has a contrast of less than about 4 on dark pages."""
_GREY = 6
"""If red, green and blue of a colour (0 to 255) differ by less than this, the colour looks grey."""


COMMANDS: Mapping[str, str] = MappingProxyType(
    {"\\" + name: "#" + code for name, code in zip(_KATEX.split()[::2], _KATEX.split()[1::2], strict=True)}
)
r"""Command → CSS colour: `\blue{x}` and its shades, as in KaTeX."""


def read_color(parser: Parser, command: str) -> str:
    """Read `[model]{colour}` or `{colour}` after `command`. Return the colour as CSS."""
    model = "".join(parser.optional() or ()).strip()
    source = parser.name_argument()
    color = None if model else mixed_color(parser, "".join(source))
    return color or css_color(source, model, command)


def mixed_color(parser: Parser, text: str) -> str | None:
    """Return a colour by its name, or a mixture such as `red!60!blue`, 60 % red and 40 % blue (xcolor manual,
    2.3). `red!60` is mixed with white. None if `text` is not a colour."""
    first, *mixed = text.split("!")
    color = _by_name(parser, first)
    for percent, name in zip_longest(mixed[::2], mixed[1::2], fillvalue="white"):
        other = _by_name(parser, name)
        if color is None or other is None or not percent.strip().isdecimal() or int(percent) > 100:
            return None
        color = _mix(color, other, int(percent) / 100)
    return color


def _by_name(parser: Parser, name: str) -> str | None:
    own = parser.macros.get(color_key(name.strip()))
    return own.body[0] if isinstance(own, Macro) else _plain(name.strip())


def _mix(one: str, other: str, share: float) -> str:
    parts = (bytes.fromhex(_digits(color)) for color in (one, other))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in zip(*parts, strict=True))


def css_color(source: Sequence[str], model: str, command: str) -> str:
    """Return the colour in `source` as CSS. ParseError if it is not a colour. model: model of xcolor such as
    `rgb`; empty for a name or a hexadecimal number."""
    text = "".join(source).strip()
    found = _parse_model(text, model) if model else _plain(text)
    if found is None:
        place = next((token for token in source if token != " "), command)
        said = f'invalid colour "{text}"' if text else f'missing colour after "{command}"'
        end = next((token for token in reversed(source) if token != " "), command)
        raise ParseError(
            "math-syntax",
            said,
            place,
            end=end,
            hint="write a name such as `teal`, or a number such as `#0a7`",
        )
    return found


def define_color(reader: TokenReader, command: str) -> None:
    r"""Define a colour by `\definecolor{name}{model}{value}`, for all later formulas of the page, as in
    MathJax."""
    name, model = "".join(reader.argument()).strip(), "".join(reader.argument()).strip()
    color = css_color(reader.argument(), model, command)
    reader.define(color_key(name), Macro(0, None, (color,)), everywhere=True)


def copy_color(parser: Parser, command: str) -> None:
    r"""Define a colour by `\colorlet{name}{color}`. The second argument may be a mixture."""
    name = "".join(parser.argument()).strip()
    parser.define(color_key(name), Macro(0, None, (read_color(parser, command),)), everywhere=True)


def color_key(name: str) -> str:
    """Return the key by which the table of macros stores a colour. No command has this name."""
    return f"{_DEFINED}{name}"


def color_definitions(tex: str, macros: Mapping[str, str | Macro]) -> str:
    """Return TeX that defines the colours among `macros` that `tex` may use; empty if there are none."""
    if "color" not in tex:
        return ""
    colors = {name.removeprefix(_DEFINED): body for name, body in macros.items() if name.startswith(_DEFINED)}
    return "".join(
        f"\\definecolor{{{name}}}{{HTML}}{{{_digits(body.body[0])}}}"
        for name, body in colors.items()
        if f"{{{name}}}" in tex and isinstance(body, Macro)
    )


def _digits(color: str) -> str:
    digits = color.removeprefix("#").upper()
    return digits if len(digits) == 6 else "".join(2 * digit for digit in digits)


def _plain(text: str) -> str | None:
    if text in NAMES:
        return NAMES[text]
    if _HEX.fullmatch(text) and (text[0] == "#" or len(text) == 6 or not text.isalpha()):
        return "#" + text.lstrip("#").lower()
    if text.lower() in NAMES and _NAME.fullmatch(text):
        return NAMES[text.lower()]
    if (extended := _EXTENDED.fullmatch(text.replace(" ", ""))) is not None:
        return _bytes([float(part) for part in extended.groups()])
    return None


def _parse_model(text: str, model: str) -> str | None:
    if model == "named":
        return _plain(text)
    if model == "HTML":
        return _plain("#" + text) if re.fullmatch("[0-9A-Fa-f]{6}", text) else None
    try:
        parts = [float(part) for part in re.split(r"[\s,]+", text)]
    except ValueError:
        return None
    if model == "gray" and len(parts) == 1:
        return _bytes([255 * parts[0]] * 3)
    if model == "cmyk" and len(parts) == 4:
        return _bytes([255 * (1 - part) * (1 - parts[3]) for part in parts[:3]])
    if model in ("rgb", "RGB") and len(parts) == 3:
        return _bytes([part * (255 if model == "rgb" else 1) for part in parts])
    return None


def _bytes(parts: Sequence[float]) -> str | None:
    if not all(0 <= part <= 255 for part in parts):
        return None
    return "#" + "".join(f"{int(part + 0.5):02x}" for part in parts)


def ink_on(color: str, style: str = "") -> str:
    """Return the attributes for text on a background, `#rgb` or `#rrggbb`. On a light background the text is
    black, and its colours stay as on light pages even if the page is dark. style: further CSS."""
    is_light = _luminance(color) > _LIGHT
    style = ";".join(filter(None, (style, "color-scheme:light" if is_light else "")))
    return (' mathcolor="#111111"' if is_light else "") + (f' style="{style}"' if style else "")


def _luminance(color: str) -> float:
    """Return the relative luminance of `#rgb` or `#rrggbb`, from 0 for black to 1 (WCAG 2.2)."""
    parts = [part / 255 for part in bytes.fromhex(_digits(color))]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def dark_twin(color: str) -> str | None:
    """Return a lighter colour for dark pages if `color`, `#rgb` or `#rrggbb`, would be hard to see on them;
    None if it is light enough. Black becomes white."""
    if _luminance(color) >= _DIM:
        return None
    parts = bytes.fromhex(_digits(color))
    if max(parts) - min(parts) < _GREY:
        return "#" + "".join(f"{255 - part:02x}" for part in parts)
    shares = (step / 20 for step in range(19, 0, -1))
    return next(twin for share in shares if _luminance(twin := _mix(color, "#ffffff", share)) >= _DIM)
