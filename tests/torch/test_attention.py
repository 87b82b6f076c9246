"""Attention through torch: every backend gives what the reference gives, whatever the shapes and masks."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith import lab
from blogsmith.lab import devices, flash_package, reference
from blogsmith.lab.scaled_dot_product import BACKENDS
from blogsmith.lab.shapes import Sizes, sizes

torch = pytest.importorskip("torch", reason="torch is not installed; `make test-torch` has it")
torch_backends: Any = import_module("blogsmith.lab.torch_backends")

CPU = ("torch:flash", "torch:math")
CUDA = ("torch-cuda:flash", "torch-cuda:efficient", "torch-cuda:cudnn", "torch-cuda:math")
SEEDS = st.integers(0, 2**32 - 1)
FLASH = "aten::_scaled_dot_product_flash_attention_for_cpu"


def drawn(seed: int, *shapes: tuple[int, ...], dtype: Any = np.float32) -> list[Any]:
    """Standard normal arrays."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def exact(arrays: list[Any], **options: Any) -> Any:
    """The reference in float64."""
    return reference.attention(*(np.asarray(x, np.float64) for x in arrays), **options)


# heads of q, of k and v
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
    # rows that may look at nothing are among them
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
    assert (ran.backend, ran.operators) == ("none", ())


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
    assert lab.attention(x, x, x).ran.backend == "flash"


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
    # where torch gives no reason, its own words are all there is
    learned = torch.zeros(3, 5, requires_grad=True)
    with pytest.raises(lab.BackendError, match=r"^backend torch:flash cannot run: No available kernel"):
        lab.attention(q, k, k, mask=learned, backend="torch:flash")


def test_other_errors_of_torch_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", full)
    with pytest.raises(torch.OutOfMemoryError):
        lab.attention(*drawn(7, *[(2, 4, 8)] * 3), backend="torch:math")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize("backend", [name for name in BACKENDS if name.startswith("torch-cuda")])
def test_cuda_where_there_is_none(backend: str) -> None:
    why = "(is built without CUDA|sees no CUDA device)"
    words = f"^backend {backend} cannot run: it needs CUDA, and torch .* {why}$"
    with pytest.raises(lab.BackendError, match=words):
        lab.attention(*drawn(8, *[(2, 4, 8)] * 3), backend=backend)


@pytest.mark.skipif(bool(flash_package.version()), reason="flash-attn is installed")
def test_flash_attn_where_there_is_none() -> None:
    with pytest.raises(
        lab.BackendError, match=r"the package flash-attn, .*, is not installed in this Python"
    ) as raised:
        lab.attention(*drawn(8, *[(2, 4, 8)] * 3), backend="flash-attn")
    assert raised.value.__cause__ is None and raised.value.__suppress_context__


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """flash-attn's function in plain torch, causal masks at the bottom right; notes `causal` of each call."""
    calls = []

    def flash_attn_func(q: Any, k: Any, v: Any, *, softmax_scale: float | None, causal: bool) -> Any:
        calls.append(causal)
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        n, m = q.shape[2], k.shape[2]
        seen = torch.ones(n, m, dtype=torch.bool).tril(m - n) if causal else None
        output = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=seen, scale=softmax_scale, enable_gqa=True
        )
        return output.transpose(1, 2)

    module = ModuleType("flash_attn")
    module.flash_attn_func = flash_attn_func  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "flash_attn", module)
    return calls


@pytest.mark.parametrize(("n", "m"), [(5, 5), (7, 4), (4, 7), (3, 1)])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("heads", [(), (4,), (2, 4)])
def test_flash_attn_is_called_as_it_wants(
    stand_in: list[bool], n: int, m: int, is_causal: bool, heads: tuple[int, ...]
) -> None:
    fewer = (*heads[:-1], heads[-1] // 2) if heads else ()
    shapes = ((*heads, n, 8), (*fewer, m, 8), (*fewer, m, 8))
    tensors = [torch.from_numpy(x).bfloat16() for x in drawn(9, *shapes)]
    output, ran = torch_backends.attend_by_package(
        *tensors, sizes(*shapes), mask=None, is_causal=is_causal, scale=0.3
    )
    expected = exact([x.double().numpy() for x in tensors], is_causal=is_causal, scale=0.3)
    assert output.shape == (*heads, n, 8)
    assert np.abs(output.double().numpy() - expected).max() < 3e-2
    assert (ran.backend, ran.operators) == ("flash-attn", ("flash_attn.flash_attn_func",))
    assert stand_in == [is_causal, *([False] if is_causal and n > m else [])]


@pytest.mark.usefixtures("stand_in")
def test_what_flash_attn_cannot_take() -> None:
    x = torch.randn(2, 4, 8).half()
    size = sizes(*[(2, 4, 8)] * 3)

    def call(q: Any, v: Any, size: Sizes, mask: Any = None) -> None:
        torch_backends.attend_by_package(q, q, v, size, mask=mask, is_causal=False, scale=None)

    with pytest.raises(lab.BackendError, match="takes no mask"):
        call(x, x, size, torch.ones(4, 4, dtype=torch.bool))
    with pytest.raises(lab.BackendError, match="takes float16 and bfloat16; q is float32"):
        call(x.float(), x.float(), size)
    with pytest.raises(lab.BackendError, match="wants d_k = d_v; they are 8 and 6"):
        call(x, x[..., :6], sizes((2, 4, 8), (2, 4, 8), (2, 4, 6)))
    if not torch.cuda.is_available():
        with pytest.raises(lab.BackendError, match=r"^backend flash-attn cannot run: it needs CUDA"):
            lab.attention(x, x, x, backend="flash-attn")


def test_groups_are_repeated_for_a_backend_that_knows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """`efficient` is of CUDA; the way there is tried with another kernel under its name."""
    shapes = ((2, 6, 4, 8), (2, 2, 5, 8), (2, 2, 5, 8))
    arrays = drawn(10, *shapes)
    monkeypatch.setattr(torch_backends, "CHOICES", {"efficient": torch_backends.CHOICES["math"]})
    given_to = []
    function = torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        torch.nn.functional,
        "scaled_dot_product_attention",
        lambda q, k, v, **options: given_to.append((k.shape[1], options)) or function(q, k, v, **options),
    )
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
    for mask in (seen, torch.zeros(3, 2).masked_fill(~seen, -torch.inf)):
        emptied = torch_backends._emptied(output, mask[None, None])
        assert emptied[0, 0].isnan().all(dim=-1).tolist() == [True, False, True]
        assert emptied[0, 0, 1].tolist() == [0, 0]


