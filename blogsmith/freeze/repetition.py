"""Compares a run with the recorded results and reports differences such as `42 → 43`. If both agree, the
record stays byte-identical.

Date, run time, processor and lists of absent modules are ignored. Two numbers agree if they differ by at most
`tolerance`, a fraction of the larger number that the author allows. All other text and every image must be
equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from ..base.patterns import lazy_pattern
from ..model.results import Blob, CellOutput, CellRun, Display, Machine, Stream, Uses
from .changes import state_changes
from .environment import Environment
from .record import CellRecord, SessionRecord, module_files
from .record_form import ValueRecord

NUMBER = lazy_pattern(r"(?<![\w.])[-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")


def is_repetition(
    old: SessionRecord, new: SessionRecord, tolerances: Mapping[str, float], around: Environment
) -> bool:
    """Return whether `new` has the same results as `old`, made from the same code, files and versions.

    If a cell could not run, `new` contains its earlier result, which counts as a repetition.

    tolerances: key of a cell → its `tolerance`; all other cells allow no difference. around: environment with
    the files after the run.
    """
    widest = max(tolerances.values(), default=0.0)
    return (
        # a run confirms what was accepted by hand
        not old.origin.accepted
        and (old.start, old.form, old.environment, old.depends)
        == (new.start, new.form, new.environment, new.depends)
        and _machines_agree(old.origin.machine, new.origin.machine, is_partial=_is_partial(new))
        and len(old.cells) == len(new.cells)
        and all(
            _cells_agree(one, other, tolerances.get(other.key, 0.0))
            for one, other in zip(old.cells, new.cells, strict=True)
        )
        and _files_agree(old, new, around)
        and (old.uses is None or _notes(old) == _notes(new))
        and len(old.values) == len(new.values)
        and all(_values_agree(*pair, widest) for pair in zip(old.values, new.values, strict=True))
    )


def _notes(session: SessionRecord) -> list[tuple[str, ...]]:
    return [cell.run.notes for cell in session.cells]


def _is_partial(session: SessionRecord) -> bool:
    """Return whether some cells of the session could not run, so that the record contains their earlier
    results."""
    return any(cell.origin is not None for cell in session.cells)


def _machines_agree(old: Machine, new: Machine, *, is_partial: bool) -> bool:
    """Return whether two machines count as the same. is_partial: whether some cells did not run, so that
    `new` lacks the packages that they use."""
    packages = old.packages
    if is_partial:
        packages = {name: version for name, version in packages.items() if name in new.packages}
    return replace(old, cpu="", packages=packages) == replace(new, cpu="")


def _cells_agree(old: CellRecord, new: CellRecord, tolerance: float) -> bool:
    if new.origin is not None:
        return old.key == new.key and old.origin in (None, new.origin)
    return (
        old.origin is None
        and _without_outputs(old) == _without_outputs(new)
        and texts_agree(old.run.problem, new.run.problem, tolerance)
        and texts_agree(old.run.claim, new.run.claim, tolerance)
        and len(old.run.outputs) == len(new.run.outputs)
        and all(
            _outputs_agree(*pair, tolerance) for pair in zip(old.run.outputs, new.run.outputs, strict=True)
        )
        and old.others.keys() == new.others.keys()
        and all(_cells_agree(old.others[point], new.others[point], tolerance) for point in old.others)
    )


def _without_outputs(cell: CellRecord) -> CellRecord:
    """Return the cell without those parts that are either compared separately or ignored."""
    run = replace(
        cell.run,
        outputs=(),
        seconds=0.0,
        problem="",
        claim="",
        compared=0,
        notes=(),
        reads={},
        modules={},
        absent=(),
        uses=None,
        packages=(),
        others={},
    )
    return replace(cell, run=run, others={})


class _Files(Struct, frozen=True):
    """Files and packages that the cells of a session used, from the first cell up to a certain one."""

    reads: Mapping[str, str]
    modules: Mapping[str, str]
    absent: frozenset[str]
    uses: Uses = Uses()
    packages: frozenset[str] = frozenset()

    def extended(self, run: CellRun) -> _Files:
        return _Files(
            {**self.reads, **run.reads},
            {**self.modules, **run.modules},
            self.absent.union(run.absent),
            _joined_uses(self.uses, run.uses),
            self.packages.union(run.packages),
        )

    def includes(self, other: _Files) -> bool:
        return (
            other.reads.items() <= self.reads.items()
            and other.modules.items() <= self.modules.items()
            and other.packages <= self.packages
            and other.uses.states.items() <= self.uses.states.items()
            and other.uses.variables.items() <= self.uses.variables.items()
            and set(other.uses.reasons) <= set(self.uses.reasons)
        )

    def is_current(self, around: Environment) -> bool:
        files = {**self.reads, **self.modules}
        hiding = (path for stem in self.absent for path in module_files(stem))
        return (
            all(around.digest_of(path) == digest for path, digest in files.items())
            and not any(around.digest_of(path) is not None for path in hiding)
            and not any(state_changes(self.uses, around))
        )


def _joined_uses(one: Uses, other: Uses | None) -> Uses:
    if other is None:
        return one
    return Uses(
        states={**one.states, **other.states},
        variables={**one.variables, **other.variables},
        reasons=tuple(sorted({*one.reasons, *other.reasons})),
    )


def _files_agree(old: SessionRecord, new: SessionRecord, around: Environment) -> bool:
    """Return whether the files used by each cell that ran are unchanged, and recorded in `old` for the same
    cell or an earlier one.

    A file or package is recorded with the first cell that uses it. If that cell could not run, it is recorded
    with a later one. Changed files matter even if `new` did not use them; otherwise `old` would be stale at
    the next build.
    """
    before = _Files(old.reads, old.modules, frozenset(old.absent), old.uses or Uses())
    now = _Files(new.reads, new.modules, frozenset(new.absent), (old.uses and new.uses) or Uses())
    ran = before
    for one, other in zip(old.cells, new.cells, strict=True):
        before = before.extended(one.run)
        if other.origin is not None:
            continue
        # an older record does not contain the uses of its cells; other comparisons show whether it is
        # repeated
        run = other.run if old.uses is not None else replace(other.run, uses=None)
        now, ran = now.extended(run), ran.extended(one.run)
        if not before.includes(now):
            return False
    return ran.is_current(around)


def _values_agree(old: ValueRecord, new: ValueRecord, tolerance: float) -> bool:
    return (
        old.key == new.key
        and texts_agree(old.text, new.text, tolerance)
        and texts_agree(old.latex, new.latex, tolerance)
    )


def _outputs_agree(old: CellOutput, new: CellOutput, tolerance: float) -> bool:
    if isinstance(old, Stream) and isinstance(new, Stream):
        same = (old.name, old.dropped) == (new.name, new.dropped)
        return same and texts_agree(old.text, new.text, tolerance)
    if isinstance(old, Display) and isinstance(new, Display):
        return (
            old.kind == new.kind
            and old.data.keys() == new.data.keys()
            and all(_parts_agree(old.data[mime], new.data[mime], tolerance) for mime in old.data)
        )
    return old == new


def _parts_agree(old: str | Blob, new: str | Blob, tolerance: float) -> bool:
    if isinstance(old, Blob) and isinstance(new, Blob):
        return old.digest == new.digest
    return isinstance(old, str) and isinstance(new, str) and texts_agree(old, new, tolerance)


def texts_agree(old: str, new: str, tolerance: float) -> bool:
    """Return whether two strings are equal except for numbers that differ by at most `tolerance`. tolerance:
    fraction of the larger number."""
    if old == new:
        return True
    pieces = zip_longest(NUMBER.split(old), NUMBER.split(new))
    # Columns are padded to the width of their numbers.
    if any(one is None or other is None or one.split() != other.split() for one, other in pieces):
        return False
    numbers = zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
    return all(numbers_agree(one, other, tolerance) for one, other in numbers)


def numbers_agree(old: str, new: str, tolerance: float) -> bool:
    """Return whether two printed numbers differ by at most `tolerance`, a fraction of the larger number."""
    return math.isclose(_value(old), _value(new), rel_tol=tolerance)


def _value(number: str) -> float:
    return float(number.replace("−", "-"))


_MOST = 2
"""Maximum number of differences that a message lists."""
_MAX_TEXT = 20
"""Maximum number of characters of a text that a message shows."""
_PLAIN = "text/plain"


def run_differences(old: CellRun, new: CellRun, tolerance: float) -> list[str]:
    """Return how two results of a cell differ, as messages; an empty list if they agree. tolerance: largest
    difference of numbers that agree, as a fraction of the larger one."""
    found = list(text_differences(old.claim, new.claim, tolerance))
    if old.status != new.status:
        found.append(f"{old.status} → {new.status}")
    for one, other in zip_longest(old.outputs, new.outputs):
        found += _output_differences(one, other, tolerance)
    for point in old.others.keys() & new.others.keys():
        found += [
            f"{point}: {part}" for part in run_differences(old.others[point], new.others[point], tolerance)
        ]
    return list(dict.fromkeys(found))


def summary(differences: Sequence[str]) -> str:
    """Return the first of these differences and the number of the others, in one line."""
    more = len(differences) - _MOST
    return ", ".join(differences[:_MOST]) + (f" and {more} more" if more > 0 else "")


def text_differences(old: str, new: str, tolerance: float) -> Iterator[str]:
    """Yield a difference for each number that differs. If other text differs too, yield only the first line
    that differs."""
    if texts_agree(old, new, tolerance):
        return
    if [part.split() for part in NUMBER.split(old)] == [part.split() for part in NUMBER.split(new)]:
        for one, other in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True):
            if not numbers_agree(one, other, tolerance):
                yield f"{one} → {other}"
        return
    for one, other in zip_longest(old.splitlines(), new.splitlines(), fillvalue=""):
        if not texts_agree(one, other, tolerance):
            yield f"{_quoted(one)} → {_quoted(other)}"
            return


def _output_differences(old: CellOutput | None, new: CellOutput | None, tolerance: float) -> Iterator[str]:
    if old is None or new is None or type(old) is not type(new):
        yield f"{_kind(old)} → {_kind(new)}"
    elif isinstance(old, Display) and isinstance(new, Display):
        # HTML and LaTeX repeat the numbers of the plain text
        both = (
            [_PLAIN]
            if _PLAIN in old.data and _PLAIN in new.data
            else sorted(old.data.keys() | new.data.keys())
        )
        found = [
            part
            for mime in both
            for part in _part_differences(old.data.get(mime), new.data.get(mime), tolerance)
        ]
        yield from found
    elif isinstance(old, Display) or isinstance(new, Display):
        return
    else:
        yield from text_differences(old.text, new.text, tolerance)


def _part_differences(old: str | Blob | None, new: str | Blob | None, tolerance: float) -> Iterator[str]:
    if isinstance(old, str) and isinstance(new, str):
        yield from text_differences(old, new, tolerance)
    elif isinstance(old, Blob) and isinstance(new, Blob):
        if old.digest != new.digest:
            yield "another image"
    else:
        yield "another kind of value"


def _kind(output: CellOutput | None) -> str:
    return "no output" if output is None else type(output).__name__.lower()


def _quoted(text: str) -> str:
    text = text.strip()
    return f'"{text[:_MAX_TEXT]}…"' if len(text) > _MAX_TEXT else f'"{text}"'
