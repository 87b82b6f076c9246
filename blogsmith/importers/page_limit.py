"""A limit for the translation of one page: a text that was made to be slow, or is nested too deep, stands as
code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import Field, replace
from pathlib import PurePosixPath
from typing import Any, ClassVar, Protocol, TypeVar

from ..base.timeout import TookTooLong, alarm, has_alarm
from .model import Notice

LIMIT_S = 10.0
"""Of processor time; the longest of five hundred real posts took one second."""


class SourceDocument(Protocol):
    """A file of a source that becomes a page; a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def path(self) -> PurePosixPath:
        """Relative to the root of the source."""

    @property
    def body(self) -> str:
        """Its text after the front matter."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was found when it was read."""


Document = TypeVar("Document", bound=SourceDocument)
Made = TypeVar("Made")


@contextmanager
def page_limit(seconds: float | None = None) -> Iterator[None]:
    """Raise TookTooLong inside after so much work; in the main thread only, elsewhere never."""
    if not has_alarm():
        yield
        return
    with alarm(LIMIT_S if seconds is None else seconds, TookTooLong, working=True):
        yield


def translate_document(translate: Callable[[Document], Made], document: Document) -> Made:
    """What `translate` makes of a document; of one that takes too long, or is nested too deep, with its text
    as code."""
    try:
        with page_limit():
            return translate(document)
    except TookTooLong:
        why = f"the page takes longer than {LIMIT_S:g} s to translate"
    except RecursionError:
        why = "the page is nested too deep"
    notice = Notice("left", why, str(document.path), hint="its text stands as code: take it apart")
    ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", document.body)), default=0))
    body = f"{ticks}\n{document.body}\n{ticks}\n"
    try:
        with page_limit():
            return translate(_with(document, body, notice))
    except (TookTooLong, RecursionError):
        told = replace(notice, hint="the page is empty: write it anew", removed=document.body)
        return translate(_with(document, "", told))


def _with(document: Document, body: str, notice: Notice) -> Document:
    changed: Document = replace(document, body=body, notices=(*document.notices, notice))
    return changed
