"""New posts and new pages: a draft with front matter, in a file named by its title."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

from ..config.validate import is_device
from ..model.slugs import slugify
from .author_files import create_file, quote_yaml, refusal

_LONGEST_NAME = 100
"""Bytes of a file name made from a title; file systems allow 255 with the suffix."""


class NewPost(Struct, frozen=True, kw_only=True):
    """What the front matter of a new post says, and where the post goes."""

    title: str
    date: dt.date
    section: str = "posts"
    """Path of slugs below `content/`."""
    series: str = ""
    tags: Sequence[str] = ()
    bundle: bool = False
    """The post is a folder of its own, `<slug>/index.md`, with room for its images."""


def write_post(root: Path, post: NewPost) -> Path:
    """Write a draft into `content/<section>/`; the file written.

    Raises SiteError if the title or section gives no file name, or the post is there already.
    """
    lines = [f"title: {quote_yaml(post.title)}", f"date: {post.date.isoformat()}", "draft: true"]
    if post.series:
        lines.append(f"series: {quote_yaml(post.series)}")
    lines.append(f"tags: [{', '.join(map(quote_yaml, post.tags))}]")
    _section_path(post.section)
    return _write_draft(
        root, new_draft_path(root, post.title, section=post.section, bundle=post.bundle), lines
    )


def write_page(root: Path, title: str, *, section: str = "", bundle: bool = False) -> Path:
    """Write a draft without date, which stands in no list of posts; the file written.

    It goes to `content/`, or to a section below; SiteError as for a post.
    """
    path = new_draft_path(root, title, section=section, bundle=bundle)
    return _write_draft(root, path, [f"title: {quote_yaml(title)}", "draft: true"])


def new_draft_path(root: Path, title: str, *, section: str, bundle: bool) -> PurePosixPath:
    """Return the path of a new draft, relative to the site. section: empty for `content/` itself.

    Raises SiteError if the title or section gives no file name, or the draft exists.
    """
    folder = "content" / (_section_path(section) if section else PurePosixPath())
    name = _file_name(title)
    _refuse_taken_name(root / folder, name, root)
    return folder / name / "index.md" if bundle else folder / f"{name}.md"


def _write_draft(root: Path, path: PurePosixPath, lines: list[str]) -> Path:
    create_file(root, path, "\n".join(["---", *lines, "---", "", ""]))
    return root / path


def _section_path(section: str) -> PurePosixPath:
    """The section as a path below `content/`; refuses what would lead elsewhere or is no slug."""
    parts = section.strip("/").split("/")
    for part in parts:
        if not part or slugify(part) != part:
            raise refusal(
                "new-name", f"section {section!r} is not a path of slugs such as posts or docs/guide"
            )
        _refuse_device(part, f"section {section!r}")
    return PurePosixPath(*parts)


def _file_name(title: str) -> str:
    name = slugify(title)
    while len(name.encode("utf-8")) > _LONGEST_NAME:
        name = name[:-1]
    if not name:
        raise refusal("new-name", f'title "{title}" has no letter or digit to make a file name of')
    if name == "index":
        raise refusal("new-name", f'title "{title}" would make index.md, the page of the section itself')
    _refuse_device(f"{name}.md", f'title "{title}"')
    return name.strip("-")


def _refuse_device(name: str, what: str) -> None:
    if is_device(name):
        hint = "choose another one; the title can be changed afterwards"
        raise refusal("new-name", f"{what} would make {name}, which Windows cannot hold", hint)


def _refuse_taken_name(folder: Path, name: str, root: Path) -> None:
    """A post `a.md` and a bundle `a/` would get one address, so each keeps the other's name."""
    for taken in (folder / f"{name}.md", folder / name):
        if taken.exists():
            place = taken.relative_to(root).as_posix()
            raise refusal("file-exists", f"{place} is already there", "choose another title or section")
