"""What a finished page was made from, as it is kept to tell whether the page would be the same now."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class PageInputs(msgspec.Struct, frozen=True, array_like=True):
    """What a page was made from, beside what its key names."""

    texts: Mapping[str, bytes]
    """Source path of another page whose text was read for it → digest of that text."""
    loads: str = ""
    """Name of the row that says which templates were looked for; empty for what is made without any."""
    templates: bytes = b""
    """As `ThemeFiles.digest` gives it for these."""
