"""What one page has and another lacks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from ..model import Difference
from ..text.segments import Lines
from .facts import KINDS, Facts

_LONGEST = 200
"""Characters of a lost thing that a report quotes."""
_MOST_WORDS = 20_000
"""Pages with more are compared as bags of words only: the order costs the square of their number."""


def losses(
    source: str, before: Facts, after: Facts, allowed: Facts, lines: Lines, own: str = ""
) -> Iterator[Difference]:
    """What `before` has more of than `after`, but for what is `allowed` to be lost.

    source: name of the file, for the differences. A word that became part of a formula or of code is not
    lost.
    """
    for kind in KINDS:
        lost = before.of(kind) - after.of(kind) - allowed.of(kind)
        if kind == "words":
            lost -= after.hidden - before.hidden
            lost = _without_joined(lost, after.words)
            for run in _runs(before.words, after.words, lost):
                yield Difference(kind, _shortened(" ".join(run)), source, find_words(lines, run), len(run))
        else:
            for thing, count in lost.items():
                if kind == "links" and own and (thing == own or thing.startswith(f"{own}/")):
                    continue
                yield Difference(kind, thing[:_LONGEST], source, lines.find(thing), count)


def _without_joined(lost: Counter[str], words: Sequence[str]) -> Counter[str]:
    """The lost words but those that are two of the other page without a blank between them."""
    if not lost:
        return lost
    joined = Counter(first + second for first, second in pairwise(words))
    return lost - joined


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _runs(before: Sequence[str], after: Sequence[str], lost: Counter[str]) -> Iterator[Sequence[str]]:
    """The lost words, those that stood together as one run."""
    if not lost:
        return
    left = Counter(lost)
    if max(len(before), len(after)) > _MOST_WORDS:
        yield from ([word] * count for word, count in left.items())
        return
    for tag, start, end, _, _ in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag in ("delete", "replace"):
            run = []
            for word in before[start:end]:
                if left[word] > 0:
                    left[word] -= 1
                    run.append(word)
            if run:
                yield run
    # what was moved and lost elsewhere
    yield from ([word] * count for word, count in left.items() if count > 0)


def find_words(lines: Lines, words: Sequence[str]) -> int:
    """The line on which these words stand in a row; 0 if nowhere."""
    return lines.search(r"[\W_]*".join(re.escape(word) for word in words[:6]))
