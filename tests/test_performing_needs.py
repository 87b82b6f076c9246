"""Cells with requirements that a machine does not meet, in whole builds: results, runs and messages.

The machine with CUDA is simulated by files that describe a device, and a torch that reports it. All other
code, from the probe to the record, is real.
"""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import msgspec
import pytest

from blogsmith.cli.main import main
from blogsmith.execute.probe import requirements
from blogsmith.project.report import BuildReport, ExecutionOptions
from tests import run_sites
from tests.cached_rows import change_cache, read_row
from tests.cuda_stand_in import put_tool, put_torch
from tests.site_files import build

FLASH = "aten::_scaled_dot_product_flash_attention"
POST = """\
---
title: A
---

```{python}
#| label: naive
print("on the CPU")
```

```{python}
#| label: flash
#| session: gpu
#| needs: [torch, "cuda >= 8.0"]
#| fallback: naive
import sys, torch
torch.use()
sys.audit("blogsmith.lab.ran", "cuda", "flash", "aten::_scaled_dot_product_flash_attention")
print("on the GPU")
```
"""
OTHER = """\
```{python}
#| needs: tensorflop
#| fallback: skip
print(1)
```
"""


class Machine:
    """This machine, with and without a device."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._path = os.environ["PATH"]
        put_torch(root / "with-cuda", ("NVIDIA H200",))
        put_tool(root / "bin")
        self._tool, self._packages = str(root / "bin"), str(root / "with-cuda")
        self.without_cuda()

    def with_cuda(self) -> None:
        self._has_device(True)
        self._monkeypatch.setenv("PATH", f"{self._tool}:{self._path}")
        self._monkeypatch.setenv("PYTHONPATH", self._packages)

    def without_cuda(self) -> None:
        self._has_device(False)
        self._monkeypatch.setenv("PATH", self._path)
        self._monkeypatch.delenv("PYTHONPATH", raising=False)

    def _has_device(self, answer: bool) -> None:
        asked = partial(requirements.unmet, device=lambda: answer)
        self._monkeypatch.setattr("blogsmith.cells.run.unmet_needs", asked)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    (root / "content/posts").mkdir(parents=True)
    (root / "blogsmith.yaml").write_text("title: T\n")
    (root / "content/posts/a.md").write_text(POST)
    return root


def run(root: Path, execute: str = "stale", **options: object) -> BuildReport:
    return build(root, execution=ExecutionOptions(execute=execute, **options))  # type: ignore[arg-type]


def page(root: Path) -> str:
    return (root / "public/posts/a/index.html").read_text("utf-8")


def change(root: Path, old: str, new: str) -> None:
    post = root / "content/posts/a.md"
    text = post.read_text("utf-8")
    assert old in text
    post.write_text(text.replace(old, new), encoding="utf-8")


def record(root: Path) -> dict[str, bytes]:
    return {str(f.relative_to(root)): f.read_bytes() for f in (root / "_freeze").rglob("*") if f.is_file()}


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr."""
    capsys.readouterr()
    code = main(list(arguments))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


# -- the order of choice --


def test_where_the_need_is_met_the_cell_runs_and_says_on_what(site: Path, machine: Machine) -> None:
    machine.with_cuda()
    assert run(site).executed_cells == 2
    html = page(site)
    assert "on the GPU\n<" in html
    assert "GPU (NVIDIA H200, CUDA 12.8)\u00a0· SDPA flash\u00a0· " in html
    assert f'data-sdpa="flash {FLASH}"' in html
    assert 'data-gpu="NVIDIA H200" data-capability="9.0" data-driver="' in html


def test_where_it_is_not_met_the_recorded_result_is_shown(site: Path, machine: Machine) -> None:
    machine.with_cuda()
    run(site)
    made = page(site)
    machine.without_cuda()
    report = run(site)
    assert (report.ok, report.executed_cells, report.diagnostics) == (True, 0, ())
    assert page(site) == made
    assert build(site, execution=ExecutionOptions(frozen=True)).ok


