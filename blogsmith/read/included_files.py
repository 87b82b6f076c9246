"""Files of the site that posts show parts of: `file="src/attn.py"` on a fence or in a call.

They are read when a post is, so that a page stays a function of its document. A path is looked for beside the
post, then from the root of the site. What a stranger's post may show is no more than what a site publishes or
what its authors keep beside it: nothing outside the site, nothing hidden, nothing that blogsmith made.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from ..base.diagnostics.model import SiteError
from ..base.patterns import lazy_pattern
from ..base.storage.file_names import MARKDOWN, is_litter
from ..config.schema import Config
from ..model.decode import decode
from ..model.documents import IncludedFile
from ..model.paths import join_path

MOST_BYTES = 1_000_000
MOST_FILES = 100
"""Of one post."""
_WRITTEN = lazy_pattern(
    r"\bfile[ \t]*=[ \t]*(?:\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|([^\s\"'%{}]+))"
)
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_OURS = frozenset(("_freeze", "node_modules"))
_BESIDE = "write the path from the folder of the post, or from the root of the site"


def included_names(body: str) -> tuple[str, ...]:
    """What stands behind `file=` in a text, each once: more than what the text means by it, never less."""
    if "file" not in body:
        return ()
    found = (next(group for group in one.groups() if group is not None) for one in _WRITTEN.finditer(body))
    names = (re.sub(r"\\([\"'\\])", r"\1", name) for name in found)
    return tuple(dict.fromkeys(name for name in names if name))[:MOST_FILES]


def read_included(
    root: Path, config: Config, post: PurePosixPath, names: Iterable[str]
) -> Mapping[str, IncludedFile]:
    """The files behind `names` as they are now, or what is wrong with them. root: of the site."""
    return {name: _read(root.resolve(), config, post, name) for name in names}


def _read(root: Path, config: Config, post: PurePosixPath, name: str) -> IncludedFile:
    paths = _candidates(name, post.parent)
    if not paths:
        return IncludedFile(problem=f"{name} leads out of the site", hint=_BESIDE)
    for path in paths:
        file = root / path
        if os.path.lexists(file):
            return _read_file(root, config, path, file, paths)
    return IncludedFile(looked_at=paths, problem=f"there is no file {name}", hint=_BESIDE)


def _candidates(name: str, folder: PurePosixPath) -> tuple[str, ...]:
    """Paths from the root of the site, those that lead out of it left out."""
    if "\0" in name or "\\" in name:
        return ()
    folders = [PurePosixPath()] if name.startswith("/") else [folder, PurePosixPath()]
    found = (join_path(start, name) for start in folders)
    return tuple(dict.fromkeys(path.as_posix() for path in found if path))


def _read_file(root: Path, config: Config, path: str, file: Path, paths: tuple[str, ...]) -> IncludedFile:
    def refuse(problem: str, hint: str = "") -> IncludedFile:
        return IncludedFile(path=path, looked_at=paths, problem=f"{path} {problem}", hint=hint)

    try:
        real = file.resolve(strict=True)
        inside = real.relative_to(root) if real.is_relative_to(root) else None
        if inside is None:
            return refuse("leads out of the site", "copy the file here")
        if not _may_show(PurePosixPath(path), config) or not _may_show(PurePosixPath(inside), config):
            return refuse("is no file that a post may show")
        data = _bytes_of(real)
        if data is None:
            return refuse("is no regular file")
        if len(data) > MOST_BYTES:
            return refuse(f"is larger than {MOST_BYTES // 1000} kB")
        text = decode(data, path)
    except SiteError as error:
        return refuse(f"is no text: {error.diagnostics[0].message}")
    except (OSError, RuntimeError, ValueError) as error:
        return refuse(f"cannot be read: {getattr(error, 'strerror', None) or type(error).__name__}")
    return IncludedFile(path, text, hashlib.sha256(data).hexdigest(), paths)


def _may_show(path: PurePosixPath, config: Config) -> bool:
    parts = path.parts
    if any(is_litter(part) for part in parts) or parts[0] in _OURS:
        return False
    if path.is_relative_to(config.output):
        return False
    # of strangers' posts only what the site publishes anyway
    return not config.markup.untrusted or (parts[0] in ("content", "static") and path.suffix not in MARKDOWN)


def _bytes_of(file: Path) -> bytes | None:
    """At most one byte more than may be; None for what is no regular file."""
    descriptor = os.open(file, _READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(MOST_BYTES + 1)
