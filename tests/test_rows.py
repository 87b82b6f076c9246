"""Every row of the lists in `tests/security/` and `tests/faults/` has a test that is named after it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.mutant_rows import GUARDS, MUTANTS

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "blogsmith"
ROWS = {"security": 49, "faults": 21}
_NAMES = re.compile(r"test_row_(\d\d)(?:_and_(\d\d))?_\w+")
_LINE = re.compile(r"^\| (\d+) \| [^|]+ \| ((?:`test_\w+\.py`(?:, )?)+) \|$", re.MULTILINE)


def rows_of(folder: str) -> dict[int, set[str]]:
    """Map rows to files with a test of that name that is part of a normal run."""
    found: dict[int, set[str]] = {}
    for file in sorted((HERE / folder).glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and (match := _NAMES.fullmatch(node.name)):
                is_long = any("mark.long" in ast.unparse(one) for one in node.decorator_list)
                for number in () if is_long else (n for n in match.groups() if n):
                    found.setdefault(int(number), set()).add(file.name)
    return found


@pytest.mark.parametrize("folder", ROWS)
def test_every_row_has_a_test(folder: str) -> None:
    assert sorted(rows_of(folder)) == list(range(1, ROWS[folder] + 1))


@pytest.mark.parametrize("folder", ROWS)
def test_the_table_names_the_files(folder: str) -> None:
    text = (HERE / folder / "README.md").read_text("utf-8")
    table = {int(row): set(re.findall(r"test_\w+\.py", files)) for row, files in _LINE.findall(text)}
    assert table == rows_of(folder)


def test_every_fault_has_one_place_and_its_tests_are_there() -> None:
    """Faults of `make mutants` are tried manually only, so moved code must be updated in its row."""
    for fault in MUTANTS:
        text = (PACKAGE / fault.file).read_text("utf-8")
        assert text.count(fault.old) == 1, f"{fault.name}: give the row another place"
        assert fault.new not in text or fault.new in fault.old, fault.name
        for file, _, function in (test.partition("::") for test in fault.tests):
            name = function.rpartition("::")[2]
            assert f"def {name}(" in (HERE / file).read_text("utf-8") if name else (HERE / file).is_file(), (
                name
            )
    assert len(GUARDS) >= 40
