"""Texts of links that say nothing of where they lead, in the languages that pages come in.

All of them hold on every page: who writes German quotes English. A text is compared in lower case, without
the signs at its ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_BY_LANGUAGE: Mapping[str, str] = MappingProxyType(
    {
        "en": "here | click here | click | see here | right here | over here | this | this one | link"
        " | this link | the link | more | read more | this page | this site | this website | this url | url",
        "de": "hier | klick | klicke hier | klicken sie hier | hier klicken | siehe hier | dieser link | mehr"
        " | weiterlesen | mehr lesen | diese seite",
        "fr": "ici | cliquez ici | cliquer ici | ce lien | lien | le lien | lire la suite | cette page",
        "es": "aquí | haz clic aquí | haga clic aquí | este enlace | enlace | leer más | más | esta página",
        "it": "qui | clicca qui | questo link | leggi tutto | di più | questa pagina",
        "pt": "aqui | clique aqui | este link | ler mais | leia mais | mais | esta página",
        "nl": "klik hier | deze link | lees meer | meer | deze pagina",
        "pl": "tutaj | tu | kliknij tutaj | ten link | czytaj więcej | więcej | ta strona",
        "ru": "здесь | тут | нажмите здесь | ссылка | эта ссылка | читать далее | подробнее",
        "ja": "ここ | こちら | ここをクリック | このリンク | リンク | 続きを読む",
        "zh": "这里 | 這裡 | 此处 | 此處 | 点击这里 | 點擊這裡 | 点此 | 链接 | 鏈接 | 連結 | 更多 | 阅读更多",
        "ar": "هنا | انقر هنا | اضغط هنا | هذا الرابط | رابط | المزيد | اقرأ المزيد",
    }
)
"""Language → its phrases."""
_PHRASES = frozenset(phrase.strip() for phrases in _BY_LANGUAGE.values() for phrase in phrases.split("|"))
_SIGNS = " \t\n.,:;!?…()[]\"'“”„‘’«»→⇒»›>↗-–—"


def says_nothing(text: str) -> bool:
    """Whether a text of a link is one of those that could lead anywhere."""
    return " ".join(text.split()).strip(_SIGNS).casefold() in _PHRASES
