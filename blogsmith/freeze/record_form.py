"""The form of a recorded page on disk, field by field; what is left out has its default.

Outputs have the names that notebooks (nbformat 4) use, so that one can be made from them.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ..model.results import MOST_SDPA, SDPA

PICTURE = r"[^\W_][\w-]*-[0-9]+(-dark)?-[0-9a-f]{8}\.(svg|png|jpg|bin)"
"""Form of a picture's file name, as a regular expression."""

# `\\Z`, not `$`, which lets a newline through. Neither a root nor `..`: a record is about the site only.
_PATH = r"(?s)^(?!/)(?!(.*/)?\.\.(/|\Z))[^\x00]+\Z"
_Path = Annotated[str, msgspec.Meta(pattern=_PATH)]
_Key = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[^\s\x00-\x1f\x7f]+\Z")]
_Sdpa = Annotated[str, msgspec.Meta(pattern=rf"^{SDPA}\Z")]
_Date = Annotated[str, msgspec.Meta(pattern=r"^([0-9]{4}-[0-9]{2}-[0-9]{2})?\Z")]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
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


class RecordedMachine(RecordStruct, frozen=True):
    python: str = ""
    platform: str = ""
    cpu: str = ""
    gpu: str = ""
    capability: str = ""
    driver: str = ""
    cuda: str = ""
    threads: _Count = 0
    packages: dict[_Name, str] = {}


class RecordedOrigin(RecordStruct, frozen=True):
    machine: RecordedMachine = RecordedMachine()
    date: _Date = ""


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
    outputs: list[Output] = []
    label: str = ""
    options: dict[str, str] = {}
    depends: _Files = {}
    reads: _Files = {}
    modules: _Files = {}
    absent: list[_Path] = []
    packages: list[_Name] = []
    device: str = msgspec.field(default_factory=_cpu)
    problem: str = ""
    line: _Count = 0
    claim: str = ""
    sdpa: Annotated[list[_Sdpa], msgspec.Meta(max_length=MOST_SDPA)] = []
    origin: RecordedOrigin | None = None


class Inline(RecordStruct, frozen=True):
    key: _Key
    expression: str
    conversion: str = ""
    spec: str = ""
    text: str = ""
    latex: str = ""


class RecordedSession(RecordStruct, frozen=True):
    start: _Key
    cells: list[RecordedCell] = []
    values: list[Inline] = []
    environment: dict[str, str] = {}
    depends: _Files = {}
    reads: _Files = {}
    modules: _Files = {}
    absent: list[_Path] = []
    machine: RecordedMachine = RecordedMachine()
    date: _Date = ""


class File(RecordStruct, frozen=True):
    schema: int
    sessions: dict[str, RecordedSession]
