r"""Groups: `\begin … \end`, `\begingroup`, and commands that are invalid outside of an environment."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...base.diagnostics.model import did_you_mean
from ..mathml.atoms import ORD, Atom, group_fragments
from ..parse.errors import XY_HINT, ParseError
from ..parse.parser import Command, Parser
from ..parse.reader import Expander, FormulaReader, fill
from ..parse.scan import move_tokens

_OUTSIDE: Mapping[str, str] = MappingProxyType(
    {
        **{
            name: f"`> [!{name.upper()}]`"
            for name in (
                *("theorem", "lemma", "proposition", "corollary", "definition", "remark", "example", "proof"),
                *("claim", "conjecture", "exercise", "solution", "algorithm", "quote", "abstract"),
            )
        },
        **dict.fromkeys(("algorithmic", "algorithm2e"), "a fence that begins with ```algorithmic"),
        **dict.fromkeys(("verbatim", "lstlisting", "minted"), "a fence that begins with ```"),
        "tikzpicture": "a fence that begins with ```tikz",
        "circuitikz": "a fence that begins with ```circuitikz",
        **dict.fromkeys(("itemize", "description"), "`- item`"),
        "enumerate": "`1. item`",
        "figure": "`![text](file.png)`",
        **dict.fromkeys(("table", "longtable", "tabularx"), "the rows of a table as `| a | b |`"),
    }
)
"""Environment that belongs outside formulas → the Markdown to write instead."""


def _begin(parser: Parser, command: str) -> Atom:
    name = "".join(parser.name_argument()).strip()
    if f"\\begin {name}" in parser.macros:
        return _user_environment(parser, command, name)
    environment = parser.constructs.environments.get(name)
    if environment is None:
        if not name:
            message = 'missing environment name after "\\begin"'
            raise ParseError("math-syntax", message, command, hint="write a name such as `\\begin{aligned}`")
        if (shown := _OUTSIDE.get(name.rstrip("*"))) is not None:
            message = f'"\\begin{{{name}}}" is not allowed in a formula'
            hint = f"end the formula before it, and write {shown} in the text of the post"
            raise ParseError("math-command", message, command, hint=hint)
        if name == "xy":
            hint = f"write `\\xymatrix{{…}}`, or {XY_HINT}"
            raise ParseError(
                "math-command", f'"\\begin{{{name}}}" is not allowed in a formula', command, hint=hint
            )
        similar = [known for known in parser.constructs.environments if known[:1] in name[:2]]
        hint = did_you_mean(name, similar) or "correct the name, or define it with `\\newenvironment`"
        raise ParseError("math-command", f'unknown TeX environment "{name}"', command, hint=hint)
    parser.depth += 1
    mark = parser.mark()
    atom = environment(parser, name)
    parser.restore(mark)
    parser.depth -= 1
    return atom


def _user_environment(parser: Parser, command: str, name: str) -> Atom:
    """Typeset an environment that the author defined: its begin code, its content and its end code are one
    group."""
    held, depth = list[str](), 1
    while parser.stack:
        token = parser.stack.pop()
        depth += (token == "\\begin") - (token == "\\end")
        if not depth:
            break
        held.append(token)
    if depth or "".join(parser.argument()).strip() != name:
        raise ParseError("math-brace", f'"\\begin{{{name}}}" is never closed', command, unclosed=True)
    inside = [f"\\begin {name}", *held, f"\\end {name}"]
    return ORD, group_fragments(parser.parse_group(move_tokens(inside, command)))


def _begingroup(parser: Parser, command: str) -> Atom:
    mark, environment = parser.mark(), parser.environment
    parser.environment = ""
    out = parser.row()
    parser.environment = environment
    if parser.end_token != command.replace("begin", "end").replace("\\b", "\\e"):
        raise ParseError("math-brace", f'"{command}" is never closed', command, unclosed=True)
    parser.restore(mark)
    return ORD, group_fragments(out)


def _stray_rule(parser: Parser, command: str) -> Atom:
    message = f'"{command}" is not allowed outside an array'
    raise ParseError("math-syntax", message, command, hint="write it at the start of a row of `array`")


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "\\begin": _begin,
        "\\begingroup": _begingroup,
        "\\bgroup": _begingroup,
        "\\hline": _stray_rule,
        "\\hdashline": _stray_rule,
        **dict.fromkeys(
            ("\\toprule", "\\midrule", "\\bottomrule", "\\cmidrule", "\\multicolumn"), _stray_rule
        ),
        "\\cline": _stray_rule,
    }
)


# Dirac's brackets and sets: the braket package.


def _bar_fence(opening: str, closing: str, divider: str, *, once: bool) -> Expander:
    r"""Return an expander for braket's `\Bra`, `\Braket`, `\Set`, where a `|` grows with the delimiters.
    once: whether only the first `|` grows."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        inside = _divide(reader.argument(), divider, once=once)
        return [*fill(opening), *inside, *fill(closing)]

    return expand


def _divide(source: list[str], divider: str, *, once: bool) -> list[str]:
    made: list[str] = []
    depth = 0
    done = False
    index = 0
    while index < len(source):
        token = source[index]
        depth += (token == "{") - (token == "}")
        if token in ("|", "\\|", "\\VERT", "\\mid", "\\middle") and not depth and not done:
            if token == "\\middle":
                made += source[index : index + 2]
                index += 2
                continue
            double = token == "\\|" or (token == "|" and source[index + 1 : index + 2] == ["|"])
            index += token == "|" and double
            made += fill(divider, ["\\|"] if double else ["|"])
            done = once
        else:
            made.append(token)
        index += 1
    return made


def _small_set(reader: FormulaReader, command: str) -> list[str]:
    inside = _divide(reader.argument(), r"\mid ", once=True)
    return [*fill(r"\{\,"), *inside, *fill(r"\,\}")]


def _plain(body: str) -> Expander:
    def expand(reader: FormulaReader, command: str) -> list[str]:
        return fill(body, reader.argument())

    return expand


EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        "\\bra": _plain(r"\mathinner{\MathMLintent{bra($x)}{\langle\MathMLarg{x}{#1}|}}"),
        "\\ket": _plain(r"\mathinner{\MathMLintent{ket($x)}{|\MathMLarg{x}{#1}\rangle}}"),
        "\\braket": _plain(r"\mathinner{\langle{#1}\rangle}"),
        "\\Bra": _bar_fence(r"\left\langle ", r"\right|", r"\,\middle#1\,", once=False),
        "\\Ket": _bar_fence(r"\left|", r"\right\rangle ", r"\,\middle#1\,", once=False),
        "\\Braket": _bar_fence(r"\left\langle ", r"\right\rangle ", r"\,\middle#1\,", once=False),
        "\\Set": _bar_fence(r"\left\{\,", r"\,\right\}", r"\;\middle#1\;", once=True),
        "\\set": _small_set,
    }
)
