"""Diagrams written in Mermaid, drawn while the site is built: ```` ```mermaid ````.

Needs `merman`, which draws without browser and JavaScript: `pip install 'blogsmith[diagrams]'`. A theme
chosen inside a diagram is not used, since the site's colours are; colours of single nodes are.
"""

import functools
import json

HUES = ("#2a5a87", "#39662f", "#835300", "#a3281a", "#67408a", "#1c6563", "#5f584f", "#97301f")
TINTS = ("#d1dae2", "#d4dccd", "#e3d8c3", "#e9cfc8", "#ddd4df", "#cedbd7", "#dcd9d3", "#e7d1c9")
INK, LINE, BORDER, PAPER, NODE, GROUP = "#211e1a", "#686056", "#8d8477", "#fbf9f4", "#f4f0e7", "#f8f5ee"


def register(hooks):
    draw = functools.lru_cache(maxsize=1024)(_draw)

    @hooks.diagram("mermaid")
    def mermaid(source):
        return draw(source)


def _draw(source):
    try:
        import merman
    except (ImportError, OSError) as error:
        raise ImportError("pip install 'blogsmith[diagrams]'") from error
    engine = merman.Merman()
    try:
        return engine.render_svg(source, _options())
    except merman.MermanError as error:
        raise _mistake(engine, source, error) from error


def _mistake(engine, source, error):
    """What merman says, at the line and column where it says so."""
    message = getattr(error, "message", str(error))
    found = json.loads(engine.analyze_json(source, None))["diagnostics"]
    first = next((each for each in found if each["severity"] == "error"), None)
    if first is None:
        return ValueError(message)
    span = first.get("span") or {}
    return SyntaxError(first["message"], ("", span.get("line"), span.get("column"), None))


def _options():
    return json.dumps(
        {
            "site_config": {
                "theme": "base",
                "look": "classic",
                "fontFamily": "Helvetica, Arial, sans-serif",
                "flowchart": {"minNodeWidth": 30, "padding": 12},
                "state": {"minNodeWidth": 30},
                "themeVariables": _colours(),
            },
            # text as SVG text: HTML inside SVG is shown by browsers only
            "svg": {"diagram_id": "m", "pipeline": "resvg-safe"},
            "resources": {"profile": "constrained"},
        }
    )


def _colours():
    """One name for each role, all ours, so that the page can put its own light and dark in their place."""
    named = {
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
    }
    inks = "primaryTextColor secondaryTextColor tertiaryTextColor textColor titleColor noteTextColor".split()
    lines = "lineColor arrowheadColor defaultLinkColor signalColor".split()
    borders = "primaryBorderColor secondaryBorderColor tertiaryBorderColor nodeBorder clusterBorder".split()
    named |= dict.fromkeys(inks, INK) | dict.fromkeys(lines, LINE) | dict.fromkeys(borders, BORDER)
    for number in range(12):
        tint, hue = TINTS[number % 8], HUES[number % 8]
        named |= {f"pie{number + 1}": tint, f"cScale{number}": tint, f"cScaleLabel{number}": INK}
        named |= {f"cScalePeer{number}": hue, f"cScaleInv{number}": hue}
        named |= {f"git{number}": hue, f"gitInv{number}": tint, f"gitBranchLabel{number}": PAPER}
        named |= {f"fillType{number}": tint}
    return named
