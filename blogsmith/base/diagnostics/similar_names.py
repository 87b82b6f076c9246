"""Similarity of names, for hints such as `did you mean note?` and for fixes that write the similar name.

Two names are similar if one is a likely typo of the other: few of its letters are missing, added, changed or
swapped. Names are compared part by part, so a common folder, file type or prefix such as `eq:` does not make
them similar. A hint also accepts abbreviations; a fix accepts typos only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct

_PART = re.compile(r"[^\W\d_]+|\d+")
_YEAR_DIGITS = 4
_MIN_ABBREVIATION = 4
"""Minimum number of letters of an abbreviation that leaves out letters within the name, such as `cols`."""
_MIN_PREFIX = 3
_MAX_LENGTH = 100
_LETTERS_PER_TYPO = 4
_MAX_TYPOS = 3
"""Maximum number of typos in one part of a name."""


class Likeness(Struct, frozen=True, order=True):
    """Difference between a word and a name. The smallest value belongs to the most similar name."""

    is_abbreviation: bool
    """Whether one abbreviates the other, so that the difference need not be a typo."""
    typos: int
    """Number of letters that are missing, added, changed, or swapped with the next one."""
    changed: int = 0
    """Number of changed letters among the typos, to decide between equal numbers of typos. Changed letters
    are the least frequent typos."""
    case: int = 0
    """1 if the names differ only in upper and lower case, otherwise 0."""


def find_similar(word: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to `word`, the first of equally similar ones. Return None if none is
    similar."""
    if len(word) > _MAX_LENGTH:
        return None
    best: tuple[Likeness, str] | None = None
    for name in names:
        likeness = compare(word, name) if len(name) <= 3 * _MAX_LENGTH else None
        if likeness is not None and (best is None or likeness < best[0]):
            best = likeness, name
    return best[1] if best else None


def is_typo(word: str, name: str) -> bool:
    """Return whether a fix may replace `word` by `name`: it has one typo, or in a long name at most two.
    Differences of case and of separators do not count. Names with different numbers are different names."""
    likeness = compare(word, name)
    if likeness is None or likeness.is_abbreviation or _numbers(word) != _numbers(name):
        return False
    return likeness.typos <= (1 if len(name) < 3 * _LETTERS_PER_TYPO else 2)


def compare(word: str, name: str) -> Likeness | None:
    """Return the difference between `word` and `name`, or None if they are not similar."""
    written, known = _parts(word.casefold()), _parts(name.casefold())
    if "".join(written) == "".join(known):
        # names that are only punctuation have no letters to compare
        return Likeness(False, 0, case=int(word != name)) if written or word == name else None
    found = _compare_parts(written, known)
    if found is None and len(written) != len(known):
        # a separator may be missing, as in `linenumber`
        found = _compare_part("".join(written), "".join(known))
    if found is not None:
        return Likeness(False, found[0], found[1], count_typos(word, name)[0])
    return Likeness(True, abs(len(word) - len(name))) if _abbreviates(written, known) else None


def _compare_parts(written: Sequence[str], known: Sequence[str]) -> tuple[int, int] | None:
    """Return the numbers of typos and of changed letters. Return None if a part of the one name does not
    resemble the same part of the other."""
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
    typos, changed = count_typos(word, name, most)
    if typos > most:
        return None
    begins = word[0] == name[0] or (word[:2] == name[1::-1] and word[2:3] == name[2:3])
    if length <= _LETTERS_PER_TYPO:
        # one changed letter makes another short word: note and vote, text and test
        return (typos, changed) if begins and not changed else None
    # words that differ in the first letter are often other words (warning, morning); a missing one is a typo
    is_cut = typos == 1 and not changed
    return (typos, changed) if begins or is_cut else None


def count_typos(word: str, name: str, most: int | None = None) -> tuple[int, int]:
    """Return the least number of letters to add, remove, change or swap with the next one, and how many of
    these are changed. Source: optimal string alignment; L. Boytsov, Indexing methods for approximate
    dictionary searching, 2011.

    most: limit that saves time. If there are more typos than `most`, the first number is only known to be
    larger than `most`. None for an exact result.
    """
    limit = max(len(word), len(name)) if most is None else most
    above = (limit + 1, 0)
    before: list[tuple[int, int]] = []
    row = [(at, 0) for at in range(len(name) + 1)]
    for line, char in enumerate(word, 1):
        # cells at a distance of more than `limit` from the diagonal need more typos
        first, last = max(1, line - limit), min(len(name), line + limit)
        older, before, row = before, row, [(line, 0) if first == 1 else above] * first
        for at in range(first, last + 1):
            other = name[at - 1]
            is_same = char == other
            diagonal = before[at - 1]
            best = diagonal if is_same else (diagonal[0] + 1, diagonal[1] + 1)
            best = min(best, (before[at][0] + 1, before[at][1]), (row[at - 1][0] + 1, row[at - 1][1]))
            if line > 1 and at > 1 and char == name[at - 2] and word[line - 2] == other and not is_same:
                best = min(best, (older[at - 2][0] + 1, older[at - 2][1]))
            row.append(best)
        row += [above] * (len(name) - last)
        # the next line may also continue the line before, by swapped letters
        if min(row) > (limit, len(word)) and min(before) >= (limit, 0):
            return above
    return row[-1]


def _abbreviates(written: Sequence[str], known: Sequence[str]) -> bool:
    """Return whether the word is the beginning of the name, its last parts, or the name without some letters.
    The name may also be the word without some letters, as `cols` is for `columns`. A longer word abbreviates
    the name in no other case: `notebook` does not abbreviate `note`."""
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
    """Return whether `short` is `long` without some letters, with the same first and last letter."""
    if len(short) < _MIN_ABBREVIATION or 2 * len(short) < len(long) or not short.isalpha():
        return False
    rest = iter(long)
    return short[0] == long[0] and short[-1] == long[-1] and all(char in rest for char in short)


def _fold_spelling(word: str) -> str:
    """Return a word with its plural ending removed and `ph` replaced by `f`, because each of these is one
    typo."""
    singular = f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")
    return singular.replace("ph", "f")


@lru_cache(maxsize=4096)
def _parts(folded: str) -> tuple[str, ...]:
    """Return the runs of letters and of digits."""
    return tuple(_PART.findall(folded))


def _numbers(word: str) -> list[str]:
    return [part for part in _parts(word) if part.isdigit()]
