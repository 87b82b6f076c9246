"""Names of languages that authors write instead of a tag, in English and in the language itself."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_NAMES = (
    "ar Arabic|bn Bengali|bg Bulgarian|ca Catalan català|cs Czech čeština|da Danish dansk|de German deutsch|"
    "el Greek ελληνικά|en English|es Spanish español castellano|et Estonian eesti|fa Persian farsi|"
    "fi Finnish suomi|fr French français francais|he Hebrew|hi Hindi|hr Croatian hrvatski|"
    "hu Hungarian magyar|id Indonesian|it Italian italiano|ja Japanese 日本語|ko Korean 한국어|lt Lithuanian|"
    "lv Latvian|nb Norwegian norsk|nl Dutch nederlands|pl Polish polski|pt Portuguese português portugues|"
    "ro Romanian română|ru Russian русский|sk Slovak slovenčina|sl Slovenian slovenščina|sr Serbian|"
    "sv Swedish svenska|th Thai|tr Turkish türkçe|uk Ukrainian українська|vi Vietnamese|zh Chinese 中文"
)

LANGUAGE_TAGS: Mapping[str, str] = MappingProxyType(
    {name.casefold(): tag for tag, *names in (entry.split() for entry in _NAMES.split("|")) for name in names}
)
"""Name of a language, in lower case → its tag."""

LONGEST_SUBTAG = 3
"""Maximum length of the first part of a language tag. RFC 5646 allows four letters too, but no tag uses
them."""
