"""The door to `plugin_imports`, which is imported for sites that have plugins of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .plugin_code import PluginCode


@contextmanager
def guard_imports(code: PluginCode | None) -> Iterator[None]:
    """Imports inside are those of a site whose plugins are `code`; without any, nothing is different."""
    if code is None:
        yield
        return
    from .plugin_imports import guard_site_imports

    with guard_site_imports(code):
        yield
