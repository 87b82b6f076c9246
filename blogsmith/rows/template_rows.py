"""Compiled templates of a site's theme in one cache row, so that a build compiles only those that have
changed.

The row contains code that will run. It is therefore in the user's cache folder, which a clone cannot contain.
It is valid only for one program, and thus for one version of Python and Jinja.
"""

from __future__ import annotations

import marshal
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from types import CodeType
from typing import Final

import msgspec

from ..base.storage.site_cache import CacheInterface, NullCache, Row, open_site_cache
from ..project.bundled_folders import bundled_folder

_KIND: Final = "templates"
_NAME = "theme"


class _TemplateCode(msgspec.Struct, frozen=True, array_like=True):
    digest: str
    """Digest of the template source."""
    code: bytes


class TemplateRows:
    """The compiled templates, for one build. The row is read at the start and written at the end, so forked
    processes need no access."""

    def __init__(self, rows: CacheInterface) -> None:
        self._rows = rows
        row = rows.get(_KIND, _NAME)
        self._is_new = row is None
        """Whether this site has no row yet. The user's shared row is then used instead."""
        if row is None:
            with _shared_rows(rows) as shared:
                row = shared.get(_KIND, _NAME)
            self._known = _decode(row.data) if row and row.key == rows.program else {}
        else:
            self._known = _decode(row.data) if row.key == rows.program else {}
        self._new: dict[str, tuple[str, CodeType]] = {}

    def get(self, template: str, digest: str) -> CodeType | None:
        """Return the compiled code of a template, or None. digest: digest of everything that the code is
        compiled from."""
        known = self._known.get(template)
        return _load(known.code) if known and known.digest == digest else None

    def put(self, template: str, digest: str, code: CodeType) -> None:
        """Store the compiled code of a template, replacing an older version."""
        self._new[template] = (digest, code)

    def save(self, templates: Collection[str]) -> None:
        """Write new code to the cache, and keep only these templates."""
        new = {name: _TemplateCode(digest, marshal.dumps(code)) for name, (digest, code) in self._new.items()}
        codes = {name: code for name, code in {**self._known, **new}.items() if name in templates}
        if self._is_new or codes != self._known:
            data = msgspec.msgpack.encode(codes)
            self._rows.put(_KIND, _NAME, Row(self._rows.program, data))
            if self._is_new and new:
                with _shared_rows(self._rows) as shared:
                    shared.put(_KIND, _NAME, Row(self._rows.program, data))


def _shared_rows(rows: CacheInterface) -> AbstractContextManager[CacheInterface]:
    """Return the cache row that all sites of this user share, to give a new site the compiled templates of
    earlier ones. Most sites use the templates of a bundled theme, and compiling these is a fifth of the first
    build of a small site. For a build without cache, return a cache without rows."""
    if not rows.program:
        return nullcontext(NullCache())
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
