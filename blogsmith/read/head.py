"""The keys of front matter: conversion of plain data to `FrontMatter`, whose fields they are.

A key is read by the type of its field; `_TABLE` adds what the type does not define. Unknown keys are kept
for themes, so a misspelling only causes a warning. Its similarity threshold is strict, to avoid false
positives. Valid slugs and aliases are defined in `site/urls.py`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, get_args, get_type_hints
from zoneinfo import ZoneInfo

from ..base.diagnostics.model import Place, confirm_typo, nearest
from ..base.patterns import lazy_pattern
from ..base.schema.forms import FILLED, FLAG, TEXT, Form, accepts, choice_form, get_form, union_form
from ..base.schema.readers import (
    TEXTS,
    choice,
    flag,
    member_of_choices,
    shaped,
    string_list,
    text,
    typed,
    unless_empty,
)
from ..base.schema.records import Table, build_schema, reject_key
from ..base.schema.slots import Slot
from ..config.schema import Citations, MathSettings
from ..config.services import BLUESKY, MASTODON, THREAD_HINT, read_thread
from ..config.validate import LANGUAGE, PACKAGES, check_macro_name, language_check
from ..model.dates import DATE, MONTH, nearest_date, parse_date, split_dated_name
from ..model.documents import KEY_ALIASES, FrontMatter, Series
from ..model.protection import is_known_key
from ..model.publications import DOI
from . import execution
from .draft_status import is_held_back, is_private_status
from .foreign_values import (
    CODE,
    lenient_choice,
    lenient_flag,
    lenient_text,
    read_image_path,
    warn_about_value,
)
from .references import read_orcids, read_people, read_references

_TEMPLATE = lazy_pattern(r"\w[\w-]*")
_DATE_KEYS = ("date", "updated", "publish_date", "expiry_date")
GIT = "git"
"""Value of `updated` that requests the date of the last commit of the file."""
_KNOWN_UNRELATED_KEYS = frozenset(("parent", "publish", "published"))
"""Keys of other themes that happen to be similar to one of ours."""
_MAX_COMPARED_KEYS = 50
"""Maximum number of unknown keys to compare with known ones; each comparison takes a millisecond."""
_TOC_HINT = "write `true` or `false`: the table of contents is made from the headings"
_PERMALINK_HINT = "write the URL of a page of this site as a path such as `/a/b/`"
_DATE_FORM: Form = {
    "type": ["string", "integer"],
    "pattern": rf"^\s*(?:{DATE.pattern}|{MONTH.pattern}|)\s*$",
    "minimum": 1000,
    "maximum": 9999,
}
_EMPTY: Form = {"pattern": r"^\s*$"}
_PACKAGES = rf"^\s*(?:{'|'.join(PACKAGES)})?\s*$"
_PART_FORM: Form = {"type": "integer", "minimum": 1}
_DATE_HINT = "write `2026-03-14` or `2026-03-14 09:30 +01:00`"


def read_front_matter(head: Slot, path: PurePosixPath, timezone: str) -> FrontMatter:
    """Read the front matter of the file at `path`. Report and drop every invalid value."""
    zone = ZoneInfo(timezone)
    draft = is_held_back(head)
    found = {**HEAD.read_fields(head), "draft": draft}
    warn_about_foreign_keys(head)
    if head.value.get("draft") is not None:
        # an unreadable value may have meant a draft, and its error may have been lowered to a warning
        found.setdefault("draft", True)
    found["date"] = found.get("date") or _name_date(path)
    for name in _DATE_KEYS:
        moment = found.get(name)
        found[name] = moment if moment is None or moment.tzinfo else moment.replace(tzinfo=zone)
    if found["date"] and found["updated"] and found["updated"] < found["date"]:
        head.child("updated").warn("date", '"updated" is before "date"')
    authors = head.child("authors" if "authors" in head.value else "author")
    return FrontMatter(
        **found,
        extra=_extra(head),
        places=_places(head),
        orcids=read_orcids(authors),
        is_dated_by_git=head.value.get("updated") == GIT,
    )


def _meant_key(key: str) -> str | None:
    """Return the known key that an unknown one is a typo of, such as `tgas`. Other keys are the author's."""
    return confirm_typo(key, nearest(key, sorted(HEAD.fields)))


