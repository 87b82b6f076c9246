"""What is kept of the head of a page: its front matter as it was read, and where the text begins."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from zoneinfo import ZoneInfo

import msgspec

from ...base.diagnostics.model import Diagnostic
from ...model.documents import Document, FrontMatter, IncludedFile, Source, end_of
from .page_rows import NotStorable, decode_row, encode_row


class _Head(msgspec.Struct, frozen=True, array_like=True):
    front: FrontMatter
    """Without its moments: the format forgets in which time zone they were written."""
    date: str
    """Empty, ISO 8601 with an offset, or without one in the time zone of the site."""
    updated: str
    """As `date`."""
    publish_date: str
    expiry_date: str
    start: int
    """Characters in front of the body."""
    first_line: int
    diagnostics: tuple[Diagnostic, ...]
    included: tuple[str, ...] = ()
    """Names of files that the body may include."""


def encode_head(document: Document, found: tuple[Diagnostic, ...]) -> bytes:
    """A document whose body is the end of its source, with what is wrong with its head; else NotStorable."""
    front, text = document.front, document.source.text
    start = len(text) - len(document.body)
    if not text.endswith(document.body):
        raise NotStorable("the body is not as it was written")
    head = _Head(
        front=replace(front, date=None, updated=None, publish_date=None, expiry_date=None),
        date=_write_moment(front.date),
        updated=_write_moment(front.updated),
        publish_date=_write_moment(front.publish_date),
        expiry_date=_write_moment(front.expiry_date),
        start=start,
        first_line=document.first_line,
        diagnostics=found,
        included=tuple(document.included),
    )
    data = encode_row(head)
    kept = decode_row(data, _Head)
    # unknown keys may hold anything that YAML has, such as days, which would come back as texts
    if kept != head or repr(dict(kept.front.extra)) != repr(dict(front.extra)):
        raise NotStorable("a value of the front matter reads back as another one")
    return data


def decode_head(data: bytes, source: Source, timezone: str) -> tuple[Document, tuple[Diagnostic, ...]] | None:
    """What `encode_head` was given; None if these bytes hold nothing of the kind.

    Of files that the body includes it has the names alone.
    """
    found = decode_row(data, _Head)
    if found is None:
        return None
    try:
        front = replace(
            found.front,
            date=_read_moment(found.date, timezone),
            updated=_read_moment(found.updated, timezone),
            publish_date=_read_moment(found.publish_date, timezone),
            expiry_date=_read_moment(found.expiry_date, timezone),
        )
    except ValueError:
        return None
    included = dict.fromkeys(found.included, IncludedFile())
    document = Document(source, front, end_of(source, found.start), found.first_line, included)
    return document, found.diagnostics


def _write_moment(moment: dt.datetime | None) -> str:
    if moment is None:
        return ""
    return (moment.replace(tzinfo=None) if isinstance(moment.tzinfo, ZoneInfo) else moment).isoformat()


def _read_moment(text: str, timezone: str) -> dt.datetime | None:
    if not text:
        return None
    moment = dt.datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(timezone))
