"""The location of the output folder: its name in an open parent folder.

A folder that the settings name may come from a clone, so it must be in the site, and its path must not
contain links. A folder that the user names on the command line may be anywhere, and may be a link.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.folder import Folder, open_folder
from ..base.storage.links import UnexpectedLinkError, is_link

_OTHER_SETTING = "choose another `output:` in blogsmith.yaml"
_CHOOSE = "remove the link, or name the folder with `blogsmith build --output PATH`"


class OutputPlace(Struct, frozen=True):
    """The output folder, which may not exist yet."""

    parent: Folder
    """The parent folder, open while the site is written."""
    name: str
    """Name of the output folder in `parent`."""
    title: str
    """Name of the folder in messages."""
    is_behind_link: bool = False
    """Whether the path that the user named is a link to the folder. The folder itself then must not be
    replaced."""

    @property
    def exists(self) -> bool:
        """Whether the output folder exists."""
        return self.parent.is_folder(self.name)

    def enter(self) -> Folder:
        """Open the output folder."""
        return self.parent.enter(self.name)

    @property
    def is_mount(self) -> bool:
        """Whether the folder is a mount point."""
        found = self.parent.status(self.name)
        return found is not None and found.st_dev != self.parent.own_status().st_dev

    @property
    def is_parent_writable(self) -> bool:
        """Whether files can be created in the parent folder."""
        at = self.parent.descriptor
        if at is None:
            return os.access(self.parent.path, os.W_OK)
        return os.access(".", os.W_OK, dir_fd=at)


@contextmanager
def open_place(target: Path, site_root: Path, *, is_chosen: bool) -> Iterator[OutputPlace]:
    """Open the parent of the output folder `target`; create missing folders above it. is_chosen: the user
    named `target` on the command line. Otherwise it must be in the site. SiteError with code `output-folder`
    if a link in its path is not allowed, or if `target` is not a folder."""
    real = target.resolve() if is_chosen else target
    with _open_parent(real, target, site_root, is_chosen=is_chosen) as parent:
        place = OutputPlace(parent, real.name, target.name, is_behind_link=is_chosen and target.is_symlink())
        _check_kind(place, target, site_root)
        yield place


def _open_parent(real: Path, target: Path, site_root: Path, *, is_chosen: bool) -> Folder:
    if is_chosen:
        return open_folder(real.parent, make=True)
    try:
        with open_folder(site_root) as site:
            return site.enter(real.parent.relative_to(site_root).as_posix(), make=True, mode=0o755)
    except UnexpectedLinkError as error:
        name = relative_path(Path(error.filename), site_root)
        raise output_folder_error(
            target, site_root, f"is reached through the link {name}", _CHOOSE
        ) from error


def _check_kind(place: OutputPlace, target: Path, site_root: Path) -> None:
    found = place.parent.status(place.name)
    if found is not None and is_link(found):
        raise output_folder_error(target, site_root, "is a link", _CHOOSE)
    if found is not None and not place.exists:
        raise output_folder_error(target, site_root, "is not a folder")


def output_folder_error(target: Path, site_root: Path, problem: str, hint: str = _OTHER_SETTING) -> SiteError:
    """Return the diagnostic `output-folder` as an error."""
    message = f'the output folder "{relative_path(target, site_root)}" {problem}'
    return SiteError(Diagnostic("output-folder", message, hint=hint))


def relative_path(target: Path, site_root: Path) -> str:
    """Return a path as messages show it: relative to the site root if it is in the site."""
    return target.relative_to(site_root).as_posix() if target.is_relative_to(site_root) else str(target)