def _places(head: Slot) -> dict[str, Place]:
    """Map known keys to the locations of their values."""
    keys = {KEY_ALIASES.get(key, key): key for key in head.value if key in HEAD.fields}
    # if both names are used, ours takes precedence
    keys |= {key: key for key in keys if key in head.value}
    return {key: place for key, written in keys.items() if (place := head.child(written).place)}


def _extra(head: Slot) -> dict[str, Any]:
    """Return the unknown keys. Warn about those that are similar to a known one."""
    extra = {key: value for key, value in head.value.items() if key not in HEAD.fields}
    unknown = [key for key in extra if key.casefold() not in _KNOWN_UNRELATED_KEYS and not is_known_key(key)]
    for key in unknown[:_MAX_COMPARED_KEYS]:
        near = _meant_key(key.casefold())
        if near:
            slot, hint = head.key(key), f"did you mean {near}?"
            fix = slot.correct(near) if near not in head.value else None
            slot.warn("front-matter-key", f'unknown key "{key}"', hint, fix)
    return extra


@accepts(_DATE_FORM)
def _date(slot: Slot) -> dt.datetime | None:
    written = text(slot)
    try:
        moment = parse_date(written)
    except ValueError:
        slot.report(f'invalid date "{written}": this day or time does not exist', code="date")
        return None
    if moment is None and written:
        slot.report(
            f'invalid date "{written}"', _DATE_HINT, code="date", fix=slot.rewrite(nearest_date(written))
        )
    return moment


@accepts(union_form(choice_form([GIT]), _DATE_FORM))
def _updated(slot: Slot) -> dt.datetime | None:
    """Read a date, or None if it is to come from the history of the file."""
    return None if text(slot) == GIT else _date(slot)


@accepts({**TEXT, "anyOf": [{"pattern": DOI}, _EMPTY]})
def _doi(slot: Slot) -> str | None:
    written = text(slot)
    found = DOI.fullmatch(written)
    if written and not found:
        slot.report(
            f'invalid DOI "{written}"', "write a DOI that starts with `10.`, such as `10.59350/abcde`"
        )
    return found[1] if found else None


def _name_date(path: PurePosixPath) -> dt.datetime | None:
    """Return the date at the start of the name of a file, or of the folder of a bundle; None if there is
    none."""
    name = path.parent.name if path.stem == "index" else path.stem
    try:
        return parse_date(split_dated_name(name)[0])
    except ValueError:
        return None


