"""Messages between blogsmith and the process of plugins. A message is four bytes of length, big-endian, and
the data.

Requests are pickled, because the process trusts blogsmith. Answers are never unpickled, because decoding them
must not run code: they are MessagePack, decoded by type.
"""

from __future__ import annotations

import copyreg
import dataclasses
import datetime as dt
import io
import pickle
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Literal

import msgspec
from markupsafe import Markup
from msgspec import Struct

from ...base.diagnostics.model import Diagnostic
from ...hooks import Kind
from ...hooks.calls import CodeLine
from ...hooks.plugin_code import PluginCode
from ...model.documents import Document, FrontMatter, Source
from ...model.texts import PageText

Hook = Literal["data", "diagram", "output", "convert", "read", "filter", "outputs", "file"]
_LENGTH_BYTES = 4


class PluginSetup(Struct, frozen=True):
    """First request, which contains the code to load."""

    code: PluginCode
    names: tuple[str, ...]
    sandbox: Literal["off", "landlock", "offline"]


class HookCall(Struct, frozen=True):
    """Request to call one function of a plugin."""

    plugin: str
    hook: Hook
    key: str | int
    """Name under which the function is registered, or its position among the functions of the plugin."""
    arguments: tuple[Any, ...] = ()
    document: Document | None = None
    """Document that the function receives after `arguments`; None if it receives none."""
    has_same_document: bool = False
    """Whether the function receives the document of the previous request that had one."""
    limit_s: float = 0
    """Limit of processor time in seconds; 0 means no limit."""


class RemoteFailure(Struct, frozen=True):
    """An exception in the process."""

    kind: str
    """Name of its class."""
    bases: tuple[str, ...] = ()
    """Names of its class and of the classes that it inherits from, nearest first."""
    text: str = ""
    frames: tuple[CodeLine, ...] = ()
    """Lines of code that raised it, innermost last."""
    location: tuple[str, int | None, int | None] = ("", None, None)
    """File, line and column of a SyntaxError."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Diagnostics of a SiteError."""


class HookAnswer(Struct, frozen=True):
    """Outcome of a request."""

    value: bytes = b""
    """Result, packed by `pack`. For a `PluginSetup`, it is a list of `Registered`."""
    failure: RemoteFailure | None = None


class Registered(Struct, frozen=True):
    """Functions and kinds that a plugin has registered."""

    plugin: str
    file: str
    kinds: tuple[Kind, ...] = ()
    block_divs: dict[str, str] = {}
    shortcodes: tuple[str, ...] = ()
    diagrams: dict[str, tuple[bool, bool]] = {}
    """Maps a language to the arguments `trusted` and `formulas`."""
    outputs: dict[str, bool] = {}
    """Maps a MIME type to the argument `trusted`."""
    converter: tuple[tuple[str, ...], bool] | None = None
    """Arguments `commands` and `trusted`; None without a converter."""
    page_readers: int = 0
    page_filters: int = 0
    site_outputs: int = 0


class ChangedDocument(Struct, frozen=True):
    """Result of a `page_read` function that has changed the document."""

    body: str | None = None
    """New body; None if the body has not changed."""
    front: bytes = b""
    """JSON of a `FrontMatter` that contains the new values of the fields `names`. Its field `extra` is not
    used."""
    names: tuple[str, ...] = ()
    """Names of the changed fields."""
    extra: bytes = b""
    """New value of the field `extra`, packed by `pack`."""


class PageReadResult(Struct, frozen=True):
    """Result of a `page_read` function that has not returned its argument."""

    changed: ChangedDocument | None
    """Changes; None if the result is not a document of this page, which is an error."""


