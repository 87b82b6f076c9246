r"""Text inside formulas: `\text{…}`, its fonts, accents, symbols and logos, and `$…$` in it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

from ...base.html_tags import read_text
from ...base.patterns import lazy_pattern
from ...model.names import name_set
from ..mathml.alphabets import ACCENTS, TEXT_SYMBOLS
from ..mathml.atoms import INNER, ORD, Atom, escape, join_fragments
from ..parse.colors import read_color
from ..parse.errors import ParseError
from ..parse.lengths import ems, read_ems
from ..parse.parser import Command, Parser
from ..parse.scan import clean_text, cut_token, strip_mark
from ..parse.state import TEXT
from .boxes import raise_box, read_length_tokens, space
from .conditionals import expand_condition
from .fonts import SIZES, scale, set_color
from .fractions import set_in_style


def _letter(text: str) -> str:
    return f"<mtext>{text}</mtext>"


def _row(*pieces: str) -> str:
    return f"<mrow>{''.join(pieces)}</mrow>"


_TEX = (_letter("T"), space(-0.1667), raise_box(-0.2155, _letter("E")), space(-0.125), _letter("X"))
_SMALL_A = '<mtext><span class="math-smallcaps">a</span></mtext>'
_LOGOS: Mapping[str, str] = MappingProxyType(
    {
        "\\TeX": _row(*_TEX),
        "\\LaTeX": _row(_letter("L"), space(-0.35), raise_box(0.2, _SMALL_A), space(-0.15), *_TEX),
        "\\KaTeX": _row(_letter("K"), space(-0.17), raise_box(0.2, _SMALL_A), space(-0.15), *_TEX),
        "\\Temml": _row(_letter("T"), space(-0.2), raise_box(-0.2155, _letter("e")), _letter("mml")),
    }
)


def _logo(parser: Parser, command: str) -> Atom:
    return ORD, _LOGOS[command]


def _char(parser: Parser, command: str) -> Atom:
    r"""Typeset `\char"41`, `\char'101`, `\char65`, ``\char`A``."""
    first = parser.pop()
    if first == "`":
        return _character_atom(parser.pop().removeprefix("\\"), command)
    base = {'"': 16, "'": 8}.get(first, 10)
    digits = "" if base != 10 else first
    while parser.stack and parser.stack[-1].isalnum() and parser.stack[-1].isascii():
        token = parser.stack[-1]
        good = len(token) - len(token.lstrip("0123456789ABCDEF" if base == 16 else "0123456789"))
        if not good:
            break
        parser.stack.pop()
        digits += token[:good]
        if good < len(token):
            parser.stack.append(cut_token(token, good, len(token)))
            break
    return _number_atom(digits, base, command)


def _number_atom(digits: str, base: int, command: str) -> Atom:
    try:
        number = int(digits, base) if digits.isalnum() and len(digits) < 10 else 0
    except ValueError:
        number = 0
    return _character_atom(chr(number) if 32 <= number <= 0x10FFFF else "", command)


def _character_atom(character: str, command: str) -> Atom:
    if len(clean_text(character)) != 1:
        hint = (
            "write a code such as `\\unicode{x3B1}`"
            if command == "\\unicode"
            else "write a code such as `\\char65`"
        )
        message = f'invalid character code after "{command}": not a printable character'
        raise ParseError("math-syntax", message, command, hint=hint)
    return ORD, _letter(escape(character))


def _unicode(parser: Parser, command: str) -> Atom:
    r"""Typeset MathJax's `\unicode{x3b1}`."""
    parser.optional()
    text = "".join(parser.argument()).strip().lower()
    return _number_atom(text.removeprefix("x"), 16 if text.startswith("x") else 10, command)


