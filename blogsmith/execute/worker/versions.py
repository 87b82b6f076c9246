"""On what a session ran: asked of the system and of what is loaded, empty where nobody knows."""

from __future__ import annotations

import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_CPU_FILE = "/proc/cpuinfo"
_DRIVER_FILE = "/proc/driver/nvidia/version"


def machine(packages: Iterable[str]) -> dict[str, Any]:
    """The fields of `runs.Machine`. packages: import names whose versions count."""
    system = os.uname()
    return {
        "python": ".".join(map(str, sys.version_info[:3])),
        "platform": f"{system.sysname} {system.machine}",
        "cpu": _cpu(system.sysname),
        "threads": _number(os.environ.get("OMP_NUM_THREADS", "")),
        "packages": {name: version(name) for name in packages},
        **_gpu(),
    }


def device() -> str:
    """`cuda` once torch has touched it, else `cpu`."""
    torch = sys.modules.get("torch")
    try:
        return "cuda" if torch is not None and torch.cuda.is_initialized() else "cpu"
    except AttributeError:  # while torch is being imported, or it failed to
        return "cpu"


def counted_packages(imports: Iterable[str], is_of_site: Callable[[str], bool]) -> list[str]:
    """Those of the imported names that are loaded, not of Python itself and not of the site, sorted."""
    return sorted(
        name
        for name in imports
        if name in sys.modules and not _is_standard(name) and not is_of_site(_file_of(name))
    )


def version(name: str) -> str:
    """Of an imported package: what it says itself, else what was installed; empty if unknown."""
    # not getattr: some packages compute it, with a warning that it will go away
    said = vars(sys.modules[name]).get("__version__")
    if isinstance(said, str):
        return str(said)
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
    # Python 3.9 cannot ask which distribution brought a name
    ask: Callable[[], dict[str, list[str]]] = getattr(metadata, "packages_distributions", dict)
    distributions = ask().get(name)
    return metadata.version(distributions[0]) if distributions else ""


def _is_standard(name: str) -> bool:
    names = getattr(sys, "stdlib_module_names", None)
    if names is not None:
        return name in names
    file = _file_of(name)  # Python 3.9
    standard = os.path.dirname(os.__file__) + "/"  # noqa: PTH120 - pathlib costs 5 ms
    return not file or (file.startswith(standard) and "site-packages" not in file)


def _file_of(name: str) -> str:
    module = sys.modules[name]
    places = getattr(module, "__path__", None)
    file = getattr(module, "__file__", None) or next(iter(places or ()), "")
    return str(file)


def _cpu(system: str) -> str:
    if system == "Darwin":
        import subprocess

        asked = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, check=False)
        return asked.stdout.decode("utf-8", "replace").strip()
    match = re.search(r"^model name\s*:\s*(.+)$", _text_of(_CPU_FILE), re.MULTILINE)
    return " ".join(match[1].split()) if match else ""


def _gpu() -> dict[str, str]:
    if device() != "cuda":
        return {"gpu": "", "capability": "", "driver": "", "cuda": ""}
    torch: Any = sys.modules["torch"]
    driver = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", _text_of(_DRIVER_FILE))
    return {
        "gpu": torch.cuda.get_device_name(),
        "capability": ".".join(map(str, torch.cuda.get_device_capability())),
        "driver": driver[1] if driver else "",
        "cuda": torch.version.cuda or "",
    }


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib costs 5 ms
            return file.read()
    except OSError:
        return ""


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
