"""The catalogue of messages is current and complete, and its rows follow the style sheet."""

from __future__ import annotations

import pytest

from blogsmith.base.diagnostics.codes import CODES
from tests.messages.catalogue import FILE, Catalogue, format_catalogue, message_calls, read_catalogue
from tests.messages.rules import (
    OPEN,
    UNQUOTED,
    free_openings,
    full_stops,
    long_messages,
    open_messages,
    read_list,
    strange_hints,
    unquoted_parameters,
)

NO_MESSAGES = {
    ("blogsmith/features/remote_images.py", "Diagnostic(_CODE, ''"): "a form that `blogsmith images` fills",
    ("blogsmith/lsp/service.py", "types.Diagnostic("): "the record of the protocol",
    ("blogsmith/render/galleries.py", "rendering.widgets.add("): "a name that is also a code",
    ("blogsmith/render/tabs.py", "rendering.widgets.add("): "a name that is also a code",
}
"""Calls that look like messages and are none, with the reason."""
MAX_FREE_OPENINGS = 1144
"""Messages without a fixed opening, which may only become fewer."""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return read_catalogue()


def test_the_catalogue_is_current() -> None:
    assert FILE.read_text("utf-8") == format_catalogue(), "run `python -m tests.regen messages`"


def test_every_call_is_found(catalogue: Catalogue) -> None:
    lost = [call for call in sorted(message_calls()) if call[:2] not in catalogue.calls]
    known = [
        call
        for call in lost
        if any(call[0] == path and call[2].startswith(text) for path, text in NO_MESSAGES)
    ]
    assert lost == known
    assert len(known) == len(NO_MESSAGES)


def test_every_code_has_a_message(catalogue: Catalogue) -> None:
    assert CODES.keys() - {row.code for row in catalogue.rows} == set()


def test_messages_of_other_programs_are_listed(catalogue: Catalogue) -> None:
    """Any other row that is only a parameter would hide the text that an author reads."""
    assert open_messages(catalogue.rows) == read_list(OPEN)


def test_messages_are_short(catalogue: Catalogue) -> None:
    assert long_messages(catalogue.rows) == []


def test_nothing_ends_in_a_full_stop(catalogue: Catalogue) -> None:
    assert full_stops(catalogue.rows) == []


def test_parameters_are_quoted() -> None:
    found = unquoted_parameters()
    assert sorted(found - read_list(UNQUOTED)) == [], "put the parameter in double quotes"
    assert sorted(read_list(UNQUOTED) - found) == [], "remove these lines from unquoted.txt"


def test_hints_are_imperative(catalogue: Catalogue) -> None:
    assert strange_hints(catalogue.rows) == []


def test_free_openings_become_fewer(catalogue: Catalogue) -> None:
    assert len(free_openings(catalogue.rows)) <= MAX_FREE_OPENINGS
