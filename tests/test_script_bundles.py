"""Script bundles of a theme for a group of pages: scripts stay separate; names depend on the content."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from blogsmith.render.templates.theme import Theme, load_theme
from tests.browser.tools import program
from tests.rows import each_row
from tests.site_files import build, printed, put
from tests.test_theme import page, site, write

ROOT = Path(__file__).parent.parent
PARENT: dict[str, str] = {
    "themes/parent/theme.yaml": """\
scripts:
  - every.js
  - {file: a.js, for: posts}
  - {file: b.js, for: [posts, lists]}
""",
    "themes/parent/static/every.js": "every",
    "themes/parent/static/a.js": "one // remark",
    "themes/parent/static/b.js": "two\n",
    "themes/parent/layouts/post.html": (
        "{{ head.bundles.posts }} {{ head.bundles.lists }} {{ head.scripts[0] }}"
    ),
}
CHILD = {**PARENT, "themes/child/theme.yaml": "extends: parent\n"}


def child(root: Path, files: dict[str, str] | None = None) -> Theme:
    return load_theme("child", write(root, {**CHILD, **(files or {})}), ROOT / "themes")


def test_joined_in_the_order_of_the_theme(tmp_path: Path) -> None:
    theme = child(tmp_path)
    assert {group: bundle.text() for group, bundle in theme.bundles.items()} == {
        "posts": b"try{one // remark\n}catch(e){reportError(e)}\ntry{two\n}catch(e){reportError(e)}\n",
        "lists": b"try{two\n}catch(e){reportError(e)}\n",
    }


@each_row(
    ("files", "has_lists"),
    [
        # a script of the child replaces the parent's
        ({"themes/child/static/a.js": "mine"}, True),
        # and one that it adds to those of the parent
        ({"themes/child/theme.yaml": "extends: parent\nscripts: [{file: every.js, for: posts}]\n"}, True),
        # one for every page, in a separate file
        ({"themes/child/theme.yaml": "extends: parent\nscripts: [b.js]\n"}, False),
    ],
)
def test_a_theme_changes_those_of_its_parent(tmp_path: Path, files: dict[str, str], has_lists: bool) -> None:
    names = {theme.bundles["posts"].path() for theme in (child(tmp_path / "0"), child(tmp_path / "0"))}
    changed = child(tmp_path / "1", files)
    assert len(names | {changed.bundles["posts"].path()}) == 2
    assert ("lists" in changed.bundles) == has_lists


def test_layouts_have_the_addresses(tmp_path: Path) -> None:
    theme = child(tmp_path)
    posts, lists, every = theme.render("post", page(), site()).split()
    assert posts == f"/{theme.bundles['posts'].path()}"
    assert re.fullmatch(r"/assets/child/lists-[0-9a-f]{10}\.js", lists)
    assert every.startswith("/assets/child/every.js?v=")


@each_row("script", ['import { x } from "./x.js";', "load(import.meta.url);", "export {};"])
def test_a_script_that_imports_stands_alone(tmp_path: Path, script: str) -> None:
    theme = child(tmp_path, {"themes/child/static/a.js": script})
    assert set(theme.bundles) == {"lists"}


def test_a_script_that_imports_later_can_be_joined(tmp_path: Path) -> None:
    theme = child(tmp_path, {"themes/child/static/a.js": 'const load = () => import("./x.js");'})
    assert set(theme.bundles) == {"posts", "lists"}


def test_each_script_runs_for_itself(tmp_path: Path) -> None:
    """Their names do not collide, and an error in one stops no other; it is reported as if alone."""
    files = {
        "themes/child/static/a.js": "const name = 1;\nfunction f() { return name; }\nnone();\n",
        "themes/child/static/b.js": "const name = 2;\nfunction f() { return name; }\nseen.push(f());\n",
    }
    bundle = child(tmp_path, files).bundles["posts"]
    text = (
        b"globalThis.seen = []; globalThis.reportError = (error) => seen.push(error.name);\n"
        + bundle.text()
        + b"console.log(JSON.stringify(seen));\n"
    )
    command = [program("node"), "--input-type=module", "-"]
    done = subprocess.run(command, input=text, capture_output=True, check=True)
    assert json.loads(done.stdout) == ["ReferenceError", 2]


SITE = {
    "blogsmith.yaml": "title: Site\ntheme: mine\n",
    "themes/mine/theme.yaml": "extends: paper\n",
    "content/posts/a.md": "---\ntitle: A\ndate: 2026-01-01\n---\n\n$$ x $$ {#eq:x}\n\nSee {@eq:x}.\n",
    "content/posts/b.md": "---\ntitle: B\ndate: 2026-01-02\n---\n\nNote[^1].\n\n[^1]: Below.\n",
}


def scripts(root: Path, name: str) -> list[str]:
    html = (root / "public" / "posts" / name / "index.html").read_text()
    names = re.findall(r'<script type="module" src="/assets/mine/([^"]*)" fetchpriority="low">', html)
    # a bundle has the digest of its content in its name
    return [re.sub(r"-[0-9a-f]{6,}", "-", name.partition(".")[0]) for name in names]


def test_a_page_that_needs_three_has_one_file(tmp_path: Path) -> None:
    root = put(tmp_path, SITE)
    report = build(root)
    assert report.ok, printed(report)
    assert scripts(root, "a") == ["posts-"]
    assert scripts(root, "b") == ["preview"]
    (joined,) = root.glob("public/assets/mine/posts-*.js")
    assert joined.read_bytes().count(b"try{") >= 6


def test_where_they_cannot_be_joined_each_stands_alone(tmp_path: Path) -> None:
    root = put(tmp_path, {**SITE, "themes/mine/static/spy.js": 'import "./other.js";\n'})
    report = build(root)
    assert report.ok, printed(report)
    assert scripts(root, "a") == ["copy", "selection", "scroll", "preview"]


def test_incremental_builds_are_clean_builds(tmp_path: Path) -> None:
    """A script of a site that replaces ours, saved, and removed."""
    root = put(tmp_path / "one", SITE)
    assert build(root).ok
    seen = set()
    for number, text in enumerate(("first();\n", "second();\n", "")):
        own = root / "themes/mine/static/copy.js"
        if text:
            put(root, {"themes/mine/static/copy.js": text})
        else:
            own.unlink()
        assert build(root).ok
        files = {**SITE, "themes/mine/static/copy.js": text} if text else SITE
        clean = put(tmp_path / f"clean-{number}", files)
        assert build(clean).ok
        assert _bytes(root / "public") == _bytes(clean / "public")
        (joined,) = root.glob("public/assets/mine/posts-*.js")
        seen.add(joined.name)
    assert len(seen) == 3


def _bytes(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
