"""Warnings about LaTeX in text.

With the setting `markup.latex`, only LaTeX that cannot be translated is reported. Without it, all LaTeX in
text is reported, with a fix if Markdown has an exact equivalent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

from markdown_it.token import Token

from ...base.diagnostics.fixes import Fix, TextEdit
from ...base.diagnostics.model import Place, Reporter, format_suggestion
from ...base.patterns import lazy_pattern
from ...model.documents import Document
from ..state import PageState, ParseOptions
from . import commands as table
from .lines import TranslatedLine
from .nodes import Problem
from .reader import LatexReader
from .writer import LatexTranslation, translate

LatexFixes: TypeAlias = Callable[[], Mapping[int, Fix]]
"""Function that returns a mapping: number of a line with LaTeX → fix for the line."""

_REFERENCE = "write a reference as `{@thm-x}`"
_OUTPUT = "remove this command: the theme sets layout and spacing"
_HEAD = "write it in the front matter of the post"
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("textbf", "mathbf"), "write bold text as `**text**`"),
        **dict.fromkeys(("emph", "textit", "textsl"), "write emphasized text as `*text*`"),
        "texttt": "write code between backticks: `text`",
        "underline": "write `<u>text</u>`",
        **{name: f"write a heading as `{signs} Heading`" for name, signs in table.HEADINGS.items()},
        **dict.fromkeys(table.RUN_IN_HEADINGS, "write a heading in the line as `**Heading**`"),
        **dict.fromkeys(("autoref", "cref", "Cref", "nameref", "pageref", "vref"), _REFERENCE),
        "label": "write `{#sec-x}` after the heading, or `{#thm-x}` after the callout's title",
        "footnote": "write `[^1]` here, and the note on a line `[^1]: …`",
        "url": "write a URL as `<https://example.org>`",
        "href": "write a link as `[text](URL)`",
        **dict.fromkeys(("includegraphics", "caption"), "write an image as `![text](file.png)`"),
        "item": "write list items as `- item` or `1. item`",
        "newtheorem": "declare kinds of callouts under `callouts:` in blogsmith.yaml",
        **dict.fromkeys(
            (
                *("newcommand", "renewcommand", "providecommand", "DeclareMathOperator", "newenvironment"),
                "def",
            ),
            "put it between `$` and `$`, or into a file that `math: macros:` names",
        ),
        "usepackage": "declare macros under `math: macros:`",
        **dict.fromkeys(("author", "title", "date", "documentclass"), _HEAD),
        **dict.fromkeys(("vspace", "hspace", "noindent", "newpage", "clearpage", "pagebreak"), _OUTPUT),
        **dict.fromkeys(("bigskip", "medskip", "smallskip", "centering", "maketitle"), _OUTPUT),
        **dict.fromkeys(("hfill", "vfill"), _OUTPUT),
        **dict.fromkeys(("qed", "qedhere"), "write `∎`; a `[!PROOF]` ends with it by itself"),
        "tableofcontents": "remove this command: `toc:` turns the table of contents of posts on or off",
        **dict.fromkeys(("LaTeX", "TeX"), "write the name as plain text"),
        **dict.fromkeys(("ldots", "dots"), "write `…`"),
    }
)
"""Command → hint on what to write instead."""
_COMMANDS_WITHOUT_ARGUMENT = frozenset(
    (
        *("item", "noindent", "newpage", "clearpage", "pagebreak", "bigskip", "medskip", "smallskip"),
        *("centering", "maketitle", "hfill", "vfill", "qed", "qedhere"),
        *("tableofcontents", "LaTeX", "TeX", "ldots", "dots"),
    )
)
"""Commands that are reported even if no argument follows."""
_NAMES = "|".join(
    sorted(set(_HINTS) - _COMMANDS_WITHOUT_ARGUMENT - {"mathbf", "part"}, key=len, reverse=True)
)
COMMAND = lazy_pattern(
    rf"\\(?:(?:{_NAMES})\*?(?=[\[{{])|(?:{'|'.join(sorted(_COMMANDS_WITHOUT_ARGUMENT))})(?![A-Za-z])|[vHcukr]\{{[A-Za-z]\}})"
)
"""Matches a LaTeX command in text. Formulas, references and citations are not text, so they are not
searched."""
ENVIRONMENT = lazy_pattern(r"\\begin\{[A-Za-z]+\*?\}")
QUOTATION = lazy_pattern(r"``(?=[^`\s][^`]{0,300}'')")
COMMENT = lazy_pattern(r"\A%+[ \t][^\n]*(?:\n%[^\n]*)*\Z")
_TIE = lazy_pattern(r"[\w.)\u0080-\U0010ffff]{1,40}~\Z")
_TIED = frozenset(("xref", "math_inline", "citation"))
_ELISION = lazy_pattern(r"(?i)\b(?:[cdjlmnst]|qu)\Z")
r"""Matches the end of a text that is a French or Italian elision such as `l`. After it, `\'` is often an
escaped apostrophe."""
_ACCENTED = lazy_pattern(r"\\[\"'`^~](?:\{[aeiouy]\}|[aeiouy])")
_ACCENT_SIGNS = frozenset("\"'`^~")
_ENVIRONMENT_HINTS: Mapping[str, str] = MappingProxyType(
    {
        **{name: f"write list items as `{sign}item`" for name, sign in table.LISTS.items() if sign},
        "description": "write the term on a line, and `: its meaning` on the next",
        **dict.fromkeys((*table.FENCED, "algorithm", "algorithmic"), "put the code between ``` and ```"),
        **dict.fromkeys(("figure", "wrapfigure"), "write an image as `![text](file.png)`"),
        **dict.fromkeys(("table", "tabular", "tabularx"), "write the rows of a table as `| a | b |`"),
        **dict.fromkeys(table.QUOTATIONS, "write a quotation as `> text`"),
        "tikzpicture": "write the drawing in a fence with the language `tikz`",
        "xy": "write it in a fence with the language `tikz`, after a line `\\usepackage[all]{xy}`",
        **dict.fromkeys(
            ("dmath", "dmath*"), "write `\\begin{equation}`, or `\\begin{equation*}` without a number"
        ),
        **dict.fromkeys(table.TRANSPARENT, _OUTPUT),
        "thebibliography": "write the references under `references:` in the front matter",
    }
)
"""Environment → hint on what to write instead."""
_ITEM = lazy_pattern(r"\]\{#([\w.:-]+)\}")
_ITEM_LINK = lazy_pattern(r"\](?:\{|\()#([\w.:-]+)[)}]")
_MOST_LINES = 500
"""Maximum number of lines to search for the end of an environment."""
_MOST_SHOWN = 60
"""Maximum number of characters of a translation that a hint contains."""


def read_latex(
    document: Document, options: ParseOptions, reporter: Reporter
) -> tuple[str, tuple[TranslatedLine, ...]]:
    """Return the body of a page as Markdown, and its lines with their origin; no lines if the body has no
    LaTeX. Report LaTeX that cannot be translated."""
    body = document.body
    if not any(sign in body for sign in "\\~%{`-"):
        return body, ()
    translation = translate(body, options.kinds, options.reference_kinds)
    for problem in translation.problems:
        before = body.rfind("\n", 0, problem.start) + 1
        line = document.first_line + body.count("\n", 0, problem.start)
        place = Place(line, problem.start - before + 1, len(problem.written))
        _report_problem(problem, place, options, reporter)
    return translation.text, translation.lines


def _report_problem(problem: Problem, place: Place, options: ParseOptions, reporter: Reporter) -> None:
    written, name = problem.written, problem.name
    if problem.is_missing:
        ending = written.replace("begin", "end", 1)
        reporter.warn("foreign-syntax", f'missing "{ending}"', place, f"end the environment with `{ending}`")
        return
    is_environment = written.startswith(("\\begin", "\\end"))
    known = (
        (*table.LISTS, *table.FLOATS, *table.QUOTATIONS, *options.kinds) if is_environment else table.COMMANDS
    )
    hint = (_ENVIRONMENT_HINTS if is_environment else _HINTS).get(name, "")
    if hint:
        reporter.warn("foreign-syntax", f'unsupported syntax: "{written}" stays text', place, hint)
        return
    kind, shown = ("environment", name) if is_environment else ("command", written)
    near = None if name in known else reporter.nearest(name, known)
    meant = written.replace(name, near) if near else None
    hint = format_suggestion(meant) or "put a formula between `$` and `$`, and write text as Markdown"
    fix = None if is_environment else reporter.correct(place, written, meant)
    reporter.warn("foreign-syntax", f'unknown LaTeX {kind} "{shown}"', place, hint, fix)


def latex_hint(written: str, page: PageState) -> str:
    """Return a general hint on what to write instead of `written`, which is a match of a pattern in this
    module."""
    if written.startswith("``"):
        return "write quotation marks as `“text”`"
    if written.startswith("%"):
        return "write a comment as `<!-- text -->`"
    if written.endswith("~"):
        return "write a non-breaking space as `&nbsp;`"
    if found := table.ACCENT.fullmatch(written):
        return f"write `{table.compose(found)}`"
    if not written.startswith("\\begin"):
        return _HINTS[written[1:].rstrip("*")]
    name = written[len("\\begin{") :].rstrip("*}")
    if kind := table.callout_kind(name, page.options.kinds):
        return f"write a callout as `> [!{kind.upper()}]`"
    return _ENVIRONMENT_HINTS.get(name, "put it between `$$` and `$$`")


def exact_hint(written: str, place: Place, page: PageState) -> str:
    """Return a hint that contains the translation of the LaTeX at `place`; empty if there is no exact
    translation or it is too long."""
    if page.is_latex or not written.startswith("\\"):
        return ""
    text = page.reporter.lines[place.line - 1][place.column - 1 :]
    opening = ENVIRONMENT.match(text)
    text += f"\n{opening[0].replace('begin', 'end', 1)}" if opening else ""
    nodes = LatexReader(text, page.options.kinds, is_certain=True).read()
    if not nodes or nodes[0].kind in ("text", "raw"):
        return ""
    # A label on the line of a heading or environment is part of the translation.
    is_whole = bool(opening) or nodes[0].name in table.HEADINGS
    part = text if is_whole else text[: nodes[0].end]
    lines = translate(part, page.options.kinds, is_certain=True).lines
    new = lines[0].text.strip() if lines else ""
    if not new or new.startswith("\\") or "`" in new or len(new) > _MOST_SHOWN:
        return ""
    return f"write `{new}`, or set `markup: {{latex: true}}`"


def find_tie(text: str, following: Token) -> str | None:
    """Return the last word of a text and the `~` after it, if the next token is a reference or formula;
    otherwise None."""
    found = _TIE.search(text) if following.type in _TIED and text.endswith("~") else None
    return found[0] if found else None


def accents(children: Sequence[Token]) -> Iterator[tuple[str, str]]:
    r"""Yield each TeX accent inside a word, such as `\"o` in G\"odel, and a hint. children: inline tokens."""
    for before, child, after in zip(children, children[1:], children[2:], strict=False):
        is_accent = child.type == "text_special" and child.markup[1:] in _ACCENT_SIGNS
        # `\'` is an escaped apostrophe before s or t, and an accent before a vowel.
        is_inside = before.content[-1:].isalpha() and after.type == "text"
        if child.markup == "\\'" and _ELISION.search(before.content):
            continue
        accent = table.ACCENT.match(child.markup + after.content) if is_accent and is_inside else None
        if accent and _ACCENTED.match(accent[0]):
            yield accent[0], f"write `{table.compose(accent)}`"


