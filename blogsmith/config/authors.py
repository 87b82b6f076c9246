"""Names of people in the settings: the default author, keys of authors, and URLs of profiles."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from .people import Profile, ProfileLinks
from .schema import Config

_URLS: Mapping[str, str] = MappingProxyType(
    {
        "mail": "mailto:{0}",
        "website": "{0}",
        "github": "https://github.com/{0}",
        "scholar": "https://scholar.google.com/citations?user={0}",
        "orcid": "https://orcid.org/{0}",
        "mastodon": "https://{1}/@{0}",
        "bluesky": "https://bsky.app/profile/{0}",
        "linkedin": "https://www.linkedin.com/in/{0}",
    }
)
"""Kind of link → URL, with `{0}` for the name that the author writes."""


def profile_urls(links: ProfileLinks) -> list[tuple[str, str]]:
    """Return kind and URL of each link that a person has."""
    written = ((kind, getattr(links, kind)) for kind in _URLS)
    return [(kind, _profile_url(kind, name)) for kind, name in written if name]


def _profile_url(kind: str, written: str) -> str:
    if "://" in written:
        return written
    name, _, host = written.lstrip("@").partition("@" if kind == "mastodon" else " ")
    return _URLS[kind].format(name, host)


def add_people(config: Config) -> Config:
    """Return the settings with `author` and `orcids` completed from `person` and `authors`. The name of
    `person` is the default of `author`."""
    everybody = (config.person, *config.authors.values())
    if everybody == (Profile(),):
        return config
    orcids = {
        one.name: one.links.orcid.rpartition("/")[2] for one in everybody if one.name and one.links.orcid
    }
    written = config.author or config.person.name
    author = "".join(author_names((written,) if written else (), config))
    return replace(config, author=author, orcids={**orcids, **config.orcids})


def author_names(written: tuple[str, ...], config: Config) -> tuple[str, ...]:
    """Return the names of authors. Each entry of `written` is a name, or a key of `authors` in the settings,
    which is replaced by the name. If `written` is empty, return the default author of the site."""
    if not written:
        return (config.author,) if config.author else ()
    known = config.authors
    return tuple(known[name].name or name if name in known else name for name in written)


def author_key(name: str, config: Config) -> str:
    """Return the key of an author in the setting `authors`. name: name or key of the author. Empty for a
    guest, whom the setting does not list."""
    return next((key for key, one in config.authors.items() if name in (one.name, key)), "")
