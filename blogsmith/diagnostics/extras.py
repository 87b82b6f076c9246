"""Packages that blogsmith can do without, and the command that installs them where blogsmith runs.

Commands name packages and never an extra: `blogsmith` in package registries is somebody else's, and ours need
not be published to be installed from a checkout.
"""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

DISTRIBUTION = "blogsmith-site"
"""Our own name as a package."""
EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "dask": ("distributed>=2026.8",),
        "lsp": ("pygls>=2.1",),
        "search": ("pagefind>=1.5", "pagefind-bin>=1.5"),
        "jupyter": ("ipykernel>=6.29", "jupyter-client>=8.6", "jupyter-kernel-client>=1.0"),
    }
)
"""Those that hints name; as in pyproject.toml."""


def install_extra(name: str) -> str:
    """What to type to install what an extra of ours brings, into the environment of this process."""
    return install_command(*EXTRAS[name])


def install_command(*packages: str, prefix: Path | None = None) -> str:
    """What to type to install packages into the environment at `prefix`, by default that of this process."""
    prefix = prefix or Path(sys.prefix)
    names = shlex.join(packages)
    if (prefix / "pipx_metadata.json").is_file():
        # pipx calls an environment by the name of its folder
        return f"pipx inject {shlex.quote(prefix.name)} {names}"
    if (prefix / "uv-receipt.toml").is_file() or importlib.util.find_spec("pip") is None:
        return f"uv pip install --python {shlex.quote(str(prefix))} {names}"
    return f"{shlex.quote(sys.executable)} -m pip install {names}"
