"""Scripts of themes as published: minified, valid for the bytes they were made of."""

from __future__ import annotations

import re
from pathlib import Path

from blogsmith.render.templates.files import MINIFIED, minified_name
from tests.browser.tools import file, program
from tests.site_files import build, printed, put
from tests.theme_scripts import ROOT, TERSER, minified_file, minified_scripts, scripts

HINT = "run: python -m tests.regen scripts"
CONFIG = "title: T\ntheme: mine\n"
POST = "---\ntitle: A\n---\n```python\nx = 1\n```\n"


def test_each_script_has_its_smaller_form() -> None:
    wanted = {minified_file(script, data) for script, data in scripts().items()}
    assert set(ROOT.glob(f"themes/*/{MINIFIED}/*.js")) == wanted, HINT


def test_the_manual_says_which_page_loads_each_script() -> None:
    manual = (ROOT / "content/docs/themes.md").read_text("utf-8")
    table = manual.partition("### Which page loads which script")[2].partition("\n## ")[0]
    shipped = {file.name for file in (ROOT / "themes/paper/static").glob("*.js")}
    assert set(re.findall(r"`([a-z-]+\.js)`", table)) == shipped


def test_smaller_forms_are_what_terser_makes() -> None:
    program("node")
    file(TERSER)
    made = {path: text.encode() for path, text in minified_scripts().items()}
    assert {path: path.read_bytes() for path in made} == made, HINT


def test_a_site_gets_the_smaller_form(tmp_path: Path) -> None:
    root = put(tmp_path, {"blogsmith.yaml": "title: T\n", "content/a.md": POST})
    report = build(root)
    assert report.ok, printed(report)
    own = {file.stem: data for file, data in scripts().items()}
    published = (root / "public/assets/paper/copy.js").read_bytes()
    assert published == (ROOT / "themes/paper" / MINIFIED / minified_name("copy", own["copy"])).read_bytes()
    assert b"//" not in published


def test_a_script_that_was_edited_is_published_as_it_is(tmp_path: Path) -> None:
    script = b"// ours\nlet a = 1;\n"
    files: dict[str, str | bytes] = {
        "blogsmith.yaml": CONFIG,
        "content/a.md": POST,
        "themes/mine/theme.yaml": "extends: paper\n",
        "themes/mine/static/copy.js": script,
        f"themes/mine/minified/{minified_name('copy', b'something else')}": "let a=1",
        "themes/mine/static/other.js": script,
        f"themes/mine/minified/{minified_name('other', script)}": "let a=1",
    }
    root = put(tmp_path, files)
    report = build(root)
    assert report.ok, printed(report)
    assert (root / "public/assets/mine/copy.js").read_bytes() == script
    assert (root / "public/assets/mine/other.js").read_bytes() == b"let a=1"
    assert not (root / "public/assets/mine/minified").exists()


def test_a_smaller_form_outside_the_theme_is_not_read(tmp_path: Path) -> None:
    script = b"let a = 1;\n"
    files: dict[str, str | bytes] = {
        "blogsmith.yaml": CONFIG,
        "content/a.md": POST,
        "themes/mine/theme.yaml": "extends: paper\n",
        "themes/mine/static/own.js": script,
        "secret.txt": "secret",
    }
    root = put(tmp_path, files)
    (root / "themes/mine/minified").mkdir()
    (root / "themes/mine/minified" / minified_name("own", script)).symlink_to(root / "secret.txt")
    report = build(root)
    assert report.ok, printed(report)
    assert (root / "public/assets/mine/own.js").read_bytes() == script
