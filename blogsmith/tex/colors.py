"""Colours by name or number, as CSS.

Names: CSS Color 4 and xcolor's `dvipsnames`; models `HTML`, `rgb`, `RGB`, `gray`, `cmyk` (its manual, 2.4).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from .wrong import Wrong

if TYPE_CHECKING:
    from .parser import Parser

_HEX = re.compile(r"#?(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6})")
_NAME = re.compile(r"[A-Za-z]+")
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
aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown
burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan
darkgoldenrod darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid
darkred darksalmon darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet
deeppink deepskyblue dimgray dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro
ghostwhite gold goldenrod gray green greenyellow grey honeydew hotpink indianred indigo ivory khaki
lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow
lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray
lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine
mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise
mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab
orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru
pink plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen
seashell sienna silver skyblue slateblue slategray slategrey snow springgreen steelblue tan teal thistle
tomato transparent turquoise violet wheat white whitesmoke yellow yellowgreen currentcolor
"""
_KATEX = """
blue 6495ed orange ffa500 pink ff00af red df0030 green 28ae7b gray gray purple 9d38bd blueA ccfaff blueB
80f6ff blueC 63d9ea blueD 11accd blueE 0c7f99 tealA 94fff5 tealB 26edd5 tealC 01d1c1 tealD 01a995 tealE
208170 greenA b6ffb0 greenB 8af281 greenC 74cf70 greenD 1fab54 greenE 0d923f goldA ffd0a9 goldB ffbb71
goldC ff9c39 goldD e07d10 goldE a75a05 redA fca9a9 redB ff8482 redC f9685d redD e84d39 redE bc2612
maroonA ffbde0 maroonB ff92c6 maroonC ed5fa6 maroonD ca337c maroonE 9e034e purpleA ddd7ff purpleB c6b9fc
purpleC aa87ff purpleD 7854ab purpleE 543b78 mintA f5f9e8 mintB edf2df mintC e0e5cc grayA f6f7f7 grayB
f0f1f2 grayC e3e5e6 grayD d6d8da grayE babec2 grayF 888d93 grayG 626569 grayH 3b3e40 grayI 21242c kaBlue
314453 kaGreen 71b307
"""
NAMES: Mapping[str, str] = MappingProxyType(
    {name: name for name in _CSS.split()}
    | {name: "#" + code.lower() for name, code in zip(_DVIPS.split()[::2], _DVIPS.split()[1::2], strict=True)}
)
"""Name → CSS colour; lower-case names are those of CSS."""


COMMANDS: Mapping[str, str] = MappingProxyType(
    {"\\" + name: "#" + code for name, code in zip(_KATEX.split()[::2], _KATEX.split()[1::2], strict=True)}
)
"""Command → CSS colour: `\\blue{x}` and its shades, as KaTeX has them."""


def color_of(parser: Parser, command: str) -> str:
    """Reads `[model]{colour}` or `{colour}` behind `command`."""
    model = "".join(parser.optional() or ()).strip()
    source = parser.argument()
    own = parser.colors.get("".join(source).strip())
    return own if own and not model else css_color(source, model, command)


def css_color(source: Sequence[str], model: str, command: str) -> str:
    """The colour that `source` says, as CSS; `Wrong` if it says none."""
    text = "".join(source).strip()
    found = _by_model(text, model) if model else _plain(text)
    if found is None:
        place = next((token for token in source if token != " "), command)
        said = f"{text} is no colour" if text else f"{command} needs a colour"
        end = next((token for token in reversed(source) if token != " "), command)
        raise Wrong(
            "math-syntax", said, place, end=end, hint="write a name such as teal, or a number such as #0a7"
        )
    return found


def define_color(parser: Parser, command: str) -> None:
    r"""`\definecolor{name}{model}{value}`: holds to the end of the formula."""
    name, model = "".join(parser.argument()).strip(), "".join(parser.argument()).strip()
    parser.colors[name] = css_color(parser.argument(), model, command)


def _plain(text: str) -> str | None:
    if text in NAMES:
        return NAMES[text]
    if _HEX.fullmatch(text) and (text[0] == "#" or len(text) == 6 or not text.isalpha()):
        return "#" + text.lstrip("#").lower()
    if text.lower() in NAMES and _NAME.fullmatch(text):
        return NAMES[text.lower()]
    return None


def _by_model(text: str, model: str) -> str | None:
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