def translate_latex(written: str, place: Place, page: PageState, fixes: LatexFixes) -> Fix | None:
    """Return a fix for the match `written` at `place`, or None if Markdown has no exact equivalent. fixes:
    result of `latex_fixes`; called only if needed."""
    if page.is_latex:
        return None
    if _ACCENTED.fullmatch(written) and (found := table.ACCENT.fullmatch(written)):
        # `\'` may be an escaped apostrophe, so the fix is not safe.
        return page.reporter.substitute(place, written, table.compose(found))
    if written in ("\\dots", "\\ldots"):
        # The dots may be in a formula without an end, so this fix is not safe.
        return page.reporter.substitute(place, written, "…")
    return fixes().get(place.line)


def latex_fixes(page: PageState) -> LatexFixes:
    """Return a function that returns a mapping: line number → fix, for each line that the translation
    changes. It translates the page at its first call."""

    @cache
    def fixes() -> Mapping[int, Fix]:
        translation = translate(
            "\n".join(page.lines), page.options.kinds, page.options.reference_kinds, is_certain=True
        )
        return dict(_make_fixes(translation, page.lines, page.first_line))

    return fixes


def _make_fixes(new: LatexTranslation, old: Sequence[str], first: int) -> Iterator[tuple[int, Fix]]:
    """Yield (line number in the file, fix) for each line that the translation changes. first: line number of
    `old[0]`."""
    changes = list(_find_changes(new, old))
    items = {name for *_, added in changes for line in added for name in _ITEM.findall(line.text)}
    group_of: dict[int, list[int]] = {}
    change_of: dict[int | str, int] = {}
    for index, (begin, end, added) in enumerate(changes):
        group = [index]
        # A footnote, which is inserted after its paragraph, belongs to the change with the footnote mark, and
        # a reference to a list item belongs to the change of the list.
        links = [name for line in added for name in _ITEM_LINK.findall(line.text) if name in items]
        for key in (*(line.line for line in added), *links):
            group += [one for one in group_of.get(change_of.get(key, -1), ()) if one not in group]
        group_of.update(dict.fromkeys(group, group))
        change_of |= dict.fromkeys((*range(begin, end), *links), index)
    groups = list({id(group): sorted(group) for group in group_of.values()}.values())
    for group in groups:
        edits, changed = list[TextEdit](), list[int]()
        for begin, end, added in (changes[index] for index in group):
            text = "\n".join(line.text for line in added)
            if begin < end:
                edits.append(
                    _replace_lines(
                        first + begin, old[begin:end], text, is_removed=not added and end < len(old)
                    )
                )
            elif begin < len(old):
                edits.append(TextEdit(first + begin, 1, "", f"{text}\n"))
            else:
                edits.append(TextEdit(first + begin - 1, len(old[-1]) + 1, "", f"\n{text}"))
            changed += range(begin, end)
        shown = next((line.text for index in group for line in changes[index][2] if line.text), "")
        fix = Fix(f"write {shown.strip()}" if shown else "remove the line", tuple(edits), is_safe=True)
        yield from ((first + line, fix) for line in changed)


