"""A word in the import of one module, without importing it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType
    from typing import Any

    Execute = Callable[[ModuleType], Any]
    Around = Callable[[Execute, ModuleType], None]
    """Called with what fills the module, and with the module; it has to call the first with the second."""


class _Once:
    """A finder that leaves the finding to the others, and goes when it has been asked."""

    def __init__(self, name: str, around: Around) -> None:
        self.name = name
        self._around = around

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        """The spec the other finders give, its loader made to go through `around`."""
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


def on_import(name: str, around: Around) -> None:
    """Have `around` fill the module `name` when it is imported; it takes the place of an earlier one."""
    sys.meta_path[:] = [
        finder for finder in sys.meta_path if not (isinstance(finder, _Once) and finder.name == name)
    ]
    sys.meta_path.insert(0, _Once(name, around))
