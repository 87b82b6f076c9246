"""Resolution of the site: its documents and files, and the functions that pages call to query it while they
are rendered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import structs

from ..base.diagnostics.model import Diagnostic
from ..base.storage.stamps import FileStamp, read_stamp
from ..cells.permission import may_run
from ..cells.source import CellSource, PageCellsState
from ..model.documents import Asset, Document, SiteFiles
from ..model.results import PageResults
from ..project.context import SiteContext
from ..project.load import LoadedSite
from ..project.report import BuildLog, BuildOptions, ExecutionOptions, no_progress
from ..render.svg.active_content import SUFFIX, svg_warnings
from ..site.index import SiteIndex
from ..stages.bibliographies import SiteBibliographies
from ..stages.browser_python import browser_python
from .load import read_documents
from .render import PageCache
from .snapshot import LazyEntries, PageLookups, ResolvedSite
from .trace import build_index, page_tools

if TYPE_CHECKING:
    from ..pyodide.distribution import Distribution


class Resolver:
    """Resolves the site for one pipeline, used by one thread."""

    def __init__(
        self,
        root: Path,
        memory: PageCache,
        cells: CellSource,
        execution: ExecutionOptions,
        *,
        marks_lines: bool,
    ) -> None:
        """Create a resolver. marks_lines: add to each block an attribute with its line in the file, as in a
        preview."""
        self._root = root
        self._memory = memory
        self._cells = cells
        self._execution = execution
        self._marks_lines = marks_lines
        self._bibliographies = SiteBibliographies(root, memory.rows)
        self._changed_paths: set[str] = set()
        """Paths that have changed since the last call of `resolve`."""
        self._svgs: dict[Path, tuple[object, tuple[Diagnostic, ...]]] = {}
        self._python: tuple[tuple[SiteContext, object], Callable[[], Distribution], BuildLog] | None = None

    def forget(self, changed: Collection[str]) -> None:
        """Drop cached data about files that were saved. Their stamps may be the same as before."""
        self._memory.images.begin_update()
        for path in changed:
            self._memory.images.forget(self._root / path)
            self._svgs.pop(self._root / path, None)
        self._bibliographies.forget(changed)
        self._changed_paths.update(changed)

    def set_open_files(self, texts: Mapping[str, str]) -> None:
        """Set the open files of an editor. `texts`: path → content, used instead of the file on disk. For
        changes in them, `forget` must be called."""
        self._bibliographies.open_texts = texts

    def python_problems(self) -> tuple[Diagnostic, ...]:
        """Errors about Python for browsers; empty until a page has needed it."""
        return self._python[2].report() if self._python else ()

    def resolve(
        self,
        context: SiteContext,
        files: SiteFiles,
        last: ResolvedSite | None,
        options: BuildOptions,
        finished: frozenset[str],
        log: BuildLog,
    ) -> ResolvedSite:
        """Return the documents of the site and their URLs. Report diagnostics to `log`. last: the site as it
        was before. finished: source paths of posts whose cells have finished running."""
        loaded = read_documents(files, context, self._memory, options, log, self._inspect)
        documents = {str(document.path): document for document in loaded.documents}
        index, assets = build_index(loaded, {}, context), loaded.assets
        self._bibliographies.use_settings(context.settings)
        is_touched = self._bibliographies.refresh() or self._changed_paths & assets.keys()
        facts = _facts(loaded, files, index, None if is_touched else last)
        runs = may_run(context, options)
        self._changed_paths.clear()
        return ResolvedSite(
            context=context,
            files=files,
            loaded=loaded,
            lookups=self._lookups(
                context,
                loaded,
                index,
                documents,
                python=self._find_python(context, facts),
                runs=runs,
                finished=finished,
            ),
            facts=facts,
            may_run=runs,
        )

    def replace_documents(
        self,
        resolved: ResolvedSite,
        documents: Mapping[str, Document],
        finished: frozenset[str],
        looked_at: Mapping[str, PageCellsState],
    ) -> ResolvedSite:
        """Return the site with other versions of these documents. looked_at: source path → known state of a
        page's cells."""
        lookups = self._lookups(
            resolved.context,
            resolved.loaded,
            resolved.index,
            documents,
            python=self._find_python(resolved.context, resolved.facts),
            runs=resolved.may_run,
            finished=finished,
            looked_at=looked_at,
        )
        return replace(resolved, lookups=lookups)

    def _lookups(
        self,
        context: SiteContext,
        loaded: LoadedSite,
        index: SiteIndex,
        documents: Mapping[str, Document],
        *,
        python: Callable[[], Distribution],
        runs: bool,
        finished: frozenset[str],
        looked_at: Mapping[str, PageCellsState] = MappingProxyType({}),
    ) -> PageLookups:
        # the functions below must not refer to a resolved site, or each would keep the one before in memory
        looked = dict(looked_at)

        def cells(document: Document) -> PageCellsState:
            path = str(document.path)
            if path not in looked:
                looked[path] = self._cells.page_state(
                    self._memory.get_facts(document).facts,
                    context,
                    self._execution,
                    may_run=runs,
                    busy=runs and path not in finished,
                )
            return looked[path]

        def results(document: Document) -> PageResults:
            return cells(document).results

        entries = LazyEntries(documents, lambda document: self._memory.get_facts(document).entry)
        index = structs.replace(index, entries=entries)
        tools = page_tools(
            context=context,
            memory=self._memory,
            index=index,
            loaded=loaded,
            results=results,
            python=python,
            measure=self._memory.images.measure,
            digest=self._memory.images.digest,
            bibliographies=self._bibliographies,
        )
        tools = structs.replace(tools, mark_lines=self._marks_lines)
        return PageLookups(documents, index, tools, cells, looked)

    def _find_python(self, context: SiteContext, facts: object) -> Callable[[], Distribution]:
        # a folder of the site may contain Pyodide
        key = (context, facts)
        if self._python is None or self._python[0][0] is not key[0] or self._python[0][1] is not key[1]:
            log = BuildLog(no_progress)
            self._python = (key, browser_python(context, log), log)
        return self._python[1]

    def _inspect(self, asset: Asset) -> tuple[Diagnostic, ...]:
        if asset.path.suffix.lower() != SUFFIX:
            return ()
        stamp = (read_stamp(asset.file), asset.path)
        known = self._svgs.get(asset.file)
        if known is None or known[0] != stamp:
            known = self._svgs[asset.file] = (stamp, svg_warnings(asset))
        return known[1]


def _facts(loaded: LoadedSite, files: SiteFiles, index: SiteIndex, last: ResolvedSite | None) -> object:
    """Return the object for `ResolvedSite.facts`: the object of the last site if nothing has changed that
    pages can see, otherwise a new object."""
    if last is None:
        return object()
    before = last.loaded
    pairs = (
        (before.urls.urls, loaded.urls.urls),
        (before.urls.kinds, loaded.urls.kinds),
        (before.urls.sections, loaded.urls.sections),
        (before.future_urls, loaded.future_urls),
        (before.asset_urls, loaded.asset_urls),
        (before.remote, loaded.remote),
        (_asset_stamps(last.files), _asset_stamps(files)),
        (last.index.generated, index.generated),
        (last.index.editions, index.editions),
        (last.index.translations, index.translations),
    )
    return last.facts if all(old == new for old, new in pairs) else object()


def _asset_stamps(files: SiteFiles) -> list[FileStamp]:
    return [files.stamps[str(asset.path)] for asset in (*files.assets, *files.static)]
