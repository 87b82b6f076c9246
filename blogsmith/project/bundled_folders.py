"""Where the folders that ship with blogsmith are: `themes`, `plugins`, `starter`, `elements` and others.

A wheel carries them inside the package; in a checkout `themes/` and `plugins/` stand beside it,
because the repository is itself a site of the shape any author's has.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def package_folder() -> str:
    """Where the package itself is."""
    return os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def bundled_path(name: str) -> str:
    """The bundled folder `name`: the one inside the package, else the one beside it."""
    package = package_folder()
    inside = os.path.join(package, name)
    return inside if os.path.isdir(inside) else os.path.join(os.path.dirname(package), name)


def bundled_plugins() -> tuple[str, ...]:
    """Names of the bundled plugins, sorted."""
    names = os.listdir(bundled_path("plugins"))
    return tuple(sorted(name.removesuffix(".py") for name in names if name.endswith(".py")))


def bundled_folder(name: str) -> Path:
    """The same, as most want it."""
    from pathlib import Path

    return Path(bundled_path(name))
