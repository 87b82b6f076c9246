"""Paths of pages as their table has them, and as browsers show them."""

from __future__ import annotations

from urllib.parse import quote, unquote


def address(path: str) -> str:
    """A path of the site as it stands in `location.pathname`; the base path is encoded already."""
    return quote(path, safe="/%")


def path_of(decoded: str, base_path: str) -> str:
    """The path of the site that a decoded address means."""
    plain = unquote(base_path)
    is_inside = plain != base_path and decoded.startswith(f"{plain}/")
    return base_path + decoded[len(plain) :] if is_inside else decoded
