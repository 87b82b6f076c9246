"""Files created for the author. An existing file is never overwritten."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.patterns import lazy_pattern
from ..base.storage.folder import open_folder

_NOT_IN_YAML = lazy_pattern("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MAX_LIST_BYTES = 1 << 20
"""Size limit of a list such as `.gitignore`, in bytes. Lists written by people are smaller."""


def quote_yaml(text: str) -> str:
    """Return `text` as a double-quoted YAML scalar on one line. Replace characters that YAML does not allow
    by spaces."""
    # A JSON string is a valid YAML scalar if YAML allows all of its characters.
    return json.dumps(" ".join(_NOT_IN_YAML.sub(" ", text).split()), ensure_ascii=False)


def create_file(root: Path, path: PurePosixPath, content: str | bytes) -> None:
    """Write a new file below `root`, and create its parent folders. Raise SiteError if that fails."""
    data = content.encode() if isinstance(content, str) else content
    try:
        with (
            open_folder(root, make=True) as site,
            site.enter(path.parent, make=True) as folder,
            # Fails if the file exists, even if it was created a moment ago.
            folder.create(path.name) as stream,
        ):
            stream.write(data)
    except OSError as error:
        raise write_error(root / path, error) from error


def append_lines(root: Path, name: str, wanted: bytes) -> bool:
    """Append to a list in `root` each line of `wanted` that it does not contain. Return whether any line was
    appended.

    Slashes at the ends of lines are ignored, so that `public/` equals `/public/`. Raise SiteError if the list
    cannot be read or written.
    """
    try:
        with open_folder(root) as folder:
            present = folder.read(name, _MAX_LIST_BYTES)
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
    """Return the error to raise when a file of the author cannot be written."""
    hint = "check the permissions of the folder and the free space"
    return rejection_error("new-write", f'cannot write "{file}": {error.strerror or error}', hint)


def rejection_error(code: str, message: str, hint: str = "") -> SiteError:
    """Return the error to raise when a command rejects a request and writes nothing."""
    return SiteError(Diagnostic(code, message, hint=hint))
