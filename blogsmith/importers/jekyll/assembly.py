"""Pages and files of a whole site put together: no two at one place, and an answer at every old address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from ..addresses import new_address
from ..model import ImportedFile, ImportedPage, Notice, by_path
from .config import JekyllConfig
from .lists import MADE_HERE
from .source import JekyllFiles

_HOME = PurePosixPath("content/_index.md")
_FRONT_FILE = PurePosixPath("index.html")
_FRONT_PLACE = PurePosixPath("home.html")
"""Where a front page stands that is no page of Jekyll's, for there is always one of ours."""


def distinct_addresses(pages: Sequence[ImportedPage]) -> list[ImportedPage]:
    """The pages, an address that two of them claim given to the first; Jekyll would overwrite one by the
    other."""
    owners: dict[str, str] = {}
    found = []
    for page in sorted(pages, key=lambda page: page.path.as_posix()):
        address = page.address.rstrip("/") or "/"
        first = owners.setdefault(address, page.source) if page.address else page.source
        if first == page.source:
            found.append(_without_own_alias(page))
            continue
        front = {key: value for key, value in page.front.items() if key not in ("permalink", "slug")}
        message = f"{first} has the address {page.address} too: this page stands elsewhere"
        notice = Notice("mistake", message, page.source, hint="give one of them another permalink")
        found.append(replace(page, front=front, address="", notices=(*page.notices, notice)))
    return found


def _without_own_alias(page: ImportedPage) -> ImportedPage:
    """A page without aliases that are its own address."""
    if "aliases" not in page.front:
        return page
    own = {page.address.rstrip("/"), new_address(page, {}).rstrip("/")}
    own = (
        own if page.path.stem != "_index" else own - {page.address.rstrip("/")} | {new_address(page, {})[:-1]}
    )
    kept = [alias for alias in page.front["aliases"] if alias.rstrip("/").casefold() not in own]
    front = {key: value for key, value in page.front.items() if key != "aliases"}
    return replace(page, front=front | ({"aliases": kept} if kept else {}))


def with_home(
    pages: tuple[ImportedPage, ...], notices: Iterable[Notice], settings: Mapping[str, Any]
) -> tuple[ImportedPage, ...]:
    """The pages, with the addresses of lists that are made here answered by the home page."""
    old = {notice.made_here for notice in notices if notice.made_here.startswith("/")}
    taken = {page.address.rstrip("/") for page in pages} | MADE_HERE
    taken |= {f"/{page.path.parts[1]}" for page in pages if len(page.path.parts) > 2}
    aliases = sorted(address for address in old if address.rstrip("/") not in taken)
    if not aliases:
        return pages
    home = next((page for page in pages if page.path == _HOME), None)
    made = home or ImportedPage(_HOME, {"title": settings["title"]}, "", "_config.yml")
    front = {**made.front, "aliases": [*made.front.get("aliases", ()), *aliases]}
    others = [page for page in pages if page is not home]
    return by_path([*others, replace(made, front=front)])


def copied_files(
    root: Path,
    config: JekyllConfig,
    files: JekyllFiles,
    pages: Iterable[ImportedPage],
    notices: list[Notice],
) -> tuple[ImportedFile, ...]:
    """The files that are copied, but for those at the address of a page; of these notices are added."""
    taken = {f"{page.address.strip('/')}/index.html".lstrip("/") for page in pages if page.address}
    taken |= {page.address.strip("/") for page in pages if page.address.endswith(".html")}
    found = []
    for path in files.copied:
        place = path.relative_to(config.folder)
        if place.as_posix() in taken:
            notices.append(Notice("dropped", "a page stands at the address of this file", path.as_posix()))
        elif place == _FRONT_FILE:
            message = f"a front page of HTML without front matter: it stands at /{_FRONT_PLACE}"
            hint = "the front page here is content/_index.md: say there what it says"
            notices.append(Notice("changed", message, path.as_posix(), hint=hint))
            found.append(ImportedFile(PurePosixPath("static") / _FRONT_PLACE, root / path))
        else:
            found.append(ImportedFile(PurePosixPath("static") / place, root / path))
    return tuple(found)
