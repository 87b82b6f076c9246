"""Bundled plugins that imported pages need: they are switched on in the new settings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from ..base.patterns import lazy_pattern
from .model import SiteImport
from .text.segments import CODE, mask

_FENCE = lazy_pattern(
    r"(?m)^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,})[ \t]*(mermaid|dot|graphviz)\b"
)
_FENCES = {"mermaid": "mermaid", "dot": "graphviz", "graphviz": "graphviz"}
_PROSE = {
    "hf_space": lazy_pattern(r"<div\b[^<>]*\bclass=[\"']?[^\"'<>]*\bhf-space\b|\{%-?\s*hf-space\b"),
    "emoji_callouts": lazy_pattern(
        r"^[ \t>]*(?:[-*+][ \t]+)?[*_]*(?:💡[ ]*[*_]*(?:key insight|analogy)|🔬[ ]*[*_]*research insight)\b",
        re.IGNORECASE | re.MULTILINE,
    ),
}
"""Plugin → what needs it, outside of code."""


def with_needed_plugins(site: SiteImport) -> SiteImport:
    """Return the import with the plugins that its pages need."""
    plugins = {*site.settings.get("plugins", ()), *needed_plugins(page.text for page in site.pages)}
    return replace(site, settings={**site.settings, "plugins": sorted(plugins)}) if plugins else site


def needed_plugins(texts: Iterable[str]) -> list[str]:
    """Return the bundled plugins that these texts need, sorted."""
    found: set[str] = set()
    for text in texts:
        found |= {_FENCES[each[1]] for each in _FENCE.finditer(text)}
        wanted = [name for name, pattern in _PROSE.items() if pattern.search(text)]
        prose = mask(text, kinds=CODE).text if wanted else ""
        found |= {name for name in wanted if _PROSE[name].search(prose)}
    return sorted(found)
