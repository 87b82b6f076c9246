"""Mark the tests of this folder, and skip those that the machine cannot run, with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder `torch`, and skip tests marked `cuda` if there is no device."""
    ours = [item for item in items if HERE in item.path.parents]
    why_not = cuda_reason() if ours else ""
    for item in ours:
        item.add_marker(pytest.mark.torch)
        if why_not and item.get_closest_marker("cuda"):
            item.add_marker(pytest.mark.skip(reason=why_not))


@pytest.fixture(autouse=True)
def exact_products() -> Iterator[None]:
    """Keep float32 from being rounded to TF32, the default in some NVIDIA containers."""
    if find_spec("torch") is None:
        yield
        return
    torch = import_module("torch")
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    yield
    torch.set_float32_matmul_precision(before)


def cuda_reason() -> str:
    """Return why nothing can run on CUDA; empty if it can."""
    if find_spec("torch") is None:
        return "torch is not installed; `make test-torch` has it"
    torch = import_module("torch")
    return "" if torch.cuda.is_available() else f"torch {torch.__version__} sees no CUDA device"
