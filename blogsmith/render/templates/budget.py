"""What the templates of one page may cost, counted, so that every machine gives one answer.

A step is a part of a template that is worked on once, or an item that a filter looks at; characters are all
that templates make or take in hand, thrown away or not, so they bound the memory too. The processor time of
`NET_S` is only a net for what nobody counts, such as the search in a long text; it works where `alarm` does.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from types import MappingProxyType
from typing import Any

from jinja2.exceptions import TemplateRuntimeError
from jinja2.utils import Namespace
from markupsafe import Markup
from msgspec import Struct

from ...base.timeout import alarm, has_alarm

STEPS = 20_000_000
"""About two seconds of work. A list of 5,000 posts takes some 200,000."""

CHARACTERS = 100_000_000
"""An item of a list counts as 64 of them, for that is what it takes in memory."""

_MUCH = f"{CHARACTERS:,} is the limit for one page"
ITEM = 64
NET_S = 30.0
NUMBER_BITS = 10_000
"""Of whole numbers: a product of two larger ones could not be broken off."""


class OverBudget(TemplateRuntimeError):
    """A template does more than the templates of a page may."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class TakesTooLong(BaseException):
    """The net was needed. Not an Exception: Jinja goes on after those where it tries constants."""


class Budget(threading.local):
    """Pays for what templates do; each thread renders pages of its own."""

    def __init__(self) -> None:
        self.steps, self.characters = STEPS, CHARACTERS
        """What is left."""

    def spend(self, steps: int, characters: int = 0) -> None:
        """Pay for work; OverBudget if that is more than what is left."""
        self.steps -= steps
        self.characters -= characters
        if self.steps < 0:
            hint = "is there a loop in a loop over many items?"
            raise OverBudget(f"the templates of this page take more than {STEPS:,} steps", hint)
        if self.characters < 0:
            raise OverBudget(f"the templates of this page make more than {CHARACTERS:,} characters", _MUCH)

    def check_size(self, characters: int, what: str) -> None:
        """OverBudget if something is too large to be made."""
        if characters > CHARACTERS:
            count = f"{characters:,}" if characters < 10**18 else "endlessly many"
            raise OverBudget(f"{what} would make {count} characters", _MUCH)

    def take_size(self, characters: int, what: str) -> None:
        """Pay for something large before it is made."""
        self.check_size(characters, what)
        self.spend(0, characters)

    @contextmanager
    def isolate(self) -> Iterator[None]:
        """Begin anew inside, and go on outside as if nothing had been: for a page, or what many share."""
        before = self.steps, self.characters
        self.steps, self.characters = STEPS, CHARACTERS
        try:
            yield
        finally:
            self.steps, self.characters = before


@contextmanager
def time_net() -> Iterator[None]:
    """Raise TakesTooLong inside after NET_S of the processor, where that can be done."""
    if not has_alarm():
        yield
        return
    with alarm(NET_S, TakesTooLong, working=True):
        yield


_CONTAINERS = (
    list,
    tuple,
    set,
    frozenset,
    dict,
    MappingProxyType,
    Namespace,
    *map(type, ({}.keys(), {}.values(), {}.items())),
)
_TEXTS = (str, bytes)
PLAIN = frozenset((str, Markup, int, float, bool, type(None), dt.date, dt.datetime))
"""Types of most values in templates: none of them holds other values."""


def is_container(value: object) -> bool:
    """Whether `value` holds other values, which its text would show."""
    return type(value) not in PLAIN and isinstance(value, _CONTAINERS)


class LoopExtent(Struct, frozen=True):
    """How large a value is when it is written out."""

    values: int
    """It and all it holds, each as often as it would be written."""
    characters: int
    """At most, apart from escapes."""
    depth: int


def extent_of(value: object, budget: Budget) -> LoopExtent:
    """The extent of a value, paid for in steps.

    A list may hold another one twice, that one a third twice, and so on: with thirty lists that is a billion
    values, which Python would write, compare and hash one by one without a chance to break off.
    """
    values, characters, depth, most = 0, 0, 0, budget.steps // 2
    open_values = [iter((value,))]
    while open_values:
        for item in open_values[-1]:
            values += 1
            if values > most:
                budget.spend(2 * values)
            if is_container(item):
                open_values.append(_contents(item))
                depth = max(depth, len(open_values))
                break
            characters += len(item) if isinstance(item, _TEXTS) else ITEM
        else:
            open_values.pop()
    budget.spend(2 * values)
    return LoopExtent(values, characters + 4 * values, depth)


def _contents(container: Any) -> Iterator[Any]:
    if isinstance(container, Namespace):
        container = object.__getattribute__(container, "_Namespace__attrs")
    if isinstance(container, Mapping):
        return chain.from_iterable(container.items())
    return iter(container)
