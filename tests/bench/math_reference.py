"""The output of KaTeX, Temml or MathJax for formulas, computed once and cached.

    python -m tests.bench.math_reference katex|temml|mathjax --modules FOLDER --cache FOLDER

Uses the scorer's protocol: JSON lines `{"id", "tex", "display", "macros"?}` in, `{"id", "mathml"}` or
`{"id", "error"}` out. Responses are cached by the version of the package, so only the first run takes
minutes. A formula that crashes the reference or exceeds its time limit gets an error.
"""

from __future__ import annotations

import argparse
import json
import selectors
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

SCRIPT = Path(__file__).with_name("reference.mjs")
PACKAGES = MappingProxyType({"katex": "katex", "temml": "temml", "mathjax": "mathjax-full"})
"""Reference → its npm package."""
PATIENCE_S = 15
MARK = b"answer "

Answer = dict[str, Any]


class Reference:
    """A converter in a node process, started at the first request. Not shared between threads."""

    def __init__(self, name: str, modules: Path) -> None:
        self._command = ["node", str(SCRIPT), name, str(modules)]
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: Answer) -> Answer:
        """Return its response, without `id`."""
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, bufsize=0)
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            return self._lost()
        return self._read(self._process)

    def _read(self, process: subprocess.Popen[bytes]) -> Answer:
        assert process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            held = b""
            while selector.select(PATIENCE_S):
                chunk = process.stdout.read(1 << 16)
                if not chunk:
                    break
                held += chunk
                answer: bytes = held.rpartition(b"\n" + MARK)[2]
                if answer != held and answer.endswith(b"\n"):
                    return dict(json.loads(answer))
        return self._lost()

    def _lost(self) -> Answer:
        self.close()
        return {"error": "the reference did not answer"}

    def close(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None


def version(name: str, modules: Path) -> str:
    """Return the version of the npm package; exit with a hint if it is not installed."""
    package = modules / "node_modules" / PACKAGES[name] / "package.json"
    if not package.is_file():
        raise SystemExit(
            f"{package} is missing; fetch it with: npm install --prefix {modules} {PACKAGES[name]}"
        )
    return str(json.loads(package.read_text("utf-8"))["version"])


def known(cache: Path) -> dict[str, Answer]:
    """Return the responses cached in a file; a truncated line is ignored and its formula requested again."""
    answers = {}
    for line in cache.read_text("utf-8").splitlines() if cache.is_file() else ():
        try:
            key, answer = json.loads(line)
        except ValueError:
            continue
        answers[key] = answer
    return answers


def main(arguments: Sequence[str]) -> int:
    """Answer the formulas on stdin."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.math_reference", description=__doc__)
    parser.add_argument("name", choices=PACKAGES)
    parser.add_argument("--modules", type=Path, required=True, help="the folder that holds node_modules")
    parser.add_argument("--cache", type=Path, required=True, help="the folder for remembered answers")
    options = parser.parse_args(arguments)
    options.cache.mkdir(parents=True, exist_ok=True)
    cache = options.cache / f"{options.name}-{version(options.name, options.modules)}.jsonl"
    answers = known(cache)
    reference = Reference(options.name, options.modules)
    with cache.open("a", encoding="utf-8") as file:
        for line in sys.stdin:
            request = json.loads(line)
            number = request.pop("id")
            key = json.dumps(request, sort_keys=True)
            if key not in answers:
                answers[key] = reference.ask(request)
                print(json.dumps([key, answers[key]]), file=file, flush=True)
            print(json.dumps({"id": number, **answers[key]}), flush=True)
    reference.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
