"""Finished pages: a page whose inputs are unchanged is reused, otherwise its template is filled.

Only the digest of a finished page is cached. If the output folder contains a file with this digest, the bytes
are not needed; otherwise the page is rendered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import closing, suppress
from functools import partial
from hashlib import blake2b, sha256
from pathlib import PurePosixPath
from typing import Final

import msgspec
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.site_cache import CacheInterface, NullCache, Row
from ..model.documents import Output
from ..model.generated_files import GeneratedFile, OutputFile, PageInputs
from ..model.template_views import PageView
from ..model.texts import TextTrace
from ..pools.page_executor import process_death_error
from ..pools.pool import ProcessDiedError, ProcessPool
from ..project.report import Progress
from ..rows.page_rows import EncodingError, digest_values
from .plan import OutputPlan

# Digests of pages as templates see them: the only part of the site that a finished page depends on.


_NESTED = frozenset({"body", "next_post", "pages", "page_groups"})
_PLAIN = tuple(name for name in PageView.__struct_fields__ if name not in _NESTED)


class ViewDigests:
    """Digests of views, for one build, so that a page in many lists is digested only once. The text of pages
    is not included; a file that shows the text of a page depends on that text separately."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[PageView, bytes]] = {}
        """`id` of a view → view and digest. Storing the view keeps its `id` from being used again."""

    def digest_view(self, view: PageView) -> bytes:
        """Return a digest of a page and all pages in its lists. Raise EncodingError as `digest_values`
        does."""
        known = self._known.get(id(view))
        if known is None:
            listed = [self.digest_view(page).hex() for page in view.pages]
            groups = [
                (group.title, group.url, [self.digest_view(page).hex() for page in group.pages])
                for group in view.page_groups
            ]
            following = self.digest_view(view.next_post).hex() if view.next_post else ""
            plain = [getattr(view, name) for name in _PLAIN]
            known = self._known[id(view)] = (view, digest_values(plain, following, listed, groups))
        return known[1]

    def digest_views(self, views: Iterable[PageView]) -> bytes:
        return blake2b(b"".join(map(self.digest_view, views)), digest_size=16).digest()


# Digests of all inputs of a finished page: if they are equal, the page is not rendered again. A page depends
# on its view, the text that its templates print, the settings of the site, and the templates that it loads.
# Builds and previews compare the same keys.


_LOADS: Final = "loads"
"""Kind of cache rows with names of templates. Most pages share one row."""


class OutputKeys:
    """Keys of the files of one output plan."""

    def __init__(self, plan: OutputPlan, rows: CacheInterface) -> None:
        self._rows = rows
        self._theme = plan.context.theme.files
        self._digests = ViewDigests()
        self._keys: dict[PurePosixPath, str] = {}
        self._loads: dict[str, bytes] = {}
        """Name of a cache row of templates → current digest of these templates."""
        views = [one.content for one in plan.files if isinstance(one.content, PageView)]
        # of a list that takes several pages, the first one has the text
        self._texts = {view.path: view.body.digest for view in reversed(views) if view.path}
        """Source path → digest of the page's text."""
        self._site = ""
        """Digest of the inputs that all pages share, except templates; empty: nothing is cached."""
        self._settings = ""
        """Digest of the inputs of files that are generated from pages without a template."""
        if not isinstance(rows, NullCache):
            with suppress(EncodingError):
                self._settings = digest_values(rows.program, plan.site, plan.context.config).hex()
                self._site = digest_values(
                    self._settings, replace(self._theme, templates={}, warnings=())
                ).hex()

    @property
    def template_rows(self) -> Collection[str]:
        """Names of the rows of templates that are in use."""
        return self._loads.keys()

    def key(self, planned: OutputFile) -> str:
        """Return a key of all inputs of a file except for those in `PageInputs`; empty if the file cannot be
        cached."""
        if planned.path not in self._keys:
            self._keys[planned.path] = self._new_key(planned.content)
        return self._keys[planned.path]

    def inputs(self, texts: Collection[str], templates: Collection[str]) -> PageInputs | None:
        """Return the inputs of a page that was just rendered; None if one of the pages does not belong to the
        site. `texts`: source paths of the pages whose text was read. templates: names of the templates that
        were searched for."""
        if not self._texts.keys() >= {*texts}:
            return None
        name, digest = self._put_loads(templates)
        return PageInputs({path: self._texts[path] for path in sorted(texts)}, name, digest)

    def is_current(self, inputs: PageInputs) -> bool:
        """Return whether the inputs of a page are unchanged: the text of other pages, and the templates."""
        has_texts = all(self._texts.get(path) == digest for path, digest in inputs.text_digests.items())
        return has_texts and inputs.templates == self._digest_loads(inputs.templates_row)

    def _digest_loads(self, name: str) -> bytes:
        if not name:
            return b""
        if name not in self._loads:
            row = self._rows.get(_LOADS, name)
            templates = _decode_names(row.data) if row else None
            if templates is None:
                return b"unknown"
            self._loads[name] = self._theme.digest(*templates)
        return self._loads[name]

    def _put_loads(self, templates: Collection[str]) -> tuple[str, bytes]:
        """Store a cache row with these names of templates. Return the row's name, and the digest of the
        templates."""
        if not templates:
            return "", b""
        names = sorted(templates)
        name = digest_values(names).hex()
        if name not in self._loads:
            self._rows.put(_LOADS, name, Row("", msgspec.msgpack.encode(names)))
            self._loads[name] = self._theme.digest(*names)
        return name, self._loads[name]

    def _new_key(self, content: object) -> str:
        pages: tuple[PageView, ...] = ()
        texts: tuple[PageView, ...] = ()
        around = self._site
        if isinstance(content, PageView):
            pages = texts = (content,)
        elif isinstance(content, GeneratedFile):
            pages, texts, around = content.pages, content.text_pages, self._settings
            if self._site and content.key:
                return digest_values(self._rows.program, content.key).hex()
        if not self._site or not pages:
            return ""
        try:
            views = self._digests.digest_views(pages)
        except EncodingError:
            return ""
        return f"{around} {views.hex()} {digest_values([text.body.digest.hex() for text in texts]).hex()}"


