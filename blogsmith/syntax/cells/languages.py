"""Languages of cells: their names, how their options are commented out, and which one a page runs.

Blogsmith's own worker runs Python. A Jupyter kernel runs one language, and its name says which as often as
not: what a page marks as cells decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from ..records import Fence

PYTHON = frozenset({"python", "python3", "py", "ipython", "ipython3"})
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(PYTHON, "python"),
        "c++": "cpp",
        "hs": "haskell",
        "jl": "julia",
        "js": "javascript",
        "pl": "perl",
        "rb": "ruby",
        "rs": "rust",
        "sh": "bash",
        "shell": "bash",
        "ts": "typescript",
    }
)
"""Name of a language → the one that counts; others as they are, in lower case."""
_KERNELS: Mapping[str, str] = MappingProxyType(
    {
        "ir": "r",
        "xr": "r",
        "xpython": "python",
        "xcpp": "cpp",
        "ijavascript": "javascript",
        "tslab": "typescript",
        "jslab": "javascript",
        "ijava": "java",
        "ihaskell": "haskell",
        "evcxr": "rust",
        "gophernotes": "go",
        "gonb": "go",
        "xsqlite": "sql",
        "xlua": "lua",
    }
)
"""Beginning of a kernel's name → its language, where that is not the beginning itself."""
_RUN_ELSEWHERE = name_set("r julia ojs bash zsh sql stan node octave perl ruby rust scala")
"""Languages that run in Quarto and knitr when they stand in braces."""

_OFF = lazy_pattern(r"\|[ \t]*eval:[ \t]*false\b", re.IGNORECASE)


class Marks(Struct, frozen=True):
    """How lines of options begin in one language, and how they look where they do not count."""

    sign: str
    """What begins a comment: `#`."""
    option: re.Pattern[str]
    """In front of a line."""
    head: re.Pattern[str]
    """All lines of options at the beginning of a text."""
    spaced: re.Pattern[str]
    """`# | key: value`, as formatters make of an option."""
    below: re.Pattern[str]
    """An option anywhere in a text."""


def _marks(sign: str) -> Marks:
    c = re.escape(sign)
    return Marks(
        sign,
        re.compile(rf"[ \t]*{c}\|[ ]?"),
        re.compile(rf"(?:[ \t]*{c}\|[^\n]*\n)*"),
        re.compile(rf"[ \t]*{c} \|[ \t]*([A-Za-z][\w-]*):\s"),
        re.compile(rf"^[ \t]*{c}\|[ \t]*([A-Za-z][\w-]*):[ \t]", re.MULTILINE),
    )


HASH = _marks("#")
_SLASHES, _DASHES, _PERCENT, _SEMICOLONS = _marks("//"), _marks("--"), _marks("%"), _marks(";;")
_BY_LANGUAGE: Mapping[str, Marks] = MappingProxyType(
    {
        **dict.fromkeys(("javascript", "typescript", "rust", "java", "c", "cpp", "go", "scala"), _SLASHES),
        **dict.fromkeys(("csharp", "fsharp", "kotlin", "swift", "node", "php", "groovy"), _SLASHES),
        **dict.fromkeys(("sql", "lua", "haskell"), _DASHES),
        **dict.fromkeys(("matlab", "octave", "tex", "latex", "prolog"), _PERCENT),
        **dict.fromkeys(("scheme", "racket", "clojure", "lisp", "common-lisp"), _SEMICOLONS),
    }
)


def marks_of(language: str) -> Marks:
    """How options begin in a language; `#|` in most."""
    return _BY_LANGUAGE.get(language, HASH)


def language_of(fence: Fence) -> str:
    """The language of a fence under the name that counts; empty if it has none."""
    name = fence.language.casefold()
    return _NAMES.get(name, name)


def kernel_language(kernel: str) -> str:
    """What the name of a kernel says: `julia-1.10` is julia, `ir` is r, no name is Python."""
    found = re.match(r"[a-z+]+", kernel.casefold())
    name = found[0] if found else "python"
    return _KERNELS.get(name) or _NAMES.get(name, name)


def is_cell_elsewhere(fence: Fence) -> bool:
    """Whether other generators run the fence: `{r}`, `{code-cell} julia`."""
    known = language_of(fence) in _RUN_ELSEWHERE or language_of(fence) == "python"
    return fence.form == "code-cell" or (fence.form == "braces" and known)


def is_marked(fence: Fence, code: str, kernel: str) -> bool:
    """Whether a fence is to be a cell, of whatever language. kernel: of the page."""
    if not language_of(fence) and fence.form != "code-cell":
        return False
    named = fence.form == "braces" and language_of(fence) == kernel_language(kernel)
    return fence.is_marked or named or is_cell_elsewhere(fence) or _has_options(fence, code)


def is_off(fence: Fence, code: str) -> bool:
    """Whether the fence says itself that it is not to be run."""
    said = any(setting.key == "eval" and setting.value is False for setting in fence.settings)
    return said or bool(_OFF.search(option_lines(code, language_of(fence))))


def _has_options(fence: Fence, code: str) -> bool:
    language = language_of(fence)
    return bool(marks_of(language).below.search(option_lines(code, language)))


def option_lines(code: str, language: str = "python") -> str:
    """The lines `#|` in front of the code of a fence; empty if there are none."""
    found = marks_of(language).head.match(code)
    return found[0] if found else ""


def cells_language(marked: Iterable[Fence], others: Iterable[Fence], kernel: str) -> str:
    """The language of a page's cells that a kernel runs.

    marked: the fences that are to be cells; others: those that are cells as well if the language is theirs.
    """
    meant = kernel_language(kernel)
    languages = [language for fence in marked if (language := language_of(fence))]
    if languages:
        return meant if meant == "python" or meant in languages else languages[0]
    unmarked = {language_of(fence) for fence in others}
    # kernels may have any name: of fences that nobody has marked, Python is what is likely
    return meant if not unmarked or meant in unmarked else "python"
