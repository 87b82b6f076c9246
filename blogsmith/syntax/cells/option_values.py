"""Values of cell options. Types of fields in `CellOptions` check most; the readers here check the rest."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ...base.schema.forms import Form, accepts, list_form, union_form
from ...base.schema.records import TRUTHS, Table, build_schema, checked, choice, flag, shaped, words
from ...base.schema.slots import Slot
from ...model.cells import CellOptions, Need
from ...model.execution_values import (
    BYTES,
    FREEZE_WORD,
    PATTERN,
    PATTERN_HINT,
    SECONDS,
    SEED,
    TOLERANCE,
    pattern_problem,
)
from ...model.sweeps import MAX_AXES, MAX_RUNS, Scalar, Sweep, SweepAxis
from ..references.references import label_id

# Sweeps: `sweep: {d: [4, 16, 64]}`, and the values that readers see by default.


CODE = "cell-sweep"
_FORM = "write names and values, such as `sweep: {d: [4, 16, 64]}`"
_LONGEST = 40
"""Maximum length of a string value, in characters."""


_SCALAR: Form = {"type": ["boolean", "number", "string"]}
_AXIS: Form = {
    **list_form({**_SCALAR, "minLength": 1, "maxLength": _LONGEST}, least=2),
    "maxItems": MAX_RUNS,
    "uniqueItems": True,
}


@accepts(
    {
        "type": "object",
        "propertyNames": {"pattern": r"^[^\W\d]\w*$"},
        "additionalProperties": _AXIS,
        "minProperties": 1,
        "maxProperties": MAX_AXES,
    }
)
def read_sweep(slot: Slot) -> Sweep | None:
    """Return the axes of a sweep. Report errors and return None if they are invalid."""
    if not isinstance(slot.value, dict) or not slot.value:
        _report(slot, "invalid sweep: expected a mapping of names to lists of values", _FORM)
        return None
    if len(slot.value) > MAX_AXES:
        _report(
            slot,
            f"too many names in sweep: {len(slot.value)}, but at most {MAX_AXES} are allowed",
            _AXES_HINT,
        )
        return None
    axes = [_axis(slot.child(name), name) for name in slot.value]
    if any(axis is None for axis in axes):
        return None
    known = tuple(axis for axis in axes if axis is not None)
    count = prod(len(axis.values) for axis in known)
    if count > MAX_RUNS:
        factors = " × ".join(str(len(axis.values)) for axis in known)
        message = f"too many runs of sweep: {count} ({factors}), but at most {MAX_RUNS} are allowed"
        _report(slot, message, "remove values, or draw all of them in one figure of one cell")
        return None
    return Sweep(known)


_AXES_HINT = f"keep {MAX_AXES} names, and write one cell for each value of the others"


def _axis(slot: Slot, name: str) -> SweepAxis | None:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        _report(slot, f'invalid sweep name "{name}": expected the name of a Python variable', _FORM)
        return None
    if not isinstance(slot.value, list) or len(slot.value) < 2:
        _report(slot, f'invalid "{name}" in sweep: expected a list of at least two values', _FORM)
        return None
    values = list(_values(slot))
    if len(values) != len(slot.value):
        return None
    return SweepAxis(name, tuple(values))


def _values(slot: Slot) -> Iterator[Scalar]:
    seen = set[str]()
    for index, value in enumerate(slot.value):
        entry = slot.child(index)
        is_number = isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))
        if not is_number and not (isinstance(value, str) and 0 < len(value) <= _LONGEST):
            message = (
                f"invalid sweep value: expected a number, boolean or string of up to {_LONGEST} characters"
            )
            _report(entry, message, "write a number, `true`, `false` or a shorter string")
        elif str(value) in seen:
            _report(entry, f'duplicate value "{value}" in this list', "remove one of the two")
        else:
            seen.add(str(value))
            yield value


@accepts(union_form(_SCALAR, list_form(_SCALAR), {"type": "object", "additionalProperties": _SCALAR}))
def read_default(slot: Slot) -> tuple[Scalar, ...] | None:
    """Return the values of `sweep-default`, one for each axis; None after an error."""
    items = slot.value
    if isinstance(items, dict):
        items = list(items.values())
    items = items if isinstance(items, list) else [items]
    if all(isinstance(item, bool | int | float | str) for item in items):
        return tuple(items)
    _report(
        slot,
        'invalid "sweep-default": expected one value for each name of the sweep',
        "write for example `sweep-default: 16`",
    )
    return None


def _report(slot: Slot, message: str, hint: str = "") -> None:
    slot.report(message, hint, code=CODE)


def default_indices(sweep: Sweep, values: tuple[Scalar, ...]) -> tuple[int, ...] | None:
    """Return the indices of the `sweep-default` values on their axes, or None if one is missing."""
    if len(values) != len(sweep.axes):
        return None
    found = []
    for axis, value in zip(sweep.axes, values, strict=True):
        at = next((i for i, own in enumerate(axis.values) if repr(own) == repr(value)), None)
        if at is None:
            return None
        found.append(at)
    return tuple(found)


FOLD = "Show code"
"""Label of folded code if the author sets no label."""

_LABEL = lazy_pattern(r"\w[\w.-]*")
_NAME = lazy_pattern(r"[A-Za-z0-9][\w-]*")
_NEED = lazy_pattern(r"([A-Za-z_]\w*(?:\.\w+)*)[ ]*(?:>=[ ]*(\d+(?:\.\w+)*))?")
_COMPARED = lazy_pattern(r"([^<>=!~]*)([<>=!~]*)(.*)", re.DOTALL)
_CAPABILITY = lazy_pattern(r"sm_\d{2,3}|[5-9]\d|\d{3}")
_NUMBER = lazy_pattern(r"\d+(?:\.\w+)*")
_NEED_HINT = "write a module as you import it, such as `torch` or `numpy>=2.0`, or write `cuda`"
_MODULES: Mapping[str, str] = MappingProxyType(
    {
        "gpu": "cuda",
        "pytorch": "torch",
        "pillow": "PIL",
        "pyyaml": "yaml",
        "scikit-learn": "sklearn",
        "scikit-image": "skimage",
        "opencv-python": "cv2",
    }
)
"""Common name of a package or device → the name that `needs` uses."""


_BOOLEANS: Mapping[str, str] = MappingProxyType({**TRUTHS, "t": "true", "f": "false"})
_FLAG_HINTS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("echo", "fenced"): "put the fence into a fence of four backticks to show it",
        ("output", "asis"): "write `true`: a value with `_repr_html_` is shown as HTML",
    }
)
"""(Quarto option, value) → hint on what to write here."""
_SINGLE_VALUE_HINTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("fig-cap", "fig-alt"), "write one string for all figures of the cell"),
        "tbl-cap": "write one caption for the first table of the cell",
    }
)
"""Option that accepts a list in Quarto, but one value here → hint."""


_WRITTEN: Form = {"type": "string", "pattern": r"\S"}


@accepts({**_WRITTEN, "type": ["string", "number"]})
def _text(slot: Slot) -> str | None:
    value = slot.value
    if isinstance(value, str) and value.strip():
        return " ".join(value.split())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return slot.spelling
    hint = _SINGLE_VALUE_HINTS.get(slot.name, "") if isinstance(value, list) else f"write `{slot.name}: TEXT`"
    slot.report(f'"{slot.name}" must be a string', hint)
    return None


@accepts({"type": ["string", "array"], "pattern": r"\S", "items": _WRITTEN, "minItems": 1})
def _texts(slot: Slot) -> tuple[str, ...] | None:
    """Read a list of strings, or one string as a list of one. Return None after an error."""
    items = slot.value if isinstance(slot.value, list) else [slot.value]
    texts = [item.strip() for item in items if isinstance(item, str) and item.strip()]
    if texts and len(texts) == len(items):
        return tuple(texts)
    slot.report(f'"{slot.name}" must be a string or a list of strings', f"write `{slot.name}: [a, b]`")
    return None


def _entry(slot: Slot, number: int) -> Slot:
    return slot.child(number) if isinstance(slot.value, list) else slot


@accepts({"pattern": r"^\s*\w[\w.\s-]*:?[\w.\s-]*$"})
def _label(text: str, slot: Slot) -> str | None:
    name = label_id(text)
    if _LABEL.fullmatch(name):
        return name
    slot.report(
        f'invalid label "{text}": expected letters, digits and hyphens', "write a label such as `loss`"
    )
    return None


@accepts({"pattern": r"^lst[-:][\w.\s-]+$"})
def _listing(text: str, slot: Slot) -> str | None:
    name = _label(text, slot)
    if name and not name.startswith("lst-"):
        slot.report(f'invalid listing label "{text}": expected "lst-" at the start', f"write `lst-{name}`")
        return None
    return name


@accepts(union_form({"type": "boolean"}, {"enum": ["show"]}, _WRITTEN))
def _fold(slot: Slot) -> str | None:
    value = slot.value
    if isinstance(value, bool) or value == "show":
        return FOLD if value else ""
    if isinstance(value, str) and value.strip():
        return value.strip()
    slot.report(
        '"code-fold" must be true, false, "show" or the label of the fold', "write `true`, or a label"
    )
    return None


@accepts({"pattern": _NEED, "items": {"pattern": _NEED}})
def _needs(names: tuple[str, ...], slot: Slot) -> tuple[Need, ...] | None:
    found = []
    for number, text in enumerate(names):
        read = _NEED.fullmatch(text)
        meant = _guess_need(text)
        if not read or meant:
            hint = f"write `{meant}`" if meant else _NEED_HINT
            expected = "" if meant else ': expected a module or "cuda", optionally with ">="'
            _entry(slot, number).report(f'invalid need "{text}"{expected}', hint)
            return None
        found.append(Need(read[1], read[2] or ""))
    return tuple(found)


def _guess_need(text: str) -> str:
    """Return the need that the author probably means, or an empty string if that is unclear."""
    compared = _COMPARED.fullmatch(text)
    written, sign, version = (part.strip() for part in compared.groups()) if compared else (text, "", "")
    name, version = written.casefold(), version.casefold()
    meant = _MODULES.get(name, "")
    if _CAPABILITY.fullmatch(name):
        return _capability(name.removeprefix("sm_"))
    if (meant or name) == "cuda" and _CAPABILITY.fullmatch(version):
        return _capability(version.removeprefix("sm_"))
    if sign in ("", ">="):
        return f"{meant}{sign}{version}" if meant else ""
    # Other comparisons become `>=`: a later version also satisfies the need.
    return (
        f"{meant or written}>={version}"
        if sign in (">", "==", "=", "~=") and _NUMBER.fullmatch(version)
        else ""
    )


def _capability(digits: str) -> str:
    """Return the need for `80` or `sm_80`, as compilers write compute capability 8.0."""
    return f"cuda>={digits[:-1]}.{digits[-1]}"


@accepts({"pattern": PATTERN, "items": {"pattern": PATTERN}})
def _depends(patterns: tuple[str, ...], slot: Slot) -> tuple[str, ...] | None:
    for number, pattern in enumerate(patterns):
        if problem := pattern_problem(pattern, slot.folder):
            _entry(slot, number).report(f'"{pattern}" {problem}', PATTERN_HINT)
            return None
    return patterns


@accepts({"pattern": r"\S"})
def _flags(text: str, slot: Slot) -> str | None:
    import shlex  # few cells have flags

    try:
        return shlex.join(shlex.split(text))
    except ValueError:
        slot.report(
            f'invalid flags "{text}": a quotation mark is not closed', "write the second quotation mark"
        )
        return None


_TABLE = Table(
    types={str: _text, bool: flag(_BOOLEANS, _FLAG_HINTS), tuple[str, ...]: _texts},
    choice=lambda words, _: choice(words),
    readers={
        "code-fold": _fold,
        "freeze": FREEZE_WORD,
        "needs": checked(_texts, _needs),
        "timeout": SECONDS,
        "memory": BYTES,
        "seed": SEED,
        "tolerance": TOLERANCE,
        "sweep": read_sweep,
        "sweep-default": read_default,
        "shapes": words(
            {"check": True, "off": False, True: True, False: False}, "check or off", suggest=False
        ),
    },
    checks={
        "label": _label,
        "lst-label": _listing,
        "fallback": lambda text, _: label_id(text),
        "session": shaped(_NAME, "session name", "write letters, digits and hyphens, such as `a-b`"),
        "depends": _depends,
        "flags": _flags,
    },
    names={"timeout": "timeout_s", "memory": "memory_bytes"},
    computed=frozenset(("fold_open", "places", "texts")),
    field_key=lambda name: name.replace("_", "-"),
)
OPTIONS = build_schema(CellOptions, _TABLE)
KEYS: Sequence[str] = tuple(OPTIONS.fields)
"""Names of all cell options."""
