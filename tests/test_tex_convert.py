"""Formulas from TeX to MathML: what comes out, what is refused and where the error points."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from blogsmith.tex.clean import ATTRIBUTES, ELEMENTS
from blogsmith.tex.engines import Engine
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blogsmith.codes import CODES
from blogsmith.tex.convert import TexError, convert_formula
from blogsmith.tex.numbering import RowNumber

OWN = "a command of your own is declared under math: macros:"
ENGINES: tuple[Engine, ...] = ("math-core", "latex2mathml")
ALIGN = r"\begin{align}a&=b\label{eq:x}\\x\\c&=d\\\end{align}"


def shown(tex: str, *, engine: Engine = "auto", **macros: str) -> str:
    """The text of the formula, as a reader sees it."""
    given = {"\\" + name: body for name, body in macros.items()}
    formula = convert_formula(tex, display=True, macros=given, engine=engine)
    return "".join(ElementTree.fromstring(formula.mathml).itertext())


def refused(tex: str, *, engine: Engine = "auto", **macros: str) -> TexError:
    with pytest.raises(TexError) as caught:
        shown(tex, engine=engine, **macros)
    assert caught.value.kind in CODES
    assert 0 <= caught.value.offset <= len(tex)
    return caught.value


def test_math_element_carries_display_and_the_authors_tex() -> None:
    block = convert_formula(" a<b ", display=True).mathml
    inline = convert_formula('"', display=False).mathml
    assert block.startswith('<math alttext="a&lt;b" display="block"><mi>a</mi>')
    assert inline.startswith('<math alttext="&quot;">')


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\begin{equation}\label{a}x\end{equation}", "x"),
        (r"\begin{equation*}\begin{split}a&=b\\c&=d\end{split}\end{equation*}", "a=bc=d"),
        (r"\begin{align}a&=b\\[5pt]c&=d\\\end{align}", "a=bc=d"),
        (r"\begin{align*}a&=b\\*c&=d\end{align*}", "a=bc=d"),
        (r"\begin{alignat}{2}a&=b&c&=d\end{alignat}", "a=bc=d"),
        (r"\begin{eqnarray}a&=&b\\c&=&d\end{eqnarray}", "a=bc=d"),
        (r"\begin{gather}a\\b\end{gather}", "ab"),
        (r"\begin{multline}a\\b\end{multline}", "ab"),
        (r"\begin{subequations}\begin{gather}a\end{gather}\end{subequations}", "a"),
        (r"\begin{aligned}[t]a&=b\end{aligned}", "a=b"),
        (r"x \notag \tag{7} \label{eq:a}", "x"),
        (r"\text{for $x$ in $y$}", "for x in y"),
        (r"\mbox{if }", "if "),
        (r"\sum_{\substack{i\\j}}", "∑ij"),
        (r"\R+\add{a}{b}", "ℝ+a+b"),
        ("a % remark\n+ b", "a+b"),
        ("a\x00\x1b\ufffe\uffff\ud800b", "ab"),
        ("", ""),
    ],
)
def test_constructs_of_real_posts(tex: str, text: str, engine: Engine) -> None:
    assert shown(tex, engine=engine, R=r"\mathbb{R}", add="{#1+#2}").replace("\xa0", " ") == text


def test_rows_keep_a_bracket_that_is_no_length() -> None:
    assert shown(r"\begin{aligned}a\\[x]b\end{aligned}") == "a[x]b"


def test_bold_digits_are_bold() -> None:
    assert shown(r"\boldsymbol{10}+\bm{x}") == "𝟏𝟎+𝒙"


def test_function_names_keep_their_invisible_application() -> None:
    assert shown(r"\log a") == "log\u2061a"


@pytest.mark.parametrize(
    ("tex", "kind", "message", "at", "hint"),
    [
        (r"x+\gama", "math-command", r"unknown TeX command \gama", r"\gama", r"did you mean \gamma?"),
        (r"\sofmax x", "math-command", r"unknown TeX command \sofmax", r"\sofmax", r"did you mean \softmax?"),
        ("日本 \\zzz", "math-command", "unknown TeX command \\zzz", "\\zzz", OWN),
        (
            r"x\begin{algin}a\end{algin}",
            "math-command",
            "unknown TeX environment algin",
            r"\begin{algin}",
            "did you mean align?",
        ),
        (r"\frac{1}{2", "math-brace", "opening brace { is never closed", "{2", ""),
        ("a}", "math-brace", "} closes nothing that is open", "}", ""),
        (r"\left( x", "math-brace", r"\left is never closed", r"\left", ""),
        (
            r"\begin{align}a\end{gather}",
            "math-brace",
            r"\end{gather} stands where \begin{align} is still open",
            r"\end{gather}",
            "",
        ),
        (r"\begin{align}a", "math-brace", r"\begin{align} is never closed", r"\begin{align}", ""),
        (r"\begin x", "math-brace", r"\begin{x} is never closed", r"\begin", ""),
        ("a & b", "math-syntax", "& stands outside a table or alignment", "&", r"write \& for the sign"),
        ("x_1_2", "math-syntax", "double subscript or superscript", "_", "group with braces, as in {x_a}_b"),
        ("$x$", "math-syntax", "$ stands inside a formula", "$", r"write \$ for the sign"),
        (r"a+\bad+b", "math-command", r"unknown TeX command \undefinedthing", r"\bad", OWN),
        (r"\open", "math-brace", "opening brace { is never closed", r"\open", ""),
    ],
)
def test_errors_point_at_the_author(tex: str, kind: str, message: str, at: str, hint: str) -> None:
    error = refused(tex, softmax=r"\operatorname{softmax}", bad=r"\undefinedthing", open="{x")
    assert (error.kind, error.message) == (kind, message)
    assert tex[error.offset : error.offset + len(at)] == at
    assert error.hint == hint


def test_an_error_length_covers_the_command() -> None:
    error = refused(r"a+\sofmax")
    assert (error.offset, error.length) == (2, len(r"\sofmax"))


@pytest.mark.parametrize("tex", [r"\foo{x}", "a & b", r"\begin{nope}a\end{nope}", r"\frac{1}{2", "x^1^2"])
def test_latex2mathml_refuses_what_it_would_misprint(tex: str) -> None:
    assert refused(tex, engine="latex2mathml").message


@pytest.mark.parametrize("engine", ENGINES)
def test_row_numbers(engine: Engine) -> None:
    rows = [RowNumber("1", "eq-x"), None, RowNumber("2", "")]
    root = ElementTree.fromstring(convert_formula(ALIGN, display=True, rows=rows, engine=engine).mathml)
    found = root.findall(".//mtr")
    last = [list(row)[-1] for row in found]
    number = last[0].find("mtext")
    assert [row.get("id") for row in found] == ["eq-x", None, None]
    assert [cell.get("class") for cell in last] == ["eq-cell"] * 3
    assert ["".join(cell.itertext()) for cell in last] == ["(1)", "", "(2)"]
    assert len({len(row) for row in found}) == 1
    assert number is not None and number.attrib == {"class": "eq-number"}


@pytest.mark.parametrize(
    "tex", ["x", r"\begin{equation}x\end{equation}", r"\begin{multline}a\\b\end{multline}"]
)
def test_a_display_with_one_number_leaves_it_to_the_page(tex: str) -> None:
    markup = convert_formula(tex, display=True, rows=[RowNumber("1", "eq-x")]).mathml
    assert "eq-x" not in markup.replace(tex, "")


def test_rows_without_numbers_are_a_plain_alignment() -> None:
    markup = convert_formula(ALIGN, display=True, rows=[None, None, None]).mathml
    assert "eq-cell" not in markup and "(1)" not in markup


TEXTS = st.lists(
    st.sampled_from(
        [
            *"{}[]()^_&$#%~'|<> ax1\x00\ufffe\ud800é\\",
            *("\\\\", "\\frac", "\\left", "\\right", "\\begin", "{align}", "\\end", "\\text", "\\def", "\\a"),
            *("\\newcommand", "\\substack", "\\tag", "\\href", "javascript:x", "<script>", "\\sqrt"),
            *("\\bigl", "\\color{red}", "\\hline", "\\boldsymbol", "#1"),
        ]
    ),
    max_size=25,
).map("".join)


@pytest.mark.parametrize("engine", ENGINES)
@given(tex=TEXTS | st.text(max_size=60), display=st.booleans())
@example(tex=r"\text{$\text{$x$}$}", display=True)
@settings(max_examples=150, deadline=None)
def test_any_text_gives_listed_markup_or_a_tex_error(engine: Engine, tex: str, display: bool) -> None:
    try:
        markup = convert_formula(tex, display=display, engine=engine).mathml
    except TexError as error:
        assert error.kind in CODES and error.message and 0 <= error.offset <= len(tex)
        return
    assert not re.search(r"<\w+[^>]*/>", markup)
    for element in ElementTree.fromstring(markup).iter():
        assert element.tag in ELEMENTS
        assert set(element.attrib) <= ATTRIBUTES | {"alttext"}
