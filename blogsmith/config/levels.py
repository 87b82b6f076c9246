"""`diagnostics:` of the settings: codes to be silent about, and how heavy findings of a code weigh.

diagnostics:
  ignore: [citation-unused]
  link-missing: warning
  image-missing: {level: warning, in: posts/old/**}
"""

from __future__ import annotations

from typing import get_args

from ..base.diagnostics.codes import CODES, LOWERABLE, has_warnings
from ..base.diagnostics.levels import Level, LevelRule
from ..base.diagnostics.model import nearest, question_of
from ..base.schema.forms import DEFINITION, LAZY, Form, accepts, either, list_of, one_of
from ..base.schema.readers import TEXTS, any_of, choice, each, known, of_kind, texts
from ..base.schema.records import refuse_key
from ..base.schema.slots import Slot
from .schema import Diagnostics

_KEYS = ("level", "in")
_WORD = choice(get_args(Level))
_IGNORED = each(known(CODES, "code"))
_STAYS = "only codes of content where nothing is lost can be; `build --keep-going` writes the other pages"


def _form() -> Form:
    codes = {code: {"description": CODES[code], **_level_form(code)} for code in sorted(CODES)}
    words = {**list_of(one_of(sorted(CODES))), "type": ["array", "null"]}
    ignore = {"description": (Diagnostics, "ignore"), **words}
    return {"properties": {"ignore": ignore, **codes}, "additionalProperties": False}


def _level_form(code: str) -> Form:
    """What may stand behind a code: a level that it can have, alone or for some files, or a list of these."""
    levels = [level for level in get_args(Level) if _is_possible(level, code)]
    name = "-".join(levels)
    word: Form = {**one_of(levels), DEFINITION: f"level-{name}"}
    properties = {"level": word, "in": {**TEXTS, "type": [*TEXTS["type"], "null"]}}
    strict = {"required": ["level"], "additionalProperties": False}
    one = either(word, {"type": "object", "properties": properties, **strict}, {"type": "null"})
    one = {**one, DEFINITION: f"level-in-{name}"}
    return {**either(one, list_of(one)), DEFINITION: f"levels-{name}"}


@accepts({LAZY: _form})
def read_diagnostics(slot: Slot) -> Diagnostics:
    """The settings under `diagnostics`; what is wrong is reported and left out."""
    levels = {}
    for code in slot.value:
        if code == "ignore":
            continue
        if code not in CODES:
            near = nearest(code, CODES)
            hint = question_of(near) or "write a code as messages name it in brackets"
            key = slot.key(code)
            key.wrong(f'there is no code "{code}"', hint, code=key.mapping.key_code, fix=key.rewrite(near))
            continue
        item = slot.at(code)
        entries = [item.at(n) for n in range(len(item.value))] if isinstance(item.value, list) else [item]
        rules = [_rule(entry, code) for entry in entries if entry.value is not None]
        levels[code] = tuple(rule for rule in rules if rule)
    return Diagnostics(ignore=_ignored(slot.at("ignore")), levels=levels)


def _ignored(slot: Slot) -> tuple[str, ...]:
    if slot.value is None:
        return ()
    if not isinstance(slot.value, list):
        slot.wrong("ignore must be a list of texts")
        return ()
    found: tuple[str, ...] | None = _IGNORED(texts()(slot), slot)
    return found or ()


def _rule(slot: Slot, code: str) -> LevelRule | None:
    """A level, or a mapping that says for which files it is."""
    if not isinstance(slot.value, dict):
        found = of_kind(str, _WORD, f"{any_of(get_args(Level))}, or a mapping with level and in")(slot)
        return LevelRule(found) if found and _may_be(found, slot, code) else None
    for key in slot.value:
        if key not in _KEYS:
            refuse_key(slot.key(key), _KEYS)
    word = slot.at("level")
    if word.value is None:
        # a misspelt key is both unknown and missing; one report is enough
        if slot.value.keys() <= {*_KEYS}:
            slot.wrong("level is missing", f"write {{level: warning, in: …}} or {code}: warning")
        return None
    level = _WORD(word)
    paths = texts()(slot.at("in")) if slot.at("in").value is not None else ()
    return LevelRule(level, paths) if level and _may_be(level, word, code) else None


def _may_be(level: Level, slot: Slot, code: str) -> bool:
    """Whether findings of a code may get this level; reported if not."""
    if _is_possible(level, code):
        return True
    if level == "warning":
        slot.wrong(f"{code} cannot be lowered to a warning", _STAYS)
    else:
        hint = "lower it to a warning" if code in LOWERABLE else _STAYS
        slot.wrong(f"{code} cannot be off: errors are not silenced", hint)
    return False


def _is_possible(level: Level, code: str) -> bool:
    return {"warning": code in LOWERABLE, "off": has_warnings(code)}.get(level, True)
