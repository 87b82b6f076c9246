"""Files that a theme had in the site before: those of another theme, and fonts cut for other formulas.

A tab may just be loading a page that names them; and a page that a new theme cannot make stays as it was, in
the style it had.
"""

from __future__ import annotations

from ...build.snapshot import SiteSnapshot
from ...model.generated_files import OutputFile
from ...model.template_views import PageView

KEPT = 512
"""Addresses, the latest ones: some themes with all their fonts."""


class PreviousAssets:
    """Belongs to one preview, and is used by one thread."""

    def __init__(self) -> None:
        self._files: dict[str, OutputFile] = {}

    def file_at(self, path: str) -> OutputFile | None:
        """What was last at a path; only to be asked where the site now has nothing."""
        return self._files.get(path)

    def add_replaced(self, before: SiteSnapshot, now: SiteSnapshot) -> None:
        """The site has become another one: keep what is gone of its theme's files."""
        if before.composition is now.composition:
            return
        context = before.context
        folder = f"{context.config.base_path}/assets/{context.theme.name}/"
        last = {
            path: planned
            for path, planned in before.table.items()
            if path.startswith(folder) and not isinstance(planned.content, PageView)
        }
        files = {path: planned for path, planned in self._files.items() if path not in last} | last
        left = [(path, planned) for path, planned in files.items() if path not in now.table]
        self._files = dict(left[-KEPT:])
