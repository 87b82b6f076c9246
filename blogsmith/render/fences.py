"""Code fences: the highlighted figure, diagrams, indented code. Fences that run stand in `cells.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..syntax.records import Fence, get
from .code import code_figure, is_known_language
from .context import Rendering, Rule
from .diagrams import diagram_figure, is_diagram


def fence(rendering: Rendering, token: Token) -> str:
    """The figure of a fence that is no cell: its diagram or its code."""
    record = get(token, Fence)
    if is_diagram(rendering, record.language):
        return diagram_figure(rendering, token.content, record)
    return code_of_fence(rendering, token, token.content, record)


def code_of_fence(
    rendering: Rendering, token: Token, source: str, record: Fence, *, fold_open: bool = False
) -> str:
    """The figure of the code `source`, shown as `record` says; a language nobody knows is reported."""
    rendering.code_blocks += 1
    rendering.code_lines += source.count("\n")
    rendering.widgets.add("code")
    settings = rendering.tools.config.code
    html, problem = code_figure(
        source,
        record.language,
        title=record.title,
        first_line=record.first_line,
        marked=record.marked,
        numbered=settings.line_numbers if record.numbered is None else record.numbered,
        fold=record.fold,
        fold_open=fold_open,
        id=record.id,
        classes=(*str(token.attrs.get("class", "")).split(), *record.classes),
        deadline_s=settings.deadline_s,
        max_line=settings.max_line,
        lex=rendering.tools.lex,
    )
    if problem:
        code = "code-plain" if is_known_language(record.language) else "code-language"
        said, _, near = problem.partition(" (")
        rendering.reporter.warn(
            code, f"{said}; the code is shown plain", record.place, near.removesuffix(")")
        )
    return html + "\n"


def _code_block(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    rendering.code_blocks += 1
    rendering.code_lines += tokens[index].content.count("\n")
    rendering.widgets.add("code")
    settings = rendering.tools.config.code
    html, _ = code_figure(
        tokens[index].content,
        "",
        marked=frozenset(),
        numbered=settings.line_numbers,
        deadline_s=settings.deadline_s,
        max_line=settings.max_line,
    )
    return html + "\n"


RULES: Mapping[str, Rule] = MappingProxyType({"code_block": _code_block})
