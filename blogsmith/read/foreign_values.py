"""Values that another generator gives a key of ours: what is meant is read, the rest is a warning.

Of such a value nothing of the page depends but its look, so no author has to mend it before the first
build. Keys that say whether a page is published at all are another matter: see `draft_status.py`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..base.schema.forms import FLAG, TEXT, accepts, either, one_of
from ..base.schema.readers import TRUTHS, Reader, any_of, one_line, text
from ..base.schema.slots import Slot

CODE = "front-matter-unknown"
_SENTENCE_ENDS = (".", "!", "?", ":", ";", "…", ",")
_MEANT_TRUE = "true"
_LIST_HINT = "write it as one text; a text that begins with [ needs quotes"
_PATHS = ("path", "src", "url", "feature")
"""Keys of a picture that is given as a mapping: Chirpy's, al-folio's, Hugo themes'."""


def warn_of_value(slot: Slot, must: str, hint: str = "") -> None:
    """Say that the value means nothing here. must: what it had to be."""
    shown = one_line(slot)
    what = f'"{shown}"' if shown else "this value"
    slot.warn(CODE, f"{slot.name} must be {must}; {what} changes nothing", hint)


def lenient_flag(hint: str = "") -> Reader:
    """True or false; the words of older YAML as they are meant, anything else is warned of."""

    @accepts(FLAG)
    def read(slot: Slot) -> bool | None:
        if isinstance(slot.value, bool):
            return slot.value
        meant = TRUTHS.get(str(slot.value).strip().casefold())
        if meant is None:
            warn_of_value(slot, "true or false", hint)
            return None
        fix = slot.rewrite(meant, is_safe=True)
        slot.warn(CODE, f"{slot.name} must be true or false", f"write {meant}", fix)
        return meant == _MEANT_TRUE

    return read


def lenient_choice(choices: Iterable[str]) -> Reader:
    """One of a few words; others are warned of."""
    known = tuple(choices)

    @accepts(one_of(known))
    def read(slot: Slot) -> str | None:
        if isinstance(slot.value, str) and slot.value.strip().casefold() in known:
            return slot.value.strip().casefold()
        warn_of_value(slot, any_of(known))
        return None

    return read


@accepts(TEXT)
def lenient_text(slot: Slot) -> str:
    """A text on one line; of a list its entries together."""
    if isinstance(slot.value, list):
        return _join(slot)
    return text(slot)


def _join(slot: Slot) -> str:
    """Sentences one behind the other, words with commas between them."""
    entries = [slot.at(index) for index in range(len(slot.value))]
    found = [line for entry in entries if (line := one_line(entry))]
    if len(found) < len(entries):
        slot.wrong(f"{slot.name} must be a text")
        return ""
    slot.warn(CODE, f"{slot.name} is a list and read as one text", _LIST_HINT)
    return "".join(
        line if at == len(found) - 1 else f"{line} " if line.endswith(_SENTENCE_ENDS) else f"{line}, "
        for at, line in enumerate(found)
    )


_PICTURE = {"type": "object", "anyOf": [{"required": [key]} for key in _PATHS]}


@accepts(either(TEXT, _PICTURE))
def picture_path(slot: Slot) -> str:
    """The path of a picture; of a mapping that says more of it, the path alone."""
    if not isinstance(slot.value, dict):
        return lenient_text(slot)
    key = next((key for key in _PATHS if isinstance(slot.value.get(key), str)), "")
    if key:
        return lenient_text(slot.at(key))
    slot.wrong(f"{slot.name} must be a path", "write `image: picture.png`")
    return ""
