"""Links without a scheme, `//host/path`, get HTTPS; those by FTP, which browsers do not open, become code."""

from __future__ import annotations

import re
from dataclasses import replace

from ..base.patterns import lazy_pattern
from .model import ImportedPage, Notice, SiteImport
from .text.segments import CODE, mask

_RELATIVE = lazy_pattern(
    r"((?<!\\)\]\(<?|^[ ]{0,3}\[[^\[\]\n]+\]:[ \t]*<?|<|\bhref=[\"']?)//(?=[\w-]+\.)", re.MULTILINE
)
_FTP_LINK = lazy_pattern(
    r"(?<![!\\])\[([^\[\]\n]*)\]\(<?(ftp://[^()\s<>]+)>?(?:[ \t]+\"[^\"\n]*\")?\)", re.IGNORECASE
)
_FTP_TAG = lazy_pattern(r"<a\b[^<>]*\bhref=[\"']?(ftp://[^\s<>\"']+)[^<>]*>([^<>]*)</a\s*>", re.IGNORECASE)
_FTP = lazy_pattern(
    r"<(ftp://[^\s<>]+)>|(?<![\w`/(\"'=.])(ftp://[^\s<>()`]*[^\s<>()`.,;:!?，。；：！？）])", re.IGNORECASE
)


def with_https_links(site: SiteImport) -> SiteImport:
    """The import with such links changed; those of FTP with a notice."""
    return replace(site, pages=tuple(_page(page) for page in site.pages))


def _page(page: ImportedPage) -> ImportedPage:
    if "//" not in page.text:
        return page
    masked = mask(page.text, kinds=CODE | {"math"})
    text = _RELATIVE.sub(r"\1https://", masked.text)
    if "ftp://" not in text.lower():
        return replace(page, text=masked.restore(text))
    text, links = _FTP_LINK.subn(r"\1 (`\2`)", text)
    text, tags = _FTP_TAG.subn(r"\2 (`\1`)", text)
    text, bare = _FTP.subn(lambda found: f"`{found[1] or found[2]}`", text)
    if not links + tags + bare:
        return replace(page, text=masked.restore(text))
    hint = "look whether the files are to be had by HTTPS now"
    notice = Notice(
        "changed", "an address of FTP, which browsers do not open, is text", page.source, hint=hint
    )
    return replace(page, text=masked.restore(text), notices=(*page.notices, notice))
