"""Outputs of cells as HTML: colours, foreign markup, images, provenance, values. Nothing runs here."""

from __future__ import annotations

import hashlib
import re
import time
from html import unescape
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blogsmith.base.diagnostics.model import Place
from blogsmith.config.schema import Config, Markup
from blogsmith.model.cells import Cell, CellOptions
from blogsmith.model.results import (
    Blob,
    CellOutput,
    CellResult,
    Display,
    Failure,
    Machine,
    PageResults,
    Stream,
    ValueResult,
)
from blogsmith.render.context import WORDS_PER_MINUTE, PageRendering
from blogsmith.render.outputs.ansi import NAMES, ansi_html, plain_output
from blogsmith.render.outputs.html import MAX_CHARACTERS, TableSettings, clean_html
from blogsmith.render.outputs.html_tree import MAX_DEPTH
from blogsmith.render.outputs.provenance import provenance
from blogsmith.render.outputs.values import strip_delimiters
from blogsmith.render.svg.metadata import svg_description, svg_size
from tests.check import Rendered, render_with
from tests.page_checks import markup_problems
from tests.rows import each_row
from tests.test_theme_look import TONES, colours, contrast, mixed
from tests.theme_pages import BARE, SITE, load_paper

STATIC = Path(__file__).parent.parent / "themes" / "paper" / "static"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LONG = 100_000
"""Length in characters."""
BUDGET_S = 4
"""Seconds for `LONG` characters; non-linear time would take hours."""
ESC = "\x1b"


def shown(*outputs: CellOutput, code: str = "#| eval: true\nx\n", status: str = "ok") -> Rendered:
    """Render a page with one cell that gave `outputs`."""
    results = PageResults({1: CellResult(status, outputs)}, folder=Path("/records"))  # type: ignore[arg-type]
    return render_with(f"```python\n{code}```\n", results)


def blob(name: str, data: bytes | None = None) -> Blob:
    return Blob(hashlib.sha256(data or name.encode()).hexdigest(), data, name)


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^<>]*>", "", html))


