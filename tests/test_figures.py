"""Every kind of figure has all properties of figures, in pages, feeds, Markdown files and books.

The rows are kinds, the columns properties, and each output is a table. A kind that is added to `KINDS` must
have all.
"""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from unittest.mock import patch
from xml.etree.ElementTree import Element, fromstring

import pytest
from PIL import Image

from blogsmith.cli.main import main
from blogsmith.project.report import ExecutionOptions
from blogsmith.project.trust.consent import trust
from tests.page_checks import dead_fragments, elements, parse
from tests.rows import each_row
from tests.site_files import build, put

DRAWING = "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='30'><rect width='9' height='9'/></svg>"
KINDS: Mapping[str, str] = {
    "image": "![Words of image](a.png \"Of $x_1$ and its 'end'\"){#fig-image}",
    "clip": "![Words of clip](clip.mp4 \"Of $x_1$ and its 'end'\"){#fig-clip data-poster=p.png}",
    "film": '<div class="video-embed" id="fig-film" data-src="clip.mp4" data-poster="p.png"'
    ' data-alt="Words of film" data-caption="Of $x_2$ and its \'end\'"></div>',
    "youtube": '<div class="video-embed" id="fig-youtube" data-src="https://youtu.be/abcdefghijk"'
    ' data-poster="p.png" data-title="A talk" data-alt="Words of youtube"'
    " data-caption=\"Of $x_3$ and its 'end'\"></div>",
    "vimeo": '{% video-embed src="https://vimeo.com/123456789" poster="p.png" alt="Words of vimeo"'
    ' caption="Of $x_4$ and its \'end\'" id="fig-vimeo" %}',
    "playlist": '<div class="video-embed" id="fig-playlist" data-poster="p.png" data-alt="Words of playlist"'
    ' data-src="https://www.youtube.com/playlist?list=PLx" data-caption="Of $x_5$ and its \'end\'"></div>',
    "slider": '<div class="image-compare" id="fig-slider" data-before="a.png" data-after="b.png"'
    ' data-alt="Words of slider" data-caption="Of $x_6$ and its \'end\'"></div>',
    "gallery": '<div class="gallery" id="fig-gallery" data-alt="Words of gallery"'
    ' data-caption="Of $x_7$ and its \'end\'">\n![one](a.png)\n![two](b.png "Two")\n</div>',
    "space": '<div class="hf-space" id="fig-space" data-src="owner/space" data-poster="p.png"'
    ' data-alt="Words of space" data-caption="Of $x_8$ and its \'end\'"></div>',
    "diagram": '```drawn {#fig-diagram cap="Of $x_9$ and its \'end\'" alt="Words of diagram"}\nA\n```',
    "source": '```dot {#fig-source cap="Of $x_9$ and its \'end\'" alt="Words of source"}\nA\n```',
    "img": '{% include img.html src="a.png" alt="Words of img" id="fig-img"'
    " cap=\"Of $x_1$ and its 'end'\" %}",
    "grid": '{% include img.html src="a.png, b.png" alt="Words of grid, Two" id="fig-grid"'
    " caption=\"Of $x_1$ and its 'end'\" %}",
    "shortcode": '{% plot text="P" alt="Words of shortcode" id="fig-shortcode"'
    " caption=\"Of $x_1$ and its 'end'\" %}",
    "cell": "```python\n#| label: fig-cell\n#| fig-cap: Of $x_1$ and its 'end'\n#| fig-alt: Words of cell\n"
    f'class P:\n    def _repr_svg_(self): return "{DRAWING}"\nP()\n```',
}
"""Kind → a figure `fig-<kind>` with a caption, and its description for blind readers."""
POSTERS = frozenset(("clip", "film", "youtube", "vimeo", "playlist", "space"))
PLUGIN = f'''
def register(hooks):
    @hooks.diagram("drawn")
    def draw(source):
        return "{DRAWING}"
'''


def picture(color: str) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (16, 9), color).save(stream, "PNG")
    return stream.getvalue()


def post() -> str:
    references = "\n\n".join(f"By {{@fig-{kind}}}." for kind in KINDS)
    figures = "\n\n".join(KINDS.values())
    return f"---\ntitle: A\ndate: 2026-03-01\nexecute: all\n---\n\n{references}\n\n{figures}\n"


def trusting(root: Path) -> AbstractContextManager[object]:
    """Return the environment of a user whose trust is recorded next to the site."""
    return patch.dict(os.environ, {"XDG_STATE_HOME": str(root / ".state")})


