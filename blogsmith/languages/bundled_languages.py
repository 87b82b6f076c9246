"""Bundled languages, which are the files `<tag>.yaml` in this folder. Also finds the language of a page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..base.diagnostics.model import Reporter, format_suggestion, list_choices, nearest
from ..base.patterns import lazy_pattern
from ..base.schema import yaml_loader as loader
from .language import ENGLISH, Language, Translation, placeholder_names
from .plurals import FORMS

_FOLDER = Path(__file__).parent
_SOURCE = "en"
_CALL = lazy_pattern(r"\bt\(\s*([\"'])((?:\\.|(?!\1)[^\\])*)\1")


def bundled_tags() -> tuple[str, ...]:
    """Return the tags of the bundled languages, including English, sorted."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.yaml")))


@lru_cache(maxsize=64)
def bundled_texts(tag: str) -> Mapping[str, Translation]:
    """Return English text → translation for a bundled language; empty if the language is not bundled."""
    file = _FOLDER / f"{tag}.yaml"
    # Safe as a file name: a tag from front matter contains only letters, digits and hyphens.
    if not file.is_file():
        return {}
    reporter = Reporter(file.name)
    texts = read_language(file.read_text(encoding="utf-8"), reporter)
    assert not reporter.diagnostics, "tests read them all"
    return texts


def printed_texts(templates: Iterable[str]) -> frozenset[str]:
    """Return all English strings that pages may print, including arguments of `t` in templates."""
    own = {found[2].replace("\\", "") for text in templates for found in _CALL.finditer(text)}
    return frozenset((*bundled_texts(_SOURCE), *own))


def find_language(tag: str, own: Mapping[str, Mapping[str, Translation]]) -> Language:
    """Return the language of pages with this BCP 47 tag. For `de-at`, fall back to `de`, then to English.

    own: translations of the site and its theme, by tag in lower case. They override the bundled ones.
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


# Translation files contain lines `English text: translation`. A translation uses the placeholders of the
# English text.


_BRACES = lazy_pattern(r"\{([^{}]*)\}")


def read_language(
    text: str, reporter: Reporter, known: Collection[str] | None = None
) -> dict[str, Translation]:
    """Return English text → translation for the content of a file. Report errors and skip invalid entries.
    known: English strings that pages print. Any other key causes a warning; if `known` is None, all keys are
    allowed."""
    located = loader.load(text, reporter)
    if located is None or located.value is None:
        return {}
    if not isinstance(located.value, dict):
        is_list_of_pairs = isinstance(located.value, list) and any(
            isinstance(one, dict) for one in located.value
        )
        hint = (
            "remove the `- ` before each line"
            if is_list_of_pairs
            else "write the English string before each translation, such as `Contents: Inhalt`"
        )
        message = "invalid language file: expected English strings with translations"
        reporter.error("language-value", message, located.places.get(()), hint)
        return {}
    found: dict[str, Translation] = {}
    for key, value in located.value.items():
        if known is not None and key not in known:
            near, place = nearest(key, known), located.key_places.get((key,))
            hint = (
                format_suggestion(near)
                or "see the list of all strings in the manual, under Configuration, Languages"
            )
            fix = reporter.correct(place, key, near)
            reporter.warn("language-key", f'unknown key "{key}": no page uses this string', place, hint, fix)
        if _is_valid(key, value, located, reporter):
            found[key] = value
    return found


def _is_valid(key: str, value: Any, located: loader.Located, reporter: Reporter) -> bool:
    place = located.places.get((key,))
    if isinstance(value, str):
        return _has_known_placeholders(key, value, (key,), located, reporter)
    if not isinstance(value, Mapping):
        hint = f'write `"{value}"`' if isinstance(value, int | float) else "write the translation in quotes"
        reporter.error("language-value", f'invalid translation of "{key}": expected a string', place, hint)
        return False
    for form, translation in value.items():
        if form not in FORMS or not isinstance(translation, str):
            near = nearest(form, FORMS) if form not in FORMS else None
            hint = format_suggestion(near) or _FORMS_HINT
            is_unknown, place = form not in FORMS, located.key_places.get((key, form))
            message = f'unknown plural form "{form}"' if is_unknown else f'"{form}" must be a string'
            fix = reporter.correct(place, form, near)
            reporter.error("language-value", message, place, hint, fix)
            return False
        if not _has_known_placeholders(key, translation, (key, form), located, reporter):
            return False
    if "other" not in value:
        reporter.error("language-value", f'missing plural form "other" for "{key}"', place, _FORMS_HINT)
        return False
    return True


_FORMS_HINT = "write `other: …`, and any of " + ", ".join(f"`{form}`" for form in FORMS if form != "other")


def _has_known_placeholders(
    key: str, translation: str, path: loader.YamlPath, located: loader.Located, reporter: Reporter
) -> bool:
    allowed = placeholder_names(key)
    # `{minutes.x}` is never a placeholder and would be printed unchanged.
    unknown = sorted(set(_BRACES.findall(translation)) - allowed)
    if not unknown:
        return True
    near, place = nearest(unknown[0], allowed), located.places.get(path)
    hint = (
        format_suggestion(near and f"{{{near}}}")
        or list_choices(f"{{{name}}}" for name in sorted(allowed))
        or "remove it: the string has no placeholders"
    )
    message = f'unknown placeholder "{{{unknown[0]}}}" in the translation of "{key}"'
    fix = reporter.correct(place, f"{{{unknown[0]}}}", near and f"{{{near}}}")
    reporter.error("language-value", message, place, hint, fix)
    return False
