"""Measured rows: their file, their drawings, and their tables."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from blogsmith.lab import read_rows
from blogsmith.lab.row_tables import Timings, peak_tflops
from blogsmith.lab.rows import Row, append_rows, newest, series
from blogsmith.lab.tables import number_with_error, table, two_digits
from blogsmith.render.outputs.html import clean_html
from tests.rows import each_row

CPU = Row(
    device="Example CPU",
    kind="cpu",
    threads=2,
    python="3.11.7",
    numpy="2.4.6",
    backend="numpy",
    ran="numpy",
    dtype="float32",
    is_causal=False,
    batch=1,
    heads=8,
    d=64,
    n=128,
    median_s=0.00123,
    low_s=0.0012,
    high_s=0.0013,
    repeats=20,
    peak_bytes=3 * 2**20,
    memory_from="tracemalloc",
    max_abs_error=5.7e-7,
    date="2026-11-21",
)
GPU = replace(
    CPU,
    device="Example GPU",
    kind="cuda",
    threads=0,
    capability="9.0",
    driver="570.1",
    torch="2.13.0",
    backend="torch-cuda:flash",
    ran="flash aten::_scaled_dot_product_flash_attention",
    median_s=1.5e-5,
    low_s=1.4e-5,
    high_s=1.7e-5,
)
UNKNOWN = '{"device": "X", "kind": "cpu", "backend": "numpy", "ran": "numpy", "dtype": "float32", '
UNKNOWN += '"is_causal": true, "batch": 1, "heads": 1, "d": 2, "n": 3, "colour": ["red"]}\n'


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    rows = [CPU, GPU, replace(CPU, n=256, median_s=None, low_s=None, high_s=None, status="out of memory")]
    append_rows(path, rows[:1])
    before = path.read_bytes()
    append_rows(path, rows[1:])
    assert read_rows(path) == tuple(rows)
    assert path.read_bytes().startswith(before)
    assert path.read_text("utf-8").count("\n") == 3


def test_keys_of_later_versions_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    path.write_text(UNKNOWN, "utf-8")
    (row,) = read_rows(path)
    assert (row.d, row.is_causal, dict(row.more)) == (2, True, {"colour": ["red"]})
    append_rows(path, [row])
    one, two = map(json.loads, path.read_text("utf-8").splitlines())
    assert two["colour"] == ["red"] and one.items() <= two.items()


def test_a_file_whose_last_line_is_open_is_not_damaged(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    path.write_text(UNKNOWN.rstrip("\n"), "utf-8")
    append_rows(path, [CPU])
    assert [row.device for row in read_rows(path)] == ["X", "Example CPU"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"device": "X"', "no JSON: "),
        ("[1, 2]", "no row: expected an object"),
        ('{"device": "X"}', "no row: without kind, backend, dtype, is_causal, batch, heads, d, n"),
        (UNKNOWN.replace('"n": 3', '"n": "3"'), "n: expected int, got '3'"),
        (UNKNOWN.replace('"n": 3', '"n": true'), "n: expected int, got True"),
        (UNKNOWN.replace('"n": 3', '"n": 3, "median_s": "fast"'), "median_s: expected float, got 'fast'"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "timings.jsonl"
    path.write_text(f"{UNKNOWN}\n{line.strip()}\n{UNKNOWN}", "utf-8")
    with pytest.raises(ValueError, match=f"timings.jsonl:3: {message}"):
        read_rows(path)


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"

    def write(writer: int) -> None:
        for step in range(20):
            append_rows(path, [replace(CPU, backend=f"writer {writer}", n=step + 1)] * 3)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    rows = read_rows(path)
    assert len(rows) == 8 * 20 * 3
    assert len(newest(rows)) == 8 * 20
    # the three rows of one call are adjacent
    assert all(len({(row.backend, row.n) for row in rows[at : at + 3]}) == 1 for at in range(0, len(rows), 3))


def test_the_last_row_of_a_case_counts() -> None:
    later = replace(CPU, median_s=0.002, date="2027-01-01", code="abc")
    other_machine = replace(CPU, numpy="2.5.0")
    other_threads = replace(CPU, threads=1)
    rows = (CPU, GPU, other_machine, other_threads, later)
    assert newest(rows) == (later, GPU, other_machine, other_threads)


def test_series_of_times_have_quartiles() -> None:
    rows = (replace(CPU, n=256, median_s=0.004), CPU, GPU, replace(GPU, n=512, median_s=None))
    assert series(rows) == {
        "numpy": [(128, 0.00123, 0.0012, 0.0013), (256, 0.004, 0.0012, 0.0013)],
        "torch-cuda:flash": [(128, 1.5e-5, 1.4e-5, 1.7e-5)],
    }
    assert series(rows[:2], y="peak_bytes", by=("device", "backend")) == {
        "Example CPU, numpy": [(128, 3 * 2**20), (256, 3 * 2**20)]
    }


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"by": "devices"}, "no field devices; did you mean device"),
        ({"x": "length"}, "no field length$"),
        (
            {"by": ["device", "max_error"], "y": "peak_bytes"},
            "no field max_error; did you mean max_abs",
        ),
    ],
)
def test_a_name_that_is_no_field_is_refused(names: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        series([CPU], **names)
    with pytest.raises(ValueError, match=message):
        series([], **names)


def test_one_line_has_one_value_for_each_length() -> None:
    rows = (CPU, replace(CPU, device="Other CPU", threads=8))
    with pytest.raises(ValueError, match="numpy: two rows for n = 128, which differ in device, threads"):
        series(rows)
    assert set(series(rows, by=("device", "backend"))) == {"Example CPU, numpy", "Other CPU, numpy"}


@each_row(
    ("value", "text"),
    [
        (0.0, "0"),
        (4.94e-7, "4.9e-07"),
        (0.000999, "0.0010"),
        (0.0123, "0.012"),
        (0.996, "1.0"),
        (1.25, "1.2"),
        (99.6, "100"),
        (996.0, "1.0e+03"),
        (-0.5, "-0.50"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (None, "–"),
    ],
)
def test_two_digits(value: float | None, text: str) -> None:
    assert two_digits(value) == text


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (12.34, 1.06, "12.3 ± 1.1"),
        (0.656, 0.102, "0.66 ± 0.10"),
        (1798.2, 43.1, "1,798 ± 43"),
        (2391, 315, "2,390 ± 320"),
        (9.96, 0.0996, "9.96 ± 0.10"),
        (1.234, 0.0, "1.23 ± 0.00"),
        (1032.4, None, "1,032"),
        (0.1234, None, "0.123"),
        (0, None, "0.00"),
        (float("nan"), 0.1, "nan ± 0.1"),
        (float("inf"), None, "inf"),
    ],
)
def test_digits_from_the_error(value: float, error: float | None, text: str) -> None:
    assert number_with_error(value, error) == text


def test_a_table_as_text_and_in_a_page() -> None:
    shown = table(("backend", "n", "time"), [("a<b", 128, "1.5 ± 0.1 ms"), ("c", None, None)], "Times & more")
    assert repr(shown).splitlines() == [
        "Times & more",
        "backend    n          time",
        "-------  ---  ------------",
        "a<b      128  1.5 ± 0.1 ms",
        "c          –             –",
    ]
    clean = clean_html(shown._repr_html_(), "cell 1")
    assert clean.dropped == ()
    assert "<caption>Times &amp; more</caption>" in clean.html
    assert '<th scope="row">a&lt;b</th><td class="align-right">128</td>' in clean.html
    assert '<td class="align-right">1.5 ± 0.1 ms</td>' in clean.html


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="a row has 1 cells, the header 2: x"):
        table(("a", "b"), [("x",)])


def test_machines_stand_side_by_side() -> None:
    shown = Timings(
        (CPU, GPU, replace(CPU, n=256, median_s=None, peak_bytes=1536 * 2**20, status="out of memory"))
    ).tables()
    assert [one.caption.partition(":")[0] for one in shown[:3]] == [
        "Median time ± interquartile range of one call",
        "Peak memory of one call",
        "What ran",
    ]
    assert [one.caption.rpartition(". ")[2] for one in (shown[0], shown[3])] == [
        "Example CPU, NumPy 2.4.6, Python 3.11.7",
        "Example GPU, capability 9.0, driver 570.1, torch 2.13.0, NumPy 2.4.6, Python 3.11.7",
    ]
    assert [one.header for one in shown[:2]] == [("n", "numpy (ms)"), ("n", "numpy (MiB)")]
    assert shown[0].rows == (("128", "1.23 ± 0.10"), ("256", "out of memory"))
    assert shown[1].rows == (("128", "3.00"), ("256", "1,536"))
    assert shown[2].rows == (("numpy", "numpy", "2", "5.7e-07", "tracemalloc", "2026-11-21"),)
    assert shown[3].rows == (("128", "15.0 ± 3.0"),)
    assert shown[6].rows[0][1:3] == ("flash aten::_scaled_dot_product_flash_attention", "–")
    # 4 · 8 heads · 128² pairs · 64 numbers in 15 µs are 2.24 TFLOP/s
    assert shown[5].caption.startswith("Arithmetic per second: ")
    assert shown[5].rows == (("128", "2.24"),)


def test_the_speed_of_a_known_card_is_a_share_of_its_peak() -> None:
    card = replace(GPU, device="NVIDIA H100 80GB HBM3", dtype="bfloat16", n=4096, heads=8, median_s=1e-4)
    (share,) = (one for one in Timings((card,)).tables() if one.caption.startswith("Share"))
    # 4 · 8 · 4096² · 64 operations in 100 µs are 343.6 TFLOP/s
    assert share.caption.startswith("Share of the peak of 989.4 TFLOP/s: bfloat16")
    assert share.rows == (("4,096", "34.7"),)
    causal = replace(card, is_causal=True, direction="backward")
    assert causal.flops == 4 * 8 * (4096 * 4097 / 2) * 64 * 2.5
    assert peak_tflops("NVIDIA H100 PCIe", "float16") == 756
    assert peak_tflops("NVIDIA H100", "float32") is None


def test_threads_tell_columns_apart() -> None:
    shown = Timings((CPU, replace(CPU, threads=1, median_s=0.002), replace(CPU, backend="other"))).tables()
    assert shown[0].header == ("n", "numpy, 2 threads (ms)", "numpy, 1 threads (ms)", "other (ms)")
    assert shown[0].rows == (("128", "1.23 ± 0.10", "2.00 ± 0.10", "1.23 ± 0.10"),)


def test_words_in_number_columns_span_them() -> None:
    words = "out of memory"
    shown = table(
        ("n", "a (ms)", "b (ms)", "c (ms)"), [(1, "1 ± 1", "2.5 ± 0.1", 3), (2, words, words, None)]
    )
    html = clean_html(shown._repr_html_(), "cell 1").html
    assert f'<td colspan="2" class="align-center">{words}</td><td class="align-right">–</td>' in html
    assert ">1<span data-pad" not in html and '<td class="align-right">1 ± 1</td>' in html
    assert html.count('<th scope="col" class="align-right">') == 4
