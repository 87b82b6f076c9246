"""`compare` with torch: every available backend stays within the bound, and errors of each kind exceed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from blogsmith.lab import ParityError, attention, compare, padding_mask  # noqa: E402
from blogsmith.lab.precision import naive, rounded  # noqa: E402

N = 40
HALF = ("float32", "float16", "bfloat16")


def qkv(heads: int = 4, key_heads: int = 4, n: int = N, m: int = N, d: int = 32, seed: int = 0) -> list[Any]:
    random = np.random.default_rng(seed)
    return [
        random.standard_normal((2, h, length, d))
        for h, length in ((heads, n), (key_heads, m), (key_heads, m))
    ]


def tensors(**sizes: int) -> list[Any]:
    return [torch.from_numpy(x).float() for x in qkv(**sizes)]


def written_out(
    q: Any,
    k: Any,
    v: Any,
    *,
    scaled: bool = True,
    mask: Any = None,
    wide: bool = False,
    narrow_sum: bool = False,
) -> Any:
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scaled else 1)
    if mask is not None:
        scores = scores.masked_fill(~torch.as_tensor(mask), -torch.inf)
    scores = scores.float() if wide else scores
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    # Each sum is rounded, as an addition in half precision does.
    total = powers.cumsum(-1)[..., -1:] if not narrow_sum else added_one_by_one(powers)
    return (powers / total).to(v.dtype) @ v


def added_one_by_one(x: Any) -> Any:
    total = x[..., :1]
    for i in range(1, x.shape[-1]):
        total = total + x[..., i : i + 1]
    return total


SHAPES: dict[str, tuple[dict[str, int], dict[str, Any]]] = {
    "plain": ({}, {}),
    "causal": ({}, {"is_causal": True}),
    "more keys, causal": ({"m": 70}, {"is_causal": True}),
    "grouped heads": ({"heads": 6, "key_heads": 2}, {}),
    "grouped heads, causal": ({"heads": 4, "key_heads": 1}, {"is_causal": True}),
    "padding": ({}, {"mask": padding_mask([3, N], N)}),
    "added": ({}, {"mask": np.linspace(-2, 2, N * N).reshape(N, N)}),
    "scale": ({}, {"scale": 0.05}),
    "one query": ({"n": 1}, {}),
    "long": ({"n": 300, "m": 300, "d": 64}, {"is_causal": True}),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_every_backend_holds_the_bound(name: str, seed: int) -> None:
    sizes, options = SHAPES[name]
    comparison = compare(*qkv(**sizes, seed=seed), **options)
    ran = [(row.backend, row.dtype) for row in comparison.rows if row.passes]
    for dtype in HALF:
        assert {("torch:flash", dtype), ("torch:math", dtype)} <= set(ran)
    assert ("numpy", "float32") in ran


def test_what_ran_is_proved() -> None:
    rows = compare(*qkv(), backends=["torch:flash", "torch:math", "numpy"], dtypes="float32").rows
    assert [(row.device, row.ran) for row in rows] == [
        ("cpu", "flash aten::_scaled_dot_product_flash_attention_for_cpu"),
        ("cpu", "math aten::_scaled_dot_product_attention_math"),
        ("cpu", "numpy"),
    ]


def test_a_function_that_hides_torch_is_seen_through() -> None:
    def mine(q: Any, k: Any, v: Any) -> Any:
        return torch.nn.functional.scaled_dot_product_attention(*map(torch.from_numpy, (q, k, v))).numpy()

    (row,) = compare(*qkv(), backends={"mine": mine}, dtypes="float32").rows
    assert row.ran == "flash aten::_scaled_dot_product_flash_attention_for_cpu"


@pytest.mark.parametrize("options", [{}, {"wide": True}], ids=["own precision", "wide softmax"])
def test_functions_on_tensors_pass(options: dict[str, Any]) -> None:
    given: list[str] = []

    def mine(q: Any, k: Any, v: Any) -> Any:
        given.append(str(q.dtype))
        return written_out(q, k, v, **options)

    comparison = compare(*tensors(), backends={"mine": mine})
    assert given == ["torch.float32", "torch.float16", "torch.bfloat16"]
    assert [row.verdict for row in comparison.rows] == ["passes"] * 3


def module_attention(q: Any, k: Any, v: Any) -> Any:
    return attention(q, k, v, backend="torch:math")


WRONG: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "no scale": (lambda *x: written_out(*x, scaled=False), {}),
    "no causal mask": (written_out, {"is_causal": True}),
    "no causal mask in SDPA": (module_attention, {"is_causal": True}),
    "no padding mask": (written_out, {"mask": padding_mask([3, N], N)}),
    "one key too many": (lambda *x: written_out(*x, mask=np.tri(N, k=1, dtype=bool)), {"is_causal": True}),
    "counted from the end": (
        lambda *x: written_out(*x, mask=np.tri(N, 70, k=70 - N, dtype=bool)),
        {"is_causal": True},
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("dtype", HALF)
def test_what_is_wrong_is_caught_in_every_precision(name: str, dtype: str) -> None:
    function, options = WRONG[name]
    sizes = {"m": 70} if name == "counted from the end" else {}
    with pytest.raises(ParityError, match=f"mine in {dtype} is off by"):
        compare(*tensors(**sizes), backends={"mine": function}, dtypes=dtype, **options)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_adding_up_in_half_precision_is_caught(dtype: str) -> None:
    # Thousands of small weights: the sum stops growing once they are below half a step of it.
    long = tensors(n=8, m=3000, d=16)
    right = compare(*long, backends={"mine": written_in_float32}, dtypes=dtype)
    assert not right.failures
    with pytest.raises(ParityError, match=f"mine in {dtype} is off by"):
        compare(*long, backends={"mine": lambda *x: written_out(*x, narrow_sum=True)}, dtypes=dtype)


def written_in_float32(q: Any, k: Any, v: Any) -> Any:
    return written_out(q.float(), k.float(), v.float()).to(q.dtype)


def test_half_precision_inside_float32_is_caught() -> None:
    with pytest.raises(ParityError, match="mine in float32"):
        compare(
            *tensors(),
            backends={"mine": lambda *x: written_out(*(y.half() for y in x)).float()},
            dtypes="float32",
        )


def test_bfloat16_is_rounded_as_torch_does() -> None:
    random = np.random.default_rng(0)
    bits = random.integers(0, 2**32, 200_000, dtype=np.uint64).astype(np.uint32)
    x = bits.view(np.float32)
    x = x[~np.isnan(x)]
    assert np.array_equal(rounded(x, "bfloat16"), torch.from_numpy(x).bfloat16().float().numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("seed", range(4))
def test_the_naive_reference_errs_as_that_of_torch(dtype: str, seed: int) -> None:
    x = qkv(seed=seed)
    q, k, v = (rounded(y, dtype) for y in x)
    ours = naive(q, k, v, dtype)
    wide = [torch.from_numpy(rounded(y, dtype)) for y in x]
    theirs = written_out(*(y.to(getattr(torch, dtype)) for y in wide)).double().numpy()
    exact = attention(*(y.double().numpy() for y in wide), backend="numpy").output
    ratio = np.abs(ours - exact).max() / np.abs(theirs - exact).max()
    assert 0.6 < ratio < 1.7


@pytest.mark.cuda
def test_every_backend_of_cuda_holds_the_bound() -> None:
    for sizes, options in SHAPES.values():
        comparison = compare(*qkv(**sizes), **options)
        passed = {(row.backend, row.dtype) for row in comparison.rows if row.passes}
        assert {("torch-cuda:math", dtype) for dtype in HALF} <= passed
    plain = {row.backend: row for row in compare(*qkv(d=64), dtypes="float16").rows}
    for word in ("flash", "efficient"):
        row = plain[f"torch-cuda:{word}"]
        assert (row.device, row.ran.split()[0]) == ("cuda", word)
