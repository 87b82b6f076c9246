"""Pages of tags, categories, series and the archive: Hugo lets authors write them, and here they are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from ..model import Notice
from .permalinks import urlize
from .source import HugoDocument, HugoFiles

_LISTS = frozenset(("tags", "categories", "series"))


def without_lists(files: HugoFiles) -> tuple[HugoFiles, tuple[Notice, ...]]:
    """The files of a site without pages that stand where lists are made; those that say something stand
    beside these."""
    notices: list[Notice] = []
    documents = tuple(_moved(files, notices))
    return replace(files, documents=documents), tuple(notices)


def _moved(files: HugoFiles, notices: list[Notice]) -> Iterator[HugoDocument]:
    for document in files.documents:
        if not _is_list(document):
            yield document
            continue
        source = document.path.as_posix()
        if not document.body.strip():
            hint = "lists of tags, categories, series and all posts are made without a page"
            notices.append(Notice("dropped", "the page of a list", source, hint=hint))
            continue
        name = urlize("-".join(document.inner.with_suffix("").parts).removesuffix("-_index")) + "-text"
        notices.append(
            Notice("changed", f"the text of a list is a page of its own: /{name}/", source, hint="link to it")
        )
        # the old address is that of the list
        yield replace(document, inner=PurePosixPath(f"{name}.md"), address="")


def _is_list(document: HugoDocument) -> bool:
    if document.address.strip("/") in _LISTS | {"archive"}:
        return True
    parts = document.inner.parts
    return document.is_branch and parts[0] in _LISTS and len(parts) < 4
