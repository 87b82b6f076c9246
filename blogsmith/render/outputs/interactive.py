"""Values that need a script in the browser: a static form, and the data for the script.

The static form is an image if the record has one, otherwise a table of the data: the columns of a chart, the
state of a widget. It names the library and counts what it leaves out, so that nobody takes it for the whole.
Maps, surfaces and data that the chart loads from a URL have no columns: then the form contains only title and
kind.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ...base.patterns import lazy_pattern
from ...model.live_libraries import LIBRARIES
from ...model.results import Display
from ..context import PageRendering

MAX_ROWS, MAX_COLUMNS = 20, 12
"""Maximum numbers of rows and columns of the table in the static form."""
_MAX_TEXT, _MAX_ARRAY = 200, 1 << 24
_Columns = list[tuple[str, list[object]]]

_VEGA = lazy_pattern(r"application/vnd\.vega(?:lite)?\.v\d+\+json")
_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "application/vnd.plotly.v1+json": "plotly",
        "application/vnd.bokeh.item+json": "bokeh",
        "application/vnd.jupyter.widget-state+json": "widget",
    }
)
"""MIME type → library. MIME types of Vega contain a version and are not listed."""
_NUMBERS: Mapping[str, str] = MappingProxyType(
    {
        **{"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d"},
        **{"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I"},
        **{"int64": "q", "uint64": "Q", "float32": "f", "float64": "d"},
    }
)
"""Name of a number type in Plotly or Bokeh → its code in Python's module `struct`."""
_LAYOUT_TRAITS = frozenset(
    {
        *("behavior", "continuous_update", "description_allow_html", "disabled", "orientation", "readout"),
        *("readout_format", "tabbable", "tooltip"),
    }
)
"""Properties of a widget that affect only its appearance, not its value."""


class InteractiveValue(Struct, frozen=True):
    """A value that needs a script."""

    library: str
    """`plotly`, `vega`, `bokeh` or `widget`."""
    data: Mapping[str, Any]
    kind: str
    """Name of the library or widget for readers."""
    title: str = ""
    """Title as the author wrote it in the code."""


def find_interactive(output: Display) -> InteractiveValue | None:
    """Return the value with its data, or None if the output has none or it is damaged."""
    for mime, source in output.data.items():
        library = "vega" if _VEGA.fullmatch(mime) else _FORMATS.get(mime, "")
        if not library or not isinstance(source, str):
            continue
        try:
            data = json.loads(source)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            is_widget = library == "widget"
            kind = str(output.data.get("text/plain", "")) if is_widget else LIBRARIES[library].title
            return InteractiveValue(library, data, kind, _plain(_TITLES[library](data)))
    return None


def static_html(value: InteractiveValue, rendering: PageRendering) -> str:
    """Return title, kind and table of the data, as HTML that is not yet sanitized."""
    kind = escape(value.kind)
    title = f"<strong>{escape(value.title)}</strong> ({kind})" if value.title else kind
    found = _COLUMNS[value.library](value.data)
    columns = [column for column in found if column[1]][:MAX_COLUMNS]
    hidden = [_plain(name) for name, values in found if not values or (name, values) not in columns]
    language = rendering.language
    notes = [language.translate("Not in this table: {names}", names=", ".join(hidden))] if hidden else []
    count = max((len(values) for _, values in columns), default=0)
    if not count:
        return f"<p>{title}</p>"
    if count > MAX_ROWS:
        shown, total = language.format_count(MAX_ROWS), language.format_count(count)
        first = language.translate("The first {shown} of {count} rows", shown=shown, count=total)
        notes.insert(0, first)
    head = "".join(f"<th>{escape(_plain(name))}</th>" for name, _ in columns)
    named = f"<thead><tr>{head}</tr></thead>" if any(name for name, _ in columns) else ""
    rows = zip_longest(*(values[:MAX_ROWS] for _, values in columns), fillvalue="")
    body = "".join(f"<tr>{''.join(f'<td>{escape(_plain(cell))}</td>' for cell in row)}</tr>" for row in rows)
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<p>{title}</p><table>{named}<tbody>{body}</tbody></table>{below}"


def live_button(value: InteractiveValue, rendering: PageRendering) -> str:
    """Return the button that makes the value interactive, with its data. Scripts show it.

    Empty if the site has no copy of the library. Feeds and books leave out buttons.
    """
    scripts = rendering.tools.live_library(value.library) if value.library in LIBRARIES else ()
    if not scripts:
        return ""
    rendering.widgets.add("live")
    title = LIBRARIES[value.library].title
    label = escape(rendering.language.translate("Make interactive"))
    failed = escape(rendering.language.translate("Cannot load {file}", file=title))
    # `<` could end the element.
    source = json.dumps(value.data, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<button type="button" class="live-button" data-library="{value.library}" '
        f'data-scripts="{escape(" ".join(scripts))}" data-failed="{failed}" hidden>'
        f'{label}<script type="application/json">{source}</script></button>'
    )


def _plain(value: object) -> str:
    """Return a value as plain text for a table cell; long text is cut."""
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"


def _dig(value: object, *keys: str) -> object:
    """Return the value under nested keys of dictionaries, or an empty string if a key is missing."""
    for key in keys:
        value = value.get(key, "") if isinstance(value, dict) else ""
    return value


