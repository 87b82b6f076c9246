"""What the value of each option of a cell may be: one function a kind of value, one row an option."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from ...config.units import (
    BYTES_HINT,
    FREEZE,
    MAX_SEED,
    SECONDS_HINT,
    parse_bytes,
    parse_seconds,
    parse_seed,
    pattern_problem,
)
from ...diagnostics.model import did_you_mean
from ...model.cells import Need
from ..records import OptionSetting
from ..references.references import label_id
from ..state import PageState

FOLD = "Show code"
"""Label of a fold that was given none."""

_LABEL = re.compile(r"\w[\w.-]*")
_NAME = re.compile(r"[A-Za-z0-9][\w-]*")
_NEED = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)[ ]*(?:>=[ ]*(\d+(?:\.\w+)*))?")
_COMPARED = re.compile(r"([^<>=!~]*)([<>=!~]*)(.*)", re.DOTALL)
_CAPABILITY = re.compile(r"sm_\d{2,3}|[5-9]\d|\d{3}")
_NUMBER = re.compile(r"\d+(?:\.\w+)*")
_NEED_HINT = "name a module as it is imported, such as torch or numpy>=2.0, or cuda"
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
"""Name of a package or thing → what one imports."""


@dataclass(frozen=True, slots=True)
class OptionContext:
    """One setting being read."""

    setting: OptionSetting
    page: PageState

    def wrong(self, message: str, hint: str = "", entry: int = -1) -> None:
        """Report the value, or one entry of a list."""
        entries = self.setting.entries
        place = entries[entry] if 0 <= entry < len(entries) else self.setting.place
        self.page.reporter.error("cell-option", message, place, hint)


def _flag(asked: OptionContext) -> bool | None:
    value = asked.setting.value
    if isinstance(value, bool):
        return value
    written = str(value).strip()
    meant = _FLAGS.get(written.casefold(), "")
    hint = _FLAG_HINTS.get((asked.setting.key, written), f"write {meant}" if meant else "")
    asked.wrong(f"{asked.setting.key} must be true or false", hint)
    return None


_FLAGS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("yes", "on", "true", "t"), "true"),
        **dict.fromkeys(("no", "off", "false", "f"), "false"),
    }
)
_FLAG_HINTS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("echo", "fenced"): "to show the fence itself, put it into a fence of four backticks",
        ("output", "asis"): "write true; a value with _repr_html_ is shown as HTML",
    }
)
"""(Option, value) of Quarto → what to do here."""


def _text(asked: OptionContext) -> str | None:
    value = asked.setting.value
    if isinstance(value, str) and value.strip():
        return " ".join(value.split())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return asked.setting.spelling
    hint = _ONE_TEXT.get(asked.setting.key, "") if isinstance(value, list) else ""
    asked.wrong(f"{asked.setting.key} must be a text", hint)
    return None


_ONE_TEXT: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("fig-cap", "fig-alt"), "one caption for all figures of the cell"),
        "tbl-cap": "one caption for the first table of the cell",
    }
)
"""Option of which Quarto takes a list → what there is here."""


def _label(asked: OptionContext) -> str | None:
    text = _text(asked)
    name = label_id(text or "")
    if text is None or _LABEL.fullmatch(name):
        return name
    asked.wrong(f'"{text}" is no label', "use letters, digits and hyphens")
    return None


def _fold(asked: OptionContext) -> str | None:
    value = asked.setting.value
    if isinstance(value, bool) or value == "show":
        return FOLD if value else ""
    if isinstance(value, str) and value.strip():
        return value.strip()
    asked.wrong("code-fold must be true, false, show or the label of the fold")
    return None


def _choice(*words: str) -> Callable[[OptionContext], str | None]:
    def read(asked: OptionContext) -> str | None:
        value = asked.setting.value
        if isinstance(value, str) and value in words:
            return value
        hint = did_you_mean(value, words) if isinstance(value, str) else ""
        asked.wrong(f"{asked.setting.key} must be {', '.join(words[:-1])} or {words[-1]}", hint)
        return None

    return read


def _freeze(asked: OptionContext) -> str | None:
    value = asked.setting.value
    if isinstance(value, str | bool) and value in FREEZE:
        return FREEZE[value]
    asked.wrong("freeze must be auto, true or false")
    return None


def _shapes(asked: OptionContext) -> bool | None:
    words = {"check": True, "off": False}
    value = asked.setting.value
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in words:
        return words[value]
    asked.wrong("shapes must be check or off")
    return None


def _texts(asked: OptionContext) -> tuple[str, ...] | None:
    """A list of texts; a single text is a list of one."""
    value = asked.setting.value
    items = value if isinstance(value, list) else [value]
    texts = [item.strip() for item in items if isinstance(item, str) and item.strip()]
    if texts and len(texts) == len(items):
        return tuple(texts)
    asked.wrong(f"{asked.setting.key} must be a text or a list of texts")
    return None


def _needs(asked: OptionContext) -> tuple[Need, ...] | None:
    found = []
    for number, text in enumerate(_texts(asked) or ()):
        read = _NEED.fullmatch(text)
        meant = _meant_need(text)
        if not read or meant:
            asked.wrong(
                f'"{text}" is nothing a cell can need', f"write {meant}" if meant else _NEED_HINT, number
            )
            return None
        found.append(Need(read[1], read[2] or ""))
    return tuple(found) or None


def _meant_need(text: str) -> str:
    """What somebody means who writes a need in another way; empty if nobody can know."""
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
    # a higher version is no reason not to run
    return (
        f"{meant or written}>={version}"
        if sign in (">", "==", "=", "~=") and _NUMBER.fullmatch(version)
        else ""
    )


def _capability(digits: str) -> str:
    """`80` and `sm_80`, as compilers write 8.0."""
    return f"cuda>={digits[:-1]}.{digits[-1]}"


def _depends(asked: OptionContext) -> tuple[str, ...] | None:
    folder = PurePosixPath(asked.page.reporter.path).parent
    patterns = _texts(asked)
    for number, pattern in enumerate(patterns or ()):
        if problem := pattern_problem(pattern, folder):
            asked.wrong(f'"{pattern}" {problem}', "", number)
            return None
    return patterns


def _session(asked: OptionContext) -> str | None:
    name = _text(asked)
    if name is None or _NAME.fullmatch(name):
        return name
    asked.wrong(f'"{name}" is no name of a session', "use letters, digits and hyphens")
    return None


def _number(
    parse: Callable[[object], float | None], problem: str, hint: str
) -> Callable[[OptionContext], float | None]:
    def read(asked: OptionContext) -> float | None:
        found = parse(asked.setting.value)
        if found is None:
            asked.wrong(f"{asked.setting.key} must be {problem}", hint)
        return found

    return read


def _fallback(asked: OptionContext) -> str | None:
    text = _text(asked)
    return label_id(text) if text else None


READERS: Mapping[str, tuple[str, Callable[[OptionContext], Any]]] = MappingProxyType(
    {
        "eval": ("eval", _flag),
        "echo": ("echo", _flag),
        "output": ("output", _flag),
        "error": ("error", _flag),
        "warning": ("warning", _flag),
        "include": ("include", _flag),
        "label": ("", _label),
        "fig-cap": ("fig_cap", _text),
        "fig-alt": ("fig_alt", _text),
        "tbl-cap": ("tbl_cap", _text),
        "code-fold": ("code_fold", _fold),
        "code-summary": ("code_summary", _text),
        "freeze": ("freeze", _freeze),
        "needs": ("needs", _needs),
        "fallback": ("fallback", _fallback),
        "session": ("session", _session),
        "depends": ("depends", _depends),
        "timeout": ("timeout_s", _number(parse_seconds, "a time of at most a week", SECONDS_HINT)),
        "memory": ("memory_bytes", _number(parse_bytes, "an amount of memory", BYTES_HINT)),
        "seed": ("seed", _number(parse_seed, f"a whole number from 0 to {MAX_SEED}", "")),
        "run-in": ("run_in", _choice("build", "browser", "both")),
        "claim": ("claim", _text),
        "fig-format": ("fig_format", _choice("svg", "png")),
        "fig-dark": ("fig_dark", _flag),
        "shapes": ("shapes", _shapes),
    }
)
"""Option → the field of `CellOptions` it fills, and what reads its value."""

KEYS: Sequence[str] = tuple(READERS)
"""The options of a cell."""
