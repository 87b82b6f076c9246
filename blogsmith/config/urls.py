"""Addresses as authors write them in the settings: where the site lives, how its pages are named."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ..base.patterns import lazy_pattern

_URL = lazy_pattern(r"https?://[^\s\\\"'<>{}|^`]+")
_PATTERN_PART = lazy_pattern(r"[\w.:~-]*")
_DEVICE = lazy_pattern(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


def base_url_problem(url: str) -> str:
    """Why `url` is no address a site can live at; empty if it is one or is empty."""
    if not url:
        return ""
    if not _URL.fullmatch(url):
        return "must start with http:// or https:// and hold no blanks"
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "has a host or port that does not exist"
    if not has_host or "@" in parts.netloc:
        return "must name a host, without a user"
    if "?" in url or "#" in url:
        return "cannot have a ? or # part"
    return "cannot have . or .. in its path" if {".", ".."} & set(parts.path.split("/")) else ""


def is_device(name: str) -> bool:
    """Whether Windows takes a name of a file or folder for a device: `aux`, `con.md`."""
    return bool(_DEVICE.match(name))


def permalink_problem(pattern: str) -> str:
    """Why `pattern` cannot make addresses; empty if it can. Placeholders are not looked at."""
    if not pattern.startswith("/"):
        return "must start with /"
    parts = pattern.split("/")[1:]
    if any(part in (".", "..") or not _PATTERN_PART.fullmatch(part) for part in parts) or "" in parts[:-1]:
        return "can hold letters, digits, - _ . ~ and single slashes only"
    if any(part.strip(".") != part or is_device(part) for part in parts):
        return "has a part that begins or ends with a full stop, or is the name of a device on Windows"
    return "" if ":slug" in pattern else "must hold :slug, else all posts share one address"
