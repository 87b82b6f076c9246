"""The benchmark of the lab measures what it claims. Sizes are tiny, and no test judges a time."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="the lab needs NumPy")

from blogsmith.lab import Attended, Timings, reference  # noqa: E402 - after the check
from blogsmith.lab import attention as lab_attention  # noqa: E402
from blogsmith.lab.parity import Compared  # noqa: E402
from blogsmith.lab.rows import Row  # noqa: E402
from blogsmith.lab.subjects import from_arrays  # noqa: E402

from . import attention, attention_numpy, attention_parity  # noqa: E402
from .attention import GOALS, QUICK, measure, options_of, over_flash, table  # noqa: E402
from .attention_numpy import PLAIN, NumpyTimes, measure_here, measure_numpy  # noqa: E402
from .attention_paired import Paired, measure_paired  # noqa: E402
from .attention_parity import Parity, cases, catches_faults, largest_of  # noqa: E402
from .attention_site import compare_builds, differing, measure_pages  # noqa: E402
from .execution import NOT_MEASURED  # noqa: E402
from .execution_posts import write_site  # noqa: E402

TINY = replace(
    QUICK,
    numpy=((1, 2, 4, 8), (1, 1, 64, 4)),
    numpy_s=0.0,
    calls=6,
    parity=12,
    lengths=(8, 16),
    cuda_lengths=(16,),
    length_s=0.0,
)
HAS_TORCH = bool(find_spec("torch"))
with_torch = pytest.mark.skipif(not HAS_TORCH, reason="torch is not installed; `make test-torch` has it")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Write a site with one post, whose cell has not run."""
    folder = tmp_path / "site"
    write_site(folder, [["1 + 1"]])
    return folder


