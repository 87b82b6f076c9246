"""Mistakes that the old site had too: lowered to warnings in the new settings, so that the new site builds.

What was dead or wrong there is so here; it is told, and does not stop anybody on the first evening. Never
lowered is what blogsmith does not let a site lower.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from ..base.diagnostics.codes import LOWERABLE
from ..base.diagnostics.counts import plural
from ..base.diagnostics.model import Diagnostic
from .model import Notice, SiteImport
from .verify.site import SiteCheck

_FORMULAS = frozenset(("math-command", "math-syntax", "math-brace"))
"""What `math.on_error: render` turns into warnings."""


def with_leniency(site: SiteImport, check: SiteCheck) -> tuple[SiteImport, SiteCheck]:
    """The import with settings that let it build although its pages have mistakes, and the check under
    these."""
    errors = Counter(found.code for found in check.diagnostics if found.severity == "error")
    lowered = sorted(code for code in errors if code in LOWERABLE)
    formulas = sum(errors[code] for code in errors if code in _FORMULAS)
    settings: dict[str, Any] = dict(site.settings)
    notices = list(site.notices)
    if lowered:
        settings["diagnostics"] = {**settings.get("diagnostics", {}), **dict.fromkeys(lowered, "warning")}
        count = plural(sum(errors[code] for code in lowered), "mistake")
        message = f"{count} of the old site are warnings here: {', '.join(lowered)}"
        hint = "mend them, and take the codes out of `diagnostics` in blogsmith.yaml"
        notices.append(Notice("mistake", message, hint=hint))
    if formulas:
        settings["math"] = {**settings.get("math", {}), "on_error": "render"}
        message = f"{plural(formulas, 'mistake')} in formulas: these are shown as TeX"
        hint = "mend them, and take `math.on_error` out of blogsmith.yaml"
        notices.append(Notice("mistake", message, hint=hint))
    codes = frozenset((*lowered, *(_FORMULAS if formulas else ())))
    if not codes:
        return site, check
    return replace(site, settings=settings, notices=tuple(notices)), _lowered(check, codes)


def with_copies(site: SiteImport) -> SiteImport:
    """The import of a site that shows copies of images of other hosts."""
    images = {**site.settings.get("images", {}), "remote": "fetch"}
    return replace(site, settings={**site.settings, "images": images})


def _lowered(check: SiteCheck, codes: frozenset[str]) -> SiteCheck:
    def lower(found: Diagnostic) -> Diagnostic:
        return msgspec.structs.replace(found, severity="warning") if found.code in codes else found

    diagnostics = tuple(map(lower, check.diagnostics))
    left: Mapping[str, int] = Counter(found.path for found in diagnostics if found.severity == "error")
    pages = tuple(
        replace(page, errors=left[page.path], warnings=page.warnings + page.errors - left[page.path])
        for page in check.pages
    )
    return replace(check, pages=pages, diagnostics=diagnostics)
