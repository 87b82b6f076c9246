"""Where the folders that ship with blogsmith are: `themes`, `plugins`, `starter`.

A wheel carries them inside the package; in a checkout `themes/` and `plugins/` stand beside it,
because the repository is itself a site of the shape any author's has.
"""

from __future__ import annotations

from pathlib import Path


def bundled_folder(name: str) -> Path:
    """The bundled folder `name`: the one inside the package, else the one beside it."""
    package = Path(__file__).resolve().parents[1]
    inside = package / name
    return inside if inside.is_dir() else package.parent / name
