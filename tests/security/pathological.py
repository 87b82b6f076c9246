"""Posts that are slow to process: a repeated fragment, an opening without an end, very deep nesting.

Each pattern returns a post of approximately the requested size in characters. The first part is CommonMark's
list (`test/pathological_tests.py`); the others aim at our syntax, the lint and the lexers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

Pattern = Callable[[int], str]
"""A function: size in characters → post."""


def _repeat(piece: str, before: str = "", after: str = "") -> Pattern:
    return lambda size: before + piece * (size // len(piece)) + after


def _numbered(line: str, before: str = "", after: str = "") -> Pattern:
    """Return a pattern of lines where `{n}` is the number of the line."""

    def make(size: int) -> str:
        count = size // (len(line) + 2)
        return before + "".join(line.replace("{n}", str(number)) for number in range(count)) + after

    return make


def _nested(opening: str, closing: str, inside: str = "a") -> Pattern:
    def make(size: int) -> str:
        count = size // (len(opening) + len(closing))
        return opening * count + inside + closing * count

    return make


def _stairs(step: str, line: str, limit: int | None = None) -> Pattern:
    """Return a pattern of lines that are each indented further than the line before."""

    def make(size: int) -> str:
        lines: list[str] = []
        left, depth = size, 0
        while left > 0:
            lines.append(step * depth + line)
            left -= len(lines[-1]) + 1
            depth = depth + 1 if limit is None or depth < limit else 0
        return "\n".join(lines)

    return make


def _backticks(size: int) -> str:
    """Return runs of backticks of all lengths, so that no run closes another."""
    runs: list[str] = []
    while size > 0:
        runs.append("e" + "`" * (len(runs) + 1))
        size -= len(runs[-1])
    return "".join(runs)


def _wide_table(size: int) -> str:
    columns = size // 9
    return "|x" * columns + "|\n" + "|-" * columns + "|\n" + "|y" * columns + "|\n"


def _growing_table(size: int) -> str:
    """Return a table with a long header and short rows, each of which the parser pads with empty cells."""
    columns = size // 12
    return "|x" * columns + "|\n" + "|-" * columns + "|\n" + "y|\n" * (size // 6)


def _square(size: int) -> str:
    side = int((size / 2) ** 0.5)
    row = "|x" * side + "|\n"
    return row + "|-" * side + "|\n" + row * side


def _definitions_used(size: int) -> str:
    count = size // 30
    return (
        "".join(f"[a{n}]: /x{n}\n" for n in range(count)) + "\n" + " ".join(f"[a{n}]" for n in range(count))
    )


def _long_definition(size: int) -> str:
    """Return thousands of references `[a]` to one long URL; the output must stay small (CommonMark)."""
    return "[a]: " + "b" * (size // 2) + "\n\n" + "[a]" * (size // 6)


def _notes(size: int) -> str:
    count = size // 24
    marks = "".join(f"[^{n}]\n" for n in range(count))
    return marks + "\n" + "".join(f"[^{n}]: t\n" for n in range(count))


def _front(lines: Pattern) -> Pattern:
    return lambda size: f"---\ntitle: T\n{lines(min(size, 60_000))}\n---\n\ntext\n"


def _fence(language: str, piece: str, before: str = "", after: str = "") -> Pattern:
    return lambda size: f"```{language}\n{before}{piece * (size // len(piece))}{after}\n```\n"


COMMONMARK: Mapping[str, Pattern] = {
    "nested strong emphasis": _nested("*a **a ", "b** b*"),
    "emphasis closers without openers": _repeat("a_ "),
    "emphasis openers without closers": _repeat("_a "),
    "link closers without openers": _repeat("a]"),
    "link openers without closers": _repeat("[a"),
    "mismatched openers and closers": _repeat("*a_ "),
    "openers and closers, multiple of 3": _repeat("a" + "b" + "c* ", before="a**b"),
    "link openers and emphasis closers": _repeat("[ a_"),
    "pattern [ (](": _repeat("[ (]("),
    "pattern ![[]()": _repeat("![[]()"),
    "hard link emphasis": _repeat("**x [a*b**c*](d)"),
    "nested brackets": _nested("[", "]"),
    "nested parentheses in a link": lambda size: "[a](" + "(" * (size // 2) + ")" * (size // 2) + ")",
    "nested block quotes": _repeat("> ", after="a"),
    "nested block quotes without blanks": _repeat(">", after="a"),
    "deeply nested lists": _stairs("  ", "* a"),
    "U+0000 in input": _repeat("abc\ufffdde\ufffd"),
    "backticks": _backticks,
    "unclosed links <": _repeat("[a](<b"),
    "unclosed links": _repeat("[a](b"),
    "unclosed comment": _repeat("</", before="<!--"),
    "comments that never close": _repeat("<!--"),
    "unclosed processing instructions": _repeat("<?"),
    "unclosed declarations": _repeat("<!A "),
    "unclosed CDATA": _repeat("<![CDATA["),
    "empty lines in block quotes": _repeat("> a\n>\n"),
    "empty lines in deep lists": lambda size: "- " * 30 + "x" + "\n" * (size - 61),
    "empty lines in deep lists in quotes": lambda size: "> " + "- " * 30 + "x\n" + ">\n" * (size // 2),
    "emphasis in deep quote": lambda size: ">" * 1000 + "a*" * (size // 2),
    "reference collisions": _numbered("[a{n}]: /x\n", after="\n[a1]"),
    "definitions and uses": _definitions_used,
    "one long definition, many uses": _long_definition,
    "definition labels that never end": _repeat("[a]: x\n["),
    "definition titles that never end": _repeat("[a]: x '\n"),
    "table of empty rows": _growing_table,
    "tables of empty rows": _repeat("|x" * 16 + "|\n" + "|-" * 16 + "|\n" + "|\n" * 16 + "\n"),
    "images in emphasis": _repeat("![](a)", before="*", after="*"),
    "many underscores in words": _repeat("a_b"),
    "runs of asterisks": _repeat("*"),
    "asterisks with words": _repeat("**a *b "),
    "strong and emphasis alternating": _repeat("a***b**c*"),
    "entities": _repeat("&lt;"),
    "entities without end": _repeat("&a"),
    "numeric entities without end": _repeat("&#1234567"),
    "backslashes": _repeat("\\"),
    "autolink openings": _repeat("<a:"),
    "HTML tag openings": _repeat("<a "),
    "HTML attributes": _repeat("a=b ", before="<a "),
    "HTML attribute openings": _repeat('<a b="'),
    "HTML closings": _repeat("</a"),
    "images": _repeat("!["),
    "images, closed": _repeat("![](a)"),
    "links, closed": _repeat("[a](b)"),
    "link titles": _repeat('[a](b "'),
    "hard breaks": _repeat("a  \n"),
    "trailing blanks": lambda size: "a" + " " * size + "b",
    "one long word": _repeat("a"),
    "one long line of blanks and words": _repeat("a "),
    "setext underlines": _repeat("a\n=\n"),
    "thematic breaks": _repeat("* * *\n"),
    "numbered items": _repeat("1. a\n"),
    "bullets on one line": _repeat("- "),
    "bullets and numbers": _repeat("- 1. "),
    "headings": _repeat("# a\n"),
    "equal headings": _repeat("## a\n\n"),
    "indented code": _repeat("    a\n\n"),
}

EXTENSIONS: Mapping[str, Pattern] = {
    "elements with Markdown, open": _repeat('<div markdown="1">\n\n'),
    "elements with Markdown in HTML": _repeat('<b markdown="1">x</b> ', "<div>"),
    "elements with Markdown in HTML, open": _repeat('<b markdown="1">x ', "<div>"),
    "elements with Markdown in each other": _nested('<div markdown="1">\n', "\n</div>\n"),
    "custom elements": _repeat("<d-math>x ", "<div>"),
    "styles that never end": _repeat("<style>url(//x", "<div>"),
    "inline footnote openings": _repeat("^["),
    "footnote marks": _repeat("[^a]"),
    "footnotes": _notes,
    "footnotes never referred to": _numbered("[^{n}]: t\n"),
    "footnotes in footnotes": _numbered("[^{n}]: a [^{n}1]\n\n"),
    "footnote mark openings": _repeat("[^"),
    "tables with many columns": _wide_table,
    "square table": _square,
    "pipes": _repeat("|"),
    "pipes and dashes": _repeat("|-|\n"),
    "table heads without rows": _repeat("a|b\n-|-\n"),
    "table cells with code spans": _repeat("|`a", before="|a|b|\n|-|-|\n"),
    "table cells with dollars": _repeat("|$a", before="|a|b|\n|-|-|\n"),
    "definition lists": _repeat("a\n: b\n\n"),
    "definition marks": _repeat(": "),
    "definition marks on lines": _repeat("a\n: b\n: "),
    "strikethrough openings": _repeat("~~a "),
    "tildes": _repeat("~a"),
    "marks": _repeat("==a "),
    "equal signs": _repeat("="),
    "equal signs and words": _repeat("==a"),
    "keys": _repeat("[[a"),
    "keys, closed": _repeat("[[a]]"),
    "double brackets": _repeat("[["),
    "double colons": _repeat("::"),
    "colon fences": _repeat("::: a\n"),
    "abbreviations": _numbered("*[A{n}]: b\n", after="\nA1 A2 A3"),
    "abbreviations used": lambda size: "*[AB]: c\n\n" + "AB " * (size // 3),
    "abbreviations, many, and a long text": lambda size: (
        "".join(f"*[A{n}]: b\n" for n in range(size // 24)) + "\n" + "A A1 " * (size // 10)
    ),
    "attribute openings": _repeat("{#"),
    "attribute openings on words": _repeat("[a]{.b"),
    "attribute lists": _repeat("[a]{.b}"),
    "attributes without end": _repeat("a=b ", before="[a]{"),
    "attribute quotes": _repeat('{a="'),
    "classes": _repeat(".a ", before="# a {", after="}"),
    "braces": _repeat("{"),
    "braces, closed": _nested("{", "}"),
    "task items": _repeat("- [ ] a\n"),
    "addresses": _repeat("http://a.b "),
    "addresses without blanks": _repeat("http://a.b"),
    "www": _repeat("www."),
    "mail addresses": _repeat("a@b.c "),
    "at signs": _repeat("@"),
    "at signs and words": _repeat("a@"),
    "citations": _repeat("[@a]"),
    "citation openings": _repeat("[@a; "),
    "references": _repeat("@eq:a "),
    "reference openings": _repeat(r"\ref{a"),
    "smart quotes": _repeat("\"a' "),
    "emoji codes": _repeat(":a"),
    "dots": _repeat("."),
    "bidirectional controls": _repeat("\u202ea"),
    "combining marks": _repeat("\u0301", before="a"),
    "letters outside the first plane": _repeat("\U0001d49c"),
}

MATHEMATICS: Mapping[str, Pattern] = {
    "dollars": _repeat("$"),
    "dollars and letters": _repeat("$a"),
    "dollars, letters, blanks": _repeat("$a "),
    "dollars before digits": _repeat("$a$1"),
    "formulas": _repeat("$a$ "),
    "double dollars": _repeat("$$a"),
    "double dollars on lines": _repeat("$$\na\n"),
    "double dollars, blank lines": _repeat("$$\na\n\n"),
    "escaped dollars": _repeat("\\$"),
    "dollars and backticks": _repeat("$`"),
    "dollars in emphasis": _repeat("*$a"),
    "dollars in links": _repeat("[$a]("),
    "parenthesis openings": _repeat(r"\("),
    "bracket openings": _repeat(r"\["),
    "bracket openings on lines": _repeat("\\[\na\n"),
    "environments never closed": _repeat("\\begin{align}\n"),
    "environments in a line": _repeat(r"\begin{align}"),
    "environments of many names": _numbered("\\begin{a{n}}\n"),
    "environments that end before they begin": _repeat("\\end{align}\n"),
    "environments, closed": _repeat("\\begin{align}a\\end{align}\n\n"),
    "braces in a formula": lambda size: "$" + "{" * (size // 2) + "}" * (size // 2) + "$",
    "scripts in a formula": lambda size: "$a" + "^a" * (size // 2) + "$",
    "nested scripts": lambda size: "$a" + "^{a" * (size // 4) + "}" * (size // 4) + "$",
    "fractions": lambda size: "$" + r"\frac" * (size // 5) + "$",
    "left without right": lambda size: "$" + r"\left(" * (size // 6) + "$",
    "macro definitions": lambda size: "$" + r"\def\a{\a\a}" * (size // 12) + r"\a$",
    "doubling macros": lambda size: (
        "$" + "".join(rf"\def\a{'b' * n}{{\a{'b' * (n - 1)}\a{'b' * (n - 1)}}}" for n in range(1, 200)) + "$"
    ),
    "long formula": lambda size: "$" + "a+" * (size // 2) + "$",
    "rows of an alignment": lambda size: (
        "$$\n\\begin{align}\n" + "a&b\\\\\n" * (size // 6) + "\\end{align}\n$$"
    ),
    "columns of a matrix": lambda size: "$$\n\\begin{matrix}\n" + "a&" * (size // 2) + "\n\\end{matrix}\n$$",
    "labels": _numbered("$$a \\label{l{n}}$$\n\n"),
    "one label many times": _repeat("$$a \\label{l}$$\n\n"),
    "references in formulas": _repeat(r"$\eqref{a}$ "),
    "text in formulas": _repeat(r"$\text{$a"),
    "formulas in a table": _repeat("|$a$", before="|a|b|\n|-|-|\n"),
    "dollars in code in dollars": _repeat("$a`b$c`"),
    "formulas over lines": _repeat("$a\n"),
    "chemistry": lambda size: r"$\ce{" + "H2O + " * (size // 6) + "}$",
    "units": lambda size: r"$\qty{1}{" + r"\kilo\metre" * (size // 11) + "}$",
}

BLOCKS: Mapping[str, Pattern] = {
    "shortcode openings": _repeat("{% "),
    "shortcode openings with a name": _repeat("{% img "),
    "shortcode openings with a quote": _repeat('{% img src="'),
    "shortcode openings on lines": _repeat("{% img\n"),
    "galleries": _repeat('<div class="gallery">\n![a](a.png)\n</div>\n\n'),
    "galleries without an end": _repeat('<div class="gallery">\n![a](a.png)\n'),
    "a gallery of many images": _repeat("![a](a.png)\n", '<div class="gallery">\n', "</div>"),
    "pairs of images": _repeat("![a](a.png#only-light)\n![a](b.png#only-dark)\n\n"),
    "dark images": _repeat("![a](a.png#only-dark)\n"),
    "films": _repeat("![a](clip.mp4){.loop data-captions=clip.vtt}\n\n"),
    "shortcodes, closed": _repeat('{% video-embed src="a.mp4" %}\n\n'),
    "unknown shortcodes": _numbered("{% x{n} %}\n\n"),
    "arguments of a shortcode": _numbered('a{n}="b" ', before="{% img ", after="%}"),
    "items of an argument": _repeat("a.png,", before='{% img src="', after='" %}'),
    "raw openings": _repeat("{% raw %}"),
    "raw, closed": _repeat("{% raw %}a{% endraw %}"),
    "includes": _repeat('{% include "a" %}'),
    "double braces": _repeat("{{ a "),
    "value openings": _repeat("{= "),
    "values": _repeat("{= 1 =} "),
    "value openings and closings apart": lambda size: "{= a" * (size // 8) + " =}" * (size // 8),
    "blocks, nested": _nested('<div class="grid">\n\n', "\n\n</div>\n"),
    "blocks never closed": _repeat('<div class="grid">\n\n'),
    "block closings": _repeat("</div>\n\n"),
    "block openings in a line": _repeat('<div class="'),
    "collapsibles": _nested('<div class="collapsible" data-label="a">\n\n', "\n\n</div>\n"),
    "details": _nested("<details>\n\n", "\n\n</details>\n"),
    "callouts, nested": lambda size: "".join(
        f"{'> ' * depth}[!NOTE] a\n" for depth in range(1, int(size**0.5))
    ),
    "callouts": _repeat("> [!NOTE] a\n> b\n\n"),
    "callout markers in one quote": _repeat("> [!NOTE]\n"),
    "callout openings": _repeat("> [!"),
    "proofs": _repeat("> [!PROOF]\n> a\n\n"),
    "callout kinds": _numbered("> [!K{n}]\n> a\n\n"),
    "quotes of rising depth": _stairs(">", " a", 300),
    "lists of rising depth": _stairs("  ", "- a", 60),
    "numbers of rising depth": _stairs("   ", "1. a", 60),
    "lists and quotes": _repeat("> - ", after="a"),
    "list items without text": _repeat("-\n"),
    "loose items": _repeat("- a\n\n"),
    "lazy lines": _repeat("a\n", before="> > > > "),
    "tabs": _repeat("\t"),
    "tabs and bullets": _repeat("-\t"),
    "carriage returns": _repeat("a\r"),
    "paragraph lines": _repeat("a\n"),
    "paragraphs": _repeat("a\n\n"),
    "fences never closed": _repeat("```\na\n"),
    "fences, closed": _repeat("```\na\n```\n"),
    "fences of many languages": _numbered("```l{n}\na\n```\n"),
    "fence openings of rising length": _stairs("`", "```", 300),
    "long info string": lambda size: "```py " + "a=b " * (size // 4) + "\na\n```\n",
    "braces in an info string": lambda size: "```{" + "{" * size + "\na\n```\n",
    "marked lines of a fence": lambda size: '```py hl_lines="' + "1-9 " * (size // 4) + '"\na\n```\n',
    "cells": _repeat("```{python}\n1\n```\n\n"),
    "cell options": _numbered("#| a{n}: b\n", before="```{python}\n", after="\n1\n```\n"),
    "one cell": _repeat("a = 1\n", before="```{python}\n", after="```\n"),
    "brackets in a cell": lambda size: "```{python}\n" + "(" * size + "\n```\n",
    "images of a figure": _repeat("![a](a.png)\n\n"),
    "figure attributes": _repeat("![a](a.png){#a}\n\n"),
    "ids": _numbered("# a {#a{n}}\n\n"),
    "one id many times": _repeat("# a {#a}\n\n"),
    "HTML blocks": _repeat("<p>a\n\n"),
    "HTML tags in text": _repeat("<b>a"),
    "HTML tags, closed": _repeat("<b>a</b>"),
    "HTML nested": _nested("<b>", "</b>"),
    "scripts": _repeat("<script>a\n"),
    "comments": _repeat("<!-- a -->"),
    "comment ends": _repeat("-->"),
    "mermaid": _repeat("a-->b\n", before="```mermaid\ngraph TD\n", after="```\n"),
    "front matter openings": _repeat("---\n"),
    "words of other generators": _repeat("{{< a >}}\n"),
    "directives of other generators": _repeat("```{note}\na\n```\n"),
}

LEXED: Mapping[str, Pattern] = {
    "one line of Python": _fence("python", "a."),
    "quotes in Python": _fence("python", '"'),
    "open strings in Python": _fence("python", '"""a\n'),
    "f-strings": _fence("python", "f'{"),
    "prompts": _fence("console", "a", after="!"),
    "lines of prompts": _fence("console", "$ a\nb\n"),
    "braces in C++": _fence("cpp", "{"),
    "templates in C++": _fence("cpp", "a<"),
    "comments in JavaScript": _fence("js", "/*"),
    "template strings": _fence("js", "`${"),
    "regular expressions": _fence("js", "/a"),
    "brackets in JSON": _fence("json", "["),
    "blanks in YAML": _fence("yaml", " "),
    "indents in YAML": _fence("yaml", "- "),
    "tags in HTML": _fence("html", "<a"),
    "dollars in bash": _fence("bash", "$("),
    "here documents": _fence("bash", "<<a\n"),
    "blanks in TOML": _fence("toml", "a = "),
    "diff": _fence("diff", "+a\n"),
}

FRONT: Mapping[str, Pattern] = {
    "tags": _front(_numbered("- t{n}\n", before="tags:\n")),
    "unknown keys": _front(_numbered("k{n}: a\n")),
    "one key many times": _front(_repeat("draft: true\n")),
    "brackets in a value": _front(_repeat("[", before="tags: ")),
    "anchors": _front(_numbered("k{n}: &a{n} 1\n")),
    "long title": _front(_repeat("a ", before="subtitle: ")),
    "dollars in a title": _front(_repeat("$a", before="subtitle: ")),
    "brackets in a title": _front(_repeat("[a", before="subtitle: '", after="'")),
    "bibliography": _front(_numbered("  k{n}: {title: a}\n", before="references:\n")),
    "macros": _front(_numbered("  \\a: b{n}\n", before="math:\n macros:\n")),
    "colons": _front(_repeat(":")),
    "quotes": _front(_repeat("'", before="subtitle: ")),
}

PATTERNS: Mapping[str, Pattern] = MappingProxyType(
    {
        **COMMONMARK,
        **EXTENSIONS,
        **MATHEMATICS,
        **BLOCKS,
        **LEXED,
        **{f"front matter: {name}": make for name, make in FRONT.items()},
    }
)
"""Name → pattern."""
