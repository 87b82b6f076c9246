"""Preparation of a paper's prose for blogsmith's translation of LaTeX.

Formulas and drawings are replaced by placeholders, so that the translation does not read them again.
Characters with a meaning in Markdown are escaped. Commands that only concern printed pages are removed, and
boxes and colours are replaced by their content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ...api.importing import LATEX_COMMANDS, lazy_pattern, symbol_text
from ..model import Notice
from . import commands as table
from .scanning import TexSpan, find_spans, group_end, groups_end, option_end, skip_space
from .source import CODE, SourceText, with_line_notices

OPENING, CLOSING, UNNUMBERED, APPENDIX, ENTITY = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004"
"""`OPENING` and `CLOSING` enclose the number of a placeholder. The next two mark titles of headings:
unnumbered, and first of the appendix. `ENTITY` replaces the `&` of an HTML entity, which would otherwise
separate table cells."""
_PLACEHOLDER = lazy_pattern("\ue000(\\d+)\ue001")
_KEPT = (
    r"\\(?:label|[A-Za-z]*ref|[A-Za-z]*[cC]ite[A-Za-z]*|includegraphics|bibliography|addbibresource"
    r"|nocite)\*?"
    r"(?:\s*\[[^\[\]]*\])*\s*\{[^{}]*\}"
)
_TOKEN = lazy_pattern(
    rf"(?P<kept>{_KEPT})|\\end\{{[^{{}}]*\}}|\\begin\{{(?P<name>[A-Za-z]+\*?)\}}"
    rf"|(?P<row>\\\\\*?[ \t]*(?:\[[^\[\]\n]*\])?)|\\[A-Za-z]+\*?|\\[\s\S]"
    r"|(?P<sign>``|''|`|---?|~|\*|_|<|>|\||\]\(|\[\[|\[\^|==|::|@(?=[A-Za-z])|\{\{"
    r"|^[ \t]*(?:[-+]|\d{1,9}[.)]|:)(?=[ \t\n])|^[ \t]*#|^[ \t]+)",
    re.MULTILINE,
)
_SIGNS: Mapping[str, str] = MappingProxyType(
    {"``": "“", "''": "”", "`": "‘", "---": "—", "--": "–", "*": "\\*", "_": "\\_"}
    | {"~": f"{ENTITY}nbsp;"}
    | {
        "<": f"{ENTITY}lt;",
        ">": f"{ENTITY}gt;",
        "|": f"{ENTITY}#124;",
        "](": f"]{ENTITY}#40;",
        "[[": f"[{ENTITY}#91;",
        "[^": f"[{ENTITY}#94;",
    }
    | {
        "==": f"={ENTITY}#61;",
        "::": f":{ENTITY}#58;",
        "@": f"{ENTITY}#64;",
        "{{": "{ {",
        "#": "\\#",
        ":": f"{ENTITY}#58;",
    }
    | {"-": f"{ENTITY}#45;", "+": f"{ENTITY}#43;"}
)
_COMMAND = lazy_pattern(r"\\(?P<name>[A-Za-z@]+)\*?|\\[\s\S]")
_NATIVE = lazy_pattern(
    r"(?:[A-Za-z]*ref|[A-Za-z]*[cC]ite[A-Za-z]*|label|begin|end|item|nocite|caption|captionof)\Z"
)
_TITLE = lazy_pattern(r"\A[^=]*[A-Za-z]{4}[^=]*\Z")
_DISPLAY_EDGES = {"\\[": "\\begin{equation*}", "\\]": "\\end{equation*}"}
_DISPLAY = lazy_pattern(r"(?<!\\)\\[\[\]]")
_SECTION = lazy_pattern(r"\\section\s*(?:\[[^\]]*\])?\s*\{")
_WITH_GROUPS = lazy_pattern(
    r"(?:tabular[xy]?|longtable|longtabu|tabu|tblr|array|minipage|wrapfigure|multicols|subfigure|subtable"
    r"|adjustbox"
    r"|spacing|adjustwidth|list|thebibliography|minted|figure|table|algorithm|algorithmic|enumerate"
    r"|itemize)\*?\Z"
)


@dataclass(slots=True)
class Prose:
    """Prose with placeholders, ready for the translation."""

    source: SourceText
    kept: list[str] = field(default_factory=list)
    """Text of each placeholder, by its number."""
    notices: list[Notice] = field(default_factory=list)

    def keep(self, text: str) -> str:
        """Store a text, and return a placeholder for it."""
        self.kept.append(text)
        return f"{OPENING}{len(self.kept) - 1}{CLOSING}"

    def restore(self, text: str) -> str:
        """Replace the placeholders in translated text. Each line of a display formula gets the prefix of the
        quotes and lists around the formula."""
        lines = list[str]()
        for line in text.replace(ENTITY, "&").split("\n"):
            while found := _PLACEHOLDER.search(line):
                new = self.kept[int(found[1])]
                if "\n" in new:
                    prefix = _rest_prefix(line[: found.start()])
                    is_table = line.lstrip(" >").startswith("|")
                    new = " ".join(new.split("\n")) if is_table else new.replace("\n", f"\n{prefix}")
                line = line[: found.start()] + new + line[found.end() :]
            lines.append(line)
        return "\n".join(lines)


def _rest_prefix(before: str) -> str:
    """Return the prefix for every line of a block except the first. before: text before the block on its
    first line."""
    found = lazy_pattern(r"(?:[ \t]|>|(?:[-*+]|\d{1,9}[.)]|\[\^\d+\]:)(?=[ \t]))*").match(before)
    marks = found[0] if found else ""
    if "[^" in marks:
        return "    "
    return "".join(char if char in " \t>" else " " for char in marks)


def prepare(source: SourceText, is_known: Callable[[str], bool]) -> Prose:
    """Return the prose of a paper whose macros are expanded. is_known: function that returns whether the
    translation supports an environment."""
    made = Prose(source)
    source = clean_commands(source, made, is_known)
    edits, position = list[tuple[int, int, str]](), 0
    text = source.text
    for span in find_spans(text, finds_algorithms=True):
        edits += _escape(text, position, span.start)
        position = span.end
        if span.kind in ("inline", "display", "environment"):
            edits.append((span.start, span.end, _formula(text, span, made)))
        elif span.kind == "algorithm":
            # a display in a step has no number
            displays = _DISPLAY.finditer(text, span.start, span.end)
            edits += ((*one.span(), _DISPLAY_EDGES[one[0]]) for one in displays)
        elif span.kind == "drawing" and span.name not in ("tikzpicture", "circuitikz"):
            edits.append(
                (
                    span.start,
                    span.end,
                    f"\\begin{{verbatim}}\n{text[span.start : span.end]}\n\\end{{verbatim}}",
                )
            )
    edits += _escape(text, position, len(text))
    made.source = source.edit(edits)
    return made


def _escape(text: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield edits (start, end, new text) that escape the characters between two offsets."""
    position = start
    while found := _TOKEN.search(text, position, end):
        position = found.end()
        if found["kept"] or found["row"]:
            continue
        if found["name"] and _WITH_GROUPS.match(found["name"]):
            position = min(end, groups_end(text, position))
        elif sign := found["sign"]:
            sign = sign.strip()
            new = (_SIGNS.get(sign) or f"{sign[:-1]}\\{sign[-1]}") if sign else ""
            yield found.start(), found.end(), new


