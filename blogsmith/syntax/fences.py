"""The info string after the opening ``` of a code fence.

Supported are `python title="model.py" {3,5-7} linenos fold="Show"`, Pandoc's `{.python #lst-x}`, changes as
`{+3}`, `{-5}` and `diff python`, and `file="src/attn.py"`. The forms of cells are `python eval`, `{python}`
and `{code-cell} python`; `cells/fences.py` makes the cells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..base.diagnostics.fixes import Fix, make_replacement
from ..base.diagnostics.model import Place, TextMap, confirm_typo, format_suggestion, list_choices
from ..base.patterns import lazy_pattern
from ..base.schema.yaml_scalars import resolve
from ..model.cells import DRAWINGS
from .cells.languages import option_lines
from .cells.option_values import KEYS as CELL_KEYS
from .records import Fence, Math, OptionSetting, attach_record
from .references.labels import normal_id
from .state import PageState, get_page

_PART = lazy_pattern(
    r"[ \t]*(?:\{(?P<brace>[^{}]*)\}"
    r"|(?P<key>[A-Za-z][\w-]*)=(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|'(?P<single>[^']*)'|(?P<bare>[^\s{}]+))"
    r"|(?P<word>[^\s{}]+)|(?P<stray>[{}]))"
)
_LANGUAGE = lazy_pattern(r"[A-Za-z][\w+#-]*")
_LINES = lazy_pattern(r"\d+(?:-\d+)?(?:[ ,]+\d+(?:-\d+)?)*")
_CHANGES = lazy_pattern(r"[+-]?\d+(?:-\d+)?(?:[ ,]+[+-]?\d+(?:-\d+)?)*")
_CHANGE = lazy_pattern(r"([+-]?)(\d+(?:-\d+)?)")
_KEYS = ("title", "linenos", "wrap", "fold", "start", "hl", "id", "cap", "file", "region", "lines")
_INCLUDE_KEYS = ("file", "region", "lines")
"""Keys that select the shown part of a file of the site."""
_WORDS = ("linenos", "wrap", "fold", "eval")
_RUN = ("run", "exec", "execute")
_MAX_LINE = 100_000

_IN_BRACES = lazy_pattern(
    r"[\s,]*(?:(?P<key>[A-Za-z][\w-]*)=(?P<value>\"[^\"]*\"|'[^']*'|\[[^\]]*\]|[^\s,]*)|(?P<word>[^\s,]+))"
)
_OTHER_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "filename": "title",
        "startFrom": "start",
        "linenostart": "start",
        "hl_lines": "hl",
        "lst-cap": "cap",
        "lst-label": "id",
    }
)
"""Key of Pandoc, Quarto or Hugo → our name for it."""

_DRAWING_KEYS: Mapping[str, str] = MappingProxyType(
    {"alt": "fig-alt", **dict.fromkeys(("cap", "caption", "title"), "fig-cap")}
)
"""Key on the fence of a drawing → its option as a cell."""

_LANGUAGE_FOLLOWS = ("code-cell", "code-block", "code")
_CALLOUT = "write a callout as `> [!NOTE]`"
_DIRECTIVES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("note", "tip", "hint", "warning", "important", "admonition", "attention"), _CALLOUT),
        **dict.fromkeys(("caution", "danger", "error", "seealso", "proof", "theorem"), _CALLOUT),
        "math": "write the formula between `$$` and `$$`",
        **dict.fromkeys(("figure", "image"), 'write an image as `![text](image.png "caption")`'),
    }
)
"""Name of a MyST directive → hint on what to write instead."""


def parse_info(
    info: str, page: PageState | None = None, place: Place | None = None, lines: int = _MAX_LINE
) -> Fence:
    """Return the parsed info string. Warn at `place` about anything unknown. lines: Number of lines of the
    code; a marked line after the last one is also a warning."""
    reader = _InfoParser(page, place, lines)
    for found in _PART.finditer(info):
        if found["brace"] is not None:
            reader.brace(found["brace"], found.start("brace") - 1)
        elif found["key"]:
            group = next(name for name in ("quoted", "single", "bare") if found[name] is not None)
            value = re.sub(r'\\(["\\])', r"\1", found[group])
            reader.pair(found["key"], value, found.start("key"), found.start(group), quoted=group != "bare")
        elif found["word"]:
            reader.read_word(found["word"], found.start("word"))
    return reader.fence()


class _InfoParser:
    """Collector of the parts of one info string."""

    def __init__(self, page: PageState | None, place: Place | None, lines: int) -> None:
        self.page, self.place, self.lines = page, place, lines
        self.language = self.title = self.fold = self.id = ""
        self.marked: set[int] = set()
        self.numbered: bool | None = None
        self.wraps: bool | None = None
        self.first_line = 1
        self.language_follows = False
        self.classes: list[str] = []
        self.form: Literal["", "braces", "code-cell"] = ""
        self.is_marked = False
        self.settings: list[OptionSetting] = []
        self.added: set[int] = set()
        self.removed: set[int] = set()
        self.is_diff = False
        self.caption: TextMap | None = None
        self.alt = ""
        self.parts: dict[str, OptionSetting] = {}

    def brace(self, text: str, offset: int) -> None:
        if _CHANGES.fullmatch(text.strip()):
            for change in _CHANGE.finditer(text):
                marked = {"+": self.added, "-": self.removed}.get(change[1], self.marked)
                self.mark(change[2], offset, marked)
            return
        for found in _IN_BRACES.finditer(text):
            at = offset + 1
            if found["key"]:
                value, quoted = _brace_value(found["value"])
                key = found["key"]
                start = at + found.start("value") + quoted
                self.pair(key, value, at + found.start("key"), start, quoted=quoted)
            else:
                self.read_brace_word(found["word"], at + found.start("word"))

    def read_brace_word(self, word: str, offset: int) -> None:
        if word in (".numberLines", ".number-lines"):
            self.numbered = True
        elif word.startswith("."):
            self.class_or_language(word[1:])
        elif word.startswith("#"):
            self.id = normal_id(word[1:])
        elif word in _LANGUAGE_FOLLOWS:
            self.language_follows = True
            self.form = "code-cell" if word == "code-cell" else ""
        elif word == "eval":
            self.is_marked = True
        elif word in _DIRECTIVES:
            self.warn(
                f'unsupported syntax: "{{{word}}}" on a code fence', offset, len(word), _DIRECTIVES[word]
            )
        elif not self.language and re.fullmatch(r"[\w+-]+", word):
            self.language = word
            self.form = "braces"
        else:
            self.problem(word, offset, _WORDS)

    def class_or_language(self, name: str) -> None:
        if self.language:
            self.classes.append(name)
        else:
            self.language = name

    def pair(self, key: str, value: str, offset: int, start: int, *, quoted: bool) -> None:
        key = _OTHER_KEYS.get(key, key)
        key = _DRAWING_KEYS.get(key, key) if self.is_drawing() else key
        if key == "title":
            self.title = value
        elif key == "cap":
            self.caption = self.text_of(value, start)
        elif key == "alt" and self.is_diagram():
            self.alt = value
        elif key in _INCLUDE_KEYS:
            self.part(key, value, offset, start)
        elif key == "fold":
            self.fold = "" if value in ("false", "no") else _fold_label(value)
        elif key in ("start", "linenos") and value.isdecimal() and value.strip("0"):
            self.first_line, self.numbered = int(value[:6]), True
        elif key == "linenos":
            self.numbered = value not in ("false", "no", "0")
        elif key == "wrap":
            self.wraps = value not in ("false", "no", "0")
        elif key == "hl" and _LINES.fullmatch(value):
            self.mark(value, offset, self.marked)
        elif key == "id":
            self.id = normal_id(value)
        elif key in CELL_KEYS:
            self.setting(key, value, offset, start, quoted=quoted)
        else:
            own = ("alt",) if self.is_diagram() else ()
            self.problem(key, offset, (*own, *_KEYS, *CELL_KEYS))

    def is_diagram(self) -> bool:
        return self.page is not None and self.language in self.page.options.diagram_languages

    def is_drawing(self) -> bool:
        return self.language.casefold() in DRAWINGS and not self.is_diagram()

    def text_of(self, value: str, start: int) -> TextMap:
        place = self.place or Place(1)
        return TextMap(value, ((place.line, place.column + start),))

    def part(self, key: str, value: str, offset: int, start: int) -> None:
        text = self.text_of(value, start)
        at = self.text_of(key, offset).place(0, len(key))
        self.parts[key] = OptionSetting(key, value, text.place(0, max(1, len(value))), at, value, text)

    def setting(self, key: str, value: str, offset: int, start: int, *, quoted: bool) -> None:
        self.is_marked = self.is_marked or key == "eval"
        if self.place is None:
            return
        line, column = self.place.line, self.place.column
        data = value if quoted else resolve(value)
        place = Place(line, column + start, max(1, len(value)))
        text = TextMap(value, ((line, column + start),)) if isinstance(data, str) else None
        at = Place(line, column + offset, len(key))
        self.settings.append(OptionSetting(key, data, place, at, value, text))

    def read_word(self, word: str, offset: int) -> None:
        if not self.language and (offset == 0 or self.language_follows):
            self.language = word
        elif word == "linenos":
            self.numbered = True
        elif word == "wrap":
            self.wraps = True
        elif word.startswith("#") and word[1:]:
            self.id = normal_id(word[1:])
        elif word == "fold":
            self.fold = _fold_label("true")
        elif word == "eval":
            self.is_marked = True
        elif self.language == "diff" and not self.is_diff and _LANGUAGE.fullmatch(word):
            self.language, self.is_diff = word, True
        else:
            self.problem(word, offset, _WORDS)

    def mark(self, numbers: str, offset: int, marked: set[int]) -> None:
        asked = line_numbers(numbers)
        marked |= asked
        if max(asked, default=0) > self.lines and not self.parts:
            self.warn(
                f"line {max(asked)} is marked, but the code ends at line {self.lines}",
                offset,
                len(numbers),
                f"write lines from 1 to {self.lines}",
            )

    def problem(self, word: str, offset: int, choices: tuple[str, ...]) -> None:
        if self.page is None:
            return
        near = "eval" if word in _RUN else self.page.reporter.nearest(word, choices)
        hint = "write `eval` to run the code" if word in _RUN else format_suggestion(near)
        hint = hint or list_choices((*_KEYS, "eval", "{1,3-5}"))
        meant = near if word in _RUN else confirm_typo(word, near)
        self.warn(f'unknown option "{word}" on a code fence', offset, len(word), hint, (word, meant))

    def warn(
        self, message: str, offset: int, length: int, hint: str, meant: tuple[str, str | None] = ("", None)
    ) -> None:
        """Warn at an offset in the info string. meant: a misspelled word and its correction or None, for the
        fix."""
        if self.page is not None and self.place is not None:
            at = Place(self.place.line, self.place.column + offset, length)
            fix = self.page.reporter.substitute(at, *meant)
            self.page.reporter.warn("fence-info", message, at, hint, fix)

    def fence(self) -> Fence:
        return Fence(
            language=self.language,
            title=self.title,
            marked=frozenset(self.marked),
            numbered=self.numbered,
            wraps=self.wraps,
            first_line=self.first_line,
            fold=self.fold,
            id=self.id,
            classes=tuple(self.classes),
            place=self.place,
            form=self.form,
            has_eval=self.is_marked,
            settings=tuple(self.settings),
            added=frozenset(self.added),
            removed=frozenset(self.removed),
            is_diff=self.is_diff,
            caption=self.caption,
            alt=self.alt,
            parts=self.parts,
        )


def _brace_value(written: str) -> tuple[str, bool]:
    """Return the value of `key=value` in braces, and whether it is quoted. A list loses its brackets and
    quotes."""
    if written.startswith("["):
        return re.sub(r"[\"'\[\]]", "", written), True
    if written.startswith(("'", '"')) and len(written) > 1:
        return written[1:-1], True
    return written, False


def _fold_label(value: str) -> str:
    return "Show code" if value in ("", "true", "yes") else value


def line_numbers(text: str) -> set[int]:
    """Return `3,5-7` as {3, 5, 6, 7}. Numbers above the maximum number of lines are left out."""
    numbers: set[int] = set()
    for part in re.split(r"[ ,]+", text):
        first, _, last = part.partition("-")
        begin = min(int(first[:7]), _MAX_LINE)
        numbers.update(range(begin, min(int((last or first)[:7]), _MAX_LINE) + 1))
    return numbers


def fences(state: StateCore) -> None:
    """Parse the info string of every fence (core rule)."""
    page = get_page(state.env)
    for token in state.tokens:
        if token.type == "fence" and token.info.strip() == "math" and token.content.strip():
            _read_display(token, page)
        elif token.type == "fence":
            # Option lines are not shown, and highlighted lines are counted in the code as shown.
            lines = token.content.removeprefix(option_lines(token.content)).count("\n")
            attach_record(token, parse_info(token.info.strip(), page, _info_place(token, page), lines))
            _check_closing(token, page)


def _read_display(token: Token, page: PageState) -> None:
    """Convert GitHub's fence with the language `math` to display math."""
    _check_closing(token, page)
    origin = page.text_map(token.content.rstrip("\n"), (token.map or (0, 1))[0] + 1)
    token.type, token.tag, token.content = "math_display", "math", origin.text
    attach_record(token, Math(origin.text, True, origin))


