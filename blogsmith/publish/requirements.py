"""Which version of blogsmith a machine that publishes installs: a file of requirements that names it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ..base.diagnostics.extras import DISTRIBUTION
from ..base.patterns import lazy_pattern
from ..config.schema import Config, Search
from .author_files import read_text

FILES = ("requirements.txt", "requirements-site.txt")
"""The second one where the first is the author's and names other things, as for the code of posts."""
_OURS = lazy_pattern(
    rf"^[ \t]*{DISTRIBUTION.replace('-', '[-_.]')}(?![\w.-])|^[ \t]*(?:-e|--editable|\S*blogsmith\S*\.whl)",
    re.MULTILINE | re.IGNORECASE,
)


def find_requirements(root: Path, requirement: str) -> tuple[str, Mapping[str, str]]:
    """The file that names us, and what is to be written if there is none yet; SiteError if one is unreadable.

    requirement: the line to write.
    """
    texts = {name: read_text(root, name) for name in FILES}
    for name, text in texts.items():
        if text is not None and _OURS.search(text):
            return name, {}
    name = FILES[0] if texts[FILES[0]] is None else FILES[1]
    note = "# What builds the site. Change the number to use another version.\n"
    return name, {name: f"{note}{requirement}\n"}


def needed_extras(config: Config) -> tuple[str, ...]:
    """Extras of our package that builds of a site need."""
    extras = {"diagrams"} if "mermaid" in config.plugins else set()
    if isinstance(config.search, Search) and config.search.engine == "pagefind":
        extras.add("search")
    return tuple(sorted(extras))
