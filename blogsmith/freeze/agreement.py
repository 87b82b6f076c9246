"""Whether a run repeated the recorded results, in which case their record stays byte for byte.

Date, seconds, processor and lists of absent modules do not count. Numbers agree if they differ by at most the
part of the larger one that the author allows as `tolerance`. All other text and every picture must be equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import zip_longest

from msgspec import Struct
from msgspec.structs import replace

from ..base.patterns import lazy_pattern
from ..model.results import Blob, CellOutput, CellRun, Display, Machine, Stream
from .environment import Environment
from .record import CellRecord, SessionRecord, module_files
from .record_form import ValueRecord

_NUMBER = lazy_pattern(r"(?<![\w.])[-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")


def is_repetition(
    old: SessionRecord, new: SessionRecord, tolerances: Mapping[str, float], around: Environment
) -> bool:
    """Return whether `new` has the same results as `old`, made from the same code, files and versions.

    tolerances: key of a cell → its `tolerance`; other cells allow no difference. around: with the files after
    the run. A cell that could not run has its earlier result in `new`, which repeats itself.
    """
    widest = max(tolerances.values(), default=0.0)
    return (
        (old.start, old.form, old.environment, old.depends)
        == (new.start, new.form, new.environment, new.depends)
        and _machines_agree(old.origin.machine, new.origin.machine, is_partial=_is_partial(new))
        and len(old.cells) == len(new.cells)
        and all(
            _cells_agree(one, other, tolerances.get(other.key, 0.0))
            for one, other in zip(old.cells, new.cells, strict=True)
        )
        and _files_agree(old, new, around)
        and len(old.values) == len(new.values)
        and all(_values_agree(*pair, widest) for pair in zip(old.values, new.values, strict=True))
    )


def _is_partial(session: SessionRecord) -> bool:
    """Return whether cells of the session could not run, and have the result of an earlier run."""
    return any(cell.origin is not None for cell in session.cells)


def _machines_agree(old: Machine, new: Machine, *, is_partial: bool) -> bool:
    """is_partial: cells did not run, and their packages are missing in `new`."""
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
        and agree_texts(old.run.problem, new.run.problem, tolerance)
        and agree_texts(old.run.claim, new.run.claim, tolerance)
        and len(old.run.outputs) == len(new.run.outputs)
        and all(
            _outputs_agree(*pair, tolerance) for pair in zip(old.run.outputs, new.run.outputs, strict=True)
        )
        and old.others.keys() == new.others.keys()
        and all(_cells_agree(old.others[point], new.others[point], tolerance) for point in old.others)
    )


def _without_outputs(cell: CellRecord) -> CellRecord:
    """Return the cell without everything that is compared in another way, or does not count."""
    run = replace(
        cell.run,
        outputs=(),
        seconds=0.0,
        problem="",
        claim="",
        reads={},
        modules={},
        absent=(),
        packages=(),
        others={},
    )
    return replace(cell, run=run, others={})


class _Files(Struct, frozen=True):
    """Files and packages used by the cells of a session up to one of them."""

    reads: Mapping[str, str]
    modules: Mapping[str, str]
    absent: frozenset[str]
    packages: frozenset[str] = frozenset()

    def extended(self, run: CellRun) -> _Files:
        return _Files(
            {**self.reads, **run.reads},
            {**self.modules, **run.modules},
            self.absent.union(run.absent),
            self.packages.union(run.packages),
        )

    def includes(self, other: _Files) -> bool:
        return (
            other.reads.items() <= self.reads.items()
            and other.modules.items() <= self.modules.items()
            and other.packages <= self.packages
        )

    def is_current(self, around: Environment) -> bool:
        files = {**self.reads, **self.modules}
        hiding = (path for stem in self.absent for path in module_files(stem))
        return all(around.digest_of(path) == digest for path, digest in files.items()) and not any(
            around.digest_of(path) is not None for path in hiding
        )


def _files_agree(old: SessionRecord, new: SessionRecord, around: Environment) -> bool:
    """Return whether each cell that ran used files that `old` names up to it, all unchanged.

    A file or package appears with the first cell that uses it: with a later one if the first could not run.
    Files that have changed count also where `new` did not use them: `old` would be stale at the next build.
    """
    before = _Files(old.reads, old.modules, frozenset(old.absent))
    now = _Files(new.reads, new.modules, frozenset(new.absent))
    ran = before
    for one, other in zip(old.cells, new.cells, strict=True):
        before = before.extended(one.run)
        if other.origin is not None:
            continue
        now, ran = now.extended(other.run), ran.extended(one.run)
        if not before.includes(now):
            return False
    return ran.is_current(around)


def _values_agree(old: ValueRecord, new: ValueRecord, tolerance: float) -> bool:
    return (
        old.key == new.key
        and agree_texts(old.text, new.text, tolerance)
        and agree_texts(old.latex, new.latex, tolerance)
    )


def _outputs_agree(old: CellOutput, new: CellOutput, tolerance: float) -> bool:
    if isinstance(old, Stream) and isinstance(new, Stream):
        same = (old.name, old.dropped) == (new.name, new.dropped)
        return same and agree_texts(old.text, new.text, tolerance)
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
    return isinstance(old, str) and isinstance(new, str) and agree_texts(old, new, tolerance)


def agree_texts(old: str, new: str, tolerance: float) -> bool:
    """Whether two texts are the same but for numbers that differ by at most this part of the larger one."""
    if old == new:
        return True
    pieces = zip_longest(_NUMBER.split(old), _NUMBER.split(new))
    # columns are padded to the width of their numbers
    if any(one is None or other is None or one.split() != other.split() for one, other in pieces):
        return False
    numbers = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
    return all(math.isclose(_value(one), _value(other), rel_tol=tolerance) for one, other in numbers)


def _value(number: str) -> float:
    return float(number.replace("−", "-"))
