"""Reports the machine and the packages of a session, from the system and from loaded modules. Unknown values
are empty."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_CPU_FILE = "/proc/cpuinfo"
_DRIVER_FILE = "/proc/driver/nvidia/version"


def machine(packages: Iterable[str]) -> dict[str, Any]:
    """Return the fields of `results.Machine`, which describe this machine. packages: import names whose
    versions are recorded."""
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
    """Return `cuda` if torch has used it, otherwise `cpu`."""
    torch = sys.modules.get("torch")
    try:
        return "cuda" if torch is not None and torch.cuda.is_initialized() else "cpu"
    except AttributeError:  # torch is being imported, or its import failed
        return "cpu"


def used_packages(imports: Iterable[str], is_of_site: Callable[[str], bool]) -> list[str]:
    """Return imported names that are loaded, excluding Python's own modules and those of the site, sorted."""
    return sorted(
        name
        for name in imports
        if name in sys.modules and not _is_standard(name) and not is_of_site(_module_file(name))
    )


def version(name: str) -> str:
    """Return the version of an imported package: its own attribute, or the version of its distribution. Empty
    if unknown."""
    # not getattr: some packages compute it, with a deprecation warning
    said = vars(sys.modules[name]).get("__version__")
    if isinstance(said, str):
        return str(said)
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
    # Python 3.9 cannot look up the distribution of a name.
    ask: Callable[[], dict[str, list[str]]] = getattr(metadata, "packages_distributions", dict)
    distributions = ask().get(name)
    return metadata.version(distributions[0]) if distributions else ""


def _is_standard(name: str) -> bool:
    names = getattr(sys, "stdlib_module_names", None)
    if names is not None:
        return name in names
    file = _module_file(name)  # Python 3.9
    standard = os.path.dirname(os.__file__) + "/"  # noqa: PTH120 - pathlib costs 5 ms
    return not file or (file.startswith(standard) and "site-packages" not in file)


def _module_file(name: str) -> str:
    module = sys.modules[name]
    places = getattr(module, "__path__", None)
    file = getattr(module, "__file__", None) or next(iter(places or ()), "")
    return str(file)


def _cpu(system: str) -> str:
    if system == "Darwin":
        import subprocess

        asked = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, check=False)
        return asked.stdout.decode("utf-8", "replace").strip()
    match = re.search(r"^model name\s*:\s*(.+)$", _read_text(_CPU_FILE), re.MULTILINE)
    return " ".join(match[1].split()) if match else ""


def _gpu() -> dict[str, str]:
    """Return the fields about the GPUs that were used. Empty if torch does not report them, as after some
    errors."""
    if device() != "cuda":
        return {"gpu": "", "capability": "", "driver": "", "cuda": ""}
    torch: Any = sys.modules["torch"]
    numbers = _used_devices(torch.cuda)
    return {
        "gpu": _join_answers(torch.cuda.get_device_name, numbers, counted=True),
        "capability": _join_answers(
            lambda n: ".".join(map(str, torch.cuda.get_device_capability(n))), numbers
        ),
        "driver": _driver(),
        "cuda": torch.version.cuda or "",
    }


def _used_devices(cuda: Any) -> list[int]:
    """Return the numbers of the devices where torch has allocated memory. If there are none, return only the
    current device."""
    try:
        count = cuda.device_count()
        used = [n for n in range(count) if cuda.memory_stats(n).get("allocation.all.allocated")]
        return used or [cuda.current_device()]
    except Exception:
        return []


def _join_answers(ask: Callable[[int], str], numbers: list[int], *, counted: bool = False) -> str:
    """Call `ask` for each device number and join the different results into one string, such as `2 × NVIDIA
    H200`. counted: whether to put the number of equal results before each. Empty if `ask` fails."""
    try:
        said = [" ".join(ask(number).split()) for number in numbers]
    except Exception:
        return ""
    counts = {text: said.count(text) for text in said if text}
    return ", ".join(f"{n} × {text}" if counted and n > 1 else text for text, n in counts.items())


def _driver() -> str:
    """Return the driver version, read from a file of the kernel or, if there is none as on Windows, from
    `nvidia-smi`."""
    text = _read_text(_DRIVER_FILE) or ask_driver("driver_version")
    found = re.search(r"\b(\d+\.\d+(?:\.\d+)?)\b", text)
    return found[1] if found else ""


def ask_driver(fields: str) -> str:
    """Return what `nvidia-smi` prints for these fields: a line for each GPU with values separated by commas.
    Empty if it does not answer."""
    import subprocess

    command = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"]
    try:
        asked = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return asked.stdout.decode("utf-8", "replace")


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib costs 5 ms
            return file.read()
    except OSError:
        return ""


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
