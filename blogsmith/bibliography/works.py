"""Conversion of a `.bib` entry to a publication, and of names in BibTeX.

Source: the mapping of pandoc's and Zotero's importers, and biblatex's manual for the names of fields. Titles
keep their case.

Source for names (`First von Last`, `von Last, First`, `von Last, Jr, First`, institutions in braces):
N. Markey, "Tame the BeaST", 2009, section 11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ..base.patterns import lazy_pattern
from ..model.publications import DOI, Person, Publication, WorkDate
from .bibtex_index import MONTHS, BibEntry, BibProblem
from .bibtex_text import copy_entry
from .latex import convert_latex, plain_text, split_outside_braces

_WORD = lazy_pattern(r"(?:\\.|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|[^\s,{}\\]|[{}])+")
_LETTER = lazy_pattern(r"\\[A-Za-z]+\s*|[{}\\'\"`^~=.]")
MOST_NAMES = 2_000


def read_names(tex: str) -> tuple[tuple[Person, ...], bool]:
    """Return the people in the value of a field such as `author`. Also return whether the list ends in `and
    others`."""
    found, has_others = list[Person](), False
    for _, part in split_outside_braces(tex, "and"):
        name = part.strip()
        if name in ("others", "et al.", "et al"):
            has_others = True
        elif name and len(found) < MOST_NAMES:
            found.append(read_name(name))
    return tuple(person for person in found if person != Person()), has_others


def read_name(tex: str) -> Person:
    """Parse one name."""
    if tex.startswith("{") and _closes_last(tex):
        return Person(literal=plain_text(tex))
    parts = [part.strip() for _, part in split_at_commas(tex)]
    if len(parts) == 1:
        return _parse_forward_name(_WORD.findall(tex))
    particle, family = _particle(_WORD.findall(parts[0]))
    suffix, given = ("", parts[1]) if len(parts) == 2 else (parts[1], ", ".join(parts[2:]))
    return Person(_join_words(family), plain_text(given), _join_words(particle), plain_text(suffix))


def split_at_commas(tex: str) -> list[tuple[int, str]]:
    """Return (offset, part) for the parts of a name between commas outside of braces."""
    found, depth, start = list[tuple[int, str]](), 0, 0
    for index, char in enumerate(tex):
        if char in "{}":
            depth = max(0, depth + (1 if char == "{" else -1))
        elif char == "," and depth == 0:
            found.append((start, tex[start:index]))
            start = index + 1
    return [*found, (start, tex[start:])]


def _closes_last(tex: str) -> bool:
    """Return whether the brace that opens the string is closed by the string's last character."""
    depth = 0
    for index, char in enumerate(tex):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth == 0:
            return index == len(tex) - 1
    return True


def _parse_forward_name(words: list[str]) -> Person:
    """Parse `First von Last`. The particle consists of the words in the middle that start in lower case."""
    if not words:
        return Person()
    small = [index for index, word in enumerate(words[:-1]) if _is_lower_case(word)]
    if small:
        first, last = small[0], small[-1] + 1
        return Person(_join_words(words[last:]), _join_words(words[:first]), _join_words(words[first:last]))
    return Person(_join_words(words[-1:]), _join_words(words[:-1]))


