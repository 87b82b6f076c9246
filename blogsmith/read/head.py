"""The keys of front matter: conversion of plain data to `FrontMatter`, whose fields are the keys.

A key is read according to the type of its field; `_TABLE` adds rules that a type cannot express. Unknown keys
are kept for themes, so a misspelling only causes a warning, and only if the names are very similar. Slugs and
aliases are checked in `site/urls.py`.
"""

from __future__ import annotations

import datetime as dt
from pathlib import PurePosixPath
from typing import Any, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

from ..base.diagnostics.model import Place, confirm_typo, nearest
from ..base.patterns import lazy_pattern
from ..base.schema.forms import FILLED, FLAG, TEXT, Form, accepts, choice_form, get_form, union_form
from ..base.schema.records import (
    TEXTS,
    Table,
    build_schema,
    choice,
    flag,
    member_of_choices,
    reject_key,
    shaped,
    string_list,
    text,
    typed,
    unless_empty,
)
from ..base.schema.slots import Slot
from ..config.schema import Citations, MathSettings
from ..config.services import BLUESKY, MASTODON, THREAD_HINT, read_thread
from ..config.validate import DATE_FORM, LANGUAGE, PACKAGES, check_macro_name, language_check
from ..model.courses import NUMBERINGS, Series
from ..model.dates import nearest_date, parse_date, split_dated_name
from ..model.documents import KEY_ALIASES, FrontMatter
from ..model.protection import is_known_key
from ..model.publications import DOI
from . import execution
from .draft_status import is_held_back, is_private_status
from .foreign_keys import find_foreign_key
from .foreign_values import (
    CODE,
    lenient_choice,
    lenient_flag,
    lenient_text,
    read_image_path,
    warn_about_value,
)
from .references import read_affiliations, read_orcids, read_people, read_references, read_urls

_TEMPLATE = lazy_pattern(r"\w[\w-]*")
_DATE_KEYS = ("date", "updated", "publish_date", "expiry_date")
GIT = "git"
"""Value of `updated` that requests the date of the last commit of the file."""
_KNOWN_UNRELATED_KEYS = frozenset(("parent", "publish", "published"))
"""Unknown keys that are not misspellings, although they are similar to a known key."""
_MAX_COMPARED_KEYS = 50
"""Maximum number of unknown keys to compare with known ones; comparing one needs a millisecond."""
_TOC_HINT = "write `true` or `false`: the table of contents is made from the headings"
_PERMALINK_HINT = "write the URL of a page of this site as a path such as `/a/b/`"
_EMPTY: Form = {"pattern": r"^\s*$"}
_PACKAGES = rf"^\s*(?:{'|'.join(PACKAGES)})?\s*$"
_PART_FORM: Form = {"type": "integer", "minimum": 1}
_DATE_HINT = "write `2026-03-14` or `2026-03-14 09:30 +01:00`"


def read_front_matter(head: Slot, path: PurePosixPath, timezone: str) -> FrontMatter:
    """Read the front matter of the file at `path`. Report every invalid value, and use the default instead.
    timezone: IANA name, for dates without a zone."""
    zone = ZoneInfo(timezone)
    draft = is_held_back(head)
    found = {**HEAD.read_fields(head), "draft": draft}
    _warn_about_foreign_keys(head)
    if head.value.get("draft") is not None:
        # treat the page as a draft: the unreadable value may have said so, and its error may be lowered to a
        # warning
        found.setdefault("draft", True)
    found["date"] = found.get("date") or _name_date(path)
    versions = sorted(parse_date(change.date) or dt.datetime.min for change in found.get("changes", ()))
    if versions and head.value.get("updated") is None:
        found["updated"] = versions[-1]
    for name in _DATE_KEYS:
        moment = found.get(name)
        found[name] = moment if moment is None or moment.tzinfo else moment.replace(tzinfo=zone)
    if found["date"] and found["updated"] and found["updated"] < found["date"]:
        last = "updated" if head.value.get("updated") is not None else "changes"
        what = "it is" if last == "updated" else "all dates are"
        message = f'invalid "{last}": {what} before "date"'
        head.child(last).warn("date", message, f"write a later day in `{last}`, or an earlier `date`")
    authors = head.child("authors" if "authors" in head.value else "author")
    return FrontMatter(
        **found,
        extra=_extra(head),
        places=_places(head),
        orcids=read_orcids(authors),
        author_urls=read_urls(authors),
        affiliations=read_affiliations(authors),
        is_dated_by_git=head.value.get("updated") == GIT,
    )


