"""Budget for the templates of one page, in units that are the same on all machines.

A step is a part of a template that is executed once, or an item that a filter processes. Characters are all
characters that templates create or process, including discarded ones, so they also limit the memory. The
limit `NET_S` of processor time only covers work that is not counted, such as a search in a long string. It
has an effect only where `alarm` works.
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
"""Maximum number of steps, about two seconds of work. A list of 5,000 posts takes some 200,000."""

CHARACTERS = 100_000_000
"""Maximum number of characters. An item of a list counts as 64, its approximate size in memory."""

_MUCH = "print less on this page, or spread the content over several pages"
ITEM = 64
NET_S = 30.0
NUMBER_BITS = 10_000
"""Maximum number of bits of an integer. The product of two larger ones could not be interrupted."""


class BudgetExceededError(TemplateRuntimeError):
    """A template exceeds the budget of its page."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class TemplateTimeout(BaseException):
    """Templates exceeded the limit of processor time. Not an Exception, because Jinja ignores those in
    constant expressions."""


class Budget(threading.local):
    """Remaining budget of templates. Each thread has its own, because each renders other pages."""

    def __init__(self) -> None:
        self.steps, self.characters = STEPS, CHARACTERS
        """Remaining numbers of steps and of characters."""

    def spend(self, steps: int, characters: int = 0) -> None:
        """Deduct work from the budget. Raise BudgetExceededError if it is exhausted."""
        self.steps -= steps
        self.characters -= characters
        if self.steps < 0:
            hint = "remove loops inside loops over many items"
            raise BudgetExceededError(f"more than {STEPS:,} steps in the templates of one page", hint)
        if self.characters < 0:
            raise BudgetExceededError(f"more than {CHARACTERS:,} characters in one page", _MUCH)

    def check_size(self, characters: int, what: str) -> None:
        """Raise BudgetExceededError if a result of so many characters would be too large. what: name of the
        operation, for the message."""
        if characters > CHARACTERS:
            count = f"{characters:,}" if characters < 10**18 else "infinitely many"
            message = f"more than {CHARACTERS:,} characters in one page: {what} has {count}"
            raise BudgetExceededError(message, _MUCH)

    def take_size(self, characters: int, what: str) -> None:
        """Deduct the characters of a large result before it is created. what: name of the operation, for the
        message."""
        self.check_size(characters, what)
        self.spend(0, characters)

    @contextmanager
    def isolate(self) -> Iterator[None]:
        """Use a new, full budget inside the block, for a page or for work that pages share. Restore the
        previous budget after it."""
        before = self.steps, self.characters
        self.steps, self.characters = STEPS, CHARACTERS
        try:
            yield
        finally:
            self.steps, self.characters = before


@contextmanager
def time_net() -> Iterator[None]:
    """Raise TemplateTimeout after NET_S seconds of processor time, where `alarm` works."""
    if not has_alarm():
        yield
        return
    with alarm(NET_S, TemplateTimeout, is_cpu_time=True):
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
SCALAR_TYPES = frozenset((str, Markup, int, float, bool, type(None), dt.date, dt.datetime))
"""Types of most values in templates. None of them contains other values."""


def is_container(value: object) -> bool:
    """Return whether `value` contains other values that are printed with it."""
    return type(value) not in SCALAR_TYPES and isinstance(value, _CONTAINERS)


class ValueExtent(Struct, frozen=True):
    """Size of a value as text."""

    values: int
    """Number of values: this value and all in it, each counted as often as it is printed."""
    characters: int
    """Upper bound of the number of characters of the text, before HTML escaping."""
    depth: int


def measure_extent(value: object, budget: Budget) -> ValueExtent:
    """Return the size of a value as text, and deduct the steps of measuring from the budget. A list may
    contain another one twice, which contains a third twice, and so on. Thirty of these lists make a billion
    values, which Python would print, compare or hash without a chance to interrupt it."""
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
    return ValueExtent(values, characters + 4 * values, depth)


def _contents(container: Any) -> Iterator[Any]:
    if isinstance(container, Namespace):
        container = object.__getattribute__(container, "_Namespace__attrs")
    if isinstance(container, Mapping):
        return chain.from_iterable(container.items())
    return iter(container)
