"""The worker: display of objects, values in text, claims."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from tests.rows import each_row
from tests.worker_client import Client, Start, start_worker, worker

__all__ = ["start_worker", "worker"]

RICH = """
class Rich:
    def __repr__(self): return "plain"
    def _repr_html_(self): return "<b>rich</b>"
    def _repr_latex_(self): return "$x^2$"
    def _repr_svg_(self): return "<svg/>"
    def _repr_png_(self): return b"png"
    def _repr_jpeg_(self): return b"jpeg", {"width": 3}
    def _repr_markdown_(self): return "nobody asks"
"""


def data(text: bytes) -> str:
    """Encode as images are sent."""
    return base64.b64encode(text).decode()


def test_every_form_is_sent(worker: Client) -> None:
    (frame,) = worker.run(RICH + "Rich()").values
    assert frame["kind"] == "value"
    texts = {"text/plain": "plain", "text/html": "<b>rich</b>", "text/latex": "$x^2$"}
    assert frame["text"] == texts and list(frame["text"]) == list(texts)
    pictures = {"image/svg+xml": b"<svg/>", "image/png": b"png", "image/jpeg": b"jpeg"}
    assert frame["binary"] == {mime: data(content) for mime, content in pictures.items()}


def test_a_bundle_wins(worker: Client) -> None:
    code = """
class Bundle:
    def _repr_html_(self): return "not this"
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": "p", "text/html": "<i>", "image/png": "cG5n\\n", "a/b": 1}, {"meta": 1}
Bundle()
"""
    (frame,) = worker.run(code).values
    assert frame["text"] == {"text/plain": "p", "text/html": "<i>"}
    assert frame["binary"] == {"image/png": "cG5n"}


def test_a_bundle_may_hold_a_picture_for_dark_pages(worker: Client) -> None:
    code = """
class Bundle:
    def __repr__(self): return "b"
    def _repr_mimebundle_(self, include=None, exclude=None):
        pictures = {"image/svg+xml": "<svg/>", "image/svg+xml;scheme=dark": "<svg>d</svg>"}
        return pictures | {"image/png;scheme=dark": "cG5n", "image/gif;scheme=dark": "R0lG"}