def _meant_key(key: str) -> str | None:
    """Return the known key that an unknown one is a typo of, such as `tags` for `tgas`; None if the key is
    probably the author's own."""
    return confirm_typo(key, nearest(key, sorted(HEAD.fields)))


def _places(head: Slot) -> dict[str, Place]:
    """Map known keys to the locations of their values."""
    keys = {KEY_ALIASES.get(key, key): key for key in head.value if key in HEAD.fields}
    # if blogsmith's name and another one are used, blogsmith's takes precedence
    keys |= {key: key for key in keys if key in head.value}
    return {key: place for key, written in keys.items() if (place := head.child(written).place)}


def _extra(head: Slot) -> dict[str, Any]:
    """Return the unknown keys. Warn about those that are similar to a known one."""
    extra = {key: value for key, value in head.value.items() if key not in HEAD.fields}
    unknown = [key for key in extra if key.casefold() not in _KNOWN_UNRELATED_KEYS and not is_known_key(key)]
    for key in unknown[:_MAX_COMPARED_KEYS]:
        near = _meant_key(key.casefold())
        if near:
            slot, hint = head.key(key), f"did you mean `{near}`?"
            fix = slot.correct(near) if near not in head.value else None
            slot.warn("front-matter-key", f'unknown key "{key}"', hint, fix)
    return extra


@accepts(DATE_FORM)
def _date(slot: Slot) -> dt.datetime | None:
    written = text(slot)
    try:
        moment = parse_date(written)
    except ValueError:
        slot.report(f'invalid date "{written}": this day or time does not exist', _DATE_HINT, code="date")
        return None
    if moment is None and written:
        slot.report(
            f'invalid date "{written}"', _DATE_HINT, code="date", fix=slot.rewrite(nearest_date(written))
        )
    return moment


@accepts(DATE_FORM)
def _release_date(slot: Slot) -> str | None:
    return text(slot) if _date(slot) else None


