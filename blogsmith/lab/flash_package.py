"""The package flash-attn, where it is installed: the one place that imports it.

It runs on CUDA only, in half precision, with tensors (batch, rows, heads, columns), and aligns causal masks
at the bottom right. Here it gets and gives what the other backends do.
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
    """Of the installed package, empty if there is none."""
    try:
        return metadata.version("flash-attn") if find_spec("flash_attn") else ""
    except metadata.PackageNotFoundError:
        return "unknown"
    except ValueError:  # a module in sys.modules that says nothing of where it comes from
        return "unknown"


def attend(q: Any, k: Any, v: Any, size: Sizes, *, mask: Any, is_causal: bool, scale: float | None) -> Any:
    """flash-attn's attention of tensors (b, h, n, d); k and v have fewer heads if they are grouped."""
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
        # so it begins what it says of older cards and of heads that are too wide
        if not str(error).startswith("FlashAttention"):
            raise
        raise BackendError(str(error).split("\n", 1)[0]) from None


def _causal(function: Any, q: Any, k: Any, v: Any, *, size: Sizes, scale: float | None) -> Any:
    """Query i sees the keys 0 … i, also where n ≠ m; the package would show the last query the last key."""
    both = min(size.n, size.m)
    square = function(q[:, :both], k[:, :both], v[:, :both], softmax_scale=scale, causal=True)
    if size.n <= size.m:
        return square
    rest = function(q[:, both:], k, v, softmax_scale=scale, causal=False)
    torch: Any = import_module("torch")
    return torch.cat([square, rest], dim=1)


def loaded() -> Any:
    """The package's function; BackendError if it is absent or broken."""
    if not version():
        raise BackendError(ABSENT)
    try:
        return import_module("flash_attn").flash_attn_func
    except (ImportError, OSError, AttributeError) as error:
        # a build for another torch fails when its library is loaded, with the mangled name of a symbol
        said = str(error).split("\n", 1)[0]
        raise BackendError(
            f"the package flash-attn cannot be imported, perhaps it was built for another torch: {said}"
        ) from None
