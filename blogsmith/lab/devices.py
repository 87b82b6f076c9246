"""Devices and attention backends of this machine, determined by running them.

Settings of torch show which backends are allowed, not which one runs. So each backend computes a small
attention. If it fails, its error message is reported.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from . import flash_package
from .ran import BackendError
from .scaled_dot_product import BACKENDS, attended_by
from .tables import Table, table

_CPU_FILE = Path("/proc/cpuinfo")
_DRIVER_FILE = Path("/proc/driver/nvidia/version")
_DRIVER_TOOL = ("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
_WIDTH = 64
"""Sizes d_k and d_v of the trial computation. Every kernel accepts this size."""


@dataclass(frozen=True, slots=True)
class CudaDevice:
    """CUDA device as reported by torch."""

    name: str
    capability: str
    """Compute capability, such as `9.0`."""
    memory_bytes: int

    def __str__(self) -> str:
        return f"{self.name}, capability {self.capability}, {self.memory_bytes / 2**30:.0f} GiB"


@dataclass(frozen=True, slots=True)
class Tried:
    """Backend of `attention`, and the result of the trial on this machine."""

    backend: str
    device: str
    """`cpu` or `cuda`."""
    ran: str
    """Kernel that ran: `flash`, `math`, …. Empty if the backend did not run."""
    reason: str = ""
    """Reason why the backend did not run, as a message; empty if it ran."""


@dataclass(frozen=True, slots=True, repr=False)
class DeviceReport:
    """Devices and backends of this machine. Prints as text; as the value of a cell, it is shown as two
    tables.

    Empty strings and 0 mean that a value is unknown or absent.
    """

    python: str
    platform: str
    processor: str
    cores: int
    """Number of cores that this process may use."""
    numpy: str
    blas: str
    """Name and version of NumPy's library for matrix products."""
    torch: str
    torch_threads: int
    cuda: str
    """Version of CUDA that torch was built with."""
    driver: str
    devices: tuple[CudaDevice, ...]
    flash_attn: str
    """Version of the package flash-attn."""
    backends: tuple[Tried, ...]

    def __repr__(self) -> str:
        return f"{self._machine()!r}\n\n{self._backends()!r}"

    def _repr_html_(self) -> str:
        return self._machine()._repr_html_() + self._backends()._repr_html_()

    def _machine(self) -> Table:
        return table(("part", "here"), self._facts(), "Machine")

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "Python", f"{self.python}, {self.platform}"
        yield "processor", ", ".join(filter(None, [self.processor, f"{self.cores} cores"]))
        yield "NumPy", self.numpy + (f" with {self.blas}" if self.blas else "")
        if not self.torch:
            yield "torch", "not installed"
        else:
            yield "torch", f"{self.torch}, {self.torch_threads} threads"
            built = f"built for {self.cuda}" if self.cuda else "torch is built without it"
            yield "CUDA", built + (f", driver {self.driver}" if self.driver else "")
        for number, device in enumerate(self.devices):
            yield f"device {number}", str(device)
        yield "flash-attn", self.flash_attn or "not installed"

    def _backends(self) -> Table:
        rows = [
            (tried.backend, tried.device, tried.ran or "no", tried.reason or None) for tried in self.backends
        ]
        return table(("backend", "device", "runs", "why not"), rows, "Backends of attention")


def device_report() -> DeviceReport:
    """Report the devices of this machine and which backends of `attention` run.

    Imports torch if it is installed.
    """
    torch = _torch()
    on_cuda = torch is not None and torch.cuda.is_available()
    return DeviceReport(
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        processor=processor_name(),
        cores=usable_cores(),
        numpy=np.__version__,
        blas=_blas(),
        torch=str(torch.__version__) if torch else "",
        torch_threads=torch.get_num_threads() if torch else 0,
        cuda=(torch.version.cuda or "") if torch else "",
        driver=driver_version() if on_cuda else "",
        devices=tuple(map(_device, range(torch.cuda.device_count()))) if on_cuda else (),
        flash_attn=flash_package.version(),
        backends=tuple(_tried(torch, on_cuda)),
    )


def present_backends() -> tuple[str, ...]:
    """Return the backends for `attention` that run here, such as `numpy` or `torch:math`.

    Each one is tried. Names such as `torch`, which let torch choose, are not included, because torch then
    uses one of the others.
    """
    torch = _torch()
    on_cuda = torch is not None and torch.cuda.is_available()
    return tuple(tried.backend for tried in _tried(torch, on_cuda) if tried.ran)


def _torch() -> Any:
    """Return torch, or None if it is absent or broken."""
    if find_spec("torch") is None:
        return None
    try:
        return import_module("torch")
    except (ImportError, OSError):
        return None


def _tried(torch: Any, on_cuda: bool) -> Iterator[Tried]:
    for backend in BACKENDS:
        if backend == "numpy" or ":" in backend or backend == "flash-attn":
            where = "cuda" if backend.startswith(("torch-cuda", "flash-attn")) else "cpu"
            yield _try(torch, backend, where, on_cuda)


def _try(torch: Any, backend: str, where: str, on_cuda: bool) -> Tried:
    if backend == "flash-attn" and not flash_package.version():
        return Tried(backend, where, "", "not installed")
    x: Any = np.zeros((1, 1, 8, _WIDTH), np.float32)
    try:
        if where == "cuda" and on_cuda:
            # The fused CUDA kernels need half precision.
            x = torch.zeros(1, 1, 8, _WIDTH, dtype=torch.float16, device="cuda")
        attended = attended_by(backend, x, x, x, is_causal=False, mask=None, scale=None)
    except BackendError as error:
        return Tried(backend, where, "", str(error).removeprefix(f"backend {backend} cannot run: "))
    except RuntimeError as error:  # a driver that is too old, a device that is full or broken
        return Tried(backend, where, "", str(error).split("\n", 1)[0])
    return Tried(backend, where, attended.ran.backend)


def _device(number: int) -> CudaDevice:
    found: Any = import_module("torch").cuda.get_device_properties(number)
    return CudaDevice(found.name, f"{found.major}.{found.minor}", found.total_memory)


def usable_cores() -> int:
    """Return the number of cores that this process may use. 0 if unknown."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0


def processor_name() -> str:
    """Return the model of the CPU. Empty if the system does not report it."""
    with suppress(OSError):
        for line in _CPU_FILE.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _blas() -> str:
    config: Any = np.show_config(mode="dicts")
    found = (config or {}).get("Build Dependencies", {}).get("blas", {})
    return " ".join(str(found.get(key, "")) for key in ("name", "version")).strip()


def driver_version() -> str:
    """Return the version of NVIDIA's kernel module, such as `560.35.03`. On Windows, ask `nvidia-smi`."""
    try:
        text = _DRIVER_FILE.read_text("utf-8", "replace").split("\n", 1)[0]
    except OSError:
        text = _said_by_the_tool()
    return next((word for word in text.split() if word[0].isdigit() and "." in word), "")


def _said_by_the_tool() -> str:
    try:
        return subprocess.run(_DRIVER_TOOL, capture_output=True, text=True, timeout=5, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
