"""Sends figures of matplotlib, at `plt.show()` or at the end of the cell.

matplotlib uses the `Backend` object of this module as its backend, so that `show` sends the image. The
backend is selected while matplotlib is imported. The environment keeps the builder's value, for programs that
a cell starts.

Images of equal figures are byte-identical: they contain no date and no version, and ids are made from the
content. A figure has the size set by its author, unless that would cut something off (a label, a legend
outside the axes). In this case the image is enlarged as far as necessary, at most to double its size.

SVG gives its size in points. PNG has two pixels for each pixel of the figure, and its resolution (dpi) says
so. Its width in CSS pixels is therefore width · 96 / dpi.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from .importing import on_import

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from .importing import Execute

    Options = dict[str, Any]
    """`format`: svg or png; `dark`: draw a second image for dark pages."""

NAME = "_blogsmith_figures"
_VARIABLE = "MPLBACKEND"
_DARK = ";scheme=dark"
_SALT = "blogsmith"
_MARGIN_INCHES = 0.05
_PIXELS = 2


class Backend(type(sys)):  # type: ignore[misc]
    """Module that matplotlib uses as its backend. Contains the state of one session."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(NAME)
        self.begin_session(send)

    def begin_session(self, send: Callable[[dict[str, Any]], None]) -> None:
        """Reset all state; also called in a forked child."""
        self.send = send
        self.options: Options = {"format": "svg", "dark": False}
        self.shown: list[Any] = []
        """Figures that the current cell has sent."""

    def __getattr__(self, name: str) -> Any:
        if name != "FigureCanvas":
            raise AttributeError(name)
        self.FigureCanvas = _canvas(self)
        return self.FigureCanvas

    def show(self, figure: Any, kind: str = "display") -> None:
        from base64 import b64encode

        pictures = draw_figure(figure, self.options)
        self.shown.append(figure)
        binary = {mime: b64encode(data).decode("ascii") for mime, data in pictures.items()}
        self.send({"event": "display", "kind": kind, "text": {}, "binary": binary})

    def is_shown(self, figure: Any) -> bool:
        """Return whether this cell has already sent the figure in its current state."""
        return not figure.stale and any(figure is other for other in self.shown)

    def show_open(self) -> None:
        """Send the open figures of pyplot that were not sent yet, ordered by number, and close all
        figures."""
        open_figures = _open_figures()
        try:
            for manager in sorted(open_figures.get_all_fig_managers(), key=lambda manager: manager.num):
                if not self.is_shown(manager.canvas.figure):
                    self.show(manager.canvas.figure)
        finally:
            open_figures.destroy_all()


def _choosing_ours(execute: Execute, matplotlib: ModuleType) -> None:
    """Import matplotlib while an environment variable selects this module as the backend."""
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = f"module://{NAME}"
    try:
        execute(matplotlib)
    finally:
        if before is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = before


def install(send: Callable[[dict[str, Any]], None]) -> None:
    """Make this module the backend of matplotlib when matplotlib is imported later. send: receives figures as
    `display` messages. Call this again in a process forked later."""
    backend = sys.modules.get(NAME)
    if isinstance(backend, Backend):
        backend.begin_session(send)
        return
    sys.modules[NAME] = Backend(send)
    on_import("matplotlib", _choosing_ours)


def begin(options: Options) -> None:
    """Start a cell with these figure options."""
    backend: Any = sys.modules[NAME]
    backend.options, backend.shown = options, []


def flush(options: Options) -> None:
    """End a cell: send open figures and close them, even if an invalid figure raises an exception."""
    backend: Any = sys.modules[NAME]
    backend.options = options
    try:
        backend.show_open()
    finally:
        backend.shown = []


def show(value: object, kind: str) -> bool:
    """Send `value` if it is a figure. Return whether it is one. If it is the value of a cell and was already
    sent, it is not sent again."""
    module: Any = sys.modules.get("matplotlib.figure")
    if module is None or not isinstance(value, module.Figure):
        return False
    backend: Any = sys.modules[NAME]
    if kind != "value" or not backend.is_shown(value):
        backend.show(value, kind)
    return True


