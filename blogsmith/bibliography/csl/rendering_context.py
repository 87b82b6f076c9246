"""State while a style formats one publication. Also the terms of a locale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...model.publications import Person, Publication, WorkDate
from .markup import concat
from .style_tree import StyleError, StyleNode, read_locale

_FALLBACK = {"verb-short": "verb", "symbol": "short", "verb": "long", "short": "long"}


class Locale:
    """Terms and formats in the language of a style."""

    def __init__(self, style: StyleNode, language: str) -> None:
        main = language.partition("-")[0].lower()
        base = read_locale(language)
        own = {node.get("lang"): node for node in style.find_all("locale")}
        full = base.get("lang")
        names = dict.fromkeys((language, full, main, ""))
        self._nodes = [*(own[name] for name in names if name in own), base]
        if full != "en-US":
            self._nodes.append(read_locale("en"))
        self.language = main
        self._terms: dict[tuple[str, str], StyleNode | None] = {}

    def option(self, name: str) -> bool:
        """Return whether an option of the language is set."""
        for node in self._nodes:
            found = node.find("style-options")
            if found is not None and found.has(name):
                return found.get(name) == "true"
        return False

    def date(self, form: str) -> StyleNode | None:
        """Return the date format of a form (`text` or `numeric`), or None if there is none."""
        dates = (date for node in self._nodes for date in node.find_all("date"))
        return next((date for date in dates if date.get("form") == form), None)

    def term(self, name: str, form: str = "long", *, plural: bool = False) -> str:
        """Return a term; empty if there is none."""
        wanted: str | None = form
        while wanted:
            found = self._find(name, wanted)
            if found is not None:
                return _text(found, plural=plural)
            wanted = _FALLBACK.get(wanted)
        return ""

    def _find(self, name: str, form: str) -> StyleNode | None:
        key = (name, form)
        if key not in self._terms:
            self._terms[key] = next(self._matches(name, form), None)
        return self._terms[key]

    def _matches(self, name: str, form: str) -> Iterator[StyleNode]:
        for node in self._nodes:
            terms = node.find("terms")
            for term in terms.children if terms is not None else ():
                if term.get("name") == name and term.get("form", "long") == form:
                    yield term

    def ordinal(self, number: int) -> str:
        """Return the ordinal suffix of a number: `nd` for 2."""
        for name, wanted in (
            (f"ordinal-{number % 100:02}", ("last-two-digits", "whole-number")),
            (f"ordinal-{number % 10:02}", ("last-digit", "")),
        ):
            found = self._find(name, "long")
            if found is None:
                continue
            match = found.get("match") or ("last-digit" if number % 10 == int(name[-2:]) else "")
            is_two = name[-2:] == f"{number % 100:02}" and int(name[-2:]) > 9
            if match == "whole-number" and number != int(name[-2:]):
                continue
            if is_two or match in wanted or (match == "last-digit" and name[-2] == "0"):
                return found.text
        return self.term("ordinal")


def _text(term: StyleNode, *, plural: bool) -> str:
    found = term.find("multiple" if plural else "single")
    return found.text if found is not None else term.text.strip("\n")


OTHERS = "others"
"""Last name in an incomplete list of people. It means "and others"."""
MOST_MACROS = 40
"""Maximum depth of nested macros."""
MOST_STEPS = 200_000
"""Maximum number of elements formatted for one entry. A limit is needed because macros can call each other
many times."""

_NAME_DEFAULTS: Mapping[str, str] = {
    **{"delimiter-precedes-et-al": "contextual", "delimiter-precedes-last": "contextual"},
    **{"sort-separator": ", ", "form": "long", "delimiter": ", ", "initialize": "true"},
    **{"et-al-min": "0", "et-al-use-first": "1", "et-al-use-last": "false"},
}
_INHERITED_OPTIONS = {"name-form": "form", "name-delimiter": "delimiter"}


class StylePiece(NamedTuple):
    """The formatted output of one element."""

    text: str = ""
    uses_variables: bool = False
    """Whether the element refers to variables, even if none has a value."""
    has_value: bool = False
    """Whether one of the variables has a value."""


@dataclass(slots=True)
class Cite:
    """A publication and the details of its citation."""

    work: Publication
    number: int = 0
    """Citation number, in order of citation, from 1."""
    label: str = ""
    """Label of the locator, such as `page`."""
    locator: str = ""
    suffix: str = ""
    """Year suffix, a letter; empty if none is needed."""
    extra_names: int = 0
    """Number of names shown in addition to those that the style shows, to distinguish publications."""
    is_ambiguous: bool = False
    """Whether the citation equals that of another publication. If so, the style prints more details."""
    given_names: frozenset[str] = frozenset()
    """Family names before which given names are printed, to distinguish publications."""


@dataclass(slots=True)
class RenderingContext:
    """The formatting state of one publication."""

    style: StyleNode
    macros: Mapping[str, StyleNode]
    mode: StyleNode
    """The element `citation` or `bibliography`."""
    locale: Locale
    cite: Cite
    into_quotes: bool
    has_suffix_element: bool
    """Whether an element of the style prints the year suffix."""
    is_sorting: bool = False
    sort_names: Mapping[str, str] = field(default_factory=dict)
    suppressed: set[str] = field(default_factory=set)
    """Variables that must not be printed again, because they were printed instead of missing names."""
    printed: set[str] = field(default_factory=set)
    """Variables that were printed."""
    names: StyleNode | None = None
    """The `names` element whose substitute is being formatted; None outside of substitutes."""
    macro_depth: int = 0
    steps: int = 0
    has_year: bool = False
    """Whether a year has been printed."""

    @property
    def is_bibliography(self) -> bool:
        """Whether an entry of the list of references is being formatted, instead of a citation."""
        return self.mode.tag == "bibliography"

    @property
    def is_english(self) -> bool:
        """Whether titles may be changed to English title case."""
        language = self.cite.work.variables.get("language", "").lower()
        return (
            language.startswith(("en", "usenglish", "american", "british"))
            if language
            else (self.locale.language == "en")
        )

    def count(self) -> None:
        """Count one more formatted element. Raises `StyleError` if there are too many, for example if macros
        call each other endlessly."""
        self.steps += 1
        if self.steps > MOST_STEPS or self.macro_depth > MOST_MACROS:
            raise StyleError("its macros call each other endlessly")

    def text(self, variable: str) -> str:
        """Return a variable as text; empty if it has no value or was printed as a substitute for names."""
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
            return cite.work.variables.get("page", "").partition("-")[0]
        return cite.work.variables.get(variable, "")

    def people(self, role: str) -> tuple[Person, ...]:
        """Return the people with a role."""
        people = () if role in self.suppressed else self.cite.work.people.get(role, ())
        others = (
            (Person(literal=OTHERS),) if people and role == "author" and self.cite.work.has_others else ()
        )
        return (*people, *others)

    def date(self, variable: str) -> WorkDate | None:
        """Return the value of a date variable, or None if it has none."""
        return None if variable in self.suppressed else self.cite.work.dates.get(variable)

    def has(self, variable: str) -> bool:
        """Return whether a variable of any kind has a value. A variable that was already printed still has
        its value."""
        work = self.cite.work
        if variable == "issued" and work.date_text:
            return True
        if variable in work.variables or variable in work.dates or work.people.get(variable):
            return True
        return variable not in self.suppressed and bool(self.text(variable))

    def name_options(self, name: StyleNode | None) -> dict[str, str]:
        """Return the attributes for names, including those inherited from the style and from its `citation`
        or `bibliography` element."""
        found = dict(_NAME_DEFAULTS)
        for node in (self.style, self.mode):
            for key, value in node.attributes.items():
                found[_INHERITED_OPTIONS.get(key, key)] = value
        if name is not None:
            found |= name.attributes
        if self.is_sorting:
            found |= {"name-as-sort-order": "all", **self.sort_names}
        return found

    def join(self, texts: Iterator[str] | list[str], delimiter: str) -> str:
        """Join strings with a delimiter. Empty ones are skipped."""
        made = ""
        for text in texts:
            if not text:
                continue
            made = self.concat(self.concat(made, delimiter), text) if made else text
        return made

    def concat(self, first: str, second: str) -> str:
        """Join two strings with `markup.concat`. The language determines whether punctuation is moved into
        quotes."""
        return concat(first, second, into_quotes=self.into_quotes)
