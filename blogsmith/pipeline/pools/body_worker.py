"""Bodies of pages in a process of a pool: what it is asked, what it gives, and what it keeps meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

import msgspec

from ...model.documents import Document, IncludedFile, Source
from ...model.texts import pack_text
from ...render.tools import Tools
from ..cache import PageCache, UnknownPage
from ..rows.page_rows import NotStorable, decode_facts, encode_facts

if TYPE_CHECKING:
    from ...syntax.parser import Parsed

_MOST_WAITING = 150
"""Pages whose tokens a process keeps; they take some 40 MB. Others are parsed again."""


class PageSource(msgspec.Struct, frozen=True, array_like=True):
    """The source of a page, for a process that has none."""

    text: str
    digest: str
    included: Mapping[str, IncludedFile] = {}


class BodyRequest(msgspec.Struct, array_like=True):
    """What a process is to do."""

    pages: Mapping[str, PageSource | None]
    """Source paths of pages to make; None: the process knows the source."""
    facts: Mapping[str, bytes] = {}
    """Source path → what others may know of it."""
    is_last: bool = False
    """All that the pages may ask of others is known by now."""
    is_made: bool = True
    """False: the pages are there, and lints are to look at them."""


class MadeBody(msgspec.Struct, array_like=True):
    """What came of a page."""

    path: str
    state: Literal["made", "waits", "has cells", "linted", "stays"]
    """`linted`: it was not to be made; `stays`: what comes of it has no form outside a process."""
    parsing_s: float = 0.0
    facts: bytes = b""
    body: bytes = b""
    content: bytes = b""
    lint: bytes = b""
    """What lints find in it, in a check."""
    sizes: bytes = b""
    """Of images, as `ImageSizes.take_new` gives them."""


class BodyWorker:
    """Lives in each of the processes, from the moment they are there."""

    def __init__(
        self,
        memory: PageCache,
        tools: Callable[[], Tools],
        document: Callable[[str], Document],
        take_source: Callable[[Source], object],
        lint: Callable[[Parsed], bytes] | None,
    ) -> None:
        """tools: as in `ResolvedSite`. document: source path → document. take_source: of a page to make.

        lint: what lints find in a page; None: there are none.
        """
        self._memory = memory
        self._tools = tools
        self._document = document
        self._take_source = take_source
        self._lint = lint or (lambda parsed: b"")
        self._waiting: dict[str, Parsed] = {}
        self._facts: dict[str, bytes] = {}
        """Of pages that this process has parsed."""

    def answer(self, request: bytes) -> bytes:
        """What `BodyRequest` asks for, as a list of `MadeBody`."""
        self._memory.table.close()
        wanted = msgspec.msgpack.decode(request, type=BodyRequest)
        for path, data in wanted.facts.items():
            found = decode_facts(data, self._document(path)) if path not in self._facts else None
            if found:
                self._memory.take_facts(*found)
        for path, source in wanted.pages.items():
            if source:
                self._memory.included[path] = source.included
                self._take_source(Source(PurePosixPath(path), source.text, source.digest))
        if wanted.is_made:
            made = [self._make(path, is_last=wanted.is_last) for path in wanted.pages]
        else:
            made = [self._look_at(path) for path in wanted.pages]
        return msgspec.msgpack.encode(made)

    def _look_at(self, path: str) -> MadeBody:
        before_s = self._memory.parsing_s
        parsed = self._memory.parse(self._document(path))
        return MadeBody(path, "linted", self._memory.parsing_s - before_s, lint=self._lint(parsed))

    def _make(self, path: str, *, is_last: bool) -> MadeBody:
        memory, document = self._memory, self._document(path)
        before_s = memory.parsing_s
        memory.asks_others = False
        known = memory.facts_of(document)
        try:
            facts = self._facts.get(path) or encode_facts(known.facts, known.entry)
        except NotStorable:
            return MadeBody(path, "stays")
        self._facts[path] = facts
        if path in self._waiting:
            memory.keep_tokens(self._waiting.pop(path))
        parsed = memory.parse(document)
        parsing_s = memory.parsing_s - before_s
        if known.facts.cells.sessions():
            return MadeBody(path, "has cells", parsing_s, facts, lint=self._lint(parsed))
        memory.asks_others = not is_last
        try:
            body, lookups = memory.render(document, self._tools())
            data = memory.table.encode_body(body, lookups)
        except NotStorable:
            return MadeBody(path, "stays", parsing_s, facts)
        except UnknownPage:
            if is_last:
                return MadeBody(path, "stays", parsing_s, facts)
            if len(self._waiting) < _MOST_WAITING:
                self._waiting[path] = parsed
            return MadeBody(path, "waits", parsing_s, facts)
        content = pack_text(body.content)
        sizes = memory.images.take_new()
        return MadeBody(
            path=path,
            state="made",
            parsing_s=parsing_s,
            facts=facts,
            body=data,
            content=content,
            lint=self._lint(parsed),
            sizes=sizes,
        )


def decode_made(data: bytes | None, pages: Sequence[str]) -> list[MadeBody]:
    """What came of pages; those that were not made, for whatever reason, stay."""
    found = msgspec.msgpack.decode(data, type=list[MadeBody]) if data else []
    known = {made.path for made in found}
    # what is raised there is raised here, too, where it is understood
    return [*found, *(MadeBody(path, "stays") for path in pages if path not in known)]
