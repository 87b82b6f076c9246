"""Measured rows: one line of JSON for each case on each machine, in a file next to the post.

Rows are only appended to a file, never changed.

A row names the machine with its versions, so one file contains rows of many machines, and any machine can
draw them all. A repeated measurement adds a newer row, and readers use the newest row of each case. Keys that
only later versions know are stored in `more`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

_NONE = type(None)
_TYPES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "str": (str,),
        "int": (int,),
        "bool": (bool,),
        "float | None": (float, int, _NONE),
        "int | None": (int, _NONE),
    }
)
"""Type annotation of a field → types allowed in JSON."""
_TELLING = (
    *("device", "capability", "driver", "cuda", "threads", "python", "numpy", "torch"),
    *("backend", "dtype", "is_causal", "direction", "batch", "heads", "d", "n"),
)
"""Fields that distinguish one case from another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Measurement of one case of attention on one machine."""

    device: str
    """Model name of the GPU or processor."""
    kind: str
    """`cpu` or `cuda`."""
    capability: str = ""
    """Compute capability of the GPU, such as `9.0`. On the CPU, this and the next two fields are empty."""
    driver: str = ""
    cuda: str = ""
    threads: int = 0
    """Number of threads that the call may use; 0 on the GPU."""
    python: str = ""
    numpy: str = ""
    torch: str = ""
    """Version of torch; empty if torch is not installed."""
    backend: str
    """Name of the backend, or the author's name of a function."""
    ran: str = ""
    """Kernel that ran, and the operators that prove it: `math aten::_scaled_dot_product_attention_math`."""
    kernels: str = ""
    """Observed CUDA kernels, separated by commas."""
    dtype: str
    is_causal: bool
    direction: str = ""
    """`backward` for the gradient of the output; empty for the output."""
    batch: int
    heads: int
    d: int
    """Size of a head, for keys and values."""
    n: int
    """Length of the sequence, for queries and keys."""
    median_s: float | None = None
    """Median time of one call in seconds. This and the next two fields are None if no call finished."""
    low_s: float | None = None
    """First quartile of the time, in seconds."""
    high_s: float | None = None
    """Third quartile of the time, in seconds."""
    repeats: int = 0
    """Number of timed calls."""
    peak_bytes: int | None = None
    """Peak memory of one call in bytes, without the inputs."""
    memory_from: str = ""
    """Name of the counter that measured the memory: `tracemalloc`, `torch.profiler`, `torch.cuda`."""
    max_abs_error: float | None = None
    """Largest error compared with float64 on the same inputs. None if the error was not computed or is not
    finite."""
    status: str = "ok"
    """`ok`, `out of memory` or `not a number`."""
    date: str = ""
    """Day of the measurement, such as `2026-11-21`."""
    code: str = ""
    """Digest of the source of an author's function; empty for the built-in backends."""
    more: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Keys of the row that this version of blogsmith does not know, with their values."""

    @property
    def iqr_s(self) -> float | None:
        """Interquartile range, in seconds."""
        return None if self.low_s is None or self.high_s is None else self.high_s - self.low_s

    @property
    def flops(self) -> float:
        """Number of floating-point operations of the two products, of visible pairs only. By the convention
        of FlashAttention-2 (arXiv 2307.08691, section 4.1), a gradient counts as 2.5 outputs."""
        pairs = self.n * (self.n + 1) / 2 if self.is_causal else self.n**2
        return 4.0 * self.batch * self.heads * pairs * self.d * (2.5 if self.direction else 1)

    @property
    def tflops_per_s(self) -> float | None:
        """Speed in 10¹² floating-point operations a second. None if there is no time."""
        return self.flops / self.median_s / 1e12 if self.median_s else None

    @property
    def machine(self) -> str:
        """Device and all versions, as text. Threads are not included, because backends on one machine may use
        different numbers."""
        named = (
            ("", self.device),
            ("capability ", self.capability),
            ("driver ", self.driver),
            ("CUDA ", self.cuda),
            ("torch ", self.torch),
            ("NumPy ", self.numpy),
            ("Python ", self.python),
        )
        return ", ".join(name + value for name, value in named if value)

    @property
    def setting(self) -> str:
        """Everything that determines the computation except the length, as text."""
        causal = ", causal" if self.is_causal else ""
        gradient = ", gradient" if self.direction else ""
        heads = _counted(self.heads, "head")
        return f"{self.dtype}, batch {self.batch}, {heads} of {self.d}{causal}{gradient}"


def read_rows(path: str | os.PathLike[str]) -> tuple[Row, ...]:
    """Read all rows of a file, oldest first.

    The audit event `blogsmith.lab.rows` is raised, so that the file becomes a dependency of the cell, even
    if the session also adds rows to it.

    Raises `ValueError` with file and line if a line is invalid, and `OSError` if the file cannot be read.
    """
    rows = rows_of(path)
    sys.audit("blogsmith.lab.rows", os.fspath(path))
    return rows


def rows_of(path: str | os.PathLike[str]) -> tuple[Row, ...]:
    """Read rows without raising the audit event, for code that only adds rows."""
    text = Path(path).read_text("utf-8")
    return tuple(_row(line, f"{path}:{i}") for i, line in enumerate(text.split("\n"), 1) if line.strip())


def append_rows(path: str | os.PathLike[str], rows: Iterable[Row]) -> None:
    """Append rows to a file, all or none of them. The file is created if it is missing. Raises `OSError`."""
    data = "".join(f"{_line(row)}\n" for row in rows).encode()
    # Unbuffered: all lines are written by one call, after lines that other processes have written.
    with Path(path).open("a+b", buffering=0) as file:
        _lock(file)
        size = file.seek(0, os.SEEK_END)
        if size and not _ends_line(file, size):
            data = b"\n" + data
        if file.write(data) != len(data):
            file.truncate(size)
            raise OSError(f"{path}: no room for another row")


def newest(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the last row of each case on each machine, in the order of the first measurements."""
    found: dict[tuple[object, ...], Row] = {}
    for row in rows:
        found[case_of(row)] = row
    return tuple(found.values())


