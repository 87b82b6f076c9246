"""Settings of the new site that are made from old settings, templates and pages, in the same way for all
systems.

These settings are comments at giscus or utterances, bundled plugins, and links to accounts of authors. The
report names each old setting without a counterpart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from ..api.importing import lazy_pattern, name_set
from .model import ImportedPage, Notice, OldSettings, SiteImport
from .source_files import read_text, walk_files
from .text.data import DataForm, DataTextError, as_list, load_data, load_yaml, one_line
from .text.segments import CODE, mask
from .verify.site import Leaf, NewValues, is_content, is_named, leaves, lost_settings, site_values

_FOLDERS = name_set("_includes _layouts layouts overrides partials")
_SUFFIXES = frozenset((".html", ".liquid", ".htm", ".jinja", ".j2"))
_MOST_FILES = 2000
_DEEPEST = 6
_SCRIPT = lazy_pattern(
    r"<script\b[^<>]*\bsrc=[\"']https://(giscus\.app|utteranc\.es)/client\.js[\"'][^<>]*>"
    r"|<script\b[^<>]*https://(giscus\.app|utteranc\.es)/client\.js[^<>]*>"
)
_ATTRIBUTE = lazy_pattern(r"\b(?:data-)?([a-z-]+)=[\"']([^\"'<>{}]*)[\"']")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "repo": ("repo", "repository"),
    "repo_id": ("repoid",),
    "category": ("category", "categoryname"),
    "category_id": ("categoryid",),
    "label": ("label",),
}
"""Field of the setting `comments` → names of this field in other systems, without `-` and `_`."""
_REQUIRED_FIELDS = {"giscus": ("repo", "repo_id", "category", "category_id"), "utterances": ("repo",)}
_SWITCH = "giscus_comments"
"""Front matter key of al-folio that enables comments."""


def add_comments(site: SiteImport) -> SiteImport:
    """Add the comment service of the old site to the new settings, for the pages that had comments."""
    values = [old.values for old in site.old_settings]
    found = next(filter(None, (*map(_from_settings, values), _from_templates(site.root, values))), None)
    if not found or "comments" in site.settings:
        return replace(site, notices=(*site.notices, *_other_comments(site)))
    is_opt_in = any(page.old_front.get(key) is True for page in site.pages for key in ("comments", _SWITCH))
    pages = tuple(_with_switch(page) for page in site.pages) if is_opt_in else site.pages
    return replace(site, settings={**site.settings, "comments": found}, pages=pages)


_OTHER_COMMENTS = ("disqus", "isso", "commento", "remark42", "cusdis", "waline", "twikoo", "gitalk", "valine")


def _other_comments(site: SiteImport) -> Iterator[Notice]:
    """Yield a notice for each comment service in old settings that blogsmith does not support."""
    for old in site.old_settings:
        names = {
            str(key): None
            for _, each in (((), old.values), *_mappings(old.values, (), 0))
            for key, value in each.items()
            if value and not isinstance(value, bool) and str(key).casefold().startswith(_OTHER_COMMENTS)
        }
        for key in names:
            hint = "set `comments` to giscus or utterances; the service can often export old comments"
            message = f'unknown comment service in setting "{key}"'
            yield Notice("dropped", message, old.file, hint=hint)


def _with_switch(page: ImportedPage) -> ImportedPage:
    """Return the page with `comments: true` if it has the old key `giscus_comments: true`. A post with
    neither key gets `comments: false`."""
    if page.old_front.get(_SWITCH) is True:
        return replace(page, front={**page.front, "comments": True})
    is_post = len(page.path.parts) > 2 and page.path.stem != "_index"
    if "comments" in page.front or not is_post:
        return page
    return replace(page, front={**page.front, "comments": False})


def _from_settings(values: Mapping[str, Any]) -> dict[str, str] | None:
    for path, each in _mappings(values, (), 0):
        provider = next((name for name in _REQUIRED_FIELDS if name in path[-1:]), "")
        around = {"repository": values.get("repository"), **each}
        if provider and (found := _settings(provider, around)):
            return found
    return None


def _mappings(
    data: Mapping[str, Any], path: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    for key, value in data.items() if depth < _DEEPEST else ():
        if isinstance(value, Mapping):
            inner = (*path, str(key).casefold())
            yield inner, value
            yield from _mappings(value, inner, depth + 1)


def _settings(provider: str, fields: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the value of the new setting `comments`. Return None if a field that the provider requires is
    missing."""
    folded = {re.sub("[-_]", "", str(key)).casefold(): value for key, value in fields.items()}
    found = {
        name: str(value)
        for name, others in _FIELDS.items()
        if (value := next((folded[other] for other in others if folded.get(other)), None))
        and (name != "label" or provider == "utterances")
    }
    owner = folded.get("owner")
    if owner and "/" not in found.get("repo", "/"):
        found["repo"] = f"{owner}/{found['repo']}"
    if not all(name in found for name in _REQUIRED_FIELDS[provider]):
        return None
    shown = (name for name in found if name in _REQUIRED_FIELDS[provider] or name == "label")
    is_by_title = folded.get("mapping", folded.get("issueterm")) in ("title", "og:title")
    mapping = {"mapping": "title"} if is_by_title else {}
    return {"provider": provider, **{name: found[name] for name in shown}, **mapping}


