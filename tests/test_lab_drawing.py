"""Heat maps and charts of the lab: content, colours, and rejected input."""

from __future__ import annotations

import itertools
import math
import re
import struct
import subprocess
import sys
import zlib
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from blogsmith.lab.drawing.charts import curves
from blogsmith.lab.drawing.heat import heatmap
from blogsmith.lab.drawing.inks import DARK, LIGHT, SCHEMES, Inks, contrast, luminance, ramp, text_on
from blogsmith.lab.drawing.png import indexed_png
from blogsmith.lab.drawing.svg import Drawing, heading_size, shortened, width_of, written
from blogsmith.lab.drawing.ticks import Tick, linear_ticks, log_ticks, told
from blogsmith.render.outputs.pictures import _ACTIVE
from blogsmith.render.svg.metadata import svg_description, svg_size
from tests.rows import each_row
from tests.test_theme_look import colours
from tests.worker_client import Client, start_worker, worker

__all__ = ["start_worker", "worker"]

NAME = "{http://www.w3.org/2000/svg}"
NAN = math.nan
TOKENS = ("the", "dog", "that", "chased", "the", "cat", "was", "tired")
SCORES = [[math.sin(3 * i + 5 * j) * 4 for j in range(8)] for i in range(8)]
WEIGHTS = [[math.exp(score) / sum(map(math.exp, row)) for score in row] for row in SCORES]
CAUSAL = [[j <= i for j in range(8)] for i in range(8)]
LENGTHS = [2**k for k in range(7, 15)]
TIMES = {
    "naive": [(n, 2e-9 * n * n, 1.8e-9 * n * n, 2.4e-9 * n * n) for n in LENGTHS[:5]],
    "flash": [(n, 4e-10 * n * n + 1e-5) for n in LENGTHS],
}


def noise(count: int, seed: int = 1) -> list[float]:
    """Return numbers from 0 to 1 that cannot be compressed."""
    values = []
    for _ in range(count):
        seed = seed * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        values.append((seed >> 33) / 2**31)
    return values


def noisy(n: int, m: int, seed: int = 1) -> list[list[float]]:
    flat = noise(n * m, seed)
    return [flat[i * m : (i + 1) * m] for i in range(n)]


DRAWINGS = {
    "tokens": heatmap(WEIGHTS, rows=TOKENS, columns=TOKENS, x="key", y="query", title="One head", unit="w"),
    "causal": heatmap(WEIGHTS, rows=TOKENS, columns=TOKENS, mask=CAUSAL, unit="weight"),
    "heads": heatmap([WEIGHTS, SCORES, WEIGHTS, WEIGHTS], values=False, title="A title " * 20),
    "missing": heatmap(
        [[1.0, NAN], [math.inf, -2.0]], mask=[[1, 1], [1, 0]], unit="a rather long unit of it"
    ),
    "diverging": heatmap(SCORES, scale="diverging"),
    "pixels": heatmap(noisy(60, 60), mask=[[i >= j for j in range(60)] for i in range(60)]),
    "long names": heatmap(
        noisy(30, 30), rows=["token"] * 30, columns=[f"a long token {i}" for i in range(30)]
    ),
    "one": heatmap([[0.3]]),
    "zero": heatmap([[0, 0], [0, 0]]),
    "times": curves(TIMES, x="length", y="time", log="xy", y_unit="s", title="Time"),
    "bytes": curves({"naive": [(n, 4 * n * n) for n in LENGTHS]}, log="xy", y_unit="bytes"),
    "eight": curves({f"series {k}": [(i, math.sin(i / 3 + k)) for i in range(20)] for k in range(8)}, x="k"),
    "gaps": curves({"a": [(1, 2, 1, 3), (2, None, None, None), (3, NAN), (4, 2), (5, 3)]}, y="error"),
    "point": curves({"a": [(1, 1)]}),
}
EVERY = pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=list(DRAWINGS))
SCHEME = pytest.mark.parametrize("inks", SCHEMES, ids=lambda inks: inks.scheme)


def of_scheme(drawing: Drawing, inks: Inks) -> str:
    return drawing.light if inks is LIGHT else drawing.dark


