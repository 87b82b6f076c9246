"""Every recipe of the manual, followed from an empty folder, gives the documented result without warnings."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest

from blogsmith.cli.clock import CommandClock
from blogsmith.cli.main import main
from blogsmith.project.report import ExecutionOptions
from tests.docs_fill import DOCS
from tests.site_files import NOW, build, printed, put
from tests.test_publish_setup import read_workflow, schema

_FENCE = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<path>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)
_TEXT = (DOCS / "recipes.md").read_text(encoding="utf-8")

WORKFLOWS = {".github/workflows/check.yml", ".github/workflows/links.yml"}


@dataclass(frozen=True, slots=True)
class Recipe:
    """One section of the page."""

    title: str
    files: dict[str, str]
    """Path → content to copy."""
    promises: dict[str, str]
    """Path → lines that this file must contain, in this order; `…` stands for omitted lines."""
    session: str
    """Terminal commands after `$ `, and their output in the same form."""


def recipes() -> list[Recipe]:
    """Return all recipes, in order."""
    return [_recipe(text) for text in _TEXT.split("\n## ")[1:]]


def _recipe(text: str) -> Recipe:
    title, _, body = text.partition("\n")
    fences = list(_FENCE.finditer(body))
    # every fence of the page must be read, otherwise it would not be tested
    assert len(fences) * 2 == len(re.findall("^```", body, re.MULTILINE)), title
    is_promise = {found: found["language"] == "html" for found in fences if found["path"]}
    return Recipe(
        title,
        # nested fences use tildes, so that a recipe can be copied from any view of this page
        {found["path"]: found["text"] for found, promise in is_promise.items() if not promise},
        {found["path"]: found["text"] for found, promise in is_promise.items() if promise},
        "".join(found["text"] for found in fences if found["language"] == "console"),
    )


def missing_piece(whole: str, shown: str) -> str:
    """Return the first part of `shown` that `whole` lacks after the previous ones; empty if it has all."""
    at = 0
    for piece in [piece.strip() for piece in re.split(r"…|\n", shown)]:
        found = whole.find(piece, at)
        if found < 0:
            return piece
        at = found + len(piece)
    return ""


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.title.replace(" ", "-"))
def test_a_recipe_keeps_its_promise(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if "mermaid" in recipe.files.get("blogsmith.yaml", ""):
        pytest.importorskip("merman")
    # a machine with a GPU must show the same as all others
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    site = put(
        tmp_path / "site", {"blogsmith.yaml": "title: Notes\n", "content/_index.md": "", **recipe.files}
    )
    runs = "#|" in str(recipe.files)
    report = build(site, execution=ExecutionOptions(execute="stale" if runs else ""))
    assert printed(report) == ""
    assert report.ok
    monkeypatch.chdir(site)
    capfd.readouterr()
    said = ""
    for line in re.findall(r"^\$ blogsmith (.*)$", recipe.session, re.MULTILINE):
        assert main(shlex.split(line), CommandClock(now=lambda: NOW)) == 0
        said += f"$ blogsmith {line}\n{capfd.readouterr().out}\n"
    assert missing_piece(said, recipe.session) == "", said
    for path, shown in recipe.promises.items():
        text = (site / path).read_text(encoding="utf-8")
        assert missing_piece(text, shown) == "", text
    for path in WORKFLOWS & set(recipe.files):
        jsonschema.validate(read_workflow(recipe.files[path]), schema("github-workflows"))
    assert recipe.promises or recipe.session or WORKFLOWS & set(recipe.files), "nothing is promised"


def test_there_are_twenty_recipes_of_one_page() -> None:
    found = recipes()
    assert len(found) >= 20
    assert len({recipe.title for recipe in found}) == len(found)


def test_a_piece_out_of_order_is_missing() -> None:
    assert missing_piece("one two three", "one … three") == ""
    assert missing_piece("one two three", "three … one") == "one"
    assert missing_piece("one two three", "two\none") == "one"
