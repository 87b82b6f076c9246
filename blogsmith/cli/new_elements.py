"""`blogsmith new page --elements` creates a page that shows every element, to help with work on a theme.

The page and its files come from `elements/`. Lines between `@only PLUGIN@` and `@end@` are omitted if the
site does not have that plugin. `@callouts@` is replaced by one callout of each kind, including the site's own
kinds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from ..base.patterns import lazy_pattern
from ..config.schema import Config
from ..project.bundled_folders import bundled_folder
from ..syntax.kinds import ROWS
from .author_files import create_file, quote_yaml
from .new_post import new_draft_path

_OPTIONAL = lazy_pattern(r"^@only (\w+)@\n(.*?)^@end@\n", re.DOTALL | re.MULTILINE)
_NEEDS = {"mermaid": "merman"}
"""Maps a plugin to the module that it requires."""
_SHOWN = frozenset(("definition", "theorem", "lemma", "corollary", "proposition", "remark", "proof"))
"""Kinds that the page shows in a section of their own."""


class ElementsPage(Struct, frozen=True):
    """A page with all elements that a site can show."""

    file: Path
    missing: tuple[str, ...]
    """Plugins whose elements were omitted, sorted."""
    advice: str
    """Instruction that makes the omitted elements available; empty if none are missing."""


def write_elements(root: Path, config: Config, title: str, *, section: str = "") -> ElementsPage:
    """Write the page as a bundle with its images and return it. Raise SiteError in the same cases as
    `write_page`."""
    path = new_draft_path(root, title, section=section, bundle=True)
    missing: set[str] = set()

    def keep(found: re.Match[str]) -> str:
        if _has_plugin(config, found[1]):
            return found[2]
        missing.add(found[1])
        return ""

    for file in sorted(bundled_folder("elements").iterdir()):
        if file.suffix == ".md":
            text = _OPTIONAL.sub(keep, file.read_text("utf-8"))
            text = text.replace("@title@", quote_yaml(title)).replace("@callouts@", _callouts(config))
            create_file(root, path, text)
        elif file.is_file():
            create_file(root, path.parent / file.name, file.read_bytes())
    return ElementsPage(root / path, tuple(sorted(missing)), _advice(config, sorted(missing)))


def _has_plugin(config: Config, name: str) -> bool:
    return name in config.plugins and _is_installed(name)


def _is_installed(plugin: str) -> bool:
    return plugin not in _NEEDS or find_spec(_NEEDS[plugin]) is not None


def _advice(config: Config, missing: Sequence[str]) -> str:
    steps = []
    if absent := [name for name in missing if name not in config.plugins]:
        steps.append(f"write `plugins: [{', '.join((*config.plugins, *absent))}]` in blogsmith.yaml")
    if any(not _is_installed(name) for name in missing):
        steps.append("install blogsmith with the extra `diagrams`")
    return ", ".join([*steps, "delete the page and create it again"]) if steps else ""


def _callouts(config: Config) -> str:
    """Return one callout of each kind except statements, including custom kinds."""
    built_in = [row.name for row, _ in ROWS]
    kinds = [name for name in (*built_in, *sorted({*config.callouts} - {*built_in})) if name not in _SHOWN]
    link = "a link to [the theorems](#theorems-and-proofs)"
    return "\n\n".join(
        f"> [!{kind.upper()}]\n> A callout of the kind `{kind}`, with *emphasis*, $x^2$ and {link}."
        for kind in kinds
    )
