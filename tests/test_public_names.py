"""No public name is lost: posts, sites, themes and plugins of earlier versions keep their meaning."""

from __future__ import annotations

from tests.public_names import public_names, read_names


def test_no_public_name_is_lost() -> None:
    present = {(kind, name) for kind, names in public_names().items() for name in names}
    assert sorted(read_names() - present) == []


def test_every_kind_is_listed() -> None:
    """A kind without names would pass whatever is lost."""
    assert {kind for kind, _ in read_names()} == set(public_names())
