"""Attention on CUDA; what needs a device is skipped where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from blogsmith import lab
from blogsmith.lab.scaled_dot_product import BACKENDS

from .inputs import drawn, exact

torch = pytest.importorskip("torch", reason="torch is not installed; `make test-torch` has it")

CUDA = ("torch-cuda:flash", "torch-cuda:efficient", "torch-cuda:cudnn", "torch-cuda:math")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize("backend", [name for name in BACKENDS if name.startswith("torch-cuda")])
def test_cuda_where_there_is_none(backend: str) -> None:
    why = "(is built without CUDA|sees no CUDA device)"
    words = f"^backend {backend} cannot run: it needs CUDA, and torch .* {why}$"
    with pytest.raises(lab.BackendError, match=words):
        lab.attention(*drawn(8, *[(2, 4, 8)] * 3), backend=backend)


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("backend", ["torch-cuda", *CUDA])
@pytest.mark.parametrize("is_causal", [False, True])
def test_on_cuda_it_is_the_reference(backend: str, dtype: str, is_causal: bool) -> None:
    shapes = ((2, 8, 96, 64), (2, 8, 128, 64), (2, 8, 128, 64))
    tensors = [torch.from_numpy(x).to("cuda", getattr(torch, dtype)) for x in drawn(12, *shapes)]
    try:
        output, ran = lab.attention(*tensors, is_causal=is_causal, backend=backend)
    except lab.BackendError as error:
        if dtype == "float32":
            pytest.skip(str(error))
        raise
    assert (output.device, output.dtype, ran.device) == (tensors[0].device, tensors[0].dtype, "cuda")
    assert ran.backend == (backend.partition(":")[2] or ran.backend)
    expected = exact([x.double().cpu().numpy() for x in tensors], is_causal=is_causal)
    # float32 may be multiplied as tf32
    bound = {"float16": 3e-3, "bfloat16": 3e-2, "float32": 3e-3}[dtype]
    assert np.abs(output.double().cpu().numpy() - expected).max() < bound


@pytest.mark.cuda
@pytest.mark.parametrize("backend", ["torch-cuda", *CUDA])
def test_on_cuda_masks_and_groups_hold_or_are_refused_in_words(backend: str) -> None:
    shapes = ((2, 8, 64, 64), (2, 2, 64, 64), (2, 2, 64, 64))
    tensors = [torch.from_numpy(x).to("cuda", torch.float16) for x in drawn(13, *shapes)]
    mask = np.random.default_rng(0).random((64, 64)) < 0.5
    mask[5] = False
    for seen in (None, mask):
        try:
            output, _ = lab.attention(*tensors, mask=seen, backend=backend)
        except lab.BackendError as error:
            assert str(error).startswith(f"backend {backend} cannot run: ")
            continue
        expected = exact([x.double().cpu().numpy() for x in tensors], mask=seen)
        assert np.abs(output.double().cpu().numpy() - expected).max() < 3e-3


@pytest.mark.cuda
def test_on_cuda_arrays_go_there_and_come_back() -> None:
    arrays = drawn(14, *[(2, 4, 64, 64)] * 3, dtype=np.float16)
    output, ran = lab.attention(*arrays)
    assert (type(output), output.dtype, ran.device) == (np.ndarray, np.float16, "cuda")
    assert np.abs(output - exact(arrays)).max() < 3e-3
