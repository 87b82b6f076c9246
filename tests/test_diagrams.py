"""Diagrams: the hook, sanitizing of drawings, the two bundled plugins."""

from __future__ import annotations

import os
import re
import stat
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch
from xml.etree import ElementTree

import pytest

from blogsmith.hooks.loader import load_plugins
from blogsmith.project.bundled_folders import bundled_folder
from blogsmith.project.report import BuildReport
from blogsmith.render.svg.drawings import MAX_CHARACTERS, Drawing, sanitize_drawing
from blogsmith.render.svg.writer import HUES, TINTS, find_colours
from tests.rows import each_row
from tests.site_files import SiteText, build_text

NS = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
HEAD = "---\ntitle: A\ndate: 2026-03-01\n---\n\n"
needs_merman = pytest.mark.skipif(find_spec("merman") is None, reason="merman is not installed")


def clean(inside: str, source: str = "", root: str = 'viewBox="0 0 100 50"') -> Drawing:
    return sanitize_drawing(f"<svg {NS} {root}>{inside}</svg>", "d--", source)


def site(root: Path, body: str, code: str = "", config: str = "plugins: [mine]\n") -> tuple[str, BuildReport]:
    """Return the page of a post in a trusted site with the plugin `mine`, if written, and the report."""
    texts = {"blogsmith.yaml": config, "content/posts/a.md": HEAD + body}
    if code:
        texts["plugins/mine.py"] = f"def register(hooks):\n{code}"
    report = build_text(SiteText({n: t.encode() for n, t in texts.items()}, "", "", trusted=True), root)
    page = root / "public" / "posts" / "a" / "index.html"
    return page.read_text("utf-8") if page.exists() else "", report


def plugin(body: str, arguments: str = '"notes"') -> str:
    """Return the code of a plugin that draws with `body`."""
    return f"    @hooks.diagram({arguments})\n    def draw(source):\n        {body}\n"


