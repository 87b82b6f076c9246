"""What elements of a style see while one work is printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...model.publications import Person, Publication, WorkDate
from .locale import Locale
from .markup import concat
from .style_tree import StyleError, StyleNode

OTHERS = "others"
"""The last of the authors, where there are more than are named."""
MOST_MACROS = 40
"""Macros that call each other, one inside the other."""
MOST_STEPS = 200_000
"""Elements that one entry may take: macros can call each other many times."""

_NAME_DEFAULTS: Mapping[str, str] = {
    **{"delimiter-precedes-et-al": "contextual", "delimiter-precedes-last": "contextual"},
    **{"sort-separator": ", ", "form": "long", "delimiter": ", ", "initialize": "true"},
    **{"et-al-min": "0", "et-al-use-first": "1", "et-al-use-last": "false"},
}
_INHERITED = {"name-form": "form", "name-delimiter": "delimiter"}


class StylePiece(NamedTuple):
    """What an element printed."""

    text: str = ""
    asks: bool = False
    """It prints variables."""
    holds: bool = False
    """One of them was there."""


@dataclass(slots=True)
class Cite:
    """One work where it is cited."""

    work: Publication
    number: int = 0
    """In the order of citation, 1-based."""
    label: str = ""
    """Of the locator: `page`."""
    locator: str = ""
    suffix: str = ""
    """Letter behind its year."""
    extra_names: int = 0
    """Names that are printed beyond what the style shows, to tell works apart."""
    is_ambiguous: bool = False
    """Another work is cited by the same words, and the style says more of it then."""
    given_names: frozenset[str] = frozenset()
    """Family names that need more than themselves to be told apart."""


@dataclass(slots=True)
class Scene:
    """One work being printed."""

    style: StyleNode
    macros: Mapping[str, StyleNode]
    mode: StyleNode
    """`citation` or `bibliography`."""
    locale: Locale
    cite: Cite
    into_quotes: bool
    has_suffix_element: bool
    """The style says where letters behind years stand."""
    is_sorting: bool = False
    sort_names: Mapping[str, str] = field(default_factory=dict)
    suppressed: set[str] = field(default_factory=set)
    """Variables that have taken the place of names, and are not printed twice."""
    printed: set[str] = field(default_factory=set)
    """Variables that were printed."""
    names: StyleNode | None = None
    """The element for which something stands in, while it is looked for."""
    macro_depth: int = 0
    steps: int = 0
    has_year: bool = False
    """The first year of the date has been printed."""

    @property
    def is_bibliography(self) -> bool:
        """Whether it is an entry of the list."""
        return self.mode.tag == "bibliography"

    @property
    def is_english(self) -> bool:
        """Whether titles may be put in the case of English ones."""
        language = self.cite.work.texts.get("language", "").lower()
        return (
            language.startswith(("en", "usenglish", "american", "british"))
            if language
            else (self.locale.language == "en")
        )

    def count(self) -> None:
        """One element more; StyleError where a style never ends."""
        self.steps += 1
        if self.steps > MOST_STEPS or self.macro_depth > MOST_MACROS:
            raise StyleError("its macros call each other without end")

    def text(self, variable: str) -> str:
        """A variable as text; empty if it is not there, or has been printed in place of names."""
        if variable in self.suppressed:
            return ""
        cite = self.cite
        if variable == "citation-number":
            return str(cite.number) if cite.number else ""
        if variable == "year-suffix":
            return cite.suffix
        if variable == "locator":
            return cite.locator
        if variable == "page-first":
            return cite.work.texts.get("page", "").partition("-")[0]
        return cite.work.texts.get(variable, "")

    def people(self, role: str) -> tuple[Person, ...]:
        """Who has a role."""
        people = () if role in self.suppressed else self.cite.work.people.get(role, ())
        others = (
            (Person(literal=OTHERS),) if people and role == "author" and self.cite.work.has_others else ()
        )
        return (*people, *others)

    def date(self, variable: str) -> WorkDate | None:
        """A date."""
        return None if variable in self.suppressed else self.cite.work.dates.get(variable)

    def has(self, variable: str) -> bool:
        """Whether a variable of any kind is there, printed already or not."""
        work = self.cite.work
        if variable == "issued" and work.date_text:
            return True
        if variable in work.texts or variable in work.dates or work.people.get(variable):
            return True
        return variable not in self.suppressed and bool(self.text(variable))

    def name_options(self, name: StyleNode | None) -> dict[str, str]:
        """Attributes of names, those of the style and of the citation or list among them."""
        found = dict(_NAME_DEFAULTS)
        for node in (self.style, self.mode):
            for key, value in node.attributes.items():
                found[_INHERITED.get(key, key)] = value
        if name is not None:
            found |= name.attributes
        if self.is_sorting:
            found |= {"name-as-sort-order": "all", **self.sort_names}
        return found

    def join(self, texts: Iterator[str] | list[str], delimiter: str) -> str:
        """Texts one behind the other, those that are empty left out."""
        made = ""
        for text in texts:
            if not text:
                continue
            made = self.concat(self.concat(made, delimiter), text) if made else text
        return made

    def concat(self, first: str, second: str) -> str:
        """As `markup.concat`, with the rule of the language for quotes."""
        return concat(first, second, into_quotes=self.into_quotes)
