"""Customization of themes, for the manual: variables, blocks, options of theme paper."""

from __future__ import annotations

import re
from collections.abc import Iterator

from blogsmith.base.diagnostics.model import Reporter
from blogsmith.render.templates.template_blocks import read_blocks
from blogsmith.render.templates.theme_settings import read_settings
from tests.docs_sources import ROOT

PAPER = ROOT / "themes" / "paper"
_LINE = re.compile(
    r"^  (?:/\* (?P<above>.+?) \*/|--(?P<name>[\w-]+): (?P<value>.+?);(?: /\* (?P<own>.+?) \*/)?)$"
)


def variables() -> Iterator[tuple[str, str, str]]:
    """Yield name, value and meaning of each custom property that theme.css declares for the whole page."""
    above = ""
    for line in (PAPER / "static" / "theme.css").read_text("utf-8").splitlines():
        found = _LINE.match(line)
        if not line.strip():
            above = ""
        elif found and found["above"]:
            above = found["above"].rstrip(".")
        elif found:
            yield f"--{found['name']}", found["value"], found["own"] or above


def blocks() -> dict[str, tuple[str, ...]]:
    """Map layouts to their blocks, including those of extended layouts, in the order of the page."""
    texts = {file.name: file.read_text("utf-8") for file in sorted((PAPER / "layouts").glob("*.html"))}
    return {name.removesuffix(".html"): tuple(_blocks_of(name, texts)) for name in texts}


def _blocks_of(name: str, texts: dict[str, str]) -> list[str]:
    read = read_blocks(texts[name])
    own = [block.name for block in read.blocks]
    inherited = _blocks_of(read.parent.removeprefix("layouts/"), texts) if read.parent else []
    return list(dict.fromkeys([*inherited, *own]))


def options() -> Iterator[tuple[str, str, str, str]]:
    """Yield name, values, default and meaning of each option that the theme.yaml of paper declares."""
    text = (PAPER / "theme.yaml").read_text("utf-8")
    settings = read_settings(text, "paper", Reporter("theme.yaml", text.splitlines()))
    lines = text[text.index("\noptions:\n") :].splitlines()
    for name, option in settings.options.items():
        at = next(index for index, line in enumerate(lines) if line.startswith(f"  {name}:"))
        meaning = lines[at - 1].strip().removeprefix("# ") if lines[at - 1].startswith("  # ") else ""
        yield name, ", ".join(option.choices) or option.kind, _shown(option.default), meaning


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return str(default) if default else ""
