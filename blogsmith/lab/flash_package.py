"""Wrapper of the package flash-attn. No other module imports that package, which may be missing.

The package runs only on CUDA and in half precision, with tensors of shape (batch, rows, heads, columns), and
aligns causal masks at the bottom right. This module has the same conventions as the other backends.
"""

from __future__ import annotations

from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

from .ran import BackendError
from .shapes import Sizes

ABSENT = (
    "the package flash-attn, FlashAttention's own kernels, is not installed in this Python; where there is "
    "an NVIDIA GPU and a torch with CUDA, python -m pip install flash-attn --no-build-isolation gets it; "
    "torch-cuda:flash runs the same algorithm without it"
)


def version() -> str:
    """Return the version of the installed package. Empty if there is none."""
    try:
        return metadata.version("flash-attn") if find_spec("flash_attn") else ""
    except metadata.PackageNotFoundError:
        return "unknown"
    except ValueError:  # a module in sys.modules without information about its origin
        return "unknown"


def attend(q: Any, k: Any, v: Any, size: Sizes, *, mask: Any, is_causal: bool, scale: float | None) -> Any:
    """Compute attention of tensors of shape (b, h, n, d) with flash-attn. With grouped heads, k and v have
    fewer heads than q."""
    function = loaded()
    if mask is not None:
        raise BackendError("flash-attn takes no mask, only is_causal")
    if str(q.dtype) not in ("torch.float16", "torch.bfloat16"):
        raise BackendError(
            f"flash-attn takes float16 and bfloat16; q is {str(q.dtype).removeprefix('torch.')}"
        )
    if size.d_k != size.d_v:
        raise BackendError(f"flash-attn wants d_k = d_v; they are {size.d_k} and {size.d_v}")
    rows = [x.transpose(1, 2) for x in (q, k, v)]
    try:
        if is_causal:
            return _causal(function, *rows, size=size, scale=scale).transpose(1, 2)
        return function(*rows, softmax_scale=scale, causal=False).transpose(1, 2)
    except RuntimeError as error:
        # Error messages about older cards and about heads that are too wide start like this.
        if not str(error).startswith("FlashAttention"):
            raise
        raise BackendError(str(error).split("\n", 1)[0]) from None


def _causal(function: Any, q: Any, k: Any, v: Any, *, size: Sizes, scale: float | None) -> Any:
    """Compute causal attention where query i sees the keys 0 … i, even if n ≠ m.

    The package would align the last query with the last key.
    """
    both = min(size.n, size.m)
    square = function(q[:, :both], k[:, :both], v[:, :both], softmax_scale=scale, causal=True)
    if size.n <= size.m:
        return square
    rest = function(q[:, both:], k, v, softmax_scale=scale, causal=False)
    torch: Any = import_module("torch")
    return torch.cat([square, rest], dim=1)


def loaded() -> Any:
    """Return the package's function. Raises `BackendError` if it is absent or broken."""
    if not version():
        raise BackendError(ABSENT)
    try:
        return import_module("flash_attn").flash_attn_func
    except (ImportError, OSError, AttributeError) as error:
        # A build for another torch fails while its library is loaded, with the mangled name of a symbol.
        said = str(error).split("\n", 1)[0]
        raise BackendError(
            f"the package flash-attn cannot be imported, perhaps it was built for another torch: {said}"
        ) from None
