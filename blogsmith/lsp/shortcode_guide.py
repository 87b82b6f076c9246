"""Arguments of shortcodes, for completion and hover."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from ..api.editing import ARGUMENTS, SiteSnapshot

_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "src": "Path of the picture, or several behind commas; of a film, or address of a video",
        "cap": "Caption, or several behind commas",
        "alt": "What the picture shows, for those who do not see it",
        "cols": "How many pictures stand side by side",
        "width": "Width as CSS writes it, such as `60%`",
        "id": "Label, `fig-…`",
        "before": "Path of the first picture",
        "after": "Path of the second picture",
        "before-alt": "What the first picture shows",
        "after-alt": "What the second picture shows",
        "label-before": "Text on the first picture",
        "label-after": "Text on the second picture",
        "caption": "Caption, with formulas",
        "title": "Title of the video",
        "poster": "Path of the picture that is shown before the video plays",
        "captions": "Path of captions in WebVTT",
        "lang": "Language of the captions",
        "loop": "The film plays again and again, without sound",
    }
)
_READ = re.compile(r"\bargs(?:\.(\w+)|\[[\"']([\w-]+)[\"']\])")


def list_arguments(present: SiteSnapshot, name: str) -> dict[str, str]:
    """Return the arguments of a shortcode with their meanings. For custom shortcodes, return those its
    template reads."""
    if name in ARGUMENTS:
        return {argument: _MEANINGS.get(argument, "") for argument in ARGUMENTS[name]}
    files = present.context.theme.files.templates
    found: dict[str, str] = {}
    for end in (".html", ".inline.html", ".block.html"):
        if file := files.get(f"shortcodes/{name}{end}"):
            for read in _READ.finditer(file.text):
                found.setdefault(read[1] or read[2], "")
    return found
