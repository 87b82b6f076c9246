"""Rendering of all page bodies in a build: first pages without cells, in several processes; then pages with
cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from ..base.diagnostics.model import SiteError
from ..cells.source import BuildCells
from ..model.documents import Body, Document
from ..pools.page_executor import MIN_FORK_BODIES, choose_executor
from ..project.report import BuildLog, BuildOptions
from .body_processes import BodyPool
from .render import PageCache
from .snapshot import ResolvedSite

if TYPE_CHECKING:
    from ..rows.page_table import LintCache


class BodyBuilder:
    """Renders the bodies of pages for one build."""

    def __init__(
        self,
        memory: PageCache,
        cells: BuildCells,
        resolved: ResolvedSite,
        options: BuildOptions,
        log: BuildLog,
    ) -> None:
        self._memory = memory
        self._cells = cells
        self._resolved = resolved
        self._options = options
        self._log = log
        self._bodies: dict[str, Body] = {}
        self._lints: LintCache | None = None
        """Cache of lint warnings; None if they are not needed. Used by a check, and by a build of many pages,
        so that the next check need not parse the pages again."""
        self._is_check = not options.write

    def build(self, paths: Sequence[str], bodies: dict[str, Body]) -> Iterator[None]:
        """Put the bodies of pages into `bodies`, by source path, in steps of one page each. A page without
        cells is rendered as soon as it is parsed, so only few pages have their tokens in memory. SiteError if
        cells cannot run, or if a process dies; the log then also contains the errors in pages."""
        self._bodies = bodies
        if self._is_check:
            self._memory.rows.load("lint")
            self._lints = self._new_lints()
        log, with_cells = self._log, list[str]()
        log.timings["parse"] = 0.0
        try:
            self._render_in_processes(paths)
            for path in log.iterate("render", [path for path in paths if self._is_unfinished(path)]):
                document = self._resolved.documents[path]
                if path not in bodies:
                    if self._memory.get_facts(document).facts.cells.sessions():
                        with_cells.append(path)
                    else:
                        self._make(document)
                self._lint(document)
                yield None
            yield from self._run_cells(with_cells)
        except SiteError:
            self._report_pages()
            raise
        self._report_lints()
        log.timings["parse"] = self._memory.parsing_s
        log.timings["render"] -= self._memory.parsing_s + log.timings.get("lint", 0.0)

    def _make(self, document: Document) -> None:
        resolved = self._resolved
        self._bodies[str(document.path)] = self._memory.body(document, resolved.tools, resolved.facts)

    def _run_cells(self, paths: Sequence[str]) -> Iterator[None]:
        """Run the cells of these pages, and render the pages, in steps of one page."""
        if not paths:
            return
        documents = [self._resolved.documents[path] for path in paths]
        pages = [self._memory.get_facts(document).facts for document in documents]
        self._cells.run(pages, self._resolved.context, self._options, self._log)
        for document in self._log.iterate("render", documents):
            self._make(document)
            yield None

    def _render_in_processes(self, paths: Iterable[str]) -> None:
        """Render bodies of pages without cells in other processes, if there are enough of them."""
        executor = choose_executor(self._resolved.context, self._options)
        self._log.add(executor.problems)
        missing = self._find_missing(paths)
        if len(missing) >= MIN_FORK_BODIES and self._lints is None:
            self._lints = self._new_lints()
        if executor.kind == "here":
            return
        to_make = frozenset(missing)
        missing += (path for path in paths if path not in to_make and self._is_unlinted(path))
        if len(missing) < executor.min_bodies:
            return
        pool = BodyPool(self._memory, self._resolved, missing, to_make, self._lints)
        with closing(pool.make(executor)) as made:
            steps = zip(self._log.iterate("render", missing), made, strict=True)
            self._bodies |= {path: body for _, (path, body) in steps if body is not None}

    def _find_missing(self, paths: Iterable[str]) -> list[str]:
        """Return the pages to render, without those known to have cells. Add the bodies of cached pages."""
        memory, resolved, missing = self._memory, self._resolved, list[str]()
        with self._log.measure("render"):
            for path in paths:
                document = resolved.documents[path]
                if not memory.has_facts(document):
                    # also records why the page must be rendered
                    memory.table.body(document)
                    missing.append(path)
                elif not memory.get_facts(document).facts.cells.sessions():
                    body = memory.get_cached_body(document, resolved.tools, resolved.facts)
                    if body is None:
                        missing.append(path)
                    else:
                        self._bodies[path] = body
        return missing

    def _new_lints(self) -> LintCache:
        # a build of few pages needs no lint warnings
        from ..rows.page_table import LintCache

        return LintCache(self._memory.table, self._resolved.context)

    def _is_unfinished(self, path: str) -> bool:
        return path not in self._bodies or self._is_unlinted(path)

    def _is_unlinted(self, path: str) -> bool:
        known = self._lints if self._is_check else None
        return bool(known and not known.is_known(self._resolved.documents[path]))

    def _lint(self, document: Document) -> None:
        """Compute the lint warnings of a page, unless they are cached. The page may have been parsed just
        now."""
        if self._lints is None or self._lints.is_known(document):
            return
        parsed = self._memory.parse(document) if self._is_check else self._memory.get_cached_tokens(document)
        if parsed:
            with self._log.measure("lint"):
                self._lints.add(parsed)

    def _report_lints(self) -> None:
        if self._lints and self._is_check:
            left_out = [document for document, _ in self._resolved.loaded.unbuilt.values()]
            with self._log.measure("lint"):
                found = self._lints.report(self._resolved.documents.values(), left_out)
            self._log.add(found)
            for body in self._bodies.values():
                self._log.add(body.check_diagnostics)

    def _report_pages(self) -> None:
        """Report the errors in pages, although no site can be built."""
        with suppress(SiteError):
            for path, document in self._resolved.documents.items():
                self._log.add(self._memory.head_diagnostics(path))
                self._log.add(self._memory.get_facts(document).facts.diagnostics)
                self._log.add(self._bodies[path].diagnostics if path in self._bodies else ())


def render_in_processes(
    memory: PageCache,
    resolved: ResolvedSite,
    paths: Sequence[str],
    options: BuildOptions,
    bodies: dict[str, Body],
) -> Iterator[None]:
    """Render bodies of pages without cells into `bodies`, in steps of one page, for a preview. Render none if
    there are few pages, and stop if a process dies."""
    executor = choose_executor(resolved.context, options)
    if executor.kind == "here" or len(paths) < executor.min_bodies:
        return
    pool = BodyPool(memory, resolved, paths, frozenset(paths), None)
    with suppress(SiteError), closing(pool.make(executor)) as made:
        for path, body in made:
            if body is not None:
                bodies[path] = body
            yield None
