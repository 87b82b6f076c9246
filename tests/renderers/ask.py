"""Asks the renderers of other systems which formulas they hand to MathJax or KaTeX.

`make renderers` writes `answers.txt`; read the difference. It installs the renderers of PyPI and npm.
Node.js, Pandoc, and Ruby with kramdown-parser-gfm must be installed. Missing renderers keep their answers.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from html import escape
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

from tests.renderers.cases import ANSWERS, Formula, read_answers, read_cases, write_answers

_DOLLARS = {"inline": [["$", "$"], ["\\(", "\\)"]]}
_BRACKETS = {"inline": [["\\(", "\\)"]]}
_RUBY = r"""
require "json"; require "kramdown"; require "kramdown-parser-gfm"
texts = JSON.parse($stdin.read)
puts JSON.generate(texts.map { |text| Kramdown::Document.new(text, input: "GFM", hard_wrap: false).to_html })
"""
_PASSTHROUGH = """
[markup.goldmark.extensions.passthrough]
enable = true
[markup.goldmark.extensions.passthrough.delimiters]
block = [['\\[', '\\]'], ['$$', '$$']]
inline = [['\\(', '\\)']]
"""
_ARITHMATEX = (
    *("admonition", "attr_list", "def_list", "footnotes", "md_in_html", "tables"),
    *("pymdownx.superfences", "pymdownx.arithmatex"),
)
Pages = list[str]


class _Writer(HTMLParser):
    """Writes a page as strict HTML with classes as only attributes, which MathJax's parser requires."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append(f'<{tag} class="{escape(dict(attrs).get("class") or "")}">')
        if tag not in ("br", "hr", "img", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while tag in self.open:
            self.parts.append(f"</{self.open[-1]}>")
            if self.open.pop() == tag:
                break

    def handle_data(self, data: str) -> None:
        self.parts.append(escape(data, quote=False))


def _strict_html(page: str) -> str:
    writer = _Writer()
    # the sidebar of Sphinx repeats headings
    writer.feed(page.partition('role="main">')[2].partition('<div class="sphinxsidebar"')[0] or page)
    writer.close()
    closed = (f"</{tag}>" for tag in reversed(writer.open))
    return "".join(("<html><body>", *writer.parts, *closed, "</body></html>"))


def _run(command: Sequence[str], text: str) -> str:
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def ask_kramdown(texts: Pages) -> Pages:
    """Return the pages of Jekyll's converter."""
    pages: Pages = json.loads(_run(["ruby", "-Ku", "-e", _RUBY], json.dumps(texts)))
    return pages


def ask_pandoc(texts: Pages) -> Pages:
    """Return the pages of Quarto's converter."""
    return [_run(["pandoc", "--from=markdown", "--to=html", "--mathjax"], text) for text in texts]


def ask_python_markdown(texts: Pages) -> Pages:
    """Return the pages of MkDocs with Material's settings for formulas."""
    markdown = import_module("markdown")
    settings = {"pymdownx.arithmatex": {"generic": True}}
    pages: Pages = [
        markdown.markdown(text, extensions=_ARITHMATEX, extension_configs=settings) for text in texts
    ]
    return pages


def ask_sphinx(texts: Pages) -> Pages:
    """Return the pages of Sphinx with myst-parser."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        settings = ['myst_enable_extensions = ["dollarmath", "amsmath"]', "myst_dmath_double_inline = True"]
        (root / "conf.py").write_text("\n".join(['extensions = ["myst_parser"]', *settings]))
        (root / "index.md").write_text("# Index\n")
        for number, text in enumerate(texts):
            (root / f"c{number}.md").write_text(f"# Title\n\n{text}")
        _run([sys.executable, "-m", "sphinx", "-q", name, str(root / "out")], "")
        return [(root / f"out/c{number}.html").read_text() for number in range(len(texts))]


def ask_goldmark(texts: Pages, hugo: str, settings: str) -> Pages:
    """Return the pages of Hugo."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        unsafe = "disableKinds = ['taxonomy', 'term', 'rss']\n[markup.goldmark.renderer]\nunsafe = true\n"
        (root / "hugo.toml").write_text(unsafe + settings)
        (root / "layouts/_default").mkdir(parents=True)
        (root / "layouts/_default/single.html").write_text("{{ .Content }}")
        (root / "content").mkdir()
        for number, text in enumerate(texts):
            (root / f"content/c{number}.md").write_text(f"---\ntitle: c\n---\n{text}")
        _run([hugo, "--quiet", "--source", name], "")
        return [(root / f"public/c{number}/index.html").read_text() for number in range(len(texts))]


def main(modules: str, hugo: str) -> None:
    """Write the answers of all renderers that are installed."""
    cases = read_cases()
    texts = [case.text for case in cases]

    def find(request: Mapping[str, object]) -> list[list[Formula]]:
        finder = str(Path(__file__).with_name("find_tex.mjs"))
        found = json.loads(_run(["node", finder, modules], json.dumps(request)))
        return [[Formula(kind, " ".join(tex.split())) for kind, tex in page] for page in found]

    def pages(convert: Callable[[Pages], Pages], settings: Mapping[str, object]) -> list[list[Formula]]:
        return find({"pages": [_strict_html(page) for page in convert(texts)], **settings})

    material = {**_BRACKETS, "ignore": ".*|", "process": "arithmatex"}
    sphinx = {**_BRACKETS, "ignore": "mathjax_ignore", "process": "math"}
    renderers: dict[str, Callable[[], list[list[Formula]]]] = {
        "jekyll": lambda: pages(ask_kramdown, _DOLLARS),
        "hugo": lambda: pages(lambda texts: ask_goldmark(texts, hugo, ""), _DOLLARS),
        "hugo-passthrough": lambda: pages(lambda texts: ask_goldmark(texts, hugo, _PASSTHROUGH), _BRACKETS),
        "mkdocs": lambda: pages(ask_python_markdown, material),
        "quarto": lambda: pages(ask_pandoc, _BRACKETS),
        "sphinx": lambda: pages(ask_sphinx, sphinx),
        "mystmd": lambda: find({"myst": texts}),
    }
    answers = read_answers() if ANSWERS.exists() else {}
    for system, ask in renderers.items():
        try:
            found = ask()
        except (OSError, ImportError, subprocess.CalledProcessError) as error:
            print(f"{system}: {error} {getattr(error, 'stderr', '')}")
            continue
        for case, formulas in zip(cases, found, strict=True):
            answers.setdefault(case.name, {})[system] = formulas
    write_answers({case.name: answers.get(case.name, {}) for case in cases})


if __name__ == "__main__":
    if shutil.which("node") is None:
        sys.exit("node is missing")
    main(*sys.argv[1:])
