"""Commands that expand to other TeX: name → body, as an author would define them.

Bodies contain `#1` … `#9`. Sources: amsmath, mathtools, braket, and the macros of KaTeX and MathJax.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..parse.reader import Expander, FormulaReader, fill

_BODIES: Mapping[str, str] = MappingProxyType(
    {
        "\\iff": r"\;\Longleftrightarrow\;",
        "\\implies": r"\;\Longrightarrow\;",
        "\\impliedby": r"\;\Longleftarrow\;",
        "\\arraystretch": "1",
        "\\Vec": r"\vec{#1}",
        "\\vv": r"\overrightarrow{#1}",
        "\\overarrow": r"\overrightarrow{#1}",
        "\\overarc": r"\overparen{#1}",
        "\\resmes": r"\mathbin{\llcorner}",
        "\\boxright": r"\mathrel{\square\mkern-3mu\rightarrow}",
        "\\diamondright": r"\mathrel{\Diamond\mkern-3mu\rightarrow}",
        "\\independent": r"\mathrel{\perp\mkern-10mu\perp}",
        "\\mathlarger": r"{\large #1}",
        "\\mathsmaller": r"{\small #1}",
        "\\lefteqn": r"\mathrlap{\displaystyle #1}",
        "\\hdots": r"\ldots",
        "\\dotsint": r"\idotsint",
        "\\relbar": r"\mathrel{-}",
        "\\Relbar": r"\mathrel{=}",
        "\\mapstochar": r"\mathrel{\mathrlap{\vert}}",
        "\\mapsfromchar": r"\mathrel{\mathllap{\vert}}",
        "\\slash": "/",
        "\\joinrel": r"\mathrel{\mkern-3mu}",
        "\\xlongrightarrow": r"\xrightarrow{\quad #1\quad}",
        "\\xlongleftarrow": r"\xleftarrow{\quad #1\quad}",
        "\\accentset": r"\overset{#1}{#2}",
        "\\underaccent": r"\underset{#1{}}{#2}",
        "\\refeq": r"\ref{#1}",
        "\\larger": r"\large ",
        "\\smaller": r"\small ",
        "\\ohm": r"\mathrm{\Omega}",
        "\\micro": r"\mathrm{µ}",
        "\\slashed": r"\cancel{#1}",
        "\\textdegree": r"\text{\textdegree}",
        "\\textcircled": r"\text{\textcircled{#1}}",
        "\\parbox": r"\text{#2}",
        "\\mathpalette": r"\mathchoice{#1\displaystyle{#2}}{#1\textstyle{#2}}{#1\scriptstyle{#2}}"
        r"{#1\scriptscriptstyle{#2}}",
        "\\nolimits@": r"\nolimits",
        # nicematrix: these dots have the same length as those of amsmath here
        "\\Cdots": r"\cdots",
        "\\Ldots": r"\ldots",
        "\\Vdots": r"\vdots",
        "\\Ddots": r"\ddots",
        "\\Iddots": r"\iddots",
        "\\R": r"\mathbb{R}",
        "\\Reals": r"\mathbb{R}",
        "\\reals": r"\mathbb{R}",
        "\\N": r"\mathbb{N}",
        "\\natnums": r"\mathbb{N}",
        "\\Z": r"\mathbb{Z}",
        "\\cnums": r"\mathbb{C}",
        "\\Complex": r"\mathbb{C}",
        "\\Bbbk": r"\Bbb{k}",
        "\\AA": r"\mathring{\mathrm{A}}",
        "\\aa": r"\mathring{\mathrm{a}}",
        "\\rq": "'",
        "\\dotsb": r"\cdots",
        "\\dotsm": r"\cdots",
        "\\dotsi": r"\!\cdots",
        "\\dotsx": r"\ldots\,",
        "\\ratio": r"\mathrel{:}",
        "\\vcentcolon": r"\mathrel{:}",
        "\\ordinarycolon": r"\mathrel{:}",
        "\\coloneq": r"\mathrel{:\!\!-}",
        "\\colonminus": r"\mathrel{:\!\!-}",
        "\\colonapprox": r"\mathrel{:\approx}",
        "\\colonsim": r"\mathrel{:\sim}",
        "\\Colonsim": r"\mathrel{::\sim}",
        "\\coloncolonsim": r"\mathrel{∷\sim}",
        "\\approxcolon": r"\mathrel{\approx:}",
        "\\approxcoloncolon": r"\mathrel{\approx∷}",
        "\\simcolon": r"\mathrel{\sim:}",
        "\\simcoloncolon": r"\mathrel{\sim∷}",
        "\\minuso": r"\mathbin{⦵}",
        "\\leftmodels": r"\mathrel{⫤}",
        "\\mathellipsis": r"\ldots",
        "\\bigcupplus": r"\mathop{⨄}",
        "\\tripledash": r"\mathrel{\text{┄}}",
        "\\vdotswithin": r"\mathrel{\vphantom{#1}\vdots}",
        "\\shortvdotswithin": r"\mathrel{\vphantom{#1}\vdots}",
        "\\splitfrac": r"\genfrac{}{}{0pt}{1}{#1}{#2}",
        "\\splitdfrac": r"\genfrac{}{}{0pt}{0}{#1}{#2}",
        "\\Ketbra": r"\left|#1\middle\rangle\middle\langle #2\right|",
        "\\nicefrac": r"{\raisebox{.35em}{$\scriptstyle{#1}$}\mkern-2mu{⁄}\mkern-1mu{\scriptstyle{#2}}}",
        "\\sfrac": r"{\raisebox{.35em}{$\scriptstyle{#1}$}\mkern-2mu{⁄}\mkern-1mu{\scriptstyle{#2}}}",
        "\\dashcolon": r"\mathrel{-:}",
        "\\Dashcolon": r"\mathrel{-∷}",
        "\\colondash": r"\mathrel{:-}",
        "\\Colondash": r"\mathrel{∷-}",
        "\\matrix": r"\begin{matrix}#1\end{matrix}",
        "\\bordermatrix": r"\begin{bordermatrix}#1\end{bordermatrix}",
        "\\kbordermatrix": r"\begin{kbordermatrix}#1\end{kbordermatrix}",
        "\\pmatrix": r"\begin{pmatrix}#1\end{pmatrix}",
        "\\eqalign": r"\begin{aligned}#1\end{aligned}",
        "\\displaylines": r"\begin{gathered}#1\end{gathered}",
        "\\eqalignno": r"\begin{aligned}#1\end{aligned}",
        "\\leqalignno": r"\begin{aligned}#1\end{aligned}",
        "\\Rule": r"\rule{#1}{#2}\rule[-#3]{0em}{0em}",
        "\\overunderset": r"\underoverset{#2}{#1}{#3}",
        "\\VERT": r"\vert",
        "\\odv": r"\frac{\mathrm{d}#1}{\mathrm{d}#2}",
        "\\yields": r"\xrightarrow{#1}",
        "\\mesomerism": r"\xleftrightarrow{#1}",
        "\\chemequilibrium": r"\xrightleftharpoons{#1}",
        "\\underbar": r"\underline{\text{#1}}",
        "\\stackanchor": r"\genfrac{}{}{0pt}{}{#1}{#2}",
        "\\Pmatrix": r"\begin{pmatrix}#1\end{pmatrix}",
        "\\centernot": r"\not{#1}",
        "\\cramped": r"{#1}",
        "\\crampedllap": r"\mathllap{#1}",
        "\\crampedrlap": r"\mathrlap{#1}",
        "\\crampedclap": r"\mathclap{#1}",
        "\\mathmbox": r"\mbox{$#1$}",
        "\\faktor": r"{\raisebox{.35em}{$#1$}\mkern-2mu\big/\mkern-2mu\raisebox{-.35em}{$#2$}}",
        "\\ensuremath": r"{#1}",
        # hyperref and knowledge: the targets are in the prose, where importers remove them
        "\\hyperlink": "{#2}",
        "\\hypertarget": "{#2}",
        "\\withkl": "#2",
        "\\cmdkl": "{#1}",
    }
)


def _upright_greek() -> dict[str, str]:
    names = [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "omicron",
        "pi",
        "rho",
        "sigma",
        "tau",
        "upsilon",
        "phi",
        "chi",
        "psi",
        "omega",
        "varepsilon",
        "vartheta",
        "varpi",
        "varrho",
        "varsigma",
        "varphi",
        "varkappa",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Pi",
        "Sigma",
        "Upsilon",
        "Phi",
        "Psi",
        "Omega",
    ]
    prefixed = {}
    for name in names:
        prefix = "\\Up" if name[0].isupper() else "\\up"
        prefixed[prefix + name.lower()] = rf"\mathrm{{\{name}}}"
        prefixed["\\up" + name] = rf"\mathrm{{\{name}}}"
    return prefixed


def _alias(body: str) -> Expander:
    arity = max((int(digit) for digit in "123456789" if f"#{digit}" in body), default=0)

    def expand(reader: FormulaReader, command: str) -> list[str]:
        return fill(body, *(reader.argument() for _ in range(arity)))

    return expand


ALIASES: Mapping[str, str] = MappingProxyType({**_BODIES, **_upright_greek()})
"""Command → body, with `#1` … `#9` for its arguments."""


def _ignore(arguments: int) -> Expander:
    """Return an expander that drops a command and its arguments. arguments: number of arguments."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        for _ in range(arguments):
            reader.argument()
        return []

    return expand


