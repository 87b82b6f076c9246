"""Formulas by the converter of a plugin: validation of its output, parts that stay ours, and the fallback."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from blogsmith.cli.main import main
from blogsmith.hooks import FormulaConverter, FormulaSource, Plugins
from blogsmith.hooks.loader import load_plugins
from blogsmith.pools import page_executor
from blogsmith.project.bundled_folders import bundled_folder
from blogsmith.project.report import ExecutionOptions
from blogsmith.project.trust.consent import trust
from blogsmith.render.converters import choose_converter, convert_with_plugin, with_plugin
from blogsmith.tex.convert import TexError, TypesetFormula, convert_formula
from blogsmith.tex.errors import UnusableMathmlError
from blogsmith.tex.foreign.reader import MAX_DEPTH, read_mathml
from blogsmith.tex.foreign_formula import remove_numbers
from blogsmith.tex.parse.state import RowNumber
from tests.build_scripts import compare
from tests.hostile_formulas import BOMBS, NESTED, REPEATED
from tests.page_checks import dangers, markup_problems
from tests.rows import each_row
from tests.site_files import build, put, put_bare

POST = "---\ntitle: A\ndate: 2026-03-01\n---\n"
MINE = """\
def register(hooks):
    @hooks.formula_converter({options})
    def typeset(formula):
        return {result}
