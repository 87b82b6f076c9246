"""Numbering of a paper. Settings give sections, theorems and equations the numbers that they have in the
PDF."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...api.importing import lazy_pattern
from ..model import Notice

_THEOREM = lazy_pattern(
    r"\\newtheorem\s*\{(?P<name>[^{}]*)\}\s*(?:\[(?P<shared>[^\[\]]*)\])?\s*\{[^{}]*\}"
    r"\s*(?:\[(?P<within>[^\[\]]*)\])?"
)
_WITHIN = lazy_pattern(
    r"\\(?:numberwithin|counterwithin|@addtoreset)\*?\s*\{(?P<counter>\w+)\}\s*\{(?P<within>\w+)\}"
)
_RESET = lazy_pattern(r"\\@addtoreset\s*\{(?P<counter>\w+)\}\s*\{(?P<within>\w+)\}")
_DEPTH = lazy_pattern(r"\\setcounter\s*\{secnumdepth\}\s*\{\s*(-?\d)\s*\}")
_ONLY_REFERENCED = lazy_pattern(
    r"^[^%\n]*(?:showonlyrefs(?!\s*=\s*false)|\\usepackage(?:\[[^\]]*\])?\{autonum\})", re.MULTILINE
)
_SECTION = lazy_pattern(r"\\(?:chapter|section)\s*(?:\[[^\]]*\])?\s*\{")
_SECTIONS = ("section", "chapter")
_SIAM = lazy_pattern(r"\\documentclass\s*(?:\[[^\]]*\])?\s*\{siam(?:art|online)")
"""Classes that number equations and all statements by section."""


def number_settings(preamble: str, body: str, theorems: Sequence[str]) -> tuple[dict[str, Any], list[Notice]]:
    r"""Return settings for the numbers of sections, equations and theorems, and notices for numbers that
    differ from the PDF. theorems: all `\newtheorem` as written."""
    notices = list[Notice]()
    top = "chapter" if "\\chapter{" in body else "section"
    within = {found["counter"]: found["within"] for found in _WITHIN.finditer(preamble)}
    depth = _DEPTH.search(preamble)
    settings: dict[str, Any] = {}
    if _SECTION.search(body) and not (depth and int(depth[1]) < (0 if top == "chapter" else 1)):
        settings["numbering"] = True
    is_siam = _SIAM.search(preamble) is not None
    is_by_section = (
        is_siam or within.get("equation") in _SECTIONS or (top == "chapter" and "equation" not in within)
    )
    numbered = "labelled" if _ONLY_REFERENCED.search(preamble) else "all"
    settings["math"] = {"numbering": f"{numbered}{' by section' * is_by_section}"}
    own: dict[str, str] = {}
    for found in _THEOREM.finditer("\n".join(theorems)):
        is_used = f"\\begin{{{found['name']}}}" in body
        if is_used and found["shared"] is None and "*" not in found[0][:12]:
            own[found["name"]] = within.get(found["name"]) or found["within"] or ""
    by_section = [name for name, where in own.items() if where in _SECTIONS]
    others = [name for name in own if name not in by_section]
    if by_section:
        settings["theorems"] = {"numbering": "each by section"}
    if is_siam:
        settings["theorems"] = {"numbering": "shared by section"}
    if by_section and others:
        listed = ", ".join(sorted(others))
        message = f'invalid numbering of "{listed}": the kinds beside it have section numbers'
        notices.append(
            Notice("changed", message, hint="set `theorems: {numbering: each}` if most have plain numbers")
        )
    deeper = sorted(
        {where for where in (*own.values(), *within.values()) if where and where not in _SECTIONS}
    )
    if deeper:
        listed = ", ".join(deeper)
        message = f'invalid numbering by "{listed}": numbers restart at each section'
        notices.append(Notice("changed", message))
    return settings, notices


def free_of_subsections(theorems: Sequence[str], body: str) -> list[str]:
    r"""Return the `\newtheorem` of a paper. Without subsections in its body, statements that use the counter
    of `subsection` get a common counter by section instead."""
    rows = [row for one in theorems if (row := _THEOREM.match(one)) and row["shared"] == "subsection"]
    used = [row for row in rows if f"\\begin{{{row['name']}}}" in body]
    if not used or "\\subsection{" in body:
        return list(theorems)
    first, name = used[0][0], used[0]["name"]
    return [
        one.replace("[subsection]", "" if one == first else f"[{name}]", 1) + "[section]" * (one == first)
        for one in theorems
    ]
