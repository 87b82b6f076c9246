"""Tables of LaTeX commands and environments that only concern the printed paper."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...api.importing import name_set

DROPPED: Mapping[str, int] = MappingProxyType(
    dict.fromkeys(
        name_set(
            "addcontentsline address affil allowdisplaybreaks arrayrulecolor AtBeginDocument author "
            "baselineskip "
            "bibliography bibliographystyle captionsetup cellcolor cline color columncolor crefalias "
            "date email "
            "enlargethispage fancyfoot fancyhead fontsize graphicspath hphantom hskip hspace hypersetup "
            "hyphenation index institute keywords linespread lstset markboth markright newcolumntype "
            "newcounter "
            "newlength nobibliography pagenumbering pagestyle pgfplotsset phantom refstepcounter "
            "renewbibmacro "
            "rowcolor selectlanguage sisetup specialrule stepcounter tableofcontents thanks thispagestyle "
            "tikzset title "
            "typeout urlstyle usepackage usetikzlibrary vphantom vskip vspace"
        ),
        1,
    )
    | dict.fromkeys(
        name_set("addtocounter addtolength cmidrule fontfamily numberwithin setcounter setlength"), 2
    )
)
"""Command for printed pages → number of its arguments in braces."""
UNWRAPPED: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        **dict.fromkeys(name_set("resizebox multicolumn multirow fcolorbox"), (3, 2)),
        **dict.fromkeys(
            name_set("scalebox textcolor colorbox rotatebox raisebox parbox adjustbox foreignlanguage"),
            (2, 1),
        ),
        **dict.fromkeys(
            name_set(
                "makebox fbox framebox mbox centerline textnormal hl shortstack makecell boldsymbol "
                "uppercase lowercase MakeUppercase textquote"
            ),
            (1, 0),
        ),
        **dict.fromkeys(name_set("texorpdfstring"), (2, 0)),
    }
)
"""Command → number of its arguments in braces, and index of the argument that the page shows."""
ACCENTS = name_set("b c d H k r u v")
"""Accents with a name of one letter."""
FONTS = name_set("bf bfseries em it itshape normalfont rm sc scshape sf sl slshape")
r"""Font switches such as `\bf`, which the translation accepts only at the beginning of a group."""
SWITCHES = name_set(
    "acks addlinespace allowdisplaybreaks AND and And appendix arraybackslash backmatter balance "
    "baselineskip begingroup bgroup bigskip boldmath bottomrule centering cleardoublepage clearpage "
    "columnbreak columnwidth displaystyle doublespacing egroup endfirsthead endfoot endgroup endhead "
    "endlastfoot enspace fill FloatBarrier flushbottom footnotemark footnotesize frontmatter fussy hfil "
    "hfill hline hss Huge huge IEEEpeerreviewmaketitle ignorespaces indent Large LARGE large leavevmode "
    "linenumbers linewidth listoffigures listoftables mainmatter makeatletter makeatother makeindex "
    "maketitle mdseries medskip midrule negthinspace newblock newpage noalign noindent nolinebreak "
    "nolinenumbers nopagebreak normalsize null obeylines onecolumn onehalfspacing pagebreak paperwidth "
    "parindent parskip pause printbibliography printindex protect qed qedhere qedsymbol qquad quad "
    "raggedbottom raggedleft raggedright relax rmfamily scriptsize sffamily singlespacing sloppy small "
    "smallskip space stretch strut tableofcontents textheight textstyle textwidth thefootnote thinspace "
    "tiny today toprule tt ttfamily twocolumn unboldmath unskip upshape vfill vss xspace"
)
"""Commands without arguments that print nothing or only change the appearance."""
SPACES = name_set("enspace hfill qquad quad thinspace")
"""Commands in `SWITCHES` that print a space."""
TRANSPARENT = name_set(
    "acknowledgments acks adjustbox CJK CJK* column columns comment* doublespace flushleft flushright "
    "footnotesize frontmatter fullwidth Large large mainmatter minipage onehalfspace scriptsize sloppypar "
    "strip subequations* subfigure subfigure* subtable tablenotes ThreePartTable threeparttable tiny "
    "titlepage widetext"
)
"""Environments that are removed; the page shows their content."""
SILENT = name_set("document thebibliography")
"""Environments that `clean_commands` leaves unchanged, because other functions read them."""
