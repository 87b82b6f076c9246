"""Pages that are not published, and what leads to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..model import ImportedPage


def draft_settings(pages: Iterable[ImportedPage]) -> dict[str, Any]:
    """Settings of a site that has drafts: a link to one was dead on the old site, and is a warning here."""
    has_drafts = any(page.front.get("draft") is True for page in pages)
    return {"diagnostics": {"link-unpublished": "warning"}} if has_drafts else {}
