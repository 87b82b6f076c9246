"""New sites. The starter files are copied into a folder, which may contain other files, such as those of a
new repository.

The files come from `starter/`. A placeholder `@name@` is replaced by a setting, or by a string in the
language of the site from `starter_texts/<language>.yaml`. `@"name"@` is replaced by the same text as a quoted
YAML string. Existing files are not replaced, but missing lines are added to `.gitignore`.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from msgspec import Struct

from ..base.diagnostics.counts import first_names
from ..base.diagnostics.model import Reporter
from ..base.patterns import lazy_pattern
from ..base.schema import yaml_loader
from ..base.storage.links import is_link
from ..freeze.store import ATTRIBUTES_PATH, GIT_ATTRIBUTES
from ..project.bundled_folders import bundled_folder
from .author_files import append_lines, create_file, quote_yaml, rejection_error, write_error

_GITIGNORE = PurePosixPath(".gitignore")
_TARGET_NAMES = {"gitignore": _GITIGNORE.name}
"""Name in `starter/` → name in the new site. A file named `.gitignore` there would affect our own
repository."""
_MAX_LISTED = 10
"""Maximum number of files that an error lists."""
_PLACEHOLDER = lazy_pattern(r'@("?)([a-z_]+)\1@')
_FALLBACK = "en"
_GIT_TIMEOUT_S = 5.0


class FirstSettings(Struct, frozen=True):
    """Initial settings of a new site."""

    title: str
    base_url: str = ""
    """URL of the site; empty if not known yet."""
    theme: str = "paper"
    lang: str = "en"
    author: str = ""
    """Name of the author; empty for a placeholder such as "Your Name"."""


class NewSite(Struct, frozen=True):
    """Files of a new site. All paths are relative to it."""

    written: tuple[PurePosixPath, ...]
    extended_lists: tuple[PurePosixPath, ...] = ()
    """Existing list files, such as `.gitignore`, that got more lines."""
    existing_names: tuple[str, ...] = ()
    """Names of files and folders that existed before, sorted."""


def new_site(target: Path, today: dt.date, settings: FirstSettings | None = None) -> NewSite:
    """Write the starter site into `target`. Create the folder if it is missing.

    settings: if None, those of the starter, with the name of the folder as title. Raise SiteError if a file
    of the starter already exists, or the folder cannot be written.
    """
    kept = check_target(target)
    files = _starter_files(today, settings or FirstSettings(title=default_title(target)))
    written, extended = [], []
    for path, text in files.items():
        if path == _GITIGNORE and _GITIGNORE.name in kept:
            extended += [path] if append_lines(target, path.name, text.encode()) else []
        else:
            create_file(target, path, text)
            written.append(path)
    return NewSite(tuple(written), tuple(extended), kept)


def default_title(target: Path) -> str:
    return target.resolve().name or "My site"


def default_author() -> str:
    """Return the name in the user's global Git settings; empty without Git or a name.

    Settings of a repository are not read. On Windows, Git is not run, because a `git.exe` in the current
    folder would run instead.
    """
    # slow to import, and no other command needs it
    import subprocess

    if sys.platform == "win32":
        return ""
    command = ["git", "config", "--global", "--get", "user.name"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_GIT_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return " ".join(done.stdout.decode("utf-8", "replace").split())


def check_target(target: Path) -> tuple[str, ...]:
    """Check that a folder can become a site. Return the names that it contains, sorted. Raise SiteError if an
    existing file would have to be replaced, or the folder is the user's home."""
    kept = _list_folder(target)
    if target.resolve() == Path.home().resolve():
        hint = "name a folder, as in `blogsmith new site notes`"
        raise rejection_error(
            "file-exists", f'the home folder is not allowed as a site: "{target.resolve()}"', hint
        )
    taken = [str(path) for path in _starter_files(dt.date.min, FirstSettings("")) if _is_taken(target, path)]
    if "blogsmith.yaml" in taken:
        hint = "run `blogsmith new post TITLE` to create a post in it"
        raise rejection_error(
            "file-exists", f'"{target}" is already a site: it contains blogsmith.yaml', hint
        )
    if taken:
        hint = "choose another folder, or move these files away"
        message = (
            f'"{target}" contains files that a new site would replace: {first_names(taken, _MAX_LISTED)}'
        )
        raise rejection_error("file-exists", message, hint)
    return kept


def _is_taken(target: Path, path: PurePosixPath) -> bool:
    """Return whether the file exists, or one of its parent folders is a file or a link."""
    if path == _GITIGNORE:
        return False
    folders = [target / folder for folder in path.parents]
    blocked = any(os.path.lexists(folder) and not _is_folder(folder) for folder in folders[:-1])
    return blocked or os.path.lexists(target / path)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not is_link(path.lstat())


def text_language(lang: str) -> str:
    """Return the language of the starter pages for the language tag `lang`: `pt` for `pt-BR`, and English for
    languages without starter pages, such as `sv`."""
    subtags = lang.lower().split("-")
    tags = ["-".join(subtags[:end]) for end in range(len(subtags), 0, -1)]
    folder = bundled_folder("starter_texts")
    return next((tag for tag in tags if (folder / f"{tag}.yaml").is_file()), _FALLBACK)


def _texts(lang: str) -> dict[str, str]:
    """Return name of a placeholder → string in the language `lang`."""
    file = bundled_folder("starter_texts") / f"{text_language(lang)}.yaml"
    reporter = Reporter(file.name)
    located = yaml_loader.load(file.read_text("utf-8"), reporter)
    assert located is not None and not reporter.diagnostics, "tests read them all"
    return dict(located.value)


def _starter_files(today: dt.date, settings: FirstSettings) -> dict[PurePosixPath, str]:
    """Return path → content of the starter files, sorted by path."""
    starter = bundled_folder("starter")
    values = {**_texts(settings.lang), "date": today.isoformat(), "title": settings.title}
    if settings.author:
        values["author"] = settings.author
    values["initial"] = next((char.upper() for char in values["author"] if char.isalpha()), "")
    files = {ATTRIBUTES_PATH: GIT_ATTRIBUTES}
    for file in starter.rglob("*"):
        if file.is_file():
            named = file.with_name(_TARGET_NAMES.get(file.name, file.name))
            path = PurePosixPath(named.relative_to(starter).as_posix())
            files[path] = _fill(file.read_text("utf-8"), values)
    config = PurePosixPath("blogsmith.yaml")
    files[config] = _replace_settings(files[config], settings)
    return dict(sorted(files.items()))


def _fill(text: str, values: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        named = values[found[2]]
        return quote_yaml(named) if found[1] else named

    return _PLACEHOLDER.sub(value, text)


def _replace_settings(text: str, settings: FirstSettings) -> str:
    """Return the starter's settings file with values replaced by `settings`."""
    values = {"lang: en\n": f"lang: {settings.lang}\n", "theme: paper\n": f"theme: {settings.theme}\n"}
    if settings.base_url:
        values["# base_url: https://example.org/blog\n"] = f"base_url: {quote_yaml(settings.base_url)}\n"
    for old, new in values.items():
        assert text.count(old) == 1, f"the starter's settings have no line {old!r}"
        text = text.replace(old, new)
    return text


def _list_folder(target: Path) -> tuple[str, ...]:
    try:
        return tuple(sorted(entry.name for entry in target.iterdir())) if os.path.lexists(target) else ()
    except OSError as error:
        raise write_error(target, error) from error