def texts(drawing: Drawing) -> list[str]:
    """Return all text on the light version."""
    return [element.text or "" for element in ElementTree.fromstring(drawing.light).iter(f"{NAME}text")]


def place(element: ElementTree.Element) -> tuple[float, float]:
    if turned := re.match(r"translate\((\S+) (\S+)\)", element.get("transform", "")):
        return float(turned[1]), float(turned[2])
    return float(element.get("x", "0")), float(element.get("y", "0"))


class TestFiles:
    @EVERY
    @SCHEME
    def test_they_pass_what_pages_ask_of_pictures(self, drawing: Drawing, inks: Inks) -> None:
        svg = of_scheme(drawing, inks)
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert [child.tag for child in root[:2]] == [f"{NAME}title", f"{NAME}desc"]
        assert not _ACTIVE.search(svg.encode())
        assert not re.search(
            r"https?://|url\(|@import| id=|nan|inf\b", svg.replace(NAME[1:-1], "").split("</desc>")[1]
        )
        width, height = svg_size(BytesIO(svg.encode()))
        assert width and height and 200 < width <= 520 and height < 900
        assert len(svg) <= 200_000

    @EVERY
    def test_words_of_the_file_are_those_of_the_drawing(self, drawing: Drawing) -> None:
        said = svg_description(BytesIO(drawing.light.encode()))
        assert said == " ".join(str(drawing).split())[:600] or said.endswith("…")
        assert svg_description(BytesIO(drawing.dark.encode())) == said

    def test_the_same_call_gives_the_same_bytes(self) -> None:
        call = (
            "from blogsmith.lab import curves, heatmap\n"
            "d = [heatmap([[.1, .9], [.5, .5]], title='x'), curves({'a': [(1, 2), (3, 4)]})]\n"
            "print(hash(''), *(one.light + one.dark for one in d))"
        )
        runs = {
            subprocess.run(
                [sys.executable, "-c", call],
                capture_output=True,
                text=True,
                check=True,
                env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONUTF8": "1"},
            ).stdout.split(" ", 1)[1]
            for seed in ("1", "2")
        }
        assert len(runs) == 1

    def test_numpy_is_not_imported(self) -> None:
        call = "from blogsmith.lab import curves, heatmap; import sys; assert 'numpy' not in sys.modules"
        subprocess.run([sys.executable, "-c", call], check=True, cwd=Path(__file__).parents[1])

    def test_a_bundle_has_both_schemes_and_words(self) -> None:
        drawing = DRAWINGS["one"]
        bundle = drawing._repr_mimebundle_()
        assert bundle == {
            "text/plain": str(drawing),
            "image/svg+xml": drawing.light,
            "image/svg+xml;scheme=dark": drawing.dark,
        }
        assert (
            repr(drawing)
            == str(drawing)
            == (
                "Heat map. A matrix of 1 × 1 entries. Values from 0.3 to 0.3; the largest in row 0, column 0."
            )
        )

    def test_cells_send_both_schemes(self, worker: Client) -> None:
        (frame,) = worker.run("from blogsmith.lab import heatmap\nheatmap([[0.3]])").values
        pictures = {kind: b64decode(data).decode() for kind, data in frame["binary"].items()}
        one = DRAWINGS["one"]
        assert pictures == {"image/svg+xml": one.light, "image/svg+xml;scheme=dark": one.dark}
        assert frame["text"] == {"text/plain": str(one)}

    def test_saving(self, tmp_path: Path) -> None:
        light, dark = DRAWINGS["one"].save(tmp_path / "a.svg")
        assert (light.name, dark.name) == ("a.svg", "a-dark.svg")
        assert (light.read_text("utf-8"), dark.read_text("utf-8")) == (
            DRAWINGS["one"].light,
            DRAWINGS["one"].dark,
        )
        with pytest.raises(ValueError, match=r"saved as \.svg"):
            DRAWINGS["one"].save("a.png")

    @given(st.text(max_size=60))
    def test_any_text_is_shown_as_text(self, words: str) -> None:
        drawing = heatmap([[1, 2]], columns=[words, "b"], title=words, unit=words, x=words)
        for svg in (drawing.light, drawing.dark):
            ElementTree.fromstring(svg)
            assert not _ACTIVE.search(svg.encode())

    def test_text_that_looks_like_code_is_harmless(self) -> None:
        words = 'one = 1 onload="x" JavaScript:alert() <script> \0 \n'
        root = ElementTree.fromstring(f"<t>{written(words)}</t>")
        assert root.text == 'one = 1 onload="x" JavaScript:alert() <script> ␀ ␊'
        assert not _ACTIVE.search(written(words).encode())

    def test_long_words(self) -> None:
        assert shortened("abcdef", 4) == "abc…"
        assert width_of("漢") > width_of("m") > width_of("i") > width_of("\u0301") == 0
        heights = [heading_size(words)[1] for words in ("", "a", "a word " * 20)]
        assert heights == sorted(set(heights)) and heights[0] == 0


