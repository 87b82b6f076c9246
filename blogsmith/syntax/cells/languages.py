"""Languages of cells: their names, their comment syntax for options, and the language that a page runs.

Blogsmith's own worker runs Python. A Jupyter kernel runs one language, but its name often does not show
which. Therefore the language of a page with a kernel is that of the fences that are marked as cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ...model.cells import DRAWINGS
from ...model.names import name_set
from ..records import Fence

PYTHON = frozenset({"python", "python3", "py", "ipython", "ipython3"})
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(PYTHON, "python"),
        "c++": "cpp",
        "cu": "cuda",
        "cxx": "cpp",
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
"""Alias of a language → its canonical name. Other names are used in lower case."""
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
"""Start of a kernel's name → its language, for names that do not start with the language."""
_CELL_LANGUAGES = name_set(
    "r julia ojs bash zsh sql stan node octave perl ruby rust scala "
    "lean lean4 coq rocq agda isabelle sage sagemath matlab maple mathematica wolfram gap pari magma "
    "macaulay2 haskell c cpp rcpp cuda fortran go"
)
"""Languages that Quarto, knitr, kernels or proof assistants run when they are written in braces."""

_OFF = lazy_pattern(r"\|[ \t]*eval:[ \t]*false\b", re.IGNORECASE)


class OptionSyntax(Struct, frozen=True):
    """Syntax of option lines in one language, and of lines that only resemble options."""

    comment: str
    """Start of a comment, such as `#`."""
    option: re.Pattern[str]
    """Start of an option line."""
    all_options: re.Pattern[str]
    """All option lines at the start of the code."""
    spaced: re.Pattern[str]
    """Matches `# | key: value`, an option line that a formatter has changed."""
    anywhere: re.Pattern[str]
    """An option line anywhere in the code."""


def _marks(sign: str, pattern: str = "") -> OptionSyntax:
    """Return the syntax of options in comments that start with `sign`. pattern: regular expression of all
    signs that may precede the `|`."""
    c = pattern or re.escape(sign)
    return OptionSyntax(
        sign,
        re.compile(rf"[ \t]*{c}\|[ ]?"),
        re.compile(rf"(?:[ \t]*{c}\|[^\n]*\n)*"),
        re.compile(rf"[ \t]*{c} \|[ \t]*([A-Za-z][\w-]*):\s"),
        re.compile(rf"^[ \t]*{c}\|[ \t]*([A-Za-z][\w-]*):[ \t]", re.MULTILINE),
    )


HASH = _marks("#")
_SLASHES, _DASHES, _PERCENT, _SEMICOLONS = _marks("//"), _marks("--"), _marks("%"), _marks(";;")
_OF_DRAWINGS = _marks("%", "(?:%%?|#)")
"""Syntax of options in TeX code: `%|`, and the forms of Quarto and knitr."""
_BY_LANGUAGE: Mapping[str, OptionSyntax] = MappingProxyType(
    {
        **dict.fromkeys(
            ("javascript", "typescript", "rust", "java", "c", "cpp", "cuda", "go", "scala"), _SLASHES
        ),
        **dict.fromkeys(("csharp", "fsharp", "kotlin", "swift", "node", "php", "groovy"), _SLASHES),
        **dict.fromkeys(("sql", "lua", "haskell"), _DASHES),
        **dict.fromkeys(("matlab", "octave", "tex", "latex", "prolog"), _PERCENT),
        **dict.fromkeys(DRAWINGS, _OF_DRAWINGS),
        **dict.fromkeys(("scheme", "racket", "clojure", "lisp", "common-lisp"), _SEMICOLONS),
    }
)


def option_syntax(language: str) -> OptionSyntax:
    """Return the syntax of option lines in a language; `#|` in most."""
    return _BY_LANGUAGE.get(language, HASH)


def fence_language(fence: Fence) -> str:
    """Return the canonical name of the fence's language, or an empty string if it has none."""
    name = fence.language.casefold()
    return _NAMES.get(name, name)


def kernel_language(kernel: str) -> str:
    """Return the language that a kernel's name implies; an empty name is Python. Examples: `julia-1.10` is
    julia, `ir` is r."""
    found = re.match(r"[a-z+]+", kernel.casefold())
    name = found[0] if found else "python"
    return _KERNELS.get(name) or _NAMES.get(name, name)


def is_foreign_cell(fence: Fence) -> bool:
    """Return whether other generators run the fence, such as `{r}` or `{code-cell} julia`."""
    known = fence_language(fence) in _CELL_LANGUAGES or fence_language(fence) == "python"
    return fence.form == "code-cell" or (fence.form == "braces" and known)


def is_marked(fence: Fence, code: str, kernel: str) -> bool:
    """Return whether the author marked the fence as a cell, in any language. kernel: Kernel of the page."""
    if not fence_language(fence) and fence.form != "code-cell":
        return False
    named = fence.form == "braces" and fence_language(fence) == kernel_language(kernel)
    return fence.has_eval or named or is_foreign_cell(fence) or _has_options(fence, code)


def is_disabled(fence: Fence, code: str) -> bool:
    """Return whether the fence itself turns execution off."""
    said = any(setting.key == "eval" and setting.value is False for setting in fence.settings)
    return said or bool(_OFF.search(option_lines(code, fence_language(fence))))


def _has_options(fence: Fence, code: str) -> bool:
    language = fence_language(fence)
    return bool(option_syntax(language).anywhere.search(option_lines(code, language)))


def option_lines(code: str, language: str = "python") -> str:
    """Return the `#|` lines before the code of a fence, or an empty string."""
    found = option_syntax(language).all_options.match(code)
    return found[0] if found else ""


def cells_language(marked: Iterable[Fence], others: Iterable[Fence], kernel: str) -> str:
    """Return the language of the page's cells if a kernel runs them. marked: Fences that are marked as cells.
    others: Fences that are also cells if they have this language."""
    meant = kernel_language(kernel)
    languages = [language for fence in marked if (language := fence_language(fence))]
    if languages:
        return meant if meant == "python" or meant in languages else languages[0]
    unmarked = {fence_language(fence) for fence in others}
    # The name of a kernel is arbitrary. If no fence is marked, Python is the most likely language.
    return meant if not unmarked or meant in unmarked else "python"
