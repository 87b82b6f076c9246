r"""Labels that nothing refers to.

References are looked for in the text as written, so that every way to refer counts: `\eqref`, `{@…}`,
`#id` in a link or in HTML, also in captions and in posts that are not published yet. Theorems and
headings are left out, since their ids are there to be linked to from anywhere; a lemma is there to be used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ..base.diagnostics.fixes import Fix
from ..base.diagnostics.model import Diagnostic, Place, Reporter
from ..base.patterns import lazy_pattern
from ..syntax.references.labels import Label
from ..syntax.references.references import label_id

_LEMMA = "Lemma"
_KINDS = frozenset({"eq", "fig", "tbl"})

_REFERENCE = lazy_pattern(
    r"\\(?:eq)?ref\s*\{(?P<command>[^{}]*)\}"
    r"|@(?P<page>[\w./-]+\#)?(?P<name>[\w:.-]*\w)"
    # `{#id}` gives an id, every other `#id` leads to one. Each branch begins with its sign, so `re` skips
    # text without one, which takes a quarter of the time
    r"|\#(?<!\{\#)(?P<anchor>[\w:.-]*\w)",
)
_NAME = lazy_pattern(r"[\w:.-]*\w")


class References(Struct, frozen=True):
    """Ids that a text refers to."""

    here: frozenset[str]
    """In its own page."""
    elsewhere: frozenset[str]
    """In other pages; which one is not looked at."""


def references_in(text: str) -> References:
    """Everything that `text`, the source of a page, may refer to."""
    here: set[str] = set()
    elsewhere: set[str] = set()
    for found in _REFERENCE.finditer(text):
        page, sign, name = (found["command"] or "").rpartition("#")
        is_elsewhere = bool(sign and page) or bool(found["page"]) or bool(found["anchor"])
        target = label_id(name.strip() or found["name"] or found["anchor"] or "")
        if is_elsewhere:
            elsewhere.add(target)
        if not is_elsewhere or found["anchor"]:
            here.add(target)
    return References(frozenset(here), frozenset(elsewhere))


def lone_labels(
    labels: Iterable[Label], here: References, reporter: Reporter
) -> Iterator[tuple[str, Diagnostic]]:
    """Labels that nothing in their own page refers to: the id, and what to say if no other page does either.

    reporter: says where; nothing is told to it.
    """
    for label in labels:
        if (label.kind in _KINDS or label.name == _LEMMA) and label.id not in here.here:
            written = spell_label(label, reporter.lines)
            reference = f"\\eqref{{{written}}}" if label.kind == "eq" else f"{{@{written}}}"
            hint = f"refer to it with {reference}, or take it out"
            if label.name == _LEMMA:
                hint = f"refer to it with {{@{written}}} in a proof, or call it a proposition"
            own = Reporter(reporter.path, reporter.lines)
            fix = _take_out(written, label, own)
            own.warn("label-unused", f"nothing refers to the label {written}", label.place, hint, fix)
            yield label.id, own.diagnostics[0]


def _take_out(written: str, label: Label, reporter: Reporter) -> Fix | None:
    """A fix that takes a label out of its line, where it stands there in one of the two usual forms."""
    line = reporter.lines[label.place.line - 1]
    for form in (f"\\label{{{written}}}", f" {{#{written}}}"):
        if line.count(form) == 1:
            start = Place(label.place.line, 1)
            return reporter.substitute(start, form, "", title=f"take the label {written} out")
    return None


def spell_label(label: Label, lines: Sequence[str]) -> str:
    """The label as its author spells it."""
    at = _NAME.match(lines[label.place.line - 1], label.place.column - 1)
    return at[0] if at and label_id(at[0]) == label.id else label.id
