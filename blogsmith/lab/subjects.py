"""Subjects of comparisons and timings: named backends and the author's functions, with their inputs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from .devices import present_backends
from .precision import rounded
from .ran import BackendError, Ran, profiled
from .scaled_dot_product import Attended, attended_by

Function = Callable[..., Any]
"""Function f(q, k, v) → output, or (output, what ran) as returned by `attention`."""
Backends = str | Mapping[str, Function] | Sequence[str | Mapping[str, Function]]
KINDS: Mapping[str, str] = MappingProxyType(
    {"numpy": "NumPy arrays", "torch": "torch tensors on the CPU", "torch-cuda": "torch tensors on CUDA"}
)
"""Kinds of input arrays."""
_HALF = ("float32", "float16", "bfloat16")
_HALF_ONLY = frozenset({"torch-cuda:flash", "torch-cuda:cudnn", "flash-attn"})


@dataclass(frozen=True, slots=True)
class Subject:
    """Backend or function of the author that is compared or timed."""

    name: str
    kind: str
    """Kind of its input arrays: a key of `KINDS`."""
    function: Function | None = None
    """Function of the author; None for a backend of `attention`."""

    def dtypes(self) -> tuple[str, ...]:
        """Return the precisions that the subject is made for."""
        if self.kind == "numpy":
            return ("float32", "float64")
        return _HALF[1:] if self.name in _HALF_ONLY else _HALF

    def call(self, q: Any, k: Any, v: Any, **options: Any) -> Any:
        """Compute the output, or the result of `attention`, without notifying audit hooks.

        options: options of `attention`; functions must handle them on their own.
        """
        if self.function is not None:
            return self.function(q, k, v)
        return attended_by(self.name, q, k, v, **options)


def proved(subject: Subject, q: Any, k: Any, v: Any, **options: Any) -> tuple[Any, Ran]:
    """Make one call under the profiler. Return the output of the call and what ran. Raises `BackendError`."""
    given: list[Any] = []

    def call() -> None:
        given.append(subject.call(q, k, v, **options))

    ran = Ran("own", "cpu")
    if subject.kind == "numpy" and "torch" not in sys.modules:
        call()
    # Loading torch takes a second, and code that has not loaded torch has not used it.
    if "torch" in sys.modules or not given:
        ran = profiled(call)
    found = given[-1]
    if not isinstance(found, Attended):
        return found, ran
    if ran.backend == "own":
        return found.output, replace(found.ran, kernels=ran.kernels)
    # If CUDA cannot be traced, the profiler sees only operators.
    return found.output, replace(ran, device=found.ran.device)


def subjects(backends: Backends | None, kind: str) -> tuple[Subject, ...]:
    """Return the named subjects, or all backends available here.

    Raises `ValueError` if nothing is named, or if a name occurs twice.

    kind: kind of input arrays for functions of the author.
    """
    chosen = present_backends() if backends is None else backends
    found: list[Subject] = []
    for item in [chosen] if isinstance(chosen, str | Mapping) else chosen:
        if isinstance(item, str):
            found.append(Subject(item, _kind_of(item, kind)))
        else:
            found += [Subject(name, kind, function) for name, function in item.items()]
    names = [subject.name for subject in found]
    if not names:
        raise ValueError("backends is empty: name some, or leave it out for all that are present")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"backends has two of the name {', '.join(twice)}")
    return tuple(found)


def _kind_of(backend: str, kind: str) -> str:
    if backend == "auto":
        return kind
    if backend.startswith(("torch-cuda", "flash-attn")):
        return "torch-cuda"
    return "torch" if backend.startswith("torch") else "numpy"


def kind_of_arrays(*arrays: Any) -> str:
    """Return the key of `KINDS` for the first array."""
    device = getattr(arrays[0], "device", None)
    if hasattr(arrays[0], "detach"):
        return "torch-cuda" if getattr(device, "type", "") == "cuda" else "torch"
    return "numpy"


def from_arrays(x: Any) -> Any:
    """Return an array or a tensor on any device as NumPy. bfloat16 becomes float32, without loss."""
    if not hasattr(x, "detach"):
        return np.asarray(x)
    x = x.detach().cpu()
    return (x.float() if str(x.dtype) == "torch.bfloat16" else x).numpy()


def as_given(x: Any, kind: str, dtype: str) -> Any:
    """Convert a NumPy array to the kind `kind` with dtype `dtype`; booleans stay booleans.

    Raises `BackendError` if that is impossible.
    """
    x = np.asarray(x)
    wanted = "bool" if x.dtype == bool else dtype
    if kind == "numpy":
        if dtype == "bfloat16":
            raise BackendError("NumPy has no bfloat16")
        return x.astype(wanted)
    torch = torch_for(kind)
    device = "cuda" if kind == "torch-cuda" else "cpu"
    held = x if wanted == "bool" else rounded(x, dtype)
    return torch.from_numpy(np.ascontiguousarray(held)).to(device, getattr(torch, wanted))


def torch_for(kind: str) -> Any:
    """Return torch. Raises `BackendError` if torch or the device of `kind` is missing."""
    try:
        torch: Any = import_module("torch")
    except ImportError:
        raise BackendError("torch is not installed in this Python: python -m pip install torch") from None
    if kind == "torch-cuda" and not torch.cuda.is_available():
        raise BackendError(f"torch {torch.__version__} sees no CUDA device")
    return torch
