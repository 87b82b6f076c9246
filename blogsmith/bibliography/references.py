"""Conversion of entries under `references:` in front matter to publications, and back."""

from __future__ import annotations

from collections.abc import Iterator

from ..base.patterns import lazy_pattern
from ..model.documents import Reference
from ..model.publications import DOI, Person, Publication, WorkDate
from .csl_json import publication_bibtex
from .works import ADDRESS, read_name

_ET_AL = lazy_pattern(r",?\s*(?:et al\.?|and others|u\. ?a\.)\s*$")
_YEAR = lazy_pattern(r"-?\d{1,4}")
MOST_AUTHORS = 10
"""Maximum number of authors that a list of references prints for a publication from a bibliography."""
_ARXIV = lazy_pattern(r"https?://arxiv\.org/(?:abs|pdf)/([\w./-]+?)(?:\.pdf)?")


def publication_from_reference(reference: Reference) -> Publication:
    """Convert an entry of front matter to a publication."""
    people, has_others = list[Person](), False
    for name in reference.authors:
        found = _ET_AL.sub("", name)
        has_others = has_others or found != name
        if found:
            people.append(read_name(found))
    texts = {
        "title": reference.title,
        "container-title": reference.venue,
        "volume": reference.volume,
        "issue": reference.issue,
        "page": reference.pages.replace("–", "-"),
        "note": reference.note,
    }
    texts = {name: text for name, text in texts.items() if text}
    doi = DOI.fullmatch(reference.url)
    if doi:
        texts["DOI"] = doi[1]
    elif reference.url:
        texts["URL"] = reference.url
    extra = {str(name): value for name, value in reference.extra.items() if isinstance(value, str | int)}
    for name, variable in (("publisher-place", "publisher-place"), ("edition", "edition"), ("isbn", "ISBN")):
        if name in extra:
            texts[variable] = str(extra[name])
    is_year = _YEAR.fullmatch(reference.year)
    work = Publication(
        key=reference.key,
        kind=str(extra.get("type") or ("article-journal" if reference.venue else "document")),
        variables=texts,
        people={"author": tuple(people)} if people else {},
        has_others=has_others,
        dates={"issued": WorkDate(int(reference.year))} if is_year else {},
        date_text="" if is_year else reference.year,
    )
    return Publication(
        **{
            **{name: getattr(work, name) for name in work.__struct_fields__},
            "bibtex": publication_bibtex(work),
        }
    )


def reference_from_publication(work: Publication) -> Reference:
    """Convert a publication to an entry of `references:`, with the values that the built-in styles print."""
    texts = work.variables
    is_serial = "container-title" in texts and work.kind != "chapter"
    authors = [person.full for person in work.authors]
    if len(authors) > MOST_AUTHORS or work.has_others:
        authors = [*authors[:MOST_AUTHORS], "et al."]
    return Reference(
        work.key,
        title=work.title,
        authors=tuple(authors),
        year=work.year,
        venue=", ".join(_venue(work)),
        volume=texts.get("volume", "") if is_serial else "",
        issue=texts.get("issue", ""),
        pages=texts.get("page", "").replace("-", "–"),
        url=publication_url(work),
        note=texts.get("note", ""),
    )


def _venue(work: Publication) -> Iterator[str]:
    texts = work.variables
    if title := texts.get("container-title"):
        yield title
    if work.kind == "thesis" and (genre := texts.get("genre")):
        yield genre
    if (publisher := texts.get("publisher")) and work.kind != "article-journal":
        number = texts.get("number", "")
        yield number if publisher == "arXiv" and number else publisher
    if (volume := texts.get("volume")) and ("container-title" not in texts or work.kind == "chapter"):
        yield f"vol. {volume}"


def publication_url(work: Publication) -> str:
    """Return the URL of a publication; empty if there is none."""
    if url := work.variables.get("URL"):
        return url
    if doi := work.variables.get("DOI"):
        return f"https://doi.org/{doi}"
    return f"https://arxiv.org/abs/{work.arxiv}" if work.arxiv else ""


def publication_links(work: Publication) -> Iterator[tuple[str, str]]:
    """Yield (name, URL) of each link that follows an entry in a list of references."""
    if doi := work.variables.get("DOI"):
        yield "DOI", f"https://doi.org/{doi}"
    if work.arxiv:
        yield "arXiv", f"https://arxiv.org/abs/{work.arxiv}"
    url = work.variables.get("URL", "")
    if work.pdf and (ADDRESS.fullmatch(work.pdf) or work.pdf.startswith("/")):
        yield "PDF", work.pdf
    elif url.lower().endswith(".pdf"):
        yield "PDF", url
    for name, target in work.links.items():
        if ADDRESS.fullmatch(target) or target.startswith("/"):
            yield name, target
