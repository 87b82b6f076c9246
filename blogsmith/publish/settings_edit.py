"""`publish:` in the settings, added behind what stands there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..base.diagnostics.model import Diagnostic, SiteError
from ..config.load import CONFIG_NAME, load_config
from .author_files import read_text


def with_target(root: Path, target: str) -> Mapping[str, str]:
    """The settings with the name of a host, by path; SiteError if they name another one."""
    loaded = load_config(root)
    if ("publish",) in loaded.places:
        place = loaded.places[("publish",)]
        line = loaded.lines[place.line - 1] if place.line <= len(loaded.lines) else ""
        message = f"builds write the headers and redirects of {target} only if the settings name it"
        hint = f"write publish: {target}"
        raise SiteError(Diagnostic("publish-target", message, CONFIG_NAME, place, line, hint))
    text = read_text(root, CONFIG_NAME) or ""
    end = "" if text.endswith("\n") or not text else "\n"
    note = "# Where the site is published: builds write its headers and redirects."
    return {CONFIG_NAME: f"{text}{end}\n{note}\npublish: {target}\n"}
