r"""Structures that expand to other TeX: inference rules, proof trees, index positions and wide operators.

Sources: mathpartir (`\inferrule`), bussproofs (`prooftree`), tensor, mathtools (`\smashoperator`), amsmath
(`\hdotsfor`), and MathJax's `\bbox` and `\enclose`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, radians, sin
from types import MappingProxyType

from ...base.diagnostics.model import list_choices
from ...base.patterns import lazy_pattern
from ..mathml.atoms import INNER, ORD, REL, Atom, escape, join_fragments
from ..mathml.widths import measure
from ..parse.colors import css_color, ink_on
from ..parse.errors import XY_HINT, ParseError
from ..parse.lengths import css, ems
from ..parse.parser import Command, Environment, Parser
from ..parse.reader import Expander, FormulaReader, tokens
from ..parse.scan import move_tokens, split_tokens
from .boxes import frame_box, space
from .fonts import scale
from .grid import end_environment
from .text import text

_LEAST_FACTOR, _MOST_FACTOR = 0.1, 10.0

# Inference rules


def _inference(
    premises: Sequence[str], conclusion: Sequence[str], *, left: Sequence[str] = (), right: Sequence[str] = ()
) -> list[str]:
    """Return the TeX of an inference rule: premises above a line, the conclusion below, labels beside it."""
    before = [*tokens(r"\text"), "{", *left, "}", *tokens(r"\;")] if left else []
    after = [*tokens(r"\;\text"), "{", *right, "}"] if right else []
    return ["{", *before, "\\dfrac", "{", *premises, "}", "{", *conclusion, "}", *after, "}"]


def _inferrule(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\inferrule*[right=Name]{premise \\ premise}{conclusion}`; `[Name]` puts the name above."""
    reader.star()
    options = "".join(reader.optional() or ()).strip()
    premises, conclusion = reader.argument(), reader.argument()
    joined: list[str] = []
    for premise in split_tokens(premises, "\\\\"):
        joined += [*(tokens(r"\qquad") if joined else ()), *premise]
    labels = dict(_option(one) for one in options.split(","))
    left = labels.get("left", labels.get("lab", labels.get("", "")))
    return _inference(joined, conclusion, left=[*left], right=[*labels.get("right", "")])


