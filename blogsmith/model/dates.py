"""Dates as readers of pages see them."""

from __future__ import annotations

import datetime as dt

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def format_date(value: dt.date) -> str:
    """`3 March 2026`, whatever the locale."""
    return f"{value.day} {_MONTHS[value.month - 1]} {value.year}"
