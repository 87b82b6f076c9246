"""Two runs of the same code that differ in digits only: noise, and no reason for a new record.

Numbers agree if they differ by no more than a part of the larger one that the author allows; all other text,
and every picture, has to be the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest

from ..base.patterns import lazy_pattern
from ..model.cells import Cell
from ..model.results import Blob, CellOutput, Display, Stream
from .record import CellRecord, SessionRecord

_NUMBER = lazy_pattern(r"(?<![\w.])[-+−]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")


def agree(cells: Sequence[Cell], old: SessionRecord, new: SessionRecord) -> bool:
    """Whether `new` repeats `old` within what `cells`, those of the session, allow as `tolerance`.

    Only the same code under the same conditions can repeat anything: keys, files and machine must be equal.
    """
    tolerances = [cell.options.tolerance for cell in cells]
    if not any(tolerances) or len(old.cells) != len(new.cells) or len(new.cells) != len(cells):
        return False
    pairs = list(zip(old.cells, new.cells, tolerances, strict=True))
    widest = max(tolerances)
    return (
        old.start == new.start
        and old.origin.machine == new.origin.machine
        and (old.reads, old.modules, old.depends) == (new.reads, new.modules, new.depends)
        and all(_agree(one, other, tolerance) for one, other, tolerance in pairs)
        and len(old.values) == len(new.values)
        and all(
            one.key == other.key
            and agree_texts(one.text, other.text, widest)
            and agree_texts(one.latex, other.latex, widest)
            for one, other in zip(old.values, new.values, strict=True)
        )
    )


def _agree(old: CellRecord, new: CellRecord, tolerance: float) -> bool:
    one, other = old.run, new.run
    return (
        (old.key, old.origin, old.depends, one.status) == (new.key, new.origin, new.depends, other.status)
        and (one.reads, one.modules, one.packages) == (other.reads, other.modules, other.packages)
        and len(one.outputs) == len(other.outputs)
        and all(_outputs_agree(*pair, tolerance) for pair in zip(one.outputs, other.outputs, strict=True))
        and old.others.keys() == new.others.keys()
        and all(_agree(old.others[point], new.others[point], tolerance) for point in old.others)
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
