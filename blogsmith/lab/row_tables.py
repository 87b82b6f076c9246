"""Tables of measured rows: lengths in table rows, backends in columns, one group of tables per machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from .rows import Row, newest
from .tables import Table, number_with_error, table, two_digits

_TIMES: Mapping[str, float] = MappingProxyType({"s": 1.0, "ms": 1e-3, "µs": 1e-6})
"""Units of time → seconds, largest first."""
_SIZES: Mapping[str, float] = MappingProxyType({"GiB": 2.0**30, "MiB": 2.0**20, "KiB": 2.0**10})
"""Units of memory → bytes, largest first."""

PEAKS: Mapping[str, float] = MappingProxyType(
    {
        "NVIDIA A100": 312.0,
        "NVIDIA H100 PCIe": 756.0,
        "NVIDIA H100 NVL": 835.0,
        "NVIDIA H100": 989.4,
        "NVIDIA H200 NVL": 835.0,
        "NVIDIA H200": 989.4,
        "NVIDIA L40S": 362.0,
        "NVIDIA B200": 2250.0,
        "NVIDIA GeForce RTX 4090": 165.2,
        "NVIDIA GeForce RTX 3090": 71.0,
    }
)
"""Prefix of a GPU's name, longer ones first → peak speed in TFLOP/s for float16 and bfloat16 with sums in
float32, without sparsity. Source: NVIDIA's data sheets."""


def peak_tflops(device: str, dtype: str) -> float | None:
    """Return the peak of a GPU in TFLOP/s, or None if it is unknown."""
    found = (peak for name, peak in PEAKS.items() if device.startswith(name))
    return next(found, None) if dtype in ("float16", "bfloat16") else None


@dataclass(frozen=True, slots=True, repr=False)
class Timings:
    """Measured rows. Prints as tables of time, memory and what ran, grouped by machine."""

    rows: tuple[Row, ...]

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.tables()))

    def _repr_html_(self) -> str:
        return "".join(shown._repr_html_() for shown in self.tables())

    def tables(self) -> tuple[Table, ...]:
        """Return tables for each machine and setting: time, memory, on a GPU the speed, and what ran."""
        groups: dict[tuple[str, str], list[Row]] = {}
        for row in newest(self.rows):
            groups.setdefault((row.machine, row.setting), []).append(row)
        found: list[Table] = []
        for (machine, setting), rows in groups.items():
            where = f"{setting}. {machine}"
            found.append(_times(rows, f"Median time ± interquartile range of one call: {where}"))
            found.append(_memory(rows, f"Peak memory of one call: {where}"))
            if rows[0].kind == "cuda":
                found.append(_speed(rows, where))
            found.append(_proofs(rows, f"What ran: {where}"))
        return tuple(found)


def _times(rows: Sequence[Row], caption: str) -> Table:
    unit, size = _common_unit((row.median_s for row in rows), _TIMES)

    def cell(row: Row) -> str:
        if row.median_s is None:
            return row.status
        return number_with_error(row.median_s / size, None if row.iqr_s is None else row.iqr_s / size)

    return _grid(rows, cell, unit, caption)


def _memory(rows: Sequence[Row], caption: str) -> Table:
    unit, size = _common_unit((row.peak_bytes for row in rows), _SIZES)

    def cell(row: Row) -> str:
        return row.status if row.peak_bytes is None else number_with_error(row.peak_bytes / size)

    return _grid(rows, cell, unit, caption)


def _speed(rows: Sequence[Row], where: str) -> Table:
    """Return the speed of the arithmetic, as a share of the GPU's peak if that is known."""
    peak = peak_tflops(rows[0].device, rows[0].dtype)
    unit = "TFLOP/s" if peak is None else "%"

    def cell(row: Row) -> str:
        if row.tflops_per_s is None:
            return row.status
        return number_with_error(row.tflops_per_s if peak is None else row.tflops_per_s / peak * 100)

    what = "Arithmetic per second" if peak is None else f"Share of the peak of {peak:,.4g} TFLOP/s"
    return _grid(rows, cell, unit, f"{what}: {where}")


def _common_unit(values: Iterable[float | None], units: Mapping[str, float]) -> tuple[str, float]:
    """Return the largest unit in which no value is below 0.1, so that all columns have the same unit."""
    least = min((value for value in values if value), default=0)
    return next(((name, size) for name, size in units.items() if least >= 0.1 * size), [*units.items()][-1])


def _grid(rows: Sequence[Row], cell: Callable[[Row], str], unit: str, caption: str) -> Table:
    names = _columns(rows)
    at = {(row.n, row.backend, row.threads): cell(row) for row in rows}
    lengths = sorted({row.n for row in rows})
    lines = [[f"{n:,}", *(at.get((n, *column)) for column in names)] for n in lengths]
    return table(["n", *(f"{name} ({unit})" for name in names.values())], lines, caption)


def _columns(rows: Iterable[Row]) -> dict[tuple[str, int], str]:
    """Map each backend and number of threads to a column name.

    A name includes the threads only if columns differ by them.
    """
    found = dict.fromkeys((row.backend, row.threads) for row in rows)
    several = [backend for backend, _ in found]
    return {
        (backend, threads): f"{backend}, {threads} threads" if several.count(backend) > 1 else backend
        for backend, threads in found
    }


def _proofs(rows: Sequence[Row], caption: str) -> Table:
    header = ("backend", "what ran", "threads", "max abs error", "memory counted by", "measured")
    lines: list[Sequence[object]] = []
    for (backend, threads), name in _columns(rows).items():
        own = [row for row in rows if (row.backend, row.threads) == (backend, threads)]
        errors = [row.max_abs_error for row in own if row.max_abs_error is not None]
        strange = any(row.status == "not a number" for row in own)
        lines.append(
            (
                name,
                _all(row.ran for row in own),
                threads or None,
                "NaN" if strange else two_digits(max(errors)) if errors else None,
                _all(row.memory_from for row in own),
                _all(row.date for row in sorted(own, key=lambda row: row.date)),
            )
        )
    return table(header, lines, caption)


def _all(texts: Iterable[str]) -> str | None:
    return "; ".join(dict.fromkeys(filter(None, texts))) or None
