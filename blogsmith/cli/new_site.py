"""New sites: the starter's files, beside whatever a folder holds, such as those of a fresh repository.

They are those under `starter/`, with the title and the date filled in. No file that is there is replaced;
`.gitignore` gets the lines that it lacks.
"""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path, PurePosixPath

from msgspec import Struct

from ..base.diagnostics.counts import first_names
from ..base.storage.links import is_link
from ..freeze.store import ATTRIBUTES_PATH, GIT_ATTRIBUTES
from ..project.bundled_folders import bundled_folder
from .author_files import append_lines, create_file, quote_yaml, refusal, write_error

_GITIGNORE = PurePosixPath(".gitignore")
_RENAMED = {"gitignore": _GITIGNORE.name}
"""A real `.gitignore` under `starter/` would hide files of our own repository."""
_NAMED = 10
"""How many files a refusal names."""


class FirstSettings(Struct, frozen=True):
    """What the settings of a new site say."""

    title: str
    base_url: str = ""
    """Empty: not known yet."""
    theme: str = "paper"
    lang: str = "en"


class NewSite(Struct, frozen=True):
    """What was done to make a folder a site; paths are relative to it."""

    written: tuple[PurePosixPath, ...]
    extended: tuple[PurePosixPath, ...] = ()
    """Lists that were there and got lines more."""
    kept: tuple[str, ...] = ()
    """What stood in the folder before, sorted."""


def new_site(target: Path, today: dt.date, settings: FirstSettings | None = None) -> NewSite:
    """Write the starter site into `target`, made if missing.

    settings: by default those of the starter, with the name of the folder as title. Raises SiteError if a
    file of the starter is there already, or the folder cannot be written.
    """
    kept = check_target(target)
    files = _starter_files(today, settings or FirstSettings(default_title(target)))
    written, extended = [], []
    for path, text in files.items():
        if path == _GITIGNORE and _GITIGNORE.name in kept:
            extended += [path] if append_lines(target, path.name, text.encode()) else []
        else:
            create_file(target, path, text)
            written.append(path)
    return NewSite(tuple(written), tuple(extended), kept)


def default_title(target: Path) -> str:
    """The name of the folder."""
    return target.resolve().name or "My site"


def check_target(target: Path) -> tuple[str, ...]:
    """What stands in a folder that can become a site, sorted.

    Raises SiteError if it cannot: a file is in the way, or it is somebody's home.
    """
    kept = _names_in(target)
    if target.resolve() == Path.home().resolve():
        hint = "name a folder: blogsmith new site notes"
        raise refusal("file-exists", f"{target.resolve()} is your home folder, and no site", hint)
    taken = [str(path) for path in _starter_files(dt.date.min, FirstSettings("")) if _is_taken(target, path)]
    if "blogsmith.yaml" in taken:
        hint = "blogsmith new post TITLE begins a post in it"
        raise refusal("file-exists", f"{target} is a site already: it has a blogsmith.yaml", hint)
    if taken:
        hint = "choose another folder, or move what is there out of the way"
        message = f"{target} has what a new site would replace: {first_names(taken, _NAMED)}"
        raise refusal("file-exists", message, hint)
    return kept


def _is_taken(target: Path, path: PurePosixPath) -> bool:
    """Whether something stands where a file goes, or anything but a folder where one of its folders does."""
    if path == _GITIGNORE:
        return False
    folders = [target / folder for folder in path.parents]
    blocked = any(os.path.lexists(folder) and not _is_folder(folder) for folder in folders[:-1])
    return blocked or os.path.lexists(target / path)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not is_link(path.lstat())


def _starter_files(today: dt.date, settings: FirstSettings) -> dict[PurePosixPath, str]:
    """Path → text, sorted."""
    starter = bundled_folder("starter")
    values = {"@DATE@": today.isoformat(), "@TITLE@": quote_yaml(settings.title)}
    files = {ATTRIBUTES_PATH: GIT_ATTRIBUTES}
    for file in starter.rglob("*"):
        if file.is_file():
            named = file.with_name(_RENAMED.get(file.name, file.name))
            path = PurePosixPath(named.relative_to(starter).as_posix())
            text = file.read_text("utf-8")
            for name, value in values.items():
                text = text.replace(name, value)
            files[path] = text
    config = PurePosixPath("blogsmith.yaml")
    files[config] = _with_settings(files[config], settings)
    return dict(sorted(files.items()))


def _with_settings(text: str, settings: FirstSettings) -> str:
    """The starter's settings with other values in their lines."""
    values = {"lang: en\n": f"lang: {settings.lang}\n", "theme: paper\n": f"theme: {settings.theme}\n"}
    if settings.base_url:
        values["# base_url: https://example.org/blog\n"] = f"base_url: {quote_yaml(settings.base_url)}\n"
    for old, new in values.items():
        assert text.count(old) == 1, f"the starter's settings have no line {old!r}"
        text = text.replace(old, new)
    return text


def _names_in(target: Path) -> tuple[str, ...]:
    try:
        return tuple(sorted(entry.name for entry in target.iterdir())) if os.path.lexists(target) else ()
    except OSError as error:
        raise write_error(target, error) from error
