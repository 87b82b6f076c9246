"""The generators whose builds are measured: blogsmith and the installed rivals.

Every site does the same work: formulas to MathML, code highlighting, callouts, footnotes, a table of
contents and neighbours for each post, a page for each tag, lists of all posts, a feed, a sitemap. Blogsmith
also does labels, link checks, feeds of tags, related posts, fonts and its whole theme.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

OURS = "blogsmith"
ELEVENTY = "eleventy"
HUGO = "hugo"
MATERIAL = "material"
ROOT = Path(__file__).parents[2]
PACKAGES = {
    "@11ty/eleventy": "3.1.7",
    "@11ty/eleventy-plugin-rss": "3.0.0",
    "@11ty/eleventy-plugin-syntaxhighlight": "5.0.2",
    "@vscode/markdown-it-katex": "1.1.2",
    "katex": "0.19.1",
    "markdown-it": "15.0.3",
    "markdown-it-anchor": "10.0.0",
    "markdown-it-footnote": "4.0.0",
    "markdown-it-github-alerts": "1.0.1",
    "markdown-it-toc-done-right": "4.2.0",
}
"""npm packages of the Eleventy site, with the versions that are installed if they are missing."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One generator, ready to run in its site's folder."""

    name: str
    command: tuple[str, ...]
    """Command that builds the site; `{root}` is replaced by its folder."""
    version: tuple[str, ...]
    """Command that prints the version."""
    files: Mapping[str, str]
    """Files of the site other than posts: path → content."""
    template: str
    """Path in `files` of the template of posts, which contains `</article>` once."""
    posts: str
    """Folder of the posts."""
    output: str
    """Output folder."""
    caches: tuple[str, ...]
    """Other paths that are kept from one build to the next."""
    address: str = "/posts/{slug}/"
    """Target of a link to a post."""
    start: str = ""
    """Text before the body of each post."""
    modules: Path | None = None
    """Folder of the modules that its settings import."""
    check: tuple[str, ...] = ()
    """Command that checks the site without writing it; empty if there is none."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables in addition to those of this process."""


def blogsmith() -> Subject:
    """Return blogsmith with a theme that extends `paper`, so that its template can be edited."""
    program = Path(sys.executable).with_name("blogsmith")
    command = (str(program),) if program.exists() else (sys.executable, "-m", "blogsmith")
    template = "themes/mine/layouts/post.html"
    files = {
        "blogsmith.yaml": "title: Bench\nbase_url: https://example.org\ntheme: mine\n",
        "themes/mine/theme.yaml": "extends: paper\n",
        template: (ROOT / "themes/paper/layouts/post.html").read_text("utf-8"),
    }
    return Subject(
        OURS,
        (*command, "build"),
        (*command, "--version"),
        files,
        template=template,
        posts="content/posts",
        output="public",
        caches=(".blogsmith",),
        address="{slug}.md",
        check=(*command, "check"),
    )


def hugo(program: str = "") -> Subject | None:
    """Return Hugo with its built-in KaTeX set to MathML; None if it is not on the search path."""
    path = shutil.which(program or "hugo")
    if not path:
        return None
    template = "layouts/page.html"
    files = {
        "hugo.toml": _HUGO,
        "layouts/_markup/render-passthrough.html": _HUGO_FORMULA,
        "layouts/_markup/render-blockquote.html": _HUGO_CALLOUT,
        "layouts/home.html": _page("Bench", _HUGO_LIST.format("(.Paginate site.RegularPages).Pages")),
        "layouts/list.html": _page("{{ .Title }}", _HUGO_LIST.format(".Pages")),
        template: _page("{{ .Title }}", _HUGO_POST),
    }
    return Subject(
        HUGO,
        (path, "--quiet", "--cacheDir", "{root}/.hugo-cache"),
        (path, "version"),
        files,
        template=template,
        posts="content/posts",
        output="public",
        caches=(".hugo-cache", "resources", ".hugo_build.lock"),
    )


