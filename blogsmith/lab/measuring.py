"""Measures the time and the memory of one call, on the CPU and on CUDA.

On the CPU, times are wall-clock times. On CUDA, they are times of the device between two events: launching a
kernel from Python takes longer than attention over a thousand positions and would dominate the result.
"""

from __future__ import annotations

import gc
import json
import math
import statistics
import sys
import tempfile
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from .ran import without_profiler_lines

Call = Callable[[], Any]
FEWEST, MOST = 5, 200
"""Minimum and maximum number of timed calls, if the author does not set the number."""
_FILL_BYTES = 1 << 27
_FILLS = 8
"""Minimum number of times that memory is filled before a call. In total this fills a gigabyte, more than any
cache contains."""
_MOST_FILLS = 256


@dataclass(frozen=True, slots=True)
class Times:
    """Times of one call, in seconds."""

    median_s: float
    low_s: float
    """First quartile."""
    high_s: float
    """Third quartile."""
    repeats: int


def times_of(
    call: Call, *, on_cuda: bool, repeats: int | None, budget_s: float, clock: Callable[[], float]
) -> Times:
    """Call `call()` once to warm up, and then measure it `repeats` times or, if that is None, as often as
    fits into `budget_s` seconds."""
    call()
    if on_cuda:
        return _summary(_cuda_spans(call, repeats, budget_s, clock))
    spans: list[float] = []
    while len(spans) < (repeats or FEWEST) or (not repeats and sum(spans) < budget_s and len(spans) < MOST):
        spans.append(_span(call, clock))
    return _summary(spans)


def peak_of(call: Call, kind: str) -> tuple[int, str]:
    """Return the peak memory of `call()` in bytes, without memory that was in use before, and the name of the
    counter that measured it."""
    if kind == "numpy":
        return _traced_peak(call), "tracemalloc"
    if kind == "torch":
        return _profiled_peak(call), "torch.profiler"
    return _cuda_peak(call), "torch.cuda"


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an error reports that memory ran out. torch has an error type for this only on CUDA."""
    if isinstance(error, RuntimeError):
        # messages of the CPU allocator, the CUDA driver, and its matrix library
        said = str(error)
        words = ("can't allocate memory", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED")
        return type(error).__name__ == "OutOfMemoryError" or any(word in said for word in words)
    return isinstance(error, MemoryError)


def give_back() -> None:
    """Release memory that torch caches on the device, as other processes may be waiting for it."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        gc.collect()
        torch.cuda.empty_cache()


def _span(call: Call, clock: Callable[[], float]) -> float:
    begin = clock()
    call()
    return clock() - begin


def _summary(spans: Sequence[float]) -> Times:
    if len(spans) == 1:
        return Times(spans[0], spans[0], spans[0], 1)
    low, median, high = statistics.quantiles(spans, n=4, method="inclusive")
    return Times(median, low, high, len(spans))


def _cuda_spans(
    call: Call, repeats: int | None, budget_s: float, clock: Callable[[], float]
) -> Sequence[float]:
    torch: Any = import_module("torch")

    def finished() -> None:
        call()
        torch.cuda.synchronize()

    torch.cuda.synchronize()
    fitting = int(budget_s / max(_span(finished, clock), 1e-9))
    count = repeats or min(MOST, max(FEWEST, fitting))
    filler = torch.empty(_FILL_BYTES, dtype=torch.uint8, device="cuda")

    def span(work: Call, fills: int) -> Any:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        for _ in range(fills):
            filler.zero_()
        begin.record()
        work()
        end.record()
        return begin, end

    # The device must still be busy when a call has been launched; otherwise the time between the events
    # would include waiting for Python. This also clears the cache of data from the last call.
    span(filler.zero_, _FILLS)
    begin, end = span(filler.zero_, _FILLS)
    launch_s = _span(call, clock)
    torch.cuda.synchronize()
    fills = fills_for(launch_s, begin.elapsed_time(end) / 1000)
    pairs = [span(call, fills) for _ in range(count)]
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) / 1000 for begin, end in pairs]


def fills_for(launch_s: float, fill_s: float) -> int:
    """Return how often to fill memory so that the device is busy for twice the time that launching a call
    takes."""
    return min(_MOST_FILLS, max(_FILLS, math.ceil(2 * launch_s / max(fill_s, 1e-7))))


def _traced_peak(call: Call) -> int:
    """Return the peak of NumPy's allocations, which it reports to tracemalloc."""
    was_tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        result = call()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        if not was_tracing:
            tracemalloc.stop()
    # keep it until here: the output is part of the peak
    del result
    return max(0, peak - before)


def _profiled_peak(call: Call) -> int:
    """Return the peak of torch's CPU allocations as seen by its profiler.

    Allocations of libraries are not included.
    """
    profiler: Any = import_module("torch.profiler")
    wanted = [profiler.ProfilerActivity.CPU]
    options = {"profile_memory": True, "acc_events": True}
    with without_profiler_lines(), profiler.profile(activities=wanted, **options) as seen:
        result = call()
    del result
    # The trace is the only public form of the individual events.
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        seen.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text("utf-8"))["traceEvents"]
    total = peak = 0
    for event in sorted((e for e in events if e.get("name") == "[memory]"), key=lambda e: float(e["ts"])):
        total += event["args"]["Bytes"]
        peak = max(peak, total)
    return peak


def _cuda_peak(call: Call) -> int:
    torch: Any = import_module("torch")

    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = call()
    torch.cuda.synchronize()
    peak = torch.cuda.max_memory_allocated()
    del result
    return int(peak - before)