# command → start tags of the HTML elements that surround its text
_TAGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "\\text": (),
        "\\textrm": (),
        "\\textnormal": (),
        "\\textup": (),
        "\\textmd": (),
        "\\mbox": (),
        "\\hbox": (),
        "\\vbox": (),
        "\\vtop": (),
        "\\textbf": ("b",),
        "\\textit": ("i",),
        "\\textsl": ("i",),
        "\\emph": ("i",),
        "\\underline": ("u",),
        "\\uline": ("u",),
        "\\sout": ("s",),
        "\\texttt": ("code",),
        "\\textsf": ('span class="math-sans"',),
        "\\textsc": ('span class="math-smallcaps"',),
    }
)
_SWITCHES: Mapping[str, str] = MappingProxyType(
    {
        "\\bf": "b",
        "\\bfseries": "b",
        "\\it": "i",
        "\\itshape": "i",
        "\\em": "i",
        "\\sl": "i",
        "\\tt": "code",
        "\\ttfamily": "code",
        "\\sf": 'span class="math-sans"',
        "\\sffamily": 'span class="math-sans"',
        "\\sc": 'span class="math-smallcaps"',
        "\\cal": "i",
        "\\boldmath": "b",
        "\\rm": "",
        "\\rmfamily": "",
        "\\upshape": "",
        "\\mdseries": "",
        "\\slshape": "i",
        "\\scshape": 'span class="math-smallcaps"',
        "\\normalfont": "",
    }
)
_SPACES = frozenset((" ", "~", "\\ ", "\\space", "\\nobreakspace"))
_WIDTHS: Mapping[str, float] = MappingProxyType(
    {
        "\\,": 1 / 6,
        "\\thinspace": 1 / 6,
        "\\:": 2 / 9,
        "\\;": 5 / 18,
        "\\!": -1 / 6,
        "\\quad": 1.0,
        "\\qquad": 2.0,
        "\\enspace": 0.5,
        "\\>": 2 / 9,
        "\\negthinspace": -1 / 6,
        "\\enskip": 0.5,
    }
)
_BOXES = name_set(
    "\\colorbox \\fcolorbox \\fbox \\raisebox \\llap \\rlap \\clap \\makebox \\ref \\eqref"
    " \\hspace \\rule \\Space \\char \\unicode \\scalebox \\rotatebox \\reflectbox \\cref \\Cref \\autoref"
    " \\ialign \\halign \\oalign \\ooalign \\mmlToken"
    " \\href \\url \\boxed \\phantom \\hphantom \\vphantom"
)
"""Commands that are allowed in text and implemented in other modules."""
_SILENT = name_set(
    "\\par \\centering \\raggedright \\raggedleft \\noindent \\protect \\relax \\selectfont \\strut"
    " \\allowbreak \\offinterlineskip \\hfil \\hfill \\hss \\vss \\vfil \\leavevmode \\m@th \\quitvmode"
    " \\xspace \\ignorespaces"
)
"""Commands without an effect on text in a formula."""
_LINKS = ("\\hyperlink", "\\hypertarget")
_STYLE_DEPENDENT = lazy_pattern("<mfrac|<munder|<mover|<mtable|[∏-∑∫-∳⋀-⋃⨀-⫿]")
"""Markup that looks different in display and inline math."""
_SCRIPT_SIZE = 0.7
_SINGLE: Mapping[str, str] = MappingProxyType({"`": "‘", "'": "’", "-": "-"})
_MATH_OPENERS: Mapping[str, str] = MappingProxyType({"$": "$", "\\(": "\\)"})


