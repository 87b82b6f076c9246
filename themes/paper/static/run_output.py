"""Output of code in the reader's browser on its way to the page: text, values and figures, in order.

Standard library only; matplotlib is supported if it is loaded. Output is sent as JSON events, which
run-output.js shows.
"""

import base64
import importlib
import io
import json
import sys
import time
import types
from collections.abc import Callable
from typing import Any

TEXT_BYTES = 1024 * 1024
"""Maximum number of bytes of text that one run may print or show."""
BACKEND = "_blogsmith_figures"

_UNBATCHED_LINES = 200
_BATCH = 8192
_WAIT_S = 0.05
# An object with this attribute has every attribute, so its representations mean nothing.
_CANARY = "_blogsmith_no_object_has_this_"
_MARGIN_INCHES = 0.05


class Output:
    """The only output channel: text and images in order, within the limit of a run."""

    def __init__(self, send: Callable[[str], None], in_post: Callable[[str], str]) -> None:
        self._send = send
        self._in_post = in_post
        self.begin()

    def begin(self) -> None:
        """Start a run with its full limit."""
        self._left = TEXT_BYTES
        self._lines = _UNBATCHED_LINES
        self._dropped = 0
        self._parts: list[str] = []
        self._name = ""
        self._size = 0
        self._since = 0.0

    def end(self) -> None:
        """Send the pending text, and the number of dropped bytes."""
        self.flush()
        if self._dropped:
            self.emit(event="dropped", bytes=self._dropped)

    def write(self, name: str, text: str) -> None:
        """Accept text for stdout or stderr. The first lines are sent immediately, later ones in batches."""
        if not (text := self.within(text)):
            return
        if name != self._name:
            self.flush()
            self._name = name
        now = time.monotonic()
        self._since = self._since if self._parts else now
        self._parts.append(text)
        self._size += len(text)
        at_once = self._lines > 0 and text.endswith("\n")
        self._lines -= at_once
        if at_once or self._size >= _BATCH or now - self._since > _WAIT_S:
            self.flush()

    def within(self, text: str) -> str:
        """Return the part of `text` that the run may still show. Count the rest as dropped."""
        # Characters that UTF-8 cannot encode would stop the count.
        data = text.encode("utf-8", "replace")
        kept = text if len(data) <= self._left else data[: self._left].decode("utf-8", "ignore")
        used = min(len(data), self._left)
        self._dropped += len(data) - used
        self._left -= used
        return kept

    def flush(self) -> None:
        """Send the pending text."""
        if self._parts:
            text, self._parts, self._size = "".join(self._parts), [], 0
            self._send(json.dumps({"event": "stream", "name": self._name, "text": self._in_post(text)}))

    def emit(self, **event: object) -> None:
        """Send an event after the pending text."""
        self.flush()
        self._send(json.dumps(event))


