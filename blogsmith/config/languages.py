"""Languages of a site: the language of each file, the URLs of its pages, and the settings that apply to them.

A site with `languages:` has pages in several languages. Pages in its default language, `lang`, are at the
root. Pages in the other languages are under a path of their own, such as `/de/`. The language of a file is
set by its name (`post.de.md`, `index.de.md`), by a folder under `content/` (`content/de/posts/post.md`), or
by `lang` in its front matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from .schema import Config, MenuItem

CONTENT = "content"


class FileLanguage(Struct, frozen=True):
    """The language that the path of a file indicates."""

    tag: str
    """Tag, spelled as in `languages`; empty if the path has no language."""
    path: PurePosixPath
    """Path without the language: `content/posts/a.md` for `content/posts/a.de.md`."""


def language_tags(config: Config) -> tuple[str, ...]:
    """Return the tags of a site's languages, its default language first."""
    return tuple(dict.fromkeys((default_tag(config), *config.languages)))


def default_tag(config: Config) -> str:
    """Return the tag of the site's default language, spelled as in `languages` if it is listed there."""
    return _spellings_of_site(config).get(config.lang.lower(), config.lang)


def file_language(path: PurePosixPath, config: Config) -> FileLanguage:
    """Return the language that a path indicates. On a site with one language, it is always empty."""
    if not config.languages:
        return FileLanguage("", path)
    known = _spellings_of_site(config)
    name, dot, mark = path.stem.rpartition(".")
    if dot and name and mark.lower() in known:
        return FileLanguage(known[mark.lower()], path.with_name(name + path.suffix))
    parts = path.parts
    if len(parts) > 2 and parts[0] == CONTENT and parts[1].lower() in known:
        return FileLanguage(known[parts[1].lower()], PurePosixPath(CONTENT, *parts[2:]))
    return FileLanguage("", path)


def find_version(lang: str, config: Config) -> str:
    """Return the tag of the language version that a page in this language belongs to; empty for the default
    language. A page in a language that the settings do not list belongs to the default version."""
    if not config.languages or not lang or lang.lower() == config.lang.lower():
        return ""
    return _spellings_of_site(config).get(lang.lower(), "")


def version_url_prefix(edition: str, config: Config) -> str:
    """Return the URL prefix of a language version: `/de`, or an empty string for the default language."""
    if not edition:
        return ""
    return "/" + (config.languages[edition].path.strip("/") or edition.lower())


def version_config(edition: str, config: Config) -> Config:
    """Return the settings for a language version, with its language, title, description and menu."""
    chosen = config.languages.get(edition or default_tag(config))
    if chosen is None:
        return config
    menu: tuple[MenuItem, ...] = chosen.menu if edition else chosen.menu or config.menu
    return replace(
        config,
        lang=edition or config.lang,
        title=chosen.title or config.title,
        description=chosen.description or (config.description if not edition else ""),
        menu=menu,
    )


def _spellings_of_site(config: Config) -> Mapping[str, str]:
    return _map_spellings(tuple(config.languages), config.lang)


@lru_cache(maxsize=8)
def _map_spellings(tags: tuple[str, ...], own: str) -> Mapping[str, str]:
    """Map each tag in lower case to the tag as written in the settings. own: tag of the default language."""
    return {own.lower(): own} | {tag.lower(): tag for tag in tags}
