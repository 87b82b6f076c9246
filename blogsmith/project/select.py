"""Selection of the posts that a command names, by file, by folder, or by name below `content/`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from ..base.diagnostics.model import Diagnostic, SiteError, did_you_mean, list_choices

_FEW = 3


def select_posts(root: Path, posts: Sequence[str], known: Sequence[PurePosixPath]) -> tuple[str, ...] | None:
    """Return the source paths of `posts`, which are files, folders or names below `content/`. Return None if
    `posts` is empty, which means all posts. Raises SiteError for an unknown name."""
    if not posts:
        return None
    chosen: list[str] = []
    for name in posts:
        found = [str(path) for path in known if _matches(root, name, path)]
        bare = [str(path) for path in known if name in (path.name, _short(path).name)]
        if not found and len(bare) != 1:
            hint = _ambiguity_hint(bare) or _nearest_hint(name, known)
            hint = hint or "write a source file or a folder, such as `content/posts/attention.md`"
            raise SiteError(Diagnostic("post-unknown", f'post not found: "{name}"', hint=hint))
        chosen += found or bare
    return tuple(dict.fromkeys(chosen))


def _matches(root: Path, name: str, path: PurePosixPath) -> bool:
    asked = Path(name).resolve()
    if asked.is_relative_to(root):
        asked_path = PurePosixPath(asked.relative_to(root).as_posix())
        if path == asked_path or path.is_relative_to(asked_path):
            return True
    below = path.relative_to("content") if path.parts[0] == "content" else path
    return PurePosixPath(name) in (path, below, below.with_suffix(""), _short(path))


def _short(path: PurePosixPath) -> PurePosixPath:
    """Return `posts/a` for `content/posts/a.md` and `content/posts/a/index.md`."""
    below = path.relative_to("content") if path.parts[0] == "content" else path
    return below.parent if below.stem == "index" else below.with_suffix("")


def _nearest_hint(name: str, known: Sequence[PurePosixPath]) -> str:
    """Return a hint with the most similar short name. If `name` contains a folder, the short name does,
    too."""
    meant = _short(PurePosixPath(name))
    is_bare = str(meant) == meant.name
    shorts = [_short(path) for path in known]
    return did_you_mean(str(meant), [short.name if is_bare else str(short) for short in shorts])


def _ambiguity_hint(paths: Sequence[str]) -> str:
    """Return a hint that lists the first of several pages that have the same name."""
    return list_choices(paths[:_FEW], has_more=len(paths) > _FEW)
