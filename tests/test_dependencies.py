"""Dependencies of results: each change is noticed, or the result is marked as not repeatable.

The forms are in `tests/dependencies/`; `python -m tests.regen docs` makes the manual's table from them. The
first fourteen of `followed.txt` and the first four of `unrepeatable.txt` were unnoticed in the security
review.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from blogsmith.cells.status import read_environment
from blogsmith.config.schema import Config
from blogsmith.execute.session.environment import cell_environment
from blogsmith.execute.session.session import run_session
from blogsmith.freeze.record import PageRecord
from blogsmith.freeze.recording import session_record
from blogsmith.freeze.staleness import judge_page
from blogsmith.model.results import Uses
from tests.dependency_forms import Form, read_forms
from tests.recorded import cell, page
from tests.sessions import job

FOLLOWED, UNREPEATABLE = read_forms("followed"), read_forms("unrepeatable")
REPEATABLE, UNNOTICED = read_forms("repeatable"), read_forms("unnoticed")
FILES = {
    **dict.fromkeys(("d.txt", "sub/a.txt", "sub/b.txt", "~/out.txt", "~/.myrc"), "some text"),
    "~/lib/mymod.py": "x = 1",
    "helper.py": "x = 1",
    "clocked.py": "import time\ndef f(): return time.time()",
    "n.csv": "1",
    "sub/base.dir": "'k', (0, 1)\n",
    "sub/base.dat": "x",
}


def file_path(place: Path, name: str) -> Path:
    """Return the path of a file in the folder of the post, or of `~/…` in the home folder."""
    return place / "home" / name[2:] if name.startswith("~/") else place / "site/content" / name


def write(place: Path, name: str, text: str) -> None:
    file_path(place, name).parent.mkdir(parents=True, exist_ok=True)
    file_path(place, name).write_text(text, "utf-8")


def change(place: Path, command: str) -> None:
    """Make the change of a form."""
    verb, _, rest = command.partition(" ")
    name, _, text = rest.partition(" ")
    if verb == "write":
        write(place, name, text.replace("\\n", "\n") or "other text")
    elif verb == "remove":
        file_path(place, name).unlink()
    elif verb == "set":
        os.environ[name] = text
    elif verb == "insert":
        with sqlite3.connect(file_path(place, "d.db")) as base:
            base.execute("insert into t values (7)")
        base.close()
    elif verb == "link":
        file_path(place, "link").unlink()
        file_path(place, "link").symlink_to("sub/b.txt")
    else:
        assert verb == "zip"
        make_archive(place, "x = 2")


def make_archive(place: Path, text: str) -> None:
    with ZipFile(file_path(place, "sub/lib.zip"), "w") as archive:
        archive.writestr("zipped.py", text)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a site and a home folder."""
    for name in ("home", "site", "tmp"):
        (tmp_path / name).mkdir()
    for name, text in FILES.items():
        write(tmp_path, name, text)
    make_archive(tmp_path, "x = 1")
    with sqlite3.connect(file_path(tmp_path, "d.db")) as base:
        base.execute("create table t (x)")
    base.close()
    file_path(tmp_path, "link").symlink_to("sub/a.txt")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", os.environ["PATH"])
    # a form sets it, and only a variable that monkeypatch has set is removed again
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    return tmp_path


def run(place: Path, form: Form) -> tuple[Uses, Callable[[], str]]:
    """Run one cell. Return its recorded uses, and a function that returns why it is stale now."""
    if "numpy" in form.code or "matplotlib" in form.code:
        pytest.importorskip("matplotlib")
    site, config = place / "site", Config(title="T")
    post = page(cell(form.code))
    ran = run_session(job(site, form.code, env=cell_environment(os.environ, (), 1, place / "tmp")))
    assert [one.status for one in ran.cells] == ["ok"], ran.cells
    made = session_record(post, ran, read_environment(site, config, running=True), "2026-11-27")
    assert made is not None
    assert made.uses is not None, "uses are known"
    record = PageRecord({"main": made})

    def judge() -> str:
        return judge_page(post, record, read_environment(site, config, running=True)).cells[1].summary

    assert judge() == ""
    return made.cells[0].run.uses or Uses(), judge


@pytest.mark.parametrize("form", FOLLOWED, ids=lambda form: form.name)
def test_a_change_makes_the_result_stale(place: Path, form: Form) -> None:
    _, judge = run(place, form)
    change(place, form.effect)
    assert judge() != ""


@pytest.mark.parametrize("form", UNREPEATABLE, ids=lambda form: form.name)
def test_the_result_is_not_repeatable(place: Path, form: Form) -> None:
    uses, _ = run(place, form)
    assert form.effect in uses.reasons


@pytest.mark.parametrize("form", REPEATABLE, ids=lambda form: form.name)
def test_the_result_is_repeatable(place: Path, form: Form) -> None:
    uses, _ = run(place, form)
    assert (uses.reasons, uses.variables) == ((), {})


@pytest.mark.parametrize("form", UNNOTICED, ids=lambda form: form.name)
def test_the_manual_admits_what_is_not_noticed(place: Path, form: Form) -> None:
    uses, judge = run(place, form)
    change(place, form.effect)
    assert (judge(), uses.reasons) == ("", ())


@pytest.mark.skipif(sys.platform != "linux", reason="checks descriptors")
def test_a_file_that_appears_while_the_cell_runs_makes_the_result_stale(place: Path) -> None:
    for code in (
        "import os, subprocess\nos.path.exists('e' + '.txt')\n",
        "import os, subprocess\nos.listdir('sub')\n",
    ):
        form = Form("", "", "", f"{code}open('e' + '.txt', 'w').close()\nos.remove('e' + '.txt')\n")
        assert run(place, form)[0].reasons == ()