def test_a_stale_result_is_shown_and_says_what_changed(
    site: Path, machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.with_cuda()
    run(site)
    machine.without_cuda()
    before = record(site)
    change(site, 'print("on the GPU")', 'print("on another GPU")')
    report = run(site)
    assert report.ok and report.executed_cells == 0
    (warning,) = report.diagnostics
    assert warning.message == 'an old result is shown for cell "flash": its code has changed'
    assert warning.hint == "run `blogsmith execute` where `torch` and `cuda>=8.0` is available"
    assert "on the GPU\n<" in page(site) and 'data-status="stale"' in page(site)
    assert "its code has changed" in page(site)
    assert record(site) == before
    code, _, err = command(capsys, "build", "--frozen", "--site", str(site))
    assert code == 3
    assert 'no valid result for cell "flash": its code has changed [freeze-stale]' in err
    assert (
        "run `blogsmith execute --needs torch --needs cuda` where `torch` and `cuda>=8.0` is available" in err
    )


def test_without_any_result_the_fallback_is_shown_and_said(site: Path, machine: Machine) -> None:
    report = run(site)
    assert (report.ok, report.executed_cells, report.diagnostics) == (True, 1, ())
    said = "It needs torch and cuda&gt;=8.0, and was not run where that is; this is the output of cell naive."
    assert f'<p class="output-note">{said}</p>' in page(site)
    assert page(site).count(">on the CPU\n<") == 2
    assert build(site, execution=ExecutionOptions(frozen=True)).ok


def test_a_cell_may_be_left_out(site: Path, machine: Machine) -> None:
    change(site, "fallback: naive", "fallback: skip")
    assert run(site).ok
    said = "Some code on this page needs PyTorch + CUDA ≥ 8.0 and was not run here."
    assert page(site).count(f'<p class="output-note">{said}</p>') == page(site).count("was not run") == 1


def test_without_a_way_out_it_is_an_error(site: Path, machine: Machine) -> None:
    change(site, "#| fallback: naive\n", "")
    report = run(site)
    (error,) = report.diagnostics
    assert error.code == "cell-need"
    assert error.place and (error.place.line, error.place.column) == (13, 11)
    assert error.message.startswith('cell "flash" cannot run and has no recorded result: ')
    assert error.message.endswith("this machine has no CUDA device")


def test_a_capability_that_is_too_small_is_no_device(site: Path, machine: Machine) -> None:
    change(site, "cuda >= 8.0", "cuda>=9.5")
    change(site, "#| fallback: naive\n", "")
    machine.with_cuda()
    (error,) = run(site).diagnostics
    assert "the CUDA device has capability 9.0, but 9.5 is required" in error.message


# -- one machine after the other --


def test_a_session_on_the_cpu_leaves_the_result_of_the_gpu(site: Path, machine: Machine) -> None:
    machine.with_cuda()
    run(site)
    before = sessions(site)
    machine.without_cuda()
    change(site, "on the CPU", "on the same CPU")
    assert run(site).executed_cells == 1
    after = sessions(site)
    assert after["gpu"] == before["gpu"]
    assert after["main"] != before["main"]
    assert "GPU (NVIDIA H200" in page(site)


def sessions(root: Path) -> dict[str, object]:
    loaded: dict[str, object] = json.loads(record(root)["_freeze/posts/a/outputs.json"])["sessions"]
    return loaded


def test_so_does_the_rest_of_its_own_session(site: Path, machine: Machine) -> None:
    # the cell of the GPU is valid, but in a session that must run again
    change(site, "#| session: gpu\n", "")
    post = site / "content/posts/a.md"
    post.write_text(f'{post.read_text()}\n```{{python}}\nprint("behind it")\n```\n')
    machine.with_cuda()
    assert run(site).executed_cells == 3
    machine.without_cuda()
    change(site, "behind it", "behind it again")
    report = run(site)
    assert (report.ok, report.executed_cells, report.diagnostics) == (True, 2, ())
    assert "on the GPU\n<" in page(site) and ">behind it again\n<" in page(site)
    assert "GPU (NVIDIA H200" in page(site)
    assert 'data-status="stale"' not in page(site)


def test_results_of_a_gpu_travel_in_an_archive_and_give_the_same_site(
    site: Path, machine: Machine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.with_cuda()
    run(site)
    archive = str(tmp_path / "results.tar.gz")
    assert command(capsys, "freeze", "pack", archive, "--site", str(site))[0] == 0
    machine.without_cuda()
    clone = tmp_path / "clone"
    for name in ("blogsmith.yaml", "content/posts/a.md"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_bytes((site / name).read_bytes())
    assert command(capsys, "freeze", "unpack", archive, "--site", str(clone))[0] == 0
    assert record(clone).items() >= {k: v for k, v in record(site).items() if k.endswith(".json")}.items()
    assert build(clone, execution=ExecutionOptions(frozen=True)).ok
    assert built(clone) == built(site)


def built(root: Path) -> dict[str, bytes]:
    return {str(f.relative_to(root)): f.read_bytes() for f in (root / "public").rglob("*") if f.is_file()}


def test_status_tells_on_what_results_were_made(
    site: Path, machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    run(site)
    _, out, _ = command(capsys, "freeze", "status", "--site", str(site))
    assert out == "content/posts/a.md  1 fresh, 1 missing  1 on CPU\n"
    machine.with_cuda()
    run(site)
    _, out, _ = command(capsys, "freeze", "status", "--site", str(site))
    assert out == "content/posts/a.md  2 fresh  1 on CPU, 1 on NVIDIA H200\n"


# -- explicitly requested needs --


def test_only_sessions_with_the_need_run(
    site: Path, machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.with_cuda()
    code, out, err = command(capsys, "execute", "--needs", "cuda", "--site", str(site))
    assert (code, err) == (0, "")
    assert out.startswith("ran 1 of 2 cells in ")
    assert sessions(site).keys() == {"gpu"}
    code, out, err = command(capsys, "execute", "--needs", "cuda", "--site", str(site))
    assert (code, out[:17], err) == (0, "ran 0 of 2 cells ", "")


@pytest.mark.parametrize("everything", [[], ["--all"]])
def test_a_device_that_is_not_there_is_said_once_and_nothing_is_touched(
    site: Path, machine: Machine, capsys: pytest.CaptureFixture[str], everything: list[str]
) -> None:
    run(site)
    change(site, "on the CPU", "another text")
    change(site, "#| fallback: naive\n", "")
    before = record(site)
    code, out, err = command(capsys, "execute", "--needs", "cuda", *everything, "--site", str(site))
    assert (code, out) == (1, "")
    lines = err.splitlines()
    said = 'no cell that needs "cuda" can run here: this machine has no CUDA device'
    assert lines[0] == f"error: {said} [need-unmet]"
    assert lines[1].startswith("hint: run it on a machine that has it")
    assert lines[2:] == ["1 error"]
    assert record(site) == before


def test_one_name_that_can_run_is_enough(
    site: Path, machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "content/posts/b.md").write_text("```{python}\n#| needs: json\nprint(1)\n```\n")
    for ran in (1, 0):
        code, out, err = command(capsys, "execute", "--needs", "json", "--needs", "cuda", "--site", str(site))
        assert (code, err) == (0, "")
        assert out.startswith(f"ran {ran} of 3 cells")


def test_a_name_that_is_there_is_enough_although_a_cell_needs_more(
    site: Path, machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    change(site, "needs: [torch,", "needs: [json,")
    code, out, err = command(capsys, "execute", "--needs", "json", "--needs", "cuda", "--site", str(site))
    assert (code, out[:17], err) == (0, "ran 0 of 2 cells ", "")


def test_a_package_that_is_not_there_is_said_likewise(
    site: Path, machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "content/posts/b.md").write_text(OTHER)
    code, _, err = command(capsys, "execute", "--needs", "tensorflop", "--site", str(site))
    assert code == 1
    assert 'no cell that needs "tensorflop" can run here: package "tensorflop" is not installed' in err
    assert not (site / "_freeze").exists()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("cuad", "did you mean `cuda`?"),
        ("cuda>=8.0", "did you mean `cuda`?"),
        ("numpy", "write one of `cuda`, `torch`"),
    ],
)
def test_a_name_that_no_cell_needs_is_said(
    site: Path, machine: Machine, capsys: pytest.CaptureFixture[str], name: str, hint: str
) -> None:
    for _ in range(2):
        code, _, err = command(capsys, "execute", "--needs", name, "--site", str(site))
        assert code == 1
        assert err == f'error: no cell of these posts needs "{name}" [need-unmet]\nhint: {hint}\n1 error\n'
        run(site)


def test_other_posts_are_not_spoken_of(
    site: Path, machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "content/posts/b.md").write_text(OTHER.replace("#| fallback: skip\n", ""))
    machine.with_cuda()
    code, _, err = command(capsys, "execute", "--needs", "cuda", "--site", str(site))
    assert (code, err) == (0, "")


def test_a_need_is_looked_for_once(site: Path, machine: Machine) -> None:
    machine.with_cuda()
    run(site)
    # a new row would have the current date
    assert change_cache(site, "UPDATE rows SET written_s = 7 WHERE kind = 'probe'") == 1
    known = paths_of(site)
    run(site, "all")
    # a parallel test may have created a folder at the root of the program, where Python imports from
    assert change_cache(site, "UPDATE rows SET written_s = 8 WHERE written_s = 7") or paths_of(site) != known
    assert known


def paths_of(root: Path) -> list[dict[str, str]]:
    """Return folder → stamp, for each Python."""
    pythons = msgspec.msgpack.decode(read_row(root, "probe", "pythons").data)
    return [entry["path"] for entry in pythons.values()]


def test_values_alone_are_a_session_that_needs_nothing(tmp_path: Path) -> None:
    root = run_sites.site(tmp_path / "site", a="```text\nshown\n```\n\nIt is {= 1234000 + 42 =}.")
    assert build(root, execution=ExecutionOptions(execute="stale", needs=("torch",))).executed_cells == 0
    assert "1234042" not in page(root)
    assert build(root, execution=run_sites.STALE).diagnostics == ()
    assert "1234042" in page(root)