class TestColours:
    @EVERY
    @SCHEME
    def test_every_text_can_be_read_on_its_ground(self, drawing: Drawing, inks: Inks) -> None:
        root = ElementTree.fromstring(of_scheme(drawing, inks))
        grounds: list[tuple[float, float, float, float, str]] = []
        poor = []
        for element in root.iter():
            if element.tag == f"{NAME}rect" and element.get("fill") != "none":
                x, y, width, height = (float(element.get(key, "0")) for key in ("x", "y", "width", "height"))
                grounds.append((x, y, x + width, y + height, element.get("fill", "")))
            elif element.tag == f"{NAME}text":
                x, y = place(element)
                under = [fill for x1, y1, x2, y2, fill in grounds if x1 < x < x2 and y1 < y < y2]
                fill = element.get("fill") or root.get("fill") or ""
                if contrast(fill, under[-1] if under else inks.ground) < 4.5:
                    poor.append((element.text, fill, under))
                assert float(element.get("font-size") or root.get("font-size") or 0) >= 11
        assert poor == []

    @SCHEME
    def test_inks_are_those_of_theme_paper(self, inks: Inks) -> None:
        theme = colours(inks.scheme)
        assert (inks.ground, inks.ink, inks.soft, inks.hairline) == tuple(
            theme[name] for name in ("paper", "ink", "soft", "hairline")
        )
        for ground in (theme["paper"], theme["raised"]):
            assert min(contrast(colour, ground) for colour in (*inks.series, inks.rule)) >= 3
            assert min(contrast(inks.ink, ground), contrast(inks.soft, ground)) >= 4.5

    @SCHEME
    def test_series_stay_apart_for_the_colour_blind(self, inks: Inks) -> None:
        near = {
            (kind, one, other): round(apart, 3)
            for kind, matrix in SEEN.items()
            for one, other in itertools.combinations(inks.series, 2)
            if (apart := math.dist(seen(one, matrix), seen(other, matrix))) < 0.08
        }
        assert near == {}

    @SCHEME
    def test_ramps_grow_steadily(self, inks: Inks) -> None:
        sign = -1 if inks is LIGHT else 1
        steps = [sign * luminance(ramp(inks.sequential, k / 50)) for k in range(51)]
        assert steps == sorted(steps)
        arms = [sign * luminance(ramp(inks.diverging, k / 50)) for k in range(51)]
        assert arms[:26] == sorted(arms[:26], reverse=True) and arms[25:] == sorted(arms[25:])

    @given(st.integers(0, 0xFFFFFF))
    def test_numbers_in_fields_can_be_read(self, ground: int) -> None:
        colour = f"#{ground:06x}"
        assert contrast(text_on(colour), colour) >= 4.5


SEEN = {
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.01182, 0.04294, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.3039),
    ),
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}
"""Linear RGB as seen without one kind of cone: Machado, Oliveira, Fernandes 2009, severity 1."""


