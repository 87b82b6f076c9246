"""Attention on CUDA. Tests that need a device are skipped if there is none."""

from __future__ import annotations

import numpy as np
import pytest

from blogsmith import lab
from blogsmith.lab.scaled_dot_product import BACKENDS

from .inputs import drawn, error_of, exact, on_cuda

torch = pytest.importorskip("torch", reason="torch is not installed; `make test-torch` has it")

BOUNDS = {"float16": 3e-3, "bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-12}
CUDA = ("torch-cuda:flash", "torch-cuda:efficient", "torch-cuda:cudnn", "torch-cuda:math")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize("backend", [name for name in BACKENDS if name.startswith("torch-cuda")])
def test_cuda_where_there_is_none(backend: str) -> None:
    why = "(is built without CUDA|sees no CUDA device)"
    words = f"^backend {backend} cannot run: it needs CUDA, and torch .* {why}$"
    with pytest.raises(lab.BackendError, match=words):
        lab.attention(*drawn(8, *[(2, 4, 8)] * 3), backend=backend)


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("backend", ["torch-cuda", *CUDA])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(("n", "m"), [(128, 128), (96, 128), (128, 96), (1, 128), (77, 77)])
def test_on_cuda_it_is_the_reference(backend: str, dtype: str, is_causal: bool, n: int, m: int) -> None:
    tensors = on_cuda(12, (2, 8, n, 64), (2, 8, m, 64), (2, 8, m, 64), dtype=dtype)
    if why := refused(backend, dtype, skewed=is_causal and n != m):
        with pytest.raises(lab.BackendError, match=rf"^backend {backend} cannot run: .*{why}"):
            lab.attention(*tensors, is_causal=is_causal, backend=backend)
        return
    output, ran = lab.attention(*tensors, is_causal=is_causal, backend=backend)
    assert (output.device, output.dtype, ran.device) == (tensors[0].device, tensors[0].dtype, "cuda")
    assert ran.backend == (backend.partition(":")[2] or ran.backend)
    assert error_of(output, tensors, is_causal=is_causal) < BOUNDS[dtype]


def refused(backend: str, dtype: str, *, skewed: bool) -> str:
    """Return the text of the first reason for which torch rejects the input; empty if it accepts it."""
    if backend.endswith(":flash") and skewed:
        return "seqlen_q != seqlen_k"
    half_only = backend.endswith((":flash", ":cudnn")) and dtype in ("float32", "float64")
    return "to all be of dtype" if half_only or (backend, dtype) == (CUDA[1], "float64") else ""


MASKS = [(64, 96), (1, 96), (64, 1), (96,), (1,), (2, 1, 64, 96), (1, 8, 64, 96), (2, 8, 1, 1)]


@pytest.mark.cuda
@pytest.mark.parametrize(
    "backend", ["torch-cuda", "torch-cuda:efficient", "torch-cuda:cudnn", "torch-cuda:math"]
)
@pytest.mark.parametrize("key_heads", [1, 2, 8])
@pytest.mark.parametrize("mask", MASKS)
def test_on_cuda_masks_of_every_shape_hold(backend: str, key_heads: int, mask: tuple[int, ...]) -> None:
    tensors = on_cuda(13, (2, 8, 64, 64), (2, key_heads, 96, 64), (2, key_heads, 96, 64))
    rng = np.random.default_rng(0)
    seen = rng.random(mask) < 0.6
    if len(mask) > 1 and mask[-2] > 5:
        # A query that may attend to nothing.
        seen[..., 5, :] = False
    added = np.where(seen, rng.normal(size=mask), -np.inf).astype(np.float16)
    for given in (seen, added, torch.from_numpy(np.asarray(added)).to("cuda")):
        for is_causal in (False, True):
            try:
                output, _ = lab.attention(*tensors, mask=given, is_causal=is_causal, backend=backend)
            except lab.BackendError:
                # The masks that cuDNN accepts change with its version.
                assert backend.endswith(":cudnn")
                continue
            array = given if isinstance(given, np.ndarray) else given.cpu().numpy()
            assert error_of(output, tensors, mask=array, is_causal=is_causal) < 3e-3


@pytest.mark.cuda
def test_on_cuda_flash_refuses_masks_in_one_sentence() -> None:
    tensors = on_cuda(13, *[(1, 2, 64, 64)] * 3)
    with pytest.raises(lab.BackendError) as raised:
        lab.attention(*tensors, mask=np.tri(64, dtype=bool), backend="torch-cuda:flash")
    assert str(raised.value) == (
        "backend torch-cuda:flash cannot run: Flash Attention does not support non-null attn_mask."
    )


@pytest.mark.cuda
@pytest.mark.parametrize("backend", ["torch-cuda", *CUDA])
@pytest.mark.parametrize("key_heads", [1, 2, 4])
@pytest.mark.parametrize("grad", [False, True])
def test_on_cuda_groups_hold(backend: str, key_heads: int, grad: bool) -> None:
    tensors = on_cuda(14, (2, 8, 128, 64), (2, key_heads, 128, 64), (2, key_heads, 128, 64))
    for x in tensors:
        x.requires_grad_(grad)
    output, ran = lab.attention(*tensors, is_causal=True, backend=backend)
    assert ran.backend == (backend.partition(":")[2] or ran.backend)
    assert error_of(output, tensors, is_causal=True) < 3e-3
    if grad:
        output.float().square().sum().backward()
        assert all(x.grad.isfinite().all() and x.grad.abs().sum() > 0 for x in tensors)


# Head sizes that are not a multiple of 8, too large, or 1.
@pytest.mark.cuda
@pytest.mark.parametrize("backend", ["torch-cuda", *CUDA])
@pytest.mark.parametrize("d", [1, 5, 8, 40, 128, 192, 256, 264, 512])
def test_on_cuda_every_width_holds_or_is_refused_in_words(backend: str, d: int) -> None:
    tensors = on_cuda(15, *[(1, 4, 128, d)] * 3)
    try:
        output, _ = lab.attention(*tensors, backend=backend)
    except lab.BackendError as error:
        assert backend != "torch-cuda" and not backend.endswith(":math")
        assert "No available kernel" not in str(error) and "disabled" not in str(error)
        return
    assert error_of(output, tensors) < 3e-3
    assert not (backend.endswith(":flash") and d > 256)


@pytest.mark.cuda
@pytest.mark.parametrize("backend", ["torch-cuda", *CUDA])
def test_on_cuda_tensors_of_every_layout_hold(backend: str) -> None:
    rows = on_cuda(16, *[(2, 128, 8, 64)] * 3)
    gaps = on_cuda(17, *[(2, 8, 64, 128)] * 3)
    wide = on_cuda(18, *[(2, 8, 128, 65)] * 3)
    one = on_cuda(19, (2, 8, 128, 64), (2, 1, 128, 64), (128, 64))
    layouts = [
        [x.transpose(1, 2) for x in rows],
        [x.mT for x in gaps],
        # The first number is not aligned to 16 bytes.
        [x[..., 1:] for x in wide],
        one,
        [x[0] for x in gaps],
    ]
    for tensors in layouts:
        output, _ = lab.attention(*tensors, backend=backend)
        assert error_of(output, tensors) < 3e-3


@pytest.mark.cuda
def test_on_cuda_arrays_go_there_and_come_back() -> None:
    arrays = drawn(14, *[(2, 4, 64, 64)] * 3, dtype=np.float16)
    output, ran = lab.attention(*arrays)
    assert (type(output), output.dtype, ran.device) == (np.ndarray, np.float16, "cuda")
    assert np.abs(output - exact(arrays)).max() < 3e-3
