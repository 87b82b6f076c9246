"""Finished pages: each is taken from the cache by a key of all it was made from, or its template is filled.

Of a finished page only its digest is kept: where the output folder holds these bytes, nobody needs them
again, and elsewhere they are made.
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
from ..base.storage.site_cache import NoRows, Row, Rows
from ..model.documents import Output
from ..model.generated_files import GeneratedFile, OutputFile, PageInputs
from ..model.template_views import PageView
from ..model.texts import TextTrace
from ..pools.page_executor import died
from ..pools.pool import ProcessDied, ProcessPool
from ..rows.page_rows import NotStorable, digest_of
from .plan import OutputPlan

# Digests of pages as templates see them: a finished page depends on nothing else of the site.


_NESTED = frozenset({"body", "pages", "page_groups"})
_PLAIN = tuple(name for name in PageView.__struct_fields__ if name not in _NESTED)


class ViewDigests:
    """Belongs to one build: a page stands in many lists, and is digested once.

    Texts of pages do not count: whatever shows one says so.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[PageView, bytes]] = {}
        """By identity; the page is kept, or another one might get its number."""

    def digest_of(self, view: PageView) -> bytes:
        """Equal for pages that are equal, those that they list included; NotStorable as in `digest_of`."""
        known = self._known.get(id(view))
        if known is None:
            listed = [self.digest_of(page).hex() for page in view.pages]
            groups = [
                (group.title, [self.digest_of(page).hex() for page in group.pages])
                for group in view.page_groups
            ]
            plain = [getattr(view, name) for name in _PLAIN]
            known = self._known[id(view)] = (view, digest_of(plain, listed, groups))
        return known[1]

    def digest_of_all(self, views: Iterable[PageView]) -> bytes:
        """Of several, in this order."""
        return blake2b(b"".join(map(self.digest_of, views)), digest_size=16).digest()


# Digests of everything that a finished page depends on: a page with equal digests is not made again.
#
# A page depends on its view, on the texts that its templates print, on the settings of the site and on the
# templates that it loads. Builds and previews compare the same keys.


_LOADS: Final = "loads"
"""Kind of rows with names of templates: most pages have the same ones."""


class OutputKeys:
    """Belongs to one plan of the output."""

    def __init__(self, plan: OutputPlan, rows: Rows) -> None:
        self._rows = rows
        self._theme = plan.context.theme.files
        self._digests = ViewDigests()
        self._keys: dict[PurePosixPath, str] = {}
        self._loads: dict[str, bytes] = {}
        """Name of a row of templates → what is digested of them now."""
        views = [one.content for one in plan.files if isinstance(one.content, PageView)]
        # of a list that takes several pages, the first one has the text
        self._texts = {view.path: view.body.digest for view in reversed(views) if view.path}
        """Source path → digest of the text of that page."""
        self._site = ""
        """Names what all pages depend on, templates apart; empty: nothing is kept."""
        self._settings = ""
        """The same of files that are made from pages without a template."""
        if not isinstance(rows, NoRows):
            with suppress(NotStorable):
                self._settings = digest_of(rows.program, plan.site, plan.context.config).hex()
                self._site = digest_of(self._settings, replace(self._theme, templates={}, warnings=())).hex()

    @property
    def loads(self) -> Collection[str]:
        """Names of the rows of templates that are in use."""
        return self._loads.keys()

    def key(self, planned: OutputFile) -> str:
        """Names what a file is made from, its `PageInputs` apart; empty if that has no name."""
        if planned.path not in self._keys:
            self._keys[planned.path] = self._new_key(planned.content)
        return self._keys[planned.path]

    def inputs(self, texts: Collection[str], templates: Collection[str]) -> PageInputs | None:
        """Return the inputs of a page that was just made; None if a text is not part of the site.

        texts: source paths of other pages; templates: as `Theme.watch_templates` gives them.
        """
        if not self._texts.keys() >= {*texts}:
            return None
        name, digest = self._put_loads(templates)
        return PageInputs({path: self._texts[path] for path in sorted(texts)}, name, digest)

    def holds(self, inputs: PageInputs) -> bool:
        """Return whether these texts and templates are unchanged."""
        has_texts = all(self._texts.get(path) == digest for path, digest in inputs.texts.items())
        return has_texts and inputs.templates == self._digest_loads(inputs.loads)

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
        """The row of these names, and what is digested of the templates."""
        if not templates:
            return "", b""
        names = sorted(templates)
        name = digest_of(names).hex()
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
            pages, texts, around = content.pages, content.texts, self._settings
            if self._site and content.key:
                return digest_of(self._rows.program, content.key).hex()
        if not self._site or not pages:
            return ""
        try:
            views = self._digests.digest_of_all(pages)
        except NotStorable:
            return ""
        return f"{around} {views.hex()} {digest_of([text.body.digest.hex() for text in texts]).hex()}"


