r"""Text of a `\tag`. This module does not import the converter, because most numbers are plain text."""

from __future__ import annotations

from ...base.patterns import lazy_pattern

_TEX = lazy_pattern(r"[\\${}^_~&#%]")
_OUTSIDE = lazy_pattern(r"<math[^<>]*>|</math>\Z")


def contains_tex(number: str) -> bool:
    """Return whether `number` is more than plain text."""
    return _TEX.search(number) is not None


def math_content(mathml: str) -> str:
    """Return the content of a `<math>` element."""
    return _OUTSIDE.sub("", mathml)
