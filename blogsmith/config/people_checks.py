"""Checks of the settings of people. They are not in `people.py`, because they load the reader of YAML, which
the structs there do not need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ..base.patterns import lazy_pattern
from ..base.schema.records import Check, keys, shaped, unless_empty, values
from .people import ProfileLinks

_KINDS = tuple(name for name in ProfileLinks.__struct_fields__ if name != "orcid")
_HTTP = r"https?://[^\s<>\"]+"
_NAME_OR_URL = shaped(
    lazy_pattern(rf"{_HTTP}|@?[\w.-]+"), "user name", "write the user name, or the URL of the profile"
)
_KEY = lazy_pattern(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def _checks() -> Iterator[tuple[str, Check]]:
    mail = shaped(
        lazy_pattern(r"[^\s@<>\":/?]+@[^\s@<>\":/?]+"), "mail address", "write it as in `ann@example.org`"
    )
    mastodon = shaped(
        lazy_pattern(rf"{_HTTP}|@?\w[\w.-]*@[\w.-]+"), "Mastodon name", "write it as in `@ann@mathstodon.xyz`"
    )
    website = shaped(lazy_pattern(_HTTP), "URL", "write a URL such as `https://example.org/`")
    own = {"mail": mail, "mastodon": mastodon, "website": website}
    for person in ("person", "authors"):
        for kind in _KINDS:
            yield f"{person}.links.{kind}", unless_empty(own.get(kind, _NAME_OR_URL))
    yield "coauthors", values(website)
    yield "authors", keys(shaped(_KEY, "key of an author", "write lower-case letters, digits and `-`"))


PEOPLE_CHECKS: Mapping[str, Check] = MappingProxyType(dict(sorted(_checks())))
"""Setting of a person → its check, as in `CHECKS` of `validate.py`. ORCID iDs are not checked here."""
