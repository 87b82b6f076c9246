"""Finished pages that are as they were: what they are made from is compared, and no template is filled.

Of a finished page only its digest is kept: where the output folder holds these bytes, nobody needs them
again, and elsewhere they are made.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath

import msgspec
from msgspec.structs import replace

from ..diagnostics.model import Diagnostic, SiteError
from ..model.documents import Output
from ..model.template_views import PageView
from ..site.generated import GeneratedFile
from .output_plan import OutputFile, OutputPlan
from .page_pool import FEWEST, MadeOutput, PagePool
from .page_rows import NotStorable, digest_of
from .row_store import NoRows, Row, RowStore
from .view_digests import ViewDigests

_KIND = "output"


class _Known(msgspec.Struct, frozen=True, array_like=True):
    digest: str
    """Hex SHA-256 of the page."""
    problems: tuple[Diagnostic, ...]
    """What its policy stops."""


class OutputRows:
    """Belongs to one build."""

    def __init__(self, plan: OutputPlan, rows: RowStore) -> None:
        self._plan = plan
        self._rows = rows
        self._digests = ViewDigests()
        self._ahead: dict[PurePosixPath, MadeOutput | SiteError] = {}
        self._site = ""
        """Names what all pages depend on; empty: nothing is kept."""
        files, config = plan.context.theme.files, plan.context.config
        if not isinstance(rows, NoRows):
            with suppress(NotStorable):
                self._site = digest_of(rows.program, plan.site, files, config).hex()

    def make_ahead(self, processes: int, keep: Callable[[Output], Output]) -> None:
        """Make the pages that are not known, if there are many, by several processes.

        keep: as in `make_outputs`. SiteError if a process dies.
        """
        missing = [
            one for one in self._plan.files if isinstance(one.content, PageView) and not self._known(one)
        ]
        if processes < 2 or len(missing) < FEWEST:
            return
        layouts = {one.content.layout: one for one in missing if isinstance(one.content, PageView)}
        for first in layouts.values():
            # templates are compiled here, once for all processes
            with suppress(SiteError):
                output, problems = self._plan.output(first)
                self._ahead[first.path] = keep(output), problems
        missing = [one for one in missing if one.path not in self._ahead]
        for planned, made in PagePool(self._plan, self._rows).make(missing, processes):
            self._ahead[planned.path] = made if isinstance(made, SiteError) else (keep(made[0]), made[1])

    def output(self, planned: OutputFile) -> MadeOutput:
        """As `OutputPlan.output`; a page that is known is made only if its bytes are asked for."""
        known = self._known(planned)
        if known:
            make: Callable[[], bytes] = partial(self._make, planned)
            return Output(planned.path, make=make, digest=known.digest), known.problems
        ahead = self._ahead.pop(planned.path, None)
        if isinstance(ahead, SiteError):
            raise ahead
        output, problems = ahead or self._plan.output(planned)
        key = self._key(planned)
        if not key:
            return output, problems
        if output.data is not None and not output.digest:
            output = replace(output, digest=sha256(output.data).hexdigest())
        with suppress(TypeError, ValueError):
            data = msgspec.msgpack.encode(_Known(output.digest, problems))
            self._rows.put(_KIND, str(planned.path), Row(key, data))
        return output, problems

    def _known(self, planned: OutputFile) -> _Known | None:
        key = self._key(planned)
        row = self._rows.get(_KIND, str(planned.path)) if key else None
        return _decode(row.data) if row and row.key == key else None

    def keep_only_planned(self) -> None:
        """Forget pages that are gone."""
        self._rows.keep_only(_KIND, {str(planned.path) for planned in self._plan.files})

    def _make(self, planned: OutputFile) -> bytes:
        data = self._plan.output(planned)[0].data
        assert data is not None, "only what is made in memory is known"
        return data

    def _key(self, planned: OutputFile) -> str:
        content = planned.content
        pages: tuple[PageView, ...] = content.pages if isinstance(content, GeneratedFile) else ()
        if isinstance(content, PageView):
            pages = (content,)
        if not self._site or not pages:
            return ""
        try:
            return f"{self._site} {self._digests.digest_of_all(pages).hex()}"
        except NotStorable:
            return ""


def _decode(data: bytes) -> _Known | None:
    try:
        return msgspec.msgpack.decode(data, type=_Known)
    except msgspec.MsgspecError:
        return None
