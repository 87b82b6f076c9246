"""Mathematical alphabets in Unicode, and symbols of text inside formulas.

MathML Core supports `mathvariant` only with `normal`. Bold, script and other letters are therefore
characters of their own (Unicode 16, chapter 22.2). A letter that an alphabet lacks keeps its plain form.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MathAlphabet = str
"""Name of an alphabet: `rm` upright, `it`, `bf`, `bi` bold italic, `cal`, `scr`, `bcal`, `bscr`, `frak`,
`bfrak`, `bb`, `sf`, `bsf`, `sfit`, `bsfit`, `tt`; empty: letters as TeX sets them."""

# first code points of A, a and 0 in the Unicode block
_LATIN: Mapping[MathAlphabet, tuple[int, int, int]] = MappingProxyType(
    {
        "bf": (0x1D400, 0x1D41A, 0x1D7CE),
        "it": (0x1D434, 0x1D44E, 0),
        "bi": (0x1D468, 0x1D482, 0x1D7CE),
        "cal": (0x1D49C, 0x1D4B6, 0),
        "bcal": (0x1D4D0, 0x1D4EA, 0x1D7CE),
        "frak": (0x1D504, 0x1D51E, 0),
        "bfrak": (0x1D56C, 0x1D586, 0x1D7CE),
        "bb": (0x1D538, 0x1D552, 0x1D7D8),
        "sf": (0x1D5A0, 0x1D5BA, 0x1D7E2),
        "bsf": (0x1D5D4, 0x1D5EE, 0x1D7EC),
        "sfit": (0x1D608, 0x1D622, 0x1D7E2),
        "bsfit": (0x1D63C, 0x1D656, 0x1D7EC),
        "tt": (0x1D670, 0x1D68A, 0x1D7F6),
    }
)
# first code point of the Greek letters in the Unicode block
_GREEK: Mapping[MathAlphabet, int] = MappingProxyType(
    {"bf": 0x1D6A8, "it": 0x1D6E2, "bi": 0x1D71C, "bsf": 0x1D756, "bsfit": 0x1D790}
)
# in the order of those blocks
_GREEK_LETTERS = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡϴΣΤΥΦΧΨΩ∇αβγδεζηθικλμνξοπρςστυφχψω∂ϵϑϰϕϱϖ"
# letters that were in Unicode before the blocks
_OLDER: Mapping[MathAlphabet, Mapping[str, str]] = MappingProxyType(
    {
        "it": {"h": "ℎ"},
        "cal": dict(zip("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ", strict=True)),
        "frak": dict(zip("CHIRZ", "ℭℌℑℜℨ", strict=True)),
        "bb": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
    }
)
_SCRIPT_OF: Mapping[MathAlphabet, MathAlphabet] = MappingProxyType({"scr": "cal", "bscr": "bcal"})
_ROUNDHAND = "\ufe01"
"""Unicode 14's variation selector for roundhand letters. Without it, STIX draws chancery letters."""
BOLD_ALPHABETS: Mapping[MathAlphabet, MathAlphabet] = MappingProxyType(
    {
        "": "bi",
        "it": "bi",
        "rm": "bf",
        "cal": "bcal",
        "scr": "bscr",
        "frak": "bfrak",
        "sf": "bsf",
        "sfit": "bsfit",
    }
)
r"""Alphabet → its bold form, as `\boldsymbol` selects it."""


def letters(face: MathAlphabet) -> dict[str, str]:
    """Map plain Latin letters, Greek letters and digits to their form in the alphabet `face`."""
    if face == "rm":
        return {}
    selector = _ROUNDHAND if face == "scr" else ""
    face = _SCRIPT_OF.get(face, face)
    capital, small, zero = _LATIN[face]
    made = {chr(65 + n): chr(capital + n) for n in range(26)} | {
        chr(97 + n): chr(small + n) for n in range(26)
    }
    made.update(_OLDER.get(face, {}))
    if selector:
        made = {plain: letter + selector for plain, letter in made.items()}
    if zero:
        made.update({chr(48 + n): chr(zero + n) for n in range(10)})
    # Unicode has sans-serif Greek only in bold
    greek = {"sf": "bsf", "sfit": "bsfit"}.get(face, face)
    if greek in _GREEK:
        made.update({letter: chr(_GREEK[greek] + n) for n, letter in enumerate(_GREEK_LETTERS)})
    if face in ("bf", "bi"):
        made.update({"Ϝ": "𝟊", "ϝ": "𝟋"})
    if face in ("it", "bi"):
        made.update({"ı": "𝚤", "ȷ": "𝚥"} if face == "it" else {})
    return made


# Symbols and accents of LaTeX's text mode.


_NAMED = """
textdollar $ textunderscore _ textless < textgreater > textbar | textbardbl ‖ textbackslash \\
textbraceleft { textbraceright } textasciitilde ~ textasciicircum ^ textquoteleft ‘ textquoteright ’
textquotedblleft “ textquotedblright ” textquotedbl " textquotesingle ' textemdash — textendash –
textellipsis … textdegree ° textregistered ® textcopyright © texttrademark ™ textsterling
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


TEXT_SYMBOLS: Mapping[str, str] = MappingProxyType(
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
"""Command in text → string that it prints."""

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
        "\\textcircled": "\u20dd",
        "\\c": "\u0327",
        "\\k": "\u0328",
        "\\b": "\u0331",
        "\\t": "\u0361",
    }
)
"""Command in text → combining character."""
