"""The preview's own scripts and styles, by the name they are served under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "client"
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
"""By suffix. What has another one, such as a licence, is not served."""


@dataclass(frozen=True, slots=True)
class ClientFile:
    """One of them."""

    type: str
    """Media type."""
    body: bytes


def client_files(folder: Path = FOLDER) -> Mapping[str, ClientFile]:
    """Path below /_blogsmith/ → file, read once: a request looks up a name and never makes a path."""
    return {
        path.relative_to(folder).as_posix(): ClientFile(TYPES[path.suffix], path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.suffix in TYPES and path.is_file()
    }
