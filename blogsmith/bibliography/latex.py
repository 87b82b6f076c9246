"""Converts LaTeX in fields of a bibliography to text, which may contain formulas and a few tags (see
`model.publications`).

The conversion is one pass with a stack, so deeply nested braces are not slow. Formulas are not changed. An
unknown command is removed and reported, but its argument is kept.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..base.patterns import lazy_pattern

_TOKEN = lazy_pattern(
    r"\\[A-Za-z]+\*?[ \t\n]*|\\.|\\$|\$\$?|[{}~]|---?|``|''|<<|>>|\s+|[^\\${}~`'<>\s-]+|.", 16
)
"""Matches tokens of TeX (`re.DOTALL`)."""
_FORMULA = lazy_pattern(r"\$\$(?:[^\\$]|\\.)*\$\$|\$(?:[^\\$]|\\.)*\$|\\\((?:[^\\]|\\[^)])*\\\)", 16)
_DASHES = {
    "--": "–",
    "---": "—",
    "``": "“",
    "''": "”",
    "~": "\u00a0",
    "`": "‘",
    "'": "’",
    "<<": "«",
    ">>": "»",
}
_NOCASE = ('<span class="nocase">', "</span>")
_TAG = lazy_pattern(r"</?(?:i|b|sup|sub|span)(?: [^<>]*)?>")
MOST_UNKNOWN = 5


@dataclass(frozen=True, slots=True)
class UnknownCommand:
    """A LaTeX command that this module cannot convert."""

    name: str
    """Name with its backslash."""
    offset: int


@dataclass(slots=True)
class _Group:
    """A group in braces that is still open."""

    closing: str = ""
    """Text to append when the group is closed."""
    pieces: list[str] = field(default_factory=list)
    accent: str = ""
    """Combining mark for the first letter of the group."""
    is_skipped: bool = False
    """Whether the content of the group is not printed, such as the URL of a link."""


def plain_text(tex: str) -> str:
    """Return the result of `convert_latex` without tags."""
    return _TAG.sub("", convert_latex(tex)[0])


def convert_latex(tex: str, *, protects: bool = False) -> tuple[str, tuple[UnknownCommand, ...]]:
    """Convert a TeX value to text. Also return the unknown commands in the value. protects: whether braces
    protect their content from changes of case, as in titles."""
    if not any(sign in tex for sign in "\\{}$~`'<-"):
        return " ".join(tex.split()), ()
    reader = _Reader(tex, protects=protects)
    made = " ".join(reader.read().split(" "))
    text = unicodedata.normalize("NFC", " ".join(piece for piece in made.split(" ") if piece))
    return text, tuple(reader.unknown)


class _Reader:
    def __init__(self, tex: str, *, protects: bool) -> None:
        self._tex = tex
        self._protects = protects
        self._groups = [_Group()]
        self._wants_argument: list[_Group] = []
        """Groups that will be opened by the next arguments of a command."""
        self.unknown: list[UnknownCommand] = []

    def read(self) -> str:
        """Convert the value and return the result."""
        position, end = 0, len(self._tex)
        while position < end:
            formula = _FORMULA.match(self._tex, position) if self._tex[position] in "$\\" else None
            if formula:
                self._append_text(_as_dollars(formula[0]))
                position = formula.end()
                continue
            token = _TOKEN.match(self._tex, position)
            assert token is not None, "the last alternative takes any character"
            self._read_token(token[0], position)
            position = token.end()
        while len(self._groups) > 1:
            self._close()
        return "".join(self._groups[0].pieces)

    def _read_token(self, token: str, position: int) -> None:
        if token == "{":
            self._open(position)
        elif token == "}":
            # a surplus brace is ignored
            if len(self._groups) > 1:
                self._close()
        elif token[0] == "\\":
            self._command(token.rstrip(" \t\n") if token[1:2].isalpha() else token, position)
        elif token.isspace():
            if not self._wants_argument:
                self._append_text(" ")
        elif self._wants_argument:
            # an argument without braces is one character
            self._groups.append(self._wants_argument.pop())
            self._append_text(token[0])
            self._close()
            if token[1:]:
                self._append_text(token[1:])
        else:
            self._append_text("\\$" if token in ("$", "$$") else _DASHES.get(token, token))

    def _open(self, position: int) -> None:
        if self._wants_argument:
            self._groups.append(self._wants_argument.pop())
            return
        is_protected = self._protects and len(self._groups) == 1
        # braces in `{\'e}` do not protect from changes of case: it is only an accented letter
        if is_protected and not self._tex.startswith("\\", position + 1):
            self._groups.append(_Group(_NOCASE[1], [_NOCASE[0]]))
        else:
            self._groups.append(_Group())

    def _close(self) -> None:
        group = self._groups.pop()
        self._wants_argument.clear()
        text = "".join((*group.pieces, group.closing))
        if group.accent:
            text = _with_accent(text, group.accent)
        if not group.is_skipped:
            self._groups[-1].pieces.append(text)

    def _append_text(self, text: str) -> None:
        if self._wants_argument:
            self._groups.append(self._wants_argument.pop())
            self._groups[-1].pieces.append(text)
            self._close()
        else:
            self._groups[-1].pieces.append(text)

    def _command(self, token: str, position: int) -> None:
        name = token[1:].removesuffix("*")
        if name in ACCENTS:
            self._wants_argument.append(_Group(accent=ACCENTS[name]))
        elif name in FONT_COMMANDS:
            opening, closing = FONT_COMMANDS[name]
            self._wants_argument.append(_Group(closing, [opening]))
        elif name == "href":
            self._wants_argument += [_Group(), _Group(is_skipped=True)]
        elif name in SWITCHES:
            opening, closing = SWITCHES[name]
            group = self._groups[-1]
            group.pieces.append(opening)
            group.closing = closing + group.closing
        elif name in SYMBOLS:
            self._append_text(SYMBOLS[name])
        elif name == "ensuremath":
            self._wants_argument.append(_Group("$", ["$"]))
        elif len(self.unknown) < MOST_UNKNOWN:
            self.unknown.append(UnknownCommand(token, position))


def _with_accent(text: str, mark: str) -> str:
    """Add the combining mark to the first letter. If this is a dotless i, replace it by `i`, because fonts
    compose accented letters from `i`."""
    for index, char in enumerate(text):
        if char.isalpha():
            letter = {"ı": "i", "ȷ": "j"}.get(char, char)
            return text[:index] + letter + mark + text[index + 1 :]
    return text


def _as_dollars(formula: str) -> str:
    r"""Return a formula as inline math, such as `$x$` for `\(x\)` and `$$x$$`. Outer spaces are removed,
    because Markdown would not recognize the formula with them."""
    inner = formula[2:-2] if formula[:2] in ("$$", "\\(") else formula[1:-1]
    return f"${' '.join(inner.split())}$" if inner.strip() else ""


def split_outside_braces(tex: str, word: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, part) for the parts of `tex` between occurrences of `word`, such as `and`. Occurrences
    in braces do not separate parts."""
    depth = start = 0
    pattern = lazy_pattern(rf"[{{}}]|(?<=\s){word}(?=\s)")
    for found in pattern.finditer(tex):
        if found[0] in "{}":
            depth = max(0, depth + (1 if found[0] == "{" else -1))
        elif depth == 0:
            yield start, tex[start : found.start()]
            start = found.end()
    yield start, tex[start:]


# LaTeX commands in bibliographies: accents, symbols, fonts.


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
"""Accent command without backslash → combining character, which follows the letter."""
SYMBOLS: Mapping[str, str] = MappingProxyType(
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
"""Command without backslash → text that replaces the command. In this text, dollar and backslash are escaped,
because the result may contain formulas."""
FONT_COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
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
"""Command with one argument → tags or text around the argument."""
SWITCHES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("em", "it", "itshape", "sl", "slshape"), ("<i>", "</i>")),
        **dict.fromkeys(("bf", "bfseries"), ("<b>", "</b>")),
    }
)
"""Command that changes the rest of its group → tags around that text."""
