"""Calls of plugin functions. An exception becomes a diagnostic with the plugin's name, file and line."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..base.diagnostics.model import Diagnostic, Place, SiteError, did_you_mean
from ..base.installed import PLUGINS, installed_parts, part_path
from ..model.documents import Document
from . import FileContent, Hooks, Plugins, SiteOutputs
from .plugin_code import PluginCode


class CodeLine(NamedTuple):
    """A line of a traceback."""

    filename: str
    lineno: int


class RemoteFrames:
    """Base class of exceptions that the process of plugins reports. Their traceback does not contain the code
    of that process, which `frames` lists."""

    frames: tuple[CodeLine, ...] = ()
    """Lines of code in that process, innermost last."""


def _frames(error: BaseException) -> list[CodeLine]:
    here = [CodeLine(f.filename, f.lineno or 0) for f in traceback.extract_tb(error.__traceback__)]
    return [*here, *(error.frames if isinstance(error, RemoteFrames) else ())]


@contextmanager
def convert_plugin_errors(plugins: Plugins) -> Iterator[None]:
    """Turn an exception that a plugin raises in the `with` block into SiteError with the plugin's name.

    Exceptions of our own code are not changed. In the block, plugins of the site can import only code that
    consent covers.
    """
    try:
        with guard_imports(plugins.guarded):
            yield
    except SiteError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit) and not _is_raised_by(error, plugins.files):
            raise
        guilty = next((f.filename for f in reversed(_frames(error)) if f.filename in plugins.files), None)
        if guilty is None:
            raise
        raise SiteError(plugin_failure(plugins.files[guilty], Path(guilty), error)) from error


def _is_raised_by(error: SystemExit, files: Iterable[str]) -> bool:
    """Return whether code in these files raised `error`. If False, a signal that arrived during a call of
    this code raised it."""
    frames = _frames(error)
    return bool(frames) and frames[-1].filename in set(files)


def plugin_failure(plugin: str, file: Path, error: BaseException, what: str = "fails") -> Diagnostic:
    """Return a diagnostic for an exception of `plugin`, at the line of its file that raised it. what: verb of
    the message, as in `plugin "x" fails`."""
    line = next((f.lineno for f in reversed(_frames(error)) if f.filename == str(file)), None)
    if isinstance(error, SyntaxError) and error.filename == str(file):
        line = error.lineno
    message = f'plugin "{plugin}" {what}: {type(error).__name__}: {_format_error(error)}'
    place = Place(line) if line else None
    text = file.read_text(encoding="utf-8", errors="replace").split("\n")[line - 1] if line else ""
    if place and text.strip():
        indent = len(text) - len(text.lstrip())
        place = Place(place.line, indent + 1, len(text.strip()))
    path = shown_path(plugin, file)
    return Diagnostic("plugin", message, path, place, text, _suggestion(error), subject=plugin)


def shown_path(plugin: str, file: Path) -> str:
    """Return the path of a plugin's file as printed in messages: `plugins/arrows.py`, or the file in its
    package."""
    part = installed_parts(PLUGINS).get(plugin)
    is_installed = part is not None and part_path(part) in (file, file.parent)
    return "/".join(file.parts[-2:]) if is_installed else f"plugins/{file.name}"


def _format_error(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _suggestion(error: BaseException) -> str:
    if isinstance(error, AttributeError) and isinstance(error.obj, Hooks):
        return did_you_mean(error.name or "", (name for name in dir(Hooks) if not name.startswith("_")))
    return "correct this line of the plugin"


def plugin_hint(plugin: str) -> str:
    """Return a hint for an error of a plugin, if the line of the error is not known."""
    return f"correct the plugin, or remove `{plugin}` from `plugins:`"


@contextmanager
def convert_load_errors(name: str, file: Path) -> Iterator[None]:
    """Turn any exception in the `with` block into SiteError, because the author needs the plugin's name and
    line, not our stack."""
    try:
        yield
    except SiteError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit) and not _is_raised_by(error, [str(file)]):
            raise
        raise SiteError(plugin_failure(name, file, error, "fails to load")) from error


# Access to `plugin_imports`, which is imported only for sites that have their own plugins.


@contextmanager
def guard_imports(code: PluginCode | None) -> Iterator[None]:
    """Check imports in the `with` block against `code`, the plugins of a site. If None, check nothing."""
    if code is None:
        yield
        return
    from .plugin_imports import guard_site_imports

    with guard_site_imports(code):
        yield


# Calls of plugin functions during page rendering, and checks of their results.


def filter_document(plugins: Plugins, document: Document) -> tuple[Document, tuple[Diagnostic, ...]]:
    """Apply all `page_read` functions to a document. Return the result and the errors that they raised."""
    found: list[Diagnostic] = []
    for plugin, read in plugins.page_readers:
        try:
            changed = read(document)
        except ValueError as error:
            message, hint = f'plugin "{plugin}": {error}', "correct this page for the plugin"
            found.append(Diagnostic("plugin", message, str(document.path), hint=hint, subject=plugin))
            continue
        if not isinstance(changed, Document) or changed.source is not document.source:
            message = f'invalid result of "page_read" in plugin "{plugin}": expected a document of this page'
            hint = plugin_hint(plugin)
            raise SiteError(Diagnostic("plugin", message, str(document.path), hint=hint, subject=plugin))
        document = changed
    return document, tuple(found)


def filter_html(plugins: Plugins, html: str, document: Document, find_open: Callable[[str], str]) -> str:
    """Apply all `page_rendered` functions to the HTML of a page.

    Raise SiteError if a function returns no string, or leaves an element or comment open. find_open: returns
    the missing end, such as `</details>`, or an empty string.
    """
    for plugin, change in plugins.page_filters:
        changed: object = change(html, document)
        if not isinstance(changed, str):
            message = f'invalid result of "page_rendered" in plugin "{plugin}": expected a string'
            hint = plugin_hint(plugin)
            raise SiteError(Diagnostic("plugin", message, str(document.path), hint=hint, subject=plugin))
        if changed != html and (missing := find_open(changed)):
            message = f'missing "{missing}" in the result of "page_rendered" in plugin "{plugin}"'
            hint = f"write `{missing}` in the HTML that the plugin returns"
            raise SiteError(Diagnostic("plugin", message, str(document.path), hint=hint, subject=plugin))
        html = changed
    return html


def plugin_files(
    plugins: Plugins, site: SiteOutputs
) -> Iterator[tuple[str, PurePosixPath, Callable[[], bytes]]]:
    """Yield (plugin, path in the output folder, function that returns the content) for each file added by
    plugins."""
    for plugin, outputs in plugins.outputs:
        for name, content in outputs(site).items():
            path = PurePosixPath(name)
            if not name or path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
                message = f'plugin "{plugin}": invalid path "{name}": expected a path in the output folder'
                hint = plugin_hint(plugin)
                raise SiteError(Diagnostic("plugin", message, "blogsmith.yaml", hint=hint, subject=plugin))
            yield plugin, path, partial(_make_bytes, plugins, content)


def _make_bytes(plugins: Plugins, content: FileContent) -> bytes:
    with convert_plugin_errors(plugins):
        made = content() if callable(content) else content
    return made.encode() if isinstance(made, str) else made
