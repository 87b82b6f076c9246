"""Decision whether a page is a draft, from front matter keys of blogsmith or of other site generators.

A published page cannot be taken back, so a page whose keys are unclear is treated as a draft.
"""

from __future__ import annotations

from ..base.diagnostics.codes import PROTECTED_CODE
from ..base.diagnostics.model import Diagnostic, nearest
from ..base.patterns import lazy_pattern
from ..base.schema.records import TRUTHS, one_line
from ..base.schema.slots import Slot
from ..model.protection import Restriction, find_restrictions
from .foreign_values import CODE

_DAY = lazy_pattern(r"\d{4}-\d{1,2}(?:-\d{1,2})?(?:\D.*)?")
_DELIMITER = lazy_pattern(r"[\"']?\s*[:=]\s*")
_FALSE = "false"
_PRIVATE = ("draft", "private")
_DRAFT_HINT = "write `draft: true`"
_ACCESS_HINT = "remove `{}`, and write `draft: true` or use the access control of your host"


def is_held_back(head: Slot) -> bool:
    """Return whether the page is a draft. Report unclear values, which make it a draft."""
    found = find_restrictions(head.value)
    drafts = [one for one in found if one.remedy == "draft" and "cascade" not in one.path]
    held = [
        *(_is_draft(slot) for slot in _spellings(head, "draft")),
        *(_is_unpublished(slot) for slot in _spellings(head, "published")),
        *(_has_draft_status(slot) for slot in _spellings(head, "status")),
    ]
    if not any(held):
        for one in drafts:
            _key(head, one).warn(CODE, f'"{one.name}" makes the page a draft', _DRAFT_HINT)
    is_draft = any(held) or bool(drafts)
    for one in found:
        # a draft appears in no list anyway, so a key that hides the page from lists needs no report
        if one not in drafts and not (is_draft and one.remedy == "list"):
            _report_restriction(_key(head, one), one)
    return is_draft


def _spellings(head: Slot, name: str) -> list[Slot]:
    """Return the values of all keys that equal `name` except for upper and lower case."""
    return [head.child(key) for key in head.value if key.casefold() == name]


def _key(head: Slot, found: Restriction) -> Slot:
    *around, last = found.path
    for step in around:
        head = head.child(step)
    return head.key(str(last))


def _report_restriction(slot: Slot, found: Restriction) -> None:
    """Report that a page requests a restriction of access that blogsmith cannot enforce."""
    message, hint = f'"{found.name}" has no effect because blogsmith has no access control', _ACCESS_HINT
    if "cascade" in found.path:
        message = f'"{found.name}" has no effect because front matter applies to one page'
        hint = "remove `cascade`, and write `draft: true` in each page that must not be published"
    elif found.meant:
        message, hint = (
            f'unknown key "{found.name}": it may restrict who reads the page',
            f"rename or remove `{{}}` (close to `{found.meant}`); to hide a page, write `draft: true`",
        )
    elif found.remedy == "list":
        message = f'"{found.name}" has no effect because blogsmith uses "unlisted" for it'
        hint = "rename `{}` to `unlisted`, or to `draft`, with the value `true`"
    reporter, place = slot.mapping.reporter, slot.place
    line = reporter.lines[place.line - 1] if place and place.line <= len(reporter.lines) else ""
    if place and found.is_secret:
        line = _without_value(line, place.column - 1 + place.length)
    # reported even above the limit on errors, because otherwise the page would be published
    reporter.add(Diagnostic(PROTECTED_CODE, message, reporter.path, place, line, hint.format(found.name)))


def _without_value(line: str, end: int) -> str:
    """Return the line with everything after the key replaced by an ellipsis, because the value may be a
    password and build logs are often public."""
    found = _DELIMITER.match(line, end)
    return f"{line[: found.end()]}…" if found else line[:end]


def _is_draft(slot: Slot) -> bool:
    if slot.value is None or isinstance(slot.value, bool):
        return bool(slot.value)
    meant = TRUTHS.get(str(slot.value).strip().casefold(), "")
    slot.report('"draft" must be true or false', f"write `{meant or 'true` or `false'}`")
    return meant != _FALSE


def _is_unpublished(slot: Slot) -> bool:
    """Return whether Jekyll's `published: false` is set. In other systems `published` is the date of a
    post."""
    if slot.value is None or isinstance(slot.value, bool):
        return slot.value is False
    written = one_line(slot) or ""
    meant = TRUTHS.get(written.casefold(), "")
    if meant or _DAY.fullmatch(written):
        return meant == _FALSE
    slot.report('"published" must be true or false', "write `true` or `false`")
    return True


def _has_draft_status(slot: Slot) -> bool:
    if not is_private_status(slot) or find_restrictions({"status": slot.value}):
        return False
    hint = "write `draft: true` instead, or `status: wip` for a page that is public and not finished"
    slot.warn(CODE, f'"status" must be "wip"; "{slot.value.strip()}" makes the page a draft', hint)
    return True


def is_private_status(slot: Slot) -> bool:
    """Return whether a status, or a similar word, restricts who may read a page in another system."""
    if not isinstance(slot.value, str):
        return False
    is_near = nearest(slot.value.strip().casefold(), _PRIVATE) is not None
    return is_near or bool(find_restrictions({"status": slot.value}))
