"""Counter-check of a claim: its session runs again several times, each time with one constant of the claim's
cell changed.

If the claim is still true, it proves nothing about that constant. The constants before the claim are changed
or, if there are none, those in it. Tolerances are not changed: a wider one makes every claim true, a negative
one every claim false. Each run is a separate session with the limits and the sandbox of the first. It runs in
a copy of the site, so nothing changes in the site or in the running session.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from msgspec import Struct

from ...model.results import MAX_NOTE, CellRun, Failure, SessionRun
from .jobs import CellStep, SessionJob
from .reaper import new_number
from .site_copy import copy_site
from .working_folder import session_folder

_TOLERANCE = re.compile(r"(?:.*_)?(?:[ar]?tol|tolerance|eps|epsilon|rel|abs)")
"""Names of variables and parameters that are tolerances."""
_COMPARERS = frozenset(("allclose", "assert_allclose", "isclose"))
"""Names of functions whose third and fourth arguments are tolerances."""
_SIZES = frozenset(("abs", "absolute", "amax", "fabs", "max", "norm"))
"""Names of functions that measure a difference, which a claim compares with a tolerance."""
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_MAX_BITS = 1000
"""Maximum size in bits of an integer constant that is changed."""
_MAX_SHOWN = 24
"""Maximum number of characters of a constant in messages."""


class ChangedCode(Struct, frozen=True):
    """Code of a cell after one constant was changed."""

    constant: str
    """The changed constant as the author wrote it, shortened."""
    code: str
    is_name: bool
    """Whether the constant is a string. Since the string may name something, an exception in the run does not
    count as a claim that failed."""


def changed_codes(code: str) -> list[ChangedCode]:
    """Return copies of the code, each with one constant changed. First, one change is made to every constant,
    then a second change to every constant, and so on. Empty if there are no constants, or if this Python
    cannot parse the code."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    rounds = zip_longest(*(_changes(node, code) for node in _constants(tree)))
    return [change for one in rounds for change in one if change]


def _constants(tree: ast.Module) -> list[ast.Constant]:
    """Return the constants before the last statement, in source order. If there are none, return those in the
    last statement."""
    left_out = {id(node) for part in _unchanged_parts(tree) for node in ast.walk(part)}
    for part in (tree.body[:-1], tree.body[-1:]):
        nodes = [node for statement in part for node in ast.walk(statement)]
        strings = {id(node) for parent in nodes for node in _deciding_strings(parent)}
        found = [
            node
            for node in nodes
            if isinstance(node, ast.Constant)
            and id(node) not in left_out
            and (id(node) in strings or not isinstance(node.value, str))
            and _other_values(node.value)
        ]
        if found:
            return sorted(found, key=lambda node: (node.lineno, node.col_offset))
    return []


def _deciding_strings(parent: ast.AST) -> list[ast.expr]:
    """Return the parts of a node whose strings are data: those that it compares or assigns."""
    if isinstance(parent, ast.Compare):
        return [parent.left, *parent.comparators]
    return [parent.value] if isinstance(parent, ast.Assign) else []


