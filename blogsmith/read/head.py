"""The keys of the front matter, one by one: from plain data to `FrontMatter`.

Unknown keys are kept for themes, so a misspelling can only be warned of; the threshold is strict,
to avoid false positives. What a slug or an alias may look like is said where addresses are
made, in `site/urls.py`.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from ..config.validate import LANGUAGE, MACRO_NAME, PACKAGES
from ..diagnostics.model import Place, did_you_mean
from ..model.documents import FrontMatter, Series
from .dates import parse_date, split_dated_name
from .execution import read_execution
from .fields import Fields
from .foreign_keys import warn_of_foreign_keys
from .references import read_people, read_references

KNOWN_KEYS = (
    "title",
    "subtitle",
    "description",
    "date",
    "updated",
    "slug",
    "tags",
    "categories",
    "series",
    "part",
    "authors",
    "template",
    "draft",
    "aliases",
    "toc",
    "image",
    "lang",
    "comments",
    "status",
    "math",
    "execute",
    "references",
    "bibliography",
    "numbering",
    "uses_math",
    "uses_code",
)
OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {"category": "categories", "layout": "template", "author": "authors"}
)
"""Names of other generators → ours."""

_NUMBERING = ("all", "labelled", "none", "all by section", "labelled by section")
_TEMPLATE = re.compile(r"\w[\w-]*")
_ALIKE = 0.8
"""How near a key must be to a known one to be called a misspelling: `tittle` is 0.91, `data` 0.75."""
_LOOKED_AT = 50
"""How many unknown keys are compared with the known ones; each comparison takes a millisecond."""
_DATE_HINT = "write it as 2026-03-14 or 2026-03-14 09:30 +01:00"


def read_head(fields: Fields, path: PurePosixPath, timezone: str) -> FrontMatter:
    """The front matter of the file at `path`; every wrong value is reported and left out."""
    _refuse_double_names(fields)
    zone = ZoneInfo(timezone)
    math = _math(fields)
    for hint in ("uses_math", "uses_code"):
        fields.flag(hint)  # only its type is checked: content decides
    _warn_of_unmet_wishes(fields)
    warn_of_foreign_keys(fields)
    date, updated = _date(fields, "date", zone) or _name_date(path, zone), _date(fields, "updated", zone)
    if date and updated and updated < date:
        fields.reporter.warn("date", "updated is before date", fields.place("updated"))
    return FrontMatter(
        title=fields.text("title"),
        subtitle=fields.text("subtitle"),
        description=fields.text("description"),
        date=date,
        updated=updated,
        slug=fields.text("slug"),
        tags=fields.texts("tags", separator=","),
        categories=fields.texts(_written(fields, "categories"), separator=","),
        series=_series(fields),
        authors=read_people(fields, _written(fields, "authors")),
        template=_shaped(fields, _written(fields, "template"), _TEMPLATE, "name of a template"),
        draft=fields.flag("draft") or False,
        aliases=fields.texts("aliases"),
        toc=fields.flag("toc"),
        image=fields.text("image"),
        lang=_shaped(fields, "lang", LANGUAGE, "language tag"),
        comments=fields.flag("comments"),
        status=fields.choice("status", ("wip",)),
        math_macros=_macros(math),
        math_packages=_packages(math),
        math_numbering=math.choice("numbering", _NUMBERING) if math else "",
        execution=read_execution(fields, path),
        references=read_references(fields),
        bibliography=fields.text("bibliography"),
        numbering=fields.flag("numbering"),
        extra=_extra(fields),
        places=_places(fields),
    )


def _warn_of_unmet_wishes(fields: Fields) -> None:
    """Keys that are understood but do nothing yet must not look as if they did."""
    place = fields.place("bibliography")
    if place and isinstance(fields.values["bibliography"], str):
        hint = "write the entries under references:"
        fields.reporter.warn("not-yet", "bibliography files are not read yet", place, hint)


def _written(fields: Fields, key: str) -> str:
    """The name under which the author gave `key`: ours, or another generator's."""
    others = (other for other, ours in OTHER_NAMES.items() if ours == key and other in fields.values)
    return key if key in fields.values else next(others, key)


def _refuse_double_names(fields: Fields) -> None:
    for other, ours in OTHER_NAMES.items():
        if other in fields.values and ours in fields.values:
            fields.wrong(f"{other} and {ours} mean the same", other, hint=f"keep {ours} only")


