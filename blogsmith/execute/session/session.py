"""One session from start to end: its cells run in order within their limits, and nothing of it remains.

Errors in the author's code are never exceptions here: they are the status of a cell. If a worker dies, only
the rest of its session is lost.
"""

from __future__ import annotations

import ast
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from ...model.results import (
    MAX_SDPA,
    SDPA,
    CellOutput,
    CellRun,
    Failure,
    Machine,
    SessionRun,
    ShapeMismatch,
    Stream,
    UndecidedClaim,
    ValueRun,
)
from ...model.units import format_size
from ..probe.requirements import has_device
from .checkpoints import Checkpoint, ResumedWorker, SessionCheckpoints, SessionProgress, take_checkpoint
from .jobs import CellStep, SessionJob, SweepStep, ValueStep
from .machine_paths import MachinePaths
from .output_buffer import OutputBuffer
from .process import Process, spawn
from .protocol import Frame
from .reaper import MARK_NAME, adopt_orphans, end_session, mark_process, new_number
from .requests import Answer, RequestChannel, RequestLimits
from .used_files import UsedFiles
from .working_folder import session_folder

_ELSEWHERE = "code of posts runs on Linux and macOS only"
_MACHINE_S = 10.0
_END_S = 2.0


class SessionObserver(Protocol):
    """Observer of a running session. Methods are called from the thread that runs it."""

    def expect_cells(self, count: int) -> None:
        """Handle an announcement of further cells that will run, before their sessions begin."""

    def on_start(self, job: SessionJob) -> None:
        """Handle the start of the session."""

    def on_resume(self, job: SessionJob, position: int) -> None:
        """Handle the resumption after the cell at `position`. Neither it nor earlier cells run again."""

    def on_refusal(self, job: SessionJob, position: int, reason: str) -> None:
        """Handle a refusal: no checkpoint can be made after a cell, for `reason`."""

    def cell_started(self, job: SessionJob, position: int) -> None:
        """Handle the start of the cell with this 1-based number in the session."""

    def output(self, job: SessionJob, position: int, output: CellOutput) -> None:
        """Handle a piece of raw output, unmerged and with carriage returns."""

    def cell_ended(self, job: SessionJob, position: int, run: CellRun) -> None:
        """Handle the result of a cell that has ended or was skipped."""

    def on_end(self, job: SessionJob, run: SessionRun) -> None:
        """Handle the result of the whole session."""


class SilentObserver:
    """Observer that ignores all events."""

    def expect_cells(self, count: int) -> None: ...
    def on_start(self, job: SessionJob) -> None: ...
    def on_resume(self, job: SessionJob, position: int) -> None: ...
    def on_refusal(self, job: SessionJob, position: int, reason: str) -> None: ...
    def cell_started(self, job: SessionJob, position: int) -> None: ...
    def output(self, job: SessionJob, position: int, output: CellOutput) -> None: ...
    def cell_ended(self, job: SessionJob, position: int, run: CellRun) -> None: ...
    def on_end(self, job: SessionJob, run: SessionRun) -> None: ...


silent_observer = SilentObserver()
"""Shared instance; it has no state."""

Start = Callable[[SessionJob], Process]


def run_session(
    job: SessionJob,
    observer: SessionObserver = silent_observer,
    start: Start = spawn,
    checkpoints: SessionCheckpoints | None = None,
) -> SessionRun:
    """Run a session in its own process. If it cannot start, `SessionRun.problem` is the reason.

    start: starts the process; its job has a TMPDIR that is removed with the session.
    checkpoints: checkpoints of this session, to resume from and to add to.
    """
    observer.on_start(job)
    refusal = job.engine.refusal(job.sandbox) if os.name == "posix" else _ELSEWHERE
    run = not_started(job, refusal) if refusal else _run(job, observer, start, checkpoints)
    observer.on_end(job, run)
    return run


def _run(
    job: SessionJob, watch: SessionObserver, start: Start, checkpoints: SessionCheckpoints | None
) -> SessionRun:
    # left on: switching it off would require that no other session runs
    adopt_orphans(True)
    try:
        with ExitStack() as stack:
            worker = checkpoints.resume(stack) if checkpoints else None
            worker = worker or _start_worker(job, start, stack)
            return _run_in(worker, job, watch, checkpoints)
    except OSError as error:
        return not_started(job, _cannot_start(job, error))


def _start_worker(job: SessionJob, start: Start, stack: ExitStack) -> ResumedWorker:
    """Start a worker at the beginning of the session."""
    number = new_number()
    folder = stack.enter_context(session_folder(job.env.get("TMPDIR"), number))
    own = {"TMPDIR": str(folder.path), MARK_NAME: str(number)}
    process = start(replace(job, env={**job.env, **own}))
    return ResumedWorker(process, mark_process(process, number), folder, SessionProgress())


def _run_in(
    worker: ResumedWorker, job: SessionJob, watch: SessionObserver, checkpoints: SessionCheckpoints | None
) -> SessionRun:
    session = _Session(job, worker, watch, checkpoints)
    temporary = worker.folder.path
    try:
        run = session.run()
    finally:
        end_session(worker.process, worker.mark)
        worker.process.close()
        job.engine.clean_up(temporary)
    here = MachinePaths(job.root, temporary, job.env.get("HOME") or _home_of_user())
    return here.clean_run(session.used.complete_run(run))


