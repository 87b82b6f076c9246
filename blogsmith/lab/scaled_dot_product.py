"""Scaled dot-product attention with one signature for every backend.

The name of a backend gives the device and, after a colon, a kernel to force. The result names the kernel that
ran. The audit event `blogsmith.lab.ran` reports this kernel too, so that the page can show it.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from . import flash_package, reference
from .ran import BackendError as BackendError
from .ran import Ran, tell
from .shapes import Sizes, check_mask, check_types, is_tensor, sizes

BACKENDS = (
    "auto",
    "numpy",
    "torch",
    "torch:flash",
    "torch:math",
    "torch-cuda",
    "torch-cuda:flash",
    "torch-cuda:efficient",
    "torch-cuda:cudnn",
    "torch-cuda:math",
    "flash-attn",
)


class Attended(NamedTuple):
    """Result of `attention`."""

    output: Any
    """Array of shape (…, n, d_v), of the same kind, dtype and device as q."""
    ran: Ran


def attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    is_causal: bool = False,
    mask: Any = None,
    scale: float | None = None,
    backend: str = "auto",
) -> Attended:
    """Compute scaled dot-product attention, softmax(scale · q kᵀ) v, and report what ran.

    q (…, n, d_k), k (…, m, d_k), v (…, m, d_v) → (…, n, d_v), NumPy arrays or torch tensors of one
    floating-point type. Leading axes broadcast. Axis −3 is the axis of heads. q may have g times the heads
    of k and v (grouped-query attention): its heads 0 … g−1 use head 0 of k and v, the next g use head 1, and
    so on. A query without visible keys gives 0.

    mask: boolean (True: visible) or added to the scores; broadcast to (…, n, m).
    is_causal: query i sees the keys 0 … i, even if n ≠ m; combined with a mask, which torch receives as a
        single mask.
    scale: factor of the scores; 1/√d_k if None.
    backend: `auto` uses torch for tensors, on their device. For arrays it uses the best of CUDA, torch and
        NumPy. Other names choose the device; inputs are moved there and the output is moved back. Names such
        as `torch:flash` force a backend of torch; without a colon, torch chooses. `numpy` is the reference
        and has no gradients.

    Raises `ValueError` or `TypeError` for invalid inputs, and `BackendError` if the backend cannot run.
    Source: Vaswani et al. 2017, eq. (1).
    """
    attended = attended_by(backend, q, k, v, is_causal=is_causal, mask=mask, scale=scale)
    ran = attended.ran
    tell(ran.device, ran.backend, ran.operators)
    return attended


def attended_by(
    backend: str,
    q: Any,
    k: Any,
    v: Any,
    *,
    is_causal: bool = False,
    mask: Any = None,
    scale: float | None = None,
) -> Attended:
    """Compute `attention` without notifying audit hooks, to try out what can run."""
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}; there are {', '.join(BACKENDS)}")
    if not (is_tensor(q) and is_tensor(k) and is_tensor(v)):
        q, k, v = (x if is_tensor(x) else np.asarray(x) for x in (q, k, v))
    check_types(q, k, v)
    size = sizes(q.shape, k.shape, v.shape)
    if mask is not None:
        mask = mask if is_tensor(mask) else np.asarray(mask)
        check_mask(mask, size)
    options = {"is_causal": is_causal, "mask": mask, "scale": scale}
    if backend == "auto":
        backend = _best_for(q)
    return _numpy(q, k, v, size, options) if backend == "numpy" else _torch(backend, q, k, v, size, options)


def _best_for(q: Any) -> str:
    """Choose the backend for `auto`. For a tensor the result is `auto`, which means the tensor's device."""
    if is_tensor(q):
        return "auto"
    try:
        torch = _loaded()
    except BackendError:
        return "numpy"
    return "torch-cuda" if torch.cuda.is_available() else "torch"


def _numpy(q: Any, k: Any, v: Any, size: Sizes, options: dict[str, Any]) -> Attended:
    mask = None if options["mask"] is None else _array(options["mask"])
    output: Any = reference.computed(_array(q), _array(k), _array(v), size, **{**options, "mask": mask})
    if is_tensor(q):
        output = import_module("torch").from_numpy(output).to(q.device, q.dtype)
    return Attended(output, Ran("numpy", "cpu"))


def _array(x: Any) -> Any:
    if not is_tensor(x):
        return x
    if x.requires_grad and import_module("torch").is_grad_enabled():
        raise ValueError("backend numpy keeps no gradients; hand in detached tensors: q.detach()")
    # NumPy has no bfloat16
    known = str(x.dtype).removeprefix("torch.") in ("bool", "float16", "float32", "float64")
    return (x if known else x.float()).detach().cpu().numpy()


def _torch(backend: str, q: Any, k: Any, v: Any, size: Sizes, options: dict[str, Any]) -> Attended:
    try:
        if backend == "flash-attn":
            # first of all: without the package, other errors do not matter
            flash_package.loaded()
        device = _device(backend, q)
        from . import torch_backends as by_torch

        here = (by_torch.tensor(q, device), by_torch.tensor(k, device), by_torch.tensor(v, device))
        if backend == "flash-attn":
            output, ran = by_torch.attend_by_package(*here, size, **options)
        else:
            output, ran = by_torch.attend(*here, size, **options, choice=backend.partition(":")[2])
    except BackendError as error:
        raise BackendError(f"backend {backend} cannot run: {error}") from None
    # With autocast, torch returns half precision for any input.
    if output.dtype != here[0].dtype:
        output = output.to(here[0].dtype)
    if not is_tensor(q):
        return Attended(output.detach().cpu().numpy(), ran)
    return Attended(output if output.device == q.device else output.to(q.device), ran)


def _device(backend: str, q: Any) -> Any:
    """Return the device of a backend. Raises `BackendError` if it is missing."""
    torch = _loaded()
    if backend == "auto":
        return q.device
    if backend.partition(":")[0] == "torch":
        return "cpu"
    if not torch.cuda.is_available():
        why = "sees no CUDA device" if torch.version.cuda else "is built without CUDA"
        raise BackendError(f"it needs CUDA, and torch {torch.__version__} {why}")
    return q.device if is_tensor(q) and q.is_cuda else "cuda"


def _loaded() -> Any:
    """Return torch. Raises `BackendError` if it is absent or broken."""
    try:
        return import_module("torch")
    except (ImportError, OSError) as error:
        if find_spec("torch") is None:
            why = "it needs torch, which is not installed in this Python: python -m pip install torch"
        else:
            why = "it needs torch, which cannot be imported: " + str(error).split("\n", 1)[0]
        raise BackendError(why) from None
