"""One document of a Hugo site → a page of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

from ..macros import script_macros, tex_macros
from ..model import ImportedPage, Notice, NoticeKind
from ..source_files import read_text, walk_files
from ..text.containers import join_tabs
from ..text.pieces import Pieces
from ..text.segments import Lines, divide, rewrite
from .config import HugoConfig
from .data_files import read_data
from .formulas import dialect_of, rewrite_formulas
from .front import image_candidates, page_front
from .independent import PASSTHROUGH
from .links import LinkTable
from .markdown import rewrite_markdown
from .shortcodes.context import CallContext
from .shortcodes.translate import HugoShortcodeTranslator
from .source import HugoDocument, HugoFiles

_ARCHIVES = frozenset(("archives", "archive"))
_TEMPLATES = ("layouts/shortcodes", "layouts/_shortcodes")


class SiteNeeds(NamedTuple):
    """What pages need of the rest of the new site."""

    kinds: frozenset[str] = frozenset()
    """Kinds of boxes that the settings have to define."""
    assets: Mapping[str, Path] = MappingProxyType({})
    """Path below `static/` → file of `assets/` that is copied there."""


class HugoPageTranslator:
    """Translates the documents of one site; keeps what they share. Picklable."""

    def __init__(self, root: Path, config: HugoConfig, files: HugoFiles) -> None:
        self._root = root
        self._config = config
        self._links = LinkTable(root, config, files.documents, files.copied)
        self._templates = _templates(root / config.folder)
        self._kinds: set[str] = set()
        self.macros = _macros(root / config.folder)
        """TeX macros of the whole site."""

    @cached_property
    def _data(self) -> dict[str, Any]:
        return read_data(self._root, self._config)

    def take_needs(self) -> SiteNeeds:
        """Return what the pages need that were translated since the last call."""
        kinds, self._kinds = frozenset(self._kinds), set()
        return SiteNeeds(kinds, self._links.take_shown_assets())

    def translate(self, document: HugoDocument) -> ImportedPage:
        """The page."""
        layout = str(document.front.get("layout") or document.front.get("type") or "").casefold()
        front, notices = page_front(document)
        found = [*document.notices, *notices, *self._raw_html(document)]
        text = self._text(document, found)
        if layout in _ARCHIVES and not document.body.strip():
            text = "[→](/archive/)"
        if image := self._image(document):
            front["image"] = image
        home = PurePosixPath("_index.md")
        if document.inner == home and document.address == "/" and len(self._config.languages) > 1:
            # Hugo leads from the folder of the site's language to its front page
            front["aliases"] = [*front.get("aliases", ()), f"/{self._config.default_language.casefold()}/"]
        delimiters = self._config.passthrough
        mark = "" if delimiters is None else PASSTHROUGH.format(" ".join(delimiters))
        return ImportedPage(
            path=PurePosixPath("content") / document.inner,
            front=front,
            text=text,
            source=document.path.as_posix(),
            original=document.body + mark,
            first_line=document.first_line,
            address=document.address,
            notices=tuple(found),
        )

    def _raw_html(self, document: HugoDocument) -> Iterator[Notice]:
        """HTML in a text that Hugo leaves out unless it is told not to."""
        is_kept = self._config.value("markup", "goldmark", "renderer", "unsafe") is True
        if is_kept or not document.is_markdown or not re.search("<[A-Za-z]", document.body):
            return
        for segment in divide(document.body, dialect_of(self._config)):
            if segment.kind in ("tag", "opaque"):
                line = Lines(document.body, document.first_line).at(segment.start)
                message = "HTML that Hugo left out is shown here: markup.goldmark.renderer.unsafe was not set"
                yield Notice("changed", message, document.path.as_posix(), line)
                return

    def _text(self, document: HugoDocument, notices: list[Notice]) -> str:
        lines = Lines(document.body, document.first_line)
        source = document.path.as_posix()

        def notice(kind: NoticeKind, message: str, hint: str, removed: str) -> None:
            line = lines.search(rf"\{{\{{[<%]\s*{name}\b") if (name := _name_in(message)) else 0
            notices.append(Notice(kind, message, source, line, hint, removed))

        finished = Pieces()
        context = CallContext(
            finished=finished,
            link=lambda target: self._links.reference(target, document),
            image=lambda address: self._links.destination(address, document),
            param=lambda name: self._param(name, document.front),
            file=lambda name: self._file(name, document),
            notice=notice,
            data=lambda: self._data,
            kinds=self._kinds,
        )
        text = HugoShortcodeTranslator(context, self._templates).translate(document.body)
        if document.is_markdown:
            title = str(document.front.get("title") or "")
            text = rewrite_formulas(text, self._config)
            text = rewrite_markdown(text, self._config, title=title, notice=notice)
        text = rewrite(text, lambda masked: self._links.rewrite(masked, document))
        return join_tabs(finished.restore(text))

    def _param(self, name: str, front: Mapping[str, Any]) -> str:
        value = front.get(name.casefold())
        if value is None:
            value = self._config.value("params", *name.casefold().split("."))
        return str(value) if isinstance(value, (str, int, float)) else ""

    def _file(self, name: str, document: HugoDocument) -> str:
        site = self._root / self._config.folder
        beside = self._root / document.path.parent / name
        for file in (beside, site / name.lstrip("/"), site / "assets" / name.lstrip("/")):
            if file.resolve().is_relative_to(self._root.resolve()) and file.is_file():
                return read_text(file) or ""
        return ""

    def _image(self, document: HugoDocument) -> str:
        """The page's own picture, if it is a file of the site."""
        for written in image_candidates(document.front):
            address = self._links.destination(written, document)
            if self._links.has_file(address, document):
                return address
        if document.is_bundle:
            pictures = self._links.beside(document)
            return next((name for name in pictures if PurePosixPath(name).stem == "featured"), "")
        return ""


def _name_in(message: str) -> str:
    return (
        message.removeprefix("shortcode ").split()[0].rstrip(":") if message.startswith("shortcode ") else ""
    )


def _templates(site: Path) -> dict[str, str]:
    """Shortcodes of the site's own, over those of its themes."""
    found: dict[str, str] = {}
    themes = sorted((site / "themes").iterdir()) if (site / "themes").is_dir() else []
    for folder in (site, *themes):
        for place in _TEMPLATES:
            top = folder / place
            for path in walk_files(top, skipped=()) if top.is_dir() else ():
                if path.suffix == ".html" and (text := read_text(top / path)) is not None:
                    found.setdefault(path.with_suffix("").as_posix().casefold(), text)
    return found


def _macros(site: Path) -> dict[str, str]:
    """Macros that templates of the site give to MathJax or KaTeX."""
    found: dict[str, str] = {}
    for folder in ("layouts", "assets", "static"):
        top = site / folder
        for path in walk_files(top) if top.is_dir() else ():
            if path.suffix in (".html", ".js") and path.name.endswith(".min.js") is False:
                text = read_text(top / path) or ""
                if "acros" in text:
                    found |= script_macros(text)
                if folder == "layouts" and "\\newcommand" in text:
                    found |= tex_macros(text)
    return found
