"""Replacement of IPython's `display`, which only prints `<… object>` if no IPython shell is running.

Notebook authors import it by habit. It should show objects, as the builtin `display` does.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .importing import on_import

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from .importing import Execute

_NAME = "IPython.core.display_functions"


def install(display: Callable[..., None]) -> None:
    """Replace IPython's `display` by `display`. Nothing is imported. Call this again in a process forked
    later."""

    def shown(*objects: object, **_options: object) -> None:
        display(*objects)

    loaded = sys.modules.get(_NAME)
    if loaded:
        for name in (_NAME, "IPython.display", "IPython.core.display"):
            if hasattr(sys.modules.get(name), "display"):
                sys.modules[name].display = shown  # type: ignore[attr-defined]
        return

    def with_ours(execute: Execute, module: ModuleType) -> None:
        execute(module)
        module.display = shown  # type: ignore[attr-defined]

    # other modules import it from this one
    on_import(_NAME, with_ours)
