"""Names of files in a site that have a meaning: blogsmith's own, hidden files, and files of editors and
systems."""

from __future__ import annotations

from ..diagnostics.notebook_cells import NOTEBOOK, PYTHON

MANIFEST = ".blogsmith-manifest.json"
"""Name of the file in the output folder that lists all files blogsmith wrote there."""
MARKDOWN = frozenset({".md", ".markdown"})
LINKED_ENDS = (".md", NOTEBOOK, PYTHON)
"""Endings of link targets that name the source of a page."""
SOURCES = MARKDOWN | {NOTEBOOK, PYTHON}
"""File name extensions of posts. Most Python files are not posts (`read/notebooks/percent.py`)."""

PUBLISHED_HIDDEN = frozenset({".well-known", ".nojekyll"})
"""Hidden names that web servers and hosts read; published from `static/` only."""
_LITTER = frozenset({"4913", "Thumbs.db", "desktop.ini", "__pycache__"})
"""Names of files that editors and systems create. Vim creates 4913 to test whether it may write in the
folder."""
_LITTER_ENDS = ("~", ".swp", ".swo", ".swx", ".tmp", "___jb_tmp___", "___jb_old___", "___jb_bak___")
MAX_FOLDER_DEPTH = 50
"""Maximum nesting depth of folders in a site."""


def is_temporary_name(name: str) -> bool:
    """Return whether a name is hidden (starts with a dot), or typical of files and folders that editors and
    systems create."""
    return (
        name.startswith((".", "___jb_"))
        or name in _LITTER
        or name.endswith(_LITTER_ENDS)
        or (len(name) > 1 and name.startswith("#") and name.endswith("#"))
    )
