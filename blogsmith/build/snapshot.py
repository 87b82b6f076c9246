"""The site at one moment: what it consists of, every page's view, and where each file of it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..base.diagnostics.model import Diagnostic
from ..cells.source import PageCellsState
from ..config.schema import Config
from ..model.documents import Document, SiteFiles
from ..model.generated_files import OutputFile
from ..model.template_views import PageView
from ..project.context import SiteContext
from ..project.load import LoadedSite
from ..render.tools import Tools
from ..site.frame import Frame, Rendered
from ..site.index import PageEntry, SiteIndex
from ..site.math_font import MathFonts
from ..stages.pictures import picture_copies
from .plan import OutputPlan, copy_files


class Entries(Mapping[str, PageEntry]):
    """Source path → what other pages can see of a page; the page is parsed when it is asked for."""

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
    """What pages may ask of the site while they are rendered."""

    documents: Mapping[str, Document]
    """Source path → document, of those that are shown."""
    index: SiteIndex
    tools: Tools
    cells: Callable[[Document], PageCellsState]
    """Each page is looked at once."""
    cell_states: Mapping[str, PageCellsState]
    """Source path → what is known already of its cells."""


@dataclass(frozen=True, slots=True)
class ResolvedSite:
    """What the site consists of and where everything goes; no page of it is rendered yet."""

    context: SiteContext
    files: SiteFiles
    loaded: LoadedSite
    lookups: PageLookups
    facts: object
    """Another one whenever something has changed that pages can see of the rest of the site, text apart."""
    may_run: bool
    """Whether cells may run."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """About the site as a whole."""

    @property
    def config(self) -> Config:
        """The settings of the site."""
        return self.context.config

    @property
    def documents(self) -> Mapping[str, Document]:
        """As in `PageLookups`."""
        return self.lookups.documents

    @property
    def index(self) -> SiteIndex:
        """As in `PageLookups`."""
        return self.lookups.index

    @property
    def tools(self) -> Tools:
        """As in `PageLookups`."""
        return self.lookups.tools

    @property
    def cell_states(self) -> Mapping[str, PageCellsState]:
        """As in `PageLookups`."""
        return self.lookups.cell_states

    def cells(self, document: Document) -> PageCellsState:
        """What is known of the cells of a page."""
        return self.lookups.cells(document)


@dataclass(frozen=True, slots=True)
class SiteSnapshot:
    """The site as pages: all of them, or for a moment after the start only those that were asked for."""

    resolved: ResolvedSite
    rendered: Mapping[str, Rendered]
    """By source path, in the order of the site; those of `unread` have no content yet."""
    unread: frozenset[str]
    """Source paths of pages whose text is not known yet."""
    frame: Frame
    views: Mapping[str, PageView]
    """By URL."""
    composition: OutputPlan
    fonts: MathFonts
    table: Mapping[str, OutputFile]
    """Path of a file, with base path, as an address names it → the file; a page stands under its folder."""
    own: Mapping[str, tuple[Diagnostic, ...]]
    """Source path → what is wrong with that page."""
    shared: tuple[Diagnostic, ...] = field(default=())
    """What is wrong with the site as a whole."""

    @property
    def context(self) -> SiteContext:
        """The opened site."""
        return self.resolved.context

    @property
    def config(self) -> Config:
        """The settings of the site."""
        return self.resolved.context.config

    @property
    def is_whole(self) -> bool:
        """Whether every page is what a build would make of it."""
        return not self.unread

    def with_page(
        self, resolved: ResolvedSite, item: Rendered, view: PageView, own: tuple[Diagnostic, ...]
    ) -> SiteSnapshot:
        """The same site with another text of one page."""
        path = str(item.document.path)
        planned = self.table[view.url]
        # where two files claim one address, the other one may stand there
        planned = replace(planned, content=view) if isinstance(planned.content, PageView) else planned
        table = {**self.table, **self._new_copies(item), view.url: planned}
        return replace(
            self,
            resolved=resolved,
            rendered={**self.rendered, path: item},
            unread=self.unread - {path},
            views={**self.views, view.url: view},
            table=table,
            own={**self.own, path: own},
        )

    def _new_copies(self, item: Rendered) -> dict[str, OutputFile]:
        """Copies of pictures that only the new text of a page names: browsers ask for them at once."""
        base_path = self.config.base_path
        new = [one for one in item.body.variants if f"{base_path}/{one.path}" not in self.table]
        copies = picture_copies(new, self.context)
        files = copy_files(copies, self.table.values()) if copies else ()
        return {f"{base_path}/{planned.path}": planned for planned in files}
