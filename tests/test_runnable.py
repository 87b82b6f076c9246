"""Code that readers run: its data on a built page, from parsing to feeds. `tests/browser/` runs it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from blogsmith.config.load import parse_config
from blogsmith.config.schema import Config
from blogsmith.model.texts import PageText
from blogsmith.pyodide.distribution import Distribution, open_distribution
from blogsmith.pyodide.release import CDN_URL, CORE, CORE_TRANSFER_BYTES, LOCK
from blogsmith.site.feeds import feed_html
from tests.check import render
from tests.pyodide_stub import file_name, pin_stub, stub_lock, wheel, write_stub
from tests.rows import each_row
from tests.site_files import build, printed
from tests.theme_pages import BARE

BLOCK = '<div class="runnable">\n\n```python\n{}\n```\n\n</div>\n\n'


def data(html: str) -> list[dict[str, str]]:
    """Return the `data-` attributes of every runnable block, in order."""
    tags = re.findall(r'<div class="(?:[^"]* )?runnable(?: [^"]*)?"[^>]*>', html)
    return [dict(re.findall(r' data-([\w-]+)="([^"]*)"', tag)) for tag in tags]


def one(source: str, config: str = "") -> dict[str, str]:
    """Return the attributes of the only block of a post."""
    (found,) = data(render(source, config).html)
    return found


def codes(source: str, config: str = "") -> list[str]:
    """Return the codes of diagnostics of a post."""
    return [found.code for found in render(source, config).diagnostics]


def test_a_block_says_what_a_script_must_know() -> None:
    assert one(BLOCK.format("x = 1")) == {
        "lang": "python",
        "file": "content/posts/page.md",
        "line": "4",
        "pyodide": CDN_URL,
        "bytes": str(CORE_TRANSFER_BYTES),
        "timeout": "30",
    }


def test_the_line_is_that_of_the_code() -> None:
    head = "---\ntitle: T\n---\n\n"
    assert one(f"{head}> ```python\n> #| run-in: browser\n>\n> x = 1\n> ```\n")["line"] == "8"
    assert one(f"{head}- {BLOCK.format('x = 1').replace(chr(10), chr(10) + '  ')}")["line"] == "8"
    assert one(f'{head}<div class="runnable">\n```python\nx = 1\n```\n</div>\n')["line"] == "7"


def test_packages_add_up_within_a_session() -> None:
    cell = "```python\n#| run-in: browser\n#| session: {}\nimport {}\n```\n\n"
    post = cell.format("a", "numpy") + cell.format("b", "yaml") + cell.format("a", "PIL, numpy, os")
    found = data(render(post, "browser: {packages: [micropip]}\n").html)
    assert [block["packages"] for block in found] == [
        *("micropip numpy", "micropip pyyaml", "micropip numpy pillow")
    ]
    assert [block["session"] for block in found] == ["a", "b", "a"]


def test_a_cell_may_take_the_time_it_asks_for() -> None:
    cell = "---\nexecute: {timeout: 500}\n---\n```python\n#| run-in: browser\n%sx = 1\n```\n"
    assert one(cell % "", "browser: {timeout: 2.5}\n")["timeout"] == "2.5"
    assert one(cell % "#| timeout: 90\n", "browser: {timeout: 2.5}\n")["timeout"] == "90"


def test_the_seed_of_a_recorded_cell_is_told() -> None:
    cell = "```python\n#| run-in: both\n#| seed: 7\nx = 1\n```\n"
    assert one(cell)["seed"] == "7"
    assert one(f"---\nexecute: {{seed: 3}}\n---\n{cell.replace('#| seed: 7' + chr(10), '')}")["seed"] == "3"
    assert "seed" not in one(cell.replace("#| seed: 7\n", ""))


def test_what_a_build_would_hide_or_suffer_is_told() -> None:
    cell = "```python\n#| run-in: both\n%sx = 1\nx == 1\n```\n"
    assert one(cell % "#| warning: false\n")["warning"] == "false"
    assert one("---\nexecute: {warning: false}\n---\n" + cell % "")["warning"] == "false"
    assert one(cell % "#| error: true\n")["error"] == "true"
    assert one(cell % "#| claim: It is one.\n")["claim"] == "true"
    assert not {"warning", "error", "claim"} & one(cell % "").keys()


def test_what_an_author_writes_is_escaped_and_never_twice() -> None:
    start = '<div class="runnable" data-session="a&quot;b" data-pyodide="//evil" data-mine="1" id="try">'
    html = render(BLOCK.format("x = 1").replace('<div class="runnable">', start)).html
    (tag,) = re.findall(r'<div class="runnable"[^>]*>', html)
    assert 'data-session="a&quot;b"' in tag
    assert tag.count("data-pyodide=") == 1
    assert "evil" not in tag
    assert ' data-mine="1" id="try" data-lang="python"' in tag


@each_row(
    "post",
    [
        "```python\nx = 1\n```\n",
        "```python eval\nx = 1\n```\n",
        "```python\n#| run-in: browser\n#| eval: false\nx = 1\n```\n",
        "---\nexecute: off\n---\n```python\n#| run-in: both\nx = 1\n```\n",
        "```python\n#| run-in: both\n#| echo: false\nx = 1\n```\n",
        '<div class="runnable">\n\ntext\n\n</div>\n',
        '<div class="runnable">\n\n```r\nx\n```\n\n</div>\n',
    ],
)
def test_nothing_to_run_needs_no_script(post: str) -> None:
    rendered = render(post)
    assert data(rendered.html) == []
    assert "run-button" not in rendered.html
    assert "runnable" not in rendered.body.widgets


@pytest.mark.parametrize("post", [BLOCK.format("x = 1"), "```python\n#| run-in: both\nx = 1\n```\n"])
def test_what_strangers_write_is_only_shown(post: str) -> None:
    assert data(render(post).html)
    rendered = render(post, "markup: {untrusted: true}\n")
    assert data(rendered.html) == [] and "run-button" not in rendered.html
    assert "runnable" not in rendered.body.widgets


def test_a_cell_that_is_not_evaluated_runs_in_its_block() -> None:
    block = BLOCK.format("#| eval: false\nx = 1")
    assert one(block)["line"] == "5"


def test_blocks_in_blocks_run_once() -> None:
    inner = BLOCK.format("x = 1")
    rendered = render(f'<div class="runnable">\n\n{inner}\n</div>\n')
    assert len(data(rendered.html)) == 1
    assert [found.code for found in rendered.diagnostics] == ["cell-browser"]


def test_modules_without_a_package_are_told() -> None:
    assert codes(BLOCK.format("import torch")) == ["cell-browser"]
    assert codes(BLOCK.format("from blogsmith.lab import attention")) == ["cell-browser"]
    assert codes(BLOCK.format("import micropip\nawait micropip.install('einops')\nimport einops")) == []
    assert codes(BLOCK.format("import einops"), "browser: {packages: [micropip]}\n") == []
    assert codes(BLOCK.format("import js, pyodide.http, sqlite3, annotationlib, _thread")) == []
    both = "```python\n#| run-in: both\nimport torch\n```\n"
    assert codes(both) == ["cell-browser"]
    assert codes(both.replace("run-in: both", "echo: true")) == []


def test_code_of_blocks_is_python() -> None:
    assert codes(BLOCK.format("x = (")) == ["cell-syntax"]
    assert codes(BLOCK.format("!pip install x")) == ["cell-magic"]
    assert codes(BLOCK.format("await f()")) == []
    assert codes("```python\n#| run-in: both\nx = (\n```\n") == ["cell-syntax"], "told once"


@each_row(
    ("folder", "is_fine"),
    [
        ("cdn", True),
        ("static/pyodide", True),
        ("static/a/b/", True),
        ("static", False),
        ("static/", False),
        ("pyodide", False),
        ("/static/x", False),
        ("static/../x", False),
        ("static/.x", False),
        ("static/x?y", False),
        ("static//x", False),
        ("https://example.org/", False),
        ("", False),
    ],
)
def test_where_python_may_come_from(folder: str, is_fine: bool) -> None:
    loaded = parse_config(f'browser: {{pyodide: "{folder}"}}\n')
    assert (loaded.diagnostics == ()) == is_fine
    assert loaded.config.browser.pyodide == (folder if is_fine else "cdn")


# a folder of the site's own


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a site below a path, with a copy of Pyodide and two pages; one of them runs code."""
    pin_stub(monkeypatch)
    write_stub(tmp_path / "static" / "py thon")
    settings = "base_url: https://example.org/blog\nbrowser: {pyodide: static/py thon}\n"
    (tmp_path / "blogsmith.yaml").write_text(settings, encoding="utf-8")
    posts = tmp_path / "content" / "posts"
    posts.mkdir(parents=True)
    code = "```python\n#| run-in: browser\nimport scipy\n```\n"
    (posts / "a.md").write_text(f"---\ntitle: A\ndate: 2026-03-01\n---\n\n{code}", encoding="utf-8")
    (posts / "b.md").write_text("---\ntitle: B\ndate: 2026-03-01\n---\n\nText.\n", encoding="utf-8")
    return tmp_path


