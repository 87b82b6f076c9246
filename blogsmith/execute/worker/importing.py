"""Hook that calls a function when a module is imported. Setting the hook does not import the module."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType
    from typing import Any

    Execute = Callable[[ModuleType], Any]
    ExecuteHook = Callable[[Execute, ModuleType], None]
    """Function called with the executor of a module and the module. It must call the executor with the
    module."""


class _ImportHook:
    """Import finder for one module, which lets the other finders find it and then removes itself."""

    def __init__(self, name: str, around: ExecuteHook) -> None:
        self.name = name
        self._around = around

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        """Return the spec that the other finders return, with a loader that calls `around`."""
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path)
        spec = next(filter(None, specs), None)
        if spec and spec.loader:
            execute, around = spec.loader.exec_module, self._around

            def exec_module(module: ModuleType) -> None:
                around(execute, module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def on_import(name: str, around: ExecuteHook) -> None:
    """When the module `name` is imported, call `around`, which must execute the module. This replaces an
    earlier hook."""
    sys.meta_path[:] = [
        finder for finder in sys.meta_path if not (isinstance(finder, _ImportHook) and finder.name == name)
    ]
    sys.meta_path.insert(0, _ImportHook(name, around))


def after_import(name: str, take: Callable[[Any], None]) -> None:
    """Call `take` with a module: now if the module is loaded, otherwise after its import. `take` may raise an
    AttributeError, because the site may contain another module of this name."""

    def around(execute: Execute, module: ModuleType) -> None:
        execute(module)
        with suppress(AttributeError):
            take(module)

    if name in sys.modules:
        with suppress(AttributeError):
            take(sys.modules[name])
    else:
        on_import(name, around)
