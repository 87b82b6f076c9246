"""Code fences: the highlighted figure, diagrams, indented code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from markdown_it.token import Token

from ..syntax.records import Fence, get
from .code import code_figure, is_known_language
from .context import Rendering, Rule
from .diagrams import diagram_figure, is_diagram


def _fence(rendering: Rendering, tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    fence = get(token, Fence)
    if is_diagram(rendering, fence.language):
        return diagram_figure(rendering, token.content, fence)
    rendering.code_blocks += 1
    rendering.code_lines += token.content.count("\n")
    rendering.widgets.add("code")
    settings = rendering.tools.config.code
    html, problem = code_figure(
        token.content,
        fence.language,
        title=fence.title,
        first_line=fence.first_line,
        marked=fence.marked,
        numbered=settings.line_numbers if fence.numbered is None else fence.numbered,
        fold=fence.fold,
        id=fence.id,
        classes=(*str(token.attrs.get("class", "")).split(), *fence.classes),
        deadline_s=settings.deadline_s,
        max_line=settings.max_line,
    )
    if problem:
        code = "code-plain" if is_known_language(fence.language) else "code-language"
        said, _, near = problem.partition(" (")
        rendering.reporter.warn(code, f"{said}; the code is shown plain", fence.place, near.removesuffix(")"))
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


RULES: Mapping[str, Rule] = MappingProxyType({"fence": _fence, "code_block": _code_block})