class TestSafeDoor:
    @each_row(
        "hostile",
        [
            "<script>alert(1)</script>",
            "<g><script xlink:href='https://evil.example/x.js'/></g>",
            "<rect width='9' height='9' onload='alert(1)'/>",
            "<a xlink:href='javascript:alert(1)'><text>t</text></a>",
            "<a href='https://evil.example'><text>t</text></a>",
            "<image href='https://evil.example/x.png' width='9' height='9'/>",
            "<foreignObject width='9' height='9'><img src='x' onerror='alert(1)'/></foreignObject>",
            "<style>@import url(https://evil.example/x.css); text { fill: url(https://evil.example) }</style>"
            "<text>t</text>",
            "<rect width='9' height='9' style='fill:url(https://evil.example/x)'/>",
            "<rect width='9' height='9' fill='url(https://evil.example/x#y)'/>",
            "<use href='https://evil.example/x.svg#y'/>",
            "<animate attributeName='href' to='javascript:alert(1)'/>",
            "<set attributeName='onmouseover' to='alert(1)'/>",
            "<filter id='f'><feImage href='https://evil.example/x'/></filter><rect filter='url(#f)'/>",
            "<text font-family='x&quot; onload=&quot;alert(1)'>t</text>",
            "<path d='M0 0&quot; onload=&quot;alert(1)'/>",
            "<marker id='&quot;&gt;&lt;b&gt;'/><path d='M0 0' marker-end='url(#&quot;&gt;&lt;b&gt;)'/>",
            "<text>&lt;img src=x onerror=alert(1)&gt;</text>",
        ],
    )
    def test_nothing_runs_or_loads(self, hostile: str) -> None:
        # as XML: text that only looks like markup must still be text
        html = clean(hostile + "<circle r='20'/>").html()
        root = ElementTree.fromstring(html)
        names = {element.tag for element in root.iter()}
        assert names.isdisjoint(
            {"script", "a", "image", "foreignObject", "style", "animate", "set", "filter"}
        )
        assert "circle" in names
        for element in root.iter():
            for key, value in element.attrib.items():
                assert not key.startswith("on") and "evil" not in value and "script:" not in value

    @each_row(
        ("svg", "reason"),
        [
            ("", "not valid XML"),
            ("<svg", "not valid XML"),
            ("<p>hello</p>", "<p>, expected <svg>"),
            (f'<!DOCTYPE svg [<!ENTITY a "b">]><svg {NS}/>', "entities"),
            (f"<svg {NS}/>", "no size"),
            (f'<svg {NS} viewBox="0 0 0 9"/>', "no size"),
            (f'<svg {NS} viewBox="0 0 1e999 9"/>', "no size"),
            (f'<svg {NS} width="100%" height="20"/>', "no size"),
            (f'<svg {NS} viewBox="0 0 9 9">{"<g>" * 300}<text>t</text>{"</g>" * 300}</svg>', "too deep"),
            (f'<svg {NS} viewBox="0 0 9 9">{"<g/>" * 20_001}</svg>', "too many elements"),
            ("x" * (MAX_CHARACTERS + 1), "too large"),
        ],
    )
    def test_what_is_no_drawing(self, svg: str, reason: str) -> None:
        with pytest.raises(ValueError, match=reason):
            sanitize_drawing(svg, "d--", "")

    def test_ids_are_the_drawings_own(self) -> None:
        inside = (
            "<defs><marker id='m'><path d='M0 0'/></marker><marker id='unused'/></defs>"
            "<g id='not-named'><path id='p' d='M0 0L9 9' marker-end='url(#m)'/></g>"
        )
        assert re.findall(r'id="([^"]*)"|url\(#([^)]*)\)', clean(inside).markup) == [
            ("d--m", ""),
            ("", "d--m"),
        ]

    def test_what_is_used_once_moves_to_its_place(self) -> None:
        inside = "<defs><g id='t'><text>word</text></g></defs><g><use href='#t' x='3' y='4'/></g>"
        markup = clean(inside).markup
        assert (
            'translate(3,4)"><text>word</text>' in markup and "<use" not in markup and "<defs" not in markup
        )

    def test_what_is_used_twice_stays(self) -> None:
        inside = "<defs><g id='t'><circle r='5'/></g></defs><use href='#t'/><use href='#t' x='9'/>"
        markup = clean(inside).markup
        assert markup.count('href="#d--t"') == 2 and 'id="d--t"' in markup

    def test_use_in_a_circle(self) -> None:
        inside = "<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g><g id='c'><use href='#c'/></g>"
        assert clean(inside).markup.endswith("</svg>")

    def test_an_outline_joins_its_area(self) -> None:
        outline = "M0 0 C3 0, 6 0, 9.04 0 C9 3, 9 6, 9.04 9 C5 5, 2 2, 0 0"
        inside = (
            "<g><path d='M0 0 L9.04 0 L9.04 9' fill='#fff' stroke='none'/>"
            f"<path d='{outline}' fill='none' stroke='#000'/></g>"
        )
        markup = clean(inside).markup
        assert markup.count("<path") == 1 and 'L9 9Z"' in markup and 'stroke="var(--diagram-ink' in markup


class TestStyles:
    def test_rules_become_attributes(self) -> None:
        inside = (
            "<style>rect { stroke-width: 3; cursor: help } .a > rect { stroke-width: 2 }"
            " #late rect { stroke-width: 9 !important } rect:hover { stroke-width: 7 } ::x { } {{ </style>"
            "<g class='a'><rect width='9' height='9'/><rect width='9' height='9' style='stroke-width:4'/></g>"
            "<g id='late'><rect width='9' height='9' style='stroke-width:5'/></g>"
        )
        assert re.findall(r'stroke-width="(\d)"', clean(inside).markup) == ["2", "4", "9"]

    def test_what_is_inherited_is_not_repeated(self) -> None:
        inside = "<g font-size='11px'><text font-size='11px'>a</text><text opacity='1'>b</text></g>"
        assert '<g font-size="11"><text>a</text><text>b</text></g>' in clean(inside).markup

    def test_hidden_parts_are_left_out(self) -> None:
        inside = "<g style='display:none'><text>a</text></g><rect class='background'/><text>b</text>"
        assert clean(inside).markup.count("<text") == 1 and "<rect" not in clean(inside).markup


