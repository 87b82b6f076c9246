r"""Expansion of a paper's own macros in prose.

Macros in formulas are not expanded; their definitions go to a file under `math.macros`. Two kinds of macros
are expanded also in formulas: macros that contain a part of an environment, such as `\be` for
`\begin{equation}`, and macros that contain dollars.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...api.importing import LATEX_COMMANDS, Diagnostic, SiteError, lazy_pattern
from .definitions import Definitions, MacroDefinition
from .scanning import TexSpan, find_spans, group_end, option_end, skip_space
from .source import SourceText

_CALL = lazy_pattern(r"\\(?:begin|end)\s*\{(?P<environment>[A-Za-z@]+\*?)\}|\\(?P<name>[A-Za-z@]+)|\\[\s\S]")
_PARAMETER = lazy_pattern(r"#(#|\d)")
_STRUCTURE = lazy_pattern(
    r"\\(?:begin|end)(?![A-Za-z])|\$|\\[\[\]()](?![A-Za-z])|\\(?:sub)*section|\\item(?![A-Za-z])"
)
_CONDITION = lazy_pattern(r"\\(?:if(?P<name>[A-Za-z@]+)|(?P<word>else|fi))(?![A-Za-z@])")
_XSPACE = lazy_pattern(r"\\xspace(?![A-Za-z])\s*\Z")
_ENDS_IN_NAME = lazy_pattern(r"\\[A-Za-z]+\Z")
_MAX_DEPTH = 30
_MAX_STEPS = 50_000
_MAX_GROWTH = 2_000_000
_KEPT = frozenset(
    (
        *LATEX_COMMANDS,
        "begin",
        "end",
        "ref",
        "eqref",
        "cite",
        "citep",
        "citet",
        "left",
        "right",
        "title",
        "author",
    )
)
"""Commands that are not expanded, because papers redefine them to change the appearance of the page instead
of the meaning."""

_FORMULA = MacroDefinition(0, 0, "newcommand", "\\ensuremath", 1, body="")


@dataclass(slots=True)
class Expander:
    """Expands macros in the text of one paper. Raises SiteError if the expansion does not end."""

    definitions: Definitions
    steps: int = 0
    grown: int = 0
    _structural: dict[str, bool] = field(default_factory=dict)

    def expand(self, source: SourceText) -> SourceText:
        """Return the text with expanded macros."""
        source = self._resolve_conditions(source)
        source = self._expand_where(source, is_structural=True)
        return self._expand_where(source, is_structural=False)

    def _expand_where(self, source: SourceText, *, is_structural: bool) -> SourceText:
        text = source.text
        spans = [
            span for span in find_spans(text) if not is_structural or span.kind in ("code", "drawing", "url")
        ]
        edits = list(self._edits(text, spans, is_structural=is_structural, depth=0))
        return source.edit(edits) if edits else source

    def _edits(
        self, text: str, spans: list[TexSpan], *, is_structural: bool, depth: int
    ) -> Iterator[tuple[int, int, str]]:
        position, at = 0, 0
        while found := _CALL.search(text, position):
            start = found.start()
            while at < len(spans) and spans[at].end <= start:
                at += 1
            if at < len(spans) and spans[at].start <= start:
                position = spans[at].end
                continue
            position = found.end()
            if (call := self._read_call(text, start, position, found["name"], found["environment"])) is None:
                continue
            one, new, end = call
            if self.is_structural(one) != is_structural and is_structural:
                continue
            new = self._expand_text(new, is_structural=is_structural, depth=depth + 1)
            yield start, end, _one_line(new)
            position = end

    def _expand_text(self, text: str, *, is_structural: bool, depth: int) -> str:
        """Expand the macros in the result of another macro. is_structural: whether to expand only structural
        macros. depth: number of enclosing macros."""
        self.steps += 1
        self.grown += len(text)
        if depth > _MAX_DEPTH or self.steps > _MAX_STEPS or self.grown > _MAX_GROWTH:
            message = "invalid macros: they expand without end"
            hint = "remove the macro that calls itself from the preamble, and import again"
            raise SiteError(Diagnostic("import-source", message, hint=hint))
        spans = [
            one for one in find_spans(text) if not is_structural or one.kind in ("code", "drawing", "url")
        ]
        edits = list(self._edits(text, spans, is_structural=is_structural, depth=depth))
        return SourceText(text, [("", 1)] * (text.count("\n") + 1)).edit(edits).text

    def _read_call(
        self, text: str, start: int, position: int, name: str | None, environment: str | None
    ) -> tuple[MacroDefinition, str, int] | None:
        """Read a call of a macro, or the beginning or end of an environment. Return its definition, its
        result, and the end of the call; None if the paper does not define it, or if an argument is
        missing."""
        if name == "ensuremath":
            arguments, end = _read_arguments(text, position, _FORMULA)
            return (_FORMULA, f"${arguments[0]}$", end) if arguments else None
        if environment:
            one = self.definitions.environments.get(environment)
            if one is None or one.body is None or environment in _KEPT:
                return None
            if text.startswith("\\end", start):
                return one, one.closing, position
        else:
            one = self.definitions.commands.get(f"\\{name}") if name and name not in _KEPT else None
            if one is None or one.body is None:
                return None
        arguments, end = _read_arguments(text, position, one)
        if arguments is None:
            return None
        body = _PARAMETER.sub(lambda found: _argument(found[1], arguments), one.body)
        if not environment and not one.count:
            body, end = _join_space(text, body, end)
        return one, body, end

    def is_structural(self, one: MacroDefinition) -> bool:
        """Return whether a macro must be expanded first, because its result contains limits of formulas,
        environments, headings or list items."""
        key = f"{one.kind} {one.name}"
        if key not in self._structural:
            self._structural[key] = False
            body = f"{one.body}{one.closing}"
            is_direct = _STRUCTURE.search(body) is not None
            calls = (self.definitions.commands.get(f"\\{found['name']}") for found in _CALL.finditer(body))
            self._structural[key] = is_direct or any(
                call is not None and call is not one and self.is_structural(call) for call in calls
            )
        return self._structural[key]

    def _resolve_conditions(self, source: SourceText) -> SourceText:
        r"""For each condition that `\newif` declares, keep the branch that the paper selects and remove the
        other branch."""
        open_conditions = list[tuple[int, int, bool | None]]()
        edits = list[tuple[int, int, str]]()
        for found in _CONDITION.finditer(source.text):
            start, end = found.span()
            if name := found["name"]:
                open_conditions.append((start, end, self.definitions.switches.get(name)))
            elif open_conditions:
                first, after, value = open_conditions[-1]
                if found["word"] == "else":
                    open_conditions[-1] = (start, end, None if value is None else not value)
                else:
                    open_conditions.pop()
                if value is not None:
                    edits.append((first, after if value else start, ""))
                    if found["word"] == "fi":
                        edits.append((start, end, ""))
        return source.edit(_outermost(edits))


def _outermost(edits: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield the edits (start, end, new text) in order, without edits inside another edit."""
    position = 0
    for start, end, new in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if start >= position:
            yield start, end, new
            position = end