def _formula(text: str, span: TexSpan, made: Prose) -> str:
    """Return the placeholder of a formula, which is stored in blogsmith's syntax."""
    inner = _trim_formula(text[span.inner : span.inner_end])
    if span.kind == "inline":
        inner = _trim_formula(" ".join(inner.split()) + " ")
        follows_digit = text[span.end : span.end + 1].isdigit()
        is_plain = inner and "`" not in inner and not follows_digit and not inner.endswith(" ")
        return made.keep(f"${inner}$" if is_plain else f"\\({inner}\\)") if inner else ""
    if not inner:
        return ""
    lines = [line.strip() for line in inner.split("\n") if line.strip()]
    body = "\n".join(lines)
    name = span.name or "equation*"
    if name in ("displaymath", "dmath*", "math"):
        name = "equation*"
    formula = f"\\begin{{{name}}}\n{body}\n\\end{{{name}}}"
    line = text.rfind("\n", 0, span.start) + 1
    stop = text.find("\n", span.end)
    before = "\n" * bool(text[line : span.start].strip())
    after = "\n" * bool(text[span.end : stop if stop >= 0 else None].strip())
    return f"{before}{made.keep(formula)}{after}"


def _trim_formula(text: str) -> str:
    r"""Return a formula without spaces around it, except a space that belongs to a final `\ `."""
    inner = text.strip()
    backslashes = len(inner) - len(inner.rstrip("\\"))
    return inner + " " * (backslashes % 2)


