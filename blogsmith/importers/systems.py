"""Supported systems, and detection of the system of a source."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol

from ..base.diagnostics.model import Diagnostic, SiteError, did_you_mean
from ..project.report import Progress
from .model import ImportedPage, SiteImport
from .page_work import ONE_PROCESS, Workers

NAMES = ("quarto", "myst", "mkdocs", "hugo", "jekyll", "obsidian", "notebooks")
"""Folders of this package. Sources are tested for systems in this order."""


class System(Protocol):
    """A system whose sites can be imported."""

    @property
    def title(self) -> str:
        """Return the name that the system uses for itself, such as `Jekyll`."""

    def recognises(self, root: Path) -> bool:
        """Return whether the folder contains files of the system.

        This is cheap: it inspects names and reads almost nothing.
        """

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Read a whole source.

        Raise SiteError if the source is unreadable. Single unreadable files give notices. workers: processes
        that translate pages, in systems whose pages are independent.
        """

    def render(self, text: str, page: ImportedPage) -> str:
        """Return `page.original`, or a part of it, as HTML that the old system would show. Never raise."""


def find_system(root: Path, name: str = "") -> System:
    """Return the system of the source at `root`. If `name` is given, it is not verified.

    Raise SiteError if `root` does not exist, if `name` is unknown, or if no system recognizes the source.
    """
    if not root.exists():
        raise SiteError(Diagnostic("import-source", f"{root} does not exist"))
    if name:
        if name not in NAMES:
            hint = did_you_mean(name, NAMES) or f"known: {', '.join(NAMES)}"
            raise SiteError(Diagnostic("import-system", f'there is no system "{name}"', hint=hint))
        return load_system(name)
    for each in NAMES:
        if (system := load_system(each)).recognises(root):
            return system
    known = ", ".join(load_system(each).title for each in NAMES)
    hint = f"known by their files: {known}; say which with --from"
    raise SiteError(Diagnostic("import-system", f"{root} is no site of a system that can be read", hint=hint))


def load_system(name: str) -> System:
    """Load a system by its name in `NAMES`."""
    system: System = import_module(f".{name}.system", __package__).SYSTEM
    return system
