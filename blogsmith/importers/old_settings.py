"""Settings of the old site that have no counterpart: the report names each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .model import Notice, OldSettings, SiteImport
from .verify.site import site_values
from .verify.source_values import NewValues, settings_left
from .verify.values import is_named

SETTINGS_LEFT = "settings without a counterpart"
DATA_LEFT = "data without a counterpart"
"""How messages about them begin."""
_HINT = "write into a page or a theme what readers should see"


def with_named_settings(site: SiteImport) -> SiteImport:
    """Return the import with a notice that names the settings which the new site lacks, one for each file."""
    new = site_values(site, site.settings)
    notices = [notice for old in site.old_settings for notice in _notices(old, new, site)]
    return replace(site, notices=(*site.notices, *notices))


def _notices(old: OldSettings, new: NewValues, site: SiteImport) -> Iterator[Notice]:
    known = [notice.message for notice in site.notices if notice.source in (old.file, "")]
    left = [f'"{path}"' for path in settings_left(old, new) if not is_named(path, known)]
    if left:
        yield Notice("dropped", f"{SETTINGS_LEFT}: {', '.join(left)}", old.file, hint=_HINT)
