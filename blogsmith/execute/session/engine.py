"""What the cells of a session run in: the worker, or any process that speaks to the builder as it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

START = Path(__file__).parents[1] / "worker" / "start.py"
"""What boots programs of the worker; by path, since the author's Python may have no blogsmith."""


class Engine(Protocol):
    """How a session's process is started and ended. Records, and may be pickled."""

    @property
    def start_s(self) -> float:
        """How long it takes at most until cells can run; longer, and it never will."""

    @property
    def is_forkable(self) -> bool:
        """Whether its process may be forked from a server that has imported what sessions share."""

    def program(self, python: str) -> str:
        """What runs the cells, for messages. python: path of the Python that the site names."""

    def refusal(self, sandbox: str) -> str:
        """Why a session must not run in it, in words; empty if it may."""

    def command(self, python: str, descriptor: int) -> list[str]:
        """How its process is started. descriptor: that process's end of the socket."""

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Variables of its process. env: those of the session."""

    def start_fields(self, post: PurePosixPath) -> dict[str, object]:
        """What the request that starts a session says to it alone."""

    def clean_up(self, temporary: Path) -> None:
        """End what its process may have left elsewhere. temporary: folder of the session."""


@dataclass(frozen=True, slots=True)
class WorkerEngine:
    """The program in `execute/worker/`, in the author's Python."""

    start_s: float = 30.0
    is_forkable: bool = True

    def program(self, python: str) -> str:
        """The Python itself."""
        return python

    def refusal(self, sandbox: str) -> str:
        """It can do all that a site may ask for."""
        return ""

    def command(self, python: str, descriptor: int) -> list[str]:
        """Started by path: the author's Python may have no blogsmith."""
        return [python, str(START), "main", str(descriptor)]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """That of the session."""
        return dict(env)

    def start_fields(self, post: PurePosixPath) -> dict[str, object]:
        """None."""
        return {}

    def clean_up(self, temporary: Path) -> None:
        """Nothing: all it starts are processes of this machine."""


WORKER = WorkerEngine()
