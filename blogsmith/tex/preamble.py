"""Preambles: reads the definitions in a LaTeX file, such as `preamble.tex` or `my.sty`, as macros for
formulas.

The file is read as TeX would execute it, including loops and conditions. Commands that only concern a printed
document are skipped. A definition that cannot be read is an error only where a formula uses it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from ..base.patterns import lazy_pattern
from ..model.names import name_set
from ..model.tex_macros import Macro
from .constructs.conditionals import EXPANDED
from .constructs.definitions import COMMANDS as DEFINERS
from .constructs.fonts import SIZES
from .constructs.loops import COMMANDS as LOOPS
from .constructs.table import constructs
from .errors import PreambleError
from .parse.errors import UNSUPPORTED, ParseError
from .parse.lexer import commands
from .parse.parser import Parser
from .parse.reader import BUDGET, Expander
from .parse.scan import PlacedToken, split_file, strip_places
from .parse.state import Constructs

MAX_MACROS = 10_000
"""Maximum number of macros that one file may define."""
_TOO_MANY = f"the file defines more than {MAX_MACROS:,} macros"
_DEFINITION = lazy_pattern(
    r"\\(?:[gex]?def|let|definecolor|colorlet|mathchardef"
    r"|(?:re|provide)?new[a-z]+|(?:New|Renew|Provide|[Dd]eclare)[A-Za-z]+)(?![A-Za-z@])"
)
_CALL_BUDGET = 10_000
"""Maximum number of tokens that one call in a preamble may produce."""
_KNOWN = frozenset(
    {
        *DEFINERS,
        *EXPANDED,
        *LOOPS,
        "\\newif",
        "\\definecolor",
        "\\colorlet",
        "\\expandafter",
        "\\tikzset",
        "\\tikzcdset",
    }
)
"""Commands that are executed. Other commands are skipped, unless the file defines them."""
_STRUCTURE = name_set(
    "\\label \\tag \\notag \\nonumber \\ref \\eqref \\cref \\Cref \\autoref \\cite \\text \\mbox \\intertext "
    "\\begin \\end \\left \\right \\middle"
).union(SIZES)
"""Commands that blogsmith resolves itself. A preamble cannot redefine them."""
_SILENT = commands(
    "usepackage RequirePackage documentclass LoadClass PassOptionsToPackage NeedsTeXFormat "
    "ProvidesPackage ProvidesFile ProvidesClass makeatletter makeatother relax title author date "
    "maketitle geometry hypersetup pagestyle thispagestyle bibliographystyle "
    "bibliography addbibresource setlength addtolength setcounter newlength newcounter numberwithin "
    "allowdisplaybreaks DeclareGraphicsExtensions graphicspath input include hyphenation "
    "frenchspacing linespread onehalfspacing doublespacing singlespacing usetikzlibrary pgfplotsset "
    "captionsetup crefname Crefname "
    "lstset sisetup DeclareUnicodeCharacter inputencoding selectlanguage thanks affil email address "
    "keywords subjclass dedicatory titleformat titlespacing fancyhf fancyhead fancyfoot lhead rhead "
    "chead lfoot rfoot cfoot setlist newsavebox renewbibmacro DeclareFieldFormat "
    "ExecuteBibliographyOptions AtEndDocument tableofcontents endinput ProcessOptions "
    "ExecuteOptions mdfsetup newmdenv tcbuselibrary setmainfont setmathfont setsansfont setmonofont "
    "unimathsetup restylefloat floatstyle color pagecolor newtheoremstyle makeindex titlecontents "
    "dottedcontents fancypagestyle newskip newdimen newlist tikzexternalize tcbset mathtoolsset floatname "
    "normalsize noindent newunicodechar DeclareFontFamily DeclareFontShape LoadClassWithOptions KOMAoptions "
    "setmainlanguage setotherlanguage DeclareOption textwidth textheight parindent parskip baselineskip "
    "lstdefinelanguage lstdefinestyle SetWatermarkText crefformat Crefformat declaretheoremstyle "
    "AtBeginEnvironment "
)
"""Commands that only concern the printed document. Nobody misses them, so they are not listed as skipped."""
_BLOCKS = name_set("\\AtBeginDocument \\AfterPackage \\AtEndPreamble")
"""Commands whose last argument is part of the preamble."""


class TheoremKind(Struct, frozen=True):
    r"""A kind of statement, defined by `\newtheorem`."""

    name: str
    title: str
    counter: str = ""
    """Name of the kind whose counter this kind shares; empty if it has its own counter."""
    is_numbered: bool = True
    line: int = 1
    """1-based line of its definition in the file."""
    style: Literal["theorem", "definition", "remark"] = "theorem"


class Preamble(Struct, frozen=True):
    """The definitions in a file of LaTeX."""

    macros: Mapping[str, Macro]
    """Maps a command with its backslash to its definition. An environment `x` has the keys `\\begin x` and
    `\\end x`."""
    theorems: tuple[TheoremKind, ...] = ()
    passed_over: Mapping[str, int] = {}
    """Maps a skipped command to the 1-based line of its first use."""


class _PreambleParser(Parser):
    """Parser that records where each macro is defined."""

    path: str
    starts: Sequence[int]
    """Offset of the start of each line of the file."""
    offset: int = 0
    """Offset of the definition being read."""
    lines: dict[str, int]
    """Line of the definition of each macro."""
    count: int = 0
    theorem_style: Literal["theorem", "definition", "remark"] = "theorem"
    """Style of the theorems that the following commands define."""

    @property
    def line(self) -> int:
        """Number of the line being read."""
        return bisect_right(self.starts, self.offset)

    def define(self, name: str, macro: Macro | Expander | None, *, everywhere: bool = False) -> None:
        """Define `name` for all formulas of the site."""
        self.count += 1
        if self.count > MAX_MACROS:
            raise _TooManyError
        if name in _STRUCTURE:
            return
        if isinstance(macro, Macro):
            body = strip_places(macro.body)
            macro = replace(macro, body=body, origin=f"line {self.line} of {self.path}")
            self.lines[str(name)] = self.line
        super().define(str(name), macro, everywhere=True)


class _TooManyError(Exception):
    """Signal that the file defines more than `MAX_MACROS` macros."""


def read_preamble(text: str, path: str, known: Mapping[str, Macro]) -> Preamble:
    r"""Return the definitions in `text`, the file at `path`, up to `\begin{document}`. known: macros of
    earlier files. Raises PreambleError if the file expands without end or defines too many macros."""
    for number, found in enumerate(_DEFINITION.finditer(text)):
        if number == 4 * MAX_MACROS:  # also if some define a name again; reading all would take seconds
            raise PreambleError(_TOO_MANY, found.start())
    table = cast("Constructs[_PreambleParser]", constructs())
    parser = _PreambleParser(split_file(text), known, table, display=True)
    parser.is_preamble = True
    parser.path, parser.starts, parser.lines = path, _line_starts(text), {}
    theorems: list[TheoremKind] = []
    passed: dict[str, int] = {}
    parser.budget, spent = _CALL_BUDGET, 0
    while parser.stack:
        token = parser.stack.pop()
        if isinstance(token, PlacedToken) and not token.macro:
            spent += _CALL_BUDGET - parser.budget
            parser.offset, parser.budget = token.offset, _CALL_BUDGET
        try:
            if token == "\\begin" and _environment_name(parser) == "document":
                break
            if token == "\\endinput":
                break
            skipped = _execute(parser, token, theorems)
        except _TooManyError:
            raise PreambleError(_TOO_MANY, parser.offset) from None
        except RecursionError:
            skipped = str(token)
            _drop_expansion(parser)
        except ParseError as error:
            if error.kind == "math-limit" or spent > BUDGET:
                raise PreambleError(error.message, parser.offset, error.hint) from None
            _drop_expansion(parser)
            skipped = str(error.token if error.token.startswith("\\") else token)
            _note_unreadable(parser, error)
        if skipped:
            passed.setdefault(skipped, parser.line)
    macros = {
        name: macro
        for name, macro in parser.macros.items()
        if isinstance(macro, Macro) and known.get(name) is not macro
    }
    printed = _print_macros(parser)
    for name in [name for name in macros if name in printed and _is_built_in(parser, name)]:
        passed.setdefault(name.removeprefix("\\begin "), parser.lines[name])
        del macros[name]
    return Preamble(macros, tuple(theorems), passed)


def _is_built_in(parser: Parser, name: str) -> bool:
    prefix, _, environment = name.partition(" ")
    return (
        environment in parser.constructs.environments if environment else parser.constructs.is_known(prefix)
    )


def _print_macros(parser: Parser) -> set[str]:
    """Return the macros that use a command without an equivalent in formulas, directly or through other
    macros."""
    users: dict[str, list[str]] = {}
    for name, macro in parser.macros.items():
        for token in macro.body or () if isinstance(macro, Macro) else ():
            users.setdefault(token, []).append(name)
    found, waiting = set[str](), list[str](UNSUPPORTED)
    while waiting:
        new = set(users.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


def _drop_expansion(parser: Parser) -> None:
    """Drop the tokens that macros have produced, after the expansion of a macro failed."""
    while parser.stack and isinstance(token := parser.stack[-1], PlacedToken) and token.macro:
        parser.stack.pop()


def _line_starts(text: str) -> list[int]:
    return [0, *(offset + 1 for offset, character in enumerate(text) if character == "\n")]


def _execute(parser: _PreambleParser, token: str, theorems: list[TheoremKind]) -> str:
    """Execute one token of the file. Return its name if it is a command to be listed as skipped, otherwise
    ""."""
    if token[0] == "\0" and token[1:] in _KNOWN:
        token = token[1:]  # bound by \let
    parser.command = token
    if token == "\\newtheorem":
        theorems.append(_read_theorem(parser))
    elif token == "\\declaretheorem":
        theorems.append(_read_declared_theorem(parser))
    elif token == "\\theoremstyle":
        # A style that amsthm does not know is probably a variant of its default style.
        parser.theorem_style = _THEOREM_STYLES.get("".join(parser.argument()).strip(), "theorem")
    elif token in _KNOWN:
        parser.constructs.commands[token](parser, token)
    elif token in parser.macros:
        parser.expand(token)
    elif token in _BLOCKS:
        arguments = _arguments(parser)
        parser.push(arguments[-1] if arguments else [])
    elif token == "\\par":
        pass
    elif token[0] == "\\" and len(token) > 1 and token[1:2].isalpha():
        arguments = _arguments(parser)
        if token == "\\mathtoolsset" and "showonlyrefs" in "".join(map("".join, arguments)):
            return "\\mathtoolsset{showonlyrefs}"
        return "" if token in _SILENT else str(token)
    return ""


def _environment_name(parser: Parser) -> str:
    return "".join(parser.argument()).strip() if parser.peek() == "{" else ""


def _arguments(parser: Parser) -> list[list[str]]:
    """Consume a star and all arguments in braces and brackets. Return the arguments in braces."""
    found: list[list[str]] = []
    parser.star()
    while parser.peek() in ("{", "["):
        if parser.peek() == "{":
            found.append(parser.argument())
        elif parser.optional() is None:
            break
    return found


_THEOREM_STYLES: Mapping[str, Literal["definition", "remark"]] = MappingProxyType(
    {"definition": "definition", "remark": "remark"}
)


def _read_theorem(parser: _PreambleParser) -> TheoremKind:
    r"""Read `\newtheorem{name}[counter]{title}[within]`. `within` is ignored, because a setting of the site
    decides whether sections restart the numbers."""
    is_numbered = not parser.star()
    name = "".join(parser.argument()).strip()
    counter = "".join(parser.optional() or ()).strip()
    title = "".join(parser.argument()).strip()
    parser.optional()
    return TheoremKind(name, title, counter, is_numbered, parser.line, parser.theorem_style)


def _read_declared_theorem(parser: _PreambleParser) -> TheoremKind:
    r"""Read `\declaretheorem[name=Lemma, sibling=theorem, style=remark]{lemma}` (package thmtools)."""
    before, name = parser.optional() or [], "".join(parser.argument()).strip()
    written = "".join([*before, ",", *(parser.optional() or [])])
    pairs = (option.partition("=") for option in written.split(","))
    options = {key.strip(): value.strip(" {}") for key, _, value in pairs}
    shared = (options.get(key, "") for key in ("sibling", "numberlike", "sharenumber"))
    return TheoremKind(
        name,
        options.get("name", options.get("title", name.capitalize())),
        next(filter(None, shared), ""),
        options.get("numbered") not in ("no", "false"),
        parser.line,
        _THEOREM_STYLES.get(options.get("style", ""), parser.theorem_style),
    )


def _note_unreadable(parser: _PreambleParser, error: ParseError) -> None:
    """Define the command whose definition is invalid, so that an error is reported where a
    formula uses it."""
    name = str(error.token)
    if name.startswith("\\") and name not in parser.macros and not parser.constructs.is_known(name):
        parser.define(name, Macro(0, None, (), problem=error.message))
