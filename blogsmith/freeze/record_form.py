"""The form of a recorded page on disk, field by field; what is left out has its default.

Outputs have the names that notebooks (nbformat 4) use, so that one can be made from them. What has the same
form in memory stands here alone; cells and sessions have another one there: texts whole and not in lines,
what a run gave apart from what it was made from.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ..model.results import MOST_SDPA, SDPA, ImportName, Machine

PICTURE = r"[^\W_][\w-]*-[0-9]+(-dark)?-[0-9a-f]{8}\.(svg|png|jpg|bin)"
"""Form of a picture's file name, as a regular expression."""

# `\\Z`, not `$`, which lets a newline through. Neither a root nor `..`: a record is about the site only.
_PATH = r"(?s)^(?!/)(?!(.*/)?\.\.(/|\Z))[^\x00]+\Z"
_Path = Annotated[str, msgspec.Meta(pattern=_PATH)]
_Key = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Sdpa = Annotated[str, msgspec.Meta(pattern=rf"^{SDPA}\Z")]
_Date = Annotated[str, msgspec.Meta(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?\Z")]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
_Point = Annotated[str, msgspec.Meta(max_length=400)]
_Files = dict[_Path, _Sha256]
Lines = list[str]


class RecordStruct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A part of the file; what has its default value is left out."""


class Picture(RecordStruct, frozen=True):
    file: Annotated[str, msgspec.Meta(pattern=rf"^{PICTURE}\Z")]
    sha256: _Sha256


class RecordedStream(RecordStruct, frozen=True, tag_field="output_type", tag="stream"):
    name: Literal["stdout", "stderr"]
    text: Lines
    dropped: _Count = 0


class RecordedValue(RecordStruct, frozen=True, tag_field="output_type", tag="execute_result"):
    data: dict[str, Lines | Picture]


class RecordedDisplay(RecordStruct, frozen=True, tag_field="output_type", tag="display_data"):
    data: dict[str, Lines | Picture]


class Error(RecordStruct, frozen=True, tag_field="output_type", tag="error"):
    ename: str
    evalue: str
    traceback: Lines
    cell: _Count = 0
    line: _Count = 0


Output = RecordedStream | RecordedValue | RecordedDisplay | Error


class Origin(RecordStruct, frozen=True, kw_only=False):
    """Where and when something ran."""

    # made by a function, it is always written, see `RecordedCell`
    machine: Machine = msgspec.field(default_factory=Machine)
    date: _Date = ""
    """`2026-11-21`."""
    imported: bool = False
    """From a notebook that another program ran: nobody has run it here."""


class ValueRecord(RecordStruct, frozen=True):
    """The result of one `{= … =}`."""

    key: _Key
    expression: str
    conversion: str = ""
    spec: str = ""
    text: str = ""
    latex: str = ""


def _ok() -> Literal["ok"]:
    return "ok"


def _cpu() -> str:
    return "cpu"


class RecordedCell(RecordStruct, frozen=True):
    key: _Key
    code: _Key
    # Made by a function, these two are always written. A plain default is left out if it is the same object,
    # not if it is equal, and a record that was read would be written differently from one that was made.
    status: Literal["ok", "error"] = msgspec.field(default_factory=_ok)
    seconds: _Seconds = 0.0
    outputs: tuple[Output, ...] = ()
    label: str = ""
    options: dict[str, str] = {}
    depends: _Files = {}
    reads: _Files = {}
    modules: _Files = {}
    absent: tuple[_Path, ...] = ()
    packages: tuple[ImportName, ...] = ()
    device: str = msgspec.field(default_factory=_cpu)
    problem: str = ""
    line: _Count = 0
    claim: str = ""
    sdpa: Annotated[tuple[_Sdpa, ...], msgspec.Meta(max_length=MOST_SDPA)] = ()
    origin: Origin | None = None
    layout: Literal[""] | _Key = ""
    # of a sweep: the runs with other values, which have no `others` themselves
    others: dict[_Point, RecordedCell] = {}


class RecordedSession(RecordStruct, frozen=True):
    start: _Key
    # how code counts in the keys; records that do not say it have form 1
    keys: Literal[1, 2] = 1
    cells: tuple[RecordedCell, ...] = ()
    values: tuple[ValueRecord, ...] = ()
    environment: dict[str, str] = {}
    depends: _Files = {}
    reads: _Files = {}
    modules: _Files = {}
    absent: tuple[_Path, ...] = ()
    machine: Machine = msgspec.field(default_factory=Machine)
    date: _Date = ""


class File(RecordStruct, frozen=True):
    schema: int
    sessions: dict[str, RecordedSession]
