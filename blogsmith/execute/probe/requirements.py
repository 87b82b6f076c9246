"""Checks needs of cells on this machine and packages of the author's Python.

One child process reports everything. If there is nothing to check or the result is cached, no process is
started.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from ... import __version__
from ...base.diagnostics.model import Diagnostic, did_you_mean, list_choices
from ...model.cells import COMMANDS, Cell, Need
from .cache import Answer, ProbeCache

TIMEOUT_S = 120.0
"""Timeout of the probe in seconds. Importing a torch with CUDA from a cold disk and starting the device may
take a minute."""
_PROBE = Path(__file__).with_name("program.py")
NO_DEVICE = "this machine has no CUDA device"
_ELSEWHERE = "run it on a machine that has it, then commit `_freeze/` or copy it with `blogsmith freeze pack`"

Run = Callable[..., "subprocess.CompletedProcess[str]"]
"""Function that is called like `subprocess.run`."""


def has_device() -> bool:
    """Return whether there is any trace of an NVIDIA driver. This is much faster than asking torch."""
    # dxg: driver of Windows in its Linux subsystem
    return (
        any(Path("/dev").glob("nvidia[0-9]*"))
        or Path("/dev/dxg").exists()
        or bool(shutil.which("nvidia-smi"))
    )


def unmet(
    needs: Iterable[Need],
    python: str,
    environ: Mapping[str, str],
    run: Run = subprocess.run,
    device: Callable[[], bool] = has_device,
    cache: ProbeCache | None = None,
) -> dict[Need, str]:
    """Map each need that this machine does not meet to the reason, as a message.

    python: path of the author's Python. environ: complete environment of the child process. run: starts the
    child process. device: returns whether there may be a CUDA device at all. cache: results of earlier
    probes.
    """
    wanted = list(dict.fromkeys(needs))
    found = {need: NO_DEVICE for need in wanted if need.name == "cuda"}
    if found and device():
        found = {}
    for need in wanted:
        absent = [
            name for name in COMMANDS.get(need.name, ()) if not shutil.which(name, path=environ.get("PATH"))
        ]
        if absent:
            found[need] = f'program "{absent[0]}" is not installed'
        elif need.name == "nvcc" and not device():
            found[need] = NO_DEVICE
    asked = [need for need in wanted if need not in found and need.name not in COMMANDS]
    if not asked:
        return found
    names = {need.name for need in asked}
    known = cache.lookup(names, python, environ) if cache else None
    answer = _run_probe(names, python, environ, run) if known is None else known
    if isinstance(answer, str):
        return found | dict.fromkeys(asked, answer)
    if cache and known is None:
        cache.store(names, python, environ, answer)
    reasons = {need: _reason(need, answer) for need in asked}
    return found | {need: reason for need, reason in reasons.items() if reason}


def unmet_reason(cell: Cell, unmet: Mapping[Need, str]) -> str:
    """Return why a cell cannot run here, as a message. Empty if the cell can run here. unmet: result of
    `unmet`."""
    return "; ".join(dict.fromkeys(unmet[need] for need in cell.options.needs if need in unmet))


def needs_any(cell: Cell, names: Collection[str]) -> bool:
    """Return whether a cell needs one of these names, in any version."""
    return any(need.name in names for need in cell.options.needs)


def unmatched_needs_errors(
    names: Sequence[str], cells: Sequence[tuple[Cell, bool]], unmet: Mapping[Need, str]
) -> list[Diagnostic]:
    """Return one error if `--needs` selects only cells that cannot run here, or if no cell has these needs.
    Otherwise return an empty list.

    There is no error if at least one of the needs is met here, or if no cell that has one must run. names:
    names given by `--needs`. cells: each cell, and whether it must run.
    """
    meant = [(cell, is_open) for cell, is_open in cells if needs_any(cell, names)]
    if not names or (not meant and not cells):
        return []
    if not meant:
        return [_unneeded_error(names, cells)]
    reasons: dict[str, None] = {}
    for name in names:
        of_name = [(n, is_open) for cell, is_open in meant for n in cell.options.needs if n.name == name]
        open_needs = [need for need, is_open in of_name if is_open]
        if of_name and not (open_needs and all(need in unmet for need in open_needs)):
            return []
        reasons |= dict.fromkeys(unmet[need] for need in open_needs)
    message = f"no cell that needs {_quoted(names)} can run here: {'; '.join(reasons)}"
    return [Diagnostic("need-unmet", message, hint=_ELSEWHERE)]


def _quoted(names: Sequence[str]) -> str:
    return " or ".join(f'"{name}"' for name in names)


def _unneeded_error(names: Sequence[str], cells: Iterable[tuple[Cell, bool]]) -> Diagnostic:
    known = sorted({need.name for cell, _ in cells for need in cell.options.needs})
    module = re.split(r"[<>=!~ ]", names[0], maxsplit=1)[0]
    hint = did_you_mean(module, known) or list_choices(known)
    return Diagnostic("need-unmet", f"no cell of these posts needs {_quoted(names)}", hint=hint)


def probe_versions(
    names: Collection[str], python: str, environ: Mapping[str, str], run: Run = subprocess.run
) -> dict[str, str]:
    """Map the import names of installed packages to their versions. Packages without a version are left out.
    Empty if the probe fails."""
    answer = _run_probe(set(names) - {"cuda"}, python, environ, run) if names else {}
    packages = {} if isinstance(answer, str) else _packages(answer, names)
    return {name: version for name, version in packages.items() if version}


def _packages(answer: Answer, names: Iterable[str]) -> dict[str, str]:
    """Map the import names of packages that cells can import to versions. `blogsmith.lab` is always among
    them."""
    served = {name: __version__ for name in names if name in ("blogsmith", "blogsmith.lab")}
    return {**served, **answer.get("packages", {})}


def _run_probe(names: Collection[str], python: str, environ: Mapping[str, str], run: Run) -> Answer | str:
    """Run the probe. Return its answer, or a message that explains why it failed."""
    command = [python, str(_PROBE), json.dumps(sorted(names))]
    try:
        done = run(
            command,
            env=dict(environ),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return f"{Path(python).name} did not list its packages within {TIMEOUT_S:.0f} s"
    except OSError as error:
        return f'cannot start "{Path(python).name}": {error.strerror or error}'
    try:
        answer = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError, RecursionError):
        answer = None
    if done.returncode == 0 and isinstance(answer, dict):
        return answer
    said = done.stderr.strip().splitlines()
    why = said[-1] if said else f"exit code {done.returncode}"
    return f"{Path(python).name} cannot list its packages: {why}"


def _reason(need: Need, answer: Answer) -> str:
    """Return why a need is not met. Empty if it is met."""
    if need.name == "cuda":
        cuda = answer.get("cuda") or {"problem": NO_DEVICE}
        if "problem" in cuda:
            return str(cuda["problem"])
        has = str(cuda["capability"])
        problem = f"the CUDA device has capability {has}, but {need.version} is required"
        return "" if _is_at_least(has, need.version) else problem
    packages = _packages(answer, [need.name])
    if need.name not in packages:
        return f'package "{need.name}" is not installed'
    has = packages[need.name]
    if need.version and not has:
        return f'package "{need.name}" has no version, but {need.version} is required'
    return (
        ""
        if _is_at_least(has, need.version)
        else f'package "{need.name}" has version {has}, older than {need.version}'
    )


def _is_at_least(has: str, wanted: str) -> bool:
    """Return whether version `has` is at least `wanted`. Only leading numbers are compared: `2.0+cpu` and
    `2.0rc1` are 2.0."""
    pairs = zip_longest(_numbers(has), _numbers(wanted), fillvalue=0)
    return next((one > other for one, other in pairs if one != other), True)


def _numbers(version: str) -> list[int]:
    found = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return [int(part) for part in found[1].split(".")] if found else []
