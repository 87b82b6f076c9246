"""The settings, the theme and the plugins, read again only as far as they have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec.structs import replace

from ..config.load import CONFIG_NAME
from ..hooks.plugin_code import is_covered
from ..project.context import SiteContext, open_site, with_theme
from ..read.files import NO_TEXTS
from ..render.templates.environment import TemplateCodes

_THEME = frozenset(("themes", "layouts", "partials", "shortcodes", "languages"))


def reload_site(
    root: Path,
    base_url: str | None,
    before: SiteContext | None,
    changed: Iterable[str],
    codes: TemplateCodes | None = None,
    texts: Mapping[str, str] = NO_TEXTS,
) -> SiteContext:
    """The opened site as it is now; SiteError if what it is made of is wrong.

    before: what it was, None if that may be anything. changed: paths under the root that have changed since.
    codes: as in `load_theme`. texts: as in `read_site`.
    """
    changed = tuple(changed)
    tops = {path.partition("/")[0] for path in changed}
    if before is None:
        return open_site(root, base_url, codes=codes, config_text=texts.get(CONFIG_NAME))
    code = any(map(is_covered, changed))
    if code or CONFIG_NAME in tops:
        plugins = None if code else before.plugins
        opened = open_site(root, base_url, plugins, codes, texts.get(CONFIG_NAME))
        # equal parts stay the same objects: what is remembered is remembered under them
        theme, known = opened.theme, before.theme
        is_same = (theme.files, theme.base_path, theme.sheets) == (known.files, known.base_path, known.sheets)
        return replace(opened, theme=known) if is_same else opened
    if tops & (_THEME | {"plugins"}):
        return with_theme(before, codes)
    return before
