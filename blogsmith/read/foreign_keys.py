"""Front matter keys that change nothing where they stand: other generators' that would change where, when or
whether a post appears, or what runs its code; and those of `math:` outside it.

They are kept for the theme like every unknown key, but an author who moves a site here must not
believe that they are obeyed. Keys that only describe (`keywords`, `excerpt`) are left in peace.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..base.schema.slots import Slot

_PYTHON = "leave it out; execute: in blogsmith.yaml names the Python, execute: {kernel: NAME} here a kernel"
HINTS: Mapping[str, str] = MappingProxyType(
    {
        "lastmod": "write updated:",
        "last_modified_at": "write updated:",
        "date-modified": "write updated:",
        **{key: f"write math: {{{key}: …}}" for key in ("macros", "packages")},
        **dict.fromkeys(("jupyter", "kernelspec", "kernel", "engine", "knitr", "jupytext"), _PYTHON),
    }
)
"""Key → what does the same here."""


def warn_of_foreign_keys(head: Slot) -> None:
    """A warning for each key above."""
    for key in [key for key in head.value if key in HINTS]:
        head.key(key).warn("front-matter-key", f"{key} changes nothing here", HINTS[key])
