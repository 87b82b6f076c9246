"""Makes a wheel of the installed blogsmith from its installed files.

If a site contains this wheel, every host uses exactly this version, without a package index. For an editable
install, the wheel is made from its checkout and includes unreleased changes. Sources: the binary distribution
format and the specification of recorded installs (packaging.python.org).
"""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from ..api.publishing import DISTRIBUTION, Diagnostic, SiteError, __version__, lazy_pattern

PACKAGE = "blogsmith"
WHEEL_NAME = lazy_pattern(r"blogsmith_site-[A-Za-z0-9.!+_]+-py3-none-any\.whl")
_ADJACENT_FOLDERS = ("themes", "plugins")
"""Folders that are next to the package in a checkout, and inside it in a wheel."""
_KEPT_METADATA = ("METADATA", "entry_points.txt")
_SKIPPED_ENDINGS = (".pyc", ".pyo", ".orig", ".rej", ".swp", "~")
_DATE = (2020, 2, 2, 0, 0, 0)
"""Date of every entry, the same as in wheels from hatchling. It is fixed, so that equal files give an equal
wheel."""
_MOST_BYTES = 100_000_000
_WHEEL = "Wheel-Version: 1.0\nGenerator: blogsmith\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel_name() -> str:
    """Return the file name of the wheel of this version of blogsmith."""
    return f"{DISTRIBUTION.replace('-', '_')}-{__version__}-py3-none-any.whl"


def installed_files() -> Mapping[str, bytes]:
    """Return path in the wheel → content, for every file of the installed blogsmith.

    Raises `SiteError` if blogsmith is not installed as a package, or if its metadata has another version.
    """
    try:
        found = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        raise _error(
            "blogsmith is not installed as a package", "run `pip install .` in its checkout"
        ) from None
    if found.version != __version__:
        message = (
            f'version "{found.version}" in the installed metadata differs from the program, "{__version__}"'
        )
        raise _error(message, "run `pip install --editable .` in its checkout again")
    folder = Path(__file__).resolve().parent.parent
    files = {path: file.read_bytes() for path, file in _package_files(folder)}
    info = f"{DISTRIBUTION.replace('-', '_')}-{__version__}.dist-info"
    files |= {f"{info}/{path}": data for path, data in _metadata_files(found)}
    files[f"{info}/WHEEL"] = _WHEEL.encode()
    return dict(sorted(files.items()))


def pack_wheel(files: Mapping[str, bytes]) -> bytes:
    """Return the bytes of a wheel with these files and a RECORD of their digests."""
    info = next(path.partition("/")[0] for path in files if path.endswith(".dist-info/WHEEL"))
    lines = [f"{_record_field(path)},{_record_digest(data)},{len(data)}\n" for path, data in files.items()]
    record = "".join(lines) + f"{info}/RECORD,,\n"
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in (*files.items(), (f"{info}/RECORD", record.encode())):
            entry = zipfile.ZipInfo(path, _DATE)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return target.getvalue()


def read_wheel(data: bytes) -> Mapping[str, bytes] | None:
    """Return path → content of each file in a wheel, except RECORD. Return None if the wheel cannot be
    read."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if sum(entry.file_size for entry in entries) > _MOST_BYTES:
                return None
            files = {entry.filename: archive.read(entry) for entry in entries if not entry.is_dir()}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return None
    return {path: content for path, content in files.items() if not path.endswith(".dist-info/RECORD")}


def is_same_program(one: Mapping[str, bytes], other: Mapping[str, bytes]) -> bool:
    """Return whether two wheels contain the same package files. Their metadata may differ, because it depends
    on the build tool."""
    return _program(one) == _program(other)


def digest(data: bytes) -> str:
    """Return the SHA-256 of a wheel in hex, which pip compares with the lock."""
    return hashlib.sha256(data).hexdigest()


def _program(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if path.startswith(f"{PACKAGE}/")}


def _package_files(package: Path) -> Iterator[tuple[str, Path]]:
    for folder, prefix in (
        (package, PACKAGE),
        *((package.parent / n, f"{PACKAGE}/{n}") for n in _ADJACENT_FOLDERS),
    ):
        # an installed package contains its themes and plugins already
        if folder is not package and (package / folder.name).is_dir():
            continue
        for file in sorted(folder.rglob("*")):
            path = file.relative_to(folder)
            if file.is_file() and not ("__pycache__" in path.parts or path.name.endswith(_SKIPPED_ENDINGS)):
                yield f"{prefix}/{path.as_posix()}", file


def _metadata_files(found: metadata.Distribution) -> Iterator[tuple[str, bytes]]:
    for file in found.files or ():
        folder, _, path = file.as_posix().partition("/")
        if folder.endswith(".dist-info") and (path in _KEPT_METADATA or path.startswith("licenses/")):
            yield path, Path(str(file.locate())).read_bytes()


def _record_digest(data: bytes) -> str:
    """Return the digest of a file as RECORD contains it, in URL-safe base64 without padding."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _record_field(path: str) -> str:
    return '"' + path.replace('"', '""') + '"' if "," in path or '"' in path else path


def _error(message: str, hint: str) -> SiteError:
    return SiteError(Diagnostic("publish-install", message, hint=hint))
