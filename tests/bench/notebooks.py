"""How well notebooks of other people build as pages, with a line for each notebook.

    python -m tests.bench.notebooks [--count N] FOLDER...

N notebooks of each folder, evenly spaced by name, become posts: the first cell gets front matter, and no cell
runs. Errors that only name missing files and labels become warnings, because the site has only the images of
the repository. The columns: Markdown cells; their words; words of recorded text; words that the page lacks;
recorded images; images that the page lacks; messages. Below are the first message of each code, and missing
words. The exit code is 1 if a page is missing or lacks anything.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from blogsmith.base.diagnostics.codes import LOWERABLE
from blogsmith.build.site import build_site
from blogsmith.model.results import Blob, Display, Failure, Stream
from blogsmith.paper.elements import HtmlElement, read_elements
from blogsmith.project.report import BuildOptions, BuildReport
from blogsmith.read.notebooks.notebook import Notebook, read_notebook
from blogsmith.read.notebooks.outputs import read_outputs, strip_colors

SETTINGS = json.dumps({"title": "Notebooks", "diagnostics": dict.fromkeys(sorted(LOWERABLE), "warning")})
HEAD = {"cell_type": "raw", "metadata": {}, "source": "---\ntitle: Notebook\ndate: 2026-01-01\n---"}
IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".svg")
SHOWN = 8
"""Missing words that are printed for each notebook."""
_WORD = re.compile(r"[A-Za-z]{3,}")
_NOT_TEXT = re.compile(
    r"```[^\n]*|!\[[^]]*\]\([^)\n]*\)|<!--[\s\S]*?-->|<(style|script)[\s\S]*?</\1>|</?[A-Za-z][^>]*>|\$\$[\s\S]*?\$\$|\$(?:[^$\n]|\n(?!\n))+\$"
    r"|\\begin\{[\s\S]*?\\end\{\w+\*?\}|\]\([^)\n]*\)|\]\[[^]\n]*\]|^\s*\[[^]\n]+\]:.*|&\w+;|https?://\S+",
    re.MULTILINE,
)
"""Parts of Markdown whose words a page does not show: tags, scripts, formulas, URLs, alternative text."""


def source_words(notebook: Notebook) -> tuple[Counter[str], Counter[str], int]:
    """Return words of Markdown cells, words of recorded text, and the number of recorded images."""
    written, recorded, images = Counter[str](), Counter[str](), 0
    for cell in notebook.cells:
        if cell.kind == "markdown":
            written.update(_WORD.findall(_NOT_TEXT.sub(" ", cell.source)))
        for output in read_outputs(cell):
            if isinstance(output, Stream | Failure):
                recorded.update(_WORD.findall(strip_colors(output.text)))
            elif isinstance(output, Display):
                images += any(isinstance(part, Blob) for part in output.data.values())
                recorded.update(_shown_words(output))
    return written, recorded, images


def _shown_words(output: Display) -> list[str]:
    if any(isinstance(part, Blob) for part in output.data.values()) or "text/latex" in output.data:
        return []
    html, plain = output.data.get("text/html"), output.data.get("text/plain")
    if isinstance(html, str):
        return _WORD.findall(_NOT_TEXT.sub(" ", html))
    return _WORD.findall(strip_colors(plain)) if isinstance(plain, str) else []


def build_notebook(folder: Path, file: Path, root: Path) -> tuple[BuildReport, HtmlElement | None]:
    """Build a site with one notebook and the images of its repository. Return the article of its page."""
    data = json.loads(file.read_text("utf-8"))
    data.setdefault("cells", []).insert(0, HEAD)
    place = root / "content" / file.relative_to(folder)
    for image in sorted(each for each in folder.rglob("*") if each.suffix.lower() in IMAGES):
        target = root / "content" / image.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(image, target)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(data, indent=1), "utf-8")
    (root / "blogsmith.yaml").write_text(SETTINGS)
    report = build_site(root, BuildOptions(now=dt.datetime(2026, 2, 1, tzinfo=dt.UTC), keep_going=True))
    for page in sorted((root / "public").rglob("index.html")):
        for article in read_elements(page.read_text("utf-8")).find("article"):
            if "post" in article.classes:
                return report, article
    return report, None


def _texts(element: HtmlElement) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, str):
            yield child
        elif child.name not in ("script", "style"):
            yield from _texts(child)


def missing(source: Counter[str], page: Counter[str]) -> Counter[str]:
    """Return words of the source that the page has less often."""
    return Counter({word: count - page[word] for word, count in source.items() if count > page[word]})


def measure(folder: Path, file: Path) -> tuple[str, list[str], bool]:
    """Return the line of a notebook, lines about it, and whether all of it is on the page."""
    notebook = read_notebook(file.read_text("utf-8"))
    written, recorded, images = source_words(notebook)
    with tempfile.TemporaryDirectory() as name:
        report, article = build_notebook(folder, file, Path(name))
    found = Counter(one.code for one in report.diagnostics)
    first = {one.code: one for one in reversed(report.diagnostics)}
    messages = [
        f"{found[code]} x {one.severity} {code}: {one.message[:110]}" for code, one in sorted(first.items())
    ]
    cells = sum(cell.kind == "markdown" for cell in notebook.cells)
    if article is None:
        return f"{file.name[:48]:48} {cells:5} no page", messages, False
    words = Counter(_WORD.findall(" ".join(_texts(article))))
    lost, gone = missing(written + recorded, words), max(0, images - len(list(article.find("img", "svg"))))
    totals = f"{written.total():6} {recorded.total():6} {lost.total():5} {images:4} {gone:4}"
    examples = " ".join(f"{word}:{count}" for word, count in lost.most_common(SHOWN))
    lines = [*messages, *([f"missing words: {examples}"] if lost else [])]
    return f"{file.name[:48]:48} {cells:5} {totals} {found.total():4}", lines, not lost and not gone


def chosen(folder: Path, count: int) -> Iterator[Path]:
    """Yield `count` notebooks of a folder, evenly spaced by name."""
    files = sorted(file for file in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in file.parts)
    for number in range(min(count, len(files))):
        yield files[number * len(files) // min(count, len(files))]


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.notebooks")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=8)
    options = parser.parse_args(arguments)
    print(f"{'notebook':48} {'cells':>5} {'words':>6} {'output':>6} {'lost':>5} {'imgs':>4} lost msgs")
    is_complete = True
    for folder in options.folders:
        for file in chosen(folder, options.count):
            line, details, is_whole = measure(folder, file)
            print("\n    ".join([line, *details]), flush=True)
            is_complete &= is_whole
    return 0 if is_complete else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
