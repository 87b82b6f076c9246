"""A machine with CUDA as the lab and sessions see it: devices, memory, settings and recorded metadata."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from blogsmith import lab
from blogsmith.execute.probe.requirements import has_device, unmet
from blogsmith.execute.session.session import run_session
from blogsmith.lab.measuring import is_out_of_memory, times_of
from blogsmith.lab.ran import profiled
from blogsmith.model.cells import Need
from tests.sessions import cell, job, printed

from .inputs import error_of, on_cuda

torch = pytest.importorskip("torch", reason="torch is not installed; `make test-torch` has it")
pytestmark = pytest.mark.cuda

EFFICIENT = "torch-cuda:efficient"


def test_the_report_of_a_machine_with_a_device() -> None:
    report = lab.device_report()
    assert re.fullmatch(r"\d+\.\d+(\.\d+)?", report.driver)
    assert report.cuda == (torch.version.cuda or "")
    assert [device.name for device in report.devices] == [
        torch.cuda.get_device_name(n) for n in range(torch.cuda.device_count())
    ]
    ran = {tried.backend: tried.ran for tried in report.backends if tried.device == "cuda"}
    assert ran["torch-cuda:math"] == "math" and ran[EFFICIENT] == "efficient"
    if torch.cuda.get_device_capability() >= (8, 0):
        assert ran["torch-cuda:flash"] == "flash"


def test_the_need_is_met_and_the_driver_seen() -> None:
    major, minor = torch.cuda.get_device_capability()
    needs = [Need("cuda"), Need("cuda", f"{major}.{minor}"), Need("cuda", f"{major + 1}.0")]
    found = unmet(needs, sys.executable, os.environ)
    assert has_device()
    assert found == {needs[2]: f"its CUDA device has capability {major}.{minor}, not {major + 1}.0"}


@pytest.mark.parametrize(
    ("needs", "sandbox"), [("cuda", "off"), ("cuda", "landlock"), ("torch", "off"), ("torch", "landlock")]
)
def test_a_session_computes_on_the_device(tmp_path: Path, needs: str, sandbox: str) -> None:
    code = (
        "import torch\n"
        "from blogsmith.lab import attention\n"
        "x = torch.ones(1, 2, 64, 64, dtype=torch.float16, device='cuda')\n"
        f"print(attention(x, x, x, backend={EFFICIENT!r}).output.sum().item())"
    )
    step = cell(1, code, timeout_s=120.0, memory_bytes=4 * 10**9)
    work = job(tmp_path, step, needs=(Need(needs),), cuda=needs == "cuda", sandbox=sandbox)
    run = run_session(work)
    if "Landlock" in run.problem:
        pytest.skip(run.problem)
    assert (run.problem, printed(run.cells[0])) == ("", "8192.0\n"), run
    assert (run.cells[0].device, run.machine.gpu) == ("cuda", torch.cuda.get_device_name())
    assert run.cells[0].sdpa == ("efficient aten::_scaled_dot_product_efficient_attention",)
    assert run.machine.capability and run.machine.driver and run.machine.cuda


def test_the_time_of_a_call_is_that_of_the_device() -> None:
    tensors = on_cuda(30, *[(1, 2, 32, 64)] * 3)

    def call() -> Any:
        return lab.attention(*tensors, backend="torch-cuda:math")

    times = times_of(call, on_cuda=True, repeats=20, budget_s=1, clock=time.perf_counter)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    call()
    torch.cuda.synchronize()
    # A dozen kernels of microseconds; each takes longer to launch than to run.
    assert 0 < times.median_s < time.perf_counter() - begin


def test_after_a_call_that_found_no_room_others_run() -> None:
    huge = torch.empty(1, 1, 1, 64, dtype=torch.float16, device="cuda").expand(4096, 64, 16384, 64)
    before = torch.cuda.memory_allocated()
    with pytest.raises(RuntimeError) as raised:
        lab.attention(huge, huge, huge, backend="torch-cuda:math")
    assert is_out_of_memory(raised.value)
    del raised
    (row, _) = lab.benchmark(
        ["torch-cuda:math", EFFICIENT], lengths=64, dtype="float16", repeats=1, batch=1
    ).rows
    assert row.status == "ok"
    # The matrix library keeps a workspace of up to 32 MiB.
    assert torch.cuda.memory_allocated() - before < 2**26


def test_what_runs_on_the_cpu_is_told_from_it() -> None:
    x = torch.randn(1, 2, 8, 64)
    assert profiled(lambda: lab.attention(x, x, x, backend="torch:flash")).device == "cpu"
    y = x.to("cuda")
    assert profiled(lambda: lab.attention(y, y, y, backend=EFFICIENT)).device == "cuda"


def test_the_proof_holds_in_every_mode() -> None:
    tensors = on_cuda(31, *[(1, 2, 128, 64)] * 3)
    for mode in (torch.no_grad, torch.inference_mode, lambda: torch.autocast("cuda", torch.bfloat16)):
        for choice in ("efficient", "math"):
            with mode():
                output, ran = lab.attention(*tensors, backend=f"torch-cuda:{choice}")
            assert (ran.backend, output.dtype) == (choice, torch.float16)
            assert error_of(output, tensors) < 3e-2


def test_settings_that_ask_for_equal_results_hold() -> None:
    tensors = on_cuda(32, *[(1, 4, 256, 64)] * 3)
    torch.use_deterministic_algorithms(True)
    try:
        for backend in ("torch-cuda", EFFICIENT):
            once, again = (lab.attention(*tensors, is_causal=True, backend=backend).output for _ in range(2))
            assert torch.equal(once, again)
        with pytest.raises(lab.BackendError, match="not deterministic"):
            lab.attention(*tensors, backend="torch-cuda:cudnn")
    finally:
        torch.use_deterministic_algorithms(False)


def test_a_call_can_be_captured() -> None:
    tensors = on_cuda(33, *[(1, 4, 128, 64)] * 3)
    mask = torch.ones(128, 128, dtype=torch.bool, device="cuda").tril(5)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            lab.attention(*tensors, mask=mask, backend=EFFICIENT)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output, ran = lab.attention(*tensors, mask=mask, backend=EFFICIENT)
    tensors[0].normal_()
    graph.replay()
    assert ran.backend == "efficient"
    assert error_of(output, tensors, mask=mask.cpu().numpy()) < 3e-3


@pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.device_count() < 2, reason="there is one device"
)
def test_tensors_stay_on_their_device() -> None:
    tensors = [x.to("cuda:1") for x in on_cuda(34, *[(1, 4, 128, 64)] * 3)]
    for backend in ("auto", "torch-cuda", EFFICIENT, "torch-cuda:math", "numpy"):
        output, _ = lab.attention(*tensors, backend=backend)
        assert output.device == tensors[0].device
        assert error_of(output, tensors) < 3e-3
