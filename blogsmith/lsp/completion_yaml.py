"""Completion of keys and values in settings, front matter and cell options, from the JSON Schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    MarkupContent,
    MarkupKind,
)

from ..api.editing import CODES, CONFIG_NAME, SiteSnapshot, bundled_folder, bundled_plugins
from .completion_files import list_assets
from .cursor import Cursor
from .schema_guide import Form, KeyGuide, cached_schema, list_keys, list_values
from .site_session import SiteSession

_COMMON_LANGUAGES = ("ar", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh")
_BIBLIOGRAPHIES = (".bib", ".json")


def complete_yaml(session: SiteSession, path: str, cursor: Cursor) -> Iterator[CompletionItem]:
    """Yield keys and values of `blogsmith.yaml` or of front matter."""
    schema = yaml_schema(path)
    if cursor.kind == "key" and not (cursor.is_item and list_values(schema, cursor.path)):
        yield from _keys(schema, cursor.path)
    if cursor.kind == "value" or cursor.is_item:
        yield from _values(schema, session, path, cursor.path)


def complete_option(session: SiteSession, path: str, cursor: Cursor) -> Iterator[CompletionItem]:
    """Yield options of a cell, `#| …`."""
    yield from _keys(cached_schema("cell"), ())


def complete_option_value(session: SiteSession, path: str, cursor: Cursor) -> Iterator[CompletionItem]:
    """Yield values of an option."""
    for value in list_values(cached_schema("cell"), (cursor.name,)):
        yield CompletionItem(value, kind=CompletionItemKind.Value)


def _keys(schema: Form, path: Sequence[str]) -> Iterator[CompletionItem]:
    for guide in list_keys(schema, path):
        yield CompletionItem(
            guide.name,
            kind=CompletionItemKind.Property,
            detail=guide.kind or None,
            documentation=MarkupContent(MarkupKind.Markdown, describe_key(guide)),
            insert_text=f"{guide.name}: ",
            filter_text=guide.name,
        )


def describe_key(guide: KeyGuide) -> str:
    """Return the meaning of a key as Markdown."""
    parts = [guide.meaning]
    if guide.values:
        parts.append("One of " + ", ".join(f"`{value}`" for value in guide.values) + ".")
    if guide.default:
        parts.append(f"Default: `{guide.default}`.")
    return "\n\n".join(part for part in parts if part)


def _values(schema: Form, session: SiteSession, path: str, key: Sequence[str]) -> Iterator[CompletionItem]:
    for value in list_values(schema, key):
        yield CompletionItem(value, kind=CompletionItemKind.Value)
    present = session.snapshot
    for value, detail in _known_values(present, path, key) if present else ():
        yield CompletionItem(value, kind=CompletionItemKind.Value, detail=detail or None)


def _known_values(present: SiteSnapshot, path: str, key: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (value, description) for keys whose values are names from this site, such as tags."""
    name = key[-1] if key else ""
    documents = present.resolved.documents.values()
    if path == CONFIG_NAME:
        yield from _setting_values(present, key)
    elif name in ("tags", "categories"):
        counts: dict[str, int] = {}
        for document in documents:
            for term in getattr(document.front, name):
                counts[term] = counts.get(term, 0) + 1
        for term, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            yield term, f"{count} pages" if count > 1 else "1 page"
    elif name in ("series", "name"):
        yield from ((one, "") for one in sorted({d.front.series.name for d in documents if d.front.series}))
    elif name in ("template", "layout"):
        yield from ((layout, "layout of the theme") for layout in present.context.theme.layouts())
    elif name == "authors":
        yield from ((one, "") for one in sorted({one for d in documents for one in d.front.authors}))
    elif name in ("bibliography", "publications", "csl", "image"):
        yield from _files(present, path, name)
    if name == "lang":
        yield from ((tag, "") for tag in (*present.config.languages, *_COMMON_LANGUAGES))


def _files(present: SiteSnapshot, path: str, name: str) -> Iterator[tuple[str, str]]:
    ends = {"csl": (".csl",), "image": (".png", ".jpg", ".jpeg", ".webp", ".avif", ".svg", ".gif")}
    for written, asset in list_assets(present, path):
        if asset.path.suffix.lower() in ends.get(name, _BIBLIOGRAPHIES):
            yield written, ""
    if name != "image":
        for file in sorted(present.context.root.glob("*")):
            if file.suffix.lower() in ends.get(name, _BIBLIOGRAPHIES):
                yield f"/{file.name}", "next to blogsmith.yaml"


def _setting_values(present: SiteSnapshot, key: Sequence[str]) -> Iterator[tuple[str, str]]:
    root = present.context.root
    if key == ("plugins",):
        yield from ((name, "bundled") for name in sorted(bundled_plugins()))
        yield from ((file.stem, "of this site") for file in sorted((root / "plugins").glob("*.py")))
    elif key == ("theme",):
        for folder in (bundled_folder("themes"), root / "themes"):
            yield from ((one.parent.name, "") for one in sorted(folder.glob("*/theme.yaml")))
    elif key == ("bibliography",):
        for file in sorted(root.glob("*")):
            if file.suffix.lower() in _BIBLIOGRAPHIES:
                yield file.name, ""
    elif key == ("diagnostics", "ignore"):
        yield from CODES.items()
    elif key in (("lang",), ("languages",)):
        yield from ((tag, "") for tag in _COMMON_LANGUAGES)


def yaml_schema(path: str) -> Mapping[str, Any]:
    """Return the schema of a file's YAML."""
    return cached_schema("config" if path == CONFIG_NAME else "front-matter")
