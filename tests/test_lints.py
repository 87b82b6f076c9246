"""Lint warnings of `blogsmith check`: the findings of each lint, and what it ignores."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.cli.main import main
from blogsmith.config.load import parse_config
from blogsmith.config.schema import MathSettings
from blogsmith.hooks import Plugins
from blogsmith.lint.labels import find_references
from blogsmith.lint.macros import STARTER_MACROS
from blogsmith.lint.notation import split_formula
from blogsmith.lint.run import PageLint, lint_page, lint_site
from blogsmith.model.documents import Source
from blogsmith.project.bundled_folders import bundled_folder
from blogsmith.project.context import parse_options
from blogsmith.project.report import BuildReport
from blogsmith.read.front_matter import read_document
from blogsmith.syntax.parser import Parsed, make_parser, parse_document
from tests import markdown_texts
from tests.rows import examples
from tests.site_files import build, printed, put, put_bare

SYMBOLS = r"""
math:
  macros:
    '\R': '\mathbb{R}'
    '\KL': 'D_{\mathrm{KL}}'
    '\eps': '\varepsilon'
    '\pair': '\langle #1 \rangle'
  symbols:
    loss: {use: '\mathcal{L}', avoid: ['L', '\mathscr{L}', '\ell(\theta)']}
    data: {use: 'X', avoid: ['\mathbf X']}
