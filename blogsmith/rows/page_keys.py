"""What the text of pages depends on beside their sources and what they ask of the site."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..config.schema import Config
from ..model.scopes import FieldScope, scoped_fields
from ..project.context import SiteContext
from ..project.program import tools_digest
from .page_rows import digest_of

_OURS = frozenset({".blogsmith", ".git", "_freeze", "node_modules", "__pycache__"})


def text_settings(config: Config) -> Mapping[str, object]:
    """The settings that reach the text of a page."""
    return {name: getattr(config, name) for name in scoped_fields(Config, FieldScope.PAGE)}


def text_theme(context: SiteContext) -> object:
    """What the text of every page depends on in a theme: which shortcodes there are, and words.

    What the shortcodes of one page load is traced while it is rendered, see `trace.py`.
    """
    return context.theme.shortcodes, context.theme.files.languages


def context_key(context: SiteContext, program: str) -> str:
    """Names all of this together; NotStorable if something in it has no form of its own.

    program: names the one that builds.
    """
    plugins, code = context.plugins, context.plugins.code
    own: object = None
    if code is not None:
        # what code of the site reads beside a page is not known: it may be any file, other posts apart
        own = (code.digests, list(_stamps(context.root, context.config.output)))
    return digest_of(
        program,
        text_settings(context.config),
        text_theme(context),
        own,
        tools_digest() if plugins.diagrams else "",
    ).hex()


def _stamps(root: Path, output: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _OURS)
        if folder == str(root) and output in folders:
            folders.remove(output)
        for name in sorted(names):
            file = Path(folder, name)
            if name.endswith(".md"):
                continue
            try:
                status = file.stat()
            except OSError:
                continue
            yield f"{file.relative_to(root).as_posix()} {status.st_size} {status.st_mtime_ns} {status.st_ino}"
