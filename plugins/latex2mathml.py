r"""Formulas by the library latex2mathml, where it does them as TeX does; the others stay blogsmith's.

Needs the extra `latex2mathml`. What version 3.81 does otherwise is passed over here: signs that it takes for
others (`\sim` becomes `~`), capital Greek letters and single letters in `\mathrm`, which it slants, limits of
operators in a display, which it puts beside them. `make bench-math` in blogsmith's repository measures it.
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
bf sf mathnormal omicron pmb textrm overline underline underbar underbracket underlinesegment dots
displaystyle
"""
OPERATORS = "lim max min sup inf det gcd Pr liminf limsup injlim projlim argmax argmin"
LARGE = "sum prod coprod bigcap bigcup bigsqcup bigvee bigwedge bigodot bigoplus bigotimes biguplus"


def commands(names: str) -> str:
    """What finds one of these commands."""
    return rf"\\(?:{'|'.join(names.split())})(?![A-Za-z])"


UPRIGHT = r"\\mathrm\s*\{\s*(?:[A-Za-z]|\\[A-Za-z]+)\s*\}"
OTHERWISE = re.compile(rf"{commands(f'{SIGNS} {CAPITALS} {FACES}')}|\\up[A-Za-z]+|\\[-/]|~|{UPRIGHT}")
LIMITS = re.compile(
    rf"{commands(OPERATORS)}\s*[_^]|\\operatorname\*|\\(?:left|sqrt).*?{commands(LARGE)}", re.DOTALL
)


def register(hooks: Hooks) -> None:
    if find_spec("latex2mathml") is None:
        raise ImportError(f"its library is missing; {hooks.install_command('latex2mathml')}")

    @hooks.formula_converter()
    def typeset(formula: FormulaSource) -> str | None:
        if OTHERWISE.search(formula.tex) or (formula.display and LIMITS.search(formula.tex)):
            return None
        # imported with the first formula: its tables take as long as a page
        from latex2mathml.converter import convert

        return convert(formula.tex, display="block" if formula.display else "inline")
