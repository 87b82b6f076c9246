"""Engine of Jupyter kernels: starts the bridge instead of a worker, and cleans up after it.

The bridge (`bridge.py`), a process of ours, connects builder and kernel with the worker's protocol. So
limits, interrupts, deaths and remaining processes are handled in one place, in `session/requests.py` and
`session/reaper.py`. A local kernel is a child of the bridge and has the environment marker of its session.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

SERVER_VARIABLES = ("JUPYTER_BASE_URL", "JUPYTER_TOKEN")
"""Environment variables of blogsmith itself that name a Jupyter server. Unless both are set, kernels run
here."""
_KERNEL_FOLDER_VARIABLES = ("JUPYTER_PATH", "JUPYTER_DATA_DIR")
"""Variables with the folders in which kernels are registered."""
_BOOT = """\
import sys
compiled, sys.dont_write_bytecode = sys.dont_write_bytecode, False
# the builder's own, whichever else is installed; what lies beside it is not to be found before anything else
sys.path.insert(0, sys.argv[2])
import blogsmith
del sys.path[0]
from blogsmith.execute.kernel.bridge import serve
sys.dont_write_bytecode = compiled
serve(int(sys.argv[1]))
"""
_PACKAGE = Path(__file__).parents[3]
_ID_FILE = "kernel.id"
_ID = re.compile(r"[\w-]{1,100}")
_END_S = 5.0


@dataclass(frozen=True, slots=True)
class KernelEngine:
    """Engine that runs cells in a Jupyter kernel, through a bridge process."""

    kernel: str = ""
    """Name of the kernel. Empty for `python3`."""
    ready_s: float = 60.0
    """Seconds that the kernel may take to start. Some kernels compile code first."""
    bridge_s: float = 30.0
    """Seconds that the bridge may take to start, in addition to `ready_s`."""
    is_forkable: bool = False

    @property
    def start_s(self) -> float:
        """Seconds that bridge and kernel may take to start."""
        return self.ready_s + self.bridge_s

    def program(self, python: str) -> str:
        """Return the name of the kernel for messages. python: ignored, because the kernel determines its
        Python."""
        return f'kernel "{self.kernel or "python3"}"'

    def refusal(self, sandbox: str) -> str:
        """Return why a session must not run in this sandbox, as a message. Empty if `sandbox` is `off`.
        Kernels would run outside any sandbox, because Jupyter starts them."""
        if sandbox == "off":
            return ""
        return f'"sandbox: {sandbox}" is not supported with a Jupyter kernel; remove it, or `engine: jupyter`'

    def command(self, python: str, descriptor: int) -> list[str]:
        """Return the command of the bridge, which runs in blogsmith's own Python."""
        # -P: do not import from the folder of the post
        return [sys.executable, "-P", "-c", _BOOT, str(descriptor), str(_PACKAGE)]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the bridge. A local kernel inherits it, and never sees the token of a
        server."""
        return bridge_environment(env, os.environ)

    def start_fields(self, post: PurePosixPath) -> dict[str, object]:
        """Return the fields that name the kernel, its folder on a server, and its timeout."""
        return {"kernel": self.kernel, "path": str(post.parent), "ready_s": self.ready_s}

    def clean_up(self, temporary: Path) -> None:
        """End the kernel on a server, even if the bridge has died."""
        end_server_kernel(temporary)


def bridge_environment(env: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return `env` of a session with the variables that the bridge needs. environ: blogsmith's own
    environment."""
    names = [name for name in _KERNEL_FOLDER_VARIABLES if name in environ]
    passed = {name: environ[name] for name in (*names, *(SERVER_VARIABLES if uses_server(environ) else ()))}
    without = {name: value for name, value in env.items() if name not in SERVER_VARIABLES}
    return {**without, **passed}


def uses_server(environ: Mapping[str, str]) -> bool:
    """Return whether kernels run on a Jupyter server."""
    return all(environ.get(name) for name in SERVER_VARIABLES)


def store_kernel_id(temporary: Path, kernel_id: str) -> None:
    """Store the id of a kernel on a server, so that the builder can end it even if the bridge is killed
    before it is ready."""
    (temporary / _ID_FILE).write_text(kernel_id, "utf-8")


def end_server_kernel(temporary: Path, environ: Mapping[str, str] = os.environ) -> None:
    """End the kernel whose id `store_kernel_id` stored, even if the bridge has died. It is not an error if
    the kernel or the server no longer exists."""
    import http.client
    import urllib.request

    kernel_id = _read_kernel_id(temporary)
    if not (kernel_id and uses_server(environ)):
        return
    url, token = (environ[name] for name in SERVER_VARIABLES)
    with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
        request = urllib.request.Request(
            f"{url.rstrip('/')}/api/kernels/{kernel_id}",
            headers={"Authorization": f"token {token}"},
            method="DELETE",
        )
        with urllib.request.urlopen(request, timeout=_END_S):
            pass


def _read_kernel_id(temporary: Path) -> str:
    try:
        written = (temporary / _ID_FILE).read_text("utf-8", "replace")
    except OSError:
        return ""
    return written if _ID.fullmatch(written) else ""