class TestColours:
    @each_row(
        ("shape", "source", "expected"),
        [
            ("<rect width='9' height='9' fill='#000'/>", "", 'fill="var(--diagram-ink,currentColor)"'),
            ("<rect width='9' height='9' fill='white'/>", "", 'fill="var(--diagram-paper,none)"'),
            ("<path d='M0 0' stroke='black'/>", "color=black", 'stroke="var(--diagram-ink,currentColor)"'),
            ("<path d='M0 0' stroke='currentColor'/>", "", 'stroke="var(--diagram-line,currentColor)"'),
            ("<path d='M0 0' stroke='#f00'/>", "color=red", 'stroke="#f00"'),
            ("<path d='M0 0' stroke='#f00'/>", "a red box", 'stroke="var(--diagram-hue-4,currentColor)"'),
            ("<path d='M0 0' stroke='rgb(1,2,3)'/>", "stroke:rgb(1,2,3)", 'stroke="rgb(1,2,3)"'),
            ("<path d='M0 0' stroke='transparent'/>", "", "<path d"),
        ],
    )
    def test_the_authors_stay_the_others_follow_the_theme(
        self, shape: str, source: str, expected: str
    ) -> None:
        assert expected in clean(shape, source).markup

    @pytest.mark.parametrize(
        ("fill", "source", "text"),
        [
            ("#333", "fill:#333", "#fff"),
            ("#ffc", "fill:#ffc", "#000"),
            ("#eee", "", "var(--diagram-ink,currentColor)"),
            (HUES[0], "", "var(--diagram-paper,Canvas)"),
        ],
    )
    def test_text_reads_on_its_area(self, fill: str, source: str, text: str) -> None:
        """The author's fill colour is the same on light and dark pages, so its text must be too."""
        inside = f"<g><rect width='50' height='20' fill='{fill}'/><g><text fill='#211e1a'>t</text></g></g>"
        svg = ElementTree.fromstring(clean(inside, source).html())
        found = [element.get("fill") or svg[0].get("fill") for element in svg.iter("text")]
        assert found == [text]

    def test_the_authors_text_colour_wins_on_his_area(self) -> None:
        inside = "<g><rect width='50' height='20' fill='#333'/><text fill='#ff0'>t</text></g>"
        assert '<text fill="#ff0">' in clean(inside, "fill:#333,color:#ff0").markup

    def test_a_legends_patch_is_no_area(self) -> None:
        inside = "<g><rect width='8' height='8' fill='#333'/><text>t</text></g>"
        assert "<text>t</text>" in clean(inside, "fill:#333").markup

    @each_row("source", ["", "fill:", "color=#12", "rgb(", "#ggg", "hsl(0)"])
    def test_text_without_colours(self, source: str) -> None:
        assert find_colours(source) == frozenset()

    def test_each_colour_for_plugins_has_its_variable(self) -> None:
        shapes = "".join(f"<rect width='9' height='9' fill='{color}'/>" for color in (*HUES, *TINTS))
        names = re.findall(r'<rect fill="var\(--diagram-([\w-]+)', clean(shapes).markup)
        assert names == [f"{kind}-{number}" for kind in ("hue", "tint") for number in range(1, 9)]

    def test_the_theme_sets_every_variable(self) -> None:
        css = (bundled_folder("themes") / "paper" / "static" / "diagrams.css").read_text("utf-8")
        numbered = [f"{kind}-{number}" for kind in ("hue", "tint") for number in range(1, 9)]
        for name in ("ink", "line", "border", "grid", "paper", "node", "group", "font", *numbered):
            assert f"--diagram-{name}:" in css


class TestTextAlternative:
    @each_row(
        ("inside", "title", "label"),
        [
            ("<title>T</title><desc>D</desc><text>x</text>", "Figure", "T: D"),
            ("<text>x</text>", "Figure", "Figure"),
            ("<text>x</text><g><title>no</title><text>y</text></g>", "", "Diagram: x, y"),
            (
                "<text x='1'>two</text><text x='1'>lines</text><text x='9'>z</text>",
                "",
                "Diagram: two lines, z",
            ),
            ("<circle r='5'/>", "", "Diagram"),
            ('<text>a &lt;b&gt; "c"</text>', "", 'Diagram: a <b> "c"'),
            ("".join(f"<g><text>word{n}</text></g>" for n in range(99)), "", None),
        ],
    )
    def test_name(self, inside: str, title: str, label: str | None) -> None:
        svg = ElementTree.fromstring(clean(inside).html(title))
        assert svg.get("role") == "img"
        if label is None:
            assert svg.get("aria-label", "").endswith(" …") and len(svg.get("aria-label", "")) < 220
        else:
            assert svg.get("aria-label") == label

    def test_only_wide_drawings_scroll(self) -> None:
        assert clean("", root='viewBox="0 0 400 50"').html().startswith("<svg")
        wide = clean("", root='viewBox="0 0 1000 50"').html()
        assert wide.startswith('<div class="diagram-scroll" tabindex="0"') and "min-width:720px" in wide


