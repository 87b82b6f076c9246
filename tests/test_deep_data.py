"""Data nested a hundred thousand levels deep: JSON and TOML from others never end the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from blogsmith.bibliography.csl_json import CslJsonError, read_csl_json
from blogsmith.execute.kernel.python import parse_report
from blogsmith.importers.notebooks.independent import render_notebook
from blogsmith.importers.notebooks.notebook import read_notebook
from blogsmith.importers.text.data import DataTextError, load_data, load_yaml
from blogsmith.read.notebooks.notebook import NotebookError
from tests.sessions import job, run_beside_another

PACKAGE = Path(__file__).parent.parent / "blogsmith"
DEEP = "[" * 100_000
READERS = (
    "json.loads",
    "tomllib.loads",
    "json.decode",
    "raw_decode",
    "JSONDecoder().decode",
    "_DECODER.decode",
)
OWN_DATA: Mapping[str, str] = {
    "base/diagnostics/explanations.py": "a file of the package",
    "base/schema/files.py": "a file of the package",
    "base/schema/data_loaders.py": "`is_too_deep` comes first",
    "execute/kernel/bridge.py": "messages of the builder",
    "execute/kernel/kernel_setup.py": "messages of the builder",
    "execute/probe/program.py": "arguments from the builder",
    "execute/worker/fork_server.py": "messages of the builder",
    "execute/worker/interactive.py": "a value of the cell, whose error it becomes",
    "execute/session/protocol.py": "a generator, whose caller catches the error",
    "freeze/acceptance.py": "`from_json` has read the same bytes",
    "freeze/seals.py": "`from_json` has read the same bytes",
    "importers/merge.py": "`read_record` catches the error",
    "paper/compiler.py": "a message of our own process",
    "publish/pip_resolver.py": "a report of pip",
    "render/lexing.py": "messages of our own process",
}
"""Modules that parse JSON without regard to its depth → the reason."""


def parses_unguarded(tree: ast.AST, *, is_guarded: bool = False) -> Iterator[int]:
    """Yield the lines that parse data outside of a `try` that catches RecursionError, and
    ValueError, which an integer of 5,000 digits raises."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Try):
            caught = " ".join(ast.unparse(one.type) for one in node.handlers if one.type)
            inner = is_guarded or ("RecursionError" in caught and "ValueError" in caught)
            for part in node.body:
                yield from parses_unguarded(ast.Module([part], []), is_guarded=inner)
            rest: list[ast.stmt] = [*node.orelse, *node.finalbody]
            handlers = [statement for one in node.handlers for statement in one.body]
            yield from parses_unguarded(ast.Module([*rest, *handlers], []), is_guarded=is_guarded)
            continue
        if isinstance(node, ast.Call) and not is_guarded:
            name = ast.unparse(node.func)
            if any(name == reader or name.endswith(f".{reader}") for reader in READERS):
                yield node.lineno
        yield from parses_unguarded(node, is_guarded=is_guarded)


def test_every_reader_of_json_and_toml_expects_deep_data() -> None:
    found = {
        file.relative_to(PACKAGE).as_posix(): lines
        for file in sorted(PACKAGE.rglob("*.py"))
        if "lab" not in file.relative_to(PACKAGE).parts
        and (lines := list(parses_unguarded(ast.parse(file.read_text("utf-8")))))
    }
    assert {name: lines for name, lines in found.items() if name not in OWN_DATA} == {}
    assert set(OWN_DATA) <= set(found), "a module that is listed no longer parses data"


@pytest.mark.parametrize("text", [DEEP, '{"a":' * 100_000, "1" * 5000])
def test_a_cell_that_forges_a_deep_message(text: str, tmp_path: Path) -> None:
    """Its session ends, and no other one."""
    code = f"""\
        import os
        data = {text[:20]!r} * {len(text) // len(text[:20])}
        os.write(1000, len(data).to_bytes(4, "big") + data.encode())
        """
    run = run_beside_another(job(tmp_path, dedent(code)))
    assert run.cells[0].status == "died"
    assert "it sent data that blogsmith cannot read" in run.cells[0].problem


def test_deep_data_of_others_is_reported_or_skipped() -> None:
    for text in (DEEP, '{"a":' * 100_000, f"[{'1' * 5000}]"):
        assert parse_report({"data": {"text/plain": text}}) == {}
        with pytest.raises(CslJsonError):
            read_csl_json(text)
        with pytest.raises(DataTextError):
            load_data(text, "json")
        with pytest.raises(NotebookError):
            read_notebook(text)
        assert render_notebook(text) is not None
    with pytest.raises(DataTextError):
        load_yaml(DEEP)
    with pytest.raises(DataTextError):
        load_data(f"a = {DEEP}", "toml")
