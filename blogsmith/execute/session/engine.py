"""Interface of engines: the worker, or any process that uses its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

START = Path(__file__).parents[1] / "worker" / "start.py"
"""Program that starts worker programs. It is started by path, since the author's Python may have no
blogsmith."""


class Engine(Protocol):
    """Way to start and end the process of a session. Engines are records that can be pickled."""

    @property
    def start_s(self) -> float:
        """Longest time until cells can run, in seconds. After that, the start has failed."""

    @property
    def is_forkable(self) -> bool:
        """Whether the process may be forked from a server that has imported shared modules."""

    def program(self, python: str) -> str:
        """Return the name of the program that runs the cells, for messages.

        python: path of the Python that the site names.
        """

    def refusal(self, sandbox: str) -> str:
        """Return why a session must not run in this sandbox, as a message. Empty if it may."""

    def command(self, python: str, descriptor: int) -> list[str]:
        """Return the command that starts the process.

        descriptor: the process's end of the socket.
        """

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables of the process.

        env: variables of the session.
        """

    def start_fields(self, post: PurePosixPath) -> dict[str, object]:
        """Return additional fields of the request that starts a session."""

    def clean_up(self, temporary: Path) -> None:
        """End anything that the process may have left on other machines.

        temporary: folder of the session.
        """


@dataclass(frozen=True, slots=True)
class WorkerEngine:
    """Engine that runs `execute/worker/` in the author's Python."""

    start_s: float = 30.0
    is_forkable: bool = True

    def program(self, python: str) -> str:
        """Return the path of the Python."""
        return python

    def refusal(self, sandbox: str) -> str:
        """Return an empty string: the worker supports every sandbox."""
        return ""

    def command(self, python: str, descriptor: int) -> list[str]:
        """Return the command of the worker, by path: the author's Python may have no blogsmith."""
        return [python, str(START), "main", str(descriptor)]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the session."""
        return dict(env)

    def start_fields(self, post: PurePosixPath) -> dict[str, object]:
        """Return no fields."""
        return {}

    def clean_up(self, temporary: Path) -> None:
        """Do nothing: all processes of a worker are on this machine."""


WORKER = WorkerEngine()
