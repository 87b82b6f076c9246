"""Consistent notation. Formulas are compared with a site's table of symbols and with its macros.

A formula that writes out the body of a macro is reported. Only source text is compared, without expanding
macros. A variant of letters matches only if no other letter is adjacent: the `L` of `KL` is another symbol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from msgspec import Struct

from ..base.diagnostics.model import Reporter
from ..config.schema import Symbol
from ..syntax.records import Math
from ..tex.parse.lexer import Token, commands, read_argument, tokenize

NOTATION_MIXED = "notation-mixed"
MACRO_BYPASSED = "macro-bypassed"
_MAX_REPORTS = 20
"""Maximum number of reports per formula. Finding each location takes as long as parsing the formula."""


class Rule(Struct, frozen=True):
    """A sequence of tokens in a formula, and the warning about it."""

    pattern: tuple[str, ...]
    """Pieces that the rule matches."""
    code: str = ""
    """Diagnostic code; empty for the preferred notation, which causes no warning."""
    message: str = ""
    """End of the message, after the text from the formula."""
    hint: str = ""
    replacement: str = ""
    """Text to write instead; empty if a replacement would need arguments."""


Rules = Mapping[str, Sequence[Rule]]
"""Rules by their first piece. Longer rules come first; of equally long ones, the preferred notation."""


def notation(symbols: Mapping[str, Symbol], macros: Mapping[str, str]) -> Rules:
    """Return the rules for a site's symbols and for the macros that are defined on a page."""
    rules = [*_symbol_rules(symbols), *_macro_rules(macros)]
    rules.sort(key=lambda rule: (-len(rule.pattern), bool(rule.code)))
    by_first: dict[str, list[Rule]] = {}
    for rule in rules:
        if rule.pattern:
            by_first.setdefault(rule.pattern[0], []).append(rule)
    return by_first


def report_notation(formulas: Iterable[Math], rules: Rules, reporter: Reporter) -> None:
    """Warn about parts of formulas that violate a rule."""
    for math in formulas if rules else ():
        for rule, part in islice(_broken_rules(math.tex, rules), _MAX_REPORTS):
            start, end = _span(math.tex, part)
            written = " ".join(math.tex[start:end].split())
            place = math.origin.place(start, end - start)
            fix = reporter.substitute(place, math.tex[start:end], rule.replacement or None)
            reporter.warn(rule.code, f'"{written}" {rule.message}', place, rule.hint, fix)


def _broken_rules(tex: str, rules: Rules) -> Iterator[tuple[Rule, Sequence[Piece]]]:
    """Yield (rule, pieces) for each part of `tex` that violates a rule. The pieces are those of the part."""
    found = split_formula(tex)
    index = 0
    while index < len(found):
        rule = next(_matching_rules(rules, found, index, tex), None)
        length = len(rule.pattern) if rule else 1
        if rule and rule.code:
            yield rule, found[index : index + length]
        index += length


def _span(tex: str, part: Sequence[Piece]) -> tuple[int, int]:
    """Return the range of `part` in `tex`, without braces around an argument."""
    start, end = part[0].start, part[-1].end
    while len(part) == 1 and tex[start] in "{ \n" and tex[end - 1] in "} \n" and end - start > 2:
        start, end = start + 1, end - 1
    return start, end


def _symbol_rules(symbols: Mapping[str, Symbol]) -> Iterator[Rule]:
    for name, symbol in symbols.items():
        yield Rule(_pattern(symbol.use))
        message = f'means "{name}", which this site writes as "{symbol.use}"'
        for variant in symbol.avoid:
            hint = f"write `{symbol.use}`, or change the notation under `math: symbols:`"
            yield Rule(_pattern(variant), NOTATION_MIXED, message, hint, symbol.use)


def _macro_rules(macros: Mapping[str, str]) -> Iterator[Rule]:
    """Yield a rule for each macro that has no arguments and whose body is more than one command."""
    for name, body in macros.items():
        pattern = _pattern(body)
        if "#" not in body and any(" " in text for text in pattern):
            yield Rule((name,))
            message = f'is the expansion of macro "{name}"'
            yield Rule(pattern, MACRO_BYPASSED, message, f"write `{name}`", name)


def _pattern(tex: str) -> tuple[str, ...]:
    return tuple(piece.text for piece in split_formula(tex))


