"""Texts of other systems among the posts: they make no page, and would be published as files, as they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

_MARKDOWN = "rename it to .md"
_OTHER = "write it as .md; under static/ a file is published as it is"
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((".mdown", ".mkd", ".mkdn", ".mdwn", ".mdtxt", ".mdtext"), _MARKDOWN),
        **dict.fromkeys(
            (".qmd", ".rmd", ".mdx", ".myst"), f"{_MARKDOWN}; check lists what has no meaning here"
        ),
        ".ipynb": "write its cells as fences in a .md; under static/ a file is published as it is",
        **dict.fromkeys((".rst", ".org", ".adoc", ".asciidoc", ".textile", ".rnw", ".mediawiki"), _OTHER),
    }
)
"""Ending of a name → what to do."""


def foreign_file_hint(path: PurePosixPath) -> str:
    """What to do with the text of another system; empty for all other files."""
    return _HINTS.get(path.suffix.lower(), "")