def clean_commands(source: SourceText, made: Prose, is_known: Callable[[str], bool]) -> SourceText:
    """Return the text without commands for printed pages, and with boxes replaced by their content. Remove
    and report unknown commands, but keep their arguments. made: prose, which gets the notices."""
    text = source.text
    spans = list(find_spans(text, finds_algorithms=True))
    edits, offsets, notices = list[tuple[int, int, str]](), list[int](), list[Notice]()
    position = at = 0
    while found := _COMMAND.search(text, position):
        start, position = found.span()
        while at < len(spans) and spans[at].end <= start:
            at += 1
        if at < len(spans) and spans[at].start <= start:
            position = spans[at].end
            continue
        name = found["name"]
        if not name:
            continue
        if name in ("begin", "end"):
            position = _clean_environment(text, start, position, is_known, edits, notices, offsets)
            continue
        if found[0].endswith("section*"):
            edits += _mark_heading(text, position)
            continue
        if name == "appendix":
            edits += _mark_appendix(text, position)
        if name in ("twocolumn", "onecolumn"):
            position = max(position, option_end(text, skip_space(text, position)))
            edits.append((start, position, ""))
            continue
        if name == "multicolumn":
            edits += _spread_cell(text, start, position)
            continue
        if name in table.UNWRAPPED:
            edits += _unwrap(text, start, position, *table.UNWRAPPED[name])
            continue
        if name in table.DROPPED:
            position = _dropped_end(text, position, table.DROPPED[name])
            edits.append((start, position, ""))
            continue
        if name in table.ACCENTS:
            continue
        if name in table.FONTS and text[start - 1 : start] != "{":
            edits.append((start, skip_space(text, position), ""))
            continue
        if name in table.SWITCHES or "@" in name:
            edits += _remove_switch(text, start, position, name)
            continue
        if name in LATEX_COMMANDS or symbol_text(name) is not None or _NATIVE.match(name):
            continue
        offsets.append(start)
        hint = "check the sentence, and write Markdown for it"
        notices.append(
            Notice("dropped", f'unknown LaTeX command "\\{name}": its arguments are kept', hint=hint)
        )
        edits += _keep_arguments(text, start, position)
    made.notices += with_line_notices(notices, source, offsets)
    return source.edit(_sorted(edits))


def _mark_heading(text: str, position: int) -> Iterator[tuple[int, int, str]]:
    """Yield the edit that marks an unnumbered title. position: end of the heading command."""
    brace = skip_space(text, position)
    if text.startswith("{", brace):
        yield brace + 1, brace + 1, UNNUMBERED


def _remove_switch(text: str, start: int, position: int, name: str) -> Iterator[tuple[int, int, str]]:
    """Yield the edits that remove a command without arguments. If it starts a group in braces, remove these
    braces too."""
    after = skip_space(text, position)
    closing = group_end(text, start - 1) if text[start - 1 : start] == "{" else -1
    if closing > 0:
        yield start - 1, after, ""
        yield closing - 1, closing, ""
    elif name in table.SPACES:
        yield start, position, " "
    else:
        yield start, after, ""


