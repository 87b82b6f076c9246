"""Conversion of a worker's answers from JSON frames to `CellRun`, `ValueRun` and `Machine`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ...model.results import (
    MAX_COUNT,
    MAX_NOTE,
    MAX_NOTES,
    MAX_SDPA,
    SDPA,
    CellRun,
    Failure,
    Machine,
    ShapeMismatch,
    UndecidedClaim,
    ValueRun,
)
from ...model.units import format_size
from .jobs import CellStep
from .output_buffer import OutputBuffer
from .protocol import Frame

_ERRORS: MappingProxyType[str | None, str] = MappingProxyType(
    {"timeout": "TimeoutError", "memory": "MemoryError"}
)


def cell_run(step: CellStep, frame: Frame, collected: OutputBuffer) -> CellRun:
    """Return the run of a cell whose worker answered within the limits."""
    status, failure = frame["status"], read_failure(frame)
    problem, line = str(frame.get("problem") or ""), find_line(failure, step.number)
    line = line or int(frame.get("line") or 0)
    if failure and status != "exit":
        collected.add_failure(failure)
        first = failure.message.partition("\n")[0]
        problem = problem or (f"{failure.name}: {first}" if first else failure.name)
    if status == "memory":
        problem = f"it needed more memory than its limit of {format_size(step.memory_bytes)}"
    detail = ""
    claim = frame.get("claim") or {}
    unjudged = None
    if step.claim and status == "ok" and claim.get("holds") is not True:
        status, problem = "error", "its claim does not hold"
        line, detail = last_statement_line(step.code), str(claim.get("detail") or "")
        if claim.get("holds") is not False:
            problem = "its claim is neither true nor false"
            unjudged = UndecidedClaim(str(claim.get("kind") or ""), detail, str(claim.get("part") or ""))
    return CellRun(
        status=status,
        outputs=collected.finish(),
        seconds=float(frame.get("seconds") or 0.0),
        problem=problem,
        line=line,
        # A kernel that does not know its device sends an empty string.
        device=str(frame.get("device", "cpu")),
        packages=tuple(frame.get("imports") or ()),
        shapes=_shapes(frame),
        claim=detail,
        sdpa=_sdpa(frame.get("sdpa")),
        unjudged=unjudged,
        compared=_count(claim.get("compared")),
        notes=_notes(claim.get("notes")) if status == "ok" else (),
    )


def value_run(frame: Frame | None, bad: str | None, problem: str) -> ValueRun:
    """Return the run of a value. frame: the worker's answer, if there is one. bad: kind of the limit that the
    request exceeded, or None. problem: description of `bad`, as a message."""
    if frame is None or bad:
        name = _ERRORS.get(bad, "RuntimeError")
        return ValueRun("error", failure=Failure(name, problem, f"{name}: {problem}\n"))
    text, latex = str(frame.get("text") or ""), str(frame.get("latex") or "")
    shapes = _shapes(frame)
    is_good = frame["status"] == "ok" and not shapes
    return ValueRun("ok" if is_good else "error", text, latex, read_failure(frame), shapes)


def _shapes(frame: Frame) -> tuple[ShapeMismatch, ...]:
    return tuple(ShapeMismatch(**_known_fields(ShapeMismatch, shape)) for shape in frame.get("shapes") or ())


def read_machine(frame: Frame) -> Machine:
    return Machine(**{name: frame[name] for name in Machine.__struct_fields__ if name in frame})


def read_failure(frame: Frame) -> Failure | None:
    """Return the exception that an answer reports; None if there was none."""
    found = frame.get("failure")
    return Failure(**_known_fields(Failure, found)) if found else None


def find_line(failure: Failure | None, cell: int) -> int:
    """Return the line of `cell` where an exception was raised or passed through, or 0."""
    if failure is None:
        return 0
    if failure.cell == cell:
        return failure.line
    lines = re.findall(rf'File "<cell {cell}>", line (\d+)', failure.text)
    return int(lines[-1]) if lines else 0


def last_statement_line(code: str) -> int:
    """Return the line where the last statement begins, or 0 if this Python cannot parse the code."""
    try:
        return ast.parse(code).body[-1].lineno
    except (SyntaxError, ValueError, IndexError):
        return 0


def _count(found: object) -> int:
    return found if type(found) is int and 0 <= found <= MAX_COUNT else 0


def _notes(found: object) -> tuple[str, ...]:
    """Return the remarks about a claim that can be recorded: a limited number of lines of limited length."""
    lines = (
        [" ".join(note.split()) for note in found if isinstance(note, str)] if isinstance(found, list) else []
    )
    return tuple(line if len(line) <= MAX_NOTE else f"{line[: MAX_NOTE - 1]}…" for line in lines[:MAX_NOTES])


def _sdpa(found: object) -> tuple[str, ...]:
    """Return the valid entries of the list that a worker sent. Others are dropped, because the author's code
    could have manipulated the worker."""
    entries = found if isinstance(found, list) else []
    kept = {entry for entry in entries if isinstance(entry, str) and re.fullmatch(SDPA, entry)}
    return tuple(sorted(kept)[:MAX_SDPA])


def _known_fields(record: type[Struct], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return those values whose keys are fields of `record`. A newer worker may send more values."""
    return {name: given[name] for name in record.__struct_fields__ if name in given}
