"""Whether a page says that it is not to be published, in our words or in those of another generator.

What was published once cannot be taken back, so a page is held back wherever it is not clear.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..base.diagnostics.model import nearest
from ..base.patterns import lazy_pattern
from ..base.schema.readers import TRUTHS, one_line
from ..base.schema.slots import Slot
from .foreign_values import CODE

_DAY = lazy_pattern(r"\d{4}-\d{1,2}(?:-\d{1,2})?(?:\D.*)?")
_FALSE = "false"
_PRIVATE = ("draft", "private")
_FOREIGN: Mapping[str, object] = MappingProxyType(
    {
        # Obsidian Publish, Foam and others
        "publish": False,
        "private": True,
        # WordPress and Ghost, in what they export
        "visibility": "private",
        # Hugo, today and before
        "build.render": "never",
        "_build.render": "never",
        # Eleventy
        "permalink": False,
    }
)
"""Key → its value that holds a page back."""


def is_held_back(head: Slot) -> bool:
    """Whether the page is a draft; what cannot be understood is reported and counts as one."""
    is_draft = any(_is_draft(head.at(key)) for key in head.value if key.casefold() == "draft")
    return is_draft or _is_unpublished(head.at("published")) or _has_status(head) or _has_foreign_key(head)


def _is_draft(slot: Slot) -> bool:
    if slot.value is None or isinstance(slot.value, bool):
        return bool(slot.value)
    meant = TRUTHS.get(str(slot.value).strip().casefold(), "")
    slot.wrong("draft must be true or false", f"write {meant}" if meant else "")
    return meant != _FALSE


def _is_unpublished(slot: Slot) -> bool:
    """Jekyll's `published: false`. For others the key holds the date of a post."""
    if slot.value is None or isinstance(slot.value, bool):
        return slot.value is False
    written = one_line(slot) or ""
    meant = TRUTHS.get(written.casefold(), "")
    if meant or _DAY.fullmatch(written):
        return meant == _FALSE
    slot.wrong("published must be true or false")
    return True


def _has_status(head: Slot) -> bool:
    slot = head.at("status")
    if not is_private_status(slot):
        return False
    hint = "write draft: true; or status: wip for a post that is public and not finished"
    slot.warn(CODE, f"the page is not published, for its status is {slot.value.strip()}", hint)
    return True


def _has_foreign_key(head: Slot) -> bool:
    """Whether a key of another generator keeps the page out of its site."""
    meant = [key for key in _FOREIGN if _is_same(_at(head, key), _FOREIGN[key])]
    for key in meant:
        slot = head.key(key.partition(".")[0])
        slot.warn(CODE, f"the page is not published, as {key} says", "write draft: true")
    return bool(meant)


def _is_same(value: object, other: object) -> bool:
    """Whether two values are equal and of one type: 0 is not false."""
    return type(value) is type(other) and value == other


def _at(head: Slot, key: str) -> object:
    """What stands below a key with dots; None if there is nothing."""
    first, _, last = key.partition(".")
    found = head.value.get(first)
    return found.get(last) if last and isinstance(found, dict) else None if last else found


def is_private_status(slot: Slot) -> bool:
    """Whether it is one of WordPress's words for what nobody else may read, also misspelt."""
    return isinstance(slot.value, str) and nearest(slot.value.strip().casefold(), _PRIVATE) is not None
