"""Plugins: their imports, their additions, and error messages if they fail."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from blogsmith import hooks as public_hooks
from blogsmith.base.diagnostics.model import Diagnostic, SiteError
from blogsmith.hooks import Hooks, Plugins
from blogsmith.hooks.calls import convert_plugin_errors
from blogsmith.hooks.loader import load_plugins
from blogsmith.project.bundled_folders import bundled_folder
from tests.rows import each_row
from tests.site_files import SiteText, build_text

BUNDLED = sorted(bundled_folder("plugins").glob("*.py"))
POST = b"---\ntitle: A\ndate: 2026-03-01\n---\n\n"


def write(folder: Path, **plugins: str) -> Path:
    """Write a folder of plugins, name → code."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, code in plugins.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    return folder


def failure(folder: Path, name: str) -> Diagnostic:
    with pytest.raises(SiteError) as caught:
        load_plugins([name], [folder])
    (found,) = caught.value.diagnostics
    return found


def html_of(root: Path, files: dict[str, str], body: str, name: str = "mine") -> str:
    """Return the page of a post in a trusted site with the plugin `mine`."""
    texts = {path: text.encode() for path, text in files.items()}
    texts |= {"blogsmith.yaml": f"plugins: [{name}]\n".encode(), "content/posts/a.md": POST + body.encode()}
    report = build_text(SiteText(texts, "", "", trusted=True), root)
    assert report.ok, report.diagnostics
    return (root / "public" / "posts" / "a" / "index.html").read_text("utf-8")


def problems(root: Path, code: str, body: str) -> Diagnostic:
    """Return the only error of a trusted site with a post and the plugin `mine`."""
    texts = {"blogsmith.yaml": b"plugins: [mine]\n", "content/posts/a.md": POST + body.encode()}
    report = build_text(SiteText({**texts, "plugins/mine.py": code.encode()}, "", "", trusted=True), root)
    (found,) = report.diagnostics
    return found


class TestBundled:
    def test_there_are_some(self) -> None:
        assert {file.stem for file in BUNDLED} >= {"emoji_callouts", "graphviz", "hf_space", "mermaid"}

    @each_row("file", BUNDLED, ids=lambda file: file.stem)
    def test_uses_public_hooks_only(self, file: Path) -> None:
        tree = ast.parse(file.read_text("utf-8"))
        imported = [
            name
            for node in ast.walk(tree)
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or "."] if isinstance(node, ast.ImportFrom) else []
            )
        ]  # fmt: skip
        named = [
            (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module == "blogsmith.hooks"
            for alias in node.names
        ]
        # the types of arguments of plugins; all other parts of blogsmith are private
        assert set(named) <= {("blogsmith.hooks", name) for name in public_hooks.__all__}
        ours = [name for name in imported if name.split(".")[0] in ("blogsmith", "")]
        assert set(ours) <= {"blogsmith.hooks"}
        used = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "hooks"
        }
        assert used and used <= {name for name in dir(Hooks) if not name.startswith("_")}

    @each_row("file", BUNDLED, ids=lambda file: file.stem)
    def test_says_what_it_is_for(self, file: Path) -> None:
        assert ast.get_docstring(ast.parse(file.read_text("utf-8")))

    def test_every_hook_is_used_or_documented(self) -> None:
        manual = (bundled_folder("plugins").parent / "content" / "docs" / "plugins.md").read_text("utf-8")
        for name in (name for name in dir(Hooks) if not name.startswith("_")):
            assert re.search(rf"hooks\.{name}|`{name}`", manual), name

    def test_all_load_together(self) -> None:
        names = [file.stem for file in BUNDLED]
        plugins = load_plugins(names, [bundled_folder("plugins")])
        assert plugins.names == tuple(names)
        assert "insight" in {kind.name for kind in plugins.kinds}
        assert plugins.block_divs["hf-space"] == "hf-space"


