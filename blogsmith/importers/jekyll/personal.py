"""Parts of a personal site, which are the profile, news, cards of projects, and the CV. Supports Jekyll
themes for researchers, such as al-folio, academicpages and Minimal Mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern
from ..model import ImportedData
from ..source_files import read_text
from ..text.data import one_line, split_yaml_front_matter
from .source import JekyllDocument, JekyllSite

CV_FILE = PurePosixPath("cv.json")
_TAG = lazy_pattern(r"<[^<>]*>")
_BREAK = lazy_pattern(r"(?:</(?:p|div|li)>|<br\b[^<>]*>)\s*")
_IMAGE_FOLDERS = ("", "assets/img/", "assets/images/", "images/", "assets/", "img/")


def person_settings(site: JekyllSite, name: str) -> dict[str, Any]:
    """Return the setting `person` of the new site; empty if the old site shows no portrait. name: name of the
    site's author."""
    home = next((each for each in site.files.documents if each.address == "/"), None)
    profile = home.front.get("profile") if home else None
    author = site.config.values.get("author")
    author = author if isinstance(author, Mapping) else {}
    profile = profile if isinstance(profile, Mapping) else {}
    written = profile.get("image") or author.get("avatar") or site.config.values.get("avatar")
    portrait = _image(site, one_line(written))
    if not portrait:
        return {}
    more = one_line(profile.get("more_info"))
    subtitle = home.front.get("subtitle") if home and profile else ""
    found = {
        "name": name or one_line(site.config.values.get("title")),
        "portrait": portrait,
        "line": _plain(one_line(subtitle) or one_line(author.get("bio"))),
        "affiliation": _plain("" if more.endswith(".md") else more)
        or ", ".join(filter(None, (one_line(author.get(key)) for key in ("employer", "location")))),
    }
    return {key: text for key, text in found.items() if text}


def _image(site: JekyllSite, name: str) -> str:
    path = name.removeprefix(site.config.base_path).lstrip("/")
    tried = (f"/{folder}{path}" for folder in _IMAGE_FOLDERS)
    return next((each for each in tried if path and each in site.copied), "")


def _plain(html: str) -> str:
    """Return the text of HTML on one line, with commas between paragraphs."""
    lines = (_TAG.sub("", line).strip() for line in _BREAK.split(html))
    return unescape(", ".join(filter(None, lines)))


def list_settings(site: JekyllSite) -> dict[str, Any]:
    """Return the setting `lists` of the new site. News is shown with its whole text, and pages with images
    are shown as cards."""
    styles: dict[str, str] = {}
    for document in site.files.documents:
        if document.collection in ("posts", "drafts", "pages", "tabs"):
            continue
        if document.collection == "news" or document.front.get("inline") is True:
            styles[document.collection] = "notes"
        elif page_image(document):
            styles.setdefault(document.collection, "cards")
    return {"sections": dict(sorted(styles.items()))} if styles else {}


def page_image(document: JekyllDocument) -> str:
    """Return the URL of the image of a project or book in al-folio; empty if the page has none."""
    return one_line(document.front.get("img") or document.front.get("cover"))


def profiles_text(document: JekyllDocument, site: JekyllSite) -> str:
    """Return the people in al-folio's front matter key `profiles` as Markdown; empty if the page does not
    have the key."""
    written = document.front.get("profiles")
    found = []
    for each in written if isinstance(written, list) else ():
        if isinstance(each, Mapping):
            image = _image(site, one_line(each.get("image")))
            name = one_line(each.get("content"))
            text = read_text(site.root / document.path.parent / name) if _FILE.fullmatch(name) else None
            parts = (f"![]({image})" if image else "", split_yaml_front_matter(text or "")[1].strip())
            found += [*parts, _plain(one_line(each.get("more_info")))]
    return "\n\n".join(filter(None, found))


