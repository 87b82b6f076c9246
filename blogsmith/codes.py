"""Every diagnostic code with what it means. The manual's page of errors is made from this table.

A code is stable: authors silence warnings by it and search for it. Add a row here together with
the first use, and a row under `tests/broken/` that shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CODES: Mapping[str, str] = MappingProxyType(
    {
        # reading
        "encoding": "A text file is not valid UTF-8 or holds a NUL character.",
        # configuration and front matter
        # Markdown
        # mathematics
        # code
        # images and embeds
        # links and references
        # templates and plugins
        # output
        "file-exists": "A new site or post would replace something that is already there.",
        "new-name": "A title or a section of a new post cannot be turned into a file name.",
        "new-write": "A new site or post cannot be written to disk.",
    }
)
