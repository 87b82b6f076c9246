"""Mermaid diagrams, drawn at build time: ```` ```mermaid ```` and values of cells of type `text/vnd.mermaid`.

Requires `merman`, which draws without browser and JavaScript. A theme selected inside a diagram is ignored
in favour of the site's colours. Colours of single nodes are kept.
"""

import functools
import html
import json
import unicodedata
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from blogsmith.hooks import Hooks

PACKAGE = "merman>=0.9.2,<0.10"
HUES = ("#2a5a87", "#39662f", "#835300", "#a3281a", "#67408a", "#1c6563", "#5f584f", "#97301f")
TINTS = ("#d1dae2", "#d4dccd", "#e3d8c3", "#e9cfc8", "#ddd4df", "#cedbd7", "#dcd9d3", "#e7d1c9")
# Widths of Helvetica's letters in thousandths of the font size, from its font metrics. Arial and Liberation
# Sans have the same widths.
WIDTHS = {
    191: "'", 222: "ijl", 260: "|", 278: " !,./:;I[\\]ft", 333: "()-`r", 334: "{}", 355: '"', 389: "*",
    469: "^", 500: "Jcksvxyz", 556: "#$0123456789?L_abdeghnopqu", 584: "+<=>~", 611: "FTZ",
    667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%", 944: "W", 1015: "@",
}  # fmt: skip
OTHER_WIDTH, WIDE_WIDTH, BOLD = 600, 1000, 1.08

# Measurements that merman requests: the length of a text, and its width and height.
LENGTHS = (
    "BOUNDING_CLIENT_RECT_WIDTH",
    "CANVAS_MEASURE_TEXT_WIDTH",
    "COMPUTED_LENGTH",
    "RAW_B_BOX_WIDTH",
    "SIMPLE_B_BOX_WIDTH",
    "TSPAN_B_BOX_WIDTH",
    "WRAP_PROBE_B_BOX_WIDTH",
)
MAX_SOURCE_BYTES = 50_000
TEXTS = ("MEASURE", "MERMAID_CALCULATE_TEXT_DIMENSIONS", "WRAPPED")

INK, LINE, BORDER, GRID = "#211e1a", "#686056", "#8d8477", "#ddd5c7"
PAPER, NODE, GROUP = "#fbf9f4", "#f4f0e7", "#f8f5ee"


def register(hooks: Hooks) -> None:
    @functools.lru_cache(maxsize=1024)
    def draw(source: str) -> str:
        # In the main thread, a time limit may interrupt a measurement. merman would then use its own.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(_draw, source).result()

    @hooks.cell_output("text/vnd.mermaid")
    @hooks.diagram("mermaid", formulas=True)
    def mermaid(source: str) -> str:
        try:
            return draw(source)
        except ImportError as error:
            raise ImportError(hooks.install_command(PACKAGE)) from error


def _draw(source: str) -> str:
    try:
        import merman
    except OSError as error:
        raise ImportError(str(error)) from error
    failures: list[Exception] = []
    services = merman.MermanEngineServices().with_text_measurer(_measurer(failures))
    engine = merman.MermanEngine(_options(), services)
    try:
        svg: str = engine.render_svg(source, None)
        if failures:
            raise failures[0]
        return svg
    except merman.MermanError as error:
        raise _mistake(engine, source, error) from error
    finally:
        engine.close()


def _mistake(engine: Any, source: str, error: Exception) -> Exception:
    """Return merman's error with its line and column."""
    if getattr(error, "resource", None):
        return ValueError("it is too large")
    if getattr(error, "capability_id", None) == "math":
        return ValueError('"--", "->" and quotation marks are not allowed in a formula in a label')
    message = getattr(error, "message", str(error))
    found = json.loads(engine.analyze_json(source, None))["diagnostics"]
    first = next((each for each in found if each["severity"] == "error"), None)
    if first is None:
        return ValueError(_lower_first(message))
    message = first["message"]
    if "diagram detected" in message or "type detected" in message:
        message = "missing diagram type at the start, such as flowchart or sequenceDiagram"
    span = first.get("span") or {}
    return SyntaxError(_lower_first(message), ("", span.get("line"), span.get("column"), None))


