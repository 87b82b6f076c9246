"""Headings: ids, plain text, the H1 of a title, numbers.

An H1 that equals the post's title, or replaces a missing one, is removed from the body. Any other H1 becomes
an H2 and is reported. Ids are derived from the plain text, with formulas in linear form.

In a series with `numbering: by part`, all numbers of a post start with its part. A post is read without the
other posts of its series, so its front matter must contain the `part`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Set
from itertools import count, groupby, pairwise
from types import MappingProxyType
from typing import NamedTuple

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct

from ..base.diagnostics.fixes import make_replacement
from ..base.diagnostics.model import Place
from ..config.series_rules import choose_numbering
from ..model.cells import Value
from ..model.documents import FrontMatter
from ..model.links import TitlePart
from ..model.slugs import github_slug, make_unique, slugify
from ..model.units import number_to_letters
from .attributes import apply_attributes, parse_attributes
from .east_asian import joins_lines
from .records import Heading, Math, WrittenText, attach_record, get_record
from .state import PageState, get_page

_BY_PART = "by part"


def set_chapter(front: FrontMatter, page: PageState) -> bool:
    """If the numbers of the page start with its part of the series, store that part in `page`. Return whether
    headings are numbered."""
    options, series = page.options, front.series
    numbering = choose_numbering(front, options.series, options.numbering)
    if numbering != _BY_PART:
        return bool(numbering)
    if series and series.part:
        page.chapter, page.series = str(series.part), series.name
        return True
    if series or front.numbering == _BY_PART:
        key, missing = ("series", "part") if series else ("numbering", "series")
        hint = f"write `series: {{name: {series.name if series else 'NAME'}, part: 1}}`"
        message = f'"numbering: by part" has no effect because "{missing}" is missing'
        page.reporter.warn("series-part", message, front.places.get(key), hint)
    return False


class _Counter(Struct):
    """Counter for heading numbers, such as 1 and 1.1."""

    counts: list[int]
    chapter: str
    """Part of the series; every number starts with it. Empty without numbers by part."""

    is_appendix: bool = False

    def begin_appendix(self) -> None:
        """Count the sections that follow with letters: A and A.1."""
        self.counts, self.is_appendix = [], True

    def next_number(self, level: int) -> str:
        depth = max(0, level - 2)
        self.counts = [*self.counts, *[0] * (depth + 1 - len(self.counts))][: depth + 1]
        self.counts[depth] += 1
        names = [str(max(1, number)) for number in self.counts]
        if self.is_appendix:
            names[0] = number_to_letters(max(1, self.counts[0])).upper()
        return ".".join([*filter(None, [self.chapter]), *names])


MARGIN_CLASSES = frozenset({"margin", "aside"})
"""Classes of a `[span]` that is a margin note. In plain text, margin notes are parenthesized."""


def is_margin_note(token: Token) -> bool:
    """Return whether a span is a margin note."""
    return not MARGIN_CLASSES.isdisjoint(str(token.attrs.get("class", "")).split())


def is_line_break(token: Token) -> bool:
    """Return whether raw HTML in a line is `<br>`."""
    return token.type == "html_inline" and token.content.lower().startswith(("<br>", "<br/", "<br "))


def plain_text(
    tokens: Sequence[Token],
    page: PageState,
    values: Mapping[int, str] = MappingProxyType({}),
    tex: Callable[[str], str] | None = None,
    *,
    breaks: bool = True,
) -> str:
    """Return inline tokens as plain text, with formulas in linear form.

    values: Number of a `{= … =}` → its text; missing values are omitted.
    tex: Function for another textual form of formulas.
    breaks: Whether `<br>` separates words.
    """
    pieces: list[str] = []
    notes: list[int] = []
    tex = tex or page.options.linear_math
    for index, token in enumerate(tokens):
        if token.type in ("math_inline", "math_display"):
            pieces.append(tex(get_record(token, Math).tex))
        elif token.type in ("text", "text_special", "code_inline", "kbd", "abbr", "citation"):
            pieces.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append("" if token.type == "softbreak" and joins_lines(tokens, index) else " ")
        elif token.type == "value":
            pieces.append(values.get(get_record(token, Value).number, ""))
        elif token.type == "html_inline" and breaks and is_line_break(token):
            pieces.append("" if not pieces or pieces[-1][-1:].isspace() else " ")
        elif token.type == "image":
            pieces.append(plain_text(token.children or [], page, values, tex))
        elif token.type == "span_open" and is_margin_note(token):
            pieces.append("(" if not pieces or pieces[-1].endswith(" ") else " (")
            notes.append(token.level)
        elif token.type == "span_close" and notes[-1:] == [token.level]:
            pieces.append(")")
            notes.pop()
    return "".join(pieces)


def heading_attributes(state: StateCore) -> None:
    """Parse `## Title {#id .class}` (core rule, before the inline rules)."""
    page = get_page(state.env)
    for opening, inline in zip(state.tokens, state.tokens[1:], strict=False):
        if opening.type != "heading_open":
            continue
        at = inline.content.rfind("{")
        found = parse_attributes(inline.content, at) if at > 0 else None
        # `$\frac{a}{b}$` also ends in a brace, so a space is required before the list.
        if found and found.end == len(inline.content) and inline.content[at - 1].isspace():
            place = inline.meta["textmap"].place(at, found.end - at)
            apply_attributes(opening, found, page, place)
            inline.content = inline.content[:at].rstrip()


def record_written_headings(state: StateCore) -> None:
    """Record the text of headings before dashes are replaced, because GitHub derives ids from `--`, not from
    `–` (core rule)."""
    page = get_page(state.env)
    if page.options.slugs != "github":
        return
    for opening, inline in pairwise(state.tokens):
        if opening.type == "heading_open":
            # GitHub has no formulas in headings, so the ids there contain the TeX.
            attach_record(inline, WrittenText(plain_text(inline.children or [], page, tex=str, breaks=False)))


class TitleHeading(NamedTuple):
    """The heading that is the title of a page."""

    inline: Token
    id: str
    """Id that the author set; empty if there is none."""
    place: Place


def pop_title_heading(tokens: list[Token], title: str, page: PageState) -> TitleHeading | None:
    """Remove the H1 that repeats `title` at the top of `tokens`, and demote all other H1s. Return the removed
    heading; None if there was none. title: plain text; if it is empty, the first H1 is the title."""
    taken = None
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.type == "heading_open" and token.tag == "h1":
            inline = tokens[index + 1]
            text = plain_text(inline.children or [], page).strip()
            repeats = index == 0 and text.casefold() == title.strip().casefold()
            if taken is None and (repeats or not title):
                start = inline.meta["textmap"].place(0)
                taken = TitleHeading(inline, str(token.attrs.get("id", "")), start)
                del tokens[index : index + 3]
                continue
            token.tag = tokens[index + 2].tag = "h2"
            _warn_demoted(inline, page)
        index += 1
    return taken


class _HeadingTokens(NamedTuple):
    """A heading that has no id yet."""

    opening: Token
    inline: Token
    text: str
    """Text of the heading as plain text."""


def _assign_ids(
    headings: Sequence[_HeadingTokens], page: PageState, taken: Set[str], title_id: str, *, marks: bool
) -> list[str]:
    """Return the id of each heading. If two are equal, replace the second, because every link to it would
    open the first.

    taken: ids that the author set, including `title_id`, the id of the removed title. marks: whether ids keep
    combining marks.
    """
    used, counts, found = set(taken), dict[str, int](), list[str]()
    seen = {title_id}
    joined = _joined_ids(headings, page, marks=marks)
    for opening, inline, plain in headings:
        wanted = name = str(opening.attrs.get("id", ""))
        if not name or name in seen:
            text = joined.get(id(inline), plain)
            if page.options.slugs == "github":
                made = github_slug(get_record(inline, WrittenText).text.strip())
                name = make_unique(wanted or made, used, counts, first=1)
            else:
                name = make_unique(wanted or slugify(text, marks=marks), used, counts)
        seen.add(name)
        found.append(name)
    return found


def _joined_ids(headings: Sequence[_HeadingTokens], page: PageState, *, marks: bool) -> dict[int, str]:
    """Return shorter text for the ids of headings with `<br>`, by `id()` of the inline token.

    Usually the heading `A<br>B` gets the id `a-b`. If another heading already has that id, the result
    contains `AB`: there, `<br>` does not separate words. Other headings are not in the result.
    """
    broken = [one for one in headings if any(map(is_line_break, one.inline.children or ()))]
    if not broken:
        return {}
    counts = Counter(slugify(one.text, marks=marks) for one in headings)
    counts.update(str(one.opening.attrs["id"]) for one in headings if "id" in one.opening.attrs)
    return {
        id(one.inline): plain_text(one.inline.children or [], page, breaks=False)
        for one in broken
        if counts[slugify(one.text, marks=marks)] > 1
    }


def _other_id(name: str, taken: Container[str], tried: dict[str, int]) -> str:
    """Return an unused variant of an id that is in use. tried: Id → first number that may be unused."""
    number = next(number for number in count(tried.get(name, 2)) if f"{name}-{number}" not in taken)
    tried[name] = number
    return f"{name}-{number}"


def _warn_demoted(inline: Token, page: PageState) -> None:
    text = inline.meta["textmap"]
    place = text.place(0, len(text.text))
    written = page.reporter.lines[place.line - 1][: place.column - 1]
    is_hash = inline.map is not None and written.rstrip().endswith("#") and written.count("#") == 1
    fix = None
    if is_hash:
        # The heading is already shown as H2, so the fix does not change the page.
        fix = make_replacement(place.line, written.index("#") + 1, "#", "##", title="write ##", is_safe=True)
    page.reporter.warn(
        "heading-h1",
        f'H1 "{inline.content[:60]}" is not allowed here: the title is the H1, so this becomes an H2',
        place,
        "write `##` for a section",
        fix,
    )


def has_class(opening: Token, name: str) -> bool:
    """Return whether the author gave a heading this class. A heading of the class `unnumbered` has no number,
    and starts no section."""
    return name in str(opening.attrs.get("class", "")).split()


def begins_appendix(opening: Token) -> bool:
    """Return whether the sections from this heading on have letters: an H2 of the class `appendix`."""
    return opening.tag == "h2" and has_class(opening, "appendix")


def number_headings(
    tokens: Sequence[Token], page: PageState, title: TitleHeading | None = None, *, numbered: bool
) -> None:
    """Set id, plain text and, if `numbered`, the number of every heading. title: the removed
    title, if any."""
    asked = {title.id: title.place} if title and title.id else {}
    taken = {*asked, *(str(token.attrs["id"]) for token in tokens if "id" in token.attrs)}
    counter = _Counter([], page.chapter)
    tried: dict[str, int] = {}
    headings = [
        _HeadingTokens(opening, inline, " ".join(plain_text(inline.children or [], page).split()))
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open"
    ]
    title_id, keeps_marks = title.id if title else "", page.options.marks != "drop"
    ids = _assign_ids(headings, page, taken, title_id, marks=keeps_marks)
    old_ids = ids
    if page.options.marks == "switch":
        old_ids = _assign_ids(headings, page, taken, title_id, marks=False)
    known = frozenset(ids)
    for (opening, inline, text), name, old_id in zip(headings, ids, old_ids, strict=True):
        written = str(opening.attrs.get("id", ""))
        if written and written in asked:
            place = inline.meta["textmap"].place(0, max(1, len(inline.content)))
            other = _other_id(written, asked, tried)
            fix = page.reporter.substitute(place, f"#{written}", f"#{other}")
            message = f'duplicate id "{written}" (first defined on line {asked[written].line})'
            page.reporter.error("id-twice", message, place, f"write another id, such as `{other}`", fix)
        asked.setdefault(name, inline.meta["textmap"].place(0))
        has_number = numbered and not has_class(opening, "unnumbered")
        if begins_appendix(opening):
            counter.begin_appendix()
        number = counter.next_number(int(opening.tag[1])) if has_number else ""
        old_id = "" if old_id in known else old_id
        attach_record(opening, Heading(int(opening.tag[1]), name, text, number, old_id))


def heading_titles(tokens: Sequence[Token], page: PageState) -> dict[str, tuple[TitlePart, ...]]:
    """Return the title of each heading by its id, and by its old id."""
    found: dict[str, tuple[TitlePart, ...]] = {}
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            heading = get_record(opening, Heading)
            found |= dict.fromkeys((heading.id, heading.old_id), title_parts(inline.children or (), page))
    found.pop("", None)
    return found


def title_parts(tokens: Sequence[Token], page: PageState) -> tuple[TitlePart, ...]:
    """Return inline tokens as text, code and formulas. Emphasis, notes and links are omitted."""
    parts = []
    for kind, run in groupby(tokens, _part_kind):
        if kind == "text":
            text = plain_text([*run], page)
            parts += [TitlePart("text", text)] if text else []
        else:
            parts += _special_parts(run)
    return tuple(parts)


def _part_kind(token: Token) -> str:
    return token.type if token.type in ("code_inline", "math_inline") else "text"


def _special_parts(tokens: Iterator[Token]) -> Iterator[TitlePart]:
    for token in tokens:
        if token.type == "code_inline":
            yield TitlePart("code", token.content)
        else:
            yield TitlePart("math", get_record(token, Math).tex)
