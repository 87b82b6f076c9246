"""The analytics service of an old site, found in its settings or templates. Works for any system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from ..api.importing import lazy_pattern
from .model import SiteImport
from .text.data import one_line

_SITES: Mapping[str, tuple[str, ...]] = {
    "goatcounter": ("code", "id", "site", "sitecode", "websiteid", "username"),
    "plausible": ("domain", "site", "id", "datadomain"),
    "umami": ("websiteid", "id", "site", "datawebsiteid"),
}
"""Analytics provider → names of the old setting that contains the site's identifier, without `-` and `_`."""
_HOSTS = ("host", "jslocation", "instance", "server", "domain", "src", "url")
_OWN_HOSTS = ("plausible.io", "umami.is", "cloud.umami.is", "analytics.umami.is", "gc.zgo.at")
_DEEPEST = 6
_SCRIPT = lazy_pattern(r"<script\b[^<>]*(?:goatcounter|plausible|umami)[^<>]*>")
_ATTRIBUTE = lazy_pattern(r"\b(?:data-)?([a-z-]+)=[\"']([^\"'<>{}]*)[\"']")
_CODE = lazy_pattern(r"(?:https://)?([\w-]+)(?:\.goatcounter\.com(?:/count)?)?")


def add_analytics(site: SiteImport, templates: Iterable[str]) -> SiteImport:
    """Add the old site's analytics service to the new settings, if blogsmith supports the service. templates:
    sources of the old layouts."""
    if "analytics" in site.settings or not site.settings.get("base_url"):
        return site
    domain = urlsplit(str(site.settings["base_url"])).netloc
    mappings = (each for old in site.old_settings for each in _mappings(old.values, "", 0))
    in_settings = (_setting(name, fields, domain) for name, fields in mappings)
    in_texts = (_script(text, domain) for text in (*_strings(site), *templates))
    found = next(filter(None, (*in_settings, *in_texts)), None)
    return replace(site, settings={**site.settings, "analytics": found}) if found else site


def _mappings(data: Mapping[str, Any], name: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield name, data
    for key, value in data.items() if depth < _DEEPEST else ():
        folded = str(key).casefold()
        if isinstance(value, Mapping):
            yield from _mappings(value, folded, depth + 1)
        elif one_line(value) and (provider := _provider(folded)):
            yield provider, {"site": value}


def _provider(name: str) -> str:
    return next((each for each in _SITES if name.startswith(each) and "script" not in name), "")


def _setting(name: str, fields: Mapping[str, Any], domain: str) -> dict[str, str] | None:
    folded = {str(key).replace("-", "").replace("_", "").casefold(): one_line(fields[key]) for key in fields}
    provider = name if name in _SITES else folded.get("provider", "").casefold()
    if provider not in _SITES or fields.get("enabled") is False or fields.get("enable") is False:
        return None
    site = next((folded[key] for key in _SITES[provider] if folded.get(key)), "")
    site = site or (domain if provider == "plausible" else "")
    if provider == "goatcounter":
        code = _CODE.fullmatch(site)
        site = code[1] if code else ""
    if not site or "<" in site:
        return None
    hosts = (urlsplit(folded[key]) for key in _HOSTS if folded.get(key, "").startswith("https://"))
    host = next((each.netloc for each in hosts if each.netloc and each.netloc not in _OWN_HOSTS), "")
    is_own = host and not host.endswith(".goatcounter.com")
    return {"provider": provider, "site": site, **({"host": f"https://{host}"} if is_own else {})}


def _script(text: str, domain: str) -> dict[str, str] | None:
    for tag in _SCRIPT.findall(text):
        fields = dict(_ATTRIBUTE.findall(tag))
        provider = next(name for name in _SITES if name in tag)
        code = {"code": fields["goatcounter"]} if "goatcounter" in fields else {}
        needed = {"goatcounter": "code", "plausible": "domain", "umami": "website-id"}[provider]
        if (found := {**fields, **code}).get(needed) and (made := _setting(provider, found, domain)):
            return made
    return None


def _strings(site: SiteImport) -> Iterator[str]:
    for old in site.old_settings:
        for _, each in _mappings(old.values, "", 0):
            yield from (value for value in each.values() if isinstance(value, str) and "<script" in value)
