"""Independent renderer of LaTeX to HTML. It is used to count the content of papers, and shares no code with
the translation.

Every `$` begins or ends a formula, and an environment with a known name is a formula. All other commands are
removed, but their arguments stay, so that the result contains every word of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from html import escape

_MATH = "equation align gather multline alignat flalign eqnarray IEEEeqnarray numcases empheq tikzcd"
_SILENT = [
    "label",
    "ref",
    "eqref",
    "pageref",
    "autoref",
    "cref",
    "Cref",
    "crefrange",
    "vref",
    "nameref",
    "hyperref",
    "cite",
    "citep",
    "citet",
    "citealp",
    "citealt",
    "citeauthor",
    "citeyear",
    "parencite",
    "textcite",
    "nocite",
    "footcite",
    "includegraphics",
    "bibliography",
    "bibliographystyle",
    "vspace",
    "hspace",
    "vskip",
    "setlength",
    "setcounter",
    "addtocounter",
    "addtolength",
    "addcontentsline",
    "thispagestyle",
    "pagestyle",
    "input",
    "include",
    "usepackage",
    "title",
    "author",
    "date",
    "thanks",
    "affil",
    "affiliation",
    "address",
    "email",
    "institute",
    "keywords",
    "captionsetup",
    "hypersetup",
    "graphicspath",
    "bibitem",
    "rule",
    "color",
    "cellcolor",
    "rowcolor",
    "cmidrule",
    "cline",
    "phantom",
    "vphantom",
    "hphantom",
    "index",
    "addbibresource",
    "newcommand",
    "renewcommand",
    "fontsize",
    "markboth",
    "markright",
    "definecolor",
    "lstset",
    "pagenumbering",
    "caption@",
    "tikzset",
    "pgfplotsset",
]
_DOLLARS = r"(?:\\(?:text[a-z]*|mbox)\s*\{(?:[^{}$]|\$[^$]*\$|\{[^{}]*\})*\}|\\[\s\S]|[^$\\])+?"
_PARTS = re.compile(
    r"(?P<code>\\begin\{(?P<codename>verbatim\*?|Verbatim|lstlisting|minted"
    r"|alltt)\}(?:\[[^\[\]]*\])?(?:\{[A-Za-z+#-]*\})?(?P<listing>[\s\S]*?)\\end\{(?P=codename)\})"
    r"|(?P<gone>\\begin\{(?P<gonename>tikzpicture|circuitikz|pspicture|picture|feynman|forest"
    r"|thebibliography|comment|filecontents\*?|CCSXML)\}"
    r"[\s\S]*?\\end\{(?P=gonename)\})"
    rf"|(?P<env>\\begin\{{(?P<envname>(?:{'|'.join(_MATH.split())})\*?)\}}(?P<body>[\s\S]*?)"
    r"\\end\{(?P=envname)\})"
    rf"|(?P<display>\$\$(?P<two>{_DOLLARS})\$\$|\\\[(?P<square>[\s\S]+?)\\\]"
    r"|\\begin\{displaymath\}(?P<old>[\s\S]+?)\\end\{displaymath\})"
    rf"|(?P<inline>\$(?P<one>{_DOLLARS})\$|\\\((?P<round>[\s\S]+?)\\\))"
    r"|(?P<quantity>\\(?:SI|si|qty|unit|num|ang|complexnum|complexqty|ce|pu|(?:num|qty|SI)(?:list|range|product))"
    r"(?:\[[^\[\]]*\]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})+)"
    r"|(?P<verb>\\verb\*?(?P<sign>[^A-Za-z*\s])(?P<verbatim>[^\n]*?)(?P=sign))"
    r"|(?P<heading>\\(?:part|chapter|section|subsection"
    r"|subsubsection)\*?\s*(?:\[[^\]]*\])?\s*\{(?P<title>(?:\\[\s\S]|[^{}\\]|\{(?:[^{}]|\{[^{}]*\})*\})*)\})"
    r"|(?P<silent>\\[cC]?ref\{(?:fig|tbl):[^{}]*\}[a-z](?![A-Za-z])"
    rf"|\\(?:{'|'.join(_SILENT)})(?![A-Za-z])\*?(?:\s*\[[^\[\]]*\])*(?:\s*\{{(?:[^{{}}]"
    rf"|\{{(?:[^{{}}]|\{{[^{{}}]*\}})*\}})*\}}){{0,2}})"
    r"|(?P<cell>\\(?:multicolumn|multirow|textcolor|resizebox"
    r"|parbox)\*?(?:\[[^\[\]]*\])?\s*\{[^{}]*\}(?:\s*\{(?:[^{}]|\{[^{}]*\})*\})?(?=\s*\{))"
    r"|(?P<url>\\url\s*\{(?P<address>[^{}]*)\}|\\href\s*\{(?P<target>[^{}]*)\})"
    r"|(?P<begin>\\begin\{(?:tabular[xy]?|longtable|array|minipage|wrapfigure|multicols|subfigure"
    r"|subtable|adjustbox|spacing)\*?\}"
    r"(?:\[[^\[\]]*\]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*|\\(?:begin"
    r"|end)\{(?P<beginname>[^{}]*)\}(?:\[(?P<option>[^\[\]]*)\])?)"
    r"|(?P<accent>\\[\"'`^~=.](?:\{\\?(?P<letter>[A-Za-z])\}|\\?(?P<bare>[A-Za-z]))"
    r"|\\[vHcukrdb](?:\{(?P<braced>[A-Za-z])\}|[ ](?P<spaced>[A-Za-z])))"
    r"|(?P<command>\\[A-Za-z@]+\*?(?:\s*\[[^\[\]]*\])?)|(?P<symbol>\\[\s\S])|(?P<brace>[{}])|(?P<dash>--+"
    r"|~)|(?P<paragraph>\n[ \t]*\n)"
)
_SEPARATING = ("\\footnote", "\\item", "\\caption", "\\par", "\\quad")
_TEXT_COMMANDS = {"\\%": "%", "\\&": "&", "\\$": "$", "\\_": "_", "\\#": "#", "\\{": "{", "\\}": "}"}
_UNTITLED = re.compile(
    r"figure|table|algorithm|enumerate|itemize|description|tabular|center|tcolorbox|mdframed|comp"
)
_MARKS = dict(
    zip(
        "\"'`^~=.vHcukrdb",
        "\u0308\u0301\u0300\u0302\u0303\u0304\u0307\u030c\u030b\u0327\u0306\u0328\u030a\u0323\u0331",
        strict=True,
    )
)
_SYMBOLS = {
    "ss": "ß",
    "o": "ø",
    "O": "Ø",
    "ae": "æ",
    "AE": "Æ",
    "aa": "å",
    "AA": "Å",
    "l": "ł",
    "L": "Ł",
    "i": "ı",
    "oe": "œ",
}


def render_paper(text: str) -> str:
    """Return the content of a paper as HTML."""
    return "<p>" + "".join(_parts(text)) + "</p>"


def _parts(text: str) -> list[str]:
    made, position = list[str](), 0
    for found in _PARTS.finditer(text):
        made.append(escape(text[position : found.start()], quote=False))
        position = found.end()
        made.append(_part(found))
    made.append(escape(text[position:], quote=False))
    return made


def _part(found: re.Match[str]) -> str:
    kind = next(name for name in _RENDERERS if found[name])
    return _RENDERERS[kind](found)


def _formula(tex: str) -> str:
    tex = " ".join(tex.split())
    return f'<math alttext="{escape(tex)}"></math>' if tex else ""


def _begin(found: re.Match[str]) -> str:
    is_titled = found["option"] and not _UNTITLED.match(found["beginname"])
    return f"</p><p>{''.join(_parts(found['option'])) if is_titled else ''} "


def _accent(found: re.Match[str]) -> str:
    letter = found["letter"] or found["bare"] or found["braced"] or found["spaced"]
    return unicodedata.normalize("NFC", letter + _MARKS[found[0][1]])


_RENDERERS: Mapping[str, Callable[[re.Match[str]], str]] = {
    "code": lambda found: f"</p><pre><code>{escape(found['listing'].strip())}</code></pre><p>",
    "gone": lambda found: "</p><p>",
    "env": lambda found: _formula(found[0]),
    # The new page has no other form for a display without a number.
    "display": lambda found: _formula(
        f"\\begin{{equation*}}{found['two'] or found['square'] or found['old']}\\end{{equation*}}"
    ),
    "inline": lambda found: _formula(found["one"] or found["round"] or ""),
    "quantity": lambda found: _formula(found[0]),
    "verb": lambda found: f"<code>{escape(found['verbatim'])}</code>",
    "heading": lambda found: f"</p><h2>{''.join(_parts(found['title']))}</h2><p>",
    "silent": lambda found: " ",
    "cell": lambda found: " ",
    "url": lambda found: escape(found["address"] or " "),
    "begin": _begin,
    "accent": _accent,
    "command": lambda found: _SYMBOLS.get(
        found[0][1:].strip(), " " if found[0].startswith(_SEPARATING) else ""
    ),
    "symbol": lambda found: escape(_TEXT_COMMANDS.get(found[0], " ")),
    "brace": lambda found: "",
    "dash": lambda found: " ",
    "paragraph": lambda found: "</p><p>",
}
