"""Constructs of Jekyll sites and their conversion; `constructs.txt` shows them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from blogsmith.importers.jekyll.system import SYSTEM
from blogsmith.importers.model import ImportedPage
from blogsmith.project.report import no_progress

CONSTRUCTS = Path(__file__).parent / "constructs.txt"
FILES: Mapping[str, str] = {
    "_config.yml": "title: Notes\nurl: https://example.org\nbaseurl: /notes\npermalink: pretty\n",
    "_posts/2024-01-02-other.md": "---\ntitle: Other\n---\n\n## Part\n\nText.\n",
    "about.md": "---\ntitle: About\n---\n\nText.\n",
    "assets/data.csv": "a,b\n",
    "assets/a.png": "picture",
    "assets/b.png": "picture",
    "_includes/greeting.html": "Hello <b>{{ include.name }}</b>,{% if true %} welcome.{% endif %}\n",
    "_data/people.yml": "- name: Ada\n- name: Grace\n",
    "_bibliography/papers.bib": "@article{first:2020,\n  title = {On {First} Things},\n"
    '  author = {{\\"O}d{\\"o}n, A. and Bee, B.},\n  year = 2020,\n  journal = "Journal of Things",\n'
    "  doi = {10.1000/1},\n}\n",
}


@dataclass(frozen=True, slots=True)
class Construct:
    """A source and its expected conversion."""

    title: str
    source: str
    parts: Mapping[str, str]
    """`becomes`, and optionally `front` and `notices`."""


def read_constructs() -> list[Construct]:
    found = []
    for block in CONSTRUCTS.read_text("utf-8").removeprefix("=== ").split("\n=== "):
        title, _, rest = block.partition("\n")
        source, *sections = rest.split("\n--- ")
        parts = (section.partition("\n") for section in sections)
        found.append(Construct(title, source, {name: text.strip() for name, _, text in parts}))
    return found


def import_page(root: Path, body: str, front: str = "title: A post\n") -> ImportedPage:
    """Import a site with a post that has this body, and return its page."""
    files = {**FILES, "_posts/2024-03-01-post.md": f"---\n{front}---\n\n{body}\n"}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    pages = SYSTEM.read(root, no_progress).pages
    return next(page for page in pages if page.path.name == "2024-03-01-post.md")


@pytest.mark.parametrize("construct", read_constructs(), ids=lambda construct: construct.title)
def test_a_construct(construct: Construct, tmp_path: Path) -> None:
    page = import_page(tmp_path, construct.source)
    assert page.text.strip() == construct.parts["becomes"]
    shown = {key: value for key, value in page.front.items() if key in ("math", "bibliography", "references")}
    assert "\n".join(f"{key}: {value}" for key, value in shown.items()) == construct.parts.get(
        "front", "\n".join(f"{key}: {value}" for key, value in shown.items() if key != "math")
    )
    told = [f"{notice.kind}: {notice.message}" for notice in page.notices]
    expected = construct.parts.get("notices", "").splitlines()
    assert [each for each in told if "macros in a hidden element" not in each] == expected


def test_there_are_enough_of_them() -> None:
    assert len(read_constructs()) >= 15
