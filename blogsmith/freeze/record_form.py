"""On-disk form of a page's record, field by field.

Outputs have the field names of notebooks (nbformat 4), so that a notebook can be made from them. Types whose
in-memory form is the same are defined only in this module. Cells and sessions have another form in memory:
strings are not split into lines, and results are separate from their dependencies.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ..model.results import MAX_COUNT, MAX_NOTE, MAX_NOTES, MAX_SDPA, SDPA, ImportName, Machine, Uses

IMAGE_NAME = r"[^\W_][\w-]*-[0-9]+(-dark)?-[0-9a-f]{8}\.(svg|png|jpg|bin)"
"""Regular expression for the file name of an image."""

# `\Z`, not `$`, which allows a final newline. No absolute paths and no `..`: a record concerns the site
# only.
_PATH = r"(?s)^(?!/)(?!(.*/)?\.\.(/|\Z))[^\x00]+\Z"
_Path = Annotated[str, msgspec.Meta(pattern=_PATH)]
_Key = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Sdpa = Annotated[str, msgspec.Meta(pattern=rf"^{SDPA}\Z")]
Seal = Literal[""] | _Key
"""Digest of a part of the file, see `seals.py`. Empty in records that are older than seals."""
_Date = Annotated[str, msgspec.Meta(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?\Z")]
_Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_COUNT)]
_Note = Annotated[str, msgspec.Meta(max_length=MAX_NOTE)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
_Point = Annotated[str, msgspec.Meta(max_length=400)]
_Files = dict[_Path, _Sha256]
Lines = list[str]


class RecordStruct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Base class for the parts of the file. Fields with their default value are left out of the file."""


class Image(RecordStruct, frozen=True):
    file: Annotated[str, msgspec.Meta(pattern=rf"^{IMAGE_NAME}\Z")]
    sha256: _Sha256


class RecordedStream(RecordStruct, frozen=True, tag_field="output_type", tag="stream"):
    name: Literal["stdout", "stderr"]
    text: Lines
    dropped: _Count = 0


class RecordedValue(RecordStruct, frozen=True, tag_field="output_type", tag="execute_result"):
    data: dict[str, Lines | Image]


class RecordedDisplay(RecordStruct, frozen=True, tag_field="output_type", tag="display_data"):
    data: dict[str, Lines | Image]


class Error(RecordStruct, frozen=True, tag_field="output_type", tag="error"):
    ename: str
    evalue: str
    traceback: Lines
    cell: _Count = 0
    line: _Count = 0


Output = RecordedStream | RecordedValue | RecordedDisplay | Error


class Origin(RecordStruct, frozen=True, kw_only=False):
    """Machine and date of the run that gave a result."""

    # a default factory, so that it is always written; see `RecordedCell`
    machine: Machine = msgspec.field(default_factory=Machine)
    date: _Date = ""
    """ISO date, such as `2026-11-21`."""
    imported: bool = False
    """Whether the result was imported from a notebook and the cell never ran here."""
    accepted: _Date = ""
    """Date when the author accepted an edited or unsealed record with `freeze accept`; empty if never."""


class ValueRecord(RecordStruct, frozen=True):
    """Recorded result of one `{= … =}`."""

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
    # Default factories, so that these two are always written. msgspec leaves out a plain default if it is
    # the same object, not if it is equal. So a record that was read would be written differently from a new
    # one.
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
    compared: _Count = 0
    notes: Annotated[tuple[_Note, ...], msgspec.Meta(max_length=MAX_NOTES)] = ()
    sdpa: Annotated[tuple[_Sdpa, ...], msgspec.Meta(max_length=MAX_SDPA)] = ()
    uses: Uses | None = None
    origin: Origin | None = None
    layout: Literal[""] | _Key = ""
    seal: Seal = ""
    # for a sweep: the runs with other values, which have no `others` themselves
    others: dict[_Point, RecordedCell] = {}


class RecordedSession(RecordStruct, frozen=True):
    start: _Key
    # form of code in the keys; records without it have form 1
    keys: Literal[1, 2] = 1
    cells: tuple[RecordedCell, ...] = ()
    values: tuple[ValueRecord, ...] = ()
    environment: dict[str, str] = {}
    depends: _Files = {}
    reads: _Files = {}
    modules: _Files = {}
    absent: tuple[_Path, ...] = ()
    # always written if the worker reports uses, so that older records can be recognized
    uses: Uses | None = None
    machine: Machine = msgspec.field(default_factory=Machine)
    date: _Date = ""
    # as in `Origin`
    accepted: _Date = ""
    seal: Seal = ""


class File(RecordStruct, frozen=True):
    schema: int
    sessions: dict[str, RecordedSession]
    seal: Literal[""] | _Sha256 = ""
