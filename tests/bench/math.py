"""`make bench-math`: quality and speed of formulas, as a table next to the goals.

    python -m tests.bench.math --score SCORE.PY --corpus FOLDER [--references FOLDER] [--show N]

SCORE.PY is the scorer, an external tool: it runs a converter over a corpus and compares its trees with those
of references. The corpus folder contains `real.jsonl` and `suite.jsonl`. The references come from npm and
run only once (`npm install --prefix .cache katex temml mathjax-full`). The scorer runs blogsmith as
`blogsmith math --jsonl`, and as `plugin` with `--converter latex2mathml`; it runs libraries alone. Speed is
measured over the real formulas in new processes, as the median of five, next to KaTeX's in the same run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache"
KEPT = CACHE / "math"
"""Folder for responses of references and scores of libraries, which do not change from run to run."""
REFERENCES = ("temml", "katex", "mathjax")
LIBRARIES = MappingProxyType({"math-core": "math_core", "latex2mathml": "latex2mathml"})
"""Package → module. Neither is a dependency: the column of a library that is not installed stays empty."""
OURS = MappingProxyType({"plugin": ("--converter", "latex2mathml"), "ours": ("--converter", "blogsmith")})
"""Column → options of `blogsmith math`."""
COLUMNS = (*LIBRARIES, *OURS)
RUNS = 5

Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Suite:
    """One input of the scorer, for each converter."""

    set: str
    """Name of the corpus file, without `.jsonl`."""
    sources: str = ""
    """Prefixes of the sources, separated by commas; empty for all."""
    compared: bool = False
    """Whether trees are compared with the references."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One line of the table."""

    name: str
    suite: Suite
    value: Callable[[Report], Any]
    target: float
    """Least value that meets the goal."""


REAL = Suite("real", compared=True)
TABLE = Suite("suite", "katex-table", compared=True)
SUITES = Suite("suite", "katex,temml")
PHYSICS = Suite("suite", "mathjax-physics")
CHEMISTRY = Suite("suite", "mathjax-mhchem")


def rejected(report: Report) -> float:
    """Return the percentage of invalid inputs that were rejected."""
    wrong: dict[str, int] = {
        how: n for how, n in report.get("not_expected_to_work", {}).items() if how.startswith("error -> ")
    }
    return 100 * wrong.get("error -> error", 0) / max(1, sum(wrong.values()))


GOALS = (
    Goal("real formulas: coverage", REAL, lambda report: report["coverage"], 99.9),
    Goal("real formulas: MathML Core only", REAL, lambda report: report["core_only"], 99.9),
    Goal("real formulas: tree as most references", REAL, lambda report: report["match vote"]["tree"], 99.8),
    Goal("KaTeX support table: MathML Core only", TABLE, lambda report: report["core_only"], 99),
    Goal("KaTeX support table: tree as any reference", TABLE, lambda report: report["match any"]["tree"], 97),
    Goal("KaTeX and Temml suites: coverage", SUITES, lambda report: report["coverage"], 97),
    Goal("MathJax physics: coverage", PHYSICS, lambda report: report["coverage"], 80),
    Goal("MathJax mhchem: coverage", CHEMISTRY, lambda report: report["coverage"], 95),
    # 168 of the 170 invalid inputs of the whole corpus.
    Goal("bad inputs rejected", SUITES, rejected, 100 * 168 / 170),
)
SPEEDS: Sequence[tuple[str, float]] = (("cold", 1.6), ("warm", 0.9))
"""Passes over the real formulas, and the least rate in each as a multiple of KaTeX's in the same run."""


def main(arguments: Sequence[str]) -> int:
    """Measure and print the table; return 1 if a goal is not met."""
    options = _options(arguments)
    engines = [name for name, module in LIBRARIES.items() if find_spec(module)]
    engines += OURS if "latex2mathml" in engines else ["ours"]
    suites = dict.fromkeys(goal.suite for goal in GOALS)
    reports = {suite: {engine: _report(options, engine, suite) for engine in engines} for suite in suites}
    print(f"{'goal':<44}{''.join(f'{name:>13}' for name in COLUMNS)}{'target':>10}  met")
    met = []
    for goal in GOALS:
        values = {engine: goal.value(report) for engine, report in reports[goal.suite].items()}
        met.append(values["ours"] >= goal.target)
        shown = {engine: f"{value:.2f}" for engine, value in values.items()}
        _print(goal.name, shown, f"≥ {goal.target:.1f}", met[-1])
    met += _print_speed(engines, options.corpus / "real.jsonl", options.references)
    return 0 if all(met) else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.math", description=__doc__)
    parser.add_argument("--score", type=Path, required=True, metavar="SCORE.PY", help="the scorer")
    parser.add_argument("--corpus", type=Path, required=True, metavar="FOLDER", help="the formulas")
    parser.add_argument(
        "--references", type=Path, default=CACHE, metavar="FOLDER", help="what holds node_modules; .cache"
    )
    parser.add_argument("--split", default="dev", choices=("dev", "heldout", "all"), help="by default dev")
    parser.add_argument(
        "--show", type=int, default=0, metavar="N", help="also list N kinds of our failures and mismatches"
    )
    return parser.parse_args(arguments)


