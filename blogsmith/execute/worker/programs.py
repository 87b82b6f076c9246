"""Cells in C, C++ and CUDA: each is a program of its own, which a compiler of this machine translates and the
worker runs.

The compiler reports the headers that it has read. The program itself cannot be observed. Therefore the names
of the functions that its object file calls are used to decide whether another run may give another result.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from . import versions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_COMPILERS = {
    "c": ("cc", "cell.c", "-std=c17 -O2"),
    "cpp": ("c++", "cell.cpp", "-std=c++20 -O2"),
    "cuda": ("nvcc", "cell.cu", "-std=c++17 -O2 -arch=native"),
}
"""Language → command, name of the source file, and first options, which the author's options follow."""
_ERROR = re.compile(r"^cell\.\w+(?::(\d+):\d+:|\((\d+)\):) *(?:(?:fatal|catastrophic) )?error:? *(.*)$", re.M)
_UNDEFINED = re.compile(r"undefined (?:reference to|symbols?[^\n]*\n)\s*[`'\"]?_?([^'\"\n]+)", re.IGNORECASE)
_PREFIX = re.compile(r"\S+(?: fatal)? *: (?:fatal )?error: |nvcc fatal *: ")
_VERSION = re.compile(r"\b(?:version|release) (\d[\w.]*)|^\S+ \([^\n]*\) (\d[\w.]*)")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)+)"')
_DEPENDENCY = re.compile(r"(?:\\.|[^\s\\])+")
_ASKED = (
    ("clock", r"time|gettimeofday|ftime|timespec_get|ZN\w*system_clock3nowEv"),
    ("stopwatch", r"clock|clock_gettime|times|omp_get_wtime|cudaEventElapsedTime|ZN\w*steady_clock3nowEv"),
    ("network", r"socket|connect|getaddrinfo|gethostbyname"),
    ("code getrandom", r"getrandom|getentropy|arc4random\w*"),
    ("code std::random_device", r"ZNSt(?:3__1)?13random_device\w*"),
    ("code getenv", r"(?:secure_)?getenv"),
    ("code system", r"fork|vfork|system|popen|posix_spawnp?|execv[pe]*|execl[pe]?"),
    ("code fopen", r"f?re?open(?:64)?|f?open(?:at|dir)?(?:64)?|mmap(?:64)?"),
    ("code std::fstream", r"ZN\w*?basic_(?:filebuf|[io]?fstream)\w*"),
    ("code std::filesystem", r"ZNSt10filesystem\w*"),
)
"""Pairs: reason why a program is not repeatable; pattern of the functions, as named in object files, that
indicate this reason."""


class ProgramError(Exception):
    """A program that was not compiled, or that failed. name: `compiler` or `program`. line: 1-based line of
    the code; 0 if unknown. text: everything that the compiler wrote."""

    def __init__(self, name: str, message: str, line: int = 0, text: str = "") -> None:
        super().__init__(message)
        self.name = name
        self.line = line
        self.text = text or f"{name}: {message}\n"

    def failure(self) -> dict[str, Any]:
        """Return the `failure` field of a message."""
        cell = 1 if self.line else 0
        return {"name": self.name, "message": str(self), "text": self.text, "cell": cell, "line": self.line}


