"""File names in a site: documents of the author, and files of editors and systems."""

from __future__ import annotations

MANIFEST = ".blogsmith-manifest.json"
"""The list of files that blogsmith wrote, in the output folder."""
MARKDOWN = frozenset({".md", ".markdown"})

PUBLISHED_HIDDEN = frozenset({".well-known", ".nojekyll"})
"""Hidden names that hosts read; published from `static/` only."""
_LITTER = frozenset({"4913", "Thumbs.db", "desktop.ini", "__pycache__"})
"""Names of files that editors and systems create. Vim writes 4913 to test whether it may write."""
_LITTER_ENDS = ("~", ".swp", ".swo", ".swx", ".tmp", "___jb_tmp___", "___jb_old___", "___jb_bak___")
MAX_FOLDER_DEPTH = 50
"""Maximum nesting depth of folders."""


def is_temporary_name(name: str) -> bool:
    """Return whether a file or folder of this name belongs to an editor or a system, not to the author."""
    return (
        name.startswith((".", "___jb_"))
        or name in _LITTER
        or name.endswith(_LITTER_ENDS)
        or _is_emacs_save(name)
    )


def _is_emacs_save(name: str) -> bool:
    return len(name) > 1 and name.startswith("#") and name.endswith("#")
