"""Styles of the Citation Style Language, through citeproc-py."""

from __future__ import annotations

from typing import Any


def make_csl_style(*a: Any) -> Any:
    return None
