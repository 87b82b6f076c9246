"""`blogsmith verify`: recorded cells run again in a copy; results that differ are errors."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from blogsmith.cells import verify as cells_verify
from blogsmith.cli.main import main
from blogsmith.execute.session.site_copy import copy_site
from blogsmith.model.cells import Need
from blogsmith.project.trust.consent import trust
from tests.recorded import unsealed
from tests.run_sites import STALE, records, site
from tests.site_files import build


def recorded_site(root: Path, **posts: str) -> Path:
    assert build(site(root, **posts), execution=STALE).ok
    return root


def edit_silently(root: Path, old: str, new: str, post: str = "a") -> None:
    """Change a record in a way that its seal cannot show, like somebody who makes up a number."""
    file = root / f"_freeze/posts/{post}/outputs.json"
    text = unsealed(file.read_bytes()).decode()
    assert old in text
    file.write_text(text.replace(old, new))


def verify(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Return the exit code, and what is printed on stdout and stderr."""
    capsys.readouterr()
    code = main(["verify", *arguments, "--site", str(root)])
    said = capsys.readouterr()
    return code, said.out, said.err


VALUE = "```python\n#| eval: true\n#| label: x\nx = 20\nprint(x)\n```\n\nThe answer is {= 2 * x + 2 =}.\n"


def test_results_that_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = recorded_site(tmp_path / "s", a=VALUE)
    before = records(root), sorted(root.rglob("*"))
    assert verify(root, capsys) == (0, "2 results verified\n", "")
    assert (records(root), sorted(root.rglob("*"))) == before


def test_a_number_that_was_made_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = recorded_site(tmp_path / "s", a=VALUE)
    edit_silently(root, '"20', '"21')
    edit_silently(root, '"42"', '"43"')
    code, out, err = verify(root, capsys)
    assert (code, out) == (1, "0 results verified, 2 changed\n")
    assert 'result of cell "x" differs in a new run: 21 → 20 [verify-differs]' in err
    assert 'result of "{= 2 * x + 2 =}" differs in a new run: 43 → 42 [verify-differs]' in err
    assert "content/posts/a.md:4:4: error" in err
    assert verify(root, capsys, "--tolerance", "0.1")[0] == 0
    assert verify(root, capsys, "--tolerance", "0.001")[0] == 1


def test_an_edited_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = recorded_site(tmp_path / "s", a=VALUE)
    file = root / "_freeze/posts/a/outputs.json"
    file.write_text(file.read_text().replace('"20', '"21'))
    code, _, err = verify(root, capsys)
    assert code == 1
    assert 'invalid seal of cell "x": the recorded results were edited [freeze-damaged]' in err


def test_a_cell_that_is_never_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = recorded_site(
        tmp_path / "s", a="#| label: r\nimport random\nrandom.random()\n\n#| label: b\nprint(1)"
    )
    code, out, err = verify(root, capsys)
    assert (code, out) == (1, "1 result verified, 1 changing with every run\n")
    assert 'result of cell "r" changes with every run: 0.' in err
    assert "write `#| seed: 1` in the cell" in err


