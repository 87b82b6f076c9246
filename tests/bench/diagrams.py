r"""`python -m tests.bench.diagrams FOLDER …`: how many real diagrams are drawn.

Reads every `tikzcd`, `\xymatrix` and `CD` in the .tex and .md files of the folders. Definitions are those of
all .tex and .sty files of the same folder. A command that none of them defines is replaced by its name,
because the question is which diagrams are drawn, not which macros were found. Prints shares and reasons.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import perf_counter

from blogsmith.model.tex_macros import Macro
from blogsmith.tex.convert import convert_formula
from blogsmith.tex.errors import PreambleError, TexError
from blogsmith.tex.preamble import read_preamble

GOALS = {"tikzcd": (0.85, 0.90)}
"""Kind → minimum shares of diagrams drawn without a report, and drawn at all."""
_ENVIRONMENT = re.compile(r"\\begin\{(tikzcd|CD)\}.*?\\end\{\1\}", re.DOTALL)
_XYMATRIX = re.compile(r"\\xymatrix\s*(?:@[^{}]*?)*\{")
_COMMENT = re.compile(r"(?<!\\)%.*")
_UNKNOWN = re.compile(r'unknown TeX (command|environment) "(.*)"')
_MAX_UNKNOWN = 30


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.diagrams")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--show", type=int, default=12, metavar="N", help="reasons to print of each kind")
    parser.add_argument("--list", action="store_true", help="print the diagrams that are not drawn")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    reasons: dict[str, Counter[str]] = {}
    started = perf_counter()
    for folder in options.folders:
        files = sorted(path for path in folder.rglob("*") if path.suffix in (".tex", ".md", ".sty"))
        macros = read_definitions(files)
        for path in files:
            for kind, tex in find_diagrams(path.read_text("utf-8", "replace")):
                result, messages = judge(tex, macros)
                counts[kind, result] += 1
                reasons.setdefault(f"{kind}, {result}", Counter()).update(messages)
                if options.list and result == "not drawn":
                    print(f"--- {path}\n{tex}\n{messages}")
    seconds = perf_counter() - started
    for kind in ("tikzcd", "xymatrix", "CD"):
        total = sum(count for (found, _), count in counts.items() if found == kind)
        if total:
            unchanged, ignored = counts[kind, "unchanged"], counts[kind, "styles ignored"]
            goal = "".join(
                f", goals {low:.0%} and {high:.0%}" for low, high in [GOALS.get(kind, (0, 0))] if low
            )
            shares = f"{unchanged / total:.1%} unchanged, {(unchanged + ignored) / total:.1%} drawn"
            print(f"{kind}: {total:,} diagrams, {shares}{goal}")
    for kind, found in sorted(reasons.items()):
        for reason, count in found.most_common(options.show):
            print(f"  {kind}: {count:4} {reason}")
    print(f"{seconds:.1f} s")


def find_diagrams(text: str) -> Iterator[tuple[str, str]]:
    """Yield kind and TeX of each diagram."""
    text = _COMMENT.sub("", text)
    for found in _ENVIRONMENT.finditer(text):
        yield found[1], found[0]
    for found in _XYMATRIX.finditer(text):
        depth = 1
        for end in range(found.end(), len(text)):
            depth += (text[end] == "{") - (text[end] == "}")
            if not depth:
                yield "xymatrix", text[found.start() : end + 1]
                break


def read_definitions(files: list[Path]) -> Mapping[str, Macro]:
    """Return the macros of all files of LaTeX."""
    macros: dict[str, Macro] = {}
    for path in files:
        if path.suffix != ".md":
            text = path.read_text("utf-8", "replace").partition("\\begin{document}")[0]
            try:
                macros |= read_preamble(text, path.name, macros).macros
            except PreambleError:
                continue
    return {name: macro for name, macro in macros.items() if not macro.problem}


def judge(tex: str, macros: Mapping[str, Macro]) -> tuple[str, list[str]]:
    """Return how a diagram is converted, and why not without a report."""
    known = dict(macros)
    for _ in range(_MAX_UNKNOWN):
        try:
            found = convert_formula(tex, display=True, macros=known)
        except TexError as error:
            unknown = _UNKNOWN.fullmatch(error.message)
            if unknown and unknown[1] == "command":
                known[unknown[2]] = Macro(0, None, tuple(unknown[2].lstrip("\\")))
                continue
            return "not drawn", [error.message]
        if found.warnings:
            return "styles ignored", [warning.message for warning in found.warnings]
        return "unchanged", []
    return "not drawn", ["too many unknown commands"]


if __name__ == "__main__":
    main()
