"""Targets of links, images and references in a Hugo site, and their URLs in the new site.

Hugo resolves a relative URL against the URL of its page, blogsmith against the folder of its file.
"""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from ...api.importing import lazy_pattern
from ..model import ImportedFile
from .config import HugoConfig, find_mounts, mounted_files
from .source import HugoDocument

_DESTINATION = lazy_pattern(r"(?<=\]\()([ \t]*)(<[^<>\n]*>|[^\s()<>]+(?:\([^\s()]*\)[^\s()<>]*)*)")
_DEFINITION = lazy_pattern(r"(?m)(^[ ]{0,3}\[(?!\^)[^\]\n]+\]:[ \t]*)(<[^<>\n]*>|\S+)")
_ATTRIBUTE = lazy_pattern(r"((?:<|\s)(?:src|href|poster|data-src)\s*=\s*)(\"[^\"]*\"|'[^']*')")
_SCHEME = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


class LinkTable:
    """The possible link targets of one site, which are its pages and files. Also records which files of
    `assets/` pages show."""

    def __init__(
        self,
        root: Path,
        config: HugoConfig,
        documents: Iterable[HugoDocument],
        copied: Iterable[ImportedFile],
    ) -> None:
        self._config = config
        self._files = {file.path.as_posix() for file in copied}
        self._in_folder: dict[str, list[str]] = {}
        for path in sorted(self._files):
            folder, _, name = path.rpartition("/")
            self._in_folder.setdefault(folder, []).append(name)
        self._pages: dict[str, HugoDocument] = {}
        self._addresses: dict[str, HugoDocument] = {}
        names: Counter[str] = Counter()
        for document in documents:
            path = "/".join([document.language, *document.sections, document.name])
            for key in map(_key, (document.content_path.as_posix(), path)):
                self._pages.setdefault(key, document)
            names[_name(document.name, document.language)] += 1
            for address in (document.address, *_aliases(document)):
                self._addresses.setdefault(address.strip("/").casefold(), document)
        self._named = {
            name: document
            for document in self._pages.values()
            if names[name := _name(document.name, document.language)] == 1
        }
        self._assets = {
            found.target.as_posix(): root / found.path
            for found in mounted_files(root, find_mounts(config, "assets"))
        }
        self._shown_assets: dict[str, Path] = {}

    def take_shown_assets(self) -> Mapping[str, Path]:
        """Return path below `static/` → file, for the files of `assets/` that pages have shown since the last
        call."""
        shown, self._shown_assets = self._shown_assets, {}
        return shown

    def reference(self, target: str, document: HugoDocument) -> str:
        """Return the destination for a target of the shortcodes `ref` and `relref`. It is a path relative to
        `document`, with fragment; empty if the target does not exist."""
        path, mark, fragment = target.strip().partition("#")
        if not path:
            return f"#{fragment}" if mark else ""
        found = self._find_page(path, document)
        return relative(found.content_path, document) + mark + fragment if found else ""

    def _find_page(self, path: str, document: HugoDocument) -> HugoDocument | None:
        near = [document.content_path.parent.as_posix(), "/".join([document.language, *document.sections])]
        folders = [] if path.startswith("/") else near
        # a page in the language of the linking page takes precedence
        for folder in [*folders, document.language, ""]:
            key = _key(posixpath.normpath(posixpath.join("/", folder, path.lstrip("/"))))
            if key in self._pages:
                return self._pages[key]
        name = PurePosixPath(_key(path)).name
        return self._named.get(_name(name, document.language)) or self._named.get(_name(name, ""))

    def destination(self, address: str, document: HugoDocument) -> str:
        """Return the destination, in the new site, of a link or image in `document`.

        External URLs, fragments and shortcodes are returned unchanged. A relative URL whose target does not
        exist becomes a root-relative URL.
        """
        written = address.strip()
        own = self._config.text("baseurl").rstrip("/")
        if own.startswith("http") and written.startswith(f"{own}/"):
            written = self._config.base_path + written[len(own) :]
        elif _SCHEME.match(written) or written.startswith(("#", "?", "{")) or not written:
            return address
        parts = urlsplit(written)
        rest = f"#{parts.fragment}" if parts.fragment else ""
        path = unquote(parts.path)
        page = self._find_page_by_url(path, document)
        if page:
            is_here = page.content_path == document.content_path and rest
            return rest if is_here else f"{relative(page.content_path, document)}{rest}"
        if file := self._find_file(path, document):
            return file + rest
        return self._unknown_destination(written, document)

    def _find_page_by_url(self, path: str, document: HugoDocument) -> HugoDocument | None:
        if path.endswith((".md", ".markdown")):
            return self._find_page(path, document)
        for place in self._places(path, document):
            found = self._addresses.get(place.removesuffix("index.html").strip("/").casefold())
            if found and place.strip("/"):
                return found
        return None

    def _places(self, path: str, document: HugoDocument) -> Iterator[str]:
        """Yield the URL paths that a link in `document` may mean, most likely first."""
        base = self._config.base_path
        if path.startswith("/"):
            if base and f"{path}/".startswith(f"{base}/"):
                yield path[len(base) :]
            yield path
            return
        yield posixpath.normpath(posixpath.join(document.address or "/", path))

    def _find_file(self, path: str, document: HugoDocument) -> str:
        names = [_resource(path, document), path]
        if document.language:
            whole = PurePosixPath(path)
            names.append(whole.with_suffix(f".{document.language}{whole.suffix}").as_posix())
        for folder, name in product(_folders(document), filter(None, names)):
            beside = posixpath.normpath(f"content/{folder}/{name.lstrip('/')}")
            if not path.startswith("/") and beside in self._files:
                return relative(PurePosixPath(beside).relative_to("content"), document)
        if "." not in path and (named := self._find_by_stem(path, document)):
            return named
        for place in (*self._places(path, document), "/" + path.lstrip("/")):
            inner = posixpath.normpath(place).lstrip("/")
            if f"static/{inner}" in self._files:
                return f"/{inner}"
            if f"content/{inner}" in self._files:
                return relative(PurePosixPath(inner), document)
            if inner in self._assets:
                self._shown_assets[inner] = self._assets[inner]
                return f"/{inner}"
        return ""

    def _find_by_stem(self, stem: str, document: HugoDocument) -> str:
        """Return the URL of a file in the page's folder; empty if there is none. stem: name of the file
        without its extension."""
        return next((name for name in self.neighbours(document) if PurePosixPath(name).stem == stem), "")

    def _unknown_destination(self, written: str, document: HugoDocument) -> str:
        """Return the URL for a link whose target does not exist. A relative URL becomes root-relative, as
        Hugo resolves it."""
        if written.startswith("/"):
            return next(iter(self._places(written, document)))
        joined = posixpath.normpath(posixpath.join(document.address or "/", written))
        is_file = "." in PurePosixPath(joined).name
        return joined if not written.startswith(".") or is_file else f"{joined.rstrip('/')}/"

    def has_file(self, address: str, document: HugoDocument) -> bool:
        """Return whether a destination, as returned by the method `destination`, is a file of the site."""
        if address.startswith("/"):
            return f"static{address}" in self._files or address[1:] in self._shown_assets
        return (
            posixpath.normpath(f"content/{document.content_path.parent.as_posix()}/{address}") in self._files
        )

    def neighbours(self, document: HugoDocument) -> list[str]:
        """Return the URLs of the files in the page's folder, followed by those in the folder of the page's
        version in the default language."""
        found: list[str] = []
        for place in _folders(document):
            names = self._in_folder.get(posixpath.normpath(f"content/{place}"), ())
            inside = (PurePosixPath(place) / name for name in names)
            found += [relative(path, document) for path in inside]
        return found

    def rewrite(self, masked: str, document: HugoDocument) -> str:
        """Rewrite every link destination in a text. masked: text with code and formulas hidden."""
        return rewrite_destinations(masked, lambda address: self.destination(address, document))


