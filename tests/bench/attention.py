"""`make bench-attention`: a table with the goals of the attention lab.

    python -m tests.bench.attention [--without PYTHON] [--quick]

Compares the NumPy reference with plain NumPy, and torch's attention with and without the lab. Measures
errors against float64 in all precisions on every available backend, pages built with and without torch, and
times over the length of the sequence. Without torch its parts are "not measured". Compared calls take turns
in one process. Times are meaningful only on an otherwise idle machine, so the load is printed with them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from blogsmith.lab import Timings, benchmark, device_report
from blogsmith.lab.devices import present_backends

from .attention_numpy import Shape, measure_numpy, shown_numpy, textbook
from .attention_parity import DTYPES, catches_faults, largest_of, measure_parity, shown_parity
from .attention_site import ROOT, measure_pages
from .execution import Goal, load

MANY = 64
"""Number of positions from which arithmetic takes longer than the Python overhead."""
Found = dict[str, float]
"""Key of a goal → measured value."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes and repetitions of the measurements."""

    numpy: Sequence[Shape] = (
        *((1, 1, 16, 16), (1, 8, 64, 64), (1, 8, 256, 64)),
        *((4, 8, 128, 64), (1, 8, 1024, 64), (1, 1, 2048, 64)),
    )
    numpy_s: float = 1.5
    """Seconds for each size."""
    calls: int = 4000
    """Number of calls with small tensors."""
    parity: int = 96
    """Number of positions."""
    lengths: Sequence[int] = (128, 256, 512, 1024, 2048)
    cuda_lengths: Sequence[int] = (512, 1024, 2048, 4096, 8192)
    length_s: float = 0.5
    """Seconds for each length and backend."""
    site: Path = ROOT


QUICK = Sizes(
    numpy=((1, 1, 16, 16), (1, 8, 64, 64), (1, 8, 256, 64)),
    numpy_s=0.5,
    calls=500,
    parity=48,
    lengths=(128, 512),
    cuda_lengths=(512, 2048),
    length_s=0.1,
)

GOALS = (
    Goal("numpy: float32", "NumPy reference over the best plain NumPy", 2),
    Goal("numpy: float64", "  in float64", 2),
    Goal("numpy: few", "  16 positions, where checking takes as long", 2),
    Goal("torch: inference", "torch's attention: µs that the lab adds", 50),
    Goal("torch: gradients", "  with gradients", 50),
    Goal("torch: back", "  with gradients, and the way back"),
    *(Goal(f"parity: {dtype}", f"parity, {dtype}: error over its bound", 1) for dtype in DTYPES),
    Goal("parity: cases", "  attentions compared"),
    Goal("parity: faults", "  no scale, no mask: both seen", truth=True),
    Goal("pages: same", "built without torch: the same bytes", truth=True),
    Goal("pages: files", "  files compared"),
    Goal("pages: valid", "  all recorded results are valid", truth=True),
    Goal("times: naive", "longest sequence: time of naive over flash"),
    Goal("times: memory", "  memory likewise"),
)


def main(arguments: Sequence[str]) -> int:
    """Measure and print the tables, with the goals last."""
    options = options_of(arguments)
    sizes = QUICK if options.quick else Sizes()
    print(f"{device_report()!r}\n\n{load()}\n", flush=True)
    found = measure(sizes, options.without)
    print("\n".join(table(found)))
    print(f"\n{load()}")
    return 0


def options_of(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.attention",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--without",
        metavar="PYTHON",
        default="",
        help="a Python that has blogsmith and no torch; by default that of .venv, or a new one with links",
    )
    parser.add_argument("--quick", action="store_true", help="fewer and smaller sizes, in half a minute")
    return parser.parse_args(arguments)


def measure(sizes: Sizes, without: str = "") -> Found:
    """Measure all values, and print the data they come from."""
    found = _numpy(sizes) | _overhead(sizes) | _parity(sizes)
    return found | _pages(sizes, without) | _times(sizes)