class TestHook:
    SVG = f"""return '<svg {NS} viewBox="0 0 9 9"><text>' + source.strip() + '</text></svg>'"""

    def test_figure_with_id_and_caption(self, tmp_path: Path) -> None:
        body = '```notes title="A < B" {#fig-x}\nc d e\n```\n'
        html, report = site(tmp_path, body, plugin(self.SVG))
        assert report.ok, report.diagnostics
        assert '<figure class="diagram" id="fig-x"><svg role="img" aria-label="A &lt; B"' in html
        caption = '<span class="figure-label">Figure 1</span> A &lt; B'
        assert f">c d e</text></g></svg>\n<figcaption>{caption}</figcaption></figure>" in html

    @pytest.mark.parametrize(
        ("body", "code", "message", "place"),
        [
            ("raise ValueError('no clef')", "diagram", 'invalid "notes" diagram: no clef', (6, 4)),
            (
                "raise SyntaxError('bad note', ('', 2, 3, None))",
                "diagram",
                'invalid "notes" diagram: bad note',
                (8, 3),
            ),
            (
                "raise SyntaxError('bad note', ('', 2, None, None))",
                "diagram",
                'invalid "notes" diagram: bad note',
                (8, 1),
            ),
            (
                "raise SyntaxError('bad note', ('', 99, 1, None))",
                "diagram",
                'invalid "notes" diagram: bad note',
                (6, 4),
            ),
            (
                "import ast; ast.parse('(', 'f.py')",
                "plugin",
                'plugin "mine" fails on "notes": SyntaxError',
                (6, 4),
            ),
            ("raise KeyError('x')", "plugin", 'plugin "mine" fails on "notes": KeyError: \'x\'', (6, 4)),
            (
                "return '<p>'",
                "plugin",
                'plugin "mine" returns an invalid drawing for "notes": it is not valid XML',
                (6, 4),
            ),
            ("return None", "plugin", 'plugin "mine" returns an invalid drawing for "notes": ', (6, 4)),
        ],
    )
    def test_mistakes(
        self, tmp_path: Path, body: str, code: str, message: str, place: tuple[int, int]
    ) -> None:
        _, report = site(tmp_path, "```notes\nc d e\nf g a\n```\n", plugin(body))
        (found,) = report.diagnostics
        assert (found.code, found.path) == (code, "content/posts/a.md") and not report.ok
        assert found.message.startswith(message)
        assert found.place and (found.place.line, found.place.column) == place

    def test_place_in_a_quote(self, tmp_path: Path) -> None:
        body = "> ```notes\n> c d e\n> f g a\n> ```\n"
        _, report = site(tmp_path, body, plugin("raise SyntaxError('bad', ('', 2, 3, None))"))
        (found,) = report.diagnostics
        assert found.place and (found.place.line, found.place.column) == (8, 5)
        assert found.source_line == "> f g a"

    @pytest.mark.parametrize("error", ["ImportError", "FileNotFoundError"])
    def test_what_is_missing_is_a_warning_and_the_source_stays(self, tmp_path: Path, error: str) -> None:
        html, report = site(tmp_path, "```notes\nc < d\n```\n", plugin(f"raise {error}('pip install x')"))
        (found,) = report.diagnostics
        assert (found.code, found.severity, found.hint) == ("diagram-source", "warning", "pip install x")
        assert report.ok and "<details>" in html and "c &lt; d" in html

    def test_text_of_strangers(self, tmp_path: Path) -> None:
        code = plugin("raise SystemError('was called')", '"notes", trusted=True')
        config = "plugins: [mine]\nmarkup: {untrusted: true}\n"
        html, report = site(tmp_path, "```notes\nc\n```\n", code, config)
        (found,) = report.diagnostics
        assert (found.code, found.severity) == (
            "diagram-source",
            "warning",
        ) and "trust all authors" in found.hint
        assert "<details>" in html

    @pytest.mark.parametrize(("language", "name"), [("mermaid", "mermaid"), ("dot", "graphviz")])
    def test_without_a_plugin_the_hint_names_it(self, tmp_path: Path, language: str, name: str) -> None:
        _, report = site(tmp_path, f"```{language}\nx\n```\n", config="title: T\n")
        (found,) = report.diagnostics
        assert found.hint == f"write `plugins: [{name}]` in blogsmith.yaml"

    def test_the_style_sheet_only_where_it_is_needed(self, tmp_path: Path) -> None:
        with_diagram, _ = site(tmp_path / "1", "```notes\nc\n```\n", plugin(self.SVG))
        without, _ = site(tmp_path / "2", "c\n", plugin(self.SVG))
        assert "/extras-" in with_diagram and "/extras-" not in without


