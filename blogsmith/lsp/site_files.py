"""Finds the site of a file, and converts between paths and URIs."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from pygls import uris

from ..api.editing import CONFIG_NAME, MARKDOWN, SiteError, decode, open_folder

MAX_TEXT_BYTES = 20_000_000


def uri_to_path(uri: str) -> Path | None:
    """Return the path of the local file for a URI; None if the URI does not belong to a local file."""
    if not uri.startswith("file:"):
        return None
    found = uris.to_fs_path(uri)
    return Path(found) if found else None


def path_to_uri(path: Path) -> str:
    """Return the URI of a file."""
    return uris.from_fs_path(str(path)) or path.as_uri()


def find_root(file: Path) -> Path | None:
    """Return the root of the site that contains a file; None if the file is not in a site. The file need not
    exist yet."""
    if file.name == CONFIG_NAME:
        return file.parent
    return next((folder for folder in file.parents if _is_site(folder)), None)


def _is_site(folder: Path) -> bool:
    try:
        return (folder / CONFIG_NAME).is_file()
    except OSError:
        return False


def is_page(path: str) -> bool:
    """Return whether a path in a site is the source of a post or page."""
    found = PurePosixPath(path)
    return found.parts[:1] == ("content",) and found.suffix.lower() in MARKDOWN


def read_site_text(root: Path, path: str) -> str:
    """Return the content of a file that is not a page. If it cannot be read or is outside the site, return an
    empty string."""
    try:
        place = PurePosixPath(path)
        with open_folder(root) as site, site.enter(place.parent) as folder:
            return decode(folder.read(place.name, MAX_TEXT_BYTES), path)
    except (OSError, SiteError, ValueError):
        return ""