def _mark_appendix(text: str, position: int) -> Iterator[tuple[int, int, str]]:
    r"""Yield the edit that marks the first section after `\appendix`."""
    found = _SECTION.search(text, position)
    if found:
        yield found.end(), found.end(), APPENDIX


def _clean_environment(
    text: str,
    start: int,
    position: int,
    is_known: Callable[[str], bool],
    edits: list[tuple[int, int, str]],
    notices: list[Notice],
    offsets: list[int],
) -> int:
    r"""Remove the `\begin` or `\end` of an unknown environment, and report it. Return the end of the command.
    The last three arguments are extended: edits, notices, and the offset of each notice."""
    end = group_end(text, skip_space(text, position))
    name = text[skip_space(text, position) + 1 : end - 1].strip() if end > 0 else ""
    if not name or is_known(name) or name in CODE or name in table.SILENT:
        return max(end, position)
    title = ""
    if text.startswith("\\begin", start):
        option = option_end(text, end)
        inner = text[end + 1 : option - 1] if option > 0 else ""
        title = f"\\textbf{{{inner}}} " if name not in table.TRANSPARENT and _TITLE.search(inner) else ""
        end = groups_end(text, end)
        message = f'unknown environment "{name}": its content is shown without it'
        if name not in table.TRANSPARENT:
            notices.append(Notice("changed", message, hint="check how the content looks"))
            offsets.append(start)
    edits.append((start, end, f"\n\n{title}"))
    return end


def _sorted(edits: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    position = 0
    for start, end, new in sorted(edits):
        if start >= position:
            yield start, end, new
            position = end


def _unwrap(text: str, start: int, position: int, count: int, printed: int) -> Iterator[tuple[int, int, str]]:
    """Yield the edits that replace a command with one of its arguments. count: number of arguments in braces.
    printed: index of the argument to keep."""
    first = start
    for index in range(count):
        position = skip_space(text, position)
        while (end := option_end(text, position)) > 0:
            position = skip_space(text, end)
        end = group_end(text, position)
        if end < 0:
            return
        if index == printed:
            yield first, position + 1, ""
            first = end - 1
        position = end
    yield first, position, ""


def _spread_cell(text: str, start: int, position: int) -> Iterator[tuple[int, int, str]]:
    r"""Yield the edits that replace a `\multicolumn` cell with its content and enough empty cells."""
    edits = list(_unwrap(text, start, position, *table.UNWRAPPED["multicolumn"]))
    end = group_end(text, skip_space(text, position))
    count = text[skip_space(text, position) + 1 : end - 1].strip() if end > 0 else ""
    cells = int(count) - 1 if count.isdecimal() and len(count) < 3 else 0
    for index, (first, last, new) in enumerate(edits):
        yield first, last, new + " &" * cells if index == len(edits) - 1 else new


def _keep_arguments(text: str, start: int, position: int) -> Iterator[tuple[int, int, str]]:
    """Yield the edits that remove a command and the braces of its arguments. The arguments stay."""
    first = start
    while True:
        after = skip_space(text, position)
        end = option_end(text, after)
        if end > 0:
            position = end
            continue
        end = group_end(text, after)
        if end < 0:
            break
        yield first, after + 1, " " if first > start else ""
        first, position = end - 1, end
    yield first, position, ""


def _dropped_end(text: str, position: int, count: int) -> int:
    """Return the position after the options and `count` arguments of a command. An argument may also be a
    length without braces."""
    for _ in range(count):
        after = skip_space(text, position)
        while (end := option_end(text, after)) > 0:
            after = skip_space(text, end)
        end = group_end(text, after)
        if end < 0:
            length = lazy_pattern(r"[ \t]*-?\d*\.?\d+[ \t]*(?:[a-z]{2}|\\[a-z]+)").match(text, position)
            return length.end() if length else position
        position = end
    return position
