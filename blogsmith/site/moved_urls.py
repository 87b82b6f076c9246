"""Checks after the switch to `slugs: {marks: switch}`: URLs of pages change because they now keep combining
marks.

Lists of tags, categories and series are not checked, because they have no front matter for an alias.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from ..base.diagnostics.fixes import Fix, TextEdit
from ..base.diagnostics.model import Diagnostic, Reporter
from ..config.schema import Config
from ..model.documents import Document
from ..model.slugs import alias_url
from .collisions import fold_url
from .urls import assign_urls


def check_moved_urls(
    documents: Sequence[Document], urls: Mapping[str, str], config: Config
) -> Iterator[Diagnostic]:
    """Yield a warning for each page that has another URL than before the switch, and no alias for it.

    urls: source path → site path.
    """
    settings = config.slug_settings
    if settings.marks != "switch":
        return
    before = structs.replace(config, slugs=structs.replace(settings, marks="drop"))
    old_urls = assign_urls(documents, before).urls
    taken = {fold_url(url) for url in urls.values()}
    for document in documents:
        old = old_urls[str(document.path)]
        aliases = {fold_url(alias_url(alias)) for alias in document.front.aliases}
        if fold_url(old) not in taken | aliases:
            reporter = Reporter(document.path.as_posix(), document.source.text.split("\n"))
            message = f'missing alias "{old}": the URL of this page before `slugs: {{marks: switch}}`'
            place = document.front.places.get("aliases")
            hint = f"write `aliases: [{old}]` in the front matter, so that old links work"
            if document.front.aliases:
                hint = f"add `{old}` to `aliases`, so that old links work"
            reporter.warn("url-moved", message, place, hint, _add_alias(document, old, reporter.lines))
            yield from reporter.diagnostics


def _add_alias(document: Document, alias: str, lines: Sequence[str]) -> Fix | None:
    """Return a fix that adds the first alias to YAML front matter; None if the author must decide where to
    put it."""
    first = lines[0].rstrip()
    if "aliases" in document.front.places or first == "+++" or first.startswith("{"):
        return None
    entry = f"aliases: [{alias}]\n"
    edit = TextEdit(2, 1, "", entry) if first == "---" else TextEdit(1, 1, "", f"---\n{entry}---\n\n")
    return Fix(f"add the alias {alias}", (edit,), is_safe=True)
