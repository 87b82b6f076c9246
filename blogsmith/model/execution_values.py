"""Parsers of settings for running code: times, amounts of memory, patterns of files.

Used for `execute:` of the site, `execute:` of a page, and the options of a cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

from ..base.patterns import lazy_pattern
from ..base.schema.forms import Form, union_form
from ..base.schema.records import parsed, shaped, words
from .cells import Freeze

FREEZE: Mapping[str | bool, Freeze] = MappingProxyType({"auto": "auto", True: "always", False: "never"})
"""Value of the option `freeze`, as in Quarto → when a recorded result is used."""

BYTES_HINT = "write a size such as `512 MB` or `2 GB`, at least `32 MB`"
KERNEL_NAMED = shaped(
    lazy_pattern(r"[A-Za-z0-9][\w.+-]{0,99}"),
    "kernel name",
    "write a name that `jupyter kernelspec list` shows",
)
_MAX_SEED = 2**32 - 1
"""The largest seed that NumPy accepts."""

_TIME = lazy_pattern(r"(\d{1,9}(?:\.\d{1,9})?)[ ]?(s|sec|seconds?|min|minutes?|h|hours?)?")
_UNITS: Mapping[str, int] = MappingProxyType({"s": 1, "m": 60, "h": 3600})
_MAX_SECONDS = 7 * 24 * 3600
_BYTES = lazy_pattern(r"(\d{1,9}(?:\.\d{1,9})?)[ ]?([kmgt])(i?)b", re.IGNORECASE)
BYTES_SHAPE = r"^\s*\d{1,9}(?:\.\d{1,9})? ?[kKmMgGtT][iI]?[bB]\s*$"
_MIN_BYTES, _MAX_BYTES = 32 * 10**6, 2**50


def parse_seconds(value: object) -> float | None:
    """Return the number of seconds of a time such as `90`, `2.5`, `90 s`, `5 min` or `1 h`. None if `value`
    is not a time from 1 ms to a week."""
    seconds = math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value)
    elif isinstance(value, str) and (found := _TIME.fullmatch(value.strip())):
        seconds = float(found[1]) * _UNITS[(found[2] or "s")[0]]
    return seconds if 0.001 <= seconds <= _MAX_SECONDS else None


def parse_size(value: object) -> int | None:
    """Return the number of bytes of a size such as `150 kB` (10³ each) or `2 MiB` (2²⁰ each). None if `value`
    is not a size."""
    found = _BYTES.fullmatch(value.strip()) if isinstance(value, str) else None
    if not found:
        return None
    power = "kmgt".index(found[2].lower()) + 1
    return int(float(found[1]) * (1024 if found[3] else 1000) ** power)


def parse_bytes(value: object) -> int | None:
    """Return the number of bytes of a size such as `2 GB` (10⁹ each) or `512 MiB` (2²⁰ each). None if `value`
    is not a size between 32 MB, the least that Python needs, and 1 PiB."""
    amount = parse_size(value)
    return amount if amount is not None and _MIN_BYTES <= amount <= _MAX_BYTES else None


def parse_seed(value: object) -> int | None:
    """Return the value if it is an integer that every random generator accepts as a seed; otherwise None."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and isinstance(value, int) and 0 <= value <= _MAX_SEED else None


def parse_tolerance(value: object) -> float | None:
    """Return a number from 0 to 1; None for any other value. YAML reads `1e-6` as a string."""
    try:
        number = (
            float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else -1.0
        )
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


PATTERN = r"^(?![/~])(?![A-Za-z]+:)[^\\]+$"
"""Regular expression of patterns relative to the site: no absolute path, no `~`, no URL scheme, no
backslash."""


PATTERN_HINT = "copy the file into the site, and write its path relative to the post"


def pattern_problem(pattern: str, folder: PurePosixPath) -> str:
    """Return why `pattern` cannot name files of the site; empty if it is valid. folder: folder that the
    pattern is relative to, itself relative to the site root."""
    if not pattern or pattern.startswith(("/", "~")) or "\\" in pattern or re.match(r"[A-Za-z]+:", pattern):
        return 'must be a path relative to the post, with "/" as separator'
    depth = len(folder.parts)
    for part in pattern.split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(part, 1)
        if depth < 0:
            return "is outside the site"
    return ""


FREEZE_WORD = words(FREEZE, "auto, true or false", suggest=False)
_NUMBER: Form = {"type": "number", "minimum": 0.001, "maximum": _MAX_SECONDS}
SECONDS = parsed(
    parse_seconds,
    "a time of at most a week",
    "write seconds, or a time such as `5 min`",
    form=union_form(_NUMBER, {"type": "string", "pattern": rf"^\s*(?:{_TIME.pattern})\s*$"}),
)
BYTES = parsed(parse_bytes, "a memory size", BYTES_HINT, form={"type": "string", "pattern": BYTES_SHAPE})
TOLERANCE = parsed(
    parse_tolerance,
    "a number from 0 to 1",
    "write a relative tolerance such as `1e-6`",
    form=union_form(
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "string", "pattern": r"^\s*[0-9.]+([eE]-?[0-9]+)?\s*$"},
    ),
)
SEED = parsed(
    parse_seed,
    f"a whole number from 0 to {_MAX_SEED}",
    form={"type": "integer", "minimum": 0, "maximum": _MAX_SEED},
)
