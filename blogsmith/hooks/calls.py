"""The calls of plugins' functions while pages are made, and what is done with what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath

from ..base.diagnostics.model import Diagnostic, SiteError
from ..model.documents import Document
from . import FileContent, Plugins, SiteOutputs
from .failures import blame_plugins


def filter_document(plugins: Plugins, document: Document) -> tuple[Document, tuple[Diagnostic, ...]]:
    """The document that plugins make of `document`, and what they say is wrong with it."""
    found: list[Diagnostic] = []
    for plugin, read in plugins.page_readers:
        try:
            changed = read(document)
        except ValueError as error:
            found.append(
                Diagnostic("plugin", f"plugin {plugin}: {error}", str(document.path), subject=plugin)
            )
            continue
        if not isinstance(changed, Document) or changed.source is not document.source:
            message = f"plugin {plugin}: its page_read gives no document of this page"
            raise SiteError(Diagnostic("plugin", message, str(document.path), subject=plugin))
        document = changed
    return document, tuple(found)


def filter_html(plugins: Plugins, html: str, document: Document) -> str:
    """The HTML of a page's text that plugins make of `html`; SiteError if one of them gives none."""
    for plugin, change in plugins.page_filters:
        changed: object = change(html, document)
        if not isinstance(changed, str):
            message = f"plugin {plugin}: its page_rendered gives no text"
            raise SiteError(Diagnostic("plugin", message, str(document.path), subject=plugin))
        html = changed
    return html


def plugin_files(
    plugins: Plugins, site: SiteOutputs
) -> Iterator[tuple[str, PurePosixPath, Callable[[], bytes]]]:
    """(plugin, path in the output folder, what makes its bytes) of each file that plugins add."""
    for plugin, outputs in plugins.outputs:
        for name, content in outputs(site).items():
            path = PurePosixPath(name)
            if not name or path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
                message = f'plugin {plugin}: "{name}" is no path in the output folder'
                raise SiteError(Diagnostic("plugin", message, "blogsmith.yaml", subject=plugin))
            yield plugin, path, partial(_bytes_of, plugins, content)


def _bytes_of(plugins: Plugins, content: FileContent) -> bytes:
    with blame_plugins(plugins):
        made = content() if callable(content) else content
    return made.encode() if isinstance(made, str) else made