def case_of(row: Row) -> tuple[object, ...]:
    """Return the key of a row's case and machine. Rows with the same key replace each other."""
    return (
        row.machine,
        row.threads,
        row.backend,
        row.dtype,
        row.is_causal,
        row.direction,
        row.batch,
        row.heads,
        row.d,
        row.n,
    )


Point = tuple[float, float] | tuple[float, float, float, float]


def series(
    rows: Iterable[Row], *, x: str = "n", y: str = "median_s", by: str | Sequence[str] = "backend"
) -> dict[str, list[Point]]:
    """Return the newest rows as lines to draw: label → points (x, y), sorted.

    Times include their quartiles, as (x, median, first, third). Rows without a value are left out.

    x, y: names of fields of `Row`.
    by: fields, or `machine`, that distinguish lines.

    Raises `ValueError` for an unknown field, or if a line has two values for one x.
    """
    names = (by,) if isinstance(by, str) else tuple(by)
    for name in (x, y, *names):
        if not hasattr(Row, name):
            raise ValueError(_unknown(name))
    lines: dict[str, dict[float, Row]] = {}
    for row in newest(rows):
        if getattr(row, y) is None:
            continue
        label = ", ".join(str(getattr(row, name)) for name in names)
        other = lines.setdefault(label, {}).setdefault(getattr(row, x), row)
        if other is not row:
            raise ValueError(_ambiguous(label, x, other, row))
    return {label: [_point(line[at], x, y) for at in sorted(line)] for label, line in lines.items()}


def _point(row: Row, x: str, y: str) -> Point:
    if y == "median_s" and row.low_s is not None and row.high_s is not None:
        return getattr(row, x), getattr(row, y), row.low_s, row.high_s
    return getattr(row, x), getattr(row, y)


def _unknown(name: str) -> str:
    near = get_close_matches(name, [item.name for item in fields(Row)], n=1)
    return f"rows have no field {name}" + (f"; did you mean {near[0]}?" if near else "")


def _ambiguous(label: str, x: str, one: Row, two: Row) -> str:
    differ = [name for name in _TELLING if getattr(one, name) != getattr(two, name)]
    at = f"{x} = {getattr(one, x)}"
    return f"{label}: two rows for {at}, which differ in {', '.join(differ)}; choose rows, or name it in `by`"


def _line(row: Row) -> str:
    written = {f.name: getattr(row, f.name) for f in fields(row) if f.name != "more"}
    kept = {name: value for name, value in written.items() if value not in ("", None)}
    return json.dumps({**kept, **row.more}, ensure_ascii=False, allow_nan=False)


def _row(line: str, place: str) -> Row:
    try:
        read = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{place}: no JSON: {error}") from None
    if not isinstance(read, dict):
        raise ValueError(f"{place}: no row: expected an object")
    known: dict[str, Any] = {}
    for item in fields(Row):
        if item.name in read and item.name != "more":
            known[item.name] = _checked(read.pop(item.name), str(item.type), f"{place}: {item.name}")
    missing = [
        f.name for f in fields(Row) if f.default is f.default_factory is MISSING and f.name not in known
    ]
    if missing:
        raise ValueError(f"{place}: no row: without {', '.join(missing)}")
    return Row(**known, more=MappingProxyType(read))


def _checked(value: object, wanted: str, place: str) -> object:
    kinds = _TYPES[wanted]
    # True is an int in Python, but not a length.
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise ValueError(f"{place}: expected {wanted.replace(' | None', '')}, got {value!r}")
    return value


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'s' if count > 1 else ''}" if count else ""


def _ends_line(file: IO[bytes], size: int) -> bool:
    file.seek(size - 1)
    return file.read(1) == b"\n"


def _lock(file: IO[bytes]) -> None:
    """Lock the file until it is closed. If the system has no file locks, the single write must suffice."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX)
