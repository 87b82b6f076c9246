"""The one exception of this package: MathML that no page may hold."""

from __future__ import annotations


class UnusableMathml(Exception):
    """What another converter made is unsafe, not MathML Core, or no formula at all; says why, as a clause."""
