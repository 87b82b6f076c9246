"""Posts, templates and translations in folders that no build reads, such as `posts/` beside `content/`.

Only folders with names from other systems, or with misspelled names of ours, are searched. A folder with
settings of its own is another project, and a folder with a manifest is an output folder; both are skipped.
Links are not followed. Every build calls this module to compare the result with the last one, so it imports
nothing slow.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ..base.diagnostics.model import Diagnostic
from ..base.storage.file_names import MANIFEST, MARKDOWN, is_temporary_name

_DEEPEST = 4
_TEMPLATES = (".html",)
_OWN_FOLDERS = ("content", "languages", "layouts", "partials", "plugins", "shortcodes", "static", "themes")
_OTHER_PROJECTS = frozenset(
    (
        *(
            "blogsmith.yaml",
            "_config.yml",
            "_quarto.yml",
            "config.toml",
            "hugo.toml",
            "hugo.yaml",
            "zola.toml",
        ),
        *("mkdocs.yml", "package.json", "pyproject.toml", "conf.py"),
    )
)
"""Names of files in the folder of another project."""


class _Rule(NamedTuple):
    """Files that belong into another folder."""

    extensions: tuple[str, ...]
    """File name extensions; empty: all files."""
    ours: str
    """The folder that builds read instead."""


_POSTS = _Rule(tuple(MARKDOWN), "content")
_RULES: Mapping[str, _Rule] = MappingProxyType(
    {
        **dict.fromkeys(
            ("article", "articles", "blog", "blogs", "contents", "pages", "post", "posts"), _POSTS
        ),
        **dict.fromkeys(("_articles", "_blog", "_pages", "_posts"), _POSTS),
        **dict.fromkeys(("_layouts", "layout", "templates"), _Rule(_TEMPLATES, "layouts")),
        **dict.fromkeys(("_includes", "_partials", "partial"), _Rule(_TEMPLATES, "partials")),
        **dict.fromkeys(("_shortcodes", "shortcode"), _Rule(_TEMPLATES, "shortcodes")),
        **dict.fromkeys(
            ("_i18n", "i18n", "language", "locales", "translations"),
            _Rule((".yaml", ".yml", ".toml", ".json"), "languages"),
        ),
        "theme": _Rule(_TEMPLATES, "themes"),
    }
)
"""Folder at the site root → rule for the files in it."""
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        "content": "move it to `content/{name}`",
        "layouts": "move its templates to `layouts`",
        "partials": "move its templates to `partials`",
        "languages": "write translations in `languages`, in a file such as `de.yaml`",
        "themes": "move it to `themes/NAME`, and write `theme: NAME` in blogsmith.yaml",
    }
)
"""Folder that builds read → hint. For other folders, the hint is to rename the folder."""


def find_unread_files(root: Path) -> tuple[str, ...]:
    """Return the paths, relative to the root, of files that look like parts of the site but are not read.
    Only the first file of each folder is returned."""
    files = []
    for entry in _list_entries(root):
        name = entry.name
        if entry.is_dir(follow_symlinks=False):
            rule = _find_rule(root, name)
            first = _find_first(entry.path, rule.extensions, _DEEPEST) if rule else ""
            files += [f"{name}/{first}"] if first else []
        elif name.endswith(_POSTS.extensions) and _is_page(entry):
            files.append(name)
    return tuple(files)


def unread_warning(path: str) -> Diagnostic:
    """Return the warning about a file that `find_unread_files` has found."""
    folder, _, rest = path.partition("/")
    if not rest:
        message, hint = f'"{path}" is not read because pages are in "content"', f"move it to `content/{path}`"
    else:
        name = folder.casefold()
        rule = _RULES.get(name)
        hint = _HINTS.get(rule.ours, "") if rule and name != "contents" else ""
        hint = hint.format(name=name.strip("_")) or f"rename it to `{rule.ours if rule else name}`"
        message = f'"{folder}" is not one of the folders that a build reads'
    return Diagnostic("file-unread", message, path, hint=hint, severity="warning")


def _find_rule(root: Path, name: str) -> _Rule | None:
    """Return the rule for a folder at the site root; None if its files are not reported."""
    ours = name.casefold()
    if ours not in _OWN_FOLDERS:
        return _RULES.get(ours)
    path = root / ours
    # if the system ignores case, both names are the same folder
    is_read = name == ours or (path.exists() and path.samefile(root / name))
    return None if is_read else _Rule((), ours)


def _find_first(folder: str, extensions: tuple[str, ...], depth: int) -> str:
    """Return the path of the first file with one of the extensions in a folder or below it; empty if there is
    none."""
    entries = _list_entries(folder)
    if any(entry.name in _OTHER_PROJECTS for entry in entries) or Path(folder, MANIFEST).exists():
        return ""
    for entry in entries:
        if entry.is_file(follow_symlinks=False) and (not extensions or entry.name.endswith(extensions)):
            return entry.name
        is_folder = depth and entry.is_dir(follow_symlinks=False)
        if is_folder and (inner := _find_first(entry.path, extensions, depth - 1)):
            return f"{entry.name}/{inner}"
    return ""


def _list_entries(folder: str | Path) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, sorted, without files of editors and systems and without names that
    messages cannot show."""
    try:
        with os.scandir(folder) as found:
            names = [one for one in found if not is_temporary_name(one.name) and one.name.isprintable()]
    except OSError:
        return []
    return sorted(names, key=lambda entry: entry.name)


def _is_page(entry: os.DirEntry[str]) -> bool:
    """Return whether a Markdown file in the site root begins with front matter. `README.md` without it is not
    a page."""
    if entry.name.partition(".")[0].isupper() or not entry.is_file(follow_symlinks=False):
        return False
    try:
        with Path(entry.path).open("rb") as file:
            return file.readline(10).rstrip() in (b"---", b"+++")
    except OSError:
        return False
