"""Interface of engines: the worker, or any process that uses its protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

START = Path(__file__).parents[1] / "worker" / "start.py"
"""Program that starts the other programs in its folder. It is started by path, since blogsmith may not be
installed in the author's Python."""


class Engine(Protocol):
    """Starts and ends the processes of sessions of one kind. Engines are picklable records."""

    @property
    def start_s(self) -> float:
        """Maximum number of seconds until the process can run cells. After that time the start has failed."""

    @property
    def is_forkable(self) -> bool:
        """Whether the process may be forked from a server that has already imported shared modules."""

    def program(self, python: str) -> str:
        """Return the name of the program that runs the cells, for messages. python: path of the Python that
        the site names."""

    def refusal(self, sandbox: str) -> str:
        """Return why a session must not run in this sandbox, as a message. Empty if the session may run in
        it."""

    def command(self, python: str, descriptor: int) -> list[str]:
        """Return the command that starts the process. descriptor: the process's end of the socket."""

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return the environment variables of the process. env: variables of the session."""

    def start_fields(self, post: PurePosixPath) -> dict[str, object]:
        """Return additional fields of the request that starts a session."""

    def clean_up(self, temporary: Path) -> None:
        """End anything that the process may have left on other machines. temporary: folder of the session."""


@dataclass(frozen=True, slots=True)
class WorkerEngine:
    """Engine that runs `execute/worker/` in the author's Python."""

    start_s: float = 30.0
    is_forkable: bool = True

    def program(self, python: str) -> str:
        return python

    def refusal(self, sandbox: str) -> str:
        """Return an empty string, because the worker supports every sandbox."""
        return ""

    def command(self, python: str, descriptor: int) -> list[str]:
        """Return the command of the worker. It names a path, because blogsmith may not be installed in the
        author's Python."""
        return [python, str(START), "main", str(descriptor)]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        return dict(env)

    def start_fields(self, post: PurePosixPath) -> dict[str, object]:
        """Return an empty dict, because the worker needs no additional fields."""
        return {}

    def clean_up(self, temporary: Path) -> None:
        """Do nothing, because all processes of a worker are on this machine."""


WORKER = WorkerEngine()


@dataclass(frozen=True, slots=True)
class DrawingEngine(WorkerEngine):
    """Engine for drawings: runs `worker/drawings.py`, which calls LaTeX."""

    language: str = "tikz"
    preamble: tuple[str, ...] = ()
    """LaTeX files that are loaded before the drawing, relative to the site root."""
    is_forkable: bool = False

    def program(self, python: str) -> str:
        return "latex"

    def command(self, python: str, descriptor: int) -> list[str]:
        return [python, str(START), "drawings", str(descriptor)]

    def start_fields(self, post: PurePosixPath) -> dict[str, object]:
        return {"language": self.language, "preamble": self.preamble}


@dataclass(frozen=True, slots=True)
class ProgramEngine(WorkerEngine):
    """Engine for programs: `worker/programs.py` compiles and runs each cell."""

    language: str = "cpp"
    flags: str = ""
    """Further options of the compiler, as a shell reads them."""

    def start_fields(self, post: PurePosixPath) -> dict[str, object]:
        return {"language": self.language, "flags": self.flags}
