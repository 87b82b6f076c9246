"""`import-map.yaml`: replacements for an author's own blocks, in every system."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.format import format_diagnostic
from blogsmith.base.diagnostics.model import SiteError
from blogsmith.importers.block_map import FILE, read_block_map, suggest_entries
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.model import Notice
from blogsmith.importers.source_files import read_text, source_root
from blogsmith.importers.text.author_blocks import replace_blocks
from blogsmith.project.report import no_progress
from tests.site_files import NOW, put

BLOCKS = (
    ("box", "[!DEFINITION]"),
    ("Box", "[!NOTE]- {title}!"),
    ("keys", "<kbd>{content}</kbd>"),
    ("plot", "![{alt}](/img/{1}.png)"),
    ("gone", ""),
    ("bare", "{content}"),
    ("ad-box", "[!TIP]"),
)
FORMS = [
    ("{{< box >}}\nA $x$.\n{{< /box >}}", "> [!DEFINITION]\n> A $x$."),
    ('{{% box title="T $x$" %}}\n- a\n\n- b\n{{% /box %}}', "> [!DEFINITION] T $x$\n> - a\n>\n> - b"),
    ("{% box My title %}\nText.\n{% endbox %}", "> [!DEFINITION] My title\n> Text."),
    ('{% box(title="T") %}\nText.\n{% end %}', "> [!DEFINITION] T\n> Text."),
    ("::: box\nText.\n:::", "> [!DEFINITION]\n> Text."),
    (":::box[T]\nText.\n:::", "> [!DEFINITION] T\n> Text."),
    (":::{box} T\n:label: d\nText.\n:::", "(d)=\n> [!DEFINITION] T\n> Text."),
    ('::: {.box name="T"}\n::: inner\nText.\n:::\n:::', "> [!DEFINITION] T\n> ::: inner\n> Text.\n> :::"),
    ("```{box} T\nText.\n```", "> [!DEFINITION] T\n> Text."),
    ("````{note}\n```{box}\nText.\n```\n````", "````{note}\n> [!DEFINITION]\n> Text.\n\n````"),
    ("```ad-box\nText.\n```", "> [!TIP]\n> Text."),
    ('!!! box "T"\n\n    Text.\n\n    More.\nAfter.', "> [!DEFINITION] T\n> Text.\n>\n> More.\n\nAfter."),
    ("/// box | T\nText.\n///", "> [!DEFINITION] T\n> Text."),
    ("> [!box] T\n> Text.", "> [!DEFINITION] T\n> Text."),
    ('<Box title="T">\n\nText.\n\n</Box>', "> [!NOTE]- T!\n> Text."),
    (
        "{{< box >}}\n{{< Box T >}}\nIn.\n{{< /Box >}}\n{{< /box >}}",
        "> [!DEFINITION]\n> > [!NOTE]- T!\n> > In.",
    ),
    ("{{< box >}}\n::: Box\nIn.\n:::\n{{< /box >}}", "> [!DEFINITION]\n> > [!NOTE]- !\n> > In.\n>"),
    ("Press {keys}`a` and [b]{.keys}.", "Press <kbd>a</kbd> and <kbd>b</kbd>."),
    ('A {{< plot a alt="B" >}} c', "A ![B](/img/a.png) c"),
    ('{{ plot("a") }}', "![](/img/a.png)"),
    ("<Box/>", "> [!NOTE]-\n> **!**"),
    ("a {% gone x %}b", "a b"),
    ("{{< bare >}}\n{{< unknown >}}\n{{< /bare >}}", "{{< unknown >}}"),
    ("- item\n\n  {{< box >}}\n  Text.\n  {{< /box >}}", "- item\n\n  > [!DEFINITION]\n  > Text."),
    ("> ::: box\n> Text.\n> :::", "> > [!DEFINITION]\n> > Text.\n>"),
]
UNCHANGED = [
    "```\n{{< box >}}\n::: box\n```",
    "`{{< box >}}` and ``{keys}`a` ``",
    "```{python}\n# ::: box\n```",
    "{{< boxes >}} {% endbox %} {{< /box >}}",
    "::: box\nnever closed",
    "---\ntitle: '{{< box >}}'\n---\nbox",
    "<box>",
    "{% if box %}a{% endif %}",
]


@pytest.mark.parametrize(("source", "expected"), FORMS)
def test_a_block_is_replaced(source: str, expected: str) -> None:
    made = replace_blocks(f"Before.\n\n{source}\n\nAfter box.\n", BLOCKS)
    assert (
        made.replace("\n\n\n", "\n\n").replace("\n\n\n", "\n\n") == f"Before.\n\n{expected}\n\nAfter box.\n"
    )


@pytest.mark.parametrize("source", UNCHANGED)
def test_other_text_is_unchanged(source: str) -> None:
    assert replace_blocks(f"{source}\n", BLOCKS) == f"{source}\n"


@pytest.mark.parametrize(
    "piece",
    [
        "{{< box ",
        "::: box\n",
        "{% box %}",
        "!!! box\n    ",
        "> > > > [!box]\n",
        "<Box ",
        "```{box}\n",
        "[a]{.box ",
    ],
)
def test_a_hostile_page_takes_linear_time(piece: str) -> None:
    started = time.process_time()
    replace_blocks(piece * 1500, BLOCKS)
    assert time.process_time() - started < 2


SITES = {
    "jekyll": (
        {"_config.yml": "title: N\n"},
        "_posts/2024-01-01-a.md",
        "{% box T %}\nText $x$.\n{% endbox %}",
    ),
    "hugo": ({"hugo.toml": "title = 'N'\n"}, "content/a.md", "{{< box T >}}\nText $x$.\n{{< /box >}}"),
    "quarto": (
        {"_quarto.yml": "project:\n  type: website\n"},
        "a.qmd",
        '::: {.box name="T"}\nText $x$.\n:::',
    ),
    "myst": ({"myst.yml": "version: 1\nproject:\n  title: N\n"}, "a.md", "```{box} T\nText $x$.\n```"),
    "mkdocs": ({"mkdocs.yml": "site_name: N\n"}, "docs/a.md", '!!! box "T"\n    Text $x$.'),
    "obsidian": ({".obsidian/app.json": "{}"}, "a.md", "> [!box] T\n> Text $x$."),
    "zola": ({"config.toml": "title = 'N'\n"}, "content/a.md", '{% box(title="T") %}\nText $x$.\n{% end %}'),
    "docusaurus": ({"docusaurus.config.js": "x"}, "docs/a.md", ":::box[T]\nText.\n:::"),
    "folder": ({"b.md": "# B\n"}, "a.md", "::: box T\nText $x$.\n:::"),
}


@pytest.mark.parametrize("system", SITES)
def test_every_system_reads_the_map(system: str, tmp_path: Path) -> None:
    files, page, block = SITES[system]
    text = f"---\ntitle: A\n---\n\nBefore.\n\n{block}\n\nAfter.\n"
    put(tmp_path / "old", {name: data.encode() for name, data in {**files, page: text}.items()})
    put(tmp_path / "new", {FILE: b'box: "[!STATEMENT]"\nbxo: ""\n'})
    options = ImportOptions(now=NOW, system=system)
    done = import_site(tmp_path / "old", tmp_path / "new", options, no_progress)
    assert not done.check.differences
    assert not [found for found in done.check.diagnostics if found.code == "callout-kind"]
    text = next(page.text for page in done.site.pages if "Before." in page.text)
    assert "> [!STATEMENT] T\n> Text" in text
    assert not suggest_entries(done.site.all_notices)
    assert done.site.settings["callouts"]["statement"] == {"title": "Statement"}
    unused = [notice.message for notice in done.site.notices if notice.source == FILE]
    assert unused == ['entry "bxo" has no effect because no page contains this name']
    again = import_site(tmp_path / "old", tmp_path / "new", options, no_progress)
    assert not (again.merge.writes or again.merge.removes or again.merge.kept)


def test_the_suggested_entries_work(tmp_path: Path) -> None:
    into = tmp_path / "new"
    text = "{{< mylemma >}}\nText.\n{{< /mylemma >}}\n\nA {{< plot x >}} b.\n"
    put(tmp_path / "old", {"hugo.toml": b"title = 'N'\n", "content/a.md": text.encode()})
    options = ImportOptions(now=NOW)
    import_site(tmp_path / "old", into, options, no_progress)
    report = (into / "import-report.md").read_text("utf-8")
    entries = report.partition("```yaml\n")[2].partition("```")[0]
    assert entries == 'mylemma: "[!LEMMA]"\nplot: "{content}"\n'
    (into / FILE).write_text(entries, encoding="utf-8")
    done = import_site(tmp_path / "old", into, options, no_progress)
    assert done.merge.renewed == ("content/a.md",)
    assert not suggest_entries(done.site.all_notices)
    assert "> [!LEMMA]\n> Text.\n\nA  b." in (into / "content/a.md").read_text("utf-8")


def test_suggestions_are_safe() -> None:
    notices = [Notice("left", f'unknown tag "{name}"') for name in ("a: b\n", "x", '"', "thm:Proof")]
    assert suggest_entries(notices) == {"thm:Proof": "[!PROOF]", "x": "{content}"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("box: [a]\n", 'import-map.yaml:1:6: error: invalid replacement of "box": expected a string'),
        ("a: b\nbox: [!NOTE]\n", "import-map.yaml:2:7: error: a value cannot start"),
        ('box: "[!NOTE"\n', 'import-map.yaml:1:6: error: invalid callout "[!NOTE": expected'),
        ("? {a: b}\n: c\n", "import-map.yaml:1:"),
        ('"a b": c\n', 'import-map.yaml:1:1: error: invalid name "a b": expected letters'),
        ("- box\n", "import-map.yaml:1:1: error: invalid map: expected lines"),
        ('box: "a\n', "import-map.yaml:1:6: error:"),
        ("box: a\nbox: b\n", "import-map.yaml:2:1: error: duplicate key"),
        ("a: &x b\nc: *x\n", "import-map.yaml:1:4: error:"),
        ("x: " + "[" * 5000, "import-map.yaml:1:"),
        ("a" * 300_000, "import-map.yaml: error: more than 200 kB"),
        ("a: \x00", "import-map.yaml:1:"),
    ],
)
def test_an_error_in_the_map_has_a_location(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(SiteError) as caught:
        read_block_map(tmp_path)
    found = caught.value.diagnostics[0]
    shown = format_diagnostic(found, color=False)
    assert shown.startswith(expected), shown
    assert found.place is None or "^" in shown


def test_other_processes_read_the_map_too(tmp_path: Path) -> None:
    put(tmp_path, {"a.md": b"{{< gone >}}x", "a.yaml": b"{{< gone >}}x"})
    root = pickle.loads(pickle.dumps(source_root(tmp_path, BLOCKS)))
    assert [read_text(root / name) for name in ("a.md", "a.yaml")] == ["x", "{{< gone >}}x"]
