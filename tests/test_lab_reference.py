"""The reference of the lab in NumPy: properties of attention, on random shapes and masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith import lab
from blogsmith.lab import reference
from tests.rows import each_row

Array = np.ndarray[Any, Any]
SIZES = st.integers(1, 9)
SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed: int, *shapes: tuple[int, ...], dtype: Any = np.float64) -> list[Array]:
    """Return standard normal arrays."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def by_definition(q: Array, k: Array, v: Array, seen: Any = True, scale: float | None = None) -> Array:
    """Compute attention of matrices, query by query and key by key, with Python's own sums only."""
    scale = 1 / np.sqrt(q.shape[-1]) if scale is None else scale
    seen = np.broadcast_to(seen, (len(q), len(k)))
    rows = []
    for i, query in enumerate(q):
        weights = [np.exp(scale * sum(query * key)) if seen[i, j] else 0.0 for j, key in enumerate(k)]
        total = sum(weights) or 1.0
        rows.append(
            sum((w / total * value for w, value in zip(weights, v, strict=True)), np.zeros(v.shape[1]))
        )
    return np.array(rows).reshape(len(q), v.shape[1])


@given(SEEDS, SIZES, SIZES, SIZES, SIZES, st.booleans(), st.sampled_from([None, 0.3, 1.0]))
def test_it_is_the_formula(
    seed: int, n: int, m: int, d_k: int, d_v: int, is_causal: bool, scale: float | None
) -> None:
    q, k, v = drawn(seed, (n, d_k), (m, d_k), (m, d_v))
    mask = np.random.default_rng(seed).random((n, m)) < 0.6
    seen = mask & (np.arange(m) <= np.arange(n)[:, None]) if is_causal else mask
    got = reference.attention(q, k, v, is_causal=is_causal, mask=mask, scale=scale)
    np.testing.assert_allclose(got, by_definition(q, k, v, seen, scale), rtol=1e-10, atol=1e-12)


@given(SEEDS, SIZES, SIZES, st.integers(1, 12), st.booleans(), st.booleans())
def test_online_is_plain(seed: int, n: int, m: int, block: int, is_causal: bool, masked: bool) -> None:
    q, k, v = drawn(seed, (2, 3, n, 4), (2, 3, m, 4), (2, 3, m, 5))
    mask = np.random.default_rng(seed).random((2, 1, n, m)) < 0.5 if masked else None
    plain = reference.attention(q, k, v, is_causal=is_causal, mask=mask)
    online = reference.online_attention(q, k, v, block=block, is_causal=is_causal, mask=mask)
    np.testing.assert_allclose(online, plain, rtol=1e-12, atol=1e-13)


