"""The site at one moment: its documents and files, the view of every page, and the path of every file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..base.diagnostics.model import Diagnostic
from ..cells.source import PageCellsState
from ..config.schema import Config
from ..model.documents import Document, SiteFiles
from ..model.generated_files import OutputFile
from ..model.template_views import PageView
from ..project.context import SiteContext
from ..project.load import LoadedSite
from ..render.tools import SiteAccess
from ..site.frame import RenderedDocument, ViewContext
from ..site.index import PageEntry, SiteIndex
from ..site.math_font import MathFonts
from ..stages.pictures import plan_copies
from .plan import OutputPlan, copy_files


class LazyEntries(Mapping[str, PageEntry]):
    """Source path → facts that other pages can see. A page is parsed when its facts are first requested."""

    def __init__(self, documents: Mapping[str, Document], entry: Callable[[Document], PageEntry]) -> None:
        self._documents = documents
        self._entry = entry

    def __getitem__(self, path: str) -> PageEntry:
        return self._entry(self._documents[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, path: object) -> bool:
        return path in self._documents


@dataclass(frozen=True, slots=True)
class PageLookups:
    """Documents, index and functions that pages call to query the site while they are rendered."""

    documents: Mapping[str, Document]
    """Source path → document, for published pages."""
    index: SiteIndex
    tools: SiteAccess
    cells: Callable[[Document], PageCellsState]
    """Function that returns the state of a page's cells, which is computed once for each page."""
    cell_states: Mapping[str, PageCellsState]
    """Source path → state of the page's cells, for those that are known already."""


@dataclass(frozen=True, slots=True)
class ResolvedSite:
    """The documents and files of the site with their URLs. No page is rendered yet."""

    context: SiteContext
    files: SiteFiles
    loaded: LoadedSite
    lookups: PageLookups
    facts: object
    """Object that is replaced whenever the rest of the site changes in a way that pages can see. A change of
    text does not count."""
    may_run: bool
    diagnostics: tuple[Diagnostic, ...] = ()
    """Diagnostics about the site as a whole."""

    @property
    def config(self) -> Config:
        return self.context.config

    @property
    def documents(self) -> Mapping[str, Document]:
        return self.lookups.documents

    @property
    def index(self) -> SiteIndex:
        return self.lookups.index

    @property
    def tools(self) -> SiteAccess:
        return self.lookups.tools

    @property
    def cell_states(self) -> Mapping[str, PageCellsState]:
        return self.lookups.cell_states

    def cells(self, document: Document) -> PageCellsState:
        return self.lookups.cells(document)


@dataclass(frozen=True, slots=True)
class SiteSnapshot:
    """The site as rendered pages: all of them, or shortly after the start of a preview only those that were
    requested."""

    resolved: ResolvedSite
    rendered: Mapping[str, RenderedDocument]
    """Source path → rendered page, in the order of the site. Pages in `unrendered` are included, without
    content."""
    unrendered: frozenset[str]
    """Source paths of pages that are not rendered yet."""
    frame: ViewContext
    views: Mapping[str, PageView]
    """URL of a page → its view."""
    plan: OutputPlan
    fonts: MathFonts
    files_by_url: Mapping[str, OutputFile]
    """URL path, with base path → the file. The key of a page is the path of its folder."""
    page_diagnostics: Mapping[str, tuple[Diagnostic, ...]]
    """Source path → diagnostics of that page."""
    site_diagnostics: tuple[Diagnostic, ...] = field(default=())
    """Diagnostics about the site as a whole."""

    @property
    def context(self) -> SiteContext:
        return self.resolved.context

    @property
    def config(self) -> Config:
        return self.resolved.context.config

    @property
    def is_complete(self) -> bool:
        """Whether every page is rendered, as in a build."""
        return not self.unrendered

    def with_page(
        self, resolved: ResolvedSite, item: RenderedDocument, view: PageView, own: tuple[Diagnostic, ...]
    ) -> SiteSnapshot:
        """Return the site with a new version of one page. own: diagnostics of that page."""
        path = str(item.document.path)
        planned = self.files_by_url[view.url]
        # if another file has the same URL, it may be in the table instead of the page
        planned = replace(planned, content=view) if isinstance(planned.content, PageView) else planned
        table = {**self.files_by_url, **self._new_copies(item), view.url: planned}
        return replace(
            self,
            resolved=resolved,
            rendered={**self.rendered, path: item},
            unrendered=self.unrendered - {path},
            views={**self.views, view.url: view},
            files_by_url=table,
            page_diagnostics={**self.page_diagnostics, path: own},
        )

    def _new_copies(self, item: RenderedDocument) -> dict[str, OutputFile]:
        """Return copies of images that only the new text uses, because browsers request them immediately."""
        base_path = self.config.base_path
        new = [one for one in item.body.variants if f"{base_path}/{one.path}" not in self.files_by_url]
        copies = plan_copies(new, self.context)
        files = copy_files(copies, self.files_by_url.values()) if copies else ()
        return {f"{base_path}/{planned.path}": planned for planned in files}


def files_by_url(files: Sequence[OutputFile], base_path: str) -> dict[str, OutputFile]:
    """Return the table of `SiteSnapshot.files_by_url`."""
    found: dict[str, OutputFile] = {}
    for planned in files:
        path = planned.path.as_posix()
        path = path.removesuffix("index.html") if path.rpartition("/")[2] == "index.html" else path
        found.setdefault(f"{base_path}/{path}", planned)
    return found
