"""What a `theme.yaml` says under `card`: font and colours of the pictures beside links to posts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...base.diagnostics.model import Reporter, did_you_mean
from ...base.patterns import lazy_pattern
from ...base.schema import yaml_loader as loader
from ...model.social_cards import CardStyle

_COLORS = ("paper", "ink", "muted", "accent")
_KEYS = ("font", "weight", *_COLORS)
_COLOR = lazy_pattern(r"#[0-9a-fA-F]{6}")


def read_card(written: Mapping[str, Any], located: loader.Located, reporter: Reporter) -> CardStyle | None:
    """The style, its font as written; None without one. What is wrong is reported."""
    right: dict[str, Any] = {}
    for key, value in written.items():
        place = located.places.get(("card", key))
        if key not in _KEYS:
            hint = did_you_mean(str(key), _KEYS) or f"keys: {', '.join(_KEYS)}"
            key_place = located.key_places.get(("card", key))
            reporter.error("theme-value", f'unknown key "{key}"', key_place, hint)
        elif key in _COLORS and not _is_color(value):
            reporter.error("theme-value", f"`{key}` is not a colour", place, 'write it as "#1a2b3c"')
        elif key == "font" and not isinstance(value, str):
            reporter.error("theme-value", "`font` is not the path of a file", place)
        elif key == "weight" and (not isinstance(value, int) or not 1 <= value <= 1000):
            reporter.error("theme-value", "`weight` is not a number from 1 to 1000", place)
        else:
            right[key] = Path(value) if key == "font" else value
    return CardStyle(**right) if written else None


def _is_color(value: object) -> bool:
    return isinstance(value, str) and _COLOR.fullmatch(value) is not None