def _decode_names(data: bytes) -> list[str] | None:
    try:
        return msgspec.msgpack.decode(data, type=list[str])
    except msgspec.MsgspecError:
        return None


# Templates filled and cards drawn by several processes: the files are those that one process makes.


FEWEST = 40
"""Pages to make for which processes are worth their start."""
_SLOW = 20
"""Pages that take as long as a copy of a picture, with those of its copies that are made at once."""
_TOGETHER = 4
"""Files of one call: each takes a millisecond or two, and a call a fifth of one."""

MadeOutput = tuple[Output, tuple[Diagnostic, ...]]
"""A file, and what there is to say about it."""


def cost_of(planned: OutputFile) -> int:
    """How many pages take as long as making the file; 0 if that is nothing for another process."""
    content = planned.content
    if isinstance(content, GeneratedFile):
        return _SLOW if content.is_slow else int(bool(content.key) and not content.is_joint)
    return int(isinstance(content, PageView))


def is_feed(planned: OutputFile) -> bool:
    """Whether it is made of texts of pages: no reason to start processes, but work for those there are."""
    return isinstance(planned.content, GeneratedFile) and bool(planned.content.texts)


class PagePool:
    """Belongs to one build."""

    def __init__(self, make: Callable[[OutputFile], MadeOutput], rows: Rows, *, has_bytes: bool) -> None:
        """make: makes a file in any process. rows: what it reads. has_bytes: False if only digests are asked
        for."""
        self._make = make
        self._rows = rows
        self._has_bytes = has_bytes

    def make(
        self, files: Sequence[OutputFile], processes: int
    ) -> Generator[tuple[OutputFile, MadeOutput | SiteError], None, None]:
        """The files, or why they cannot be made, in some order; those that are to be made here are left out.

        Nothing is written to the rows meanwhile. To be closed by a caller that may stop before the end.
        SiteError if a process dies.
        """
        self._rows.share()
        # thousands of pages are made with the same templates
        known: dict[frozenset[str], frozenset[str]] = {}
        worker, numbers = partial(self._worker, files), range(len(files))
        try:
            with ProcessPool("fork", processes, worker) as pool:
                for number, made in pool.map(numbers, _TOGETHER):
                    if isinstance(made, SiteError):
                        yield files[number], made
                    elif made:
                        output, problems = made
                        templates = known.setdefault(output.templates, output.templates)
                        yield files[number], (replace(output, templates=templates), problems)
        except ProcessDied as error:
            origin = files[error.task].origin
            raise died(f"the process that filled the templates of {origin} {error.ending}") from error

    def _worker(self, files: Sequence[OutputFile]) -> Callable[[int], MadeOutput | SiteError | None]:
        self._rows.reopen()
        given_up = set[str]()

        def make(number: int) -> MadeOutput | SiteError | None:
            content = files[number].content
            layout = content.layout if isinstance(content, PageView) else ""
            if layout in given_up:
                # it takes too long, as another page has shown
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


class _Known(msgspec.Struct, frozen=True, array_like=True):
    digest: str
    """Hex SHA-256 of the page."""
    problems: tuple[Diagnostic, ...]
    """What its policy stops."""
    inputs: PageInputs


