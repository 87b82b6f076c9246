"""Errors of the YAML parser in the author's terms.

PyYAML has a parser in C and one in Python, which word the same problem differently. We recognise it by the
words that both use, so that our message does not depend on the parser that is installed. Frequent errors have
a message of their own; others keep the parser's wording.
"""

from __future__ import annotations

from collections.abc import Callable

import yaml
from msgspec import Struct

from ..patterns import lazy_pattern

_KEY_AND_VALUE = lazy_pattern(r"[ ]*(?:-[ ]+)*(?P<key>[^\s#'\"\[\]{},&*!|>%@`-][^:]*):[ ]+(?P<value>\S.*)")
_OPENED = lazy_pattern(r"[\[{]")
MAX_DEPTH = 50
"""Maximum nesting depth of values."""
SHORTER = "move data to a file of its own"
FLATTER = "write it with fewer lists or mappings inside each other"
TOO_DEEP = f"values are nested more than {MAX_DEPTH} levels deep"
_NO_KEY = "missing key before the colon"
_QUOTES = "put the value in quotes"


class YamlProblem(Struct, frozen=True):
    """A YAML error, and the characters to underline."""

    message: str
    start: int
    """Offset in the source of the first character to underline."""
    length: int = 1
    hint: str = ""
    edit: tuple[int, str, str] | None = None
    """A certain fix: an offset, the text at that offset, and its replacement. None if no fix is certain."""
    code: str = "yaml-syntax"


class _ParserError(Struct, frozen=True):
    """Data of an error that the parser raised, independent of its exception class."""

    text: str
    problem: str
    at: int
    """Offset where the parser stopped."""
    context: str
    """Parser's name of the construct that it was reading."""
    since: int
    """Offset where the construct in `context` starts."""

    @property
    def line_start(self) -> int:
        """Offset of the start of the line that contains `at`."""
        return self.text.rfind("\n", 0, self.at) + 1

    @property
    def line(self) -> str:
        """The line that contains `at`."""
        return _line_from(self.text, self.line_start)


def describe(error: Exception, text: str) -> YamlProblem:
    """Return the problem for an exception that PyYAML raised when it parsed `text`."""
    fault = _fault(error, text)
    for shared, reword in _REWORDINGS:
        if shared in fault.context or shared in fault.problem:
            return reword(fault)
    return YamlProblem(
        f"invalid YAML: {fault.problem}", fault.at, hint="write `key: value`, with text in quotes"
    )


def quote(value: str) -> str:
    """Return a string in single quotes. There only the apostrophe has a special meaning in YAML."""
    return "'" + value.replace("'", "''") + "'"


def _fault(error: Exception, text: str) -> _ParserError:
    if not isinstance(error, yaml.MarkedYAMLError):
        return _ParserError(text, str(error).split("\n")[0], 0, "", 0)
    at = error.problem_mark.index if error.problem_mark else 0
    since = error.context_mark.index if error.context_mark else at
    return _ParserError(text, error.problem or "", at, error.context or "", since)


def _line_from(text: str, start: int) -> str:
    end = text.find("\n", start)
    return text[start:] if end < 0 else text[start:end]


def _second_colon(fault: _ParserError) -> YamlProblem:
    """Explain a second colon, as in `title: Attention: a tour`, or a key that is indented below a complete
    value."""
    found = _KEY_AND_VALUE.match(fault.line)
    if found is None or fault.line_start + found.start("value") > fault.at:
        indent = len(fault.line) - len(fault.line.lstrip())
        hint = "start it in the same column as the key above"
        return YamlProblem(
            "this line is indented too far",
            fault.line_start + indent,
            fault.at - fault.line_start - indent,
            hint,
        )
    value = found["value"].rstrip()
    mark = next((mark for mark in "\"'" if mark not in value and "\\" not in value), "")
    hint = f"write `{found['key']}: {mark}{value}{mark}`" if mark else _QUOTES
    start = fault.line_start + found.start("value")
    edit = (start, value, quote(value)) if " #" not in value else None
    return YamlProblem('a value that contains ": " needs quotes', start, len(value), hint, edit)


def _bad_start(fault: _ParserError) -> YamlProblem:
    """Explain a reserved character at the start of a value, as in `@x`, `%x` and `*bold*`; or a tab."""
    if "\t" in fault.text[fault.at : fault.at + 1]:
        return _tab(fault)
    at = fault.since if fault.context.endswith(("an alias", "an anchor", "a tag")) else fault.at
    char = fault.text[at : at + 1]
    if char == ":":
        return YamlProblem(_NO_KEY, at)
    if not char.strip():
        return YamlProblem("missing value", at, hint="write a value, or remove this line")
    value = _line_from(fault.text, at).rstrip()
    is_whole = not _OPENED.search(fault.text[fault.line_start : at]) and " #" not in value
    edit = (at, value, quote(value)) if is_whole and char not in "\"'[]{}," else None
    hint = f"write `{edit[2]}`" if edit else _QUOTES
    return YamlProblem(f'a value cannot start with "{char}"', at, hint=hint, edit=edit)


