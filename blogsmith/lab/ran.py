"""What ran: the proof, from the names of operators and kernels, never from switches.

`torch.backends.cuda.flash_sdp_enabled()` is true in a build without CUDA, and `torch._fused_sdp_choice` says
flash for a CPU; both tell what would be allowed. Names of what was executed come from two sources: torch's
dispatcher sees every operator of a call and costs microseconds; the profiler sees the kernels of CUDA too and
costs a millisecond.
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
"""Operators that are attention as a whole: `…_flash_attention_for_cpu`, `…_efficient_attention`,
`…_cudnn_attention`, `…_attention_math`; `…_fused_attention_overrideable`, of other devices, is `fused`."""

_STEPS = frozenset(
    f"aten::{name}" for name in ("_softmax", "_safe_softmax", "softmax", "mm", "bmm", "matmul", "einsum")
)
"""Of which attention is made where no operator is the whole of it."""

_UNTOLD = frozenset(("own", "none", "numpy"))

_PACKAGE = ("flash_attn::", "flash_attn.", "flash_attn_")
"""How operators of the package flash-attn begin; its kernels begin with `flash::`, those of torch with
`pytorch_flash::`."""


class BackendError(RuntimeError):
    """A backend that cannot run here, or not with these inputs; the message says why."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What computed an attention, and how we know."""

    backend: str
    """`numpy`, `flash`, `efficient`, `cudnn`, `math`, `flash-attn`; `none` where there was nothing to
    compute, `own` where no attention of torch was seen: NumPy's, or one written out."""
    device: str
    """`cpu` or `cuda`."""
    operators: tuple[str, ...] = ()
    """Names that prove it, e.g. `aten::_scaled_dot_product_flash_attention_for_cpu`, the most telling first;
    none for `numpy`."""
    kernels: tuple[str, ...] = ()
    """Names of the CUDA kernels, where the profiler looked, without their template arguments."""

    def __str__(self) -> str:
        where = {"cpu": "the CPU", "cuda": "CUDA"}.get(self.device, self.device)
        names = ", ".join((*self.operators, *self.kernels))
        return f"{self.backend} on {where}" + (f" ({names})" if names else "")


def tell(device: str, backend: str, operators: Sequence[str]) -> None:
    """Raise the audit event by which a page learns what ran: `blogsmith.lab.ran`.

    operators: that prove it; without any, and of what is no backend of torch, there is nothing to tell.
    """
    if operators and backend not in _UNTOLD:
        sys.audit("blogsmith.lab.ran", device, backend, operators[0])


def ran_by_names(
    names: Iterable[str], device: str, kernels: Iterable[str] = (), *, sdpa: bool = False
) -> Ran:
    """What ran, from the names of operators in order.

    sdpa: they come from a call of torch's attention, so steps in place of one operator are its math backend.
    """
    seen = tuple(dict.fromkeys(names))
    if len(seen) == 1 and not kernels and (match := _FUSED.match(seen[0])):
        # the usual case, at a third of the time
        return Ran(match[1] or match[2], device, seen)
    launched = tuple(dict.fromkeys(kernels))
    package = tuple(name for name in seen if name.startswith(_PACKAGE))
    if package:
        return Ran("flash-attn", device, package, launched)
    fused = [(match[1] or match[2], name) for name in seen if (match := _FUSED.match(name))]
    # the math operator may call a fused one inside; never the other way round
    fused.sort(key=lambda pair: pair[0] == "math")
    if fused:
        backend = fused[0][0]
        return Ran(backend, device, tuple(name for word, name in fused if word == backend), launched)
    # the softmax tells more than the products
    steps = tuple(sorted((name for name in seen if name in _STEPS), key=lambda name: "softmax" not in name))
    if sdpa:
        return Ran("math" if steps else "none", device, steps, launched)
    return Ran("own", device, steps, launched)


def profiled(call: Callable[[], Any]) -> Ran:
    """What ran in `call()`, from torch's profiler: operators, and kernels where CUDA was used.

    Makes the call once. The profiler costs a millisecond, its first use a second: not for what is timed.
    Without torch nothing of it can have run: `own`.
    """
    if find_spec("torch") is None:
        call()
        return Ran("own", "cpu")
    torch: Any = import_module("torch")
    activity: Any = import_module("torch.profiler").ProfilerActivity
    # to trace CUDA is to start it, and whoever computes on the CPU should not be said to have used it
    wanted = [activity.CPU, *([activity.CUDA] if torch.cuda.is_initialized() else [])]
    before = _allocations(torch)
    # torch 2.11 warns, on the page too, that events of other cycles get lost; there is one
    with without_profiler_lines(), torch.profiler.profile(activities=wanted, acc_events=True) as profile:
        call()
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
    events = [(event.name, event.device_type.name == "CUDA") for event in profile.events()]
    operators = [name for name, is_kernel in events if not is_kernel]
    kernels = [kernel_name(name) for name, is_kernel in events if is_kernel and not name.startswith("Mem")]
    # where kernels cannot be traced, what they write to was allocated
    on_cuda = kernels or _allocations(torch) > before
    return ran_by_names(operators, "cuda" if on_cuda else "cpu", kernels)


def _allocations(torch: Any) -> int:
    """How often memory of a device was given out so far."""
    if not torch.cuda.is_initialized():
        return 0
    devices = range(torch.cuda.device_count())
    return sum(int(torch.cuda.memory_stats(n).get("allocation.all.allocated", 0)) for n in devices)


def kernel_name(demangled: str) -> str:
    """A kernel's name without its result, template arguments and parameters.

    The kernels of CUTLASS are all called alike: theirs is the name of their first argument.
    """
    plain = demangled.replace("(anonymous namespace)::", "").removeprefix("void ")
    plain = re.sub(r"^cutlass::\w+<(?=[A-Za-z_])", "", plain)
    return re.split(r"[<(,>]", plain, maxsplit=1)[0].strip()


@contextmanager
def without_profiler_lines() -> Iterator[None]:
    """Drops two lines that the profiler writes to the C-level stderr; what else comes there is only late."""
    try:
        kept: Any = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
        original = os.dup(2)
    except OSError:  # no stderr, or no folder for temporary files: two lines too many do no harm
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
