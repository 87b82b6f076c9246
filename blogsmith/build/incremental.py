"""The pipeline of builds and previews: results that are still valid are reused, all others are computed in
small steps.

`update_site` updates the whole site, with exactly the result of a build. `update_page` is a fast update of
one page whose text has changed; it leaves the rest of the site as it was, and `update_site` follows. A build
runs `update_site` once to its end, with a log of its own, runs stale cells, and adds no line markers to
blocks.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field, structs

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.site_cache import CacheInterface
from ..base.timeout import LIMIT_S
from ..cells.source import BuildCells, CellSource
from ..hooks.calls import convert_plugin_errors
from ..model.documents import Body, Document, FrontMatter, SiteFiles, Source
from ..model.scopes import FieldScope, scoped_fields
from ..model.template_views import PageView
from ..model.texts import TextTrace
from ..project.context import SiteContext
from ..project.report import BuildLog, BuildOptions, no_progress
from ..read.files import NO_TEXTS, KeepText, read_site, reread_source
from ..render.lexing import Lex
from ..rows.file_rows import SourceCache
from ..rows.page_table import MARKED, PLAIN
from ..rows.template_rows import TemplateRows
from ..site.collections import names_by_edition, page_views
from ..site.manuals import tree_problems
from ..site.pages import page_view
from ..site.statements import check_circular_proofs
from ..stages.cards import add_site_cards, card_problems, plan_cards
from ..stages.disclosure import DisclosureCache, disclosures
from ..stages.fonts import add_fonts, plan_fonts
from ..stages.pictures import add_share_images, plan_share_images
from ..stages.site_options import option_problems
from ..stages.stylesheets import check_stylesheets
from ..stages.unused_templates import find_unused_templates
from .bodies import BodyBuilder, render_in_processes
from .load import reload_site
from .page_files import with_page_files
from .plan import path_conflicts, plan
from .relate import (
    build_frame,
    citable_problems,
    foreign_key_problems,
    layout_problems,
    place_document,
    settings_problems,
    unpublished_parts,
)
from .render import PageCache, placeholder_body
from .resolve import Resolver
from .snapshot import ResolvedSite, SiteSnapshot, files_by_url

if TYPE_CHECKING:
    from ..syntax.parser import Parsed


class UpdateRequest(Struct, frozen=True):
    """The input of one update."""

    changed: Collection[str] = ()
    """Paths of files that have changed since the last update, relative to the root."""
    everything: bool = True
    """Whether files other than `changed` may have changed too."""
    first: Sequence[str] = ()
    """Source paths of pages to render first."""
    finished: frozenset[str] = frozenset()
    """Source paths of posts whose cells have finished running. If cells may run, stale results are reported
    for these posts only. Cells of other posts have yet to run, or another message says why they did not."""
    open_files: Mapping[str, str] = field(default_factory=lambda: NO_TEXTS)
    """Path → content of a file that is open in an editor, used instead of the file on disk. If a file is
    opened, changed or closed, it must be in `changed`."""
    find_first_pages: Callable[[ResolvedSite], Sequence[str]] = lambda resolved: ()
    """Function that returns the source paths of pages to render before the first snapshot of a preview. It is
    called when the pages of the site are known."""


class IncrementalPipeline:
    """The pipeline of one preview or one build, used by one thread."""

    def __init__(
        self,
        root: Path,
        options: BuildOptions,
        now: Callable[[], dt.datetime],
        limit_s: float | None = LIMIT_S,
        log: BuildLog | None = None,
        rows: CacheInterface | None = None,
        keep: KeepText | None = None,
        is_urgent: Callable[[], bool] | None = None,
        uses_processes: bool = False,
        lex: Lex | None = None,
    ) -> None:
        """Set up the pipeline. limit_s: time limit for rendering one page. is_urgent: whether other work
        waits, so that rendering is cancelled. rows: cache with results of earlier runs; None: no cache. keep:
        function that stores the content of a source, and returns an object that reads it when needed. log:
        log of a build, which gets all diagnostics; None: a preview. uses_processes: whether several processes
        render the first update if it has many pages; the pages then have no line markers, as in a build. lex:
        splits code into tokens; None: Pygments."""
        self._keep = keep
        self._root = root
        self._options = options
        self._now = now
        self._log = log
        is_plain = log is not None or uses_processes
        self._memory = PageCache(limit_s, rows, is_urgent, PLAIN if is_plain else MARKED)
        self._memory.lex = lex or self._memory.lex
        self._codes = TemplateRows(rows) if rows else None
        # a preview learns of saves by path, and an editor may have unsaved text
        self._sources = SourceCache(rows) if rows and log else None
        self.cells = BuildCells()
        """Cells of a build; not used in a preview."""
        cells = self.cells if log else _recorded_cells(root)
        self._leaks = DisclosureCache(self._memory.rows)
        self._uses_processes = uses_processes
        self._resolver = Resolver(root, self._memory, cells, options.execution, marks_lines=not is_plain)
        self._caches = (cells, self._leaks, self._resolver)

    @property
    def reasons(self) -> Mapping[str, str]:
        """Source path → why the page was rendered instead of taken from the cache, as part of a sentence."""
        return self._memory.reasons

    @property
    def texts(self) -> TextTrace:
        """Recorder of the pages whose text is read."""
        return self._memory.table.trace

    def keep_files(self, site: SiteSnapshot) -> None:
        """Write the results of an update of the whole site to the cache."""
        self._memory.table.write_deferred()
        self._memory.images.save()
        self._leaks.save(site.resolved.files.stamps)
        if self._sources:
            self._sources.save(site.resolved.files.sources)
        if self._codes:
            self._codes.save(site.context.theme.files.templates.keys())
        self._memory.rows.share()

    def update_site(
        self, before: SiteSnapshot | None, request: UpdateRequest
    ) -> Iterator[SiteSnapshot | None]:
        """Update the whole site. Each step takes some milliseconds, and the caller may stop between two
        steps.

        Yield a snapshot as soon as the pages of the site are known, and the exact one at the end; None
        in between. SiteError if settings, plugins or theme are invalid; there is no site then.
        """
        last = before.resolved if before else None
        context = reload_site(
            self._root,
            self._options.base_url,
            last.context if last and not request.everything else None,
            request.changed,
            self._codes,
            request.open_files,
        )
        if self._log:
            self._log.levels = context.config.diagnostics.as_levels
        with convert_plugin_errors(context.plugins):
            yield from self._update_all(context, before, request)

    def parse(self, present: SiteSnapshot, source: Source) -> Parsed:
        """Return the tokens of a page. source: the page, whose text may be newer than in `present`."""
        return self._memory.parse_with_limit(self._memory.document(source, present.config)[0])

    def _update_all(
        self, context: SiteContext, before: SiteSnapshot | None, request: UpdateRequest
    ) -> Iterator[SiteSnapshot | None]:
        last = before.resolved if before else None
        self._resolver.set_open_files(request.open_files)
        self._forget(request.changed)
        yield None
        is_same = last and last.context.config.output == context.config.output
        log = self._new_log(context)
        with log.stage("read"):
            old = last.files if last and is_same else None
            find = self._sources.find if self._sources else None
            files = read_site(
                self._root, context.config, old, request.changed, self._keep, request.open_files, find
            )
        yield None
        options = structs.replace(self._options, now=self._now())
        self._memory.use_time(options.now, is_preview=self._log is None)
        resolved = self._resolver.resolve(context, files, last, options, request.finished, log)
        resolved = replace(resolved, diagnostics=self._report(log))
        yield None
        bodies = self._known_bodies(resolved, before)
        if before is None and not self._log:
            # if a plugin fails, it does so again below, where that is reported
            with suppress(SiteError), convert_plugin_errors(context.plugins):
                yield from self._make_bodies(resolved, request.find_first_pages(resolved), bodies)
            yield from self._relate_pages(resolved, bodies, None)
        if before is not None:
            # first update the facts of changed pages, then find the pages whose queries still have the same
            # answers
            for path, document in resolved.documents.items():
                if before.resolved.documents.get(path) is not document:
                    self._memory.get_facts(document)
                    yield None
        first = [path for path in request.first if path in resolved.documents]
        order = list(dict.fromkeys([*first, *resolved.documents]))
        if self._log:
            builder = BodyBuilder(self._memory, self.cells, resolved, options, self._log)
            yield from builder.build(order, bodies)
        else:
            if self._uses_processes and before is None:
                yield from render_in_processes(self._memory, resolved, order, options, bodies)
                order = [path for path in order if path not in bodies]
            yield from self._make_bodies(resolved, order, bodies)
        self._memory.remove_others(resolved.documents.keys() | resolved.loaded.unbuilt.keys())
        yield from self._relate_pages(resolved, bodies, before)

    def _make_bodies(
        self, resolved: ResolvedSite, paths: Iterable[str], bodies: dict[str, Body]
    ) -> Iterator[None]:
        for path in paths:
            bodies[path] = self._body(resolved, resolved.documents[path])
            self._memory.table.write_deferred()
            yield None

    def _new_log(self, context: SiteContext) -> BuildLog:
        return self._log or BuildLog(no_progress, context.config.diagnostics.as_levels)

    def _report(self, log: BuildLog) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of the site for a preview; empty for a build, which reports its whole log at
        the end."""
        return () if self._log else log.report()

    def render_pages(self, present: SiteSnapshot, paths: Sequence[str]) -> SiteSnapshot:
        """Render the pages at `paths`, unless they are rendered already. Return the snapshot that contains
        them."""
        missing = [path for path in paths if path in present.unrendered]
        if not missing:
            return present
        resolved = present.resolved
        bodies = {
            path: item.body for path, item in present.rendered.items() if path not in present.unrendered
        }
        with convert_plugin_errors(resolved.context.plugins):
            for path in missing:
                bodies[path] = self._body(resolved, resolved.documents[path])
            *_, found = self._relate_pages(resolved, bodies, present)
        return found or present

    def update_page(self, present: SiteSnapshot, path: str, request: UpdateRequest) -> SiteSnapshot | None:
        """Return the site after reading the text of one page again. Return None if more than that page may
        have changed."""
        resolved, config = present.resolved, present.config
        old = resolved.documents.get(path)
        self._forget(request.changed)
        files = reread_source(self._root, config, resolved.files, path, request.open_files) if old else None
        if files is None or old is None:
            return None
        source = next(source for source in files.sources if str(source.path) == path)
        document, _ = self._memory.document(source, config)
        if not _has_same_position(old, document):
            return None
        return self._replace_document(present, files, document, request)

    def refresh_results(
        self, present: SiteSnapshot, path: str, request: UpdateRequest
    ) -> SiteSnapshot | None:
        """Return the site after reading the results of one page's cells again. Return None if the page does
        not exist."""
        document = present.resolved.documents.get(path)
        self._forget(request.changed)
        if document is None:
            return None
        return self._replace_document(present, present.resolved.files, document, request)

    def _replace_document(
        self, present: SiteSnapshot, files: SiteFiles, document: Document, request: UpdateRequest
    ) -> SiteSnapshot:
        resolved, path = present.resolved, str(document.path)
        documents = {**resolved.documents, path: document}
        loaded = structs.replace(resolved.loaded, documents=tuple(documents.values()))
        resolved = replace(resolved, files=files, loaded=loaded)
        known = {other: found for other, found in resolved.cell_states.items() if other != path}
        resolved = self._resolver.replace_documents(resolved, documents, request.finished, known)
        with convert_plugin_errors(resolved.context.plugins):
            body = self._body(resolved, document)
        item = place_document(document, body, loaded)
        view = page_view(item, present.frame)
        old = present.views[view.url]
        # if only the text of a page changes, its relations to other pages stay the same
        related = scoped_fields(PageView, FieldScope.SITE)
        view = structs.replace(view, **{name: getattr(old, name) for name in related})
        return present.with_page(resolved, item, view, self._page_diagnostics(resolved, document, body))

    def _forget(self, changed: Collection[str]) -> None:
        """Drop cached data about files that have changed, even if their stamps are the same."""
        for memory in self._caches:
            memory.forget(changed)

    def _body(self, resolved: ResolvedSite, document: Document) -> Body:
        return self._memory.body(document, resolved.tools, resolved.facts)

    def _known_bodies(self, resolved: ResolvedSite, before: SiteSnapshot | None) -> dict[str, Body]:
        """Return the bodies of unchanged documents, which may be needed before the update ends."""
        if before is None:
            return {}
        return {
            path: item.body
            for path, item in before.rendered.items()
            if path not in before.unrendered and resolved.documents.get(path) is item.document
        }

    def _pages_with_errors(self) -> frozenset[str]:
        """Return source paths of pages that are written although they have errors. Feeds leave them out,
        because feed readers keep old entries."""
        return self._log.paths_with_errors() if self._log and self._options.keep_going else frozenset()

    def _page_diagnostics(
        self, resolved: ResolvedSite, document: Document, body: Body
    ) -> tuple[Diagnostic, ...]:
        found = (
            *self._memory.head_diagnostics(str(document.path)),
            *self._memory.get_facts(document).facts.diagnostics,
            *resolved.cells(document).diagnostics,
            *body.diagnostics,
            *layout_problems(document, resolved.context),
            *tree_problems(document, resolved.index, resolved.context.config),
            *citable_problems(document, resolved.context),
            *foreign_key_problems(document, resolved.context),
        )
        if not found:
            return ()
        log = self._new_log(resolved.context)
        log.add(found)
        return self._report(log)

    def _relate_pages(
        self, resolved: ResolvedSite, bodies: Mapping[str, Body], before: SiteSnapshot | None
    ) -> Iterator[SiteSnapshot | None]:
        """Relate the pages to each other, in steps that yield None. The last step yields the site. bodies:
        bodies rendered so far."""
        context, loaded = resolved.context, resolved.loaded
        log = self._new_log(context)
        log.add(resolved.diagnostics)
        rendered = {
            path: place_document(
                document, bodies[path] if path in bodies else placeholder_body(document), loaded
            )
            for path, document in resolved.documents.items()
        }
        frame = build_frame(context, resolved.index, loaded, self._memory.images.measure, log)
        related = page_views(list(rendered.values()), unpublished_parts(loaded, context.config), frame)
        yield None
        shared = plan_share_images(related, loaded, context.config, self._memory.images.measure)
        cards = plan_cards(related, context)
        carded = add_share_images(add_site_cards(related, cards, context), shared, context.config.base_path)
        given, fonts = add_fonts(carded, rendered, context)
        views = _reuse_equal_views(given, before)
        yield None
        documents = resolved.documents
        known = (path for path in documents if path in bodies)
        own = {path: self._page_diagnostics(resolved, documents[path], bodies[path]) for path in known}
        unfit = self._pages_with_errors()
        # otherwise the preview would run Pagefind after each save
        search = context.config.search_settings if self._log else None
        engine = search.engine if search else "own"
        copies = (*shared.values(), *frame.copies)
        composition = plan(views, list(rendered.values()), loaded, context, unfit, copies, engine)
        log.add(settings_problems(context, resolved.index, loaded))
        log.add(check_circular_proofs(list(rendered.values()), context.config.base_path))
        log.add(option_problems(context, composition.assets))
        log.add(card_problems(cards, documents, context))
        log.add(find_unused_templates(context, loaded.every_document))
        files = (*composition.files, *plan_fonts(fonts, context))
        written = {str(planned.path) for planned in files}
        log.add(
            check_stylesheets(context, composition.assets, written, documents.values(), self._memory.rows)
        )
        if not any(found.code == "duplicate-url" for found in log.report()):
            log.add(path_conflicts(files))
        log.add(disclosures(composition.assets, context.config, self._leaks.check))
        log.add(self._resolver.python_problems())
        yield None
        site = SiteSnapshot(
            resolved=resolved,
            rendered=rendered,
            unrendered=frozenset(documents.keys() - bodies.keys()),
            frame=structs.replace(frame, term_names=names_by_edition(rendered.values(), frame)),
            views={view.url: view for view in views},
            plan=composition,
            fonts=fonts,
            files_by_url=files_by_url(files, context.config.base_path),
            page_diagnostics=own,
        )
        site = with_page_files(site, log)
        yield replace(site, site_diagnostics=self._report(log))


def _recorded_cells(root: Path) -> CellSource:
    from ..cells.preview_cells import CellCache

    return CellCache(root)


def _has_same_position(old: Document, new: Document) -> bool:
    """Return whether a page keeps its position in the site."""
    names = scoped_fields(FrontMatter, FieldScope.SITE)
    return all(getattr(old.front, name) == getattr(new.front, name) for name in names)


def _reuse_equal_views(views: Sequence[PageView], before: SiteSnapshot | None) -> Sequence[PageView]:
    """Return the views. A view that equals an earlier one is replaced by the earlier object, because
    comparing identical objects is fast."""
    known = before.views if before else {}
    return [old if (old := known.get(view.url)) == view and old is not None else view for view in views]
