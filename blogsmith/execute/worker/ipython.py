"""IPython's `display`, which prints `<… object>` where no shell of IPython runs, made ours.

Notebooks import it by habit; what it is given shall be shown as by the builtin `display`.
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
    """Imports nothing; again in a process forked after it."""

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

    # the module that defines it: others have it from there
    on_import(_NAME, with_ours)
