"""Scaled dot-product attention of torch, on the CPU and on CUDA. Either torch chooses the backend or one is
forced.

This module imports torch, so import it only where torch is needed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from . import flash_package
from .ran import BackendError, Ran, ran_by_names
from .shapes import Sizes

torch: Any = import_module("torch")
_attention: Any = import_module("torch.nn.attention")
_dispatch: Any = import_module("torch.utils._python_dispatch")

CHOICES = MappingProxyType(
    {
        "flash": _attention.SDPBackend.FLASH_ATTENTION,
        "efficient": _attention.SDPBackend.EFFICIENT_ATTENTION,
        "cudnn": _attention.SDPBackend.CUDNN_ATTENTION,
        "math": _attention.SDPBackend.MATH,
    }
)

_FREE: Any = nullcontext()
_REFUSALS = ("No available kernel", "No viable backend", "cuDNN Frontend error")
"""Starts of the messages with which torch rejects a forced backend."""


_NO_REASONS = ("not used because:", "has been runtime disabled.")


class Watch(_dispatch.TorchDispatchMode):  # type: ignore[misc] # torch is not there when types are checked
    """Recorder of the operators that the dispatcher executes."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: otherwise torch would wrap each call below against its compiler, at 5 µs."""
        return False

    def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = operator._schema.name
        self.names.append(name)
        if name == "aten::scaled_dot_product_attention":
            # In inference mode, this operator arrives undecomposed; the chosen operator is inside.
            with self:
                return operator.decompose(*args, **(kwargs or {}))
        return operator(*args, **(kwargs or {}))


def attend(
    q: Any, k: Any, v: Any, size: Sizes, *, mask: Any, is_causal: bool, scale: float | None, choice: str = ""
) -> tuple[Any, Ran]:
    """Compute torch's attention of tensors on one device. Return the output and what ran.

    The fused backends need four axes and equal leading axes. Inputs are converted first, without copies if
    torch can avoid them.

    choice: backend to force; empty if torch chooses.

    Raises `BackendError` with torch's reasons if it rejects the forced backend.
    """
    q4, k4, v4 = four_axes(q, size.lead), four_axes(k, size.lead_of_keys), four_axes(v, size.lead_of_keys)
    if q.device.type != "cpu":
        q4, k4, v4 = map(laid_out, (q4, k4, v4))
    seen = None if mask is None else _joined_mask(mask, is_causal, q, size)
    extra = {"enable_gqa": True} if size.groups > 1 else {}
    if extra and (choice == "efficient" or (not choice and q.is_cuda and q.dtype == torch.float32)):
        # `efficient` does not support groups and is the only fused CUDA kernel for float32: torch would
        # store all scores.
        k4, v4, extra = (*(x.repeat_interleave(size.groups, dim=1) for x in (k4, v4)), {})
    with _forced(choice) if choice else _FREE, Watch() as watch:
        output = torch.nn.functional.scaled_dot_product_attention(
            q4, k4, v4, attn_mask=seen, is_causal=is_causal and seen is None, scale=scale, **extra
        )
    if seen is not None and q.device.type != "cpu":
        output = _emptied(output, seen)
    if len(size.lead) != 2:
        output = output.reshape(*size.lead, size.n, size.d_v)
    return output, ran_by_names(watch.names, q.device.type, sdpa=True)


def attend_by_package(
    q: Any, k: Any, v: Any, size: Sizes, *, mask: Any, is_causal: bool, scale: float | None
) -> tuple[Any, Ran]:
    """Compute attention with the package flash-attn.

    Raises `BackendError` if it is absent or rejects the inputs.
    """
    q4, k4, v4 = four_axes(q, size.lead), four_axes(k, size.lead_of_keys), four_axes(v, size.lead_of_keys)
    with Watch() as watch:
        output = flash_package.attend(q4, k4, v4, size, mask=mask, is_causal=is_causal, scale=scale)
    # Older versions bypass torch's dispatcher; then the name of their function is the only proof.
    ran = ran_by_names([*watch.names, "flash_attn.flash_attn_func"], q.device.type)
    return output.reshape(*size.lead, size.n, size.d_v), ran


def four_axes(x: Any, lead: tuple[int, ...]) -> Any:
    """Return `x` broadcast to these leading axes, as (batch, heads, rows, columns)."""
    if x.ndim == 4 and tuple(x.shape[:-2]) == lead:
        return x
    rows, columns = x.shape[-2:]
    heads = lead[-1] if lead else 1
    batch = int(np.prod(lead[:-1], dtype=np.int64))
    return x.expand(*lead, rows, columns).reshape(batch, heads, rows, columns)


