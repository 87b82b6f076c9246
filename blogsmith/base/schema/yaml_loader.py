"""YAML as blogsmith accepts it: plain data, and the location of every value in the author's file.

The loader uses PyYAML's events and never its constructors, so deep nesting exhausts no recursion and YAML
cannot create Python objects. Some features are errors on purpose: anchors and aliases (they allow inputs that
expand without limit), tags, merge keys, duplicate keys, several documents, keys that are not strings. Scalars
follow the YAML 1.2 core schema: `no` and `12:30` are strings, `010` is ten, dates stay strings. After a
syntax error the entries before it are still returned, so that other errors are reported too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import yaml
from msgspec import Struct, field

from ..diagnostics.fixes import Fix, make_replacement
from ..diagnostics.model import Place, Reporter
from ..patterns import lazy_pattern
from .yaml_errors import FLATTER, MAX_DEPTH, SHORTER, TOO_DEEP, describe, quote
from .yaml_scalars import MAX_DIGITS, is_too_long, resolve

YamlPath: TypeAlias = tuple[str | int, ...]
"""Keys and list indexes from the root to a value."""

SINGLE_QUOTES = "use single quotes, where a backslash has no special meaning"
MAX_BYTES = 64 * 1024
MAX_REPORTS = 100
"""Maximum number of errors reported for one document, because nobody would fix more of them one by one."""

# Characters that YAML does not allow, and the rare line breaks that would shift line numbers. A pattern of
# the allowed characters, negated by ^, would take 4 ms to compile.
_REFUSED = lazy_pattern("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_WORD = lazy_pattern(r"(?:[^\s,\[\]{}:]|:(?=\S))*")
_COMMENT_AFTER_VALUE = lazy_pattern(r"[ \t]+(#\d)")
_ESCAPE = lazy_pattern(r"\\(.)", re.DOTALL)
_BREAKING_ESCAPES = "0abefrvxuUNLP"
r"""Letters after `\` of escapes that may produce a character that no page may contain."""


class Located(Struct, frozen=True):
    """The data of a YAML document, with locations in the author's file."""

    value: Any
    """Dicts with string keys, lists, strings, numbers, booleans and None."""
    places: Mapping[YamlPath, Place]
    """Path → location of the value; `()` is the whole document. For a value of several lines: its first
    line."""
    key_places: Mapping[YamlPath, Place]
    """Path of a value in a mapping → location of its key."""
    texts: Mapping[YamlPath, str]
    """Path of a number or boolean → the author's spelling, e.g. `1.10`."""


def load(
    text: str, reporter: Reporter, *, first_line: int = 1, escape_hint: str = SINGLE_QUOTES
) -> Located | None:
    """Return the data of a YAML document that starts on line `first_line` of the reporter's file. Every
    problem is reported. Return None only if the input is too large to be read. escape_hint: hint for TeX in
    double quotes."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        reporter.error(
            "yaml-feature", f"YAML is longer than {MAX_BYTES // 1024} kB", Place(first_line), SHORTER
        )
        return None
    builder = _Builder(text, reporter, first_line, escape_hint)
    clean = _REFUSED.sub(" ", text)
    builder.report_forbidden_character()
    try:
        for event in _events(clean):
            if not builder.handle_event(event):
                break
    # ValueError: the Python parser raises it for an escape such as "\UFFFFFFFF"
    except (yaml.YAMLError, ValueError) as error:
        problem = describe(error, clean)
        place = builder.place(problem.start, problem.start + problem.length)
        fix = builder.exchange(*problem.edit) if problem.edit else None
        reporter.error(problem.code, problem.message, place, problem.hint, fix)
    return builder.finish()


def _events(text: str) -> Iterator[yaml.Event]:
    # the C parser is ten times faster, but some installations of PyYAML lack it
    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    events: Iterator[yaml.Event] = yaml.parse(text, Loader=loader)
    return events


def remove_entry(key: Place, lines: Sequence[str]) -> Fix | None:
    """Return a fix that removes a key with its value: its line and the following lines that are indented
    further. Return None if other text precedes the key on its line, as in a list."""
    line = lines[key.line - 1] if key.line <= len(lines) else ""
    if line[: key.column - 1].strip() or not line:
        return None
    end = key.line
    while end < len(lines) and (lines[end][: key.column].isspace() or lines[end].startswith("- ")):
        end += 1
    old = "".join(f"{line}\n" for line in lines[key.line - 1 : end])
    return make_replacement(key.line, 1, old, "", title=f"remove {line.strip()}")


def _offsets(event: yaml.Event) -> tuple[int, int]:
    """Return the start and end of an event in the source. Both parsers set them for every event."""
    start, end = event.start_mark, event.end_mark
    return (start.index if start else 0), (end.index if end else 0)


class _Frame(Struct):
    """A mapping or a list while it is being read."""

    path: YamlPath
    start: int
    value: dict[str, Any] | list[Any]
    is_stored: bool
    """Whether values are stored. False inside a rejected value, which is read only to report its errors."""
    key: str | None = None
    """For a mapping: the key whose value comes next; None if a key comes next."""
    is_block: bool = True
    """Whether the value is in block style, on lines of its own, not in brackets."""
    is_next_stored: bool = True
    """For a mapping: whether the next value is stored."""
    key_lines: dict[str, int] = field(default_factory=dict)

    @property
    def wants_key(self) -> bool:
        """Whether the next event is a key."""
        return isinstance(self.value, dict) and self.key is None


class _Builder:
    """Converter from the parser's events to data and locations, for one document."""

    def __init__(self, text: str, reporter: Reporter, first_line: int, escape_hint: str) -> None:
        self.text = text
        self.escape_hint = escape_hint
        self.reporter = reporter
        self.first_line = first_line
        self.line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self.frames: list[_Frame] = []
        self.root: Any = None
        self.documents = 0
        self.places: dict[YamlPath, Place] = {}
        self.key_places: dict[YamlPath, Place] = {}
        self.texts: dict[YamlPath, str] = {}

    def place(self, start: int, end: int) -> Place:
        """Return the location of `text[start:end]`, cut at the end of its first line."""
        number = bisect_right(self.line_starts, start)
        line_end = self.line_starts[number] - 1 if number < len(self.line_starts) else len(self.text)
        length = len(self.text[start : min(end, line_end)].rstrip())
        column = start - self.line_starts[number - 1] + 1
        return Place(number - 1 + self.first_line, column, max(1, length))

    def exchange(self, start: int, old: str, new: str) -> Fix:
        """Return a safe fix that replaces the text `old` at the offset `start` by `new`."""
        place = self.place(start, start + 1)
        return make_replacement(place.line, place.column, old, new, is_safe=True)

    def report_forbidden_character(self) -> None:
        """Report the first character that YAML does not allow."""
        if found := _REFUSED.search(self.text):
            name = f"U+{ord(found[0]):04X}"
            place = self.place(found.start(), found.end())
            fix = make_replacement(place.line, place.column, found[0], "", title="remove the character")
            self.reporter.error(
                "yaml-syntax", f"character {name} is not allowed in YAML", place, "remove it", fix
            )

    def handle_event(self, event: yaml.Event) -> bool:
        """Process one event. Return False if reading must stop."""
        start, end = _offsets(event)
        # the most frequent kinds of event first
        if isinstance(event, yaml.ScalarEvent):
            self._reject_decoration(event, start)
            self._scalar(event, start, end)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._reject_decoration(event, start)
            return self._open(event, start)
        elif isinstance(event, yaml.CollectionEndEvent):
            frame = self.frames.pop()
            self._complete(frame.value, frame.start, end, kept=frame.is_stored)
        elif isinstance(event, yaml.DocumentStartEvent):
            return self._document(event, start)
        elif isinstance(event, yaml.AliasEvent):
            self._reject(
                f'YAML alias "{self._word(start)}" is not allowed',
                start,
                "write the value itself, or put it in quotes",
            )
            self._complete(None, start, end, kept=False)
        return len(self.reporter.diagnostics) < MAX_REPORTS

    def finish(self) -> Located:
        """Return the result. After a syntax error it contains the finished entries of the root."""
        if self.frames:
            self.root = self.frames[0].value
            self.places[()] = self.place(self.frames[0].start, len(self.text))
        return Located(self.root, self.places, self.key_places, self.texts)

    def _document(self, event: yaml.DocumentStartEvent, start: int) -> bool:
        self.documents += 1
        if self.documents > 1:
            self._reject("a second YAML document is not allowed", start, "remove the line `---`")
            return False
        if event.version or event.tags:
            self._reject("YAML directives are not allowed", start, "remove the line that starts with `%`")
        return True

    def line_text_end(self, start: int) -> int:
        """Return the offset after the last visible character of the line that contains the offset `start`."""
        end = self.text.find("\n", start)
        line = self.text[start : end if end >= 0 else len(self.text)]
        return start + len(line.rstrip())

    def _reject(self, message: str, start: int, hint: str = "") -> None:
        """Report an unsupported feature. The word that starts at `start` is underlined."""
        place = self.place(start, start + len(self._word(start)))
        self.reporter.error("yaml-feature", message, place, hint)

    def _word(self, start: int) -> str:
        word = _WORD.match(self.text, start)
        return word[0] if word else ""

    def _reject_decoration(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, start: int) -> None:
        if event.anchor is not None:
            self._reject(
                f'YAML anchor "{self._word(start)}" is not allowed',
                start,
                "put a value that starts with `&` in quotes",
            )
        if event.tag is not None:
            message = f'tag "{self._word(start) or event.tag}" is not allowed'
            self._reject(message, start, "remove the tag, or put the value in quotes")

    def _open(self, event: yaml.CollectionStartEvent, start: int) -> bool:
        if len(self.frames) >= MAX_DEPTH:
            self._reject(TOO_DEEP, start, FLATTER)
            return False
        parent = self.frames[-1] if self.frames else None
        kept = True
        if parent is not None:
            # the meaning of a tagged value is unknown, so it is not stored
            kept = parent.is_stored and parent.is_next_stored and not parent.wants_key and event.tag is None
            if parent.wants_key:
                # `{{ x }}` is a string without quotes, not a mapping; the loader goes on, because entries of
                # the root are independent of each other
                parent.is_stored = parent.is_stored and not parent.path
                self._reject(
                    "a key must be a string", start, "put a value that starts with `{` or `[` in quotes"
                )
        value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        is_block = not event.flow_style and (parent is None or parent.is_block)
        self.frames.append(_Frame(self._next_path(), start, value, kept, is_block=is_block))
        return True

    def _next_path(self) -> YamlPath:
        if not self.frames:
            return ()
        frame = self.frames[-1]
        step = len(frame.value) if isinstance(frame.value, list) else frame.key or ""
        return (*frame.path, step)

    def _scalar(self, event: yaml.ScalarEvent, start: int, end: int) -> None:
        plain = event.implicit[0] and event.style in (None, "")
        if self.frames and self.frames[-1].wants_key:
            self._key(self.frames[-1], event.value, start, end, plain=plain)
            return
        if event.style == '"':
            self._check_escapes(event.value, start, end)
        if plain and "\\" in event.value and (cut := _COMMENT_AFTER_VALUE.match(self.text, end)):
            place = self.place(cut.start(1), cut.end(1))
            message = f'"{cut[1]}" after a space starts a comment and is not part of the TeX'
            written = self.text[start : self.line_text_end(start)]
            is_block = self.frames[-1].is_block if self.frames else False
            fix = self.exchange(start, written, quote(written)) if is_block else None
            self.reporter.warn("yaml-comment", message, place, "put the value in single quotes", fix)
        value = self._resolve(event.value, start, end) if plain else event.value
        spelling = event.value if isinstance(value, int | float) else None
        self._complete(value, start, end, spelling=spelling)

    def _key(self, frame: _Frame, key: str, start: int, end: int, *, plain: bool) -> None:
        """Store the key of the value that comes next, or report it if it is not accepted. plain: whether it
        has no quotes."""
        frame.key, frame.is_next_stored = key, False
        place = self.place(start, end)
        if plain and key == "<<":
            self._reject('merge keys "<<" are not allowed', start, "remove `<<`, and copy its entries here")
        elif not key:
            self._reject("missing key before the colon", start, "write a key, or put the value in quotes")
        elif key in frame.key_lines:
            first = frame.key_lines[key]
            message = f'duplicate key "{key}" (first defined on line {first})'
            fix = remove_entry(place, self.reporter.lines) if frame.is_block else None
            self.reporter.error("yaml-duplicate-key", message, place, "remove one of the two", fix)
        else:
            frame.key_lines[key] = place.line
            frame.is_next_stored = True
            if frame.is_stored:
                self.key_places[(*frame.path, key)] = place

    def _complete(
        self, value: Any, start: int, end: int, *, kept: bool = True, spelling: str | None = None
    ) -> None:
        """Add a value to the mapping or list that contains it, after the whole value is read. kept: False for
        a rejected value, which is not stored."""
        frame = self.frames[-1] if self.frames else None
        if frame is None:
            self.root = value
            self.places[()] = self.place(start, end)
        elif frame.wants_key:
            # the key was rejected, so its value is read and dropped
            frame.key, frame.is_next_stored = "", False
        else:
            if kept and frame.is_stored and frame.is_next_stored:
                self._store(frame, value, self.place(start, end), spelling)
            frame.key, frame.is_next_stored = None, True

    def _store(self, frame: _Frame, value: Any, place: Place, spelling: str | None) -> None:
        path = self._next_path()
        self.places[path] = place
        if spelling is not None:
            self.texts[path] = spelling
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is not None:
            frame.value[frame.key] = value

    def _resolve(self, text: str, start: int, end: int) -> str | int | float | bool | None:
        if is_too_long(text):
            message, hint = (
                f"a number may have at most {MAX_DIGITS} digits",
                "put it in quotes if it is a string",
            )
            self.reporter.error("yaml-feature", message, self.place(start, end), hint)
        return resolve(text)

    def _check_escapes(self, value: str, start: int, end: int) -> None:
        r"""Report TeX in double quotes, where for example the `\f` of `\frac` is a form feed and the `\t` of
        `\theta` a tab."""
        broken = _REFUSED.search(value) or "\r" in value
        hint = self.escape_hint
        for found in _ESCAPE.finditer(self.text, start, end):
            place = self.place(found.start(), found.end())
            if broken and found[1] in _BREAKING_ESCAPES:
                message = f'"{found[0]}" in double quotes is a control character'
                self.reporter.error("yaml-escape", message, place, hint, self._single(start, end))
            elif "$" in value and found[1] in "tn" and self.text[found.end() : found.end() + 1].isalpha():
                what = "tab" if found[1] == "t" else "line break"
                message = f'"{found[0]}" in double quotes is a {what}'
                self.reporter.warn("yaml-escape", message, place, hint, self._single(start, end))

    def _single(self, start: int, end: int) -> Fix | None:
        """Return a fix that writes a one-line value in single quotes; None if it contains an escaped
        backslash."""
        value = self.text[start:end]
        if self.escape_hint != SINGLE_QUOTES or "\n" in value or "\\\\" in value or '\\"' in value:
            return None
        return self.exchange(start, value, quote(value[1:-1]))