def _decode_names(data: bytes) -> list[str] | None:
    try:
        return msgspec.msgpack.decode(data, type=list[str])
    except msgspec.MsgspecError:
        return None


# Several processes fill templates and draw cards. The files are the same as with one process.


MIN_PROCESS_PAGES = 100
"""Minimum cost, in pages, for which starting processes is worthwhile. Each prepares itself first."""
_FONT_COST = 60
"""Cost of reducing a font, in pages, because the others are rendered at the same time."""
_IMAGE_COST = 20
"""Cost of making the copies of an image, as a multiple of the cost of creating one page."""
_FILES_PER_CALL = 4
"""Number of files in one call. Creating a file takes one or two milliseconds, a call a fifth of a
millisecond."""

OutputResult = tuple[Output, tuple[Diagnostic, ...]]


def estimate_cost(planned: OutputFile) -> int:
    """Return the cost of creating a file; a page costs 1. Return 0 if only this process should create it."""
    content = planned.content
    if isinstance(content, GeneratedFile):
        return _IMAGE_COST if content.is_slow else int(bool(content.key) and not content.is_joint)
    return int(isinstance(content, PageView))


def is_feed(planned: OutputFile) -> bool:
    """Return whether a file contains the text of pages. Processes may create it, but are not started for
    it."""
    return isinstance(planned.content, GeneratedFile) and bool(planned.content.text_pages)


class PagePool:
    """Creates files in several processes, for one build."""

    def __init__(
        self, make: Callable[[OutputFile], OutputResult], rows: CacheInterface, *, has_bytes: bool
    ) -> None:
        """Set up the pool. make: function that creates a file in any process. rows: cache that it reads.
        has_bytes: False if only digests are needed."""
        self._make = make
        self._rows = rows
        self._has_bytes = has_bytes

    def make(
        self, files: Sequence[OutputFile], processes: int
    ) -> Generator[tuple[OutputFile, OutputResult | SiteError], None, None]:
        """Yield the files, or the reasons why they cannot be created, in any order. Files that this process
        must create are left out. Until the end, nothing may be written to the rows. A caller that may stop
        early must close the generator. SiteError if a process dies."""
        self._rows.share()
        # thousands of pages use the same templates
        known: dict[frozenset[str], frozenset[str]] = {}
        worker, numbers = partial(self._worker, files), range(len(files))
        try:
            with ProcessPool("fork", processes, worker) as pool:
                for number, made in pool.map(numbers, _FILES_PER_CALL):
                    if isinstance(made, SiteError):
                        yield files[number], made
                    elif made:
                        output, problems = made
                        templates = known.setdefault(output.templates, output.templates)
                        yield files[number], (replace(output, templates=templates), problems)
        except ProcessDiedError as error:
            origin = files[error.task].origin
            raise process_death_error(
                f"the process that rendered the templates of {origin} {error.ending}"
            ) from error

    def _worker(self, files: Sequence[OutputFile]) -> Callable[[int], OutputResult | SiteError | None]:
        self._rows.reopen()
        given_up = set[str]()

        def make(number: int) -> OutputResult | SiteError | None:
            content = files[number].content
            layout = content.layout if isinstance(content, PageView) else ""
            if layout in given_up:
                # another page has shown that the layout takes too long
                return None
            try:
                output, problems = self._make(files[number])
            except SiteError as error:
                if any(found.code == "template-limit" for found in error.diagnostics):
                    given_up.add(layout)
                return error
            data = output.data or b""
            digest = sha256(data).hexdigest()
            return replace(output, data=data if self._has_bytes else b"", digest=digest), problems

        return make


_KIND: Final = "output"


class _CachedOutput(msgspec.Struct, frozen=True, array_like=True):
    digest: str
    """SHA-256 of the page in hex."""
    problems: tuple[Diagnostic, ...]
    """Diagnostics about content that its policy blocks."""
    inputs: PageInputs