def _particle(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words of the particle and the words of the family name in `von Last`."""
    small = [index for index, word in enumerate(words[:-1]) if _is_lower_case(word)]
    count = small[-1] + 1 if small and small[0] == 0 else 0
    return words[:count], words[count:]


def _is_lower_case(word: str) -> bool:
    """Return whether a word starts in lower case. A word in braces does not."""
    if word.startswith("{") and not word.startswith("{\\"):
        return False
    letters = _LETTER.sub("", word)
    return letters[:1].islower()


def _join_words(words: list[str]) -> str:
    return plain_text(" ".join(words))


_KINDS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("article", "periodical", "suppperiodical"), "article-journal"),
        **dict.fromkeys(("inproceedings", "conference"), "paper-conference"),
        **dict.fromkeys(("book", "mvbook", "collection", "proceedings", "mvcollection", "manual"), "book"),
        **dict.fromkeys(("booklet",), "pamphlet"),
        **dict.fromkeys(("incollection", "inbook", "suppbook", "suppcollection", "bookinbook"), "chapter"),
        "inreference": "entry-encyclopedia",
        **dict.fromkeys(("phdthesis", "mastersthesis", "thesis"), "thesis"),
        **dict.fromkeys(("techreport", "report"), "report"),
        **dict.fromkeys(("online", "electronic", "www"), "webpage"),
        "unpublished": "manuscript",
        "dataset": "dataset",
        "software": "software",
        "patent": "patent",
        "video": "motion_picture",
        "audio": "song",
        "image": "graphic",
    }
)
_TEXTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "container-title": ("journal", "journaltitle", "booktitle"),
        "collection-title": ("series",),
        "publisher": ("publisher", "school", "institution", "organization"),
        "publisher-place": ("address", "location"),
        "volume": ("volume",),
        "chapter-number": ("chapter",),
        "version": ("version",),
        "event-title": ("eventtitle",),
        "title-short": ("shorttitle",),
        "container-title-short": ("shortjournal",),
        "language": ("langid", "language"),
        "note": ("note",),
        "ISBN": ("isbn",),
        "ISSN": ("issn",),
        "number-of-volumes": ("volumes",),
        "number-of-pages": ("pagetotal",),
    }
)
"""CSL variable → fields that may contain its value. The first of them that exists is used."""
_PROTECTED = frozenset({"title", "container-title", "collection-title", "title-short"})
_GENRES = {"phdthesis": "PhD thesis", "mastersthesis": "Master’s thesis", "techreport": "Technical Report"}
_BIBLATEX_TYPES = {
    **{"phdthesis": "PhD thesis", "mathesis": "Master’s thesis", "bathesis": "Bachelor’s thesis"},
    **{"techreport": "Technical Report", "resreport": "Research Report"},
}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ORDINAL = lazy_pattern(r"(\d+)(?:st|nd|rd|th)?\.?(?: ed(?:ition|n)?\.?)?", 2)
_DATE = lazy_pattern(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_DAY = lazy_pattern(r"(?:\D*?)(\d{1,2})\D*")
_DASHES = lazy_pattern(r"\s*(?:-{1,3}|–|—)\s*")

_LINKS = {
    **{"html": "HTML", "supp": "Supplement", "video": "Video", "blog": "Blog", "code": "Code"},
    **{"poster": "Poster", "slides": "Slides", "website": "Website"},
}
"""Field that contains a URL → English name of the link, in the order of al-folio."""
_ARCHIVES = {
    "hal": ("HAL", "https://hal.science/"),
    "inspirehep_id": ("INSPIRE", "https://inspirehep.net/literature/"),
}
"""Field that contains an identifier → name of the archive, and the URL before the identifier."""
_IDENTIFIER = lazy_pattern(r"[\w-]+")
ADDRESS = lazy_pattern(r"https?://[^\s<>\"]+")
_ARXIV = lazy_pattern(
    r"(?:arxiv:\s*|https?://arxiv\.org/(?:abs|pdf)/)?((?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)",
    2,
)
_IN_TEXT = lazy_pattern(r"arxiv[:\s]+(?:preprint\s+)?(?:arxiv[:\s]*)?(\d{4}\.\d{4,5}(?:v\d+)?)", 2)


def publication_from_entry(entry: BibEntry) -> Publication:
    """Convert an entry to a publication. Errors are added to the entry's `problems`."""
    texts = dict(_texts(entry))
    people, has_others = {}, False
    for role in ("author", "editor", "translator"):
        if written := entry.text(role):
            people[role], others = read_names(written)
            has_others = has_others or (others and role == "author")
    dates, date_text = _dates(entry)
    arxiv = _arxiv(entry, texts)
    award, award_name = _read(entry, "award"), _read(entry, "award_name")
    if arxiv and "article-journal" not in (kind := _kind(entry)) and "container-title" not in texts:
        texts.setdefault("publisher", "arXiv")
        texts.setdefault("number", f"arXiv:{arxiv}")
    else:
        kind = _kind(entry)
    return Publication(
        key=entry.key,
        kind=kind,
        variables=texts,
        people=people,
        has_others=has_others,
        dates=dates,
        date_text=date_text,
        pdf=_file_url(entry, "pdf"),
        arxiv=arxiv,
        links=dict(_links(entry)),
        abstract=" ".join(_read(entry, "abstract").split()),
        venue=_read(entry, "abbr"),
        preview=_file_url(entry, "preview"),
        award=award_name or award,
        award_text=award if award_name else "",
        is_selected=entry.text("selected").strip().lower() in ("true", "yes", "1"),
        bibtex=copy_entry(entry),
    )


def _kind(entry: BibEntry) -> str:
    known = _KINDS.get(entry.kind)
    if known:
        return known
    if entry.text("eprint") or "arxiv" in entry.text("journal", "howpublished", "note", "url").lower():
        return "article"
    return "webpage" if _address(entry) else "document"


def _texts(entry: BibEntry) -> Iterator[tuple[str, str]]:
    title = _read(entry, "title", protects=True)
    if subtitle := _read(entry, "subtitle", protects=True):
        title = f"{title}{' ' if title.endswith(('?', '!', ':')) else ': '}{subtitle}"
    if title:
        yield "title", title
    for variable, names in _TEXTS.items():
        name = next((name for name in names if name in entry.fields), "")
        if name and (text := _read(entry, name, protects=variable in _PROTECTED)):
            yield variable, text
    if pages := _read(entry, "pages"):
        yield "page", _DASHES.sub("-", pages)
    if number := _read(entry, "number") or _read(entry, "issue"):
        yield _number_variable(entry), number
    if edition := _edition(entry):
        yield "edition", edition
    if genre := _genre(entry):
        yield "genre", genre
    yield from _addresses(entry)


def _read(entry: BibEntry, name: str, *, protects: bool = False) -> str:
    found = entry.fields.get(name)
    if found is None:
        return ""
    text, unknown = convert_latex(found.text, protects=protects)
    for command in unknown:
        message = f'unsupported command "{command.name}" in field "{name}" is omitted'
        start = found.start + command.offset
        entry.problems.append(
            BibProblem(
                message,
                start,
                len(command.name),
                "remove it, or write the character itself, such as `ö`",
                severe=False,
            )
        )
    return text


def _number_variable(entry: BibEntry) -> str:
    if entry.kind in ("article", "periodical"):
        return "issue"
    return "collection-number" if "series" in entry.fields else "number"


def _edition(entry: BibEntry) -> str:
    written = _read(entry, "edition")
    found = _ORDINAL.fullmatch(written)
    if found:
        return found[1]
    word = written.casefold().removesuffix(" edition")
    return str(_ORDINALS.index(word) + 1) if word in _ORDINALS else written


def _genre(entry: BibEntry) -> str:
    written = _read(entry, "type")
    return _BIBLATEX_TYPES.get(written, written) or _GENRES.get(entry.kind, "")


def _addresses(entry: BibEntry) -> Iterator[tuple[str, str]]:
    if doi := entry.text("doi"):
        found = DOI.fullmatch(_plain_address(doi))
        if found:
            yield "DOI", found[1]
        elif not _plain_address(doi).startswith("10/"):
            field = entry.fields["doi"]
            hint = "write the DOI as in `10.1000/182`"
            entry.problems.append(
                BibProblem(
                    f'invalid DOI "{doi}": expected "10." at the start',
                    field.start,
                    len(doi),
                    hint,
                    severe=False,
                )
            )
        else:
            yield "URL", f"https://doi.org/{_plain_address(doi)}"
            return
    if url := _address(entry):
        yield "URL", url


def _address(entry: BibEntry) -> str:
    """Return the URL of a publication if it is http or https. Report any other URL and return an empty
    string."""
    for name in ("url", "howpublished"):
        written = _plain_address(entry.text(name)).removeprefix("url{").rstrip("}")
        if ADDRESS.fullmatch(written):
            return written
        if name == "url" and written:
            field = entry.fields[name]
            message = f'invalid URL "{written[:80]}": expected http or https, so it is not linked'
            mistake = BibProblem(
                message,
                field.start,
                len(field.text),
                "write a URL such as `https://example.org/`",
                severe=False,
            )
            if mistake not in entry.problems:
                entry.problems.append(mistake)
    return ""


def _plain_address(tex: str) -> str:
    r"""Return a URL without escapes of LaTeX such as `\_`, `\%` and `{…}`."""
    found = tex.strip().removeprefix("\\url")
    return found.replace("\\", "").strip("{}").replace("{", "").replace("}", "").strip()


def _arxiv(entry: BibEntry, texts: Mapping[str, str]) -> str:
    archive = entry.text("archiveprefix", "eprinttype").lower()
    is_there = "arxiv" in archive or (not archive and entry.kind != "article")
    if is_there and (found := _ARXIV.fullmatch(entry.text("eprint").strip())):
        return found[1]
    if found := _ARXIV.fullmatch(entry.text("arxiv").strip()):
        return found[1]
    if found := _ARXIV.fullmatch(texts.get("URL", "").removesuffix(".pdf")):
        return found[1]
    written = " ".join(entry.text(name) for name in ("journal", "note", "howpublished", "volume"))
    found = _IN_TEXT.search(written)
    return found[1] if found else ""


def _links(entry: BibEntry) -> Iterator[tuple[str, str]]:
    """Yield (name, URL) of the entry's additional links."""
    for field, (name, start) in _ARCHIVES.items():
        if _IDENTIFIER.fullmatch(found := entry.text(field).strip()):
            yield name, f"{start}{found}"
    for field, name in _LINKS.items():
        if url := _file_url(entry, field):
            yield name, url


def _file_url(entry: BibEntry, name: str) -> str:
    written = _plain_address(entry.text(name))
    is_path = not ADDRESS.fullmatch(written) and ":" not in written.partition("/")[0]
    return written if written and (is_path or ADDRESS.fullmatch(written)) else ""


def _dates(entry: BibEntry) -> tuple[dict[str, WorkDate], str]:
    dates, text = {}, ""
    if found := _DATE.match(entry.text("date")):
        dates["issued"] = _date(found[1], found[2] or "0", found[3] or "0")
    elif written := _read(entry, "year") or _read(entry, "date"):
        if written.isdecimal() and len(written) <= 4:
            month, day = _month_and_day(entry)
            dates["issued"] = WorkDate(int(written), month, day)
        else:
            text = written
    if found := _DATE.match(entry.text("urldate").strip()):
        dates["accessed"] = _date(found[1], found[2] or "0", found[3] or "0")
    return dates, text


def _date(year: str, month: str, day: str) -> WorkDate:
    return WorkDate(int(year), min(int(month), 12), min(int(day), 31))


def _month_and_day(entry: BibEntry) -> tuple[int, int]:
    """Return (month, day) as numbers, from values such as `jun`, `June`, `6` or `12 # "~" # jun`. An unknown
    month or day is 0."""
    written = _read(entry, "month").lower()
    day = _DAY.fullmatch(entry.text("day"))
    for number, name in enumerate(MONTHS, 1):
        if name in written:
            in_month = _DAY.fullmatch(written)
            return number, min(31, int((day or in_month or ["0", "0"])[1]))
    month = int(written) if written.isdecimal() and len(written) < 3 else 0
    return (month, min(31, int(day[1])) if day else 0) if 1 <= month <= 12 else (0, 0)


def person_text(person: Person) -> str:
    """Return the name of a person as BibTeX: `van Gogh, Vincent`."""
    if person.literal:
        return f"{{{person.literal}}}"
    family = f"{person.particle} {person.family}".strip()
    return ", ".join(filter(None, (family, person.suffix, person.given)))
