"""Inputs of values and cells: files, modules, and new files that would shadow those."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from blogsmith.cli.main import main
from blogsmith.execute.session.jobs import SessionJob
from blogsmith.execute.session.session import SilentObserver
from blogsmith.project.report import BuildReport, ExecutionOptions
from tests.recorded import unsealed
from tests.run_sites import page, records, site
from tests.site_files import build

POST = "content/posts"


def value(expression: str) -> str:
    """Return a post without cells: the fence is only shown."""
    return f"It is {{= {expression} =}}.\n\n```text\n```\n"


def cell(code: str, *options: str) -> str:
    return "\n".join(["```{python}", *(f"#| {option}" for option in options), code, "```", ""])


def ran(root: Path) -> BuildReport:
    return build(root, execution=ExecutionOptions(execute="stale"))


def stale(root: Path) -> list[str]:
    """Return the reasons why `build --frozen` fails."""
    found = build(root, execution=ExecutionOptions(frozen=True)).diagnostics
    assert {item.code for item in found} <= {"freeze-stale"}, found
    return [re.sub(r"^no valid result for .+?: ", "", item.message) for item in found]


def write(root: Path, **files: str) -> None:
    """Write modules next to the post."""
    for name, text in files.items():
        file = root / POST / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


class TestAPageWithoutCells:
    def test_a_file_that_a_value_reads(self, root: Path) -> None:
        site(root, a=value("open('d.txt').read()"))
        (root / POST / "d.txt").write_text("one")
        assert ran(root).ok and "It is one." in page(root)
        assert stale(root) == []
        (root / POST / "d.txt").write_text("two")
        assert stale(root) == [f"{POST}/d.txt, which a value in the text read, has changed"]
        assert main(["freeze", "status", "--site", str(root)]) == 3
        assert ran(root).ok and "It is two." in page(root)
        assert stale(root) == []
        (root / POST / "d.txt").unlink()
        assert stale(root) == [f"{POST}/d.txt, which a value in the text read, is gone"]

    def test_a_module_that_a_value_imports(self, root: Path) -> None:
        site(root, a=value("__import__('helper').K"))
        write(root, helper="K = 'one'")
        assert ran(root).ok and "It is one." in page(root)
        write(root, helper="K = 'two'")
        assert stale(root) == [f"{POST}/helper.py, which a value in the text imports, has changed"]
        assert ran(root).ok and "It is two." in page(root)

    def test_an_old_value_is_shown_as_old(self, root: Path) -> None:
        site(root, a=value("open('d.txt').read()"))
        (root / POST / "d.txt").write_text("one")
        ran(root)
        (root / POST / "d.txt").write_text("two")
        report = build(root)
        assert [found.code for found in report.diagnostics] == ["cell-stale"]
        assert 'class="value value-stale"' in page(root) or "stale" in page(root)

    def test_a_file_that_is_saved_while_the_session_runs(self, root: Path) -> None:
        """The result belongs to the old content and is stale; the next run uses the new one."""
        site(root, a=value("open('d.txt').read()") + "\n" + cell("1"))
        (root / POST / "d.txt").write_text("one")

        class Editor(SilentObserver):
            def cell_started(self, job: SessionJob, position: int) -> None:
                (root / POST / "new").write_text("two")
                (root / POST / "new").replace(root / POST / "d.txt")

        assert build(root, execution=ExecutionOptions(execute="stale", watch=Editor())).ok
        assert "It is one." in page(root)
        (first, *_) = stale(root)
        assert first == f"{POST}/d.txt, which a value in the text read, has changed"
        assert ran(root).ok and "It is two." in page(root) and stale(root) == []

    def test_a_run_that_gives_the_same_leaves_the_record(self, root: Path) -> None:
        site(root, a=value("open('d.txt').read()"))
        (root / POST / "d.txt").write_text("one")
        ran(root)
        before = records(root)
        build(root, execution=ExecutionOptions(execute="all"))
        assert records(root) == before


def test_values_in_main_where_all_cells_are_in_another_session(root: Path) -> None:
    site(root, a=cell("1", "session: other") + "\n" + value("open('d.txt').read()"))
    (root / POST / "d.txt").write_text("one")
    ran(root)
    (root / POST / "d.txt").write_text("two")
    assert stale(root) == [f"{POST}/d.txt, which a value in the text read, has changed"]


def test_a_value_above_the_first_cell_is_stale_itself(root: Path) -> None:
    """Even if the cell is always kept."""
    below = cell("1", "label: kept", "freeze: true")
    site(root, a=f"It is {{= open('d.txt').read() =}}.\n\n{below}")
    (root / POST / "d.txt").write_text("one")
    ran(root)
    (root / POST / "d.txt").write_text("two")
    assert stale(root) == [f"{POST}/d.txt, which a value in the text read, has changed"]
    assert ran(root).ok and "It is two." in page(root)


def test_a_value_between_cells_of_which_the_last_could_not_run(root: Path) -> None:
    gpu = cell("1", "needs: no_such_module", "fallback: skip")
    site(root, a=f"{cell('x = 1', 'label: first')}\n{gpu}\nIt is {{= open('d.txt').read() =}}.\n")
    (root / POST / "d.txt").write_text("one")
    assert ran(root).ok
    (root / POST / "d.txt").write_text("two")
    assert f"{POST}/d.txt, which it read, has changed" in stale(root)


def _old(found: dict[str, Any]) -> None:
    """Convert to a record from before these fields existed."""
    for session in found["sessions"].values():
        for part in (session, *session["cells"]):
            for key in ("absent", "reads", "modules"):
                part.pop(key, None)


def test_an_older_record_is_not_damaged(root: Path) -> None:
    site(root, a=cell("import json\n1") + "\n" + value("2"))
    ran(root)
    (file,) = (root / "_freeze").rglob("outputs.json")
    found = json.loads(unsealed(file.read_bytes()))
    _old(found)
    file.write_text(json.dumps(found))
    assert stale(root) == []


@pytest.mark.parametrize(
    ("code", "before", "new", "who"),
    [
        ("import json\njson.dumps(1)", {}, "json", "it"),
        ("import sums\nsums.K", {"../../sums": "K = 1"}, "sums", "it"),
        ("import sums\nsums.K", {"sums": "K = 1"}, "sums/__init__", "it"),
        (
            "import pkg.part\npkg.part.K",
            {"pkg/__init__": "", "pkg/part": "K = 1"},
            "pkg/part/__init__",
            "it",
        ),
        ("import sums\nsums.K", {"sums": "import textwrap\nK = 1"}, "textwrap", "it"),
        ("import sums\nsums.K", {"sums": "from textwrap import dedent\nK = 1"}, "textwrap", "it"),
        ("try:\n    import no_such\nexcept ImportError:\n    pass\n1", {}, "no_such", "it"),
    ],
)
def test_a_file_that_would_now_be_imported_instead(
    root: Path, code: str, before: dict[str, str], new: str, who: str
) -> None:
    site(root, a=cell(code))
    for name, text in before.items():
        write(root, **{name: text})
    assert ran(root).ok and stale(root) == []
    write(root, **{new: "K = 2\ndef dumps(x): return 'mine'\ndef dedent(x): return x"})
    assert stale(root) == [
        f"{POST}/{new}.py, which {who} would now import in place of another, is new",
    ]
    ran(root)
    again = stale(root)
    assert again == [], "what is there when it runs is no news"


def test_a_module_beside_a_package_without_init(root: Path) -> None:
    site(root, a=cell("import pkg.part\npkg.part.K"))
    write(root, **{"pkg/part": "K = 1"})
    assert ran(root).ok and stale(root) == []
    write(root, pkg="")
    assert stale(root) == [f"{POST}/pkg.py, which it would now import in place of another, is new"]
    assert [found.code for found in ran(root).diagnostics] == ["cell-error"], "pkg is no package now"


def test_a_package_that_is_installed_is_hidden_by_a_file(root: Path) -> None:
    pytest.importorskip("numpy")
    site(root, a=cell("import numpy\nnumpy.int8(1)"))
    assert ran(root).ok and stale(root) == []
    (root / "numpy.py").write_text("def int8(x): return 'mine'")
    assert stale(root) == ["numpy.py, which it would now import in place of another, is new"]
    assert ran(root).ok and "mine" in page(root) and stale(root) == []


def test_a_file_that_hides_nothing_changes_nothing(root: Path) -> None:
    """After the imported module on the path, with another name, or present when the cell ran."""
    site(root, a=cell("import sums, sys\nsums.K"))
    write(root, sums="K = 1", other="", sys="")
    assert ran(root).ok
    write(root, another="", math="")
    (root / "sums.py").write_text("K = 3")
    (root / "sys.py").write_text("")
    assert stale(root) == []


def test_stand_ins_for_modules_do_no_harm(root: Path) -> None:
    code = (
        "import sys, types\nclass Odd(types.ModuleType):\n    @property\n"
        # from Python 3.13 on, the import itself accesses it
        "    def __spec__(self):\n"
        "        if sys._getframe(1).f_code.co_name != '<module>': raise ValueError\n"
        "    __file__ = 3\nsys.modules['odd'] = Odd('odd')\n"
        "import odd, sums\nsums.K"
    )
    site(root, a=cell(code))
    write(root, sums="import types\nnameless = types.ModuleType('x')\ndel nameless.__name__\nK = 1")
    assert ran(root).ok and stale(root) == []


def test_a_value_and_what_would_hide_its_module(root: Path) -> None:
    site(root, a=value("__import__('sums').K"))
    (root / "sums.py").write_text("K = 'one'")
    assert ran(root).ok and stale(root) == []
    write(root, sums="K = 'two'")
    (reason,) = stale(root)
    assert reason == f"{POST}/sums.py, which a value in the text would now import in place of another, is new"
    assert ran(root).ok and "It is two." in page(root)


def test_a_folder_put_on_the_path_counts_in_its_order(root: Path) -> None:
    site(root, a=cell("import sys\nsys.path.insert(0, '../../lib')\nimport sums\nsums.K"))
    (root / "lib").mkdir()
    (root / "lib/__init__.py").write_text("")
    (root / "lib/sums.py").write_text("K = 1")
    assert ran(root).ok
    write(root, sums="K = 2")
    assert stale(root) == []
