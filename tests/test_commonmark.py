"""CommonMark's own examples: without our extensions, the parser conforms to version 0.31.2.

The rules that we replace (paragraphs, headings, links, inline HTML) stay enabled, so that they are tested.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML

from blogsmith.base.diagnostics.model import Reporter
from blogsmith.syntax.parser import AFTER_INLINE, BEFORE_INLINE, make_parser
from blogsmith.syntax.state import ParseOptions, new_page
from blogsmith.tex.analysis.linear import linear_text
from blogsmith.tex.analysis.numbering import split_rows
from tests.check import render
from tests.normal_html import normal_html

EXTENSIONS = [
    "math",
    "shortcode",
    "table",
    "footnote",
    "div",
    "attributes",
    "deflist",
    "ref_command",
    "ref_braced",
    "ref_bare",
    "cite_group",
    "cite_bare",
    "kbd",
    "mark",
    "abbr",
    "span",
    "strikethrough",
]
CORE = [name for name, _ in (*BEFORE_INLINE, *AFTER_INLINE) if name != "locate"]
ON_PURPOSE = {
    173: "a stylesheet that never ends is text, and not HTML to the end of the page",
    596: "irc: in <…> is none of the schemes a page may link to",
    598: "a+b+c: likewise",
    599: "made-up-scheme: likewise",
    601: "localhost: likewise",
}
"""Examples with different results, and the reasons."""

_EXAMPLE = re.compile(r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Example:
    """An example of the specification."""

    number: int
    markdown: str
    html: str


@pytest.fixture(scope="module")
def examples(commonmark_spec: str) -> list[Example]:
    return [
        Example(number, *(part.replace("→", "\t") for part in found.groups()))
        for number, found in enumerate(_EXAMPLE.finditer(commonmark_spec), start=1)
    ]


@pytest.fixture(scope="module")
def options() -> ParseOptions:
    return ParseOptions(linear_math=linear_text, split_rows=split_rows, linkify=False)


@pytest.fixture(scope="module")
def parser(options: ParseOptions) -> MarkdownIt:
    md = make_parser(options)
    md.disable(EXTENSIONS + CORE)
    return md


def printed(md: MarkdownIt, options: ParseOptions, text: str) -> str:
    """Return `text`, parsed by our parser, as rendered by markdown-it's own renderer."""
    env = {"page": new_page(text, options, Reporter("spec.md"))}
    return str(RendererHTML().render(md.parse(text, env), md.options, env))


def test_the_specification_is_whole(examples: list[Example]) -> None:
    assert len(examples) == 652


def test_examples(examples: list[Example], parser: MarkdownIt, options: ParseOptions) -> None:
    differing = {}
    for example in examples:
        got = printed(parser, options, example.markdown)
        if normal_html(got) != normal_html(example.html):
            differing[example.number] = f"{example.markdown!r}\n  wants {example.html!r}\n  gives {got!r}"
    unexpected = [f"{n}: {text}" for n, text in differing.items() if n not in ON_PURPOSE]
    assert not unexpected, "\n".join(unexpected)
    assert set(differing) == set(ON_PURPOSE), "an exception is no longer needed"


_ROW = re.compile(r"^\| ((?:GFM )?\d\.\d+ [^|]*) \| (`+) ?(.*?) ?\2 \| .* \|$", re.MULTILINE)
_STOCK = MarkdownIt("commonmark").enable("table")
_NOT_STOCK = "`~a~`"
"""An example that markdown-it reads as we do, and GFM does not."""


def test_differences_in_the_manual_are_differences() -> None:
    manual = (Path(__file__).parent.parent / "content/docs/text.md").read_text("utf-8")
    _, _, section = manual.partition("## Differences from CommonMark\n")
    rows = _ROW.findall(section.partition("\n## ")[0])
    assert len(rows) >= 20
    same = []
    for clause, _, written in rows:
        source = written.replace("\\|", "|").replace("⏎", "\n")
        ours = re.sub(r" <a class=.heading-anchor.*?</a>", "", render(f"---\ntitle: T\n---\n{source}\n").html)
        if normal_html(ours) == normal_html(_STOCK.render(source)) and f"`{written}`" != _NOT_STOCK:
            same.append(f"{clause}: {source}")
    assert same == []