class TestBundledPlugins:
    """Features of the bundled plugins without a test file of their own."""

    def test_cloudflare_redirects(self, tmp_path: Path) -> None:
        texts = {
            "blogsmith.yaml": "title: T\nbase_url: https://example.org/b\nplugins: [cloudflare_redirects]\n",
            "content/posts/a.md": "---\ntitle: A\naliases: [/old/, /2019/a.html]\n---\n\nText.\n",
        }
        report = build_text(SiteText({path: text.encode() for path, text in texts.items()}, "", ""), tmp_path)
        assert report.ok, report.diagnostics
        assert (tmp_path / "public/_redirects").read_text("utf-8") == (
            "/b/old/ /b/posts/a/ 301\n/b/2019/a.html /b/posts/a/ 301\n"
        )

    def test_folder_tags(self, tmp_path: Path) -> None:
        post = "---\ntitle: A\ndate: 2026-03-01\ntags: [Kernels, own]\n---\n\nText\n"
        paths = (
            "content/posts/attention/kernels/a.md",
            "content/posts/bundle/index.md",
            "content/posts/b.md",
        )
        texts = {"blogsmith.yaml": "plugins: [folder_tags]\n", **dict.fromkeys(paths, post)}
        report = build_text(SiteText({path: text.encode() for path, text in texts.items()}, "", ""), tmp_path)
        assert report.ok, report.diagnostics
        tags = sorted(folder.name for folder in (tmp_path / "public/tags").iterdir() if folder.is_dir())
        assert tags == ["attention", "kernels", "own"]

    def test_external_links(self, tmp_path: Path) -> None:
        html = html_of(
            tmp_path, {}, "[out](https://example.org/) and [here](#x)\n\n## X {#x}\n", name="external_links"
        )
        assert '<a href="https://example.org/" rel="external">out</a>' in html
        assert '<a href="#x">here</a>' in html