@accepts(
    union_form(
        TEXT,
        {
            "type": "object",
            "properties": {
                "name": {**FILLED, "description": "Name of the series."},
                "part": {
                    **_PART_FORM,
                    "type": ["integer", "null"],
                    "description": "Number of the post in it, from 1.",
                },
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    )
)
def _series(slot: Slot) -> Series | None:
    part = slot.mapping.root().child("part")
    if not isinstance(slot.value, dict):
        return _read_numbered(lenient_text(slot), part)
    for key in slot.value:
        if key not in ("name", "part"):
            reject_key(slot.key(key), ("name", "part"))
    if name := text(slot.child("name")):
        return _read_numbered(name, slot.child("part") if "part" in slot.value else part)
    slot.report('missing key "name" in "series"')
    return None


@accepts(_PART_FORM)
def _part(slot: Slot) -> None:
    """Check `part` of a page without series. With a series, it is read there."""
    if slot.mapping.root().child("series").value is None:
        _read_numbered("", slot)


def _read_numbered(name: str, part: Slot) -> Series | None:
    number = part.value
    if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 1):
        number = part.report('"part" must be a whole number of at least 1')
    if not name and number is not None:
        part.mapping.root().key("part").warn(
            "series-part", '"part" has no effect because "series" is missing', "add `series: NAME`"
        )
    return Series(name, number) if name else None


@accepts(FLAG)
def _math(slot: Slot) -> None:
    """Accept true or false, which other systems need to enable formulas and which has no effect here."""
    if not isinstance(slot.value, bool):
        warn_about_value(
            slot, "true, false, or a mapping", "remove it: formulas need no setting, and no MathJax or KaTeX"
        )


@accepts(FLAG)
def _ignore(slot: Slot) -> None:
    """Ignore a key that is read elsewhere."""


@accepts(choice_form(["wip"]))
def _status(slot: Slot) -> str | None:
    # already reported with the draft status
    return None if is_private_status(slot) else _STATUS(slot)


_STATUS = lenient_choice(("wip",))


@accepts(TEXT)
def _permalink(slot: Slot) -> str | None:
    """Read a permalink. Its path is checked where URLs are assigned."""
    if slot.value is False and slot.name == "permalink":
        # already reported with the draft status
        return None
    written = text(slot)
    if "://" in written or "{{" in written or written.startswith("//"):
        slot.warn(
            "front-matter-key",
            f"{slot.quoted_name} has no effect because it is not a path on this site",
            _PERMALINK_HINT,
        )
        return None
    return written


@accepts(union_form(FLAG, *({"type": "string", "pattern": thread} for thread in (MASTODON, BLUESKY))))
def _comments(slot: Slot) -> bool | str | None:
    """Read true, false, or the URL of a thread."""
    written = slot.value
    if not isinstance(written, str) or not {"/", "@"} & {*written}:
        found: bool | None = _COMMENTS(slot)
        return found
    if "://" not in written and read_thread(f"https://{written}"):
        # browsers omit the scheme
        return f"https://{written}"
    if read_thread(written) is None:
        slot.report(f'invalid thread "{written}": expected a post on Mastodon or Bluesky', THREAD_HINT)
        return None
    return written


_COMMENTS = lenient_flag(
    "write the URL of a thread on Mastodon or Bluesky, or set `comments` in blogsmith.yaml"
)


@accepts(FLAG)
def _search(slot: Slot) -> bool | None:
    """Read whether the page can be found. Material writes `{exclude: true}` for a page that cannot."""
    if isinstance(slot.value, dict) and isinstance(slot.value.get("exclude"), bool):
        meant = not slot.value["exclude"]
        slot.warn(CODE, '"search" must be true or false', f"write `search: {str(meant).lower()}`")
        return meant
    found: bool | None = _SEARCH(slot)
    return found


_SEARCH = lenient_flag(
    "write `search: false` to hide the page from search, or set `search` in blogsmith.yaml"
)


@accepts({**TEXT, "anyOf": [{"pattern": _TEMPLATE}, _EMPTY]})
def _template(slot: Slot) -> str | None:
    """Read the name of a layout. Its existence is checked where pages are rendered."""
    name = lenient_text(slot)
    if name and not _TEMPLATE.fullmatch(name):
        warn_about_value(slot, "the name of a layout")
        return None
    return name


@accepts(
    {
        "propertyNames": get_form(check_macro_name),
        "additionalProperties": {"type": ["string", "number", "null"]},
    }
)
def _macros(slot: Slot) -> dict[str, str]:
    names = [name for name in slot.value if check_macro_name(name, slot.key(name))]
    # line breaks are spaces in TeX, so they are kept
    return {
        name: body if isinstance(body := slot.value[name], str) else text(slot.child(name)) for name in names
    }


@accepts({"type": ["string", "array"], "pattern": _PACKAGES, "items": choice_form(PACKAGES)})
def _packages(names: tuple[str, ...], slot: Slot) -> tuple[str, ...]:
    return tuple(name for name in names if _PACKAGE(name, slot.entry(name)))


_PACKAGE = member_of_choices(PACKAGES, "package")


_NOCITE = lazy_pattern(r"@?(\*|[^\s@,;\[\]]+)")


@accepts(TEXTS)
def _nocite(slot: Slot) -> tuple[str, ...]:
    """Read keys with or without `@`, in a list or in one string; `*` means all."""
    written = string_list()(slot)
    return tuple(dict.fromkeys(key for text in written for key in _NOCITE.findall(text)))


_TABLE = Table(
    types={str: text, bool: flag(), tuple[str, ...]: string_list()},
    choice=lambda words, _: choice(words),
    readers={
        # read together with other keys that decide about publication
        "draft": _ignore,
        **dict.fromkeys(("title", "subtitle", "description"), lenient_text),
        **dict.fromkeys(("reading_time", "listing", "numbering", "unlisted"), lenient_flag()),
        "search": _search,
        "toc": lenient_flag(_TOC_HINT),
        "comments": _comments,
        "status": _status,
        "image": read_image_path,
        "permalink": _permalink,
        "template": _template,
        **dict.fromkeys(_DATE_KEYS, _date),
        "updated": _updated,
        "doi": _doi,
        "citable": lenient_flag(),
        "tags": string_list(separator=","),
        "categories": string_list(separator=","),
        "series": _series,
        "part": _part,
        "authors": read_people,
        "math.macros": typed(dict, _macros, "a mapping from names to TeX"),
        "math.numbering": choice(get_args(get_type_hints(MathSettings)["numbering"])),
        **execution.READERS,
        "references": read_references,
        "bibliography": string_list(),
        "publications": string_list(),
        "citations.style": choice(get_args(get_type_hints(Citations)["style"])),
        "nocite": _nocite,
        # only their type is checked, since the content of the page decides
        "uses_math": lenient_flag(),
        "uses_code": lenient_flag(),
    },
    checks={
        "lang": unless_empty(language_check(shaped(LANGUAGE, "language tag"), "front-matter-unknown")),
        "math.packages": _packages,
        **execution.CHECKS,
    },
    short={"math": _math, "execute": execution.read_mode},
    names=execution.NAMES,
    aliases=KEY_ALIASES,
    computed=frozenset(("extra", "places", "orcids", "is_dated_by_git")),
    foreign_key_hints=execution.FOREIGN,
    notes={
        "part": "Number of the post in its series, from 1.",
        "uses_math": "Ignored: the content of the page decides.",
        "uses_code": "Ignored: the content of the page decides.",
    },
)
HEAD = build_schema(FrontMatter, _TABLE)
KNOWN_KEYS = tuple(HEAD.fields)


# Front matter keys without effect: those of other generators that set URLs, dates, publication or code
# execution, and keys of `math:` outside of it.
#
# They are kept for the theme like every unknown key, but authors who move a site here must not believe that
# they have an effect. Keys that only describe a page (`keywords`, `excerpt`) cause no warning.


_PYTHON = "remove it; set `execute` in blogsmith.yaml to choose a Python, or `execute: {kernel: NAME}` here"
HINTS: Mapping[str, str] = MappingProxyType(
    {
        "lastmod": "write `updated:`",
        "last_modified_at": "write `updated:`",
        "date-modified": "write `updated:`",
        **{key: f"write `math: {{{key}: …}}`" for key in ("macros", "packages")},
        **dict.fromkeys(("jupyter", "kernelspec", "kernel", "engine", "knitr", "jupytext"), _PYTHON),
    }
)
"""Key → hint about the corresponding key of blogsmith."""


def warn_about_foreign_keys(head: Slot) -> None:
    """Warn about each of the keys above."""
    for key in [key for key in head.value if key in HINTS]:
        head.key(key).warn("front-matter-key", f'"{key}" has no effect here', HINTS[key])
