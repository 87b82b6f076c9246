"""The environment variables that the code of posts sees: an allow-list, and what makes runs alike.

Everything else stays with the builder: keys and tokens in a shell's environment do not reach a post. A site
adds names of its own under `execute: env`; those count for what is stale.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

ALLOWED: tuple[str, ...] = (
    # where programs and the user's own files are
    *("PATH", "HOME", "USER", "LOGNAME"),
    # where shared libraries are: CUDA, MKL and BLAS of clusters and of module systems
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH"),
    # which Python environment is meant
    *("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"),
    # which devices may be used, and where CUDA is
    *("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"),
    # caches that are expensive to make: font lists of matplotlib, kernels of torch
    *("XDG_CACHE_HOME", "MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"),
    # certificates of the machine, without which no download works behind a company's proxy
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
)
"""Passed on as they are."""

_FIXED = MappingProxyType(
    {
        # the same words, dates and encoding on every machine
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONUTF8": "1",
        # sets print in the same order
        "PYTHONHASHSEED": "0",
        # no __pycache__ folders beside posts
        "PYTHONDONTWRITEBYTECODE": "1",
        # nobody has a window to close; the worker puts its own backend in the place of this one
        "MPLBACKEND": "agg",
        # a program that asks for the width of its terminal
        "COLUMNS": "80",
        # the same kernels, and so the same sums, with CUDA
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    }
)
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def cell_environment(
    environ: Mapping[str, str], allowed: tuple[str, ...], threads: int, temporary: Path
) -> dict[str, str]:
    """The whole environment of cells.

    environ: the builder's. allowed: further names that the site declares; these win over what is fixed here.
    threads: for BLAS, or sessions at once would fight for the cores. temporary: an existing folder.
    """
    passed = {name: environ[name] for name in ALLOWED if name in environ}
    fixed = dict(_FIXED) | dict.fromkeys(_THREADS, str(threads)) | {"TMPDIR": str(temporary)}
    declared = {name: environ[name] for name in allowed if name in environ}
    return passed | fixed | declared


def cores() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_per_job(jobs: int) -> int:
    """BLAS threads for each of so many sessions at once (0: as many as there are cores); at least 1."""
    return max(1, cores() // (jobs or cores()))