def templates(root: Path) -> Iterator[str]:
    """Yield the sources of the old site's layouts, and of all template files at the top level."""
    every = walk_files(root) if root.is_dir() else ()
    # files at the top are headers of Quarto
    paths = (
        each
        for each in every
        if each.suffix in _SUFFIXES and (len(each.parts) == 1 or not _FOLDERS.isdisjoint(each.parts))
    )
    yield from (read_text(root / path) or "" for path in islice(paths, _MOST_FILES))


def _from_templates(root: Path, values: Iterable[Mapping[str, Any]]) -> dict[str, str] | None:
    names = {key: value for each in values for key, value in each.items() if isinstance(value, str)}
    for text in templates(root):
        for script in _SCRIPT.finditer(text):
            provider = "giscus" if "giscus.app" in script[0] else "utterances"
            fields = {"repository": names.get("repository"), **dict(_ATTRIBUTE.findall(script[0]))}
            if found := _settings(provider, fields):
                return found
    return None


_FENCE = lazy_pattern(
    r"(?m)^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,})[ \t]*(mermaid|dot|graphviz)\b"
)
_FENCES = {"mermaid": "mermaid", "dot": "graphviz", "graphviz": "graphviz"}
_PROSE = {
    "hf_space": lazy_pattern(r"<div\b[^<>]*\bclass=[\"']?[^\"'<>]*\bhf-space\b|\{%-?\s*hf-space\b"),
    "emoji_callouts": lazy_pattern(
        r"(?im)"
        r"^[ \t>]*(?:[-*+][ \t]+)?[*_]*(?:💡[ ]*[*_]*(?:key insight|analogy)|🔬[ ]*[*_]*research insight)\b"
    ),
}
"""Plugin → pattern. If the pattern matches text outside of code, the site needs the plugin."""


def add_plugins(site: SiteImport) -> SiteImport:
    """Add the plugins that pages of the import need."""
    plugins = {*site.settings.get("plugins", ()), *find_plugins(page.text for page in site.pages)}
    return replace(site, settings={**site.settings, "plugins": sorted(plugins)}) if plugins else site


def keep_marks(site: SiteImport) -> SiteImport:
    """Add the setting that keeps combining marks in URLs and ids, because the importers' `slugify` keeps
    them."""
    ids = site.settings.get("slugs")
    slugs = {**({"ids": ids} if ids else {}), "marks": "keep"}
    return replace(site, settings={**site.settings, "slugs": slugs})