def eleventy(folder: Path | None = None) -> Subject | None:
    """Return Eleventy with KaTeX set to MathML; None if it is not installed.

    folder: where `npm install` put `PACKAGES`; by default `.cache`.
    """
    modules = (folder or ROOT / ".cache").absolute() / "node_modules"
    program, node = modules / "@11ty/eleventy/cmd.cjs", shutil.which("node")
    if not node or not program.exists() or not all((modules / name).exists() for name in PACKAGES):
        return None
    template = "_includes/post.njk"
    files = {
        "package.json": '{"name": "bench", "private": true, "type": "module"}\n',
        "eleventy.config.js": _ELEVENTY,
        "src/index.njk": _ELEVENTY_LIST,
        "src/tags.njk": _ELEVENTY_TAGS,
        "src/sitemap.njk": _ELEVENTY_SITEMAP,
        "src/posts/posts.11tydata.js": _ELEVENTY_POSTS,
        "_includes/base.njk": _page("{{ title }}", "{{ content | safe }}"),
        template: f"---\nlayout: base.njk\n---\n{_ELEVENTY_POST}",
    }
    return Subject(
        ELEVENTY,
        (node, str(program), "--quiet"),
        (node, str(program), "--version"),
        files,
        template=template,
        posts="src/posts",
        output="_site",
        caches=(".cache",),
        start="[[toc]]\n\n",
        modules=modules,
    )


def material(program: str = "") -> Subject | None:
    """Return Material for MkDocs, which leaves formulas to a script; None if `mkdocs` is not on the path."""
    path = shutil.which(program or "mkdocs")
    if not path:
        return None
    template = "overrides/main.html"
    post = "<article>{{ page.content }}</article>"
    return Subject(
        MATERIAL,
        (path, "build", "--quiet"),
        (path, "--version"),
        {
            "mkdocs.yml": _MATERIAL,
            template: f'{{% extends "base.html" %}}\n{{% block content %}}{post}{{% endblock %}}\n',
            "docs/index.md": "# Bench\n",
        },
        template=template,
        posts="docs/posts",
        output="site",
        caches=(".cache",),
        address="{slug}.md",
        # MkDocs and its theme print a note about their next versions at each start.
        environment={"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"},
    )


def install_eleventy() -> None:
    """Install the npm packages of the Eleventy site in `.cache`."""
    flags = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")
    packages = [f"{name}@{version}" for name, version in PACKAGES.items()]
    subprocess.run(("npm", "install", "--prefix", str(ROOT / ".cache"), *flags, *packages), check=True)


def _page(title: str, content: str) -> str:
    head = (
        '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>{title}</title><meta name="description" content="Bench"></head>'
    )
    frame = f'<header><a href="/">Bench</a></header><main>{content}</main><footer>Bench</footer>'
    return f'<!DOCTYPE html>\n<html lang="en">{head}\n<body>{frame}</body></html>\n'


_HUGO = r"""
baseURL = "https://example.org/"
title = "Bench"
locale = "en"
[pagination]
pagerSize = 20
[taxonomies]
tag = "tags"
[permalinks.page]
posts = "/posts/:contentbasename/"
[markup.highlight]
noClasses = false
[markup.goldmark.extensions.passthrough]
enable = true
[markup.goldmark.extensions.passthrough.delimiters]
block = [["$$", "$$"]]
inline = [["$", "$"]]
"""
_HUGO_FORMULA = """\
{{- $options := dict "output" "mathml" "displayMode" (eq .Type "block") -}}
{{- with try (transform.ToMath .Inner $options) -}}
{{- with .Err }}{{ errorf "%s" . }}{{ else }}{{ .Value }}{{ end -}}
{{- end -}}
"""
_HUGO_CALLOUT = """\
{{- if eq .Type "alert" }}<aside class="{{ .AlertType }}"><p>{{ .AlertType | title }}</p>{{ .Text }}</aside>
{{- else }}<blockquote>{{ .Text }}</blockquote>{{ end -}}
"""
_HUGO_LIST = (
    '<ul>{{{{ range {} }}}}<li><a href="{{{{ .RelPermalink }}}}">{{{{ .Title }}}}</a></li>{{{{ end }}}}</ul>'
)
_HUGO_POST = """\
<article><h1>{{ .Title }}</h1><time>{{ .Date.Format "2006-01-02" }}</time>
<p>{{ range .GetTerms "tags" }}<a href="{{ .RelPermalink }}">{{ .Title }}</a> {{ end }}</p>
{{ .TableOfContents }}{{ .Content }}
<nav>{{ with .PrevInSection }}<a href="{{ .RelPermalink }}">{{ .Title }}</a>{{ end }}
{{ with .NextInSection }}<a href="{{ .RelPermalink }}">{{ .Title }}</a>{{ end }}</nav>
</article>"""
_MATERIAL = """\
site_name: Bench
site_url: https://example.org/
theme: {name: material, custom_dir: overrides, font: false}
plugins: [search, tags]
markdown_extensions:
  - admonition
  - footnotes
  - tables
  - toc: {permalink: true}
  - pymdownx.arithmatex: {generic: true}
  - pymdownx.highlight
  - pymdownx.superfences
"""

