"""The note on a page whose code was not run because something that it needs is missing."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..context import Rendering
from ..prose import escape_html

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "cuda": "CUDA",
        "flash_attn": "FlashAttention",
        "jax": "JAX",
        "numpy": "NumPy",
        "scipy": "SciPy",
        "tensorflow": "TensorFlow",
        "torch": "PyTorch",
    }
)
"""Module → the name that readers know. Others are shown as they are imported."""


def unmet_note(rendering: Rendering) -> str:
    """Return the note before the first cell that it is about; after that an empty string."""
    if rendering.has_unmet_note:
        return ""
    rendering.has_unmet_note = True
    cells = [result for result in rendering.results.cells.values() if result.status != "off"]
    skipped = [result for result in cells if result.status == "skipped" and result.unmet]
    needs: dict[str, str] = {}
    for need in (need for result in skipped for need in result.unmet):
        name, _, version = need.partition(">=")
        needs[name] = version or needs.get(name, "")
    template = (
        "The code on this page needs {needs} and was not run here."
        if len(skipped) == len(cells)
        else "Some code on this page needs {needs} and was not run here."
    )
    note = rendering.language.translate(template, needs=" + ".join(map(_readable, needs, needs.values())))
    return f'<p class="output-note">{escape_html(note)}</p>\n'


def _readable(name: str, version: str) -> str:
    """`torch`, `2.6` → `PyTorch ≥ 2.6`."""
    return _NAMES.get(name, name) + (f" ≥ {version}" if version else "")
