"""Code paths for CUDA, as far as they can be tested without a device."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from blogsmith import lab
from blogsmith.lab import parity, ran
from blogsmith.lab.shapes import sizes
from blogsmith.lab.subjects import Subject, proved

from .inputs import drawn, exact

torch = pytest.importorskip("torch", reason="torch is not installed; `make test-torch` has it")
torch_backends: Any = import_module("blogsmith.lab.torch_backends")

LINE = "(Triggered internally at /pytorch/aten/src/ATen/native/transformers/cuda/sdp_utils.cpp:{}.)"
SAID = (
    "Memory efficient kernel not used because:",
    "Memory Efficient attention has been runtime disabled.",
    "Flash attention kernel not used because:",
    "Expected query, key and value to all be of dtype: {Half, BFloat16}. Got Query dtype: float instead.",
    "cuDNN attention kernel not used because:",
    "cuDNN attention has been runtime disabled.",
)


def test_of_all_that_torch_says_only_the_reason_is_quoted() -> None:
    said = [f"{text} {LINE.format(i)}" for i, text in enumerate(SAID)]
    error = "No available kernel. Aborting execution."
    assert torch_backends._reasons(said, error) == SAID[3]
    # torch gives some reasons only once per process.
    assert torch_backends._reasons([*said[:3], *said[4:]], error) == error


@pytest.mark.parametrize(
    ("x", "is_copied"),
    [
        (torch.zeros(2, 3, 4, 5), False),
        (torch.zeros(2, 4, 3, 8).transpose(1, 2), False),
        (torch.zeros(2, 3, 5, 4).mT, True),
        (torch.zeros(2, 1, 4, 5).expand(2, 3, 4, 5), True),
        (torch.zeros(2, 3, 4, 10)[..., ::2], True),
        (torch.zeros(2, 3, 4, 8)[:, :, 1:], False),
        (torch.zeros(2, 3, 4, 9)[..., 1:], True),
        (torch.zeros(121)[1:].reshape(2, 3, 4, 5), True),
    ],
)
def test_tensors_are_laid_out_for_the_kernels(x: Any, is_copied: bool) -> None:
    given = torch_backends.laid_out(x)
    assert torch.equal(given, x) and given.stride(-1) == 1 and 0 not in given.stride()
    assert (given is not x) == is_copied


@pytest.mark.parametrize("shape", [(), (5,), (1,), (3, 5), (3, 1), (2, 1, 1, 1), (2, 1, 3, 5)])
def test_masks_have_their_last_axis_written_out(shape: tuple[int, ...]) -> None:
    mask = torch.randn(shape)
    full = torch_backends.full_rows(mask, 5)
    assert (full.shape[-1], full.stride(-1)) == (5, 1)
    assert torch.equal(full.expand(2, 1, 3, 5), mask.expand(2, 1, 3, 5))
    assert full.numel() <= 5 * max(1, mask.numel())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast_changes_how_it_is_computed_and_not_what_comes_out(dtype: Any) -> None:
    arrays = drawn(20, *[(2, 4, 8)] * 3)
    seen = np.tri(4, dtype=bool)
    with torch.autocast("cpu", dtype):
        output, ran = lab.attention(*arrays, mask=seen, backend="torch:flash")
        tensors = lab.attention(*map(torch.from_numpy, arrays), backend="torch:math").output
    assert (output.dtype, tensors.dtype, ran.backend) == (np.float32, torch.float32, "flash")
    off = np.abs(output - exact(arrays, mask=seen)).max()
    assert 1e-5 < off < 3e-2


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ("FlashAttention only supports Ampere GPUs or newer.\nException raised from mha_fwd", True),
        ("FlashAttention forward only supports head dimension at most 256", True),
        ("CUDA error: an illegal memory access was encountered", False),
    ],
)
def test_what_flash_attn_refuses_is_said_in_its_words(
    monkeypatch: pytest.MonkeyPatch, said: str, refusal: bool
) -> None:
    def flash_attn_func(*_: Any, **__: Any) -> None:
        raise RuntimeError(said)

    monkeypatch.setattr(torch_backends.flash_package, "loaded", lambda: flash_attn_func)
    x = torch.zeros(2, 4, 8).half()
    with pytest.raises(RuntimeError) as raised:
        torch_backends.attend_by_package(
            x, x, x, sizes(*[(2, 4, 8)] * 3), mask=None, is_causal=True, scale=None
        )
    assert isinstance(raised.value, lab.BackendError) == refusal
    assert str(raised.value) == (said.split("\n", 1)[0] if refusal else said)


def test_a_device_that_cannot_be_traced_is_seen_by_what_it_gave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    given_out = iter([3, 7, 7, 7])
    monkeypatch.setattr(ran, "_allocations", lambda _: next(given_out))
    assert ran.profiled(lambda: torch.zeros(3)).device == "cuda"
    assert ran.profiled(lambda: torch.zeros(3)).device == "cpu"


def test_the_device_of_an_attention_is_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    flash = ran.Ran("flash", "cuda", ("aten::_scaled_dot_product_flash_attention",))

    def mine(q: Any, k: Any, v: Any) -> lab.Attended:
        lab.attention(q, k, v, backend="torch:flash")
        return lab.Attended(q, flash)

    _, seen = proved(Subject("mine", "torch-cuda", mine), *[torch.zeros(1, 1, 4, 8)] * 3)
    assert (seen.backend, seen.device) == ("flash", "cuda")


def test_what_runs_on_the_cpu_starts_no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the page would say that the result was recorded on the device."""
    started: list[str] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: started.append("CUDA"))
    assert ran.profiled(lambda: torch.zeros(3)).device == "cpu"
    assert not started


def row(device: str, dtype: str) -> parity.Compared:
    return parity.Compared("torch-cuda:math", dtype, device, "math", 1e-3, 1e-3, 2e-5)


def test_a_setting_that_rounds_is_named() -> None:
    assert "TF32" not in parity._complaint(row("cuda", "float32"))
    torch.set_float32_matmul_precision("high")
    assert parity._complaint(row("cuda", "float32")) == (
        "torch-cuda:math in float32 is off by 0.0010, 50 times the bound of 2.0e-05; products of float32 may "
        'be rounded to TF32 here, without torch.set_float32_matmul_precision("highest")'
    )
    assert "TF32" not in parity._complaint(row("cpu", "float32"))
    assert "TF32" not in parity._complaint(row("cuda", "float16"))
