"""The languages of a site: which of them a file belongs to, where their pages lie, which settings they have.

A site with `languages:` has pages in several. Those of its own language, `lang`, lie at the root, the others
below a part of their own, `/de/`. A file says its language by its name (`post.de.md`, `index.de.md`), by the
folder under `content/` (`content/de/posts/post.md`), or by `lang` in its head.
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
    """What the path of a page says of its language."""

    tag: str
    """As `languages` names it; empty if the path says nothing."""
    path: PurePosixPath
    """The path without that: `content/posts/a.md` for `content/posts/a.de.md`."""


def language_tags(config: Config) -> tuple[str, ...]:
    """The languages of a site, its own first."""
    return tuple(dict.fromkeys((own_tag(config), *config.languages)))


def own_tag(config: Config) -> str:
    """The site's own language, as `languages` spells it if it is there."""
    return _spelling(config).get(config.lang.lower(), config.lang)


def file_language(path: PurePosixPath, config: Config) -> FileLanguage:
    """What a path says; nothing on a site with one language."""
    if not config.languages:
        return FileLanguage("", path)
    known = _spelling(config)
    name, dot, mark = path.stem.rpartition(".")
    if dot and name and mark.lower() in known:
        return FileLanguage(known[mark.lower()], path.with_name(name + path.suffix))
    parts = path.parts
    if len(parts) > 2 and parts[0] == CONTENT and parts[1].lower() in known:
        return FileLanguage(known[parts[1].lower()], PurePosixPath(CONTENT, *parts[2:]))
    return FileLanguage("", path)


def edition_of(lang: str, config: Config) -> str:
    """The part of the site that pages in a language belong to: a tag of `languages`, or empty for its own.

    lang: of a page. What is in none of the site's languages stands among the pages of its own.
    """
    if not config.languages or not lang or lang.lower() == config.lang.lower():
        return ""
    return _spelling(config).get(lang.lower(), "")


def edition_root(edition: str, config: Config) -> str:
    """What stands before the addresses of an edition: `/de`, or nothing for the site's own language."""
    if not edition:
        return ""
    return "/" + (config.languages[edition].path.strip("/") or edition.lower())


def edition_config(edition: str, config: Config) -> Config:
    """The settings as the pages of an edition have them: its language, title, description and menu."""
    chosen = config.languages.get(edition or own_tag(config))
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


def _spelling(config: Config) -> Mapping[str, str]:
    return _spelled(tuple(config.languages), config.lang)


@lru_cache(maxsize=8)
def _spelled(tags: tuple[str, ...], own: str) -> Mapping[str, str]:
    """In lower case → as it is written."""
    return {own.lower(): own} | {tag.lower(): tag for tag in tags}
