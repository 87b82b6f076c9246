"""Digests of everything that a finished page depends on: a page with equal digests is not made again.

A page depends on its view, on the texts that its templates print, on the settings of the site and on the
templates that it loads. Builds and previews compare the same keys.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Final

import msgspec
from msgspec.structs import replace

from ..base.storage.site_cache import NoRows, Row, Rows
from ..model.generated_files import GeneratedFile
from ..model.page_inputs import PageInputs
from ..model.template_views import PageView
from .output_plan import OutputFile, OutputPlan
from .rows.page_rows import NotStorable, digest_of
from .rows.view_digests import ViewDigests

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
