"""The manual is complete and its generated parts are up to date; mend with `python -m tests.regen docs`."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from blogsmith.codes import CODES
from tests import docs_fill, docs_sources
from tests.cases_io import case_files

PAGES = docs_fill.pages()


def manual(name: str) -> str:
    """Text of the manual's page `name`."""
    return (docs_fill.DOCS / name).read_text(encoding="utf-8")


def front_matter_keys() -> list[str]:
    """The author's names of the fields of `model.FrontMatter`."""
    tree = ast.parse((docs_sources.ROOT / "blogsmith" / "model.py").read_text(encoding="utf-8"))
    head = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "FrontMatter")
    names = [ast.unparse(field.target) for field, _ in docs_sources.described(head)]
    return sorted({re.sub(r"^math_.*", "math", name) for name in names} - {"extra", "places"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(docs_fill.DOCS)))
def test_generated_parts_are_up_to_date(page: Path) -> None:
    """If not: `python -m tests.regen docs`."""
    text = page.read_text(encoding="utf-8")
    assert docs_fill.filled(text) == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(docs_fill.DOCS)))
def test_every_page_is_listed_in_the_contents(page: Path) -> None:
    name = str(page.relative_to(docs_fill.DOCS))
    assert name == "_index.md" or f"]({name})" in manual("_index.md")


def test_every_case_file_is_quoted_once() -> None:
    quoted = re.findall(r"^<!-- cases: (.+) -->$", "\n".join(manual(str(p)) for p in PAGES), re.MULTILINE)
    names = Counter(name for line in quoted for name in line.split())
    assert names == Counter(path.stem for path in case_files())


@pytest.mark.parametrize("key", front_matter_keys())
def test_every_front_matter_key_has_a_row(key: str) -> None:
    assert re.search(rf"^\| (`\w+`, )?`{key}`[ ,]", manual("front-matter.md"), re.MULTILINE)


def test_every_setting_has_a_docstring_and_a_row() -> None:
    found = docs_sources.all_settings()
    assert len(found) > 25
    for setting in found:
        assert setting.meaning, f"{setting.key} has no docstring"
        assert f"| `{setting.key}` |" in manual("configuration.md")


def test_every_code_has_a_row() -> None:
    grouped = [code for codes in docs_sources.grouped_codes().values() for code in codes]
    assert sorted(grouped) == sorted(CODES)
    assert all(f"| `{code}` |" in manual("errors.md") for code in CODES)


def test_every_hook_and_bundled_plugin_is_shown() -> None:
    text = manual("plugins.md")
    assert all(f"### `{hook.name}`" in text for hook in docs_sources.all_hooks())
    assert all(f"| `{file.stem}` |" in text for file in (docs_sources.ROOT / "plugins").glob("*.py"))


def test_every_option_is_shown() -> None:
    shown = manual("command-line.md")
    for name, text in docs_sources.all_help().items():
        assert f"### `{name}`" in shown
        assert set(re.findall(r"--[a-z-]+", text)) <= set(re.findall(r"--[a-z-]+", shown))


def test_a_live_example_repeats_its_source() -> None:
    text = "Before.\n\n````markdown\n==a==\n````\n<!-- live -->\n<!-- end live -->\n"
    assert (
        '<!-- live -->\n\n<div class="example">\n\n==a==\n\n</div>\n\n<!-- end live -->'
        in docs_fill.filled(text)
    )
    assert docs_fill.filled(docs_fill.filled(text)) == docs_fill.filled(text)


@pytest.mark.parametrize(
    "text",
    ["<!-- nonsense -->\n<!-- end nonsense -->", "No fence.\n<!-- live -->\n<!-- end live -->"],
)
def test_a_wrong_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        docs_fill.filled(text)


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert docs_fill.fence("text", "a ```` b").startswith("`````text\n")
    assert docs_fill.fence("text", "a").startswith("```text\n")
