"""Runs the pipeline for case files: Markdown in, HTML and diagnostics out.

The page is part of a site in memory with another post, four images and a video. Results of cells are passed
in; nothing runs. Only the bundled theme is read from disk.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from markdown_it import MarkdownIt
from msgspec.structs import replace

from blogsmith.base.diagnostics.model import Diagnostic
from blogsmith.build.trace import resolve_media
from blogsmith.config.load import LoadedConfig, parse_config
from blogsmith.config.schema import Config
from blogsmith.hooks import Plugins
from blogsmith.hooks.loader import load_plugins
from blogsmith.model.documents import Asset, Body, Document, IncludedFile, Source
from blogsmith.model.pictures import ImageInfo, MediaFile
from blogsmith.model.results import (
    Blob,
    CellOutput,
    CellResult,
    Display,
    Failure,
    Machine,
    PageResults,
    Stream,
    ValueResult,
)
from blogsmith.project.bundled_folders import bundled_folder
from blogsmith.project.context import parse_options
from blogsmith.read.front_matter import read_document
from blogsmith.read.included_files import included_names
from blogsmith.read.text_files import TextFile
from blogsmith.render.html import render_body
from blogsmith.render.templates.theme import Theme, load_theme
from blogsmith.render.tools import SiteAccess
from blogsmith.site.images import resolve_image
from blogsmith.site.index import index_site, page_entry, resolve_link
from blogsmith.stages.bibliographies import SiteBibliographies
from blogsmith.syntax.parser import Parsed, make_parser, parse_document
from blogsmith.syntax.state import ParseOptions

from .cases_io import split_results

OTHER = r"""---
title: Other post
---

## Setup

$$ x = y \label{eq:other} $$
"""
SIZES = {"a.png": (640, 480), "b.png": (640, 480), "c.png": (640, 480), "d.svg": (300, 200)}
FILES = (*SIZES, "clip.mp4", "clip.vtt")


def _measure_media(file: Path) -> MediaFile:
    return MediaFile(is_captions=file.suffix == ".vtt")


CODE = {
    "src/attn.py": """import math


# region scores
def scores(q, k):
    return q @ k.T / math.sqrt(k.shape[-1])
# endregion


class Attention:
    scale = 1

    @staticmethod
    def weights(x):
        return x / x.sum()  # (1)!
""",
    "data/runs.csv": 'name,$d_k$,time,\n"a_b, *c*",64,-1.5 %,x\n<b>&amp;,128,,\n\n',
}
"""Source files of the site, for posts that include them."""
TEXTS = {
    "refs.bib": r"""@string{jkb = "Journal of Kernels and Bridges"}
@article{ash2011, author = {Ash, Bea and Coe, Dan and Eld, Fay}, title = {On {BERT} and $\sqrt{d_k}$},
  journal = jkb, year = 2011, volume = 4, number = 2, pages = {101--118}, doi = {10.5555/jkb.4}}
@article{ash2011b, author = {Ash, Bea and Coe, Dan and Eld, Fay}, title = {More on BERT}, journal = jkb,
  year = 2011}
