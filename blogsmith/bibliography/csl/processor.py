"""Applies a style to the publications of one page. Citations and the list of references are returned as
strings with markup.

Not supported: citations in footnotes (no `ibid.`), dashes for repeated names (because entries are also shown
separately), and uncertain dates. Source: CSL 1.0.2 and, where this specifies nothing, the behaviour of
citeproc-js.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cmp_to_key
from typing import NamedTuple

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from ...model.publications import Person, Publication
from ...model.units import number_to_letters
from .elements import render_all, render_macro
from .formatting import affix, apply_font_style
from .markup import PRIVATE, concat, item_markers, plain
from .names import format_people
from .rendering_context import Cite, Locale, RenderingContext
from .style_tree import StyleError, StyleNode, parse_csl

MOST_EXTRA_NAMES = 10


class CslProcessor:
    """The citation processor of one page."""

    def __init__(self, text: str, language: str, works: Sequence[Publication]) -> None:
        """Parse the style, sort the publications, and distinguish those whose citations are equal. text:
        style as XML. works: publications in order of their first citation, encoded as in `markup`. Raises
        `StyleError` if the style is not usable."""
        style = parse_csl(text)
        if style.tag != "style":
            raise StyleError("the file is not a citation style")
        self._style = style
        self._reject_dependent(style)
        self._citation, self._bibliography = _part(style, "citation"), _part(style, "bibliography")
        self._macros = {macro.get("name"): macro for macro in style.find_all("macro")}
        is_english = language.partition("-")[0].lower() == "en"
        # a page in another language uses the terms of that language, not those of the style
        self._locale = Locale(style, style.get("default-locale", language) if is_english else language)
        self._has_suffix = any(node.get("variable") == "year-suffix" for node in style.walk())
        self.has_numbers = _has_numbers(style)
        """Whether the style prints citation numbers instead of names or titles."""
        first = [Cite(work, number) for number, work in enumerate(works, 1)]
        ordered = sort_cites(self._bibliography.find("sort"), first, self._entry_scene)
        self._cites = {cite.work.key: replace(cite, number=number) for number, cite in enumerate(ordered, 1)}
        self.keys = tuple(self._cites)
        """Keys of the publications, in the order of the list of references."""
        self._disambiguate()

    def _reject_dependent(self, style: StyleNode) -> None:
        info = style.find("info")
        for link in info.find_all("link") if info is not None else ():
            if link.get("rel") == "independent-parent":
                parent = link.get("href").rpartition("/")[2]
                raise StyleError(f'the style only refers to another one: use the file of "{parent}"')

    @property
    def letters(self) -> Mapping[str, str]:
        """Return key → year suffix, such as the `a` in 2011a."""
        return {key: cite.suffix for key, cite in self._cites.items()}

    def entry(self, key: str) -> str:
        """Return an entry of the list of references. It starts with its number if the style prints one."""
        layout, scene = _part(self._bibliography, "layout"), self._entry_scene(self._cites[key])
        text = render_all(layout.children, scene).text
        return affix(apply_font_style(text, layout), layout, scene)

    def cluster(self, items: Iterable[tuple[str, str, str, str]]) -> str:
        """Return a citation of several items with markers around each item. items: (key, prefix, label,
        locator)."""
        layout = _part(self._citation, "layout")
        given = list(items)
        cites = [
            (replace(self._cites[key], label=label, locator=locator), prefix, index)
            for index, (key, prefix, label, locator) in enumerate(given)
        ]
        order = sort_cites(self._citation.find("sort"), [cite for cite, _, _ in cites], self._cite_scene)
        ranks = {id(cite): rank for rank, cite in enumerate(order)}
        pieces = []
        for cite, prefix, index in sorted(cites, key=lambda one: ranks[id(one[0])]):
            text = render_all(layout.children, self._cite_scene(cite)).text
            pieces.append(CitePiece(cite, prefix, index, text))
        text = ""
        for one in self._collapse(pieces):
            text = concat(concat(text, layout.get("delimiter")), one) if text else one
        return (
            affix(apply_font_style(text, layout), layout, self._cite_scene(pieces[-1].cite)) if pieces else ""
        )

    def _collapse(self, pieces: Sequence[CitePiece]) -> Iterable[str]:
        way = self._citation.get("collapse")
        if way == "citation-number":
            return join_ranges(pieces)
        if way.startswith("year"):
            return join_years(pieces, self._citation.get("cite-group-delimiter", ", "))
        return [concat(f"{piece.prefix} " if piece.prefix else "", piece.signed) for piece in pieces]

    def _entry_scene(self, cite: Cite) -> RenderingContext:
        return self._scene(
            self._bibliography, replace(cite, extra_names=0, given_names=frozenset(), is_ambiguous=False)
        )

    def _cite_scene(self, cite: Cite) -> RenderingContext:
        return self._scene(self._citation, cite)

    def _scene(self, mode: StyleNode, cite: Cite) -> RenderingContext:
        into_quotes = self._locale.option("punctuation-in-quote")
        return RenderingContext(
            self._style, self._macros, mode, self._locale, cite, into_quotes, self._has_suffix
        )

    def _citation_text(self, cite: Cite) -> str:
        return plain(render_all(_part(self._citation, "layout").children, self._cite_scene(cite)).text)

    def _disambiguate(self) -> None:
        """Distinguish publications with equal citations. Add given names, then more names, then year
        suffixes, as the style requests."""
        wants = self._citation.get
        if wants("disambiguate-add-givenname") == "true":
            self._add_given_names(wants("givenname-disambiguation-rule", "by-cite"))
        if wants("disambiguate-add-names") == "true":
            for same in self._ambiguous_groups():
                self._add_names(same)
        if any(node.has("disambiguate") for node in self._style.walk()):
            for same in self._ambiguous_groups():
                for cite in same:
                    self._cites[cite.work.key] = replace(cite, is_ambiguous=True)
        if wants("disambiguate-add-year-suffix") == "true":
            for same in self._ambiguous_groups():
                for index, cite in enumerate(same):
                    self._cites[cite.work.key] = replace(cite, suffix=number_to_letters(index + 1))

    def _ambiguous_groups(self) -> list[list[Cite]]:
        groups: dict[str, list[Cite]] = {}
        for cite in self._cites.values():
            groups.setdefault(self._citation_text(cite), []).append(cite)
        return [same for same in groups.values() if len(same) > 1]

    def _add_given_names(self, rule: str) -> None:
        cites = list(self._cites.values())
        if rule == "by-cite":
            cites = [cite for same in self._ambiguous_groups() for cite in same]
        people = [person for cite in cites for person in _people(cite, only_first=rule.startswith("primary"))]
        givens: dict[str, set[str]] = {}
        for person in people:
            givens.setdefault(person.short, set()).add(person.given)
        names = frozenset(name for name, given in givens.items() if len(given) > 1)
        for cite in cites:
            own = names & {person.short for person in _people(cite, only_first=rule.startswith("primary"))}
            if own:
                self._cites[cite.work.key] = replace(self._cites[cite.work.key], given_names=own)

    def _add_names(self, same: Sequence[Cite]) -> None:
        """Add the smallest number of names that gives these publications different citations. If no number
        does so, change nothing."""
        for extra in range(1, MOST_EXTRA_NAMES):
            tried = [replace(cite, extra_names=extra) for cite in same]
            if len({self._citation_text(cite) for cite in tried}) > 1:
                for cite in tried:
                    self._cites[cite.work.key] = cite
                return


def _part(node: StyleNode, tag: str) -> StyleNode:
    found = node.find(tag)
    if found is None:
        raise StyleError(f"missing element <{tag}>")
    return found


def _has_numbers(style: StyleNode) -> bool:
    info = style.find("info")
    categories = info.find_all("category") if info is not None else ()
    return any(node.get("citation-format") == "numeric" for node in categories)


def _people(cite: Cite, *, only_first: bool) -> tuple[Person, ...]:
    people = cite.work.authors
    return people[:1] if only_first else people


# The order of publications, by the sort keys of a style.


_NUMBERS = name_set("volume issue number chapter-number collection-number edition citation-number")
_DIGITS = lazy_pattern(r"\d+")
_PEOPLE = frozenset(("author", "editor", "translator", "container-author", "collection-editor"))
_DATES = frozenset(("issued", "accessed", "original-date", "event-date"))


def sort_cites(
    sort: StyleNode | None, cites: Sequence[Cite], scene: Callable[[Cite], RenderingContext]
) -> list[Cite]:
    """Sort publications by a `sort` element. Without one, the order is unchanged."""
    if sort is None:
        return list(cites)
    keys = list(sort.find_all("key"))
    values = {id(cite): [_value(key, scene(cite)) for key in keys] for cite in cites}
    signs = [-1 if key.get("sort") == "descending" else 1 for key in keys]

    def compare(first: Cite, second: Cite) -> int:
        for left, right, sign in zip(values[id(first)], values[id(second)], signs, strict=True):
            if left == right:
                continue
            # missing values come last in both directions
            if not left or not right:
                return -1 if left else 1
            return sign if left > right else -sign
        return 0

    return sorted(cites, key=cmp_to_key(compare))


def _value(key: StyleNode, scene: RenderingContext) -> str:
    scene.is_sorting = True
    scene.sort_names = {
        name.replace("names", "et-al"): key.get(name)
        for name in ("names-min", "names-use-first", "names-use-last")
        if key.has(name)
    }
    if key.has("macro"):
        return collation(render_macro(key.get("macro"), scene).text)
    variable = key.get("variable")
    if variable in _PEOPLE:
        return collation(format_people(scene.people(variable), None, None, scene))
    if variable in _DATES:
        date = scene.date(variable)
        return f"{date.year:05}{date.month:02}{date.day:02}" if date else ""
    text = scene.text(variable)
    if variable in _NUMBERS:
        return _DIGITS.sub(lambda found: found[0].zfill(10), text)
    return collation(text)


def collation(text: str) -> str:
    """Return a key for sorting, which is the text without case, accents and punctuation."""
    decomposed = unicodedata.normalize("NFKD", PRIVATE.sub("", text).casefold())
    kept = (char if char.isalnum() else " " for char in decomposed if not unicodedata.combining(char))
    special = "".join(kept).translate(
        {ord("ø"): "o", ord("ł"): "l", ord("æ"): "ae", ord("þ"): "th", ord("ð"): "d"}
    )
    return " ".join(special.split())


# Collapsing of citations: consecutive numbers as `1–3`, works by the same authors as `(Ash, 2011a, 2011b)`.
# Items with a prefix or locator are not collapsed. Source: CSL 1.0.2, `collapse`; `year-suffix` and
# `year-suffix-ranged` are treated as `year`, so that each item has a year that links to its entry.


_SHORTEST_RUN = 3
_RANGE = "–"


class CitePiece(NamedTuple):
    """One item of a citation."""

    cite: Cite
    prefix: str
    """Text before the item."""
    position: int
    """Index of the item in the citation as the author wrote it."""
    text: str
    """Text that the style prints for the item, without prefix and markers."""

    @property
    def is_bare(self) -> bool:
        """Whether the item has neither prefix nor locator."""
        return not self.prefix and not self.cite.locator

    @property
    def signed(self) -> str:
        """Text of the item between its two markers."""
        opening, closing = item_markers(self.position)
        return f"{opening}{self.text}{closing}"


def join_ranges(pieces: Sequence[CitePiece]) -> Iterator[str]:
    """Yield the text of each item. Three or more consecutive numbers become a range. The inner items of a
    range have markers but no text."""
    at = 0
    while at < len(pieces):
        end = at + 1
        while end < len(pieces) and _follows(pieces[end - 1], pieces[end]):
            end += 1
        if end - at < _SHORTEST_RUN:
            end = at + 1
            yield _with_prefix(pieces[at], pieces[at].signed)
        else:
            inner = "".join("".join(item_markers(piece.position)) for piece in pieces[at + 1 : end - 1])
            yield f"{pieces[at].signed}{inner}{_RANGE}{pieces[end - 1].signed}"
        at = end


def _follows(first: CitePiece, second: CitePiece) -> bool:
    return first.is_bare and second.is_bare and second.cite.number == first.cite.number + 1


def join_years(pieces: Sequence[CitePiece], delimiter: str) -> Iterator[str]:
    """Yield the text of each item. Items by the same authors are grouped: only the first of them has the
    names, the others have only the year."""
    groups: dict[str, list[CitePiece]] = {}
    for piece in pieces:
        names = _names(piece)
        # an item with a prefix, or without names, is not grouped
        groups.setdefault(names or f"\0{piece.position}", []).append(piece)
    for names, group in groups.items():
        first, *others = group
        text = _with_prefix(first, first.signed)
        for piece in others:
            text += delimiter + piece._replace(text=piece.text[len(names) :]).signed
        yield text


def _names(piece: CitePiece) -> str:
    """Return the authors' names before the year of an item; empty if the item cannot be grouped."""
    work = piece.cite.work
    year = f"{work.year}{piece.cite.suffix}" if work.year and work.authors else ""
    return piece.text.partition(year)[0] if year and year in piece.text and piece.is_bare else ""


def _with_prefix(piece: CitePiece, text: str) -> str:
    return f"{piece.prefix} {text}" if piece.prefix else text
