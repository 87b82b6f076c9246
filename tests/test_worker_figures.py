"""Figures of cells: when they are sent, reproducibility, and their look on dark pages."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from blogsmith.execute.worker import dark_figures

pytest.importorskip("matplotlib")

WORKER = Path(dark_figures.__file__).parent
# Runs cells from a line of stdin, as the worker does; prints one line of JSON for each, the frames it sent.
# With `forks`, matplotlib is imported once, and each line is run in a copy, whose last line is its status.
PROGRAM = """
import json, os, sys, types
package = types.ModuleType("_blogsmith"); package.__path__ = [sys.argv[1]]
sys.modules["_blogsmith"] = package
from _blogsmith import figures
frames, names = [], {}
figures.install(frames.append)
names["display"] = lambda value: figures.show(value, "display") or frames.append(repr(value))
names["frames"] = frames
def run(line):
    for cell in json.loads(line):
        figures.begin(cell["options"])
        try:
            exec(cell["code"], names)
            if cell["last"]:
                value = eval(cell["last"], names)
                figures.show(value, "value") or frames.append(repr(value))
            if "matplotlib.pyplot" in sys.modules:
                figures.flush(cell["options"])
        except Exception as error:
            frames.append(f"{type(error).__name__}: {error}")
        print(json.dumps(frames), flush=True)
        frames.clear()
if "forks" in sys.argv:
    import matplotlib.pyplot
    for line in sys.stdin:
        if pid := os.fork():
            print(os.waitpid(pid, 0)[1], flush=True)
            continue
        try:
            run(line)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
else:
    run(sys.stdin.read())
"""
PLOT = (
    "import matplotlib.pyplot as plt\nfig, ax = plt.subplots(figsize=(4, 3))\nax.plot([1, 2, 4], label='a')\n"
)
SVG = "image/svg+xml"
INK = "#d8d6d0"


def cell(code: str, last: str = "", form: str = "svg", dark: bool = False) -> dict[str, Any]:
    return {"code": code, "last": last, "options": {"format": form, "dark": dark}}


def run(*cells: dict[str, Any], **environ: str) -> list[list[Any]]:
    """Return the frames of each cell, run in sequence in a separate process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(WORKER)],
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "MPLBACKEND": "agg", **environ},
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


Run = Callable[..., list[list[Any]]]


@pytest.fixture(scope="module")
def run_copy() -> Iterator[Run]:
    """Yield `run` in a copy of a process with matplotlib, since importing it is slower than most cells."""
    if not hasattr(os, "fork"):
        yield run
        return
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(WORKER), "forks"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "MPLBACKEND": "agg"},
    ) as process:
        assert process.stdin and process.stdout
        reader, writer = process.stdout, process.stdin

        def ask(*cells: dict[str, Any]) -> list[list[Any]]:
            writer.write(f"{json.dumps(cells)}\n")
            writer.flush()
            lines = list(iter(lambda: json.loads(reader.readline()), 0))
            assert all(isinstance(line, list) for line in lines), lines
            return lines

        yield ask


def pictures(frames: list[Any]) -> list[dict[str, bytes]]:
    """Return MIME type → bytes, of every image among frames."""
    return [
        {mime: b64decode(data) for mime, data in frame["binary"].items()}
        for frame in frames
        if isinstance(frame, dict)
    ]


def one_svg(frames: list[Any], scheme: str = "") -> str:
    (picture,) = pictures(frames)
    return picture[SVG + scheme].decode()


def test_figures_are_sent_in_order_and_closed() -> None:
    first, second, third = run(
        cell(PLOT + "plt.figure(7); plt.figure(3); plt.figure(1)", "plt.get_fignums()"),
        cell("", "plt.get_fignums()"),
        cell("before = plt.get_backend()\nplt.figure(); frames.append('a'); plt.show(); frames.append('b')"),
    )
    assert first[0] == "[1, 3, 7]"
    shapes = ["line2d" in svg.decode() for svg in (p[SVG] for p in pictures(first))]
    assert shapes == [True, False, False]
    assert second == ["[]"]
    assert [type(frame) for frame in third] == [str, dict, str]
    assert third[1]["kind"] == "display"
    assert third[1]["text"] == {}


