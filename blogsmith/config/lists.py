"""Settings of lists of posts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

ListStyle = Literal["text", "compact", "cards", "featured", "notes"]


class Lists(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Styles of lists of posts."""

    style: ListStyle = "text"
    """`text`: title, description, date. `compact`: one line a post. `cards`: with images. `featured`: the
    first post large, the others as cards. `notes`: the whole text of each post, for short news."""
    sections: Mapping[str, ListStyle] = {}
    """Path of a section → style of its list. The front page shows the newest posts of sections in the style
    `notes` as news."""
