"""`hugo.toml` → `blogsmith.yaml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from ...model.units import name_set
from ..model import Notice, OldSettings
from .config import HugoConfig
from .permalinks import own_pattern
from .source import HugoDocument

_MADE = frozenset(("/", "/tags/", "/categories/", "/series/", "/archive/"))
"""Pages that nobody writes."""
_OTHER_NAMES = {"/archives/": "/archive/"}


_TRANSLATED = name_set(
    "title description params.description params.author author baseurl languagecode locale "
    "defaultcontentlanguage defaultcontentlanguageinsubdir languages timezone menu menus permalinks "
    "uglyurls contentdir staticdir datadir ignorefiles disablelanguages enableemoji markup.goldmark "
    "markup.highlight.linenos module.imports module.mounts taxonomies cascade"
)


def old_settings(config: HugoConfig) -> OldSettings:
    """Return the settings, and what of them is read."""
    return OldSettings(config.file, config.values, _TRANSLATED)


def site_settings(
    config: HugoConfig, macros: Mapping[str, str], documents: Iterable[HugoDocument]
) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """The settings of the new site, and what of the menu has no place in it."""
    found: dict[str, Any] = {"title": config.language_text("title") or "Untitled site"}
    if description := config.text("params", "description") or config.text("description"):
        found["description"] = description
    if author := _author(config):
        found["author"] = author
    if (address := config.text("baseurl").rstrip("/")).startswith(("https://", "http://")):
        found["base_url"] = address
    lang = config.language_text("languagecode") or config.text("locale") or config.default_language
    found["lang"] = lang.replace("_", "-")
    zone = config.text("timezone")
    if zone in available_timezones():
        found["timezone"] = zone
    every = tuple(document for document in documents if not document.language)
    menu, notices = _menu(config, every)
    if menu:
        found["menu"] = menu
    if permalinks := _permalinks(config, every):
        found["permalinks"] = permalinks
    found |= _markup(config)
    # ids of headings as goldmark makes them, and what lies at other hosts as browsers show it
    found |= {"slugs": "github", "images": {"remote": "warn"}, "embeds": {"remote": "warn"}}
    if macros:
        found["math"] = {"macros": dict(macros)}
    return found, notices


def _author(config: HugoConfig) -> str:
    for names in (("params", "author"), ("author",), ("params", "authors")):
        written = config.value(*names)
        if isinstance(written, list):
            written = ", ".join(str(each) for each in written if isinstance(each, str))
        if isinstance(written, Mapping):
            written = written.get("name")
        if isinstance(written, str) and written.strip():
            return " ".join(written.split())
    return ""


def _markup(config: HugoConfig) -> dict[str, Any]:
    found: dict[str, Any] = {}
    # goldmark sets typographic quotes unless it is told not to
    typographer = config.value("markup", "goldmark", "extensions", "typographer")
    disabled = typographer is False or (
        isinstance(typographer, Mapping) and typographer.get("disable") is True
    )
    if not disabled:
        found["markup"] = {"smart_quotes": True}
    if config.value("markup", "highlight", "linenos") in (True, "table", "inline"):
        found["code"] = {"line_numbers": True}
    return found


def _permalinks(config: HugoConfig, documents: Iterable[HugoDocument]) -> dict[str, str]:
    """Section → pattern, for sections whose own pattern says what ours can."""
    found = {}
    for section in sorted({document.sections[0] for document in documents if document.sections}):
        pattern = config.permalink(section)
        if pattern and (own := own_pattern(pattern, section)):
            found[section] = own
    return found


def _menu(
    config: HugoConfig, documents: tuple[HugoDocument, ...]
) -> tuple[list[dict[str, str]], tuple[Notice, ...]]:
    entries: list[tuple[float, str, str]] = []
    language = config.default_language
    for names in (("menu",), ("menus",), ("languages", language, "menu"), ("languages", language, "menus")):
        written = config.value(*names, "main")
        for entry in written if isinstance(written, list) else ():
            if isinstance(entry, Mapping):
                url = str(entry.get("url") or entry.get("pageref") or "")
                title = str(entry.get("name") or entry.get("title") or entry.get("identifier") or "")
                entries.append((_weight(entry), title, url))
    for document in documents:
        if (place := _front_menu(document)) is not None:
            title = str(place.get("name") or document.front.get("title") or document.name)
            entries.append((_weight(place), title, document.address))
    menu, notices = [], []
    known = _addresses(documents)
    for _, title, url in sorted(entries, key=lambda entry: (entry[0] == 0, entry[0])):
        target = _target(url, config, known)
        if target and title:
            menu.append({"title": title, "url": target})
        else:
            hint = "menus name pages of this site, or web addresses"
            notices.append(Notice("dropped", f'menu entry "{title or url}" leads nowhere here', hint=hint))
    return menu, tuple(notices)


def _front_menu(document: HugoDocument) -> Mapping[str, Any] | None:
    """What a page says of its place in the main menu; None if it has none."""
    written = document.front.get("menu") or document.front.get("menus")
    if written == "main" or (isinstance(written, list) and "main" in written):
        return {}
    if isinstance(written, Mapping) and "main" in written:
        place = written["main"]
        return place if isinstance(place, Mapping) else {}
    return None


def _weight(entry: Mapping[str, Any]) -> float:
    weight = entry.get("weight")
    return float(weight) if isinstance(weight, (int, float)) else 0.0


def _addresses(documents: Iterable[HugoDocument]) -> frozenset[str]:
    found = set(_MADE)
    for document in documents:
        found.add(document.address)
        sections = document.sections
        found |= {
            "/" + "".join(f"{each}/" for each in sections[:count]) for count in range(1, len(sections) + 1)
        }
    return frozenset(found)


def _target(url: str, config: HugoConfig, known: frozenset[str]) -> str:
    """Where a menu entry leads on the new site; empty if there is nothing."""
    parts = urlsplit(url)
    if parts.netloc and not url.startswith(config.text("baseurl").rstrip("/") or "\0"):
        return url if parts.scheme in ("http", "https") else ""
    path = parts.path.removeprefix(config.base_path) if config.base_path else parts.path
    path = "/" + path.removesuffix(".md").strip("/")
    path = path if path.endswith((".html", "/")) else f"{path}/"
    path = _OTHER_NAMES.get(path, path)
    return path if path in known and not parts.fragment else ""