def _infer_lines(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\infer[label]{conclusion}{premise & premise}` of the package proof."""
    reader.star()
    label = reader.optional()
    conclusion, joined = reader.argument(), list[str]()
    for premise in split_tokens(reader.argument(), "&"):
        joined += [*(tokens(r"\qquad") if joined else ()), *premise]
    return _inference(joined, conclusion, right=["$", *label, "$"] if label else [])


def _option(written: str) -> tuple[str, str]:
    key, equals, value = written.partition("=")
    return (key.strip().lower(), value.strip().strip("{}")) if equals else ("", written.strip())


_ARITIES: Mapping[str, int] = MappingProxyType(
    {"Axiom": 0, "Unary": 1, "Binary": 2, "Trinary": 3, "Quaternary": 4, "Quinary": 5}
)
_INFERENCES: Mapping[str, int] = MappingProxyType(
    {"\\AxiomC": 0, "\\AXC": 0, "\\UIC": 1, "\\BIC": 2, "\\TIC": 3}
    | {f"\\{name}InfC": arity for name, arity in _ARITIES.items() if arity}
)
"""Command → number of premises."""
_TREE_LABELS: Mapping[str, str] = MappingProxyType(
    {"\\LeftLabel": "left", "\\LL": "left", "\\RightLabel": "right", "\\RL": "right"}
)
_IGNORED_IN_TREES = frozenset(
    f"\\{name}"
    for name in (
        *("singleLine", "solidLine", "dashedLine", "alwaysSingleLine", "alwaysSolidLine", "alwaysNoLine"),
        *("doubleLine", "alwaysDoubleLine", "DisplayProof", "bottomAlignProof", "normalAlignProof", "DP"),
    )
)


def _proof_tree(parser: Parser, name: str) -> Atom:
    """Typeset `prooftree`: each inference uses the last proofs on a stack as its premises (bussproofs,
    section 2)."""
    stack: list[list[str]] = []
    labels: dict[str, list[str]] = {}
    has_line = True
    begin = parser.command
    while (token := parser.pop()) != "\\end":
        parser.command = token
        if not token:
            raise ParseError("math-brace", f'"\\begin{{{name}}}" is never closed', begin, unclosed=True)
        if token in parser.macros:
            parser.expand(token)
        elif token in _TREE_LABELS:
            labels[_TREE_LABELS[token]] = parser.argument()
        elif token in _INFERENCES:
            _infer(parser, stack, _INFERENCES[token], labels, has_line=has_line)
            labels, has_line = {}, True
        elif token == "\\noLine":
            has_line = False
        elif token not in _IGNORED_IN_TREES:
            hint = "write `\\AxiomC{$A$}`, `\\UnaryInfC{$B$}` or `\\RightLabel{rule}`"
            raise ParseError("math-syntax", f'unexpected "{token}" in "{name}"', token, hint=hint)
    parser.command = begin
    if "".join(parser.argument()).strip() != name:
        hint = f"write `\\end{{{name}}}`"
        raise ParseError("math-brace", f'"\\begin{{{name}}}" is still open', begin, hint=hint)
    if len(stack) != 1:
        problem = "no proof" if not stack else f"{len(stack)} proofs that no inference joins"
        hint = "join its proofs by `\\UnaryInfC{…}` or `\\BinaryInfC{…}`"
        raise ParseError("math-syntax", f'"{name}" contains {problem}', begin, hint=hint)
    return INNER, join_fragments(parser.parse_group(stack[0]))


def _math_paragraph(parser: Parser, name: str) -> Atom:
    r"""Typeset mathpartir's `mathpar`: rules separated by `\and`, in rows that `\\` ends."""
    begin, held = parser.command, list[str]()
    depth = 0
    while parser.stack:
        token = parser.stack.pop()
        if token == "\\end" and not depth:
            parser.stack.append(token)
            end_environment(parser, name, begin)
            rows = [*tokens(r"\begin{gathered}"), *held, *tokens(r"\end{gathered}")]
            return INNER, join_fragments(parser.parse_group(move_tokens(rows, begin)))
        depth += (token in ("{", "\\begin")) - (token in ("}", "\\end"))
        held += tokens(r"\qquad") if token in ("\\and", "\\And") and not depth else [token]
    raise ParseError("math-brace", f'"\\begin{{{name}}}" is never closed', begin, unclosed=True)


def _infer(
    parser: Parser, stack: list[list[str]], arity: int, labels: Mapping[str, Sequence[str]], *, has_line: bool
) -> None:
    """Replace the last `arity` proofs on the stack by a proof that has them as premises."""
    conclusion = [*tokens(r"\text"), "{", *parser.argument(), "}"]
    if len(stack) < arity:
        message = f'"{parser.command}" needs {arity} proofs before it: {len(stack)} found'
        hint = "write `\\AxiomC{…}` before it for each premise"
        raise ParseError("math-syntax", message, parser.command, hint=hint)
    if not arity:
        stack.append(conclusion)
        return
    premises: list[str] = []
    for proof in stack[-arity:]:
        premises += [*(tokens(r"\quad") if premises else ()), *proof]
    del stack[-arity:]
    parser.spend(len(premises))
    if has_line:
        left, right = labels.get("left", ()), labels.get("right", ())
        stack.append(_inference(premises, conclusion, left=left, right=right))
    else:
        stack.append([*tokens(r"\genfrac{}{}{0pt}{0}"), "{", *premises, "}", "{", *conclusion, "}"])


# Scripts and operators


def _tensor(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\tensor{T}{^a_b}` and `\indices{^a_b}`: indices one after the other, none above another."""
    before = _indices(reader.optional() or ()) if command == "\\tensor" else []
    base = ["{", *reader.argument(), "}"] if command == "\\tensor" else []
    return [*before, *base, *_indices(reader.argument())]


def _indices(source: Sequence[str]) -> list[str]:
    made: list[str] = []
    for part in _scripts(source):
        made += ["{", "}", *part]
    return made


def _scripts(source: Sequence[str]) -> list[list[str]]:
    """Return each script in `source`, with its marker and its argument in braces."""
    found: list[list[str]] = []
    index = 0
    while index < len(source):
        token = source[index]
        index += 1
        if token not in ("^", "_"):
            continue
        while index < len(source) and source[index] == " ":
            index += 1
        end = index + 1
        if index < len(source) and source[index] == "{":
            depth = 1
            while end < len(source) and depth:
                depth += (source[end] == "{") - (source[end] == "}")
                end += 1
            found.append([token, *source[index:end]])
        else:
            found.append([token, "{", *source[index:end], "}"])
        index = end
    return found


def _smash_operator(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\smashoperator[lr]{\sum_{i=1}^n}`: its limits do not add to the width of the operator."""
    sides = "".join(reader.optional() or "lr").strip()
    lap = {"l": "\\mathllap", "r": "\\mathrlap"}.get(sides, "\\mathclap")
    source = reader.argument()
    start = next((index for index, token in enumerate(source) if token in ("^", "_")), len(source))
    made = list(source[:start])
    for marker, *argument in _scripts(source[start:]):
        made += [marker, "{", lap, *argument, "}"]
    return made


def _dots_across(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\hdotsfor[1.5]{3}` to dots in each of three cells."""
    reader.optional()
    count = "".join(reader.argument()).strip()
    if not count.isdecimal() or not 0 < int(count) <= 100:
        raise reader.syntax_error(f'invalid number of columns "{count}" for "{command}"')
    return tokens(" & ".join(["\\ldots"] * int(count)))


def _skew(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\skew{3}{\hat}{A}` to `\hat{A}`, because browsers place accents themselves."""
    reader.argument()
    accent, base = reader.argument(), reader.argument()
    return [*accent, "{", *base, "}"]


def _character(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\symbol{65}` to the character with this number."""
    number = "".join(reader.argument()).strip()
    if not number.isdecimal() or not 32 < int(number) < 127:
        raise reader.syntax_error(f'invalid character "{number}" for "{command}": expected 33 to 126')
    return [*tokens(r"\text"), "{", chr(int(number)), "}"]


def _resize(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\resizebox{3cm}{!}{x}` to its content, because the width is meant for a printed page."""
    reader.star()
    reader.argument()
    reader.argument()
    return ["{", *reader.argument(), "}"]


def _scale(parser: Parser, command: str) -> Atom:
    r"""Typeset `\scalebox{2}[1]{x}`, with one factor for both directions."""
    written = "".join(parser.name_argument()).strip()
    parser.optional()
    try:
        factor = float(written)
    except ValueError:
        factor = 0.0
    if not _LEAST_FACTOR <= factor <= _MOST_FACTOR:
        expected = f"expected {_LEAST_FACTOR:g} to {_MOST_FACTOR:g}"
        raise parser.syntax_error(
            f'invalid factor "{written}" for "{command}": {expected}', hint=f"write `{command}{{2}}`"
        )
    source = parser.argument()
    is_text = "$" in source
    return ORD, scale(factor, text(parser, source) if is_text else join_fragments(parser.parse_group(source)))


def _turn(parser: Parser, command: str) -> Atom:
    if command == "\\reflectbox":
        return ORD, frame_box("math-reflected", [text(parser, parser.argument())])
    is_centred = "c" in "".join(parser.optional() or ())
    written = "".join(parser.name_argument()).strip()
    if not _ANGLE.fullmatch(written):
        message = f'invalid angle "{written}" of "{command}": expected degrees'
        raise parser.syntax_error(message, hint="write a number such as `90`")
    content, angle = text(parser, parser.argument()), float(written) % 360
    if angle in (0, 180):
        return ORD, frame_box("math-turned", [content]) if angle else content
    parser.spend(len(content) // _CHARACTERS_A_TOKEN)
    return ORD, _rotate(content, angle, is_centred=is_centred)


_ANGLE = lazy_pattern(r"[+-]?\d{1,4}(?:\.\d{1,4})?")
_CHARACTERS_A_TOKEN = 2
"""Characters of markup that count as one token for `spend`, because their width must be measured."""
_CENTRE, _LINE = 0.25, 0.95
"""Height of the centre of a line of text above its baseline, and height of the line, in em."""


def _rotate(xml: str, angle: float, *, is_centred: bool) -> str:
    """Return `xml`, rotated counterclockwise by an angle in degrees, with the space that it needs.

    is_centred: rotate about the centre of the box, not about the left end of its baseline as LaTeX does.
    """
    width, sine, cosine = measure(xml), sin(radians(angle)), cos(radians(angle))
    room = abs(width * cosine) + abs(_LINE * sine)
    height = abs(width * sine) + abs(_LINE * cosine)
    centre = _CENTRE if is_centred else width / 2 * sine + _CENTRE * cosine
    size = f'width="{css(room)}" height="{css(height / 2 + centre)}" depth="{css(height / 2 - centre)}"'
    turned = f'<mrow style="rotate:{-angle:g}deg">{xml}</mrow>'
    shift = space((room - width) / 2)
    return f'<mpadded voffset="{css(centre - _CENTRE)}" {size}><mrow>{shift}{turned}</mrow></mpadded>'


# `\enclose` and `\bbox` of MathJax

_NOTATIONS: Mapping[str, str] = MappingProxyType(
    {
        "box": "math-boxed",
        "roundedbox": "math-boxed",
        "circle": "math-boxed",
        "updiagonalstrike": "math-cancel",
        "downdiagonalstrike": "math-bcancel",
        "horizontalstrike": "math-sout",
        "longdiv": "math-longdiv",
        "phasorangle": "math-phase",
        "actuarial": "math-angl",
    }
)


_RADII: Mapping[str, str] = MappingProxyType({"roundedbox": "0.4em", "circle": "50%"})


def _enclose(parser: Parser, command: str) -> Atom:
    r"""Typeset `\enclose{notation …}[attributes]{x}`."""
    names = "".join(parser.argument()).split()
    parser.optional()
    pieces = parser.parse_group(parser.argument())
    for name in names:
        if name not in _NOTATIONS:
            message = f'unknown notation "{name}" of "{command}"'
            raise parser.syntax_error(message, hint=list_choices(_NOTATIONS))
        pieces = [frame_box(_NOTATIONS[name], pieces, _RADII.get(name, ""))]
    return ORD, join_fragments(pieces)


def _bbox(parser: Parser, command: str) -> Atom:
    r"""Typeset `\bbox[5px, yellow, border: 1px solid red]{x}`."""
    options = "".join(parser.optional() or ())
    pieces = parser.parse_group(parser.argument())
    for option in filter(None, (one.strip() for one in options.split(","))):
        if option.startswith("border:"):
            pieces = [frame_box("math-boxed", pieces)]
        elif ems(option.replace("px", "pt")) is None:
            color = css_color([*option], "", command)
            look = f'class="math-colorbox" mathbackground="{color}"{ink_on(color)}'
            pieces = [f"<mpadded {look}>{''.join(pieces)}</mpadded>"]
    return ORD, join_fragments(pieces)


_TOKEN_ELEMENTS = ("mi", "mo", "mn", "mtext")


def _token_element(parser: Parser, command: str) -> Atom:
    r"""Typeset MathJax's `\mmlToken{mo}[attributes]{+}`, without its attributes."""
    name = "".join(parser.name_argument()).strip()
    parser.optional()
    if name not in _TOKEN_ELEMENTS:
        raise parser.syntax_error(
            f'invalid element "{name}" of "{command}"', hint=list_choices(_TOKEN_ELEMENTS)
        )
    content = escape("".join(parser.argument()).strip())
    return REL if name == "mo" else ORD, f"<{name}>{content}</{name}>"


def _xy(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\xy … \endxy` to its content, which must be `\xymatrix{…}`."""
    taken: list[str] = []
    while reader.peek() and (token := reader.pop()) != "\\endxy":
        taken.append(token)
    if "\\xymatrix" not in taken and {"*", ";", "("}.intersection(taken):
        message = f'unsupported syntax: "{command}" without "\\xymatrix"'
        raise reader.syntax_error(message, hint=f"write `\\xymatrix{{…}}`, or {XY_HINT}")
    return ["{", *taken, "}"]


EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        "\\xy": _xy,
        "\\inferrule": _inferrule,
        "\\infer": _infer_lines,
        "\\tensor": _tensor,
        "\\indices": _tensor,
        "\\smashoperator": _smash_operator,
        "\\hdotsfor": _dots_across,
        "\\skew": _skew,
        "\\symbol": _character,
        "\\resizebox": _resize,
    }
)
COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "\\enclose": _enclose,
        "\\bbox": _bbox,
        "\\mmlToken": _token_element,
        "\\scalebox": _scale,
        "\\reflectbox": _turn,
        "\\rotatebox": _turn,
    }
)
ENVIRONMENTS: Mapping[str, Environment] = MappingProxyType(
    {"prooftree": _proof_tree, **dict.fromkeys(("mathpar", "mathpar*"), _math_paragraph)}
)