@pytest.mark.parametrize("option", ["repeatable: false", "tolerance: 1"])
def test_what_a_cell_announces_is_no_error(
    tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root = recorded_site(tmp_path / "s", a=f"#| {option}\nimport random\n1 + random.random()")
    code, out, err = verify(root, capsys)
    assert (code, err) == (0, "")
    assert ("announced" in out) is ("repeatable" in option)


def test_a_cell_that_needs_the_folder_of_the_site_fails_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "s"
    code = f"#| label: a\nimport os\nassert os.getcwd() == {str(root / 'content/posts')!r}"
    recorded_site(root, a=code, b="print(1)")
    exit_code, out, err = verify(root, capsys)
    assert (exit_code, out) == (1, "1 result verified, 1 in sessions that failed\n")
    assert "[cell-error]" in err


def test_what_a_cell_writes_stays_in_the_copy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = recorded_site(tmp_path / "s", a="open('note.txt', 'w').write('x')")
    (root / "content/posts/note.txt").unlink()
    assert verify(root, capsys)[0] == 0
    assert not (root / "content/posts/note.txt").exists()


def test_what_cannot_be_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = recorded_site(tmp_path / "s", a="print(1)", b="print(2)")
    post = root / "content/posts/b.md"
    post.write_text(post.read_text().replace("2", "3"))
    assert verify(root, capsys) == (3, "1 result verified, 1 missing or stale\n", "")
    assert verify(root, capsys, str(root / "content/posts/a.md"))[0] == 0


def test_a_session_that_this_machine_cannot_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = recorded_site(
        tmp_path / "s", a="print(1)\n\n#| session: other\n#| needs: msgspec\nprint(2)\n\nprint(3)"
    )
    monkeypatch.setattr(cells_verify, "find_unmet_needs", lambda *_: {Need("msgspec"): "it is not installed"})
    code, out, _ = verify(root, capsys)
    assert (code, out) == (0, "2 results verified, 1 not run: this machine lacks what they need\n")


def test_a_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    posts = {f"p{n}": f"print({n})" for n in range(6)}
    root = recorded_site(tmp_path / "s", **posts)
    assert verify(root, capsys, "--sample", "2")[1] == "2 results verified\n"
    assert verify(root, capsys, "--sample", "99")[1] == "6 results verified\n"
    edit_silently(root, '"3', '"33', "p3")
    found = [verify(root, capsys, "--sample", "2", "--seed", str(seed))[0] for seed in range(6)]
    assert set(found) == {0, 1}, "another seed draws other results"
    assert found[0] == verify(root, capsys, "--sample", "2", "--seed", "0")[0]


def test_the_report_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = recorded_site(tmp_path / "s", a=VALUE)
    edit_silently(root, '"20', '"21')
    code, out, err = verify(root, capsys, "--format", "json")
    (found,) = json.loads(out)["diagnostics"]
    assert (code, found["code"], found["severity"]) == (1, "verify-differs", "error")
    assert err == "1 result verified, 1 changed\n"


CLAIMS = """\
#| claim: It is nine.
x = 3
x * x == 9

#| claim: It is positive.
#| label: idle
#| counter-check: true
y = 3
y * y >= 0

#| claim: They are equal.
x == y
"""


def test_claims_that_never_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = site(tmp_path / "s", a=CLAIMS, b="print(1)")
    note = 'the claim of cell "idle" never fails: it stays true if "3" is replaced by 3 other values'
    first = build(root, execution=STALE)
    assert [(d.code, d.severity, d.message) for d in first.diagnostics] == [("claim-weak", "warning", note)]
    assert build(root).diagnostics == first.diagnostics, "the record repeats it"
    before = records(root), sorted(root.rglob("*"))
    assert verify(root, capsys) == (0, "4 results verified\n", "")
    code, out, err = verify(root, capsys, "--break")
    counts = "1 claim that can fail, 1 claim that never fails, 1 claim not counter-checked"
    assert (code, out) == (1, f"4 results verified, {counts}\n")
    found = note.removeprefix("the ")
    assert f"content/posts/a.md:11:11: error: {found} [verify-break]" in err
    assert verify(root, capsys, "--break", str(root / "content/posts/b.md"))[:2] == (0, "1 result verified\n")
    assert (records(root), sorted(root.rglob("*"))) == before


def test_a_sweep_and_an_image(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>'
    image = f"#| label: i\n#| fig-alt: A\nclass A:\n    def _repr_svg_(self): return {svg!r}\nA()"
    root = recorded_site(
        tmp_path / "s", a=f"#| label: s\n#| sweep: {{n: [1, 2, 3]}}\nprint(n * 10)\n\n{image}"
    )
    assert verify(root, capsys)[:2] == (0, "2 results verified\n")
    edit_silently(root, '"20', '"21')
    assert "n=2: 21 → 20" in verify(root, capsys)[2].replace(" = ", "=")


def test_no_plugin_runs_without_consent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = recorded_site(tmp_path / "s", a="print(1)")
    (root / "plugins").mkdir()
    text = "def register(hooks): open(__file__ + '.ran', 'w').close()\n"
    (root / "plugins/mine.py").write_text(text)
    (root / "blogsmith.yaml").write_text("title: T\nplugins: [mine]\n")
    monkeypatch.chdir(tmp_path)
    assert verify(root, capsys)[0] == 1
    assert not list(tmp_path.rglob("*ran"))
    trust(root)
    assert verify(root, capsys)[0] == 0
    assert list(tmp_path.rglob("*ran"))


def test_the_copy(tmp_path: Path) -> None:
    root = tmp_path / "s"
    files = [
        "a.txt",
        "data/b.txt",
        ".hidden",
        "env/pyvenv.cfg",
        "_freeze/x",
        ".git/HEAD",
        "public/index.html",
        "x/_freeze/y",
    ]
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    os.mkfifo(root / "pipe")
    (tmp_path / "outside").write_text("o")
    links = {"in": "data", "relative": "a.txt", "out": str(tmp_path / "outside"), "gone": "nothing"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    copy = copy_site(root, tmp_path / "copy", (root / "public",))
    found = sorted(
        str(file.relative_to(copy)) for file in copy.rglob("*") if file.is_file() or file.is_symlink()
    )
    assert found == [".hidden", "a.txt", "data/b.txt", "gone", "in", "out", "relative"]
    assert (copy / "relative").resolve() == (copy / "a.txt").resolve()
    assert (copy / "in/b.txt").resolve() == (copy / "data/b.txt").resolve()
    assert (copy / "out").read_text() == "o"