class OutputRows:
    """The cached finished pages of one build."""

    def __init__(self, plan: OutputPlan, rows: CacheInterface, trace: TextTrace) -> None:
        """Open the cached pages. trace: records the pages whose text is read."""
        self._plan = plan
        self._rows = rows
        self._trace = trace
        self._keys = OutputKeys(plan, rows)
        self._found: dict[PurePosixPath, _CachedOutput | None] = {}
        self._ahead: dict[PurePosixPath, OutputResult | SiteError] = {}
        rows.load(_KIND)

    def render_in_parallel(
        self,
        processes: int,
        keep: Callable[[Output], Output],
        slow_files: Sequence[OutputFile] = (),
        *,
        has_bytes: bool,
        progress: Progress,
    ) -> None:
        """Render pages that are not cached in several processes, if there are many. keep: function that
        stores a finished output, and returns it. has_bytes: False if only digests are needed. slow_files:
        files created at the same time, which store themselves for later use. progress: is called with
        `images` or `pages`. SiteError if a process dies."""
        missing = [one for one in self._plan.files if estimate_cost(one) and not self._known_page(one)]
        cost = sum(map(estimate_cost, missing)) + _FONT_COST * len(slow_files)
        if processes < 2 or cost < MIN_PROCESS_PAGES:
            return
        layouts = {one.content.layout: one for one in missing if isinstance(one.content, PageView)}
        for first in layouts.values():
            # templates are compiled here, once for all processes
            with suppress(SiteError):
                output, problems = self._make(first)
                self._ahead[first.path] = keep(output), problems
        missing = [one for one in missing if one.path not in self._ahead]
        feeds = [
            one
            for one in self._plan.files
            if is_feed(one) and not estimate_cost(one) and not self._known_page(one)
        ]
        made_beside = {planned.path for planned in slow_files}
        # the slowest files come first, or one process might work on one of them alone at the end
        wanted = (*slow_files, *feeds, *missing)
        pool = PagePool(self._make, self._rows, has_bytes=has_bytes)
        with closing(pool.make(wanted, processes)) as found:
            for done, (planned, made) in enumerate(found):
                is_slow = isinstance(planned.content, GeneratedFile) and planned.content.is_slow
                progress("images" if is_slow else "pages", done, len(wanted))
                if planned.path not in made_beside:
                    # the digest is computed while the other processes work, and stored with the page
                    self._keys.key(planned)
                    self._ahead[planned.path] = (
                        made if isinstance(made, SiteError) else (keep(made[0]), made[1])
                    )

    def output(self, planned: OutputFile) -> OutputResult:
        """Return a file and its diagnostics. A cached page is rendered only if its bytes are requested."""
        known = self._known_page(planned)
        if known:
            make: Callable[[], bytes] = partial(self._make_bytes, planned)
            return Output(planned.path, make=make, digest=known.digest), known.problems
        ahead = self._ahead.pop(planned.path, None)
        if isinstance(ahead, SiteError):
            raise ahead
        output, problems = ahead or self._make(planned)
        key = self._keys.key(planned)
        content = planned.content
        is_current = content.is_current if isinstance(content, GeneratedFile) else None
        if not key or (is_current and not is_current()):
            return output, problems
        if output.data is not None and not output.digest:
            output = replace(output, digest=sha256(output.data).hexdigest())
        inputs = self._keys.inputs(output.texts, output.templates)
        if inputs:
            with suppress(TypeError, ValueError):
                data = msgspec.msgpack.encode(_CachedOutput(output.digest, problems, inputs))
                self._rows.put(_KIND, str(planned.path), Row(key, data))
        return output, problems

    def remove_unplanned(self) -> None:
        """Drop pages that no longer exist."""
        self._rows.remove_others(_KIND, {str(planned.path) for planned in self._plan.files})
        self._rows.remove_others("loads", self._keys.template_rows)

    def _known_page(self, planned: OutputFile) -> _CachedOutput | None:
        if planned.path not in self._found:
            self._found[planned.path] = self._find(planned)
        return self._found[planned.path]

    def _find(self, planned: OutputFile) -> _CachedOutput | None:
        key = self._keys.key(planned)
        row = self._rows.get(_KIND, str(planned.path)) if key else None
        # the key already contains a digest of all inputs of the page
        known = _decode(row.data) if row and row.key == key else None
        return known if known and self._keys.is_current(known.inputs) else None

    def _make(self, planned: OutputFile) -> OutputResult:
        with self._trace.watch() as texts, self._plan.context.theme.watch_templates() as templates:
            output, problems = self._plan.output(planned)
        if isinstance(planned.content, PageView):
            others = frozenset(texts - {planned.content.path})
            output = replace(output, texts=others, templates=frozenset(templates))
        return output, problems

    def _make_bytes(self, planned: OutputFile) -> bytes:
        data = self._plan.output(planned)[0].data
        assert data is not None, "only what is made in memory is known"
        return data


def _decode(data: bytes) -> _CachedOutput | None:
    try:
        return msgspec.msgpack.decode(data, type=_CachedOutput)
    except msgspec.MsgspecError:
        return None
