"""The lab without torch: imports, error messages for missing parts, and names of the code that ran."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from blogsmith import lab
from blogsmith.lab import flash_package, reference
from blogsmith.lab.ran import Ran, kernel_name, profiled, ran_by_names
from blogsmith.lab.scaled_dot_product import BACKENDS
from tests.rows import each_row


def drawn(seed: int, *shapes: tuple[int, ...], dtype: Any = np.float64) -> list[Any]:
    """Return standard normal arrays."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def test_the_numpy_backend_is_the_reference() -> None:
    q, k, v = drawn(8, (2, 4, 8), (2, 5, 8), (2, 5, 3), dtype=np.float32)
    output, ran = lab.attention(q, k, v, is_causal=True, scale=0.5, backend="numpy")
    np.testing.assert_array_equal(output, reference.attention(q, k, v, is_causal=True, scale=0.5))
    assert ran == Ran("numpy", "cpu")
    assert str(ran) == "numpy on the CPU"
    assert lab.attention(q.tolist(), k.tolist(), v.tolist(), backend="numpy").output.dtype == np.float64


@pytest.fixture
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a Python where torch and flash-attn are not installed."""
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "flash_attn", None)


@pytest.mark.usefixtures("without_torch")
def test_without_torch_there_is_numpy() -> None:
    x = drawn(9, (4, 8))[0]
    assert lab.attention(x, x, x).ran.backend == "numpy"
    for backend in BACKENDS[2:-1]:
        with pytest.raises(
            lab.BackendError, match=f"^backend {backend} cannot run: it needs torch, which is not"
        ):
            lab.attention(x, x, x, backend=backend)
    with pytest.raises(
        lab.BackendError, match=r"^backend flash-attn cannot run: the package flash-attn, Flash"
    ):
        lab.attention(x, x, x, backend="flash-attn")
    assert profiled(lambda: lab.attention(x, x, x)) == Ran("own", "cpu")


@pytest.mark.usefixtures("without_torch")
def test_the_report_of_a_machine_without_torch() -> None:
    report = lab.device_report()
    assert (report.torch, report.cuda, report.devices, report.flash_attn) == ("", "", (), "")
    assert report.numpy == np.__version__
    assert {tried.backend: tried.ran for tried in report.backends if tried.ran} == {"numpy": "numpy"}
    text = str(report)
    assert "\ntorch       not installed\n" in text
    assert "torch:flash" in text
    assert "it needs torch, which is not installed" in text
    assert report._repr_html_().count("<table>") == 2


def test_a_broken_flash_attn_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flash_package, "version", lambda: "2.8.3")
    monkeypatch.setitem(sys.modules, "flash_attn", None)
    with pytest.raises(
        lab.BackendError, match="cannot be imported, perhaps it was built for another torch: "
    ):
        flash_package.loaded()


FLASH_CPU = "aten::_scaled_dot_product_flash_attention_for_cpu"


@each_row(
    ("names", "sdpa", "backend", "proof"),
    [
        (["aten::transpose", FLASH_CPU], True, "flash", (FLASH_CPU,)),
        (["aten::_scaled_dot_product_flash_attention"], False, "flash", None),
        (["aten::_scaled_dot_product_efficient_attention"], False, "efficient", None),
        (["aten::_scaled_dot_product_cudnn_attention"], False, "cudnn", None),
        (["aten::_scaled_dot_product_fused_attention_overrideable"], False, "fused", None),
        (["aten::_scaled_dot_product_attention_math", "aten::bmm"], False, "math",
         ("aten::_scaled_dot_product_attention_math",)),
        (["aten::_scaled_dot_product_attention_math_for_mps"], False, "math", None),
        (["aten::_scaled_dot_product_attention_math", FLASH_CPU], False, "flash", (FLASH_CPU,)),
        (["aten::mul", "aten::bmm", "aten::_safe_softmax", "aten::bmm"], True, "math",
         ("aten::_safe_softmax", "aten::bmm")),
        (["aten::mul", "aten::bmm", "aten::_softmax"], False, "own", ("aten::_softmax", "aten::bmm")),
        (["aten::zeros"], True, "none", ()),
        (["aten::zeros"], False, "own", ()),
        (["flash_attn::_flash_attn_forward", "aten::empty"], False, "flash-attn",
         ("flash_attn::_flash_attn_forward",)),
        (["aten::scaled_dot_product_attention"], False, "own", ()),
    ],
)  # fmt: skip
def test_what_ran_is_read_from_names(
    names: list[str], sdpa: bool, backend: str, proof: tuple[str, ...] | None
) -> None:
    ran = ran_by_names(names, "cpu", sdpa=sdpa)
    assert (ran.backend, ran.operators) == (backend, tuple(names) if proof is None else proof)


def test_what_ran_reads_well() -> None:
    kernels = ["void pytorch_flash::flash_fwd_kernel<Traits<64, 128>, false>(Params)"]
    ran = ran_by_names(["aten::_scaled_dot_product_flash_attention"], "cuda", map(kernel_name, kernels))
    assert str(ran) == (
        "flash on CUDA (aten::_scaled_dot_product_flash_attention, pytorch_flash::flash_fwd_kernel)"
    )
    assert (
        kernel_name("fmha_cutlassF_f16_aligned_64x64_rf_sm80(Params)")
        == "fmha_cutlassF_f16_aligned_64x64_rf_sm80"
    )
    assert kernel_name("void (anonymous namespace)::softmax_warp<float>(float*)") == "softmax_warp"


@pytest.mark.parametrize(
    ("demangled", "name"),
    [
        ("void cutlass::device_kernel<flash::FlashAttnFwdSm90<Loop<2>, Tile>>(Params)",
         "flash::FlashAttnFwdSm90"),
        ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64>(Params)",
         "cutlass_80_tensorop_s1688gemm_128x64"),
        ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_kernel0_0",
         "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_kernel0_0"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)",
         "at::native::vectorized_elementwise_kernel"),
    ],
)  # fmt: skip
def test_kernels_have_names_that_tell(demangled: str, name: str) -> None:
    assert kernel_name(demangled) == name


def test_the_lab_is_cheap_to_import() -> None:
    """Drawing needs no NumPy and computing no torch; nothing of the builder is imported."""
    code = (
        "import sys, blogsmith.lab as lab; before = set(sys.modules)\n"
        "assert 'numpy' not in before and not [n for n in before if n.startswith('blogsmith.lab.')], before\n"
        "lab.attention([[1.0]], [[1.0]], [[1.0]], backend='numpy')\n"
        "assert 'torch' not in sys.modules\n"
        "ours = {n.split('.')[1] for n in sys.modules if n.startswith('blogsmith.')}\n"
        "assert ours == {'lab'}, ours\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_public_name_is_found() -> None:
    assert lab.__all__ == sorted(lab.__all__)
    assert set(lab._HOMES) == set(lab.__all__)
    assert set(lab.__all__) <= set(dir(lab))
    for name in lab.__all__:
        assert getattr(lab, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'atention'"):
        _ = lab.atention