@pytest.mark.long
def test_every_line_of_the_table_is_measured(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = measure(replace(TINY, site=site))
    lines = table(found)
    assert len(lines) == 1 + len(GOALS)
    for line, goal in zip(lines[1:], GOALS, strict=True):
        assert line.startswith(goal.name)
        of_torch = goal.key.startswith(("torch:", "pages:", "times:")) or goal.key == "parity: bfloat16"
        assert (NOT_MEASURED in line) is (of_torch and not HAS_TORCH), line
    assert all(found[f"numpy: {dtype}"] > 0 for dtype in ("float32", "float64", "few"))
    assert all(0 < found[f"parity: {dtype}"] <= 1 for dtype in ("float32", "float16"))
    assert found["parity: cases"] >= 2 * len(list(cases(8)))
    assert found["parity: faults"] == 1
    printed = capsys.readouterr().out
    for caption in ("The NumPy reference beside plain NumPy", "Attention against the float64 reference"):
        assert caption in printed
    assert "Median time" in printed


def test_the_table_is_printed_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def measured(*given: object) -> dict[str, float]:
        asked.append(given)
        return {}

    monkeypatch.setattr(attention, "measure", measured)
    assert attention.main(["--quick", "--without", "python3"]) == attention.main([]) == 0
    assert asked == [(QUICK, "python3"), (attention.Sizes(), "")]
    printed = capsys.readouterr().out
    assert "Backends of attention" in printed
    assert printed.rstrip().splitlines()[-1].startswith("load average")
    assert printed.count("\n".join(table({}))) == 2


def test_without_options_everything_is_measured() -> None:
    options = options_of([])
    assert (options.quick, options.without) == (False, "")


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("plain", PLAIN)
def test_plain_numpy_computes_the_same(plain: str, is_causal: bool) -> None:
    q, k, v = np.random.default_rng(0).standard_normal((3, 2, 3, 20, 8))
    expected = reference.attention(q, k, v, is_causal=is_causal)
    # Two ways to add twenty numbers in float64.
    assert np.abs(PLAIN[plain](q, k, v, is_causal) - expected).max() < 1e-13
    # Scores of a thousand: the plain functions also subtract the maximum.
    assert np.isfinite(PLAIN[plain](1000 * q, k, v, is_causal)).all()


def test_the_ratio_is_that_of_our_slower_way_to_the_best() -> None:
    seconds = {name: [2.0, 2.0, 2.0] for name in PLAIN}
    seconds |= {"by heads": [1.0, 1.0, 4.0], attention_numpy.REFERENCE: [1.5, 1.5, 1.5]}
    seconds[attention_numpy.LAB] = [3.0, 3.0, 3.0]
    found = NumpyTimes((1, 1, 1, 1), "float32", False, Paired(seconds))
    assert (found.best, found.ratio) == ("by heads", 3.0)


def test_all_sizes_are_measured_in_a_process_of_its_own() -> None:
    shapes = ((1, 1, 2, 2), (1, 2, 3, 2))
    found = measure_numpy(shapes, ("float32", "float64"), 0.0)
    assert {(one.shape, one.dtype, one.is_causal) for one in found} == {
        (shape, dtype, causal)
        for shape in shapes
        for dtype in ("float32", "float64")
        for causal in (False, True)
    }
    here = measure_here((1, 1, 2, 2), "float32", True, 0.0)
    assert all(one.times.seconds.keys() == here.seconds.keys() for one in found)


def test_calls_are_made_in_turns() -> None:
    made: list[str] = []
    calls = {name: lambda name=name: made.append(name) for name in "abc"}
    found = measure_paired(calls, 0.0, 3, 10)
    assert "".join(made[-9:]) == "abcbcacab"
    assert {name: len(spans) for name, spans in found.seconds.items()} == {"a": 3, "b": 3, "c": 3}
    assert len(measure_paired(calls, 60.0, 1, 10).seconds["a"]) == 10


def test_what_is_compared_is_compared_round_by_round() -> None:
    # The machine was busy in the second round, for both.
    found = Paired({"ours": [3.0, 30.0, 3.5], "theirs": [1.0, 20.0, 1.0]})
    assert found.median_of("ours") == 3.5
    assert found.ratio("ours", "theirs") == 3.0
    assert found.more("ours", "theirs") == 2.5
    assert found.fastest(["ours", "theirs"]) == "theirs"


def test_the_worst_case_counts_and_nan_is_the_worst() -> None:
    good, bad = (
        Compared("b", "float32", "cpu", "", 1.0, 1.0, 4.0),
        Compared("b", "float32", "cpu", "", 9, 9, 3),
    )
    strange = Compared("b", "float32", "cpu", "", float("nan"), 1.0, 4.0)
    refused = Parity("c", "float32", (), (Compared("c", "float32", problem="refused"),))
    assert largest_of([Parity("b", "float32", (good,), ())], "float32") == 0.25
    assert largest_of([Parity("b", "float32", (good, bad), ()), refused], "float32") == 3.0
    assert largest_of([Parity("b", "float32", (strange, bad), ())], "float32") == float("inf")
    assert largest_of([refused], "float32") is None
    shown = repr(attention_parity.shown_parity([Parity("b", "float32", (good, bad), ()), refused]))
    assert [line.split()[7] for line in shown.splitlines()[3:]] == ["fails", "refused"]


def test_a_rule_that_sees_no_faults_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {"whole": lambda q, k, v: lab_attention(q, k, v, is_causal=True)}
    monkeypatch.setattr(attention_parity, "FAULTS", whole)
    assert not catches_faults(12, ["float32"])


@pytest.mark.long
def test_builds_are_compared_by_all_bytes(site: Path) -> None:
    pages = compare_builds(site, sys.executable, sys.executable)
    assert pages.files > 3
    assert pages.differing == ()
    # Its cell has no recorded result, and no cell runs in a copy.
    assert not pages.valid
    assert not (site / "public").exists()
    write_site(site / "other", [[]])
    assert compare_builds(site / "other", sys.executable, sys.executable).valid
    assert differing({"a": b"1", "b": b"2", "c": b"3"}, {"a": b"1", "b": b"3", "d": b"4"}) == ("b", "c", "d")


def test_a_build_that_fails_ends_the_measuring(site: Path) -> None:
    (site / "blogsmith.yaml").write_text("titel: Bench\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="build ended with exit code 1"):
        compare_builds(site, sys.executable, sys.executable)


@pytest.mark.skipif(HAS_TORCH, reason="torch is installed here")
def test_without_torch_there_is_nothing_to_compare_pages_with(site: Path) -> None:
    assert measure_pages(site, sys.executable) is None


@with_torch
@pytest.mark.torch
def test_a_python_with_torch_is_none_without(site: Path) -> None:
    with pytest.raises(SystemExit, match="has torch"):
        measure_pages(site, sys.executable)


@with_torch
@pytest.mark.torch
def test_the_lab_is_compared_with_the_same_call_of_torch() -> None:
    from .attention_overhead import cases as calls

    for case in calls():
        with case.around():
            direct, ours = case.direct(), case.ours()
        # The backward pass returns no output.
        if isinstance(ours, Attended):
            assert np.array_equal(from_arrays(direct), from_arrays(ours.output)), case.name


def test_the_longest_length_that_both_end_is_compared() -> None:
    def row(backend: str, n: int, seconds: float | None, peak: int | None) -> Row:
        return Row(
            device="d",
            kind="cpu",
            backend=backend,
            dtype="float32",
            is_causal=False,
            batch=1,
            heads=1,
            d=8,
            n=n,
            median_s=seconds,
            peak_bytes=peak,
        )

    rows = [row("naive", 8, 4.0, 30), row("torch:flash", 8, 2.0, 10), row("torch:flash", 16, 2.0, 10)]
    rows.append(row("naive", 16, None, None))
    assert over_flash(Timings(tuple(rows))) == {"times: naive": 2.0, "times: memory": 3.0}
    assert over_flash(Timings(tuple(rows[:1]))) == {}