def seen(colour: str, matrix: tuple[tuple[float, ...], ...]) -> tuple[float, float, float]:
    """Return the colour in Oklab (Ottosson 2020), where distances match perception."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    r, g, b = (max(0.0, sum(m * c for m, c in zip(row, linear, strict=True))) for row in matrix)
    long = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    medium = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    short = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (
        0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short,
    )


class TestTicks:
    @given(st.floats(-1e9, 1e9), st.floats(1e-6, 1e9), st.sampled_from(["", "s", "bytes"]))
    def test_linear(self, low: float, span: float, unit: str) -> None:
        span = max(span, 1e-6 * abs(low))
        ticks = linear_ticks(low, low + span, unit)
        values = [tick.value for tick in ticks]
        assert 3 <= len(ticks) <= 8
        assert all(low <= value <= low + span for value in values)
        assert len({tick.label for tick in ticks}) == len(ticks)
        if unit != "bytes":
            step = values[2] - values[1]
            digit = float(f"{step:.0e}"[0])
            assert digit in (1, 2, 5)
            assert all(abs(value / step - round(value / step)) < 1e-2 for value in values[1:-1])

    @given(st.floats(-30, 30), st.floats(0.001, 60), st.booleans(), st.sampled_from(["", "s", "bytes"]))
    def test_logarithmic(self, low: float, decades: float, binary: bool, unit: str) -> None:
        low, high = 10.0**low, 10.0 ** (low + decades)
        ticks = log_ticks(low, high, unit, binary=binary)
        assert 3 <= len(ticks) <= 8
        assert all(low <= tick.value <= high for tick in ticks)

    @each_row(
        ("ticks", "labels"),
        [
            (linear_ticks(0, 1), "0|0.2|0.4|0.6|0.8|1.0"),
            (linear_ticks(-0.35, 0.25), "−0.3|−0.2|−0.1|0|0.1|0.2"),
            (linear_ticks(0, 0.013, "s"), "0|2 ms|4 ms|6 ms|8 ms|10 ms|12 ms"),
            (linear_ticks(0, 3 * 2**20, "bytes"), "0|1 MiB|2 MiB|3 MiB"),
            (linear_ticks(0, 3e-7), "0|1·10⁻⁷|2·10⁻⁷|3·10⁻⁷"),
            (linear_ticks(0, 40_000), "0|10 000|20 000|30 000|40 000"),
            (linear_ticks(0, 4e7), "0|1·10⁷|2·10⁷|3·10⁷|4·10⁷"),
            (log_ticks(1e-5, 1, "s"), "10 µs|100 µs|1 ms|10 ms|100 ms|1 s"),
            (log_ticks(1e-6, 10), "10⁻⁶|10⁻⁵|10⁻⁴|10⁻³|10⁻²|10⁻¹|1|10"),
            (log_ticks(1, 100), "1|10|100"),
            (log_ticks(3, 60), "5|10|20|50"),
            (log_ticks(128, 16384, binary=True), "128|256|512|1024|2048|4096|8192|16k"),
            (log_ticks(2**10, 2**34, "bytes", binary=True), "4 KiB|64 KiB|1 MiB|16 MiB|256 MiB|4 GiB"),
        ],
    )
    def test_labels(self, ticks: tuple[Tick, ...], labels: str) -> None:
        assert [tick.label.replace("\u202f", " ") for tick in ticks] == labels.split("|")

    @each_row(
        ("value", "unit", "text"),
        [
            (0, "", "0"),
            (0, "bytes", "0\u202fB"),
            (0.123456, "", "0.123"),
            (-1234.5, "", "−1234"),
            (1.5e-7, "", "1.50·10⁻⁷"),
            (5e-324, "", "4.94·10⁻³²⁴"),
            (0.00123, "s", "1.23\u202fms"),
            (1536, "bytes", "1.5\u202fKiB"),
            (90, "s", "90\u202fs"),
        ],
    )
    def test_values_in_sentences(self, value: float, unit: str, text: str) -> None:
        assert told(value, unit) == text


class TestHeatmaps:
    def test_numbers_labels_and_legend(self) -> None:
        shown = texts(DRAWINGS["tokens"])
        assert shown[:2] == ["One head", "query ↓\u2003key →"]
        assert shown.count("tired") == 2
        assert [text for text in shown if re.fullmatch(r"0\.\d\d", text)][:8] == [
            f"{w:.2f}" for w in WEIGHTS[0]
        ]
        assert shown[-1] == "w"

    def test_what_is_said(self) -> None:
        best = max((w, i, j) for i, row in enumerate(WEIGHTS) for j, w in enumerate(row))
        words = DRAWINGS["tokens"].words
        assert words.startswith("A matrix of 8 × 8 entries, query by key. Values from ")
        assert f"to {told(best[0])} w; the largest in row " in words
        assert "28 entries are masked." in DRAWINGS["causal"].words
        assert "1 entry is masked. 2 entries are missing." in DRAWINGS["missing"].words
        assert "the largest in head 2, row" in DRAWINGS["heads"].words

    def test_names_that_come_twice_are_told_apart(self) -> None:
        words = heatmap([[0, 1], [0, 0]], rows=["a", "b"], columns=["x", "x"]).words
        assert words.endswith("the largest in row a, column x (1).")

    def test_the_legend_names_what_is_left_out(self) -> None:
        assert {"masked", "missing"} <= set(texts(DRAWINGS["missing"]))
        assert "masked" not in texts(DRAWINGS["tokens"])

    @EVERY
    def test_nothing_is_cut_off(self, drawing: Drawing) -> None:
        root = ElementTree.fromstring(drawing.light)
        width, height = float(root.get("width", "0")), float(root.get("height", "0"))
        for element in root.iter(f"{NAME}text"):
            x, y = place(element)
            # widths are estimated slightly too large
            length = 0.9 * width_of(element.text or "", float(element.get("font-size") or 14))
            if "rotate" in element.get("transform", ""):
                turn = math.radians(float(re.findall(r"rotate\((\S+)\)", element.get("transform", ""))[0]))
                ends = [x, x + length * math.cos(turn)]
                assert y + length * math.sin(turn) >= 0
            else:
                anchor = element.get("text-anchor", "start")
                start = x - {"start": 0.0, "middle": length / 2, "end": length}[anchor]
                ends = [start, start + length]
            assert min(ends) >= -1 and max(ends) <= width + 1, element.text
            assert 0 <= y <= height

    def test_heads_share_one_scale(self) -> None:
        drawing = heatmap([[[0, 1]], [[0, 4]]], values=False)
        fields = re.findall(r"<g shape-rendering.*?</g>", drawing.light, re.DOTALL)
        assert [re.findall('fill="(#.{6})"', field) for field in fields] == [
            [ramp(LIGHT.sequential, 0), ramp(LIGHT.sequential, 0.25)],
            [ramp(LIGHT.sequential, 0), ramp(LIGHT.sequential, 1)],
        ]

    def test_diverging_has_zero_in_the_middle(self) -> None:
        drawing = heatmap([[-1, 0, 4]], scale="diverging")
        fields = re.findall(r"<g shape-rendering.*?</g>", drawing.dark, re.DOTALL)[0]
        assert re.findall('fill="(#.{6})"', fields) == [ramp(DARK.diverging, s) for s in (0.375, 0.5, 1)]

    def test_many_entries_are_one_picture(self) -> None:
        drawing = heatmap(noisy(512, 512))
        for svg in (drawing.light, drawing.dark):
            assert 100_000 < len(svg) <= 200_000
            assert svg.count("<image") == 1 and svg.count("<rect") < 50

    def test_a_picture_holds_the_entries(self) -> None:
        rows = [[(i + j) / 98 for j in range(50)] for i in range(50)]
        rows[3][4] = NAN
        mask = [[(i, j) != (5, 6) for j in range(50)] for i in range(50)]
        palette, transparent, pixels = decoded(pictures(heatmap(rows, mask=mask).light)[0])
        assert (len(pixels), len(pixels[0])) == (50, 50)
        assert palette[pixels[3][4]] == LIGHT.missing
        assert pixels[5][6] == transparent
        assert (
            palette[pixels[0][0]] == LIGHT.sequential[0] and palette[pixels[49][49]] == LIGHT.sequential[-1]
        )
        levels = len(palette) - 2
        assert pixels[10][20] == round(30 / 98 * (levels - 1))

    def test_larger_ones_are_averaged(self) -> None:
        rows = [[1.0 if j < 512 else 0.0 for j in range(1024)] for i in range(1024)]
        rows[0][0] = 0.0
        palette, _, pixels = decoded(pictures(heatmap(rows).light)[0])
        levels = len(palette) - 2
        assert (len(pixels), len(pixels[0])) == (512, 512)
        assert (pixels[0][0], pixels[1][0], pixels[0][300]) == (round(0.75 * (levels - 1)), levels - 1, 0)

    def test_many_heads_stay_small(self) -> None:
        drawing = heatmap([noisy(200, 200, seed) for seed in range(8)])
        assert len(drawing.light) <= 200_000

    @pytest.mark.parametrize(
        ("values", "expected"),
        [("auto", ["0.25", "0.75"]), (".1f", ["0.2", "0.8"]), (False, []), (True, ["0.25", "0.75"])],
    )
    def test_values(self, values: bool | str, expected: list[str]) -> None:
        fields = re.findall(r'font-size="12.5".*?>(.*?)<', heatmap([[0.25, 0.75]], values=values).light)
        assert fields == expected

    def test_whole_numbers_have_no_point(self) -> None:
        fields = re.findall(r'font-size="12.5".*?>(.*?)<', heatmap([[-1, 0, 30]]).light)
        assert fields == ["−1", "0", "30"]

    def test_arrays_and_lists_are_the_same(self) -> None:
        numpy = pytest.importorskip("numpy")
        array = numpy.array(WEIGHTS)
        expected = heatmap(WEIGHTS, mask=CAUSAL).light
        assert heatmap(array, mask=numpy.array(CAUSAL)).light == expected
        assert heatmap(list(array), mask=[list(row) for row in numpy.array(CAUSAL)]).light == expected

    @pytest.mark.parametrize("mask", [[True, False], [[True, False]], [[[True, False]]], [[True, False]] * 2])
    def test_a_mask_broadcasts(self, mask: object) -> None:
        assert "2 entries are masked" in heatmap([[1, 2], [3, 4]], mask=mask).words

    @each_row(
        ("arguments", "error", "words"),
        [
            ({"weights": []}, ValueError, "shape (0,)"),
            ({"weights": [1, 2]}, ValueError, "shape (2,)"),
            ({"weights": [[[[1]]]]}, ValueError, "shape (1, 1, 1, 1)"),
            ({"weights": [[1, 2], [3]]}, ValueError, "rows of different lengths"),
            ({"weights": [["a"]]}, TypeError, "hold 'a'"),
            ({"weights": [[1j]]}, TypeError, "hold 1j"),
            ({"weights": [[[1]]] * 65}, ValueError, "at most 64 heads"),
            ({"weights": [[1]], "rows": ["a", "b"]}, ValueError, "2 names for 1 rows"),
            ({"weights": [[1]], "mask": [True, False]}, ValueError, "mask has the shape (2,)"),
            ({"weights": [[1]], "mask": [[0.5]]}, TypeError, "mask holds 0.5"),
            ({"weights": [[1]], "scale": "log"}, ValueError, "scale='log'"),
            ({"weights": [[1]], "values": "%d"}, ValueError, "nvalid format"),
            ({"weights": [[1] * 40] * 40, "values": True}, ValueError, "1,600 numbers"),
        ],
    )
    def test_what_cannot_be_drawn_is_refused(
        self, arguments: dict[str, object], error: type[Exception], words: str
    ) -> None:
        with pytest.raises(error, match=re.escape(words)):
            heatmap(**arguments)  # type: ignore[arg-type]


def pictures(svg: str) -> list[bytes]:
    return [b64decode(data) for data in re.findall(r'data:image/png;base64,([^"]+)"', svg)]


def decoded(png: bytes) -> tuple[list[str], int, list[bytes]]:
    """Return colours, the number of the transparent one, and rows of numbers; check all chunk sums."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", png, at + 8 + length) == (zlib.crc32(kind + body),)
        chunks[kind] = body
        at += 12 + length
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[k * (width + 1) + 1 : (k + 1) * (width + 1)] for k in range(height)]
    colours = [f"#{chunks[b'PLTE'][k : k + 3].hex()}" for k in range(0, len(chunks[b"PLTE"]), 3)]
    return colours, len(chunks.get(b"tRNS", b"")) - 1, rows


