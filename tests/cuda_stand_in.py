"""A simulated CUDA machine: files and modules of the driver's tool, and a torch that has a device.

Nothing is computed. It shows how blogsmith handles the answers of a real machine.
"""

from __future__ import annotations

from pathlib import Path

TORCH = '''
import types

__version__ = "2.13.0"
_used = []


def use(device=0):
    """What any work on a device does."""
    _used.append(device)


def ones(count, device):
    {works}("nothing")
    return types.SimpleNamespace(sum=lambda: types.SimpleNamespace(item=lambda: float(count)))


version = types.SimpleNamespace(cuda={built!r})
cuda = types.SimpleNamespace(
    is_available=lambda: {available},
    is_initialized=lambda: bool(_used),
    device_count=lambda: len({names!r}),
    current_device=lambda: 0,
    memory_stats=lambda n: {{"allocation.all.allocated": _used.count(n)}},
    get_device_name=lambda n=0: {names!r}[n],
    get_device_capability=lambda n=0: (9, 0),
)
print("torch says hello")
'''


def put_torch(
    folder: Path,
    names: tuple[str, ...] = ("Some GPU",),
    built: str | None = "12.8",
    available: str = "True",
    works: str = "str",
) -> None:
    """Create a `torch.py` with devices of these names.

    available: expression for CUDA availability. works: function called when a device computes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = TORCH.format(names=names, built=built, available=available, works=works)
    (folder / "torch.py").write_text(text)


def put_tool(folder: Path, answer: str = "570.86.15", code: int = 0) -> None:
    """Create an `nvidia-smi` that always prints this answer."""
    folder.mkdir(parents=True, exist_ok=True)
    tool = folder / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\necho '{answer}'\nexit {code}\n")
    tool.chmod(0o755)