def test_the_audit_hooks_hear_what_ran() -> None:
    heard: list[tuple[Any, ...]] = []
    listening = [True]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        # a hook cannot be taken away
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
    assert heard == [("cpu", "flash", FLASH), ("cpu", "math", "aten::bmm")]


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


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("backend", ["torch-cuda", *CUDA])
@pytest.mark.parametrize("is_causal", [False, True])
def test_on_cuda_it_is_the_reference(backend: str, dtype: str, is_causal: bool) -> None:
    shapes = ((2, 8, 96, 64), (2, 8, 128, 64), (2, 8, 128, 64))
    tensors = [torch.from_numpy(x).to("cuda", getattr(torch, dtype)) for x in drawn(12, *shapes)]
    try:
        output, ran = lab.attention(*tensors, is_causal=is_causal, backend=backend)
    except lab.BackendError as error:
        if dtype == "float32":
            pytest.skip(str(error))
        raise
    assert (output.device, output.dtype, ran.device) == (tensors[0].device, tensors[0].dtype, "cuda")
    assert ran.backend == (backend.partition(":")[2] or ran.backend)
    expected = exact([x.double().cpu().numpy() for x in tensors], is_causal=is_causal)
    # float32 may be multiplied as tf32
    bound = {"float16": 3e-3, "bfloat16": 3e-2, "float32": 3e-3}[dtype]
    assert np.abs(output.double().cpu().numpy() - expected).max() < bound


@pytest.mark.cuda
@pytest.mark.parametrize("backend", ["torch-cuda", *CUDA])
def test_on_cuda_masks_and_groups_hold_or_are_refused_in_words(backend: str) -> None:
    shapes = ((2, 8, 64, 64), (2, 2, 64, 64), (2, 2, 64, 64))
    tensors = [torch.from_numpy(x).to("cuda", torch.float16) for x in drawn(13, *shapes)]
    mask = np.random.default_rng(0).random((64, 64)) < 0.5
    mask[5] = False
    for seen in (None, mask):
        try:
            output, _ = lab.attention(*tensors, mask=seen, backend=backend)
        except lab.BackendError as error:
            assert str(error).startswith(f"backend {backend} cannot run: ")
            continue
        expected = exact([x.double().cpu().numpy() for x in tensors], mask=seen)
        assert np.abs(output.double().cpu().numpy() - expected).max() < 3e-3


@pytest.mark.cuda
def test_on_cuda_arrays_go_there_and_come_back() -> None:
    arrays = drawn(14, *[(2, 4, 64, 64)] * 3, dtype=np.float16)
    output, ran = lab.attention(*arrays)
    assert (type(output), output.dtype, ran.device) == (np.ndarray, np.float16, "cuda")
    assert np.abs(output - exact(arrays)).max() < 3e-3


@pytest.mark.cuda
@pytest.mark.skipif(not flash_package.version(), reason="flash-attn is not installed")
@pytest.mark.parametrize(("n", "m"), [(64, 64), (64, 96), (96, 64)])
def test_on_cuda_the_package_is_the_reference(n: int, m: int) -> None:
    shapes = ((2, 8, n, 64), (2, 2, m, 64), (2, 2, m, 64))
    tensors = [torch.from_numpy(x).to("cuda", torch.float16) for x in drawn(15, *shapes)]
    output, ran = lab.attention(*tensors, is_causal=True, backend="flash-attn")
    expected = exact([x.double().cpu().numpy() for x in tensors], is_causal=True)
    assert np.abs(output.double().cpu().numpy() - expected).max() < 3e-3
    assert ran.backend == "flash-attn"
