"""A curriculum vitae in the format JSON Resume, as HTML below the text of a page.

Every string is plain text. Values whose type is wrong for the format are left out, and so are private fields
such as phone and address. Source: jsonresume.org/schema, version 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ..base.patterns import lazy_pattern
from ..base.schema.data_loaders import read_object
from .context import PageRendering
from .prose import escape_html

_URL = lazy_pattern(r"https?://[^\s<>\"]+")
_YEAR = lazy_pattern(r"(\d{4})(?:-\d\d){0,2}")


class _Part(Struct, frozen=True):
    """A section of the format, such as `work`, with the keys of its entries."""

    heading: str
    """English heading of the section."""
    title: tuple[str, ...]
    """Keys of the title; the first with a value is printed."""
    place: str = ""
    """Key of the employer, institution or publisher; empty if the entries have none."""
    more: tuple[str, ...] = ()
    """Keys of details that follow the title."""


_PARTS: Mapping[str, _Part] = MappingProxyType(
    {
        "work": _Part("Experience", ("position", "name"), "name"),
        "education": _Part("Education", ("studyType", "area", "institution"), "institution", ("area",)),
        "awards": _Part("Awards", ("title",), "awarder"),
        "projects": _Part("Projects", ("name",), "entity"),
        "publications": _Part("Publications", ("name",), "publisher"),
        "volunteer": _Part("Service", ("position", "organization"), "organization"),
        "certificates": _Part("Certificates", ("name",), "issuer"),
        "skills": _Part("Skills", ("name",), "", ("level",)),
        "languages": _Part("Languages", ("language",), "", ("fluency",)),
        "interests": _Part("Interests", ("name",)),
    }
)
_DATES = ("startDate", "date", "releaseDate")
_POINTS = ("highlights", "courses")


def render_cv(rendering: PageRendering) -> str:
    """Render the file that `cv` in the front matter names, if there is one. Report a file that is missing or
    invalid."""
    document = rendering.document
    if not document.front.cv:
        return ""
    file, place = document.included.get(document.front.cv), document.front.places.get("cv")
    if file is None or file.problem:
        problem = file.problem if file else f'file not found: "{document.front.cv}"'
        rendering.reporter.error("include-file", problem, place, file.hint if file else "")
        return ""
    found = read_object(file.text)
    if not isinstance(found.value, dict):
        reason = found.problem.message or "expected an object"
        line = file.text.count("\n", 0, found.problem.at) + 1
        hint = found.problem.hint or "write a file in the format of jsonresume.org"
        message = f'invalid CV "{file.path}" on line {line}: {reason}'
        rendering.reporter.error("include-file", message, place, hint)
        return ""
    rendering.widgets.add("people")
    parts = "".join(_part(rendering, key, found.value.get(key)) for key in _PARTS)
    return f'<div class="cv">\n{_summary(found.value)}{parts}</div>\n'


def _summary(resume: Mapping[str, Any]) -> str:
    basics = resume.get("basics")
    text = _text(basics, "summary") if isinstance(basics, dict) else ""
    return f"<p>{text}</p>\n" if text else ""


def _part(rendering: PageRendering, key: str, entries: object) -> str:
    known = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    if not known:
        return ""
    part = _PARTS[key]
    heading = escape_html(rendering.language.translate(part.heading))
    items = "".join(_entry(one, part) for one in known)
    title = f'<h2 id="cv-{key}">{heading}</h2>'
    return f'<section aria-labelledby="cv-{key}">\n{title}\n<ul>\n{items}</ul>\n</section>\n'


def _entry(entry: Mapping[str, Any], part: _Part) -> str:
    years = _years(entry)
    shown = f'<span class="cv-years">{years}</span>\n' if years else ""
    return f"<li>{shown}<div>\n{''.join(_lines(entry, part))}</div></li>\n"


def _lines(entry: Mapping[str, Any], part: _Part) -> Iterator[str]:
    title = next((text for key in part.title if (text := _text(entry, key))), "")
    url = entry.get("url")
    if isinstance(url, str) and _URL.fullmatch(url):
        title = f'<a href="{escape_html(url)}">{title}</a>'
    details = [text for key in (*part.more, part.place) if (text := _text(entry, key)) and text != title]
    details += [", ".join(_strings(entry, "keywords"))]
    yield f"<p>{', '.join(filter(None, (f'<strong>{title}</strong>', *details)))}</p>\n"
    if text := _text(entry, "summary") or _text(entry, "description"):
        yield f"<p>{text}</p>\n"
    if points := [point for key in _POINTS for point in _strings(entry, key)]:
        items = "".join(f"<li>{point}</li>\n" for point in points)
        yield f"<ul>\n{items}</ul>\n"


def _years(entry: Mapping[str, Any]) -> str:
    start = next((year for key in _DATES if (year := _year(entry, key))), "")
    end = _year(entry, "endDate")
    if "startDate" in entry and not end:
        return f"{start}–" if start else ""
    return "–".join(dict.fromkeys(filter(None, (start, end))))


def _year(entry: Mapping[str, Any], key: str) -> str:
    found = _YEAR.fullmatch(str(entry.get(key)))
    return found[1] if found else ""


def _text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    return escape_html(value.strip()) if isinstance(value, str) else ""


def _strings(entry: Mapping[str, Any], key: str) -> list[str]:
    values = entry.get(key)
    return [escape_html(one) for one in values if isinstance(one, str)] if isinstance(values, list) else []