def find_plugins(texts: Iterable[str]) -> list[str]:
    """Return the names of bundled plugins that these documents need, sorted."""
    found: set[str] = set()
    for text in texts:
        found |= {_FENCES[each[1]] for each in _FENCE.finditer(text)}
        wanted = [name for name, pattern in _PROSE.items() if pattern.search(text)]
        prose = mask(text, kinds=CODE).text if wanted else ""
        found |= {name for name in wanted if _PROSE[name].search(prose)}
    return sorted(found)


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
"""Name of a service → its title, and the pattern of account URLs. The pattern is empty if old settings
contain the whole URL."""
_PLACES = name_set("social author params params.social params.author extra.social socials social_links")
"""Mappings and lists of settings that may contain accounts, in addition to the top level."""
_LISTS = ("links", "socialicons", "social", "social_links", "socials")
_SUFFIX = lazy_pattern(r"[_-]?(?:user_?name|user_?id|id|handle|url|profile)\Z")
_HANDLE = lazy_pattern(r"@?([\w.-]{1,60})")
_URL = lazy_pattern(r"https?://[^\s<>\"']+")
_EMAIL = lazy_pattern(r"(?:mailto:)?([^\s@<>]+@[^\s@<>]+\.\w+)")
_TITLES = ("title", "name", "label", "icon", "text")
_MAX_LINKS = 12


_PROFILE_LINKS = {
    title: name
    for name, (title, _) in _HOSTS.items()
    if name in ("github", "scholar", "orcid", "mastodon", "bluesky", "linkedin")
}
"""Title of a service → its field in `person.links`."""


def add_social_links(site: SiteImport) -> SiteImport:
    """Add the accounts in old settings to the profile or the menu, and e-mail addresses to the profile or the
    footer."""
    found: dict[str, str] = {}
    emails: dict[str, None] = {}
    for old in site.old_settings:
        for title, address in _accounts(old.values):
            if email := _EMAIL.fullmatch(address):
                emails.setdefault(email[1])
            elif len(found) < _MAX_LINKS:
                found.setdefault(address, title)
    settings = dict(site.settings)
    if "person" in settings:
        own = {_PROFILE_LINKS[title]: url for url, title in found.items() if title in _PROFILE_LINKS}
        links = {**({"mail": next(iter(emails))} if emails else {}), **own}
        settings["person"] = {**settings["person"], **({"links": links} if links else {})}
        found, emails = {url: title for url, title in found.items() if url not in own.values()}, {}
    menu = as_list(settings.get("menu") or _sections(site))
    known = {str(entry["url"]).rstrip("/") for entry in menu}
    entries = [{"title": title, "url": url} for url, title in found.items() if url.rstrip("/") not in known]
    if entries:
        settings["menu"] = [*menu, *entries]
    if emails and "theme_options" not in settings:
        names = filter(None, [str(settings.get("author", "")), *emails])
        settings["theme_options"] = {"footer": " · ".join(names)}
    return replace(site, settings=settings)


def _sections(site: SiteImport) -> list[dict[str, str]]:
    """Return a menu with one entry for each section, as blogsmith shows it by default."""
    titles: dict[str, str] = {}
    for page in site.pages:
        # a folder that contains only folders has no page of its own
        folder = page.path.parts[1] if len(page.path.parts) == 3 else ""
        if folder and not page.front.get("lang"):
            titles.setdefault(folder, folder.replace("-", " ").replace("_", " ").capitalize())
            if page.path.parts[2:] == ("_index.md",):
                titles[folder] = str(page.front.get("title") or titles[folder])
    return [{"title": title, "url": f"/{folder}/"} for folder, title in sorted(titles.items())]


