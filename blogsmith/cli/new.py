"""New sites and new posts: writes the author's first files, and never over one that is there.

The files of a new site are those under `starter/`, with the title and the date filled in.
"""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path, PurePosixPath

from ..diagnostics.model import Diagnostic, SiteError
from ..model.slugs import slugify
from ..patterns import lazy_pattern
from ..project.bundled import bundled_folder
from ..storage.folder import open_folder

_LONGEST_NAME = 100
"""Bytes of a file name made from a title; file systems allow 255 with the suffix."""
_NOT_IN_YAML = lazy_pattern("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_RENAMED = {"gitignore": ".gitignore"}
"""A real `.gitignore` under `starter/` would hide files of our own repository."""


def new_site(target: Path, today: dt.date) -> tuple[PurePosixPath, ...]:
    """Write the starter site into `target`, made if missing; the paths written, relative to it.

    Raises SiteError if the folder holds anything but `.git`, or cannot be written.
    """
    _refuse_used_folder(target)
    starter = bundled_folder("starter")
    title = quote_yaml(target.resolve().name or "My site")
    written = []
    for file in sorted(path for path in starter.rglob("*") if path.is_file()):
        path = PurePosixPath(file.relative_to(starter).with_name(_RENAMED.get(file.name, file.name)))
        text = file.read_text("utf-8").replace("@DATE@", today.isoformat()).replace("@TITLE@", title)
        create_file(target, path, text)
        written.append(path)
    return tuple(written)


def new_post(root: Path, title: str, today: dt.date, *, section: str = "posts", bundle: bool = False) -> Path:
    """Write a draft with front matter into `content/<section>/`; the file written.

    With `bundle` the post is a folder of its own, `<slug>/index.md`, with room for its images.
    Raises SiteError if the title or section gives no file name, or the post is there already.
    """
    folder = "content" / _section_path(section)
    name = _file_name(title)
    _refuse_taken_name(root / folder, name, root)
    path = folder / name / "index.md" if bundle else folder / f"{name}.md"
    head = f"title: {quote_yaml(title)}\ndate: {today.isoformat()}\ndraft: true\ntags: []\n"
    create_file(root, path, f"---\n{head}---\n\n")
    return root / path


def quote_yaml(text: str) -> str:
    """`text` as a double-quoted YAML scalar on one line; what YAML cannot hold becomes a blank."""
    # a JSON text is a YAML scalar as long as every character is one that YAML allows
    return json.dumps(" ".join(_NOT_IN_YAML.sub(" ", text).split()), ensure_ascii=False)


def _section_path(section: str) -> PurePosixPath:
    """The section as a path below `content/`; refuses what would lead elsewhere or is no slug."""
    parts = section.strip("/").split("/")
    for part in parts:
        if not part or slugify(part) != part:
            raise _refusal(
                "new-name", f"section {section!r} is not a path of slugs such as posts or docs/guide"
            )
    return PurePosixPath(*parts)


def _file_name(title: str) -> str:
    name = slugify(title)
    while len(name.encode("utf-8")) > _LONGEST_NAME:
        name = name[:-1]
    if not name:
        raise _refusal("new-name", f'title "{title}" has no letter or digit to make a file name of')
    if name == "index":
        raise _refusal("new-name", f'title "{title}" would make index.md, the page of the section itself')
    return name.strip("-")


def _refuse_used_folder(target: Path) -> None:
    try:
        used = target.exists() and any(entry.name != ".git" for entry in target.iterdir())
    except OSError as error:
        raise _cannot_write(target, error) from error
    if used:
        hint = "choose a new folder, or empty this one first"
        raise _refusal("file-exists", f"folder {target} is not empty", hint)


def _refuse_taken_name(folder: Path, name: str, root: Path) -> None:
    """A post `a.md` and a bundle `a/` would get one address, so each keeps the other's name."""
    for taken in (folder / f"{name}.md", folder / name):
        if taken.exists():
            place = taken.relative_to(root).as_posix()
            raise _refusal("file-exists", f"{place} is already there", "choose another title or section")


def create_file(root: Path, path: PurePosixPath, content: str | bytes) -> None:
    """Write a file below `root`, and the folders it lies in; SiteError if that cannot be done."""
    data = content.encode() if isinstance(content, str) else content
    try:
        with (
            open_folder(root, make=True) as site,
            site.enter(path.parent, make=True) as folder,
            # not even a file made this very moment is replaced
            folder.create(path.name) as stream,
        ):
            stream.write(data)
    except OSError as error:
        raise _cannot_write(root / path, error) from error


def _cannot_write(file: Path, error: OSError) -> SiteError:
    return _refusal("new-write", f"cannot write {file}: {error.strerror or error}")


def _refusal(code: str, message: str, hint: str = "") -> SiteError:
    return SiteError(Diagnostic(code, message, hint=hint))
