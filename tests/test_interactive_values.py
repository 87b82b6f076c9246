"""Values that need a script: recorded data, static forms, and the site's own copy of their libraries.

Classes of the tests have the module and methods of the libraries, so that none of them needs to be installed.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest

from blogsmith.cli import vendor as vendor_module
from blogsmith.cli.main import main
from blogsmith.model.live_libraries import FOLDER, LIBRARIES, Library, LibraryFile
from blogsmith.project.trust.consent import trust
from tests.worker_client import Client, start_worker, worker

__all__ = ["start_worker", "worker"]

PLOTLY = """
import json
class Figure:
    def to_plotly_json(self): return {}
    def to_json(self): return json.dumps({"data": [{"x": [1]}], "layout": {}, "frames": []})
    def _repr_html_(self): return "<script>fetch('https://example.org')</script>"
Figure.__module__ = "plotly.graph_objs._figure"
"""
ALTAIR = """
import random
class Chart:
    def to_dict(self):
        return {"$schema": "https://vega.github.io/schema/vega-lite/v6.4.1.json", "mark": "bar"}
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": f"<div id=altair-viz-{random.random()}>"}
Chart.__module__ = "altair.vegalite.v6.api"
"""
CONVERTER = """
import sys, types, importlib.machinery
module = types.ModuleType("vl_convert")
module.__spec__ = importlib.machinery.ModuleSpec("vl_convert", None)
module.get_vegalite_versions = lambda: ["6.4"]
module.vegalite_to_svg = lambda spec, vl_version=None: f"<svg>{spec['mark']} {vl_version}</svg>"
sys.modules["vl_convert"] = module
"""
WIDGET = """
class IntSlider:
    value = 3
    def get_state(self):
        other = {"layout": "IPY_MODEL_1f", "data": b"x", "tip": None}
        return {"_model_name": "IntSliderModel", "value": 3, **other}
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": repr(self), "application/vnd.jupyter.widget-view+json": {"model_id": "random"}}
"""


class TestWorker:
    """The worker records data, and no HTML that needs other hosts or has random ids."""

    def test_plotly(self, worker: Client) -> None:
        (frame,) = worker.run(PLOTLY + "Figure()").values
        data = {"data": [{"x": [1]}], "layout": {}}
        assert frame["text"]["text/plain"] == "Figure"
        assert json.loads(frame["text"]["application/vnd.plotly.v1+json"]) == data
        assert len(frame["text"]) == 2 and not frame["binary"]

    def test_altair_without_a_converter(self, worker: Client) -> None:
        (frame,) = worker.run(ALTAIR + "import sys; sys.modules['vl_convert'] = None\nChart()").values
        assert list(frame["text"]) == ["text/plain", "application/vnd.vegalite.v6+json"]
        assert not frame["binary"]

    def test_altair_with_a_converter(self, worker: Client) -> None:
        (frame,) = worker.run(ALTAIR + CONVERTER + "Chart()").values
        assert base64.b64decode(frame["binary"]["image/svg+xml"]) == b"<svg>bar 6.4</svg>"

    def test_a_converter_that_fails_leaves_the_data(self, worker: Client) -> None:
        ended = worker.run(ALTAIR + CONVERTER + "module.vegalite_to_svg = None\nChart()")
        assert "application/vnd.vegalite.v6+json" in ended.values[0]["text"]
        assert "Chart" in ended.text("stderr")

    def test_widget(self, worker: Client) -> None:
        (frame,) = worker.run(WIDGET + "IntSlider()").values
        written = json.loads(frame["text"]["application/vnd.jupyter.widget-state+json"])
        model = written["state"]["value"]
        assert model["model_name"] == "IntSliderModel" and model["state"] == {"value": 3}
        assert "random" not in json.dumps(frame)

    def test_markdown(self, worker: Client) -> None:
        code = "class M:\n    def _repr_markdown_(self): return '**b**'\nM()"
        assert worker.run(code).values[0]["text"]["text/markdown"] == "**b**"

    def test_marimo_protocol(self, worker: Client) -> None:
        pairs = {
            "('text/markdown', '*a*')": {"text/markdown": "*a*"},
            "('text/vnd.mermaid', 'graph TD')": {"text/vnd.mermaid": "graph TD"},
            "('application/vnd.x+json', {'é': [1, 2.5]})": {"application/vnd.x+json": '{"é":[1,2.5]}'},
            "('application/vnd.x+json', {'a': float('nan')})": {},
            "('application/vnd.x+json', {'a': object()})": {},
            "'no pair'": {},
        }
        for pair, written in pairs.items():
            code = f"class M:\n    def _mime_(self): return {pair}\n    def __repr__(self): return 'M'\nM()"
            found = worker.run(code).values[0]["text"]
            assert found == {"text/plain": "M", **written}, pair


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a site with a recorded chart of each library."""
    write_site(
        tmp_path, {"blogsmith.yaml": "title: T\nbase_url: https://example.org\n", "content/posts/a.md": POST}
    )
    return tmp_path


