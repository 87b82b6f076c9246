"""Plugin converters for `blogsmith math`. They are found and loaded as in a build of the site."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..base.diagnostics.format import printable
from ..base.diagnostics.model import Diagnostic, SiteError
from ..config.schema import Config
from ..project.context import load_with_bundled
from ..render.converters import (
    BUILT_IN,
    choose_converter,
    convert_with_plugin,
    unknown_converter_message,
    with_plugin,
)
from ..tex.convert import convert_formula
from . import terminal

if TYPE_CHECKING:
    from ..tex.convert import Convert


def open_converter(root: Path | None, config: Config, name: str) -> Convert | None:
    """Return the converter of the plugin `name`. If `name` is empty, return the converter of the plugin that
    the site uses, or None if the site uses the converter of blogsmith.

    A bundled plugin need not be in the settings. Raise SiteError if the plugin does not exist or cannot be
    loaded.
    """
    name = name or config.math.converter
    if name == BUILT_IN:
        return None
    plugins = load_with_bundled(name, root, config)
    try:
        found = choose_converter(plugins, name, untrusted=config.markup.untrusted)
    except LookupError:
        hint = f"write `{BUILT_IN}`, or install the plugin"
        message = unknown_converter_message(name)
        raise SiteError(Diagnostic("plugin-missing", message, hint=hint)) from None
    told: set[str] = set()

    def report(reason: str) -> None:
        if reason not in told:
            told.add(reason)
            terminal.warn(printable(f"note: formula typeset by blogsmith: {reason}"))

    return with_plugin(convert_formula, found, convert_with_plugin, report) if found else None
