"""Paths of pages in the new site, and links between pages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ...api.importing import lazy_pattern, name_set, slugify
from ..text.html import link_destination
from ..text.pieces import literal_wikilinks
from .config import MkDocsConfig

_LINK = lazy_pattern(
    r"(\]\(\s*)(<[^<>\n]*>|[^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)(\s+(?:\"[^\"]*\"|'[^']*'))?(\s*\))"
)
_DEFINITION = lazy_pattern(r"(?m)^([ ]{0,3}\[[^\]\n]+\]:[ \t]*)(\S+)")
_HTML = lazy_pattern(r"(<(?:a|img|source|video)\b[^>]*?\b(?:href|src)=[\"'])([^\"']*)([\"'])")
_WIKILINK = lazy_pattern(
    r"(?<![\\!\[])\[\[([^\[\]|#\n]+)(?:#([^\[\]|\n]+))?(?:\|([^\[\]\n]+))?\]\](?![(\[:])"
)
_WIKI_PLUGINS = name_set(
    "roamlinks ezlinks ezlinked-wikilinks wikilinks obsidian-bridge obsidian-support obsidian"
)
"""Plugins that turn `[[page]]` into links."""
_EXTERNAL = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#")


def _name(text: str) -> str:
    """Normalize the name of a page, so that wikilinks find it."""
    return re.sub(r"[\s_-]+", "-", text.strip().casefold())


def page_path(path: PurePosixPath) -> PurePosixPath:
    """Return the path of a page in the new site. path: relative to the folder of the pages."""
    content = PurePosixPath("content")
    if path.stem.lower() in ("index", "readme"):
        return content / path.parent / "_index.md"
    return content / path.with_suffix(".md")


def page_address(path: PurePosixPath, config: MkDocsConfig) -> str:
    """Return the old URL of a page, without the path of `site_url`."""
    folder = "" if path.parent == PurePosixPath() else f"{path.parent.as_posix()}/"
    if path.stem.lower() in ("index", "readme"):
        return f"/{folder}" if folder else ""
    return f"/{folder}{path.stem}/" if config.has_pretty_urls else f"/{folder}{path.stem}.html"


@dataclass(frozen=True, slots=True)
class MkDocsLinks:
    """All pages of a site by the names that links use."""

    pages: Mapping[str, PurePosixPath] = field(default_factory=dict)
    """Path relative to the folder of the pages → path in the new site."""
    addresses: Mapping[str, PurePosixPath] = field(default_factory=dict)
    """URL → path in the new site."""

    def rewrite(self, text: str, page: PurePosixPath) -> str:
        """Rewrite links of a page to files of the new site. text: with code and formulas hidden."""
        text = _LINK.sub(
            lambda found: f"{found[1]}{self._target(found[2], page)}{found[3] or ''}{found[4]}", text
        )
        text = _HTML.sub(lambda found: f"{found[1]}{self._target(found[2], page)}{found[3]}", text)
        return _DEFINITION.sub(lambda found: f"{found[1]}{self._target(found[2], page)}", text)

    def wikilinks(self, text: str, page: PurePosixPath, config: MkDocsConfig) -> str:
        """Convert `[[page]]` to a link if an extension or plugin does and the page exists.

        Other ones are escaped. text: with code and formulas hidden.
        """
        if not (config.has("wikilinks") or _WIKI_PLUGINS & config.plugins.keys()):
            return literal_wikilinks(text)
        names: dict[str, PurePosixPath] = {}
        for path in self.pages:
            names.setdefault(_name(PurePosixPath(path).stem), self.pages[path])

        def substitute(found: re.Match[str]) -> str:
            goal = names.get(_name(found[1].rpartition("/")[2].removesuffix(".md")))
            if goal is None:
                return found[0]
            anchor = f"#{slugify(found[2])}" if found[2] else ""
            address = link_destination(posixpath.relpath(goal, page_path(page).parent) + anchor)
            return f"[{found[3] or found[1]}]({address})"

        return literal_wikilinks(_WIKILINK.sub(substitute, text))

    def _target(self, written: str, page: PurePosixPath) -> str:
        target = written.strip("<>")
        if not target or _EXTERNAL.match(target):
            return written
        path, mark, anchor = target.partition("#")
        path = path.partition("?")[0]
        found = self._find(path, page)
        if found is None:
            return written
        if found == page_path(page) and mark:
            return mark + anchor
        return link_destination(posixpath.relpath(found, page_path(page).parent) + mark + anchor)

    def _find(self, path: str, page: PurePosixPath) -> PurePosixPath | None:
        path = path.replace("%20", " ")
        if path.startswith("/"):
            normal = posixpath.normpath(path.lstrip("/") or ".")
        else:
            normal = posixpath.normpath(posixpath.join(page.parent.as_posix(), path))
        if found := self.pages.get(normal):
            return found
        if path.startswith("/"):
            return self.addresses.get(f"/{normal}/".replace("/./", "/")) or self.addresses.get(f"/{normal}")
        # some authors write a path relative to the URL: `../other/`, as a browser reads it below `page/`
        names = (f"{normal}.md", f"{normal}/index.md", f"{normal}/README.md")
        if found := next((self.pages[name] for name in names if name in self.pages), None):
            return found
        if normal.endswith(".html"):
            return self.pages.get(normal.removesuffix(".html") + ".md")
        below = posixpath.normpath(posixpath.join(page.with_suffix("").as_posix(), path))
        return self.pages.get(f"{below}.md") or self.pages.get(f"{below}/index.md")


def link_table(paths: Iterable[PurePosixPath], config: MkDocsConfig) -> MkDocsLinks:
    """Return the link table of all pages."""
    every = list(paths)
    return MkDocsLinks(
        {path.as_posix(): page_path(path) for path in every},
        {page_address(path, config) or "/": page_path(path) for path in every},
    )
