"""`_config.yml` → `blogsmith.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import available_timezones

from ...model.units import name_set
from ..model import OldSettings
from .config import CONFIG, JekyllConfig
from .permalinks import own_pattern

_TRANSLATED = name_set(
    "title name description tagline author.name author first_name middle_name last_name url baseurl "
    "lang locale timezone permalink collections defaults exclude include ignore encrypt "
    "kramdown.parse_block_html kramdown.math_engine"
)


def old_settings(config: JekyllConfig) -> OldSettings:
    """Return `_config.yml` and what of it is read."""
    values = {key: value for key, value in config.values.items() if key != "defaults"}
    return OldSettings((config.folder / CONFIG).as_posix(), values, _TRANSLATED)


def site_settings(config: JekyllConfig, macros: Mapping[str, str]) -> dict[str, Any]:
    """The settings of the new site; what is not known is left out."""
    found: dict[str, Any] = {"title": config.text("title") or config.text("name") or "Untitled site"}
    if description := config.text("description") or config.text("tagline"):
        found["description"] = description
    if author := _author(config):
        found["author"] = author
    if address := _base_url(config):
        found["base_url"] = address
    if lang := config.text("lang") or config.text("locale"):
        found["lang"] = lang.replace("_", "-")
    zone = config.text("timezone")
    if zone in available_timezones():
        found["timezone"] = zone
    if permalinks := _permalinks(config):
        found["permalinks"] = permalinks
    # as kramdown sets text, makes ids of headings, and as browsers show what lies at other hosts
    found["markup"] = {"smart_quotes": True}
    found["slugs"] = "github"
    found["images"] = {"remote": "warn"}
    found["embeds"] = {"remote": "warn"}
    if macros:
        found["math"] = {"macros": dict(macros)}
    return found


def _author(config: JekyllConfig) -> str:
    written = config.values.get("author")
    if isinstance(written, dict):
        return " ".join(str(written.get("name") or "").split())
    names = [config.text(f"{part}_name") for part in ("first", "middle", "last")]
    social = config.values.get("social")
    other = str(social.get("name") or "") if isinstance(social, dict) else ""
    return config.text("author") or " ".join(filter(None, names)) or other


def _base_url(config: JekyllConfig) -> str:
    host = config.text("url").rstrip("/")
    return f"{host}{config.base_path}" if host.startswith(("https://", "http://")) else ""


def _permalinks(config: JekyllConfig) -> dict[str, str]:
    """Section → pattern, for collections whose own pattern says what ours can."""
    found = {}
    for collection in config.collections.values():
        pattern = own_pattern(collection.permalink) if collection.permalink else ""
        if collection.is_output and pattern and pattern != f"/{collection.name}/:slug/":
            found[collection.name] = pattern
    return found
