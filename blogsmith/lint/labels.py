r"""Labels that nothing refers to.

References are found in the source text, so that every syntax is included: `\eqref`, `{@…}`, and `#id` in a
link or in HTML, also in captions and unpublished posts. Labels of theorems and headings are not reported,
because they are also targets for links from other sites. Lemmas are reported, because they exist to be used
in proofs.
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
    # `{#id}` defines an id; every other `#id` refers to one. Each branch starts with a literal character, so
    # that `re` can skip text without it, which takes a quarter of the time.
    r"|\#(?<!\{\#)(?P<anchor>[\w:.-]*\w)",
)
_NAME = lazy_pattern(r"[\w:.-]*\w")


class References(Struct, frozen=True):
    """Ids that a text refers to."""

    here: frozenset[str]
    """Ids in the page itself."""
    elsewhere: frozenset[str]
    """Ids in other pages; the target page is ignored."""


def find_references(text: str) -> References:
    """Return all ids that the source of a page may refer to."""
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


def unused_labels(
    labels: Iterable[Label], here: References, reporter: Reporter
) -> Iterator[tuple[str, Diagnostic]]:
    """Yield labels that their own page does not refer to: the id, and the warning to report if no other page
    does.

    reporter: provides the path and the lines; nothing is reported to it.
    """
    for label in labels:
        if (label.kind in _KINDS or label.name == _LEMMA) and label.id not in here.here:
            written = spell_label(label, reporter.lines)
            reference = f"\\eqref{{{written}}}" if label.kind == "eq" else f"{{@{written}}}"
            hint = f"refer to it with `{reference}`, or remove it"
            if label.name == _LEMMA:
                hint = f"refer to it with `{{@{written}}}` in a proof, or make it a proposition"
            own = Reporter(reporter.path, reporter.lines)
            fix = _removal_fix(written, label, own)
            own.warn("label-unused", f'label "{written}" is never used', label.place, hint, fix)
            yield label.id, own.diagnostics[0]


def _removal_fix(written: str, label: Label, reporter: Reporter) -> Fix | None:
    """Return a fix that removes a label from its line, if it is written there once in a usual form."""
    line = reporter.lines[label.place.line - 1]
    for form in (f"\\label{{{written}}}", f" {{#{written}}}"):
        if line.count(form) == 1:
            start = Place(label.place.line, 1)
            return reporter.substitute(start, form, "", title=f"remove the label {written}")
    return None


def spell_label(label: Label, lines: Sequence[str]) -> str:
    """Return the label as its author spells it."""
    at = _NAME.match(lines[label.place.line - 1], label.place.column - 1)
    return at[0] if at and label_id(at[0]) == label.id else label.id
