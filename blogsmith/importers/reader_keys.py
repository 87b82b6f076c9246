"""Front matter that themes of other systems show below a text: references, and slides of a talk."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..base.patterns import lazy_pattern
from ..model.slugs import slugify
from ..read.references import is_known_field
from .bibliography.bibtex import fit_key
from .model import ImportedPage, Notice
from .text.front_values import list_of, one_line
from .verify.values import leaves

_ADDRESS = lazy_pattern(
    r"https?://\S+|/[^\s/]\S*|[\w./-]+\.(?:pdf|html?|pptx?|key|odp)(?:[?#]\S*)?", re.IGNORECASE
)
_URL = lazy_pattern(r"https?://[^\s<>\"]+")
_TITLES = ("title", "name", "label", "text")
_LINKS = ("url", "URL", "link", "href", "src", "file")
_LONGEST = 40
"""Characters of a key that is made from a title."""


def add_reader_keys(
    page: ImportedPage, front: Mapping[str, Any], works: Collection[str]
) -> tuple[ImportedPage, frozenset[str]]:
    """Return the page with these keys of its old front matter, and the keys all of whose values it shows.

    works: keys of the site's bibliography.
    """
    done = set()
    written = front.get("references")
    if written and (values := _reference_front(page, written, works)):
        page = replace(page, front={**page.front, **values})
        done.add("references")
    written = front.get("slides")
    links = [_link(each) for each in list_of(written)] if written else []
    if links and all(links):
        text = f"{page.text.rstrip()}\n\n**Slides:** {', '.join(links)}\n"
        message = 'front matter key "slides" is a line of links at the end of the text'
        notice = Notice("changed", message, page.source)
        page = replace(page, text=text, notices=(*page.notices, notice))
        fields = [len(list(leaves(each))) for each in list_of(written) if isinstance(each, Mapping)]
        done |= {"slides"} if all(count <= len(("title", "url")) for count in fields) else set()
    return page, frozenset(done)


def _reference_front(page: ImportedPage, written: Any, works: Collection[str]) -> dict[str, Any]:
    """Return `references` and `nocite`; empty for what is no list of works."""
    entries = list(entry_list(written))
    named = [fit_key(each) for each in entries if isinstance(each, str)]
    if named and len(named) == len(entries) and works and set(named) <= {*works}:
        return {"nocite": [f"@{key}" for key in named]}
    others = list_of(page.front.get("references") or [])
    taken = {str(entry.get("id")) for entry in others} | {*works}
    own = [entry for each in entries if (entry := reference_entry(each, taken))]
    if not own or len(own) < len(entries):
        return {}
    found: dict[str, Any] = {"references": [*others, *own]}
    keys = [str(entry["id"]) for entry in own]
    # an old layout shows all of them, unless the text cites them
    if "nocite" not in page.front and not any(f"@{key}" in page.text for key in keys):
        has_others = bool(works or others or page.front.get("bibliography"))
        found["nocite"] = [f"@{key}" for key in keys] if has_others else "@*"
    return found


def entry_list(written: Any) -> Iterator[Any]:
    """Yield the entries of a list, or of a mapping from key to entry."""
    if isinstance(written, Mapping) and all(isinstance(each, Mapping) for each in written.values()):
        yield from ({"id": key, **each} for key, each in written.items())
    else:
        yield from list_of(written)


def reference_entry(written: Any, taken: set[str]) -> dict[str, Any] | None:
    """Return an entry as blogsmith reads it; None for what is none."""
    if isinstance(written, str) and written.strip():
        text = one_line(written)
        written = {"title": text, **({"url": text} if _URL.fullmatch(text) else {})}
    if not isinstance(written, Mapping):
        return None
    fields = {str(key): value for key, value in written.items() if value not in (None, "", [], {})}
    title = next((text for name in _TITLES if (text := one_line(fields.get(name)))), "")
    address = next((text for name in _LINKS if (text := one_line(fields.get(name)))), "")
    if not title and not address:
        return None
    named = one_line(fields.get("id") or fields.get("key"))
    rest = {
        key: value
        for key, value in fields.items()
        if key not in (*_TITLES, *_LINKS, "id", "key") and is_known_field(key)
    }
    found = {"id": _free_key(named or title or address, taken, is_title=not named), "title": title or address}
    found |= {"url": address} if _URL.fullmatch(address) else {}
    shown = {str(leaf.value) for leaf in leaves({**found, **rest})}
    notes = [str(leaf.value) for leaf in leaves(fields) if str(leaf.value) not in {named, *shown}]
    if notes:
        rest["note"] = "; ".join(filter(None, [one_line(rest.get("note")), *map(one_line, notes)]))
    return {**found, **rest}


def _free_key(text: str, taken: set[str], *, is_title: bool) -> str:
    """Return a key that no other entry has, as texts can cite it."""
    start = slugify(text)[:_LONGEST].strip("-") or "reference" if is_title else fit_key(text)
    key, number = start, 2
    while key in taken:
        key, number = f"{start}-{number}", number + 1
    taken.add(key)
    return key


def _shown(fields: Mapping[str, Any]) -> tuple[str, str]:
    """Return title and address of a link; an empty address if it is none."""
    title = next((text for name in _TITLES if (text := one_line(fields.get(name)))), "")
    address = next((text for name in _LINKS if (text := one_line(fields.get(name)))), "")
    return title, address if _ADDRESS.fullmatch(address) else ""


def _link(written: Any) -> str:
    """Return Markdown; empty if there is nothing to link to."""
    title, address = _shown(written if isinstance(written, Mapping) else {"url": written})
    title = re.sub(r"([\\\[\]*_`$<>])", r"\\\1", title or "Slides")
    return f"[{title}](<{address}>)" if address and "<" not in address and ">" not in address else ""