class Programs:
    """Compiles and runs the cells of one session. start: request that starts the session, with `language` and
    `flags`."""

    def __init__(self, start: dict[str, Any]) -> None:
        self._folder = str(start["folder"])
        self._language = str(start["language"])
        self._compiler, self._source, options = _COMPILERS[self._language]
        self._options = shlex.split(options)
        self._flags = shlex.split(str(start["flags"]))
        self.versions: dict[str, str] = {}
        """Name of the compiler → its version."""

    @property
    def device(self) -> str:
        return "cuda" if self._language == "cuda" else "cpu"

    def run(self, code: str) -> Iterator[tuple[str, str]]:
        """Compile and run a program, whose output goes to descriptors 1 and 2. Raises `ProgramError`.

        Yield facts about the program as pairs (kind, text). `header`: absolute path of a file that it
        includes. `reason`: why another run may give other results. `name`: a string in its code, which may
        name a file.
        """
        with tempfile.TemporaryDirectory(prefix="program-") as folder:
            self._read_version(folder)
            with open(os.path.join(folder, self._source), "w", encoding="utf-8") as file:  # noqa: PTH118, PTH123
                file.write(code)
            options = [*self._options, *self._flags]
            self._call(folder, *options, "-I", self._folder, "-MD", "-MF", "cell.d", "-c", self._source)
            for path in _headers(os.path.join(folder, "cell.d"), folder):  # noqa: PTH118
                yield "header", path
            for reason in _reasons(folder):
                yield "reason", reason
            for name in _STRING.findall(code):
                yield "name", name
            self._call(folder, "-o", "program", "cell.o", *options)
            _run(os.path.join(folder, "program"), self._folder)  # noqa: PTH118

    def machine(self) -> dict[str, str]:
        """Return the fields of `results.Machine` about the GPU; empty for programs that use none."""
        if self._language != "cuda":
            return {}
        asked = versions.ask_driver("name,compute_cap,driver_version").partition("\n")[0]
        gpu, capability, driver = (*asked.split(", "), "", "", "")[:3]
        return {"gpu": gpu, "capability": capability, "driver": driver, "cuda": self.versions.get("nvcc", "")}

    def _read_version(self, folder: str) -> None:
        if self.versions:
            return
        text = self._call(folder, "--version")
        name = "nvcc" if "nvcc" in text else "clang" if "clang" in text else "GCC"
        found = _VERSION.search(text)
        self.versions = {name: (found[1] or found[2]) if found else ""}

    def _call(self, folder: str, *arguments: str) -> str:
        """Call the compiler and return its stdout. Its warnings go to stderr. Raises `ProgramError`."""
        done = _call_tool(folder, self._compiler, *arguments)
        text = (done.stderr if self._compiler != "nvcc" else done.stderr + done.stdout).replace(
            folder + "/", ""
        )
        if done.returncode:
            raise _compile_error(text, done.returncode)
        if arguments[0] != "--version":
            sys.stderr.write(text)
        return done.stdout


def _compile_error(text: str, returned: int) -> ProgramError:
    if found := _ERROR.search(text):
        return ProgramError("compiler", found[3], int(found[1] or found[2]), text)
    if missing := _UNDEFINED.search(text):
        why = ": a cell is a whole program" if missing[1] == "main" else ""
        return ProgramError("compiler", f'function "{missing[1]}" not found{why}', 0, text)
    said = text.strip().splitlines() or [f"exit code {returned}"]
    return ProgramError("compiler", _PREFIX.sub("", said[-1], count=1), 0, text)


def _headers(file: str, folder: str) -> list[str]:
    """Return the absolute paths of the headers that the compiler lists in a file for `make`."""
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:  # noqa: PTH123
            names = opened.read().partition(":")[2].replace("\\\n", " ")
    except OSError:
        return []
    paths = (os.path.join(folder, name.replace("\\", "")) for name in _DEPENDENCY.findall(names))  # noqa: PTH118
    return [path for path in paths if not path.startswith(folder)]


def _call_tool(folder: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a tool in the folder of a program, with messages in English, and return its output. Raises
    `OSError`."""
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "LC_ALL": "C", "TMPDIR": folder},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def _reasons(folder: str) -> list[str]:
    """Return the reasons in `_ASKED` that apply to the object file. Return `code` if the names in the object
    file cannot be read."""
    try:
        done = _call_tool(folder, "nm", "-u", "cell.o")
    except OSError:
        return ["code program"]
    if done.returncode:
        return ["code program"]
    # Names on macOS have one more underscore, and glibc has variants of standard functions.
    names = {
        re.sub(r"^(?:isoc\d+_)", "", line.split()[-1].lstrip("_"))
        for line in done.stdout.splitlines()
        if line
    }
    return [reason for reason, pattern in _ASKED if any(re.fullmatch(pattern, name) for name in names)]


def _run(program: str, folder: str) -> None:
    process = subprocess.Popen([program], cwd=folder, stdin=subprocess.DEVNULL)
    try:
        code = process.wait()
    finally:
        process.kill()
        process.wait()
    if code < 0:
        raise ProgramError("program", f"killed by signal {-code} ({_signal_name(-code)})")
    if code:
        raise ProgramError("program", f"exit code {code}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
