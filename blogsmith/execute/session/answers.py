"""What the worker answers, as records: frames of JSON in, `CellRun`, `ValueRun` and `Machine` out."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ...model.results import MOST_SDPA, SDPA, CellRun, Failure, Machine, ShapeMismatch, Unjudged, ValueRun
from ...model.units import format_size
from .jobs import CellStep
from .output_buffer import OutputBuffer
from .protocol import Frame

_ERRORS: MappingProxyType[str | None, str] = MappingProxyType(
    {"timeout": "TimeoutError", "memory": "MemoryError"}
)


def cell_run(step: CellStep, frame: Frame, collected: OutputBuffer) -> CellRun:
    """The run of a cell whose worker answered within the limits."""
    status, failure = frame["status"], failure_of(frame)
    problem, line = str(frame.get("problem") or ""), line_of(failure, step.number)
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
            unjudged = Unjudged(str(claim.get("kind") or ""), detail, str(claim.get("part") or ""))
    return CellRun(
        status=status,
        outputs=collected.finish(),
        seconds=float(frame.get("seconds") or 0.0),
        problem=problem,
        line=line,
        # a kernel may not know: then it says so
        device=str(frame.get("device", "cpu")),
        packages=tuple(frame.get("imports") or ()),
        shapes=_shapes(frame),
        claim=detail,
        sdpa=_sdpa(frame.get("sdpa")),
        unjudged=unjudged,
    )


def value_run(frame: Frame | None, bad: str | None, problem: str) -> ValueRun:
    """The run of a value. bad, problem: which limit it broke, and the same in words."""
    if frame is None or bad:
        name = _ERRORS.get(bad, "RuntimeError")
        return ValueRun("error", failure=Failure(name, problem, f"{name}: {problem}\n"))
    text, latex = str(frame.get("text") or ""), str(frame.get("latex") or "")
    shapes = _shapes(frame)
    is_good = frame["status"] == "ok" and not shapes
    return ValueRun("ok" if is_good else "error", text, latex, failure_of(frame), shapes)


def _shapes(frame: Frame) -> tuple[ShapeMismatch, ...]:
    return tuple(ShapeMismatch(**_known_fields(ShapeMismatch, shape)) for shape in frame.get("shapes") or ())


def machine_of(frame: Frame) -> Machine:
    """The machine as the worker sees it."""
    return Machine(**{name: frame[name] for name in Machine.__struct_fields__ if name in frame})


def failure_of(frame: Frame) -> Failure | None:
    """The exception of an answer, if there was one."""
    found = frame.get("failure")
    return Failure(**_known_fields(Failure, found)) if found else None


def line_of(failure: Failure | None, cell: int) -> int:
    """The line of `cell` at which an exception rose or passed through; 0 if it did not."""
    if failure is None:
        return 0
    if failure.cell == cell:
        return failure.line
    lines = re.findall(rf'File "<cell {cell}>", line (\d+)', failure.text)
    return int(lines[-1]) if lines else 0


def last_statement_line(code: str) -> int:
    """The line on which the last statement begins, 0 if this Python cannot read it."""
    try:
        return ast.parse(code).body[-1].lineno
    except (SyntaxError, ValueError, IndexError):
        return 0


def _sdpa(found: object) -> tuple[str, ...]:
    """The entries of the form that can be recorded: the author's code could reach into the worker."""
    entries = found if isinstance(found, list) else []
    kept = {entry for entry in entries if isinstance(entry, str) and re.fullmatch(SDPA, entry)}
    return tuple(sorted(kept)[:MOST_SDPA])


def _known_fields(record: type[Struct], given: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that are fields of a record: a newer worker may say more."""
    return {name: given[name] for name in record.__struct_fields__ if name in given}