@needs_merman
class TestMermaid:
    CONFIG = "plugins: [mermaid]\n"
    CHARTS = (
        "flowchart LR\n  A[Queries] -->|scores| B{softmax} --> C([Weights]) & D[(Cache)]",
        "sequenceDiagram\n  Author->>Site: build\n  Note over Author,Site: errors",
        "stateDiagram-v2\n  [*] --> Stale\n  Stale --> Fresh: run",
        "classDiagram\n  Page <|-- Post\n  Page : +title",
        "erDiagram\n  POST ||--o{ CELL : holds",
        "gantt\n  section Write\n  Draft :a1, 2026-01-01, 10d",
        'pie\n  "Scores" : 42\n  "Softmax" : 12',
        "mindmap\n  root((Attention))\n    Scores",
        "timeline\n  2017 : Transformer",
        "gitGraph\n  commit\n  branch dev\n  commit",
        "xychart-beta\n  x-axis [1, 2]\n  bar [8, 5]\n  line [8, 5]",
        "quadrantChart\n  A: [0.3, 0.6]",
    )

    @each_row("chart", CHARTS, ids=lambda chart: chart.split()[0])
    def test_every_kind_is_drawn_in_the_themes_colours(self, chart: str) -> None:
        draw = load_plugins(["mermaid"], [bundled_folder("plugins")]).diagrams["mermaid"].draw
        html = sanitize_drawing(draw(chart), "d--", chart).html()
        root = ElementTree.fromstring(html)
        assert len(list(root.iter("text"))) > 1
        paints = {element.get(key, "none") for element in root.iter() for key in ("fill", "stroke")}
        assert {paint for paint in paints if not paint.startswith(("var(--diagram-", "url(#d--"))} <= {"none"}

    def test_a_failed_measurement_is_an_error_and_not_another_size(self) -> None:
        draw = load_plugins(["mermaid"], [bundled_folder("plugins")]).diagrams["mermaid"].draw
        with patch("unicodedata.east_asian_width", side_effect=MemoryError), pytest.raises(MemoryError):
            draw("flowchart LR\n  A[あ]")
        assert "あ" in draw("flowchart LR\n  A[あ]")

    def test_two_in_a_page(self, tmp_path: Path) -> None:
        fence = "```mermaid\nflowchart LR\n  A --> B\n```\n\n"
        html, report = site(tmp_path, fence + fence, config=self.CONFIG)
        assert report.ok and not report.diagnostics
        ids = re.findall(r'\bid="(diagram-[^"]*)"', html)
        assert len(ids) == len(set(ids)) == 2
        assert "<style" not in html

    def test_its_own_title_is_the_text_alternative(self, tmp_path: Path) -> None:
        chart = "flowchart LR\n  accTitle: A page\n  accDescr: From source to HTML\n  A --> B"
        html, _ = site(tmp_path, f"```mermaid\n{chart}\n```\n", config=self.CONFIG)
        assert 'aria-label="A page: From source to HTML"' in html

    def test_a_mistake_is_shown_at_its_line(self, tmp_path: Path) -> None:
        _, report = site(tmp_path, "```mermaid\ngraph LR\n  A --> [[x\n```\n", config=self.CONFIG)
        (found,) = report.diagnostics
        assert found.code == "diagram" and found.place and found.place.line == 8
        assert found.source_line == "  A --> [[x"

    @pytest.mark.parametrize(
        ("chart", "message"),
        [
            ("", "missing diagram type at the start"),
            ("hello", "missing diagram type at the start"),
            ('graph LR\n  A["$$a -> b$$"]', "are not allowed in a formula in a label"),
            ("graph LR\n" + "".join(f"subgraph s{n}\n" for n in range(400)) + "end\n" * 400, "too large"),
            ("graph LR\n" + "  a --> b\n" * 9000, "too large"),
        ],
    )
    def test_what_cannot_be_drawn(self, tmp_path: Path, chart: str, message: str) -> None:
        _, report = site(tmp_path, f"```mermaid\n{chart}\n```\n", config=self.CONFIG)
        (found,) = report.diagnostics
        assert found.code == "diagram" and message in found.message

    def test_long_labels_are_broken(self) -> None:
        draw = load_plugins(["mermaid"], [bundled_folder("plugins")]).diagrams["mermaid"].draw
        chart = f"graph LR\n  A[{'many words ' * 12}]"
        drawing = sanitize_drawing(draw(chart), "d--", chart)
        assert drawing.min_width_px < 250 and drawing.markup.count("<text") > 3


