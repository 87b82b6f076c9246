"""Accounts of authors in old settings become links in the menu, their e-mail a line of the footer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..base.patterns import lazy_pattern
from ..model.units import name_set
from .model import SiteImport
from .text.front_values import list_of, one_line

_HOSTS: Mapping[str, tuple[str, str]] = {
    "github": ("GitHub", "https://github.com/{}"),
    "gitlab": ("GitLab", "https://gitlab.com/{}"),
    "twitter": ("Twitter", "https://twitter.com/{}"),
    "x": ("X", "https://x.com/{}"),
    "bluesky": ("Bluesky", "https://bsky.app/profile/{}"),
    "linkedin": ("LinkedIn", "https://www.linkedin.com/in/{}"),
    "youtube": ("YouTube", "https://www.youtube.com/@{}"),
    "instagram": ("Instagram", "https://www.instagram.com/{}"),
    "facebook": ("Facebook", "https://www.facebook.com/{}"),
    "orcid": ("ORCID", "https://orcid.org/{}"),
    "scholar": ("Google Scholar", "https://scholar.google.com/citations?user={}"),
    "kaggle": ("Kaggle", "https://www.kaggle.com/{}"),
    "huggingface": ("Hugging Face", "https://huggingface.co/{}"),
    "mastodon": ("Mastodon", ""),
    "stackoverflow": ("Stack Overflow", ""),
}
"""Name of a service → its title, and the address of an account there; empty if settings hold addresses."""
_PLACES = name_set("social author params params.social params.author extra.social socials social_links")
"""Mappings and lists of settings that hold accounts, beside the settings at the top."""
_LISTS = ("links", "socialicons", "social", "social_links", "socials")
_SUFFIX = lazy_pattern(r"[_-]?(?:user_?name|user_?id|id|handle|url|profile)\Z")
_HANDLE = lazy_pattern(r"@?([\w.-]{1,60})")
_URL = lazy_pattern(r"https?://[^\s<>\"']+")
_EMAIL = lazy_pattern(r"(?:mailto:)?([^\s@<>]+@[^\s@<>]+\.\w+)")
_TITLES = ("title", "name", "label", "icon", "text")
_MOST = 12


def with_social_links(site: SiteImport) -> SiteImport:
    """Return the import with the accounts of its old settings in the menu, and e-mail in the footer."""
    found: dict[str, str] = {}
    emails: dict[str, None] = {}
    for old in site.old_settings:
        for title, address in _accounts(old.values):
            if email := _EMAIL.fullmatch(address):
                emails.setdefault(email[1])
            elif len(found) < _MOST:
                found.setdefault(address, title)
    settings = dict(site.settings)
    menu = list_of(settings.get("menu") or _sections(site))
    known = {str(entry["url"]).rstrip("/") for entry in menu}
    links = [{"title": title, "url": url} for url, title in found.items() if url.rstrip("/") not in known]
    if links:
        settings["menu"] = [*menu, *links]
    if emails and "theme_options" not in settings:
        names = filter(None, [str(settings.get("author", "")), *emails])
        settings["theme_options"] = {"footer": " · ".join(names)}
    return replace(site, settings=settings)


def _sections(site: SiteImport) -> list[dict[str, str]]:
    """Return the sections as a menu, as blogsmith shows them without one."""
    titles: dict[str, str] = {}
    for page in site.pages:
        # a folder that holds folders only has no page of its own
        folder = page.path.parts[1] if len(page.path.parts) == 3 else ""
        if folder and not page.front.get("lang"):
            titles.setdefault(folder, folder.replace("-", " ").replace("_", " ").capitalize())
            if page.path.parts[2:] == ("_index.md",):
                titles[folder] = str(page.front.get("title") or titles[folder])
    return [{"title": title, "url": f"/{folder}/"} for folder, title in sorted(titles.items())]


def _accounts(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield title and address of each account."""
    yield from _named_accounts(values)
    for place in sorted(_PLACES):
        data: Any = values
        for key in place.split("."):
            data = data.get(key) if isinstance(data, Mapping) else None
        if isinstance(data, Mapping):
            yield from _named_accounts(data)
        for each in list_of(data) if isinstance(data, list) else ():
            yield from _listed_account(each)


def _named_accounts(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        name = _SUFFIX.sub("", str(key).casefold())
        if key in _LISTS and isinstance(value, list):
            for each in value:
                yield from _listed_account(each)
        inner = value.get("username") if isinstance(value, Mapping) and name in _HOSTS else value
        text = one_line(inner)
        if name in ("email", "mail") and _EMAIL.fullmatch(text):
            yield "E-mail", text
        elif name in _HOSTS and text:
            title, pattern = _HOSTS[name]
            handle = _HANDLE.fullmatch(text)
            if _URL.fullmatch(text):
                yield title, text
            elif pattern and handle:
                yield title, pattern.format(handle[1])


def _listed_account(entry: Any) -> Iterator[tuple[str, str]]:
    fields = entry if isinstance(entry, Mapping) else {"url": entry}
    address = one_line(fields.get("url") or fields.get("link") or fields.get("href"))
    if _EMAIL.fullmatch(address):
        yield "E-mail", address
    elif _URL.fullmatch(address):
        words = " ".join(one_line(fields.get(key)) for key in _TITLES) + f" {address}"
        known = [title for name, (title, _) in _HOSTS.items() if re.search(rf"\b{name}\b", words.casefold())]
        own = next((text for key in _TITLES if (text := one_line(fields.get(key)))), "")
        host = address.partition("//")[2].partition("/")[0].removeprefix("www.")
        yield (known[0] if known else own or host), address
