"""The package flash-attn: not installed, replaced by a stand-in for its arguments, and on CUDA."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from blogsmith import lab
from blogsmith.lab import flash_package
from blogsmith.lab.shapes import Sizes, sizes

from .inputs import drawn, exact

torch = pytest.importorskip("torch", reason="torch is not installed; `make test-torch` has it")
torch_backends: Any = import_module("blogsmith.lab.torch_backends")


@pytest.mark.skipif(bool(flash_package.version()), reason="flash-attn is installed")
def test_flash_attn_where_there_is_none() -> None:
    with pytest.raises(
        lab.BackendError, match=r"the package flash-attn, .*, is not installed in this Python"
    ) as raised:
        lab.attention(*drawn(8, *[(2, 4, 8)] * 3), backend="flash-attn")
    assert raised.value.__cause__ is None and raised.value.__suppress_context__


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Replace flash-attn's function by plain torch and return the list of `causal` arguments of its calls.

    Causal masks are aligned to the bottom right, as in flash-attn.
    """
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
