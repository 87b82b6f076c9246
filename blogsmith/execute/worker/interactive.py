"""Values that need a script in the browser: their data as JSON, and an image if their library can draw one.

Values of Plotly, Vega-Lite (Altair), Bokeh and Jupyter widgets are recognized by the module of their class. A
library is imported here only if the value belongs to it. The HTML of these libraries is not used: it loads
scripts from other hosts and contains random ids, so that two equal runs would give two records.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Forms = tuple[dict[str, Any], Callable[[], str | bytes] | None]

PLOTLY = "application/vnd.plotly.v1+json"
BOKEH = "application/vnd.bokeh.item+json"
WIDGET = "application/vnd.jupyter.widget-state+json"
_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_SVG = "image/svg+xml"
_MAX_DEPTH = 40


def interactive_forms(
    shown: object, offered: Mapping[str, Any], complain: Callable[[str, Exception], None]
) -> dict[str, Any]:
    """Map MIME types to the data of a value that needs a script; empty for other values. offered: formats
    from the value's own methods. complain: called with the name of a library function that failed, and the
    exception."""
    if _WIDGET_VIEW in offered:
        return _widget(shown)
    packages = {base.__module__.split(".")[0] for base in type(shown).__mro__}
    library = next((name for name in _LIBRARIES if name in packages), "")
    if not library:
        return {}
    forms: dict[str, Any] = {}
    try:
        forms, draw = _LIBRARIES[library](shown)
        image = draw() if draw else None
    except MemoryError:
        raise
    except Exception as error:
        complain("drawing" if forms else "export", error)
        image = None
    if image:
        forms[_SVG] = image if isinstance(image, str) else bytes(image).decode("utf-8", "replace")
    # The `repr` of a figure repeats all its data.
    return {"text/plain": type(shown).__name__, **forms} if forms else {}


def json_text(value: object) -> str:
    """Return JSON without spaces. Raises ValueError or TypeError if it cannot be represented."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _plotly(shown: Any) -> Forms:
    if not hasattr(shown, "to_plotly_json"):
        return {}, None
    content = json.loads(shown.to_json())
    forms = {PLOTLY: {"data": content.get("data", []), "layout": content.get("layout", {})}}
    # Without a browser of its own, kaleido fails: then the page shows a table.
    return forms, (lambda: shown.to_image(format="svg")) if find_spec("kaleido") else None


def _altair(shown: Any) -> Forms:
    spec = shown.to_dict() if hasattr(shown, "to_dict") else {}
    if "$schema" not in spec:
        return {}, None
    # such as https://vega.github.io/schema/vega-lite/v6.4.1.json
    kind, _, version = spec["$schema"].removesuffix(".json").rpartition("/")
    major = version.split(".")[0]
    name = "vegalite" if kind.endswith("vega-lite") else "vega"
    forms = {f"application/vnd.{name}.{major}+json": spec}
    if find_spec("vl_convert") is None:
        return forms, None

    def draw() -> str:
        import vl_convert  # type: ignore[import-not-found]

        if name == "vega":
            return str(vl_convert.vega_to_svg(spec))
        minor = ".".join(version.lstrip("v").split(".")[:2])
        known = minor in vl_convert.get_vegalite_versions()
        return str(vl_convert.vegalite_to_svg(spec, vl_version=minor if known else None))

    return forms, draw


def _bokeh(shown: Any) -> Forms:
    if not hasattr(shown, "references"):
        return {}, None
    from bokeh.embed import json_item  # type: ignore[import-not-found]

    return {BOKEH: json_item(shown)}, None


def _widget(shown: Any) -> dict[str, Any]:
    """Return the state of a widget in the format of notebooks, without random ids and other widgets."""
    get_state = getattr(shown, "get_state", None)
    state = get_state() if callable(get_state) else {}
    traits = {
        name: value
        for name, value in state.items()
        if not name.startswith("_") and value is not None and _is_plain(value)
    }
    model = {
        "model_name": str(state.get("_model_name") or type(shown).__name__),
        "model_module": str(state.get("_model_module") or ""),
        "model_module_version": str(state.get("_model_module_version") or ""),
        "state": traits,
    }
    content = {"version_major": 2, "version_minor": 0, "state": {"value": model}}
    return {"text/plain": type(shown).__name__, WIDGET: content}


def _is_plain(value: object, depth: int = 0) -> bool:
    """Return whether a trait is data, not another widget."""
    if isinstance(value, (list, tuple)):
        return depth < _MAX_DEPTH and all(_is_plain(part, depth + 1) for part in value)
    if isinstance(value, dict):
        return depth < _MAX_DEPTH and all(
            isinstance(key, str) and _is_plain(part, depth + 1) for key, part in value.items()
        )
    if isinstance(value, str):
        return not value.startswith("IPY_MODEL_")
    return isinstance(value, (bool, int, float))


_LIBRARIES: dict[str, Callable[[Any], Forms]] = {
    "altair": _altair,
    "bokeh": _bokeh,
    "plotly": _plotly,
}
"""Package of a class → function that returns the data of the class's values, and function that draws them."""