def _report(options: argparse.Namespace, engine: str, suite: Suite) -> Report:
    """Return the scorer's report, from the cache if it is about a library with unchanged inputs."""
    command = _scorer(options, engine, suite)
    if engine in OURS:
        return _run_ours(command, OURS[engine])
    corpus = options.corpus / f"{suite.set}.jsonl"
    digest = hashlib.sha256(repr((command, version(engine))).encode())
    for file in (options.score, corpus, Path(__file__).with_name("math_engines.py")):
        digest.update(file.read_bytes())
    kept = KEPT / f"{engine}-{digest.hexdigest()[:16]}.json"
    if not kept.is_file():
        report = _run(command)
        KEPT.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(report), encoding="utf-8")
    return dict(json.loads(kept.read_text("utf-8")))


def _scorer(options: argparse.Namespace, engine: str, suite: Suite) -> list[str]:
    command = [sys.executable, str(options.score.resolve()), "--json"]
    command += ["--corpus", str(options.corpus.resolve()), "--set", suite.set, "--split", options.split]
    command += ["--cmd", _module("math_engines", engine)] if engine in LIBRARIES else []
    command += ["--src", suite.sources] if suite.sources else []
    folders = ["--modules", str(options.references.resolve()), "--cache", str(KEPT)]
    for name in REFERENCES if suite.compared else ():
        command += ["--ref", _module("math_reference", name, *folders)]
    listed = options.show and engine == "ours" and options.split == "dev"
    return [*command, "--show", str(options.show)] if listed else command


def _module(name: str, *arguments: str) -> str:
    """Return the shell command that runs a module of this folder."""
    return shlex.join([sys.executable, "-m", f"tests.bench.{name}", *arguments])


def _run_ours(command: Sequence[str], choice: Sequence[str]) -> Report:
    # In an empty folder, because macros of this repository's site are not part of the converter.
    with TemporaryDirectory() as folder:
        converter = [sys.executable, "-m", "blogsmith", "math", "--jsonl", *choice, "--site", folder]
        return _run([*command, "--cmd", shlex.join(converter)])


def _run(command: Sequence[str]) -> Report:
    finished = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    # The first line is the report; the lists of `--show` follow.
    report, _, lists = finished.stdout.partition("\n")
    if lists.strip():
        source = command[command.index("--src") + 1] if "--src" in command else "real"
        print(f"--- {source}{lists}")
    return dict(json.loads(report))


def _print_speed(engines: Sequence[str], formulas: Path, references: Path) -> list[bool]:
    script = [str(Path(__file__).with_name("reference.mjs")), "katex", str(references.resolve())]
    commands = {name: [sys.executable, "-m", "tests.bench.math_engines", name] for name in engines}
    rates = {
        name: _rates([*command, "--time", str(formulas.resolve())]) for name, command in commands.items()
    }
    katex = _rates(["node", *script, "--time", str(formulas.resolve())])
    met = []
    for index, (state, factor) in enumerate(SPEEDS):
        met.append(rates["ours"][index] >= factor * katex[index])
        shown = {engine: f"{rate[index]:,.0f}" for engine, rate in rates.items()}
        name = f"formulas a second, {state} (goal: {factor} × KaTeX)"
        _print(name, shown, f"≥ {factor * katex[index]:,.0f}", met[-1])
    return met


def _rates(command: Sequence[str]) -> list[float]:
    """Return the formulas a second of each pass, as the medians of `RUNS` processes."""
    runs = []
    for _ in range(RUNS):
        finished = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        runs.append(json.loads(finished.stdout))
    return [
        runs[0]["formulas"] / median(taken) for taken in zip(*(run["seconds"] for run in runs), strict=True)
    ]


def _print(name: str, values: Mapping[str, str], target: str, met: bool) -> None:
    columns = "".join(f"{values.get(engine, '–'):>13}" for engine in COLUMNS)
    print(f"{name:<44}{columns}{target:>10}  {'yes' if met else 'no'}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
