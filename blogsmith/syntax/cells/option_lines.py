"""Option lines before a cell's code, read into settings with positions.

Together, the `#| key: value` lines are one YAML document, as in Quarto. In a `{code-cell}` they may be
preceded by MyST's `:key: value` lines, or by a block of YAML between two `---` lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from ...base.diagnostics.fixes import Fix
from ...base.diagnostics.model import Diagnostic, Place, Reporter, TextMap, format_suggestion, nearest
from ...base.patterns import lazy_pattern
from ...base.schema.yaml_loader import Located, load
from ..records import OptionSetting
from ..state import PageState
from ..text import locate_text
from .languages import HASH, OptionSyntax
from .option_values import KEYS

_DIRECTIVE = lazy_pattern(r":(?=[A-Za-z][\w-]*:(?:\s|$))")
_UNSPACED = lazy_pattern(r"([A-Za-z][\w-]*)[ \t]*[:=][ \t]*(\S[^\n]*)")
_FIRST = lazy_pattern(r"(?<=first defined on line )(\d+)(?=\)\Z)")


class OptionBlock(Struct, frozen=True):
    """The options in the lines before a cell's code."""

    settings: tuple[OptionSetting, ...]
    lines: int
    """Number of lines of the fence that the options occupy, including blank lines after them."""


def read_option_lines(
    content: str, first: int, page: PageState, *, myst: bool, marks: OptionSyntax = HASH
) -> OptionBlock:
    """Return the options before the code of a fence. Report those that cannot be read.

    first: 0-based line of the page on which `content` starts.
    myst: The fence is a `{code-cell}`.
    marks: Option syntax of the fence's language.
    """
    lines = content.split("\n")[:-1]
    settings: list[OptionSetting] = []
    at = 0
    if myst:
        begin, at, behind = _directive_lines(lines)
        if at:
            settings += _settings(lines[begin:at], _DIRECTIVE, first + begin, page)
            settings = [found for setting in settings for found in _expand_tags(setting, page)]
        at = behind
    start = at
    while at < len(lines) and marks.option.match(lines[at]):
        at += 1
    if at > start:
        settings += _settings(lines[start:at], marks.option, first + start, page)
    warn_of_spaced_option("".join(lines[at : at + 1]), first + at, page, marks)
    warn_of_late_option("\n".join(lines[at:]), first + at, page, marks)
    return OptionBlock(tuple(settings), at + _blank_lines(lines, at) if at else 0)


def count_option_lines(content: str, *, myst: bool, marks: OptionSyntax = HASH) -> int:
    """Return the number of lines that `read_option_lines` reads, without reporting anything."""
    lines = content.split("\n")[:-1]
    at = _directive_lines(lines)[2] if myst else 0
    while at < len(lines) and marks.option.match(lines[at]):
        at += 1
    return at + _blank_lines(lines, at) if at else 0


def _blank_lines(lines: Sequence[str], first: int) -> int:
    return next((n for n, line in enumerate(lines[first:]) if line.strip()), len(lines) - first)


def _directive_lines(lines: Sequence[str]) -> tuple[int, int, int]:
    """Return (first line, end, line after the options) of MyST's options, as indices into `lines`. The end is
    exclusive, and 0 if there are no options."""
    if lines and lines[0].rstrip() == "---":
        end = next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), 0)
        return 1, end, end + 1 if end else 0
    end = 0
    while end < len(lines) and _DIRECTIVE.match(lines[end]):
        end += 1
    return 0, end, end


def warn_of_spaced_option(line: str, number: int, page: PageState, marks: OptionSyntax = HASH) -> None:
    """Warn about `# | eval: true`, an option line that a formatter has changed into a comment. number:
    0-based line of the page."""
    found = marks.spaced.match(line)
    if found and found[1] in KEYS:
        text = line.strip()
        start = page.text_map(line, number).starts[0]
        place = Place(start[0], start[1] + line.find(marks.comment), len(text))
        meant = text.replace(f"{marks.comment} |", f"{marks.comment}|", 1)
        fix = page.reporter.substitute(place, text, meant)
        message = f'"{marks.comment} |" is a comment, not an option'
        page.reporter.warn("cell-option", message, place, f"write `{meant}`", fix)


def warn_of_late_option(code: str, number: int, page: PageState, marks: OptionSyntax = HASH) -> None:
    """Warn about the first option line after code or a blank line, where it is only a comment. number:
    0-based line of the page on which `code` starts."""
    found = next((found for found in marks.anywhere.finditer(code) if found[1] in KEYS), None)
    if found:
        line = code[found.start() :].partition("\n")[0]
        start = page.text_map(line, number + code.count("\n", 0, found.start())).starts[0]
        place = Place(start[0], start[1] + len(line) - len(line.lstrip()), len(line.strip()))
        hint = "move it to the first lines of the fence"
        page.reporter.warn(
            "cell-option",
            f'option "{found[1]}" has no effect because it is not in the first lines of the fence',
            place,
            hint,
        )


class _Block(Struct, frozen=True):
    """YAML written in lines that each have a prefix, and the positions of these lines in the file."""

    lines: tuple[str, ...]
    """Lines without their prefix."""
    starts: tuple[tuple[int, int], ...]
    """(line, column) in the file of each line."""
    located: Located

    def place(self, place: Place) -> Place:
        """Convert a position in the YAML to one in the file."""
        line, column = self.starts[min(place.line, len(self.starts)) - 1]
        return Place(line, column + place.column - 1, place.length)

    def text(self, value: str, place: Place) -> TextMap:
        """Return the string that YAML found at `place`, with its positions in the file."""
        found = locate_text(value, place, self.lines)
        moved = (self.place(Place(*start)) for start in found.starts)
        return TextMap(found.text, tuple((place.line, place.column) for place in moved))


