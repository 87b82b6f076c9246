"""Records as readable JSON: sorted keys, strings split into lines, outputs shaped as in a notebook.

Files are never trusted. A file that is damaged, hostile or from a newer blogsmith gives a diagnostic.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ..base.diagnostics.model import Diagnostic, Place
from ..base.schema.data_loaders import describe_error
from ..model.results import Blob, CellOutput, CellRun, Display, Failure, Stream
from . import record_form as form
from .keys import SCHEMA
from .record import CellRecord, PageRecord, SessionRecord
from .seals import Edit, find_edits, is_intact, sealed_json

_MAX_TEXT = 1_200_000
"""Maximum length of a printed text, in characters. blogsmith itself records at most 1 MiB for a cell."""
_TOO_LONG = f"text with more than {_MAX_TEXT:,} characters"
_DECODER = msgspec.json.Decoder(form.File)


def to_json(record: PageRecord) -> bytes:
    """Return the content of the record file. Images must have names already. Unpaired surrogates become
    U+FFFD."""
    file = form.File(schema=SCHEMA, sessions={name: _session(part) for name, part in record.sessions.items()})
    sealed = [name for name, part in record.sessions.items() if part.sealed]
    # msgspec cannot write indented JSON with sorted keys
    return sealed_json(msgspec.to_builtins(file), sealed)


def from_json(data: bytes, name: str) -> PageRecord | Diagnostic:
    """Return the record in the bytes of a file, or a `freeze-damaged` error that says why the record cannot
    be read. Seals are not compared; see `find_record_edits`. name: path of the file relative to the site
    root, for the diagnostic."""
    try:
        file = _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return _damage_error(data, name, str(error))
    if file.schema != SCHEMA:
        return _damage_error(data, name, "")
    record = PageRecord({key: _read_session(part) for key, part in file.sessions.items()})
    return _damage_error(data, name, _TOO_LONG) if _has_long_text(record) else record


def _has_long_text(record: PageRecord) -> bool:
    """Return whether a record contains printed text that is longer than blogsmith writes. Showing it would
    take long."""
    cells = (cell for session in record.sessions.values() for cell in session.cells)
    outputs = (output for cell in cells for output in cell.run.outputs)
    return any(not isinstance(output, Display) and len(output.text) > _MAX_TEXT for output in outputs)


def find_record_edits(data: bytes, record: PageRecord) -> list[Edit]:
    """Return the parts of a record that do not match their seals. data: the file that `record` was read
    from."""
    if is_intact(data, is_sealed=any(session.sealed for session in record.sessions.values())):
        return []
    return find_edits(data)


def edit_error(edit: Edit, name: str) -> Diagnostic:
    """Return the error for an edited part of a record. name: path of the file, as in `from_json`."""
    place = Place(edit.line, 1) if edit.line else None
    hint = (
        f"restore the file from version control, run `{_execute_command(name)}`, or run "
        "`blogsmith freeze accept` to keep the edit"
    )
    return damage(name, f"invalid seal of {edit}: the recorded results were edited", place, hint)


def _execute_command(name: str) -> str:
    """Return the command that runs the cells of the post whose record contains this file."""
    return f"blogsmith execute content/{'/'.join(name.split('/')[1:-1])}.md"


def damage(name: str, what: str, place: Place | None = None, hint: str = "") -> Diagnostic:
    """Return the error for a damaged record, which is treated as missing."""
    hint = hint or f"run `{_execute_command(name)}`, or restore the file from version control"
    return Diagnostic("freeze-damaged", what, name, place, hint=hint)


def _damage_error(data: bytes, name: str, why: str) -> Diagnostic:
    schema = _schema(data)
    if schema is not None and schema > SCHEMA:
        hint = f"update blogsmith, or run `{_execute_command(name)}` to record the results again"
        return damage(name, "the recorded results are from a newer blogsmith", hint=hint)
    if schema is not None and schema < SCHEMA:
        return damage(name, "the recorded results are from an older blogsmith")
    if data.startswith(b"<<<<<<< ") or b"\n<<<<<<< " in data:
        line = data[: data.find(b"<<<<<<< ")].count(b"\n") + 1
        return damage(name, "the recorded results contain merge conflict markers", Place(line, 1, 7))
    try:
        json.loads(data)
    except json.JSONDecodeError as error:
        message = f"the recorded results are not valid JSON: {describe_error(error).message}"
        return damage(name, message, Place(error.lineno, error.colno))
    except (ValueError, RecursionError):
        return damage(name, "the recorded results are not valid JSON")
    what, _, where = why.partition(" - at ")
    # Authors do not understand the regular expressions of `record_form.py`.
    what = what.partition(" matching regex")[0]
    return damage(name, f"the recorded results are damaged: {what}" + (f" at {where}" if where else ""))


def _schema(data: bytes) -> int | None:
    try:
        loaded: Any = msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    schema = loaded.get("schema") if isinstance(loaded, dict) else None
    return schema if type(schema) is int else None


def _lines(text: str) -> list[str]:
    # not `splitlines()`, which also splits at \r, form feeds and U+2028
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])


def _session(record: SessionRecord) -> form.RecordedSession:
    return form.RecordedSession(
        start=record.start,
        keys=record.form,
        cells=tuple(_cell(cell) for cell in record.cells),
        values=record.values,
        environment=dict(record.environment),
        depends=dict(record.depends),
        reads=dict(record.reads),
        modules=dict(record.modules),
        absent=record.absent,
        uses=record.uses,
        machine=record.origin.machine,
        date=record.origin.date,
        accepted=record.origin.accepted,
    )


def _cell(record: CellRecord) -> form.RecordedCell:
    run = record.run
    if run.status not in ("ok", "error"):
        raise ValueError(f"a cell that ended with {run.status} is not recorded")
    return form.RecordedCell(
        key=record.key,
        code=record.code,
        status=run.status,
        seconds=run.seconds,
        outputs=tuple(_output(output) for output in run.outputs),
        label=record.label,
        options=dict(record.options),
        depends=dict(record.depends),
        reads=dict(run.reads),
        modules=dict(run.modules),
        absent=run.absent,
        uses=run.uses,
        packages=run.packages,
        device=run.device,
        problem=run.problem,
        line=run.line,
        claim=run.claim,
        compared=run.compared,
        notes=run.notes,
        sdpa=run.sdpa,
        origin=record.origin,
        layout=record.layout,
        others={key: _cell(other) for key, other in record.others.items()},
    )


def _output(output: CellOutput) -> form.Output:
    if isinstance(output, Stream):
        return form.RecordedStream(name=output.name, text=_lines(output.text), dropped=output.dropped)
    if isinstance(output, Failure):
        text = _lines(output.text)
        return form.Error(
            ename=output.name, evalue=output.message, traceback=text, cell=output.cell, line=output.line
        )
    data = {mime: _datum(part) for mime, part in output.data.items()}
    return form.RecordedValue(data=data) if output.kind == "value" else form.RecordedDisplay(data=data)


def _datum(part: str | Blob) -> form.Lines | form.Image:
    return _lines(part) if isinstance(part, str) else form.Image(file=part.name, sha256=part.digest)


def _read_session(part: form.RecordedSession) -> SessionRecord:
    return SessionRecord(
        start=part.start,
        cells=tuple(_read_cell(cell) for cell in part.cells),
        values=part.values,
        environment=part.environment,
        depends=part.depends,
        origin=form.Origin(part.machine, part.date, accepted=part.accepted),
        sealed=bool(part.seal),
        reads=part.reads,
        modules=part.modules,
        absent=part.absent,
        uses=part.uses,
        form=part.keys,
    )


def _read_cell(part: form.RecordedCell) -> CellRecord:
    run = CellRun(
        status=part.status,
        outputs=tuple(_read_output(output) for output in part.outputs),
        seconds=part.seconds,
        problem=part.problem,
        line=part.line,
        reads=part.reads,
        modules=part.modules,
        device=part.device,
        packages=part.packages,
        claim=part.claim,
        compared=part.compared,
        notes=part.notes,
        sdpa=part.sdpa,
        absent=part.absent,
        uses=part.uses,
    )
    others = {key: _read_cell(other) for key, other in part.others.items()}
    return CellRecord(
        key=part.key,
        code=part.code,
        run=run,
        label=part.label,
        options=part.options,
        depends=part.depends,
        origin=part.origin,
        layout=part.layout,
        others=others,
    )


def _read_output(part: form.Output) -> CellOutput:
    if isinstance(part, form.RecordedStream):
        return Stream(part.name, "".join(part.text), part.dropped)
    if isinstance(part, form.Error):
        return Failure(part.ename, part.evalue, "".join(part.traceback), part.cell, part.line)
    return Display("value" if isinstance(part, form.RecordedValue) else "display", _read_data(part.data))


def _read_data(data: Mapping[str, Iterable[str] | form.Image]) -> dict[str, str | Blob]:
    return {
        mime: Blob(part.sha256, None, part.file) if isinstance(part, form.Image) else "".join(part)
        for mime, part in data.items()
    }
