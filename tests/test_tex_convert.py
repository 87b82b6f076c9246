"""Formulas from TeX to MathML: output, rejected input and positions of errors."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blogsmith.base.diagnostics.codes import CODES
from blogsmith.tex.convert import MAX_LENGTH, TexError, convert_formula
from blogsmith.tex.mathml.allowlist import ATTRIBUTES, ELEMENTS, is_safe_url
from blogsmith.tex.parse.state import RowNumber
from tests.rows import each_row, examples

COMMENT = r"write `\%` to print `%`: otherwise `%` starts a comment"
FENCES = r"write a delimiter such as `(`, `[`, `\{`, `|` or `\langle`, or `.` for none"
OWN = "correct the name, or declare `{}` under `math: macros:`"
ALIGN = r"\begin{align}a&=b\label{eq:x}\\x\\c&=d\\\end{align}"


def shown(tex: str, *, display: bool = True, **macros: str) -> str:
    """Return the text of the formula, as a reader sees it."""
    formula = convert_formula(
        tex, display=display, macros={"\\" + name: body for name, body in macros.items()}
    )
    return "".join(ElementTree.fromstring(formula.mathml).itertext())


def refused(tex: str, *, display: bool = True, **macros: str) -> TexError:
    with pytest.raises(TexError) as caught:
        shown(tex, display=display, **macros)
    assert caught.value.kind in CODES
    assert 0 <= caught.value.offset <= len(tex)
    return caught.value


def test_math_element_carries_display_and_the_authors_tex() -> None:
    block = convert_formula(" a<b ", display=True).mathml
    inline = convert_formula('"', display=False).mathml
    assert block.startswith('<math display="block" alttext="a&lt;b"><mi>a</mi>')
    assert inline.startswith('<math alttext="&quot;">')


@each_row(
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
        (r"\begin{aligned}a\\ [x]b\\[-\dp\strutbox]c\end{aligned}", "a[x]bc"),
        (r"\begin{equation*}a \\ b \\ \end{equation*}", "ab"),
        (r"\newenvironment{cd}{\begin{tikzcd}}{\end{tikzcd}}\begin{cd}A\rar&B\end{cd}", "AB"),
        (r"\NewDocumentCommand{\g}{s E{_^}{{0}{}}}{[#1#2#3]}\g^b_a\g*", "[ab][0]"),
        (r"\newcommand{\arccsc}{x}\arccsc\scalerel*{E}{\sum}\text{a\xspace\hyperlink{b}{c}}", "xEac"),
        (r"\boldsymbol{10}+\bm{x}", "𝟏𝟎+𝒙"),
        (r"\log a", "log\u2061a"),
        (r"\verb|\a{<&|", r"\a{<&"),
        (r"\verb*|a b|", "a␣b"),
        ("\\char`<\\char60\\char'74\\char\"3C\\unicode{x3c}", "<<<<<"),
        ("a % remark\n+ b", "a+b"),
        ("a\x00\x1b\ufffe\uffff\ud800b", "ab"),
        ("", ""),
    ],
)
def test_constructs_of_real_posts(tex: str, text: str) -> None:
    assert shown(tex, R=r"\mathbb{R}", add="{#1+#2}").replace("\xa0", " ") == text


@each_row(
    ("tex", "kind", "message", "at", "hint"),
    [
        (r"x+\gama", "math-command", r'unknown TeX command "\gama"', r"\gama", r"did you mean `\gamma`?"),
        (
            r"\sofmax x",
            "math-command",
            r'unknown TeX command "\sofmax"',
            r"\sofmax",
            r"did you mean `\softmax`?",
        ),
        ("日本 \\zzz", "math-command", r'unknown TeX command "\zzz"', "\\zzz", OWN.format(r"\zzz")),
        (r"\foobar", "math-command", r'unknown TeX command "\foobar"', r"\foobar", OWN.format(r"\foobar")),
        (
            r"x\begin{algin}a\end{algin}",
            "math-command",
            'unknown TeX environment "algin"',
            r"\begin{algin}",
            "did you mean `align`?",
        ),
        (r"\frac{1}{2", "math-brace", 'opening brace "{" is never closed', "{", "write `}` where it ends"),
        (
            "a}",
            "math-brace",
            'unmatched "}": nothing is open here',
            "}",
            "remove it, or write `\\}` to print `}`",
        ),
        (
            r"\left( x",
            "math-brace",
            r'"\left" is never closed',
            r"\left",
            "write `\\right)` or another `\\right` with a delimiter where it ends",
        ),
        (r"\text{50%}", "math-brace", 'opening brace "{" is never closed', "{", COMMENT),
        (
            r"\left[x\right",
            "math-syntax",
            r'missing delimiter after "\right"',
            r"\right",
            FENCES,
        ),
        (
            r"x \right)",
            "math-brace",
            r'unmatched "\right": nothing is open here',
            r"\right",
            "remove it, or write `\\left` before it",
        ),
        (
            r"\middle|",
            "math-brace",
            r'"\middle" is not allowed outside "\left" and "\right"',
            r"\middle",
            "write `\\left` before it and `\\right` after it",
        ),
        (
            r"\begin{align}a\end{gather}",
            "math-brace",
            r'unexpected "\end{gather}": "\begin{align}" is still open',
            r"\end{gather}",
            "write `\\end{align}` before it",
        ),
        (
            r"\begin{align}a",
            "math-brace",
            r'"\begin{align}" is never closed',
            r"\begin{align}",
            "write `\\end{align}` where it ends",
        ),
        (
            r"\begin{matrix}{a}}",
            "math-brace",
            r'unexpected "}": "\begin{matrix}" is still open',
            "}",
            "write `\\end{matrix}` before it",
        ),
        (r"\sqrt[3{x}", "math-brace", r'"[" after "\sqrt" is never closed', "[", "write `]` where it ends"),
        (
            "a & b",
            "math-syntax",
            '"&" is not allowed outside a table or alignment',
            "&",
            r"write `\&` to print `&`",
        ),
        (
            "{a & b}",
            "math-syntax",
            '"&" is not allowed outside a table or alignment',
            "&",
            r"write `\&` to print `&`",
        ),
        (
            r"\text{a_b}",
            "math-syntax",
            '"_" is not allowed in text',
            "_",
            r"write `\_` to print `_`",
        ),
        (
            "x_1_2",
            "math-syntax",
            "double subscript or superscript",
            "_",
            "group with braces, as in `{x_a}_b`",
        ),
        ("$x$", "math-syntax", '"$" is not allowed inside a formula', "$", r"write `\$` to print `$`"),
        ("a#b", "math-syntax", '"#" is not allowed outside a macro', "#", r"write `\#` to print `#`"),
        (
            r"\verb|a",
            "math-syntax",
            r'"\verb" is never closed',
            r"\verb",
            r"write `\verb|…|` with both bars on one line",
        ),
        (
            r"\href{#a}{\ref{b}}",
            "math-syntax",
            r'"\ref" is not allowed inside a link',
            r"\ref",
            "write it after the link",
        ),
        (
            "x\\",
            "math-syntax",
            r'missing command name after "\"',
            "\\",
            "write a name such as `\\alpha`, or `\\backslash` to print it",
        ),
    ],
)
def test_errors_point_at_the_author(tex: str, kind: str, message: str, at: str, hint: str) -> None:
    error = refused(tex, softmax=r"\operatorname{softmax}")
    assert (error.kind, error.message) == (kind, message)
    assert tex[error.offset : error.offset + error.length] == at
    assert error.hint == hint


@pytest.mark.parametrize("tex", ["x_1_2", "x^1_2^3", r"x_{a}_{b}"])
def test_the_second_script_is_the_wrong_one(tex: str) -> None:
    assert refused(tex).offset == max(tex.rindex(mark) for mark in "_^" if mark in tex)


@pytest.mark.parametrize("environment", ["align", "gather", "multline", "equation"])
def test_a_display_environment_stands_in_a_display(environment: str) -> None:
    tex = f"\\begin{{{environment}}}a\\end{{{environment}}}"
    assert refused(tex, display=False).message == f'"{environment}" is not allowed in an inline formula'


def test_an_error_is_the_same_in_a_formula_that_needs_places() -> None:
    """Comments and control characters do not shift positions."""
    tex = "a % b\n\x00\ufffe + \\nosuch"
    error = refused(tex)
    assert tex[error.offset : error.offset + error.length] == r"\nosuch"


def test_a_formula_has_a_longest_length() -> None:
    assert shown("x" * MAX_LENGTH)
    assert (
        refused("x" * (MAX_LENGTH + 1)).message
        == "formula is too long: 64,001 characters, 64,000 are allowed"
    )


def test_row_numbers() -> None:
    rows = [RowNumber("1", "eq-x"), None, RowNumber("2", "")]
    root = ElementTree.fromstring(convert_formula(ALIGN, display=True, rows=rows).mathml)
    found = root.findall(".//mtr")
    last = [list(row)[-1] for row in found]
    number = last[0].find("mtext")
    assert [row.get("id") for row in found] == ["eq-x", None, None]
    assert [cell.get("class") for cell in last] == ["eq-cell"] * 3
    assert ["".join(cell.itertext()) for cell in last] == ["(1)", "", "(2)"]
    assert len({len(row) for row in found}) == 1
    assert number is not None and number.attrib == {"class": "eq-number"}


@each_row("id", ['eq-"', "eq-a&b", "eq-<b>", "eq-it's", "eq-é", "eq-\\a"])
def test_any_label_names_a_row(id: str) -> None:
    markup = convert_formula(ALIGN, display=True, rows=[RowNumber("<1>", id)]).mathml
    row = ElementTree.fromstring(markup).find(".//mtr")
    assert row is not None and row.get("id") == id
    assert "".join(row.itertext()).endswith("(<1>)")


@pytest.mark.parametrize(
    "tex", ["x", r"\begin{equation}x\end{equation}", r"\begin{multline}a\\b\end{multline}"]
)
def test_a_display_with_one_number_has_it_beside_its_content(tex: str) -> None:
    root = ElementTree.fromstring(convert_formula(tex, display=True, rows=[RowNumber("1", "eq-x")]).mathml)
    (row,) = root.findall("./mtable/mtr")
    assert row.get("id") == "eq-x"
    assert "".join(row[-1].itertext()) == "(1)"


def test_rows_without_numbers_are_a_plain_alignment() -> None:
    markup = convert_formula(ALIGN, display=True).mathml
    assert "eq-cell" not in markup and "(1)" not in markup


SIGNS = "{}[]()^_&$#%~'|<> ax1.²\x00\ufffe\ud800é\\"
WORDS = r"""
\\ \frac \left \right \begin {align} \end \text \def \a \newcommand \substack \tag \href javascript:x <script>
\sqrt \verb \bigl \color{red} \hline \boldsymbol #1 \over {array} \let \not \limits \ce \qty \char \kern 1em
\expandafter \middle \ref \sum \operatorname
"""
TEXTS = st.lists(
    st.sampled_from([*SIGNS, *WORDS.split()]),
    max_size=25,
).map("".join)


@given(tex=TEXTS | st.text(max_size=60), display=st.booleans())
@example(tex=r"\text{$\text{$x$}$}", display=True)
@example(tex=r"\def\a#1{#²}\a x", display=True)
@examples(400)
def test_any_text_gives_listed_markup_or_a_tex_error(tex: str, display: bool) -> None:
    try:
        markup = convert_formula(tex, display=display).mathml
    except TexError as error:
        assert error.kind in CODES and error.message and 0 <= error.offset <= len(tex)
        assert "not safe" not in error.message
        return
    for element in ElementTree.fromstring(markup or "<math/>").iter():
        assert element.tag in ELEMENTS
        assert set(element.attrib) <= ATTRIBUTES | {"alttext", "class", "id", "href", "style", "aria-label"}
        assert "(" not in element.get("style", "")
        assert element.get("href", "#")[0] == "#" or is_safe_url(element.get("href", ""))
