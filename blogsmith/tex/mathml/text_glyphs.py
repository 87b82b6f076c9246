"""Signs and accents of LaTeX's text mode."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_NAMED = """
textdollar $ textunderscore _ textless < textgreater > textbar | textbardbl ‖ textbackslash \\
textbraceleft { textbraceright } textasciitilde ~ textasciicircum ^ textquoteleft ‘ textquoteright ’
textquotedblleft “ textquotedblright ” textquotedbl " textquotesingle ' textemdash — textendash –
textellipsis … textdegree ° textcircled ◯ textregistered ® textcopyright © texttrademark ™ textsterling
£ texteuro € textyen ¥ textcent ¢ textbullet • textdagger † textdaggerdbl ‡ textparagraph ¶ textsection
§ textperiodcentered · textasteriskcentered ∗ textexclamdown ¡ textquestiondown ¿ textordfeminine ª
textordmasculine º textonehalf ½ textonequarter ¼ textthreequarters ¾ textmu µ textpm ± texttimes ×
textdiv ÷ textlangle ⟨ textrangle ⟩ textperthousand ‰ textmho ℧ textohm Ω textcelsius ℃ textminus −
textleftarrow ← textrightarrow → textuparrow ↑ textdownarrow ↓ textnumero № textsurd √ textlnot ¬
textonesuperior ¹ texttwosuperior ² textthreesuperior ³ textbrokenbar ¦ textcurrency ¤ textwon ₩
textpeso ₱ textdong ₫ textreferencemark ※ textinterrobang ‽ textestimated ℮ textblank ␢ textmusicalnote
♪ textpilcrow ¶ textcolonmonetary ₡ textguarani ₲ textlira ₤ textnaira ₦ textflorin ƒ textservicemark ℠
textcopyleft 🄯 textfractionsolidus ⁄ textopenbullet ◦ textlbrackdbl ⟦ textrbrackdbl ⟧ textpertenthousand
‱ textrecipe ℞ textdiscount ⁒ textbigcircle ◯ textbaht ฿ ss ß ae æ AE Æ oe œ OE Œ o ø O Ø aa å AA Å l ł
L Ł i ı j ȷ dh ð DH Ð th þ TH Þ dj đ DJ Đ ng ŋ NG Ŋ S § P ¶ pounds £ dag † ddag ‡ copyright © dots …
ldots … lq ‘ rq ’ textasciiacute ´ textasciigrave ` textasciidieresis ¨ textasciimacron ¯ degree ° yen ¥
checkmark ✓ circledR ® maltese ✠ textbabygamma ɤ euro €
"""


def _signs() -> dict[str, str]:
    words = _NAMED.split()
    words = words[: len(words) - len(words) % 2]
    return {"\\" + name: sign for name, sign in zip(words[::2], words[1::2], strict=True)}


SIGNS: Mapping[str, str] = MappingProxyType(
    _signs()
    | {"\\" + sign: sign for sign in "$%#&_{}"}
    | {
        "\\relax": "",
        "\\/": "",
        "\\@": "",
        "\\-": "",
        "\\TeX": "TeX",
        "\\LaTeX": "LaTeX",
        "\\KaTeX": "KaTeX",
        "\\par": " ",
    }
    | {
        "\\\\": "\u00a0",
        "\\newline": "\u00a0",
        "\\textvisiblespace": "␣",
        "\\allowbreak": "",
        "\\nobreak": "",
    }
)
"""Command in text → what it prints."""

ACCENTS: Mapping[str, str] = MappingProxyType(
    {
        "\\'": "\u0301",
        "\\`": "\u0300",
        "\\^": "\u0302",
        "\\~": "\u0303",
        "\\=": "\u0304",
        "\\u": "\u0306",
        "\\.": "\u0307",
        '\\"': "\u0308",
        "\\r": "\u030a",
        "\\H": "\u030b",
        "\\v": "\u030c",
        "\\d": "\u0323",
        "\\c": "\u0327",
        "\\k": "\u0328",
        "\\b": "\u0331",
        "\\t": "\u0361",
    }
)
"""Command in text → combining character."""
