"""Drawings: fences in TikZ and related languages, which LaTeX draws when the site is built.

A drawing is a cell in a session of its own, so a change of one drawing does not run other cells. Options that
have no effect on drawings are reported.
"""

from __future__ import annotations

import hashlib

from ...model.cells import DRAWINGS, TEX, CellOptions, Need
from ..records import Fence
from ..state import PageState
from .languages import fence_language

_FIELDS = (
    *("eval", "output", "include", "label", "fig_cap", "fig_alt", "lst_cap", "lst_label", "code_fold"),
    *("code_summary", "fold_open", "freeze", "fallback", "timeout_s", "memory_bytes", "places", "texts"),
)
"""Fields of the options that a drawing may have."""
_KEYS = frozenset(("echo", "provenance", "timeout", "memory", *(name.replace("_", "-") for name in _FIELDS)))
"""Names of options that a drawing may have: the fields above, and four whose values are handled
separately."""


def is_drawing(fence: Fence, page: PageState) -> bool:
    """Return whether LaTeX draws the fence. A plugin that draws its language takes precedence."""
    return fence_language(fence) in DRAWINGS and fence.language not in page.options.diagram_languages


def drawing_options(options: CellOptions, language: str, code: str, page: PageState) -> CellOptions:
    """Return the options of a drawing. By default, its code is hidden. Its need is LaTeX. Report options
    without effect."""
    given = options.places
    for key, place in given.items():
        if key not in _KEYS:
            message = f'option "{key}" has no effect because LaTeX draws this fence'
            page.reporter.warn("cell-option", message, place, "remove it")
    name = options.label or hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()[:12]
    return CellOptions(
        **{name: getattr(options, name) for name in _FIELDS},
        echo=options.echo if "echo" in given else not options.eval,
        provenance=options.provenance if "provenance" in given else "none",
        needs=(Need(TEX),),
        # authors cannot write a session name with a period, so the name is unique
        session=f"{language}.{name}",
        # the settings for Matplotlib figures do not apply to drawings
        fig_format="svg",
        fig_dark=False,
    )


def check_alternative_text(options: CellOptions, fence: Fence, page: PageState) -> None:
    """Report a drawing without alternative text. Its letters are outlines, so screen readers cannot read
    them."""
    if options.eval and options.include and options.output and not options.fig_alt.strip():
        hint = 'write `alt="…"` after the language, with a sentence that says what the drawing shows'
        page.reporter.error(
            "drawing-alt", f'missing alt text for a "{fence.language}" drawing', fence.place, hint
        )
