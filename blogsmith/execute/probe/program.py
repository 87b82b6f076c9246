"""Program that reports packages and the CUDA device of a Python. It runs in the author's Python (3.9 or
later).

Its argument is a JSON list of import names. The last line of stdout is JSON:
- `packages`: name → version of the packages found; empty if the version is unknown
- `cuda`: the device, if that name was requested
- `path`: the folders of `sys.path` with their stamps from before the search
No package is imported except torch, and torch only for `cuda`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def main() -> None:
    """Print the JSON described in the module's docstring, for the import names in the first argument."""
    # Modules in the folder of this file belong to blogsmith, not to the author.
    here = Path(__file__).resolve().parent
    sys.path[:] = [path for path in sys.path if Path(path or ".").resolve() != here]
    names = json.loads(sys.argv[1])
    path = {os.path.abspath(folder): folder_stamp(folder) for folder in sys.path}  # noqa: PTH100
    packages = {name: version(name) for name in names if name != "cuda" and is_found(name)}
    answer: dict[str, Any] = {"path": path, "packages": packages}
    if "cuda" in names:
        answer["cuda"] = torch_device() if is_found("torch") else nvidia_smi_device()
    print("\n" + json.dumps(answer))


def folder_stamp(folder: str) -> str:
    """Return a stamp that changes when a package in the folder is added, removed or updated. Empty if the
    folder does not exist."""
    stamp: list[str] = []
    try:
        stamp.append(str(os.stat(folder).st_mtime_ns))  # noqa: PTH116
        with os.scandir(folder or ".") as entries:
            # These files name further folders, and editing one does not change the folder's stamp.
            files = sorted((entry.name, entry) for entry in entries if entry.name.endswith(".pth"))
        stamp += [f"{name} {entry.stat().st_mtime_ns}" for name, entry in files]
    except NotADirectoryError:  # a zip file
        pass
    except (OSError, ValueError):  # ValueError: an invalid file name
        return ""
    return "; ".join(stamp)


def is_found(name: str) -> bool:
    """Return whether `import name` would find a module. Its parents are not imported either."""
    if name in sys.modules:
        return True
    top, *deeper = name.split(".")
    try:
        spec = find_spec(top)
        for part in deeper:
            # not find_spec(), which imports the parents
            inside = spec.submodule_search_locations if spec else None
            spec = PathFinder.find_spec(f"{top}.{part}", inside) if inside else None
    except (ImportError, ValueError):
        return False
    return spec is not None


def version(name: str) -> str:
    """Return the version of the distribution that contains a module."""
    from importlib import metadata  # slow, and the builder imports this file too

    top = name.partition(".")[0]
    # The distribution named blogsmith in registries is another program.
    first = "blogsmith-site" if top == "blogsmith" else top
    for distribution in (first, *distributions(top)):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return ""


def distributions(top: str) -> list[str]:
    """Return the names of the distributions that contain a module, such as Pillow for `PIL`."""
    from importlib import metadata

    find = getattr(metadata, "packages_distributions", None)  # new in Python 3.10
    return list(find().get(top, ())) if find else []


def torch_device() -> dict[str, Any]:
    """Return the CUDA device that torch can use. A computation tests the device, since it may be too old for
    this torch or in use by others."""
    try:
        torch: Any = import_module("torch")
        if not torch.cuda.is_available():
            if torch.version.cuda is None:
                # This will not change, unlike a device that is not visible now.
                return {"problem": "torch is built without CUDA", "lasting": "yes"}
            return {"problem": "torch sees no CUDA device"}
        torch.ones(1, device="cuda").sum().item()
        return {"capability": ".".join(map(str, torch.cuda.get_device_capability()))}
    except Exception as error:
        said = f"{type(error).__name__}: {error}".split("\n", 1)[0]
        return {"problem": f"torch cannot use CUDA: {said}"}


def nvidia_smi_device() -> dict[str, Any]:
    """Return the CUDA device that `nvidia-smi` reports, for code that uses the device without torch."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1"):
        return {"problem": "CUDA_VISIBLE_DEVICES hides all CUDA devices"}
    command = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return {"problem": "cannot search for a CUDA device: neither torch nor nvidia-smi is available"}
    lines = done.stdout.split()
    if done.returncode or not lines:
        return {"problem": "nvidia-smi sees no CUDA device"}
    return {"capability": lines[0]}


if __name__ == "__main__":
    main()