class TestEveryHook:
    def test_page_read(self, tmp_path: Path) -> None:
        code = (
            "import dataclasses\n\n\ndef register(hooks):\n    @hooks.page_read\n    def read(document):\n"
            "        if 'never' in document.body:\n            raise ValueError('never is no word')\n"
            "        return dataclasses.replace(document, body=document.body.replace('teh', 'the'))\n"
        )
        assert "<p>the text</p>" in html_of(tmp_path / "a", {"plugins/mine.py": code}, "teh text\n")
        found = problems(tmp_path / "b", code, "never\n")
        assert (found.code, found.message, found.path) == (
            *("plugin", 'plugin "mine": never is no word'),
            "content/posts/a.md",
        )

    @pytest.mark.parametrize(
        ("hook", "result", "message"),
        [
            (
                "page_read",
                "None",
                'invalid result of "page_read" in plugin "mine": expected a document of this page',
            ),
            (
                "page_rendered",
                "None",
                'invalid result of "page_rendered" in plugin "mine": expected a string',
            ),
            (
                "site_outputs",
                "{'../x': ''}",
                'plugin "mine": invalid path "../x": expected a path in the output folder',
            ),
            (
                "site_outputs",
                "{'/etc/x': ''}",
                'plugin "mine": invalid path "/etc/x": expected a path in the output folder',
            ),
            ("site_outputs", "1 / 0", 'plugin "mine" fails: ZeroDivisionError: division by zero'),
            (
                "site_outputs",
                "{'a.txt': lambda: 1 / 0}",
                'plugin "mine" fails: ZeroDivisionError: division by zero',
            ),
            (
                "site_outputs",
                "{'posts/a/index.html': ''}",
                '"content/posts/a.md" and a file of plugin "mine" have the same output file'
                ' "posts/a/index.html"',
            ),
        ],
    )
    def test_what_hooks_may_not_give(self, tmp_path: Path, hook: str, result: str, message: str) -> None:
        code = f"def register(hooks):\n    @hooks.{hook}\n    def f(*given):\n        return {result}\n"
        assert problems(tmp_path, code, "Text\n").message == message

    def test_page_rendered(self, tmp_path: Path) -> None:
        code = (
            "def register(hooks):\n    @hooks.page_rendered\n    def add(html, document):\n"
            "        return f'{html}<p>of {document.front.title}</p>'\n"
        )
        assert "<p>Text</p>\n<p>of A</p>" in html_of(tmp_path, {"plugins/mine.py": code}, "Text\n")

    def test_site_outputs(self, tmp_path: Path) -> None:
        code = (
            "def register(hooks):\n    @hooks.site_outputs\n    def files(site):\n"
            "        urls = [page.url for page in site.pages if page.path]\n"
            "        return {'data/urls.txt': '\\n'.join(urls), 'x.bin': lambda: b'\\0'}\n"
        )
        html_of(tmp_path, {"plugins/mine.py": code}, "Text\n")
        assert (tmp_path / "public/data/urls.txt").read_text("utf-8") == "/posts/a/"
        assert (tmp_path / "public/x.bin").read_bytes() == b"\0"

    def test_callout_kind(self, tmp_path: Path) -> None:
        code = 'def register(hooks):\n    hooks.callout_kind("Aside", "By the way", alias=["btw"])\n'
        html = html_of(tmp_path, {"plugins/mine.py": code}, "> [!BTW]\n> Text\n")
        assert 'class="callout callout-aside" data-kind="aside"' in html and ">By the way</p>" in html

    def test_prefix(self, tmp_path: Path) -> None:
        code = 'def register(hooks):\n    hooks.callout_kind("aside", "Aside", prefix="Psst:")\n'
        html = html_of(tmp_path, {"plugins/mine.py": code}, "Psst: a **secret**\n")
        assert "<p>a <strong>secret</strong></p>" in html and "Psst" not in html

    def test_markdown(self, tmp_path: Path) -> None:
        code = (
            "def shout(state):\n"
            "    for token in state.tokens:\n"
            "        for child in token.children or ():\n"
            "            child.content = child.content.upper()\n\n"
            "def register(hooks):\n"
            "    @hooks.markdown\n"
            "    def rule(md):\n"
            '        md.core.ruler.push("shout", shout)\n'
        )
        assert "<p>LOUD</p>" in html_of(tmp_path, {"plugins/mine.py": code}, "loud\n")

    def test_block_div_and_shortcode_data(self, tmp_path: Path) -> None:
        code = (
            "def register(hooks):\n"
            '    hooks.block_div("card", "card")\n\n'
            '    @hooks.shortcode_data("card")\n'
            "    def card(args, document):\n"
            '        return {"text": args["text"] + " in " + str(document.path)}\n'
        )
        files = {"plugins/mine.py": code, "plugins/shortcodes/card.html": "<p>{{ text }}</p>\n"}
        body = '<div class="card" data-text="<i>"></div>\n\n{% card text="b" %}\n'
        html = html_of(tmp_path, files, body)
        assert "<p>&lt;i&gt; in content/posts/a.md</p>" in html and "<p>b in content/posts/a.md</p>" in html

    def test_a_site_overrides_a_plugins_template(self, tmp_path: Path) -> None:
        files = {
            "plugins/mine.py": "def register(hooks):\n    pass\n",
            "plugins/shortcodes/card.html": "<p>plugin</p>\n",
            "shortcodes/card.html": "<p>site</p>\n",
        }
        assert "<p>site</p>" in html_of(tmp_path, files, "{% card %}\n")


