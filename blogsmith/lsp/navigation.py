"""Go to definition, find references, and rename labels. All functions find the construct at an offset, in
characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsprotocol.types import (
    Location,
    OptionalVersionedTextDocumentIdentifier,
    Position,
    PrepareRenamePlaceholder,
    Range,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)
from msgspec import Struct

from ..api.editing import (
    CONFIG_NAME,
    IN_NAMES,
    CitationItem,
    Fence,
    LinkTargetPlace,
    Math,
    Parsed,
    Place,
    Shortcode,
    WikiLink,
    XRef,
    find_definition,
    label_id,
    lazy_pattern,
    page_formulas,
)
from .cursor import LocatedElement, all_elements, all_headings, find_element, find_footnote, offset_in_formula
from .lookups import SiteLabel, find_label, page_labels
from .site_files import is_page, path_to_uri
from .site_session import SiteSession
from .tex_guide import find_command
from .text_buffer import TextBuffer

_NAME = lazy_pattern(rf"[{IN_NAMES}:.-]*[{IN_NAMES}]")
_COMMAND_REFERENCE = lazy_pattern(r"\\(?:eq)?ref\s*\{\s*([^{}\s]+)\s*\}")


class LabelId(Struct, frozen=True):
    """A label by its page and id."""

    path: str
    id: str


class Occurrence(Struct, frozen=True):
    """A label at the location where it is declared or referred to."""

    path: str
    place: Place
    """Location of the label's name, as written there."""
    spelling: str
    is_declaration: bool = False


def location(session: SiteSession, path: str, where: Range) -> Location:
    """Return a range of a file of the site as a protocol location."""
    return Location(path_to_uri(session.root / path), where)


def find_definitions(session: SiteSession, path: str, buffer: TextBuffer, offset: int) -> list[Location]:
    """Return the locations where the construct at a character is defined."""
    if not is_page(path):
        return []
    parsed = session.parse(path)
    if parsed is None:
        return []
    if (note := find_footnote(buffer, offset)) and (place := parsed.page.note_places.get(note)):
        return [location(session, path, buffer.place_range(place))]
    element = find_element(parsed, buffer, offset)
    return list(_find_definition_locations(session, path, parsed, buffer, offset, element)) if element else []


def _find_definition_locations(
    session: SiteSession, path: str, parsed: Parsed, buffer: TextBuffer, offset: int, element: LocatedElement
) -> Iterator[Location]:
    record = element.record
    if isinstance(record, XRef):
        known = find_label(session, path, record.page, record.target)
        if known:
            yield _label_location(session, known)
    elif isinstance(record, CitationItem):
        yield from _work_location(session, path, record.key)
    elif isinstance(record, LinkTargetPlace | WikiLink):
        yield from _link_location(session, path, record.target)
    elif isinstance(record, Math):
        yield from _macro_location(session, path, parsed, buffer, offset, record)
    elif isinstance(record, Shortcode):
        file = f"shortcodes/{record.name}.html"
        for folder in (f"themes/{session.snapshot.config.theme}" if session.snapshot else "", "plugins"):
            if folder and (session.root / folder / file).is_file():
                yield location(session, f"{folder}/{file}", Range(Position(0, 0), Position(0, 0)))
    else:
        for token in parsed.tokens:
            fence = token.meta.get("fence")
            if isinstance(fence, Fence) and fence.include and fence.place == element.place:
                place = Place(fence.include.first_line)
                yield _place_location(session, fence.include.path, place)


def _place_location(session: SiteSession, path: str, place: Place) -> Location:
    return location(session, path, session.buffer(path).place_range(place))


def _label_location(session: SiteSession, known: SiteLabel) -> Location:
    return _place_location(session, known.path, known.label.place)


def _work_location(session: SiteSession, path: str, key: str) -> Iterator[Location]:
    present = session.snapshot
    document = present.resolved.documents.get(path) if present else None
    if present is None or document is None:
        return
    for reference in document.front.references:
        if reference.key == key and reference.place:
            yield _place_location(session, path, reference.place)
            return
    found = present.resolved.tools.work_place(key, document)
    if found and found.place:
        yield _place_location(session, found.path, found.place)


def _link_location(session: SiteSession, path: str, target: str) -> Iterator[Location]:
    present = session.snapshot
    document = present.resolved.documents.get(path) if present else None
    if present is None or document is None:
        return
    found, anchor = present.resolved.index.find_linked(target, document)
    if not found:
        found = present.resolved.index.find_by_slug(target.partition("#")[0], document)
    if found in present.resolved.documents:
        yield _anchor_location(session, found, anchor)
    elif found:
        yield location(session, found, Range(Position(0, 0), Position(0, 0)))


def _anchor_location(session: SiteSession, path: str, anchor: str) -> Location:
    known = next((one for one in page_labels(session, path) if one.label.id == anchor), None)
    if known:
        return _label_location(session, known)
    parsed = session.parse(path) if anchor else None
    for heading, token in all_headings(parsed) if parsed else ():
        if heading.id == anchor and token.map and parsed:
            return _place_location(session, path, Place(token.map[0] + parsed.document.first_line))
    return location(session, path, Range(Position(0, 0), Position(0, 0)))


def _macro_location(
    session: SiteSession, path: str, parsed: Parsed, buffer: TextBuffer, offset: int, math: Math
) -> Iterator[Location]:
    inner = offset_in_formula(math, buffer, offset)
    found = find_command(math.tex, inner)
    if found is None or session.snapshot is None:
        return
    name = found[0]
    front = parsed.document.front
    place = find_definition(name, parsed.document.source.text, front, page_formulas(parsed))
    if place:
        yield _place_location(session, path, place)
        return
    settings = session.snapshot.context.settings
    key = settings.key_locations.get(("math", "macros", name)) or settings.locations.get(
        ("math", "macros", name)
    )
    if key:
        yield _place_location(session, CONFIG_NAME, key)