def _settings(
    lines: Sequence[str], mark: re.Pattern[str], first: int, page: PageState
) -> list[OptionSetting]:
    """Return the settings of the lines. Each line may start with the prefix `mark`."""
    block = _read(lines, mark, first, page)
    value = block.located.value
    if not isinstance(value, dict):
        if value is not None:
            place = block.place(block.located.places.get((), Place(1)))
            page.reporter.error(
                "cell-option",
                "invalid cell options: expected `key: value` lines",
                place,
                _spelling_hint(value),
            )
        return []
    return [_setting(block, key, item) for key, item in value.items()]


_FORM_HINT = "write lines such as `#| echo: false`"


def _spelling_hint(value: object) -> str:
    """Return a hint if the author wrote `echo=false` or `echo:false`, otherwise one with the form."""
    found = _UNSPACED.fullmatch(value.strip()) if isinstance(value, str) else None
    return f"write `{found[1]}: {found[2]}`" if found and found[1] in KEYS else _FORM_HINT


def _read(lines: Sequence[str], mark: re.Pattern[str], first: int, page: PageState) -> _Block:
    origin = page.text_map("\n".join(lines), first)
    cut = [at.end() if (at := mark.match(line)) else 0 for line in lines]
    bare = tuple(line[length:] for line, length in zip(lines, cut, strict=True))
    starts = tuple((line, column + n) for (line, column), n in zip(origin.starts, cut, strict=True))
    reporter = Reporter(page.reporter.path, bare)
    found = load("\n".join(bare), reporter)
    block = _Block(bare, starts, found or Located(None, {}, {}, {}))
    for problem in reporter.diagnostics:
        place = block.place(problem.place or Place(1))
        if found and problem.place and bare[problem.place.line - 1].startswith("sweep:"):
            # reported as an invalid sweep, with the correct form
            continue
        message = _FIRST.sub(lambda found: str(block.place(Place(int(found[1]))).line), problem.message)
        fix = _moved_fix(problem, place, page.reporter)
        page.reporter.report(
            problem.code, message, place, hint=problem.hint, severity=problem.severity, fix=fix
        )
    return block


def _moved_fix(problem: Diagnostic, place: Place, reporter: Reporter) -> Fix | None:
    """Convert a fix with positions in the YAML to one with positions in the file. Return None if the fix has
    several edits, or an edit of several lines."""
    edits = problem.fix.edits if problem.fix else ()
    if problem.fix is None or len(edits) != 1 or "\n" in edits[0].old:
        return None
    return reporter.substitute(place, edits[0].old, edits[0].new, is_safe=problem.fix.is_safe)


def _setting(block: _Block, key: str, value: object) -> OptionSetting:
    written = block.located.places.get((key,), Place(1))
    key_place = block.located.key_places.get((key,), Place(1))
    spelling = block.located.texts.get((key,), value if isinstance(value, str) else "")
    text = block.text(value, written) if isinstance(value, str) else None
    numbers = range(len(value)) if isinstance(value, list) else ()
    entries = tuple(block.place(block.located.places.get((key, number), written)) for number in numbers)
    nested = {}
    if isinstance(value, dict):
        places = block.located.places.items()
        nested = {path[1:]: block.place(place) for path, place in places if len(path) > 1 and path[0] == key}
    place, at = block.place(written), block.place(key_place)
    return OptionSetting(key, value, place, at, spelling, text, entries=entries, nested=nested)


_TAGS: Mapping[str, tuple[str, object]] = MappingProxyType(
    {
        "raises-exception": ("error", True),
        "skip-execution": ("eval", False),
        "hide-input": ("code-fold", True),
        "hide-cell": ("code-fold", True),
        "remove-input": ("echo", False),
        "remove-output": ("output", False),
        "remove-cell": ("include", False),
        "remove-stderr": ("warning", False),
    }
)
"""Tag of MyST → name and value of the equivalent option."""

_NO_EFFECT: Mapping[str, str] = MappingProxyType(
    {
        "hide-output": "the output stays visible",
        "hide-cell": "the code is folded, the output stays visible",
        "remove-stdout": "printed text stays visible",
    }
)
"""MyST tag that has less effect here than its name suggests → its effect here."""


def _nearest_tag(tag: str) -> str | None:
    """Return the known tag that `tag` probably misspells, or None. Other tags are not reported, because other
    tools use them."""
    near = nearest(tag, (*_TAGS, *_NO_EFFECT))
    return near if near and tag[:1] == near[:1] else None


def _expand_tags(setting: OptionSetting, page: PageState) -> list[OptionSetting]:
    """Return the options that the tags in a setting `tags` mean; a tag without an option adds none. Return a
    setting with another key as the only item."""
    if setting.key != "tags":
        return [setting]
    value = setting.value
    items = re.split(r"[\s,]+", value) if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        page.reporter.error(
            "cell-option",
            '"tags" must be a list of strings',
            setting.place,
            "write a list such as `[hide-input]`",
        )
        return []
    found = []
    for number, tag in enumerate(items):
        place = setting.entries[number] if setting.entries else setting.place
        if said := _NO_EFFECT.get(tag):
            hint = "write `output: false` to omit the output"
            page.reporter.warn("cell-option", f'tag "{tag}" is not fully supported: {said}', place, hint)
        elif tag not in _TAGS and (near := _nearest_tag(tag)):
            fix = page.reporter.correct(place, tag, near)
            page.reporter.warn("cell-option", f'unknown tag "{tag}"', place, format_suggestion(near), fix)
        if tag in _TAGS:
            key, meant = _TAGS[tag]
            found.append(OptionSetting(key, meant, place, setting.key_place, tag, implied=True))
    return found
