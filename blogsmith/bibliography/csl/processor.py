"""A style at work on the works of one page: citations and the list of references, as texts with signs.

Left out: notes (a citation is always the first one), dashes in place of repeated names, for entries are also
shown alone, and uncertain dates. Source: CSL 1.0.2; where it is silent, what citeproc-js does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ...model.publications import Person, Publication
from ...model.units import count_letters
from .collapsing import CitePiece, join_ranges, join_years
from .elements import render_all
from .formatting import affix, faces
from .locale import Locale
from .markup import concat, plain
from .rendering_context import Cite, Scene
from .sorting import sort_cites
from .style_tree import StyleError, StyleNode, parse_csl

MOST_EXTRA_NAMES = 10


class CslProcessor:
    """Belongs to one page."""

    def __init__(self, text: str, language: str, works: Sequence[Publication]) -> None:
        """StyleError if the text is no style that can be used. works: as they are first cited, encoded."""
        style = parse_csl(text)
        if style.tag != "style":
            raise StyleError("this is no style of citations")
        self._style = style
        self._refuse_dependent(style)
        self._citation, self._bibliography = _part(style, "citation"), _part(style, "bibliography")
        self._macros = {macro.get("name"): macro for macro in style.find_all("macro")}
        is_english = language.partition("-")[0].lower() == "en"
        # a page in another language than English has its words, whatever the style was written for
        self._locale = Locale(style, style.get("default-locale", language) if is_english else language)
        self._has_suffix = any(node.get("variable") == "year-suffix" for node in style.walk())
        self.has_numbers = _has_numbers(style)
        """The style prints numbers; else names or titles."""
        first = [Cite(work, number) for number, work in enumerate(works, 1)]
        ordered = sort_cites(self._bibliography.find("sort"), first, self._entry_scene)
        self._cites = {cite.work.key: replace(cite, number=number) for number, cite in enumerate(ordered, 1)}
        self.keys = tuple(self._cites)
        """In the order of the list."""
        self._tell_apart()

    def _refuse_dependent(self, style: StyleNode) -> None:
        info = style.find("info")
        for link in info.find_all("link") if info is not None else ():
            if link.get("rel") == "independent-parent":
                parent = link.get("href").rpartition("/")[2]
                raise StyleError(f"this style only names another one, {parent}: use the file of that")

    @property
    def letters(self) -> Mapping[str, str]:
        """Key → the letter behind its year."""
        return {key: cite.suffix for key, cite in self._cites.items()}

    def entry(self, key: str) -> str:
        """The text of an entry of the list; its number, if it has one, stands in front."""
        layout, scene = _part(self._bibliography, "layout"), self._entry_scene(self._cites[key])
        text = render_all(layout.children, scene).text
        return affix(faces(text, layout), layout, scene)

    def cluster(self, items: Iterable[tuple[str, str, str, str]]) -> str:
        """A citation of (key, words before, label, place in the work), signs around each item."""
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
        return affix(faces(text, layout), layout, self._cite_scene(pieces[-1].cite)) if pieces else ""

    def _collapse(self, pieces: Sequence[CitePiece]) -> Iterable[str]:
        way = self._citation.get("collapse")
        if way == "citation-number":
            return join_ranges(pieces)
        if way.startswith("year"):
            return join_years(pieces, self._citation.get("cite-group-delimiter", ", "))
        return [concat(f"{piece.prefix} " if piece.prefix else "", piece.signed) for piece in pieces]

    def _entry_scene(self, cite: Cite) -> Scene:
        return self._scene(
            self._bibliography, replace(cite, extra_names=0, given_names=frozenset(), is_ambiguous=False)
        )

    def _cite_scene(self, cite: Cite) -> Scene:
        return self._scene(self._citation, cite)

    def _scene(self, mode: StyleNode, cite: Cite) -> Scene:
        into_quotes = self._locale.option("punctuation-in-quote")
        return Scene(self._style, self._macros, mode, self._locale, cite, into_quotes, self._has_suffix)

    def _cited_text(self, cite: Cite) -> str:
        return plain(render_all(_part(self._citation, "layout").children, self._cite_scene(cite)).text)

    def _tell_apart(self) -> None:
        """Works that would be cited by the same words: given names, more names, letters behind years."""
        wants = self._citation.get
        if wants("disambiguate-add-givenname") == "true":
            self._add_given_names(wants("givenname-disambiguation-rule", "by-cite"))
        if wants("disambiguate-add-names") == "true":
            for same in self._ambiguous():
                self._add_names(same)
        if any(node.has("disambiguate") for node in self._style.walk()):
            for same in self._ambiguous():
                for cite in same:
                    self._cites[cite.work.key] = replace(cite, is_ambiguous=True)
        if wants("disambiguate-add-year-suffix") == "true":
            for same in self._ambiguous():
                for index, cite in enumerate(same):
                    self._cites[cite.work.key] = replace(cite, suffix=count_letters(index + 1))

    def _ambiguous(self) -> list[list[Cite]]:
        groups: dict[str, list[Cite]] = {}
        for cite in self._cites.values():
            groups.setdefault(self._cited_text(cite), []).append(cite)
        return [same for same in groups.values() if len(same) > 1]

    def _add_given_names(self, rule: str) -> None:
        cites = list(self._cites.values())
        if rule == "by-cite":
            cites = [cite for same in self._ambiguous() for cite in same]
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
        """As many names more as tell these works apart; none where no number does."""
        for extra in range(1, MOST_EXTRA_NAMES):
            tried = [replace(cite, extra_names=extra) for cite in same]
            if len({self._cited_text(cite) for cite in tried}) > 1:
                for cite in tried:
                    self._cites[cite.work.key] = cite
                return


def _part(node: StyleNode, tag: str) -> StyleNode:
    found = node.find(tag)
    if found is None:
        raise StyleError(f"this style has no {tag}")
    return found


def _has_numbers(style: StyleNode) -> bool:
    info = style.find("info")
    categories = info.find_all("category") if info is not None else ()
    return any(node.get("citation-format") == "numeric" for node in categories)


def _people(cite: Cite, *, only_first: bool) -> tuple[Person, ...]:
    people = cite.work.authors
    return people[:1] if only_first else people
