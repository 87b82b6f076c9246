"""Values that other site generators accept for keys of blogsmith: known ones are converted, others cause a
warning.

They affect only the look of a page, so authors need not correct them before the first build. Keys that decide
whether a page is published are in `draft_status.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..base.schema.forms import FLAG, TEXT, accepts, choice_form, union_form
from ..base.schema.records import TRUTHS, Reader, format_choices, one_line, text, type_hint
from ..base.schema.slots import Slot

CODE = "front-matter-unknown"
_SENTENCE_ENDS = (".", "!", "?", ":", ";", "…", ",")
_MEANT_TRUE = "true"
_LIST_HINT = "write it as one string, in quotes if it starts with `[`"
_PATHS = ("path", "src", "url", "feature")
"""Keys with the path of an image that is given as a mapping, as in Chirpy, al-folio and Hugo themes."""


def warn_about_value(slot: Slot, must: str, hint: str = "") -> None:
    """Warn that a value has no effect. must: description of the valid values."""
    shown = one_line(slot)
    what = f'"{shown}"' if shown else "this value"
    hint = hint or type_hint(must) or f"write {must}, or remove the line"
    slot.warn(CODE, f"{slot.quoted_name} must be {must}; {what} has no effect", hint)


def lenient_flag(hint: str = "", must: str = "true or false") -> Reader:
    """Return a reader of true or false, which converts the words of older YAML and warns about other
    values. must: description of the valid values."""

    @accepts(FLAG)
    def read(slot: Slot) -> bool | None:
        if isinstance(slot.value, bool):
            return slot.value
        meant = TRUTHS.get(str(slot.value).strip().casefold())
        if meant is None:
            warn_about_value(slot, must, hint)
            return None
        fix = slot.rewrite(meant, is_safe=True)
        slot.warn(CODE, f"{slot.quoted_name} must be true or false", f"write `{meant}`", fix)
        return meant == _MEANT_TRUE

    return read


def lenient_choice(choices: Iterable[str], hint: str = "") -> Reader:
    """Return a reader of one of several words, which warns about other values with this hint."""
    known = tuple(choices)

    @accepts(choice_form(known))
    def read(slot: Slot) -> str | None:
        if isinstance(slot.value, str) and slot.value.strip().casefold() in known:
            return slot.value.strip().casefold()
        warn_about_value(slot, format_choices(tuple(f'"{word}"' for word in known)), hint)
        return None

    return read


@accepts(TEXT)
def lenient_text(slot: Slot) -> str:
    """Read a string on one line. The entries of a list are joined."""
    if isinstance(slot.value, list):
        return _join(slot)
    return text(slot)


def _join(slot: Slot) -> str:
    """Join the entries of a list: with a space after a sentence, with a comma after any other entry."""
    entries = [slot.child(index) for index in range(len(slot.value))]
    found = [line for entry in entries if (line := one_line(entry))]
    if len(found) < len(entries):
        slot.report(f"{slot.quoted_name} must be a string")
        return ""
    slot.warn(CODE, f"{slot.quoted_name} must be a string; the entries of the list are joined", _LIST_HINT)
    return "".join(
        line if at == len(found) - 1 else f"{line} " if line.endswith(_SENTENCE_ENDS) else f"{line}, "
        for at, line in enumerate(found)
    )


_IMAGE_MAPPING = {"type": "object", "anyOf": [{"required": [key]} for key in _PATHS]}


@accepts(union_form(TEXT, _IMAGE_MAPPING))
def read_image_path(slot: Slot) -> str:
    """Read the path of an image, or the path in a mapping that describes an image."""
    if not isinstance(slot.value, dict):
        return lenient_text(slot)
    key = next((key for key in _PATHS if isinstance(slot.value.get(key), str)), "")
    if key:
        return lenient_text(slot.child(key))
    slot.report(f"{slot.quoted_name} must be a path", "write `image: picture.png`")
    return ""
