"""Pagefind, a program that creates a word index for sites of any size (extra `search`).

For each page of the site, we give Pagefind a small page with only URL, headings and text, so that it indexes
neither layouts nor formulas. We run its command, because its Python module waits a tenth of a second for each
page. Source: pagefind.app, version 1.5.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from ...base.storage.folder import open_folder
from ...base.storage.temporary import temporary_folder
from .page_text import PageSection

PACKAGE = "pagefind"
LIMIT_S = 900
"""Time limit in seconds. Even 10,000 pages need only a few seconds."""

_NOT_OURS = ("pagefind-ui", "pagefind-modular-ui", "pagefind-component-ui", "pagefind-highlight")
"""Prefixes of files of Pagefind's own user interface, which are not published."""


class PagefindError(Exception):
    """Pagefind created no index. The message is the reason."""


def is_installed() -> bool:
    """Return whether Pagefind is installed."""
    return importlib.util.find_spec(PACKAGE) is not None


def program_version() -> str:
    """Return the version of Pagefind, or an empty string if it is not installed."""
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return ""


def pagefind_page(title: str, url: str, sections: Sequence[PageSection]) -> str:
    """Return a page for Pagefind. url: URL of the original page, with base path."""
    parts = [
        f"<!DOCTYPE html>\n<html><title>{escape(title)}</title>",
        f'<body><p data-pagefind-meta="at[data-at]" data-at="{escape(url)}"></p><h1>{escape(title)}</h1>',
    ]
    for section in sections:
        if section.id:
            parts.append(f'<h2 id="{escape(section.id)}">{escape(section.heading)}</h2>')
        parts.append(f"<p>{escape(section.text)}</p>")
    return "\n".join((*parts, "</html>"))


def make_index(
    pages: Iterable[str], language: str, run: Callable[..., object] | None = None
) -> dict[str, bytes]:
    """Create the index and return its files by name. Raises `PagefindError` on failure.

    pages: from `pagefind_page`. language: language of the site, for stemming. run: replacement for
    `subprocess.run`.
    """
    with temporary_folder() as place:
        with open_folder(place) as folder, folder.enter("pages", make=True) as inside:
            for number, page in enumerate(pages):
                inside.replace(f"{number}.html", page.encode("utf-8", "replace"))
        command = [
            sys.executable,
            "-P",
            "-m",
            PACKAGE,
            "--site",
            "pages",
            "--output-path",
            "index",
            "--quiet",
        ]
        command += ["--force-language", language.partition("-")[0]]
        try:
            (run or subprocess.run)(
                command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=True
            )
        except subprocess.CalledProcessError as error:
            said = (error.stderr or error.stdout or b"").decode("utf-8", "replace").strip().splitlines()
            raise PagefindError(said[-1] if said else f"exit code {error.returncode}") from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PagefindError(str(error)) from error
        return dict(_files(place / "index"))


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.name.startswith(_NOT_OURS):
            yield file.relative_to(folder).as_posix(), file.read_bytes()
