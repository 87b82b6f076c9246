r"""LaTeX outside formulas: it stays plain text, and a warning says what to write instead.

Formulas, `\ref`, `\eqref` and `\cite` are supported; commands for text, headings and lists are not. A fix
is offered if a line or environment has an exact equivalent in Markdown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token
from msgspec.structs import replace

from ..base.diagnostics.fixes import Fix, TextEdit, make_replacement
from ..base.diagnostics.model import Place, Reporter
from ..base.patterns import lazy_pattern
from .state import PageState

_HEADINGS = {"chapter": "#", "section": "##", "subsection": "###", "subsubsection": "####"}
_REFERENCE = "write a reference as `{@thm-x}`"
_OUTPUT = "remove it: the theme sets the layout and spacing"
_HEAD = "write it in the front matter of the post"
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("textbf", "mathbf"), "write bold text as `**text**`"),
        **dict.fromkeys(("emph", "textit", "textsl"), "write emphasized text as `*text*`"),
        "texttt": "write code between backticks: `text`",
        "underline": "write `<u>text</u>`",
        **{name: f"write a heading as `{signs} Heading`" for name, signs in _HEADINGS.items()},
        **dict.fromkeys(("paragraph", "subparagraph"), "write a heading as `#### Heading`"),
        **dict.fromkeys(("autoref", "cref", "Cref", "nameref", "pageref", "vref"), _REFERENCE),
        "label": "write `{#sec-x}` after the heading, or `{#thm-x}` after the callout's title",
        "footnote": "write `[^1]` here, and the note on a line `[^1]: …`",
        "url": "write a URL as `<https://example.org>`",
        "href": "write a link as `[text](URL)`",
        **dict.fromkeys(("includegraphics", "caption"), "write an image as `![text](file.png)`"),
        "item": "write list items as `- item` or `1. item`",
        "newtheorem": "declare kinds of callouts under `callouts:` in blogsmith.yaml",
        **dict.fromkeys(("newenvironment", "def", "usepackage"), "declare macros under `math: macros:`"),
        **dict.fromkeys(("author", "title", "date", "documentclass"), _HEAD),
        **dict.fromkeys(("vspace", "hspace", "noindent", "newpage", "clearpage", "pagebreak"), _OUTPUT),
        **dict.fromkeys(("bigskip", "medskip", "smallskip", "centering", "maketitle"), _OUTPUT),
        "tableofcontents": "remove it: `toc:` turns the table of contents of posts on or off",
        **dict.fromkeys(("LaTeX", "TeX"), "write the name as plain text"),
        **dict.fromkeys(("ldots", "dots"), "write …"),
    }
)
"""Command → hint on what to write instead."""
_COMMANDS_WITHOUT_ARGUMENT = frozenset(
    (
        *("item", "noindent", "newpage", "clearpage", "pagebreak", "bigskip", "medskip", "smallskip"),
        *("centering", "maketitle", "tableofcontents", "LaTeX", "TeX", "ldots", "dots"),
    )
)
"""Commands without an argument."""
_WRAPPERS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("textbf",), ("**", "**")),
        **dict.fromkeys(("emph", "textit", "textsl"), ("*", "*")),
        "texttt": ("`", "`"),
        "underline": ("<u>", "</u>"),
        "url": ("<", ">"),
        **dict.fromkeys(("autoref", "cref", "Cref"), ("{@", "}")),
    }
)
"""Command → delimiters around its argument in Markdown."""
_LETTERS = {"LaTeX": "LaTeX", "TeX": "TeX", "ldots": "…", "dots": "…"}
_NAMES = "|".join(sorted(set(_HINTS) - _COMMANDS_WITHOUT_ARGUMENT - {"mathbf"}, key=len, reverse=True))
COMMAND = lazy_pattern(
    rf"\\(?:(?:{_NAMES})\*?(?=[\[{{])|(?:{'|'.join(sorted(_COMMANDS_WITHOUT_ARGUMENT))})(?![A-Za-z])|[vHcukr]\{{[A-Za-z]\}})"
)
"""LaTeX text command. Formulas, references and citations are already separate tokens."""
ENVIRONMENT = lazy_pattern(r"\\begin\{[A-Za-z]+\*?\}")
QUOTATION = lazy_pattern(r"``(?=[^`\s][^`]{0,300}'')")
COMMENT = lazy_pattern(r"\A%+[ \t][^\n]*(?:\n%[^\n]*)*\Z")
_TIE = lazy_pattern(r"[\w.)]{1,40}~\Z")
_TIED = frozenset(("xref", "math_inline", "citation"))
_NAME = lazy_pattern(r"\\([A-Za-z]+)(?:\{\})?")
_ARGUMENT = lazy_pattern(r"\\([A-Za-z]+)\*?\{([^{}\n]*)\}")
_LINK = lazy_pattern(r"\\href\{([^{}\s<>()]*)\}\{([^{}\[\]\n]*)\}")
_QUOTED = lazy_pattern(r"``([^`'\n\"]{1,300})''")
_LETTER = lazy_pattern(r"\\([vHcukr])\{([A-Za-z])\}")
_ACCENTED = lazy_pattern(r"\\([\"'`^~])(?:\{([aeiouy])\}|([aeiouy]))")
_ELISION = lazy_pattern(r"(?i)\b(?:[cdjlmnst]|qu)\Z")
"""Word before an escaped apostrophe in French or Italian."""
_COMBINING_ACCENTS: Mapping[str, str] = MappingProxyType(
    {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303"}
    | {"v": "\u030c", "H": "\u030b", "c": "\u0327", "u": "\u0306", "k": "\u0328", "r": "\u030a"}
)
"""TeX accent → combining character."""

_OPENING = lazy_pattern(
    r"\\begin\{([A-Za-z]+)\*?\}[ \t]*(?:\[([^\[\]{}\n]*)\])?[ \t]*(?:\\label\{([\w:.-]+)\})?[ \t]*"
)
_LABEL_LINE = lazy_pattern(r"[ \t]*\\label\{([\w:.-]+)\}[ \t]*")
_ITEM = lazy_pattern(r"[ \t]*\\item[ \t]+(?!\[)(.*)")
_FIGURE = lazy_pattern(
    r"\\includegraphics(?:\[width=(?P<share>0?\.\d{1,3}|1)\\(?:text|line|column)width\])?\{(?P<file>[\w./-]+)\}"
    r"(?:\n\\caption\{(?P<caption>[^{}\[\]\n]*)\})?(?:\n?\\label\{(?P<label>[\w:.-]+)\})?"
)
_FOOTNOTE = lazy_pattern(r"\\footnote(?=\{)")
_NOTE = lazy_pattern(r"\[\^(\d{1,6})\]")
_INNER = lazy_pattern(
    r"\\(?:begin|end)\{(?!(?:equation|align|gather|cases|[pbvBV]?matrix|array|split|aligned)\*?\})"
)
_SHORT_KINDS: Mapping[str, str] = MappingProxyType(
    {"thm": "theorem", "lem": "lemma", "prop": "proposition", "cor": "corollary", "defn": "definition"}
    | {"rem": "remark", "rmk": "remark", "pf": "proof", "ex": "example", "conj": "conjecture"}
)
_LISTS = {"itemize": "-", "enumerate": "1."}
_FENCED = frozenset(("verbatim", "lstlisting"))
_QUOTATIONS = ("quote", "quotation")
_ENVIRONMENT_HINTS: Mapping[str, str] = MappingProxyType(
    {
        **{name: f"write list items as `{sign} item`" for name, sign in _LISTS.items()},
        "description": "write the term on a line, and `: its meaning` on the next",
        **dict.fromkeys((*_FENCED, "minted", "algorithm", "algorithmic"), "put the code between ``` and ```"),
        **dict.fromkeys(("figure", "wrapfigure"), "write an image as `![text](file.png)`"),
        **dict.fromkeys(("table", "tabular", "tabularx"), "write the rows of a table as `| a | b |`"),
        **dict.fromkeys(_QUOTATIONS, "write a quotation as `> text`"),
        **dict.fromkeys(("tikzpicture", "tikzcd"), "insert it as an SVG image"),
        **dict.fromkeys(("center", "flushleft", "flushright", "minipage", "document"), _OUTPUT),
        "thebibliography": "write the references under `references:` in the front matter",
    }
)
"""Environment → hint on what to write instead."""
_MOST_LINES = 500
"""Maximum number of lines of an environment that is translated."""


def latex_hint(written: str, page: PageState) -> str:
    """Return a hint on what to write instead of a match of the patterns above."""
    if written.startswith("``"):
        return 'write quotation marks as `"text"`'
    if written.startswith("%"):
        return "write a comment as `<!-- text -->`"
    if written.endswith("~"):
        return "write a non-breaking space as `&nbsp;`"
    if _LETTER.fullmatch(written):
        return f"write {compose(written)}"
    if not written.startswith("\\begin"):
        return _HINTS[written[1:].rstrip("*")]
    name = written[len("\\begin{") :].rstrip("*}")
    if kind := _callout_kind(name, page):
        return f"write a callout as `> [!{kind.upper()}]`"
    return _ENVIRONMENT_HINTS.get(name, "put it between `$$` and `$$`")


def find_tie(text: str, following: Token) -> str | None:
    """Return the word and the `~` that ties it to a following reference or formula, or None."""
    found = _TIE.search(text) if following.type in _TIED and text.endswith("~") else None
    return found[0] if found else None


def accents(children: Sequence[Token]) -> Iterator[tuple[str, str]]:
    r"""Yield TeX accents inside words as written (`\"o` in G\"odel), each with a hint."""
    for before, child, after in zip(children, children[1:], children[2:], strict=False):
        is_accent = child.type == "text_special" and child.markup[1:] in _COMBINING_ACCENTS
        # An escaped apostrophe precedes s or t, an accent precedes a vowel.
        is_inside = before.content[-1:].isalpha() and after.type == "text"
        if child.markup == "\\'" and _ELISION.search(before.content):
            continue
        if is_accent and is_inside and (found := _ACCENTED.match(child.markup + after.content)):
            yield found[0], f"write {compose(found[0])}"


def number_footnotes(page: PageState) -> Mapping[tuple[int, int], int]:
    r"""Return the note number of each `\footnote` by (line, column).

    Numbers start after the largest one in use.
    """
    lines = page.reporter.lines
    largest = max((int(number) for line in lines for number in _NOTE.findall(line)), default=0)
    places = (
        (number, found.start() + 1)
        for number, line in enumerate(lines, 1)
        for found in _FOOTNOTE.finditer(line)
    )
    return {place: number for number, place in enumerate(places, largest + 1)}


def translate_latex(
    written: str, place: Place, page: PageState, numbers: Callable[[], Mapping[tuple[int, int], int]]
) -> Fix | None:
    """Return a fix for the match at `place`, or None if Markdown has no exact equivalent.

    numbers: Function that returns the numbers of footnotes (see `number_footnotes`).
    """
    reporter = page.reporter
    if written.startswith("\\begin"):
        return _translate_environment(place, page)
    if written.startswith("``"):
        return _replace_match(_QUOTED, place, reporter, lambda part: f'"{part[1]}"')
    if written.startswith("%"):
        return _translate_comment(place, reporter)
    if written.endswith("~"):
        return reporter.substitute(place, written, f"{written[:-1]}&nbsp;", is_safe=True)
    if _LETTER.fullmatch(written):
        return reporter.substitute(place, written, compose(written), is_safe=True)
    if _ACCENTED.fullmatch(written):
        # It may be an apostrophe, so the fix is not safe.
        return reporter.substitute(place, written, compose(written))
    name = written[1:].rstrip("*")
    if name in _HEADINGS:
        return _translate_heading(place, reporter)
    if name in _LETTERS:
        fix = _replace_match(_NAME, place, reporter, lambda part: _LETTERS[part[1]])
        # Dots may be in a formula that is never closed, so this fix is not safe.
        return fix and replace(fix, is_safe="dots" not in name)
    if name in _WRAPPERS:
        start, end = _WRAPPERS[name]
        return _replace_match(_ARGUMENT, place, reporter, lambda part: f"{start}{part[2].strip()}{end}")
    if name == "footnote":
        return _translate_footnote(place, reporter, numbers())
    if name == "href":
        return _replace_match(_LINK, place, reporter, lambda part: f"[{part[2]}]({part[1]})")
    return None


def compose(accent: str) -> str:
    r"""Return the letter for a TeX accent: ö for `\"o` and `\"{o}`."""
    letter = accent.rstrip("}")[-1]
    return unicodedata.normalize("NFC", letter + _COMBINING_ACCENTS[accent[1]])


def _callout_kind(name: str, page: PageState) -> str | None:
    kind = _SHORT_KINDS.get(name, name)
    # Markdown's own quotation is closer to the source than a callout.
    return kind if kind not in _QUOTATIONS and kind in page.options.kinds else None


def _replace_match(
    pattern: re.Pattern[str], place: Place, reporter: Reporter, write: Callable[[re.Match[str]], str]
) -> Fix | None:
    """Return a fix if the pattern matches exactly at `place`."""
    lines = reporter.lines
    found = pattern.match(lines[place.line - 1], place.column - 1) if place.line <= len(lines) else None
    return make_replacement(place.line, place.column, found[0], write(found), is_safe=True) if found else None


def _translate_heading(place: Place, reporter: Reporter) -> Fix | None:
    line = reporter.lines[place.line - 1]
    found = _ARGUMENT.fullmatch(line.strip())
    if found is None:
        return None
    return make_replacement(place.line, 1, line, f"{_HEADINGS[found[1]]} {found[2]}", is_safe=True)


def _translate_footnote(
    place: Place, reporter: Reporter, numbers: Mapping[tuple[int, int], int]
) -> Fix | None:
    """Return a fix that moves the note after its paragraph."""
    lines = reporter.lines
    found = _ARGUMENT.match(lines[place.line - 1], place.column - 1)
    if found is None or not found[2].strip():
        return None
    name = f"[^{numbers[place.line, place.column]}]"
    last = min(place.line + _MOST_LINES, len(lines))
    below = next((at for at in range(place.line, last) if not lines[at].strip()), last)
    # The file may end without a line break.
    note = ("\n" if below == len(lines) else "") + f"\n{name}: {found[2].strip()}\n"
    edits = (TextEdit(place.line, place.column, found[0], name), TextEdit(below + 1, 1, "", note))
    return Fix(f"write {name}", edits, is_safe=True)


def _translate_comment(place: Place, reporter: Reporter) -> Fix | None:
    line = reporter.lines[place.line - 1]
    text = line.lstrip("%").strip()
    if not line.startswith("%") or "--" in text or ">" in text:
        return None
    return make_replacement(place.line, 1, line, f"<!-- {text} -->", is_safe=True)


def environment_end(place: Place, page: PageState) -> int:
    r"""Return the line of the `\end` of an environment, or the line of `place` if there is none.

    The `\end` must be on a line of its own.
    """
    lines = page.reporter.lines
    opening = ENVIRONMENT.match(lines[place.line - 1], place.column - 1)
    if opening is None:
        return place.line
    end = opening[0].replace("\\begin", "\\end", 1)
    below = enumerate(lines[place.line : place.line + _MOST_LINES], place.line + 1)
    return next((number for number, line in below if line.strip() == end), place.line)


def _translate_environment(place: Place, page: PageState) -> Fix | None:
    """Return a fix for an environment on lines of its own without nested environments, or None."""
    lines = page.reporter.lines
    opening, end = _OPENING.fullmatch(lines[place.line - 1]), environment_end(place, page)
    if opening is None or end == place.line:
        return None
    new = _write_environment(opening[1], opening, lines[place.line : end - 1], page)
    if new is None:
        return None
    old = "\n".join(lines[place.line - 1 : end])
    return Fix(f"write {new[0]}", (TextEdit(place.line, 1, old, "\n".join(new)),), is_safe=True)


def _write_environment(
    name: str, opening: re.Match[str], body: Sequence[str], page: PageState
) -> list[str] | None:
    """Return the lines of an environment in Markdown, or None if there is no exact translation."""
    if name == "figure":
        return _write_figure(body)
    if name in _FENCED:
        return ["```", *body, "```"] if not any(line.startswith("```") for line in body) else None
    if any(_INNER.search(line) for line in body):
        return None
    if name in _LISTS:
        return _write_list(_LISTS[name], body)
    kind = _callout_kind(name, page)
    if kind is None and name not in _QUOTATIONS:
        return None
    label = opening[3]
    if body and not label and (found := _LABEL_LINE.fullmatch(body[0])):
        label, body = found[1], body[1:]
    if any("\\label{" in line and "$$" not in line and "\\begin" not in line for line in body[:1]):
        return None
    quoted = [f"> {line.strip()}".rstrip() for line in body]
    if kind is None:
        return quoted or None
    parts = (f"[!{kind.upper()}]", opening[2], label and f"{{#{label.replace(':', '-')}}}")
    return ["> " + " ".join(filter(None, parts)), *quoted]


def _write_figure(body: Sequence[str]) -> list[str] | None:
    """Return the image of a figure with its caption, label and relative width."""
    found = _FIGURE.fullmatch("\n".join(line.strip() for line in body if line.strip() != "\\centering"))
    if found is None:
        return None
    caption, label = found["caption"] or "", found["label"]
    width = f"width={round(100 * float(found['share']))}%" if found["share"] else ""
    attributes = " ".join(filter(None, (f"#{label.replace(':', '-')}" if label else "", width)))
    return [f"![{caption}]({found['file']})" + (f"{{{attributes}}}" if attributes else "")]


def _write_list(sign: str, body: Sequence[str]) -> list[str] | None:
    result: list[str] = []
    for line in body:
        if found := _ITEM.fullmatch(line):
            result.append(f"{sign} {found[1].strip()}")
        elif "\\item" in line or (line.strip() and not result):
            return None
        else:
            result.append((" " * (len(sign) + 1) + line.strip()).rstrip())
    return result or None
