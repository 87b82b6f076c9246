"""Rules of our own although mdit-py-plugins has one: exactly the cases that its plugin fails."""

from __future__ import annotations

import pytest

from tests.stock_plugins import RULES, TABLE, recognise, table_text


@pytest.mark.parametrize(("plugin", "source", "why"), RULES)
def test_where_a_plugin_fails(plugin: str, source: str, why: str) -> None:
    ours, theirs = recognise(plugin, source)
    assert ours
    assert (ours != theirs) == bool(why), (ours, theirs)


def test_the_table_is_current() -> None:
    assert TABLE.read_text(encoding="utf-8") == table_text(), "run: python -m tests.regen plugins"