def _lower_first(text: str) -> str:
    """Lower the first letter of `Unexpected x` for use inside a sentence. Names such as `HTML` stay."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _measurer(failures: list[Exception]) -> Any:
    """Return a measurer for text as shown on the page. merman's own estimate is up to a sixth too narrow.
    failures: its errors are added here, because merman ignores them."""
    import merman

    widths = {letter: width for width, letters in WIDTHS.items() for letter in letters}
    kinds = merman.MermanTextMeasurementResultKind

    class Measurer(merman.MermanTextMeasurer):  # type: ignore[misc] # merman has no types
        def measure(self, request: Any) -> Any:
            try:
                return self.measured(request)
            except Exception as error:
                failures.append(error)
                raise

        def measured(self, request: Any) -> Any:
            lengths = request.operation.name in LENGTHS
            if not lengths and request.operation.name not in TEXTS:
                return None
            bold = BOLD if request.font_weight in ("bold", "bolder", "600", "700") else 1
            scale = request.font_size * bold / 1000
            lines = html.unescape(request.text).split("\n")
            if request.max_width is not None and not lengths:
                lines = [part for line in lines for part in _wrapped(line, request.max_width / scale, widths)]
            width = max(_width(line, widths) for line in lines) * scale
            return merman.MermanTextMeasureResult(
                result_kind=kinds.LENGTH if lengths else kinds.METRICS,
                width=width,
                height=request.line_height * len(lines),
                length=width,
                line_count=len(lines),
                bbox_left=None,
                bbox_right=None,
                raw_width=None,
            )

    return Measurer()


def _width(text: str, widths: Mapping[str, int]) -> int:
    """Return the width in thousandths of the font size."""
    return sum(widths.get(letter) or _unlisted_width(letter) for letter in text)


def _unlisted_width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return WIDE_WIDTH if unicodedata.east_asian_width(letter) in "WF" else OTHER_WIDTH


def _wrapped(line: str, limit: float, widths: Mapping[str, int]) -> list[str]:
    """Return `line` split at spaces, so that each part is at most `limit` wide if its words are."""
    parts = [""]
    for word in line.split(" "):
        longer = f"{parts[-1]} {word}".lstrip()
        if parts[-1] and _width(longer, widths) > limit:
            parts.append(word)
        else:
            parts[-1] = longer
    return parts


def _options() -> str:
    return json.dumps(
        {
            "site_config": {
                "theme": "base",
                "look": "classic",
                "fontFamily": "Helvetica, Arial, sans-serif",
                "flowchart": {"minNodeWidth": 30, "padding": 12, "wrappingWidth": 200},
                "state": {"minNodeWidth": 30, "wrappingWidth": 200},
                "gantt": {"fontSize": 13, "sectionFontSize": 13, "barHeight": 24, "axisFormat": "%m-%d"},
                "themeVariables": _colours(),
            },
            "layout": {"container_width": 760},
            # Text as SVG text, because only browsers show HTML inside SVG.
            "svg": {"diagram_id": "m", "pipeline": "resvg-safe"},
            # Deep nesting takes quadratic time.
            "resources": {"limits": {"max_source_bytes": MAX_SOURCE_BYTES}},
        }
    )


def _colours() -> dict[str, object]:
    """Return one colour of our palette for each role, so that pages can replace it in light and dark."""
    named: dict[str, object] = {
        "fontSize": "15px",
        "fontFamily": "Helvetica, Arial, sans-serif",
        "background": PAPER,
        "primaryColor": NODE,
        "secondaryColor": GROUP,
        "tertiaryColor": GROUP,
        "edgeLabelBackground": PAPER,
        "noteBkgColor": TINTS[2],
        "noteBorderColor": HUES[2],
        "activationBkgColor": TINTS[6],
        "taskBkgColor": TINTS[0],
        "taskBorderColor": HUES[0],
        "activeTaskBkgColor": TINTS[1],
        "activeTaskBorderColor": HUES[1],
        "doneTaskBkgColor": TINTS[6],
        "doneTaskBorderColor": HUES[6],
        "critBkgColor": TINTS[3],
        "critBorderColor": HUES[3],
        "todayLineColor": HUES[3],
        "gridColor": GRID,
        "pieStrokeColor": PAPER,
        "pieOuterStrokeColor": PAPER,
        "pieOpacity": "1",
        "commitLabelColor": INK,
        "commitLabelBackground": PAPER,
        "xyChart": {"backgroundColor": PAPER, "plotColorPalette": ",".join(HUES)},
    }
    for rank in ("primary", "secondary", "tertiary"):
        named |= {f"{rank}TextColor": INK, f"{rank}BorderColor": BORDER}
    named |= dict.fromkeys(("textColor", "titleColor", "noteTextColor"), INK)
    named |= dict.fromkeys(("lineColor", "arrowheadColor", "defaultLinkColor", "signalColor"), LINE)
    named |= dict.fromkeys(("nodeBorder", "clusterBorder"), BORDER)
    for number in range(12):
        tint, hue = TINTS[number % 8], HUES[number % 8]
        named |= {f"pie{number + 1}": tint, f"cScale{number}": tint, f"cScaleLabel{number}": INK}
        named |= {f"cScalePeer{number}": hue, f"cScaleInv{number}": hue}
        named |= {f"git{number}": hue, f"gitInv{number}": tint, f"gitBranchLabel{number}": PAPER}
        named |= {f"fillType{number}": tint}
    return named