@given(SEEDS, st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_the_online_softmax_takes_blocks_of_any_width(seed: int, widths: list[int]) -> None:
    m = sum(widths)
    scores, v = drawn(seed, (3, m), (m, 2))
    scores *= 50
    cuts = np.cumsum(widths)[:-1]
    blocks = list(zip(np.split(scores, cuts, axis=1), np.split(v, cuts), strict=True))
    np.testing.assert_allclose(lab.online_softmax(blocks), lab.softmax(scores) @ v, rtol=1e-12, atol=1e-13)


@given(SEEDS, SIZES)
def test_with_the_identity_as_values_the_online_softmax_is_the_softmax(seed: int, m: int) -> None:
    (scores,) = drawn(seed, (4, m))
    one_by_one = [(scores[:, j : j + 1], np.eye(m)[j : j + 1]) for j in range(m)]
    np.testing.assert_allclose(lab.online_softmax(one_by_one), lab.softmax(scores), rtol=1e-12)


@given(SEEDS, SIZES, st.floats(-500, 500), st.sampled_from([np.float32, np.float64]))
def test_a_shift_changes_no_softmax(seed: int, m: int, shift: float, dtype: Any) -> None:
    x = drawn(seed, (3, m), dtype=dtype)[0]
    got = lab.softmax(x + dtype(shift))
    # the shift itself rounds x by half a unit of 500
    np.testing.assert_allclose(got, lab.softmax(x), rtol=4 * 512 * np.finfo(dtype).eps)
    np.testing.assert_allclose(got.sum(axis=-1), 1, rtol=8 * np.finfo(dtype).eps)
    assert got.dtype == dtype


@given(SEEDS, SIZES, SIZES)
def test_the_order_of_keys_does_not_matter(seed: int, n: int, m: int) -> None:
    q, k, v = drawn(seed, (n, 4), (m, 4), (m, 3))
    order = np.random.default_rng(seed).permutation(m)
    np.testing.assert_allclose(
        reference.attention(q, k[order], v[order]), reference.attention(q, k, v), rtol=1e-12, atol=1e-13
    )


@given(SEEDS, st.sampled_from([1, 2, 3]), st.sampled_from([1, 2, 4]), st.booleans())
def test_grouped_heads_are_repeated_heads(seed: int, heads: int, groups: int, masked: bool) -> None:
    q, k, v = drawn(seed, (2, heads * groups, 5, 4), (2, heads, 6, 4), (heads, 6, 3))
    mask = np.random.default_rng(seed).random((2, heads * groups, 5, 6)) < 0.7 if masked else None
    repeated = [np.repeat(x, groups, axis=-3) for x in (k, v)]
    expected = reference.attention(q, *repeated, mask=mask)
    np.testing.assert_allclose(reference.attention(q, k, v, mask=mask), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        reference.online_attention(q, k, v, mask=mask), expected, rtol=1e-9, atol=1e-12
    )


@each_row(
    ("q", "k", "v", "output"),
    [
        ((3, 4), (5, 4), (5, 2), (3, 2)),
        ((3, 4), (2, 5, 4), (5, 2), (2, 3, 2)),
        ((7, 1, 3, 4), (2, 5, 4), (5, 2), (7, 2, 3, 2)),
        ((3, 4), (5, 4), (7, 2, 5, 2), (7, 2, 3, 2)),
        ((7, 6, 3, 4), (2, 5, 4), (7, 1, 5, 2), (7, 6, 3, 2)),
    ],
)
def test_leading_axes_broadcast(q: Any, k: Any, v: Any, output: Any) -> None:
    arrays = drawn(0, q, k, v)
    got = reference.attention(*arrays)
    assert got.shape == output
    key_heads = max([s[-3] for s in (k, v) if len(s) > 2], default=1)
    whole = [
        np.broadcast_to(x, (*np.broadcast_shapes(s[:-2], (1, key_heads)), *s[-2:]))
        for x, s in zip(arrays[1:], (k, v), strict=True)
    ]
    heads = output[-3] if len(output) > 2 else 1
    whole = [np.repeat(x, heads // key_heads, axis=-3) for x in whole]
    np.testing.assert_allclose(reference.attention(arrays[0], *whole).reshape(output), got, rtol=1e-12)


def test_boolean_and_added_masks_say_the_same() -> None:
    q, k, v = drawn(1, (2, 4, 8), (2, 6, 8), (2, 6, 8))
    seen = np.random.default_rng(1).random((4, 6)) < 0.5
    added = np.where(seen, 0.0, -np.inf)
    np.testing.assert_array_equal(
        reference.attention(q, k, v, mask=seen), reference.attention(q, k, v, mask=added)
    )


@pytest.mark.parametrize("mask", [np.zeros((3, 4), bool), np.full((3, 4), -np.inf), np.zeros((3, 1), bool)])
def test_who_may_look_at_nothing_gets_nothing(mask: Array) -> None:
    q, k, v = drawn(2, (3, 8), (4, 8), (4, 8))
    for compute in (reference.attention, reference.online_attention):
        np.testing.assert_array_equal(compute(q, k, v, mask=mask), np.zeros((3, 8)))
    np.testing.assert_array_equal(lab.softmax(np.full((2, 3), -np.inf)), np.zeros((2, 3)))


def test_no_queries_or_no_keys() -> None:
    q, k, v = drawn(2, (3, 8), (0, 8), (0, 2))
    for compute in (reference.attention, reference.online_attention):
        np.testing.assert_array_equal(compute(q, k, v), np.zeros((3, 2)))
        assert compute(k, q, q, is_causal=True).shape == (0, 8)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_type_of_q_comes_out_and_large_scores_do_no_harm(dtype: Any) -> None:
    q, k, v = (100 * x for x in drawn(3, (6, 16), (7, 16), (7, 4), dtype=dtype))
    for compute in (reference.attention, reference.online_attention):
        got = compute(q, k, v)
        assert got.dtype == dtype
        assert np.isfinite(got).all()


@pytest.mark.parametrize(("dtype", "bound"), [(np.float32, 2e-6), (np.float16, 2e-3)])
def test_the_error_against_float64_is_that_of_the_type(dtype: Any, bound: float) -> None:
    q, k, v = drawn(4, (4, 256, 64), (4, 256, 64), (4, 256, 64), dtype=dtype)
    exact = reference.attention(*(x.astype(np.float64) for x in (q, k, v)))
    for compute in (reference.attention, reference.online_attention):
        assert np.abs(compute(q, k, v) - exact).max() < bound


def test_inputs_stay_as_they_are() -> None:
    arrays = drawn(5, (4, 8), (4, 8), (4, 8))
    before = [x.copy() for x in arrays]
    output = reference.attention(*arrays, is_causal=True, mask=np.zeros((4, 4)))
    lab.softmax(arrays[0])
    reference.online_attention(*arrays, is_causal=True, block=3)
    for x, y in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(x, y)
    assert output.flags.writeable


def test_masks() -> None:
    assert lab.causal_mask(2, 3).tolist() == [[True, False, False], [True, True, False]]
    assert lab.causal_mask(2).tolist() == [[True, False], [True, True]]
    assert lab.padding_mask([0, 2], 3).tolist() == [[[[False] * 3]], [[[True, True, False]]]]
    q, k, v = drawn(6, (2, 4, 5, 8), (2, 4, 3, 8), (2, 4, 3, 8))
    got = reference.attention(q, k, v, mask=lab.padding_mask([3, 1], 3))
    np.testing.assert_allclose(got[1], np.broadcast_to(v[1, :, :1], got[1].shape), rtol=1e-12)


@given(SEEDS, st.sampled_from([(1, 1), (4, 4), (4, 2), (4, 1)]), st.booleans())
def test_heads_add_up(seed: int, heads: tuple[int, int], is_causal: bool) -> None:
    """Each head alone, with its rows of w_o, summed: many heads without concatenation."""
    h, key_heads = heads
    x, w_q, w_k, w_v, w_o = drawn(
        seed, (2, 5, 6), (6, h * 3), (6, key_heads * 3), (6, key_heads * 2), (h * 2, 7)
    )
    got = lab.multi_head(x, w_q, w_k, w_v, w_o, h, is_causal=is_causal)
    expected = np.zeros((2, 5, 7))
    for head in range(h):
        own, of_keys = slice(3 * head, 3 * head + 3), head * key_heads // h
        k = x @ w_k[:, 3 * of_keys : 3 * of_keys + 3]
        v = x @ w_v[:, 2 * of_keys : 2 * of_keys + 2]
        one = reference.attention(x @ w_q[:, own], k, v, is_causal=is_causal)
        expected += one @ w_o[2 * head : 2 * head + 2]
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11)


def test_heads_that_look_elsewhere() -> None:
    x, context, w, w_o = drawn(7, (5, 6), (9, 6), (6, 6), (6, 6))
    got = lab.multi_head(x, w, w, w, w_o, 1, context=context)
    np.testing.assert_allclose(got, reference.attention(x @ w, context @ w, context @ w) @ w_o, rtol=1e-12)


@each_row(
    ("shapes", "words"),
    [
        ([(8,), (4, 8), (4, 8)], r"q has the shape \(8,\); it needs two axes at least, \(…, n, d_k\)"),
        ([(3, 8), (4, 7), (4, 8)], r"q \(3, 8\) and k \(4, 7\) differ in their last axis, d_k: 8 and 7"),
        ([(3, 8), (4, 8), (5, 8)], r"differ in the number of keys: 4 and 5"),
        ([(3, 0), (4, 0), (4, 8)], r"d_k = 0"),
        ([(3, 2, 8), (2, 4, 8), (2, 4, 8)], r"3 heads of q cannot share 2 heads of k and v evenly"),
        ([(2, 2, 3, 8), (3, 2, 4, 8), (2, 4, 8)], r"leading axes \(2, 2\) and \(3, 2\) do not broadcast"),
    ],
)
@each_row("backend", ["numpy", "auto"])
def test_shapes_that_do_not_fit_are_named(shapes: Any, words: str, backend: str) -> None:
    with pytest.raises(ValueError, match=words):
        lab.attention(*drawn(0, *shapes), backend=backend)


def test_other_mistakes_are_told_in_words() -> None:
    x = drawn(0, (2, 4, 8))[0]
    with pytest.raises(TypeError, match="q, k and v are int64; attention takes floating-point numbers"):
        lab.attention(*[x.astype(int)] * 3)
    with pytest.raises(TypeError, match="float64, float32 and float64"):
        lab.attention(x, x.astype(np.float32), x)
    with pytest.raises(ValueError, match=r"mask \(3, 4\) does not broadcast to the scores \(2, 4, 4\)"):
        lab.attention(x, x, x, mask=np.ones((3, 4), bool))
    with pytest.raises(ValueError, match=r"mask \(1, 2, 4, 4\) does not broadcast"):
        lab.attention(x, x, x, mask=np.ones((1, 2, 4, 4), bool))
    with pytest.raises(TypeError, match="mask is int64; it must be boolean"):
        lab.attention(x, x, x, mask=np.ones((4, 4), int))
    with pytest.raises(ValueError, match="unknown backend 'cuda'; there are auto, numpy, torch,"):
        lab.attention(x, x, x, backend="cuda")
    with pytest.raises(ValueError, match="w_k has 5 columns; heads of q have 4"):
        lab.multi_head(x, np.eye(8), np.eye(8)[:, :5], np.eye(8), np.eye(8), 2)
    with pytest.raises(ValueError, match="w_q has 8 columns, which 3 heads cannot share evenly"):
        lab.multi_head(x, np.eye(8), np.eye(8), np.eye(8), np.eye(8), 3)
    with pytest.raises(ValueError, match="block is 0"):
        reference.online_attention(x, x, x, block=0)
    with pytest.raises(ValueError, match="one block at least"):
        lab.online_softmax([])
