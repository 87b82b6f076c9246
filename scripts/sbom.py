"""Describe the parts of a release: packages that it needs, and fonts and scripts that its wheel contains.

`python -m scripts.release` writes this software bill of materials (SBOM) next to the packages. Versions and
digests of packages are those of the lock file; licences come from the packages installed here. The same
wheel and lock always give the same bytes. Source: CycloneDX 1.6, JSON.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from email.message import Message
from email.parser import HeaderParser
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PLATFORMS: tuple[dict[str, str], ...] = (
    {"sys_platform": "linux", "platform_machine": "x86_64", "os_name": "posix"},
    {"sys_platform": "darwin", "platform_machine": "arm64", "os_name": "posix"},
    {"sys_platform": "win32", "platform_machine": "AMD64", "os_name": "nt"},
)
"""Systems whose packages are listed."""
ASSETS = frozenset((".woff", ".woff2", ".ttf", ".otf", ".js", ".mjs", ".wasm"))
"""Endings of files that browsers load as fonts or scripts."""
LICENCES = (
    ("blogsmith/themes/*/fonts/*", "OFL-1.1"),
    ("blogsmith/themes/*/static/fonts/*", "OFL-1.1"),
    ("blogsmith/preview/client/vendor/*", "0BSD"),
)
"""Pattern of a path → SPDX licence of files that are not ours. All others have the licence of the wheel."""
_PACKAGE = re.compile(
    r"^([\w.-]+)==([\w.+!]+)[^\n]*\n((?: +--hash=sha256:[0-9a-f]{64}[ \\]*\n)+)", re.MULTILINE
)

Locked = Mapping[str, Sequence[tuple[str, Sequence[str]]]]
"""Package → its versions, more than one if systems or Pythons differ, each with SHA-256 digests of files."""


def read_lock(text: str) -> Locked:
    """Parse a requirements file with hashes."""
    found: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for name, version, hashes in _PACKAGE.findall(text):
        digests = re.findall(r"sha256:([0-9a-f]{64})", hashes)
        found.setdefault(canonicalize_name(name), []).append((version, digests))
    return found


def make_sbom(files: Mapping[str, bytes], lock: Locked) -> dict[str, Any]:
    """Return the SBOM of a wheel.

    files: path → content. Raises KeyError if the lock lacks a package that the wheel needs.
    """
    (info,) = (_parse(data.decode()) for path, data in files.items() if path.endswith(".dist-info/METADATA"))
    own = _package(info["Name"], info["Version"], info) | {"type": "application"}
    packages: list[dict[str, Any]] = []
    edges: dict[str, list[str]] = {}
    waiting = [(own["bom-ref"], info, frozenset[str]())]
    while waiting:
        ref, described, extras = waiting.pop()
        edges.setdefault(ref, [])
        for name, wanted in _needs(described, extras):
            for version, digests in lock[name]:
                needed = _installed(name)
                package = _package(name, version, needed) | {"externalReferences": [_origin(name, digests)]}
                edges[ref].append(package["bom-ref"])
                if package["bom-ref"] not in edges:
                    packages.append(package)
                    waiting.append((package["bom-ref"], needed, wanted))
                    edges[package["bom-ref"]] = []
    assets = [_asset(path, data) for path, data in files.items() if PurePosixPath(path).suffix in ASSETS]
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [
            *sorted(packages, key=lambda one: one["bom-ref"]),
            *sorted(assets, key=lambda one: one["name"]),
        ],
        "dependencies": [{"ref": ref, "dependsOn": sorted({*refs})} for ref, refs in sorted(edges.items())],
    }
    # not random: the same release has the same number
    return bom | {"serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bom))}"}


def _parse(text: str) -> Message:
    return HeaderParser().parsestr(text)


def _needs(described: Message, extras: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each package that one needs on some system, with the extras that it needs of it."""
    for one in map(Requirement, described.get_all("Requires-Dist") or ()):
        environments = (platform | {"extra": extra} for platform in PLATFORMS for extra in ("", *extras))
        if one.marker is None or any(map(one.marker.evaluate, environments)):
            yield canonicalize_name(one.name), frozenset(one.extras)


def _installed(name: str) -> Message:
    """Return the metadata of a package; empty if this system does not need it."""
    try:
        return _parse(metadata.distribution(name).read_text("METADATA") or "")
    except metadata.PackageNotFoundError:
        return Message()


def _package(name: str, version: str, described: Message) -> dict[str, Any]:
    purl = f"pkg:pypi/{canonicalize_name(name)}@{version}"
    found = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    licences = _licences(described)
    return found | ({"licenses": licences} if licences else {})


def _licences(described: Message) -> list[dict[str, Any]]:
    if expression := described["License-Expression"]:
        return [{"expression": expression}]
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in described.get_all("Classifier") or ()
        if line.startswith("License :: OSI Approved :: ")
    ]
    name = (described["License"] or "").split("\n")[0] or ", ".join(classifiers)
    return [{"license": {"name": name}}] if name else []


def _origin(name: str, digests: Sequence[str]) -> dict[str, Any]:
    hashes = [{"alg": "SHA-256", "content": digest} for digest in sorted(digests)]
    return {"type": "distribution", "url": f"https://pypi.org/project/{name}/", "hashes": hashes}


def _asset(path: str, data: bytes) -> dict[str, Any]:
    licence = next((licence for pattern, licence in LICENCES if fnmatchcase(path, pattern)), "MIT")
    return {
        "type": "file",
        "name": path,
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(data).hexdigest()}],
        "licenses": [{"license": {"id": licence}}],
    }


def read_wheel(wheel: Path) -> Mapping[str, bytes]:
    """Return path → content of the files of a wheel."""
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def format_sbom(wheel: Path, lock: Path) -> str:
    """Return the SBOM of a wheel as JSON."""
    return json.dumps(make_sbom(read_wheel(wheel), read_lock(lock.read_text("utf-8"))), indent=2) + "\n"
