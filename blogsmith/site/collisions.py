"""Checks for pages, aliases and generated lists that have the same URL.

URLs are compared as on a file system that ignores case and Unicode normalization.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from ..base.diagnostics.model import Diagnostic, Reporter, find_word_range
from ..model.documents import Document
from ..model.slugs import alias_problem, alias_url

_MISSING = "/404.html"


def check_collisions(
    documents: Sequence[Document],
    urls: Mapping[str, str],
    kinds: Mapping[str, str],
    lists: dict[str, str],
    terms: dict[str, str],
) -> list[Diagnostic]:
    """Return errors for pages and aliases that share a URL. Each is reported in the later file.

    lists: site paths of the lists that an index page of the author can replace, with their descriptions.
    terms: site paths of generated pages that no author's page can replace, with their descriptions.
    """
    found: list[Diagnostic] = []
    taken: dict[str, str] = {}
    generated = {fold_url(url): what for url, what in (lists | terms).items()}
    replaceable = {fold_url(url) for url in lists.keys() - terms.keys()}
    for document in documents:
        path = str(document.path)
        url = urls[path]
        first = taken.setdefault(fold_url(url), path)
        if first != path:
            message = f'"{first}" and "{path}" have the same URL "{url}"'
            if urls[first] != url:
                message = f'"{first}" and "{path}" have URLs that differ only in case: "{url}"'
            found += _duplicate(document, _address_key(document), message)
        elif fold_url(url) in generated and not (
            kinds[path] in ("home", "section") and fold_url(url) in replaceable
        ):
            message = f'"{path}" has the same URL "{url}" as {generated[fold_url(url)]}'
            index = f"content{url}_index.md"
            is_list = fold_url(url) in replaceable and url.endswith("/")
            hint = f"write the text of the list in {index}" if is_list else _slug_hint(url)
            found += _duplicate(document, _address_key(document), message, hint)
    for document in documents:
        found += _alias_faults(document, taken, generated)
    return found


def _slug_hint(url: str) -> str:
    if url == _MISSING:
        return "remove the page, or write its content in layouts/not_found.html"
    return "give the page another `slug`"


def _address_key(document: Document) -> str:
    """Return the front matter key that sets the URL of the page."""
    return "permalink" if document.front.permalink else "slug"


def _alias_faults(
    document: Document, taken: dict[str, str], generated: Mapping[str, str]
) -> list[Diagnostic]:
    """Return errors in the aliases of a page, and add the valid aliases to `taken`."""
    found: list[Diagnostic] = []
    for alias in document.front.aliases:
        if problem := alias_problem(alias):
            reporter = _reporter(document)
            place = find_word_range(alias, document.front.places.get("aliases"), reporter.lines)
            fix = reporter.substitute(place, alias, _corrected_alias(alias))
            reporter.error(
                "alias", f'alias "{alias}" {problem}', place, "write it in the form `/old/name/`", fix
            )
            found += reporter.diagnostics
            continue
        address = fold_url(alias_url(alias))
        owner = f'"{taken[address]}"' if address in taken else generated.get(address)
        if owner:
            message = f'alias "{alias}" of "{document.path}" is already a URL of {owner}'
            hint = (
                f"remove the alias, or write another `slug:` in `{taken[address]}`"
                if address in taken
                else "remove the alias"
            )
            found += _duplicate(document, "aliases", message, hint, word=alias)
        else:
            taken[address] = str(document.path)
    return found


def _corrected_alias(alias: str) -> str | None:
    """Return the alias with the missing slashes added, or None if it is still not a valid path."""
    meant = f"/{alias.strip().strip('/')}/"
    return None if alias_problem(meant) else meant


def _duplicate(
    document: Document,
    key: str,
    message: str,
    hint: str = "delete one, or write another `slug:` in its front matter",
    word: str = "",
) -> list[Diagnostic]:
    reporter = _reporter(document)
    place = find_word_range(word, document.front.places.get(key), reporter.lines)
    reporter.error("duplicate-url", message, place, hint)
    return reporter.diagnostics


def _reporter(document: Document) -> Reporter:
    return Reporter(document.path.as_posix(), document.source.text.split("\n"))


def fold_url(url: str) -> str:
    """Return the URL in a form that is equal for names that differ only in case or normalization."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", url).casefold())
