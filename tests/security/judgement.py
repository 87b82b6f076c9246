"""What a hostile text may not come to, whichever row tries it."""

from __future__ import annotations

from tests.check import Rendered, render
from tests.page_checks import dangers
from tests.test_properties import pieces, shape_problems

UNTRUSTED = "markup: {untrusted: true}\nplugins: [emoji_callouts, hf_space]\n"
"""Settings of a site that shows what strangers wrote."""


def harmless(text: str, config: str = UNTRUSTED) -> Rendered:
    """The page of a text, which neither runs anything nor breaks out of its place."""
    rendered = render(text, config)
    assert not [danger for html in pieces(rendered) for danger in dangers(html)]
    assert not shape_problems(rendered)
    return rendered


def codes(rendered: Rendered) -> set[str]:
    """Codes of the errors and warnings, each of which has to name its place."""
    assert all(found.place for found in rendered.diagnostics)
    return {found.code for found in rendered.diagnostics}