class Stream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr`."""

    encoding = "utf-8"  # type: ignore[assignment]
    errors = "replace"  # type: ignore[assignment]

    def __init__(self, output: Output, name: str) -> None:
        self._output = output
        self.name = name
        self.buffer = Bytes(self)

    def write(self, text: str) -> int:
        """Accept all of the text."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._output.write(self.name, text)
        return len(text)

    def flush(self) -> None:
        """Send the pending text."""
        self._output.flush()

    def close(self) -> None:
        """Flush only, because the next run also prints."""
        self.flush()

    def writable(self) -> bool:
        """Return True."""
        return True


class Bytes(io.BufferedIOBase):
    """`sys.stdout.buffer`: UTF-8."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def write(self, data: Any) -> int:
        """Accept all of the bytes."""
        view = bytes(data)
        self._stream.write(view.decode("utf-8", "replace"))
        return len(view)

    def close(self) -> None:
        """Stay open."""

    def writable(self) -> bool:
        """Return True."""
        return True


class Values:
    """Conversion of values to events: plain text, and the richest form that a page accepts."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def display(self, *objects: object) -> None:
        """Show objects immediately; the builtin `display`."""
        for shown in objects:
            self.show(shown, "display")

    def show(self, shown: object, kind: str) -> None:
        """Send an object. kind: `value` or `display`."""
        figures = sys.modules[BACKEND]
        if figures.is_figure(shown):
            if kind != "value" or not figures.is_shown(shown):
                figures.send(shown)
        elif not (kind == "value" and is_part_of_figure(shown)):
            self._output.emit(event="display", kind=kind, **self._forms(shown))

    def _forms(self, shown: object) -> dict[str, str]:
        offered = self._offered(shown)
        forms = {"text": self._plain(shown, offered.get("text/plain"))}
        for form, mime in (("html", "text/html"), ("latex", "text/latex"), ("svg", "image/svg+xml")):
            value = offered.get(mime)
            if isinstance(value, str) and value:
                # If it exceeds the limit, the plain form must be sufficient.
                kept = self._output.within(value)
                forms |= {form: value} if kept == value else {}
        png = offered.get("image/png")
        if isinstance(png, (bytes, str)) and png:
            forms["png"] = png if isinstance(png, str) else base64.b64encode(png).decode("ascii")
        return forms

    def _offered(self, shown: object) -> dict[str, Any]:
        # A class has the methods of its instances.
        if isinstance(shown, type) or getattr(shown, _CANARY, None) is not None:
            return {}
        methods = {"text/html": "html", "text/latex": "latex", "image/svg+xml": "svg", "image/png": "png"}
        offered = {mime: self._call(shown, f"_repr_{name}_") for mime, name in methods.items()}
        bundle = self._call(shown, "_repr_mimebundle_", include=None, exclude=None)
        return offered | bundle if isinstance(bundle, dict) else offered

    def _call(self, shown: object, method: str, **arguments: object) -> Any:
        call = getattr(shown, method, None)
        if not callable(call):
            return None
        try:
            value = call(**arguments)
        except Exception as error:
            print(f"{type(shown).__name__}.{method} failed: {type(error).__name__}: {error}", file=sys.stderr)
            return None
        return value[0] if isinstance(value, tuple) and value else value

    def _plain(self, shown: object, offered: object) -> str:
        try:
            text = offered if isinstance(offered, str) else repr(shown)
        except Exception as error:
            print(f"{type(shown).__name__}.__repr__ failed: {type(error).__name__}: {error}", file=sys.stderr)
            text = f"<{type(shown).__name__} object>"
        return self._output.within(text)


class Figures(types.ModuleType):
    """The module that is matplotlib's backend: showing a figure sends it as SVG."""

    def __init__(self, output: Output) -> None:
        super().__init__(BACKEND)
        self._output = output
        self.shown: list[Any] = []
        """Figures sent in this run."""

    def __getattr__(self, name: str) -> Any:
        if name != "FigureCanvas":
            raise AttributeError(name)
        agg = importlib.import_module("matplotlib.backends.backend_agg")
        bases = importlib.import_module("matplotlib.backend_bases")
        methods = {
            "pyplot_show": classmethod(lambda cls, *, block=None: self.send_open()),
            "show": lambda manager: self._send_once(manager.canvas.figure),
        }
        manager = type("FigureManager", (bases.FigureManagerBase,), methods)
        self.FigureCanvas = type("FigureCanvas", (agg.FigureCanvasAgg,), {"manager_class": manager})
        return self.FigureCanvas

    def is_figure(self, value: object) -> bool:
        """Return whether a value is a figure of matplotlib."""
        module: Any = sys.modules.get("matplotlib.figure")
        return module is not None and isinstance(value, module.Figure)

    def is_shown(self, figure: Any) -> bool:
        """Return whether this run has already sent the figure in its current state."""
        return not figure.stale and any(figure is other for other in self.shown)

    def send(self, figure: Any) -> None:
        """Send a figure."""
        stream = io.BytesIO()
        figure.savefig(stream, format="svg", bbox_inches=_box(figure), metadata={"Date": None})
        # Saving marks the figure as stale; from now on, only the author's changes should.
        figure.stale = False
        self.shown.append(figure)
        self._output.emit(event="display", text=repr(figure), svg=stream.getvalue().decode("utf-8"))

    def send_open(self) -> None:
        """Send the figures of pyplot that were not yet shown, and close all."""
        if "matplotlib.pyplot" not in sys.modules:
            return
        managers = importlib.import_module("matplotlib._pylab_helpers").Gcf
        try:
            for manager in sorted(managers.get_all_fig_managers(), key=lambda manager: manager.num):
                self._send_once(manager.canvas.figure)
        finally:
            managers.destroy_all()

    def _send_once(self, figure: Any) -> None:
        if not self.is_shown(figure):
            self.send(figure)


def _box(figure: Any) -> Any:
    """Return the figure's box in inches, extended if it would cut off content. None keeps the settings."""
    if importlib.import_module("matplotlib").rcParams["savefig.bbox"] is not None:
        return None
    width, height = figure.get_size_inches()
    figure.draw_without_rendering()
    tight = figure.get_tightbbox()
    left, bottom = (low - _MARGIN_INCHES if low < 0 else 0 for low in (tight.x0, tight.y0))
    right = tight.x1 + _MARGIN_INCHES if tight.x1 > width else width
    top = tight.y1 + _MARGIN_INCHES if tight.y1 > height else height
    if right - left > 2 * width or top - bottom > 2 * height:
        # Distant text does not justify a huge image.
        return None
    return importlib.import_module("matplotlib.transforms").Bbox([[left, bottom], [right, top]])


def is_part_of_figure(value: object) -> bool:
    """Return whether `value` is a result of calls such as `plt.plot`, which the figure already shows."""
    artist: Any = sys.modules.get("matplotlib.artist")
    container: Any = sys.modules.get("matplotlib.container")
    if artist is None:
        return False
    kinds = (artist.Artist, *([container.Container] if container else []))
    members = list(value.flat) if getattr(value, "dtype", "") == "object" else value  # type: ignore[attr-defined]
    inside = members if isinstance(members, (list, tuple)) else ()
    return isinstance(value, kinds) or any(isinstance(member, kinds) for member in inside)