class TestColours:
    @each_row(
        ("codes", "classes"),
        [
            ("31", "ansi-red"),
            ("94", "ansi-bright-blue"),
            ("1;4;33", "ansi-yellow ansi-bold ansi-underline"),
            ("42", "ansi-bg-green"),
            ("107", "ansi-bg-bright-white"),
            ("2;3;9", "ansi-dim ansi-italic ansi-strike"),
            ("7", "ansi-black ansi-bg-white"),
            ("31;7", "ansi-black ansi-bg-red"),
            ("31;44;7", "ansi-blue ansi-bg-red"),
            ("38;5;9", "ansi-bright-red"),
            ("38;5;208", "ansi-yellow"),
            ("38;5;244", "ansi-bright-black"),
            ("48;5;21", "ansi-bg-blue"),
            ("38;2;0;0;250;1", "ansi-blue ansi-bold"),
            ("38:2::0:200:0", "ansi-green"),
            ("38:5:1", "ansi-red"),
            ("4:3", "ansi-underline"),
        ],
    )
    def test_looks(self, codes: str, classes: str) -> None:
        assert ansi_html(f"{ESC}[{codes}mx") == f'<span class="{classes}">x</span>'

    @each_row("codes", ["", "0", "31;0", "1;22", "31;39", "42;49", "38;5", "38;5;999", "38", "5", "31;m"])
    def test_no_look(self, codes: str) -> None:
        assert text_of(ansi_html(f"{ESC}[{codes}mx")).endswith("x")
        assert "<span" not in ansi_html(f"{ESC}[{codes}mx")

    @each_row(
        "hostile",
        [
            f"{ESC}]0;title\x07x",
            f"{ESC}]8;;https://evil.example{ESC}\\x",
            f"{ESC}[2J{ESC}[Hx",
            f"{ESC}P+q544e{ESC}\\x",
            f"{ESC}(Bx",
            f"{ESC}7x{ESC}8",
            f"x{ESC}",
            f"x\x00\x07\x08\x7f\x9b\x85{ESC}c",
        ],
    )
    def test_what_acts_on_a_terminal_is_dropped(self, hostile: str) -> None:
        assert ansi_html(hostile) == plain_output(hostile) == "x"

    def test_what_is_broken_loses_its_beginning_only(self) -> None:
        assert ansi_html(f"{ESC}]0;title never ends") == "0;title never ends"
        assert ansi_html(f"{ESC}[{'1' * 5000}m.") == "."

    def test_no_character_stays_that_a_page_cannot_hold(self) -> None:
        assert ansi_html("a\ud800b\ufffec\r\nd") == "a�b�c\nd"

    @given(st.text(alphabet=f"{ESC}[]0123456789;:mKx<&\n", max_size=60))
    def test_any_text(self, text: str) -> None:
        html = ansi_html(text)
        assert text_of(html) == plain_output(text)
        assert not markup_problems(f"<pre>{html}</pre>")
        assert re.sub(r'<span class="(?:ansi-[a-z-]+ ?)+">[^<>]+</span>', "", html).count("<") == 0

    @pytest.mark.parametrize(
        "piece", [f"{ESC}[", f"{ESC}]", f"{ESC}[31mx", f"{ESC}[1", f"{ESC} ", f"{ESC}P1"]
    )
    def test_time_is_linear(self, piece: str) -> None:
        start = time.process_time()
        ansi_html(piece * (LONG // len(piece)))
        assert time.process_time() - start < BUDGET_S

    def test_the_theme_has_every_colour(self) -> None:
        css = (STATIC / "cells.css").read_text()
        names = [*NAMES, *(f"bright-{name}" for name in NAMES)]
        styles = ("bold", "dim", "italic", "underline", "strike")
        assert [name for name in (*names, *styles) if not re.search(rf"\.ansi-{name}\b", css)] == []

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_colours_are_readable(self, scheme: str) -> None:
        """WCAG 2.2, 1.4.3, on the background that cells.css gives outputs."""
        css = (STATIC / "cells.css").read_text()
        assert "--output: color-mix(in srgb, var(--raised) 45%, var(--paper))" in css
        assert "color-mix(in srgb, var(--tone) 22%, var(--paper))" in css
        found = colours(scheme)
        ground = mixed(found["raised"], found["paper"], 0.45)
        assert (
            min(contrast(found[name], ground) for name in (*TONES, "ink", "soft", "muted", "code-ink")) >= 4.5
        )
        grounds = [mixed(found[tone], found["paper"], 0.22) for tone in TONES]
        assert min(contrast(found["ink"], tinted) for tinted in grounds) >= 4.5


TAGS = "a b p div ul ol li dl dt dd table caption thead tbody tfoot tr td th pre details summary br hr svg h2"
HTML_PIECES = st.sampled_from(
    [
        *(f"<{tag}>" for tag in TAGS.split()),
        *(f"</{tag}>" for tag in TAGS.split()),
        *("text", " ", "&lt;", "&", "<", '"', "<!--", "-->", "<script>", "</script>", "<a href=https://x.y>"),
        *("<p onclick=f()>", '<td rowspan=9 style="text-align:center">', "<b id=x class=toc>", "<br/>"),
        f'<img src="data:image/png;base64,{PIXEL}">',
    ]
)


class TestForeignMarkup:
    @given(st.lists(HTML_PIECES, max_size=30))
    def test_whatever_comes_is_valid_and_harmless(self, pieces: list[str]) -> None:
        html = clean_html("".join(pieces), "output of cell 1").html
        assert not markup_problems(html)
        assert not re.search(r"<script|<svg|\son\w+=|\sid=|\sstyle=", html)

    @given(st.lists(HTML_PIECES, max_size=20))
    def test_cleaning_twice_changes_no_text(self, pieces: list[str]) -> None:
        once = clean_html("".join(pieces), "o").html
        again = clean_html(once, "o").html
        assert text_of(again).split() == text_of(once).split()

    @each_row(
        ("html", "expected"),
        [
            ('<a href="javascript:alert(1)">x</a>', "<a>x</a>"),
            (
                '<a href=" https://e.org/?a=1&amp;b " target=_blank>x</a>',
                '<a href="https://e.org/?a=1&amp;b">x</a>',
            ),
            ("<font color=red>x</font><center>y</center>", "x<div>y</div>"),
            ('<p align="right">x', '<p class="align-right">x</p>'),
            ("<h1>Title</h1>text", "<p>Title</p>text"),
            ("<h2>a<p>b", "<p>a</p><p>b</p>"),
            ("<p>a<div>b</div>c", "<p>a</p><div>b</div>c"),
            ("<b>x<div>y</div>", "<b>x</b><div>y</div>"),
            ("<ul>a<li>b<li>c</ul>", "<ul><li>a</li><li>b</li><li>c</li></ul>"),
            ("<li>alone", "<div>alone</div>"),
            ("<dl><dd>half</dl>", "<div><div>half</div></div>"),
            ("<details>x</details>", "<details><summary>Details</summary>x</details>"),
            ("<details open><summary>a<p>b</summary>c", "<details open><summary>ab</summary>c</details>"),
            ("<tr><td>no table", "no table"),
            ("1 < 2 &amp; 3 > 2", "1 &lt; 2 &amp; 3 &gt; 2"),
            ("<pre>\n  a\n</pre>", "<pre>\n  a\n</pre>"),
            ("<style>p { color: red }</style><b>x", "<b>x</b>"),
            (f"<b>{ESC}[31m\x00x</b>", "<b>x</b>"),
        ],
    )
    def test_elements(self, html: str, expected: str) -> None:
        assert clean_html(html, "o").html == expected

    def test_a_table_is_repaired(self) -> None:
        clean = clean_html("<table>loose<tr><th>a<th>n<tr><td>x<td>-1,000.5<tr></table>", "output of cell 1")
        assert clean.html == (
            'loose<div class="table-wrap" role="region" tabindex="0" aria-label="Table in output of cell 1">'
            '<table><tbody><tr><th scope="col">a</th><th scope="col">n</th></tr>'
            '<tr><td>x</td><td class="align-right">-1,000.5</td></tr></tbody></table></div>'
        )

    @each_row(
        ("rows", "is_wide"),
        [
            ("<tr>" + 8 * "<td>ten letters", True),
            ("<tr>" + 8 * "<td>few", False),
            ("<tbody><tr>" + 40 * "<td>x", True),
            # its columns may be as narrow as their own cells
            ("<thead><tr><th colspan=2>" + 90 * "a" + "<tbody><tr><td>b<td>c", False),
            ("<tr><td colspan=2>a<td>" + 40 * "b" + "<tr><td>c<td>d<td>e<td>" + 40 * "f", True),
            ("<tr><td>" + "words of a cell \n\n   " * 4, False),
        ],
    )
    def test_a_table_says_that_it_is_wide(self, rows: str, is_wide: bool) -> None:
        assert ('class="table-wrap wide"' in clean_html(f"<table>{rows}</table>", "o").html) is is_wide

    def test_tables_have_different_names(self) -> None:
        html = clean_html("<table><tr><td>a</table><table><tr><td>b</table>", "o").html
        assert re.findall('aria-label="([^"]*)"', html) == ["Table in o", "Table 2 in o"]

    def test_a_table_in_a_table_scrolls_with_it(self) -> None:
        html = clean_html("<table><tr><td><table><tr><td>a</table></table>", "o").html
        assert html.count("<table>") == 2
        assert html.count("table-wrap") == 1

    def test_spans(self) -> None:
        html = clean_html(
            "<table><tr><td colspan=2 rowspan=9>a<tr><td colspan=x rowspan=0>b</table>", "o"
        ).html
        assert '<td colspan="2" rowspan="2">a</td>' in html
        assert "<td>b</td>" in html

    @each_row(
        ("html", "dropped"),
        [
            ("<script>x</script>y", ("script",)),
            ("<svg><circle/></svg>y<button>b", ("button", "svg")),
            ('<img src="https://evil.example/x.png">y', ("img",)),
            (f'<img src="data:image/svg+xml;base64,{PIXEL}">y', ("img",)),
            ('<img src="data:image/png;base64,AAAA">y', ("img",)),
            ("<iframe src=x>a</iframe>y", ("iframe",)),
            ("<style>x</style>y", ()),
            ("<!-- <svg> -->y", ()),
        ],
    )
    def test_what_is_left_out_is_named(self, html: str, dropped: tuple[str, ...]) -> None:
        clean = clean_html(html, "o")
        assert (clean.html, clean.dropped) == ("y", dropped)

    def test_a_picture_in_the_markup_has_its_size(self) -> None:
        html = clean_html(f'<img alt="A dot" width=99 src="data:image/png;base64,{PIXEL}">', "o").html
        assert 'width="1" height="1"' in html
        assert 'alt="A dot"' in html

    def test_depth_is_bounded(self) -> None:
        html = clean_html("<div>" * 10_000 + "x", "o").html
        assert html.count("<div>") == MAX_DEPTH - 1
        assert text_of(html) == "x"

    def test_size_is_bounded(self) -> None:
        assert clean_html("x" * (MAX_CHARACTERS + 1), "o").html == ""

    @pytest.mark.parametrize(
        "piece",
        [
            "<a ",
            "<a '\"",
            "<!--",
            "<b>",
            "<div>",
            "<table>",
            "<td>",
            "<table>x<b>",
            "<li>",
            "<svg>",
            "</p>",
            "<p><b>",
        ],
    )
    def test_time_is_linear(self, piece: str) -> None:
        start = time.process_time()
        clean_html(piece * (LONG // len(piece)), "o")
        assert time.process_time() - start < BUDGET_S

    @each_row("said", ["Said", ""])
    @each_row(
        ("table", "own"),
        [
            ("<table><tr><td>a</table>", ""),
            ("<table> <caption dir=ltr>Own <b>b</b></caption><tr><td>a</table>", "Own <b>b</b>"),
            ("<table></table><table><tr><td>a<table><caption>In</caption><tr><td>b</table></table>", ""),
        ],
    )
    def test_the_head_goes_to_the_first_table_that_is_shown(self, table: str, own: str, said: str) -> None:
        later = "<table><caption>Later</caption><tr><td>c</table>"
        clean = clean_html(table + later, "o", TableSettings("tbl-x", "3", said))
        head, _, rest = clean.html.partition("</caption>")
        wrap = '<div class="table-wrap" role="region" tabindex="0" aria-label="Table 3">'
        label = '<caption><span class="table-label">Table 3.</span>'
        assert head == f'{wrap}<table id="tbl-x">{label} {said or own}'.rstrip()
        assert "tbl-x" not in rest and "Table 3" not in rest and "Own" not in rest
        assert "<caption>Later</caption>" in rest
        assert clean.has_head and markup_problems(clean.html) == []

    @pytest.mark.parametrize("html", ["<p>a</p>", "<table></table>", "<table><tr><td></table>", ""])
    def test_a_head_without_a_table_is_told(self, html: str) -> None:
        assert not clean_html(html, "o", TableSettings("tbl-x", "1", "Said")).has_head


class TestOutputs:
    def test_a_colour_goes_on_in_the_next_piece(self) -> None:
        html = shown(Stream("stdout", f"{ESC}[31ma"), Stream("stdout", f"b{ESC}[0m c", dropped=1)).html
        assert '<pre class="output output-stdout"><span class="ansi-red">ab</span> c</pre>' in html
        assert "… 1 byte more is not kept" in html

    @pytest.mark.parametrize(
        ("dropped", "words"),
        [(2, "2 bytes more are"), (1_500, "1.5 kB more are"), (2_000_000_000, "2 GB more are")],
    )
    def test_how_much_is_lost(self, dropped: int, words: str) -> None:
        assert f"… {words} not kept" in shown(Stream("stderr", "x", dropped)).html

    def test_lines_are_counted_in_the_post_and_in_the_session(self) -> None:
        post = (
            "Text.\n\n```python\n#| session: other\na\n```\n\n```python\n#| eval: true\nb\n```\n\n"
            "```python\n#| error: true\nc\nd\n```\n"
        )
        text = (
            'File "<cell 2>", line 2, in f\nFile "<cell 1>", line 1\nFile "<cell 7>", line 1\n<cell 2>:1: W\n'
        )
        results = PageResults({3: CellResult("error", (Failure("E", "", text),))})
        html = unescape(render_with(post, results).html)
        path = "content/posts/page.md"
        assert f'File "{path}", line 16, in f\nFile "{path}", line 10\nFile "<cell 7>", line 1' in html
        assert f"{path}:15: W" in html

    def test_markup_of_strangers_is_text(self) -> None:
        from blogsmith.render.outputs.outputs import show_outputs

        # untrusted code never runs, but a recorded result might be shown one day
        page = shown()
        assert "cell" in page.html
        output = Display("value", {"text/html": "<b>x</b>", "text/plain": "plain"})
        cell = Cell(1, "x\n", 1, Place(1), options=CellOptions())
        for untrusted, expected in ((True, "<pre>plain</pre>"), (False, "<b>x</b>")):
            rendering = _rendering(Config(markup=Markup(untrusted=untrusted)))
            html = show_outputs(rendering, cell, CellResult("ok", (output,))).html
            assert html == f'<div class="output output-value">{expected}</div>\n'

    def test_the_page_needs_no_picture_to_have_an_anchor(self) -> None:
        page = render_with("```python\n#| label: fig-x\nplot()\n```\n\n{@fig-x}\n", PageResults())
        assert page.html.count('id="fig-x"') == 1
        assert 'href="#fig-x"' in page.html

    @each_row(
        ("latex", "expected"),
        [
            ("$x$", ("x", False)),
            ("$$ x $$", ("x", True)),
            (r"\[x\]", ("x", True)),
            (r"\begin{align}x\end{align}", (r"\begin{align}x\end{align}", True)),
            ("$x$ and $y$", ("", False)),
            (r"$5\$$", (r"5\$", False)),
            ("words", ("", False)),
        ],
    )
    def test_latex_is_one_formula(self, latex: str, expected: tuple[str, bool]) -> None:
        assert strip_delimiters(latex) == expected


def _rendering(config: Config) -> PageRendering:
    from blogsmith.base.diagnostics.model import Reporter
    from blogsmith.render.html import render_tokens
    from blogsmith.tex.parse.macros import MacroTable
    from tests.check import _document, _tools

    document, _ = _document("page.md", "x\n", "{}")
    tools, parsed = _tools("{}", {"page.md": document})
    tools = replace(tools, config=config)
    return PageRendering(parsed, tools, Reporter("page.md"), MacroTable(), render_tokens, PageResults())


class TestPictures:
    def test_files_come_with_the_page(self) -> None:
        svg = Display("display", {"image/svg+xml": blob("plot-1.svg"), "image/png": blob("plot-1.png")})
        png = Display("display", {"image/png": replace(blob("", b"png"), name="")})
        page = shown(svg, png, code="#| label: two\n#| fig-alt: Two\nx\n")
        first, second = page.body.files
        assert re.fullmatch(r"plot-1-[0-9a-f]{8}\.svg", first)
        assert re.fullmatch(r"two-2-[0-9a-f]{8}\.png", second)
        assert page.body.files == {first: Path("/records/plot-1.svg"), second: b"png"}
        assert re.findall('src="([^"]*)"', page.html) == [f"/posts/page/{first}", f"/posts/page/{second}"]
        assert page.diagnostics == ()
        assert page.body.weight.images == 2

    @each_row("name", ["../secret.png", "/etc/passwd", "a/b.png", "", ".hidden"])
    def test_no_file_outside_the_record_is_copied(self, name: str) -> None:
        page = shown(Display("display", {"image/png": blob(name)}), code="#| fig-alt: A\nx\n")
        assert page.body.files == {}
        assert [found.code for found in page.diagnostics] == ["cell-picture"]

    def test_scripts_for_dark_pictures_come_with_them_and_the_switch(self, tmp_path: Path) -> None:
        data = {"image/png": blob("a.png"), "image/png;scheme=dark": blob("a-dark.png")}
        dark = shown(Display("display", data), code="#| fig-alt: A\nx\n")
        plain = shown(Display("display", {"image/png": blob("a.png")}), code="#| fig-alt: A\nx\n")
        assert "pictures" in dark.body.widgets
        assert len(dark.body.files) == 2
        theme = load_paper(tmp_path)
        for page, switch, expected in ((dark, True, True), (dark, False, False), (plain, True, False)):
            view = replace(BARE, body=page.body.content, widgets=page.body.widgets)
            html = theme.render("page", view, replace(SITE, options={"switch": switch}))
            assert ("pictures.js" in html) is expected


SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="3" height="4">{}<path d="M0 0"/></svg>'


def alts(*inside: str, code: str = "x\n") -> tuple[list[str], list[str]]:
    """Return the alt text of each image with this content, and the codes of diagnostics."""
    pictures = [replace(blob("", SVG.format(text).encode()), name="") for text in inside]
    page = shown(
        *(Display("display", {"image/svg+xml": picture}) for picture in pictures),
        code=f"#| eval: true\n{code}",
    )
    found = [unescape(alt) for alt in re.findall(r'alt="([^"]*)"', page.html)]
    return found, [found.code for found in page.diagnostics]


class TestWordsOfPictures:
    @each_row(
        ("inside", "expected"),
        [
            ("<title>Weights</title>", "Weights"),
            ("<title>Weights</title><desc>A matrix.\n 2 × 2</desc>", "Weights. A matrix. 2 × 2"),
            ("<title>Why?</title><desc>So.</desc>", "Why? So."),
            ("<desc>Only this</desc>", "Only this"),
            ('<title>a &lt;b> "c" <x>d</x></title>', 'a <b> "c" d'),
            ("<metadata><title>no</title></metadata><title>yes</title>", "yes"),
        ],
    )
    def test_an_svg_speaks_for_itself(self, inside: str, expected: str) -> None:
        assert alts(inside) == ([expected], [])

    @each_row(
        "inside",
        [
            "",
            "<title> </title>",
            "<g><title>of a part</title></g>",
            "<g/><title>behind a part</title>",
            '<title xmlns="urn:x">of something else</title>',
        ],
    )
    def test_other_titles_do_not_count(self, inside: str) -> None:
        assert alts(inside) == ([""], ["cell-alt"])

    def test_the_author_comes_first_and_the_caption_last(self) -> None:
        title = "<title>Own</title>"
        assert alts(title, code="#| fig-alt: Mine\nx\n") == (["Mine"], [])
        assert alts(title, code="#| fig-cap: Caption\nx\n") == (["Own"], [])
        assert alts("", title, code="#| fig-cap: Caption\nx\n") == (["Caption (1 of 2)", "Own"], [])
        assert alts(title, "") == (["Own", ""], ["cell-alt"])

    def test_long_ones_are_cut(self) -> None:
        ((alt,), _) = alts(f"<title>{'word ' * 40_000}</title>")
        assert len(alt) <= 600 and alt.endswith("word…")

    def test_recorded_files_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "a.svg").write_text(SVG.format("<title>Recorded</title>"))
        result = CellResult("ok", (Display("display", {"image/svg+xml": blob("a.svg")}),))
        page = render_with("```python\n#| eval: true\nx\n```\n", PageResults({1: result}, folder=tmp_path))
        assert 'alt="Recorded"' in page.html

    @each_row(
        "data",
        [
            b"<svg",
            b"",
            b"\xff\xfe<",
            b'<?xml version="1.0" encoding="none-such"?><svg/>',
            b'<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"><title>&a;</title></svg>',
        ],
    )
    def test_damaged_files_have_no_words(self, data: bytes) -> None:
        assert svg_description(BytesIO(data)) == ""

    def test_an_unknown_encoding_is_told(self) -> None:
        with pytest.raises(ValueError, match="encoding is unknown"):
            svg_size(BytesIO(b'<?xml version="1.0" encoding="none-such"?><svg/>'))


FULL = CellResult(
    "ok",
    seconds=0.0123,
    device="cuda",
    packages={"numpy": "2.4.6", "mine": "1.0", "torch": ""},
    machine=Machine(
        "3.11.7", "Linux x86_64", "Intel(R) Xeon(R) CPU @ 2.20GHz", "NVIDIA H200", "9.0", cuda="12.8"
    ),
    date="2026-03-05",
)


FLASH_CPU = "flash aten::_scaled_dot_product_flash_attention_for_cpu"


class TestProvenance:
    def test_all_that_is_known(self) -> None:
        html = provenance(FULL, 7)
        assert text_of(html) == (
            "Recorded 5 Mar 2026\u00a0· GPU (NVIDIA H200, CUDA 12.8)\u00a0· "
            "Python 3.11.7, NumPy 2.4.6, mine 1.0\u00a0· seed 7\u00a0· 12 ms\n"
        )
        assert '<time datetime="2026-03-05">' in html
        for attribute in ('device="cuda"', 'packages="numpy 2.4.6, mine 1.0, torch unknown"', 'seed="7"'):
            assert f" data-{attribute}" in html
        assert ' data-seconds="0.0123" data-date="2026-03-05"' in html
        assert ' data-gpu="NVIDIA H200" data-capability="9.0"' in html

    @each_row(
        ("device", "options", "is_shown"),
        [
            ("cuda", "output: false", True),
            ("cpu", "output: false", False),
            ("cuda", "output: false\n#| echo: false", False),
        ],
    )
    def test_code_on_a_gpu_keeps_it_without_output(self, device: str, options: str, is_shown: bool) -> None:
        results = PageResults({1: replace(FULL, device=device)})
        html = render_with(f"```python\n#| {options}\nx\n```\n", results).html
        assert ("NVIDIA" in html) is is_shown

    def test_what_is_unknown_is_not_guessed(self) -> None:
        html = provenance(CellResult("ok"), None)
        assert text_of(html) == "Recorded\n"
        attributes = dict(re.findall(r'data-(\w+)="([^"]*)"', html))
        assert attributes.pop("seed") == "none"
        assert attributes == dict.fromkeys(("device", "python", "packages", "seconds", "date"), "unknown")

    def test_a_graphics_card_that_was_not_used_is_not_named(self) -> None:
        html = provenance(replace(FULL, device="cpu"), None)
        assert "NVIDIA" not in html
        assert "CPU (Intel Xeon)" in html

    @each_row(
        ("device", "seen", "said"),
        [
            ("cpu", (FLASH_CPU,), "CPU (Intel Xeon)\u00a0· SDPA flash (CPU)\u00a0· Python"),
            ("cpu", ("math aten::_softmax cpu",), "SDPA math (CPU)\u00a0· "),
            ("cuda", ("flash aten::_scaled_dot_product_flash_attention",), "12.8)\u00a0· SDPA flash\u00a0· "),
            (
                "cuda",
                ("efficient aten::x", FLASH_CPU, "math aten::y"),
                "SDPA efficient, flash (CPU), math\u00a0· ",
            ),
            ("cuda", ("math aten::_safe_softmax", "math aten::_softmax"), "SDPA math\u00a0· "),
            ("cuda", ("math aten::y", "math aten::y cpu"), "SDPA math, math (CPU)\u00a0· "),
            ("cuda", ("flash-attn flash_attn::forward",), "12.8)\u00a0· flash-attn\u00a0· Python"),
            ("cuda", ("flash aten::x", "flash-attn y::z"), "SDPA flash\u00a0· flash-attn\u00a0· "),
        ],
    )
    def test_what_computed_attention(self, device: str, seen: tuple[str, ...], said: str) -> None:
        html = provenance(replace(FULL, device=device, sdpa=seen), None)
        assert said in text_of(html)
        assert f' data-sdpa="{", ".join(seen)}"' in html

    def test_nothing_is_said_of_attention_where_there_was_none(self) -> None:
        assert "sdpa" not in provenance(FULL, None).lower()

    def test_what_is_not_kept_was_run(self) -> None:
        assert text_of(provenance(FULL, None, "never")).startswith("Run 5 Mar 2026")

    @pytest.mark.parametrize("date", ["yesterday", "2026-02-31", "2026-3-5"])
    def test_a_date_that_is_none_is_not_shown(self, date: str) -> None:
        assert "<time" not in provenance(replace(FULL, date=date), None)

    def test_values_are_escaped(self) -> None:
        html = provenance(replace(FULL, packages={'"><b>': "<i>"}, device="<u>"), None)
        assert not re.search(r"<[biu]>", html)

    def test_a_seed_of_the_page_counts(self) -> None:
        results = PageResults({2: CellResult("ok", (Stream("stdout", "x"),))})
        cell = "```python\n#| eval: true\nx\n```\n\n"
        post = f"---\nexecute: {{seed: 3}}\n---\n{cell}{cell}"
        assert 'data-seed="3"' in render_with(post, results).html


class TestValues:
    POST = "# About {= n =} heads\n\nThere are {= n =} heads of {= d =}.\n\n## All {= n =}\n"

    def test_plain_text_has_what_came_out(self) -> None:
        values = {1: "12", 2: "12", 3: "64", 4: "12"}
        results = PageResults({}, {number: ValueResult(text) for number, text in values.items()})
        body = render_with(self.POST, results).body
        assert body.title_text == "About 12 heads"
        assert 'About <span class="value">12</span> heads' in body.title_html
        assert body.summary == "There are 12 heads of 64."
        assert body.weight.seconds == pytest.approx(8 * 60 / WORDS_PER_MINUTE)
        assert [(entry.text, entry.id) for entry in body.toc] == [("All 12", "all")]

    def test_what_is_not_known_is_left_open(self) -> None:
        assert render_with(self.POST, PageResults()).body.summary == "There are … heads of …."

    def test_a_formula_is_spelt_out(self) -> None:
        results = PageResults({}, {1: ValueResult("?", r"$\displaystyle \sqrt{2}$")})
        page = render_with("It is {= r =}.\n", results)
        assert page.body.summary == "It is sqrt(2)."
        assert 'alttext="\\sqrt{2}"' in page.html

    def test_citations(self) -> None:
        works = "references: [{id: ash, title: T, author: [{family: Ash, given: B.}], issued: 2017}]"
        post = f"---\ntitle: P\n{works}\n---\nAs [@ash, p. 3] shows and @ash says."
        assert render_with(post, PageResults()).body.summary == "As [1, p. 3] shows and Ash [1] says."

    def test_latex_that_is_wrong_is_text(self) -> None:
        results = PageResults({}, {1: ValueResult("two", r"$\nosuch$")})
        assert '<span class="value">two</span>' in render_with("It is {= r =}.\n", results).html
