"""Facts about one stylesheet for the checks of a site: its errors, URLs and custom properties.

tinycss2 parses it as browsers do. Because it closes brackets that are open at the end, these are found in the
text first. Selectors and the values of ordinary properties are not checked, because browsers learn new ones
every month.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tinycss2
from msgspec import Struct

from ...base.diagnostics.fixes import Fix, make_replacement
from ...base.diagnostics.model import Place
from ...base.patterns import lazy_pattern
from .css_text import unclosed_constructs

_LINE_END = lazy_pattern(r"\r\n?|\f")
_ROOT = lazy_pattern(r"(?::root|html)?(?:\[data-(?:theme|scheme)=[\"']?(light|dark)[\"']?\])?")
_MEDIA = lazy_pattern(r"(?:all|screen|(?:screen and )?\(prefers-color-scheme: *(light|dark)\))")
_DECLARATION_END = lazy_pattern("[;}]")
_WITH_RULES = frozenset(("media", "supports", "layer", "container", "scope", "starting-style", "keyframes"))
"""At-rules that contain rules."""
_TOKEN_ERRORS = {
    "bad-string": ("missing closing quote on this line", "write the string in one line"),
    "eof-in-string": ("missing closing quote", ""),
    "bad-url": ("invalid URL in url(…)", "write the URL in quotes"),
    "eof-in-url": ('missing ")" after a URL', ""),
}
"""Kind of a token that means an error → message and hint."""
_MAX_UNCLOSED = 5
"""Maximum number of errors about brackets in one file. Most of them follow from the first."""
_MAX_QUOTED = 30
_OTHER_SYNTAX = {
    "//": ('unsupported syntax: "//" does not begin a comment', "write `/* … */`"),
    "$": ('unsupported syntax: "$" does not begin a variable', "write `--name: …` and `var(--name)`"),
}
"""Beginning of a declaration or rule in another language → message and hint."""


class StylesheetError(Struct, frozen=True):
    """A syntax error."""

    message: str
    hint: str
    place: Place
    fix: Fix | None = None


class StylesheetName(Struct, frozen=True):
    """A URL or the name of a custom property, with its location in the stylesheet."""

    name: str
    place: Place


class RootProperty(Struct, frozen=True):
    """A custom property with its value for the whole page, not only for some elements."""

    name: str
    scheme: str
    """`light` or `dark`, if the rule applies only in this colour scheme; otherwise empty."""
    value: str
    place: Place


class StylesheetFacts(Struct, frozen=True):
    """The facts about one stylesheet."""

    errors: tuple[StylesheetError, ...]
    urls: tuple[StylesheetName, ...]
    """URLs that browsers load, as written."""
    used: tuple[StylesheetName, ...]
    """Custom properties that `var()` uses without a fallback."""
    defined: frozenset[str]
    """Custom properties that any rule sets or registers."""
    root: tuple[RootProperty, ...]


def css_lines(css: str) -> list[str]:
    """Return the lines of a stylesheet. Their numbers are those of the parser's locations."""
    return _LINE_END.sub("\n", css).split("\n")


def read_stylesheet(css: str) -> StylesheetFacts:
    """Return the errors, URLs and custom properties of a stylesheet."""
    lines = css_lines(css)
    reader = _StylesheetReader(lines)
    try:
        reader.read("\n".join(lines))
    except RecursionError:
        reader.errors = [StylesheetError("brackets are nested too deeply", "", Place(1))]
    return StylesheetFacts(
        tuple(sorted(reader.errors, key=lambda error: error.place)),
        tuple(reader.urls),
        tuple(reader.used),
        frozenset(reader.defined),
        tuple(reader.root),
    )