def _numpy(sizes: Sizes) -> Found:
    times = measure_numpy(sizes.numpy, ("float32", "float64"), sizes.numpy_s)
    _show(shown_numpy(times))
    many = [one for one in times if one.shape[2] >= MANY]
    found = {
        f"numpy: {dtype}": max(one.ratio for one in many if one.dtype == dtype)
        for dtype in ("float32", "float64")
    }
    return {**found, "numpy: few": max(one.ratio for one in times if one not in many)}


def _overhead(sizes: Sizes) -> Found:
    if find_spec("torch") is None:
        return {}
    from .attention_overhead import measure_overhead, shown_overhead

    found = measure_overhead(sizes.calls)
    _show(shown_overhead(found))
    keys = dict.fromkeys(one.case.key for one in found if one.case.key)
    return {f"torch: {key}": max(one.microseconds for one in found if one.case.key == key) for key in keys}


def _parity(sizes: Sizes) -> Found:
    found = measure_parity(sizes.parity)
    _show(shown_parity(found))
    largest = {f"parity: {dtype}": largest_of(found, dtype) for dtype in DTYPES}
    return {
        **{key: value for key, value in largest.items() if value is not None},
        "parity: cases": float(sum(len(one.rows) for one in found)),
        "parity: faults": float(catches_faults(sizes.parity)),
    }


def _pages(sizes: Sizes, without: str) -> Found:
    pages = measure_pages(sizes.site, without)
    if pages is None:
        return {}
    if pages.differing:
        print("pages that differ: " + ", ".join(pages.differing) + "\n", flush=True)
    same = pages.files > 0 and not pages.differing
    return {
        "pages: same": float(same),
        "pages: files": float(pages.files),
        "pages: valid": float(pages.valid),
    }


def _times(sizes: Sizes) -> Found:
    """Time naive attention and every backend that accepts the dtype."""
    timings = timings_of(sizes)
    _show(timings)
    return over_flash(timings)


def timings_of(sizes: Sizes) -> Timings:
    """Measure times in float16 on CUDA if there is a device, otherwise in float32 on the CPU."""
    present = present_backends()
    on_cuda = [name for name in present if name.startswith(("torch-cuda", "flash-attn"))]
    if on_cuda:
        asked, inputs = on_cuda, "torch-cuda"
    else:
        asked, inputs = list(present), "torch" if find_spec("torch") else "numpy"
    return benchmark(
        [{"naive": _naive_numpy if inputs == "numpy" else _naive_torch}, *asked],
        lengths=sizes.cuda_lengths if on_cuda else sizes.lengths,
        dtype="float16" if on_cuda else "float32",
        inputs=inputs,
        budget_s=sizes.length_s,
    )


def over_flash(timings: Timings) -> Found:
    """Return time and memory of naive attention relative to flash, at the longest length both reached."""
    by_case = {(row.backend.rpartition(":")[2], row.n): row for row in timings.rows if row.median_s}
    for n in sorted({n for _, n in by_case}, reverse=True):
        naive, flash = by_case.get(("naive", n)), by_case.get(("flash", n))
        if naive and flash and naive.median_s and flash.median_s:
            memory = (naive.peak_bytes or 0) / max(1, flash.peak_bytes or 0)
            return {"times: naive": naive.median_s / flash.median_s, "times: memory": memory}
    return {}


def _naive_torch(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    return import_module("torch").softmax(scores, dim=-1) @ v


def _naive_numpy(q: Any, k: Any, v: Any) -> Any:
    return textbook(q, k, v, False)


def _show(shown: object) -> None:
    print(f"{shown!r}\n", flush=True)


def table(found: Mapping[str, float]) -> list[str]:
    """Return the table, one line for each goal."""
    lines = [f"{'':46}{'measured':>14}{'target':>9}  met"]
    for goal in GOALS:
        value = found.get(goal.key)
        met = "" if value is None else goal.met(value)
        lines.append(f"{goal.name:46}{goal.shown(value):>14}{goal.wanted:>9}  {met}".rstrip())
    return lines


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