def _unchanged_parts(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the parts of the code whose constants are tolerances or have no position of their own."""
    bounds = [*_bounds(tree)]
    names = {node.id for node in bounds if isinstance(node, ast.Name)}
    yield from bounds
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):  # before Python 3.12, positions in it are wrong
            yield node
        elif isinstance(node, ast.keyword) and _TOLERANCE.fullmatch(node.arg or ""):
            yield node.value
        elif isinstance(node, ast.Call) and _called_name(node) in _COMPARERS:
            yield from node.args[2:]
        elif isinstance(node, ast.Assign):
            targets = {target.id for target in node.targets if isinstance(target, ast.Name)}
            if targets & names or any(map(_TOLERANCE.fullmatch, targets)):
                yield node.value
        elif isinstance(node, ast.arguments):
            named, last = [*node.posonlyargs, *node.args], len(node.defaults)
            for argument, default in (
                *zip(named[len(named) - last :], node.defaults, strict=True),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ):
                if default and _TOLERANCE.fullmatch(argument.arg):
                    yield default


def _bounds(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield the limits in the last statement. A limit is an operand that is compared with a constant
    expression or with the size of a difference."""
    for node in ast.walk(tree.body[-1]) if tree.body else ():
        if isinstance(node, ast.Compare) and any(isinstance(op, _ORDER) for op in node.ops):
            sides = (node.left, *node.comparators)
            has_size = any(isinstance(side, ast.Call) and _called_name(side) in _SIZES for side in sides)
            for side in sides:
                is_constant = not any(isinstance(part, ast.Name) for part in ast.walk(side))
                if is_constant or (has_size and isinstance(side, ast.Name)):
                    yield side


def _called_name(call: ast.Call) -> str:
    function = call.func
    return str(getattr(function, "attr", None) or getattr(function, "id", ""))


def _changes(node: ast.Constant, code: str) -> Iterator[ChangedCode]:
    data = code.encode()
    lines = data.split(b"\n")
    start = sum(len(line) + 1 for line in lines[: node.lineno - 1]) + node.col_offset
    end = sum(len(line) + 1 for line in lines[: (node.end_lineno or 0) - 1]) + (node.end_col_offset or 0)
    before, written, after = data[:start].decode(), data[start:end].decode(), data[end:].decode()
    shown = " ".join(written.split())
    shown = shown if len(shown) <= _MAX_SHOWN else f"{shown[: _MAX_SHOWN - 1]}…"
    for value in _other_values(node.value):
        yield ChangedCode(shown, f"{before}({value!r}){after}", isinstance(node.value, str))


def _other_values(value: Any) -> list[Any]:
    """Return values to use instead of the value of a constant. Empty for constants that must not change."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return ["" if value else "x"]
    if not isinstance(value, int | float | complex) or (
        isinstance(value, int) and value.bit_length() > _MAX_BITS
    ):
        return []
    others = (value + 1, 2 * value, -value) if value else (1, -1)
    # an overflow gives infinity, which has no literal
    return [other for other in dict.fromkeys(others) if other != value and "inf" not in repr(other)]


MOST_CHANGES = 24
"""Maximum number of changes for one claim."""
NEVER_FAILS = "never fails"
"""Start of the note about a claim that was true after every change."""
UNCHECKED = "was not counter-checked"
"""Start of the note about a claim whose counter-check could not run."""
NO_CONSTANT = "has no constant to change"
"""Note about a claim that cannot be counter-checked."""
_SLOWER, _EXTRA_S = 10, 5.0
"""Time limit of a changed cell: the time of the first run multiplied by the first number, plus the second
number in seconds."""


def check_claim(
    job: SessionJob, step: CellStep, first: CellRun, run: Callable[[SessionJob], SessionRun]
) -> tuple[str, ...]:
    """Return notes about the claim if it is true after every change of a constant, or if the counter-check
    could not run. Otherwise return an empty tuple.

    An exception or an exceeded limit counts as a claim that failed, because the cell noticed the change. All
    changes together may take as long as the time limit of the cell.

    first: the run of the cell, whose claim is true. run: runs a session.
    """
    changes = changed_codes(step.code)[:MOST_CHANGES]
    if not changes:
        return (NO_CONSTANT,)
    end = time.monotonic() + step.timeout_s
    limit_s = min(step.timeout_s, _SLOWER * first.seconds + _EXTRA_S)
    with session_folder(job.env.get("TMPDIR"), new_number()) as folder:
        root = copy_site(job.root, folder.path / "site", (*job.exclude, folder.path))
        tried: list[ChangedCode] = []
        for change in changes:
            if time.monotonic() > end:
                return (
                    f"{UNCHECKED} within {step.timeout_s:g} s: {len(tried)} of {len(changes)} changes ran",
                )
            changed = run(_changed_job(job, step, root, change.code, limit_s)).cells[-1]
            if changed.status == "skipped":
                return _unchecked(changed.problem)
            if _is_false(changed):
                return ()
            if changed.status == "ok":
                tried.append(change)
            elif not change.is_name:
                # the copy itself may be the reason
                control = run(_changed_job(job, step, root, step.code, step.timeout_s)).cells[-1]
                return () if control.status == "ok" else _unchecked(control.problem)
    return (_note(tried),) if tried else (NO_CONSTANT,)


def _changed_job(job: SessionJob, claim: CellStep, root: Path, code: str, limit_s: float) -> SessionJob:
    """Return the job that runs the session up to the claim in the copy of the site at `root`, with `code` in
    the claim's cell."""
    last = replace(claim, code=code, timeout_s=limit_s, counter_check=False, sweep_steps=())
    return replace(
        job,
        root=root,
        folder=root / job.folder.relative_to(job.root),
        steps=(*_steps_before(job, claim), last),
        exclude=(),
    )


def _steps_before(job: SessionJob, claim: CellStep) -> Iterator[CellStep]:
    for step in job.steps:
        if step is claim:
            return
        if isinstance(step, CellStep):
            yield replace(step, counter_check=False, sweep_steps=())


def _is_false(run: CellRun) -> bool:
    """Return whether the claim was evaluated and is not true."""
    return run.status == "error" and not any(isinstance(output, Failure) for output in run.outputs)


def _unchecked(problem: str) -> tuple[str, ...]:
    return (" ".join(f"{UNCHECKED}: in a copy of the site, {problem}".split())[:MAX_NOTE],)


def _note(tried: Sequence[ChangedCode]) -> str:
    # a string constant is in quotes already
    names = list(dict.fromkeys(one.constant if one.is_name else f'"{one.constant}"' for one in tried))
    start = f"{NEVER_FAILS}: it stays true if {'one of ' * (len(names) > 1)}"
    count = "another value" if len(tried) == 1 else f"{len(tried)} other values"
    for shown in range(len(names), 0, -1):
        more = f" and {len(names) - shown} more" if shown < len(names) else ""
        note = f"{start}{', '.join(names[:shown])}{more} is replaced by {count}"
        if len(note) <= MAX_NOTE:
            break
    return note