class _Text:
    """Reader of text that collects its markup: an `mtext` for each stretch of plain text, other elements
    between them."""

    def __init__(self, parser: Parser, tags: tuple[str, ...]) -> None:
        self.parser = parser
        self.tags = tags
        self.pieces: list[str] = []
        self._letters: list[str] = []

    def add(self, text: str) -> None:
        self._letters.append(text)

    def element(self, xml: str) -> None:
        self.flush()
        self.pieces.append(xml)

    def flush(self) -> None:
        if self._letters:
            shown = escape("".join(self._letters))
            for tag in reversed(self.tags):
                if tag:
                    shown = f"<{tag}>{shown}</{tag.split()[0]}>"
            self.pieces.append(f"<mtext>{shown}</mtext>")
            self._letters = []

    def read(self) -> None:
        """Read everything up to and including the brace that closes the text."""
        parser = self.parser
        stack = parser.stack
        while stack:
            token = stack.pop()
            if token[0] == "\0":  # bound by \let
                self._token(strip_mark(token))
                continue
            if token == "}":
                self.flush()
                return
            if token[0] == "\\":
                self._skip_space(token)
            if token in parser.macros:
                parser.expand(token)
                continue
            self._token(token)
        raise ParseError("math-brace", 'opening brace "{" is never closed', parser.command, unclosed=True)

    def _skip_space(self, token: str) -> None:
        """Skip a space after a command whose name consists of letters, as TeX does."""
        stack = self.parser.stack
        if token[0] == "\\" and token[-1].isalpha() and stack and stack[-1] == " ":
            stack.pop()

    def _token(self, token: str) -> None:
        if token in _SPACES:
            self.add("\u00a0")
        elif token == "{":
            self._group(self.tags)
        elif token in _MATH_OPENERS:
            self.element(self._formula(token))
        elif token[0] == "\\":
            self._command(token)
        elif token in "`'-":
            # in a typewriter font, `--` and quotes are not combined
            self.add(_SINGLE[token] if "code" in self.tags else self._ligature(token))
        elif token in "_^#":  # print the &: inside braces it cannot end a cell
            escaped = "\\^{}" if token == "^" else f"\\{token}"
            hint = f"write `{escaped}` to print `{token}`"
            raise ParseError("math-syntax", f'"{token}" is not allowed in text', token, hint=hint)
        else:
            self.add(token)

    def _group(self, tags: tuple[str, ...]) -> None:
        """Read a group after its opening brace. tags: HTML elements that surround its text."""
        parser = self.parser
        parser.depth += 1
        if parser.depth > 500:
            raise ParseError(
                "math-limit", "formula is nested too deeply: more than 500 levels", parser.command
            )
        old = self.tags
        self.flush()
        self.tags = tags
        self.read()
        self.tags = old
        parser.depth -= 1

    def _formula(self, opening: str) -> str:
        parser, closing = self.parser, _MATH_OPENERS[opening]
        taken: list[str] = []
        depth = 0
        while parser.stack:
            token = parser.stack.pop()
            if token == closing and not depth:
                xml = join_fragments(parser.parse_group(taken, TEXT))
                return (
                    set_in_style(TEXT, xml)
                    if parser.is_display_style() and _STYLE_DEPENDENT.search(xml)
                    else xml
                )
            depth += (token == "{") - (token == "}")
            if depth < 0:
                break
            taken.append(token)
        hint = "write `\\$` to print `$`"
        raise ParseError(
            "math-syntax", f'formula in text is never closed: missing closing "{opening}"', opening, hint=hint
        )

    def _ligature(self, token: str) -> str:
        stack = self.parser.stack
        run = 1
        while run < 3 and stack and stack[-1] == token:
            if token != "-" and run == 2:
                break
            stack.pop()
            run += 1
        if token == "-":
            return "-–—"[run - 1]
        return {"`": "‘“", "'": "’”"}[token][run - 1]

    def _command(self, token: str) -> None:
        parser = self.parser
        before, parser.command = parser.command, token
        if token in TEXT_SYMBOLS:
            self.add(TEXT_SYMBOLS[token])
        elif token in ACCENTS:
            self.add(self._accent(ACCENTS[token]))
        elif token in _TAGS:
            self._wrap_tags((*self.tags, *_TAGS[token]))
        elif token in _SWITCHES:
            self.flush()
            self.tags = (*self.tags, _SWITCHES[token])
        elif token in _WIDTHS:
            self.element(space(_WIDTHS[token]))
        elif token in ("\\kern", "\\hskip"):
            self.element(space(read_ems(read_length_tokens(parser), token)))
        elif token in _SILENT:
            self._skip_space(token)
        elif token in SIZES or token == "\\fontsize":
            size = SIZES[token] if token in SIZES else self._font_size(token)
            rest = _Text(parser, self.tags)
            rest.read()
            self.element(scale(size / parser.size, join_fragments(rest.pieces)))
            parser.stack.append("}")
        elif token == "\\color":
            color = read_color(parser, token)
            rest = _Text(parser, self.tags)
            rest.read()
            self.element(set_color(color, join_fragments(rest.pieces)))
            parser.stack.append("}")
        else:
            self._math_command(token)
        parser.command = before

    def _font_size(self, command: str) -> float:
        r"""Read the arguments of `\fontsize`. Return the size, relative to the text around the formula."""
        written = "".join(self.parser.name_argument()).strip()
        self.parser.argument()
        length = ems(written if written[-1:].isalpha() else f"{written}pt") or 0.0
        if not 0.1 <= length <= 10:
            raise self.parser.syntax_error(f'invalid size "{written}" of "{command}"', hint="write `12pt`")
        return length

    def _environment(self) -> list[str]:
        """Return the markup of an environment in text, such as `tabular`."""
        parser, taken = self.parser, ["\\begin"]
        depth = 1
        while depth and parser.stack:
            token = parser.stack.pop()
            depth += (token == "\\begin") - (token == "\\end")
            taken.append(token)
        return parser.parse_group([*taken, "{", *parser.argument(), "}"], TEXT)

    def _wrap_tags(self, tags: tuple[str, ...]) -> None:
        argument = self.parser.argument()
        self.parser.stack.append("}")
        self.parser.push(argument)
        self._group(tags)

    def _accent(self, mark: str) -> str:
        bare = self.parser.peek() != "{"
        source = self.parser.argument()
        if bare:
            self._skip_space(source[0])
        letters = "".join(TEXT_SYMBOLS.get(token, token) for token in source if token not in "{}") or "\u00a0"
        letters = letters.replace("\\i", "ı").replace("\\j", "ȷ")
        if mark == "\u20dd" and letters[0] in _CIRCLED:
            return _CIRCLED[letters[0]] + letters[1:]
        base = {"ı": "i", "ȷ": "j"}.get(letters[0], letters[0]) if mark not in "\u0323\u0327" else letters[0]
        return unicodedata.normalize("NFC", base + mark) + letters[1:]

    def _math_command(self, token: str) -> None:
        parser = self.parser
        if token == "\\textcolor":
            color = read_color(parser, token)
            self.element(set_color(color, text(parser, parser.argument(), self.tags)))
            return
        if token in ("\\textsuperscript", "\\textsubscript"):
            name = "msup" if token == "\\textsuperscript" else "msub"
            script = scale(_SCRIPT_SIZE, text(parser, parser.argument(), self.tags))
            self.element(f"<{name}><mrow></mrow>{script}</{name}>")
            return
        if token == "\\parbox":
            read_ems(parser.name_argument(), token)
            self.element(text(parser, parser.argument(), self.tags))
            return
        if token.startswith("\\verb"):
            self.element(f"<mtext><code>{escape(token[6:-1])}</code></mtext>")
            return
        if token == "\\begin":
            self.element(join_fragments(self._environment()))
            return
        if token in _BOXES:
            made = parser.constructs.commands[token](parser, token)
            self.element(made[1] if made else "")
            return
        if token == "\\ensuremath":
            parser.push(["$", *parser.argument(), "$"])
            return
        if token == "\\U":  # MathJax
            parser.push(["\\unicode", "{", "x", *parser.argument(), "}"])
            return
        if token in ("\\Rule", "\\resizebox", "\\index", "\\larger", "\\smaller", *_LINKS):
            parser.expand_by(token, parser.constructs.expanders[token])
            return
        if token != "\\ifmmode" and expand_condition(parser, token):
            return
        atom = parser.atoms.get(token)
        sign = "" if atom is None else read_text(atom[1])
        if atom is not None and atom[0] in (ORD, INNER) and not sign[:1].isalpha():
            self.add(sign)
            return
        if atom is not None or token in parser.constructs.commands or token in parser.constructs.expanders:
            raise ParseError(
                "math-syntax",
                f'"{token}" is not allowed in text',
                token,
                hint=f"write `${token} …$` inside the text",
            )
        raise parser.unknown(token)


