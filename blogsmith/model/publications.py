"""A work that pages cite, as a bibliography describes it: the model of CSL, typed.

Texts are plain but for formulas in `$…$` and the tags that CSL-JSON knows: `<i>`, `<b>`, `<sup>`, `<sub>` and
`<span class="nocase">`, what no style may change in case.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic
from ..base.patterns import lazy_pattern


class Person(Struct, frozen=True, omit_defaults=True):
    """A name in the parts that styles order and shorten."""

    family: str = ""
    given: str = ""
    particle: str = ""
    """`van`, in front of the family name."""
    suffix: str = ""
    """`Jr.`"""
    literal: str = ""
    """The name of an institution; then there are no parts."""

    @property
    def short(self) -> str:
        """As a citation in the text names it: `van Gogh`."""
        return self.literal or f"{self.particle} {self.family}".strip()

    @property
    def full(self) -> str:
        """`Vincent van Gogh`."""
        parts = (self.given, self.particle, self.family, self.suffix)
        return self.literal or " ".join(filter(None, parts))


class WorkDate(Struct, frozen=True, array_like=True):
    """A day, as much of it as is known."""

    year: int
    month: int = 0
    """0: unknown."""
    day: int = 0


class Publication(Struct, frozen=True, kw_only=True):
    """One entry of a bibliography."""

    key: str
    """What `[@key]` names."""
    kind: str = "document"
    """A type of CSL: `article-journal`."""
    texts: Mapping[str, str] = {}
    """Variable of CSL → text: `title`, `container-title`, `DOI`."""
    people: Mapping[str, tuple[Person, ...]] = {}
    """`author`, `editor` … → who."""
    has_others: bool = False
    """There are more authors than are named."""
    dates: Mapping[str, WorkDate] = {}
    """`issued`, `accessed`."""
    date_text: str = ""
    """What stands for `issued`, where it is no date: `in press`."""
    pdf: str = ""
    """Address, or path in the site, of the text itself."""
    arxiv: str = ""
    """Its number at arXiv: `1706.03762`."""
    bibtex: str = ""
    """The entry as BibTeX, to copy."""

    @property
    def title(self) -> str:
        """Its title, else its key."""
        return self.texts.get("title", "") or self.key

    @property
    def authors(self) -> tuple[Person, ...]:
        """Who wrote it, else who edited it."""
        return self.people.get("author", ()) or self.people.get("editor", ())

    @property
    def year(self) -> str:
        """The year as text, else what stands for it; may be empty."""
        issued = self.dates.get("issued")
        return str(issued.year) if issued else self.date_text


class FoundPublication(Struct, frozen=True):
    """The answer to a key: what the bibliographies of a page have under it."""

    work: Publication | None = None
    """None: no bibliography has the key."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is wrong with the entry. Places are in here alone, so entries move without being changed."""


class CslStyle(Struct, frozen=True):
    """A style of citations in the Citation Style Language."""

    name: str = ""
    """Its path, or the name of one that is shipped; empty: there is none."""
    text: str = ""
    """Its XML; empty for one that is shipped."""
    is_bundled: bool = False
    problem: Diagnostic | None = None
    """Why there is no text."""


# Names of licences and checks of ORCID iDs, as front matter and settings write them.


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
    """Whether the last sign of an ORCID iD fits the others: ISO 7064, MOD 11-2."""
    total = 0
    for digit in digits.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return digits[-1] == ("X" if check == 10 else str(check))


def license_of(written: str) -> tuple[str, str]:
    """Name and address of a licence: of `CC-BY-4.0` and its like, an address, or any name without one."""
    found = _CC.fullmatch(written.strip())
    if found:
        kind, version = found[1].upper().replace(" ", "-"), found[2] or "4.0"
        address = f"https://creativecommons.org/licenses/{kind.lower()}/{version}/"
        return f"CC {kind} {version}", address
    if known := _LICENSES.get(written.strip().lower()):
        return known
    return (written, written) if written.startswith(("http://", "https://")) else (written, "")
