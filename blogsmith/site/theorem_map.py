"""The map of theorems: for each series, a drawing, and the statements of each post with the proofs that use
them.

An arrow points from a statement to those whose proofs use it. The list below the drawing has the same content
as links, for readers who cannot use the drawing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from textwrap import wrap

from msgspec.structs import replace

from ..model.template_views import PageView
from ..model.texts import PageText
from .frame import ViewContext
from .generated_views import plain_view
from .graph_drawing import GraphNode, draw_graph
from .statements import MAP_PATH, StatementGraph, StatementKey, page_order, statement_html, statement_text

_TEXT_PX = 580
"""Width of the text column on wide screens, in px; a wider drawing extends beyond it."""
_NAME_SIGNS = 26
"""Number of characters after which a line of a box is broken between words."""


def theorem_map(graph: StatementGraph, views: Mapping[str, PageView], frame: ViewContext) -> list[PageView]:
    """Return the page of the map, or an empty list if the site has none. views: site path → view."""
    if not frame.config.theorems.map:
        return []
    pages = {view.url: view for view in views.values()}
    theorems = [key for key, statement in graph.statements.items() if not statement.is_equation]
    groups: dict[str, list[StatementKey]] = {}
    for key in sorted(theorems, key=lambda key: page_order(pages[key[0]])):
        groups.setdefault(pages[key[0]].series_name, []).append(key)
    edges = sorted({(source, used) for source, used, _ in graph.edges()})
    maps = _MapWriter(graph, pages, edges, frame)
    # posts without a series come last
    ordered = sorted(groups, key=lambda name: (not name, name.casefold()))
    html = "".join(maps.section(name, groups[name], is_alone=len(groups) == 1) for name in ordered)
    view = plain_view("map", MAP_PATH, frame.language.translate("Map of theorems"), frame, ())
    html = html or f"<p>{escape(frame.language.translate('Nothing is listed here yet.'))}</p>\n"
    return [replace(view, layout="page", body=PageText.from_string(html))]


class _MapWriter:
    def __init__(
        self,
        graph: StatementGraph,
        pages: Mapping[str, PageView],
        edges: Sequence[tuple[StatementKey, StatementKey]],
        frame: ViewContext,
    ) -> None:
        self._graph = graph
        self._pages = pages
        self._edges = edges
        self._frame = frame

    def section(self, series: str, keys: Sequence[StatementKey], *, is_alone: bool) -> str:
        """Return the statements of a series as drawing and list. series: empty for posts without a series.
        is_alone: whether the page has no other section."""
        title = series or self._frame.language.translate("Posts")
        heading = "" if is_alone and not series else f"<h2>{escape(title, quote=False)}</h2>\n"
        level = "h3" if heading else "h2"
        posts = [self._post(url, level, [*group]) for url, group in groupby(keys, key=lambda key: key[0])]
        return f"{heading}{self._drawing(title, keys)}{''.join(posts)}"

    def _post(self, url: str, level: str, keys: Sequence[StatementKey]) -> str:
        """Return the statements of a post, below its title. level: name of the heading's element."""
        page = self._pages[url]
        title = page.title_html or escape(page.title, quote=False)
        heading = f'<{level}><a href="{escape(url)}">{title}</a></{level}>'
        return f"{heading}\n<ul>\n{''.join(map(self._line, keys))}</ul>\n"

    def _drawing(self, title: str, keys: Sequence[StatementKey]) -> str:
        own = set(keys)
        edges = [(used, source) for source, used in self._edges if source in own or used in own]
        joined = {key for edge in edges for key in edge}
        # after its own statements, those of other series that are connected to them
        order = [*(key for key in keys if key in joined), *sorted(joined - own)]
        if not order:
            return ""
        numbers = {key: number for number, key in enumerate(order)}
        nodes = [self._node(key, is_own=key in own) for key in order]
        pairs = [(numbers[first], numbers[second]) for first, second in edges]
        translate = self._frame.language.translate
        drawing = draw_graph(nodes, pairs, f"{translate('Map of theorems')}: {title}")
        name = escape(translate("Diagram"))
        box = f'<div class="diagram-scroll" tabindex="0" role="group" aria-label="{name}">'
        figure = f'<figure class="diagram">{box}{drawing.svg}</div></figure>\n'
        # a direct child of the text column would be as wide as the page
        return f"<div>\n{figure}</div>\n" if drawing.width_px <= _TEXT_PX else figure

    def _node(self, key: StatementKey, *, is_own: bool) -> GraphNode:
        statement, page = self._graph.statements[key], self._pages[key[0]]
        lines = (statement.name, *wrap(statement.title or page.title, _NAME_SIGNS, break_long_words=False))
        return GraphNode(lines, self._url(key), is_own)

    def _line(self, key: StatementKey) -> str:
        translate = self._frame.language.translate
        uses = [used for source, used in self._edges if source == key]
        users = [source for source, used in self._edges if used == key]
        comma, semicolon = (
            translate(text, item="", next="") for text in ("{item}, {next}", "{item}; {next}")
        )
        parts = [self._isolate(self._link(key))]
        for text, others in (("uses {statements}", uses), ("used in {statements}", users)):
            if others:
                links = comma.join(self._isolate(self._reference(one, key[0])) for one in others)
                before, _, behind = translate(text, statements="\0").partition("\0")
                parts.append(f"{escape(before)}{links}{escape(behind)}")
        return f"<li>{semicolon.join(parts)}</li>\n"

    def _isolate(self, html: str) -> str:
        """Return `html` in an element that isolates it, so that text of the opposite writing direction does
        not change the order of the line."""
        return f"<bdi>{html}</bdi>" if self._frame.language.direction == "rtl" else html

    def _link(self, key: StatementKey) -> str:
        statement = self._graph.statements[key]
        text = statement_html(statement) or escape(statement_text(statement), quote=False)
        return f'<a href="{escape(self._url(key))}">{text}</a>'

    def _reference(self, key: StatementKey, url: str) -> str:
        """Return the link to a statement, with the title of its post if that is not the one at `url`."""
        title = self._pages[key[0]].title
        values = {"reference": self._link(key), "title": f"<em>{escape(title, quote=False)}</em>"}
        text = self._frame.language.translate("{reference} of {title}", **values)
        return self._link(key) if key[0] == url else text

    def _url(self, key: StatementKey) -> str:
        return f"{key[0]}#{key[1]}"
