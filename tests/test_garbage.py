"""During a build, the garbage collector runs rarely; before and after as usual in Python."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from blogsmith.cli.garbage import rare_collections


class Node:
    def __init__(self) -> None:
        self.self = self


def is_frozen(node: Node) -> bool:
    """Return whether an object is frozen. Counts are unreliable: other threads free frozen objects."""
    return not any(each is node for each in gc.get_objects())


@pytest.fixture(autouse=True)
def nothing_frozen() -> Iterator[None]:
    """Unfreeze all objects and collect as often as Python does when it starts; the test run does neither."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    gc.unfreeze()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def test_collections_are_rare_and_python_gets_its_own_back() -> None:
    before = gc.get_threshold(), gc.get_freeze_count()
    with pytest.raises(KeyError), rare_collections():
        assert gc.get_threshold()[0] > 10 * before[0][0]
        assert gc.get_freeze_count() > 10_000
        raise KeyError
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_dead_cycles_are_still_found() -> None:
    with rare_collections():
        first = weakref.ref(Node())
        for _ in range(200_000):
            Node()
        assert first() is None


def test_what_the_caller_froze_stays_frozen() -> None:
    node = Node()
    gc.freeze()
    with rare_collections():
        assert is_frozen(node)
    assert is_frozen(node)
    gc.unfreeze()
    assert not is_frozen(node)
