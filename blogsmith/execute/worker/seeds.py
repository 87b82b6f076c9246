"""Makes random numbers of `random`, NumPy and torch reproducible, even if these modules are imported
later."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_SEEDED = frozenset(("random", "numpy.random", "torch"))


class Seeds:
    """Seeds the random generators of loaded modules and, as a module finder, of modules loaded later."""

    def __init__(self) -> None:
        self._seed: int | None = None

    @property
    def is_seeded(self) -> bool:
        """Whether the generators were started from a seed."""
        return self._seed is not None

    def seed(self, number: int) -> None:
        """Start every generator from `number` from now on."""
        if self._seed is None:
            sys.meta_path.insert(0, self)
        self._seed = number
        import random  # noqa: F401 - to be seeded now, not when somebody imports it

        for name in _SEEDED:
            _seed_module(name, sys.modules.get(name), number)

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        """Return the spec of the other finders, with a loader that seeds the module."""
        if name not in _SEEDED or self._seed is None:
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)):
                # a hook of `importing.py` may have called this finder already
                if spec.loader is not None and not isinstance(spec.loader, _Loader):
                    spec.loader = _Loader(spec.loader, self._seed)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """Loader that calls the real loader and seeds the module. The loaded module refers only to the real
    loader."""

    def __init__(self, loader: Any, number: int) -> None:
        self._loader = loader
        self._number = number

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _seed_module(module.__name__, module, self._number)


def fresh() -> None:
    """Seed loaded modules with random numbers of the system. Otherwise all forked processes would get the
    same numbers."""
    for name, method in (("random", "seed"), ("numpy.random", "seed"), ("torch", "seed")):
        if name in sys.modules:
            getattr(sys.modules[name], method)()


def _seed_module(name: str, module: Any, number: int) -> None:
    if module is None:
        return
    if name == "torch":
        # torch has no generator while it is being imported; its loader calls this again later
        seed = getattr(module, "manual_seed", None)
        if seed is not None:
            seed(number)
    elif name == "numpy.random":
        module.seed(number % 2**32)  # largest seed of NumPy
    else:
        module.seed(number)
