"""Files for hosts on the author's disk: compared first, and written where nothing of the author's is lost."""

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
    """A file as it is to be, beside what is there."""

    path: str
    """Relative to the folder that it is written below."""
    text: str
    """As it is to be."""
    state: State
    before: str = ""
    """What is there."""

    def difference(self) -> Iterator[str]:
        """From what is there to what is to be, as lines of a unified diff."""
        lines = difflib.unified_diff(
            self.before.splitlines(),
            self.text.splitlines(),
            self.path,
            f"{self.path}, as it would be",
            lineterm="",
        )
        return iter(lines)


def compare_files(root: Path, wanted: Mapping[str, str]) -> tuple[AuthorFile, ...]:
    """Each file beside what is below `root`, through no link; SiteError for what cannot be read."""
    return tuple(_compare(root, path, text) for path, text in sorted(wanted.items()))


def write_files(root: Path, files: tuple[AuthorFile, ...]) -> None:
    """Write those that are not as they are to be; SiteError if that cannot be done."""
    for file in files:
        path = PurePosixPath(file.path)
        if file.state == "same":
            continue
        try:
            with open_folder(root) as top, top.enter(path.parent, make=True) as folder:
                if file.state == "new":
                    # not even a file that was made this very moment is replaced
                    with folder.create(path.name) as stream:
                        stream.write(file.text.encode())
                else:
                    folder.replace(path.name, file.text.encode())
        except OSError as error:
            raise _refusal(f"cannot be written: {error.strerror or error}", file.path) from error


def read_text(root: Path, path: str) -> str | None:
    """The text of a file below `root`; None if there is none. SiteError as in `compare_files`."""
    place = PurePosixPath(path)
    try:
        with open_folder(root) as top, top.enter(place.parent) as folder:
            if folder.status(place.name) is None:
                return None
            return folder.read(place.name, _MOST_BYTES).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise _refusal("is no text in UTF-8", path) from error
    except OSError as error:
        raise _refusal(f"cannot be read: {error.strerror or error}", path) from error


def _compare(root: Path, path: str, text: str) -> AuthorFile:
    before = read_text(root, path)
    if before is None:
        return AuthorFile(path, text, "new")
    return AuthorFile(path, text, "same" if before == text else "changed", before)


def _refusal(problem: str, path: str) -> SiteError:
    return SiteError(Diagnostic("publish-file", problem, path))
