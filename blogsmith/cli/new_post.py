"""New posts and pages. Each is a draft with front matter, in a file named after its title."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

from ..config.validate import is_device
from ..model.slugs import slugify
from .author_files import create_file, quote_yaml, rejection_error

_MAX_NAME_BYTES = 100
"""Maximum length of a file name made from a title, in bytes. File systems allow 255, including the suffix."""


class NewPost(Struct, frozen=True, kw_only=True):
    """Front matter and location of a new post."""

    title: str
    date: dt.date
    section: str = "posts"
    """Path of the section below `content/`; its parts are slugs."""
    series: str = ""
    tags: Sequence[str] = ()
    bundle: bool = False
    """Whether the post gets its own folder, `<slug>/index.md`, so that images can be stored with it."""


def write_post(root: Path, post: NewPost) -> Path:
    """Write a draft into `content/<section>/` and return its path. Raise SiteError if the title or section
    gives no file name, or the post already exists."""
    lines = [f"title: {quote_yaml(post.title)}", f"date: {post.date.isoformat()}", "draft: true"]
    if post.series:
        lines.append(f"series: {quote_yaml(post.series)}")
    lines.append(f"tags: [{', '.join(map(quote_yaml, post.tags))}]")
    _section_path(post.section)
    return _write_draft(
        root, new_draft_path(root, post.title, section=post.section, bundle=post.bundle), lines
    )


def write_page(root: Path, title: str, *, section: str = "", bundle: bool = False) -> Path:
    """Write a draft without a date, which appears in no list of posts, to `content/` or to a section. Return
    its path. Raise SiteError if the title or section gives no file name, or the page already exists."""
    path = new_draft_path(root, title, section=section, bundle=bundle)
    return _write_draft(root, path, [f"title: {quote_yaml(title)}", "draft: true"])


def new_draft_path(root: Path, title: str, *, section: str, bundle: bool) -> PurePosixPath:
    """Return the path of a new draft, relative to the site. section: empty for `content/` itself. Raise
    SiteError if the title or section gives no file name, or the draft already exists."""
    folder = "content" / (_section_path(section) if section else PurePosixPath())
    name = _file_name(title)
    _reject_existing(root / folder, name, root)
    return folder / name / "index.md" if bundle else folder / f"{name}.md"


def _write_draft(root: Path, path: PurePosixPath, lines: list[str]) -> Path:
    create_file(root, path, "\n".join(["---", *lines, "---", "", ""]))
    return root / path


def _section_path(section: str) -> PurePosixPath:
    """Return the section as a path below `content/`. Raise SiteError if a part is not a slug."""
    parts = section.strip("/").split("/")
    for part in parts:
        if not part or slugify(part, marks=True) != part:
            raise rejection_error(
                "new-name",
                f'invalid section "{section}": expected a path of slugs',
                "write a section such as `posts` or `docs/guide`",
            )
        _reject_device_name(part, f'section "{section}"')
    return PurePosixPath(*parts)


def _file_name(title: str) -> str:
    name = slugify(title, marks=True)
    while len(name.encode("utf-8")) > _MAX_NAME_BYTES:
        name = name[:-1]
    if not name:
        raise rejection_error(
            "new-name",
            f'invalid title "{title}": expected a letter or digit for the file name',
            "write a title with a letter or digit",
        )
    if name == "index":
        raise rejection_error(
            "new-name",
            f'invalid title "{title}": index.md is the page of the section itself',
            "write another title",
        )
    _reject_device_name(f"{name}.md", f'title "{title}"')
    return name.strip("-")


def _reject_device_name(name: str, what: str) -> None:
    if is_device(name):
        hint = "choose another name; you can change the title in the file afterwards"
        raise rejection_error(
            "new-name", f'invalid {what}: "{name}" is not allowed as a file name on Windows', hint
        )


def _reject_existing(folder: Path, name: str, root: Path) -> None:
    """Raise SiteError if a post `a.md` or a bundle `a/` exists, because both would have the same URL."""
    for taken in (folder / f"{name}.md", folder / name):
        if taken.exists():
            place = taken.relative_to(root).as_posix()
            raise rejection_error(
                "file-exists", f'"{place}" already exists', "choose another title or section"
            )
