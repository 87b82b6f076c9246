"""Completion of keys and values in settings, front matter and cell options, by JSON Schemas. Also completion
of file paths.

Source: JSON Schema, draft 7; `markdownDescription` and `doNotSuggest` are keywords of yaml-language-server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from lsprotocol.types import CompletionItem, CompletionItemKind, MarkupContent, MarkupKind
from msgspec import Struct

from ..api.editing import (
    CODES,
    CONFIG_NAME,
    Asset,
    SiteSnapshot,
    bundled_folder,
    bundled_plugins,
    read_schema,
)
from .cursor import Cursor
from .lookups import page_labels, page_slug, relative_path
from .site_session import SiteSession

Form: TypeAlias = Mapping[str, Any]
_MAX_FORMS = 200
"""Maximum number of subschemas visited, because references may be circular."""


class KeyGuide(Struct, frozen=True):
    """Description of a key for authors."""

    name: str
    meaning: str = ""
    """Meaning as Markdown; may be empty."""
    kind: str = ""
    """Type, such as `string` or `list`; empty if any type is allowed."""
    default: str = ""
    values: tuple[str, ...] = ()
    """Allowed values; empty if other values are allowed, too."""


_KINDS = {
    "string": "string",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
    "array": "list",
    "object": "mapping",
}


@cache
def cached_schema(name: str) -> Form:
    """Return a bundled schema. name: `config`, `front-matter` or `cell`."""
    return read_schema(name)


def list_keys(schema: Form, path: Sequence[str]) -> tuple[KeyGuide, ...]:
    """Return the keys that are allowed below the key at `path`, in the order of the schema."""
    found: dict[str, KeyGuide] = {}
    for form in _find_subschemas(schema, path):
        for name, inner in form.get("properties", {}).items():
            if isinstance(inner, Mapping) and not inner.get("doNotSuggest"):
                found.setdefault(name, _guide(schema, name, inner))
    return tuple(found.values())


def find_key(schema: Form, path: Sequence[str]) -> KeyGuide | None:
    """Return the description of the key at `path`; None if the schema does not contain the key."""
    *above, name = path
    for form in _find_subschemas(schema, above):
        inner = form.get("properties", {}).get(name)
        if isinstance(inner, Mapping):
            return _guide(schema, name, inner)
    return None


def list_values(schema: Form, path: Sequence[str]) -> tuple[str, ...]:
    """Return the fixed values of the key at `path`, or of the items if its value is a list. Empty if there
    are none."""
    return tuple(dict.fromkeys(word for form in _find_subschemas(schema, path) for word in _words(form)))


def _words(form: Form) -> Iterator[str]:
    for value in form.get("enum", ()):
        if isinstance(value, bool):
            yield str(value).lower()
        elif isinstance(value, str | int) and value != "":
            yield str(value)
    if "boolean" in _types(form):
        yield from ("true", "false")


def _guide(schema: Form, name: str, form: Form) -> KeyGuide:
    every = list(_expand(schema, form))
    meaning = next((one["markdownDescription"] for one in every if one.get("markdownDescription")), "")
    meaning = meaning or next((one["description"] for one in every if one.get("description")), "")
    kinds = dict.fromkeys(
        _KINDS[kind] for one in every for kind in _types(one) if kind in _KINDS and not one.get("enum")
    )
    default = next((one["default"] for one in every if one.get("default") not in (None, "", [], {})), "")
    values = dict.fromkeys(word for one in every for word in _words(one))
    written = str(default).lower() if isinstance(default, bool) else str(default)
    return KeyGuide(name, meaning, " or ".join(kinds), written, tuple(values))


def _types(form: Form) -> Sequence[str]:
    kinds = form.get("type", ())
    return (kinds,) if isinstance(kinds, str) else kinds


def _find_subschemas(schema: Form, path: Sequence[str]) -> list[Form]:
    """Return the subschemas that describe the value of the key at `path`, at most `_MAX_FORMS`. If the value
    may be a list, the subschemas of its items are included."""
    forms = list(_expand(schema, schema))
    for name in path:
        inner: list[Form] = []
        for form in forms:
            below = form.get("properties", {}).get(name, form.get("additionalProperties"))
            if isinstance(below, Mapping):
                inner.extend(_expand(schema, below))
        forms = inner[:_MAX_FORMS]
    return forms


def _expand(schema: Form, form: Form) -> Iterator[Form]:
    """Yield `form`, and all schemas that it refers to or combines."""
    pending, count = [form], 0
    while pending and count < _MAX_FORMS:
        one = pending.pop(0)
        count += 1
        yield one
        reference = str(one.get("$ref", ""))
        if reference.startswith("#/definitions/"):
            pending.append(schema.get("definitions", {}).get(reference.rpartition("/")[2], {}))
        for keyword in ("allOf", "anyOf", "oneOf"):
            pending.extend(inner for inner in one.get(keyword, ()) if isinstance(inner, Mapping))
        if isinstance(one.get("items"), Mapping):
            pending.append(one["items"])


_IMAGE_SUFFIXES = (".avif", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp")
_VIDEO_SUFFIXES = (".mp4", ".webm", ".mov", ".vtt")
_TEXT_SUFFIXES = (
    ".py",
    ".ipynb",
    ".js",
    ".ts",
    ".c",
    ".cpp",
    ".rs",
    ".jl",
    ".r",
    ".sh",
    ".toml",
    ".yaml",
    ".json",
    ".txt",
)


def complete_files(session: SiteSession, path: str, cursor: Cursor) -> Iterator[CompletionItem]:
    """Yield paths of images and videos. After `file=` or in an argument, yield paths of other files, too."""
    present = session.snapshot
    if present is None:
        return
    wanted: tuple[str, ...] = (
        (*_IMAGE_SUFFIXES, *_VIDEO_SUFFIXES) if cursor.kind == "image" or cursor.name else _TEXT_SUFFIXES
    )
    wanted = () if cursor.name == "href" else wanted
    for written, asset in list_assets(present, path):
        if not wanted or asset.path.suffix.lower() in wanted:
            yield CompletionItem(written, kind=CompletionItemKind.File)


def list_assets(present: SiteSnapshot, path: str) -> Iterator[tuple[str, Asset]]:
    """Yield (path as written in a page, file) for the files of the site. Files in the page's folder come
    first."""
    files = present.resolved.files
    own = str(path).rpartition("/")[0]
    content = sorted(files.assets, key=lambda one: not str(one.path).startswith(f"{own}/"))
    for asset in content:
        yield relative_path(str(asset.path), path), asset
    for asset in files.static:
        yield str(asset.path).removeprefix("static"), asset


def complete_link(session: SiteSession, path: str, cursor: Cursor) -> Iterator[CompletionItem]:
    """Yield pages by file or slug, then files. After `#`, yield the anchors of the page before the `#`."""
    present = session.snapshot
    if present is None:
        return
    address, sign, _ = cursor.word.partition("#")
    if sign:
        yield from _anchors(session, present, path, address)
        return
    titles = {source: item.document.front.title for source, item in present.rendered.items()}
    for source, title in titles.items():
        written = page_slug(present, source) if cursor.kind == "wiki-link" else relative_path(source, path)
        if written and source != path:
            yield CompletionItem(written, kind=CompletionItemKind.File, detail=title or None)
    if cursor.kind == "link":
        for written, _asset in list_assets(present, path):
            yield CompletionItem(written, kind=CompletionItemKind.File)


def _anchors(
    session: SiteSession, present: SiteSnapshot, path: str, address: str
) -> Iterator[CompletionItem]:
    document = present.resolved.documents.get(path)
    if document is None:
        return
    source = present.resolved.index.find_linked(address, document)[0] if address else path
    if source not in present.resolved.documents:
        return
    names = {known.label.id: known.name for known in page_labels(session, source)}
    for anchor in sorted(present.resolved.index.entries[source].ids):
        yield CompletionItem(
            f"{address}#{anchor}", kind=CompletionItemKind.Reference, detail=names.get(anchor)
        )


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
    """Yield (value, description) if the value of the key is a name on this site, such as a tag. key: YAML
    keys from the outermost inwards."""
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
    """Return the JSON Schema of the YAML in a file, which is that of settings or of front matter."""
    return cached_schema("config" if path == CONFIG_NAME else "front-matter")
