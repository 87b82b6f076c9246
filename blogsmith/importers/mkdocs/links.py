"""Paths of pages in the new site, links between pages, and the navigation of `mkdocs.yml`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern, name_set, slugify
from ..model import ImportedPage, Notice
from ..text.html import link_destination
from ..text.pieces import literal_wikilinks
from ..text.segments import CODE, mask
from .config import MkDocsConfig

_ITEM = lazy_pattern(r"(\s*)[-*+]\s+(?:\[(.*?)\]\(([^()\s]*)\)|(\S.*?))\s*")


@dataclass(frozen=True, slots=True)
class NavEntry:
    """An entry of the navigation, which is a page, an external link, or a section."""

    depth: int
    title: str = ""
    file: str = ""
    """Path of the page, relative to the folder of the pages; empty for a section or an external link."""
    url: str = ""
    """URL of an external link; empty for a page or section."""
    sections: tuple[str, ...] = ()
    """Titles of the enclosing sections, outermost first."""


def read_nav(nav: Any) -> list[NavEntry]:
    """Return all entries of the setting `nav`, including nested ones, in order."""
    return list(_items(nav, ()))


def _items(items: Any, sections: tuple[str, ...]) -> Iterator[NavEntry]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, str):
            yield _entry("", item, sections)
        for title, value in item.items() if isinstance(item, dict) else ():
            if isinstance(value, list):
                yield NavEntry(len(sections), str(title), sections=sections)
                yield from _items(value, (*sections, str(title)))
            elif isinstance(value, str):
                yield _entry(str(title), value, sections)


def _entry(title: str, target: str, sections: tuple[str, ...]) -> NavEntry:
    if "://" in target or target.startswith(("mailto:", "/")):
        return NavEntry(len(sections), title or target, url=target, sections=sections)
    return NavEntry(len(sections), title, file=target.removeprefix("./"), sections=sections)


def read_summary(text: str) -> list[NavEntry]:
    """Return the entries of a Markdown list of links, as the plugin literate-nav reads it."""
    found: list[NavEntry] = []
    stack: list[tuple[int, str]] = []
    for line in text.split("\n"):
        item = _ITEM.fullmatch(line)
        if not item:
            continue
        width = len(item[1].expandtabs(4))
        stack = [each for each in stack if each[0] < width]
        sections = tuple(title for _, title in stack)
        if item[3]:
            found.append(_entry(item[2], item[3], sections))
        elif "*" not in item[4]:
            found.append(NavEntry(len(sections), item[4].strip("*_"), sections=sections))
            stack.append((width, item[4].strip("*_")))
    return found


def folder_nav(pages: Sequence[PurePosixPath]) -> list[NavEntry]:
    """Return the navigation that MkDocs generates without the setting `nav`. Each folder is a section, which
    starts with its index page."""
    found: list[NavEntry] = []
    known: set[PurePosixPath] = set()
    for page in sorted(pages, key=_nav_order):
        for parent in reversed(page.parents[:-1]):
            if parent not in known:
                known.add(parent)
                titles = tuple(folder_title(name) for name in parent.parts)
                found.append(NavEntry(len(titles) - 1, titles[-1], sections=titles[:-1]))
        sections = tuple(folder_title(name) for name in page.parent.parts)
        found.append(NavEntry(len(sections), file=page.as_posix(), sections=sections))
    return found


def _nav_order(page: PurePosixPath) -> tuple[tuple[tuple[bool, str], ...], bool, str]:
    folders = tuple((True, name) for name in page.parent.parts)
    return folders, page.stem.lower() not in ("index", "readme"), page.name


def folder_title(name: str) -> str:
    """Return a title made from the name of a folder or file."""
    text = name.replace("-", " ").replace("_", " ").strip()
    return text[:1].upper() + text[1:]


_TAG_LIST = lazy_pattern(r"^[ \t]*(?:<!--\s*material/tags[^>]*-->|\[TAGS\])[ \t]*$", re.MULTILINE)
_MAX_MENU_ENTRIES = 7
"""Maximum number of menu entries, apart from the contents page."""


def contents_page(nav: Sequence[NavEntry], titles: Mapping[str, str], config: MkDocsConfig) -> ImportedPage:
    """Return a page that lists the navigation, because blogsmith has no sidebar. titles: page → title."""
    lines = []
    for entry in nav:
        if entry.file:
            path = posixpath.relpath(page_path(PurePosixPath(entry.file)), "content")
            text = f"[{entry.title or titles.get(entry.file, entry.file)}]({path})"
        else:
            text = f"[{entry.title}]({entry.url})" if entry.url else f"**{entry.title}**"
        lines.append(f"{'  ' * entry.depth}- {text}")
    return ImportedPage(
        path=PurePosixPath("content/contents.md"),
        front={"title": "Contents"},
        text="\n".join(lines),
        source=config.file.as_posix(),
    )


def with_tag_lists(
    pages: Sequence[ImportedPage], titles: Mapping[str, str], config: MkDocsConfig
) -> list[ImportedPage]:
    """Insert the list of all tags into each page where Material generates this list. titles: page → title in
    the navigation."""
    name = str(config.plugins.get("tags", {}).get("tags_file") or "")
    file = (config.docs / name).as_posix() if name else ""
    shown = {(config.docs / path).as_posix(): title for path, title in titles.items()}
    made = []
    for page in pages:
        if page.source == file and not _TAG_LIST.search(page.text):
            page = replace(page, text=f"{page.text.rstrip()}\n\n<!-- material/tags -->\n")
        masked = mask(page.text, kinds=CODE - {"comment"})
        if _TAG_LIST.search(masked.text):
            message = "list of all tags becomes fixed text and is no longer updated"
            notice = Notice(
                "changed", message, page.source, hint="link to `/tags/`, the generated list of tags"
            )
            text = _tag_list(pages, shown, page.path).join(_TAG_LIST.split(masked.text))
            page = replace(page, text=masked.restore(text), notices=(*page.notices, notice))
        made.append(page)
    return made


def _tag_list(pages: Sequence[ImportedPage], titles: Mapping[str, str], path: PurePosixPath) -> str:
    tagged: dict[str, list[tuple[str, str]]] = {}
    for page in pages:
        title = titles.get(page.source, str(page.front["title"]))
        link = f"- [{title}]({link_destination(posixpath.relpath(page.path, path.parent))})"
        for tag in page.front.get("tags", ()):
            tagged.setdefault(str(tag), []).append((title.casefold(), link))
    parts = []
    for tag in sorted(tagged, key=str.casefold):
        parts.append("\n".join([f"## {tag}", "", *(link for _, link in sorted(tagged[tag]))]))
    return "\n\n".join(parts)


def section_series(nav: Sequence[NavEntry]) -> dict[str, tuple[str, int]]:
    """Return page → (its outermost section, 1-based position in the section). Index pages, and sections with
    only one page, are omitted."""
    found: dict[str, tuple[str, int]] = {}
    counts: dict[str, int] = {}
    for entry in nav:
        is_index = PurePosixPath(entry.file).stem.lower() in ("index", "readme")
        if entry.file and entry.sections and not is_index and entry.file not in found:
            section = entry.sections[0]
            counts[section] = counts.get(section, 0) + 1
            found[entry.file] = (section, counts[section])
    return {file: place for file, place in found.items() if counts[place[0]] > 1}


def site_menu(nav: Sequence[NavEntry], config: MkDocsConfig) -> list[dict[str, Any]]:
    """Return the menu, which is the top level of the navigation, followed by the contents page. A section
    links to its first page. If the navigation is empty, the menu is empty."""
    menu: list[dict[str, Any]] = []
    for number, entry in enumerate(nav):
        if entry.depth or not entry.title:
            continue
        below = (each.file for each in nav[number:] if each.file and each.sections[:1] == (entry.title,))
        file = entry.file or next(below, "")
        url = entry.url or (page_address(PurePosixPath(file), config) or "/" if file else "")
        if url and url.startswith(("/", "http://", "https://")):
            menu.append({"title": entry.title, "url": url})
    return [*menu[:_MAX_MENU_ENTRIES], {"title": "Contents", "url": "/contents/"}] if menu else []


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
    """Normalize the name of a page for comparison with the name in a wikilink."""
    return re.sub(r"[\s_-]+", "-", text.strip().casefold())


def page_path(path: PurePosixPath) -> PurePosixPath:
    """Return the path of a page in the new site. path: relative to the folder of the pages."""
    content = PurePosixPath("content")
    if path.stem.lower() in ("index", "readme"):
        return content / path.parent / "_index.md"
    return content / path.with_suffix(".md")


def page_address(path: PurePosixPath, config: MkDocsConfig) -> str:
    """Return the old URL of a page, without the path in `site_url`; empty for the home page."""
    folder = "" if path.parent == PurePosixPath() else f"{path.parent.as_posix()}/"
    if path.stem.lower() in ("index", "readme"):
        return f"/{folder}" if folder else ""
    return f"/{folder}{path.stem}/" if config.has_pretty_urls else f"/{folder}{path.stem}.html"


@dataclass(frozen=True, slots=True)
class MkDocsLinks:
    """Finds pages by the paths, URLs and names in links."""

    pages: Mapping[str, PurePosixPath] = field(default_factory=dict)
    """Path relative to the folder of the pages → path in the new site."""
    addresses: Mapping[str, PurePosixPath] = field(default_factory=dict)
    """Old URL → path in the new site."""

    def rewrite(self, text: str, page: PurePosixPath) -> str:
        """Return the text with links to files of the new site rewritten. text: Markdown with code and
        formulas replaced by placeholders. page: path relative to the folder of the pages."""
        text = _LINK.sub(
            lambda found: f"{found[1]}{self._target(found[2], page)}{found[3] or ''}{found[4]}", text
        )
        text = _HTML.sub(lambda found: f"{found[1]}{self._target(found[2], page)}{found[3]}", text)
        return _DEFINITION.sub(lambda found: f"{found[1]}{self._target(found[2], page)}", text)

    def wikilinks(self, text: str, page: PurePosixPath, config: MkDocsConfig) -> str:
        """Convert `[[page]]` to a link if the page exists, and an extension or plugin enables these links.

        Other `[[…]]` are escaped. text: Markdown with code and formulas replaced by placeholders.
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
    """Return the targets of links in a site. paths: all pages, relative to the folder of the pages."""
    every = list(paths)
    return MkDocsLinks(
        {path.as_posix(): page_path(path) for path in every},
        {page_address(path, config) or "/": page_path(path) for path in every},
    )
