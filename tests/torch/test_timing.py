"""`benchmark` with torch: the proof and memory that a row reports. No test depends on times."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from blogsmith.lab import benchmark, read_rows  # noqa: E402
from blogsmith.lab.ran import BackendError  # noqa: E402
from blogsmith.lab.rows import Row  # noqa: E402

MIB = 2**20


def rows_of(*backends: object, **options: Any) -> tuple[Row, ...]:
    return benchmark(list(backends), **{"lengths": 256, "repeats": 3, **options}).rows  # type: ignore[arg-type]


def test_a_row_says_what_ran_and_what_it_took() -> None:
    flash, math = rows_of("torch:flash", "torch:math")
    assert flash.ran == "flash aten::_scaled_dot_product_flash_attention_for_cpu"
    assert math.ran == "math aten::_scaled_dot_product_attention_math"
    output, scores = 8 * 256 * 64 * 4, 8 * 256 * 256 * 4
    for row in (flash, math):
        assert (row.kind, row.status, row.repeats) == ("cpu", "ok", 3)
        assert row.memory_from == "torch.profiler" and row.threads == torch.get_num_threads()
        # `torch.__version__` may be longer: CUDA wheels are 2.11.0 for pip and 2.11.0+cu130 for themselves.
        assert row.torch == metadata.version("torch")
        assert row.max_abs_error is not None and row.max_abs_error < 2e-6
        assert row.median_s is not None and row.median_s > 0
    assert flash.peak_bytes is not None and math.peak_bytes is not None
    assert output <= flash.peak_bytes < output + scores <= math.peak_bytes


@pytest.mark.parametrize("is_causal", [False, True])
def test_a_gradient_is_timed_and_compared_with_the_exact_one(is_causal: bool) -> None:
    def steps(q: Any, k: Any, v: Any) -> Any:
        scores = q @ k.mT / q.shape[-1] ** 0.5
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        return torch.softmax(scores.masked_fill(hidden, -torch.inf) if is_causal else scores, dim=-1) @ v

    found = rows_of(
        {"steps": steps},
        "torch:flash",
        "torch:math",
        inputs="torch",
        is_causal=is_causal,
        direction="backward",
    )
    for row in found:
        assert (row.direction, row.status) == ("backward", "ok")
        assert row.max_abs_error is not None
        assert row.max_abs_error < 2e-6
        assert "gradient" in row.setting
    assert [row.ran.partition(" ")[0] for row in found] == ["own", "flash", "math"]


def test_a_wrong_gradient_is_seen() -> None:
    def wrong(q: Any, k: Any, v: Any) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(q, k.detach() * 1.01, v)

    with pytest.raises(RuntimeError, match="not have been used"):
        rows_of({"wrong": wrong}, inputs="torch", direction="backward")

    def scaled(q: Any, k: Any, v: Any) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(q * 1.01, k, v)

    (row,) = rows_of({"scaled": scaled}, inputs="torch", direction="backward")
    assert row.max_abs_error is not None
    assert row.max_abs_error > 1e-4


def test_backends_without_gradients_are_left_out_or_refused() -> None:
    with pytest.raises(BackendError, match="numpy computes no gradients"):
        rows_of("numpy", direction="backward")
    assert "numpy" not in {row.backend for row in benchmark(lengths=8, repeats=1, direction="backward").rows}
    with pytest.raises(ValueError, match="choose from forward, backward"):
        rows_of("numpy", direction="sideways")


def test_peak_memory_counts_what_lives_at_once() -> None:
    def mine(q: Any, k: Any, v: Any) -> Any:
        held = [torch.ones(4 * MIB, dtype=torch.uint8), torch.ones(2 * MIB, dtype=torch.uint8)]
        held.clear()
        torch.ones(5 * MIB, dtype=torch.uint8)
        return torch.zeros_like(q)

    (row,) = rows_of({"mine": mine}, inputs="torch", lengths=8)
    assert row.peak_bytes == 6 * MIB


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_functions_get_tensors_of_the_type_asked_for(dtype: str) -> None:
    given: set[tuple[str, bool]] = set()

    def mine(q: Any, k: Any, v: Any) -> Any:
        given.add((str(q.dtype), q.is_cuda))
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    (row,) = rows_of({"mine": mine}, inputs="torch", dtype=dtype, lengths=16)
    assert given == {(f"torch.{dtype}", False)}
    assert row.ran == "flash aten::_scaled_dot_product_flash_attention_for_cpu"
    assert row.max_abs_error is not None and row.max_abs_error < {"float32": 2e-6}.get(dtype, 0.03)


def test_memory_that_torch_cannot_have_becomes_a_row() -> None:
    def greedy(q: Any, k: Any, v: Any) -> Any:
        return torch.empty(2**60, dtype=torch.uint8)

    (row,) = rows_of({"greedy": greedy}, inputs="torch", lengths=8)
    assert (row.status, row.median_s) == ("out of memory", None)


def test_rows_of_every_backend_present(tmp_path: Any, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "timings.jsonl"
    benchmark(lengths=16, repeats=1, rows=path)
    assert {"numpy", "torch:flash", "torch:math"} <= {row.backend for row in read_rows(path)}
    # The profiler writes to the C-level stderr.
    assert capfd.readouterr().err == ""


def test_the_page_hears_the_same_when_nothing_is_measured_again(tmp_path: Path) -> None:
    heard: list[tuple[object, ...]] = []
    listening = [True]

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        # An audit hook cannot be removed.
        if listening and event == "blogsmith.lab.ran":
            heard.append(arguments)

    sys.addaudithook(hook)
    said = []
    for _ in range(2):
        benchmark(
            ["numpy", "torch:flash", "torch:math"], lengths=[8], repeats=1, rows=tmp_path / "rows.jsonl"
        )
        said.append(heard[:])
        heard.clear()
    listening.clear()
    assert said[0] == said[1]
    assert {backend for _, backend, _ in said[0]} == {"flash", "math"}


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is present")
def test_cuda_that_is_missing_is_said() -> None:
    with pytest.raises(BackendError, match="CUDA"):
        rows_of("torch-cuda:flash")
    with pytest.raises(BackendError, match="CUDA"):
        rows_of({"mine": torch.add}, inputs="torch-cuda")


@pytest.mark.cuda
def test_a_row_of_cuda() -> None:
    flash, math = rows_of("torch-cuda:flash", "torch-cuda:math", dtype="float16", lengths=2048)
    assert flash.ran == "flash aten::_scaled_dot_product_flash_attention" and "flash" in flash.kernels
    output, scores = 8 * 2048 * 64 * 2, 8 * 2048 * 2048 * 2
    for row in (flash, math):
        assert (row.kind, row.threads, row.memory_from) == ("cuda", 0, "torch.cuda")
        assert row.device == torch.cuda.get_device_name() and row.capability and row.cuda
        assert row.median_s is not None and 0 < row.median_s < 1
    assert flash.peak_bytes is not None and math.peak_bytes is not None
    assert output <= flash.peak_bytes < scores <= math.peak_bytes


@pytest.mark.cuda
def test_memory_that_the_device_lacks_becomes_a_row() -> None:
    def greedy(q: Any, k: Any, v: Any) -> Any:
        return torch.empty(2**45, dtype=torch.uint8, device="cuda")

    (row,) = rows_of({"greedy": greedy}, inputs="torch-cuda", lengths=8)
    assert row.status == "out of memory"