def _check_closing(token: Token, page: PageState) -> None:
    """Warn about a fence without an end, because all text up to the end of its container becomes code."""
    first, end = token.map or (0, 1)
    last = page.lines[end - 1].rstrip() if 0 < end <= len(page.lines) else ""
    if end - 1 > first and last.endswith(token.markup):
        return
    line = page.lines[first] if first < len(page.lines) else ""
    if page.is_latex and token.markup not in line:
        # The translation of a LaTeX environment created this fence.
        return
    place = Place(page.first_line + first, line.find(token.markup) + 1, len(token.markup))
    hint = f"add a line {token.markup}"
    page.reporter.warn(
        "fence-open",
        f'missing closing "{token.markup}" of this code fence',
        place,
        hint,
        _closing(token, page),
    )


def _closing(token: Token, page: PageState) -> Fix | None:
    """Return a fix that closes a fence at its present end, or None inside lists and quotes."""
    end = token.map[1] if token.map else 0
    while end > 0 and not page.lines[end - 1 : end][0].strip():
        end -= 1
    if token.level or not end:
        return None
    first = page.lines[token.map[0]] if token.map else ""
    indent = " " * (len(first) - len(first.lstrip(" ")))
    last, title = page.lines[end - 1], f"add a line {token.markup}"
    return make_replacement(
        page.first_line + end - 1, len(last) + 1, "", f"\n{indent}{token.markup}", title=title
    )


def _info_place(token: Token, page: PageState) -> Place:
    line = (token.map or [0])[0]
    text = page.lines[line] if line < len(page.lines) else ""
    column = text.find(token.info.strip()) if token.info.strip() else 0
    return Place(page.first_line + line, max(0, column) + 1, max(1, len(token.info.strip().split(" ")[0])))