POST = """---
title: A
date: 2026-03-01
---

```python eval
class Figure:
    def __repr__(self): return "Figure"
    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"data": [{"x": [1, 2], "y": [3, "</script>"]}], "layout": {"title": "Loss"}}
        return {"application/vnd.plotly.v1+json": data}

Figure()
```
"""


def write_site(root: Path, files: dict[str, str]) -> None:
    """Write the files of a site."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def fill_copy(root: Path, name: str) -> None:
    """Write files of the right sizes where a copy of a library would be."""
    for file in LIBRARIES[name].files:
        path = root / FOLDER / name / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b" " * file.size)


def test_the_button_needs_a_complete_copy(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    page, feed = site / "public/posts/a/index.html", site / "public/atom.xml"
    assert main(["build", "--execute", "-q"]) == 0
    still = page.read_text()
    assert (
        "<strong>Loss</strong> (Plotly)" in still and "live-button" not in still and "<script>" not in still
    )

    fill_copy(site, "plotly")
    assert main(["build", "-q"]) == 0
    live = page.read_text()
    assert 'data-scripts="/live/plotly/plotly.min.js"' in live and "live-" in live
    assert "\\u003c/script>" in live
    assert (site / "public/live/plotly/plotly.min.js").is_file()
    # The policy does not depend on the chart.
    policy = "script-src 'self'; style-src 'self';"
    assert policy in still and policy in live
    assert "live-button" not in feed.read_text() and "Loss" in feed.read_text()

    (site / FOLDER / "plotly/plotly.min.js").write_bytes(b"cut")
    assert main(["build", "-q"]) == 0
    assert page.read_text() == still


class TestVendor:
    @pytest.fixture
    def source(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Replace the library by a small one, and return a folder with its file."""
        source = tmp_path / "source"
        source.mkdir()
        (source / "draw.js").write_bytes(b"draw()")
        digest = hashlib.sha256(b"draw()").hexdigest()
        file = LibraryFile("draw.js", "draw@1.0.0", "build/draw.js", 6, digest)
        monkeypatch.setattr(vendor_module, "LIBRARIES", {"plotly": Library("Plotly", "MIT", (file,))})
        (tmp_path / "site").mkdir()
        (tmp_path / "site/blogsmith.yaml").write_text("title: T\n")
        monkeypatch.chdir(tmp_path / "site")
        return source

    def test_copies_once(self, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = Path(FOLDER, "plotly")
        assert main(["vendor", "plotly", "--from", str(source)]) == 0
        assert "copied to" in capsys.readouterr().out
        assert (folder / "draw.js").read_bytes() == b"draw()" and "draw@1.0.0" in (
            folder / "NOTICE.txt"
        ).read_text()
        (source / "draw.js").unlink()
        assert main(["vendor", "plotly", "--from", str(source)]) == 0
        assert "already in" in capsys.readouterr().out

    def test_other_content_changes_nothing(self, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (source / "draw.js").write_bytes(b"evil()")
        assert main(["vendor", "plotly", "--from", str(source)]) == 1
        assert "its SHA-256 differs" in capsys.readouterr().err
        assert not Path(FOLDER, "plotly").exists()

    def test_files_of_the_author_stay(self, source: Path, capsys: pytest.CaptureFixture[str]) -> None:
        write_site(Path(), {f"{FOLDER}/plotly/mine.txt": "mine"})
        assert main(["vendor", "plotly", "--from", str(source)]) == 1
        assert '"mine.txt"' in capsys.readouterr().err
        assert Path(FOLDER, "plotly/mine.txt").read_text() == "mine"

    def test_a_link_is_not_followed(self, source: Path, tmp_path: Path) -> None:
        Path("static").mkdir()
        Path(FOLDER).symlink_to(tmp_path / "source", target_is_directory=True)
        assert main(["vendor", "plotly", "--from", str(source)]) == 1
        assert sorted(path.name for path in source.iterdir()) == ["draw.js"]


def test_a_plugin_shows_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = """\"\"\"Seats.\"\"\"

import json


def register(hooks):
    @hooks.cell_output("application/vnd.seats+json")
    def seats(data):
        number = json.loads(data)["seats"]
        svg = '<svg viewBox="0 0 9 9"><rect width="9" height="9"/><script/></svg>'
        return f"<p onclick='x()'>{number} seats</p>" if number else svg
"""
    cell = """class Hall:
    def __init__(self, seats): self.seats = seats
    def _mime_(self): return "application/vnd.seats+json", {"seats": self.seats}

display(Hall(3))
Hall(0)
"""
    post = f"---\ntitle: A\ndate: 2026-03-01\n---\n\n```python eval\n{cell}```\n"
    settings = "title: T\nplugins: [seats]\n"
    write_site(tmp_path, {"blogsmith.yaml": settings, "plugins/seats.py": plugin, "content/posts/a.md": post})
    monkeypatch.chdir(tmp_path)
    trust(tmp_path)
    assert main(["build", "--execute", "-q"]) == 0
    page = Path("public/posts/a/index.html").read_text()
    assert "<p>3 seats</p>" in page and "<rect" in page and "onclick" not in page and "<script/>" not in page