def _dicts(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _array(value: object) -> list[object]:
    """Return a one-dimensional list or encoded array; empty for anything else."""
    if isinstance(value, list):
        return [] if any(isinstance(one, (list, dict)) for one in value) else value
    if not isinstance(value, dict):
        return []
    encoded, shape = value.get("bdata") or _dig(value, "array", "data"), value.get("shape")
    code = _NUMBERS.get(str(value.get("dtype")))
    if isinstance(_dig(value, "array"), list):
        return _array(value["array"])
    # Plotly writes the shape of two-dimensional arrays as text
    if not isinstance(encoded, str) or not code or (shape and len(str(shape).split(",")) > 1):
        return []
    try:
        raw = base64.b64decode(encoded)
        if raw.startswith(b"\x1f\x8b"):  # Bokeh compresses arrays
            raw = zlib.decompressobj(31).decompress(raw, _MAX_ARRAY)
        return list(struct.unpack(f"<{len(raw) // struct.calcsize(code)}{code}", raw))
    except (binascii.Error, ValueError, struct.error, zlib.error):
        return []


def _plotly_title(data: Mapping[str, Any]) -> object:
    title = _dig(data, "layout", "title")
    return _without_tags(title if isinstance(title, str) else _dig(title, "text"))


def _without_tags(value: object) -> str:
    """Return a label of Plotly without its HTML."""
    return " ".join(re.sub(r"<[^<>]*>", " ", str(value or "")).split())


def _plotly_columns(data: Mapping[str, Any]) -> _Columns:
    """Return (heading, values) of each array of the chart's traces. A trace without arrays gives an empty
    column."""
    columns: _Columns = []
    last: list[object] = []
    for number, trace in enumerate(_dicts(data.get("data")), 1):
        kind = trace.get("type", "trace")
        name = _without_tags(trace.get("name")) or (f"{kind} {number}" if number > 1 else "")
        keys = ("labels", "values") if "labels" in trace else ("lon", "lat", "x", "y", "z", "open", "close")
        arrays = {key: values for key in keys if (values := _array(trace.get(key)))}
        for key, values in arrays.items():
            is_base = key in ("x", "labels")
            if is_base and values == last:
                continue
            last = values if is_base else last
            axis = _without_tags(_dig(data, "layout", f"{key}axis", "title", "text")) or key
            columns.append((axis if is_base else name or axis, values))
        if not arrays:
            columns.append((str(kind) if number == 1 else name, []))
    return columns


def _vega_title(data: Mapping[str, Any]) -> object:
    title = data.get("title") or data.get("description") or ""
    return _dig(title, "text") if isinstance(title, dict) else title


def _vega_columns(data: Mapping[str, Any]) -> _Columns:
    sets = data.get("datasets")
    of_vega = _dicts(data.get("data"))
    candidates = [
        *(sets.values() if isinstance(sets, dict) else ()),
        _dig(data, "data", "values"),
        *(one.get("values") for one in of_vega),
    ]
    rows = next((rows for one in candidates if (rows := _dicts(one))), [])
    names = dict.fromkeys(name for row in rows for name in row)
    return [(name, [row.get(name, "") for row in rows]) for name in names]


def _models(value: object, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield all models of a Bokeh document."""
    if depth > 60:
        return
    if isinstance(value, dict):
        if isinstance(value.get("attributes"), dict):
            yield value
        for one in value.values():
            yield from _models(one, depth + 1)
    elif isinstance(value, list):
        for one in value:
            yield from _models(one, depth + 1)


def _bokeh_title(data: Mapping[str, Any]) -> object:
    titles = (_dig(model, "attributes", "text") for model in _models(data) if model.get("name") == "Title")
    return next(titles, "")


def _bokeh_columns(data: Mapping[str, Any]) -> _Columns:
    columns: _Columns = []
    for model in _models(data):
        entries = _dig(model, "attributes", "data", "entries")
        if model.get("name") == "ColumnDataSource" and isinstance(entries, list):
            pairs = [entry for entry in entries if isinstance(entry, list) and len(entry) == 2]
            columns += [(str(name), values) for name, one in pairs if (values := _array(one))]
    return columns


def _widget_model(data: Mapping[str, Any]) -> Mapping[str, Any]:
    models = _dicts(list(data["state"].values())) if isinstance(data.get("state"), dict) else []
    return models[0] if models else {}


def _widget_title(data: Mapping[str, Any]) -> object:
    return _dig(_widget_model(data), "state", "description")


def _widget_columns(data: Mapping[str, Any]) -> _Columns:
    state = _widget_model(data).get("state")
    traits = {
        name: value
        for name, value in (state.items() if isinstance(state, dict) else ())
        if name not in _LAYOUT_TRAITS
        and name != "description"
        and not isinstance(value, dict)
        and value != ""
    }
    shown = [
        ", ".join(map(_plain, one)) if isinstance(one, Sequence) and not isinstance(one, str) else one
        for one in traits.values()
    ]
    return [("", list(traits)), ("", shown)] if traits else []


_TITLES: Mapping[str, Callable[[Mapping[str, Any]], object]] = MappingProxyType(
    {"plotly": _plotly_title, "vega": _vega_title, "bokeh": _bokeh_title, "widget": _widget_title}
)
_COLUMNS: Mapping[str, Callable[[Mapping[str, Any]], _Columns]] = MappingProxyType(
    {"plotly": _plotly_columns, "vega": _vega_columns, "bokeh": _bokeh_columns, "widget": _widget_columns}
)
