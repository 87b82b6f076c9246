"""Rename of a label and of all references to it."""

from __future__ import annotations

import re

from lsprotocol.types import (
    OptionalVersionedTextDocumentIdentifier,
    PrepareRenamePlaceholder,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from ..api.editing import IN_NAMES, label_id, lazy_pattern
from .lookups import page_labels
from .navigation import LabelId, Occurrence, find_occurrences, find_target
from .site_files import path_to_uri
from .site_session import SiteSession
from .text_buffer import TextBuffer

_NAME = lazy_pattern(rf"[A-Za-z]\w*[:-][{IN_NAMES}.:-]*[{IN_NAMES}]")
_KIND = lazy_pattern(r"[:-]")


class RenameError(Exception):
    """Error that a label cannot be renamed. The message is the reason."""


def prepare_rename(
    session: SiteSession, path: str, buffer: TextBuffer, offset: int
) -> PrepareRenamePlaceholder | None:
    """Return the name at a character if it can be changed: if a page declares this label."""
    target = find_target(session, path, buffer, offset)
    if target is None or not _NAME.fullmatch(target.id):
        return None
    for one in find_occurrences(session, target):
        start = buffer.place_offset(one.place)
        if one.path == path and start <= offset <= start + one.place.length:
            return PrepareRenamePlaceholder(buffer.place_range(one.place), one.spelling)
    return None


def rename_label(
    session: SiteSession, path: str, buffer: TextBuffer, offset: int, name: str, *, versions: bool = True
) -> WorkspaceEdit:
    """Return all edits that rename the label at a character. versions: whether the client supports edits of
    versioned documents. Raise RenameError if the new name is not possible."""
    target = find_target(session, path, buffer, offset)
    if target is None:
        raise RenameError("no label at this position")
    found = find_occurrences(session, target)
    if not any(one.is_declaration for one in found):
        raise RenameError(f'label not found: "{target.id}"')
    _check_name(session, target, name.strip())
    edits: dict[str, list[TextEdit]] = {}
    for one in found:
        text = session.buffer(one.path)
        edit = TextEdit(text.place_range(one.place), _respell(one, label_id(name.strip())))
        edits.setdefault(one.path, []).append(edit)
    if not versions:
        return WorkspaceEdit(
            changes={path_to_uri(session.root / one): list(some) for one, some in edits.items()}
        )
    return WorkspaceEdit(
        document_changes=[
            TextDocumentEdit(
                OptionalVersionedTextDocumentIdentifier(
                    uri=path_to_uri(session.root / one), version=session.buffer(one).version
                ),
                list(some),
            )
            for one, some in edits.items()
        ]
    )


def _check_name(session: SiteSession, target: LabelId, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise RenameError(f'invalid label "{name}": expected a kind and a name, as in eq:name')
    kind, new_kind = (_KIND.split(one, maxsplit=1)[0] for one in (target.id, label_id(name)))
    if kind != new_kind:
        raise RenameError(f'invalid label "{name}": expected the kind "{kind}", as in {kind}:name')
    taken = {known.label.id for known in page_labels(session, target.path)}
    present = session.snapshot
    if present and target.path in present.resolved.documents:
        taken |= present.resolved.index.entries[target.path].ids
    if label_id(name) in taken and label_id(name) != target.id:
        raise RenameError(f'duplicate label "{name}": this page already has it')


def _respell(one: Occurrence, label: str) -> str:
    """Return `label`, spelled like the old one: with a colon or a hyphen after its kind."""
    found = _KIND.search(one.spelling)
    return re.sub(r"[:-]", ":", label, count=1) if found and found[0] == ":" else label
