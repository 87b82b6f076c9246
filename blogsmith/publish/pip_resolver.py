"""Resolver for the packages that a host installs. It uses pip, and finds files for the platform of the host.

pip runs in a separate process with `--dry-run --report`: it installs nothing, and its own settings (index,
proxy, certificates) apply. Source: the installation report of pip.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from ..api.publishing import DISTRIBUTION, Diagnostic, SiteError, open_folder, temporary_folder
from .dependency_lock import LockedPackage

HOST_PLATFORM = "linux-x86_64"
"""The platform of the machines that build sites at GitHub, GitLab, Cloudflare and Netlify."""
_NEWEST_GLIBC = 35
"""Newest glibc that wheels may require, in minor versions. The oldest build image of these hosts is Ubuntu
22.04 with glibc 2.35, which the Mermaid renderer needs; most wheels need 2.28 or less."""
_OLDEST_PIP = (22, 3)
"""Oldest version of pip that can write an installation report."""
_TIMEOUT_S = 600.0
_REMOVED_VARIABLES = (
    "PIP_REQUIRE_HASHES",
    "PIP_TARGET",
    "PIP_USER",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PYTHONPATH",
    "PYTHONHOME",
)
"""Variables that would change what pip resolves or where it installs."""
_NO_NETWORK = (
    *("ConnectionError", "NewConnectionError", "ConnectTimeoutError", "ReadTimeoutError", "ProxyError"),
    *("Temporary failure in name resolution", "Name or service not known", "Network is unreachable"),
)


def resolve_packages(
    requirements: Sequence[str], python: str, *, is_for_host: bool
) -> tuple[LockedPackage, ...]:
    """Return every package that the requirements need, including blogsmith itself. Each has one digest.

    The versions are those installed here, so that a host makes the same pages that the author has seen.
    python: version on the host. is_for_host: whether to resolve for the platform of hosts instead of that of
    this machine. Raises SiteError if the index cannot be reached, or if no set of versions is compatible.
    """
    with temporary_folder() as folder, _pip() as pip:
        constraints, report = folder / "constraints.txt", folder / "report.json"
        with open_folder(folder) as opened:
            opened.replace(constraints.name, "".join(_installed_versions()).encode())
        command = [
            *(*pip, "install", "--quiet", "--disable-pip-version-check", "--no-input", "--dry-run"),
            *("--ignore-installed", "--retries", "2", "--only-binary", ":all:", "--report", str(report)),
            *("--constraint", str(constraints), *(_host_options(folder, python) if is_for_host else ())),
            *requirements,
        ]
        done = run_pip(command, folder)
        if done.returncode:
            raise install_error(done.stderr, "cannot resolve the dependencies of blogsmith")
        loaded: dict[str, Any] = json.loads(report.read_text("utf-8"))
    return tuple(_package(entry) for entry in loaded["install"])


def download_wheel(requirement: str, folder: Path) -> bytes:
    """Download the wheel of one requirement from the package index. Raises SiteError on failure."""
    words = (
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--retries",
        "2",
        "--no-deps",
    )
    with _pip() as pip:
        done = run_pip([*pip, *words, "--only-binary", ":all:", "--dest", str(folder), requirement], folder)
    if done.returncode:
        raise install_error(done.stderr, f'cannot download "{requirement}"')
    (file,) = folder.glob("*.whl")
    return file.read_bytes()


def own_platform() -> str:
    """Return the name of this machine's platform, such as linux-x86_64 or darwin-arm64."""
    is_other_libc = sys.platform == "linux" and platform.libc_ver()[0] != "glibc"
    return f"{sys.platform}{'-musl' if is_other_libc else ''}-{platform.machine().lower()}"


def installed_version(name: str) -> str:
    """Return the version of an installed package; empty if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def run_pip(command: Sequence[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run pip or Python without environment variables that change its behaviour. more: variables to add."""
    kept = {name: value for name, value in os.environ.items() if name not in _REMOVED_VARIABLES}
    return subprocess.run(
        command,
        cwd=folder,
        env={**kept, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_TIMEOUT_S,
        check=False,
    )


def install_error(stderr: str, problem: str) -> SiteError:
    """Return an error with the reason that pip printed."""
    lines = [line.removeprefix("ERROR: ") for line in stderr.split("\n") if line.startswith("ERROR: ")]
    # pip prints a summary of the conflict last; the line before names the package
    reason = next((line for line in lines if "satisfies the requirement" in line), lines[0] if lines else "")
    if any(word in stderr for word in _NO_NETWORK):
        return _error(
            "package index not reached: pip cannot connect to it",
            "connect to the network and run the command again",
        )
    if f"requirement {DISTRIBUTION}" in reason:
        hint = "omit `--from-index` to install from a wheel in the site"
        return _error(f"package not found: no index has {DISTRIBUTION} in this version", hint)
    conflict = stderr.partition("The conflict is caused by:\n")[2].partition("\n\n")[0]
    if conflict:
        reason = "; ".join(line.strip() for line in conflict.split("\n") if line.strip())
    hint = "install compatible versions in this environment, or install blogsmith in a separate one"
    return _error(f"{problem}: {reason or stderr.strip()[-300:] or 'pip gives no reason'}", hint)


@contextmanager
def _pip() -> Iterator[tuple[str, ...]]:
    """Yield a command that starts pip. If pip is missing here or too old, the command starts pip of a new
    environment."""
    version = installed_version("pip") if importlib.util.find_spec("pip") else ""
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) >= _OLDEST_PIP:
        yield (sys.executable, "-m", "pip")
        return
    with temporary_folder() as folder:
        yield (str(new_environment(folder / "pip")), "-m", "pip")


def new_environment(folder: Path) -> Path:
    """Create a virtual environment with pip and return the path of its Python. Raise SiteError on failure."""
    done = run_pip([sys.executable, "-m", "venv", str(folder)], folder.parent)
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().split("\n")[0]
        hint = "install the module venv, on Debian and Ubuntu with `sudo apt-get install python3-venv`"
        raise _error(f"cannot create a virtual environment: {reason}", hint)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _host_options(folder: Path, python: str) -> Iterator[str]:
    """Yield pip options to resolve for hosts: CPython on Linux with glibc and x86_64.

    pip still evaluates markers such as `sys_platform` for this machine. None of our dependencies is for
    Linux only, so a lock written elsewhere contains at most too many packages.
    """
    # pip requires a target folder together with a platform, even for a dry run
    yield from ("--target", str(folder / "none"), "--implementation", "cp", "--python-version", python)
    for minor in range(_NEWEST_GLIBC, 4, -1):
        yield from ("--platform", f"manylinux_2_{minor}_x86_64")


def _installed_versions() -> Iterator[str]:
    """Yield lines that pin each package to the version installed here."""
    for found in metadata.distributions():
        name = found.metadata["Name"]
        # no index has a local version such as 1.0+local
        if (
            name
            and name != DISTRIBUTION
            and "+" not in found.version
            and not found.read_text("direct_url.json")
        ):
            yield f"{name}=={found.version}\n"


def _package(entry: dict[str, Any]) -> LockedPackage:
    name = re.sub(r"[-_.]+", "-", entry["metadata"]["name"]).lower()
    digest = entry["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256", "")
    return LockedPackage(name, entry["metadata"]["version"], (digest,) if digest else ())


def _error(message: str, hint: str) -> SiteError:
    return SiteError(Diagnostic("publish-install", message, hint=hint))
