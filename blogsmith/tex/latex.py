r"""Formulas of a page as LaTeX with amsmath: numbers of the page, and names that LaTeX does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from ..base.patterns import lazy_pattern
from ..model.names import name_set
from .analysis.numbering import (
    ROW_ENVIRONMENTS,
    SINGLE_ENVIRONMENTS,
    outer_environment,
    split_token_rows,
    unwrap,
)
from .constructs.aliases import ALIASES
from .foreign_formula import remove_numbers
from .mathml import symbols
from .parse.lexer import join_tokens, tokenize_without_positions

_CALL = lazy_pattern(r"\\([A-Za-z]+)")
_BLANK_LINE = lazy_pattern(r"\n[ \t]*(?=\n)")
_ARGUMENT = lazy_pattern(r"#([1-9])")
_COMMENT = lazy_pattern(r"(?<!\\)(?:\\\\)*%")

_ABSENT = name_set(
    "Dagger Darr Earth Harr Larr Lrarr Nand Rarr Uarr Xor alef alefsym bull clubs coh coloncolon "
    "coloncolonapprox coloncolonequals coloncolonminus colonequals dArr darr diamonds equalscolon "
    "equalscoloncolon exist hArr harr hearts image incoh infin isin lArr lang larr lrArr lrarr minuscolon "
    "minuscoloncolon plusmn rArr rang rarr scoh sdot sect shift shneg shpos sincoh spades sub sube supe "
    "thetasym uArr uarr weierp with Bot Coppa Koppa Perp Sampi Sqcap Sqcup Stigma VDash arceq astrosun "
    "backcong backdprime backtrprime ballotx barcap barcup barvee bigcupdot bigdoublevee bigdoublewedge "
    "bigsqcap blackhourglass boxast boxbox boxcircle boxslash capbarcup capdot capovercup circledequal "
    "circledparallel circledvert circlehbar closedvarcap closedvarcup concavediamond "
    "concavediamondtickleft concavediamondtickright coppa cupovercap diameter dotminus doublebarvee "
    "female fint fullouterjoin hourglass imageof intBar intbar intcap intclockwise intcup interleave "
    "intlarhk intx invamp invlazys koppa lAngle lBrace leftmoon leftouterjoin lightning llangle "
    "llparenthesis lozengeminus male minusdot minusfdots minusrdots multimapboth multimapinv obar obslash "
    "oc odiv ogreaterthan olessthan operp origof otimeshat parr permil pointint rAngle rBrace rightmoon "
    "rightouterjoin rppolint rrangle rrparenthesis sampi scpolint shuffle smashtimes smiley sqint sslash "
    "standardstate stigma strictfi strictif sun threedotcolon triangleminus triangleplus triangletimes "
    "twocaps twocups typecolon upand varclubsuit varcoppa vardiamondsuit varheartsuit varointclockwise "
    "varspadesuit varvdots veedot veedoublebar veeonvee wedgebar wedgedot wedgedoublebar wedgeonwedge "
    "whitesquaretickleft whitesquaretickright wn "
    # commands without a form in LaTeX
    "Cref Space Temml KaTeX bbox cref overgroup overparen plim sout tealA tealE undergroup "
    "underparen unicode"
)
"""Commands that are not in LaTeX with amsmath, amssymb and mathtools; measured with TeX Live 2022."""
_OPERATORS = sorted(
    name_set(
        "arccot arccsc arcctg arcsec arctg ch cosec cotg csch ctg cth erf rank sech sgn sh tg "
        "Tr tr Trace trace"
    )
)
_FONTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("bb", "bbm", "ds"), r"\mathbb{#1}"),
        **dict.fromkeys(("bfit",), r"\boldsymbol{#1}"),
        **dict.fromkeys(("bfcal", "bfscr"), r"\boldsymbol{\mathcal{#1}}"),
        **dict.fromkeys(("bfsf", "bfsfit", "bfsfup"), r"\boldsymbol{\mathsf{#1}}"),
        **dict.fromkeys(("sf", "sfit", "sfup"), r"\mathsf{#1}"),
        **dict.fromkeys(("bf", "bfup"), r"\mathbf{#1}"),
        **dict.fromkeys(("rm", "up"), r"\mathrm{#1}"),
        **dict.fromkeys(("cal", "scr", "pzc"), r"\mathcal{#1}"),
        **{"bffrak": r"\boldsymbol{\mathfrak{#1}}", "frak": r"\mathfrak{#1}", "it": r"\mathit{#1}"},
        **{"tt": r"\mathtt{#1}", "normal": "#1"},
    }
)
"""Alphabet → its closest form in LaTeX."""
_ALPHABETS = name_set("bb bf cal frak it normal rm scr sf tt")
"""Alphabets that LaTeX already has."""
_BODIES: Mapping[str, str] = MappingProxyType(
    {
        **{"lt": "<", "gt": ">", "equal": "=", "eqeq": r"\mathrel{==}", "eqeqeq": r"\mathrel{===}"},
        **{"degree": r"^{\circ}", "cent": r"\text{\textcent}", "euro": r"\text{\texteuro}"},
        **{"Angstrom": r"\text{\r{A}}", "omicron": "o", "QED": r"\blacksquare"},
        **{"Otimes": r"\otimes", "Vee": r"\vee", "Wedge": r"\wedge", "Nor": r"\mathbin{\overline{\vee}}"},
        **{"dprime": "{}''", "trprime": "{}'''", "qprime": "{}''''"},
        **{"notni": r"\not\ni", "nsubset": r"\not\subset", "nsupset": r"\not\supset"},
        **{"mapsfrom": r"\mathrel{\leftarrow\mkern-3.2mu\vert}", "iddots": r"\mathinner{\cdots}"},
        **{"oiint": r"\oint\mkern-12mu\oint", "oiiint": r"\oint\mkern-12mu\oint\mkern-12mu\oint"},
        **{"eqdef": r"\overset{\text{def}}{=}", "measeq": r"\overset{\text{m}}{=}"},
        **{"questeq": r"\overset{?}{=}", "wedgeq": r"\overset{\wedge}{=}"},
        **{"veeeq": r"\overset{\vee}{=}", "stareq": r"\overset{\star}{=}"},
        **{"phase": r"{/\!\underline{\,#1}}", "longdiv": r"\overline{)\,#1}", "angln": r"\angl{n}"},
        **{"angl": r"{\overline{#1\,}\vert}", "stackbin": r"\mathbin{\overset{#1}{#2}}"},
        **{"underoverset": r"\underset{#1}{\overset{#2}{#3}}", "enclose": r"\boxed{\iffalse#1\fi#2}"},
        **{"require": r"\iffalse#1\fi"},
        **{"lBrack": r"\llbracket", "rBrack": r"\rrbracket", "scr": r"\fam2 "},
        **dict.fromkeys(("lVvert", "rVvert", "Vvert"), r"\Vert"),
        **dict.fromkeys(("overrightharpoon", "Overrightarrow"), r"\overrightarrow{#1}"),
        **dict.fromkeys(("overleftharpoon", "Overleftarrow"), r"\overleftarrow{#1}"),
        **{"underrightharpoon": r"\underrightarrow{#1}", "underleftharpoon": r"\underleftarrow{#1}"},
        **{"Overleftrightarrow": r"\overleftrightarrow{#1}", "ring": r"\mathring{#1}"},
        **dict.fromkeys(("overlinesegment", "overbar", "mathbar", "widebar"), r"\overline{#1}"),
        **dict.fromkeys(("underlinesegment", "uwave"), r"\underline{#1}"),
        **dict.fromkeys(("utilde", "undertilde", "wideutilde"), r"\underset{\sim}{#1}"),
        **{"wideparen": r"\widehat{#1}", "widecheck": r"\check{#1}"},
        **{f"text{side}lap": rf"\math{side}lap{{\text{{#1}}}}" for side in ("l", "c", "r")},
        **dict.fromkeys(("class", "cssId", "MathMLarg", "MathMLintent"), "#2"),
        **{f"html{name}": "#2" for name in ("Class", "Data", "Id", "Style")},
        **{name: rf"{{\color{{{name}}}#1}}" for name in ("blue", "green", "orange", "pink", "purple", "red")},
        **{"kaBlue": r"{\color{blue}#1}", "kaGreen": r"{\color{green}#1}"},
        **dict.fromkeys(("SMALL", "Tiny", "sixptsize", "oldstyle", "xspace"), ""),
        **dict.fromkeys(("IEEEeqnarraynumspace", "IEEEnonumber", "IEEEyesnumber"), ""),
        **{"xtofrom": r"\xleftrightharpoons", "xleftequilibrium": r"\xleftrightharpoons"},
        **{"xrightequilibrium": r"\xrightleftharpoons", "xrightleftarrows": r"\xrightleftharpoons"},
        **{"xleftrightarrows": r"\xleftrightarrow", "xlongequal": r"\mathrel{\overset{#1}{=\!=}}"},
        **{
            f"xLong{side}": rf"\x{side.capitalize()}"
            for side in ("leftarrow", "rightarrow", "leftrightarrow")
        },
        **{f"xtwohead{side}": rf"\x{side}" for side in ("leftarrow", "rightarrow")},
        **{"cee": r"\ce{#1}", "cf": r"\ce{#1}"},
        **{name: rf"\operatorname{{{name}}}" for name in _OPERATORS},
        **{name: rf"\operatorname*{{arg\,{name[3:]}}}" for name in ("argmax", "argmin")},
        **{f"sym{font}": body for font, body in _FONTS.items()},
        **{f"math{font}": body for font, body in _FONTS.items() if font not in _ALPHABETS},
    }
)
"""Name without backslash → LaTeX that defines it."""


def latex_formula(tex: str) -> str:
    """Return an inline formula without dollar signs."""
    return _one_paragraph(tex)


def latex_display(tex: str, numbers: Sequence[str]) -> str:
    r"""Return an environment of amsmath for the display `tex`.

    numbers: LaTeX such as `\tag*{(1)}` for each row of the page, in order; empty for a row without a number.
    """
    text = remove_numbers(tex)
    tokens = unwrap(tokenize_without_positions(text), "subequations")
    name = outer_environment(tokens)
    if name.rstrip("*") == "multline":
        inner = join_tokens(unwrap(tokens, name))
        return f"\\begin{{multline*}}\n{_one_paragraph(inner)}{''.join(numbers)}\n\\end{{multline*}}"
    if name not in ROW_ENVIRONMENTS:
        inner = join_tokens(unwrap(tokens, name)) if name in SINGLE_ENVIRONMENTS else text
        if len(split_token_rows(tokenize_without_positions(inner))) > 1:
            inner = f"\\begin{{gathered}}{inner}\\end{{gathered}}"
        return f"\\begin{{equation*}}\n{_one_paragraph(inner)}{''.join(numbers)}\n\\end{{equation*}}"
    rows = [join_tokens(row) for row in split_token_rows(unwrap(tokens, name))]
    if name.rstrip("*") in ("eqnarray", "IEEEeqnarray"):
        if name.startswith("IEEE"):
            rows[0] = rows[0].lstrip()[rows[0].lstrip().find("}") + 1 :]
        rows = [_two_columns(row) for row in rows]
        name = "align*"
    if len(numbers) != len(rows):
        numbers = [*[""] * (len(rows) - 1), "".join(numbers)]
    written = [f"{row.rstrip()}{number}" for row, number in zip(rows, numbers, strict=True)]
    body = "".join(
        row if index == 0 else f" \\\\\n{row[1:]}" if row.startswith(" ") else f" \\\\{row}"
        for index, row in enumerate(written)
    )
    return f"\\begin{{{name}}}{_one_paragraph(body)}\n\\end{{{name}}}"


def latex_definitions(formulas: Iterable[str]) -> tuple[list[str], list[str]]:
    r"""Return preamble lines that define those names in `formulas` that LaTeX lacks, and the names for which
    no definition is known.

    `\providecommand` and `\pagename` of the style file change no command that exists.
    """
    open_names = [name for tex in formulas for name in _CALL.findall(tex)]
    seen: dict[str, str] = {}
    missing = []
    while open_names:
        name = open_names.pop()
        body = _BODIES.get(name, ALIASES.get(f"\\{name}"))
        if name in seen or (body is None and name not in _ABSENT):
            continue
        if body is None:
            others = _siblings().get(name, ())
            seen[name] = f"\\pagename{{{name}}}{{{','.join(others)}}}"
            if _ABSENT.issuperset(others):
                missing.append(name)
            continue
        count = max(map(int, _ARGUMENT.findall(body)), default=0)
        seen[name] = f"\\providecommand{{\\{name}}}{f'[{count}]' if count else ''}{{{body}}}"
        open_names.extend(_CALL.findall(body))
    return [seen[name] for name in sorted(seen)], missing


def symbol_names(character: str) -> tuple[str, ...]:
    """Return the names of commands that print a character in a formula."""
    return _names().get(character, ())


@cache
def _names() -> Mapping[str, tuple[str, ...]]:
    """Map each symbol to the names of its commands."""
    tables = (
        *(symbols.ORDINARY, symbols.BINARY, symbols.RELATIONS, symbols.LARGE, symbols.INTEGRALS),
        *(symbols.PUNCTUATION, symbols.ELLIPSES, symbols.OPENING, symbols.CLOSING),
    )
    found: dict[str, tuple[str, ...]] = {}
    for symbol, *names in (entry.split() for table in tables for entry in table.split(";")):
        found[symbol] = (*found.get(symbol, ()), *names)
    return found


@cache
def _siblings() -> Mapping[str, tuple[str, ...]]:
    """Map each name to the other names of its symbol. Symbols with a single name are left out."""
    found: dict[str, tuple[str, ...]] = {}
    for names in _names().values():
        for name in names:
            if others := tuple(other for other in names if other != name):
                found[name] = others
    return found


def _one_paragraph(tex: str) -> str:
    """Return `tex` without blank lines, which LaTeX rejects in a formula. End a comment on its last line."""
    text = _BLANK_LINE.sub("", tex.strip("\n"))
    return f"{text}\n" if _COMMENT.search(text.rpartition("\n")[2]) else text


def _two_columns(row: str) -> str:
    """Return a row of eqnarray, with three columns, as a row of align, with two."""
    tokens = [token.text for token in tokenize_without_positions(row)]
    depth, found = 0, 0
    for index, text in enumerate(tokens):
        depth += (text in ("{", "\\begin")) - (text in ("}", "\\end"))
        if text == "&" and not depth:
            found += 1
            if found == 2:
                tokens[index] = "{}"
    return "".join(tokens) if found > 1 else row
