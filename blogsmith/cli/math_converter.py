"""The converter of a plugin for `blogsmith math`: found and loaded as a site does it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..base.diagnostics.format import printable
from ..base.diagnostics.model import Diagnostic, SiteError
from ..config.schema import Config
from ..project.context import load_with_bundled
from ..render.converters import OURS, choose_converter, convert_foreign, no_converter, plug_in
from ..tex.convert import convert_formula
from . import terminal

if TYPE_CHECKING:
    from ..tex.convert import Convert


def open_converter(root: Path | None, config: Config, name: str) -> Convert | None:
    """What typesets by the plugin `name`, or by the one that the site chooses; None: blogsmith does.

    A bundled plugin need not stand in the settings. SiteError if there is no such plugin, or it cannot be
    loaded.
    """
    name = name or config.math.converter
    if name == OURS:
        return None
    plugins = load_with_bundled(name, root, config)
    try:
        found = choose_converter(plugins, name, untrusted=config.markup.untrusted)
    except LookupError:
        raise SiteError(Diagnostic("plugin-missing", no_converter(name))) from None
    told: set[str] = set()

    def report(reason: str) -> None:
        if reason not in told:
            told.add(reason)
            terminal.warn(printable(f"note: blogsmith typesets this formula: {reason}"))

    return plug_in(convert_formula, found, convert_foreign, report) if found else None
