"""The languages that come with blogsmith, `<tag>.yaml` in this folder, and the language of a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from ..base.diagnostics.model import Reporter
from ..base.patterns import lazy_pattern
from .language import ENGLISH, Language, Translation
from .language_file import read_language

_FOLDER = Path(__file__).parent
_SOURCE = "en"
_CALL = lazy_pattern(r"\bt\(\s*([\"'])((?:\\.|(?!\1)[^\\])*)\1")


def bundled_tags() -> tuple[str, ...]:
    """The languages there are, English among them, sorted."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.yaml")))


@lru_cache(maxsize=64)
def bundled_texts(tag: str) -> Mapping[str, Translation]:
    """English text → translation; empty for a language that is not there."""
    file = _FOLDER / f"{tag}.yaml"
    # a tag comes from a page's head and has letters, digits and hyphens only
    if not file.is_file():
        return {}
    reporter = Reporter(file.name)
    texts = read_language(file.read_text(encoding="utf-8"), reporter)
    assert not reporter.diagnostics, "tests read them all"
    return texts


def printed_texts(templates: Iterable[str]) -> frozenset[str]:
    """English texts that pages may hold: those of blogsmith, and those that templates ask `t` for."""
    own = {found[2].replace("\\", "") for text in templates for found in _CALL.finditer(text)}
    return frozenset((*bundled_texts(_SOURCE), *own))


def find_language(tag: str, own: Mapping[str, Mapping[str, Translation]]) -> Language:
    """The language of pages with this BCP 47 tag: `de-at`, filled up from `de`, then from English.

    own: tag in lower case → what a site and its theme say in place of what is bundled, or beside it.
    """
    tag = tag.lower()
    subtags = tag.split("-")
    tags = ["-".join(subtags[: end + 1]) for end in range(len(subtags))]
    if subtags[0] == _SOURCE and not any(part in own for part in tags):
        return ENGLISH
    texts: dict[str, Translation] = {}
    for part in tags:
        texts |= bundled_texts(part) if part != _SOURCE else {}
        texts |= own.get(part, {})
    return Language(tag, texts)
