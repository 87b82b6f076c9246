"""Finished pages that are as they were: what they are made from is compared, and no template is filled.

Of a finished page only its digest is kept: where the output folder holds these bytes, nobody needs them
again, and elsewhere they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath

import msgspec
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError
from ..model.documents import Output
from ..model.generated_files import GeneratedFile
from ..model.template_views import PageView
from ..model.texts import TextTrace
from .outline_rows import put_place
from .output_plan import OutputFile, OutputPlan
from .pools.page_pool import FEWEST, MadeOutput, PagePool, cost_of, is_feed
from .rows.page_rows import NotStorable, digest_of
from .rows.row_store import NoRows, Row, RowStore
from .rows.view_digests import ViewDigests
from .spool import Spool

_KIND = "output"
_LOADS = "loads"
"""Kind of rows with names of templates: most pages have the same ones."""


class _Known(msgspec.Struct, frozen=True, array_like=True):
    digest: str
    """Hex SHA-256 of the page."""
    problems: tuple[Diagnostic, ...]
    """What its policy stops."""
    texts: Mapping[str, bytes]
    """Source path of another page whose text was read for it → digest of that text."""
    loads: str = ""
    """Name of the row that says which templates were looked for; empty for what is made without any."""
    templates: bytes = b""
    """As `ThemeFiles.digest` gives it for these."""


class OutputRows:
    """Belongs to one build."""

    def __init__(self, plan: OutputPlan, rows: RowStore, trace: TextTrace) -> None:
        """trace: notes which texts of pages are read."""
        self._plan = plan
        self._rows = rows
        self._trace = trace
        self._digests = ViewDigests()
        self._keys: dict[PurePosixPath, str] = {}
        self._found: dict[PurePosixPath, _Known | None] = {}
        self._ahead: dict[PurePosixPath, MadeOutput | SiteError] = {}
        self.traced: dict[PurePosixPath, Sequence[str]] = {}
        """Page → source paths of the other pages whose texts were read for it, if there are any."""
        views = [one.content for one in plan.files if isinstance(one.content, PageView)]
        # of a list that takes several pages, the first one has the text
        self._texts = {view.path: view.body.digest for view in reversed(views) if view.path}
        """Source path → digest of the text of that page."""
        self._site = ""
        """Names what all pages depend on, templates apart; empty: nothing is kept."""
        self._loads: dict[str, bytes] = {}
        """Name of a row of templates → what is digested of them now."""
        self._settings = ""
        """The same of files that are made from pages without a template."""
        files, config = plan.context.theme.files, plan.context.config
        if not isinstance(rows, NoRows):
            with suppress(NotStorable):
                self._settings = digest_of(rows.program, plan.site, config).hex()
                self._site = digest_of(self._settings, replace(files, templates={}, warnings=())).hex()

    def make_ahead(
        self,
        processes: int,
        keep: Callable[[Output], Output],
        beside: Sequence[OutputFile] = (),
        spool: Spool | None = None,
    ) -> None:
        """Make the pages that are not known, if there are many, by several processes.

        keep: as in `make_outputs`; spool: as in `PagePool`. beside: slow files that are made meanwhile, and
        keep themselves where they are found later. SiteError if a process dies.
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
        pool = PagePool(self._plan, self._rows, self._trace, spool)
        for planned, made in pool.make(wanted, processes):
            if planned.path not in made_beside:
                # made now, while others work; it is kept with the page
                self._key(planned)
                self._ahead[planned.path] = made if isinstance(made, SiteError) else (keep(made[0]), made[1])

    def output(self, planned: OutputFile) -> MadeOutput:
        """As `OutputPlan.output`; a page that is known is made only if its bytes are asked for."""
        known = self._known_page(planned)
        if known:
            if known.texts:
                self.traced[planned.path] = tuple(known.texts)
            make: Callable[[], bytes] = partial(self._make_bytes, planned)
            return Output(planned.path, make=make, digest=known.digest), known.problems
        ahead = self._ahead.pop(planned.path, None)
        if isinstance(ahead, SiteError):
            raise ahead
        output, problems = ahead or self._make(planned)
        key = self._key(planned)
        if not key:
            return output, problems
        if output.data is not None and not output.digest:
            output = replace(output, digest=sha256(output.data).hexdigest())
        with suppress(TypeError, ValueError, KeyError):
            texts = {path: self._texts[path] for path in sorted(output.texts)}
            if texts:
                self.traced[planned.path] = tuple(texts)
            known = _Known(output.digest, problems, texts, *self._put_loads(output.templates))
            data = msgspec.msgpack.encode(known)
            self._rows.put(_KIND, str(planned.path), Row(key, data))
            if isinstance(planned.content, PageView):
                put_place(self._rows, key, planned.content)
        return output, problems

    def has_same_view(self, planned: OutputFile) -> bool:
        """Whether what is kept was made from the same, texts apart, and nothing was wrong with it."""
        key, row = self._key(planned), self._rows.get(_KIND, str(planned.path))
        known = _decode(row.data) if row else None
        if not key or not row or not known:
            return False
        return row.key.split()[:2] == key.split()[:2] and not known.problems

    def put_unchanged(self, planned: OutputFile, digest: str) -> None:
        """Keep that a file is as it was, whatever it is made of now. digest: as in `Output`."""
        if key := self._key(planned):
            data = msgspec.msgpack.encode(_Known(digest, (), {}))
            self._rows.put(_KIND, str(planned.path), Row(key, data))

    def keep_only_planned(self) -> None:
        """Forget pages that are gone."""
        self._rows.keep_only(_KIND, {str(planned.path) for planned in self._plan.files})
        self._rows.keep_only(_LOADS, self._loads.keys())

    def _known_page(self, planned: OutputFile) -> _Known | None:
        if planned.path not in self._found:
            self._found[planned.path] = self._find(planned)
        return self._found[planned.path]

    def _find(self, planned: OutputFile) -> _Known | None:
        row = self._rows.get(_KIND, str(planned.path)) if self._site else None
        # a key is named by a digest of all that the page is made from
        known = _decode(row.data) if row and row.key == self._key(planned) else None
        if known is None or known.templates != self._digest_loads(known.loads):
            return None
        is_same = all(self._texts.get(path) == digest for path, digest in known.texts.items())
        return known if is_same else None

    def _digest_loads(self, name: str) -> bytes:
        if not name:
            return b""
        if name not in self._loads:
            row = self._rows.get(_LOADS, name)
            templates = _decode_names(row.data) if row else None
            if templates is None:
                return b"unknown"
            self._loads[name] = self._plan.context.theme.files.digest(*templates)
        return self._loads[name]

    def _put_loads(self, templates: frozenset[str]) -> tuple[str, bytes]:
        """The row of these names, and what is digested of the templates."""
        if not templates:
            return "", b""
        names = sorted(templates)
        name = digest_of(names).hex()
        if name not in self._loads:
            self._rows.put(_LOADS, name, Row("", msgspec.msgpack.encode(names)))
            self._loads[name] = self._plan.context.theme.files.digest(*names)
        return name, self._loads[name]

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

    def _key(self, planned: OutputFile) -> str:
        if planned.path not in self._keys:
            self._keys[planned.path] = self._new_key(planned.content)
        return self._keys[planned.path]

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


def _decode(data: bytes) -> _Known | None:
    try:
        return msgspec.msgpack.decode(data, type=_Known)
    except msgspec.MsgspecError:
        return None
