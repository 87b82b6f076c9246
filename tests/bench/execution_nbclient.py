"""How fast nbclient runs code: a script for a Python that has nbclient, ipykernel and NumPy.

    PYTHON -m tests.bench.execution_nbclient < request

The request is JSON: `{"measure": NAME, "posts": [[code, …], …], "workers": N}`. The response is JSON with
the values of `Measures`. The script must not import blogsmith, which is not installed there.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

Measures = dict[str, float]


def open_post(codes: list[str]) -> Any:
    """Return a client for a notebook with these cells."""
    import nbformat
    from nbclient import NotebookClient

    cells = [nbformat.v4.new_code_cell(code) for code in codes]
    notebook = nbformat.v4.new_notebook(cells=cells)
    return NotebookClient(notebook, timeout=600, kernel_name="python3")


def measure_cells(posts: list[list[str]], workers: int) -> Measures:
    """Measure seconds until the kernel is ready, until its first cell is done, and between cells."""
    client = open_post(posts[0])
    started = time.perf_counter()
    with client.setup_kernel():
        marks = [time.perf_counter()]
        for index, cell in enumerate(client.nb.cells):
            client.execute_cell(cell, index)
            marks.append(time.perf_counter())
    steps = [later - earlier for earlier, later in pairwise(marks)]
    return {"ready": marks[0] - started, "first": marks[1] - started, "step": median(steps)}


def measure_posts(posts: list[list[str]], workers: int) -> Measures:
    """Return seconds and CPU seconds for all posts, `workers` at a time, including kernels."""
    # Importing nbclient is not measured, nor is importing blogsmith.
    open_post([])
    used, started = processor_seconds(), time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(lambda codes: open_post(codes).execute(), posts):
            pass
    return {"wall": time.perf_counter() - started, "cpu": processor_seconds() - used}


def measure_flood(posts: list[list[str]], workers: int) -> Measures:
    """Return seconds, bytes of stored text and memory growth of this process for a post that prints a lot."""
    open_post(["1"]).execute()
    before, started = peak_bytes(), time.perf_counter()
    client = open_post(posts[0])
    client.execute()
    seconds = time.perf_counter() - started
    kept = sum(len(output.get("text", "")) for cell in client.nb.cells for output in cell.outputs)
    return {"seconds": seconds, "kept": float(kept), "growth": float(peak_bytes() - before)}


def processor_seconds() -> float:
    """Return the CPU seconds of this process and of its finished child processes."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in found)


def peak_bytes() -> int:
    status = Path("/proc/self/status")
    if status.is_file():
        # `ru_maxrss` would start at the memory that the parent had when it started this process.
        return 1024 * int(status.read_text("utf-8").split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


MEASURES = {"cells": measure_cells, "posts": measure_posts, "flood": measure_flood}


def main() -> int:
    """Answer the request on stdin."""
    request = json.load(sys.stdin)
    # Keep output of kernels and warnings out of the response.
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        found = MEASURES[request["measure"]](request["posts"], request["workers"])
    except ImportError as error:
        print(f"{sys.executable}: {error}; it needs nbclient, ipykernel and numpy", file=sys.stderr)
        return 1
    with answer:
        json.dump(found, answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
