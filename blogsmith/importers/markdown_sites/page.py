"""Translation of a page. The shortcodes, containers and links of its system are translated first; then the
importer for Hugo translates the Markdown."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import unquote

from ...api.importing import lazy_pattern, name_set
from ..hugo.links import rewrite_destinations
from ..hugo.page import KEYS as HUGO_KEYS
from ..hugo.page import HugoPageTranslator
from ..hugo.source import HugoDocument
from ..mkdocs.blocks import BlockRewriter
from ..model import FrontKeys, ImportedPage, NoticeKind
from ..source_files import read_text
from ..text.math import tex_macros
from ..text.pieces import HiddenFragments, literal_brackets
from ..text.segments import TEX, FormulaDelimiters, SegmentKind, mask, rewrite_segments
from .calls import CALLS, convert_calls, convert_containers, convert_franklin, convert_mdx, dedent_components
from .settings import MarkdownSite
from .source import SourceFiles

KEYS = FrontKeys(
    HUGO_KEYS.translated
    | name_set(
        "pubdate publishedat published_at created createdat pubdatetime updateddate lastupdated updatedat "
        "moddatetime last_update last_update.date excerpt abstract rss_description rss heroimage coverimage "
        "ogimage redirect_from path permalink rpath save_as taxonomies taxonomies.tags "
        "taxonomies.categories extra"
    ),
    HUGO_KEYS.tools
    | name_set(
        "sidebar_position sidebar_label sidebar_class_name pagination_next pagination_prev hide_title "
        "hide_table_of_contents pagination_label template page_template sort_by paginate_by "
        "insert_anchor_links in_search_index hero tableofcontents head banner prev next has_math hascode "
        "hasmath maxtoclevel "
        "mintoclevel parse_math link wrapper_class_name custom_edit_url setup id"
    ),
)
_SCHEME = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|\?")
_PELICAN = lazy_pattern(r"(?:\{(?:filename|static|attach|author)\}|\|filename\|)(/?)", re.IGNORECASE)
_TEASER = lazy_pattern(r"<!--[ \t]*(?:truncate|excerpt|TEASER_END)\b[^>]*-->")
_NIKOLA = lazy_pattern(r"link://(\w+)/(.*)")
_PREFIX = lazy_pattern(r"@site/|~/|@/(?!.*\.md)")
_PYTHON_SYSTEMS = frozenset(("pelican", "nikola"))
_NOTES = lazy_pattern(r"(?m)^[ \t]*(?:!!!|\?\?\?)[ \t]")
_MDX_CODE: frozenset[SegmentKind] = TEX - {"indented"}
"""Kinds of segments that placeholders replace in MDX, where indented text is not code."""


class MarkdownPageTranslator(HugoPageTranslator):
    """Translator for the pages of one site; it can be pickled for other processes."""

    def __init__(self, site: MarkdownSite, found: SourceFiles) -> None:
        super().__init__(site.root, site.hugo_config, found.files)
        self._site = site
        self._places = found.places
        self._posts = {PurePosixPath(path).stem: path for path in found.places if path.endswith(".md")}
        self.macros = _site_macros(site)

    def translate(self, document: HugoDocument) -> ImportedPage:
        """Translate a document to a page."""
        image = document.front.get("image")
        written = image.get("src") or image.get("url") if isinstance(image, Mapping) else image
        if isinstance(written, str):
            front = {**document.front, "image": self._destination(written, document)}
            document = replace(document, front=front)
        return super().translate(document)

    def expand_calls(
        self,
        document: HugoDocument,
        finished: HiddenFragments,
        notice: Callable[[NoticeKind, str, str, str], None],
    ) -> str:
        """Return the body of a page with the shortcodes, containers and links of its system converted.
        finished: not used. notice: function that gets kind, message, hint and removed text."""
        row = self._site.row

        def left(message: str, removed: str) -> None:
            kind: NoticeKind = "dropped" if message.startswith("MDX module") else "left"
            notice(kind, message, "", removed)

        text = rewrite_segments(
            document.body, "comment", lambda comment: _TEASER.sub("", comment), FormulaDelimiters()
        )
        is_mdx = row.calls == "mdx" and (document.path.suffix == ".mdx" or row.name == "docusaurus")
        if row.name in _PYTHON_SYSTEMS and _NOTES.search(text):
            rewriter = BlockRewriter(lambda piece, message: notice("changed", message, "", ""))
            text = "\n".join(rewriter.rewrite(text.expandtabs(4).split("\n")))
            self._kinds.update(rewriter.kinds)
        if row.calls == "franklin":
            text = convert_franklin(text)
        elif is_mdx:
            text = dedent_components(text)
        masked = mask(text, FormulaDelimiters(brackets=not is_mdx), _MDX_CODE if is_mdx else TEX)
        prose = literal_brackets(masked.text) if row.calls == "mdx" else masked.text
        if is_mdx:
            prose = convert_mdx(prose, left)
        elif row.calls in CALLS:
            prose = convert_calls(prose, CALLS[row.calls], self._values(document), left)
        prose = rewrite_destinations(prose, lambda address: self._destination(address, document))
        text, kinds = convert_containers(masked.restore(prose))
        self._kinds.update(kinds)
        return text

    def _values(self, document: HugoDocument) -> dict[str, str]:
        """Return the argument `values` of `convert_calls` for a document."""
        if self._site.row.calls != "franklin":
            return {name: f"/{path}" for name, path in self._posts.items()}
        every = {**self._site.values, **document.front}
        return {name: str(value) for name, value in every.items() if isinstance(value, (str, int))}

    def _destination(self, address: str, document: HugoDocument) -> str:
        """Return the new destination of a link. If it points to a file of the source, the path is relative to
        the new page. Otherwise, only prefixes of the system are removed."""
        if found := _NIKOLA.fullmatch(address.strip()):
            address = f"/{self._posts.get(found[2], found[2])}"
        written = _PELICAN.sub(r"\1", address.strip())
        if written != address.strip() and not written.startswith("/"):
            written = f"./{written}"
        elif written != address.strip():
            written = f"/{self._site.fill('{path|content}')}{written}"
        if written.startswith("@/") and written.partition("#")[0].endswith(".md"):
            written = f"/content/{written[2:]}"
        if _PREFIX.match(written):
            inner = _PREFIX.sub("", written, count=1)
            written = f"/{inner if address.startswith('@site') else f'src/{inner}'}"
        if not written or _SCHEME.match(written):
            return address
        path, mark, fragment = written.partition("#")
        top = self._site.folder.as_posix() if path.startswith("/") else document.path.parent.as_posix()
        if path.startswith("/") and path.lstrip("/") in self._places:
            top = ""
        joined = posixpath.normpath(posixpath.join(top, unquote(path).lstrip("/")))
        names = [
            joined,
            *(f"{joined}{end}" for end in (".md", ".mdx", "/index.md", "/index.mdx", "/README.md")),
        ]
        names.append(f"{document.path.with_suffix('').as_posix()}/{path}")
        place = next((self._places[name] for name in names if name in self._places), None)
        if place is None:
            return written
        if place.parts[0] == "static":
            return f"/{place.relative_to('static').as_posix()}{mark}{fragment}"
        folder = document.content_path.parent
        target = os.path.relpath(place.relative_to("content"), folder).replace(os.sep, "/")
        return f"{target}{mark}{fragment}"


def _site_macros(site: MarkdownSite) -> dict[str, str]:
    """Return name → TeX, for the macros in Franklin's settings that formulas can use."""
    text = read_text(site.root / site.file) if site.row.calls == "franklin" else None
    return {name: tex for name, tex in tex_macros(text or "").items() if "@@" not in tex and "~~~" not in tex}
