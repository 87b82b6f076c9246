r"""Labels without references to them.

References are found in the source text, so that every syntax is included: `\eqref`, `{@…}`, and `#id` in a
link or in HTML, also in captions and unpublished posts. Labels of theorems and headings are not reported,
because they are also targets for links from other sites. Lemmas are reported, because they exist to be used
in proofs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ..base.diagnostics.fixes import Fix
from ..base.diagnostics.model import Diagnostic, Place, Reporter, nearest
from ..base.patterns import lazy_pattern
from ..model.letters import IN_NAMES
from ..syntax.references.labels import Label
from ..syntax.references.references import label_id

_LEMMA = "Lemma"
_KINDS = frozenset({"eq", "fig", "tbl"})

_REFERENCE = lazy_pattern(
    r"\\(?:eq|auto|[cCvV])?ref\*?\s*\{(?P<command>[^{}]*)\}"
    rf"|@(?P<page>[{IN_NAMES}./-]+\#)?(?P<name>[{IN_NAMES}:.-]*[{IN_NAMES}])"
    # `{#id}` defines an id; every other `#id` refers to one. Each branch starts with a literal character, so
    # that `re` can skip text without it, which takes a quarter of the time.
    rf"|\#(?<!\{{\#)(?P<anchor>[{IN_NAMES}:.-]*[{IN_NAMES}])",
)
_NAME = lazy_pattern(rf"[{IN_NAMES}:.-]*[{IN_NAMES}]")


class References(Struct, frozen=True):
    """Ids that a text refers to."""

    here: frozenset[str]
    """Ids in the page itself."""
    elsewhere: frozenset[str]
    """Ids on other pages. The pages that the links name are not recorded."""


def find_references(text: str) -> References:
    """Return all ids that the source of a page may refer to."""
    here: set[str] = set()
    elsewhere: set[str] = set()
    for found in _REFERENCE.finditer(text):
        for written in (found["command"] or "").split(","):
            page, sign, name = written.rpartition("#")
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
    """Yield (id, warning) for each label without a reference on its page. Report the warning only if other
    pages do not refer to the label either. reporter: supplies path and lines, and stays unchanged."""
    labels = tuple(labels)
    misspelled = here.here - {label.id for label in labels}
    for label in labels:
        if (label.kind in _KINDS or label.name == _LEMMA) and label.id not in here.here:
            if nearest(label.id, misspelled):
                # A reference with a typing mistake, which is reported already, means this label.
                continue
            written = spell_label(label, reporter.lines)
            line = reporter.lines[label.place.line - 1]
            if "\\begin{" in line and written not in line:
                # The translation of LaTeX gives this label to a statement without one.
                continue
            reference = f"\\eqref{{{written}}}" if label.kind == "eq" else f"{{@{written}}}"
            hint = f"refer to it with `{reference}`, or remove it"
            if label.name == _LEMMA:
                hint = f"refer to it with `{{@{written}}}` in a proof, or make it a proposition"
            own = Reporter(reporter.path, reporter.lines)
            fix = _removal_fix(written, label, own)
            own.warn("label-unused", f'label "{written}" is never used', label.place, hint, fix)
            yield label.id, own.diagnostics[0]


def _removal_fix(written: str, label: Label, reporter: Reporter) -> Fix | None:
    """Return a fix that removes a label from its line. Return None if the line contains the label more than
    once or in an unusual form."""
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
