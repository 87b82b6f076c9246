"""The manual is complete and its generated parts are current; fix with `python -m tests.regen docs`."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

from blogsmith.base.diagnostics.codes import CODES
from blogsmith.config.load import parse_config
from blogsmith.config.schema import Config
from blogsmith.execute.session.environment import ALLOWED_VARIABLES, cell_environment
from blogsmith.freeze.keys import session_keys
from blogsmith.hooks.loader import load_plugins
from blogsmith.model.documents import KEY_ALIASES, Source
from blogsmith.project.context import parse_options
from blogsmith.read.front_matter import read_document
from blogsmith.read.head import KNOWN_KEYS
from blogsmith.syntax.cells.option_values import KEYS as CELL_KEYS
from blogsmith.syntax.parser import make_parser, parse_document
from tests import docs_fill, docs_sources
from tests.cases_io import case_files
from tests.rows import each_row

ROOT = Path(__file__).parents[1]
PAGES = docs_fill.pages()


def manual(name: str) -> str:
    """Return the content of the manual's page `name`."""
    return (docs_fill.DOCS / name).read_text(encoding="utf-8")


def fences(opening: str) -> list[str]:
    """Return the content of every fence in the manual that starts with this line."""
    pattern = rf"^```{re.escape(opening)}\n(.*?)\n```$"
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    return [code for text in texts for code in re.findall(pattern, text, re.MULTILINE | re.DOTALL)]


@pytest.mark.parametrize(
    "page", [*PAGES, *docs_fill.MAPS], ids=lambda page: str(page.relative_to(docs_sources.ROOT))
)
def test_generated_parts_are_up_to_date(page: Path) -> None:
    """If this fails, run `python -m tests.regen docs`."""
    text = page.read_text(encoding="utf-8")
    assert docs_fill.filled(text) == text


@each_row("page", PAGES, ids=lambda page: str(page.relative_to(docs_fill.DOCS.parent)))
def test_every_page_is_listed_in_the_contents(page: Path) -> None:
    if page == docs_fill.DOCS / "_index.md" or not page.is_relative_to(docs_fill.DOCS):
        return
    contents = docs_fill.DOCS
    # the markup specification has its own contents
    if page.parent == docs_fill.DOCS / "specification" and page.name != "_index.md":
        contents = page.parent
    assert f"]({page.relative_to(contents)})" in (contents / "_index.md").read_text("utf-8")