_CIRCLED: Mapping[str, str] = MappingProxyType(
    {"0": "⓪"}
    | {chr(ord("1") + n): chr(ord("①") + n) for n in range(9)}
    | {chr(ord(first) + n): chr(ord(start) + n) for first, start in ("AⒶ", "aⓐ") for n in range(26)}
)
"""Letter or digit → the character for it in a circle, which more fonts have than the combining circle."""


def text(parser: Parser, source: list[str], tags: tuple[str, ...] = ()) -> str:
    """Return `source` as text, in one element."""
    parser.stack.append("}")
    parser.push(source)
    reading = _Text(parser, tags)
    table, face, bold = parser.atoms, parser.face, parser.bold
    parser.set_face("", bold=False)
    reading.read()
    parser.face, parser.bold, parser.atoms = face, bold, table
    return join_fragments(reading.pieces) if reading.pieces else "<mrow></mrow>"


def _text(parser: Parser, command: str) -> Atom:
    return ORD, text(parser, parser.argument(), _TAGS[command])


_MATH_ACCENTS: Mapping[str, str] = MappingProxyType(
    {
        "\\'": "\\acute",
        "\\`": "\\grave",
        "\\^": "\\hat",
        "\\~": "\\tilde",
        '\\"': "\\ddot",
        "\\=": "\\bar",
        "\\u": "\\breve",
        "\\v": "\\check",
        "\\r": "\\mathring",
        "\\H": "",
        "\\c": "",
    }
)
"""Accent of text → the math accent that replaces it in a formula; empty if there is none."""


def _text_accent(parser: Parser, command: str) -> Atom | None:
    follower = parser.peek()
    if follower != "{" and not follower[:1].isalpha():
        if command[1].isalpha():
            raise parser.syntax_error(f'missing letter after "{command}"', hint=f"write `{command}{{a}}`")
        raise parser.unknown(command)
    if _MATH_ACCENTS[command]:
        parser.push([_MATH_ACCENTS[command]])
        return None
    return ORD, text(parser, [command, "{", *parser.argument(), "}"])


_IN_TEXT_ONLY = name_set("\\underline \\uline \\sout")
"""Commands that have another meaning in text than in a formula."""
COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        **{name: _text for name in _TAGS if name not in _IN_TEXT_ONLY},
        **{name: _text_accent for name in _MATH_ACCENTS},
        **{name: _logo for name in _LOGOS} | {"\\char": _char, "\\unicode": _unicode},
    }
)
