"""Files for hosts in the author's repository. Planned files are compared with existing ones, and written
safely."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Literal

from msgspec import Struct

from ..api.publishing import Diagnostic, SiteError, open_folder

State = Literal["new", "same", "changed"]
_MOST_BYTES = 2_000_000


class AuthorFile(Struct, frozen=True):
    """A file with its planned and its existing content."""

    path: str
    """Path relative to the root that is passed to `compare_files`."""
    text: str
    """Content to write."""
    state: State
    before: str = ""
    """Existing content; empty if the file is new."""

    def difference(self) -> Iterator[str]:
        """Return the lines of a unified diff from the existing to the planned content."""
        lines = difflib.unified_diff(
            self.before.splitlines(),
            self.text.splitlines(),
            self.path,
            f"{self.path}, as it would be",
            lineterm="",
        )
        return iter(lines)


def compare_files(root: Path, wanted: Mapping[str, str]) -> tuple[AuthorFile, ...]:
    """Compare each planned file with the existing file at the same path below `root`. wanted: path → planned
    content. Links are not followed. Raises `SiteError` if a file cannot be read."""
    return tuple(_compare(root, path, text) for path, text in sorted(wanted.items()))


def write_files(root: Path, files: tuple[AuthorFile, ...]) -> None:
    """Write the files whose content differs from the planned one. Raises SiteError on failure."""
    for file in files:
        path = PurePosixPath(file.path)
        if file.state == "same":
            continue
        try:
            with open_folder(root) as top, top.enter(path.parent, make=True) as folder:
                if file.state == "new":
                    # `create` fails if somebody has made the file since the comparison
                    with folder.create(path.name) as stream:
                        stream.write(file.text.encode())
                else:
                    folder.replace(path.name, file.text.encode())
        except OSError as error:
            raise _file_error(f"cannot write the file: {error.strerror or error}", file.path) from error


def read_text(root: Path, path: str) -> str | None:
    """Return the content of a file below `root`, or None if it does not exist. Raises `SiteError` if it
    cannot be read."""
    place = PurePosixPath(path)
    try:
        with open_folder(root) as top, top.enter(place.parent) as folder:
            if folder.status(place.name) is None:
                return None
            return folder.read(place.name, _MOST_BYTES).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise _file_error("invalid encoding: expected UTF-8", path) from error
    except OSError as error:
        raise _file_error(f"cannot read the file: {error.strerror or error}", path) from error


def _compare(root: Path, path: str, text: str) -> AuthorFile:
    before = read_text(root, path)
    if before is None:
        return AuthorFile(path, text, "new")
    return AuthorFile(path, text, "same" if before == text else "changed", before)


def _file_error(problem: str, path: str) -> SiteError:
    hint = "replace it by a UTF-8 file that you can read and write"
    return SiteError(Diagnostic("publish-file", problem, path, hint=hint))