class _StylesheetReader:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self.errors: list[StylesheetError] = []
        self.urls: list[StylesheetName] = []
        self.used: list[StylesheetName] = []
        self.defined: set[str] = set()
        self.root: list[RootProperty] = []
        self._tokens: list[Any] = []
        """Tokens of the whole file."""

    def read(self, css: str) -> None:
        tokens = self._tokens = tinycss2.parse_component_value_list(css)
        for rule in tinycss2.parse_stylesheet(tokens, skip_comments=True, skip_whitespace=True):
            if rule.type == "at-rule" and rule.lower_at_keyword == "namespace":
                continue
            if rule.type == "at-rule" and rule.lower_at_keyword == "import":
                first = next((one for one in rule.prelude if one.type == "string"), None)
                self.urls += [StylesheetName(first.value, self._place(first))] if first else []
                if rule.content is not None:
                    self._report('missing ";" after @import', "end it with `;`", self._place(rule))
                    continue
            for part in (getattr(rule, "prelude", None), getattr(rule, "content", None)):
                self._read_tokens(part or ())
            self._read_rule(rule, tokens, "")
        if unclosed := unclosed_constructs(css):
            # the structure of the rest is unknown, so it could only give errors that follow from this one
            self.errors = [_unclosed_error(css, at) for at in unclosed[:_MAX_UNCLOSED]]

    def _read_tokens(self, tokens: Iterable[Any]) -> None:
        """Find URLs, uses of custom properties, and errors within tokens."""
        waiting = [iter(tokens)]
        while waiting:
            token = next(waiting[-1], None)
            if token is None:
                waiting.pop()
            elif token.type == "error":
                known = _TOKEN_ERRORS.get(token.kind)
                self._report(*(known or _unmatched_bracket(token.kind)), self._place(token))
            elif token.type == "url":
                self.urls.append(StylesheetName(token.value, self._place(token)))
            elif token.type == "function":
                self._read_function(token)
                waiting.append(iter(token.arguments))
            elif token.type.endswith("block"):
                waiting.append(iter(token.content))

    def _read_function(self, token: Any) -> None:
        if token.lower_name in ("url", "src") or token.lower_name.endswith("image-set"):
            for one in token.arguments:
                if one.type == "string":
                    self.urls.append(StylesheetName(one.value, self._place(one)))
        elif token.lower_name == "var":
            written = [one for one in token.arguments if one.type not in ("whitespace", "comment")]
            if len(written) == 1 and written[0].type == "ident":
                self.used.append(StylesheetName(written[0].value, self._place(written[0])))

    def _read_rule(self, rule: Any, around: Sequence[Any], media: str | None) -> None:
        """Read one rule or error. around: tokens of the block that contains it. media: colour scheme of the
        rules around it, as in `RootProperty`; None if they apply to some screens only."""
        if rule.type == "error":
            self._report_rest(rule, around)
        elif rule.type == "qualified-rule":
            selector = tinycss2.serialize(rule.prelude).strip()
            scheme = _root_scheme(selector) if media is not None else None
            self._check_selector(rule)
            self._read_block(rule.content, scheme if scheme is None else scheme or media)
        elif rule.type == "at-rule":
            self._read_at_rule(rule, media)

    def _read_at_rule(self, rule: Any, media: str | None) -> None:
        keyword = rule.lower_at_keyword
        if keyword == "function":
            parts = [part for one in rule.prelude if one.type == "function" for part in one.arguments]
            self.defined.update(part.value for part in parts if part.type == "ident")
        elif keyword == "property":
            self.defined.update(token.value for token in rule.prelude if token.type == "ident")
        elif keyword == "media":
            found = _MEDIA.fullmatch(tinycss2.serialize(rule.prelude).strip().lower())
            media = found[1] or media if found else None
        elif keyword != "layer":
            media = None
        if rule.content is None:
            return
        if keyword.rpartition("-")[2] in _WITH_RULES or keyword in _WITH_RULES:
            for one in tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True):
                self._read_rule(one, rule.content, media)
        else:
            self._read_block(rule.content, None)

    def _read_block(self, content: Sequence[Any], scheme: str | None) -> None:
        """Read declarations and nested rules.

        scheme: as in `RootProperty`; None if the rule does not apply to the whole page.
        """
        for node in tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True):
            if node.type == "error":
                self._report_rest(node, content)
            elif node.type != "declaration":
                self._read_nested(node)
            else:
                self._read_declaration(node, scheme)

    def _read_declaration(self, node: Any, scheme: str | None) -> None:
        if node.name.startswith("--"):
            self.defined.add(node.name)
            if scheme is not None:
                value = tinycss2.serialize(node.value).strip()
                self.root.append(RootProperty(node.name, scheme, value, self._place(node)))
        # without a semicolon, the next line is part of the value
        written = [one for one in node.value if one.type not in ("whitespace", "comment")]
        for before, name, colon in zip(written, written[1:], written[2:], strict=False):
            if name.type == "ident" and colon == ":" and before.source_line < name.source_line:
                line = self._lines[before.source_line - 1].partition("/*")[0].rstrip()
                fix = make_replacement(
                    before.source_line, len(line) + 1, "", ";", title="add a semicolon", is_safe=True
                )
                place = self._place(name)
                message = f'missing ";" before "{name.value}"'
                self.errors.append(StylesheetError(message, "end the line before it with `;`", place, fix))
                return

    def _read_nested(self, node: Any) -> None:
        if node.content is not None:
            self._read_block(node.content, None)

    def _check_selector(self, rule: Any) -> None:
        written = [one for one in rule.prelude if one.type not in ("whitespace", "comment")]
        if not written:
            self._report('missing selector before "{"', "write a selector such as `.name`", self._place(rule))
        elif any(one == ";" for one in written):
            self._report_at(written[0], 'unexpected ";" before "{"', "write declarations between `{` and `}`")
        elif self._rest(written[0]).startswith(tuple(_OTHER_SYNTAX)):
            self._report_at(written[0], "", "")

    def _report_rest(self, error: Any, around: Sequence[Any]) -> None:
        """Report text that is neither a declaration nor a rule. The location is the start of the text,
        because the library gives its end. around: as in `_read_rule`."""
        parts = [one for one in around if one.type not in ("whitespace", "comment")]
        numbers = [number for number, one in enumerate(parts) if _position(one) <= _position(error)]
        at = numbers[-1] if numbers else 0
        while at > 0 and parts[at - 1] != ";" and parts[at - 1].type != "{} block":
            at -= 1
        start = parts[at] if numbers else error
        if getattr(start, "kind", "invalid") != "invalid":
            # errors in tokens of blocks are found in any case
            self._read_tokens([start] if around is self._tokens else ())
            return
        self._report_at(start, "", "write `property: value;`")

    def _report_at(self, token: Any, message: str, hint: str) -> None:
        """Report an error that extends from a token to the end of the declaration or line."""
        if token == ";":
            fix = make_replacement(*_position(token), ";", "", title="remove the semicolon", is_safe=True)
            self.errors.append(StylesheetError('unexpected ";"', "remove `;`", self._place(token), fix))
            return
        rest = self._rest(token)
        written = (rest if rest.startswith("//") else _DECLARATION_END.split(rest, 1)[0]).rstrip()
        short = written if len(written) <= _MAX_QUOTED else f"{written[:_MAX_QUOTED]}…"
        message = message or f'invalid declaration "{short}": expected "property: value"'
        message, hint = next(
            (known for begin, known in _OTHER_SYNTAX.items() if rest.startswith(begin)), (message, hint)
        )
        self._report(message, hint, Place(token.source_line, token.source_column, max(1, len(written))))

    def _rest(self, token: Any) -> str:
        """Return the rest of the line that begins with a token."""
        line, column = _position(token)
        return self._lines[line - 1][column - 1 :]

    def _report(self, message: str, hint: str, place: Place) -> None:
        self.errors.append(StylesheetError(message, hint, place))

    def _place(self, token: Any) -> Place:
        """Return the location of a token, at most up to the end of its line."""
        length = len(token.name if token.type == "declaration" else token.serialize())
        rest = len(self._rest(token))
        return Place(token.source_line, token.source_column, max(1, min(length, rest)))


def _position(token: Any) -> tuple[int, int]:
    return token.source_line, token.source_column


def _root_scheme(selectors: str) -> str | None:
    """Return the colour scheme in which a rule sets properties of the whole page: `light`, `dark`, or empty
    for both. Return None if the rule applies only to some elements."""
    found = [_ROOT.fullmatch(one.strip()) for one in selectors.split(",")]
    matches = [one for one in found if one and one[0]]
    return matches[0][1] or "" if matches else None


def _unmatched_bracket(closing: str) -> tuple[str, str]:
    opening = {"}": "{", ")": "(", "]": "["}.get(closing, "")
    return f'missing "{opening}" for this "{closing}"', f"remove `{closing}`"


def _unclosed_error(css: str, at: int) -> StylesheetError:
    place = Place(css.count("\n", 0, at) + 1, at - css.rfind("\n", 0, at))
    if css[at] == "/":
        return StylesheetError('missing "*/" of this comment', "add `*/`", place)
    closing = {"{": "}", "(": ")", "[": "]"}[css[at]]
    return StylesheetError(f'missing "{closing}" for this "{css[at]}"', f"add `{closing}`", place)
