"""The engine of Jupyter kernels: what the builder starts in place of a worker, and what it tidies up.

Between builder and kernel stands a process of ours, the bridge (`bridge.py`), which speaks to the
builder as a worker does. So limits, interrupts, deaths and what is left of a session are handled once, in
`session/requests.py` and `session/reaper.py`: a local kernel is a child of the bridge and carries the mark of
its session.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

SERVER = ("JUPYTER_BASE_URL", "JUPYTER_TOKEN")
"""Variables of blogsmith's own environment that name a Jupyter server; both, or kernels run here."""
_FOR_KERNELS = ("JUPYTER_PATH", "JUPYTER_DATA_DIR")
"""Where kernels are registered."""
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
    """A Jupyter kernel behind a bridge."""

    kernel: str = ""
    """Name of the kernel; empty: `python3`."""
    ready_s: float = 60.0
    """How long the kernel may take to start: some compile first."""
    bridge_s: float = 30.0
    """How long the bridge takes beside that."""
    is_forkable: bool = False

    @property
    def start_s(self) -> float:
        """Of bridge and kernel."""
        return self.ready_s + self.bridge_s

    def program(self, python: str) -> str:
        """The kernel; which Python it has is its own affair."""
        return f"the kernel {self.kernel or 'python3'}"

    def refusal(self, sandbox: str) -> str:
        """A kernel is started by Jupyter, outside of what a sandbox holds."""
        if sandbox == "off":
            return ""
        return f"sandbox: {sandbox} cannot hold a Jupyter kernel; leave it out, or the engine"

    def command(self, python: str, descriptor: int) -> list[str]:
        """The bridge, in blogsmith's own Python."""
        # -P: the folder of the post is no place to import from
        return [sys.executable, "-P", "-c", _BOOT, str(descriptor), str(_PACKAGE)]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """That of the bridge; a local kernel inherits it, and never sees the token of a server."""
        return bridge_environment(env, os.environ)

    def start_fields(self, post: PurePosixPath) -> dict[str, object]:
        """Which kernel, in which folder of a server, and how long it may take."""
        return {"kernel": self.kernel, "path": str(post.parent), "ready_s": self.ready_s}

    def clean_up(self, temporary: Path) -> None:
        """End the kernel on a server, whatever became of the bridge."""
        end_on_server(temporary)


def bridge_environment(env: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """`env` of a session with what the bridge needs of `environ`, blogsmith's own."""
    names = [name for name in _FOR_KERNELS if name in environ]
    passed = {name: environ[name] for name in (*names, *(SERVER if uses_server(environ) else ()))}
    without = {name: value for name, value in env.items() if name not in SERVER}
    return {**without, **passed}


def uses_server(environ: Mapping[str, str]) -> bool:
    """Whether kernels run on a Jupyter server."""
    return all(environ.get(name) for name in SERVER)


def note_on_server(temporary: Path, kernel_id: str) -> None:
    """Let the builder know of a kernel on the server at once: the bridge may be killed before it is ready."""
    (temporary / _ID_FILE).write_text(kernel_id, "utf-8")


def end_on_server(temporary: Path, environ: Mapping[str, str] = os.environ) -> None:
    """End the kernel that `note_on_server` noted, whatever became of the bridge.

    No kernel, or a server that is gone, is no error.
    """
    import http.client
    import urllib.request

    kernel_id = _read_note(temporary)
    if not (kernel_id and uses_server(environ)):
        return
    url, token = (environ[name] for name in SERVER)
    with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
        request = urllib.request.Request(
            f"{url.rstrip('/')}/api/kernels/{kernel_id}",
            headers={"Authorization": f"token {token}"},
            method="DELETE",
        )
        with urllib.request.urlopen(request, timeout=_END_S):
            pass


def _read_note(temporary: Path) -> str:
    try:
        written = (temporary / _ID_FILE).read_text("utf-8", "replace")
    except OSError:
        return ""
    return written if _ID.fullmatch(written) else ""
