"""Code and expressions that the bridge sends to kernels that run Python. The kernel answers in JSON."""

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
"""Name of a module in the kernel → file of blogsmith with its source."""
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
    """Return the code to run before the first cell. It leaves no names in the namespace."""
    folder = Path(__file__).parents[1]
    sources = {name: (folder / file).read_text("utf-8") for name, file in _SOURCES.items()}
    return _SETUP.format(sources=sources)


def setup_expression(stack_file: str) -> str:
    """Return the expression to evaluate after the setup code. An expression is needed because IPython
    redirects the streams while code runs. stack_file: see `kernel_setup.prepare`."""
    package = str(Path(__file__).parents[2]) if stack_file else ""
    return f"{_MODULE}.prepare({stack_file!r}, {package!r})"


def seed_code(seed: int) -> str:
    return f"{_MODULE}.seed({seed})"


def binding_code(binding: Mapping[str, object], *, leaves: bool) -> str:
    """Return the code to run before one run of a sweep. binding: variable → value. leaves: whether the names
    that the cell binds are kept."""
    return f"{_MODULE}.begin_run({json.dumps(binding)!r}, {leaves!r})"


def restoring_expression() -> str:
    """Return the expression to evaluate after a sweep run whose bindings are undone."""
    return f"{_MODULE}.end_run()"


def numbering_code(number: int) -> str:
    """Return the code to run before a cell that does not follow the previous cell number."""
    return f"{_MODULE}.number_cells({number})"


def value_expression(expression: str, conversion: str, spec: str) -> str:
    """Return the expression that computes a `{= … =}`. In the kernel's answer, `text/plain` is the text and
    `text/latex` the formula."""
    # the line breaks end a comment or a line magic in the expression
    return f"{_MODULE}.report_value((\n{expression}\n), {conversion!r}, {spec!r})"


def state_expression(names: Sequence[str], root: str) -> str:
    """Return the expression to evaluate after a cell, which reports the device and the packages used. names:
    names that cells import."""
    return f"{_MODULE}.state({list(names)!r}, {root!r})"


def machine_expression(names: Sequence[str]) -> str:
    """Return the expression to evaluate at the end of a session, which describes the machine. names: packages
    whose versions are recorded."""
    return f"{_MODULE}.machine({list(names)!r})"


def parse_report(computed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report that a kernel sent as the value of an expression; empty if there is none."""
    try:
        answer = json.loads(computed.get("data", {}).get("text/plain") or "{}")
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def list_imports(code: str) -> Iterator[str]:
    """Yield the top-level names that a cell imports; none if the code is not plain Python, as with IPython
    commands."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from imports_in(tree)


def find_crash_line(stack: str, cell: int) -> int:
    """Return the line of a cell found in the stack of a crashed Python, or 0."""
    found = re.search(rf'File "<cell {cell}>", line (\d+)', stack)
    return int(found[1]) if found else 0
