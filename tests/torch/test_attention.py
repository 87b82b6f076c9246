"""Attention through torch: every backend agrees with the reference for all shapes and masks."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith import lab
from blogsmith.lab import devices
from blogsmith.lab.shapes import sizes

from .inputs import drawn, exact

torch = pytest.importorskip("torch", reason="torch is not installed; `make test-torch` has it")
torch_backends: Any = import_module("blogsmith.lab.torch_backends")

CPU = ("torch:flash", "torch:math")
SEEDS = st.integers(0, 2**32 - 1)
FLASH = "aten::_scaled_dot_product_flash_attention_for_cpu"


# Number of heads of q, and of k and v.
HEADS = st.sampled_from([(1, 1), (4, 4), (4, 2), (6, 2), (4, 1)])


@given(
    SEEDS, HEADS, st.integers(1, 9), st.integers(1, 9), st.booleans(), st.sampled_from(["", "bool", "float"])
)
@pytest.mark.parametrize("backend", CPU)
def test_it_is_the_reference(
    backend: str, seed: int, heads: tuple[int, int], n: int, m: int, is_causal: bool, kind: str
) -> None:
    arrays = drawn(seed, (2, heads[0], n, 8), (2, heads[1], m, 8), (2, heads[1], m, 8))
    rng = np.random.default_rng(seed)
    # Some rows may attend to nothing.
    mask: Any = None if not kind else rng.random((2, 1, n, m)) < 0.5
    if kind == "float":
        mask = np.where(mask, rng.normal(size=mask.shape), -np.inf).astype(np.float32)
    options = {"is_causal": is_causal, "mask": mask, "scale": 0.4}
    output, ran = lab.attention(*arrays, backend=backend, **options)
    np.testing.assert_allclose(output, exact(arrays, **options), rtol=1e-5, atol=3e-6)
    assert ran.backend == backend.partition(":")[2]


SHAPES = [
    ((3, 8), (5, 8), (5, 8)),
    ((4, 3, 8), (2, 5, 8), (2, 5, 8)),
    ((3, 8), (2, 5, 8), (5, 8)),
    ((2, 4, 3, 8), (4, 5, 8), (1, 1, 5, 8)),
    ((7, 2, 4, 3, 8), (2, 2, 5, 8), (7, 1, 2, 5, 8)),
    ((7, 1, 1, 3, 8), (2, 4, 5, 8), (5, 8)),
]


@pytest.mark.parametrize("keys", [(2, 1, 5, 8), (1, 5, 8), (5, 8)])
def test_one_head_of_keys_for_all_is_handed_on_as_one(
    monkeypatch: pytest.MonkeyPatch, keys: tuple[int, ...]
) -> None:
    """On a GPU, a copy for each head of q took fifty times as long as the attention."""
    arrays = drawn(12, (2, 6, 4, 8), keys, keys)
    given_to: list[tuple[int, bool]] = []
    function = torch.nn.functional.scaled_dot_product_attention

    def watched(q: Any, k: Any, v: Any, **options: Any) -> Any:
        given_to.append((k.shape[1], options.get("enable_gqa", False)))
        return function(q, k, v, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", watched)
    output, ran = lab.attention(*arrays, is_causal=True, backend="torch:flash")
    np.testing.assert_allclose(output, exact(arrays, is_causal=True), rtol=1e-5, atol=2e-6)
    assert (given_to, ran.backend) == ([(1, True)], "flash")


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("masked", [False, True])
def test_leading_axes_of_every_kind_stay_with_flash(shapes: Any, masked: bool) -> None:
    arrays = drawn(1, *shapes)
    size = sizes(*shapes)
    rng = np.random.default_rng(2)
    masks: list[Any] = [None]
    if masked:
        masks = [rng.random(s) < 0.7 for s in [(3, 5), (5,), (*size.lead, 3, 5), (*size.lead[-1:], 3, 1)]]
        masks.append(rng.random((*(1 for _ in size.lead[:-1]), *size.lead[-1:], 3, 5)) < 0.7)
    for mask in masks:
        output, ran = lab.attention(*arrays, mask=mask, backend="torch:flash")
        np.testing.assert_allclose(output, exact(arrays, mask=mask), rtol=1e-5, atol=2e-6)
        assert (output.shape, ran.operators) == ((*size.lead, 3, 8), (FLASH,))


@pytest.mark.parametrize("backend", ["torch", "torch:math"])
def test_values_of_another_width_and_empty_inputs(backend: str) -> None:
    arrays = drawn(2, (2, 3, 8), (2, 5, 8), (2, 5, 3))
    output, ran = lab.attention(*arrays, backend=backend)
    np.testing.assert_allclose(output, exact(arrays), rtol=1e-5, atol=1e-6)
    assert ran.backend == "math"
    none, ran = lab.attention(arrays[0], *(x[:, :0] for x in arrays[1:]), backend=backend)
    np.testing.assert_array_equal(none, np.zeros((2, 3, 3)))
    # torch 2.13 computes nothing; torch 2.11 runs its operators on empty tensors.
    assert ran.backend in ("none", "math") and bool(ran.operators) == (ran.backend == "math")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("backend", ["auto", "numpy", "torch", *CPU])
def test_what_comes_out_is_of_the_kind_that_went_in(backend: str, dtype: str) -> None:
    tensors = [torch.from_numpy(x).to(getattr(torch, dtype)) for x in drawn(3, *[(2, 4, 16, 8)] * 3)]
    output, ran = lab.attention(*tensors, is_causal=True, backend=backend)
    assert (type(output), output.dtype) == (torch.Tensor, tensors[0].dtype)
    assert ran.device == "cpu"
    expected = exact([x.double().numpy() for x in tensors], is_causal=True)
    bound = {"float16": 3e-3, "bfloat16": 3e-2, "float32": 2e-6, "float64": 1e-14}[dtype]
    assert np.abs(output.double().numpy() - expected).max() < bound


def test_arrays_that_torch_does_not_take_as_they_are() -> None:
    (x,) = drawn(4, (4, 6, 8))
    strange = [
        np.broadcast_to(x[0], (4, 6, 8)),
        x[:, ::-1],
        np.asfortranarray(x),
        x.astype(">f4"),
    ]
    for array in strange:
        for backend in CPU:
            output, _ = lab.attention(array, array, array, backend=backend)
            np.testing.assert_allclose(output, exact([array] * 3), rtol=1e-5, atol=1e-6)
    assert lab.attention(x, x, x, backend="torch").ran.backend == "flash"


def test_gradients_flow_through_torch_only() -> None:
    x = torch.randn(2, 4, 8, requires_grad=True)
    ran = []
    for backend in ("auto", *CPU):
        x.grad = None
        output, seen = lab.attention(x, x, x, backend=backend)
        output.square().sum().backward()
        assert x.grad is not None and x.grad.abs().sum() > 0
        ran.append(seen.backend)
    assert ran == ["flash", "flash", "math"]
    with pytest.raises(ValueError, match="keeps no gradients"):
        lab.attention(x, x, x, backend="numpy")
    with torch.no_grad():
        assert lab.attention(x, x, x, backend="numpy").ran.backend == "numpy"


def test_kinds_that_are_mixed_are_refused_and_masks_of_either_kind_taken() -> None:
    (x,) = drawn(5, (2, 4, 8))
    with pytest.raises(TypeError, match="all NumPy arrays or all tensors"):
        lab.attention(x, torch.from_numpy(x), x)
    with pytest.raises(TypeError, match=r"torch\.float32, torch\.float64"):
        lab.attention(torch.from_numpy(x), torch.from_numpy(x).double(), torch.from_numpy(x))
    with pytest.raises(TypeError, match=r"mask is torch\.int64"):
        lab.attention(x, x, x, mask=torch.ones(4, 4, dtype=torch.long))
    seen = np.tri(4, dtype=bool)
    for backend in ("numpy", "torch"):
        mixed = lab.attention(x, x, x, mask=torch.from_numpy(seen), backend=backend).output
        np.testing.assert_allclose(mixed, exact([x] * 3, mask=seen), rtol=1e-5, atol=1e-6)
        output = lab.attention(*[torch.from_numpy(x)] * 3, mask=seen, backend=backend).output
        np.testing.assert_allclose(output.numpy(), mixed, rtol=1e-5, atol=1e-6)


def test_a_forced_backend_that_is_impossible_says_why() -> None:
    q, k, v = drawn(6, (2, 3, 8), (2, 5, 8), (2, 5, 3))
    with pytest.raises(lab.BackendError) as raised:
        lab.attention(q, k, v, backend="torch:flash")
    assert str(raised.value) == (
        "backend torch:flash cannot run: Flash attention requires q,k,v to have the same last dimension. "
        "Got Query.size(-1): 8, Key.size(-1): 8, Value.size(-1): 3 instead."
    )
    # If torch gives no reason, the error contains only the message of torch.
    learned = torch.zeros(3, 5, requires_grad=True)
    with pytest.raises(lab.BackendError, match=r"^backend torch:flash cannot run: No available kernel"):
        lab.attention(q, k, k, mask=learned, backend="torch:flash")


def test_other_errors_of_torch_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", full)
    with pytest.raises(torch.OutOfMemoryError):
        lab.attention(*drawn(7, *[(2, 4, 8)] * 3), backend="torch:math")


def test_groups_are_repeated_for_a_backend_that_knows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """`efficient` exists only on CUDA, so the code path is tested with another kernel under its name."""
    shapes = ((2, 6, 4, 8), (2, 2, 5, 8), (2, 2, 5, 8))
    arrays = drawn(10, *shapes)
    monkeypatch.setattr(torch_backends, "CHOICES", {"efficient": torch_backends.CHOICES["math"]})
    given_to: list[tuple[int, dict[str, Any]]] = []
    function = torch.nn.functional.scaled_dot_product_attention

    def watched(q: Any, k: Any, v: Any, **options: Any) -> Any:
        given_to.append((k.shape[1], options))
        return function(q, k, v, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", watched)
    output, _ = torch_backends.attend(
        *map(torch.from_numpy, arrays),
        sizes(*shapes),
        mask=None,
        is_causal=False,
        scale=None,
        choice="efficient",
    )
    np.testing.assert_allclose(output.numpy(), exact(arrays), rtol=1e-5, atol=1e-6)
    assert [(heads, "enable_gqa" in options) for heads, options in given_to] == [(6, False)]


def test_rows_that_may_look_at_nothing_are_emptied_whatever_a_kernel_gives() -> None:
    output = torch.full((1, 1, 3, 2), torch.nan)
    seen = torch.tensor([[True, False], [False, False], [False, True]])
    mask = torch.zeros(3, 2).masked_fill(~seen, -torch.inf)
    emptied = torch_backends._emptied(output, mask[None, None])
    assert emptied[0, 0].isnan().all(dim=-1).tolist() == [True, False, True]
    assert emptied[0, 0, 1].tolist() == [0, 0]


def test_the_audit_hooks_hear_what_ran() -> None:
    heard: list[tuple[Any, ...]] = []
    listening = [True]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        # An audit hook cannot be removed.
        if listening and event == "blogsmith.lab.ran":
            heard.append(arguments)

    sys.addaudithook(hook)
    arrays = drawn(11, *[(2, 4, 8)] * 3)
    lab.attention(*arrays, backend="torch:flash")
    lab.attention(*arrays, backend="torch:math")
    lab.attention(*arrays, backend="numpy")
    lab.device_report()
    devices.present_backends()
    listening.clear()
    assert heard == [("cpu", "flash", FLASH), ("cpu", "math", "aten::_safe_softmax")]


def test_the_report_names_what_was_tried() -> None:
    report = lab.device_report()
    assert report.torch == torch.__version__
    assert report.torch_threads == torch.get_num_threads()
    ran = {tried.backend: tried.ran for tried in report.backends}
    assert (ran["torch:flash"], ran["torch:math"]) == ("flash", "math")
    assert devices.present_backends() == tuple(name for name, what in ran.items() if what)
    assert all(tried.ran or tried.reason for tried in report.backends)
    assert len(report.devices) == (torch.cuda.device_count() if torch.cuda.is_available() else 0)
    assert "torch:flash" in str(report)
    assert "<td>flash</td>" in report._repr_html_()
