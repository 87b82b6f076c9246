"""Locations of the folders that are part of blogsmith, such as `themes`, `plugins`, `starter` and `elements`.

A wheel contains them inside the package. In a checkout, `themes/` and `plugins/` are next to the package,
because the repository itself is a site.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def package_folder() -> str:
    """Return the folder of the package."""
    return os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def bundled_path(name: str) -> str:
    """Return the path of the bundled folder `name`. It is inside the package or, in a checkout, next to the
    package."""
    package = package_folder()
    inside = os.path.join(package, name)
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), name)


def bundled_plugins() -> tuple[str, ...]:
    """Return the names of the bundled plugins, sorted."""
    names = os.listdir(bundled_path("plugins"))
    return tuple(sorted(name.removesuffix(".py") for name in names if name.endswith(".py")))


def bundled_folder(name: str) -> Path:
    """Return `bundled_path` as a `Path`."""
    from pathlib import Path

    return Path(bundled_path(name))
