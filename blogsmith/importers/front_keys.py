"""Front matter keys that an importer does not translate. None of them is lost silently.

Every importer passes its pages and their old front matter to `complete_page`, so all follow the same rules:

1. A key that the importer translated stays unchanged. If one of its values is missing in the new page,
   the key is also kept under `imported`.
2. `references` and `slides` become references and a link in the text (`bibliographies.py`).
3. A key with the same meaning in blogsmith is kept, if blogsmith reads its value without diagnostics.
4. A key that only controls the old system or its theme is omitted.
5. Every other key is kept, and templates read it as `page.extra`. If blogsmith would interpret it
   differently, it is kept under `imported`.

The report names every key of rules 1, 4 and 5 with its files.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from ..api.importing import KNOWN_KEYS, Config, Diagnostic, Source, find_restrictions, name_set, read_document
from .bibliographies import add_reader_keys
from .model import FrontKeys, ImportedPage, Notice
from .protection import set_visibility
from .text.data import format_yaml
from .verify.site import ADDRESS_KEYS, ValueIndex, is_named, leaves

IMPORTED = "imported"
"""Front matter key for old keys that blogsmith would interpret differently."""
_SHARED_KEYS = name_set(
    "title subtitle description tags categories authors date updated status comments lang series image toc "
    "license doi nocite reading_time numbering citable bibliography"
)
"""Keys with the same meaning in blogsmith and every system, if blogsmith can read their values."""
_MAX_VALUES = 2000
"""Maximum number of values of a key that are compared with the new page; a key with more values is always
kept."""
_PRESENTATION_KEYS = name_set("layout template math mathjax katex latex usemath use_math mermaid")
"""Keys that control the appearance or the scripts of old pages, in every system."""


def complete_page(
    page: ImportedPage, front: Mapping[str, Any], keys: FrontKeys, *, works: Collection[str] = ()
) -> ImportedPage:
    """Add the untranslated keys of old front matter to a page.

    works: keys of the site's bibliography, which `references` may name.
    """
    restrictions = [one.path for one in find_restrictions(front, is_foreign=True)]
    page = set_visibility(page, front)
    open_front = {
        key: value
        for key, value in _remove_paths(front, restrictions).items()
        if value not in (None, "", [], {})
    }
    page, shown = add_reader_keys(page, open_front, works)
    open_front = {key: value for key, value in open_front.items() if key not in shown}
    lost = _lost_values(page, open_front, keys)
    tools = keys.tools | _PRESENTATION_KEYS
    others = {
        key: value
        for key, value in open_front.items()
        if key.casefold() not in keys.translated | tools and key not in page.front
    }
    readable = {key: value for key, value in lost.items() if key.casefold() not in tools}
    secret = [key for key, value in {**others, **readable}.items() if _has_secret(value)]
    kept, imported, refused = _sort_keys(others, readable, secret)
    source = page.source
    told = [notice.message for notice in page.notices]
    useless = [
        key for key in open_front if key.casefold() in tools - keys.translated and not is_named(key, told)
    ]
    notices = [
        *(
            Notice("dropped", f'front matter key "{key}" has no effect in blogsmith', source)
            for key in useless
        ),
        *(
            Notice("dropped", f'some values of front matter key "{key}" have no effect in blogsmith', source)
            for key in lost
            if key not in readable
        ),
        *(Notice("dropped", f'front matter key "{key}" {why}', source) for key, why in refused.items()),
        *(Notice("kept", f'"{key}"', source) for key in kept if key not in _SHARED_KEYS),
        *(Notice("kept", f'"{key}", now "{IMPORTED}.{key}"', source) for key in imported),
    ]
    more = {**kept, **({IMPORTED: imported} if imported else {})}
    return replace(
        page,
        front={**page.front, **more},
        notices=(*page.notices, *notices),
        old_front=front,
        front_keys=keys,
    )


def _remove_paths(front: Mapping[str, Any], paths: Sequence[tuple[str | int, ...]]) -> dict[str, Any]:
    """Return front matter without the values at these paths. A path consists of keys and positions in lists,
    the outermost first. These values restrict access to the page."""
    heads = {path[0]: [rest[1:] for rest in paths if rest[0] == path[0]] for path in paths}
    found = {}
    for key, value in front.items():
        inner = heads.get(key)
        if inner is None:
            found[key] = value
        elif isinstance(value, Mapping) and all(inner):
            found[key] = _remove_paths(value, inner)
    return found


def _lost_values(page: ImportedPage, front: Mapping[str, Any], keys: FrontKeys) -> dict[str, Any]:
    """Return key → value for the keys that the importer translates, if a part of the value is missing in the
    new page."""
    written = {key: value for key, value in front.items() if key.casefold() in keys.translated - ADDRESS_KEYS}
    index = ValueIndex([page.front], [page.text])
    named = [notice.message for notice in page.notices]

    def is_lost(key: str, value: Any) -> bool:
        every = list(leaves({key: value}))
        return len(every) > _MAX_VALUES or not all(index.has(leaf, keys.translated) for leaf in every)

    return {key: value for key, value in written.items() if not is_named(key, named) and is_lost(key, value)}


def _has_secret(value: Any) -> bool:
    """Return whether a value contains a mapping with a password or similar key."""
    if isinstance(value, Mapping):
        found = any(one.remedy == "access" for one in find_restrictions(value, is_foreign=True))
        return found or any(map(_has_secret, value.values()))
    return isinstance(value, list) and any(map(_has_secret, value))


def _sort_keys(
    others: Mapping[str, Any], lost: Mapping[str, Any], secret: Collection[str]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Return three mappings: keys that stay in front matter, keys that move to `imported`, and omitted key →
    reason. others: untranslated keys. lost: translated keys with missing values. secret: keys that may
    restrict access."""
    reserved = {*KNOWN_KEYS, IMPORTED}
    kept = {key: value for key, value in others.items() if key not in reserved or key in _SHARED_KEYS}
    if kept and _read_diagnostics(kept):
        kept = {key: value for key, value in kept.items() if not _read_diagnostics({key: value})}
    imported = {**{key: value for key, value in others.items() if key not in kept}, **lost}
    refused = dict.fromkeys(secret, "is omitted because it may restrict access")
    imported = {key: value for key, value in imported.items() if key not in refused}
    if imported and _read_diagnostics({IMPORTED: imported}):
        deep = (key for key, value in imported.items() if _read_diagnostics({IMPORTED: {key: value}}))
        refused |= dict.fromkeys(deep, "is omitted because it is too large or too deeply nested")
    kept = {key: value for key, value in kept.items() if key not in refused}
    return kept, {key: value for key, value in imported.items() if key not in refused}, refused


def _read_diagnostics(front: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that blogsmith reports for this front matter."""
    text = f"---\n{format_yaml(front)}---\n"
    return read_document(Source(PurePosixPath("content/page.md"), text, ""), Config())[1]
