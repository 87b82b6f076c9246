"""Functions of this package for callers that may meet no formula: the package is imported at the first call.

Each function imports the module that implements it, and calls the function of the same name there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .analysis.formula_tokens import argument_kinds as argument_kinds
    from .analysis.formula_tokens import formula_tokens as formula_tokens
    from .analysis.formula_tokens import input_names as input_names
    from .analysis.formula_tokens import symbol_words as symbol_words
    from .analysis.linear import linear_text as linear_text
    from .analysis.numbering import split_rows as split_rows
    from .analysis.portable import find_definitions as find_definitions
    from .analysis.portable import portable_tex as portable_tex
    from .analysis.recovery import find_further_errors as find_further_errors
    from .analysis.tag_text import contains_tex as contains_tex
    from .analysis.tag_text import math_content as math_content
    from .analysis.tags import typeset_tag as typeset_tag
    from .constructs.table import is_command as is_command
    from .convert import convert_formula as convert_formula
    from .mathml.display_lines import fit_display as fit_display
    from .mathml.line_groups import group_lines as group_lines
    from .parse.markdown_escapes import doubled_commands as doubled_commands
    from .parse.markdown_escapes import doubled_row_end as doubled_row_end
    from .parse.markdown_escapes import dropped_comments as dropped_comments
    from .parse.markdown_escapes import find_entity as find_entity
    from .parse.markdown_escapes import literal_underscore as literal_underscore
    from .speech.words import name_formulas as name_formulas
    from .speech.words import spoken_text as spoken_text
else:

    def _on_demand(module: str, name: str) -> Callable[..., Any]:
        @cache
        def load() -> Callable[..., Any]:
            return getattr(import_module(f".{module}", __package__), name)

        def call(*args: Any, **options: Any) -> Any:
            return load()(*args, **options)

        # other processes find the function by this name
        call.__name__ = call.__qualname__ = name
        return call

    convert_formula = _on_demand("convert", "convert_formula")
    doubled_commands = _on_demand("parse.markdown_escapes", "doubled_commands")
    dropped_comments = _on_demand("parse.markdown_escapes", "dropped_comments")
    find_entity = _on_demand("parse.markdown_escapes", "find_entity")
    is_command = _on_demand("constructs.table", "is_command")
    doubled_row_end = _on_demand("parse.markdown_escapes", "doubled_row_end")
    fit_display = _on_demand("mathml.display_lines", "fit_display")
    find_definitions = _on_demand("analysis.portable", "find_definitions")
    find_further_errors = _on_demand("analysis.recovery", "find_further_errors")
    formula_tokens = _on_demand("analysis.formula_tokens", "formula_tokens")
    group_lines = _on_demand("mathml.line_groups", "group_lines")
    contains_tex = _on_demand("analysis.tag_text", "contains_tex")
    linear_text = _on_demand("analysis.linear", "linear_text")
    literal_underscore = _on_demand("parse.markdown_escapes", "literal_underscore")
    math_content = _on_demand("analysis.tag_text", "math_content")
    name_formulas = _on_demand("speech.words", "name_formulas")
    portable_tex = _on_demand("analysis.portable", "portable_tex")
    split_rows = _on_demand("analysis.numbering", "split_rows")
    spoken_text = _on_demand("speech.words", "spoken_text")
    symbol_words = _on_demand("analysis.formula_tokens", "symbol_words")
    argument_kinds = _on_demand("analysis.formula_tokens", "argument_kinds")
    input_names = _on_demand("analysis.formula_tokens", "input_names")
    typeset_tag = _on_demand("analysis.tags", "typeset_tag")


def import_converter() -> None:
    """Import the converter. Call this before processes are forked; otherwise each of them would import it."""
    import_module(".convert", __package__)