def test_a_figure_is_the_value_of_a_cell_once(run_copy: Run) -> None:
    ended, shown, changed, again, by_hand, displayed, axes, method = run_copy(
        cell(PLOT, "fig"),
        cell(PLOT + "plt.show()", "fig"),
        cell(PLOT + "plt.show()\nax.set_title('now')", "fig"),
        cell("", "fig"),
        cell(
            "from matplotlib.figure import Figure\nown = Figure(figsize=(2, 2)); own.text(0.5, 0.5, 'x')",
            "own",
        ),
        cell(PLOT + "display(fig); ax.plot([3]); display(fig)"),
        cell(PLOT, "[ax]"),
        cell(PLOT + "fig.show(); frames.append('after')"),
    )
    assert [frame["kind"] for frame in ended] == ["value"]
    assert [frame["kind"] for frame in shown] == ["display"]
    assert [frame["kind"] for frame in changed] == ["display", "value"]
    assert [frame["kind"] for frame in again] == ["value"]
    assert 'width="144pt"' in one_svg(by_hand)
    assert [frame["kind"] for frame in displayed] == ["display", "display"]
    assert axes[0] == "[<Axes: >]"
    assert len(axes) == 2
    assert method[1:] == ["after"]


def test_pictures_are_equal_on_repeat() -> None:
    code = PLOT + "ax.scatter([1, 2], [3, 1]); ax.text(1, 1, '$x^2$'); ax.legend(); ax.imshow([[1, 2]])"
    cells = [cell(code, form=form, dark=True) for form in ("svg", "svg", "png", "png")]
    here = [pictures(frames) for frames in run(*cells, cell(code), PYTHONHASHSEED="1")]
    there = [pictures(frames) for frames in run(*cells[::-1], PYTHONHASHSEED="2")]
    vector, vector_again, raster, raster_again, plain = here
    assert [vector, vector_again, raster, raster_again] == there[::-1]
    assert vector == vector_again
    assert raster == raster_again
    assert len(vector[0]) == len(raster[0]) == 2
    svg = plain[0][SVG].decode()
    assert "dc:date" not in svg
    assert "Matplotlib v" not in svg


def test_sizes(run_copy: Run) -> None:
    wide = "ax.text(0, 5, 'far'); fig.legend(['a'], loc='center left', bbox_to_anchor=(1, 0.5))"
    fits, grown, far, tight, png = run_copy(
        cell(PLOT),
        cell(PLOT + wide),
        cell(PLOT + "ax.text(900, 2, 'nowhere')"),
        cell(PLOT + "plt.rcParams['savefig.bbox'] = 'tight'"),
        cell("plt.rcdefaults()\n" + PLOT, form="png"),
    )
    assert size(one_svg(fits)) == (288, 216)
    assert size(one_svg(far)) == (288, 216)
    assert 288 < size(one_svg(grown))[0] < 576
    assert size(one_svg(grown))[1] > 216
    assert size(one_svg(tight))[0] < 288
    (picture,) = pictures(png)
    width, height, dpi = png_size(picture["image/png"])
    assert (width, height, round(dpi)) == (800, 600, 200)
    # as wide on the page as the SVG
    assert width * 96 / dpi == pytest.approx(288 * 96 / 72, rel=1e-3)


def size(svg: str) -> tuple[float, float]:
    """Return width and height in points, which must equal the viewBox."""
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[name].removesuffix("pt")) for name in ("width", "height"))
    assert [float(number) for number in root.attrib["viewBox"].split()] == [0, 0, width, height]
    return width, height


