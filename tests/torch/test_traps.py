"""Misleading evidence that a backend ran, and the evidence that proves it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blogsmith import lab
from blogsmith.lab.ran import profiled

torch = pytest.importorskip("torch", reason="torch is not installed; `make test-torch` has it")

FLASH = "aten::_scaled_dot_product_flash_attention_for_cpu"
MATH = "aten::_scaled_dot_product_attention_math"
sdpa: Any = torch.nn.functional.scaled_dot_product_attention


@pytest.fixture
def x() -> Any:
    return torch.randn(2, 4, 16, 8)


@pytest.fixture
def flash_off() -> Iterator[None]:
    """Turn off the flash switch of `torch.backends.cuda`."""
    before = torch.backends.cuda.flash_sdp_enabled()
    torch.backends.cuda.enable_flash_sdp(False)
    yield
    torch.backends.cuda.enable_flash_sdp(before)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_switch_is_on_where_nothing_can_run(x: Any) -> None:
    """The switch is on in a build without CUDA: it says only what would be allowed."""
    assert torch.backends.cuda.flash_sdp_enabled()
    assert torch.backends.cuda.mem_efficient_sdp_enabled()
    for choice in ("flash", "efficient"):
        with pytest.raises(lab.BackendError):
            lab.attention(x, x, x, backend=f"torch-cuda:{choice}")
    cuda = [tried for tried in lab.device_report().backends if tried.device == "cuda"]
    assert cuda and not any(tried.ran for tried in cuda)


def test_flash_of_the_cpu_is_told_from_flash_of_cuda(x: Any) -> None:
    """`_fused_sdp_choice` returns 1, FLASH_ATTENTION, for both."""
    assert torch._fused_sdp_choice(x, x, x) == int(torch.nn.attention.SDPBackend.FLASH_ATTENTION)
    ran = lab.attention(x, x, x).ran
    assert (ran.backend, ran.device, ran.operators) == ("flash", "cpu", (FLASH,))
    assert str(ran) == f"flash on the CPU ({FLASH})"


def test_no_switch_and_no_forecast_is_asked() -> None:
    """The code of the lab contains none of these names outside its messages."""
    forecasts = {
        "_fused_sdp_choice",
        "can_use_cudnn_attention",
        "can_use_efficient_attention",
        "can_use_flash_attention",
        "cudnn_sdp_enabled",
        "flash_sdp_enabled",
        "is_flash_attention_available",
        "math_sdp_enabled",
        "mem_efficient_sdp_enabled",
    }
    for file in Path(lab.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
            assert name not in forecasts, f"{file.name}:{getattr(node, 'lineno', 0)}"


@pytest.mark.usefixtures("flash_off")
def test_the_switch_decides_for_the_cpu_too_and_is_seen(x: Any) -> None:
    assert lab.attention(x, x, x).ran.backend == "math"
    # An explicitly requested backend runs even if the switch is off.
    assert lab.attention(x, x, x, backend="torch:flash").ran.backend == "flash"
    assert not torch.backends.cuda.flash_sdp_enabled()


@pytest.mark.parametrize("mode", ["grad", "no_grad", "inference_mode"])
@pytest.mark.parametrize(("backend", "expected"), [("auto", "flash"), ("torch:math", "math")])
def test_the_proof_holds_in_every_mode_of_autograd(x: Any, mode: str, backend: str, expected: str) -> None:
    """Under inference_mode torch reports one composite operator.

    Its choice of a backend is visible only if that operator is decomposed.
    """
    if mode == "grad":
        x.requires_grad_()
        ran = lab.attention(x, x, x, backend=backend).ran
    else:
        with getattr(torch, mode)():
            output, ran = lab.attention(x, x, x, backend=backend)
            assert torch.equal(output, lab.attention(x, x, x, backend=backend).output)
    assert ran.backend == expected
    assert ran.operators


def test_a_mask_that_learns_leaves_flash_and_is_seen(x: Any) -> None:
    mask = torch.zeros(16, 16, requires_grad=True)
    assert lab.attention(x, x, x, mask=mask).ran.backend == "math"
    assert lab.attention(x, x, x, mask=mask.detach()).ran.backend == "flash"


@pytest.mark.parametrize(
    ("call", "backend", "operators"),
    [
        (lambda x: sdpa(x, x, x), "flash", (FLASH,)),
        (lambda x: sdpa(x, x, x, is_causal=True), "flash", (FLASH,)),
        (lambda x: sdpa(x, x[:, :2], x[:, :2], enable_gqa=True), "flash", (FLASH,)),
        # Without four axes, with dropout or with another width of values, torch silently uses another
        # backend.
        (lambda x: sdpa(x[0], x[0], x[0]), "math", (MATH,)),
        (lambda x: sdpa(x, x, x, dropout_p=0.1), "math", (MATH,)),
        (lambda x: sdpa(x, x, x[..., :5]), "math", (MATH,)),
        (
            lambda x: torch.softmax(x @ x.mT, -1) @ x,
            "own",
            ("aten::softmax", "aten::_softmax", "aten::matmul", "aten::bmm"),
        ),
        (lambda x: x.numpy() + 1, "own", ()),
    ],
)
def test_the_profiler_names_what_ran(x: Any, call: Any, backend: str, operators: tuple[str, ...]) -> None:
    ran = profiled(lambda: call(x))
    assert (ran.backend, ran.device, ran.operators, ran.kernels) == (backend, "cpu", operators, ())


@pytest.mark.parametrize("backend", ["torch:flash", "torch:math"])
def test_dispatcher_and_profiler_agree(x: Any, backend: str) -> None:
    seen = []
    ran = profiled(lambda: seen.append(lab.attention(x, x, x, backend=backend).ran))
    assert ran.backend == seen[0].backend == backend.partition(":")[2]
    assert len(seen) == 1


def test_the_profiler_is_quiet_and_others_are_not(x: Any, capfd: pytest.CaptureFixture[str]) -> None:
    profiled(lambda: os.write(2, b"kept\nUSDT: dropped\n"))
    assert capfd.readouterr().err == "kept\n"
    with pytest.raises(ZeroDivisionError):
        profiled(lambda: os.write(2, b"before\n") / 0)
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "before\nafter\n"


@pytest.mark.cuda
@pytest.mark.parametrize(
    ("backend", "operator", "kernel"),
    [
        ("flash", "aten::_scaled_dot_product_flash_attention", "flash"),
        ("efficient", "aten::_scaled_dot_product_efficient_attention", "fmha"),
        ("cudnn", "aten::_scaled_dot_product_cudnn_attention", "cudnn"),
        ("math", MATH, ""),
    ],
)
def test_on_cuda_operator_and_kernel_prove_it(backend: str, operator: str, kernel: str) -> None:
    x = torch.randn(1, 8, 128, 64, dtype=torch.float16, device="cuda")
    ran = profiled(lambda: lab.attention(x, x, x, backend=f"torch-cuda:{backend}"))
    assert (ran.backend, ran.device, ran.operators) == (backend, "cuda", (operator,))
    assert any(kernel in name for name in ran.kernels), ran.kernels