def write_frame(stream: BinaryIO, data: bytes) -> None:
    """Send one message."""
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "big"))
    stream.write(data)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next message; None if the other end is closed."""
    head = stream.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    data = stream.read(size := int.from_bytes(head, "big"))
    return data if len(data) == size else None


# Requests.


def _fields(record: Any) -> tuple[Any, ...]:
    return tuple(getattr(record, one.name) for one in dataclasses.fields(record))


class _Pickler(pickle.Pickler):
    # content that is loaded when it is read is a function, which cannot be pickled
    dispatch_table = copyreg.dispatch_table | {
        PageText: lambda text: (PageText.from_string, (text.read(),)),
        Source: lambda source: (Source, _fields(source)),
        Document: lambda document: (Document, _fields(document)),
        MappingProxyType: lambda mapping: (dict, (dict(mapping),)),
    }


def pickle_request(request: PluginSetup | HookCall) -> bytes:
    """Return a request as bytes. It contains the content of its documents and pages."""
    data = io.BytesIO()
    _Pickler(data, pickle.HIGHEST_PROTOCOL).dump(request)
    return data.getvalue()


# Values of answers. MessagePack has no type for safe HTML, times with a zone, and functions.

_MARKUP, _TIME, _DATE, _FUNCTION = 1, 2, 3, 4
_STRING, _OTHER = b"s", b"m"
_ENCODING = ("utf-8", "surrogatepass")


def pack(value: object, keep: Callable[[Callable[[], Any]], int] | None = None) -> bytes:
    """Return the bytes of a value. Raise TypeError if it is not made of strings, numbers, dates, bytes, None,
    lists and mappings. keep: function that stores a function and returns its number; None: functions are not
    allowed."""
    if type(value) is str:
        return _STRING + value.encode(*_ENCODING)
    return _OTHER + msgspec.msgpack.encode(_to_plain(value, keep))


def _to_plain(value: Any, keep: Callable[[Callable[[], Any]], int] | None) -> object:
    if value is None or isinstance(value, (bool, int, float, bytes)):
        return value
    if isinstance(value, Markup):
        return msgspec.msgpack.Ext(_MARKUP, str(value).encode(*_ENCODING))
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dt.date):
        code = _TIME if isinstance(value, dt.datetime) else _DATE
        return msgspec.msgpack.Ext(code, value.isoformat().encode())
    if isinstance(value, Mapping):
        return {str(key): _to_plain(one, keep) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_to_plain(one, keep) for one in value]
    if callable(value) and keep:
        return msgspec.msgpack.Ext(_FUNCTION, str(keep(value)).encode())
    raise TypeError(f"cannot return {type(value).__name__}: expected strings, numbers, lists and mappings")


def unpack(data: bytes, call: Callable[[int], Any] | None = None) -> Any:
    """Return the value of packed bytes. Raise ValueError or DecodeError if they are invalid. call: function
    that calls the stored function with the given number."""
    if data[:1] == _STRING:
        return data[1:].decode(*_ENCODING)
    try:
        return msgspec.msgpack.decode(data[1:], ext_hook=partial(_from_plain, call))
    except RecursionError as error:
        raise msgspec.DecodeError("data nested too deep") from error


def _from_plain(call: Callable[[int], Any] | None, code: int, data: memoryview) -> object:
    text = bytes(data).decode(*_ENCODING)
    if code == _MARKUP:
        return Markup(text)
    if code == _FUNCTION and call:
        return partial(call, int(text))
    return dt.datetime.fromisoformat(text) if code == _TIME else dt.date.fromisoformat(text)


def pack_document(made: Document, document: Document) -> ChangedDocument:
    """Return the differences between `document` and `made`, which a plugin has made from it."""
    fields = [one.name for one in dataclasses.fields(FrontMatter)]
    names = [name for name in fields if getattr(made.front, name) is not getattr(document.front, name)]
    changed = {name: getattr(made.front, name) for name in names if name != "extra"}
    return ChangedDocument(
        body=None if made.body == document.body else made.body,
        front=msgspec.json.encode(FrontMatter(**changed), enc_hook=_encode_other),
        names=tuple(names),
        extra=pack(made.front.extra) if "extra" in names else b"",
    )


def _encode_other(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not allowed in front matter")


def unpack_document(changed: ChangedDocument, document: Document) -> Document:
    """Return `document` with the changes. Raise DecodeError if a field has another type."""
    try:
        front = msgspec.json.decode(changed.front, type=FrontMatter)
    except (RecursionError, ValueError) as error:
        if isinstance(error, msgspec.DecodeError):
            raise
        raise msgspec.DecodeError("front matter nested too deep, or with a number too long") from error
    values = {name: getattr(front, name) for name in changed.names}
    if changed.extra:
        values["extra"] = unpack(changed.extra)
    return dataclasses.replace(
        document,
        front=dataclasses.replace(document.front, **values) if values else document.front,
        body=document.body if changed.body is None else changed.body,
    )


def search_path(entries: list[str], is_inside: Callable[[str], bool]) -> list[str]:
    """Return a search path of modules. It contains the folder of blogsmith, and the folders in `entries`
    except those of the site."""
    own = str(Path(__file__).parents[3])
    return list(dict.fromkeys([*(one for one in entries if one and not is_inside(one)), own]))
