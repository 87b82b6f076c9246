"""Macros of the author in a LaTeX document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..api.books import Macro, MacroTable, is_command, lazy_pattern, name_set, text_of

_CALL = lazy_pattern(r"\\(?:[A-Za-z]+|.)")
_DEFINES = lazy_pattern(
    r"\\(?:[egx]?def|let|(?:re)?newcommand|providecommand|DeclareMathOperator|(?:eq)?ref"
    r"|(?:re)?new(?:robustcmd|commandx)|providecommandx|cs[egx]?def|csuse|(?:do|for)csvlist"
    r"|ifblank|ifstrempty|ifstrequal|ifthenelse)(?![A-Za-z])"
)
_TEXT_COMMANDS = name_set(
    "AA AE DH L NG O OE P S TH aa ae author b begin bibitem bfseries c callout caption centering d date "
    "dh emph end endgroup begingroup enspace fbox footnote footnotemark footnotetext g hfil hfill href "
    "hyperref i item itshape j k l label leavevmode linewidth maketitle mbox newline ng nobreak noindent "
    "normalfont o oe page pageref par phantomsection qed r ref refname section small ss subsection "
    "subsubsection t textwidth th thanks title ttfamily u underline v"
)
"""Commands of LaTeX that formulas of blogsmith do not have. A macro of the same name is expanded."""


class MacroChoice:
    """Decides for each formula whether it keeps the macros of its author.

    In a document, each name has one definition: that of the first page that uses the macro. If a later page
    defines the name differently, its formulas are written with macros expanded.
    """

    def __init__(self, pages: Sequence[MacroTable]) -> None:
        """Create an object without macros in use. pages: the macros of each page."""
        self._pages = pages
        self._usable: dict[int, Mapping[str, str]] = {}
        """Number of a page, from 1 → macros that the preamble can define, with their bodies."""
        self._used: dict[str, Macro] = {}

    def choose(self, tex: str, portable: str, page: int) -> str:
        """Return `tex` if the preamble can define its macros, otherwise `portable`. page: number of the
        formula's page."""
        if not portable:
            return tex
        macros, usable = self._pages[page - 1], self._usable_in(page)
        calls = _CALL.findall(tex)
        if _DEFINES.search(tex) or any(
            call not in usable and (call in macros or (call[1:].isalpha() and not is_command(call)))
            for call in calls
            if call not in ("\\begin", "\\end", "\\label", "\\tag", "\\notag", "\\nonumber")
        ):
            return portable
        self._use(calls, macros, usable)
        return tex

    def _usable_in(self, page: int) -> Mapping[str, str]:
        if page not in self._usable:
            self._usable[page] = _usable(self._pages[page - 1], self._used)
        return self._usable[page]

    def _use(self, calls: Iterable[str], macros: MacroTable, usable: Mapping[str, str]) -> None:
        for call in calls:
            if call in usable and call not in self._used:
                self._used[call] = macros[call]
                self._use(_CALL.findall(usable[call]), macros, usable)

    def bodies(self) -> list[str]:
        """Return the bodies of the macros in use."""
        return [text_of(self._used[name].body) for name in sorted(self._used)]

    def definitions(self) -> list[str]:
        """Return lines of a preamble that define the macros in use."""
        lines = []
        for name in sorted(self._used):
            macro = self._used[name]
            options = f"[{macro.arity}]" if macro.arity else ""
            if macro.default is not None:
                options += f"[{{{text_of(macro.default)}}}]"
            body = text_of(macro.body)
            lines.append(f"\\providecommand{{{name}}}{{}}\\renewcommand{{{name}}}{options}{{{body}}}")
        return lines


def _usable(macros: MacroTable, used: Mapping[str, Macro]) -> Mapping[str, str]:
    """Return (macro, body) for each macro that LaTeX can define, as a mapping. used: macros that the document
    already defines."""
    usable = {
        name: text_of(macro.body)
        for name, macro in macros.items()
        if _is_definable(name, macro) and used.get(name, macro) == macro
    }
    while bad := [
        name
        for name, body in usable.items()
        if any(call not in usable and call in macros for call in _CALL.findall(body))
    ]:
        for name in bad:
            del usable[name]
    return usable


def _is_definable(name: str, macro: Macro) -> bool:
    is_plain = not (macro.delimiters or macro.parameters or macro.problem)
    return is_plain and name[1:].isalpha() and not is_command(name) and name[1:] not in _TEXT_COMMANDS
