"""Measure attention on a GPU up to 131,072 positions, and append the rows to a file.

    python -m scripts.gpu_rows content/posts/attention-in-tiles/timings.jsonl [--seconds 150]

Each row is stored when it is measured. Rows that the file has of this machine are not measured again, so a
second run continues after the first. No case begins after `--seconds`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import product
from typing import Any

from blogsmith.lab import benchmark
from blogsmith.lab.devices import present_backends

LENGTHS = (1024, 4096, 16384, 65536, 131072)


def three_steps(q: Any, k: Any, v: Any) -> Any:
    """Compute attention as the textbook does. Store scores and weights, each (batch, heads, n, n)."""
    torch: Any = import_module("torch")
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1) @ v


def flex(*, is_causal: bool) -> Callable[[Any, Any, Any], Any]:
    """Return FlexAttention, compiled."""
    module: Any = import_module("torch.nn.attention.flex_attention")
    compiled = import_module("torch").compile(module.flex_attention)

    def attend(q: Any, k: Any, v: Any) -> Any:
        seen = None
        if is_causal:
            seen = module.create_block_mask(
                lambda b, h, i, j: i >= j, None, None, q.shape[-2], k.shape[-2], device=q.device
            )
        return compiled(q, k, v, block_mask=seen)

    return attend


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all cases, the short ones first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("rows", help="file of rows")
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--inputs", default="torch-cuda", help="`torch` to try the script without a GPU")
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    asked = parser.parse_args(arguments)
    end = time.monotonic() + asked.seconds
    prefixes = ("torch-cuda:", "flash-attn") if asked.inputs == "torch-cuda" else ("torch:",)
    kernels = [name for name in present_backends() if name.startswith(prefixes)]
    for n, dtype, is_causal, direction in product(
        sorted(asked.lengths), ("bfloat16", "float16"), (False, True), ("forward", "backward")
    ):
        functions = [
            {"flex": flex(is_causal=is_causal)},
            *([] if is_causal else [{"three steps": three_steps}]),
        ]
        if time.monotonic() > end:
            print(f"stopped before n = {n}, {dtype}, causal: {is_causal}, {direction}")
            return
        case = {"lengths": n, "dtype": dtype, "is_causal": is_causal, "direction": direction}
        measure([*kernels, *functions], {**case, "inputs": asked.inputs, "rows": asked.rows})


def measure(backends: Sequence[Any], case: dict[str, Any]) -> None:
    """Measure one case with all backends. If one of them fails, measure each alone, so that the others have
    their rows."""
    try:
        benchmark(backends, **case, budget_s=0.25)
    except Exception as error:
        names = ", ".join(one if isinstance(one, str) else next(iter(one)) for one in backends)
        print(f"{names}: {case}: {type(error).__name__}: {error}"[:500])
        for backend in backends if len(backends) > 1 else ():
            measure([backend], case)


if __name__ == "__main__":
    main()