def _accounts(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _named_accounts(values)
    for place in sorted(_PLACES):
        data: Any = values
        for key in place.split("."):
            data = data.get(key) if isinstance(data, Mapping) else None
        if isinstance(data, Mapping):
            yield from _named_accounts(data)
        for each in as_list(data) if isinstance(data, list) else ():
            yield from _listed_account(each)


def _named_accounts(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        name = _SUFFIX.sub("", str(key).casefold())
        if key in _LISTS and isinstance(value, list):
            for each in value:
                yield from _listed_account(each)
        if name == "custom_social" and isinstance(value, Mapping):
            yield from _listed_account(value)
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


LOST_SETTINGS_MESSAGE = "settings without a counterpart"
LOST_DATA_MESSAGE = "data without a counterpart"
LOST_MESSAGES = (LOST_SETTINGS_MESSAGE, LOST_DATA_MESSAGE)
"""Start of messages about old settings and data that have no counterpart."""
_HINT = "add values that readers should see to a page or a theme"
_TOOLS = name_set(
    "markdown highlighter kramdown sass plugins gems whitelist incremental safe lsi keep_files "
    "encoding theme remote_theme port host livereload liquid paginate paginate_path pagination "
    "compress_html rouge build minify markup outputs outputformats mediatypes security imaging "
    "privacy services caches server deployment summarylength enablegitinfo enablerobotstxt "
    "enableinlineshortcodes builddrafts buildfuture buildexpired module markdown_extensions extra_css "
    "extra_javascript watch validation strict dev_addr project format execute knitr jupyter "
    "editor sphinx parse launch_buttons latex extensions html_theme html_theme_options "
    "version navbar_fixed footer_fixed back_to_top last_updated max_width lazy_loading_images imagemagick "
    "terser jekyll-minifier third_party_libraries serve_og_meta serve_schema_org search_enabled "
    "socials_in_search posts_in_search bib_search repo_theme_light repo_theme_dark keywords jsonresume "
    "filtered_bibtex_keywords external_links jekyll_get_json"
)
"""Settings that only control an old system or its theme, for all systems; in lower case."""


def report_lost_settings(site: SiteImport) -> SiteImport:
    """Add notices about old settings that are missing in the new site."""
    new = site_values(site, site.settings)
    notices = [notice for old in site.old_settings for notice in _notices(old, new, site)]
    notices += _unused_data(site, new)
    return replace(site, notices=(*site.notices, *notices))


def _unused_data(site: SiteImport, new: NewValues) -> Iterator[Notice]:
    """Yield a notice for each old data file if none of its values is in the new site."""
    named = {old.file for old in site.old_settings}
    made = {file.path.stem for file in site.made}
    for folder in _DATA_FOLDERS.get(site.system, ()):
        paths = walk_files(site.root / folder) if (site.root / folder).is_dir() else ()
        for path in islice((path for path in paths if path.suffix in _DATA_FORMS), _MOST_FILES):
            source = f"{folder}/{path}"
            is_used = source in named or path.stem in made
            if not is_used and not _is_shown(site.root / source, _DATA_FORMS[path.suffix], new):
                yield Notice("dropped", f'{LOST_DATA_MESSAGE}: "{path}"', source, hint=_HINT)


def _is_shown(file: Path, form: DataForm, new: NewValues) -> bool:
    text = read_text(file) or ""
    try:
        data = load_yaml(text) if form == "yaml" else load_data(text, form)
    except DataTextError:
        data = {}
    every = [Leaf(leaf.path, str(leaf.value)) for leaf in leaves(data)]
    sentences = [leaf for leaf in every if is_content(leaf.value)]
    return any(new.site.has(leaf, ()) for leaf in sentences or every)


_DATA_FOLDERS = {"hugo": ("data",), "jekyll": ("_data",)}
_DATA_FORMS: Mapping[str, DataForm] = {".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json"}


def _notices(old: OldSettings, new: NewValues, site: SiteImport) -> Iterator[Notice]:
    known = [notice.message for notice in site.notices if notice.source in (old.file, "")]
    left = [path for path in lost_settings(old, new) if not is_named(path, known)]
    heads = {path: path.casefold().partition(".")[0] for path in left}
    tools = [path for path, head in heads.items() if head in _TOOLS or head.startswith("enable_")]
    for what, paths, hint in (
        (LOST_SETTINGS_MESSAGE, [path for path in left if path not in tools], _HINT),
        ("settings that only control the old system", tools, ""),
    ):
        if paths:
            names = ", ".join(f'"{path}"' for path in paths)
            yield Notice("dropped", f"{what}: {names}", old.file, hint=hint)
