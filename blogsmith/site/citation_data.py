"""Citation data of a post: BibTeX entry, formatted sentence, authors, DOI and licence."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from ..base.patterns import lazy_pattern
from ..bibliography.bibtex_index import MONTHS
from ..bibliography.bibtex_text import escape_tex, format_bibtex
from ..config.authors import author_names
from ..config.schema import Config
from ..model.dates import parse_date
from ..model.documents import FrontMatter
from ..model.publications import parse_license
from ..model.quotation import quotation_marks
from ..model.slugs import slugify
from ..model.template_views import CitableView, PageAuthor
from ..model.title_code import title_without_marks

_FORMULA = lazy_pattern(r"(\$(?:[^\\$]|\\.)+\$)")
_WORD = lazy_pattern(r"[a-z0-9]{3,}")
_SMALL = frozenset(("the", "and", "for", "with", "from", "why", "how", "what", "are", "that", "its"))


def citable_view(front: FrontMatter, title: str, url: str, config: Config) -> CitableView | None:
    """Return the citation data of a page, or None if the page has no citation, DOI, licence or ORCID iD.

    title: as plain text; url: absolute, may be empty.
    """
    authors = page_authors(front, config)
    name, address = parse_license(front.license or config.license)
    shows_citation = is_citable(front, config)
    if not (shows_citation or front.doi or name or any(author.orcid for author in authors)):
        return None
    return CitableView(
        bibtex=post_bibtex(front, title, url, config) if shows_citation else "",
        text=_sentence(front, title, url, [author.name for author in authors], config)
        if shows_citation
        else "",
        authors=authors,
        doi=front.doi,
        license=name,
        license_url=address,
    )


def is_citable(front: FrontMatter, config: Config) -> bool:
    """Return whether the page shows its citation data."""
    wanted = config.citable or bool(front.doi) if front.citable is None else front.citable
    return wanted and front.date is not None


def page_authors(front: FrontMatter, config: Config) -> tuple[PageAuthor, ...]:
    """Return the authors of a page with their ORCID iDs."""
    names = author_names(front.authors, config)
    orcids = {**config.orcids, **front.orcids}
    return tuple(PageAuthor(name, orcids.get(name, "")) for name in names)


def post_bibtex(front: FrontMatter, title: str, url: str, config: Config) -> str:
    """Return the post as a BibTeX entry.

    title: as plain text, used if the front matter has no title.
    """
    names = author_names(front.authors, config)
    date = front.date
    fields = [
        ("author", " and ".join(map(escape_tex, names))),
        ("title", f"{{{_tex_title(title_without_marks(front.title) or title)}}}"),
        ("year", str(date.year) if date else ""),
        ("month", MONTHS[date.month - 1] if date else ""),
        ("howpublished", escape_tex(config.title)),
        ("url", url),
        ("doi", front.doi),
        ("note", f"Version of {version}" if (version := _version(front)) else ""),
    ]
    text = format_bibtex(
        "misc", citation_key(names, date, title, marks=config.slug_settings.keeps_marks), fields
    )
    # months are predefined strings in BibTeX, so they have no braces
    return text.replace(f"month = {{{fields[3][1]}}}", f"month = {fields[3][1]}") if date else text


def citation_key(names: Sequence[str], date: dt.datetime | None, title: str, *, marks: bool = False) -> str:
    """Return a BibTeX key such as `lovelace2024notes`: first author, year, first significant word of the
    title.

    marks: whether the title's combining marks are kept, as for `slugify`.
    """
    first = names[0] if names else ""
    family = first.partition(",")[0] if "," in first else first.rpartition(" ")[2]
    words = _WORD.findall(slugify(title))
    word = next((word for word in words if word not in _SMALL), "".join(words[:1]))
    return f"{slugify(family, marks=marks).replace('-', '')}{date.year if date else ''}{word}" or "post"


def _version(front: FrontMatter) -> str:
    """Return the day of the newest change of a post; empty for a post without changes."""
    days = (parse_date(change.date) for change in front.changes)
    return max((day.date().isoformat() for day in days if day), default="")


def _tex_title(title: str) -> str:
    """Return a title as TeX. Its formulas are TeX already, so they are not escaped."""
    parts = _FORMULA.split(title)
    return "".join(part if index % 2 else escape_tex(part) for index, part in enumerate(parts))


def _sentence(front: FrontMatter, title: str, url: str, names: Sequence[str], config: Config) -> str:
    """Return a sentence such as `Ada Lovelace. “Notes.” Site, 2024. https://…`"""
    who = f"{', '.join(names[:-1])} & {names[-1]}" if len(names) > 1 else "".join(names)
    mark = "" if title.endswith(("?", "!", ".")) else "."
    year = str(front.date.year) if front.date else ""
    version = f"version {_version(front)}" if _version(front) else ""
    where = ", ".join(filter(None, (config.title, year, version)))
    address = f"https://doi.org/{front.doi}" if front.doi else url
    who = f"{who}. " if who and not who.endswith(".") else f"{who} " if who else ""
    opening, closing, *_ = quotation_marks(front.lang or config.lang)
    return f"{who}{opening}{title}{mark}{closing} {where}. {address}".strip()