"""
USES = r" $\R \KL \eps \pair{x}$"


def post(body: str, head: str = "") -> str:
    """Return a post whose body starts on line 5, without further keys in its front matter."""
    return f"---\ntitle: A\n{head}---\n\n{body}\n"


def draw(root: Path) -> None:
    """Create an image `a.svg` next to the posts."""
    folder = root / "content" / "posts"
    folder.mkdir(parents=True)
    (folder / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')


def checked(root: Path, posts: Mapping[str, str], config: str = "", **options: bool) -> BuildReport:
    """Return the report of `check` on a site of these posts."""
    # shortcodes are those of the usual theme
    has_shortcodes = any("{%" in text for text in posts.values())
    (put if has_shortcodes else put_bare)(root, {"blogsmith.yaml": config or "title: T\n"})
    for name, text in posts.items():
        file = root / "content" / "posts" / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return build(root, write=False, **options)


def shown(found: Diagnostic) -> str:
    """Return the underlined text of a lint warning, and its code."""
    assert found.place
    start = found.place.column - 1
    return f"{found.source_line[start : start + found.place.length]} [{found.code}]"


def found_in(root: Path, body: str, config: str = "", head: str = "") -> list[str]:
    """Return the underlined text in a site of one post."""
    report = checked(root, {"a": post(body, head)}, config)
    assert report.ok, report.diagnostics
    return [shown(found) for found in report.diagnostics]


DOLLARS = [
    ("Let $ x^2 $ be.", ["$ x^2 $"]),
    ("Let $ x $ and $ a = b$ be.", ["$ x $", "$ a = b$"]),
    ("Let $\\alpha be.", ["$"]),
    ("Let $x_1 be.", ["$"]),
    ("> - in a list $ x_1 $", ["$ x_1 $"]),
    ("| a | b |\n|---|---|\n| $ x_1 $ | c |", ["$ x_1 $"]),
    ("A note[^1].\n\n[^1]: It is $ x_1 $.", ["$ x_1 $"]),
    ("I paid $5 and up to 10$ more.", ["$5 and up to 10$"]),
    ("I paid $5 and 6$ more.", ["$5 and 6$"]),
    ("Then $we see that$ it holds.", ["$we see that$"]),
    ("It costs $20 or US$ 25.", ["$20 or US$"]),
    ("Set $HOME and not a$ in it.", ["$HOME and not a$"]),
    ("It costs $5, or $10 to $20, or US$25.", []),
    ("From 5$ to 10$ and $x_1$.", []),
    ("Let $x \\text{ is such that } y$ and $2 dx dy$ and $\\operatorname{arg max} f$.", []),
    ("Let $x$ be, \\$x_1 and `$ x_1 $` and <kbd title='$ x_1 $'>k</kbd>.", []),
    ("```\n$ x_1 $\n```", []),
    ("Write $HOME, not a$b_c.", []),
]


@pytest.mark.parametrize(("body", "expected"), DOLLARS)
def test_doubtful_dollars(tmp_path: Path, body: str, expected: list[str]) -> None:
    assert found_in(tmp_path, body) == [f"{text} [dollar-doubtful]" for text in expected]


def test_a_doubt_tells_what_to_do(tmp_path: Path) -> None:
    (found,) = checked(tmp_path, {"a": post("Let $ x^2 $ be.")}).diagnostics
    assert found.message == 'space inside the dollars, shown as text: "$ x^2 $"'
    assert found.hint == "remove the space next to the dollar, or write `\\$` for a literal dollar"
    assert found.place and (found.place.line, found.place.column) == (5, 5)


EQUATION = "$$ a = b \\label{eq:x} $$\n\n"
REFERENCES = [
    "See \\eqref{eq:x}.",
    "See \\ref{eq-x}.",
    "See {@eq:x}.",
    "See @eq-x.",
    "See [it](#eq-x).",
    'See <a href="#eq-x">it</a>.',
    "See $\\eqref{eq:x}$.",
    "A note[^1].\n\n[^1]: See {@eq:x}.",
    "See [it](a.md#eq-x).",
]


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_label_that_is_referred_to(tmp_path: Path, reference: str) -> None:
    assert found_in(tmp_path, EQUATION + reference) == []


@pytest.mark.parametrize(
    ("body", "label"),
    [
        (EQUATION, "eq:x"),
        ("$$ a = b $$ {#eq:x}", "eq:x"),
        ("$$ a = b \\label{energy} $$\n\nThe energy.", "energy"),
        (EQUATION + "See \\eqref{eq:y}. $$c \\label{eq:y}$$", "eq:x"),
        (EQUATION + "See {@eq:x-1}. $$c \\label{eq:x-1}$$", "eq:x"),
    ],
)
def test_a_label_that_is_not(tmp_path: Path, body: str, label: str) -> None:
    (found,) = checked(tmp_path, {"a": post(body)}).diagnostics
    assert found.code == "label-unused"
    assert found.message == f'label "{label}" is never used'
    assert found.place and found.source_line[found.place.column - 1 :].startswith(label)
    assert f"{{{label}}}" in found.hint or f"{{@{label}}}" in found.hint


def test_a_label_that_a_misspelled_reference_means(tmp_path: Path) -> None:
    (found,) = checked(tmp_path, {"a": post("$$c \\label{eq:gain}$$ See \\eqref{eq:gian}.")}).diagnostics
    assert (found.code, found.hint) == ("ref-undefined", "did you mean `eq:gain`?")


def test_theorems_and_headings_have_ids_to_be_linked_to(tmp_path: Path) -> None:
    assert found_in(tmp_path, "## A heading {#sec-x}\n\n> [!THEOREM] {#thm-x}\n> All is well.") == []


@pytest.mark.parametrize("head", ["", "draft: true\n", "date: 2099-01-01\n"])
def test_other_posts_may_refer_published_or_not(tmp_path: Path, head: str) -> None:
    other = post("See {@a#eq:x}.", head)
    assert checked(tmp_path, {"a": post(EQUATION), "b": other}).diagnostics == ()
    (found,) = checked(tmp_path, {"a": post(EQUATION), "b": post("See it.", head)}).diagnostics
    assert found.code == "label-unused"


def test_the_same_label_in_two_posts(tmp_path: Path) -> None:
    posts = {"a": post(EQUATION), "b": post(EQUATION + "See \\eqref{eq:x}.")}
    assert [found.path for found in checked(tmp_path, posts).diagnostics] == ["content/posts/a.md"]


def test_references_are_found_in_one_look() -> None:
    found = find_references(r"\eqref{a:b} \ref{ c } {@d#eq:e} @eq-f. [x](y.md#g) {#h} \eqref{i#tab:j}")
    assert found.here >= {"a-b", "c", "eq-f", "g"}
    assert found.elsewhere >= {"eq-e", "g", "tbl-j"}
    assert "h" not in found.here | found.elsewhere


MACROS = [
    ("", "math: {macros: {'\\a': 'b'}}\n", ["\\a"]),
    ("$\\a$", "math: {macros: {'\\a': 'b'}}\n", []),
    ("$\\ab$", "math:\n  macros:\n    '\\ab': 'b'\n    '\\a': 'c'\n", ["\\a"]),
    ("$\\a$", "math: {macros: {'\\a': '\\b', '\\b': 'c'}}\n", []),
    ("$\\newcommand{\\a}{b}$", "", ["\\a"]),
    ("$\\newcommand\\a{b} \\a$", "", []),
    ("$\\def\\a{b}$ and $\\a$", "", []),
    ("$\\let\\a=b$ $\\DeclareMathOperator*{\\b}{c}$ $\\def\\c#1{#1}$", "", ["\\a", "\\b", "\\c"]),
    ("{% include img.html src='a.svg' cap='A $\\a$' %}", "math: {macros: {'\\a': 'b'}}\n", []),
    ("$$\\a$$ {#eq:x} {@eq:x}", 'math: {macros: {"\\\\a": b}}\n', []),
]


@pytest.mark.parametrize(("body", "head", "expected"), MACROS)
def test_macros_of_a_page(tmp_path: Path, body: str, head: str, expected: list[str]) -> None:
    draw(tmp_path)
    assert found_in(tmp_path, body, head=head) == [f"{name} [macro-unused]" for name in expected]


ASKED = "diagnostics: {macro-unused: {level: error, in: blogsmith.yaml}}\n"
"""Macros of the settings are a library: a site must request reports of unused ones."""
SITE_MACROS = ASKED + "math:\n  macros:\n    '\\a': '\\b'\n    '\\b': 'c'\n    '\\d': '\\e'\n    '\\e': 'f'\n"


def test_macros_of_the_site(tmp_path: Path) -> None:
    found = checked(tmp_path, {"a": post("$\\a$"), "b": post("Text.")}, SITE_MACROS).diagnostics
    assert [(d.path, shown(d)) for d in found] == [
        ("blogsmith.yaml", "\\d [macro-unused]"),
        ("blogsmith.yaml", "\\e [macro-unused]"),
    ]
    assert found[0].message == 'macro "\\d" is never used in the site'


def test_a_macro_of_the_page_stands_in_for_that_of_the_site(tmp_path: Path) -> None:
    own = post("$\\d$", "math: {macros: {'\\d': 'e'}}\n")
    first = checked(tmp_path, {"a": post("$\\a$")}, SITE_MACROS).diagnostics[0]
    assert (first.severity, shown(first)) == ("error", "\\d [macro-unused]")
    found = checked(tmp_path, {"a": post("$\\a$"), "b": own}, SITE_MACROS).diagnostics
    assert [shown(d) for d in found] == ["\\d [macro-unused]", "\\e [macro-unused]"]


def test_a_draft_may_use_a_macro_of_the_site(tmp_path: Path) -> None:
    posts = {"a": post("$\\a$"), "b": post("$\\d$", "draft: true\n")}
    assert [shown(d) for d in checked(tmp_path, posts, SITE_MACROS).diagnostics] == []


def test_macros_of_the_site_are_a_library(tmp_path: Path) -> None:
    silent = SITE_MACROS.removeprefix(ASKED)
    assert checked(tmp_path, {"a": post("Text.")}, silent).diagnostics == ()


NOTATION = [
    ("$L(x)$", ["L"]),
    ("$\\mathcal{L} + \\mathcal L + {\\mathcal L}$", []),
    ("$\\mathscr{L} + \\mathscr L$", ["\\mathscr{L}", "\\mathscr L"]),
    ("$\\ell ( {\\theta} ) + \\ell(x)$", ["\\ell ( {\\theta} )"]),
    ("$\\frac{\\partial L}{\\partial w}$", ["L"]),
    ("$\\frac{L}{2}$", ["L"]),
    ("$\\hat{L} + L_1'$", ["L", "L"]),
    ("$\\mathbb{L} + \\text{Loss of L} + \\operatorname{L} + KL + LX + \\mathrm{L}$", []),
    ("$\\mathbf{X} + \\mathbf{x} + \\mathbf{XX}$", ["\\mathbf{X}"]),
    ("$\\def\\loss{L} \\loss$", []),
    ("$$\na = L\n$$", ["L"]),
    ("## Heading with $L$", ["L"]),
    ("> [!NOTE] On $L$\n> Text.", ["L"]),
]


@pytest.mark.parametrize(("body", "expected"), NOTATION)
def test_notation(tmp_path: Path, body: str, expected: list[str]) -> None:
    found = found_in(tmp_path, body + "\n\n" + USES, SYMBOLS)
    assert found == [f"{text} [notation-mixed]" for text in expected]


def test_notation_in_titles_and_captions(tmp_path: Path) -> None:
    draw(tmp_path)
    text = "---\ntitle: The $L$\ndescription: Of $\\mathscr L$\n---\n\n"
    text += "{% include img.html src='a.svg' cap='A $L$' %}\n" + USES
    found = checked(tmp_path, {"a": text}, SYMBOLS).diagnostics
    assert [(d.place and d.place.line, shown(d)) for d in found] == [
        (2, "L [notation-mixed]"),
        (3, "\\mathscr L [notation-mixed]"),
        (6, "L [notation-mixed]"),
    ]
    assert found[0].message == '"L" means "loss", which this site writes as "\\mathcal{L}"'


BYPASSED = [
    ("$x \\in \\mathbb{R}$", ["\\mathbb{R}"]),
    ("$x \\in \\mathbb R^n$", ["\\mathbb R"]),
    ("$D_{\\mathrm{KL}}(p) + D_\\mathrm{KL}(q) + D_{\\mathrm{JS}}$", ["D_{\\mathrm{KL}}", "D_\\mathrm{KL}"]),
    ("$\\varepsilon + \\langle x \\rangle + \\mathbb{RR}$", []),
]


@pytest.mark.parametrize(("body", "expected"), BYPASSED)
def test_macros_that_are_written_out(tmp_path: Path, body: str, expected: list[str]) -> None:
    found = found_in(tmp_path, body + USES, SYMBOLS)
    assert found == [f"{text} [macro-bypassed]" for text in expected]


def test_a_page_has_its_own_macros(tmp_path: Path) -> None:
    head = "math: {macros: {'\\R': '\\mathcal{R}', '\\C': '\\mathbb{C}'}}\n"
    body = "$\\mathbb{R} \\mathcal{R} \\mathbb{C} \\R \\C$"
    config = "math:\n  macros:\n    '\\R': '\\mathbb{R}'\n"
    posts = {"a": post(body, head), "b": post("$\\R$")}
    found = checked(tmp_path, posts, config).diagnostics
    assert [shown(d) for d in found] == ["\\mathcal{R} [macro-bypassed]", "\\mathbb{C} [macro-bypassed]"]


class TestMacrosOfTheStarter:
    """`blogsmith new site` declares them, so they do not show what the author wants."""

    def found(self, root: Path, macros: Mapping[str, str]) -> list[str]:
        config = f"{ASKED}math: {json.dumps({'macros': dict(macros)})}\n"
        return [shown(d) for d in checked(root, {"a": post("$\\mathbb{R}$")}, config).diagnostics]

    def test_they_are_known(self) -> None:
        text = (bundled_folder("starter") / "blogsmith.yaml").read_text("utf-8").replace("@", "")
        assert parse_config(text).config.math.macros == STARTER_MACROS

    def test_nobody_is_held_to_them(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, STARTER_MACROS) == []

    def test_beside_macros_of_ones_own(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, {**STARTER_MACROS, "\\E": "e"}) == ["\\E [macro-unused]"]

    def test_one_who_changes_them_has_chosen_them(self, tmp_path: Path) -> None:
        changed = {**STARTER_MACROS, "\\softmax": "s"}
        assert self.found(tmp_path, changed) == [
            "\\R [macro-unused]",
            "\\softmax [macro-unused]",
            "\\mathbb{R} [macro-bypassed]",
        ]


def test_doubts_are_told_by_check_only(tmp_path: Path) -> None:
    assert checked(tmp_path, {"a": post("I paid $5 and up to 10$ more.")}).diagnostics
    assert build(tmp_path).diagnostics == ()


def test_text_that_may_be_a_formula_is_told_by_a_build(tmp_path: Path) -> None:
    (found,) = checked(tmp_path, {"a": post("Let $ x^2 $ be.")}).diagnostics
    assert build(tmp_path).diagnostics == (found,)


def test_doubts_can_be_silenced_by_code(tmp_path: Path) -> None:
    body = "Let $ x^2 $ be. " + EQUATION
    silent = "diagnostics: {ignore: [dollar-doubtful]}\n"
    assert found_in(tmp_path, body, silent) == ["eq:x [label-unused]"]


def test_doubts_count_in_a_strict_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checked(tmp_path, {"a": post("Let $ x^2 $ be.")})
    monkeypatch.chdir(tmp_path)
    assert main(["check"]) == 0
    assert "(1 warning)" in capsys.readouterr().out
    assert main(["check", "--strict"]) == 1
    assert "content/posts/a.md:5:5: error: space inside the dollars" in capsys.readouterr().err


@given(st.one_of(st.text(), markdown_texts.MARKDOWN.map(str)))
@examples(60)
def test_doubts_never_raise_and_point_into_the_text(text: str) -> None:
    settings_read = parse_config(SYMBOLS)
    options = parse_options(settings_read.config, Plugins(), frozenset())
    document, _ = read_document(Source(PurePosixPath("content/a.md"), text, ""), settings_read.config)
    parsed = parse_document(document, make_parser(options), options)
    page = lint_page(parsed, settings_read.config.math)
    for found in lint_site([page], [], [text], settings_read):
        if found.path != "blogsmith.yaml":
            assert found.place and 1 <= found.place.line <= text.count("\n") + 1


@given(st.text(st.sampled_from("{}\\abL*[]= _^%"), max_size=60))
def test_pieces_cover_the_formula_in_order(tex: str) -> None:
    end = 0
    for piece in split_formula(tex):
        assert end <= piece.start < piece.end <= len(tex)
        end = piece.end


@pytest.mark.parametrize(
    "tex", ["{" * 32_000 + "x" + "}" * 32_000, "\\mathbf{" * 8_000, "\\def" * 16_000, "\\let\\a" * 10_000]
)
def test_long_formulas_take_no_long_time(tex: str) -> None:
    started = time.process_time()
    split_formula(tex)
    assert time.process_time() - started < 5


def test_columns_of_an_array_are_no_symbols() -> None:
    found = split_formula("\\begin{array}{c|c} a & {c} \\end{array}")
    assert [piece.text for piece in found] == ["\\begin arrayc|c", "a", "&", "c", "\\end array"]


@pytest.mark.parametrize(
    ("body", "reference"),
    [("| a |\n|---|\n| b |\n\n: A table {#tbl-x}", "{@tab:x}"), ("![a](a.svg){#fig-x}", "@fig-x")],
)
def test_figures_and_tables_are_to_be_referred_to(tmp_path: Path, body: str, reference: str) -> None:
    draw(tmp_path)
    (found,) = checked(tmp_path, {"a": post(body)}).diagnostics
    assert found.message.endswith(" is never used")
    assert checked(tmp_path, {"a": post(f"{body}\n\nSee {reference}.")}).diagnostics == ()


def test_a_formula_or_paragraph_full_of_doubts_is_told_in_part(tmp_path: Path) -> None:
    found = found_in(tmp_path, "$ x_1 $ and " * 100 + "\n\n$" + "L+" * 100 + "1$" + USES, SYMBOLS)
    assert found.count("L [notation-mixed]") == 20
    assert found.count("$ x_1 $ [dollar-doubtful]") == 100


POSTS: Mapping[str, str] = MappingProxyType(
    {
        "a": post("Let $ x^2 $ be.\n\n$$\n\\newcommand{\\own}{1} \\mathbb{R}\n$$ {#eq-one}"),
        "b": post("See [it](a.md#eq-one). $L \\KL \\eps \\pair{x}$"),
        "c": post("$\\R$", "draft: true\n"),
    }
)


class TestWhatIsKept:
    """A page without changes is not linted again, and the cached results equal new ones."""

    @pytest.fixture
    def found(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """Record the pages that are linted."""
        found: list[str] = []

        def look(page: Parsed, math: MathSettings) -> PageLint:
            found.append(page.document.path.stem)
            return lint_page(page, math)

        monkeypatch.setattr("blogsmith.rows.page_table.lint_page", look)
        return found

    def check(self, root: Path, posts: Mapping[str, str], config: str = ASKED + SYMBOLS) -> list[str]:
        """Check with a cache and compare with a check without it."""
        kept = checked(root, posts, config, use_cache=True)
        assert printed(kept) == printed(build(root, write=False))
        return [shown(one) for one in kept.diagnostics]

    def test_nothing_is_parsed_twice(self, tmp_path: Path, found: list[str]) -> None:
        first = checked(tmp_path, POSTS, SYMBOLS, use_cache=True)
        assert (len(first.diagnostics), found) == (4, ["a", "b"])
        again = checked(tmp_path, POSTS, SYMBOLS, use_cache=True)
        assert printed(again) == printed(first)
        assert (again.timings["parse"], found) == (0.0, ["a", "b"])

    def test_a_build_before_leaves_only_the_lints(self, tmp_path: Path, found: list[str]) -> None:
        checked(tmp_path, POSTS, SYMBOLS)
        found.clear()
        build(tmp_path, use_cache=True)
        assert found == []
        assert checked(tmp_path, POSTS, SYMBOLS, use_cache=True).rebuilt == {}
        assert found == ["a", "b"]

    def test_a_page_that_refers_to_a_label(self, tmp_path: Path, found: list[str]) -> None:
        before = self.check(tmp_path, POSTS)
        found.clear()
        without = {"b": POSTS["b"].replace("#eq-one", "")}
        checked(tmp_path, without, SYMBOLS, use_cache=True)
        assert found == ["b"]
        after = self.check(tmp_path, without)
        assert sorted(after) == sorted([*before, "eq-one [label-unused]"])

    def test_what_posts_use_that_wait(self, tmp_path: Path) -> None:
        before = self.check(tmp_path, POSTS)
        after = self.check(tmp_path, {"c": post("Nothing.", "draft: true\n")})
        assert sorted(after) == sorted([*before, "\\R [macro-unused]"])

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("avoid: ['L',", "avoid: ['Q',"),
            ("'\\R': '\\mathbb{R}'", "'\\R': '\\mathbb{Q}'"),
            # of two macros that mean the same the first one is named
            ("'\\R': '\\mathbb{R}'\n", "'\\Z': '\\mathbb{R}'\n    '\\R': '\\mathbb{R}'\n"),
        ],
    )
    def test_settings_of_formulas(self, tmp_path: Path, old: str, new: str) -> None:
        assert old in SYMBOLS
        assert self.check(tmp_path, POSTS) != self.check(tmp_path, {}, ASKED + SYMBOLS.replace(old, new))

    def test_the_order_of_macros(self, tmp_path: Path) -> None:
        config = "math:\n  macros: {'\\R': '\\mathbb{R}', '\\Z': '\\mathbb{R}'}\n"
        other = "math:\n  macros: {'\\Z': '\\mathbb{R}', '\\R': '\\mathbb{R}'}\n"
        first = checked(tmp_path, {"a": post("$\\mathbb{R}$")}, config, use_cache=True)
        self.check(tmp_path, {}, other)
        assert "write `\\R`" in printed(first)
        assert "write `\\Z`" in printed(build(tmp_path, write=False, use_cache=True))


WIDE_FRACTION = r"$$\frac{a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + b_1 + b_2 + b_3}{c} = 1$$"
WIDE_SUM = "$$" + " + ".join(f"a_{{{n}}}" for n in range(30)) + " = 1$$"
WIDE_MACRO = r"$$\def\q{a_1 + a_2 + a_3 + a_4} \frac{\q + \q + \q + \q}{c}$$"


def test_displays_that_scroll_on_a_phone_are_reported(tmp_path: Path) -> None:
    body = "\n\n".join(
        [
            WIDE_FRACTION,
            # It breaks.
            WIDE_SUM,
            f"{WIDE_SUM} {{wide=shrink}}",
            # The author has decided.
            f"{WIDE_FRACTION} {{wide=scroll}}",
            WIDE_MACRO,
        ]
    )
    report = checked(tmp_path, {"a": post(body)})
    found = [d.place.line for d in report.diagnostics if d.code == "math-wide" and d.place]
    assert found == [5, 9, 13]
    # A formula overrides its page.
    report = checked(tmp_path, {"a": post(body, "math: {wide: scroll}\n")})
    found = [d.place.line for d in report.diagnostics if d.code == "math-wide" and d.place]
    assert found == [10]


def test_checks_after_a_build_know_displays_that_scroll(tmp_path: Path) -> None:
    first = checked(tmp_path, {"a": post(WIDE_FRACTION)})
    report = build(tmp_path, use_cache=True)
    assert [d for d in report.diagnostics if d.code == "math-wide"] == []
    again = build(tmp_path, write=False, use_cache=True)
    assert [d.code for d in again.diagnostics if d.code == "math-wide"] == ["math-wide"]
    assert again.diagnostics == first.diagnostics
