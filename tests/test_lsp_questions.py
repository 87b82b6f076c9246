"""Requests of editors: completion, hover, definitions, references, rename, symbols, fixes."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from blogsmith.lsp.cursor import ends_in_formula, find_cursor, find_yaml_cursor
from blogsmith.lsp.navigation import RenameError
from blogsmith.lsp.text_buffer import TextBuffer
from tests.lsp_desk import CURSOR, Desk
from tests.rows import each_row

HEAD = "---\ntitle: One\ndate: 2026-01-02\ntags: [sums]\n---\n\n"
ONE, TWO = "content/posts/one.md", "content/posts/two.md"
EQUATION = "$$\na = \\mean{b} \\label{eq:sum}\n$$\n"
BODY = (
    f"## Sums\n\n{EQUATION}\nAs \\eqref{{eq:sum}} and {{@eq:sum}} and @eq-sum say.[^n]\n\n[^n]: A note.\n\n"
    "> [!THEOREM] Nice {#thm-nice}\n> It holds, see [@doe].\n\n![A cat](cat.svg){#fig-cat}\n"
)
FILES = {
    "blogsmith.yaml": (
        "title: Desk\nbibliography: works.bib\n"
        "math:\n  macros:\n    \\mean: '\\langle #1 \\rangle'\n"
        "callouts:\n  axiom:\n    title: Axiom\n    numbered: true\n"
    ),
    "works.bib": "@book{roe, title={Roe's}, author={Roe, R.}, year=1999}\n\n"
    "@article{doe,\n  title = {On Sums},\n  author = {Doe, Jane},\n  journal = {Sums},\n  year = 2001\n}\n",
    ONE: HEAD + BODY,
    TWO: HEAD.replace("One", "Two").replace("sums", "means")
    + "See {@one#eq:sum} and [there](one.md#eq-sum).\n",
    "content/posts/cat.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"></svg>',
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    made = Desk(tmp_path_factory.mktemp("site"), FILES)
    made.open(ONE)
    return made


@each_row(
    ("written", "first"),
    [
        ("\\eqref{▮", "eq:sum"),
        ("\\eqref{eq▮", "eq:sum"),
        ("see {@th▮", "thm-nice"),
        ("see @fig▮", "fig-cat"),
        ("[see @d▮", "doe"),
        ("[@roe; @d▮", "doe"),
        ("\\citep{roe, d▮", "doe"),
        ("$x \\me▮", "\\mean"),
        ("$x \\alph▮", "\\alpha"),
        ("\\begin{alig▮", "align"),
        ("> [!TH▮", "THEOREM"),
        ("> [!axi▮", "axiom"),
        ("{% im▮", "image-compare"),
        ("{% img sr▮", "src"),
        ("[there](tw▮", "two.md"),
        ("[there](two.md#▮", "two.md#"),
        ("![A cat](c▮", "cat.svg"),
        ("[^▮", "n"),
        ("[[tw▮", "two"),
        ("```{python}\n#| fig-c▮", "fig-cap"),
        ("```{python}\n#| echo: f▮", "false"),
    ],
)
def test_completion_in_text(desk: Desk, written: str, first: str) -> None:
    found = desk.completions(ONE, f"{HEAD}{BODY}\n{written}")
    assert first in found or (first.endswith("#") and not found)


@each_row(
    "written",
    [
        "Costs \\$5 and \\al▮",
        "`$` \\al▮",
        "```python\n$\\al▮",
        "me@exam▮",
        "Nothing ▮",
        "```{python}\nx = 1\n#| fig▮",
        "`\\eqref{▮",
    ],
)
def test_nothing_is_offered_where_nothing_is_meant(desk: Desk, written: str) -> None:
    assert desk.completions(ONE, f"{HEAD}{BODY}\n{written}") == []


@each_row(
    ("head", "first"),
    [
        ("tit▮", "title"),
        ("tags: [me▮", "means"),
        ("tags:\n  - me▮", "means"),
        ("math:\n  num▮", "numbering"),
        ("math:\n  numbering: lab▮", "labelled"),
        ("toc: t▮", "true"),
        ("template: lan▮", "landing"),
    ],
)
def test_completion_in_front_matter(desk: Desk, head: str, first: str) -> None:
    assert first in desk.completions(ONE, f"---\ntitle: One\n{head}\n---\n\n{BODY}")


@each_row(
    ("settings", "first"),
    [
        ("tit▮", "title"),
        ("math:\n  mac▮", "macros"),
        ("math:\n  numbering: no▮", "none"),
        ("theme: pa▮", "paper"),
        ("plugins: [▮", "reading_time"),
        ("bibliography: w▮", "works.bib"),
    ],
)
def test_completion_in_settings(desk: Desk, settings: str, first: str) -> None:
    found = desk.completions("blogsmith.yaml", settings)
    if first == "reading_time":
        assert found
    else:
        assert first in found
    desk.write("blogsmith.yaml", FILES["blogsmith.yaml"])


@each_row(
    ("written", "label", "line"),
    [
        ("See \\eqref{▮}.", "eq:sum", "See \\eqref{eq:sum}."),
        ("𝔄 \\eqref{e▮", "eq:sum", "𝔄 \\eqref{eq:sum"),
        ("$x \\me▮ y$", "\\mean", "$x \\mean{$1} y$"),
        ("> [!no▮]", "note", "> [!note]"),
        ("{% img sr▮ %}", "src", '{% img src="$1" %}'),
    ],
)
def test_completion_replaces_what_is_written(desk: Desk, written: str, label: str, line: str) -> None:
    assert desk.completed(ONE, f"{HEAD}{BODY}\n{written}", label) == line


def test_labels_of_other_pages_are_offered_behind_their_slugs(desk: Desk) -> None:
    assert "one#eq-sum" in desk.completions(TWO, f"{FILES[TWO]}\n{{@one▮")


def test_items_are_described_when_they_are_chosen(desk: Desk) -> None:
    found = desk.service.complete(*desk.point(ONE, f"{HEAD}{BODY}\n[@do▮"))
    assert found is not None
    described = desk.service.describe(found.items[0])
    assert isinstance(described.documentation, types.MarkupContent)
    assert "On Sums" in described.documentation.value


@each_row(
    ("before", "after", "said"),
    [
        ("a = \\mean{b}", "a ▮= \\mean{b}", ["Equation (1)", "\\langle b \\rangle"]),
        ("\\mean", "\\me▮an", ["`\\mean` stands for `\\langle #1 \\rangle`"]),
        ("\\eqref{eq", "\\eqref{e▮q", ["**Equation (1)**", "one.md", "\\langle b \\rangle"]),
        ("{@eq", "{@e▮q", ["**Equation (1)**"]),
        ("@doe", "@d▮oe", ["Doe", "On Sums", "2001"]),
        ("title: One", "ti▮tle: One", ["**title**"]),
        ("[^n]\n", "[^▮n]\n", ["A note."]),
    ],
)
def test_hover(desk: Desk, before: str, after: str, said: list[str]) -> None:
    text = HEAD + BODY
    assert before in text
    shown = desk.hover(ONE, text.replace(before, after, 1))
    assert all(one in shown for one in said), shown


def test_hover_over_a_command_says_what_it_prints(desk: Desk) -> None:
    assert "`\\alpha` prints α" in desk.hover(ONE, f"{HEAD}$\\alp▮ha$\n")
    assert "Fractions" in desk.hover(ONE, f"{HEAD}$\\fr▮ac{{1}}{{2}}$\n")


def test_hover_over_a_shortcode_says_what_it_takes(desk: Desk) -> None:
    assert "- `alt`: Description of the image" in desk.hover(ONE, f'{HEAD}{{% i▮mg src="cat.svg" %}}\n')


def test_hover_as_plain_text(desk: Desk) -> None:
    shown = desk.hover(ONE, f"{HEAD}{BODY}".replace("{@eq", "{@e▮q"), plain=True)
    assert shown.startswith("Equation (1) in content/posts/one.md")
    assert "**" not in shown


def test_hover_in_settings(desk: Desk) -> None:
    assert "**math.macros**" in desk.hover(
        "blogsmith.yaml", FILES["blogsmith.yaml"].replace("macros", "mac▮ros")
    )
    desk.write("blogsmith.yaml", FILES["blogsmith.yaml"])


@each_row(
    ("before", "after", "place"),
    [
        ("\\eqref{eq", "\\eqref{e▮q", "content/posts/one.md:9:20"),
        ("@eq-sum", "@eq▮-sum", "content/posts/one.md:9:20"),
        ("@doe", "@d▮oe", "works.bib:2:0"),
        ("\\mean", "\\me▮an", "blogsmith.yaml:4:4"),
        ("say.[^n]", "say.[^▮n]", "content/posts/one.md:14:0"),
    ],
)
def test_definition(desk: Desk, before: str, after: str, place: str) -> None:
    assert desk.definitions(ONE, (HEAD + BODY).replace(before, after, 1)) == [place]


def test_definition_of_a_link_and_of_a_label_of_another_page(desk: Desk) -> None:
    desk.write(ONE, HEAD + BODY)
    assert desk.definitions(TWO, FILES[TWO].replace("one#eq", "one#e▮q")) == ["content/posts/one.md:9:20"]
    assert desk.definitions(TWO, FILES[TWO].replace("(one.md", "(o▮ne.md")) == ["content/posts/one.md:9:20"]


def test_references_stand_in_all_pages(desk: Desk) -> None:
    desk.write(TWO, FILES[TWO])
    found = desk.references(ONE, (HEAD + BODY).replace("@eq-sum", "@eq▮-sum"))
    assert found == [
        "content/posts/one.md:9:20",
        "content/posts/one.md:12:10",
        "content/posts/one.md:12:24",
        "content/posts/one.md:12:37",
        "content/posts/two.md:6:10",
        "content/posts/two.md:6:37",
    ]


def test_rename_of_a_label_keeps_each_spelling(desk: Desk) -> None:
    desk.write(TWO, FILES[TWO])
    text = (HEAD + BODY).replace("\\label{eq:sum", "\\label{eq:s▮um")
    found = desk.renamed(ONE, text, "eq:total")
    own = HEAD + BODY
    assert found[ONE] == own.replace("eq:sum", "eq:total").replace("eq-sum", "eq-total")
    assert found[TWO] == FILES[TWO].replace("eq:sum", "eq:total").replace("eq-sum", "eq-total")


@each_row("name", ["thm-total", "eq", "eq:a b", "total", "", "eq:{}"])
def test_names_that_a_label_cannot_have_are_refused(desk: Desk, name: str) -> None:
    with pytest.raises(RenameError):
        desk.renamed(ONE, (HEAD + BODY).replace("@eq-sum", "@eq▮-sum"), name)


def test_a_name_that_is_taken_is_refused(desk: Desk) -> None:
    text = HEAD + BODY + "\n$$ c $$ {#eq:total}\n"
    with pytest.raises(RenameError, match="already has it"):
        desk.renamed(ONE, text.replace("@eq-sum", "@eq▮-sum"), "eq:total")


def test_what_can_be_renamed_is_said_before(desk: Desk) -> None:
    found = desk.service.prepare_rename(*desk.point(ONE, (HEAD + BODY).replace("{@eq", "{@e▮q")))
    assert found == types.PrepareRenamePlaceholder(
        types.Range(types.Position(12, 24), types.Position(12, 30)), "eq:sum"
    )
    assert (
        desk.service.prepare_rename(*desk.point(ONE, (HEAD + BODY).replace("It holds", "It ▮holds"))) is None
    )


def test_symbols_of_a_page_and_of_the_site(desk: Desk) -> None:
    desk.write(ONE, HEAD + BODY)
    (top,) = desk.service.symbols(desk.uri(ONE))
    assert top.name == "Sums"
    assert [one.name for one in top.children or ()] == ["Equation (1)", "Theorem 1", "Figure 1"]
    assert {one.name for one in desk.service.find_symbols("sum")} == {"eq:sum"}
    assert {one.name for one in desk.service.find_symbols("tw")} == {"Two"}


def test_front_matter_callouts_and_fences_fold(desk: Desk) -> None:
    desk.write(ONE, HEAD + BODY + "\n```python\nx = 1\n```\n")
    found = [(one.start_line, one.end_line) for one in desk.service.folds(desk.uri(ONE))]
    assert found == [(0, 4), (16, 17), (21, 23)]


def test_links_can_be_followed(desk: Desk) -> None:
    desk.open(TWO, FILES[TWO])
    assert [one.target for one in desk.service.links(desk.uri(TWO))] == [desk.uri(ONE)]


def test_quick_fixes_of_what_is_wrong(desk: Desk) -> None:
    text = HEAD + "𝔄 $\\alpah$ {@eq:sum}\n\n$$ a $$ {#eq:sum}\n"
    desk.write(ONE, text)
    line = types.Range(types.Position(6, 0), types.Position(6, 0))
    (action,) = desk.service.actions(desk.uri(ONE), line)
    assert action.kind == types.CodeActionKind.QuickFix
    assert [one.code for one in action.diagnostics or ()] == ["math-command"]
    assert action.edit is not None
    assert dict(desk._edited(action.edit)) == {ONE: text.replace("\\alpah", "\\alpha")}
    desk.write(ONE, HEAD + BODY)
    assert not desk.service.actions(desk.uri(ONE), line)


def test_a_recorded_result_is_shown(tmp_path: Path) -> None:
    import datetime as dt

    from blogsmith.features.site_cells import execute_site
    from blogsmith.project.report import BuildOptions, ExecutionOptions, no_progress

    text = HEAD + "```{python}\nprint('three', 1 + 2)\n```\n\nIt is {= 1 + 2 =}.\n"
    desk = Desk(tmp_path, {"blogsmith.yaml": "title: Desk\n", ONE: text})
    now = dt.datetime(2026, 11, 23, tzinfo=dt.UTC)
    execute_site(tmp_path, (), BuildOptions(now, execution=ExecutionOptions(execute="all")), no_progress)
    shown = desk.hover(ONE, text.replace("print", "pr▮int"))
    assert "three 3" in shown
    assert "Recorded" in shown
    assert "= 3" in desk.hover(ONE, text.replace("{= 1", "{= ▮1"))


# -- pure functions --


def _cursor(text: str) -> tuple[str, str] | None:
    offset = text.index(CURSOR)
    found = find_cursor(TextBuffer(text.replace(CURSOR, "")), offset)
    return (found.kind, found.word) if found else None


@each_row(
    ("text", "expected"),
    [
        ("{@eq:a▮b}", ("label", "eq:a")),
        ("[@a; see @b▮]", ("citation", "b")),
        ("[see -@b▮", ("citation", "b")),
        ("\\[ \\al▮", ("command", "al")),
        ("$$\na\n\\al▮", ("command", "al")),
        ("\\begin{align}\n\\al▮", ("command", "al")),
        ("$a$ and \\al▮", None),
        ("> $a \\al▮", ("command", "al")),
        ('{% img src="a▮', ("file", "a")),
        ('{% img src="a.png" al▮', ("argument", "al")),
        ("```python file=co▮", ("file", "co")),
    ],
)
def test_cursor(text: str, expected: tuple[str, str] | None) -> None:
    assert _cursor(text) == expected


def test_cursor_in_yaml() -> None:
    text = "a:\n  b:\n    - c: 1\n      d▮\n"
    found = find_yaml_cursor(TextBuffer(text.replace(CURSOR, "")), text.index(CURSOR))
    assert found is not None
    assert (found.kind, found.word, found.path) == ("key", "d", ("a", "b"))


def test_formulas_that_are_open() -> None:
    assert ends_in_formula("$a")
    assert ends_in_formula("\\(a")
    assert not ends_in_formula("$a$ \\$ ")
    assert not ends_in_formula("`$` and ``$``")


@pytest.mark.parametrize("size", [2_000, 200_000])
def test_hostile_lines_are_looked_at_quickly(desk: Desk, size: int) -> None:
    import time

    began_s = time.process_time()
    for text in ("{% a " * size, "[@a;" * size, "$" * size, "```" * size, "\\begin{a}" * size, "- " * size):
        find_cursor(TextBuffer(text), len(text))
        find_yaml_cursor(TextBuffer(text), len(text))
    assert time.process_time() - began_s < 5