def _ignore_optional(arguments: int) -> Expander:
    """Return an expander that drops a star, an argument in brackets, and then `arguments` arguments."""
    rest = _ignore(arguments)

    def expand(reader: FormulaReader, command: str) -> list[str]:
        reader.star()
        reader.optional()
        return rest(reader, command)

    return expand


def _tag_form(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand mathtools' `\newtagform{name}[format]{left}{right}` to nothing, because the theme formats
    numbers."""
    reader.argument()
    reader.optional()
    return _ignore(2)(reader, command)


def _aboxed(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand mathtools' `\Aboxed{a &= b}`: one frame across two cells."""
    source = reader.argument()
    cut = next((index for index, token in enumerate(source) if token == "&"), len(source))
    left, right = source[:cut], source[cut + 1 :]
    if cut == len(source):
        return fill(r"\boxed{#1}", left)
    return fill(r"\mathrlap{\boxed{#1{}#2}}\phantom{#1}&\phantom{{}#2}", left, right)


def _move_left(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand mathtools' `\MoveEqLeft`: the row begins two em before the alignment point of the others."""
    found = reader.optional()
    return fill(r"\hspace{#1em}&\hspace{-#1em}", ["2"] if found is None else found)


def _buildrel(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand plain TeX's `\buildrel a \over b`."""
    above: list[str] = []
    while reader.peek() not in ("\\over", ""):
        above.append(reader.pop())
    if not reader.pop():
        raise reader.syntax_error('missing "\\over" after "\\buildrel"', hint="write `\\stackrel{a}{b}`")
    return fill(r"\mathrel{\overset{#1}{#2}}", above, reader.argument())


def _first(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\texorpdfstring{$x$}{x}` to its first argument; the second is for bookmarks of a PDF file."""
    first = reader.argument()
    reader.argument()
    return [token for token in first if token != "$"]


def _cases(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand plain TeX's `\cases{…}`. Its second column is text, as in plain TeX, if it contains `$`;
    otherwise it is math, as in MathJax."""
    content = reader.argument()
    return fill(r"\begin{cases*}#1\end{cases*}" if "$" in content else r"\begin{cases}#1\end{cases}", content)


def _boxed(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\tcboxmath[options]{x}` and `\tcbhighmath` of tcolorbox: a plain frame."""
    reader.optional()
    return fill(r"\boxed{#1}", reader.argument())


def _overlay(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\uncover<2->{x}` of beamer to its content, because a page shows all overlays together."""
    reader.read_delimited("<", ">")
    if reader.peek() != "{" or command == "\\pause":
        return []
    content = reader.argument()
    return content if {"&", "\\\\"}.intersection(content) else ["{", *content, "}"]


def _units(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\units[5]{kg}` and `\unitfrac[9.8]{m}{s^2}` of the package units."""
    number = reader.optional()
    body = r"\mathrm{#1}" if command == "\\units" else r"\nicefrac{\mathrm{#1}}{\mathrm{#2}}"
    unit = fill(body, *(reader.argument() for _ in range(body.count("#"))))
    return unit if number is None else [*number, "\\,", *unit]


def _scaled(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand scalerel's `\scalerel{x}{\sum}` to `x\sum`, and `\scalerel*[2em]{x}{\sum}` to `x`, unscaled."""
    starred, _ = reader.star(), reader.optional()
    content, measure = reader.argument(), reader.argument()
    return ["{", *content, "}", *([] if starred else ["{", *measure, "}"])]


def _dotso(reader: FormulaReader, command: str) -> list[str]:
    return ["\\ldots"]


EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {name: _alias(body) for name, body in ALIASES.items()}
    | {
        "\\units": _units,
        "\\unitfrac": _units,
        "\\scalerel": _scaled,
        "\\stretchrel": _scaled,
        "\\dotsc": _dotso,
        "\\dotso": _dotso,
        "\\mathtoolsset": _ignore(1),
        "\\numberwithin": _ignore(2),
        "\\newtagform": _tag_form,
        "\\renewtagform": _tag_form,
        "\\usetagform": _ignore(1),
        "\\require": _ignore(1),
        "\\adjustlimits": _ignore(0),
        "\\DOTSB": _ignore(0),
        "\\DOTSI": _ignore(0),
        "\\DOTSX": _ignore(0),
        "\\m@th": _ignore(0),
        **dict.fromkeys(("\\BooleanTrue", "\\BooleanFalse"), _ignore(0)),
        "\\newmcodes@": _ignore(0),
        "\\selectfont": _ignore(0),
        "\\qedhere": _ignore(0),
        "\\allowdisplaybreaks": _ignore_optional(0),
        **{f"\\{name}break": _ignore_optional(0) for name in ("page", "nopage", "line", "noline")},
        "\\vspace": _ignore_optional(1),
        "\\leftroot": _ignore(1),
        "\\uproot": _ignore(1),
        "\\fontsize": _ignore(2),
        "\\@setfontsize": _ignore(3),
        **{
            f"\\{name}": _ignore(0)
            for name in ("linenomath", "endlinenomath", "linenumbers", "nolinenumbers")
        },
        **{f"\\{name}": _ignore(0) for name in ("SwapAboveDisplaySkip", "leavevmode", "displaylimits")},
        **{f"\\{name}": _ignore(1) for name in ("index", "raisetag", "noeqref", "mathversion")},
        **{f"\\{name}": _overlay for name in ("pause", "uncover", "visible", "onslide", "alert")},
        "\\cases": _cases,
        "\\texorpdfstring": _first,
        "\\tcboxmath": _boxed,
        "\\tcbhighmath": _boxed,
        "\\Aboxed": _aboxed,
        "\\MoveEqLeft": _move_left,
        "\\buildrel": _buildrel,
    }
)
