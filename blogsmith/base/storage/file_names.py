"""Names of files in a site: which are texts of the author, and which belong to an editor or a system."""

from __future__ import annotations

MANIFEST = ".blogsmith-manifest.json"
"""The list of our own files inside the output folder."""
MARKDOWN = frozenset({".md", ".markdown"})

KEPT_HIDDEN = frozenset({".well-known", ".nojekyll"})
"""Hidden names that hosts read; published from `static/` only."""
_LITTER = frozenset({"4913", "Thumbs.db", "desktop.ini", "__pycache__"})
"""4913 is the file vim writes to see whether it may."""
_LITTER_ENDS = ("~", ".swp", ".swo", ".swx", ".tmp", "___jb_tmp___", "___jb_old___", "___jb_bak___")
MAX_FOLDERS = 50
"""How deep folders may be nested."""


def is_litter(name: str) -> bool:
    """Whether a file or folder of this name is an editor's or a system's, not the author's."""
    return (
        name.startswith((".", "___jb_"))
        or name in _LITTER
        or name.endswith(_LITTER_ENDS)
        or _is_emacs_save(name)
    )


def _is_emacs_save(name: str) -> bool:
    return len(name) > 1 and name.startswith("#") and name.endswith("#")