@inproceedings{gil2015, crossref = {proc2015}, author = {van der Gil, Jo\"el},
  title = {Arches \& {\'e}t{\'e}}}
@proceedings{proc2015, title = {Bridge Days}, year = 2015, publisher = {Arch Press}}
@misc{hay2018, author = {Hay, Ida and Ivy, Jo}, title = {A preprint}, eprint = {1801.01234},
  archiveprefix = {arXiv}, year = 2018, pdf = {https://example.org/hay.pdf}, abbr = {ArXiv}, award = {Medal}}
@book{ink1999, author = {{Ink Society}}, title = {Ink}, publisher = {Quill}, year = 1999,
  note = {<script>x</script>}}
""",
    "items.json": """[{"id": "jay2020", "type": "book", "title": "Birds", "publisher": "Nest",
  "author": [{"family": "Jay", "given": "Kim"}], "issued": {"date-parts": [[2020]]}}]""",
}
"""Bibliographies of pages, by name."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """The result of rendering a page."""

    html: str
    diagnostics: tuple[Diagnostic, ...]
    body: Body


def render(source: str, config: str = "plugins: [emoji_callouts, hf_space]\n") -> Rendered:
    """Render `source` as the post `content/posts/page.md` of a small site with settings `config`.

    The source may start with results of its cells, see `tests/cases/README.md`.
    """
    results, post = split_results(source)
    return render_with(post, page_results(results), config)


def render_with(
    post: str,
    results: PageResults,
    config: str = "plugins: [emoji_callouts, hf_space]\n",
    picture: Callable[[Document, str, Path | bytes], ImageInfo | str] | None = None,
) -> Rendered:
    """Render a post with results given as records. `picture`: as in `SiteAccess`."""
    page, found = _document("page.md", post, config)
    other, _ = _document("other-post.md", OTHER, config)
    tools, parsed = _tools(config, {"page.md": page, "other-post.md": other})
    body = render_body(parsed, replace(tools, results=lambda document: results, picture=picture or _picture))
    diagnostics = (*found, *parsed.diagnostics, *body.diagnostics)
    return Rendered(body.html, tuple(dict.fromkeys(diagnostics)), body)


MACHINE = Machine(python="3.11.7", platform="Linux x86_64", cpu="AMD EPYC 7B13 64-Core Processor")


def page_results(text: str) -> PageResults:
    """Parse the results in a case. Images are recorded as files in a folder that is never read."""
    data = json.loads(text or "{}")
    cells = {number: _cell_result(item) for number, item in enumerate(data.pop("cells", []), 1)}
    values = {number: ValueResult(**item) for number, item in enumerate(data.pop("values", []), 1)}
    assert not data, f"unknown keys {sorted(data)}"
    return PageResults(cells, values, Path("/records"))


def _cell_result(item: dict[str, object]) -> CellResult:
    outputs = item.pop("outputs", [])
    assert isinstance(outputs, list)
    others = item.pop("others", {})
    assert isinstance(others, dict)
    item = {**item, "others": {key: _cell_result(other) for key, other in others.items()}}
    done = item.get("status", "ok") in ("ok", "error")
    known = {"seconds": 0.012, "device": "cpu", "machine": MACHINE, "date": "2026-11-21"} if done else {}
    return CellResult(**{"status": "ok", **known, **item, "outputs": tuple(map(_output, outputs))})  # type: ignore[arg-type]


def _output(item: dict[str, object]) -> CellOutput:
    dropped = item.pop("dropped", 0)
    ((kind, content),) = item.items()
    if kind in ("stdout", "stderr"):
        return Stream(kind, content, dropped)  # type: ignore[arg-type]
    if kind == "error":
        text = str(content)
        name, _, message = text.rstrip().rpartition("\n")[2].partition(": ")
        return Failure(name, message, text)
    assert isinstance(content, dict)
    data = {mime: _blob(value) if mime.startswith("image/") else value for mime, value in content.items()}
    return Display(kind, data)  # type: ignore[arg-type]


def _blob(name: str) -> Blob:
    if name.startswith("<svg"):
        data = name.encode()
        return Blob(hashlib.sha256(data).hexdigest(), data)
    return Blob(hashlib.sha256(name.encode()).hexdigest(), name=name)


def _picture(document: Document, name: str, content: Path | bytes) -> ImageInfo | str:
    if "missing" in name:
        return f"there is no file {name}"
    return ImageInfo(f"/posts/page/{name}", 460, 345)


def _document(name: str, text: str, config: str) -> tuple[Document, tuple[Diagnostic, ...]]:
    source = Source(PurePosixPath(f"content/posts/{name}"), text, "")
    document, found = read_document(source, _config(config))
    included = {name: _included(name) for name in included_names(document.body)}
    return dataclasses.replace(document, included=included), found


def _included(name: str) -> IncludedFile:
    if name not in CODE:
        return IncludedFile(problem=f"there is no file {name}")
    return IncludedFile(name, CODE[name], hashlib.sha256(CODE[name].encode()).hexdigest(), (name,))


@lru_cache
def _config(text: str) -> Config:
    return parse_config(text).config


def _look(path: PurePosixPath) -> tuple[None, TextFile | None]:
    return None, TextFile(TEXTS[path.name], path.name) if path.name in TEXTS else None


@lru_cache
def _site(text: str) -> tuple[Config, Plugins, Theme, ParseOptions, MarkdownIt]:
    config = _config(text)
    plugins = load_plugins(config.plugins, [bundled_folder("plugins")])
    folders = [bundled_folder("plugins") / "shortcodes"]
    theme = load_theme(
        "paper", Path("/nonexistent"), bundled_folder("themes"), folders, base_path=config.base_path
    )
    options = parse_options(config, plugins, theme.inline_shortcodes(), theme.block_shortcodes())
    return config, plugins, theme, options, make_parser(options)


def _tools(text: str, documents: Mapping[str, Document]) -> tuple[SiteAccess, Parsed]:
    config, plugins, theme, options, md = _site(text)

    parsed = {name: parse_document(document, md, options) for name, document in documents.items()}
    urls = {f"content/posts/{name}": f"/posts/{name.removesuffix('.md')}/" for name in documents}
    entries = {f"content/posts/{name}": page_entry(parsed[name]) for name in documents}
    files = {f"content/posts/{name}": f"/posts/{name}" for name in FILES}
    index = index_site(config.base_path, urls, entries, {}, ["/", "/posts/"], files)
    assets = {path: Asset(PurePosixPath(path), Path(path), 1) for path in files}

    def measure(file: Path) -> ImageInfo | str:
        size = SIZES.get(file.name)
        return ImageInfo("", *size) if size else "it is no image"

    bibliographies = SiteBibliographies(Path("/nonexistent"), look=_look)
    bibliographies.use_settings(LoadedConfig(config, (), {}))
    tools = SiteAccess(
        config,
        lambda: md,
        theme,
        plugins,
        lambda written, document: resolve_link(index, written, document),
        lambda written, document: resolve_image(index, written, document, assets, measure),
        index.page_labels,
        index.page_url,
        index.link_title,
        media=lambda written, document: resolve_media(index, written, document, assets, _measure_media),
        find_reference=bibliographies.find,
        work_keys=bibliographies.keys,
        publication_keys=bibliographies.publication_keys,
        work_hint=bibliographies.hint,
        work_place=bibliographies.place,
        bibliography_problems=bibliographies.check,
        citation_style=bibliographies.style,
    )
    return tools, parsed["page.md"]
