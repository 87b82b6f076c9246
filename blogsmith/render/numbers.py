r"""Numbers of equations as a page prints them: plain text, or typeset where a `\tag` holds TeX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..tex.errors import TexError
from ..tex.on_demand import holds_tex, linear_text, typeset_tag
from .link_texts import strip_links
from .prose import escape_html

_OPENING = "\\text{"


def number_html(number: str, macros: Mapping[str, Any], *, bare: bool = False) -> str:
    """`(1)`; TeX that cannot be typeset, which is reported at its formula, as it is written.

    A number is a link, so links in its TeX are not.
    """
    if holds_tex(number):
        try:
            return strip_links(typeset_tag(number, macros, bare=bare))
        except TexError:
            pass
    return escape_html(number if bare else f"({number})")


def number_text(number: str) -> str:
    """The same as plain text, without parentheses."""
    return linear_text(f"{_OPENING}{number}}}") if holds_tex(number) else number
