"""Which needs of cells this machine does not meet, and which packages the author's Python has.

Asked in one child process for all at once, and in none if nothing is asked or the answer is known.
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
from ...base.diagnostics.model import Diagnostic, did_you_mean
from ...model.cells import Cell, Need
from .cache import Answer, ProbeCache

TIMEOUT_S = 120.0
"""To import a torch with CUDA from a cold disk, and to start the device, may take a minute."""
_PROBE = Path(__file__).with_name("program.py")
_NO_DEVICE = "this machine has no CUDA device"
_ELSEWHERE = "run it on a machine that has that, and commit _freeze/ or carry it over: blogsmith freeze pack"

Run = Callable[..., "subprocess.CompletedProcess[str]"]
"""Called as `subprocess.run`."""


def has_device() -> bool:
    """Whether there is any trace of an NVIDIA driver; far cheaper than to ask torch."""
    # dxg: the driver of Windows, seen from its Linux subsystem
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
    """Each need that is not met → why, in words.

    python: the author's. environ: the whole environment of the child.
    device: whether there may be a CUDA device at all. cache: what is known from earlier.
    """
    wanted = list(dict.fromkeys(needs))
    found = {need: _NO_DEVICE for need in wanted if need.name == "cuda"}
    if found and device():
        found = {}
    asked = [need for need in wanted if need not in found]
    if not asked:
        return found
    names = {need.name for need in asked}
    known = cache.lookup(names, python, environ) if cache else None
    answer = _run_probe(names, python, environ, run) if known is None else known
    if isinstance(answer, str):
        return found | dict.fromkeys(asked, answer)
    if cache and known is None:
        cache.keep(names, python, environ, answer)
    reasons = {need: _reason(need, answer) for need in asked}
    return found | {need: reason for need, reason in reasons.items() if reason}


def why_unmet(cell: Cell, unmet: Mapping[Need, str]) -> str:
    """Why a cell cannot run here, in words; empty if it can. unmet: as `unmet` gives it."""
    return "; ".join(dict.fromkeys(unmet[need] for need in cell.options.needs if need in unmet))


def needs_any(cell: Cell, names: Collection[str]) -> bool:
    """Whether a cell needs one of these, in whichever version."""
    return any(need.name in names for need in cell.options.needs)


def report_unmatched(
    names: Sequence[str], cells: Sequence[tuple[Cell, bool]], unmet: Mapping[Need, str]
) -> list[Diagnostic]:
    """The error for `--needs` where this machine has nothing that it names, or no cell needs it; else none.

    One name is enough that is met here, or whose cells are valid. cells: with whether each is to run.
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
    message = f"nothing that needs {' or '.join(names)} can run here: {'; '.join(reasons)}"
    return [Diagnostic("need-unmet", message, hint=_ELSEWHERE)]


def _unneeded_error(names: Sequence[str], cells: Iterable[tuple[Cell, bool]]) -> Diagnostic:
    known = sorted({need.name for cell, _ in cells for need in cell.options.needs})
    hint = did_you_mean(names[0], known) or (f"they need {', '.join(known)}" if known else "")
    return Diagnostic("need-unmet", f"no cell of these posts needs {' or '.join(names)}", hint=hint)


def probe_versions(
    names: Collection[str], python: str, environ: Mapping[str, str], run: Run = subprocess.run
) -> dict[str, str]:
    """Import name → version, of those that are installed and say theirs; none if Python does not answer."""
    answer = _run_probe(set(names) - {"cuda"}, python, environ, run) if names else {}
    packages = {} if isinstance(answer, str) else _packages(answer, names)
    return {name: version for name, version in packages.items() if version}


def _packages(answer: Answer, names: Iterable[str]) -> dict[str, str]:
    """Return import name → version of those that cells can import; `blogsmith.lab` always is."""
    served = {name: __version__ for name in names if name in ("blogsmith", "blogsmith.lab")}
    return {**served, **answer.get("packages", {})}


def _run_probe(names: Collection[str], python: str, environ: Mapping[str, str], run: Run) -> Answer | str:
    """What the probe says, or why it says nothing, in words."""
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
        return f"{Path(python).name} did not say within {TIMEOUT_S:.0f} s what it has"
    except OSError as error:
        return f"{Path(python).name} cannot be started: {error.strerror or error}"
    try:
        answer = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        answer = None
    if done.returncode == 0 and isinstance(answer, dict):
        return answer
    said = done.stderr.strip().splitlines()
    why = said[-1] if said else f"exit code {done.returncode}"
    return f"{Path(python).name} does not say what it has: {why}"


def _reason(need: Need, answer: Answer) -> str:
    """Why a need is not met; empty if it is."""
    if need.name == "cuda":
        cuda = answer.get("cuda") or {"problem": _NO_DEVICE}
        if "problem" in cuda:
            return str(cuda["problem"])
        has = str(cuda["capability"])
        problem = f"its CUDA device has capability {has}, not {need.version}"
        return "" if _reaches(has, need.version) else problem
    packages = _packages(answer, [need.name])
    if need.name not in packages:
        return f"{need.name} is not installed"
    has = packages[need.name]
    if need.version and not has:
        return f"{need.name} does not say its version, and {need.version} is needed"
    return "" if _reaches(has, need.version) else f"{need.name} is {has}, older than {need.version}"


def _reaches(has: str, wanted: str) -> bool:
    """Whether one version is at least another, by the numbers in front: `2.0+cpu` and `2.0rc1` are 2.0."""
    pairs = zip_longest(_numbers(has), _numbers(wanted), fillvalue=0)
    return next((one > other for one, other in pairs if one != other), True)


def _numbers(version: str) -> list[int]:
    found = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return [int(part) for part in found[1].split(".")] if found else []
