"""Native name and writing direction of a language, found by its tag.

Names and directions are from Unicode's CLDR 47 (`CLDR-LICENSE.txt` in this folder). Names begin with a
capital letter, because pages show them alone, not in a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias

Direction: TypeAlias = Literal["ltr", "rtl"]

_RIGHT_TO_LEFT = (
    "apc ar arc arz bal bgn ckb dv fa glk he iw ks lrc mzn nqo pnb prs ps rhg sd sdh skr syr trw ug ur yi"
)
_SCRIPTS_RIGHT_TO_LEFT = "adlm arab hebr mand mend nkoo rohg samr syrc thaa"
_SCRIPT_LETTERS = 4

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "af": "Afrikaans",
        "ar": "العربية",
        "az": "Azərbaycan",
        "be": "Беларуская",
        "bg": "Български",
        "bn": "বাংলা",
        "bs": "Bosanski",
        "ca": "Català",
        "cs": "Čeština",
        "cy": "Cymraeg",
        "da": "Dansk",
        "de": "Deutsch",
        "el": "Ελληνικά",
        "en": "English",
        "eo": "Esperanto",
        "es": "Español",
        "et": "Eesti",
        "eu": "Euskara",
        "fa": "فارسی",
        "fi": "Suomi",
        "fil": "Filipino",
        "fr": "Français",
        "ga": "Gaeilge",
        "gl": "Galego",
        "he": "עברית",
        "hi": "हिन्दी",
        "hr": "Hrvatski",
        "hu": "Magyar",
        "hy": "Հայերեն",
        "id": "Indonesia",
        "is": "Íslenska",
        "it": "Italiano",
        "ja": "日本語",
        "ka": "Ქართული",
        "kk": "Қазақ тілі",
        "kn": "ಕನ್ನಡ",
        "ko": "한국어",
        "lt": "Lietuvių",
        "lv": "Latviešu",
        "mk": "Македонски",
        "ml": "മലയാളം",
        "mn": "Монгол",
        "mr": "मराठी",
        "ms": "Melayu",
        "my": "မြန်မာ",
        "nb": "Norsk bokmål",
        "ne": "नेपाली",
        "nl": "Nederlands",
        "nn": "Norsk nynorsk",
        "no": "Norsk",
        "pa": "ਪੰਜਾਬੀ",
        "pl": "Polski",
        "ps": "پښتو",
        "pt": "Português",
        "ro": "Română",
        "ru": "Русский",
        "si": "සිංහල",
        "sk": "Slovenčina",
        "sl": "Slovenščina",
        "sq": "Shqip",
        "sr": "Српски",
        "sv": "Svenska",
        "sw": "Kiswahili",
        "ta": "தமிழ்",
        "te": "తెలుగు",
        "th": "ไทย",
        "tr": "Türkçe",
        "uk": "Українська",
        "ur": "اردو",
        "uz": "O‘zbek",
        "vi": "Tiếng Việt",
        "yi": "ייִדיש",
        "zh": "中文",
        "zh-hans": "中文 (简体)",
        "zh-hant": "中文 (繁體)",
        "pt-br": "Português (Brasil)",
        "pt-pt": "Português (Portugal)",
        "en-gb": "English (United Kingdom)",
        "en-us": "English (United States)",
        "fr-ca": "Français (Canada)",
        "de-at": "Deutsch (Österreich)",
        "de-ch": "Deutsch (Schweiz)",
        "es-mx": "Español (México)",
    }
)


@lru_cache(maxsize=256)
def writing_direction(tag: str) -> Direction:
    """Return `rtl` for languages that are written from right to left, such as Arabic. A script in the tag
    takes precedence: `az-Arab`, `ks-Deva`."""
    language, *others = tag.lower().split("-")
    script = next((part for part in others if len(part) == _SCRIPT_LETTERS and part.isalpha()), "")
    is_rtl = script in _SCRIPTS_RIGHT_TO_LEFT.split() if script else language in _RIGHT_TO_LEFT.split()
    return "rtl" if is_rtl else "ltr"


def is_listed(tag: str) -> bool:
    """Return whether the table has a name for this tag."""
    return tag.lower() in _NAMES


def language_name(tag: str) -> str:
    """Return the native name of a language, such as `Deutsch` for `de`. For an unknown language, return the
    tag."""
    parts = tag.lower().split("-")
    tags = ("-".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((_NAMES[part] for part in tags if part in _NAMES), tag)
