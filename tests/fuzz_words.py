"""Vocabulary of the fuzzer for formulas: all names in our tables, and strings that challenge a converter."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import blogsmith.tex
from blogsmith.tex.constructs.table import constructs

from .browser.gallery_text import read_groups

_COMMAND = re.compile(r"\\(?:[A-Za-z]+|[^A-Za-z\s])")

# from the borders of ASCII, Latin, marks, direction, private use, other planes, and invalid XML
ODD = "\x00\x01\t\n\r\x0b\x1b\x7f\x85\xa0éß‹\u0301\u0338\u200b\u200d\u202e\u2066\u2028\ufdd0\ufe0f\ufffd"
ODD += "\ufffe\uffff\ue000\ud800\udfff\U0001f600\U0001d49c\U0010ffff٣的′″“”–−×≠∑√⟨‖ℝα"
PLAIN = "abcxyzABCN0123456789+-*/=<>,.;:!?|()[]'\"`@ "
SPECIAL = "\\{}$&#^_~%"
LENGTHS = ("1em", "-2pt", "0pt", "1e9em", "99999cm", "1", "em", "-0.5 ex", "18mu", ".5in", "NaNpt", "1ptpt")
COLORS = (
    "red",
    "#f00",
    "#ff8800",
    "ForestGreen",
    "rgb(1,2,3)",
    "url(x)",
    "",
    "#12",
    "red;x:y",
    "transparent",
)
URLS = (
    "https://example.org/a?b=c&d#e",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "\x01javascript:alert(1)",
    "&#106;avascript:alert(1)",
    "javascript&colon;alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "//evil.example",
    "../a b",
    "mailto:a@b.example",
    'x" onclick="alert(1)',
)
MARKUP = (
    "<script>alert(1)</script>",
    "</mtext></math><img src=x onerror=alert(1)>",
    "<!--",
    "-->",
    "]]>",
    "<![CDATA[x]]>",
    "&lt;b&gt;",
    "&amp;#60;",
    "<?xml version='1.0'?>",
    '" style="position:fixed" x="',
    "' onmouseover='x",
    "<!DOCTYPE x [<!ENTITY a 'b'>]>&a;",
)
CHEMISTRY = (
    "H2O",
    "SO4^2-",
    "A ->[x][y] B",
    "<=>>",
    "^{14}_{6}C",
    "CuSO4*5H2O",
    "A v",
    "(aq)",
    "1/2",
    "-",
    "$x$",
    "#",
)
UNITS = (
    "\\metre\\per\\second",
    "m/s^2",
    "kg.m",
    "\\kilo\\gram\\squared",
    "1.5e-10",
    "12;30;5",
    "3+-0.1",
    "1x2x3",
)
BRACKETS = (
    "(",
    ")",
    "[",
    "]",
    "\\{",
    "\\}",
    "|",
    "\\|",
    "\\langle",
    "\\rangle",
    ".",
    "/",
    "\\uparrow",
    "<",
    "x",
)


PACKAGES = frozenset(("physics",))
"""Packages that change the meaning of commands."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names in our tables."""

    commands: tuple[str, ...]
    """Commands valid in any formula."""
    inner: tuple[str, ...]
    """Commands valid in text, a unit or a bracket only."""
    environments: tuple[str, ...]
    formulas: tuple[str, ...]
    """Formulas of the gallery, for mutation."""


@cache
def vocabulary() -> Vocabulary:
    """Return every symbol, command and environment in the tables of `blogsmith.tex`, sorted."""
    table = constructs(PACKAGES)
    commands = frozenset(table.names())
    named: set[str] = set()
    for module in pkgutil.walk_packages(blogsmith.tex.__path__, "blogsmith.tex."):
        for value in vars(import_module(module.name)).values():
            keys = value if isinstance(value, Mapping | tuple | frozenset) else ()
            named.update(key for key in keys if isinstance(key, str) and _COMMAND.fullmatch(key))
    lines = [line for group in read_groups() for line in group.lines]
    formulas = dict.fromkeys(tex for line in lines for tex in (line.tex, *line.formulas))
    return Vocabulary(
        tuple(sorted(commands)),
        tuple(sorted(named - commands)),
        tuple(sorted(table.environments)),
        tuple(formulas),
    )
