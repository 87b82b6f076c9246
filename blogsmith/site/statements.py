"""The graph of statements of all posts: where proofs and statements refer to others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TypeAlias

from msgspec import Struct

from ..base.diagnostics.model import Diagnostic, Reporter
from ..languages.language import Language
from ..model.documents import Statement, StatementUse
from ..model.template_views import Link, PageView, UsedStatement
from .frame import RenderedDocument
from .relations import Relations

MAP_PATH = "/map/"
StatementKey: TypeAlias = tuple[str, str]
"""URL of a page with base path, and the id of a statement on it."""


class StatementReference(Struct, frozen=True):
    """A reference to a statement or equation, with the page that contains it."""

    url: str
    """URL of the page, with base path."""
    page: RenderedDocument
    use: StatementUse

    @property
    def source(self) -> StatementKey | None:
        """The statement that contains the reference in its text or proof; None if no statement contains
        it."""
        return (self.url, self.use.statement) if self.use.statement else None

    @property
    def target(self) -> StatementKey:
        """The statement or equation that is used."""
        return self.use.url or self.url, self.use.target


class StatementGraph(Struct, frozen=True):
    """All statements of some pages, in order, and all references to them."""

    statements: Mapping[StatementKey, Statement]
    uses: Mapping[StatementKey, tuple[StatementReference, ...]]
    """Statement or equation → references to it, by page and position."""

    def enclosing_statement(self, key: StatementKey) -> StatementKey:
        """Return the statement that contains an equation; for other keys `key` itself."""
        statement = self.statements.get(key)
        return (key[0], statement.parent) if statement and statement.parent else key

    def edges(
        self, *, only_proofs: bool = False
    ) -> Iterator[tuple[StatementKey, StatementKey, StatementReference]]:
        """Yield (using statement, used statement, reference) for statements other than equations.
        only_proofs: leave out references that are not in a proof."""
        for target, placed in self.uses.items():
            used = self.enclosing_statement(target)
            for one in placed:
                if one.source is None or one.source == used or (only_proofs and not one.use.in_proof):
                    continue
                if self._is_theorem(one.source) and self._is_theorem(used):
                    yield one.source, used, one

    def _is_theorem(self, key: StatementKey) -> bool:
        statement = self.statements.get(key)
        return statement is not None and not statement.is_equation


def statement_graph(rendered: Sequence[RenderedDocument], base_path: str) -> StatementGraph:
    """Return the graph of the statements on these pages."""
    statements: dict[StatementKey, Statement] = {}
    uses: dict[StatementKey, list[StatementReference]] = {}
    for item in rendered:
        url = base_path + item.url
        for statement in item.body.stated.statements:
            statements[url, statement.id] = statement
        for use in item.body.stated.uses:
            placed = StatementReference(url, item, use)
            uses.setdefault(placed.target, []).append(placed)
    return StatementGraph(statements, {key: tuple(found) for key, found in uses.items()})


def add_uses(graph: StatementGraph, around: Mapping[str, Relations], language: Language) -> None:
    """Set `used_in` of every page. around: relations of each page, by its URL with base path. language:
    language of the language version."""
    found: dict[str, list[UsedStatement]] = {}
    for key, statement in graph.statements.items():
        links = _use_links(graph, key, language)
        if links:
            link = Link(statement_text(statement), f"#{statement.id}", statement_html(statement))
            found.setdefault(key[0], []).append(UsedStatement(link, links))
    for url, used in found.items():
        around[url].used_in = tuple(used)


def page_order(page: PageView) -> tuple[int, str, str]:
    """Return the sort key of a page in its series: by part, then by date."""
    part = next((part.part or 0 for part in page.series if part.url == page.url), 0)
    return part, page.date.isoformat() if page.date else "", page.url


def statement_text(statement: Statement) -> str:
    """Return a name such as `Theorem 1 (Spread)`."""
    return f"{statement.name} ({statement.title})" if statement.title else statement.name


def statement_html(statement: Statement) -> str:
    """Return the name as HTML, or an empty string if that would equal the plain text."""
    name = escape(statement.name, quote=False)
    return f"{name} ({statement.title_html})" if statement.title_html else ""


def _use_links(graph: StatementGraph, key: StatementKey, language: Language) -> tuple[Link, ...]:
    """Return links to the uses of a statement, each place once: first those on the statement's own page, then
    those on other pages."""
    own: dict[str, Link] = {}
    others: dict[tuple[str, str], Link] = {}
    for placed in graph.uses.get(key, ()):
        use, page = placed.use, placed.page
        text = _place_text(graph, placed, language)
        anchor = f"#{use.anchor}" if use.anchor else ""
        if placed.url == key[0]:
            own.setdefault(text, Link(text or page.body.title_text, anchor or "#content"))
        else:
            title = f"{page.body.title_text}: {text}" if text else page.body.title_text
            others.setdefault((page.body.title_text.casefold(), title), Link(title, placed.url + anchor))
    return (*own.values(), *(others[name] for name in sorted(others)))


def _place_text(graph: StatementGraph, placed: StatementReference, language: Language) -> str:
    statement = graph.statements.get(placed.source) if placed.source else None
    if statement is None:
        return placed.use.section
    if placed.use.in_proof:
        return language.translate("proof of {statement}", statement=statement.name)
    return statement.name


def check_circular_proofs(rendered: Sequence[RenderedDocument], base_path: str) -> list[Diagnostic]:
    """Return an error for each circle of proofs that use each other. Its location is a reference that closes
    the circle."""
    graph = statement_graph(rendered, base_path)
    below: dict[StatementKey, list[tuple[StatementKey, StatementReference]]] = {}
    for source, used, placed in graph.edges(only_proofs=True):
        below.setdefault(source, []).append((used, placed))
    found = []
    for circle in _cycles(below):
        names = [f'"{statement_text(graph.statements[key])}"' for key, _ in circle]
        first = circle[-1][1]
        written = first.page.document.source
        reporter = Reporter(str(written.path), written.text.split("\n"))
        chain = f"{names[-1]} uses {', which uses '.join(names)}"
        hint = "write a mere mention as a link such as `[Theorem 2](#thm-b)`, or prove one without the others"
        reporter.error("proof-circle", f"circular proofs: {chain}", first.use.place, hint)
        found += reporter.diagnostics
    return found


def _cycles(
    below: Mapping[StatementKey, Sequence[tuple[StatementKey, StatementReference]]],
) -> Iterator[list[tuple[StatementKey, StatementReference]]]:
    """Yield cycles of a graph, each once, as (member, reference to the next member) in order. Every edge is
    visited once, so if cycles share edges, some are found only after the others have been fixed."""
    is_done: set[StatementKey] = set()
    for start in sorted(below):
        path: list[tuple[StatementKey, StatementReference]] = []
        places: dict[StatementKey, int] = {}
        stack: list[tuple[StatementKey, Iterator[tuple[StatementKey, StatementReference]]]] = []
        if start not in is_done:
            stack.append((start, iter(below[start])))
            places[start] = 0
        while stack:
            key, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                is_done.add(key)
                del places[key]
                if path:
                    path.pop()
                continue
            used, placed = following
            if used in places:
                yield [*path[places[used] :], (key, placed)]
            elif used not in is_done:
                places[used] = len(stack)
                path.append((key, placed))
                stack.append((used, iter(below.get(used, ()))))