def _places(fields: Fields) -> dict[str, Place]:
    """Known key → where its value stands."""
    places = {key: fields.place(_written(fields, key)) for key in KNOWN_KEYS}
    return {key: place for key, place in places.items() if place is not None}


def _extra(fields: Fields) -> dict[str, Any]:
    """The unknown keys; those that look like a known one are warned of."""
    known = {*KNOWN_KEYS, *OTHER_NAMES}
    extra = {key: value for key, value in fields.values.items() if key not in known}
    for key in list(extra)[:_LOOKED_AT]:
        near = difflib.get_close_matches(key.casefold(), sorted(known), n=1, cutoff=_ALIKE)
        if near:
            place = fields.located.key_places.get((key,))
            hint = f"did you mean {near[0]}?"
            fields.reporter.warn("front-matter-key", f'unknown key "{key}"', place, hint)
    return extra


def _shaped(fields: Fields, key: str, shape: re.Pattern[str], what: str) -> str:
    text = fields.text(key)
    if not text or shape.fullmatch(text):
        return text
    fields.wrong(f'"{text}" is no {what}', key)
    return ""


def _date(fields: Fields, key: str, zone: dt.tzinfo) -> dt.datetime | None:
    text = fields.text(key)
    if not text:
        return None
    try:
        moment = parse_date(text, zone)
    except ValueError:
        fields.wrong(f'"{text}" is a day or time that does not exist', key, code="date")
        return None
    if moment is None:
        fields.wrong(f'"{text}" is no date', key, hint=_DATE_HINT, code="date")
    return moment


def _name_date(path: PurePosixPath, zone: dt.tzinfo) -> dt.datetime | None:
    """The date in front of a file name, or of the folder of a bundle; None if it is none."""
    name = path.parent.name if path.stem == "index" else path.stem
    try:
        return parse_date(split_dated_name(name)[0], zone)
    except ValueError:
        return None


def _series(fields: Fields) -> Series | None:
    below = fields.below("series") if "series" in fields.values else None
    if below is None:
        name = fields.text("series")
        part = _part(fields)
        if not name and part is not None:
            place = fields.located.key_places.get(("part",))
            fields.reporter.warn("series-part", "part says nothing without series", place, "add series: Name")
        return Series(name, part) if name else None
    below.refuse_unknown(("name", "part"))
    name = below.text("name")
    if not name:
        fields.wrong("a series needs a name", "series")
        return None
    return Series(name, _part(below if "part" in below.values else fields))


def _part(fields: Fields) -> int | None:
    value = fields.values.get("part")
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    if value is not None:
        fields.wrong("part must be a number from 1 on", "part")
    return None


def _math(fields: Fields) -> Fields | None:
    """The settings under `math`; a bare true or false is a hint that content does not need."""
    value = fields.values.get("math")
    if value is None or isinstance(value, bool):
        return None
    below = fields.below("math")
    if below is None:
        fields.wrong("math must be true, false, or a mapping with macros and numbering", "math")
    else:
        below.refuse_unknown(("macros", "numbering", "packages"))
    return below


def _macros(math: Fields | None) -> dict[str, str]:
    if math is None or math.values.get("macros") is None:
        return {}
    macros = math.below("macros")
    if macros is None:
        math.wrong("macros must be a mapping from names to TeX", "macros")
        return {}
    return {name: _macro_body(macros, name) for name in macros.values if _is_macro_name(macros, name)}


def _packages(math: Fields | None) -> tuple[str, ...] | None:
    if math is None or math.values.get("packages") is None:
        return None
    names = math.texts("packages")
    written = math.values["packages"]
    for name in names:
        if name not in PACKAGES:
            at = [written.index(name)] if isinstance(written, list) and name in written else []
            hint = did_you_mean(name, PACKAGES) or f"known: {', '.join(PACKAGES)}"
            math.wrong(f'unknown package "{name}"', "packages", *at, hint=hint)
    return tuple(name for name in names if name in PACKAGES)


def _is_macro_name(macros: Fields, name: str) -> bool:
    if MACRO_NAME.fullmatch(name):
        return True
    macros.wrong_key(f'"{name}" is no name of a macro', name, hint="a backslash and letters, as in \\R")
    return False


def _macro_body(macros: Fields, name: str) -> str:
    value = macros.values[name]
    # the line breaks of a long body are TeX's blanks: kept
    return value if isinstance(value, str) else macros.text(name)