class OutputRows:
    """Belongs to one build."""

    def __init__(self, plan: OutputPlan, rows: Rows, trace: TextTrace) -> None:
        """trace: notes which texts of pages are read."""
        self._plan = plan
        self._rows = rows
        self._trace = trace
        self._keys = OutputKeys(plan, rows)
        self._found: dict[PurePosixPath, _Known | None] = {}
        self._ahead: dict[PurePosixPath, MadeOutput | SiteError] = {}
        rows.load(_KIND)

    def make_ahead(
        self,
        processes: int,
        keep: Callable[[Output], Output],
        beside: Sequence[OutputFile] = (),
        *,
        has_bytes: bool,
    ) -> None:
        """Make the pages that are not known, if there are many, by several processes.

        keep: as in `make_outputs`; has_bytes: as in `PagePool`. beside: slow files that are made meanwhile,
        and keep themselves where they are found later. SiteError if a process dies.
        """
        missing = [one for one in self._plan.files if cost_of(one) and not self._known_page(one)]
        if processes < 2 or sum(map(cost_of, missing)) < FEWEST:
            return
        layouts = {one.content.layout: one for one in missing if isinstance(one.content, PageView)}
        for first in layouts.values():
            # templates are compiled here, once for all processes
            with suppress(SiteError):
                output, problems = self._make(first)
                self._ahead[first.path] = keep(output), problems
        missing = [one for one in missing if one.path not in self._ahead]
        feeds = [
            one for one in self._plan.files if is_feed(one) and not cost_of(one) and not self._known_page(one)
        ]
        made_beside = {planned.path for planned in beside}
        # what takes longest comes first, so that no process works on it alone in the end
        wanted = (*beside, *feeds, *missing)
        pool = PagePool(self._make, self._rows, has_bytes=has_bytes)
        with closing(pool.make(wanted, processes)) as found:
            for planned, made in found:
                if planned.path not in made_beside:
                    # made now, while others work; it is kept with the page
                    self._keys.key(planned)
                    self._ahead[planned.path] = (
                        made if isinstance(made, SiteError) else (keep(made[0]), made[1])
                    )

    def output(self, planned: OutputFile) -> MadeOutput:
        """As `OutputPlan.output`; a page that is known is made only if its bytes are asked for."""
        known = self._known_page(planned)
        if known:
            make: Callable[[], bytes] = partial(self._make_bytes, planned)
            return Output(planned.path, make=make, digest=known.digest), known.problems
        ahead = self._ahead.pop(planned.path, None)
        if isinstance(ahead, SiteError):
            raise ahead
        output, problems = ahead or self._make(planned)
        key = self._keys.key(planned)
        if not key:
            return output, problems
        if output.data is not None and not output.digest:
            output = replace(output, digest=sha256(output.data).hexdigest())
        inputs = self._keys.inputs(output.texts, output.templates)
        if inputs:
            with suppress(TypeError, ValueError):
                data = msgspec.msgpack.encode(_Known(output.digest, problems, inputs))
                self._rows.put(_KIND, str(planned.path), Row(key, data))
        return output, problems

    def keep_only_planned(self) -> None:
        """Forget pages that are gone."""
        self._rows.keep_only(_KIND, {str(planned.path) for planned in self._plan.files})
        self._rows.keep_only("loads", self._keys.loads)

    def _known_page(self, planned: OutputFile) -> _Known | None:
        if planned.path not in self._found:
            self._found[planned.path] = self._find(planned)
        return self._found[planned.path]

    def _find(self, planned: OutputFile) -> _Known | None:
        key = self._keys.key(planned)
        row = self._rows.get(_KIND, str(planned.path)) if key else None
        # a key is named by a digest of all that the page is made from
        known = _decode(row.data) if row and row.key == key else None
        return known if known and self._keys.holds(known.inputs) else None

    def _make(self, planned: OutputFile) -> MadeOutput:
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


def _decode(data: bytes) -> _Known | None:
    try:
        return msgspec.msgpack.decode(data, type=_Known)
    except msgspec.MsgspecError:
        return None
