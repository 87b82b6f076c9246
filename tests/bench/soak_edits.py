"""Random edits of a site by an author, and the expected content of its preview."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from .preview_servers import get
from .preview_sites import STYLES, Site, cell_output, color, edited, save, styles, with_cell, words
from .soak_client import Listener

_LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Shown:
    """Expected content at a path."""

    path: str
    text: str
    """Text that the page contains; empty if there is no page any more."""


@dataclass(frozen=True, slots=True)
class Done:
    """One edit of the author."""

    what: str
    shown: tuple[Shown, ...]
    broken: bool = False
    """Whether the site has an error after the edit."""


class Author:
    """An author who edits a site and knows its content."""

    def __init__(self, site: Site, seed: int) -> None:
        self._site = site
        self._chance = random.Random(seed)
        self._words = words("s")
        self._numbers = count(10_000)
        self._colors = count(1)
        self._broken: int | None = None
        """The post with an error in it."""
        self._posts = list(range(site.posts))
        self._doings = self._choices()

    def _choices(self) -> tuple[Callable[[], Done], ...]:
        often = (self._prose,) * 6 + (self._styles, self._cell) * 2
        return (*often, self._mistake, self._new, self._delete, self._rename, self._burst, self._branch)

    def act(self) -> Done:
        """Make a random edit, or correct the error of the edit before."""
        return self._correction() if self._broken is not None else self._chance.choice(self._doings)()

    def _word(self) -> str:
        word = next(self._words, "")
        if not word:
            # All words have been used, the first of them long ago.
            self._words = words("s")
            word = next(self._words)
        return word

    def _file(self, number: int) -> Path:
        return self._site.file.with_name(f"post-{number:05}.md")

    def _some(self) -> int:
        return self._chance.choice(self._posts)

    def _save(self, file: Path, text: str) -> None:
        save(file, text, self._chance.choice(STYLES))

    def _prose(self) -> Done:
        number, word = self._some(), self._word()
        self._save(self._file(number), _text(number, word))
        return Done("text", (_page(number, word),))

    def _burst(self) -> Done:
        number = self._some()
        chosen = [self._word() for _ in range(20)]
        for word in chosen:
            self._save(self._file(number), _text(number, word))
        return Done("burst", (_page(number, chosen[-1]),))

    def _branch(self) -> Done:
        """Change every post in one step, as a switch of branches does."""
        word = self._word()
        for number in self._posts:
            save(self._file(number), _text(number, word), "rename")
        return Done("branch", tuple(_page(number, word) for number in self._posts))

    def _styles(self) -> Done:
        number = next(self._colors)
        self._save(self._site.styles, styles(number))
        return Done("styles", (Shown("/bench.css", color(number)),))

    def _cell(self) -> Done:
        # One post and few different cells, because their records stay on disk.
        number, summands = self._site.number, self._chance.randrange(1000, 1100)
        self._save(self._file(number), with_cell(number, self._word(), summands))
        if number not in self._posts:
            self._posts.append(number)
        return Done("cell", (_page(number, cell_output(summands)),))

    def _mistake(self) -> Done:
        self._broken = self._some()
        self._save(self._file(self._broken), _text(self._broken, "broken", self._word()))
        return Done("mistake", (), broken=True)

    def _correction(self) -> Done:
        number, word = self._broken, self._word()
        assert number is not None
        self._broken = None
        self._save(self._file(number), _text(number, word))
        return Done("correction", (_page(number, word),))

    def _new(self) -> Done:
        number, word = next(self._numbers), self._word()
        self._save(self._file(number), _text(number, word))
        self._posts.append(number)
        gone = []
        # No more posts than at the start, because memory may grow with their number.
        while len(self._posts) > self._site.posts:
            other = self._posts.pop(0)
            self._file(other).unlink()
            gone.append(Shown(_path(other), ""))
        return Done("new", (_page(number, word), *gone))

    def _delete(self) -> Done:
        if len(self._posts) < self._site.posts:
            return self._new()
        number = self._posts.pop(self._chance.randrange(len(self._posts)))
        self._file(number).unlink()
        return Done("delete", (Shown(_path(number), ""),))

    def _rename(self) -> Done:
        number, other = self._posts.pop(0), next(self._numbers)
        self._file(number).rename(self._file(other))
        self._posts.append(other)
        return Done("rename", (Shown(_path(number), ""), Shown(_path(other), "Section 2")))


def _text(number: int, word: str, broken: str = "") -> str:
    # A post with a high number would be dated in the future.
    return edited(number % 1000, word, broken)


def _path(number: int) -> str:
    return f"/posts/post-{number:05}/"


def _page(number: int, text: str) -> Shown:
    return Shown(_path(number), text)


def seconds_until(done: Done, port: int, listener: Listener, patience_s: float) -> float | None:
    """Return the seconds until all changes are visible; None after the timeout."""
    began = time.monotonic()
    for is_so in _conditions(done, port, listener):
        while not is_so():
            if time.monotonic() > began + patience_s:
                return None
            time.sleep(_LOOK_S)
    return time.monotonic() - began


def _conditions(done: Done, port: int, listener: Listener) -> Iterator[Callable[[], bool]]:
    for shown in done.shown:
        yield lambda shown=shown: _is_shown(shown, port)  # type: ignore[misc]
    yield lambda: bool(listener.errors) == done.broken


def _is_shown(shown: Shown, port: int) -> bool:
    status, body = get(port, shown.path)
    return status == 200 and shown.text.encode() in body if shown.text else status == 404
