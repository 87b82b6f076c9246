"""Values of front matter and settings of other systems: one or a list, a text or something else."""

from __future__ import annotations

from typing import Any


def one_line(value: Any) -> str:
    """A text or number on one line; empty for anything else."""
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) if is_plain else ""


def list_of(value: Any) -> list[Any]:
    """A list as it is, one value as a list of it."""
    return value if isinstance(value, list) else [value]


def texts_in(value: Any) -> list[str]:
    """The texts of a list, or the only one, each once."""
    return list(dict.fromkeys(text for each in list_of(value) if (text := one_line(each))))


def names_in(value: Any) -> list[str]:
    """As `texts_in`; a text with commas is several."""
    return texts_in(value.split(",") if isinstance(value, str) else value)
