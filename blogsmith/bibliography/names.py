"""Names in BibTeX: `First von Last`, `von Last, First`, `von Last, Jr, First`, and institutions in braces.

Source: N. Markey, "Tame the BeaST", 2009, section 11.
"""

from __future__ import annotations

from ..base.patterns import lazy_pattern
from ..model.publications import Person
from .latex import plain_text, split_outside_braces

_WORD = lazy_pattern(r"(?:\\.|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|[^\s,{}\\]|[{}])+")
_LETTER = lazy_pattern(r"\\[A-Za-z]+\s*|[{}\\'\"`^~=.]")
MOST_NAMES = 2_000


def read_names(tex: str) -> tuple[tuple[Person, ...], bool]:
    """Return the people of a field, and whether it ends in `and others`."""
    found, has_others = list[Person](), False
    for _, part in split_outside_braces(tex, "and"):
        name = part.strip()
        if name in ("others", "et al.", "et al"):
            has_others = True
        elif name and len(found) < MOST_NAMES:
            found.append(read_name(name))
    return tuple(person for person in found if person != Person()), has_others


def read_name(tex: str) -> Person:
    """Parse one name."""
    if tex.startswith("{") and _closes_last(tex):
        return Person(literal=plain_text(tex))
    parts = [part.strip() for _, part in split_at_commas(tex)]
    if len(parts) == 1:
        return _parse_forward_name(_WORD.findall(tex))
    particle, family = _particle(_WORD.findall(parts[0]))
    suffix, given = ("", parts[1]) if len(parts) == 2 else (parts[1], ", ".join(parts[2:]))
    return Person(_join_words(family), plain_text(given), _join_words(particle), plain_text(suffix))


def split_at_commas(tex: str) -> list[tuple[int, str]]:
    """Return (offset, part) for the parts of a name between commas outside of braces."""
    found, depth, start = list[tuple[int, str]](), 0, 0
    for index, char in enumerate(tex):
        if char in "{}":
            depth = max(0, depth + (1 if char == "{" else -1))
        elif char == "," and depth == 0:
            found.append((start, tex[start:index]))
            start = index + 1
    return [*found, (start, tex[start:])]


def _closes_last(tex: str) -> bool:
    """Return whether the brace that opens the string closes at its last character."""
    depth = 0
    for index, char in enumerate(tex):
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth == 0:
            return index == len(tex) - 1
    return True


def _parse_forward_name(words: list[str]) -> Person:
    """Parse `First von Last`. The particle consists of the words between that start in lower case."""
    if not words:
        return Person()
    small = [index for index, word in enumerate(words[:-1]) if _is_lower_case(word)]
    if small:
        first, last = small[0], small[-1] + 1
        return Person(_join_words(words[last:]), _join_words(words[:first]), _join_words(words[first:last]))
    return Person(_join_words(words[-1:]), _join_words(words[:-1]))


def _particle(words: list[str]) -> tuple[list[str], list[str]]:
    """Split `von Last` into the particle and the family name."""
    small = [index for index, word in enumerate(words[:-1]) if _is_lower_case(word)]
    count = small[-1] + 1 if small and small[0] == 0 else 0
    return words[:count], words[count:]


def _is_lower_case(word: str) -> bool:
    """Return whether a word starts in lower case. A word in braces does not."""
    if word.startswith("{") and not word.startswith("{\\"):
        return False
    letters = _LETTER.sub("", word)
    return letters[:1].islower()


def _join_words(words: list[str]) -> str:
    return plain_text(" ".join(words))