def test_every_case_file_is_quoted_once() -> None:
    quoted = re.findall(r"^<!-- cases: (.+) -->$", "\n".join(manual(str(p)) for p in PAGES), re.MULTILINE)
    names = Counter(name for line in quoted for name in line.split())
    assert names == Counter(path.stem for path in case_files())


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading of the manual, without its header."""
    table = manual(page).partition(f"\n## {heading}\n")[2].partition("\n|")[2].partition("\n\n")[0]
    lines = table.split("\n")[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines]


def test_every_key_of_a_cell_is_explained() -> None:
    keys = [row[0].strip("`") for row in rows("running-code.md", "All keys")]
    assert sorted(keys) == sorted(CELL_KEYS)
    assert set(CELL_SAMPLES) == set(CELL_KEYS)


CELL_SAMPLES = {
    "flags": "-O3",
    "eval": "false",
    "echo": "false",
    "output": "false",
    "warning": "false",
    "error": "true",
    "include": "false",
    "label": "first",
    "fig-cap": "A curve.",
    "fig-alt": "A curve.",
    "tbl-cap": "Sizes.",
    "lst-cap": "The loop.",
    "lst-label": "lst-loop",
    "layout": "side",
    "sweep": "{d: [1, 2]}",
    "sweep-default": "2\n#| sweep: {d: [1, 2]}",
    "fig-format": "png",
    "fig-dark": "true",
    "code-fold": "true",
    "code-summary": "How",
    "session": "other",
    "depends": "data.csv",
    "needs": "torch",
    "fallback": "skip",
    "freeze": "true",
    "timeout": "5 min",
    "memory": "2 GB",
    "seed": "1",
    "tolerance": "0.5",
    "claim": "It is so.",
    "repeatable": "false",
    "counter-check": "true",
    "shapes": "check",
    "provenance": "short",
    "run-in": "both",
}
"""Key → a value that differs from its default."""


@each_row("key", CELL_SAMPLES)
def test_the_manual_says_which_keys_count_for_a_record(key: str) -> None:
    (row,) = (row for row in rows("running-code.md", "All keys") if row[0] == f"`{key}`")
    assert row[-1] in ("", "yes")
    changed = recorded_keys(f"#| {key}: {CELL_SAMPLES[key]}\n") != recorded_keys("#| echo: true\n")
    assert changed == (row[-1] == "yes")


def recorded_keys(lines: str) -> list[tuple[str, ...]]:
    """Return the keys of the results of a page with one cell."""
    text = f"```python\n{lines}x = 1\n```\n"
    document, _ = read_document(Source(PurePosixPath("content/a.md"), text, ""), Config())
    options = parse_options(Config(), load_plugins([], []), frozenset())
    cells = parse_document(document, make_parser(options), options).cells
    return [session_keys(cells, session, {}).cells for session in cells.sessions()]


def test_every_variable_that_cells_see_is_listed() -> None:
    shown = manual("trust-and-safety.md")
    seen = cell_environment(dict.fromkeys(ALLOWED_VARIABLES, "x"), (), 1, Path("/tmp"))
    # the threads have a sentence of their own, and TMPDIR too
    names = [name for name in seen if not name.endswith("_THREADS") and name != "TMPDIR"]
    assert len(names) > 25
    for name in names:
        value = "" if name in ALLOWED_VARIABLES else f"={seen[name]}"
        assert f"`{name}{value}`" in shown


@each_row("key", sorted({*KNOWN_KEYS, *KEY_ALIASES}))
def test_every_front_matter_key_is_explained(key: str) -> None:
    assert re.search(rf"`{key}[`:]", manual("front-matter.md"))


def test_the_front_matter_shown_is_read_without_complaint() -> None:
    shown = [text for text in fences("yaml") if text.startswith("---\n")]
    assert len(shown) == 2
    for text in shown:
        _, found = read_document(Source(PurePosixPath("content/a.md"), text + "\n\nText\n", ""), Config())
        assert found == (), text


def test_every_configuration_shown_is_valid() -> None:
    shown = fences('yaml title="blogsmith.yaml"')
    assert len(shown) >= 4
    for text in shown:
        assert parse_config(text).diagnostics == (), text


def test_the_plugin_shown_works(tmp_path: Path) -> None:
    (code,) = fences('python title="plugins/arxiv.py"')
    (tmp_path / "arxiv.py").write_text(code, encoding="utf-8")
    _, card = load_plugins(["arxiv"], [tmp_path]).shortcode_data["arxiv"]
    document, _ = read_document(Source(PurePosixPath("content/a.md"), "", ""), Config())
    assert card({"id": "1706.03762"}, document) == {"url": "https://arxiv.org/abs/1706.03762"}
    with pytest.raises(ValueError, match="needs id"):
        card({}, document)


def test_every_setting_has_a_docstring_and_a_row() -> None:
    found = docs_sources.all_settings()
    assert len(found) > 25
    for setting in found:
        assert setting.meaning, f"{setting.key} has no docstring"
        assert f"| `{setting.key}` |" in manual("configuration.md")
        # a name of a type that the table does not know would be called a mapping
        assert setting.type != "mapping" or not setting.default


def test_every_code_has_a_row() -> None:
    grouped = [code for codes in docs_sources.grouped_codes().values() for code in codes]
    assert sorted(grouped) == sorted(CODES)
    text = manual("errors.md")
    assert all(f"| `{code}`{{#{code}}} |" in text for code in CODES)


def test_every_code_in_use_is_in_the_table() -> None:
    assert sorted(docs_sources.used_codes() - set(CODES)) == []


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


def test_a_fence_shows_control_characters() -> None:
    assert docs_fill.fence("text", "a\x01b\tc") == "```text\na\u2401b\tc\n```"


@pytest.mark.parametrize("name", ["README.md", "content/compared.md"])
def test_comparisons_count_the_bundled_themes(name: str) -> None:
    count = sum(1 for _ in (ROOT / "themes").glob("*/theme.yaml"))
    assert f"| Themes | {count} |" in (ROOT / name).read_text(encoding="utf-8")
