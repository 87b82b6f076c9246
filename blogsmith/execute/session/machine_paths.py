"""Removal of machine-specific paths and memory addresses from outputs before they are recorded.

The same cells then give the same record in any folder and for any user, and no page reveals where its author
stores files. Files of the site are named relative to its root, and those of libraries relative to the
library. Paths of the user start with `~`, temporary ones with `/tmp`. All text of a cell is processed in this
way; images are not changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from ...model.results import CellOutput, CellRun, Display, Failure, SessionRun, Stream, ValueRun
from ..worker.tracebacks import short_path, without_libraries

_INSTALLED = Path(__file__).parents[3]
"""Folder that contains the package blogsmith, whose files appear in stacks that a cell prints."""
# After a letter or digit, the match is part of another path, and after `<` it is an end tag. The letter that
# ends a colour escape does not count.
_LONGER_PATH = re.compile(r"[\w.~<-]\Z")
_COLOUR = re.compile(r"\x1b\[[\d;]{0,16}m\Z")
_PATH_END = r"(?![\w-]|\.\w)"
_LOCATION = re.compile(r'File "(/[^"\n]{1,4096})(?=", line \d)')
# Memory address at the end of an object's repr, which differs in every run.
_ADDRESS = re.compile(r"(<[^<>\n]{1,300} at 0x)[0-9a-fA-F]{4,16}(?=>)")
_WARNING = re.compile(r"^(/[^\n]{1,4096}?)(?=:\d+: \w*Warning: )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MachinePaths:
    """Folders of one session whose paths are removed from outputs."""

    root: Path
    """Site root."""
    temporary: Path
    """Temporary folder of the session."""
    home: str = ""
    """Home folder of the user; empty if unknown."""

    def clean_run(self, run: SessionRun) -> SessionRun:
        """Return `run` without machine-specific paths."""
        clean = self._cleaner()
        cells = tuple(_cell(cell, clean) for cell in run.cells)
        values = {number: _value(value, clean) for number, value in run.values.items()}
        return replace(run, cells=cells, values=values)

    def _cleaner(self) -> _Cleaner:
        names = dict.fromkeys(_path_variants(self.home), "~")
        names |= dict.fromkeys(_path_variants(str(self.root)), "")
        names |= dict.fromkeys(_path_variants(str(self.temporary)), "/tmp")
        paths = "|".join(re.escape(path[1:]) for path in sorted(names, key=len, reverse=True))
        own = re.escape(f"{_INSTALLED}/blogsmith/"[1:])
        # The pattern starts with a plain slash, for which `re` searches quickly.
        return _Cleaner(re.compile(rf"/(?:(?P<own>{own})|(?P<path>{paths}){_PATH_END}(?P<slash>/?))"), names)


@dataclass(frozen=True, slots=True)
class _Cleaner:
    pattern: re.Pattern[str]
    names: Mapping[str, str]
    """Absolute path of a folder → text that replaces it in outputs. If the text is empty, paths become
    relative to the folder."""

    def __call__(self, text: str) -> str:
        if " at 0x" in text:
            text = _ADDRESS.sub(r"\1…", text)
        if "/" not in text:
            return text
        text = self.pattern.sub(self._rename_match, text)
        # In these contexts the end of the path is certain, so the path may contain spaces.
        text = _LOCATION.sub(lambda found: f'File "{short_path(found[1])}', text)
        if "Warning: " in text:
            text = _WARNING.sub(lambda found: short_path(found[1]), text)
        return without_libraries(text)

    def _rename_match(self, found: re.Match[str]) -> str:
        before = found.string[max(0, found.start() - 20) : found.start()]
        if _LONGER_PATH.search(before) and not _COLOUR.search(before):
            return found[0]
        if found["own"]:
            return "blogsmith/"
        name = self.names["/" + found["path"]]
        if name:
            return f"{name}{found['slash']}"
        follows = found.string[found.end() : found.end() + 1]
        return "" if found["slash"] and re.match(r"[\w.~-]", follows) else f".{found['slash']}"


def _path_variants(path: str) -> tuple[str, ...]:
    """Return the path of a folder as written and with links resolved. Empty if the path is not absolute."""
    given = path.rstrip("/")
    real = os.path.realpath(given) if given.startswith("/") else ""
    return tuple(dict.fromkeys(p for p in (given, real) if len(p) > 1 and p.startswith("/")))


def _cell(run: CellRun, clean: _Cleaner) -> CellRun:
    outputs = tuple(_outputs(run.outputs, clean))
    unjudged = run.unjudged and replace(run.unjudged, detail=clean(run.unjudged.detail))
    problem, claim = clean(run.problem), clean(run.claim)
    others = {key: _cell(other, clean) for key, other in run.others.items()}
    return replace(run, outputs=outputs, problem=problem, claim=claim, unjudged=unjudged, others=others)


def _outputs(outputs: Iterable[CellOutput], clean: _Cleaner) -> Iterator[CellOutput]:
    for output in outputs:
        if isinstance(output, Stream):
            yield replace(output, text=clean(output.text))
        elif isinstance(output, Failure):
            yield _failure(output, clean)
        else:
            texts = {mime: clean(part) for mime, part in output.data.items() if isinstance(part, str)}
            yield Display(output.kind, {**output.data, **texts})


def _value(run: ValueRun, clean: _Cleaner) -> ValueRun:
    failure = _failure(run.failure, clean) if run.failure else None
    return replace(run, text=clean(run.text), latex=clean(run.latex), failure=failure)


def _failure(failure: Failure, clean: _Cleaner) -> Failure:
    return replace(failure, message=clean(failure.message), text=clean(failure.text))