def _home_of_user() -> str:
    """Return the home folder that Python finds without HOME. Empty if the system does not know the user."""
    import pwd  # not on every system that can read records

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _cannot_start(job: SessionJob, error: OSError) -> str:
    if not job.folder.is_dir():
        return f"folder not found: {job.folder}"
    return f"cannot start {job.program}: {error.strerror or error}"


def not_started(job: SessionJob, problem: str) -> SessionRun:
    """Return the run of a session that cannot start: everything is skipped.

    problem: the reason, as a message.
    """
    cells = tuple(CellRun("skipped", problem=problem) for step in job.steps if isinstance(step, CellStep))
    values = {step.number: ValueRun("skipped") for step in job.steps if isinstance(step, ValueStep)}
    return SessionRun(job.session, cells, values, problem=problem)


class _Session:
    """Running session."""

    def __init__(
        self,
        job: SessionJob,
        worker: ResumedWorker,
        watch: SessionObserver,
        checkpoints: SessionCheckpoints | None,
    ) -> None:
        self._job = job
        self._worker = worker
        self._exchange = RequestChannel(worker.process, worker.mark)
        self._watch = watch
        self._checkpoints = checkpoints
        self._position = 0
        self._end_reason = ""
        self._outputs = self._new_outputs()
        before = worker.progress
        self._steps = before.steps
        self._cells = list(before.cells)
        self._values = dict(before.values)
        self.used = before.used or UsedFiles(job.root)

    def run(self) -> SessionRun:
        """Run all remaining steps. Steps that may no longer run are skipped."""
        resumed = len(self._cells)
        request: dict[str, object] = {"op": "resume"}
        if not resumed:
            request = start_request(self._job, self._worker.folder.path)
            request |= {"checkpoints": True} if self._checkpoints else {}
        ready = self._exchange.request(request, "ready", RequestLimits(self._start_s), self._outputs)
        if problem := self._why_not_ready(ready):
            return not_started(self._job, problem)
        if resumed:
            self._watch.on_resume(self._job, resumed)
        began = time.monotonic()
        for step in self._job.steps[self._steps :]:
            self._steps += 1
            if isinstance(step, CellStep):
                run = self._cell(step)
                self._cells.append(run)
                if self._try_checkpoint(time.monotonic() - began):
                    began = time.monotonic()
                self._watch.cell_ended(self._job, step.number, run)
            else:
                self._values[step.number] = self._value(step)
        job = self._job
        return SessionRun(
            session=job.session,
            cells=tuple(self._cells),
            values=self._values,
            machine=self._machine(),
            only_sweeps=job.is_sweep_only,
            python=job.python,
            resumed=resumed,
        )

    def _try_checkpoint(self, seconds: float) -> bool:
        """Make a checkpoint if it is due. Return whether that was tried.

        seconds: run time since the last checkpoint.
        """
        known = self._checkpoints
        if known is None or self._end_reason or not known.is_due(seconds):
            return False
        began = time.monotonic()
        progress = SessionProgress(self._steps, tuple(self._cells), dict(self._values), self.used)
        made = take_checkpoint(self._exchange, self._worker, progress, known.max_bytes)
        if isinstance(made, Checkpoint):
            known.add(made, seconds, time.monotonic() - began)
        else:
            self._watch.on_refusal(self._job, self._position, made)
        return True

    def _why_not_ready(self, answer: Answer) -> str:
        if answer.frame is not None and answer.failure is None:
            refused = answer.frame.get("sandbox")
            problem = f"cannot set up the sandbox: {refused}" if refused else ""
            return problem or str(answer.frame.get("problem") or "")
        said = [o.text for o in self._outputs.finish() if isinstance(o, Stream) and o.text.strip()]
        if answer.failure == "timeout":
            return f"{self._job.program} was not ready after {self._start_s:g} s"
        why = said[-1].strip().splitlines()[-1] if said else answer.problem
        return f"{self._job.program} failed at start: {why}"

    @property
    def _start_s(self) -> float:
        return self._job.engine.start_s

    def _cell(self, step: CellStep) -> CellRun:
        self._position = step.number
        if reason := step.skip or self._end_reason:
            run = CellRun("skipped", problem=reason)
        else:
            self._watch.cell_started(self._job, step.number)
            self.used.begin_cell(step.number)
            others = {
                other.key: self._request(step, other) for other in step.sweep_steps if not self._end_reason
            }
            if step.only_others or self._end_reason:
                run = CellRun("skipped", problem=self._end_reason)
            else:
                run = self._request(step)
            run = msgspec.structs.replace(run, others=others) if others else run
        return run

    def _request(self, step: CellStep, other: SweepStep | None = None) -> CellRun:
        """Run a cell.

        other: point of its sweep, whose variables are removed afterwards.
        """
        began = time.monotonic()
        limits = RequestLimits(step.timeout_s, step.memory_bytes)
        answer = self._exchange.request(_cell_request(step, other), "done", limits, self._outputs)
        run = self._outcome(step, answer, time.monotonic() - began)
        self.used.note(answer.frame)
        # later output of threads belongs to the next cell
        self._outputs = self._new_outputs()
        self._end_reason = "" if _may_continue(step, run) else f"{step.name} before it ended badly"
        return run

    def _outcome(self, step: CellStep, answer: Answer, seconds: float) -> CellRun:
        if answer.frame is not None and answer.failure is None:
            return cell_run(step, answer.frame, self._outputs)
        # After an interrupt, use its line. If the worker is gone, use the line in its stack.
        frame = answer.frame or {}
        line = find_line(read_failure(frame), step.number) or int(frame.get("line") or 0)
        line = line or self._outputs.take_stack(step.number)
        return CellRun(answer.failure or "died", self._outputs.finish(), seconds, answer.problem, line)

    def _value(self, step: ValueStep) -> ValueRun:
        if self._end_reason:
            return ValueRun("skipped")
        request = {
            "op": "value",
            "number": step.number,
            "expression": step.expression,
            "conversion": step.conversion,
            "spec": step.spec,
        }
        # Output printed by a value is not shown.
        unseen = OutputBuffer(self._job.text_bytes, lambda output: None)
        answer = self._exchange.request(
            request, "value", RequestLimits(step.timeout_s, step.memory_bytes), unseen
        )
        self.used.note(answer.frame)
        if self._exchange.is_over:
            self._end_reason = f"{{= {step.expression} =}} before it ended badly"
        return value_run(answer.frame, answer.failure, answer.problem)

    def _machine(self) -> Machine:
        """Return the machine of the session.

        This is the last request, when everything is imported; then end the worker.
        """
        unseen = OutputBuffer(0, lambda output: None)
        answer = self._exchange.request({"op": "machine"}, "machine", RequestLimits(_MACHINE_S), unseen)
        if not self._exchange.is_over:
            self._exchange.end_worker({"op": "end"}, _END_S)
        return read_machine(answer.frame) if answer.frame else Machine()

    def _new_outputs(self) -> OutputBuffer:
        def emit(output: CellOutput) -> None:
            self._watch.output(self._job, self._position, output)

        return OutputBuffer(self._job.text_bytes, emit)


