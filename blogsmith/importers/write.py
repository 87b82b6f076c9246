"""The new site on disk: a folder of its own, in which only what an import wrote is ever replaced.

What was written stands in `import-report.json` with its digest. So a second import gives the same bytes, and
refuses as soon as an author has changed one of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from io import BufferedReader, BytesIO
from pathlib import Path, PurePosixPath

from ..diagnostics.format import printable
from ..diagnostics.model import Diagnostic, SiteError
from ..patterns import lazy_pattern
from ..project.bundled import bundled_folder
from ..project.report import Progress
from ..storage.folder import Folder, open_folder
from .model import ImportedPage, SiteImport
from .source_files import open_file
from .yaml_text import yaml_text

RECORD = "import-report.json"
REPORT = "import-report.md"
_UNUSUAL = lazy_pattern(r"[^\n -~]+")
_NAMED = 10
"""How many files a refusal names."""


def site_files(site: SiteImport) -> dict[str, bytes | Path]:
    """Path in the new site → its bytes, or the file they are in; sorted."""
    ignored = bundled_folder("starter").joinpath("gitignore").read_bytes()
    files: dict[str, bytes | Path] = {
        ".gitignore": ignored,
        "blogsmith.yaml": yaml_text(site.settings).encode(),
    }
    files |= {str(file.path): file.file for file in site.files}
    files |= {str(made.path): made.data for made in site.made}
    files |= {str(page.path): page_text(page).encode("utf-8", "replace") for page in site.pages}
    return dict(sorted(files.items()))


def page_text(page: ImportedPage) -> str:
    """A page as it is written."""
    head = f"---\n{yaml_text(page.front)}---\n\n" if page.front else ""
    return f"{head}{page.text.strip()}\n"


def write_site_files(files: Mapping[str, bytes | Path], into: Path, progress: Progress) -> Mapping[str, str]:
    """Write a site into a folder, made if missing; path → digest of what was written.

    Files of an earlier import that are not written again are removed. Raises SiteError before anything is
    written if one would replace a file that is not as an import left it, or if the folder cannot be written.
    """
    known = _read_record(into)
    _refuse_own_files(files, into, known)
    digests: dict[str, str] = {}
    try:
        with open_folder(into, make=True) as top:
            for done, (path, content) in enumerate(files.items()):
                progress("write", done, len(files))
                digests[path] = _digest(content)
                if not _holds(into / path, digests[path]):
                    _replace(top, path, content)
            for path in sorted(known.keys() - digests.keys()):
                _remove(top, path, into, known[path])
            # what is written is known before anything can go wrong with the rest
            top.replace(RECORD, record_text({"files": digests}))
    except OSError as error:
        raise SiteError(Diagnostic("new-write", f"cannot write {into}: {error.strerror or error}")) from error
    return digests


def write_reports(reports: Mapping[str, bytes], into: Path) -> None:
    """Write the reports, which tell what was written."""
    try:
        with open_folder(into) as top:
            for name, data in reports.items():
                top.replace(name, data)
    except OSError as error:
        raise SiteError(Diagnostic("new-write", f"cannot write {into}: {error.strerror or error}")) from error


def record_text(data: Mapping[str, object]) -> bytes:
    """The JSON of a record."""
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    # what a terminal would obey, or nobody sees, stands as an escape
    return _UNUSUAL.sub(lambda found: _escaped(found[0]), text).encode("utf-8")


def _escaped(text: str) -> str:
    return "".join(char if printable(char) == char else json.dumps(char)[1:-1] for char in text)


def _read_record(into: Path) -> dict[str, str]:
    """What an earlier import wrote: path → digest; empty if there was none."""
    try:
        files = json.loads((into / RECORD).read_bytes())["files"]
        return {str(path): str(digest) for path, digest in files.items() if _is_inside(str(path))}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return bool(parts) and ".." not in parts and not path.startswith("/")


def _refuse_own_files(files: Mapping[str, bytes | Path], into: Path, known: Mapping[str, str]) -> None:
    changed = []
    for path, content in files.items():
        target = into / path
        if not target.exists() and not target.is_symlink():
            continue
        if not (_holds(target, _digest(content)) or (path in known and _holds(target, known[path]))):
            changed.append(path)
    if changed:
        more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
        message = f"{into} holds files that no import wrote, or that were changed since"
        hint = f"choose another folder, or remove: {', '.join(changed[:_NAMED])}{more}"
        raise SiteError(Diagnostic("file-exists", message, hint=hint))


def _holds(file: Path, digest: str) -> bool:
    """Whether a regular file has this digest."""
    try:
        return not file.is_symlink() and file.is_file() and _digest(file) == digest
    except OSError:
        return False


def _replace(top: Folder, path: str, content: bytes | Path) -> None:
    place = PurePosixPath(path)
    # a copy of what lies elsewhere: half of it after a power cut is noticed by its digest
    with top.enter(place.parent, make=True) as folder, _stream(content) as stream:
        folder.replace(place.name, stream, is_durable=False)


def _remove(top: Folder, path: str, into: Path, digest: str) -> None:
    """Remove a file of an earlier import, unless it was changed."""
    place = PurePosixPath(path)
    if _holds(into / path, digest):
        with top.enter(place.parent) as folder:
            folder.remove(place.name)


def _digest(content: bytes | Path) -> str:
    with _stream(content) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _stream(content: bytes | Path) -> BufferedReader | BytesIO:
    return BytesIO(content) if isinstance(content, bytes) else open_file(content)
