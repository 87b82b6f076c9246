"""Generated posts for measuring builds, of about 15 kB each; the same seed and number give the same bytes.

A post links only to earlier ones, so a corpus of 1,000 posts starts with the corpus of 100. One in five
formulas and code blocks comes from a small stock that all posts share, because authors repeat themselves.
The others are unique to a post, so caching the content of one page gains little on the next.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .build_words import (
    ADJECTIVES,
    CALLOUTS,
    DISPLAYS,
    INLINE,
    JOINTS,
    LETTERS,
    NOUNS,
    STATEMENTS,
    TAGS,
    VERBS,
)

FORMULAS = 26
"""Formulas in one post: 6 displays, 6 in a table, 14 in sentences."""
CODE_BLOCKS = 4
FOOTNOTES = 4
SECTIONS = 6
_FIRST_DAY = dt.date(2010, 1, 1)
# Keeps all dates in the past, however many posts there are.
_DAYS = 4000
_SHARED = 0.2
_STOCK = 20

Address = Callable[[str], str]
"""A function: slug of a post → target of a link to it."""


@dataclass(frozen=True, slots=True)
class Post:
    """One post in a form that every generator can use."""

    slug: str
    title: str
    date: dt.date
    tags: tuple[str, ...]
    description: str
    body: str
    """Markdown: CommonMark, tables, footnotes, callouts in GitHub's syntax, formulas between dollars."""

    @property
    def head(self) -> str:
        """Front matter in YAML."""
        tags = ", ".join(self.tags)
        lines = (
            f'title: "{self.title}"',
            f"date: {self.date}",
            f"tags: [{tags}]",
            f'description: "{self.description}"',
        )
        return "\n".join(("---", *lines, "---", ""))


def slug_of(number: int) -> str:
    """Return the slug of the post with this number."""
    return f"post-{number:06}"


def make_post(number: int, address: Address, seed: int = 1) -> Post:
    """Return the post with this number, counted from 0."""
    chance = random.Random(f"{seed} {number}")
    title = f"{_thing(chance)} and the {_thing(chance)}, part {number}".capitalize()
    tags = tuple(sorted(chance.sample(TAGS, chance.randint(2, 4))))
    date = _FIRST_DAY + dt.timedelta(days=number * 7 % _DAYS)
    earlier = [address(slug_of(chance.randrange(number))) for _ in range(2 if number else 0)]
    body = "\n\n".join(_blocks(chance, earlier)) + "\n"
    return Post(slug_of(number), title, date, tags, _sentence(chance), body)


def _blocks(chance: random.Random, links: Sequence[str]) -> Iterator[str]:
    """Yield all blocks after the front matter."""
    inline = [f", where ${_formula(chance, INLINE)}$" for _ in range(FORMULAS - SECTIONS - 6)]
    asides = [f" ([{_thing(chance)}]({link}))" for link in links]
    notes = [f"[^{number}]" for number in range(1, FOOTNOTES + 1)]
    extras = [*inline, *asides, *notes]
    chance.shuffle(extras)
    for section in range(SECTIONS):
        share = extras[section::SECTIONS]
        yield f"## {_clause(chance).capitalize()}"
        yield _paragraph(chance, share[:2])
        yield f"$$\n{_formula(chance, DISPLAYS)}\n$$"
        yield _paragraph(chance, share[2:])
        yield from _special(section, chance)
    for number in range(1, FOOTNOTES + 1):
        yield f"[^{number}]: {_sentence(chance)}"


def _special(section: int, chance: random.Random) -> Iterator[str]:
    """Yield the blocks that only this section has."""
    if section in (0, 2, 4):
        yield f"> [!{chance.choice(CALLOUTS)}]\n> {_sentence(chance)}\n> {_sentence(chance)}"
    if section in (1, 2, 4, 5):
        yield f"```python\n{_code(chance)}\n```"
    if section in (1, 3, 5):
        yield f"### {_clause(chance).capitalize()}"
        yield _paragraph(chance, ())
    if section == 3:
        rows = [
            f"| {_thing(chance)} | ${_formula(chance, INLINE[:8])}$ | ${_formula(chance, INLINE[:8])}$ |"
            for _ in range(3)
        ]
        yield "\n".join(("| Method | Steps | Error |", "| :-- | :-: | --: |", *rows))
    if section == 4:
        yield "\n".join(f"- {_sentence(chance)}" for _ in range(5))


def _own_or_shared(chance: random.Random, kind: str) -> random.Random:
    """Return the random generator of this post, or one for the stock of all posts."""
    return random.Random(f"{kind} {chance.randrange(_STOCK)}") if chance.random() < _SHARED else chance


def _formula(chance: random.Random, forms: Sequence[str]) -> str:
    source = _own_or_shared(chance, f"formula {len(forms)}")
    numbers = {"n": source.randint(2, 9999), "m": source.randint(2, 99)}
    letters = {name: source.choice(among) for name, among in LETTERS.items()}
    values = {**letters, **numbers}
    return re.sub(r"<(\w)>", lambda found: str(values[found[1]]), source.choice(forms))


def _code(chance: random.Random) -> str:
    source = _own_or_shared(chance, "code")
    functions = "\n\n\n".join(_function(source) for _ in range(2))
    return f"import math\nfrom dataclasses import dataclass\n\n\n{functions}"


def _function(chance: random.Random) -> str:
    first, second = chance.sample(NOUNS, 2)
    name = f"{chance.choice(VERBS)[:-1]}_{chance.choice(NOUNS)}"
    default = f"{chance.randint(1, 99)}.0"
    lines = [
        f"def {name}({first}: float, {second}: float = {default}, *, is_exact: bool = True) -> float:",
        f'    """{_sentence(chance)}"""',
    ]
    for form in chance.sample(STATEMENTS, 6):
        words = {"noun": chance.choice(NOUNS), "adjective": chance.choice(ADJECTIVES)}
        lines.append(
            "    "
            + form.format(a=first, b=second, n=chance.randint(2, 4000), m=chance.randint(2, 64), **words)
        )
    lines.append(f"    return {first} if is_exact else {second}")
    return "\n".join(lines)


def _paragraph(chance: random.Random, extras: Sequence[str]) -> str:
    """Return four sentences, one with emphasis, with `extras` added to them."""
    sentences = [_sentence(chance) for _ in range(4)]
    for number, extra in enumerate(extras):
        sentences[number] = f"{sentences[number][:-1]}{extra}."
    mark = chance.choice(("*", "**", "`"))
    sentences[-1] += f" This is {mark}{_thing(chance)}{mark}."
    return " ".join(sentences)


def _sentence(chance: random.Random) -> str:
    return f"{_clause(chance)} {chance.choice(JOINTS)} {_clause(chance)}.".capitalize()


def _clause(chance: random.Random) -> str:
    return f"the {_thing(chance)} {chance.choice(VERBS)} the {_thing(chance)}"


def _thing(chance: random.Random) -> str:
    return f"{chance.choice(ADJECTIVES)} {chance.choice(NOUNS)}"
