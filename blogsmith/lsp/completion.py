"""Completion at the cursor. The description of an item is computed when the item is selected, because that
takes time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    CompletionList,
    InsertTextFormat,
    MarkupContent,
    MarkupKind,
    Range,
    TextEdit,
)

from ..api.editing import CONFIG_NAME, ROWS
from .completion_yaml import (
    complete_files,
    complete_link,
    complete_option,
    complete_option_value,
    complete_yaml,
)
from .cursor import Cursor, find_cursor, find_yaml_cursor
from .lookups import SiteLabel, page_labels, page_macros, page_packages, page_slug, parsed_paths
from .site_files import is_page
from .site_session import SiteSession
from .tex_guide import all_commands, all_environments, describe_command, describe_macro, list_arguments
from .text_buffer import TextBuffer

MAX_ITEMS = 300
"""Maximum number of items in an answer. When the author types more, the editor sends another request."""
TRIGGERS = ("\\", "{", "@", "!", "[", "(", "%", "|", "#", ":", "/", " ", "^", "-", '"')

Items = Iterator[CompletionItem]


def complete(session: SiteSession, path: str, buffer: TextBuffer, offset: int) -> CompletionList:
    """Return the completions at an offset in a file of the site, in characters. buffer: content of the
    file."""
    if path == CONFIG_NAME:
        cursor = find_yaml_cursor(buffer, offset)
    else:
        cursor = find_cursor(buffer, offset) if is_page(path) else None
    if cursor is None:
        return CompletionList(is_incomplete=False, items=[])
    found = _SOURCES[cursor.kind](session, path, cursor)
    items = list(islice(_filter_items(found, cursor.word), MAX_ITEMS + 1))
    edit = buffer.range(cursor.start, offset)
    for item in items:
        _set_range(item, edit)
    return CompletionList(is_incomplete=len(items) > MAX_ITEMS, items=items[:MAX_ITEMS])


def _set_range(item: CompletionItem, edit: Range) -> None:
    item.text_edit = TextEdit(edit, item.insert_text or item.label)
    item.filter_text = item.filter_text or item.insert_text or item.label
    item.insert_text = None


def _filter_items(items: Iterable[CompletionItem], word: str) -> Items:
    """Yield the items that start with the typed word, then other items that contain it."""
    low, later = word.casefold(), []
    for item in items:
        text = (item.filter_text or item.insert_text or item.label).casefold()
        if text.startswith(low):
            yield item
        elif low in text:
            later.append(item)
    yield from later


def markdown(text: str) -> MarkupContent | None:
    """Return Markdown content for the protocol, or None if the text is empty."""
    return MarkupContent(MarkupKind.Markdown, text) if text else None


# -- labels and citations --


def _labels(session: SiteSession, path: str, cursor: Cursor) -> Items:
    """Yield the labels of the page, then those of other pages. Labels of other pages include the slug of
    their page."""
    present = session.snapshot
    if present is None:
        return
    for known in page_labels(session, path):
        yield _label_item(known, known.spelling, known.name)
    if not cursor.word:
        return
    for other in parsed_paths(present):
        slug = page_slug(present, other)
        if other != path and slug:
            for known in page_labels(session, other):
                yield _label_item(known, f"{slug}#{known.label.id}", f"{known.name}, {known.path}")


def _label_item(known: SiteLabel, written: str, detail: str) -> CompletionItem:
    return CompletionItem(
        written,
        kind=CompletionItemKind.Reference,
        detail=detail,
        data={"kind": "label", "path": known.path, "id": known.label.id},
    )


def _unbraced_references(session: SiteSession, path: str, cursor: Cursor) -> Items:
    """Yield ids of labels of the page, then citation keys."""
    for known in page_labels(session, path):
        yield _label_item(known, known.label.id, known.name)
    yield from _citations(session, path, cursor)


def _citations(session: SiteSession, path: str, cursor: Cursor) -> Items:
    present = session.snapshot
    document = present.resolved.documents.get(path) if present else None
    if present is None or document is None:
        return
    titles = {reference.key: reference.title for reference in document.front.references}
    for key in (*titles, *present.resolved.tools.work_keys(document)):
        yield CompletionItem(
            key,
            kind=CompletionItemKind.Constant,
            detail=titles.get(key) or None,
            data={"kind": "citation", "path": path, "id": key},
        )


def _footnotes(session: SiteSession, path: str, cursor: Cursor) -> Items:
    parsed = session.parse(path)
    for name in sorted(parsed.page.note_places) if parsed else ():
        yield CompletionItem(name, kind=CompletionItemKind.Reference)


# -- formulas --


def _commands(session: SiteSession, path: str, cursor: Cursor) -> Items:
    """Yield macros of page and site, then TeX commands."""
    present = session.snapshot
    macros = page_macros(present, path) if present else {}
    packages = page_packages(present, path) if present else frozenset[str]()
    for name in macros:
        guide = describe_macro(name, macros)
        detail = guide.meaning if guide else ""
        yield _command_item(name, detail, "0", guide.arity if guide else 0, is_macro=True)
    for name in all_commands(packages):
        if name not in macros and cursor.word.casefold() in name.casefold():
            guide = describe_command(name, packages)
            detail = (guide.symbol or guide.meaning) if guide else ""
            yield _command_item(name, detail, "1" if name[1:].startswith(cursor.word) else "2", 0)


def _command_item(
    name: str, detail: str, order: str, arity: int, *, is_macro: bool = False
) -> CompletionItem:
    plain = name.removeprefix("\\")
    slots = "".join(f"{{${number}}}" for number in range(1, arity + 1))
    return CompletionItem(
        name,
        kind=CompletionItemKind.Function if is_macro else CompletionItemKind.Keyword,
        detail=detail or None,
        insert_text=plain + slots,
        insert_text_format=InsertTextFormat.Snippet if slots else InsertTextFormat.PlainText,
        filter_text=plain,
        sort_text=f"{order}{len(plain):02}{plain}",
    )


def _environments(session: SiteSession, path: str, cursor: Cursor) -> Items:
    for name in all_environments():
        yield CompletionItem(name, kind=CompletionItemKind.Struct)


# -- callouts and shortcodes --


def _callouts(session: SiteSession, path: str, cursor: Cursor) -> Items:
    present = session.snapshot
    names = {row.name: row.title for row, _ in ROWS}
    if present is not None:
        names |= {row.name: row.title for row in present.context.options.kinds.values()}
    is_lower = cursor.word.islower()
    for name, title in names.items():
        yield CompletionItem(
            name if is_lower else name.upper(), kind=CompletionItemKind.EnumMember, detail=title
        )
    others = {other: row.title for row, aliases in ROWS for other in aliases}
    for name, title in others.items() if cursor.word else ():
        yield CompletionItem(
            name if is_lower else name.upper(), kind=CompletionItemKind.EnumMember, detail=title
        )


def _shortcodes(session: SiteSession, path: str, cursor: Cursor) -> Items:
    names = session.snapshot.context.theme.shortcode_names() if session.snapshot else ()
    for name in (*names, "raw", "endraw"):
        yield CompletionItem(name, kind=CompletionItemKind.Function)


def _arguments(session: SiteSession, path: str, cursor: Cursor) -> Items:
    known = list_arguments(session.snapshot, cursor.name) if session.snapshot else {}
    for name, meaning in known.items():
        yield CompletionItem(
            name,
            kind=CompletionItemKind.Property,
            insert_text=f'{name}="$1"',
            insert_text_format=InsertTextFormat.Snippet,
            documentation=markdown(meaning),
        )


Source = Callable[[SiteSession, str, Cursor], Items]

_SOURCES: Mapping[str, Source] = {
    "label": _labels,
    "bare-label": _unbraced_references,
    "citation": _citations,
    "command": _commands,
    "environment": _environments,
    "callout": _callouts,
    "shortcode": _shortcodes,
    "argument": _arguments,
    "cell-option": complete_option,
    "cell-value": complete_option_value,
    "link": complete_link,
    "image": complete_files,
    "file": complete_files,
    "wiki-link": complete_link,
    "footnote": _footnotes,
    "key": complete_yaml,
    "value": complete_yaml,
}
"""Kind of a cursor → function that returns its completions."""