class TestLoading:
    def test_nothing_is_loaded_unasked(self, tmp_path: Path) -> None:
        write(tmp_path, bad="raise SystemError('ran')")
        assert load_plugins([], [tmp_path]) == Plugins()

    def test_the_first_folder_wins(self, tmp_path: Path) -> None:
        one = write(tmp_path / "1", x='def register(hooks):\n    hooks.callout_kind("one", "One")\n')
        two = write(tmp_path / "2", x='def register(hooks):\n    hooks.callout_kind("two", "Two")\n')
        assert [kind.name for kind in load_plugins(["x"], [one, two]).kinds] == ["one"]

    @pytest.mark.parametrize(
        ("code", "message", "line"),
        [
            ("def register(hooks)\n    pass\n", "SyntaxError: expected ':'", 1),
            ("x = 1\n\nraise ValueError('no')\n", "ValueError: no", 3),
            ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'", 1),
            ("def f():\n    return 1 / 0\n\ndef register(hooks):\n    f()\n", "ZeroDivisionError", 2),
            ("def register(hooks):\n    hooks.callout('x')\n", "no attribute 'callout'", 2),
        ],
    )
    def test_a_failure_points_into_the_plugin(
        self, tmp_path: Path, code: str, message: str, line: int
    ) -> None:
        found = failure(write(tmp_path, mine=code), "mine")
        assert (found.code, found.path) == ("plugin", "plugins/mine.py")
        assert found.message.startswith('plugin "mine" fails to load: ') and message in found.message
        assert found.place is not None and found.place.line == line
        assert found.source_line == code.split("\n")[line - 1]

    def test_misspelt_hook(self, tmp_path: Path) -> None:
        code = "def register(hooks):\n    hooks.callout_kinds('x', 'X')\n"
        assert failure(write(tmp_path, mine=code), "mine").hint == "did you mean `callout_kind`?"

    @pytest.mark.parametrize("code", ["", "register = 1\n", "def setup(hooks):\n    pass\n"])
    def test_without_register(self, tmp_path: Path, code: str) -> None:
        found = failure(write(tmp_path, mine=code), "mine")
        assert found.message == 'missing function "register" in plugin "mine"'

    def test_missing(self, tmp_path: Path) -> None:
        folder = write(tmp_path, cards="", maps="")
        assert failure(folder, "card").hint == "did you mean `cards`?"
        assert failure(folder, "zzz").hint == "write one of `cards`, `maps`"


class TestBlame:
    def test_our_own_bugs_pass_through(self) -> None:
        with pytest.raises(ZeroDivisionError), convert_plugin_errors(Plugins()):
            print(1 / 0)

    def test_an_authors_mistakes_pass_through(self) -> None:
        mistake = SiteError(Diagnostic("slug", "wrong"))
        with pytest.raises(SiteError) as caught, convert_plugin_errors(Plugins()):
            raise mistake
        assert caught.value is mistake

    def test_a_plugin_is_named(self, tmp_path: Path) -> None:
        code = "def register(hooks):\n    @hooks.markdown\n    def rule(md):\n        md.missing()\n"
        plugins = load_plugins(["mine"], [write(tmp_path, mine=code)])
        with pytest.raises(SiteError) as caught, convert_plugin_errors(plugins):
            plugins.markdown_rules[0](MarkdownIt())
        (found,) = caught.value.diagnostics
        assert found.message.startswith('plugin "mine" fails: AttributeError')
        assert (found.path, found.place and found.place.line) == ("plugins/mine.py", 4)


@pytest.mark.parametrize("code", ["import sys\nsys.exit('enough')\n", "raise SystemExit(3)\n"])
def test_a_plugin_cannot_end_the_program(tmp_path: Path, code: str) -> None:
    found = failure(write(tmp_path, mine=code), "mine")
    assert found.path == "plugins/mine.py"
    assert "SystemExit" in found.message


def test_a_plugin_that_ends_while_a_page_is_made(tmp_path: Path) -> None:
    function = "    @hooks.shortcode_data('x')\n    def x(args, document):\n        sys.exit()\n"
    code = f"import sys\ndef register(hooks):\n{function}"
    plugins = load_plugins(["mine"], [write(tmp_path, mine=code)])
    _, data = plugins.shortcode_data["x"]
    with pytest.raises(SiteError), convert_plugin_errors(plugins):
        data({}, None)  # type: ignore[arg-type]


def test_a_signal_passes_through(tmp_path: Path) -> None:
    plugins = load_plugins(["mine"], [write(tmp_path, mine="def register(hooks): pass\n")])
    with pytest.raises(SystemExit), convert_plugin_errors(plugins):
        raise SystemExit(143)
