"""Arguments of shortcodes, for completion and hover."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from ..api.editing import ARGUMENTS, SiteSnapshot

_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "src": "Path of the image, or several separated by commas; for videos, path or URL",
        "cap": "Caption, or several separated by commas",
        "alt": "Description of the image for readers who cannot see it",
        "cols": "Number of images in a row",
        "width": "Width in CSS units, such as `60%`",
        "id": "Label, `fig-…`",
        "before": "Path of the first image",
        "after": "Path of the second image",
        "before-alt": "Description of the first image",
        "after-alt": "Description of the second image",
        "label-before": "Label on the first image",
        "label-after": "Label on the second image",
        "caption": "Caption, with formulas",
        "title": "Title of the video",
        "poster": "Path of the image that is shown before the video plays",
        "captions": "Path of the captions in WebVTT format",
        "lang": "Language of the captions",
        "loop": "Plays the video in a loop, without sound",
    }
)
_READ = re.compile(r"\bargs(?:\.(\w+)|\[[\"']([\w-]+)[\"']\])")


def list_arguments(present: SiteSnapshot, name: str) -> dict[str, str]:
    """Return the arguments of a shortcode with their meanings. For the site's own shortcodes, return those
    that the template reads."""
    if name in ARGUMENTS:
        return {argument: _MEANINGS.get(argument, "") for argument in ARGUMENTS[name]}
    files = present.context.theme.files.templates
    found: dict[str, str] = {}
    for end in (".html", ".inline.html", ".block.html"):
        if file := files.get(f"shortcodes/{name}{end}"):
            for read in _READ.finditer(file.text):
                found.setdefault(read[1] or read[2], "")
    return found
