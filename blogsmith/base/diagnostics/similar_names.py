"""Similarity of names, for hints such as `did you mean note?` and for fixes that write the similar name.

Names are similar if one is a likely typo of the other: few letters are missing, added, changed or swapped
relative to their number. Names are compared part by part: a common folder, file type or prefix such as `eq:`
does not make two names similar. A hint also accepts abbreviations; a fix accepts typos only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

_PART = re.compile(r"[^\W\d_]+|\d+")
_YEAR_DIGITS = 4
_MIN_ABBREVIATION = 4
"""Letters of an abbreviation that leaves out letters within the name."""
_MIN_PREFIX = 3
_MAX_LENGTH = 100
_LETTERS_PER_TYPO = 4
_MAX_TYPOS = 3
"""Maximum number of typos in one part of a name."""


class Likeness(Struct, frozen=True, order=True):
    """How much a name resembles a word; the smallest is the most similar."""

    is_abbreviation: bool
    """Whether the word or the name abbreviates the other one, so that there need not be a typo."""
    typos: int
    """Number of letters that are missing, added, changed, or swapped with the next one."""
    changed: int = 0
    """Number of letters that are changed; a missing, added or swapped letter is the more frequent typo."""
    case: int = 0
    """Typos if case counts, among names that are equal otherwise."""


def find_similar(word: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to `word`, or None if none is similar. Of equally similar names, return
    the first."""
    if len(word) > _MAX_LENGTH:
        return None
    best: tuple[Likeness, str] | None = None
    for name in names:
        likeness = compare(word, name) if len(name) <= 3 * _MAX_LENGTH else None
        if likeness is not None and (best is None or likeness < best[0]):
            best = likeness, name
    return best[1] if best else None


def is_typo(word: str, name: str) -> bool:
    """Return whether `word` is `name` with one typo, or two in a long name, so that a fix may write `name`.

    Other case and other separators do not count as typos. A name with another number is a different name.
    """
    likeness = compare(word, name)
    if likeness is None or likeness.is_abbreviation or _numbers(word) != _numbers(name):
        return False
    return likeness.typos <= (1 if len(name) < 3 * _LETTERS_PER_TYPO else 2)


def compare(word: str, name: str) -> Likeness | None:
    """Return how much `name` resembles `word`, or None if they are not similar."""
    written, known = _parts(word.casefold()), _parts(name.casefold())
    if "".join(written) == "".join(known):
        # names of punctuation only have no letters to compare
        return Likeness(False, 0, case=int(word != name)) if written or word == name else None
    found = _compare_parts(written, known)
    if found is None and len(written) != len(known):
        # a separator may be missing, as in `linenumber`
        found = _compare_part("".join(written), "".join(known))
    if found is not None:
        return Likeness(False, found[0], found[1], count_typos(word, name)[0])
    return Likeness(True, abs(len(word) - len(name))) if _abbreviates(written, known) else None


def _compare_parts(written: Sequence[str], known: Sequence[str]) -> tuple[int, int] | None:
    """Return the numbers of typos and of changed letters if each part resembles its counterpart."""
    if len(written) != len(known):
        return None
    typos = changed = 0
    for one, other in zip(written, known, strict=True):
        if one == other:
            continue
        found = _compare_part(one, other)
        if found is None:
            return None
        typos, changed = typos + found[0], changed + found[1]
    return typos, changed


@lru_cache(maxsize=4096)
def _compare_part(word: str, name: str) -> tuple[int, int] | None:
    if word.isalpha() and _fold_spelling(word) == _fold_spelling(name):
        return min(count_typos(word, name), (1, 0))
    length, shortest = max(len(word), len(name)), min(len(word), len(name))
    most = min(max(1, length // _LETTERS_PER_TYPO), _MAX_TYPOS)
    if shortest < 2 or length - shortest > most:
        return None
    if word.isdigit() or name.isdigit():
        # 2002 for 2001 may be a typo, 3 for 2 is another number
        is_year = len(word) == len(name) == _YEAR_DIGITS and word[:2] == name[:2]
        return (1, 1) if is_year and count_typos(word, name) == (1, 1) else None
    if len(set(word) ^ set(name)) > 2 * most:
        return None
    typos, changed = count_typos(word, name)
    if typos > most:
        return None
    begins = word[0] == name[0] or (word[:2] == name[1::-1] and word[2:3] == name[2:3])
    if length <= _LETTERS_PER_TYPO:
        # a changed letter makes another short word: note and vote, text and test
        return (typos, changed) if begins and not changed else None
    # words with other first letters rhyme (warning, morning), a letter missing at the start is a typo
    is_cut = typos == 1 and not changed
    return (typos, changed) if begins or is_cut else None


def count_typos(word: str, name: str) -> tuple[int, int]:
    """Return the least number of letters to add, remove, change or swap with the next one, and how many of
    them are changed.

    Source: optimal string alignment; L. Boytsov, Indexing methods for approximate dictionary searching, 2011.
    """
    before: list[tuple[int, int]] = []
    row = [(at, 0) for at in range(len(name) + 1)]
    for line, char in enumerate(word, 1):
        older, before, row = before, row, [(line, 0)]
        for at, other in enumerate(name, 1):
            is_same = char == other
            diagonal = before[at - 1]
            best = diagonal if is_same else (diagonal[0] + 1, diagonal[1] + 1)
            best = min(best, (before[at][0] + 1, before[at][1]), (row[at - 1][0] + 1, row[at - 1][1]))
            if line > 1 and at > 1 and char == name[at - 2] and word[line - 2] == other and not is_same:
                best = min(best, (older[at - 2][0] + 1, older[at - 2][1]))
            row.append(best)
    return row[-1]


def _abbreviates(written: Sequence[str], known: Sequence[str]) -> bool:
    """Return whether the word abbreviates the name: its beginning or its last parts, or without some of its
    letters.

    In the other direction only letters may be left out, as in `cols` for columns: `note` does not abbreviate
    notebook.
    """
    word, name = "".join(written), "".join(known)
    if len(known) > len(written) and _is_end(written, known):
        return len(word) >= _MIN_PREFIX and 2 * len(word) >= len(name)
    if len(written) != len(known) or written[:-1] != known[:-1] or not written:
        return False
    short, long = sorted((written[-1], known[-1]), key=len)
    is_prefix = len(written[-1]) >= _MIN_PREFIX and known[-1].startswith(written[-1])
    return is_prefix or _leaves_out_letters(short, long)


def _is_end(written: Sequence[str], known: Sequence[str]) -> bool:
    return bool(written) and tuple(written) in (tuple(known[: len(written)]), tuple(known[-len(written) :]))


def _leaves_out_letters(short: str, long: str) -> bool:
    """Return whether the letters of `short` are in `long` in their order, with the same first and last."""
    if len(short) < _MIN_ABBREVIATION or 2 * len(short) < len(long) or not short.isalpha():
        return False
    rest = iter(long)
    return short[0] == long[0] and short[-1] == long[-1] and all(char in rest for char in short)


def _fold_spelling(word: str) -> str:
    """Return a word without what counts as one typo only: its plural, and `ph` for `f`."""
    singular = f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")
    return singular.replace("ph", "f")


@lru_cache(maxsize=4096)
def _parts(folded: str) -> tuple[str, ...]:
    """Return the runs of letters and of digits."""
    return tuple(_PART.findall(folded))


def _numbers(word: str) -> list[str]:
    return [part for part in _parts(word) if part.isdigit()]
