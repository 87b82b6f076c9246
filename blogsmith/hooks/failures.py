"""Exceptions of plugins as mistakes with the plugin's name, at the line of its file."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..base.diagnostics.model import Diagnostic, Place, SiteError, did_you_mean
from . import Hooks, Plugins
from .plugin_code import PluginCode


@contextmanager
def blame_plugins(plugins: Plugins) -> Iterator[None]:
    """Whatever a plugin raises inside becomes a SiteError with its name; bugs of our own pass through.

    What plugins of the site import inside is guarded as while they were loaded.
    """
    try:
        with guard_imports(plugins.code):
            yield
    except SiteError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit) and not _is_raised_by(error, plugins.files):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        guilty = next((f.filename for f in reversed(frames) if f.filename in plugins.files), None)
        if guilty is None:
            raise
        raise SiteError(plugin_failure(plugins.files[guilty], Path(guilty), error)) from error


def _is_raised_by(error: SystemExit, files: Iterable[str]) -> bool:
    """Whether code of these files ends the program, rather than a signal that came while it ran."""
    frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return bool(frames) and frames[-1] in set(files)


def plugin_failure(plugin: str, file: Path, error: BaseException, what: str = "fails") -> Diagnostic:
    """The diagnostic for what `plugin` raised, at the line of its file that did it."""
    frames = traceback.extract_tb(error.__traceback__)
    line = next((f.lineno for f in reversed(frames) if f.filename == str(file)), None)
    if isinstance(error, SyntaxError) and error.filename == str(file):
        line = error.lineno
    message = f"plugin {plugin} {what}: {type(error).__name__}: {_format_error(error)}"
    place = Place(line) if line else None
    text = file.read_text(encoding="utf-8", errors="replace").split("\n")[line - 1] if line else ""
    if place and text.strip():
        indent = len(text) - len(text.lstrip())
        place = Place(place.line, indent + 1, len(text.strip()))
    return Diagnostic(
        "plugin", message, f"plugins/{file.name}", place, text, _suggestion(error), subject=plugin
    )


def _format_error(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _suggestion(error: BaseException) -> str:
    if isinstance(error, AttributeError) and isinstance(error.obj, Hooks):
        return did_you_mean(error.name or "", (name for name in dir(Hooks) if not name.startswith("_")))
    return ""


@contextmanager
def blame_plugin(name: str, file: Path) -> Iterator[None]:
    """Whatever a plugin raises is its own; the site's author needs its name and line, not our stack."""
    try:
        yield
    except SiteError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit) and not _is_raised_by(error, [str(file)]):
            raise
        raise SiteError(plugin_failure(name, file, error, "fails to load")) from error


# The door to `plugin_imports`, which is imported for sites that have plugins of their own.


@contextmanager
def guard_imports(code: PluginCode | None) -> Iterator[None]:
    """Imports inside are those of a site whose plugins are `code`; without any, nothing is different."""
    if code is None:
        yield
        return
    from .plugin_imports import guard_site_imports

    with guard_site_imports(code):
        yield
