"""The site `run_site/`, its blocks, and Python for them: the core from npm, with a stub of NumPy.

The real NumPy for browsers is in no registry. It is used if `BLOGSMITH_PYODIDE_DIR` names a folder with a
full release of Pyodide.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from blogsmith.project.report import ExecutionOptions
from blogsmith.pyodide.release import CORE, LOCK
from tests.site_files import build, printed

from .reader import Reader
from .tools import MODULES, file, missing

THEME = Path(__file__).parents[2] / "themes" / "paper" / "static"
SOURCE = Path(__file__).parent / "run_site"
PAGE = "/posts/run/"
POST = "content/posts/run.md"
LOST = "What ran so far is forgotten; the next run starts anew."
NOT_RUN = "Not run: a block before it did not come to its end."
PYTHON_PATIENCE_S = 120
"""Timeout in seconds. Python must be compiled first, which is the slowest operation on a busy machine."""
VISIBLE = "return document.querySelector(arguments[0])?.checkVisibility() ?? false"
CORE_FOLDER = MODULES / "pyodide"
FULL_VARIABLE = "BLOGSMITH_PYODIDE_DIR"
WHEEL = "numpy-0.0.1-py3-none-any.whl"
STUB = """\
class Array(list):
    def __repr__(self):
        return f"array({list.__repr__(self)})"

    def __str__(self):
        return "[" + " ".join(f"{x:g}." for x in self) + "]"


def zeros(n):
    return Array([0.0] * n)
"""
_METADATA = "Metadata-Version: 2.1\nName: numpy\nVersion: 0.0.1\n"
_TAGS = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def built_site(folder: Path) -> Path:
    """Build the site with the stub in `folder` and return the output folder."""
    root = folder / "site"
    shutil.copytree(SOURCE, root)
    pyodide = root / "static" / "pyodide"
    pyodide.mkdir(parents=True)
    for name in CORE:
        shutil.copy(file(CORE_FOLDER / name), pyodide / name)
    write_wheel(pyodide / WHEEL)
    lock = json.loads((CORE_FOLDER / LOCK).read_text("utf-8"))
    digest = hashlib.sha256((pyodide / WHEEL).read_bytes()).hexdigest()
    stub = {"file_name": WHEEL, "version": "0.0.1", "sha256": digest}
    lock["packages"] = {"numpy": lock["packages"]["numpy"] | stub}
    (pyodide / LOCK).write_text(json.dumps(lock), "utf-8")
    return _built(root, folder)


def full_site(folder: Path) -> Path:
    """Build the site with the real NumPy in `folder`, or skip the test if there is none."""
    full = os.environ.get(FULL_VARIABLE)
    if not full:
        # No registry has it, so it is missing even in CI.
        pytest.skip(f"{FULL_VARIABLE} names no folder with a full release of Pyodide")
    root = folder / "site"
    shutil.copytree(SOURCE, root)
    pyodide = root / "static" / "pyodide"
    pyodide.mkdir(parents=True)
    lock: dict[str, Any] = json.loads(_of(full, LOCK).read_text("utf-8"))
    numpy = lock["packages"]["numpy"]
    lock["packages"] = {"numpy": numpy}
    (pyodide / LOCK).write_text(json.dumps(lock), "utf-8")
    for name in (*CORE, numpy["file_name"]):
        shutil.copy(_of(full, name), pyodide / name)
    return _built(root, folder)


def _of(full: str, name: str) -> Path:
    path = Path(full) / name
    if not path.is_file():
        missing(f"{FULL_VARIABLE} has no {name}")
    return path


def _built(root: Path, folder: Path) -> Path:
    output = folder / "public"
    run = ExecutionOptions(execute="stale")
    report = build(root, output=output, future=True, execution=run)
    assert report.ok, printed(report)
    return output


def write_wheel(path: Path, source: str = STUB) -> None:
    """Write a wheel of one module; equal sources give equal bytes."""
    files: Sequence[tuple[str, str]] = (
        ("numpy/__init__.py", source),
        ("numpy-0.0.1.dist-info/METADATA", _METADATA),
        ("numpy-0.0.1.dist-info/WHEEL", _TAGS),
        ("numpy-0.0.1.dist-info/RECORD", ""),
    )
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files:
            wheel.writestr(zipfile.ZipInfo(name), text)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of the open page, by the labels of their cells."""

    reader: Reader

    def run(self, label: str) -> str:
        """Press Run and return the status message after the run."""
        self.press(label)
        return self.said(label)

    def press(self, label: str) -> None:
        """Press Run, or Stop if the block is running."""
        self.forget(label)
        self.reader.find(f"{of(label)} .run-button").click()

    def forget(self, label: str) -> None:
        """Clear the status message, so that the next one can be recognised."""
        self.ask(label, "block.querySelector('.run-status').textContent = ''")

    def said(self, label: str) -> str:
        """Wait until nothing runs and return the status message of the block."""
        return str(self.reader.wait_for(lambda: self._over(label), PYTHON_PATIENCE_S))

    def _over(self, label: str) -> str:
        words = str(self.ask(label, "return block.querySelector('.run-status').textContent"))
        idle = self.ask(label, "return block.querySelector('.run-button').textContent === 'Run'")
        return words if idle and words and not words.endswith("…") else ""

    def text(self, label: str, selector: str = ".run-output") -> str:
        """Return the text of the output."""
        return str(self.ask(label, f"return block.querySelector('{selector}')?.textContent ?? ''"))

    def html(self, label: str, selector: str = ".run-output") -> str:
        """Return the markup of the output."""
        return str(self.ask(label, f"return block.querySelector('{selector}')?.innerHTML ?? ''"))

    def ask(self, label: str, script: str) -> Any:
        """Return the result of a function body where `block` is the block with this label."""
        return self.reader.ask(f"const block = document.querySelector(arguments[0]); {script}", of(label))

    def type(self, label: str, *keys: str) -> None:
        """Type keys at the end of the code."""
        self.ask(
            label, "const f = block.querySelector('.run-field'); f.focus(); f.selectionStart = f.value.length"
        )
        self.reader.press(*keys)

    def write(self, label: str, code: str) -> None:
        """Replace the code of a block, as a paste does."""
        self.ask(label, "const f = block.querySelector('.run-field'); f.focus(); f.select()")
        self.reader.tell("Input.insertText", text=code)


def of(label: str) -> str:
    return f"#cell-{label}"
