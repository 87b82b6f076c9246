"""The time that the lab adds to a call of torch's attention: checks, recording of operators, the report.

Tensors are small, so that the overhead dominates. This module needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from blogsmith.lab import attention
from blogsmith.lab.tables import Table, table

from .attention_paired import Call, Paired, measure_paired, time_in_words

SHAPE = (1, 8, 16, 64)
"""Shape (batch, heads, n, d) of q, in float32."""
LEAST_ROUNDS = 50
DIRECT, OURS = "direct", "ours"


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of call, with torch alone and through the lab."""

    name: str
    direct: Call
    ours: Call
    key: str = ""
    """Key of the goal it belongs to; empty if it is shown only for comparison."""
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    """Creates the context that both calls run in."""


@dataclass(frozen=True, slots=True)
class Overhead:
    """Times of one case."""

    case: Case
    times: Paired

    @property
    def microseconds(self) -> float:
        """Microseconds that the lab adds to a call."""
        return 1e6 * self.times.more(OURS, DIRECT)


def measure_overhead(rounds: int) -> list[Overhead]:
    """Measure every case in `rounds` rounds on one thread, because thread waits would dominate the times."""
    torch: Any = import_module("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [_measured(case, rounds) for case in cases()]
    finally:
        torch.set_num_threads(threads)


def _measured(case: Case, rounds: int) -> Overhead:
    calls = {DIRECT: case.direct, OURS: case.ours}
    with case.around():
        return Overhead(case, measure_paired(calls, 2.0, min(rounds, LEAST_ROUNDS), rounds))


def shown_overhead(found: Iterable[Overhead]) -> Table:
    lines = [
        (
            one.case.name,
            *(time_in_words(one.times.median_of(name)) for name in (DIRECT, OURS)),
            f"{one.microseconds:.0f} µs",
            "" if one.case.key else "no goal",
        )
        for one in found
    ]
    size = " × ".join(map(str, SHAPE))
    caption = f"The lab beside torch's scaled_dot_product_attention, {size}, float32, one thread; medians"
    return table(("call", "torch alone", "through the lab", "the lab adds", ""), lines, caption)


def cases() -> Iterator[Case]:
    """Yield all cases, first those of the goal: the same call with and without gradients."""
    torch: Any = import_module("torch")
    sdpa = torch.nn.functional.scaled_dot_product_attention
    q, k, v = torch.randn(3, *SHAPE, generator=torch.Generator().manual_seed(0))

    def both(*inputs: Any, **options: Any) -> tuple[Call, Call]:
        return lambda: sdpa(*inputs, **options), lambda: attention(*inputs, backend="torch", **options)

    yield Case("tensors", *both(q, k, v), "inference")
    yield Case("causal", *both(q, k, v, is_causal=True), "inference")
    yield Case("no_grad", *both(q, k, v), "inference", torch.no_grad)
    yield Case("inference_mode", *both(q, k, v), "inference", torch.inference_mode)
    trained = [x.clone().requires_grad_() for x in (q, k, v)]
    yield Case("with gradients", *both(*trained), "gradients")
    yield Case(
        "with gradients, and back",
        lambda: sdpa(*trained).sum().backward(),
        lambda: attention(*trained, backend="torch").output.sum().backward(),
        "back",
    )
    yield from _others(torch, (q, k, v), sdpa)


def _others(torch: Any, tensors: tuple[Any, ...], sdpa: Any) -> Iterator[Case]:
    """Yield cases where the lab does more than torch alone, or observes Python code of torch."""
    q, k, v = tensors
    n = q.shape[-2]
    mask = torch.ones(n, n, dtype=torch.bool).tril()
    yield Case("boolean mask", lambda: sdpa(q, k, v, attn_mask=mask), lambda: attention(q, k, v, mask=mask))
    shared = k[:, :2], v[:, :2]
    yield Case("grouped heads", lambda: sdpa(q, *shared, enable_gqa=True), lambda: attention(q, *shared))
    for name in ("flash", "math"):
        yield Case(
            f"{name} forced",
            _forced(name, sdpa, tensors),
            lambda name=name: attention(*tensors, backend=f"torch:{name}"),  # type: ignore[misc]
        )
    arrays = [x.numpy() for x in tensors]
    yield Case(
        "NumPy arrays",
        lambda: np.asarray(sdpa(*map(torch.from_numpy, arrays))),
        lambda: attention(*arrays, backend="torch"),
    )


def _forced(name: str, sdpa: Any, tensors: tuple[Any, ...]) -> Call:
    """Return a call of torch alone, with only one backend enabled."""
    kernels: Any = import_module("torch.nn.attention")
    choice = {"flash": kernels.SDPBackend.FLASH_ATTENTION, "math": kernels.SDPBackend.MATH}[name]

    def call() -> object:
        with kernels.sdpa_kernel(choice):
            return sdpa(*tensors)

    return call