def _read_arguments(text: str, position: int, one: MacroDefinition) -> tuple[list[str] | None, int]:
    """Return the arguments of a call, and the position after them. If an argument is missing, the arguments
    are None."""
    arguments = list[str]()
    if one.count and one.default is not None:
        start = skip_space(text, position)
        end = option_end(text, start)
        arguments.append(text[start + 1 : end - 1] if end > 0 else one.default)
        position = end if end > 0 else position
    while len(arguments) < one.count:
        start = skip_space(text, position)
        end = group_end(text, start)
        if end > 0:
            arguments.append(text[start + 1 : end - 1])
        elif start < len(text) and text[start] not in "}\\\n" and not text[start].isspace():
            arguments.append(text[start])
            end = start + 1
        else:
            return None, position
        position = end
    return arguments, position


def _argument(number: str, arguments: list[str]) -> str:
    if number == "#":
        return "#"
    return arguments[int(number) - 1] if 0 < int(number) <= len(arguments) else ""


def _join_space(text: str, body: str, end: int) -> tuple[str, int]:
    r"""Handle the space after a call of a macro without arguments. body: the expanded macro; end: index after
    its name. Return the text to write instead of the call, and the index where `text` continues. As in TeX,
    spaces after the name, or a `{}`, are skipped. After a final `\xspace`, which is removed, the spaces stay.
    One space is added if the body ends in the name of a command and a letter follows."""
    shorter = _XSPACE.sub("", body)
    if text.startswith("{}", end):
        return shorter, end + 2
    if shorter != body:
        return shorter, end
    after = skip_space(text, end)
    if _ENDS_IN_NAME.search(body) and text[after : after + 1].isalpha():
        return f"{body} ", after
    return body, after if after < len(text) and "\n\n" not in text[end:after] else end


def _one_line(text: str) -> str:
    """Return the result of a macro with the lines of each paragraph joined."""
    return "\n\n".join(" ".join(part.split("\n")) for part in lazy_pattern(r"\n[ \t]*\n\s*").split(text))
