"""Time and memory of CUDA, on a simulated device: a work queue with a separate clock."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from blogsmith.lab import measuring
from tests.rows import each_row

LAUNCH_S = 5e-6


class Device:
    """Work is launched at the host's time, and finishes after all work before it."""

    def __init__(self, fill_s: float) -> None:
        self.host_s = self.done_s = 0.0
        self.fill_s = fill_s
        self.emptied = 0

    def launch(self, host_s: float, device_s: float) -> None:
        self.host_s += host_s
        self.done_s = max(self.done_s, self.host_s) + device_s

    def synchronize(self) -> None:
        self.host_s = max(self.host_s, self.done_s)

    def clock(self) -> float:
        return self.host_s

    def empty_cache(self) -> None:
        self.emptied += 1

    def torch(self) -> Any:
        """Return the part of torch that the lab uses."""
        filler = SimpleNamespace(zero_=lambda: self.launch(LAUNCH_S, self.fill_s))
        cuda = SimpleNamespace(
            Event=lambda enable_timing: Event(self),
            synchronize=self.synchronize,
            is_initialized=lambda: True,
            empty_cache=self.empty_cache,
        )
        return SimpleNamespace(cuda=cuda, uint8="uint8", empty=lambda *_, **__: filler)


class Event:
    """An event has the time when the device reaches it."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.at_s = 0.0

    def record(self) -> None:
        self.at_s = max(self.device.host_s, self.device.done_s)

    def elapsed_time(self, end: Event) -> float:
        return (end.at_s - self.at_s) * 1000


# time to fill a gigabyte in eight parts: a small card, a large one, and a future one
@pytest.mark.parametrize("fill_s", [5e-4, 3e-5, 2e-5])
@pytest.mark.parametrize(("kernels", "host_s"), [(1, 2e-5), (25, 2e-5), (40, 5e-5)])
def test_the_time_of_a_device_holds_no_waiting_for_python(
    monkeypatch: pytest.MonkeyPatch, fill_s: float, kernels: int, host_s: float
) -> None:
    device = Device(fill_s)
    monkeypatch.setitem(sys.modules, "torch", device.torch())

    def call() -> None:
        for _ in range(kernels):
            device.launch(host_s, 3e-6)

    times = measuring.times_of(call, on_cuda=True, repeats=7, budget_s=1, clock=device.clock)
    assert times.repeats == 7
    for seconds in (times.low_s, times.median_s, times.high_s):
        assert seconds == pytest.approx(kernels * 3e-6, rel=1e-6)


def test_a_device_is_not_kept_busy_for_ever() -> None:
    assert measuring.fills_for(1e-5, 2.5e-4) == 8
    assert measuring.fills_for(1.0, 1e-4) == measuring.fills_for(1.0, 0.0) == 256


OUT_OF_MEMORY = type("OutOfMemoryError", (RuntimeError,), {})


@each_row(
    ("error", "is_it"),
    [
        (MemoryError(), True),
        (OUT_OF_MEMORY("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be reported"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (ValueError("CUDA error: out of memory"), False),
    ],
)
def test_what_says_that_memory_ran_out(error: Exception, is_it: bool) -> None:
    assert measuring.is_out_of_memory(error) is is_it


def test_memory_is_given_back_where_a_device_was_used(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(1e-4)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    measuring.give_back()
    monkeypatch.setitem(sys.modules, "torch", device.torch())
    measuring.give_back()
    assert device.emptied == 1
