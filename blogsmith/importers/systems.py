"""Supported systems. Also detects the system of a source."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol

from ..api.importing import (
    IMPORTERS,
    Diagnostic,
    Progress,
    SiteError,
    did_you_mean,
    installed_parts,
    list_choices,
)
from .model import ImportedPage, SiteImport
from .page_work import ONE_PROCESS, Workers
from .unread import name_other_system

_ORDER = (
    *("quartz", "quarto", "docusaurus", "astro", "gatsby", "next", "hexo", "zola", "pelican", "nikola"),
    *("franklin", "vitepress", "eleventy", "myst", "mkdocs", "hugo", "jekyll"),
    *("sphinx", "distill", "wordpress", "obsidian", "notebooks", "folder", "latex", "org", "rst"),
)
"""Names of this package's systems. A source belongs to the first system that recognises it."""


def system_names() -> tuple[str, ...]:
    """Return the names of all systems. Systems of other installed packages come last."""
    parts = installed_parts(IMPORTERS)
    return (*(name for name in _ORDER if name in parts), *sorted(parts.keys() - set(_ORDER)))


class System(Protocol):
    """A system whose sites can be imported."""

    @property
    def title(self) -> str:
        """Return the name that the system uses for itself, such as `Jekyll`."""

    def recognises(self, root: Path) -> bool:
        """Return whether the folder seems to contain a site of this system. This must be fast: check file
        names and read almost no content."""

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Read a whole source.

        Raise SiteError if the source as a whole is unreadable. A single unreadable file gives a notice
        instead. workers: processes that translate pages, in systems whose pages are independent.
        """

    def render(self, text: str, page: ImportedPage) -> str:
        """Return the HTML that the old system would show for `text`, which is all or part of `page.original`.
        Never raise an exception."""


def find_system(root: Path, name: str = "") -> System:
    """Return the system with this name. If `name` is empty, detect the system from the files at `root`.

    Raise SiteError if `root` does not exist, if `name` is unknown, or if no system recognises the source.
    """
    if not root.exists():
        hint = "write the path of the folder with the old site"
        raise SiteError(Diagnostic("import-source", f'source not found: "{root}"', hint=hint))
    if name:
        names = system_names()
        if name not in names:
            hint = did_you_mean(name, names) or list_choices(names)
            raise SiteError(Diagnostic("import-system", f'unknown system "{name}"', hint=hint))
        return load_system(name)
    for each in system_names():
        if (system := load_system(each)).recognises(root):
            return system
    if other := name_other_system(root):
        raise SiteError(other)
    hint = "name the system with `--from NAME`, or run `blogsmith new site` and copy Markdown into `content/`"
    raise SiteError(Diagnostic("import-system", f'cannot detect the system of "{root}"', hint=hint))


def load_system(name: str) -> System:
    """Return the system with one of the names in `system_names()`."""
    part = installed_parts(IMPORTERS)[name]
    system: System = getattr(import_module(part.module), part.attribute)
    return system
