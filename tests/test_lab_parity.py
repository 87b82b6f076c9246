"""Whether `compare` detects errors and accepts correct results, in NumPy alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.lab import Attended, ParityError, attention, causal_mask, compare, padding_mask
from blogsmith.lab.precision import DTYPES, dtype_name, naive, rounded
from blogsmith.lab.reference import online_attention
from blogsmith.render.outputs.html import clean_html
from tests.rows import each_row

Array = np.ndarray[Any, Any]
SHAPE = (2, 4, 33, 16)


def qkv(shape: tuple[int, ...] = SHAPE, seed: int = 0) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(seed)
    return tuple(random.standard_normal(shape) for _ in "qkv")  # type: ignore[return-value]


def written_out(
    q: Array, k: Array, v: Array, *, factor: float | None = None, mask: Array | None = None, axis: int = -1
) -> Array:
    """Return attention as a reader would write it, in the type of q."""
    scores = (q @ np.swapaxes(k, -1, -2)) * q.dtype.type(q.shape[-1] ** -0.5 if factor is None else factor)
    if mask is not None:
        scores = np.where(mask, scores, scores.dtype.type(-np.inf))
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
    output: Array = (weights / weights.sum(axis=axis, keepdims=True)) @ v
    return output


def in_half(q: Array, k: Array, v: Array) -> Array:
    """Compute in float16 on float32 input."""
    return written_out(*(x.astype(np.float16) for x in (q, k, v))).astype(q.dtype)


N = SHAPE[-2]
RIGHT: dict[str, tuple[Callable[..., Array | Attended], dict[str, Any]]] = {
    "written out": (written_out, {}),
    "scale": (lambda *x: written_out(*x, factor=0.3), {"scale": 0.3}),
    "causal": (lambda *x: written_out(*x, mask=causal_mask(N)), {"is_causal": True}),
    "padding": (lambda *x: written_out(*x, mask=padding_mask([5, N], N)), {"mask": padding_mask([5, N], N)}),
    "online": (lambda *x: online_attention(*x, block=7, is_causal=True), {"is_causal": True}),
    "with proof": (lambda *x: attention(*x, backend="numpy"), {}),
}
WRONG: dict[str, tuple[Callable[..., Array], dict[str, Any]]] = {
    "no scale": (lambda *x: written_out(*x, factor=1.0), {}),
    "scaled by d": (lambda *x: written_out(*x, factor=1 / 16), {}),
    "no causal mask": (written_out, {"is_causal": True}),
    "no padding mask": (written_out, {"mask": padding_mask([5, N], N)}),
    "one key too many": (lambda *x: written_out(*x, mask=np.tri(N, k=1, dtype=bool)), {"is_causal": True}),
    "mask the other way": (lambda *x: written_out(*x, mask=causal_mask(N).T), {"is_causal": True}),
    "wrong axis": (lambda *x: written_out(*x, axis=-2), {}),
    "one head for all": (lambda q, k, v: written_out(q, k[:, :1], v), {}),
    "half precision inside": (in_half, {}),
}


@each_row("name", RIGHT)
def test_what_is_right_passes(name: str) -> None:
    function, options = RIGHT[name]
    comparison = compare(*qkv(), backends={"mine": function}, **options)
    assert [(row.dtype, row.verdict) for row in comparison.rows] == [
        ("float32", "passes"),
        ("float64", "passes"),
    ]


@each_row("name", WRONG)
def test_what_is_wrong_is_caught(name: str) -> None:
    function, options = WRONG[name]
    with pytest.raises(ParityError) as caught:
        compare(*qkv(), backends=["numpy", {"mine": function}], **options)
    failed = caught.value.comparison.failures
    assert {row.backend for row in failed} == {"mine"}
    assert {row.dtype for row in failed} == {"float32", "float64"}


def test_one_key_too_few_is_caught() -> None:
    mask = np.tri(N, k=-1, dtype=bool)
    mask[0, 0] = True
    with pytest.raises(ParityError):
        compare(*qkv(), is_causal=True, backends={"mine": lambda *x: written_out(*x, mask=mask)})


@given(
    st.integers(0, 999),
    st.sampled_from([(1, 1), (4, 4), (4, 2), (6, 1)]),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from([1, 5, 64]),
    st.booleans(),
    st.sampled_from(["", "boolean", "added"]),
)
def test_our_numpy_passes(
    seed: int, heads: tuple[int, int], n: int, m: int, d: int, is_causal: bool, mask: str
) -> None:
    random = np.random.default_rng(seed)
    q = random.standard_normal((2, heads[0], n, d))
    k, v = random.standard_normal((2, 2, heads[1], m, d))
    hidden = {"": None, "boolean": random.random((n, m)) < 0.7, "added": random.standard_normal((n, m))}[mask]
    comparison = compare(q, k, v, is_causal=is_causal, mask=hidden, backends="numpy", dtypes=DTYPES[2:])
    assert not comparison.failures


def test_the_message_says_what_failed_and_by_how_much() -> None:
    with pytest.raises(ParityError) as caught:
        compare(*qkv(), backends={"mine": WRONG["no scale"][0]}, dtypes="float32")
    first, _, *rows = str(caught.value).splitlines()
    row = caught.value.comparison.rows[0]
    assert row.max_abs_error is not None and row.bound is not None
    assert first.startswith("mine in float32 is off by ") and first.endswith("times the bound of 1.1e-05")
    assert float(first.split("by ")[1].split(",")[0]) == pytest.approx(row.max_abs_error, rel=0.05)
    assert float(first.split(", ")[1].split(" times")[0]) == pytest.approx(
        row.max_abs_error / row.bound, rel=0.05
    )
    assert [line.split()[0] for line in rows if "float32" in line] == ["mine"]


def test_without_check_the_table_says_it() -> None:
    comparison = compare(*qkv(), backends=["numpy", {"mine": WRONG["no scale"][0]}], check=False)
    assert [row.verdict for row in comparison.rows] == ["passes", "the reference itself", "fails", "fails"]
    assert repr(comparison).count("fails") == 2


def test_inputs_are_rounded_before_the_reference_sees_them() -> None:
    """A result that is exact on the rounded inputs differs by at most the last rounding."""
    given_types: list[np.dtype[Any]] = []

    def exact(q: Array, k: Array, v: Array) -> Array:
        given_types.append(q.dtype)
        return written_out(*(x.astype(np.float64) for x in (q, k, v))).astype(q.dtype)

    row = compare(*qkv(), backends={"exact": exact}, dtypes=[np.float16]).rows[0]
    assert given_types == [np.dtype("float16")]
    # outputs stay below 4; half a step of float16 there is 2⁻¹⁰
    assert row.max_abs_error is not None and row.max_abs_error <= 2**-10
    # inputs with the full 53 bits differ from rounded ones by more
    full = written_out(*qkv())
    exact_on_rounded = written_out(*(rounded(x, "float16").astype(np.float64) for x in qkv()))
    assert np.abs(full - exact_on_rounded).max() < 2**-7
    assert row.bound is not None and row.bound > row.max_abs_error


def test_what_a_backend_refuses_is_said() -> None:
    comparison = compare(*qkv(), backends="numpy", dtypes=["float32", "bfloat16"])
    assert [row.verdict for row in comparison.rows] == ["passes", "refused: NumPy has no bfloat16"]
    with pytest.raises(ParityError, match="numpy in bfloat16 refused: NumPy has no bfloat16"):
        compare(*qkv(), backends="numpy", dtypes="bfloat16")


def test_a_wrong_shape_and_nan_are_failures() -> None:
    nothing = {"first": lambda q, k, v: written_out(q, k, v)[0]}
    with pytest.raises(
        ParityError, match=r"its shape is \(4, 33, 16\), that of the reference \(2, 4, 33, 16\)"
    ):
        compare(*qkv(), backends=nothing)
    with pytest.raises(ParityError, match="mine in float32 gives NaN where the reference gives numbers"):
        compare(*qkv(), backends={"mine": lambda q, k, v: q * np.nan})


def test_an_exception_of_the_author_is_theirs() -> None:
    with pytest.raises(ZeroDivisionError):
        compare(*qkv(), backends={"mine": lambda q, k, v: 1 / 0})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backends": []}, "backends is empty"),
        ({"backends": ["numpy", "numpy"]}, "two of the name numpy"),
        ({"backends": "nunpy"}, "nunpy"),
        ({"dtypes": "float8"}, "unknown dtype float8; choose from float16, "),
    ],
)
def test_arguments_that_mean_nothing(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(*qkv(), **options)


def test_the_table_stands_in_a_page_as_it_is() -> None:
    comparison = compare(*qkv(), backends=["numpy", {"<mine>": written_out}])
    clean = clean_html(comparison._repr_html_(), "cell 1")
    assert clean.dropped == ()
    assert '<th scope="row">&lt;mine&gt;</th>' in clean.html
    assert '<th scope="col" class="align-right">max abs error</th>' in clean.html
    assert "<caption>Attention against the float64 reference</caption>" in clean.html


def test_numbers_of_the_table_repeat() -> None:
    assert repr(compare(*qkv(), backends="numpy")) == repr(compare(*qkv(), backends="numpy"))


@each_row(
    ("given_value", "kept"),
    [
        (1 + 2**-8, 1.0),  # a tie is rounded to even
        (1 + 3 * 2**-8, 1 + 2**-6),
        (1 + 2**-8 + 2**-20, 1 + 2**-7),
        (-0.1, -0.10009765625),
        (3.4e38, float("inf")),  # above the largest, by more than half a step
        (2**-133, 2**-133),  # the smallest above 0
        (0.0, 0.0),
        (float("-inf"), float("-inf")),
    ],
)
def test_bfloat16_keeps_eight_bits(given_value: float, kept: float) -> None:
    assert rounded(np.array([given_value]), "bfloat16").tolist() == [kept]


def test_bfloat16_of_nan_is_nan() -> None:
    payload = np.array([0x7FFFFFFF, 0x7F800001], np.uint32).view(np.float32)
    assert np.isnan(rounded(payload, "bfloat16")).all()


def test_naive_loses_more_the_less_a_precision_holds() -> None:
    exact = written_out(*qkv())
    errors = []
    for dtype in ("float64", "float32", "float16", "bfloat16"):
        q, k, v = (rounded(x, dtype) for x in qkv())
        errors.append(float(np.abs(naive(q, k, v, dtype) - exact).max()))
    assert errors[0] < 1e-14 < errors[1] < 1e-5 < errors[2] < 3e-3 < errors[3] < 1e-1


def test_naive_shares_heads_and_masks_as_the_reference_does() -> None:
    q, k, v = qkv()
    for hidden in (causal_mask(N), np.where(causal_mask(N), 0.5, -np.inf)):
        output = naive(q, k[:, :2], v[:, :2], "float64", mask=hidden)
        expected = attention(q, k[:, :2], v[:, :2], mask=hidden, backend="numpy").output
        assert np.allclose(output, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", np.float32, np.dtype("float32")])
def test_types_by_every_name(dtype: object) -> None:
    assert dtype_name(dtype) == "float32"
