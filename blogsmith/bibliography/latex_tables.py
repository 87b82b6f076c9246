"""Commands of LaTeX in bibliographies: accents, signs, faces."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ACCENTS: Mapping[str, str] = MappingProxyType(
    {
        "`": "\u0300",
        "'": "\u0301",
        "^": "\u0302",
        "~": "\u0303",
        "=": "\u0304",
        "u": "\u0306",
        ".": "\u0307",
        '"': "\u0308",
        "r": "\u030a",
        "H": "\u030b",
        "v": "\u030c",
        "d": "\u0323",
        "c": "\u0327",
        "k": "\u0328",
        "b": "\u0331",
        "textcommabelow": "\u0326",
    }
)
"""Command → combining mark behind the letter."""
SIGNS: Mapping[str, str] = MappingProxyType(
    {
        **{"ss": "ß", "SS": "SS", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å"},
        **{"o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð"},
        **{"th": "þ", "TH": "Þ", "ng": "ŋ", "NG": "Ŋ", "dj": "đ", "DJ": "Đ"},
        **{"&": "&", "%": "%", "_": "_", "#": "#", "{": "{", "}": "}", "$": "\\$"},
        **{" ": " ", "\n": " ", "\t": " ", ",": "\u202f", ";": " ", ":": " ", "!": "", "-": "", "/": ""},
        **{"@": "", "\\": " ", "quad": " ", "qquad": " ", "newline": " ", "linebreak": " ", "par": " "},
        **{"textendash": "–", "textemdash": "—", "ldots": "…", "dots": "…", "textellipsis": "…"},
        **{"textquoteleft": "‘", "textquoteright": "’", "textquotedblleft": "“", "textquotedblright": "”"},
        **{"lq": "‘", "rq": "’", "textquotesingle": "'", "textasciitilde": "~", "textasciicircum": "^"},
        **{
            "textbackslash": "\\\\",
            "textunderscore": "_",
            "textbar": "|",
            "textless": "<",
            "textgreater": ">",
        },
        **{"textdollar": "\\$", "textregistered": "®", "texttrademark": "™", "copyright": "©"},
        **{"textcopyright": "©", "textdegree": "°", "textmu": "µ", "textpm": "±", "texttimes": "×"},
        **{"pounds": "£", "textsterling": "£", "texteuro": "€", "euro": "€", "S": "§", "P": "¶"},
        **{"textonehalf": "½", "textbullet": "•", "textperiodcentered": "·", "dag": "†", "ddag": "‡"},
        **{"guillemotleft": "«", "guillemotright": "»", "glqq": "„", "grqq": "“", "slash": "/"},
        **{"TeX": "TeX", "LaTeX": "LaTeX", "LaTeXe": "LaTeX2e", "BibTeX": "BibTeX", "bibnamedash": "—"},
        **{
            "relax": "",
            "protect": "",
            "noopsort": "",
            "sc": "",
            "rm": "",
            "tt": "",
            "sf": "",
            "normalfont": "",
        },
        **{"small": "", "footnotesize": "", "displaystyle": "", "upshape": "", "mdseries": "", "null": ""},
    }
)
"""Command → text. A dollar and a backslash are escaped, as texts with formulas need it."""
FACES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("emph", "textit", "textsl", "mkbibemph", "mkbibitalic"), ("<i>", "</i>")),
        **dict.fromkeys(("textbf", "mkbibbold"), ("<b>", "</b>")),
        "textsuperscript": ("<sup>", "</sup>"),
        "textsubscript": ("<sub>", "</sub>"),
        **dict.fromkeys(("enquote", "mkbibquote"), ("“", "”")),
        **dict.fromkeys(
            (
                *(
                    "textrm",
                    "texttt",
                    "textsf",
                    "textsc",
                    "textup",
                    "textmd",
                    "textnormal",
                    "mathrm",
                    "mathbf",
                ),
                *("mathit", "text", "mbox", "hbox", "url", "path", "nolinkurl", "uppercase", "lowercase"),
                *("MakeUppercase", "MakeLowercase", "mathcal", "mathbb", "mathsf", "mkbibparens", "natexlab"),
            ),
            ("", ""),
        ),
    }
)
"""Command with one argument → what stands around it."""
SWITCHES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("em", "it", "itshape", "sl", "slshape"), ("<i>", "</i>")),
        **dict.fromkeys(("bf", "bfseries"), ("<b>", "</b>")),
    }
)
"""Command that holds to the end of its group → the same."""
