"""Environment variables of cells: the variables on a list of allowed names, and fixed values that make runs
reproducible.

Cells do not see other variables, so keys and tokens in a shell's environment do not reach a post. A site adds
names under `execute: env`; the values of these variables are part of the keys of results.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

ALLOWED_VARIABLES: tuple[str, ...] = (
    # programs and the user's own files
    *("PATH", "HOME", "USER", "LOGNAME"),
    # shared libraries: CUDA, MKL and BLAS of clusters and module systems
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH"),
    # Python environment
    *("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"),
    # devices that may be used, and the location of CUDA
    *("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"),
    # caches that are expensive to build: matplotlib's font lists, torch's kernels
    *("XDG_CACHE_HOME", "MPLCONFIGDIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"),
    # certificates of the machine; without them downloads through a company's proxy fail
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
)
"""Variables that cells see with unchanged values."""

COMPARED_VARIABLES = tuple(name for name in ALLOWED_VARIABLES if name != "HOME")
"""Variables that make a result stale if the cell read them and their values have changed. `HOME` is not
included, because outputs write it as `~` on every machine."""

_FIXED_VARIABLES = MappingProxyType(
    {
        # the same messages, dates and encoding on every machine
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONUTF8": "1",
        # sets print in the same order
        "PYTHONHASHSEED": "0",
        # no __pycache__ folders next to posts
        "PYTHONDONTWRITEBYTECODE": "1",
        # nobody can close a window; the worker replaces this by its own backend
        "MPLBACKEND": "agg",
        # for programs that query the width of their terminal
        "COLUMNS": "80",
        # the same kernels, and so the same sums, with CUDA
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    }
)
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def cell_environment(
    environ: Mapping[str, str], allowed: tuple[str, ...], threads: int, temporary: Path
) -> dict[str, str]:
    """Return the complete environment of cells.

    environ: environment of the builder.
    allowed: names that the site declares; these override fixed values.
    threads: number of BLAS threads; otherwise parallel sessions would compete for the cores.
    temporary: existing folder for temporary files.
    """
    passed = {name: environ[name] for name in ALLOWED_VARIABLES if name in environ}
    fixed = (
        dict(_FIXED_VARIABLES) | dict.fromkeys(_THREAD_VARIABLES, str(threads)) | {"TMPDIR": str(temporary)}
    )
    declared = {name: environ[name] for name in allowed if name in environ}
    return passed | fixed | declared


def count_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_per_job(jobs: int) -> int:
    """Return the number of BLAS threads for each of `jobs` parallel sessions, at least 1. If `jobs` is 0,
    there is one session for each core."""
    return max(1, count_cores() // (jobs or count_cores()))