def rewrite_destinations(masked: str, change: Callable[[str], str]) -> str:
    """Replace every link destination in Markdown and HTML by `change(destination)`. masked: text with code
    and formulas hidden."""

    def substitute(text: str) -> str:
        inner = text[1:-1] if text.startswith(("<", '"', "'")) else text
        found = change(inner)
        if found == inner:
            return text
        if text.startswith(('"', "'")):
            return text[0] + found + text[0]
        return f"<{found}>" if " " in found or "(" in found or ")" in found else found

    text = _DESTINATION.sub(lambda found: found[1] + substitute(found[2]), masked)
    text = _DEFINITION.sub(lambda found: found[1] + substitute(found[2]), text)
    return _ATTRIBUTE.sub(lambda found: found[1] + substitute(found[2]), text)


def _folders(document: HugoDocument) -> list[str]:
    """Return the folder of a page, and the folder of its version in the default language."""
    return list(
        dict.fromkeys([document.content_path.parent.as_posix(), document.path_in_language.parent.as_posix()])
    )


def _resource(name: str, document: HugoDocument) -> str:
    """Return the file that has the name `name` in the front matter key `resources`; empty if there is
    none."""
    written = document.front.get("resources")
    for each in written if isinstance(written, list) else ():
        source = str(each.get("src") or "") if isinstance(each, Mapping) else "*"
        if "*" not in source and str(each.get("name") or "") == name:
            return source
    return ""


def _name(name: str, language: str) -> str:
    return f"{language}:{name.casefold()}"


def relative(target: PurePosixPath, document: HugoDocument) -> str:
    """Return the path of a file in `content/`, relative to a page."""
    return os.path.relpath(target, document.content_path.parent).replace(os.sep, "/")


def _key(path: str) -> str:
    """Return the path of a page in the form that references use: without extension and, for a bundle, without
    file name."""
    place = PurePosixPath("/" + path.strip("/"))
    if place.suffix in (".md", ".markdown", ".html"):
        place = place.with_suffix("")
    if place.name in ("index", "_index"):
        place = place.parent
    return place.as_posix().casefold()


def _aliases(document: HugoDocument) -> list[str]:
    written = document.front.get("aliases")
    return [str(each) for each in written if str(each).startswith("/")] if isinstance(written, list) else []
