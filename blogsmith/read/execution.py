"""`execute:` of a page: a word, or a mapping that says more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Literal, TypeVar

from ..config.units import (
    BYTES_HINT,
    FREEZE,
    KERNEL,
    KERNEL_HINT,
    MAX_SEED,
    SECONDS_HINT,
    parse_bytes,
    parse_seconds,
    parse_seed,
    pattern_problem,
)
from ..diagnostics.model import did_you_mean
from ..model.cells import Freeze, PageExecution
from .fields import Fields

Mode = Literal["off", "marked", "all"]
Engine = Literal["worker", "jupyter"]
Number = TypeVar("Number", int, float)

KEYS = (
    "mode",
    "echo",
    "warning",
    "error",
    "freeze",
    "timeout",
    "memory",
    "seed",
    "shapes",
    "depends",
    "engine",
    "kernel",
)
_MODES: Mapping[str, Mode] = MappingProxyType({"off": "off", "marked": "marked", "all": "all"})
_ENGINES: Mapping[str, Engine] = MappingProxyType({"worker": "worker", "jupyter": "jupyter"})
_YES = ("true", "yes", "on", "eval")
"""What somebody writes who wants cells to run; the first also without quotes."""
_FOREIGN: Mapping[str, str] = MappingProxyType(
    {
        "enabled": "write mode: off, marked or all",
        "eval": "write mode: off, marked or all",
        "output": "write it in each cell",
        "include": "write it in each cell",
        "cache": "results are recorded anyway; freeze: says for how long",
        "daemon": "a fresh process runs each session",
        "python": "which Python runs cells stands in blogsmith.yaml, under execute:",
        "env": "environment variables stand in blogsmith.yaml, under execute:",
    }
)
"""Setting of Quarto, or of the site → what to write in a page."""


def read_execution(fields: Fields, path: PurePosixPath) -> PageExecution:
    """How the page at `path` wants its code run; what is wrong is reported and left out."""
    value = fields.values.get("execute")
    if value is False:
        return PageExecution(mode="off")
    below = fields.below("execute") if isinstance(value, dict) else None
    if below is None:
        return PageExecution(mode=_mode(fields, "execute"))
    _refuse_unknown(below)
    return PageExecution(
        mode="off" if below.values.get("mode") is False else _mode(below, "mode"),
        echo=below.flag("echo"),
        warning=below.flag("warning"),
        error=below.flag("error"),
        freeze=_freeze(below),
        timeout_s=_read(below, "timeout", parse_seconds, "a time of at most a week", SECONDS_HINT),
        memory_bytes=_read(below, "memory", parse_bytes, "an amount of memory", BYTES_HINT),
        seed=_read(below, "seed", parse_seed, f"a whole number from 0 to {MAX_SEED}"),
        shapes=_shapes(below),
        depends=_depends(below, path.parent),
        engine=_engine(below),
        kernel=_kernel(below),
    )


def _refuse_unknown(below: Fields) -> None:
    for key in below.values:
        if key not in KEYS:
            hint = _FOREIGN.get(key) or did_you_mean(key, KEYS) or f"known keys: {', '.join(KEYS)}"
            below.wrong_key(f'unknown key "{key}"', key, hint=hint)


def _mode(fields: Fields, key: str) -> Mode | None:
    if str(fields.values.get(key)).casefold() in _YES:
        fields.wrong(
            f"{key} must be off, marked or all", key, hint="write marked, or all for every python fence"
        )
        return None
    return _MODES.get(fields.choice(key, _MODES))


def _freeze(below: Fields) -> Freeze | None:
    value = below.values.get("freeze")
    if isinstance(value, str | bool) and value in FREEZE:
        return FREEZE[value]
    if value is not None:
        below.wrong("freeze must be auto, true or false", "freeze")
    return None


def _read(
    below: Fields, key: str, parse: Callable[[object], Number | None], what: str, hint: str = ""
) -> Number | None:
    """The number that `parse` finds; where it finds none, the key must be `what`."""
    value = below.values.get(key)
    found = parse(value)
    if value is not None and found is None:
        below.wrong(f"{key} must be {what}", key, hint=hint)
    return found


def _shapes(below: Fields) -> bool | None:
    if isinstance(below.values.get("shapes"), bool):
        return below.flag("shapes")
    word = below.choice("shapes", ("off", "check"))
    return word == "check" if word else None


def _engine(below: Fields) -> Engine | None:
    """A page that names a kernel means it to run its cells."""
    engine = _ENGINES.get(below.choice("engine", _ENGINES))
    if engine == "worker" and "kernel" in below.values:
        below.wrong_key("kernel says nothing with engine: worker", "kernel", hint="write engine: jupyter")
    return engine or ("jupyter" if below.values.get("kernel") else None)


def _kernel(below: Fields) -> str | None:
    name = below.text("kernel") if "kernel" in below.values else None
    if name is None or KERNEL.fullmatch(name):
        return name
    below.wrong(f'"{name}" is no name of a kernel', "kernel", hint=KERNEL_HINT)
    return None


def _depends(below: Fields, folder: PurePosixPath) -> tuple[str, ...]:
    patterns = below.texts("depends")
    written = below.values.get("depends")
    for pattern in patterns:
        if problem := pattern_problem(pattern, folder):
            at = [written.index(pattern)] if isinstance(written, list) and pattern in written else []
            below.wrong(f'"{pattern}" {problem}', "depends", *at)
    return patterns