def _replace_lines(line: int, old: Sequence[str], text: str, *, is_removed: bool) -> TextEdit:
    return TextEdit(line, 1, "\n".join(old) + "\n" * is_removed, text)


_Change: TypeAlias = tuple[int, int, Sequence[TranslatedLine]]
"""First line of the change, line after the last one (both 0-based), and the new lines."""


def _find_changes(new: LatexTranslation, old: Sequence[str]) -> Iterator[_Change]:
    """Yield each range of lines that differs between the translation and the old lines."""
    at = begin = 0
    for index, line in enumerate((*new.lines, None)):
        if line is not None:
            is_same = line.line >= begin and line.text == old[line.line] and line.line not in new.together
            if not is_same:
                continue
        end = len(old) if line is None else line.line
        if [line.text for line in new.lines[at:index]] != list(old[begin:end]):
            yield begin, end, new.lines[at:index]
        at, begin = index + 1, end + 1


def environment_end(place: Place, page: PageState) -> int:
    r"""Return the line number of the `\end` of the environment at `place`. If no line contains only this
    `\end`, return the line of `place`."""
    lines = page.reporter.lines
    opening = ENVIRONMENT.match(lines[place.line - 1], place.column - 1)
    if opening is None:
        return place.line
    end = opening[0].replace("\\begin", "\\end", 1)
    below = enumerate(lines[place.line : place.line + _MOST_LINES], place.line + 1)
    return next((number for number, line in below if line.strip() == end), place.line)
