"""Tables of LaTeX commands and environments in text that Markdown can express.

Symbols and accents are the same as for text in formulas (`tex/mathml/alphabets.py`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from ...tex.mathml.alphabets import ACCENTS, TEXT_SYMBOLS

HEADINGS: Mapping[str, str] = MappingProxyType(
    {"part": "#", "chapter": "#", "section": "##", "subsection": "###", "subsubsection": "####"}
)
"""Command → characters at the start of the Markdown heading."""
RUN_IN_HEADINGS = name_set("paragraph subparagraph")
"""Headings followed by text on the same line; they become bold text."""
WRAPPERS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "textbf": ("**", "**"),
        **dict.fromkeys(("emph", "textit", "textsl"), ("*", "*")),
        **dict.fromkeys(("underline", "uline"), ("<u>", "</u>")),
        **dict.fromkeys(("sout", "st"), ("~~", "~~")),
        "textsc": ("[", "]{.small-caps}"),
        "textsuperscript": ("<sup>", "</sup>"),
        "textsubscript": ("<sub>", "</sub>"),
        "enquote": ("“", "”"),
        **dict.fromkeys(
            ("textrm", "textup", "textsf", "textmd", "textnormal", "mbox", "hbox", "text"), ("", "")
        ),
    }
)
"""Command with one argument → Markdown or HTML before and after the argument."""
TAGS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"*": ("<em>", "</em>"), "**": ("<strong>", "</strong>")}
)
"""Markdown delimiter → equivalent HTML tags, used where Markdown would read the delimiter as text."""
SWITCHES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("bf", "bfseries"), "textbf"),
        **dict.fromkeys(("it", "itshape", "em", "sl", "slshape"), "emph"),
        **dict.fromkeys(("sc", "scshape"), "textsc"),
        **dict.fromkeys(("rm", "sf", "normalfont"), "textrm"),
    }
)
"""Command that changes the font until the end of its group → equivalent command with an argument."""
CODE = name_set("texttt")
REFERENCES = name_set("cref Cref autoref vref Vref subref")
"""Commands for references that show the kind and the number of the target."""
FORMULAS = name_set(
    "SI si qty unit num ang numlist numrange numproduct qtylist qtyrange qtyproduct SIlist SIrange "
    "complexnum complexqty ce pu"
)
"""Commands of siunitx and mhchem, which are formulas even outside of dollar signs."""
LAYOUT = name_set(
    "noindent newpage clearpage pagebreak bigskip medskip smallskip centering maketitle tableofcontents "
    "indent raggedright raggedleft hfill vfill sloppy qed qedhere frenchspacing appendix "
    "protect leavevmode relax hline toprule midrule bottomrule printindex small "
    "footnotesize scriptsize large Large normalsize tabularnewline"
)
"""Commands without argument that concern only printed pages. They are removed."""
LENGTHS = name_set(
    "vspace hspace vskip hskip setlength addtolength setcounter addtocounter thispagestyle "
    "pagestyle bibliographystyle cline cmidrule index"
)
"""Commands with arguments that concern only printed pages. They are removed."""
COMMANDS = frozenset(
    (
        *HEADINGS, *RUN_IN_HEADINGS, *WRAPPERS, *SWITCHES, *CODE, *REFERENCES, *FORMULAS, *LAYOUT, *LENGTHS,
        *("footnote", "url", "href", "hyperref", "includegraphics", "label", "item", "verb", "lstinline"),
        *("par", "newline", "linebreak", "ensuremath", "caption"),
    )
)  # fmt: skip
"""All commands that are translated, except symbols and accents; used to suggest similar names."""

LISTS: Mapping[str, str] = MappingProxyType({"itemize": "- ", "enumerate": "1. ", "description": ""})
QUOTATIONS = name_set("quote quotation verse")
FENCED = name_set("verbatim Verbatim lstlisting minted alltt")
"""Environments whose content is code."""
ALGORITHMS = name_set("algorithm")
"""Environments for an algorithm with a caption. They contain `algorithmic`, or commands of algorithm2e."""
STEPS = name_set("algorithmic")
"""Environments for the lines of an algorithm."""
DRAWINGS: Mapping[str, str] = MappingProxyType({"tikzpicture": "tikz", "circuitikz": "circuitikz"})
"""Environments that LaTeX draws → language of their fence."""
FLOATS = name_set("figure wrapfigure table")
TABLES = name_set("tabular tabular*")
TRANSPARENT = name_set(
    "center flushleft flushright document multicols spacing framed mdframed shaded tcolorbox small minipage "
    "singlespace landscape adjustwidth appendices subfigure subtable linenomath linenomath*"
)
"""Environments that are removed, but not their content."""
LETTERED = name_set("subfigure subtable")
"""Environments for a part of a float that has a letter."""
PARTS = LETTERED | {"minipage"}
"""Environments for one part of a float, which may have its own caption."""
CODE_ENVIRONMENTS = FENCED | STEPS
"""Environments whose content becomes a fence."""
WITH_TEXT = frozenset((*LISTS, *QUOTATIONS, *FLOATS, *TABLES, *TRANSPARENT))
"""Environments whose content is text."""
ENVIRONMENTS = WITH_TEXT.union(FENCED, ALGORITHMS, STEPS, DRAWINGS)
"""All environments that are translated, except callouts."""
WITH_ARGUMENT = name_set("multicols spacing minipage wrapfigure tabular tabular* minted subfigure subtable")
"""Environments whose first argument is in braces."""
SHORT_KINDS: Mapping[str, str] = MappingProxyType(
    {"thm": "theorem", "lem": "lemma", "prop": "proposition", "cor": "corollary", "defn": "definition"}
    | {"rem": "remark", "rmk": "remark", "pf": "proof", "ex": "example", "conj": "conjecture"}
    | {"exer": "exercise", "exr": "exercise", "prob": "problem", "sol": "solution", "soln": "solution"}
    | {"ax": "axiom", "obs": "observation", "prf": "proof", "crit": "criterion", "notn": "notation"}
    | {"prp": "proposition", "defi": "definition", "dfn": "definition", "eg": "example"}
)
"""Abbreviated name of an environment → callout kind."""

ACCENT = lazy_pattern(
    r"\\(?:(?P<sign>[\"'`^~=.])|(?P<name>[vHcukrdb])(?:[ \t]+|(?=\{)))"
    r"(?:\{\\?(?P<braced>[A-Za-z])\}|\\(?P<dotless>[ij])(?![A-Za-z])|(?P<letter>[A-Za-z]))"
)
"""Matches the command of an accent, and the letter below it."""
_SPECIAL = frozenset("\\`*_<>[]$~#|")


def callout_kind(name: str, kinds: Container[str]) -> str | None:
    """Return the callout kind of an environment; None if it is not a callout."""
    name = name.casefold()
    kind = name if name in kinds else SHORT_KINDS.get(name, name)
    # A quotation becomes a Markdown quotation instead of a callout.
    return kind if kind in kinds and kind not in QUOTATIONS else None


def symbol_text(name: str) -> str | None:
    """Return the text that a command prints, escaped for Markdown; None if the command is not a symbol."""
    sign = TEXT_SYMBOLS.get(f"\\{name}")
    return None if sign is None else f"\\{sign}" if sign in _SPECIAL else sign


def compose(found: re.Match[str]) -> str:
    r"""Return the letter for a match of `ACCENT`: ö for `\"o` and `\"{o}`."""
    letter = found["braced"] or found["dotless"] or found["letter"]
    mark = ACCENTS[f"\\{found['sign'] or found['name']}"]
    return unicodedata.normalize("NFC", letter + mark)