_FILE = lazy_pattern(r"[\w-]+\.md")
_SECTIONS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "education": ("education", {}),
    "experience": ("work", {"company": "name"}),
    "work": ("work", {"company": "name"}),
    "volunteer": ("volunteer", {"company": "organization"}),
    "awards": ("awards", {"name": "title"}),
    "honors and awards": ("awards", {"name": "title"}),
    "projects": ("projects", {}),
    "publications": ("publications", {"title": "name", "journal": "publisher"}),
    "certificates": ("certificates", {}),
    "skills": ("skills", {"label": "name", "details": "level"}),
    "languages": ("languages", {"name": "language", "summary": "fluency"}),
    "interests": ("interests", {}),
}
"""Section of RenderCV in lower case → section of JSON Resume, and old → new names of its fields."""
_FIELDS = {"start_date": "startDate", "end_date": "endDate", "degree": "studyType"}
_WORDS = frozenset(("keywords", "courses"))


@dataclass(frozen=True, slots=True)
class Cv:
    """The CV of a site."""

    file: ImportedData | None = None
    """The CV in the format JSON Resume; None if it cannot be converted."""
    text: str = ""
    """The CV as Markdown, if `file` is None; otherwise empty."""
    omitted: tuple[str, ...] = ()
    """Names of the sections that neither `file` nor `text` contains."""


def read_cv(site: JekyllSite) -> Cv:
    """Return the CV of al-folio, read from `_data/cv.yml` in either of its two formats, or from a JSON
    Resume."""
    written = site.data.get("cv")
    cv = written.get("cv") if isinstance(written, Mapping) else None
    sections = cv.get("sections") if isinstance(cv, Mapping) else None
    wanted = next((one_line(each.front.get("cv_format")) for each in site.files.documents if is_cv(each)), "")
    resume = _resume(site) if wanted == "jsonresume" or not isinstance(sections, Mapping) else None
    if resume:
        return Cv(resume)
    if isinstance(written, list):
        return Cv(text="\n".join(_listed(written)))
    if not isinstance(cv, Mapping) or not isinstance(sections, Mapping):
        return Cv()
    known = {key: _SECTIONS.get(str(key).casefold()) for key in sections}
    data: dict[str, Any] = {"basics": {"name": cv.get("name"), "summary": cv.get("summary")}}
    for key, found in known.items():
        if found and isinstance(sections[key], list):
            entries = [each for each in sections[key] if isinstance(each, Mapping)]
            data.setdefault(found[0], []).extend(_entry(each, found[1]) for each in entries)
    text = f"{json.dumps(data, indent=1, ensure_ascii=False)}\n"
    omitted = tuple(str(key) for key, found in known.items() if not found)
    return Cv(ImportedData(CV_FILE, text.encode()), omitted=omitted)


def is_cv(document: JekyllDocument) -> bool:
    """Return whether the layout of a page shows the CV."""
    return document.front.get("layout") == "cv"


def _resume(site: JekyllSite) -> ImportedData | None:
    path = "/assets/json/resume.json"
    text = read_text(site.root / site.config.folder / path.lstrip("/")) if path in site.copied else None
    return ImportedData(CV_FILE, text.encode()) if text else None


def _listed(sections: Sequence[Any], level: int = 2) -> Iterator[str]:
    """Yield lines of Markdown for the older format of `_data/cv.yml`. Its sections contain lists and tables.
    level: level of the section headings."""
    for section in sections:
        if isinstance(section, Mapping) and isinstance(section.get("contents"), list):
            yield f"{'#' * level} {one_line(section.get('title'))}\n"
            yield from _points(section["contents"], "")
            yield ""


def _points(entries: Sequence[Any], indent: str) -> Iterator[str]:
    for entry in entries:
        fields = entry if isinstance(entry, Mapping) else {"title": entry}
        plain = {key: text for key, value in fields.items() if key != "icon" and (text := one_line(value))}
        head = plain.pop("title", "") or plain.pop("name", "")
        more = ", ".join(plain.values())
        shown = f"**{head}**" if head and (more or len(fields) > 1) else head
        yield f"{indent}- {', '.join(filter(None, (shown, more)))}"
        for value in fields.values():
            yield from _points(value, f"{indent}  ") if isinstance(value, list) else ()


def _entry(entry: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(key, _FIELDS.get(key, key)): value for key, value in _fields(entry)}


def _fields(entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in entry.items():
        if key in _WORDS and isinstance(value, str):
            yield key, re.split(r",\s*", value)
        elif isinstance(value, list):
            yield key, [one_line(each) for each in value]
        elif key != "icon" and one_line(value):
            yield str(key), one_line(value)