def _matching_rules(rules: Rules, found: Sequence[Piece], index: int, tex: str) -> Iterator[Rule]:
    """Yield the rules whose patterns match the pieces from `found[index]` on."""
    for rule in rules.get(found[index].text, ()):
        part = found[index : index + len(rule.pattern)]
        if tuple(piece.text for piece in part) == rule.pattern and _has_letter_boundaries(tex, part):
            yield rule


def _has_letter_boundaries(tex: str, part: Sequence[Piece]) -> bool:
    """Return whether the letters at the ends of `part` have no other letters next to them."""
    start, end = part[0].start, part[-1].end
    before, after = tex[max(0, start - 1) : start + 1], tex[end - 1 : end + 1]
    return not (len(before) == 2 and before.isalpha()) and not (len(after) == 2 and after.isalpha())


# Split of a formula into pieces for comparison, so that `\mathcal L` equals `\mathcal{L}`.
#
# This is not a parser. A piece is a letter, a character, a command, or a command together with its argument
# if both make one symbol. Definitions are skipped, because they introduce notation.


_MAX_LENGTH = 64_000
"""Limit in characters. Longer formulas are rejected anyway."""
_ONE_SYMBOL = commands(
    "mathbb mathbf mathcal mathfrak mathit mathnormal mathrm mathscr mathsf mathtt mathbfit Bbb bold frak "
    "boldsymbol bm pmb operatorname text textrm textbf textit textsf texttt textnormal textup mbox hbox "
    "label tag ref eqref begin end color textcolor colorbox class href url hspace kern mkern"
)
_WITH_COLUMNS = frozenset({"array", "darray", "subarray", "alignat", "alignat*", "alignedat"})
"""Environments with an argument that prints nothing."""
_DEFINERS = commands("newcommand renewcommand providecommand DeclareMathOperator def gdef edef xdef let")


class Piece(NamedTuple):
    """A piece and its range in the source."""

    text: str
    """A token, or a command, a space and its argument without spaces and braces."""
    start: int
    end: int
    """End offset. Braces around a single piece are included in its range."""


def split_formula(tex: str) -> list[Piece]:
    """Split `tex` into pieces. Return an empty list if its braces do not match."""
    found: list[Piece] = []
    if len(tex) > _MAX_LENGTH:
        return found
    tokens = [token for token in tokenize(tex) if token.text != " "]
    if not _is_balanced(tokens):
        return found
    index = 0
    while index < len(tokens):
        if tokens[index].text in _DEFINERS:
            index = _skip_definition(tokens, index)
            continue
        end = _piece_end(tokens, index)
        _append(found, tokens[index:end])
        index = end
    return found


def _append(found: list[Piece], tokens: Sequence[Token]) -> None:
    """Append the piece that consists of `tokens`. If `tokens` is a closing brace after a single piece, extend
    the range of that piece instead."""
    end = tokens[-1].offset + tokens[-1].length
    if tokens[0].text == "}" and len(found) > 1 and found[-2].text == "{" != found[-1].text:
        lone, opening = found.pop(), found.pop()
        found.append(Piece(lone.text, opening.start, end))
        return
    argument = "".join(token.text for token in tokens[1:] if token.text not in ("{", "}"))
    found.append(Piece(f"{tokens[0].text} {argument}".rstrip(), tokens[0].offset, end))


def _is_balanced(tokens: Sequence[Token]) -> bool:
    depth = 0
    for token in tokens:
        depth += (token.text == "{") - (token.text == "}")
        if depth < 0:
            return False
    return depth == 0


def _piece_end(tokens: Sequence[Token], index: int) -> int:
    """Return the index after the piece that begins at `index`."""
    text = tokens[index].text
    if text not in _ONE_SYMBOL:
        return index + 1
    is_starred = index + 1 < len(tokens) and tokens[index + 1].text == "*"
    argument = read_argument(tokens, index + 1 + is_starred)
    if argument is None:
        return index + 1
    name = "".join(token.text for token in argument.tokens)
    columns = read_argument(tokens, argument.end) if text == "\\begin" and name in _WITH_COLUMNS else None
    return columns.end if columns else argument.end


def _skip_definition(tokens: Sequence[Token], index: int) -> int:
    """Return the index after the definition whose command is at `index`."""
    is_starred = index + 1 < len(tokens) and tokens[index + 1].text == "*"
    name = read_argument(tokens, index + 1 + is_starred)
    at = name.end if name else index + 1
    if tokens[index].text == "\\let":
        at += at < len(tokens) and tokens[at].text == "="
        return at + 1
    while at < len(tokens) and tokens[at].text != "{":
        at += 1
    body = read_argument(tokens, at)
    return body.end if body else len(tokens)
