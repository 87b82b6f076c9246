"""Measured rows as tables: lengths down, backends across, one group for each machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .rows import Row, newest
from .tables import Table, table, two_digits


@dataclass(frozen=True, slots=True, repr=False)
class Timings:
    """Measured rows; prints as tables of time, memory and what ran, those of each machine under its name."""

    rows: tuple[Row, ...]

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.tables()))

    def _repr_html_(self) -> str:
        return "".join(shown._repr_html_() for shown in self.tables())

    def tables(self) -> tuple[Table, ...]:
        """Three for each machine and setting: time, memory, what ran."""
        groups: dict[tuple[str, str], list[Row]] = {}
        for row in newest(self.rows):
            groups.setdefault((row.machine, row.setting), []).append(row)
        found: list[Table] = []
        for (machine, setting), rows in groups.items():
            where = f"{setting}. {machine}"
            found.append(_grid(rows, _time, f"Median time ± interquartile range of one call: {where}"))
            found.append(_grid(rows, _memory, f"Peak memory of one call: {where}"))
            found.append(_proofs(rows, f"What ran: {where}"))
        return tuple(found)


def time_in_words(seconds: float, spread_s: float | None = None) -> str:
    """`12.3 ± 0.4 ms`: three digits of the time, its spread to the same place; µs below a millisecond."""
    unit, factor = ("s", 1.0) if seconds >= 10 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    value = seconds * factor
    digits = 2 if value < 10 else 1 if value < 100 else 0
    spread = "" if spread_s is None else f" ± {spread_s * factor:.{digits}f}"
    return f"{value:.{digits}f}{spread} {unit}"


def _grid(rows: Sequence[Row], cell: Callable[[Row], str], caption: str) -> Table:
    names = _columns(rows)
    at = {(row.n, row.backend, row.threads): cell(row) for row in rows}
    lines = [[n, *(at.get((n, *column)) for column in names)] for n in sorted({row.n for row in rows})]
    return table(["n", *names.values()], lines, caption)


def _columns(rows: Iterable[Row]) -> dict[tuple[str, int], str]:
    """Backend and threads → how the column is called; threads are said where they tell columns apart."""
    found = dict.fromkeys((row.backend, row.threads) for row in rows)
    several = [backend for backend, _ in found]
    return {
        (backend, threads): f"{backend}, {threads} threads" if several.count(backend) > 1 else backend
        for backend, threads in found
    }


def _time(row: Row) -> str:
    return row.status if row.median_s is None else time_in_words(row.median_s, row.iqr_s)


def _memory(row: Row) -> str:
    if row.peak_bytes is None:
        return row.status
    mib = row.peak_bytes / 2**20
    return f"{mib:.0f} MiB" if mib >= 100 else f"{two_digits(mib)} MiB"


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
