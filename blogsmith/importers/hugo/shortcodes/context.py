"""What shortcodes know of the page they stand in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...model import NoticeKind
from ...text.pieces import Pieces


@dataclass(frozen=True, slots=True)
class CallContext:
    """The page around a call, as functions."""

    finished: Pieces
    """Of the page."""
    link: Callable[[str], str]
    """Destination of a link to a page, as `ref` names it; empty if there is none."""
    image: Callable[[str], str]
    """Address of a picture or file in the new site."""
    param: Callable[[str], str]
    """A parameter of the page, else of the site; empty if there is none."""
    file: Callable[[str], str]
    """Text of a file of the site, relative to its root or to the page; empty if it cannot be read."""
    notice: Callable[[NoticeKind, str, str, str], None]
    """Takes kind, message, hint and what was removed."""
    data: Callable[[], Mapping[str, Any]] = dict
    """What the files in `data/` hold: names of folders and files → values."""
    notes: list[str] = field(default_factory=list)
    """Texts of the page's margin notes, in order; footnotes in the new page."""
    kinds: set[str] = field(default_factory=set)
    """Kinds of boxes that the new site has to define."""