"""
ROOT_SIGN = "'<math><mo>√</mo></math>'"


def inside(markup: str) -> str:
    return read_mathml(f"<math>{markup}</math>").content


def reason(markup: str) -> str:
    with pytest.raises(UnusableMathmlError) as caught:
        read_mathml(markup)
    return str(caught.value)


class TestMarkup:
    @each_row(
        ("given", "kept"),
        [
            ("<mrow><mi>x</mi><mo>=</mo><mn>1</mn></mrow>", "<mi>x</mi><mo>=</mo><mn>1</mn>"),
            (
                "<mi>a</mi>\n  <mo stretchy='false' separator='true'>(</mo>",
                '<mi>a</mi><mo stretchy="false">(</mo>',
            ),
            ("<mo>&#x3C;</mo><mo>&nbsp;&InvisibleTimes;</mo>", "<mo>&lt;</mo><mo>\u00a0\u2062</mo>"),
            ("<mi mathvariant='bold'>x</mi>", "<mi>𝐱</mi>"),
            ("<mi mathvariant='bold'>≠</mi>", '<mi mathvariant="normal">≠</mi>'),
            ("<mi mathvariant='normal'>d</mi>", '<mi mathvariant="normal">d</mi>'),
            ("<mi mathvariant='normal'>sin</mi>", "<mi>sin</mi>"),
            ("<mi mathvariant='double-struck'>R</mi>", "<mi>ℝ</mi>"),
            ("<mtext mathvariant='bold'>if</mtext>", "<mtext><b>if</b></mtext>"),
            ("<mspace width='negativethinmathspace'/>", '<mrow style="margin-left:-0.1667em"></mrow>'),
            ("<mspace width='3mu'/>", '<mspace width="0.1667em"/>'),
            (
                "<mstyle mathcolor='Red'><mi>x</mi></mstyle>",
                '<mstyle mathcolor="#ed1b23"><mi>x</mi></mstyle>',
            ),
            ("<semantics><mi>x</mi><annotation>x</annotation></semantics>", "<mi>x</mi>"),
            (
                "<mfrac linethickness='0'><mi>a</mi><mi>b</mi></mfrac>",
                '<mfrac linethickness="0"><mi>a</mi><mi>b</mi></mfrac>',
            ),
            (
                "<mi>A</mi><mtable columnalign='right left'><mtr><mtd><mi>a</mi></mtd><mtd/></mtr></mtable>",
                '<mi>A</mi><mtable class="math-align"><mtr><mtd style="text-align:right;justify-items:right">'
                '<mi>a</mi></mtd><mtd style="text-align:left;justify-items:left"></mtd></mtr></mtable>',
            ),
        ],
    )
    def test_is_written_anew(self, given: str, kept: str) -> None:
        assert inside(given) == kept

    @each_row(
        ("markup", "why"),
        [
            ("<mi>x</mi>", "it is not a <math> element"),
            ("<math></math>", "it is empty"),
            ("<math><mi>x</math>", "its markup is not valid XML: mismatched tag"),
            ("<math><mi>&</mi></math>", "its markup is not valid XML: not well-formed (invalid token)"),
            (
                "<!DOCTYPE x [<!ENTITY a 'b'>]><math><mi>&a;</mi></math>",
                "its markup contains declarations or comments",
            ),
            ("<math><!-- --><mi>x</mi></math>", "its markup contains declarations or comments"),
            ("<math>x</math>", "its <math> contains text"),
            ("<math><mtext><script>a</script></mtext></math>", "its mtext contains <script> instead of text"),
            ("<math><mtext><mi>a</mi></mtext></math>", "its mtext contains <mi> instead of text"),
            (
                "<math><script>a</script></math>",
                "<script> is not a supported element of MathML Core",
            ),
            ("<math><menclose><mi>a</mi></menclose></math>", "<menclose> is not a supported element"),
            ("<math xmlns:s='s'><s:mi>a</s:mi></math>", "<mi> is not a supported element"),
            (
                "<math onload='x'><mi>a</mi></math>",
                'its math has the attribute "onload", which is not allowed',
            ),
            (
                "<math><mi onclick='x'>a</mi></math>",
                'its mi has the attribute "onclick", which is not allowed',
            ),
            (
                "<math><mrow href='javascript:x'><mi>a</mi></mrow><mi/></math>",
                'its mrow has the attribute "href", which',
            ),
            (
                "<math xmlns:l='l'><mi l:href='x'>a</mi></math>",
                'its mi has the attribute "href", which is not allowed',
            ),
            (
                "<math><mi style='background:url(//x)'>a</mi></math>",
                'its mi has the attribute "style", which is not allowed',
            ),
            ("<math><mi id='a'>a</mi></math>", 'its mi has the attribute "id", which is not allowed'),
            ("<math><mstyle mathcolor='url(x)'><mi>a</mi></mstyle></math>", 'Core has no mathcolor="url(x)"'),
            ("<math><mpadded width='+1em'><mi>a</mi></mpadded></math>", 'MathML Core has no width="+1em"'),
            ("<math><mtable frame='solid'/></math>", 'MathML Core has no frame="solid" for mtable'),
            ("<math><mtable><mlabeledtr/></mtable></math>", "its table contains <mlabeledtr>"),
            ("<math><mfrac><mi>a</mi></mfrac></math>", "its mfrac has 1 children, expected 2"),
            ("<math><mi>\\foo</mi></math>", "it prints \\foo as text"),
            ("<math><mi mathvariant='looped'>a</mi></math>", 'MathML Core has no mathvariant="looped"'),
            (
                "<math><mstyle mathvariant='bold'><mi>a</mi></mstyle></math>",
                "has no mathvariant for <mstyle>",
            ),
            ("<math>" + "<mrow>" * 200 + "</mrow>" * 200 + "</math>", "it is nested too deeply"),
            ("<math><mi>" + "x" * 1_000_000 + "</mi></math>", "its markup is too long: 1,000,"),
        ],
    )
    def test_is_refused_with_the_reason(self, markup: str, why: str) -> None:
        assert why in reason(markup)

    def test_depth_is_no_matter_of_the_stack(self) -> None:
        for opening, closing in (("<mrow>", "</mrow>"), ("<mtable><mtr><mtd>", "</mtd></mtr></mtable>")):
            depth = MAX_DEPTH // opening.count("<") - 2
            inside(f"{opening * depth}<mi>x</mi>{closing * depth}")

    def test_time_is_linear(self) -> None:
        started = time.process_time()
        for junk in ("<", "<mi", "&", "&a", "<mi a=", "<mi>\\", "<mrow>", "</mrow>", '<mo a="'):
            with pytest.raises(UnusableMathmlError):
                read_mathml(f"<math>{junk * (900_000 // len(junk))}</math>")
        assert time.process_time() - started < 5


class TestSource:
    @each_row(
        ("tex", "given"),
        [
            (r"x \label{eq:a}", "x"),
            (r"x \tag*{a} % why", "x"),
            ("a % why\nb", "a b"),
            (r"a \% b", r"a \% b"),
            (
                r"\begin{align} a &= b \label{x} \\ c \notag \end{align}",
                r"\begin{align*} a &= b  \\ c  \end{align*}",
            ),
            (r"\begin{aligned} a \end{aligned}", r"\begin{aligned} a \end{aligned}"),
            (r"\labelled \tagged", r"\labelled \tagged"),
            (r"\begin{equation}x\end{equation}", r"\begin{equation*}x\end{equation*}"),
        ],
    )
    def test_has_no_numbers(self, tex: str, given: str) -> None:
        assert remove_numbers(tex) == given

    def test_has_no_macros(self) -> None:
        seen: list[FormulaSource] = []
        typeset(r"\def\b{y}\R \b", lambda source: seen.append(source), macros={r"\R": r"\mathbb{R}"})
        assert seen == [FormulaSource(r"\mathbb{R} y", False)]


def typeset(tex: str, convert: Any, *, told: list[str] | None = None, **more: Any) -> TypesetFormula:
    """Typeset a formula by this converter, in our frame."""
    commands = frozenset(more.pop("commands", ()))
    plugged = with_plugin(
        convert_formula,
        FormulaConverter("mine", convert, commands),
        convert_with_plugin,
        (told if told is not None else []).append,
    )
    given: dict[str, Any] = {"display": False, "macros": {}, "rows": (), "packages": frozenset(), **more}
    return plugged(tex, **given)


def table(*rows: str) -> Any:
    cells = "".join(f"<mtr><mtd><mi>{row}</mi></mtd></mtr>" for row in rows)
    return lambda source: f"<math><mrow><mtable>{cells}</mtable></mrow></math>"


class TestFrame:
    def test_text_for_readers_is_ours(self) -> None:
        made = typeset(r"\R < 1", lambda source: '<math alttext="no"><mi>z</mi></math>', macros={r"\R": "r"})
        assert made.mathml == r'<math alttext="\R &lt; 1"><mi>z</mi></math>'

    def test_rows_carry_our_numbers(self) -> None:
        rows = [RowNumber("1", "eq-a"), None]
        made = typeset(r"\begin{align}a\\b\end{align}", table("a", "b"), display=True, rows=rows)
        assert '<mtr id="eq-a"><mtd style="width:50%"></mtd><mtd><mi>a</mi></mtd>' in made.mathml
        assert '<mtext class="eq-number">(1)</mtext>' in made.mathml
        assert 'class="math-matrix" displaystyle="true" style="width:100%"' in made.mathml

    def test_a_tag_stands_beside_one_formula(self) -> None:
        rows = [RowNumber("1", "")]
        made = typeset("x", lambda source: "<math><mi>z</mi></math>", display=True, rows=rows)
        assert '<mtd><mi>z</mi></mtd><mtd class="eq-cell"' in made.mathml

    @each_row(
        ("tex", "result", "why"),
        [
            ("x", None, "the plugin skips it"),
            ("x", 3, "its result is not a string"),
            (
                "x",
                "<math><mi onclick='a'>x</mi></math>",
                'its mi has the attribute "onclick", which is not allowed',
            ),
            (
                r"\href{https://example.org}{x}",
                ROOT_SIGN,
                "it contains a link, an id or a class, which",
            ),
            (r"\eqref{a}", ROOT_SIGN, "it contains a link, an id or a class, which need blogsmith's markup"),
            (
                r"\htmlId{a}{x}",
                ROOT_SIGN,
                "it contains a link, an id or a class, which need blogsmith's markup",
            ),
            (
                r"\class{a}{x}",
                ROOT_SIGN,
                "it contains a link, an id or a class, which need blogsmith's markup",
            ),
        ],
    )
    def test_ours_is_taken(self, tex: str, result: object, why: str) -> None:
        told: list[str] = []
        assert typeset(tex, lambda source: result, told=told) == convert_formula(tex, display=False)
        (found,) = told
        assert found.startswith(why)

    def test_rows_that_do_not_fit(self) -> None:
        told: list[str] = []
        rows = [RowNumber("1", ""), RowNumber("2", ""), None]
        tex = r"\begin{align}a\\b\\c\end{align}"
        made = typeset(tex, table("a", "b"), display=True, rows=rows, told=told)
        assert made == convert_formula(tex, display=True, rows=rows)
        assert told == ["it has 2 of 3 rows"]

    def test_exceptions_are_reasons(self) -> None:
        def fail(source: FormulaSource) -> str:
            raise RuntimeError("no\nsuch  thing")

        told: list[str] = []
        typeset("x", fail, told=told)
        assert told == ["RuntimeError: no such thing"]

    def test_formulas_that_only_define_are_no_news(self) -> None:
        told: list[str] = []
        made = typeset(r"\def\a{b}", lambda source: None, told=told)
        assert (made.mathml, [*made.macros], told) == ("", [r"\a"], [])

    def test_a_formula_without_end_is_ours(self) -> None:
        def loop(source: FormulaSource) -> str:
            while True:
                pass

        told: list[str] = []
        with patch("blogsmith.render.converters.DEADLINE_S", 0.05):
            assert typeset("x", loop, told=told) == convert_formula("x", display=False)
        assert told == ["it takes longer than 0.05 s"]


class TestMistakes:
    def test_are_told_as_ever(self) -> None:
        for tex in (r"\sofmax", r"\frac{1}{", "x_1_2"):
            with pytest.raises(TexError):
                typeset(tex, lambda source: "<math><mi>z</mi></math>", commands=[r"\other"])

    def test_a_command_may_be_the_converters(self) -> None:
        def answer(source: FormulaSource) -> str | None:
            return "<math><mi>z</mi></math>" if r"\zzz" in source.tex else None

        tex = r"\def\a{b} \zzz{x}"
        made = typeset(tex, answer, commands=[r"\zzz"])
        assert made.mathml.endswith("<mi>z</mi></math>")
        assert [*made.macros] == [r"\a"]
        with pytest.raises(TexError):
            typeset(tex, lambda source: None, commands=[r"\zzz"])


def test_which_converter_is_taken() -> None:
    one = FormulaConverter("one", lambda source: None, trusted=True)
    plugins = Plugins(converters={"one": one})
    assert choose_converter(Plugins(), "", untrusted=False) is None
    assert choose_converter(plugins, "", untrusted=False) is one
    assert choose_converter(plugins, "one", untrusted=False) is one
    assert choose_converter(plugins, "blogsmith", untrusted=False) is None
    assert choose_converter(plugins, "", untrusted=True) is None
    with pytest.raises(LookupError):
        choose_converter(plugins, "two", untrusted=False)


def page(root: Path, name: str = "a") -> str:
    return (root / "public/posts" / name / "index.html").read_text("utf-8")


def own_site(root: Path, result: str = ROOT_SIGN, more: str = "", options: str = "") -> Path:
    """Create a minimal site with its own converter, not trusted yet."""
    return put_bare(
        root,
        {
            "blogsmith.yaml": f"title: T\nplugins: [mine]\n{more}\n",
            "plugins/mine.py": MINE.format(result=result, options=options),
            "content/posts/a.md": f"{POST}$x$ and $y$\n\n$$z \\label{{eq:z}}$$\n\nsee \\eqref{{eq:z}}\n",
            "content/posts/b.md": POST.replace("---\n", "---\nmath: {converter: blogsmith}\n", 1) + "$x$\n",
        },
    )


class TestSites:
    def test_a_site_chooses_and_a_page_may_say_otherwise(self, tmp_path: Path) -> None:
        root = own_site(tmp_path / "site")
        trust(root)
        report = build(root)
        assert report.ok, report.diagnostics
        assert page(root).count("<mo>√</mo>") == 3
        assert '<a class="eq-number" href="#eq-z">(1)</a>' in page(root)
        assert "<mi>x</mi>" in page(root, "b")
        (root / "blogsmith.yaml").write_text("plugins: [mine]\ntheme: bare\nmath: {converter: blogsmith}\n")
        trust(root)
        build(root)
        assert "√" not in page(root)

    def test_strangers_formulas(self, tmp_path: Path) -> None:
        root = own_site(tmp_path / "site", more="markup: {untrusted: true}", options="trusted=True")
        trust(root)
        assert build(root).ok
        assert "√" not in page(root)

    def test_what_is_kept_gives_what_a_build_from_nothing_gives(self, tmp_path: Path) -> None:
        root = own_site(tmp_path / "site", "'<math><mn>%d</mn></math>' % len(formula.tex)")
        trust(root)
        compare(root)
        (root / "content/posts/a.md").write_text(
            f"{POST}$x y$\n\n$\\frac12$ $\\href{{#a}}{{b}}$\n\n## A {{#a}}\n"
        )
        report = compare(root)
        assert "<mn>3</mn>" in page(root)
        kept = build(root, use_cache=True)
        # cached formulas are reported too
        assert not kept.rebuilt
        assert [*kept.fallbacks] == [*report.fallbacks] == ["content/posts/a.md"]
        (root / "plugins/mine.py").write_text(MINE.format(result=ROOT_SIGN, options=""))
        trust(root)
        compare(root)
        assert "√" in page(root)

    def test_processes_give_what_one_gives(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(page_executor, "MIN_SPAWN_BODIES", page_executor.MIN_FORK_BODIES)
        text = "$x_{n} \\sim y$ and $\\frac{{{n}}}2$\n"
        posts = {f"content/posts/p{n}.md": POST + text.format(n=n) for n in range(40)}
        root = put_bare(tmp_path / "site", {"blogsmith.yaml": "plugins: [latex2mathml]\n", **posts})
        made = []
        for jobs, method in ((1, ""), (2, "fork"), (2, "spawn")):
            report = build(root, execution=ExecutionOptions(jobs=jobs), start_method=method)
            made.append((report.fallbacks, page(root, "p3"), page(root, "p39")))
        assert made[0] == made[1] == made[2]
        assert len(made[0][0]) == 40

    def test_notes_are_told_once_a_reason(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        posts = {f"content/posts/{name}.md": f"{POST}\nSo $a \\sim b$, $c \\sim d$.\n" for name in "ab"}
        root = put_bare(tmp_path / "site", {"blogsmith.yaml": "plugins: [latex2mathml]\n", **posts})
        monkeypatch.chdir(root)
        assert main(["build", "-v"]) == 0
        note = (
            "content/posts/a.md:6:5: note: formula typeset by blogsmith instead of latex2mathml: "
            "the plugin skips it (and 3 more formulas)\n"
        )
        assert note in capsys.readouterr().err
        assert main(["build"]) == 0
        assert "note" not in capsys.readouterr().err

    def test_the_converter_of_the_manual(self, tmp_path: Path) -> None:
        manual = (bundled_folder("plugins").parent / "content/docs/mathematics.md").read_text("utf-8")
        (code,) = re.findall(r'```python title="plugins/kelvin.py"\n(.*?)```', manual, re.DOTALL)
        config = {"blogsmith.yaml": "plugins: [kelvin]\n", "plugins/kelvin.py": code}
        root = put_bare(tmp_path / "site", {**config, "content/posts/a.md": f"{POST}$\\kelvin$ $T$\n"})
        trust(root)
        assert build(root).ok
        assert (
            '<mi mathvariant="normal">K</mi></math> <math alttext="T"><mi class="math-lean-6">T</mi>'
            in page(root)
        )


class TestCommand:
    def test_asks_the_plugin(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        monkeypatch.chdir(tmp_path)
        assert main(["math", "--converter", "latex2mathml", "--display", r"\frac{a}{b} \tag{1}"]) == 0
        out, err = capsys.readouterr()
        assert "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac></mtd><mtd class=" in out
        assert err == ""
        assert main(["math", "--converter", "latex2mathml", r"a \sim b"]) == 0
        out, err = capsys.readouterr()
        assert "<mo>∼</mo>" in out
        assert err == "note: formula typeset by blogsmith: the plugin skips it\n"
        assert main(["math", "--converter", "mermaid", "x"]) == 1
        assert (
            'unknown formula converter "mermaid": no plugin of this site provides it'
            in capsys.readouterr().err
        )

    def test_knows_what_the_site_says(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
    ) -> None:
        root = own_site(tmp_path / "site")
        monkeypatch.chdir(root)
        assert main(["math", "x"]) == 0
        out, err = capsys.readouterr()
        assert "<mi>x</mi>" in out and "blogsmith trust" in err
        trust(root)
        assert main(["math", "x"]) == 0
        assert "√" in capsys.readouterr().out
        assert main(["math", "--converter", "blogsmith", "x"]) == 0
        assert "<mi>x</mi>" in capsys.readouterr().out


@pytest.fixture(scope="module")
def bundled() -> FormulaConverter:
    return load_plugins(["latex2mathml"], [bundled_folder("plugins")]).converters["latex2mathml"]


class TestLatex2mathml:
    """The bundled plugin."""

    def test_hostile_formulas(self, bundled: FormulaConverter) -> None:
        texts = [tex for tex in BOMBS.values() if len(tex) < 2_000]
        texts += (piece * 10 for piece in REPEATED)
        texts += [opening * 5 + "x" + closing * 5 for opening, closing in NESTED.values()]
        texts += [
            r"\text{<script>alert(1)</script>}",
            r"\text{<img src=x onerror=alert(1)>}",
            r"\color{red\" onclick=\"x}y",
            r"\textcolor{\"><script>}{x}",
            r"\href{javascript:alert(1)}{x}",
            r"\style{background:url(//x)}{y}",
            r"\mathrm{</math><script>}",
        ]
        plugged = with_plugin(convert_formula, bundled, convert_with_plugin, lambda why: None)
        for tex in texts:
            try:
                made = plugged(tex, display=True, macros={}, rows=(), packages=frozenset())
            except TexError:
                continue
            assert dangers(made.mathml) == [], tex
            assert markup_problems(made.mathml) == [], tex

    @pytest.mark.parametrize("name", ["blog", "everything"])
    def test_a_site_with_it_is_as_valid(self, name: str, tmp_path: Path, bundled: FormulaConverter) -> None:
        source = Path(__file__).parent / "sites" / name / "source"
        files = {str(p.relative_to(source)): p.read_bytes() for p in source.rglob("*") if p.is_file()}
        root = put(tmp_path / "site", files)
        config = (root / "blogsmith.yaml").read_text("utf-8")
        with_it = re.sub(r"^plugins: \[", "plugins: [latex2mathml, ", config, flags=re.MULTILINE)
        with_it = with_it if with_it != config else f"{config}\nplugins: [latex2mathml]\n"
        plain = build(root, output=tmp_path / "plain")
        (root / "blogsmith.yaml").write_text(with_it, "utf-8")
        report = build(root)
        assert report.ok, report.diagnostics
        assert (report.formulas, report.diagnostics) == (plain.formulas, plain.diagnostics)
        for file in sorted((root / "public").rglob("*.html")):
            html = file.read_text("utf-8")
            before = (tmp_path / "plain" / file.relative_to(root / "public")).read_text("utf-8")
            # numbers, ids, links and the TeX of formulas are the same
            assert ours_of(html) == ours_of(before)
            assert markup_problems(html) == markup_problems(before)

    def test_jsonl(self, tmp_path: Path, bundled: FormulaConverter) -> None:
        from blogsmith.cli.math_jsonl import make_answerer

        plugged = with_plugin(convert_formula, bundled, convert_with_plugin, lambda why: None)
        answer = make_answerer({r"\R": "r"}, convert=plugged)(b'{"id": 1, "tex": "\\\\R^2"}')
        assert json.loads(answer) == {
            "id": 1,
            "mathml": r'<math alttext="\R^2"><msup><mi>r</mi><mn>2</mn></msup></math>',
        }


def ours_of(html: str) -> list[str]:
    """Return the parts of a page's formulas that stay ours."""
    return re.findall(r' (?:alttext|data-tex|id|href)="[^"]*"|class="eq-[a-z]+"', html)
