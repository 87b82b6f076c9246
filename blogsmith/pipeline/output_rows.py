"""Finished pages that are as they were: what they are made from is compared, and no template is filled.

Of a finished page only its digest is kept: where the output folder holds these bytes, nobody needs them
again, and elsewhere they are made.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256

import msgspec

from ..diagnostics.model import Diagnostic
from ..model.documents import Output
from ..model.template_views import PageView
from ..project.program import program_digest
from .output_plan import OutputFile, OutputPlan
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
        self._site = ""
        """Names what all pages depend on; empty: nothing is kept."""
        files, config = plan.context.theme.files, plan.context.config
        if not isinstance(rows, NoRows):
            with suppress(NotStorable):
                self._site = digest_of(program_digest(), plan.site, files, config).hex()

    def output(self, planned: OutputFile) -> tuple[Output, tuple[Diagnostic, ...]]:
        """As `OutputPlan.output`; a page that is known is made only if its bytes are asked for."""
        view = planned.content
        key = self._key(view) if isinstance(view, PageView) else ""
        if not key or not isinstance(view, PageView):
            return self._plan.output(planned)
        name = str(planned.path)
        row = self._rows.get(_KIND, name)
        known = _decode(row.data) if row and row.key == key else None
        if known:
            make: Callable[[], bytes] = partial(self._make, view)
            return Output(planned.path, make=make, digest=known.digest), known.problems
        output, problems = self._plan.output(planned)
        assert output.data is not None, "a page is made in memory"
        with suppress(TypeError, ValueError):
            output = replace(output, digest=sha256(output.data).hexdigest())
            data = msgspec.msgpack.encode(_Known(output.digest, problems))
            self._rows.put(_KIND, name, Row(key, data))
        return output, problems

    def keep_only_planned(self) -> None:
        """Forget pages that are gone."""
        self._rows.keep_only(_KIND, {str(planned.path) for planned in self._plan.files})

    def _make(self, view: PageView) -> bytes:
        return self._plan.page(view).html

    def _key(self, view: PageView) -> str:
        if not self._site:
            return ""
        try:
            return f"{self._site} {self._digests.digest_of(view).hex()}"
        except NotStorable:
            return ""


def _decode(data: bytes) -> _Known | None:
    try:
        return msgspec.msgpack.decode(data, type=_Known)
    except msgspec.MsgspecError:
        return None
