"""Settings of the old site that have no counterpart: the report names each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..model.units import name_set
from .model import Notice, OldSettings, SiteImport
from .verify.site import site_values
from .verify.source_values import NewValues, settings_left
from .verify.values import is_named

SETTINGS_LEFT = "settings without a counterpart"
DATA_LEFT = "data without a counterpart"
"""How messages about them begin."""
_HINT = "write into a page or a theme what readers should see"
_TOOLS = name_set(
    "markdown highlighter kramdown sass plugins gems whitelist incremental safe lsi keep_files "
    "encoding theme remote_theme port host livereload liquid paginate paginate_path pagination "
    "compress_html rouge build minify markup outputs outputformats mediatypes security imaging "
    "privacy services caches server deployment summarylength enablegitinfo enablerobotstxt "
    "enableinlineshortcodes builddrafts buildfuture buildexpired module markdown_extensions extra_css "
    "extra_javascript hooks watch validation strict dev_addr project format execute knitr jupyter "
    "editor filters sphinx parse launch_buttons latex extensions html_theme html_theme_options "
    "version"
)
"""Settings that only control an old system or its theme, of all systems; in lower case."""


def with_named_settings(site: SiteImport) -> SiteImport:
    """Return the import with notices that name the settings which the new site lacks."""
    new = site_values(site, site.settings)
    notices = [notice for old in site.old_settings for notice in _notices(old, new, site)]
    return replace(site, notices=(*site.notices, *notices))


def _notices(old: OldSettings, new: NewValues, site: SiteImport) -> Iterator[Notice]:
    known = [notice.message for notice in site.notices if notice.source in (old.file, "")]
    left = [path for path in settings_left(old, new) if not is_named(path, known)]
    tools = [path for path in left if path.casefold().partition(".")[0] in _TOOLS]
    for what, paths, hint in (
        (SETTINGS_LEFT, [path for path in left if path not in tools], _HINT),
        ("settings that only control the old system", tools, ""),
    ):
        if paths:
            names = ", ".join(f'"{path}"' for path in paths)
            yield Notice("dropped", f"{what}: {names}", old.file, hint=hint)
