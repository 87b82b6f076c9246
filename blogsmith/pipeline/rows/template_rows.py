"""Compiled templates of a site's theme as one row, so that a build compiles only those that have changed.

What lies there is code, and is run: it may be read for the one reason that rows are sealed as a whole, and
those of anyone else are never opened. It holds for one program, and with that for one Python and one Jinja.
"""

from __future__ import annotations

import marshal
from collections.abc import Collection
from types import CodeType

import msgspec

from .row_store import Row, RowStore
from .user_templates import keep_user_templates, read_user_templates

_KIND = "templates"
_NAME = "theme"


class _TemplateCode(msgspec.Struct, frozen=True, array_like=True):
    digest: str
    """Names what the code was compiled from."""
    code: bytes


class TemplateRows:
    """Belongs to one build.

    Everything is read at once and written at the end: processes that are forked meanwhile need no rows.
    """

    def __init__(self, rows: RowStore) -> None:
        self._rows = rows
        row = rows.get(_KIND, _NAME)
        self._is_new = row is None
        """Nothing is kept of this site: what others of this user have compiled may do."""
        if row is None:
            self._known = _decode(read_user_templates(rows.program))
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
                keep_user_templates(self._rows.program, data)


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