def _may_continue(step: CellStep, run: CellRun) -> bool:
    """Return whether further cells may run. A false claim has not changed any variable."""
    raised = any(isinstance(output, Failure) for output in run.outputs)
    return run.status == "ok" or (run.status == "error" and (step.error or not raised))


def start_request(job: SessionJob, temporary: Path) -> dict[str, object]:
    """Return the first message to a worker.

    temporary: temporary folder of the session.
    """
    return {
        "op": "start",
        "folder": str(job.folder),
        "root": str(job.root),
        "sys_path": [str(job.folder), str(job.root)],
        "limits": {"data_bytes": _data_bytes(job), "text_bytes": job.text_bytes},
        "sandbox": job.sandbox,
        "writable": [str(temporary)],
        "exclude": [str(path) for path in (*job.exclude, temporary)],
        **job.engine.start_fields(job.post),
    }


def _data_bytes(job: SessionJob) -> int | None:
    """Return the limit on data memory; None with CUDA, which reserves far more addresses than it uses."""
    may_start_cuda = job.cuda or (has_device() and any(need.name == "torch" for need in job.needs))
    return None if may_start_cuda else job.memory_bytes or None


def _cell_request(step: CellStep, other: SweepStep | None) -> dict[str, object]:
    binding = other.binding if other else step.binding
    # engines without support for sweeps do not get these fields
    sweep = {"binding": dict(binding), "leaves": other is None} if binding else {}
    return {
        **sweep,
        "op": "cell",
        "number": step.number,
        "code": step.code,
        "seed": step.seed,
        "claim": step.claim,
        "shapes": step.shapes,
        "figures": {"format": step.figure_format, "dark": step.figure_dark},
    }


# Conversion of a worker's answers from JSON frames to `CellRun`, `ValueRun` and `Machine`.


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
    )


def value_run(frame: Frame | None, bad: str | None, problem: str) -> ValueRun:
    """Return the run of a value.

    bad: limit that it exceeded.
    problem: description of `bad`, as a message.
    """
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
    """Return the machine that a worker reports."""
    return Machine(**{name: frame[name] for name in Machine.__struct_fields__ if name in frame})


def read_failure(frame: Frame) -> Failure | None:
    """Return the exception of an answer, if there was one."""
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


def _sdpa(found: object) -> tuple[str, ...]:
    """Return the entries that can be recorded: the author's code could have manipulated the worker."""
    entries = found if isinstance(found, list) else []
    kept = {entry for entry in entries if isinstance(entry, str) and re.fullmatch(SDPA, entry)}
    return tuple(sorted(kept)[:MAX_SDPA])


def _known_fields(record: type[Struct], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that are fields of a record. A newer worker may send more."""
    return {name: given[name] for name in record.__struct_fields__ if name in given}