class Outputs:
    """The outputs of a build for a page with all kinds."""

    def __init__(self, root: Path) -> None:
        self.root, self.public = root, root / "public"

    @cached_property
    def page(self) -> str:
        return (self.public / "posts/a/index.html").read_text("utf-8")

    @cached_property
    def feed(self) -> str:
        items = json.loads((self.public / "feed.json").read_text("utf-8"))["items"]
        content: str = items[0]["content_html"]
        return content

    @cached_property
    def markdown(self) -> str:
        return (self.public / "posts/a/index.md").read_text("utf-8")

    @cached_property
    def book(self) -> zipfile.ZipFile:
        file = self.root / "book.epub"
        with trusting(self.root):
            assert main(["epub", "--site", str(self.root), "-o", str(file), "content/posts/a.md"]) == 0
        return zipfile.ZipFile(io.BytesIO(file.read_bytes()))

    @cached_property
    def chapter(self) -> str:
        return self.book.read("book/chapter-1.xhtml").decode()

    def trees(self) -> Iterator[tuple[str, Element]]:
        yield "page", parse(self.page)
        yield "feed", parse(self.feed)
        yield "book", fromstring(self.chapter)

    def has_file(self, output: str, address: str) -> bool:
        """Return whether an image exists at its URL in one of the outputs."""
        if output == "book":
            return f"book/{address}" in self.book.namelist()
        return (self.public / address.removeprefix("https://example.org").lstrip("/")).is_file()


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outputs]:
    root = tmp_path_factory.mktemp("figures")
    config = (
        "title: T\nbase_url: https://example.org\nllms_txt: true\nplugins: [hf_space, mine]\ntheme: own\n"
        "markup: {smart_quotes: true}\ndiagnostics: {diagram-source: off}\n"
    )
    plot = "<figure{{ figure.attributes }}>{{ args.text }}{{ figure.caption }}</figure>\n"
    put(
        root,
        {
            "blogsmith.yaml": config,
            "plugins/mine.py": PLUGIN,
            "themes/own/theme.yaml": "name: own\nextends: paper\n",
            "themes/own/shortcodes/plot.html": plot,
            "content/posts/a.md": post(),
            "content/posts/clip.mp4": b"\0" * 64,
            **{f"content/posts/{name}.png": picture(name) for name in ("red", "blue", "green")},
        },
    )
    for name, color in (("a", "red"), ("b", "blue"), ("p", "green")):
        (root / f"content/posts/{color}.png").rename(root / f"content/posts/{name}.png")
    with trusting(root):
        trust(root)
        report = build(root, execution=ExecutionOptions(execute="stale"))
        assert report.ok and not report.diagnostics, report.diagnostics
        yield Outputs(root)


def figure(tree: Element, kind: str) -> Element:
    """Return the element whose id is the label of a figure."""
    (found,) = (element for _, element in elements(tree) if element.get("id") == f"fig-{kind}")
    assert str(found.tag).rpartition("}")[2] == "figure"
    return found


def text_of(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def own_caption(tree: Element, kind: str) -> Element:
    children = [child for child in figure(tree, kind) if str(child.tag).endswith("figcaption")]
    assert len(children) == 1, f"{len(children)} captions"
    return children[0]


def number_of(kind: str) -> str:
    return f"Figure {list(KINDS).index(kind) + 1}"


def has_number(outputs: Outputs, output: str, tree: Element, kind: str) -> None:
    assert re.match(rf"{number_of(kind)}\b", text_of(own_caption(tree, kind)))


def has_caption(outputs: Outputs, output: str, tree: Element, kind: str) -> None:
    caption = own_caption(tree, kind)
    assert [tag for tag, _ in elements(caption) if tag == "math"] == ["math"]
    assert text_of(caption).endswith("and its ‘end’")


def has_reference(outputs: Outputs, output: str, tree: Element, kind: str) -> None:
    links = [element for tag, element in elements(tree) if tag == "a" and text_of(element) == number_of(kind)]
    assert len(links) == 1
    assert str(links[0].get("href")).endswith(f"#fig-{kind}")


def has_words(outputs: Outputs, output: str, tree: Element, kind: str) -> None:
    inside = [figure(tree, kind), *(element for _, element in elements(figure(tree, kind)))]
    said = [element.get(key) for element in inside for key in ("alt", "aria-label")]
    assert f"Words of {kind}" in [words for words in said if words]


def has_poster(outputs: Outputs, output: str, tree: Element, kind: str) -> None:
    shown = [
        address
        for _, element in elements(figure(tree, kind))
        for address in (element.get("poster"), element.get("src"))
        if address and re.search(r"\.(?:png|webp)$", address)
    ]
    if kind in POSTERS:
        assert shown and all(outputs.has_file(output, address) for address in shown)


PROPERTIES = (has_number, has_caption, has_reference, has_words, has_poster)
Property = Callable[[Outputs, str, Element, str], None]


@each_row("property_", PROPERTIES, ids=lambda one: one.__name__)
def test_every_kind_has_every_property_everywhere(property_: Property, outputs: Outputs) -> None:
    missing = []
    for output, tree in outputs.trees():
        for kind in KINDS:
            try:
                property_(outputs, output, tree, kind)
            except (AssertionError, ValueError) as error:
                missing.append(f"{kind} in the {output}: {error}")
    assert missing == []


def test_nothing_refers_to_what_is_not_there(outputs: Outputs) -> None:
    assert [dead_fragments(html) for html in (outputs.page, outputs.chapter)] == [[], []]
    feed = outputs.feed.replace("https://example.org/posts/a/#", "#")
    assert feed.count('href="#fig-') == len(KINDS)
    assert dead_fragments(feed) == []


@each_row("kind", KINDS)
def test_markdown_files_have_caption_number_and_words(kind: str, outputs: Outputs) -> None:
    text = outputs.markdown
    assert f"By {number_of(kind)}.\n" in text
    assert len(re.findall(rf"{number_of(kind)}\b[^\n]*\$x_\d\$ and its ‘end’", text)) == 1
    assert f"Words of {kind}" in text
    assert ("![](https://example.org/posts/p.png)" in text) or kind not in POSTERS


def test_captions_once(outputs: Outputs) -> None:
    for _, tree in outputs.trees():
        assert text_of(tree).count("and its ‘end’") == len(KINDS)