def program(folder: Path, script: str) -> dict[str, str]:
    """Return an environment where `dot` is the shell script."""
    file = folder / "bin" / "dot"
    file.parent.mkdir()
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{file.parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for dot is a shell script")
class TestGraphviz:
    CONFIG = "plugins: [graphviz]\n"
    SVG = (
        '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd">'
        f'<svg {NS} viewBox="0.00 0.00 62.00 44.00"><g class="node"><title>a</title>'
        '<ellipse fill="none" stroke="black" cx="27" cy="-18" rx="27" ry="18"/>'
        '<text x="27">a</text></g></svg>'
    )

    @pytest.mark.parametrize("language", ["dot", "graphviz"])
    def test_drawn(self, tmp_path: Path, language: str) -> None:
        script = f"grep -q 'digraph' || exit 9\ncat <<'END'\n{self.SVG}\nEND"
        with patch.dict(os.environ, program(tmp_path, script)):
            html, report = site(tmp_path, f"```{language}\ndigraph {{ a }}\n```\n", config=self.CONFIG)
        assert report.ok and not report.diagnostics
        assert 'aria-label="Diagram: a"' in html and 'stroke="var(--diagram-ink,currentColor)"' in html

    @pytest.mark.parametrize(
        ("said", "message", "line"),
        [
            (
                "Error: <stdin>: syntax error in line 2 near '->'",
                "invalid \"dot\" diagram: syntax error near '->'",
                8,
            ),
            ("Error: bad label format", 'invalid "dot" diagram: bad label format', 6),
            ("", 'invalid "dot" diagram: "dot" fails without an error message', 6),
        ],
    )
    def test_mistakes(self, tmp_path: Path, said: str, message: str, line: int) -> None:
        script = f"cat > /dev/null\ncat >&2 <<'END'\n{said}\nEND\nexit 1"
        with patch.dict(os.environ, program(tmp_path, script)):
            _, report = site(tmp_path, "```dot\ndigraph {\n -> }\n```\n", config=self.CONFIG)
        (found,) = report.diagnostics
        assert (found.code, found.message) == ("diagram", message)
        assert found.place and found.place.line == line

    def test_without_the_program(self, tmp_path: Path) -> None:
        with patch.dict(os.environ, {"PATH": str(tmp_path)}):
            html, report = site(tmp_path, "```dot\ndigraph { a }\n```\n", config=self.CONFIG)
        (found,) = report.diagnostics
        assert (found.code, found.hint) == (
            "diagram-source",
            "install Graphviz, which includes the program `dot`",
        )
        assert report.ok and "<details>" in html

    def test_not_on_text_of_strangers(self, tmp_path: Path) -> None:
        config = self.CONFIG + "markup: {untrusted: true}\n"
        with patch.dict(os.environ, program(tmp_path, f"touch {tmp_path}/ran")):
            _, report = site(tmp_path, "```dot\ndigraph { a }\n```\n", config=config)
        assert [found.code for found in report.diagnostics] == ["diagram-source"]
        assert not (tmp_path / "ran").exists()
