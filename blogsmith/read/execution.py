"""The front matter key `execute`: a mode, or a mapping with the fields of `PageExecution`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import get_args, get_type_hints

from ..base.schema.forms import SHAPED, Form, accepts, choice_form, get_form
from ..base.schema.records import Check, Reader, format_choices, words
from ..base.schema.slots import Slot
from ..config.schema import Execution
from ..model.cells import PageExecution
from ..model.execution_values import (
    BYTES,
    FREEZE_WORD,
    KERNEL_NAMED,
    PATTERN,
    PATTERN_HINT,
    SECONDS,
    SEED,
    TOLERANCE,
    pattern_problem,
)

FOREIGN: Mapping[str, str] = MappingProxyType(
    {
        "execute.enabled": "write `mode: off`, `mode: marked` or `mode: all`",
        "execute.eval": "write `mode: off`, `mode: marked` or `mode: all`",
        "execute.output": "write it as an option of each cell",
        "execute.include": "write it as an option of each cell",
        "execute.cache": "remove it, and set `freeze` to choose how long results are used",
        "execute.daemon": "remove it: each session runs in a new process",
        "execute.python": "set `python` in blogsmith.yaml, under `execute`",
        "execute.env": "set `env` in blogsmith.yaml, under `execute`",
    }
)
"""Key of Quarto or of the site's settings → hint for an author who writes it in front matter."""


_MODES = get_args(get_type_hints(Execution)["mode"])
_MODE = words(
    {**{mode: mode for mode in _MODES}, False: "off"},
    format_choices(_MODES),
    hints=dict.fromkeys(("true", "yes", "on", "eval"), "write `marked`, or `all` to run every Python fence"),
)
"""Reader of a mode in a single word. The hints are for authors who want cells to run and write `true`, in
quotes or not."""


@accepts({"pattern": rf"{PATTERN}|^\s*$", "items": {"pattern": PATTERN}})
def _check_patterns(patterns: tuple[str, ...], slot: Slot) -> tuple[str, ...]:
    for pattern in patterns:
        if problem := pattern_problem(pattern, slot.folder):
            slot.entry(pattern).report(f'"{pattern}" {problem}', PATTERN_HINT)
    return patterns


_WORKER: Form = {
    "type": "object",
    "properties": {"engine": choice_form(["worker"])},
    "required": ["engine", "kernel"],
}


@accepts({"properties": {"kernel": SHAPED}, "not": _WORKER})
def _check_engine(execution: PageExecution, slot: Slot) -> PageExecution:
    """Return the settings, with the Jupyter engine if the page names a kernel but no engine."""
    if not isinstance(slot.value, dict) or "kernel" not in slot.value:
        return execution
    kernel = slot.child("kernel")
    if kernel.value is None:
        KERNEL_NAMED("", kernel)
    if execution.engine == "worker":
        slot.key("kernel").report(
            '"kernel" has no effect because "engine" is "worker"', "write `engine: jupyter`"
        )
    return execution if execution.engine or not kernel.value else replace(execution, engine="jupyter")


READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "execute.mode": _MODE,
        "execute.freeze": FREEZE_WORD,
        "execute.timeout": SECONDS,
        "execute.memory": BYTES,
        "execute.seed": SEED,
        "execute.tolerance": TOLERANCE,
        "execute.shapes": words({"off": False, "check": True, False: False, True: True}, "off or check"),
    }
)
CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "execute": _check_engine,
        "execute.depends": _check_patterns,
        "execute.kernel": KERNEL_NAMED,
    }
)
NAMES: Mapping[str, str] = MappingProxyType(
    {"execute": "execution", "execute.timeout": "timeout_s", "execute.memory": "memory_bytes"}
)


@accepts(get_form(_MODE))
def read_mode(slot: Slot) -> PageExecution:
    """Read `execute:` if its value is a single word, the mode."""
    return PageExecution(mode=_MODE(slot))
