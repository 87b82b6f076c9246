r"""Delimiters: `\left … \right`, `\big` and related commands."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..mathml.atoms import CLOSE, INNER, OPEN, ORD, REL, THICK, Atom, add_argument, escape, join_fragments
from ..parse.errors import ParseError, unmatched_hint
from ..parse.lexer import ROW_BREAKS
from ..parse.parser import Command, Parser
from ..parse.scan import strip_mark

_NAMES = """
( ( \\lparen ( ) ) \\rparen ) [ [ \\lbrack [ ] ] \\rbrack ] \\{ { \\lbrace { \\} } \\rbrace } | | \\vert
| \\lvert | \\rvert | \\| ‖ \\Vert ‖ \\lVert ‖ \\rVert ‖ \\mid | \\parallel ‖ \\langle ⟨ \\lang ⟨ < ⟨
\\lt ⟨ \\rangle ⟩ \\rang ⟩ > ⟩ \\gt ⟩ ⟨ ⟨ ⟩ ⟩ ‖ ‖ ∣ | ∥ ‖ \\lceil ⌈ \\rceil ⌉ \\lfloor ⌊ \\rfloor ⌋ ⌈ ⌈
⌉ ⌉ ⌊ ⌊ ⌋ ⌋ \\lgroup ⟮ \\rgroup ⟯ ⟮ ⟮ ⟯ ⟯ \\lmoustache ⎰ \\rmoustache ⎱ ⎰ ⎰ ⎱ ⎱ \\llbracket ⟦
\\rrbracket ⟧ ⟦ ⟦ ⟧ ⟧ \\lBrack ⟦ \\rBrack ⟧ \\lBrace ⦃ \\rBrace ⦄ ⦃ ⦃ ⦄ ⦄ \\lAngle ⟪ \\rAngle ⟫ ⟪ ⟪ ⟫ ⟫
\\llangle ⦉ \\rrangle ⦊ \\llparenthesis ⦇ \\rrparenthesis ⦈ \\ulcorner ⌜ \\urcorner ⌝ \\llcorner ⌞
\\lrcorner ⌟ ⌜ ⌜ ⌝ ⌝ ⌞ ⌞ ⌟ ⌟ / / \\slash / \\backslash \\ \\setminus \\ \\uparrow ↑ \\downarrow ↓
\\updownarrow ↕ \\Uparrow ⇑ \\Downarrow ⇓ \\Updownarrow ⇕ \\lVvert ⦀ \\rVvert ⦀ \\Vvert ⦀ \\arrowvert |
\\Arrowvert ‖ \\bracevert ⎪
"""


def _table() -> dict[str, str]:
    words = _NAMES.split()
    return dict(zip(words[::2], words[1::2], strict=True)) | {".": ""}


DELIMITERS: Mapping[str, str] = MappingProxyType(_table())
"""Token after `\\left` and similar commands → character to print; an empty string for `.`."""

_LOW_CHARACTERS = "0-9a-zA-ZΑ-Ωα-ωϑϕϖϰϱϵ.∗ℂℍℕℙℚℝℤℎℬℰℱℋℐℒℳℛ\U0001d400-\U0001d7ff"
_INDEX_CHARACTERS = "0-9A-PR-Za-fhik-or-xz"
_SIZES: Mapping[str, str] = MappingProxyType({"big": "1.2em", "Big": "1.8em", "bigg": "2.4em", "Bigg": "3em"})
_GROWS = ' stretchy="true" symmetric="true"'
_FENCE = r'<mo fence="true"[^<>]*>[^<]+</mo>'
_LETTER = f"<m[in](?: [^<>]*)?>[{_LOW_CHARACTERS}]+</m[in]>"
_INDEX = f"<m[in](?: [^<>]*)?>[{_INDEX_CHARACTERS}]+</m[in]>"
_OPERATOR = (
    r'<mo(?: [lr]space="[^"]*")*>(?:[+−=≠≤≥∈∼→×,;⋅…⋯\u2061]|&[lg]t;)</mo>'
    r'|<mo(?: [a-z]+="[^"]*")* stretchy="false">[][()|‖∣]</mo>'
)
_FLAT = (
    f"{_LETTER}|<mpadded>{_LETTER}</mpadded>|<mspace[^<>]*/>|{_OPERATOR}"
    f"|<msup>{_LETTER}<mo[^<>]*>′</mo></msup>"
    f"|<msub>{_LETTER}(?:{_INDEX}|<mrow>(?:{_INDEX}|{_OPERATOR})+</mrow>)</msub>"
)
_FIXED, _LIMITED = ' stretchy="false"', ' maxsize=".9em"'
"""Attributes of delimiters around low content. With `_LIMITED`, they may not grow above their own height, so
browsers draw them in text size, and programs that read MathML see delimiters that may grow. `_FIXED` is for
short content, because Chromium gives any delimiter that may grow the width of the largest size."""
_SHORT = 5
"""Maximum number of parts of short content, with both delimiters."""
_INNER = rf'<mrow><mo fence="true"(?:{_FIXED}|{_LIMITED})[^<>]*>[^<]+</mo>(?>(?:{_FLAT})*){_FENCE}</mrow>'
_LOW = lazy_pattern(rf"(?:{_FENCE})?(?>(?:{_FLAT}|{_INNER})*)(?:{_FENCE})?")
"""Matches content whose delimiters have text size in TeX. Browsers would enlarge the delimiters around some
of it, such as `g(x)` and `x'` in Chromium."""
_LIMITS = ("<munder><mo", "<mover><mo", "<munderover><mo")
# characters that stretch by default in this form, by MathML's operator dictionary
_STRETCHY_PREFIX = frozenset("([{|‖⟨⌈⌊⟮⟦⟪")
_STRETCHY_POSTFIX = frozenset(")]}|‖⟩⌉⌋⟯⟧⟫")


def fence(sign: str, form: str) -> str:
    """Return `sign` as a delimiter that grows with its content. form: `prefix`, `postfix` or `infix`."""
    if not sign:
        return ""
    known = sign in (_STRETCHY_PREFIX if form == "prefix" else _STRETCHY_POSTFIX)
    more = "" if known else ' stretchy="true" symmetric="true" lspace="0" rspace="0"'
    return f'<mo fence="true" form="{form}"{more}>{escape(sign)}</mo>'


def parse_delimiter(parser: Parser, token: str) -> str:
    """Return the delimiter that `token` names. ParseError if it names none."""
    found = DELIMITERS.get(token)
    if found is None:
        said = f'invalid delimiter "{token}"' if token else "missing delimiter"
        hint = "write a delimiter such as `(`, `[`, `\\{`, `|` or `\\langle`, or `.` for none"
        raise ParseError(
            "math-syntax", f'{said} after "{parser.command}"', token or parser.command, hint=hint
        )
    return found


_INTENTS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("\\lvert", "\\rvert"): "absolute-value($x)",
        ("\\lVert", "\\rVert"): "norm($x)",
        ("[", ")"): "closed-open-interval($a,$b)",
        ("(", "]"): "open-closed-interval($a,$b)",
    }
)
"""Pair of delimiters with only one meaning → its `intent` attribute."""
_COMMA = "<mo>,</mo>"


def _fenced(names: tuple[str, str], parts: list[str]) -> str:
    r"""Return the elements of `\left … \right` as one row, with its intent. names: the two delimiters."""
    intent, inner = _INTENTS.get(names, ""), parts[1:-1]
    if intent.endswith("($x)") and inner:
        inner = [add_argument(join_fragments(inner), "x")]
    elif intent and inner.count(_COMMA) == 1 and inner[0] != _COMMA != inner[-1]:
        cut = inner.index(_COMMA)
        ends = (
            add_argument(join_fragments(end), name)
            for end, name in zip((inner[:cut], inner[cut + 1 :]), "ab", strict=True)
        )
        inner = [_COMMA.join(ends)]
    else:
        return f"<mrow>{''.join(parts)}</mrow>"
    return f'<mrow intent="{intent}">{parts[0]}{"".join(inner)}{parts[-1]}</mrow>'


def _expand_macros(parser: Parser) -> str:
    """Expand macros until the next token is not a macro. Return this token without consuming it."""
    while parser.peek() in parser.macros:
        parser.expand(parser.pop())
    return parser.peek()


def _read_fence(parser: Parser) -> str:
    _expand_macros(parser)
    token = parser.peek()
    if token == "{":
        inside = [t for t in parser.argument() if t != " "]
        return parse_delimiter(parser, inside[0] if len(inside) == 1 else "{")
    parser.pop()
    return parse_delimiter(parser, strip_mark(token) if token[:1] == "\0" else token)


def _left(parser: Parser, command: str) -> Atom:
    name = _expand_macros(parser)
    opening = _read_fence(parser)
    mark, environment = parser.mark(), parser.environment
    parser.environment = ""
    parts: list[str] = []
    rows: list[list[str]] = []
    while True:
        parts += map(
            lambda piece: f"<mrow>{piece}</mrow>" if piece.startswith(_LIMITS) else piece, parser.row()
        )
        if parser.end_token == "\\middle":
            middle = parser.end_token
            parser.command = middle
            name = ""
            parts.append(_middle(_read_fence(parser)))
            continue
        if parser.end_token not in ROW_BREAKS or environment:
            break
        # LaTeX rejects a new line here; MathJax and KaTeX begin a row
        rows.append(parts)
        parts = []
    parser.environment = environment
    if parser.end_token != "\\right":
        raise _unclosed_error(parser, command)
    parser.command = parser.end_token
    names = name, _expand_macros(parser)
    if rows:
        lines = "".join(f"<mtr><mtd>{''.join(row)}</mtd></mtr>" for row in (*rows, parts))
        parts = [f'<mtable class="math-align" displaystyle="true">{lines}</mtable>']
    parts.insert(0, fence(opening, "prefix"))
    parts.append(fence(_read_fence(parser), "postfix"))
    parser.command = command
    parser.restore(mark)
    if _LOW.fullmatch("".join(parts)):
        size = _FIXED if len(parts) <= _SHORT else _LIMITED
        for end in (0, -1):
            small = parts[end].replace('<mo fence="true"', f'<mo fence="true"{size}')
            parts[end] = small.replace(_GROWS, "")
    return INNER, _fenced(names, parts)


def _middle(sign: str) -> str:
    if not sign:
        return ""
    grows = 'stretchy="true" symmetric="true" lspace="0" rspace="0"'
    return f'<mo fence="true" form="infix" {grows}>{escape(sign)}</mo>'


def _unclosed_error(parser: Parser, command: str) -> ParseError:
    found = parser.end_token
    if not found:
        return ParseError("math-brace", '"\\left" is never closed', command, unclosed=True)
    return ParseError(
        "math-brace",
        f'unexpected "{found}": "\\left" is still open',
        found,
        hint=f"write `\\right` and a delimiter before `{found}`",
    )


def _big_delimiter(parser: Parser, command: str) -> Atom:
    name = command[1:]
    role = name[-1] if name[-1] in "lrm" else ""
    size = _SIZES[name[:-1] if role else name]
    sign = _read_fence(parser)
    kind = {"l": OPEN, "r": CLOSE, "m": REL}.get(role, ORD)
    if not sign:
        return kind, "<mrow></mrow>"
    form = {"l": ' form="prefix"', "r": ' form="postfix"'}.get(role, "")
    space = f'lspace="{THICK}" rspace="{THICK}"' if role == "m" else 'lspace="0" rspace="0"'
    height = f'minsize="{size}" maxsize="{size}" stretchy="true" symmetric="true"'
    return kind, f"<mo{form} {space} {height}>{escape(sign)}</mo>"


def _stray(parser: Parser, command: str) -> Atom:
    raise ParseError(
        "math-brace", f'unmatched "{command}": nothing is open here', command, hint=unmatched_hint(command)
    )


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {"\\left": _left} | {f"\\{size}{role}": _big_delimiter for size in _SIZES for role in ("", "l", "r", "m")}
)
