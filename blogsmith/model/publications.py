"""Publications that pages cite: the data model of CSL (Citation Style Language) with types.

Strings are plain except for formulas in `$…$` and the tags of CSL-JSON: `<i>`, `<b>`, `<sup>`, `<sub>` and
`<span class="nocase">`, whose content keeps its case in all styles.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic
from ..base.patterns import lazy_pattern


class Person(Struct, frozen=True, omit_defaults=True):
    """Name of a person or institution, in the parts that citation styles rearrange and shorten."""

    family: str = ""
    given: str = ""
    particle: str = ""
    """Particle before the family name, such as `van`."""
    suffix: str = ""
    """Suffix, such as `Jr.`"""
    literal: str = ""
    """Name of an institution; then the other parts are empty."""

    @property
    def short(self) -> str:
        """Short form for citations in the text: `van Gogh`."""
        return self.literal or f"{self.particle} {self.family}".strip()

    @property
    def full(self) -> str:
        """Full name: `Vincent van Gogh`."""
        parts = (self.given, self.particle, self.family, self.suffix)
        return self.literal or " ".join(filter(None, parts))


class WorkDate(Struct, frozen=True, array_like=True):
    """A date; month and day may be unknown."""

    year: int
    month: int = 0
    """1 to 12; 0: unknown."""
    day: int = 0


class Publication(Struct, frozen=True, kw_only=True):
    """One entry of a bibliography."""

    key: str
    """Key in `[@key]`."""
    kind: str = "document"
    """CSL type, such as `article-journal`."""
    variables: Mapping[str, str] = {}
    """CSL variable → string: `title`, `container-title`, `DOI`."""
    people: Mapping[str, tuple[Person, ...]] = {}
    """CSL variable → people: `author`, `editor` and others."""
    has_others: bool = False
    """Whether the publication has more authors than the entry lists."""
    dates: Mapping[str, WorkDate] = {}
    """CSL variable → date: `issued`, `accessed`."""
    date_text: str = ""
    """Text used for `issued` if it is not a date: `in press`."""
    pdf: str = ""
    """URL of the publication's PDF, or its path in the site."""
    arxiv: str = ""
    """arXiv identifier: `1706.03762`."""
    links: Mapping[str, str] = {}
    """Name of a further link, such as `Code` or `Slides` → URL, or path in the site."""
    abstract: str = ""
    venue: str = ""
    """Short name of the venue, for lists of publications: `NeurIPS`."""
    preview: str = ""
    """URL of an image for lists of publications, or its path in the site."""
    award: str = ""
    award_text: str = ""
    """Sentence about the award, for lists of publications."""
    is_selected: bool = False
    """Whether the entry is marked with `selected = {true}`."""
    bibtex: str = ""
    """The entry as BibTeX, for readers to copy."""

    @property
    def title(self) -> str:
        """Title, or the key if there is none."""
        return self.variables.get("title", "") or self.key

    @property
    def authors(self) -> tuple[Person, ...]:
        """Authors, or the editors if there are none."""
        return self.people.get("author", ()) or self.people.get("editor", ())

    @property
    def year(self) -> str:
        """Year as a string, or `date_text` if there is no date; may be empty."""
        issued = self.dates.get("issued")
        return str(issued.year) if issued else self.date_text


class PublicationLookup(Struct, frozen=True):
    """The result of looking up a key in the bibliographies of a page."""

    work: Publication | None = None
    """The entry; None if no bibliography has the key."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Errors in the entry. Only these contain locations, so the publication stays equal if its entry moves
    within the file."""


class CslStyle(Struct, frozen=True):
    """A citation style in the Citation Style Language."""

    name: str = ""
    """Path, or name of a bundled style; empty if there is none."""
    text: str = ""
    """XML of the style; empty for a bundled style."""
    is_bundled: bool = False
    problem: Diagnostic | None = None
    """Error that explains why `text` is empty; None if there is a style."""


# Names of licences and checks of ORCID iDs, as used in front matter and settings.


ORCID = lazy_pattern(r"(?:https?://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])")
DOI = lazy_pattern(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}/[^\s<>\"]+)", 2)
_CC = lazy_pattern(r"CC[- ](BY(?:[- ](?:NC|SA|ND|NC[- ]SA|NC[- ]ND))?)(?:[- ](\d\.\d))?", 2)
_LICENSES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "cc0": ("CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        "cc0-1.0": ("CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        "mit": ("MIT", "https://opensource.org/license/mit"),
        "apache-2.0": ("Apache 2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
        "gfdl-1.3": ("GFDL 1.3", "https://www.gnu.org/licenses/fdl-1.3.html"),
    }
)


def is_orcid(digits: str) -> bool:
    """Return whether the check digit of an ORCID iD is valid: ISO 7064, MOD 11-2."""
    total = 0
    for digit in digits.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return digits[-1] == ("X" if check == 10 else str(check))


def parse_license(written: str) -> tuple[str, str]:
    """Return name and URL of a licence. written: an identifier such as `CC-BY-4.0`, a URL, or any name. For
    any other name the URL is empty."""
    found = _CC.fullmatch(written.strip())
    if found:
        kind, version = found[1].upper().replace(" ", "-"), found[2] or "4.0"
        address = f"https://creativecommons.org/licenses/{kind.lower()}/{version}/"
        return f"CC {kind} {version}", address
    if known := _LICENSES.get(written.strip().lower()):
        return known
    return (written, written) if written.startswith(("http://", "https://")) else (written, "")
