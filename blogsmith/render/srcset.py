"""`srcset`: addresses of one picture in several sizes, each with a descriptor.

Read as HTML has it (4.8.4.2.1): an address ends at a blank, so commas may stand in it, but not at its ends.
"""

from __future__ import annotations

from collections.abc import Callable

from ..base.patterns import lazy_pattern

_CANDIDATE = lazy_pattern(r"[\s,]*+([^\s,]\S*)\s*+([^,]*+)")


def rewrite_srcset(text: str, resolve: Callable[[str], str]) -> str:
    """The set with what `resolve` gives for each address; one for which that is nothing is left out."""
    candidates = ((resolve(address), rest) for address, rest in split_srcset(text))
    return ", ".join(" ".join((address, rest)).rstrip() for address, rest in candidates if address)


def split_srcset(text: str) -> list[tuple[str, str]]:
    """(address, descriptor) of each candidate."""
    found, at = [], 0
    while candidate := _CANDIDATE.match(text, at):
        address = candidate[1].rstrip(",")
        ends_here = address != candidate[1]
        at = candidate.end(1) if ends_here else candidate.end()
        found.append((address, "" if ends_here else " ".join(candidate[2].split())))
    return found
