"""The sites that are previewed, one for each generator with the same posts, and edits of them.

Every site has one observed post, with a word that changes and a `<details>` to keep open, and a style sheet
that gives its heading a border.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from string import ascii_lowercase

from .generators import Generator, blogsmith, eleventy, hugo
from .posts import post, write_posts
from .preview_table import OURS

STYLE_SHEET = "static/bench.css"
_SECTION = "\n## Section 2\n"
_LINK = '<link rel="stylesheet" href="/bench.css"></head>'
_SETTINGS = "title: Bench\ntheme_options:\n  stylesheets: [/bench.css]\n"
_CELL = """
```{{python}}
import numpy as np
scores = np.random.default_rng({number}).normal(size=(200, 200))
assert (scores @ scores.T).shape == (200, 200)
print(f"the sum is {{np.arange({number}).sum()}}")
```
"""

Serve = Callable[[int], tuple[str, ...]]
"""A function: port → command."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A generator with its preview server."""

    name: str
    generator: Generator
    serve: Serve


@dataclass(frozen=True, slots=True)
class Site:
    """A site of one of them, on disk."""

    subject: Subject
    root: Path
    posts: int

    @property
    def page(self) -> str:
        """The URL path of the observed post."""
        return f"/posts/post-{self.number:05}/"

    @property
    def number(self) -> int:
        return self.posts // 2

    @property
    def file(self) -> Path:
        """The source of the observed post."""
        return self.root / self.subject.generator.posts / f"post-{self.number:05}.md"

    @property
    def styles(self) -> Path:
        return self.root / STYLE_SHEET

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables of the server; consent to run cells is stored beside the site."""
        folders = {"XDG_STATE_HOME": ".state", "XDG_CACHE_HOME": ".cache"}
        own = {name: str(self.root.with_suffix(suffix)) for name, suffix in folders.items()}
        return {**self.subject.generator.environment, **own}


def subjects(paths: Mapping[str, str]) -> dict[str, Subject | None]:
    """Return blogsmith and its peers by name; None for one that is not installed.

    paths: name of a peer → its program, if that is not on the search path.
    """
    before = os.environ.get("PATH", "")
    folders = [str(Path(path).absolute().parent) for path in paths.values() if path]
    os.environ["PATH"] = os.pathsep.join([*folders, before])
    try:
        found = {OURS: blogsmith(), "hugo": hugo(), "eleventy": eleventy()}
    finally:
        os.environ["PATH"] = before
    return {
        name: Subject(name, generator, _serve(generator)) if generator else None
        for name, generator in found.items()
    }


def _serve(generator: Generator) -> Serve:
    program = generator.command[0]
    commands: dict[str, Serve] = {
        OURS: lambda port: (sys.executable, "-m", "blogsmith", "serve", "--port", str(port)),
        "hugo": lambda port: (program, "server", "--bind", "127.0.0.1", "--port", str(port)),
        "eleventy": lambda port: (*generator.command, "--serve", "--incremental", f"--port={port}"),
    }
    return commands[generator.name]


def write_site(subject: Subject, root: Path, posts: int) -> Site:
    site = Site(subject, root, posts)
    write_posts(root / subject.generator.posts, posts)
    files = {path: text.replace("</head>", _LINK) for path, text in subject.generator.files.items()}
    if subject.name == OURS:
        files["blogsmith.yaml"] = _SETTINGS
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    site.styles.parent.mkdir(exist_ok=True)
    site.styles.write_text(styles(0), encoding="utf-8")
    site.file.write_text(edited(site.number, "original"), encoding="utf-8")
    return site


def forget(site: Site) -> None:
    """Remove everything that was built from a site."""
    for made in (".blogsmith", "public", "_freeze", "_site", "resources"):
        shutil.rmtree(site.root / made, ignore_errors=True)
    shutil.rmtree(site.root.with_suffix(".cache"), ignore_errors=True)


# ---- content of the files


def edited(number: int, word: str, broken: str = "") -> str:
    """Return the post with a word of its own.

    broken: letters; if not empty, the post also has an unknown formula command of this name.
    """
    formula = f" and $\\{broken}$" if broken else ""
    paragraph = f"\nThe word is {word}{formula}.\n\n"
    more = '<details class="more"><summary>More</summary>\n\nThere is more.\n\n</details>\n'
    head, tail = post(number).split(_SECTION)
    return head + _SECTION + paragraph + more + tail


def with_cell(number: int, word: str, summands: int) -> str:
    """Return the same with a cell that adds up the numbers below `summands`."""
    return edited(number, word) + _CELL.format(number=summands)


def cell_output(summands: int) -> str:
    """Return the output of that cell, which its code does not contain."""
    return f"the sum is {summands * (summands - 1) // 2}"


def styles(number: int) -> str:
    """Return the style sheet with this number, below 2 ** 16."""
    return f"h1 {{ border-bottom: 3px solid {color(number)}; }}\n"


def color(number: int) -> str:
    """Return the colour of its border, as browsers compute it."""
    return f"rgb(64, {number // 256}, {number % 256})"


def words(kind: str) -> Iterator[str]:
    """Return an iterator of words of letters only, all of one length, that occur in no post."""
    return (f"zq{kind}{''.join(letters)}" for letters in product(ascii_lowercase, repeat=3))


# ---- ways to save a file

STYLES = ("in place", "rename")


def save(file: Path, text: str, style: str) -> float:
    """Save as an editor does: `in place`, or to another file that is renamed.

    Returns `time.time()` after the save.
    """
    if style == "in place":
        file.write_text(text, encoding="utf-8")
    else:
        draft = file.with_name(f".{file.name}.tmp")
        draft.write_text(text, encoding="utf-8")
        draft.replace(file)
    return time.time()


def pauses(seed: int, shortest_s: float, spread_s: float = 0.4) -> Iterator[float]:
    """Yield seconds between edits, deterministic by seed and not synchronous with timers of a server."""
    chance = random.Random(seed)
    while True:
        yield shortest_s + chance.uniform(0, spread_s)


def saves(count: int) -> Sequence[str]:
    """Return the style of saving for each of `count` edits."""
    return [STYLES[number % len(STYLES)] for number in range(count)]