Bundle()
"""
    (frame,) = worker.run(code).values
    # an image for dark pages only is ignored
    pictures = {"image/svg+xml": data(b"<svg/>"), "image/svg+xml;scheme=dark": data(b"<svg>d</svg>")}
    assert frame["binary"] == pictures and list(frame["binary"]) == list(pictures)


def test_display_is_a_builtin(worker: Client) -> None:
    ended = worker.run(RICH + "display(1, Rich())\nprint('then')\ndisplay(Rich)")
    assert [kind for kind, _ in ended.order()] == ["display", "display", "stdout", "display"]
    assert ended.values[0]["text"] == {"text/plain": "1"}
    assert ended.values[2]["text"] == {"text/plain": "<class '__main__.Rich'>"}


def test_objects_that_have_every_attribute_show_plain_text(worker: Client) -> None:
    worker.run(
        "class All:\n    __repr__ = lambda self: 'all'\n    __getattr__ = lambda self, name: self.__repr__"
    )
    assert worker.run("All()").values[0]["text"] == {"text/plain": "all"}


def test_a_form_that_fails_is_told_in_one_line(worker: Client) -> None:
    code = (
        "class Bad:\n    def __repr__(self): 1/0\n    def _repr_html_(self): raise ValueError('a\\nb')\nBad()"
    )
    ended = worker.run(code)
    assert ended.status == "ok"
    assert ended.values[0]["text"] == {"text/plain": "<Bad object>"}
    told = (
        "Bad._repr_html_ failed: ValueError: a b\nBad.__repr__ failed: ZeroDivisionError: division by zero\n"
    )
    assert ended.text("stderr") == told


def test_large_forms_are_cut_or_left_out(start_worker: Start) -> None:
    worker = start_worker(limits={"data_bytes": None, "text_bytes": 200})
    code = (
        "class H:\n    def __repr__(self): return 'ä' * 500\n    def _repr_html_(self): return 'x' * 201\nH()"
    )
    ended = worker.run(code)
    assert ended.values[0]["text"] == {"text/plain": "ä" * 100 + "…"}
    assert (
        ended.text("stderr") == "text/html of H is left out: 201 characters are more than the limit of 200\n"
    )


def test_a_repr_of_many_megabytes_is_cut(worker: Client) -> None:
    text = worker.run("'x' * 50_000_000").values[0]["text"]["text/plain"]
    assert len(text) == 1024 * 1024 + 1


def test_a_figure_is_shown_once(worker: Client) -> None:
    worker.need("matplotlib")
    code = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nprint('before')\nfig"
    ended = worker.run(code)
    assert ended.status == "ok", ended.done
    assert [kind for kind, _ in ended.order()[:1]] == ["stdout"]
    assert [list(frame["binary"]) for frame in ended.values] == [["image/svg+xml"]]


def test_a_figure_of_a_value_stands_nowhere(worker: Client) -> None:
    worker.need("matplotlib")
    worker.run("import matplotlib.pyplot as plt")
    assert worker.value("len(plt.plot([1, 2]))")["text"] == "1"
    assert worker.run("1;").values == []


def test_a_figure_that_cannot_be_drawn_fails_the_cell(worker: Client) -> None:
    worker.need("matplotlib")
    ended = worker.run("import matplotlib.pyplot as plt\nplt.title(r'$\\nonsense{$');")
    assert (ended.status, ended.failure["name"]) == ("error", "ValueError")
    assert worker.run("plt.title('fine');").status == "ok"


@each_row(
    ("expression", "conversion", "spec", "text"),
    [
        ("x", "", "", "3.14159"),
        ("x", "", ".2f", "3.14"),
        ("x", "", ".{n}f", "3.1416"),
        ("'a'", "r", ">5", "  'a'"),
        ("'ä'", "a", "", "'\\xe4'"),
        ("x", "s", "", "3.14159"),
        (" n\n+ 1 ", "", "", "5"),
        ("(lambda: n)()", "", "", "4"),
    ],
)
def test_values_of_the_text(worker: Client, expression: str, conversion: str, spec: str, text: str) -> None:
    worker.run("x, n = 3.14159, 4")
    frame = worker.value(expression, conversion, spec)
    assert (frame["number"], frame["status"], frame["text"]) == (7, "ok", text)
    assert frame["latex"] == "" and frame["failure"] is None


@each_row("latex", ["$x^2$", "$$x^2$$", r"\(x^2\)", "x^2", r"$\displaystyle x^2$"])
def test_values_offer_tex(worker: Client, latex: str) -> None:
    worker.run(
        f"class T:\n    def _repr_latex_(self): return {latex!r}\n    def __str__(self): return 't'\nt = T()"
    )
    frame = worker.value("t")
    assert frame["text"] == "t" and frame["latex"] in ("x^2", r"\displaystyle x^2")
    assert worker.value("t", spec="3")["status"] == "error"
    assert worker.value("t", conversion="s", spec="3") | {"text": ""} == frame | {"latex": "", "text": ""}


def test_a_value_that_fails(worker: Client) -> None:
    worker.run("def f():\n    return 1/0")
    frame = worker.value("f()")
    assert (frame["status"], frame["failure"]["name"]) == ("error", "ZeroDivisionError")
    assert (frame["failure"]["cell"], frame["failure"]["line"]) == (1, 2)
    assert 'File "<value 7>", line 1, in <module>\n    f()\n' in frame["failure"]["text"]
    assert worker.value("1 +")["failure"]["name"] == "SyntaxError"
    assert worker.value("exit(2)")["status"] == "error"
    assert worker.value("f'{1}'")["text"] == "1"


def test_what_a_value_prints_stands_nowhere(worker: Client) -> None:
    worker.run("def loud():\n    print('noise'); display('noise')\n    return 1")
    assert worker.value("loud()")["text"] == "1"
    assert worker.run("print('cell')").order() == [("stdout", "cell\n")]


@each_row(
    ("expression", "detail"),
    [
        ("a == 4", "left: 3.9, right: 4"),
        ("0 < a < 2", "left: 3.9, right: 2"),
        ("5 < a < 1 / 0", "left: 5, right: 3.9"),
        ("not a > 2", "left: 3.9, right: 2"),
        ("a > 2 and a < 3", "a < 3 is false (left: 3.9, right: 3)"),
        ("a < 2 or a ==  5", "a < 2 is false (left: 3.9, right: 2); a == 5 is false (left: 3.9, right: 5)"),
        ("math.isclose(a, 4, rel_tol=1e-9)", "left: 3.9, right: 4"),
        ("all([a > 0, a > 5])", "[True, False]"),
        ("bool(a > 5)", "left: 3.9, right: 5"),
        ("isinstance(a, int)", "left: 3.9, right: <class 'int'>"),
        ("all(x > a for x in (1, 2))", "value: False"),
        ("False", "value: False"),
        ("long == ''", "left: '" + "x" * 29 + "…" + "x" * 29 + "', right: ''"),
        ("(lambda: a)() == (b := 5)", "left: 3.9, right: 5"),
    ],
)
def test_a_false_claim_says_why(worker: Client, expression: str, detail: str) -> None:
    worker.run("import math\na, zero, long = 3.9, 0, 'x' * 500")
    ended = worker.run(f"c = 1\n{expression}", claim=True)
    assert ended.done["claim"].items() >= {"holds": False, "detail": detail}.items()
    assert (ended.status, ended.values) == ("ok", [])


@each_row("expression", ["a == 3.9", "1 < a < 4;", "not a == 4", "max(a, 5) == 5", "await w()"])
def test_a_true_claim(worker: Client, expression: str) -> None:
    worker.run("a = 3.9\nasync def w(): return a > 1")
    assert worker.run(expression, claim=True).done["claim"].items() >= {"holds": True, "detail": ""}.items()


def test_a_claim_is_evaluated_once_and_leaves_nothing(worker: Client) -> None:
    worker.run("calls = []\ndef f(x):\n    calls.append(x)\n    return x")
    worker.run("f(1) == f(2)", claim=True)
    ended = worker.run("print(calls, [n for n in globals() if not n.startswith('__')])")
    assert ended.text() == "[1, 2] ['calls', 'f']\n"


def test_a_claim_that_is_none(worker: Client) -> None:
    ended = worker.run("x = 1", claim=True)
    assert ended.done["claim"] == {"holds": None, "kind": "none", "detail": ""}
    ended = worker.run("x = 1\n\nx == undefined", claim=True)
    assert (ended.done["claim"], ended.failure["name"], ended.failure["line"]) == (None, "NameError", 3)


def test_a_claim_about_arrays(worker: Client) -> None:
    worker.need("numpy")
    worker.run("import numpy as np\na = np.arange(3)")
    claim = worker.run("np.allclose(a, [0, 1, 2.5])", claim=True).done["claim"]
    assert claim["detail"] == "left: array([0, 1, 2]), right: [0, 1, 2.5]"
    claim = worker.run("(a == [0, 1, 3]).all()", claim=True).done["claim"]
    assert claim["detail"] == "left: array([0, 1, 2]), right: [0, 1, 3]"
    assert json.dumps(worker.run("np.all(a < 3)", claim=True).done["claim"]["holds"]) == "true"
    claim = worker.run("a == [0, 1, 3]", claim=True).done["claim"]
    assert (claim["holds"], claim["kind"]) == (None, "array")


@each_row(
    "last", ["plt.plot([1, 2])", "plt.title('a')", "plt.gca()", "plt.subplots(2)[1]", "plt.hist([1, 2])"]
)
def test_a_piece_of_a_figure_is_no_value(worker: Client, last: str) -> None:
    worker.need("matplotlib")
    shown = worker.run(f"import matplotlib.pyplot as plt\n{last}").values
    assert shown and all("text/plain" not in frame["text"] for frame in shown)


def test_display_of_ipython_is_ours(worker: Client, tmp_path: Path) -> None:
    """Notebooks import it; without a shell of IPython it would print a memory address."""
    for name, text in {
        "__init__": "",
        "display": "from .core.display_functions import display\n",
        "core/__init__": "",
        "core/display_functions": "def display(*objects): print(object())\n",
    }.items():
        file = tmp_path / "IPython" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    ended = worker.run(RICH + "from IPython.display import display\ndisplay(Rich(), display_id=True)")
    assert [kind for kind, _ in ended.order()] == ["display"]
    assert ended.values[0]["text"]["text/html"] == "<b>rich</b>"
