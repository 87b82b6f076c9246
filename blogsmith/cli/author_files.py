"""The author's first files: written once, and never over one that is there."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.patterns import lazy_pattern
from ..base.storage.folder import open_folder

_NOT_IN_YAML = lazy_pattern("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MOST = 1 << 20
"""Bytes of a list such as `.gitignore`; no list that people write is longer."""


def quote_yaml(text: str) -> str:
    """`text` as a double-quoted YAML scalar on one line; what YAML cannot hold becomes a blank."""
    # a JSON text is a YAML scalar as long as every character is one that YAML allows
    return json.dumps(" ".join(_NOT_IN_YAML.sub(" ", text).split()), ensure_ascii=False)


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
        raise write_error(root / path, error) from error


def append_lines(root: Path, name: str, wanted: bytes) -> bool:
    """Add those lines of `wanted` to a list in `root` that it lacks; whether it lacked any.

    Lines are compared without slashes at their ends: `public/` is as good as `/public/`. SiteError if the
    list cannot be read or written.
    """
    try:
        with open_folder(root) as folder:
            present = folder.read(name, _MOST)
            known = {line.strip().strip(b"/") for line in present.splitlines()}
            missing = [line for line in wanted.splitlines() if line.strip().strip(b"/") not in known]
            if missing:
                newline = b"\r\n" if b"\r\n" in present else b"\n"
                start = newline if present and not present.endswith(b"\n") else b""
                text = present + start + b"".join(line + newline for line in missing)
                folder.replace(name, text)
    except OSError as error:
        raise write_error(root / name, error) from error
    return bool(missing)


def write_error(file: Path, error: OSError) -> SiteError:
    """What to raise when a file of the author's cannot be written."""
    return refusal("new-write", f"cannot write {file}: {error.strerror or error}")


def refusal(code: str, message: str, hint: str = "") -> SiteError:
    """What to raise when nothing is to be written."""
    return SiteError(Diagnostic(code, message, hint=hint))
