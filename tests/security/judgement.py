"""Checks that hostile text is harmless, shared by the tests of all rows."""

from __future__ import annotations

from tests.check import Rendered, render
from tests.page_checks import dangers
from tests.test_properties import pieces, shape_problems

UNTRUSTED = "markup: {untrusted: true}\nplugins: [emoji_callouts, hf_space]\n"
"""Settings of a site that publishes text by strangers."""


def harmless(text: str, config: str = UNTRUSTED) -> Rendered:
    """Render `text` and assert that it neither runs anything nor breaks the structure of the page."""
    rendered = render(text, config)
    assert not [danger for html in pieces(rendered) for danger in dangers(html)]
    assert not shape_problems(rendered)
    return rendered


def codes(rendered: Rendered) -> set[str]:
    """Return the codes of all diagnostics, and assert that each has a position."""
    assert all(found.place for found in rendered.diagnostics)
    return {found.code for found in rendered.diagnostics}
