"""`execute:` of a page: a word, or a mapping that says more. A key is a field of `PageExecution`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

from ..config.schema import Execution
from ..config.units import BYTES, FREEZE_WORD, KERNEL_NAMED, SECONDS, SEED, pattern_problem
from ..schema.readers import any_of, checked, text, texts, words
from ..schema.records import Rows
from ..schema.slots import Slot

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


_MODES = get_args(get_type_hints(Execution)["mode"])
MODE = words(
    {**{mode: mode for mode in _MODES}, False: "off"},
    any_of(_MODES),
    hints=dict.fromkeys(("true", "yes", "on", "eval"), "write marked, or all for every python fence"),
)
"""Hints: what somebody writes who wants cells to run; the first also without quotes."""


def _depends(slot: Slot) -> tuple[str, ...]:
    patterns: tuple[str, ...] = _PATTERNS(slot)
    for pattern in patterns:
        if problem := pattern_problem(pattern, slot.folder):
            slot.entry(pattern).wrong(f'"{pattern}" {problem}')
    return patterns


_PATTERNS = texts()


def _with_engine(found: dict[str, Any], slot: Slot) -> dict[str, Any]:
    """A page that names a kernel means it to run its cells."""
    if "kernel" not in slot.value:
        return found
    if slot.value["kernel"] is None:
        KERNEL_NAMED("", slot.at("kernel"))
    if found.get("engine") == "worker":
        slot.key("kernel").wrong("kernel says nothing with engine: worker", "write engine: jupyter")
    return {"engine": "jupyter", **found} if slot.value["kernel"] else found


EXECUTION = Rows(
    names={"timeout": "timeout_s", "memory": "memory_bytes"},
    readers={
        "mode": MODE,
        "freeze": FREEZE_WORD,
        "timeout": SECONDS,
        "memory": BYTES,
        "seed": SEED,
        "shapes": words({"off": False, "check": True, False: False, True: True}, "off or check"),
        "depends": _depends,
        "kernel": checked(text, KERNEL_NAMED),
    },
    whole=_with_engine,
    foreign=_FOREIGN,
)