def is_part(value: object) -> bool:
    """Return whether `value` is part of a figure or contains one, such as the result of `plt.plot`. The
    figure shows it already; its repr would be a class and an address."""
    if "matplotlib.artist" not in sys.modules:
        return False
    artist: Any = sys.modules["matplotlib.artist"]
    container: Any = sys.modules.get("matplotlib.container")
    kinds = (artist.Artist, container.Container) if container else (artist.Artist,)
    if isinstance(value, kinds):
        return True
    if type(value).__name__ == "ndarray" and getattr(value, "dtype", "") == "object":
        value = list(value.flat)  # type: ignore[attr-defined]
    return isinstance(value, (list, tuple)) and any(isinstance(member, kinds) for member in value)


def draw_figure(figure: Any, options: Options) -> dict[str, bytes]:
    """Map MIME types to images. Images for dark pages have `;scheme=dark`, unless the figure has its own
    background."""
    save = _as_png if options["format"] == "png" else _as_svg
    mime = "image/png" if options["format"] == "png" else "image/svg+xml"
    try:
        box = _box(figure)
        if not options["dark"]:
            return {mime: save(figure, box)}
        from .dark_figures import has_own_background, repaint_figure

        if has_own_background(figure):
            return {mime: save(figure, box)}
        with repaint_figure(figure, dark=False):
            light = save(figure, box)
        with repaint_figure(figure, dark=True):
            return {mime: light, mime + _DARK: save(figure, box)}
    finally:
        # Saving marks the figure as stale. Reset this, so that only changes by the author count.
        figure.stale = False


def _as_svg(figure: Any, box: Any) -> bytes:
    return _save_figure(figure, box, format="svg", metadata={"Date": None, "Creator": None})


def _as_png(figure: Any, box: Any) -> bytes:
    return _save_figure(figure, box, format="png", metadata={"Software": None}, dpi=_PIXELS * figure.dpi)


def _save_figure(figure: Any, box: Any, **settings: Any) -> bytes:
    from io import BytesIO

    matplotlib = sys.modules["matplotlib"]
    stream = BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": matplotlib.rcParams["svg.hashsalt"] or _SALT}):
        figure.savefig(stream, bbox_inches=box, **settings)
    return stream.getvalue()


def _box(figure: Any) -> Any:
    """Return the area to draw, in inches. None if the figure's own area is to be drawn, for example because
    the author's settings say so."""
    if sys.modules["matplotlib"].rcParams["savefig.bbox"] is not None:
        return None
    from matplotlib.transforms import Bbox  # type: ignore[import-not-found, unused-ignore]

    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    tight = figure.get_tightbbox()
    left, right = _span(tight.x0, tight.x1, width)
    bottom, top = _span(tight.y0, tight.y1, height)
    return (
        None if (left, bottom, right, top) == (0, 0, width, height) else Bbox([[left, bottom], [right, top]])
    )


def _span(low: float, high: float, size: float) -> tuple[float, float]:
    """Return the range from 0 to `size`, extended to contain `low` to `high`."""
    start = low - _MARGIN_INCHES if low < 0 else 0.0
    end = high + _MARGIN_INCHES if high > size else size
    # A text far outside the axes does not justify a huge image.
    return (start, end) if end - start <= 2 * size else (0.0, size)


def _open_figures() -> Any:
    from matplotlib._pylab_helpers import Gcf  # type: ignore[import-not-found, unused-ignore]

    return Gcf


def _canvas(backend: Backend) -> type:
    """Return matplotlib's Agg canvas class, changed so that showing a figure sends it."""
    from importlib import import_module

    agg: Any = import_module("matplotlib.backends.backend_agg")
    bases: Any = import_module("matplotlib.backend_bases")

    def pyplot_show(cls: type, *, block: bool | None = None) -> None:
        backend.show_open()

    def show(self: Any) -> None:
        if not backend.is_shown(self.canvas.figure):
            backend.show(self.canvas.figure)

    # used by `Figure.show` and `plt.show`
    methods = {"pyplot_show": classmethod(pyplot_show), "show": show}
    manager = type("FigureManager", (bases.FigureManagerBase,), methods)
    return type("FigureCanvas", (agg.FigureCanvasAgg,), {"manager_class": manager})
