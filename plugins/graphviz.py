"""Graphs in the DOT language, drawn at build time by the program `dot`: ```` ```dot ````.

Requires Graphviz on the machine that builds. Graphviz executes nothing, but it is a C program that was not
written for untrusted input. On a site with `markup.untrusted`, the source is shown instead.
"""

import functools
import re
import shutil
import subprocess

from blogsmith.hooks import Hooks

TIMEOUT_S = 20
MISTAKE = re.compile(r"Error: <stdin>: syntax error in line (\d+)(.*)")
DEFAULTS = (
    "-Gbgcolor=transparent",
    "-Gfontname=Helvetica",
    "-Nfontname=Helvetica",
    "-Efontname=Helvetica",
    "-Efontsize=12",
    "-Ecolor=#686056",
    "-Ncolor=#8d8477",
)


def register(hooks: Hooks) -> None:
    draw = functools.lru_cache(maxsize=1024)(_draw)

    @hooks.diagram("graphviz", trusted=True, formulas=True)
    @hooks.diagram("dot", trusted=True, formulas=True)
    def dot(source: str) -> str:
        return draw(source)


def _draw(source: str) -> str:
    program = shutil.which("dot")
    if program is None:
        raise FileNotFoundError("install Graphviz, which includes the program `dot`")
    try:
        done = subprocess.run(
            [program, "-Tsvg", *DEFAULTS],
            input=source.encode(),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f'"dot" does not finish within {TIMEOUT_S} seconds') from None
    if done.returncode != 0:
        raise _error(done.stderr.decode(errors="replace"))
    return done.stdout.decode()


def _error(said: str) -> Exception:
    found = MISTAKE.search(said)
    if found:
        return SyntaxError(f"syntax error{found[2]}", ("", int(found[1]), None, None))
    lines = [line.removeprefix("Error: ").strip() for line in said.splitlines() if line.strip()]
    return ValueError(lines[0] if lines else '"dot" fails without an error message')
