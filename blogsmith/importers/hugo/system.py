"""Hugo as a system that can be imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ...base.diagnostics.counts import plural
from ...project.report import Progress
from ..addresses import keep_address
from ..front_keys import complete_page
from ..model import ImportedFile, ImportedPage, Notice, SiteImport, by_path
from ..page_limit import translate_document
from ..page_processes import ONE_PROCESS, Workers, map_pages
from ..text.drafts import draft_settings
from .config import HugoConfig, find_config, read_config
from .front import KEYS
from .independent import render_goldmark
from .page import HugoPageTranslator, SiteNeeds
from .settings import old_settings, site_settings
from .source import HugoDocument, find_files
from .taxonomies import without_lists


class Hugo:
    """A site with a `hugo.toml`, or a `config.toml` beside `content/`."""

    title = "Hugo"

    def recognises(self, root: Path) -> bool:
        """Whether there are settings of Hugo."""
        return find_config(root) is not None

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """All of the site."""
        config = read_config(root)
        files, lists = without_lists(find_files(root, config))
        documents = files.documents
        translator = HugoPageTranslator(root, config, files)
        settings, notices = site_settings(config, translator.macros, documents)
        patterns = settings.get("permalinks", {})
        pages: list[ImportedPage] = []
        kinds, assets = set[str](), dict[str, Path]()
        translation = _Translation(translator, documents)
        made = map_pages(translation.translate, range(len(documents)), len(documents), workers)
        for document, (page, needs) in zip(documents, made, strict=True):
            progress("read", len(pages), len(documents))
            pages.append(keep_address(complete_page(page, document.front, KEYS), patterns))
            kinds |= needs.kinds
            assets |= needs.assets
        pages += _section_pages(documents)
        if kinds:
            settings["callouts"] = {kind: {"title": kind.capitalize()} for kind in sorted(kinds)}
        settings |= draft_settings(pages)
        shown = (ImportedFile(PurePosixPath("static") / path, file) for path, file in sorted(assets.items()))
        copied = (*shown, *files.copied)
        return SiteImport(
            root=root,
            system="hugo",
            settings=settings,
            pages=by_path(pages),
            files=_without_pages(copied, pages),
            notices=(
                *files.notices,
                *lists,
                *notices,
                *_order_notices(documents),
                *_menu_notices(config),
            ),
            old_settings=(old_settings(config),),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """HTML as goldmark would make it."""
        return render_goldmark(text, page.original)


@dataclass(frozen=True, slots=True)
class _Translation:
    """The documents of a site, each of which is translated by any process that has all of them."""

    translator: HugoPageTranslator
    documents: Sequence[HugoDocument]

    def translate(self, number: int) -> tuple[ImportedPage, SiteNeeds]:
        page = translate_document(self.translator.translate, self.documents[number])
        return page, self.translator.take_needs()


def _section_pages(documents: Iterable[HugoDocument]) -> Iterator[ImportedPage]:
    """The lists of sections in other languages, which only a page of their own makes here."""
    every = list(documents)
    known = {document.inner for document in every}
    sections = {
        (each.language, each.tag, each.sections[0]) for each in every if each.language and each.sections
    }
    for language, tag, section in sorted(sections):
        inner = PurePosixPath(language, section, "_index.md")
        if inner not in known:
            front = {"title": section.replace("-", " ").capitalize(), "lang": tag}
            yield ImportedPage(
                PurePosixPath("content") / inner,
                front,
                "",
                str(inner.parent),
                address=f"/{language}/{section}/",
            )


def _order_notices(documents: Iterable[HugoDocument]) -> Iterator[Notice]:
    """Sections whose pages stand in an order of their own."""
    weighed = Counter(
        "/".join(document.inner.parts[:-1] if not document.is_bundle else document.inner.parts[:-2])
        for document in documents
        if not document.is_branch and document.front.get("weight")
    )
    for folder, count in sorted(weighed.items()):
        message = f"{plural(count, 'page')} of {folder or 'content'}/ stood in the order of their weight"
        hint = "lists go by date here; for an order of your own: `series` with a part"
        yield Notice("changed", message, hint=hint)


def _menu_notices(config: HugoConfig) -> Iterator[Notice]:
    for code in config.languages[1:]:
        if config.value("languages", code, "menu") or config.value("languages", code, "menus"):
            hint = "one menu stands on all pages here"
            yield Notice("dropped", f"the menu of the language {code}", hint=hint)


def _without_pages(files: Iterable[ImportedFile], pages: list[ImportedPage]) -> tuple[ImportedFile, ...]:
    taken = {page.path for page in pages}
    return by_path(file for file in files if file.path not in taken)


SYSTEM = Hugo()
