"""Values: `{= expression =}` in the text is computed and formatted as in an f-string.

The expression ends at the first space followed by `=}` outside its quotes and brackets. Conversion and
format spec are split off as in Python: `{= loss:.3f =}`, `{= name!r =}`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from ...base.diagnostics.model import Reporter, TextMap
from ...base.patterns import lazy_pattern
from ...model.cells import Cell, Value
from ..lookahead import occurs_after
from ..records import attach_record, get_record
from ..state import PageState, get_page, inline_map, inline_place
from .checks import syntax_fault

MAX_LENGTH = 1000
"""Maximum length of an expression, in characters."""

_TIGHT = lazy_pattern(r"\{=(?!=)(?![ \t\n])[^{}\n]{1,200}?=\}")
_OPENS = lazy_pattern(r"\{=(?=[ \t\n])")
_PIECE = lazy_pattern(
    r"(?P<string>'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<end>(?<=[ \t\n])=\})|(?P<again>\{=(?=[ \t\n]))|(?P<open>[(\[{])|(?P<close>[)\]}])"
    r"|(?P<lambda>\blambda\b)|(?P<convert>!(?!=))|(?P<colon>:)",
    re.DOTALL,
)
_PLAIN_END = lazy_pattern(r"[ \t\n]=\}|\{=[ \t\n]")
_LIKELY_VALUE = lazy_pattern(r"\{=[ \t]+[A-Za-z_(\[\"'\d-]")
_CONVERSION = lazy_pattern(r"!([rsa])[ \t\n]*(?=:|\Z)")
_WRITTEN = lazy_pattern(r"(?<!`)\{=[ \t][^{}\n]*[ \t]=\}")
_NOT_HERE = "a value is not allowed here"
_PLACE_HINT = "move it to the text of the post: paragraphs, headings, lists, tables, notes"


class SplitValue(Struct, frozen=True):
    """The parts of the source between `{=` and `=}`. Offsets count from the first character after `{=`."""

    expression: str
    start: int
    """Offset of the expression in the source."""
    conversion: str = ""
    spec: str = ""
    problem: str = ""
    """Error in the conversion or format spec; empty if there is none."""
    problem_at: int = 0


def value_end(text: str, pos: int, end: int) -> int:
    """Return the index after the `=}` of the value that opens at `pos`, or -1 if the value has no end."""
    if not _OPENS.match(text, pos, end) or not occurs_after(text, "=}", pos):
        return -1
    limit = min(end, pos + MAX_LENGTH)
    depth = 0
    for found in _PIECE.finditer(text, pos + 2, limit):
        if found["again"]:
            break
        depth += 1 if found["open"] else -1 if found["close"] else 0
        if found["end"] and depth <= 0:
            return found.end()
    # Unbalanced quotes or brackets: use the apparent end, so that Python reports the error.
    plain = _PLAIN_END.search(text, pos + 2, limit)
    return plain.end() if plain and plain[0].endswith("}") else -1


def split_value(inner: str) -> SplitValue:
    """Split the source between `{=` and `=}` into expression, conversion and format spec."""
    text = inner.rstrip()
    start = len(text) - len(text.lstrip())
    depth = lambdas = 0
    for found in _PIECE.finditer(text):
        depth += 1 if found["open"] else -1 if found["close"] else 0
        if depth > 0:
            continue
        lambdas += bool(found["lambda"])
        if found["colon"] and lambdas:
            lambdas -= 1
        elif found["colon"] or found["convert"]:
            return _split_format(text, start, found.start())
    return SplitValue(_join_lines(text[start:]), start)


def _split_format(text: str, start: int, at: int) -> SplitValue:
    """Split a value whose conversion or format spec starts at `at`."""
    expression = _join_lines(text[start:at])
    found = _CONVERSION.match(text, at)
    if text[at] == "!" and not found:
        problem = 'invalid conversion after "!": expected r, s or a'
        return SplitValue(expression, start, problem=problem, problem_at=at)
    rest = found.end() if found else at
    spec = text[rest + 1 :]
    brace = re.search(r"[{}\n]", spec)
    problem = "invalid format spec: expected no braces and no line break" if brace else ""
    where = rest + 1 + brace.start() if brace else 0
    return SplitValue(expression, start, found[1] if found else "", spec, problem, where)


def _join_lines(text: str) -> str:
    # The line breaks of the paragraph are not part of the expression.
    return text.replace("\n", " ").rstrip()


def value(state: StateInline, silent: bool) -> bool:
    """Parse `{= expression =}` (inline rule)."""
    if not state.src.startswith("{=", state.pos):
        return False
    end = state.pos + 4 if state.src.startswith("{==}", state.pos) else -1
    end = end if end > 0 else value_end(state.src, state.pos, state.posMax)
    if end < 0:
        return _warn_unclosed(state, silent)
    if not silent:
        page, origin = get_page(state.env), inline_map(state, state.pos, end)
        read = _read(origin, page)
        if read is None:
            state.append_pending(state.src[state.pos : end])
        else:
            token = state.push("value", "", 0)
            token.content = origin.text[2:-2].strip()
            attach_record(token, read)
    state.pos = end
    return True


def _warn_unclosed(state: StateInline, silent: bool) -> bool:
    """Warn about `{=` without an end, once per text block, and about `{=` without the space that must
    follow."""
    page = get_page(state.env)
    tight = None if silent else _TIGHT.match(state.src, state.pos, state.posMax)
    if tight:
        place = inline_place(state, state.pos, tight.end())
        inner = tight[0][2:-2].strip()
        meant = f"{{= {inner} =}}"
        fix = page.reporter.substitute(place, tight[0], meant)
        message = f'missing spaces in "{tight[0]}": shown as text'
        page.reporter.warn("value-open", message, place, f"write `{meant}`", fix)
    elif not silent and _LIKELY_VALUE.match(state.src, state.pos) and page.open_value is not page.current:
        page.open_value = page.current
        place = inline_place(state, state.pos, state.pos + 2)
        page.reporter.warn(
            "value-open", 'missing "=}" for "{=": shown as text', place, "end the value with a space and `=}`"
        )
    return False


def _read(origin: TextMap, page: PageState) -> Value | None:
    """Parse the value whose source, with delimiters, is `origin`. Report errors and return None if it is
    invalid."""
    whole = origin.place(0, len(origin.text))
    if page.is_parsed or not page.takes_values:
        page.reporter.error("value-place", _NOT_HERE, whole, _PLACE_HINT)
        return None
    if page.mode == "off":
        why = "markup: untrusted" if page.options.untrusted else "execute: off"
        message = f'a value is not allowed here: this page runs no code ("{why}")'
        page.reporter.error("value-place", message, whole, f"write the text itself, or remove `{why}`")
        return None
    inner = origin.text[2:-2] if len(origin.text) > 4 else ""
    # Other languages use `!` and `:` in expressions.
    is_python = page.language == "python"
    split = (
        split_value(inner) if is_python else SplitValue(_join_lines(inner).strip(), _leading_spaces(inner))
    )
    fault = _fault(split, page)
    if fault:
        message, at, length = fault
        place = origin.place(2 + at, length) if inner.strip() else whole
        hint = "write an expression, such as `{= loss =}` or `{= loss:.3f =}`"
        if message.startswith("invalid conversion"):
            hint = "write `!r`, `!s` or `!a`"
        elif message.startswith("invalid format"):
            hint = "write a format without braces, such as `{= loss:.3f =}`"
        page.reporter.error("value-syntax", message, place, hint)
        return None
    return Value(0, split.expression, origin, split.conversion, split.spec)


def _leading_spaces(text: str) -> int:
    return len(text) - len(text.lstrip())


def _fault(split: SplitValue, page: PageState) -> tuple[str, int, int] | None:
    """Return the first error in a value as (message, offset, length), or None."""
    if not split.expression:
        return "missing expression in this value", split.start, 1
    if split.problem:
        return split.problem, split.problem_at, 1
    fault = syntax_fault(split.expression, "eval") if page.checks_syntax else None
    if fault is None:
        return None
    at = split.start + min(fault.column - 1, len(split.expression) - 1)
    message = f"invalid expression: {fault.message}" if fault.message else "invalid expression"
    return message, at, fault.length


def number_values(state: StateCore) -> None:
    """Assign numbers to the values in source order (core rule, after the inline rules)."""
    page = get_page(state.env)
    inlines = (token.children or () for token in state.tokens if token.type == "inline")
    found = [child for children in inlines for child in children if child.type == "value"]
    lines = sorted(cell.place.line for cell in _cells(state.tokens))
    for number, token in enumerate(sorted(found, key=_start), start=1):
        after = bisect_left(lines, _start(token)[0])
        read = replace(get_record(token, Value), number=number, after=after)
        attach_record(token, read)
        page.values.append(read)


def _start(token: Token) -> tuple[int, int]:
    return get_record(token, Value).origin.starts[0]


def _cells(tokens: Sequence[Token]) -> list[Cell]:
    return [get_record(token, Cell) for token in tokens if token.type == "fence" and "cell" in token.meta]


def report_values(origin: TextMap, reporter: Reporter) -> None:
    """Report values in a title, caption or argument, which are read before any value is computed."""
    for found in _WRITTEN.finditer(origin.text):
        place = origin.place(found.start(), len(found[0]))
        reporter.error("value-place", _NOT_HERE, place, _PLACE_HINT)


def value_rules(md: MarkdownIt) -> None:
    """Register the rule for `{= … =}` after the rules for code, math and shortcodes."""
    md.inline.ruler.after("shortcode", "value", value)