@accepts(union_form(choice_form([GIT]), DATE_FORM))
def _updated(slot: Slot) -> dt.datetime | None:
    """Read a date; None if the date is to be taken from the Git history of the file."""
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
    """Return the date at the start of the name of a file or of a bundle's folder; None if the name has
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
    slot.report('missing key "name" in "series"', "write `series: {name: NAME, part: 1}`")
    return None


@accepts(_PART_FORM)
def _part(slot: Slot) -> None:
    """Check `part` of a page without series. On other pages it is read with `series`."""
    if slot.mapping.root().child("series").value is None:
        _read_numbered("", slot)


def _read_numbered(name: str, part: Slot) -> Series | None:
    number = part.value
    if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 1):
        number = part.report('"part" must be a whole number of at least 1', "write `part: 1`")
    if not name and number is not None:
        part.mapping.root().key("part").warn(
            "series-part", '"part" has no effect because "series" is missing', "add `series: NAME`"
        )
    return Series(name, number) if name else None


@accepts(FLAG)
def _math(slot: Slot) -> None:
    """Accept true and false, which other systems need to enable formulas. They have no effect in
    blogsmith."""
    if not isinstance(slot.value, bool):
        warn_about_value(
            slot, "true, false, or a mapping", "remove it: formulas need no setting, and no MathJax or KaTeX"
        )


@accepts(choice_form([]))
def _markup(slot: Slot) -> None:
    """Warn about a value that is not a mapping: Hugo accepts the name of a Markdown parser here."""
    warn_about_value(slot, "a mapping", "remove it, or write `markup: {latex: true}`")


@accepts(FLAG)
def _ignore(slot: Slot) -> None:
    """Ignore a key that is read elsewhere."""


@accepts(choice_form(["wip"]))
def _status(slot: Slot) -> str | None:
    # the draft status has reported it already
    return None if is_private_status(slot) else _STATUS(slot)


_STATUS = lenient_choice(("wip",), "write `status: wip` for a page that is not finished, or remove the line")


@accepts(TEXT)
def _permalink(slot: Slot) -> str | None:
    """Read a permalink; None after a warning about a URL. Its path is checked where URLs are assigned."""
    if slot.value is False and slot.name == "permalink":
        # the draft status has reported it already
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
    """Read true, false, or the URL of a thread; None after reporting anything else."""
    written = slot.value
    if not isinstance(written, str) or not {"/", "@"} & {*written}:
        found: bool | None = _COMMENTS(slot)
        return found
    if "://" not in written and read_thread(f"https://{written}"):
        # browsers show URLs without the scheme, so authors copy them that way
        return f"https://{written}"
    if read_thread(written) is None:
        slot.report(f'invalid thread "{written}": expected a post on Mastodon or Bluesky', THREAD_HINT)
        return None
    return written


_COMMENTS = lenient_flag(
    "write the URL of a thread on Mastodon or Bluesky, or set `comments` in blogsmith.yaml",
    "true, false or the URL of a thread",
)


@accepts(FLAG)
def _search(slot: Slot) -> bool | None:
    """Read true or false. Return None after a warning about any other value. The value `{exclude: true}` of
    Material for MkDocs means false."""
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
    """Read the name of a layout; None after a warning about any other value. Rendering checks whether the
    layout exists."""
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
    # line breaks are kept, because they mean spaces in TeX
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
    """Read the keys of works, with or without `@`, in a list or in one string. `*` means all works."""
    written = string_list()(slot)
    return tuple(dict.fromkeys(key for text in written for key in _NOCITE.findall(text)))


@accepts(choice_form(NUMBERINGS))
def _numbering(slot: Slot) -> bool | str | None:
    """Read true, false or `by part`. Ignore other values with a warning, since other systems use this key
    too."""
    found: bool | str | None = (
        slot.value if isinstance(slot.value, str) and slot.value in NUMBERINGS else None
    )
    return found or _NUMBERING(slot)


_NUMBERING = lenient_flag("write `true`, `false` or `by part`", 'true, false or "by part"')


def _describe_type(hint: Any) -> str:
    return "a list" if get_origin(hint) is tuple else "settings as `key: value`"


_TABLE = Table(
    types={str: text, bool: flag(), tuple[str, ...]: string_list()},
    choice=lambda words, _: choice(words),
    readers={
        # `is_held_back` reads it with the other keys that decide about publication
        "draft": _ignore,
        **dict.fromkeys(("title", "subtitle", "description"), lenient_text),
        **dict.fromkeys(("reading_time", "listing", "unlisted", "selected"), lenient_flag()),
        "numbering": _numbering,
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
        **dict.fromkeys(("citable", "notebook", "pdf"), lenient_flag()),
        "tags": string_list(separator=","),
        "categories": string_list(separator=","),
        "series": _series,
        "part": _part,
        "authors": read_people,
        "markup.latex": lenient_flag(),
        "math.macros": typed(dict, _macros, "a mapping from names to TeX"),
        "math.numbering": choice(get_args(get_type_hints(MathSettings)["numbering"])),
        "math.wide": choice(get_args(get_type_hints(MathSettings)["wide"])),
        **execution.READERS,
        "references": read_references,
        "bibliography": string_list(),
        "publications": string_list(),
        "citations.style": choice(get_args(get_type_hints(Citations)["style"])),
        "changes.date": _release_date,
        "solutions.after": _release_date,
        "nocite": _nocite,
        # only the type is checked: the content of the page decides
        "uses_math": lenient_flag(),
        "uses_code": lenient_flag(),
    },
    checks={
        "lang": unless_empty(language_check(shaped(LANGUAGE, "language tag"), "front-matter-unknown")),
        "math.packages": _packages,
        **execution.CHECKS,
    },
    short={"markup": _markup, "math": _math, "execute": execution.read_mode},
    names=execution.NAMES,
    aliases=KEY_ALIASES,
    computed=frozenset(("extra", "places", "orcids", "author_urls", "affiliations", "is_dated_by_git")),
    hints={
        "changes": "write an entry such as `- {date: 2026-03-14, text: Corrected a sum}`",
        "tree": "write titles with lists of pages, such as `Start: [install.md]`",
        "solutions": "write `solutions: {show: end}`",
    },
    foreign_key_hints=execution.FOREIGN,
    describe_type=_describe_type,
    notes={
        "part": "Number of the post in its series, from 1.",
        "uses_math": "Ignored: the content of the page decides.",
        "uses_code": "Ignored: the content of the page decides.",
    },
)
HEAD = build_schema(FrontMatter, _TABLE)
KNOWN_KEYS = tuple(HEAD.fields)


def _warn_about_foreign_keys(head: Slot) -> None:
    """Warn about keys that only other systems use."""
    written = {KEY_ALIASES.get(key, key) for key in head.value}
    for key in head.value:
        row = find_foreign_key(key)
        if row and row.is_unambiguous and key in row.keys:
            slot = head.key(key)
            is_rename = row.ours not in written and row.is_rename(head.value[key])
            fix = slot.rewrite(row.ours, is_safe=True) if is_rename else None
            written.add(row.ours)
            slot.warn("front-matter-key", row.no_effect_message(key), row.advice, fix)