def _tab(fault: _ParserError) -> YamlProblem:
    indent = fault.line[: len(fault.line) - len(fault.line.lstrip())]
    edit = (fault.line_start, indent, indent.replace("\t", "  ")) if "\t" in indent else None
    return YamlProblem(
        "tabs are not allowed in the indentation of YAML", fault.at, hint="write spaces instead", edit=edit
    )


def _open_quote(fault: _ParserError) -> YamlProblem:
    if fault.text[fault.since : fault.since + 1] != "'":
        return YamlProblem("missing closing double quote", fault.since, hint='end the value with `"`')
    hint = "end the value with `'`, and write an apostrophe inside single quotes twice"
    return YamlProblem("missing closing single quote", fault.since, hint=hint)


def _escape(fault: _ParserError) -> YamlProblem:
    start = fault.text.rfind("\\", max(0, fault.at - 10), fault.at + 1)
    start = fault.at if start < 0 else start
    shown = fault.text[start : start + 2]
    hint = "use single quotes, where a backslash has no special meaning"
    return YamlProblem(
        f'unknown escape "{shown}" in double quotes', start, len(shown), hint, _single_quotes(fault, start)
    )


def _single_quotes(fault: _ParserError, at: int) -> tuple[int, str, str] | None:
    """Return an edit that puts the value around an offset into single quotes. Return None if the value
    continues on the next line or contains an escaped quote."""
    line, start = fault.line, fault.text.rfind('"', fault.line_start, at)
    value = line[start - fault.line_start : line.rfind('"') + 1]
    if start < 0 or len(value) < 2 or value.count('"') != 2 or "\\\\" in value:
        return None
    return start, value, quote(value[1:-1])


def _open_bracket(fault: _ParserError) -> YamlProblem:
    opening = fault.text[fault.since : fault.since + 1]
    what, closing = ("list", "]") if opening == "[" else ("mapping", "}")
    hint = f"end it with `{closing}`, or put a string that starts with `{opening}` in quotes"
    return YamlProblem(f'missing closing "{closing}" or comma in the {what}', fault.since, hint=hint)


def _no_key(fault: _ParserError) -> YamlProblem:
    line = _line_from(fault.text, fault.since).rstrip()
    hint = "indent a line that continues the value above"
    return YamlProblem("invalid line: expected `key: value`", fault.since, len(line), hint)


def _misfit(fault: _ParserError) -> YamlProblem:
    """Explain text that appears where another key or the end of the mapping is expected."""
    before = fault.text[fault.line_start : fault.at].rstrip()
    rest = _line_from(fault.text, fault.at).rstrip()
    if before.endswith(('"', "'")):
        hint = "put the whole value in one pair of quotes, and write an apostrophe inside single quotes twice"
        return YamlProblem("unexpected text after the closing quote", fault.at, len(rest), hint)
    if before.endswith(("]", "}")):
        hint = "put a string that starts with `[` or `{` in quotes"
        return YamlProblem(f'unexpected text after the closing "{before[-1]}"', fault.at, len(rest), hint)
    if rest.startswith(":"):
        return YamlProblem(_NO_KEY, fault.at)
    hint = "start lines that belong together in the same column"
    return YamlProblem(
        "invalid indentation: this line does not fit the lines above", fault.at, len(rest), hint
    )


def _too_deep(fault: _ParserError) -> YamlProblem:
    """Explain nesting that is too deep. The C parser of PyYAML 6.0.4 and later stops at a thousand levels
    before it emits any event."""
    return YamlProblem(TOO_DEEP, fault.at, code="yaml-feature")


def _block_text(fault: _ParserError) -> YamlProblem:
    mark = fault.text[fault.since : fault.since + 1]
    hint = f"write the text on the next lines, indented, or put a string that starts with `{mark}` in quotes"
    return YamlProblem(f'unexpected text after "{mark}"', fault.at, hint=hint)


def _directive(fault: _ParserError) -> YamlProblem:
    return YamlProblem(
        "YAML directives are not allowed", fault.since, hint="remove the line that starts with `%`"
    )


# the first row applies whose words occur in the parser's problem or context
_REWORDINGS: tuple[tuple[str, Callable[[_ParserError], YamlProblem]], ...] = (
    ("mapping values are not allowed", _second_colon),
    ("tab character", _tab),
    ("cannot start any token", _bad_start),
    ("node content", _bad_start),
    ("scanning an alias", _bad_start),
    ("scanning an anchor", _bad_start),
    ("a tag", _bad_start),
    ("unexpected end of stream", _open_quote),
    ("unexpected document", _open_quote),
    ("quoted scalar", _escape),
    ("double-quoted", _escape),
    ("flow sequence", _open_bracket),
    ("flow mapping", _open_bracket),
    ("simple key", _no_key),
    ("block scalar", _block_text),
    ("directive", _directive),
    ("nesting depth", _too_deep),
    ("parsing a block", _misfit),
    ("document start", _misfit),
)
