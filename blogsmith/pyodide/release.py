"""The Pyodide release that this version of blogsmith supports, and the digests of its files."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

VERSION = "314.0.7"
PYTHON = "3.14"

CDN_URL = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
"""URL of the folder where browsers find the release, including packages."""
CORE_URL = f"https://cdn.jsdelivr.net/npm/pyodide@{VERSION}/"
"""URL of the core on npm, which consists of the files whose digests are in `CORE`."""
SOURCE_URL = f"https://github.com/pyodide/pyodide/tree/{VERSION}"

LOCK = "pyodide-lock.json"
"""Name of the file that lists the packages, each with the SHA-256 of its file."""
LOCK_SHA256 = "5dc2fc119108bc148c7457dc86e7675b5c87e1cafd420b9c34c1eaef7b36c010"
"""Digest of the release's own lock. A site may use another one, with packages of its own."""

CORE_TRANSFER_BYTES = 6_300_000
"""Total size of the five files of core and lock after gzip -9, in bytes. A browser loads them before any
package."""


class CoreFile(NamedTuple):
    """Size and digest of a file of the core."""

    size: int
    """Size in bytes."""
    sha256: str


CORE: Mapping[str, CoreFile] = MappingProxyType(
    {
        "pyodide.mjs": CoreFile(17_931, "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109"),
        "pyodide.asm.mjs": CoreFile(
            1_250_344, "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635"
        ),
        "pyodide.asm.wasm": CoreFile(
            9_598_218, "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6"
        ),
        "python_stdlib.zip": CoreFile(
            2_545_637, "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a"
        ),
    }
)
"""Files that Python needs to start, as in npm's package `pyodide`."""