def tree(folder: Path) -> dict[str, bytes]:
    """Return path → bytes of every file below `folder`."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_a_site_serves_its_own_copy(root: Path) -> None:
    report = build(root)
    assert printed(report) == ""
    files = tree(root / "public")
    assert files["py thon/python_stdlib.zip"] == (root / "static/py thon/python_stdlib.zip").read_bytes()
    (block,) = data(files["posts/a/index.html"].decode())
    lock_size = (root / "static" / "py thon" / LOCK).stat().st_size
    core = sum((root / "static" / "py thon" / name).stat().st_size for name in CORE)
    wheels = sum(len(wheel(name)) for name in ("scipy", "numpy", "libopenblas"))
    assert block["pyodide"] == "/blog/py%20thon/"
    assert block["packages"] == "scipy"
    assert block["bytes"] == str(core + lock_size + wheels)


def test_only_a_page_that_needs_it_has_the_script(root: Path) -> None:
    assert build(root).ok
    files = tree(root / "public")
    pages = {name: text.decode() for name, text in files.items() if name.endswith(".html")}
    scripts = {name: re.findall(r'<script[^>]* src="[^"]*/(\w+)\.js', text) for name, text in pages.items()}
    assert "run" in scripts.pop("posts/a/index.html")
    assert not any("run" in found for found in scripts.values())


def test_building_again_gives_the_same_bytes(root: Path) -> None:
    assert build(root).ok
    first = tree(root / "public")
    report = build(root)
    assert (report.written, report.removed) == (0, 0)
    post = root / "content" / "posts" / "a.md"
    text = post.read_text(encoding="utf-8")
    post.write_text(text.replace("import scipy", "import numpy"), encoding="utf-8")
    assert build(root).written
    assert tree(root / "public") != first
    post.write_text(text, encoding="utf-8")
    assert build(root).ok
    assert tree(root / "public") == first


def test_a_folder_counts_only_for_code_that_runs(root: Path) -> None:
    (root / "static" / "py thon" / "pyodide.mjs").unlink()
    report = build(root)
    assert [found.code for found in report.diagnostics] == ["pyodide-folder"]
    (root / "content" / "posts" / "a.md").unlink()
    assert build(root).diagnostics == ()


def test_a_package_that_is_not_copied_is_told_at_its_import(root: Path) -> None:
    lock = stub_lock()
    del lock["packages"]["scipy"], lock["packages"]["pandas"]
    write_stub(root / "static" / "py thon", lock)
    (found,) = build(root).diagnostics
    assert (found.code, found.severity, found.path) == ("pyodide-folder", "error", "content/posts/a.md")
    assert found.message == 'package not found in "static/py thon": "scipy"'
    post = root / "content" / "posts" / "a.md"
    text = post.read_text(encoding="utf-8")
    guarded = "try:\n    import scipy\nexcept ImportError:\n    pass"
    post.write_text(text.replace("import scipy", guarded), encoding="utf-8")
    assert build(root).diagnostics == ()


def test_packages_of_a_site_s_own_are_found(root: Path) -> None:
    lock = stub_lock(mine={"imports": ["mine"], "file_name": file_name("numpy")})
    write_stub(root / "static" / "py thon", lock)
    post = root / "content" / "posts" / "a.md"
    post.write_text(post.read_text(encoding="utf-8").replace("scipy", "mine"), encoding="utf-8")
    assert build(root).diagnostics == ()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (LOCK, b"{}", f'invalid "static/py thon/{LOCK}": missing "packages" or "info"'),
        ("pyodide.mjs", b"x", '"static/py thon" is not from Pyodide 314.0.7: size differs for pyodide.mjs'),
        (file_name("numpy"), None, f'missing in "static/py thon": {file_name("numpy")}'),
    ],
)
def test_what_a_folder_lacks_is_told(root: Path, name: str, content: bytes | None, message: str) -> None:
    file = root / "static" / "py thon" / name
    file.unlink() if content is None else file.write_bytes(content)
    assert open_distribution("static/py thon", root, "").problems == (message,)


def test_the_cdn_tells_no_sizes_of_packages() -> None:
    assert Distribution().transfer_bytes(["numpy"]) == CORE_TRANSFER_BYTES
    assert Distribution().has("anything")


# elsewhere


def test_feeds_have_neither_button_nor_data() -> None:
    block = render(BLOCK.format("x = 1").replace('"runnable"', '"runnable wide" id="try"')).html
    cell = render("```python\n#| run-in: browser\nx = 1\n```\n").html
    found = feed_html(
        replace(BARE, body=PageText.from_string(block + cell)), Config(base_url="https://example.org")
    )
    assert (
        '<div class="runnable wide" id="try">\n<figure class="code" data-lang="python" aria-label="python">'
        in found
    )
    assert '<div class="runnable">\n<figure class="code" data-lang="python" aria-label="python">' in found
    assert "run-button" not in found
    assert "pyodide" not in found