_ELEVENTY = """\
import { feedPlugin } from "@11ty/eleventy-plugin-rss";
import highlight from "@11ty/eleventy-plugin-syntaxhighlight";
import math from "@vscode/markdown-it-katex";
import katex from "katex";
import markdownIt from "markdown-it";
import anchor from "markdown-it-anchor";
import footnote from "markdown-it-footnote";
import callouts from "markdown-it-github-alerts";
import toc from "markdown-it-toc-done-right";

const plain = (plugin) => plugin.default ?? plugin;

export default function (config) {
  const markdown = markdownIt({ html: true });
  for (const plugin of [footnote, anchor, toc, callouts]) markdown.use(plain(plugin));
  markdown.use(plain(math), { katex, output: "mathml" });
  config.setLibrary("md", markdown);
  config.addPlugin(highlight);
  config.addPlugin(feedPlugin, {
    type: "atom",
    outputPath: "/feed.xml",
    collection: { name: "posts", limit: 20 },
    metadata: { language: "en", title: "Bench", base: "https://example.org/", author: { name: "Bench" } },
  });
  config.addCollection("posts", (all) => all.getFilteredByGlob("src/posts/*.md"));
  return { dir: { input: "src", output: "_site", includes: "../_includes" }, markdownTemplateEngine: false };
}
"""
_ELEVENTY_POSTS = """\
export default { layout: "post.njk", permalink: (data) => `/posts/${data.page.fileSlug}/index.html` };
"""
_ELEVENTY_LIST = """\
---
layout: base.njk
title: Bench
pagination: { data: collections.posts, size: 20, alias: items, reverse: true }
---
<ul>{% for post in items %}<li><a href="{{ post.url }}">{{ post.data.title }}</a></li>{% endfor %}</ul>
"""
_ELEVENTY_TAGS = """\
---
layout: base.njk
pagination: { data: collections, size: 1, alias: tag, filter: [all, posts] }
permalink: "/tags/{{ tag }}/"
---
<ul>{% for post in collections[tag] -%}
<li><a href="{{ post.url }}">{{ post.data.title }}</a></li>
{%- endfor %}</ul>
"""
_ELEVENTY_SITEMAP = """\
---
permalink: /sitemap.xml
eleventyExcludeFromCollections: true
---
<?xml version="1.0" encoding="utf-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{%- for page in collections.all %}<url><loc>https://example.org{{ page.url }}</loc></url>{% endfor -%}
</urlset>
"""
_ELEVENTY_POST = """\
<article><h1>{{ title }}</h1><time>{{ date }}</time>
<p>{% for tag in tags %}<a href="/tags/{{ tag }}/">{{ tag }}</a> {% endfor %}</p>{{ content | safe }}
<nav>{% set post = collections.posts | getPreviousCollectionItem(page) -%}
{% if post %}<a href="{{ post.url }}">{{ post.data.title }}</a>{% endif %}
{% set post = collections.posts | getNextCollectionItem(page) -%}
{% if post %}<a href="{{ post.url }}">{{ post.data.title }}</a>{% endif %}</nav>
</article>
"""