def png_size(data: bytes) -> tuple[int, int, float]:
    """Return width, height and dots per inch."""
    width, height = struct.unpack(">II", data[16:24])
    at = data.index(b"pHYs") + 4
    return width, height, struct.unpack(">I", data[at : at + 4])[0] * 0.0254


DARK = """
import matplotlib.pyplot as plt
fig, (ax, heat, blue) = plt.subplots(1, 3, figsize=(9, 3))
ax.plot([1, 2], color="black"); ax.plot([2, 1], color="#ff0000", marker="o", mfc="white")
ax.grid(); ax.set_title("title"); ax.legend(["line"]); ax.scatter([1], [2], color="#050505")
ax.bar([1], [1], color="#00ff00", edgecolor="#060606"); ax.contour([[0, 1], [1, 2]], colors="#070707")
ax.text(0, 1, "boxed", bbox=dict(facecolor="#ffee00")); ax.annotate("note", (0, 1), (1, 1), arrowprops={})
ax.table([["in a table"]])
heat.imshow([[0, 1]]); heat.text(0, 0, "cell", color="#010101"); heat.set_xlabel("below", color="#020202")
blue.set_facecolor("#aaccff"); blue.plot([1, 2], color="#030303")
haloed = heat.set_title("haloed", color="#040404")
from matplotlib.patheffects import withStroke
haloed.set_path_effects([withStroke(linewidth=2, foreground="white")])
"""


def test_the_pair_for_light_and_dark_pages(run_copy: Run) -> None:
    first, again = run_copy(cell(DARK, dark=True), cell("", "fig", dark=True))
    light, night = one_svg(first), one_svg(first, ";scheme=dark")
    mirrored = {"#020202", "#050505", "#060606", "#070707", "#b0b0b0", "#cccccc"}
    stays = {"#ff0000", "#00ff00", "#ffee00", "#aaccff", "#010101", "#030303", "#040404"}
    assert colours(light) >= mirrored | stays
    assert colours(night) >= stays | {INK}
    assert not colours(night) & mirrored
    assert INK not in colours(light)
    for svg in (light, night):
        grounds = [svg.partition(f'<g id="{name}">')[2][:400] for name in ("figure_1", "axes_1")]
        assert ["fill: none" in ground for ground in grounds] == [True, True]
    black = {"title", "line", "boxed", "note", "in a table"}
    assert {text_colour(light, words) for words in black} == {"#000000"}
    assert {words for words in black if text_colour(night, words) == "#000000"} == {"boxed"}
    assert {text_colour(night, words) for words in black} == {"#000000", INK}
    # the figure is unchanged: drawn again, it is the same
    assert pictures(again) == pictures(first)


def colours(svg: str) -> set[str]:
    """Return every colour in an image."""
    return set(re.findall("#[0-9a-f]{6}", svg))


def text_colour(svg: str, words: str) -> str:
    """Return the colour of text, which is drawn as shapes after a comment with it. Black is implicit."""
    group = svg[svg.index(f"<!-- {words} -->") :].partition("<defs>")[0].partition("<use")[0]
    found = re.search("fill: (#[0-9a-f]{6})", group)
    return found[1] if found else "#000000"


def test_png_for_dark_pages_is_transparent(run_copy: Run) -> None:
    from io import BytesIO

    from PIL import Image

    (frames,) = run_copy(cell(PLOT, form="png", dark=True))
    (pair,) = pictures(frames)
    assert list(pair) == ["image/png", "image/png;scheme=dark"]
    corners = [Image.open(BytesIO(data)).convert("RGBA").getpixel((0, 0)) for data in pair.values()]
    assert [corner[3] for corner in corners if isinstance(corner, tuple)] == [0, 0]


def test_a_figure_with_a_ground_of_its_own_is_drawn_once(run_copy: Run) -> None:
    style = "import matplotlib.pyplot as plt\nplt.style.use('dark_background')\n"
    dark, coloured = run_copy(
        cell(style + PLOT, dark=True),
        cell("plt.rcdefaults()\n" + PLOT + "fig.set_facecolor('#ffeecc')", dark=True),
    )
    assert [list(picture) for picture in pictures(dark) + pictures(coloured)] == [[SVG], [SVG]]
    assert "fill: none" not in one_svg(dark).partition('<g id="figure_1">')[2][:400]
    assert "fill: #ffeecc" in one_svg(coloured)