# -- references --


def find_target(session: SiteSession, path: str, buffer: TextBuffer, offset: int) -> LabelId | None:
    """Return the label that is declared or referred to at a character; None if there is no label."""
    parsed = session.parse(path) if is_page(path) else None
    if parsed is None:
        return None
    for known in _own_occurrences(session, path, parsed, None):
        if known[1].path == path and _contains_offset(known[1], buffer, offset):
            return known[0]
    return None


def _contains_offset(found: Occurrence, buffer: TextBuffer, offset: int) -> bool:
    start = buffer.place_offset(found.place)
    return start <= offset <= start + found.place.length


def find_occurrences(session: SiteSession, target: LabelId) -> list[Occurrence]:
    """Return all locations of a label on the site, its declaration first."""
    present = session.snapshot
    if present is None:
        return []
    found: list[Occurrence] = []
    tail = target.id.partition("-")[2] or target.id
    for path, document in present.resolved.documents.items():
        # Whatever the spelling of a label, it contains the last part of the id.
        if path != target.path and tail not in document.source.text:
            continue
        parsed = session.parse(path)
        if parsed:
            found += [
                one for known, one in _own_occurrences(session, path, parsed, target) if known == target
            ]
    return sorted(found, key=lambda one: (not one.is_declaration, one.path, one.place))


def _own_occurrences(
    session: SiteSession, path: str, parsed: Parsed, only: LabelId | None
) -> Iterator[tuple[LabelId, Occurrence]]:
    """Yield (label, location) for the labels that a page declares or refers to. only: the label to yield;
    None for all."""
    lines = parsed.document.source.text.split("\n")
    for label in parsed.labels.values():
        target = LabelId(path, label.id)
        if only in (None, target) and (found := _declaration(path, label.place, label.id, lines)):
            yield target, found
    for one in all_elements(parsed):
        yield from _references(session, path, parsed, one, lines)


def _declaration(path: str, place: Place, label: str, lines: list[str]) -> Occurrence | None:
    """Return the declaration of a label. It is at `place`, or in braces after `place` on the same line. None
    if neither is found."""
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    for found in _NAME.finditer(line, max(0, place.column - 1)):
        if label_id(found[0]) == label:
            at = Place(place.line, found.start() + 1, len(found[0]))
            return Occurrence(path, at, found[0], is_declaration=True)
    return None


def _references(
    session: SiteSession, path: str, parsed: Parsed, found: LocatedElement, lines: list[str]
) -> Iterator[tuple[LabelId, Occurrence]]:
    record, place = found.record, found.place
    present = session.snapshot
    if present is None:
        return
    if isinstance(record, XRef):
        where = path
        if record.page:
            where = present.resolved.index.find_by_slug(record.page, parsed.document)
        if one := _find_reference(path, place, record.target, lines):
            yield LabelId(where, record.target), one
    elif isinstance(record, LinkTargetPlace) and "#" in record.target:
        source, anchor = present.resolved.index.find_linked(record.target, parsed.document)
        line = lines[place.line - 1]
        at = line.find(f"#{anchor}", place.column - 1)
        if source and at >= 0:
            where_at = Place(place.line, at + 2, len(anchor))
            yield LabelId(source, anchor), Occurrence(path, where_at, anchor)
    elif isinstance(record, Math):
        for command in _COMMAND_REFERENCE.finditer(record.tex):
            where_at = record.origin.place(command.start(1), len(command[1]))
            yield LabelId(path, label_id(command[1])), Occurrence(path, where_at, command[1])


def _find_reference(path: str, place: Place, target: str, lines: list[str]) -> Occurrence | None:
    """Return the location of the label's name in a reference; None if the name is not found. If the reference
    contains the name several times, return the last location."""
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    end = place.column - 1 + place.length
    names: Iterable[tuple[int, str]] = (
        (one.start(), one[0]) for one in _NAME.finditer(line, place.column - 1, end)
    )
    # The slug before `#` is not part of the label.
    found = [(at, name) for at, name in names if label_id(name) == target]
    if not found:
        return None
    at, name = found[-1]
    return Occurrence(path, Place(place.line, at + 1, len(name)), name)


def find_references(
    session: SiteSession, path: str, buffer: TextBuffer, offset: int, *, with_declaration: bool
) -> list[Location]:
    """Return all references to the label at a character."""
    target = find_target(session, path, buffer, offset)
    if target is None:
        return []
    return [
        _place_location(session, one.path, one.place)
        for one in find_occurrences(session, target)
        if with_declaration or not one.is_declaration
    ]


_LABEL_NAME = lazy_pattern(rf"[A-Za-z]\w*[:-][{IN_NAMES}.:-]*[{IN_NAMES}]")
_KIND = lazy_pattern(r"[:-]")


class RenameError(Exception):
    """A label cannot be renamed. The message gives the reason."""


def prepare_rename(
    session: SiteSession, path: str, buffer: TextBuffer, offset: int
) -> PrepareRenamePlaceholder | None:
    """Return the name at a character if it can be renamed, because a page declares this label. Otherwise
    return None."""
    target = find_target(session, path, buffer, offset)
    if target is None or not _LABEL_NAME.fullmatch(target.id):
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
    if not _LABEL_NAME.fullmatch(name):
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
    """Return `label` with the separator that the old label has after its kind: a colon or a hyphen."""
    found = _KIND.search(one.spelling)
    return re.sub(r"[:-]", ":", label, count=1) if found and found[0] == ":" else label
