"""Records as readable JSON: sorted keys, strings split into lines, outputs shaped as in a notebook.

Files are never trusted. A file that is damaged, hostile or from a newer blogsmith gives a diagnostic.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ..base.diagnostics.model import Diagnostic, Place
from ..model.results import Blob, CellOutput, CellRun, Display, Failure, Stream
from . import record_form as form
from .keys import SCHEMA
from .record import CellRecord, PageRecord, SessionRecord

_DECODER = msgspec.json.Decoder(form.File)


def to_json(record: PageRecord) -> bytes:
    """Return the content of the record file. Images must be named. Unpaired surrogates become U+FFFD."""
    file = form.File(schema=SCHEMA, sessions={name: _session(part) for name, part in record.sessions.items()})
    # msgspec cannot write indented JSON with sorted keys. ASCII escapes would make most languages
    # unreadable.
    text = json.dumps(msgspec.to_builtins(file), ensure_ascii=False, indent=1, sort_keys=True)
    return (text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") + "\n").encode()


def from_json(data: bytes, name: str) -> PageRecord | Diagnostic:
    """Return the record, or a `freeze-damaged` warning that says why it cannot be read.

    name: path of the file relative to the site root, for the diagnostic.
    """
    try:
        file = _DECODER.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return _damage_warning(data, name, str(error))
    if file.schema != SCHEMA:
        return _damage_warning(data, name, "")
    return PageRecord({key: _read_session(part) for key, part in file.sessions.items()})


def damage(name: str, what: str, place: Place | None = None, hint: str = "") -> Diagnostic:
    """Return the warning for a damaged record, which is treated as missing."""
    hint = hint or "run `blogsmith execute` for the post, or restore the file from version control"
    return Diagnostic("freeze-damaged", what, name, place, hint=hint, severity="warning")


def _damage_warning(data: bytes, name: str, why: str) -> Diagnostic:
    schema = _schema(data)
    if schema is not None and schema > SCHEMA:
        hint = "update blogsmith, or run `blogsmith execute` to record the results again"
        return damage(name, "the recorded results are from a newer blogsmith", hint=hint)
    if schema is not None and schema < SCHEMA:
        return damage(name, "the recorded results are from an older blogsmith")
    if data.startswith(b"<<<<<<< ") or b"\n<<<<<<< " in data:
        line = data[: data.find(b"<<<<<<< ")].count(b"\n") + 1
        return damage(name, "the recorded results contain merge conflict markers", Place(line, 1, 7))
    try:
        json.loads(data)
    except json.JSONDecodeError as error:
        return damage(
            name, f"the recorded results are not valid JSON: {error.msg}", Place(error.lineno, error.colno)
        )
    except (ValueError, RecursionError):
        return damage(name, "the recorded results are not valid JSON")
    what, _, where = why.partition(" - at ")
    # The regular expressions of `record_form.py` do not help an author.
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
        machine=record.origin.machine,
        date=record.origin.date,
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
        packages=run.packages,
        device=run.device,
        problem=run.problem,
        line=run.line,
        claim=run.claim,
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
        origin=form.Origin(part.machine, part.date),
        reads=part.reads,
        modules=part.modules,
        absent=part.absent,
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
        sdpa=part.sdpa,
        absent=part.absent,
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
