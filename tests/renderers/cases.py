"""Cases of formulas that are easy to read wrongly, and the stored answers of other systems' renderers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent
ANSWERS = _FOLDER / "answers.txt"


class Formula(NamedTuple):
    """A formula that a renderer hands to MathJax or KaTeX."""

    kind: str
    """`inline` or `display`."""
    tex: str
    """TeX without delimiters; whitespace is one space."""


class RendererCase(NamedTuple):
    """A Markdown text."""

    name: str
    text: str
    accepted: Mapping[str, str]
    """System whose import differs → reason."""


Answers = dict[str, dict[str, Sequence[Formula]]]
"""Name of a case → system → formulas in the order of the page."""


def read_cases() -> list[RendererCase]:
    """Return all cases."""
    found = []
    for section in _sections(_FOLDER / "cases.txt"):
        name, _, text = section.partition("\n")
        accepted: dict[str, str] = {}
        while text.startswith("! "):
            line, _, text = text.partition("\n")
            systems, _, reason = line[2:].partition(": ")
            accepted |= dict.fromkeys(systems.split(", "), reason)
        found.append(RendererCase(name, f"{text.strip(chr(10))}\n", accepted))
    return found


def read_answers() -> Answers:
    """Return the stored answers."""
    found: Answers = {}
    for section in _sections(ANSWERS):
        name, *lines = section.strip("\n").split("\n")
        systems: dict[str, list[Formula]] = {}
        for line in lines:
            names, _, answer = line.partition(": ")
            for system in names.split(", "):
                formulas = systems.setdefault(system, [])
                if answer != "none":
                    formulas.append(Formula(*answer.split(" ", 1)))
        found[name] = dict(systems)
    return found


def write_answers(answers: Answers) -> None:
    """Write the answers. Systems with equal answers share lines."""
    parts = ["The formulas of each case of cases.txt, as `ask.py` found them.\n"]
    for name, systems in answers.items():
        groups: dict[tuple[Formula, ...], list[str]] = {}
        for system, formulas in systems.items():
            groups.setdefault(tuple(formulas), []).append(system)
        lines = [
            f"{', '.join(group)}: {answer}\n"
            for formulas, group in groups.items()
            for answer in ([f"{each.kind} {each.tex}" for each in formulas] or ["none"])
        ]
        parts.append(f"\n=== {name}\n{''.join(lines)}")
    ANSWERS.write_text("".join(parts), encoding="utf-8")


def _sections(path: Path) -> list[str]:
    return f"\n{path.read_text(encoding='utf-8')}".split("\n=== ")[1:]
