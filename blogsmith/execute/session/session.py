"""Runs one session from start to end: its cells run in order within their limits, and all its processes are
ended.

Errors in the author's code are never exceptions here: they are the status of a cell. If a worker dies, only
the rest of its session is lost.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import msgspec

from ...base.storage.path_states import OWN_NAMES
from ...model.results import (
    MAX_NOTES,
    CellOutput,
    CellRun,
    Failure,
    Machine,
    SessionRun,
    Stream,
    ValueRun,
)
from ..probe.requirements import has_device
from .answers import cell_run, find_line, read_failure, read_machine, value_run
from .checkpoints import Checkpoint, ResumedWorker, SessionCheckpoints, SessionProgress, take_checkpoint
from .counter_check import check_claim
from .jobs import CellStep, SessionJob, SweepStep, ValueStep
from .machine_paths import MachinePaths
from .output_buffer import OutputBuffer
from .process import Process, spawn
from .reaper import MARK_NAME, adopt_orphans, end_session, hide_memory, mark_process, new_number
from .requests import Answer, RequestChannel, RequestLimits
from .used_files import UsedFiles
from .working_folder import session_folder

_ELSEWHERE = "code of posts runs on Linux and macOS only"
_MACHINE_S = 10.0
_END_S = 2.0


class SessionObserver(Protocol):
    """Observer of a running session. Methods are called from the thread that runs it."""

    def expect_cells(self, count: int) -> None:
        """Handle an announcement that `count` more cells will run."""

    def on_start(self, job: SessionJob) -> None:
        """Handle the start of the session."""

    def on_resume(self, job: SessionJob, position: int) -> None:
        """Handle the resumption of the session after the cell at `position`. Neither this cell nor earlier
        ones run again."""

    def on_refusal(self, job: SessionJob, position: int, reason: str) -> None:
        """Handle the rejection of a checkpoint after a cell. reason: why it cannot be made."""

    def cell_started(self, job: SessionJob, position: int) -> None:
        """Handle the start of a cell. position: its 1-based number in the session."""

    def output(self, job: SessionJob, position: int, output: CellOutput) -> None:
        """Handle an output as it arrives: not merged with others, and with carriage returns."""

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
    # not switched off again: another session may be running
    adopt_orphans(True)
    hide_memory()
    try:
        with ExitStack() as stack:
            worker = checkpoints.resume(stack) if checkpoints else None
            worker = worker or _start_worker(job, start, stack)
            return _run_in(worker, job, watch, start, checkpoints)
    except OSError as error:
        return not_started(job, _cannot_start(job, error))


def _start_worker(job: SessionJob, start: Start, stack: ExitStack) -> ResumedWorker:
    """Start a worker at the beginning of the session. Return it in the form of a worker that resumes."""
    number = new_number()
    folder = stack.enter_context(session_folder(job.env.get("TMPDIR"), number))
    own = {"TMPDIR": str(folder.path), MARK_NAME: str(number)}
    process = start(replace(job, env={**job.env, **own}))
    return ResumedWorker(process, mark_process(process, number), folder, SessionProgress())


def _run_in(
    worker: ResumedWorker,
    job: SessionJob,
    watch: SessionObserver,
    start: Start,
    checkpoints: SessionCheckpoints | None,
) -> SessionRun:
    session = _Session(job, worker, watch, start, checkpoints)
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
    """Return the home folder that Python finds if HOME is not set. Empty if the system does not know the
    user."""
    import pwd  # some systems have no user database that Python can read

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def _cannot_start(job: SessionJob, error: OSError) -> str:
    if not job.folder.is_dir():
        return f'folder not found: "{job.folder}"'
    return f'cannot start "{job.program}": {error.strerror or error}'


def not_started(job: SessionJob, problem: str) -> SessionRun:
    """Return the run of a session that cannot start, with all cells skipped. problem: the reason, as a
    message."""
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
        start: Start,
        checkpoints: SessionCheckpoints | None,
    ) -> None:
        self._job = job
        self._start = start
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
        self.used = before.used or UsedFiles(
            job.root, ignored=OWN_NAMES | {path.name for path in job.exclude}
        )

    def run(self) -> SessionRun:
        """Run all remaining steps, and return their results. Steps that may no longer run are skipped."""
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
        """Make a checkpoint if it is due. Return whether that was tried. seconds: run time since the last
        checkpoint."""
        known = self._checkpoints
        if known is None or self._end_reason or not known.is_due(seconds):
            return False
        began = time.monotonic()
        progress = SessionProgress(self._steps, tuple(self._cells), dict(self._values), self.used)
        made = known.objection(progress) or take_checkpoint(
            self._exchange, self._worker, progress, known.max_bytes
        )
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
            return f'"{self._job.program}" was not ready after {self._start_s:g} s'
        why = said[-1].strip().splitlines()[-1] if said else answer.problem
        return f'"{self._job.program}" failed at start: {why}'

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
            if step.counter_check and step.claim and run.status == "ok":
                notes = check_claim(self._job, step, run, self._run_changed)
                run = msgspec.structs.replace(run, notes=(*run.notes[: MAX_NOTES - 1], *notes))
            run = msgspec.structs.replace(run, others=others) if others else run
        return run

    def _run_changed(self, job: SessionJob) -> SessionRun:
        return run_session(job, start=self._start)

    def _request(self, step: CellStep, other: SweepStep | None = None) -> CellRun:
        """Run a cell, and return its result. other: point of its sweep to run, whose variables are removed
        afterwards; None for the default point."""
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
        # After an interrupt, the line is that of the interrupt. If the worker is gone, it is the line in its
        # stack.
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
        """Return the machine of the session, and then end the worker. Call this last, when the cells have
        imported all packages that the record lists."""
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
    """Return whether later cells may run. They may run after a false claim, because a claim changes no
    variable."""
    raised = any(isinstance(output, Failure) for output in run.outputs)
    return run.status == "ok" or (run.status == "error" and (step.error or not raised))


def start_request(job: SessionJob, temporary: Path) -> dict[str, object]:
    """Return the first message to a worker. temporary: temporary folder of the session."""
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
    """Return the limit on data memory. None with CUDA, which reserves far more addresses than it uses."""
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
