"""Finished pages that are as they were: what they are made from is compared, and no template is filled.

Of a finished page only its digest is kept: where the output folder holds these bytes, nobody needs them
again, and elsewhere they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Final

import msgspec
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.site_cache import Row, Rows
from ..model.documents import Output
from ..model.page_inputs import PageInputs
from ..model.template_views import PageView
from ..model.texts import TextTrace
from .output_keys import OutputKeys
from .output_plan import OutputFile, OutputPlan
from .pools.page_pool import FEWEST, MadeOutput, PagePool, cost_of, is_feed

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
