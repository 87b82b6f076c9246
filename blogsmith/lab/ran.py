"""Proves which backend ran, from the names of executed operators and kernels, never from settings.

Settings only report what would be allowed: `torch.backends.cuda.flash_sdp_enabled()` is true in a build
without CUDA, and `torch._fused_sdp_choice` returns flash for a CPU. Names of executed operators come from two
sources. torch's dispatcher sees every operator of a call and costs microseconds. The profiler also sees CUDA
kernels and costs a millisecond.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_FUSED = re.compile(r"aten::_scaled_dot_product_(?:(\w+?)_attention\w*|attention_(math)\w*)$")
"""Matches operators that compute a whole attention: `…_flash_attention_for_cpu`, `…_efficient_attention`,
`…_cudnn_attention`, `…_attention_math`. `…_fused_attention_overrideable`, which other devices use, is
reported as `fused`."""

_STEPS = frozenset(
    f"aten::{name}" for name in ("_softmax", "_safe_softmax", "softmax", "mm", "bmm", "matmul", "einsum")
)
"""Operators that compute attention step by step, if no single operator does."""

_UNTOLD = frozenset(("own", "none", "numpy"))

_PACKAGE = ("flash_attn::", "flash_attn.", "flash_attn_")
"""Prefixes of operators of the package flash-attn. Its kernels start with `flash::`, those of torch with
`pytorch_flash::`."""


class BackendError(RuntimeError):
    """Error of a backend that cannot run here, or not with these inputs. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class Ran:
    """Backend that computed an attention, with the proof of this."""

    backend: str
    """`numpy`, `flash`, `efficient`, `cudnn`, `math` or `flash-attn`. `none` if there was nothing to compute.
    `own` if no attention of torch was seen: NumPy, or an implementation in single steps."""
    device: str
    """`cpu` or `cuda`."""
    operators: tuple[str, ...] = ()
    """Names of the operators that prove which backend ran, most significant first, such as
    `aten::_scaled_dot_product_flash_attention_for_cpu`. Empty for `numpy`."""
    kernels: tuple[str, ...] = ()
    """Names of the CUDA kernels without template arguments, if the profiler was used."""

    def __str__(self) -> str:
        where = {"cpu": "the CPU", "cuda": "CUDA"}.get(self.device, self.device)
        names = ", ".join((*self.operators, *self.kernels))
        return f"{self.backend} on {where}" + (f" ({names})" if names else "")


def tell(device: str, backend: str, operators: Sequence[str]) -> None:
    """Raise the audit event `blogsmith.lab.ran`, so that the page can show what ran.

    No event is raised without operators, or if no backend of torch or flash-attn ran.

    operators: names of the operators that prove what ran.
    """
    if operators and backend not in _UNTOLD:
        sys.audit("blogsmith.lab.ran", device, backend, operators[0])


def ran_by_names(
    names: Iterable[str], device: str, kernels: Iterable[str] = (), *, sdpa: bool = False
) -> Ran:
    """Determine what ran from the names of operators in order.

    sdpa: the names come from a call of torch's attention, so single steps mean its math backend.
    """
    seen = tuple(dict.fromkeys(names))
    if len(seen) == 1 and not kernels and (match := _FUSED.match(seen[0])):
        # the most common case, in a third of the time
        return Ran(match[1] or match[2], device, seen)
    launched = tuple(dict.fromkeys(kernels))
    package = tuple(name for name in seen if name.startswith(_PACKAGE))
    if package:
        return Ran("flash-attn", device, package, launched)
    fused = [(match[1] or match[2], name) for name in seen if (match := _FUSED.match(name))]
    # The math operator may call a fused one inside, but never the reverse.
    fused.sort(key=lambda pair: pair[0] == "math")
    if fused:
        backend = fused[0][0]
        return Ran(backend, device, tuple(name for word, name in fused if word == backend), launched)
    # The softmax is more significant than the products.
    steps = tuple(sorted((name for name in seen if name in _STEPS), key=lambda name: "softmax" not in name))
    if sdpa:
        return Ran("math" if steps else "none", device, steps, launched)
    return Ran("own", device, steps, launched)


def profiled(call: Callable[[], Any]) -> Ran:
    """Determine what ran in `call()` with torch's profiler: operators, and kernels if CUDA was used.

    The call is made once. The profiler costs a millisecond and its first use a second, so do not use this
    for timing. Without torch, the result is `own`.
    """
    if find_spec("torch") is None:
        call()
        return Ran("own", "cpu")
    torch: Any = import_module("torch")
    activity: Any = import_module("torch.profiler").ProfilerActivity
    # Tracing CUDA would start it, and a computation on the CPU should not be reported as using it.
    wanted = [activity.CPU, *([activity.CUDA] if torch.cuda.is_initialized() else [])]
    before = _allocations(torch)
    # torch 2.11 warns, also on the page, that events of other cycles are lost; there is only one cycle.
    with without_profiler_lines(), torch.profiler.profile(activities=wanted, acc_events=True) as profile:
        call()
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
    events = [(event.name, event.device_type.name == "CUDA") for event in profile.events()]
    operators = [name for name, is_kernel in events if not is_kernel]
    kernels = [kernel_name(name) for name, is_kernel in events if is_kernel and not name.startswith("Mem")]
    # If kernels cannot be traced, memory allocated for their output shows that they ran.
    on_cuda = kernels or _allocations(torch) > before
    return ran_by_names(operators, "cuda" if on_cuda else "cpu", kernels)


def _allocations(torch: Any) -> int:
    """Return how many allocations were made on all devices so far."""
    if not torch.cuda.is_initialized():
        return 0
    devices = range(torch.cuda.device_count())
    return sum(int(torch.cuda.memory_stats(n).get("allocation.all.allocated", 0)) for n in devices)


def kernel_name(demangled: str) -> str:
    """Return the name of a kernel without result type, template arguments and parameters.

    All CUTLASS kernels have the same name; the name of their first template argument is used instead.
    """
    plain = demangled.replace("(anonymous namespace)::", "").removeprefix("void ")
    plain = re.sub(r"^cutlass::\w+<(?=[A-Za-z_])", "", plain)
    return re.split(r"[<(,>]", plain, maxsplit=1)[0].strip()


@contextmanager
def without_profiler_lines() -> Iterator[None]:
    """In the `with` block, drop two lines that the profiler writes to the C-level stderr. Other output there
    is delayed."""
    try:
        kept: Any = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
        original = os.dup(2)
    except OSError:  # no stderr, or no folder for temporary files: two extra lines do no harm
        yield
        return
    if sys.stderr is not None:
        sys.stderr.flush()
    os.dup2(kept.fileno(), 2)
    try:
        yield
    finally:
        if sys.stderr is not None:
            sys.stderr.flush()
        os.dup2(original, 2)
        os.close(original)
        with kept:
            kept.seek(0)
            _pass_on(kept)


def _pass_on(lines: Iterable[bytes]) -> None:
    for line in lines:
        if not line.startswith(b"USDT:"):
            os.write(2, line)