def test_browsers_can_read_the_pngs() -> None:
    image = pytest.importorskip("PIL.Image")
    png = indexed_png([bytes([0, 1]), bytes([2, 0])], ["#102030", "#ffffff", "#000000"], 2)
    with image.open(BytesIO(png)) as opened:
        pixels = opened.convert("RGBA")
        assert [pixels.getpixel(at) for at in ((0, 0), (1, 0), (0, 1))] == [
            (16, 32, 48, 255), (255, 255, 255, 255), (0, 0, 0, 0),
        ]  # fmt: skip


class TestCurves:
    def test_names_stand_at_the_ends_of_lines(self) -> None:
        drawing = curves({"naive": [(1, 1), (2, 4)], "flash": [(1, 1), (2, 2)]})
        assert drawing.light.count("stroke-dasharray") == 1
        places = {e.text: place(e) for e in ElementTree.fromstring(drawing.light).iter(f"{NAME}text")}
        assert places["naive"][0] == places["flash"][0] > 400
        assert places["naive"][1] < places["flash"][1]

    def test_names_that_are_close_move_apart(self) -> None:
        drawing = curves({"a": [(1, 1), (2, 4)], "b": [(1, 1), (2, 4.1)], "c": [(1, 0), (2, 1)]})
        places = {e.text: place(e) for e in ElementTree.fromstring(drawing.light).iter(f"{NAME}text")}
        assert places["a"][1] - places["b"][1] == pytest.approx(16, abs=0.02)

    @pytest.mark.parametrize(
        "series",
        [
            {name: [(1, 1), (2, 2)] for name in "abcd"},
            {"a name that is longer than there is room for": [(1, 1), (2, 2)]},
            {"short": [(1, 1), (2, 2)], "long": [(1, 1), (4, 4)]},
        ],
        ids=["one place", "long name", "a line in the way"],
    )
    def test_names_without_room_are_in_a_legend(self, series: dict[str, list[tuple[int, int]]]) -> None:
        drawing = curves(series)
        assert len(re.findall(r'd="M\S+ \S+h34"', drawing.light)) == len(series)

    def test_gaps_break_the_line_and_lone_points_are_seen(self) -> None:
        drawing = curves({"a": [(1, 1), (2, 2), (3, None), (4, 3), (5, NAN), (6, 1), (7, 2)]}, points=False)
        (line,) = re.findall(r'<path d="([^"]*)" fill="none"', drawing.light)
        assert line.count("M") == 2 and line.count("L") == 2
        # the isolated point, and the last one next to the name
        assert drawing.light.count('<path d="M-4 0a4') == 2

    def test_bands_and_points(self) -> None:
        series = {"a": [(1, 2, 1, 3), (2, 3, 2, 5), (4, 4)]}
        assert curves(series).light.count("fill-opacity") == 1
        assert "fill-opacity" not in curves(series, bands=False).light
        marks = [curves(series, points=points).light.count("M-4 0a4") for points in (True, False)]
        assert marks == [3, 1]

    def test_places_on_a_logarithmic_axis(self) -> None:
        drawing = curves({"": [(1, 1), (10, 10), (100, 100)]}, log="xy", points=False)
        (line,) = re.findall(r'<path d="M([^"]*)" fill="none"', drawing.light)
        (x1, y1), (x2, y2), (x3, y3) = ([float(v) for v in pair.split()] for pair in line.split("L"))
        assert x2 - x1 == pytest.approx(x3 - x2, abs=0.02) and y1 - y2 == pytest.approx(y2 - y3, abs=0.02)

    def test_what_is_not_above_zero_is_a_gap_on_a_logarithmic_axis(self) -> None:
        drawing = curves({"a": [(1, 1), (2, 0), (3, -1), (4, 4, -1, 5)]}, log="y")
        assert drawing.words.endswith("a: from 1 at 1 to 4 at 4.")

    def test_what_is_said(self) -> None:
        assert DRAWINGS["times"].words == (
            "2 lines, time over length, both axes logarithmic. "
            "naive: from 32.8\u202fµs at 128 to 8.39\u202fms at 2048. "
            "flash: from 16.6\u202fµs at 128 to 107\u202fms at 16384."
        )
        assert curves({"a": [(1, 2)], "b": []}).words == "2 lines. a: 2 at 1. b: no values."
        assert curves({"a": [(1, 2)]}, x="n", y="error").words == "One line, error over n. a: 2 at 1."

    def test_every_form_of_points(self) -> None:
        numpy = pytest.importorskip("numpy")
        expected = curves({"a": [(1, 2), (3, 4)]}).light
        forms: list[object] = [
            ((1, 2), (3, 4)),
            ([1, 3], [2, 4]),
            (range(1, 4, 2), numpy.array([2.0, 4.0])),
            numpy.array([[1, 2], [3, 4]]),
            iter([(1, 2), (3, 4)]),
            zip([1, 3], [2, 4], strict=True),
            [numpy.array([1, 2]), [numpy.float32(3), 4]],
        ]
        assert [curves({"a": form}).light == expected for form in forms] == [True] * len(forms)

    def test_a_dense_line_keeps_its_extremes_and_stays_small(self) -> None:
        values = noise(50_000)
        values[12_345] = 9.0
        drawing = curves({"": list(enumerate(values))}, points=False)
        assert len(drawing.light) < 100_000
        line = re.findall(r'<path d="M([^"]*)" fill="none"', drawing.light)[0]
        heights = sorted(float(pair.split()[1]) for pair in line.split("L"))
        assert heights[1] - heights[0] > 150

    @each_row(
        ("arguments", "error", "words"),
        [
            ({"series": [(1, 2)]}, TypeError, "mapping from a label"),
            ({"series": {}}, ValueError, "nothing to draw"),
            ({"series": {"a": [(1, NAN)]}}, ValueError, "nothing to draw"),
            ({"series": {"a": [(1, -1)]}, "log": "y"}, ValueError, "nothing to draw"),
            ({"series": {"a": [1, 2]}}, TypeError, "a point is (x, y)"),
            ({"series": {"a": [(1, 2, 3)]}}, TypeError, "a point is (x, y)"),
            ({"series": {"a": [(1, "x")]}}, TypeError, "'x' is not a number"),
            ({"series": {"a": 3}}, TypeError, "is not a list of points, but int"),
            ({"series": {"a": "words"}}, TypeError, "is not a list of points, but str"),
            ({"series": {"a": ([1, 2], [3])}}, ValueError, "different lengths, [2, 1]"),
            ({"series": {str(k): [(1, 2)] for k in range(9)}}, ValueError, "9 series"),
            ({"series": {"a": [(1, 2)]}, "log": "z"}, ValueError, "log='z'"),
            ({"series": {"a": [(1, 2)]}, "y_unit": "ms"}, ValueError, "y_unit='ms'"),
        ],
    )
    def test_what_cannot_be_drawn_is_refused(
        self, arguments: dict[str, object], error: type[Exception], words: str
    ) -> None:
        with pytest.raises(error, match=re.escape(words)):
            curves(**arguments)  # type: ignore[arg-type]

    @given(
        st.lists(
            st.tuples(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12) | st.just(NAN) | st.none()), min_size=1
        ),
        st.sampled_from(["", "x", "y", "xy"]),
        st.sampled_from(["", "s", "bytes"]),
    )
    @example([(0.0, 0.0), (1.0, 5e-324)], "", "")
    def test_any_points_give_a_drawing_or_are_refused(
        self, points: list[tuple[float, float | None]], log: str, unit: str
    ) -> None:
        try:
            drawing = curves({"a": points}, log=log, y_unit=unit)  # type: ignore[arg-type]
        except ValueError as error:
            assert "nothing to draw" in str(error)
            return
        numbers = [
            float(n) for n in re.findall(r"-?\d+\.?\d*", " ".join(re.findall(r' d="([^"]*)"', drawing.light)))
        ]
        assert all(abs(number) < 1000 for number in numbers)
