"""Every variant of a known kind of fault is shown as meant, or named by a diagnostic at its place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fault_variants import KINDS, LINES, Variant, fault_of, make_variant, surround

SAMPLE = 6
ALL = 200


def lost(kind: str, numbers: range) -> list[tuple[str, str]]:
    variants = (make_variant(kind, "variants", number) for number in numbers)
    return [(variant.source, fault) for variant in variants if (fault := fault_of(variant))]


@pytest.mark.parametrize("kind", KINDS)
def test_some_variants(kind: str) -> None:
    assert lost(kind, range(SAMPLE)) == []


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_all_variants(kind: str) -> None:
    assert lost(kind, range(SAMPLE, ALL)) == []


def test_variants_repeat_and_differ() -> None:
    assert make_variant("MDX", "a", 3) == make_variant("MDX", "a", 3) != make_variant("MDX", "b", 3)
    for kind in KINDS:
        assert len({make_variant(kind, "a", number).source for number in range(20)}) > 5, kind


@pytest.mark.parametrize("place", LINES)
def test_a_loss_is_seen_in_each_place(place: str) -> None:
    variant = make_variant("percent signs in formulas", "a", 1)
    assert fault_of(variant) == ""
    clean = f"First a.\n\n{surround('a $95$ b', place)}\n\nLast words.\n"
    assert fault_of(replace(variant, source=clean)).startswith("not shown"), place


def test_a_diagnostic_elsewhere_names_nothing() -> None:
    variant = make_variant("percent signs in formulas", "a", 1)
    moved: Variant = replace(variant, lines=range(1, 2))
    assert fault_of(moved).startswith("not shown")
