"""Optional packages, and the commands that install them into an environment.

A command names the packages themselves, never an extra of blogsmith: the name `blogsmith` in package
registries belongs to another project, and blogsmith may be installed from a checkout.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

DISTRIBUTION = "blogsmith-site"
"""Name of the blogsmith distribution."""
EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "dask": ("distributed>=2026.8",),
        "lsp": ("pygls>=2.1",),
        "pdf": ("typst>=0.15,<0.16",),
        "search": ("pagefind>=1.5", "pagefind-bin>=1.5"),
        "jupyter": ("ipykernel>=6.29", "jupyter-client>=8.6", "jupyter-kernel-client>=1.0"),
    }
)
"""Name of an extra → its packages, as in pyproject.toml. Contains only the extras that hints mention."""
PACKAGES: Mapping[str, str] = MappingProxyType(
    {
        **{
            name: name
            for name in (
                *("altair", "bokeh", "einops", "jax", "matplotlib", "networkx", "numba", "numpy", "pandas"),
                *("plotly", "polars", "requests", "scipy", "seaborn", "statsmodels", "sympy", "torch"),
                *("tqdm", "transformers", "xarray"),
            )
        },
        **{"PIL": "pillow", "bs4": "beautifulsoup4", "cv2": "opencv-python-headless", "yaml": "pyyaml"},
        **{"skimage": "scikit-image", "sklearn": "scikit-learn"},
    }
)
"""Module → package that provides it. A module not listed here gets no install command: a package with the
same name might be a stranger's."""


def extra_install_command(name: str) -> str:
    """Return the command that installs the packages of an extra into the environment of this process."""
    return install_command(*EXTRAS[name])


def install_command(*packages: str, prefix: Path | None = None) -> str:
    """Return the command that installs packages into the environment at `prefix`, by default that of this
    process."""
    prefix = prefix or Path(sys.prefix)
    if (prefix / "pipx_metadata.json").is_file():
        # pipx names an environment after its folder
        return _join("pipx", "inject", prefix.name, *packages)
    receipt = prefix / "uv-receipt.toml"
    if receipt.is_file() and (wanted := _requirements(receipt)):
        # a package added in any other way is lost at the next `uv tool upgrade`
        others = [word for package in (*wanted[1:], *packages) for word in ("--with", package)]
        return _join("uv", "tool", "install", *others, wanted[0])
    if receipt.is_file() or importlib.util.find_spec("pip") is None:
        return _join("uv", "pip", "install", "--python", str(prefix), *packages)
    return _join(sys.executable, "-m", "pip", "install", *packages)


def python_install_command(python: str, *packages: str) -> str:
    """Return the command that installs packages for a Python. python: path of its program."""
    if Path(python) == Path(sys.executable):
        return install_command(*packages)
    programs = Path(python).parent
    is_environment = (programs.parent / "pyvenv.cfg").is_file()
    if is_environment and not any((programs / name).exists() for name in ("pip", "pip.exe")):
        return _join("uv", "pip", "install", "--python", python, *packages)
    return _join(python, "-m", "pip", "install", *packages)


def module_install_command(python: str, module: str) -> str:
    """Return the command that installs a missing module; empty if `PACKAGES` does not list it."""
    return python_install_command(python, PACKAGES[module]) if python and module in PACKAGES else ""


def _requirements(receipt: Path) -> Sequence[str]:
    """Return the requirements in the receipt of a `uv tool install`, the tool first. The result is empty if a
    command line cannot express all of them."""
    import tomllib

    try:
        tool: dict[str, Any] = tomllib.loads(receipt.read_text("utf-8"))["tool"]
        found = [_requirement(entry) for entry in tool["requirements"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ()
    # options, for example another index, would have to be repeated, and they have no common form
    return found if found and all(found) and not tool.get("options") else ()


def _requirement(entry: dict[str, Any]) -> str:
    extras = f"[{','.join(entry['extras'])}]" if entry.get("extras") else ""
    if place := entry.get("directory") or entry.get("path"):
        return f"{place}{extras}"
    known = entry.keys() <= {"name", "extras", "specifier"}
    return f"{entry['name']}{extras}{entry.get('specifier', '')}" if known else ""


def _join(*words: str) -> str:
    """Return a command line, quoted for the shell of this system."""
    if os.name != "nt":
        return shlex.join(words)
    import subprocess

    return subprocess.list2cmdline(words)
