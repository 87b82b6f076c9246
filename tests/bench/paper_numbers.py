r"""Numbers of imported papers beside those of LaTeX: `python -m tests.bench.imports --numbers PAPER.tex...`

LaTeX writes the number of each label to the `.aux` files of a paper; run it before, in the folder of the
paper. Here a copy of the paper gets one `\ref` for each label, is imported and built; the numbers on the page
must be the same. Braces, spaces, parentheses and a dot at the end are ignored.
"""

from __future__ import annotations

import datetime as dt
import html
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from blogsmith.api.books import BuildOptions
from blogsmith.base.diagnostics.model import SiteError
from blogsmith.build.site import build_site
from blogsmith.importers.importer import ImportOptions, import_site

_LABEL = re.compile(r"\\newlabel\{([^{}@]+)\}\{\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_INCLUDED = re.compile(r"\\@input\{([^{}]+)\}")
_PAGES = ("LastPage", "TotPages", "LastBibItem", "jmlrstart", "jmlrend")
_ONLY_REFERENCED = re.compile(r"^[^%\n]*(?:showonlyrefs|\{autonum\})", re.MULTILINE)
_NUMBER = re.compile(r"QQ(\d+) (.*?) QQ", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_IGNORED = re.compile(r"\\(?:mbox|textup|textrm|text|ensuremath|protect|relax)\b|[{}()$\s]|\.$")
_ROW = "{:40} {:>6} {:>6} {:>9} {:>7}"


def labels_of(aux: Path) -> dict[str, str]:
    """Return the labels in an `.aux` file, and in those that it includes, with their numbers."""
    text = aux.read_text("utf-8", "replace")
    found = {one[1]: one[2] for one in _LABEL.finditer(text) if one[2]}
    for included in _INCLUDED.findall(text):
        if (aux.parent / included).is_file():
            found |= labels_of(aux.parent / included)
    return {name: number for name, number in found.items() if name not in _PAGES}


def numbers_of(paper: Path, labels: Sequence[str]) -> dict[str, str]:
    """Import a paper and build it. Return the numbers that references to the labels show."""
    now = dt.datetime.now(dt.UTC)
    with tempfile.TemporaryDirectory() as name:
        source, site = Path(name, "paper"), Path(name, "site")
        shutil.copytree(paper.parent, source)
        text = paper.read_text("utf-8", "replace")
        listed = "\n\n".join(f"QQ{number} \\ref{{{label}}} QQ" for number, label in enumerate(labels))
        body, end, rest = text.rpartition("\\end{document}") if "\\end{document}" in text else (text, "", "")
        (source / paper.name).write_text(f"{body}\n\n{listed}\n\n{end}{rest}", "utf-8")
        import_site(source / paper.name, site, ImportOptions(now=now, system="latex"), lambda *_: None)
        build_site(site, BuildOptions(now=now, drafts=True, keep_going=True))
        pages = "".join(path.read_text("utf-8") for path in (site / "public").rglob("index.html"))
    shown = {int(found[1]): html.unescape(_TAG.sub("", found[2])) for found in _NUMBER.finditer(pages)}
    return {label: shown.get(number, "") for number, label in enumerate(labels)}


def print_numbers(papers: Sequence[Path]) -> bool:
    """Print a line for each paper, and each number that differs. Return whether all numbers are equal."""
    print(_ROW.format("paper", "labels", "equal", "different", "missing"))
    differences = list[str]()
    for paper in papers:
        expected = labels_of(paper.with_suffix(".aux"))
        text = "\n".join(path.read_text("utf-8", "replace") for path in paper.parent.rglob("*.tex"))
        if _ONLY_REFERENCED.search(text):
            expected = {key: value for key, value in expected.items() if f"ref{{{key}}}" in text}
        try:
            found = numbers_of(paper, list(expected))
        except SiteError as error:
            differences.append(f"{paper}: {error.diagnostics[0].message}")
            continue
        different = {key: value for key, value in found.items() if _plain(value) != _plain(expected[key])}
        missing = sum(not value or value == f"\\ref{{{key}}}" for key, value in different.items())
        equal = len(expected) - len(different)
        counts = (len(expected), equal, len(different) - missing, missing)
        print(_ROW.format(str(paper)[-40:], *counts), flush=True)
        differences += [f"{paper.name} {key}: {expected[key]} in LaTeX, {found[key]}" for key in different]
    print(*differences, sep="\n")
    return not differences


def _plain(number: str) -> str:
    return _IGNORED.sub("", number)
