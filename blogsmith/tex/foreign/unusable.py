"""The exception of this package: MathML that a page may not contain."""

from __future__ import annotations


class UnusableMathmlError(Exception):
    """Error in another converter's output: it is unsafe, not MathML Core, or not a formula. The argument is
    the reason, as a clause."""
