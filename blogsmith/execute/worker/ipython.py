"""IPython's `display`, which prints `<… object>` where no shell of IPython runs, made ours.

Notebooks import it by habit; what it is given shall be shown as by the builtin `display`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType
    from typing import Any

_NAME = "IPython.core.display_functions"


class _Finder:
    """Puts `display` into the module of IPython that defines it, as soon as it is imported."""

    def __init__(self, display: Callable[..., None]) -> None:
        self.display = display

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        """The spec the other finders give, its loader made to replace `display`."""
        if name != _NAME:
            return None
        sys.meta_path.remove(self)
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path)
        spec = next(filter(None, specs), None)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                module.display = self.display  # type: ignore[attr-defined]

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


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
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    sys.meta_path.insert(0, _Finder(shown))
