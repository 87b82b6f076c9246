"""What is asked of kernels that run Python, as code and expressions for them; the answers are in JSON."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..worker.cell import imports_in

_SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "_blogsmith_versions": "worker/versions.py",
        "_blogsmith_seeds": "worker/seeds.py",
        "_blogsmith_sweeps": "worker/sweeps.py",
        "_blogsmith_lab_finder": "worker/lab_finder.py",
        "_blogsmith_kernel": "kernel/kernel_setup.py",
    }
)
"""Name of a module in the kernel → our file."""
_SETUP = """\
def _blogsmith(sources):
    import sys, types
    for name, source in sources.items():
        sys.modules[name] = module = types.ModuleType(name)
        exec(compile(source, "<blogsmith>", "exec"), vars(module))
_blogsmith({sources!r})
del _blogsmith
"""
_MODULE = '__import__("sys").modules["_blogsmith_kernel"]'


def setup_code() -> str:
    """For before the first cell; it leaves no name behind."""
    folder = Path(__file__).parents[1]
    sources = {name: (folder / file).read_text("utf-8") for name, file in _SOURCES.items()}
    return _SETUP.format(sources=sources)


def setup_expression(stack_file: str) -> str:
    """What to compute behind that; while code runs, IPython holds the streams.

    stack_file: as `kernel_setup.prepare` takes it.
    """
    package = str(Path(__file__).parents[2]) if stack_file else ""
    return f"{_MODULE}.prepare({stack_file!r}, {package!r})"


def seed_code(seed: int) -> str:
    """For before a cell."""
    return f"{_MODULE}.seed({seed})"


def binding_code(binding: Mapping[str, object], *, leaves: bool) -> str:
    """For before a run of a sweep. leaves: what the cell binds stays."""
    return f"{_MODULE}.begin_run({json.dumps(binding)!r}, {leaves!r})"


def restoring_expression() -> str:
    """What to compute behind one that leaves nothing."""
    return f"{_MODULE}.end_run()"


def numbering_code(number: int) -> str:
    """For before a cell whose number is not that of the cell before it, plus one."""
    return f"{_MODULE}.number_cells({number})"


def value_expression(expression: str, conversion: str, spec: str) -> str:
    """What to compute for a `{= … =}`; its `text/plain` is the text, its `text/latex` the formula."""
    # the line breaks: a comment or a line of its own ends there
    return f"{_MODULE}.report_value((\n{expression}\n), {conversion!r}, {spec!r})"


def state_expression(names: Sequence[str], root: str) -> str:
    """What to compute behind a cell. names: that cells import."""
    return f"{_MODULE}.state({list(names)!r}, {root!r})"


def machine_expression(names: Sequence[str]) -> str:
    """What to compute in the end."""
    return f"{_MODULE}.machine({list(names)!r})"


def parse_report(computed: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to the last two; empty if there is none."""
    try:
        answer = json.loads(computed.get("data", {}).get("text/plain") or "{}")
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def list_imports(code: str) -> Iterator[str]:
    """Top-level names that a cell imports; none if it is no plain Python, as with commands of IPython."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from imports_in(tree)


def find_crash_line(stack: str, cell: int) -> int:
    """The line of a cell that stands in the stack of a crashed Python, 0 if there is none."""
    found = re.search(rf'File "<cell {cell}>", line (\d+)', stack)
    return int(found[1]) if found else 0
