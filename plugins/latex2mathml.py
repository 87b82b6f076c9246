r"""Formulas typeset by the library latex2mathml where its result matches TeX, and by blogsmith otherwise.

Version 3.81 differs from TeX in the following cases, which are left to blogsmith:

- characters with another meaning (`\sim` becomes `~`);
- capital Greek letters and single letters in `\mathrm`, which it slants;
- limits of operators in a display, which it sets beside them;
- digits in sans-serif, formulas inside `\text`, and commands that LaTeX packages redefine.

`make bench-math` in blogsmith's repository measures the differences.
`blogsmith check --second-opinion` compares the rest.
"""

import re
from importlib.util import find_spec

from blogsmith.hooks import FormulaSource, Hooks

SIGNS = """
Box Coloneq Diamond Join Koppa KaTeX LaTeX TeX VERT ast backepsilon blacksquare blacktriangle
blacktriangledown bullet capbarcup centerdot coloneq dashcolon dd doublebarwedge koppa lang leadsto lhd models
perp rang rhd setminus sim square strut triangledown triangleleft triangleright varinjlim varliminf varlimsup
varprojlim
"""
CAPITALS = "Delta Gamma Lambda Omega Phi Pi Psi Sigma Theta Upsilon Xi"
FACES = """
bf sf scr tt ttfamily mathnormal mathbfcal symbfcal mathbfscr symbfscr mathbffrak symbffrak mathbfsf
mathbfsfup symbfsf symbfsfup mathbfsfit symbfsfit omicron pmb textrm overline underline underbar
underbracket underlinesegment utilde wideutilde undertilde uwave dots displaystyle sideset above
abovewithdelims mathmakebox
"""
OPERATORS = "lim max min sup inf det gcd Pr liminf limsup injlim projlim argmax argmin"
LARGE = "sum prod coprod bigcap bigcup bigsqcup bigvee bigwedge bigodot bigoplus bigotimes biguplus"


def commands(names: str) -> str:
    """Return a pattern that matches one of these commands."""
    return rf"\\(?:{'|'.join(names.split())})(?![A-Za-z])"


UPRIGHT = r"\\(?:mathrm|operatorname)\s*(?:\{\s*(?:[A-Za-z]|\\[A-Za-z]+)\s*\}|[A-Za-z])"
DIGITS = rf"{commands('mathsf mathsfup symsf symsfup mathsfit symsfit')}\s*\{{[^{{}}]*\d"
TEXTS = r"\\(?:text[a-z]*|[mh]box)\s*\{[^{}]*[$\\]|\\operatorname\s*\*"
DIFFERENCES = re.compile(
    rf"{commands(f'{SIGNS} {CAPITALS} {FACES}')}|\\up[A-Za-z]+|\\[-/]|~|{UPRIGHT}|{DIGITS}|{TEXTS}"
)
LIMITS = re.compile(
    rf"{commands(OPERATORS)}\s*[_^]|\\operatorname\*|\\(?:left|sqrt).*?{commands(LARGE)}", re.DOTALL
)


def register(hooks: Hooks) -> None:
    if find_spec("latex2mathml") is None:
        raise ImportError(f"missing library: run `{hooks.install_command('latex2mathml')}`")

    @hooks.formula_converter()
    def typeset(formula: FormulaSource) -> str | None:
        if (
            formula.packages
            or DIFFERENCES.search(formula.tex)
            or (formula.display and LIMITS.search(formula.tex))
        ):
            return None
        # Imported with the first formula: its tables take as long as rendering a page.
        from latex2mathml.converter import convert

        return convert(formula.tex, display="block" if formula.display else "inline")
