"""Info strings of PyMdown's fences → ours."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ...base.patterns import lazy_pattern

_ATTRIBUTE = lazy_pattern(r"([\w-]+)=(?:\"([^\"]*)\"|'([^']*)'|(\S+))")


def rewrite_fence(marks: str, info: str, code: Sequence[str], math: Collection[str]) -> list[str]:
    """The lines of a fence in our words. math: languages that are formulas."""
    text = info.strip()
    attributes = {
        found[1].lower(): found[2] or found[3] or found[4] or "" for found in _ATTRIBUTE.finditer(text)
    }
    words = _ATTRIBUTE.sub(" ", text.strip("{} ")).split()
    language = next(
        (word.strip("{}") for word in words if not word.startswith((".", "#")) and word.strip("{}")), ""
    )
    if not language or text.startswith("{"):
        language = next(
            (word[1:] for word in words if word.startswith(".") and word not in _CLASSES), language
        )
    if language in math:
        return ["$$", *(line for line in code if line.strip()), "$$"]
    return [
        f"{marks}{_info(language, attributes)}".rstrip(),
        *code,
        marks,
    ]


_CLASSES = frozenset((".annotate", ".no-copy", ".copy", ".select", ".no-select", ".yaml-annotate"))


def _info(language: str, attributes: dict[str, str]) -> str:
    parts = [language]
    if title := attributes.get("title"):
        parts.append(f'title="{title.replace(chr(34), chr(39))}"')
    if marked := ",".join(re.findall(r"\d+(?:-\d+)?", attributes.get("hl_lines", ""))):
        parts.append(f"{{{marked}}}")
    start = attributes.get("linenums", "").split()
    if start:
        parts.append(
            "linenos" + (f" start={start[0]}" if start[0].isdecimal() and start[0] not in ("0", "1") else "")
        )
    if len(parts) > 1 and not language:
        parts[0] = "text"
    return " ".join(parts)
