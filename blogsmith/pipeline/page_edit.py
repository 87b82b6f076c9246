"""A build after an edit: only the texts of some pages are others, and nobody else can see that.

What of a page other pages, lists and files see is compared with what the last build has kept. While it is
the same, the pages themselves and the feeds that hold them are all there is to make: the cost does not grow
with the site. Wherever more may have changed, or something is wrong, all is built as ever: messages come from
there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import SiteError
from ..base.storage.file_names import MANIFEST
from ..hooks.failures import blame_plugins
from ..model.documents import Body, Document, Output
from ..model.template_views import PageView
from ..project.context import open_site
from ..project.report import BuildLog, BuildOptions, BuildReport, no_progress
from ..read.files import read_source
from ..site.feeds import site_feed_files
from ..site.frame import Rendered
from ..site.index import PageEntry
from ..site.markdown.files import markdown_files
from ..site.pages import page_view
from ..site.redirects import output_path
from ..write.output import WriteReport, own_files, read_last_site, replace_output, write_site
from .bibliographies import SiteBibliographies
from .build_record import TICK_NS, BuildStart, kept_report, save_edit_stamps, start_build
from .build_stamps import BuildComparison, stamp
from .cache import PageCache
from .frame import frame_of
from .lookups import page_tools
from .outline_rows import SiteOutline, get_outline, get_place, renew_outline
from .output_plan import OutputFile, OutputPlan
from .output_rows import OutputRows
from .rows.page_rows import EditedText, has_same_entry, text_change
from .rows.page_table import RowKind
from .rows.row_store import RowStore, open_rows
from .rows.template_rows import TemplateRows

if TYPE_CHECKING:
    from ..model.results import PageResults
    from ..pyodide.distribution import Distribution


_KINDS: tuple[RowKind, ...] = ("head", "facts", "page")


class _Built(Struct, frozen=True):
    """An edit that is there."""

    report: BuildReport
    ended_s: float
    """When the site was there, by `time.monotonic`."""
    written: Collection[str] | None
    """As in `save_edit_stamps`."""


class ReachesFurther(BaseException):
    """More than texts of pages may be another one; not to be caught on the way."""


def build_edit(
    root: Path, options: BuildOptions, last: BuildComparison, sleep: Callable[[float], None] = time.sleep
) -> BuildReport | None:
    """Build the site at `root`, where nothing but some sources has changed since its last build.

    None if all of the site is to be looked at. sleep: waits for some seconds.
    """
    start = _start_after(root, last.changed, sleep)
    key = os.urandom(8).hex()
    found = _build(root, options, last, key) if start else None
    if not found or not start:
        return None
    save_edit_stamps(root, options.now, last, key, found.report, start, found.ended_s, found.written)
    return found.report


def _start_after(root: Path, changed: Iterable[str], sleep: Callable[[float], None]) -> BuildStart | None:
    """A start at which another save of these sources would be seen by their stamps."""
    start = start_build(root)
    try:
        stamps = [os.lstat(root / path) for path in changed]
    except OSError:
        return None
    youngest_ns = max(max(status.st_mtime_ns, status.st_ctime_ns) for status in stamps)
    if start and 0 <= (age_ns := start.now_ns - youngest_ns) <= TICK_NS:
        sleep((TICK_NS - age_ns) / 1e9 + 0.005)
        start = start_build(root)
    return start


def _build(root: Path, options: BuildOptions, last: BuildComparison, key: str) -> _Built | None:
    before = kept_report(last.report)
    if any(found.path in last.changed for found in before.diagnostics):
        return None
    with open_rows(root) as rows:
        try:
            outline = get_outline(rows, last.record["outline"])
            if outline is None:
                raise ReachesFurther
            edit = _Edit(root, options, rows, outline)
            with blame_plugins(edit.plugins):
                outputs = edit.make(last.changed)
            report = replace(before, **edit.counts(before), rebuilt=edit.reasons, target=edit.target)
            done, written = _write(outputs, edit, root, last, is_chosen=options.output is not None)
            report = replace(report, written=done.written, unchanged=done.unchanged, removed=done.removed)
            ended_s = time.monotonic()
            edit.keep_sizes()
            renew_outline(rows, key, edit.outline)
        except (ReachesFurther, SiteError, OSError):
            rows.discard()
            return None
    return _Built(report, ended_s, written)


def _write(
    changed: Mapping[str, Output],
    edit: _Edit,
    root: Path,
    last: BuildComparison,
    *,
    is_chosen: bool,
) -> tuple[WriteReport, Collection[str] | None]:
    """What was done, and `written` of `save_edit_stamps`."""
    target = edit.target

    def is_untouched() -> bool:
        """Every build that changes something changes the manifest, too."""
        manifest = str(target / MANIFEST)
        return last.stamp_of(manifest) == stamp(manifest)

    done = replace_output([*changed.values()], target, is_untouched, site_root=root, is_chosen=is_chosen)
    if done:
        files = [target / MANIFEST, *(target / path for path in changed)]
        return done, {str(path) for file in files for path in (file, *file.parents)}
    return _write_site(changed, edit.kept_files, root, target, is_chosen=is_chosen), None


def _write_site(
    changed: Mapping[str, Output], kept: Mapping[str, str], root: Path, target: Path, *, is_chosen: bool
) -> WriteReport:
    if not changed.keys() <= kept.keys():
        raise ReachesFurther
    outputs = {
        path: Output(PurePosixPath(path), make=_unmade, digest=digest) for path, digest in kept.items()
    }
    files = list({**outputs, **changed}.values())
    return write_site(files, target, site_root=root, is_chosen=is_chosen, is_untouched=True)


def _is_in(folder: str, path: str) -> bool:
    return path.startswith(f"{folder}/")


def _unmade() -> NoReturn:
    """Another build has changed the folder meanwhile."""
    raise ReachesFurther


class _Edit:
    """Belongs to one build."""

    def __init__(self, root: Path, options: BuildOptions, rows: RowStore, outline: SiteOutline) -> None:
        self._root = root
        self._rows = rows
        self._is_chosen = options.output is not None
        self.outline = outline
        """Of the last build, then of this one."""
        context = open_site(root, options.base_url, codes=TemplateRows(rows))
        self._context = context
        self.config, self.plugins = context.config, context.plugins
        self.target = options.output or root / context.config.output
        """The output folder."""
        self._memory = PageCache(None, rows)
        self._memory.use_context(context)
        self._log = BuildLog(no_progress)
        loaded = outline.loaded()
        index = outline.index(context.config.base_path, _KeptEntries(outline, self._memory))
        frame = frame_of(context, index, loaded, self._log)
        bibliographies = SiteBibliographies(root, rows)
        bibliographies.use_settings(context.settings)
        self._frame = replace(frame, term_names=outline.term_names)
        self._tools = page_tools(
            context=context,
            memory=self._memory,
            index=index,
            loaded=loaded,
            results=_no_results,
            python=_no_python,
            measure=self._memory.images.measure,
            digest=self._memory.images.digest,
            bibliographies=bibliographies,
        )
        self._documents: dict[str, Document] = {}
        self._views: dict[str, PageView] = {}
        self._texts: dict[str, EditedText] = {}

    @property
    def reasons(self) -> dict[str, str]:
        """As in `BuildReport.rebuilt`."""
        return dict.fromkeys(self._texts, "its file has changed")

    @cached_property
    def kept_files(self) -> Mapping[str, str]:
        """As in `own_files`."""
        return own_files(self.target, self._root, is_chosen=self._is_chosen)

    def counts(self, before: BuildReport) -> dict[str, int]:
        """How much there is now of what texts are made of."""
        names = ("formulas", "code_blocks", "images")
        return {name: getattr(before, name) + self._difference(name) for name in names}

    def _difference(self, name: str) -> int:
        weights = ((text.before.weight, text.after.weight) for text in self._texts.values())
        return sum(getattr(new, name) - getattr(old, name) for old, new in weights)

    def keep_sizes(self) -> None:
        """Keep the sizes of images that were measured."""
        self._memory.images.save()

    def make(self, paths: Sequence[str]) -> dict[str, Output]:
        """Path in the output folder → file, of all that the texts of these sources make another one.

        ReachesFurther if anything else may be.
        """
        for path in paths:
            self._edit_page(path)
        names = dict.fromkeys(name for path in paths for name in self.outline.readers(path))
        pages = [OutputFile(self._output_path(path), path, self._views[path]) for path in paths]
        files = (*pages, *self._generated(names))
        plan = OutputPlan(self.outline.site, files, self._documents, {}, self._context)
        rows = OutputRows(plan, self._rows, self._memory.table.trace)
        if self._log.found or not all(map(rows.has_same_view, files)):
            raise ReachesFurther
        files += self._edit_searches(rows)
        outputs = {str(planned.path): rows.output(planned) for planned in files}
        if any(problems for _, problems in outputs.values()):
            raise ReachesFurther
        return {path: output for path, (output, _) in outputs.items()}

    def _edit_page(self, path: str) -> None:
        """Make the body of a page whose source has changed, and its view."""
        table = self._memory.table
        head, facts, page = (table.row(kind, path) for kind in _KINDS)
        document = self._read(path)
        if table.row("head", path) != head:
            raise ReachesFurther
        self._memory.facts_of(document)
        if not has_same_entry(facts, table.row("facts", path)):
            raise ReachesFurther
        body = self._memory.body(document, self._tools, None)
        texts = text_change(page, table.row("page", path))
        if texts is None:
            raise ReachesFurther
        view = self._views[path] = self._view(document, body)
        self._texts[path] = EditedText(view, *texts)

    def _read(self, path: str) -> Document:
        source = read_source(self._root, self.config, path)
        if source is None:
            raise ReachesFurther
        document, found = self._memory.document(source, self.config)
        # stamps of files that it includes may not be among those that were compared
        if found or document.included or document.front.is_dated_by_git:
            raise ReachesFurther
        self._documents[path] = document
        return document

    def _view(self, document: Document, body: Body) -> PageView:
        path = str(document.path)
        place = get_place(self._rows, path)
        if place is None:
            raise ReachesFurther
        item = Rendered(document, body, self.outline.urls[path], place.kind, "", place.edition)
        return place.apply_to(page_view(item, self._frame))

    def _edit_searches(self, rows: OutputRows) -> tuple[OutputFile, ...]:
        """The files of searches that are others now."""
        changed: tuple[OutputFile, ...] = ()
        if not self.outline.searches:
            return changed
        from ..site.search.index_edit import NotEditable
        from .search_edit import edit_search

        for folder, plan in self.outline.searches.items():
            last = read_last_site(self.target, self._root, partial(_is_in, folder), is_chosen=self._is_chosen)
            try:
                edit = edit_search(folder, plan, self._texts, last, self.config.math.macros)
            except NotEditable as error:
                raise ReachesFurther from error
            for planned in edit.unchanged:
                rows.put_unchanged(planned, self.kept_files[str(planned.path)])
            changed += edit.changed
            searches = {**self.outline.searches, folder: edit.plan}
            self.outline = replace(self.outline, searches=searches)
        return changed

    def _output_path(self, path: str) -> PurePosixPath:
        return output_path(self.outline.urls[path])

    def _generated(self, names: Iterable[str]) -> list[OutputFile]:
        """Feeds of the whole site and Markdown of pages; of others more must be known than their pages."""
        files = []
        for name in names:
            views = [self._kept_view(path) for path in self.outline.texts[name]]
            # what lists have of a page is without what its own file alone is printed with
            listed = [replace(view, math_font="", card="", translations=()) for view in views]
            edition = views[0].edition if views else ""
            files_of = {**site_feed_files(listed, self.config, edition), **markdown_files(views, self.config)}
            made = files_of.get(PurePosixPath(name))
            if made is None:
                raise ReachesFurther
            files.append(OutputFile(PurePosixPath(name), name, made))
        return files

    def _kept_view(self, path: str) -> PageView:
        if path not in self._views:
            document = self._read(path)
            found = self._memory.table.body(document)
            if found is None:
                raise ReachesFurther
            self._views[path] = self._view(document, found[0])
        return self._views[path]


class _KeptEntries(Mapping[str, PageEntry]):
    """What pages know of each other, as the last build has kept it."""

    def __init__(self, outline: SiteOutline, memory: PageCache) -> None:
        self._urls = outline.urls
        self._table = memory.table

    def __getitem__(self, path: str) -> PageEntry:
        entry = self._table.entry(path)
        if entry is None:
            raise ReachesFurther
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._urls)

    def __len__(self) -> int:
        return len(self._urls)


def _no_results(document: Document) -> PageResults:
    """Of a page on which nothing runs."""
    from ..model.results import PageResults

    return PageResults()


def _no_python() -> Distribution:
    """Where it comes from is a matter of the whole site."""
    raise ReachesFurther
