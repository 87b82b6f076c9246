"""A requirement of blogsmith by name, as earlier versions wrote it: no package index has that name.

Some hosts install `requirements.txt` by themselves before they run the command of the site. The line then
stops the build, and would install the package of anyone who registers the name.
"""

from __future__ import annotations

import re
from pathlib import Path

from ..base.diagnostics.extras import DISTRIBUTION
from ..base.diagnostics.model import Diagnostic, Place
from ..base.patterns import lazy_pattern
from .author_files import read_text
from .dependency_lock import LOCK

_FILES = ("requirements.txt", "requirements-site.txt")
_OURS = lazy_pattern(rf"[ \t]*{DISTRIBUTION.replace('-', '[-_.]')}(?![\w.-])", re.IGNORECASE)


def old_requirement_problems(root: Path) -> tuple[Diagnostic, ...]:
    """Return a warning for each line at the top of the site that requires blogsmith by name."""
    found = []
    for name in _FILES:
        for number, line in enumerate((read_text(root, name) or "").split("\n"), 1):
            if match := _OURS.match(line):
                message = f'"{DISTRIBUTION}" is not in the package index, or belongs to somebody else'
                hint = f"remove the line: {LOCK} installs blogsmith"
                place = Place(number, 1, len(match[0]))
                found.append(Diagnostic("publish-lock", message, name, place, line, hint, "warning"))
    return tuple(found)
