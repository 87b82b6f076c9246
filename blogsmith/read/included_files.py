"""Files that posts show in part: `file="src/attn.py"` on a fence or in a shortcode.

They are read together with the post, so a page depends only on its document. A path is looked up next to the
post, then from the site root. Posts by untrusted authors may show only files that the site publishes. No post
may show files outside the site, hidden files, or files that blogsmith wrote.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from ..base.diagnostics.model import SiteError
from ..base.diagnostics.notebook_cells import NOTEBOOK
from ..base.patterns import lazy_pattern
from ..base.storage.file_names import MARKDOWN, is_temporary_name
from ..base.storage.folder import open_real_file
from ..config.schema import Config
from ..model.decode import decode
from ..model.documents import IncludedFile
from ..model.paths import join_path

MOST_BYTES = 1_000_000
MOST_FILES = 100
"""Maximum number of files in one post."""
_WRITTEN = lazy_pattern(
    r"\bfile[ \t]*=[ \t]*(?:\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|([^\s\"'%{}]+))"
)
_OURS = frozenset(("_freeze", "node_modules"))
_BESIDE = "write a path relative to the post, or to the root of the site"


def included_names(body: str) -> tuple[str, ...]:
    """Return every value of `file=` in the body once. A value may turn out not to be a file name, for example
    in an example of code."""
    if "file" not in body:
        return ()
    found = (next(group for group in one.groups() if group is not None) for one in _WRITTEN.finditer(body))
    names = (re.sub(r"\\([\"'\\])", r"\1", name) for name in found)
    return tuple(dict.fromkeys(name for name in names if name))[:MOST_FILES]


def read_included(
    root: Path, config: Config, post: PurePosixPath, names: Iterable[str]
) -> Mapping[str, IncludedFile]:
    """Map `names` to the current content of the files, or to an error message. root: site root."""
    return {name: _read(root.resolve(), config, post, name) for name in names}


def _read(root: Path, config: Config, post: PurePosixPath, name: str) -> IncludedFile:
    paths = _candidates(name, post.parent)
    if not paths:
        return IncludedFile(
            problem=f'"{name}" is outside the site', hint=f"copy the file into the site, and {_BESIDE}"
        )
    for path in paths:
        file = root / path
        if os.path.lexists(file):
            return _read_file(root, config, path, file, paths)
    return IncludedFile(looked_at=paths, problem=f'file not found: "{name}"', hint=_BESIDE)


def _candidates(name: str, folder: PurePosixPath) -> tuple[str, ...]:
    """Return the paths from the site root that a name may mean, without those outside the site."""
    if "\0" in name or "\\" in name:
        return ()
    folders = [PurePosixPath()] if name.startswith("/") else [folder, PurePosixPath()]
    found = (join_path(start, name) for start in folders)
    return tuple(dict.fromkeys(path.as_posix() for path in found if path))


def _read_file(root: Path, config: Config, path: str, file: Path, paths: tuple[str, ...]) -> IncludedFile:
    def refuse(problem: str, hint: str = "") -> IncludedFile:
        return IncludedFile(path=path, looked_at=paths, problem=f'"{path}" {problem}', hint=hint)

    try:
        real = file.resolve(strict=True)
        inside = real.relative_to(root) if real.is_relative_to(root) else None
        if inside is None:
            return refuse("points outside the site", "copy the file here")
        for shown in (PurePosixPath(path), PurePosixPath(inside)):
            if any(is_temporary_name(part) for part in shown.parts):
                return refuse("is hidden or temporary, and not shown", "rename it, without a leading dot")
            if not _may_show(shown, config):
                return refuse("is not a file that a post may show", "copy it into the folder of the post")
        data = _read_regular_file(real)
        if data is None:
            return refuse("is not a regular file", "write the path of a file")
        if len(data) > MOST_BYTES:
            return refuse(
                f"is larger than {MOST_BYTES // 1000} kB", "copy the part to show into a smaller file"
            )
        text = decode(data, path)
    except SiteError as error:
        return refuse(f"is not a text file: {error.diagnostics[0].message}", "write the path of a text file")
    except (OSError, RuntimeError, ValueError) as error:
        return refuse(f"cannot be read: {getattr(error, 'strerror', None) or type(error).__name__}")
    return IncludedFile(path, text, hashlib.sha256(data).hexdigest(), paths)


def _may_show(path: PurePosixPath, config: Config) -> bool:
    parts = path.parts
    if parts[0] in _OURS:
        return False
    if path.is_relative_to(config.output):
        return False
    # an untrusted post may show published files only
    return not config.markup.untrusted or (
        parts[0] in ("content", "static") and path.suffix not in (*MARKDOWN, NOTEBOOK)
    )


def _read_regular_file(file: Path) -> bytes | None:
    """Return the content of a file, at most one byte more than the size limit, so that the caller notices a
    file that is too large. None if it is not a regular file."""
    if not file.is_file():
        return None
    with open_real_file(file) as stream:
        return stream.read(MOST_BYTES + 1)