def laid_out(x: Any) -> Any:
    """Return `x` in the layout that CUDA kernels need: no gaps in the last axis, rows at multiples of 16
    bytes.

    The fused backends reject gaps. Some check the 16 bytes and reject the input, others read on. For
    broadcast keys together with a mask, wrong results are reported: pytorch/pytorch#191937.
    """
    steps, width = x.stride(), x.element_size()
    starts = (x.storage_offset(), *(() if x.is_contiguous() else steps[:-1]))
    is_plain = steps[-1] == 1 and 0 not in steps and not any(start * width % 16 for start in starts)
    return x if is_plain else x.clone(memory_format=torch.contiguous_format)


def tensor(x: Any, device: Any) -> Any:
    """Return an array or tensor as a tensor on a device, without a copy if possible."""
    if not isinstance(x, torch.Tensor):
        x = np.asarray(x)
        # torch accepts no negative strides and no non-native byte orders, and warns about read-only arrays.
        # Its fused backends need a last axis without gaps.
        plain = x.flags.writeable and x.dtype.isnative and min(x.strides, default=0) >= 0
        if not plain or x.strides[-1:] not in ((), (x.itemsize,)):
            x = x.astype(x.dtype.newbyteorder("="), order="C")
        x = torch.from_numpy(x)
    here = x.device
    # usually there is nothing to do; device is a torch.device or the name of a kind
    return x if here == device or here.type == device else x.to(device)


def _joined_mask(mask: Any, is_causal: bool, q: Any, size: Sizes) -> Any:
    """Return one additive mask with four axes: torch accepts either a mask or `is_causal`, and adds booleans
    too.

    It is created here, since torch would create it while `Watch` records, at three times the cost.
    """
    seen = tensor(mask, q.device)
    if seen.dtype == torch.bool:
        seen = torch.zeros(seen.shape, dtype=q.dtype, device=q.device).masked_fill_(~seen, -torch.inf)
    seen = seen.to(q.dtype)
    if is_causal:
        causal = torch.ones(size.n, size.m, dtype=torch.bool, device=q.device).tril()
        seen = seen.masked_fill(~causal, -torch.inf)
    if q.device.type != "cpu":
        seen = full_rows(seen, size.m)
    if len(size.lead) <= 2 or seen.ndim <= 2:
        return seen[(None,) * (4 - seen.ndim)]
    shape = (1,) * (len(size.lead) + 2 - seen.ndim) + tuple(seen.shape)
    if all(axis == 1 for axis in shape[:-3]):
        return seen.reshape(1, *shape[-3:])
    return seen.expand(*size.lead[:-1], *shape[-3:]).reshape(-1, *shape[-3:])


def full_rows(mask: Any, m: int) -> Any:
    """Return a mask with an expanded last axis. CUDA kernels accept broadcasting in the other axes."""
    return mask.expand(*mask.shape[:-1], m).contiguous() if mask.shape[-1:] != (m,) else mask.contiguous()


def _emptied(output: Any, seen: Any) -> Any:
    """Set the output to 0 for queries without visible keys, because kernels differ there and some return
    NaN."""
    return output.masked_fill((seen == -torch.inf).all(dim=-1, keepdim=True), 0)


@contextmanager
def _forced(choice: str) -> Iterator[None]:
    """In the `with` block, allow only one backend. If torch rejects it, raise `BackendError` with the
    warnings that explain this."""
    if not choice:
        yield
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with _attention.sdpa_kernel(CHOICES[choice]):
                yield
        except RuntimeError as error:
            if not str(error).startswith(_REFUSALS):
                raise
            raise BackendError(_reasons([str(w.message) for w in caught], str(error))) from None
    for warning in caught:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def _reasons(said: list[str], error: str) -> str:
    """Return torch's reasons for rejecting the requested backend, without lines about C++ files.

    On CUDA, torch lists all backends under headings. About backends that were not requested, it only reports
    that they are disabled.
    """
    plain = (re.sub(r"\s*\(Triggered internally at .*?\)\s*$", "", text, flags=re.DOTALL) for text in said)
    reasons = [text.strip() for text in plain if not text.rstrip().endswith(_NO_REASONS)]
    return " ".join(dict.fromkeys(reasons)) or error.split("\n", 1)[0].strip()
