"""Types of arguments that shells complete: names of sections, theme files, and needs of cells.

Completion runs at each key press, so names come from folder listings, and only the settings file is read. If
an error occurs, there are no completions.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .site_folder import find_site_folder

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

MAX_FOLDERS = 1_000
"""Maximum number of folders that are scanned for sections."""
COMMON_NEEDS = ("cuda", "matplotlib", "numpy", "pandas", "torch")
"""Names that `needs` of most cells contain. Any package name is allowed."""


class NameType(click.types.StringParamType):
    """String that shells complete from a list of names."""

    def names(self, root: Path | None) -> Iterable[str]:
        """Return the names. root: site root; None outside a site."""
        raise NotImplementedError

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that start with the typed text."""
        # imported late: every command imports this module, but only completion needs that one
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in self.names(_root(ctx)) if name.startswith(incomplete)]


class SectionType(NameType):
    """Path of a folder below `content/`, at any depth. Page bundles are not included."""

    def names(self, root: Path | None) -> Iterable[str]:
        """Return the names in the form that `--section` accepts, such as `posts` and `docs/guide`."""
        return sorted(_sections(root / "content")) if root else ()


class ThemeFileType(NameType):
    """Name of a file of the site's theme, or of a theme that this theme extends."""

    def names(self, root: Path | None) -> Iterable[str]:
        """Return the names in the form that `theme copy` accepts, such as `layouts/post.html` and
        `theme.css`."""
        if root is None:
            return ()
        from ..base.diagnostics.model import SiteError
        from ..config.load import load_config
        from ..project.bundled_folders import bundled_folder
        from ..render.templates.files import TEMPLATE_KINDS, read_theme_files

        try:
            files = read_theme_files(load_config(root).config.theme, root, bundled_folder("themes"), [])
        except SiteError:
            return ()
        templates = [name for name in files.templates if name.partition("/")[0] in TEMPLATE_KINDS]
        return sorted([*templates, *files.static])


class CodeType(NameType):
    """A diagnostic code."""

    def names(self, root: Path | None) -> Iterable[str]:
        from ..base.diagnostics.codes import CODES

        return sorted(CODES)


class NeedType(NameType):
    """A module or device that a cell may need."""

    def names(self, root: Path | None) -> Iterable[str]:
        return COMMON_NEEDS


def _root(context: click.Context) -> Path | None:
    found = find_site_folder(os.path.realpath(context.params.get("site") or ""))
    return Path(found) if found else None


def _sections(content: Path) -> Iterator[str]:
    """Yield the folders that may contain posts at any depth, as paths below `content`."""
    waiting = [""]
    for _ in range(MAX_FOLDERS):
        if not waiting:
            return
        section = waiting.pop()
        try:
            with os.scandir(content / section) as entries:
                found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError:
            continue
        # a bundle is a post with its files
        if section and any(name.startswith("index.") for name, _ in found):
            continue
        if section:
            yield section
        waiting += [
            f"{section}/{name}".lstrip("/") for name, is_dir in found if is_dir and name[0] not in "._"
        ]
