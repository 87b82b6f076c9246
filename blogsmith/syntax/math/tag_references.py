r"""Tags that refer to other equations, as in `\tag{\ref{eq:x}'}`. They are filled in after all equations are
numbered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markdown_it.token import Token
from msgspec.structs import replace

from ...base.diagnostics.model import Place
from ...base.patterns import lazy_pattern
from ..records import Math, attach_record, get_record
from ..references.labels import Label, PageNumbers, label_hint
from ..references.references import label_id

MAX_TAG = 500
"""Maximum length of a tag, in characters: tags that contain each other could grow without limit."""
_REFERENCE = lazy_pattern(r"\\(?:eqref|ref)\s*\{\s*([^{}]*?)\s*\}")


@dataclass(eq=False, slots=True)
class _Tagged:
    """A row whose tag refers to other equations."""

    token: Token
    row: int
    is_filled: bool = False
    is_open: bool = False
    """Whether other tags that this one refers to are being filled in."""

    @property
    def math(self) -> Math:
        return get_record(self.token, Math)

    @property
    def id(self) -> str:
        return self.math.rows[self.row].id

    @property
    def names(self) -> list[str]:
        """The labels that the tag refers to, as written."""
        return _REFERENCE.findall(self.math.rows[self.row].number)


def fill_tags(displays: Sequence[Token], numbers: PageNumbers) -> None:
    """Replace the references in tags with the numbers of their targets."""
    waiting = [
        _Tagged(token, row)
        for token in displays
        for row, mark in enumerate(get_record(token, Math).rows)
        if "ref" in mark.number and _REFERENCE.search(mark.number)
    ]
    by_id = {tagged.id: tagged for tagged in waiting if tagged.id}
    for first in waiting:
        stack = [first]
        while stack:
            needed = _next_required(stack[-1], by_id, numbers)
            if needed:
                needed.is_open = True
                stack.append(needed)
            else:
                _fill(stack.pop(), numbers)


def _next_required(tagged: _Tagged, by_id: Mapping[str, _Tagged], numbers: PageNumbers) -> _Tagged | None:
    """Return another tag that must be filled in before this one, or None. Report circular references."""
    tagged.is_open = True
    for name in () if tagged.is_filled else tagged.names:
        other = by_id.get(label_id(name))
        if other and other.is_open and not other.is_filled:
            message = "this tag refers to itself, directly or through another tag"
            numbers.page.reporter.error("math-syntax", message, _place(name, tagged.math))
            other.is_filled = True
        elif other and not other.is_filled:
            return other
    return None


def _fill(tagged: _Tagged, numbers: PageNumbers) -> None:
    math = tagged.math
    tagged.is_filled = True
    for name in tagged.names:
        if label_id(name) not in numbers.labels:
            _report_undefined(name, math, numbers)
    mark = math.rows[tagged.row]
    number = _REFERENCE.sub(lambda found: _number(numbers.labels.get(label_id(found[1]))), mark.number)
    if len(number) > MAX_TAG:
        message = f"this tag is longer than {MAX_TAG} characters"
        numbers.page.reporter.error("math-limit", message, _place(tagged.names[0], math))
        number = "?"
    rows = [*math.rows]
    rows[tagged.row] = replace(mark, number=number)
    attach_record(tagged.token, replace(math, rows=tuple(rows)))
    if mark.id in numbers.labels:
        numbers.labels[mark.id] = replace(numbers.labels[mark.id], number=number)


def _number(label: Label | None) -> str:
    # An equation whose tag refers to itself has no number yet.
    return label.number if label and not _REFERENCE.search(label.number) else "?"


def _report_undefined(name: str, math: Math, numbers: PageNumbers) -> None:
    near = numbers.page.reporter.nearest(label_id(name), numbers.labels)
    near = near.replace("-", ":", 1) if near and ":" in name else near
    hint = f"did you mean {near}?" if near else label_hint(name)
    numbers.page.reporter.error("ref-undefined", f'label not found: "{name}"', _place(name, math), hint)


def _place(name: str, math: Math) -> Place:
    found = next((f for f in _REFERENCE.finditer(math.tex) if f[1] == name), None)
    return math.origin.place(found.start(), len(found[0])) if found else math.origin.place(0)