def test_axes_filled_by_data_keep_what_is_written_on_them(run_copy: Run) -> None:
    text = "ax.text(0.5, 0.5, 'here', color='#010101')"
    fields = (
        "ax.pcolormesh([[1, 2], [3, 4]])",
        "ax.contourf([[1, 2], [3, 4]])",
        "ax.hexbin([1, 2], [1, 2])",
        "ax.scatter([1, 2], [1, 2], c=[1, 2])",
    )
    done = run_copy(*(cell(f"{PLOT}{field}; {text}", dark=True) for field in fields))
    nights = [one_svg(frames, ";scheme=dark") for frames in done]
    assert ["#010101" in colours(night) for night in nights] == [True, True, True, False]


def test_what_cannot_be_drawn_is_an_error_and_closed(run_copy: Run) -> None:
    broken, after = run_copy(
        cell(PLOT + r"ax.set_title(r'$\foo$')"),
        cell(PLOT, "plt.get_fignums()"),
    )
    assert broken[-1].startswith("ValueError")
    assert after[0] == "[1]"
    assert len(pictures(after)) == 1


def test_an_artist_that_fails_to_tell_its_colours_keeps_them(run_copy: Run) -> None:
    code = """
class Odd(plt.Line2D):
    def get_color(self):
        raise RuntimeError("ask somebody else")
"""
    (frames,) = run_copy(cell(PLOT + code + "ax.add_line(Odd([0, 1], [0, 1], color='#010101'))", dark=True))
    (picture,) = pictures(frames)
    assert "#010101" in colours(picture[SVG + ";scheme=dark"].decode())


def test_programs_of_a_cell_get_an_ordinary_backend() -> None:
    code = """
import os, subprocess, sys
import matplotlib
program = "import matplotlib.pyplot as plt; plt.figure().savefig(sys.argv[1]); print(plt.get_backend())"
words = [sys.executable, "-c", "import sys; " + program, os.devnull]
said = subprocess.run(words, capture_output=True, text=True).stdout.strip().lower(), os.environ["MPLBACKEND"]
"""
    ended, chosen = run(cell(code, "said"), cell("matplotlib.use('agg')\n" + PLOT))
    assert ended == ["('agg', 'agg')"]
    assert len(pictures(chosen)) == 1


def test_nothing_is_imported_before_the_author_does() -> None:
    last = "[name for name in ('matplotlib', 'numpy', 'base64', 'io.BytesIO') if name in sys.modules]"
    assert run(cell("import sys", last)) == [["[]"]]


def test_a_forked_child_sends_for_itself(run_copy: Run) -> None:
    """A fork server imports matplotlib with one `send`; its children have others."""
    code = (
        "others = []\nfrom _blogsmith import figures\nfigures.install(others.append)\n" + PLOT + "plt.show()"
    )
    ended, later = run_copy(cell(PLOT), cell(code, "len(others), len(frames)"))
    assert len(ended) == 1
    assert later == ["(1, 0)"]


def test_greys_are_mirrored() -> None:
    black, white, grey = (dark_figures._mirror_color((value, value, value, 0.5)) for value in (0.0, 1.0, 0.5))
    assert [round(255 * part) for part in black] == [0xD8, 0xD6, 0xD0, 128]
    assert [round(255 * part) for part in white] == [0x1A, 0x19, 0x17, 128]
    assert white < grey < black
    assert dark_figures._mirror_color((0.0, 0.0, 0.5, 1.0)) == (0.0, 0.0, 0.5, 1.0)
    assert dark_figures._mirror_color((0.0, 0.0, 0.0, 0.0)) == (0.0, 0.0, 0.0, 0.0)
