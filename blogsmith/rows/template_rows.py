"""Compiled templates of a site's theme as one row, so that a build compiles only those that have changed.

They are code, and run. They lie in the user's cache folder, never in a folder that a clone may bring. They
hold for one program, and so for one Python and one Jinja.
"""

from __future__ import annotations

import marshal
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from types import CodeType
from typing import Final

import msgspec

from ..base.storage.site_cache import NoRows, Row, Rows, open_site_cache
from ..project.bundled_folders import bundled_folder

_KIND: Final = "templates"
_NAME = "theme"


class _TemplateCode(msgspec.Struct, frozen=True, array_like=True):
    digest: str
    """Names what the code was compiled from."""
    code: bytes


class TemplateRows:
    """Belongs to one build.

    Everything is read at once and written at the end: processes that are forked meanwhile need no rows.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        row = rows.get(_KIND, _NAME)
        self._is_new = row is None
        """Nothing is kept of this site: what others of this user have compiled may do."""
        if row is None:
            with _shared_rows(rows) as shared:
                row = shared.get(_KIND, _NAME)
            self._known = _decode(row.data) if row and row.key == rows.program else {}
        else:
            self._known = _decode(row.data) if row.key == rows.program else {}
        self._new: dict[str, tuple[str, CodeType]] = {}

    def get(self, template: str, digest: str) -> CodeType | None:
        """As in `TemplateCodes`."""
        known = self._known.get(template)
        return _load(known.code) if known and known.digest == digest else None

    def put(self, template: str, digest: str, code: CodeType) -> None:
        """As in `TemplateCodes`."""
        self._new[template] = (digest, code)

    def save(self, templates: Collection[str]) -> None:
        """Keep what was compiled, and of all that is kept only these templates."""
        new = {name: _TemplateCode(digest, marshal.dumps(code)) for name, (digest, code) in self._new.items()}
        codes = {name: code for name, code in {**self._known, **new}.items() if name in templates}
        if self._is_new or codes != self._known:
            data = msgspec.msgpack.encode(codes)
            self._rows.put(_KIND, _NAME, Row(self._rows.program, data))
            if self._is_new and new:
                with _shared_rows(self._rows) as shared:
                    shared.put(_KIND, _NAME, Row(self._rows.program, data))


def _shared_rows(rows: Rows) -> AbstractContextManager[Rows]:
    """Rows that all sites of this user share: a new site begins with the templates of the one before it.

    Most sites have the templates of a bundled theme, and compiling them is a fifth of the first build of a
    small site. None for a build that keeps nothing: it would take those of any program.
    """
    if not rows.program:
        return nullcontext(NoRows())
    return open_site_cache(bundled_folder("themes"), lambda: rows.program)


def _decode(data: bytes) -> dict[str, _TemplateCode]:
    if not data:
        return {}
    try:
        return msgspec.msgpack.decode(data, type=dict[str, _TemplateCode])
    except msgspec.MsgspecError:
        return {}


def _load(data: bytes) -> CodeType | None:
    try:
        code = marshal.loads(data)
    except (EOFError, ValueError, TypeError):
        return None
    return code if isinstance(code, CodeType) else None
