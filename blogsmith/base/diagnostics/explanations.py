"""The manual's entry of each diagnostic code: its description, severity and example.

The examples are in a JSON file next to this one, which `python -m tests.regen docs` writes because only tests
can build broken sites. The file is read when a command explains a code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from .codes import CODES, FIXABLE, LOWERABLE, has_warnings
from .model import nearest

FILE = Path(__file__).parent / "examples.json"
_MAX_NEAREST = 3
_WARNING_ONLY = "(warning)."


class Example(Struct, frozen=True):
    """A broken source and the message that a build prints for it."""

    message: str
    """Message as printed: location, source line with carets, hint."""
    corrected: str
    """Corrected lines of the source; empty if there is no automatic fix."""


class Manual(Struct, frozen=True):
    """Content of the JSON file of examples."""

    groups: Mapping[str, tuple[str, ...]]
    """Heading in the manual → diagnostic codes below it, in the order of the manual."""
    examples: Mapping[str, Example]
    """Diagnostic code → example of its message."""


class Explanation(Struct, frozen=True):
    """Entry of a diagnostic code in the manual."""

    code: str
    group: str
    """Heading of the manual above the code."""
    description: str
    severities: tuple[str, ...]
    """`error`, `warning` or both, before the settings of a site are applied."""
    is_fixable: bool
    """Whether at least some findings have a fix."""
    settings: Mapping[str, str]
    """Purpose, such as `ignore the warnings` → the line of blogsmith.yaml for it."""
    example: Example


def read_manual() -> Manual:
    found = json.loads(FILE.read_text("utf-8"))
    examples = {code: Example(**one) for code, one in found["examples"].items()}
    return Manual({name: tuple(codes) for name, codes in found["groups"].items()}, examples)


def explain_code(code: str) -> Explanation:
    """Return the entry of a code; KeyError if there is none."""
    manual, description = read_manual(), CODES[code]
    group = next(name for name, codes in manual.groups.items() if code in codes)
    return Explanation(
        code=code,
        group=group,
        description=description,
        severities=_severities(code, manual.examples[code]),
        is_fixable=code in FIXABLE,
        settings=_settings(code),
        example=manual.examples[code],
    )


def nearest_codes(word: str) -> Sequence[str]:
    """Return up to three codes that `word` may mean, the most similar first."""
    found: list[str] = []
    while len(found) < _MAX_NEAREST and (near := nearest(word, [one for one in CODES if one not in found])):
        found.append(near)
    return found


def _severities(code: str, example: Example) -> tuple[str, ...]:
    if CODES[code].endswith(_WARNING_ONLY):
        return ("warning",)
    # a few codes warn only with a certain setting, which their descriptions do not mention
    is_shown = "warning: " in example.message.partition("\n")[0]
    return ("error", "warning") if has_warnings(code) or is_shown else ("error",)


def _settings(code: str) -> Mapping[str, str]:
    found = {}
    if code in LOWERABLE:
        found["turn its errors in content/ into warnings"] = f"diagnostics: {{{code}: warning}}"
    if has_warnings(code):
        found["hide its warnings"] = f"diagnostics: {{ignore: [{code}]}}"
        found["hide its warnings in some files"] = (
            f'diagnostics: {{{code}: {{level: off, in: "posts/old/**"}}}}'
        )
        found["turn its warnings into errors"] = f"diagnostics: {{{code}: error}}"
    return found
