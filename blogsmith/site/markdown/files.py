"""Files for programs that read the site: a Markdown file next to each page, and `llms.txt`, which lists them.

The Markdown file has the content that readers see: formulas as portable TeX, references with their numbers,
recorded results with their provenance, absolute URLs. Tools need to know neither blogsmith's syntax nor HTML.
Format of the list: https://llmstxt.org.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ...config.schema import Config
from ...languages.tags import language_name
from ...model.generated_files import GeneratedFile
from ...model.names import name_set
from ...model.template_views import PageView
from ...tex.on_demand import spoken_text
from ..frame import host_url
from ..permalinks import output_path
from .inline import (
    UrlBase,
    collapse_spaces,
    escape_start,
    escape_text,
    formula_tex,
    inline_markdown,
    make_fence,
)
from .tree import PageElement, read_tree

_LIST = PurePosixPath("llms.txt")


def markdown_files(pages: Sequence[PageView], config: Config) -> dict[PurePosixPath, GeneratedFile]:
    """Map output paths to files: one next to each page that has a source, and the list of them."""
    if not config.llms_txt:
        return {}
    found = [page for page in pages if has_markdown(page)]
    files = dict(markdown_file(page, config) for page in found)
    return {**files, _LIST: GeneratedFile(partial(_list, config, found), tuple(found))}


def has_markdown(page: PageView) -> bool:
    """Return whether a page has a Markdown version: an author wrote its text, and it is not a list."""
    return bool(page.path) and not page.unlisted and page.kind in ("post", "page")


def markdown_file(page: PageView, config: Config) -> tuple[PurePosixPath, GeneratedFile]:
    """Return the output path of a page's Markdown version, and the file."""
    path = output_path(markdown_url(page.url).removeprefix(config.base_path))
    make: Callable[[], bytes] = partial(_page, page, config)
    return path, GeneratedFile(make, (page,), (page,))


def markdown_url(url: str) -> str:
    """Return `/posts/a/index.md` for `/posts/a/`, and `/2026/a.md` for `/2026/a.html`."""
    return f"{url}index.md" if url.endswith("/") else f"{url.removesuffix('.html')}.md"


def _page(page: PageView, config: Config) -> bytes:
    address = UrlBase(page.canonical_url or page.url, host_url(config))
    blocks = [*_head(page, address), *block_markdown(read_tree(page.content).children, address)]
    return ("\n\n".join(blocks) + "\n").encode("utf-8", "replace")


def _head(page: PageView, address: UrlBase) -> Iterator[str]:
    title = read_tree(page.heading_html or page.title_html)
    yield f"# {_one_line(inline_markdown(title.children, address))}"
    if page.subtitle:
        yield f"*{escape_text(collapse_spaces(page.subtitle))}*"
    facts = [", ".join(page.authors), f"{page.date:%Y-%m-%d}" if page.date else "", page.canonical_url]
    line = " · ".join(escape_text(fact) if "://" not in fact else f"<{fact}>" for fact in facts if fact)
    if line:
        yield line


def _one_line(text: str) -> str:
    """Return the text of a heading with `<br>` for line breaks, because a heading in Markdown is one line."""
    return text.replace("\\\n", "<br>")


def _list(config: Config, pages: Sequence[PageView]) -> bytes:
    """Return title, summary and the pages of each section, newest first, other languages last."""
    parts = [f"# {escape_text(config.title)}"]
    if config.description:
        parts.append(f"> {escape_text(collapse_spaces(config.description))}")
    editions = ["", *config.languages]
    sections: dict[tuple[str, str], list[PageView]] = {}
    for page in sorted(pages, key=lambda page: (editions.index(page.edition), *_order(page))):
        # pages of another language without a section are listed under the name of the language
        title = page.section.title if page.section else language_name(page.edition) if page.edition else ""
        sections.setdefault((page.edition, title), []).append(page)
    for (_, title), listed in sections.items():
        lines = "\n".join(_line(config, page) for page in listed)
        parts.append(f"## {escape_text(title)}\n\n{lines}" if title else lines)
    return ("\n\n".join(parts) + "\n").encode("utf-8", "replace")


def _order(page: PageView) -> tuple[bool, float, str]:
    moment = page.date.timestamp() if page.date else 0
    # pages without a section come first, since they have no heading above them
    return page.section is not None, -moment, page.url


def _line(config: Config, page: PageView) -> str:
    words = escape_text(collapse_spaces(page.description))
    url = host_url(config) + markdown_url(page.url)
    title = spoken_text(page.title, page.title_html)
    return f"- [{escape_text(title)}]({url})" + (f": {words}" if words else "")


# Conversion of block elements to Markdown: one function per HTML element or CSS class.


_BLOCKS = name_set(
    "address article aside blockquote details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr"
    " iframe main nav ol p pre section table ul video audio picture"
)
_BAR = lazy_pattern(r"\$(?!\s)(?:\\.|[^$\\])*\$|(?<!\\)\|")
_STREAMS = ("stdout", "stderr", "error")
_LEVELS = {f"h{level}": level for level in range(1, 7)}


def block_markdown(nodes: Iterable[PageElement | str], address: UrlBase) -> list[str]:
    """Return the Markdown blocks of `nodes`, each without blank lines around it."""
    return _Blocks(address).write(nodes)


class _Blocks:
    def __init__(self, address: UrlBase) -> None:
        self._address = address

    def write(self, nodes: Iterable[PageElement | str]) -> list[str]:
        found: list[str] = []
        line: list[PageElement | str] = []
        for node in nodes:
            if isinstance(node, PageElement) and _is_block(node):
                found += self._paragraph(line)
                line = []
                found += self._block(node)
            else:
                line.append(node)
        return [*found, *self._paragraph(line)]

    def _paragraph(self, nodes: Iterable[PageElement | str]) -> list[str]:
        text = self._inline(nodes)
        return [escape_start(text)] if text else []

    def _inline(self, nodes: Iterable[PageElement | str]) -> str:
        return inline_markdown(nodes, self._address)

    def _block(self, element: PageElement) -> list[str]:
        for name in element.classes:
            rule = _CLASS_RULES.get(name)
            if rule:
                return [*rule(self, element)]
        if element.tag in _LEVELS:
            return [*self.heading(element)]
        rule = _RULES.get(element.tag)
        return [*rule(self, element)] if rule else self.write(element.children)

    def heading(self, element: PageElement) -> Iterator[str]:
        text = self._inline(element.children)
        if text:
            yield f"{'#' * _LEVELS[element.tag]} {_one_line(text)}"

    def quotation(self, element: PageElement) -> Iterator[str]:
        blocks = self.write(element.children)
        if blocks:
            yield indent("\n\n".join(blocks), "> ", "> ")

    def rule(self, element: PageElement) -> Iterator[str]:
        yield "---"

    def ignore(self, element: PageElement) -> Iterator[str]:
        yield from ()

    def paragraph(self, element: PageElement) -> Iterator[str]:
        # a paragraph may contain blocks, such as a display formula
        yield from self.write(element.children)

    def display(self, element: PageElement) -> Iterator[str]:
        """Yield a display formula, then its number. A number inside the TeX would be wrong in another
        document."""
        math = element if element.tag == "math" else element.find("math")
        tex = formula_tex(math) if math else ""
        if not math or not tex:
            yield from self.write(element.children)
            return
        yield f"$$\n{tex}\n$$"
        link = element.find("a", "eq-number")
        number = link.text() if link else math.attributes.get("data-numbers", "")
        # a number set by the author with `\tag` is already in the formula
        if number and "\\tag" not in tex:
            yield escape_start(escape_text(number))

    def unordered(self, element: PageElement) -> Iterator[str]:
        yield from self._list(element, lambda number: "-")

    def ordered(self, element: PageElement) -> Iterator[str]:
        start = element.attributes.get("start", "1")
        first = int(start) if start.isdecimal() and len(start) < 9 else 1
        yield from self._list(element, lambda number: f"{first + number}.")

    def _list(self, element: PageElement, sign: Callable[[int], str]) -> Iterator[str]:
        items = [child for child in element.elements() if child.tag == "li"]
        is_loose = any(child.tag in _BLOCKS - {"ul", "ol"} for item in items for child in item.elements())
        texts = []
        for number, item in enumerate(items):
            mark = f"{sign(number)} "
            box = item.find("input")
            if box is not None and "task" in item.classes:
                mark += "[x] " if "checked" in box.attributes else "[ ] "
            blocks = self.write(item.children)
            body = ("\n\n" if is_loose else "\n").join(blocks)
            texts.append(indent(body, mark, " " * len(f"{sign(number)} ")) if blocks else mark.strip())
        if texts:
            yield ("\n\n" if is_loose else "\n").join(texts)

    def definitions(self, element: PageElement) -> Iterator[str]:
        """Yield a definition list in the syntax of PHP Markdown Extra: `Term`, then `: definition`."""
        parts: list[str] = []
        for child in _definition_parts(element):
            if child.tag == "dt":
                parts.append(("\n" if parts else "") + escape_start(self._inline(child.children)))
            else:
                parts.append(indent("\n\n".join(self.write(child.children)), ": ", "  "))
        if parts:
            yield "\n".join(parts)

    def table(self, element: PageElement) -> Iterator[str]:
        rows = [*_rows(element)]
        if not rows:
            return
        width = max(len(row) for row in rows)
        lines = [self._row(row, width) for row in rows]
        caption = element.find("caption")
        if caption:
            yield from self._paragraph(caption.children)
        rules = "|".join(_alignment(cell) for cell in rows[0]) + "|---" * (width - len(rows[0]))
        yield "\n".join([lines[0], f"|{rules}|", *lines[1:]])

    def _row(self, cells: list[PageElement], width: int) -> str:
        texts = [" ".join(self._cell(cell)) for cell in cells] + [""] * (width - len(cells))
        return "| " + " | ".join(texts) + " |"

    def _cell(self, cell: PageElement) -> Iterator[str]:
        text = self._inline(cell.children).replace("\\\n", " ").replace("\n", " ")
        # a bar inside a formula is kept; elsewhere it would end the cell
        yield _BAR.sub(lambda found: found[0] if found[0].startswith("$") else "\\|", text)

    def code(self, element: PageElement) -> Iterator[str]:
        """Yield a fence with the language and title of the code block."""
        pre = element if element.tag == "pre" else element.find("pre")
        if pre is None:
            yield from self.write(element.children)
            return
        title = element.find("span", "code-title")
        # the lines of the block start with change markers, as in a diff
        language = "diff" if "data-changed" in pre.attributes else element.attributes.get("data-lang", "")
        info = f'{language or "text"} title="{_attribute(title.text())}"' if title else language
        yield fence_code(pre.text(), info)
        caption = next((child for child in element.elements() if child.tag == "figcaption"), None)
        if caption is not None and "code-header" not in caption.classes:
            yield from self._paragraph(caption.children)

    def output(self, element: PageElement) -> Iterator[str]:
        """Yield the Markdown blocks of an output of a cell."""
        if element.tag != "pre":
            yield from self.write(element.children)
            return
        kind = next(kind for kind in _STREAMS if f"output-{kind}" in element.classes)
        yield fence_code(element.text(), f'text title="{kind}"')

    def aside(self, element: PageElement) -> Iterator[str]:
        """Yield a callout, fold or tab as a quotation: its title in bold, then its content."""
        title = next(filter(_is_title, element.elements()), None)
        rest = [child for child in element.children if child is not title]
        text = self._inline(title.children) if title else ""
        blocks = ([f"**{text}**"] if text else []) + self.write(rest)
        if blocks:
            yield indent("\n\n".join(blocks), "> ", "> ")

    def figure(self, element: PageElement) -> Iterator[str]:
        words = element.attributes.get("aria-label", "")
        if words:
            yield from self._paragraph([words])
        for child in element.children:
            if isinstance(child, PageElement) and child.tag == "figcaption":
                text = self._inline(child.children)
                if text:
                    yield text if "*" in text or "_" in text else f"*{text}*"
            else:
                yield from self.write([child])

    def provenance(self, element: PageElement) -> Iterator[str]:
        text = collapse_spaces(element.text()).strip()
        if text:
            yield f"*{escape_text(text)}*"

    def drawing(self, element: PageElement) -> Iterator[str]:
        """Yield the text and label of an SVG drawing, and its caption."""
        svg = element.find("svg")
        if svg:
            written = [collapse_spaces(word).strip() for word in svg.children if isinstance(word, str)]
            label = svg.attributes.get("aria-label", "")
            words = ([f"{label}:"] if label and written else [label]) + [" · ".join(written)]
            yield from self._paragraph([" ".join(filter(None, words))])
        yield from self.figure(element)

    def notes(self, element: PageElement) -> Iterator[str]:
        items = [child for one in element.elements() if one.tag == "ol" for child in one.elements()]
        for item in items:
            name = item.attributes.get("id", "").removeprefix("fn-")
            blocks = self.write(item.children)
            if blocks:
                yield indent("\n\n".join(blocks), f"[^{name}]: ", "    ")

    def video(self, element: PageElement) -> Iterator[str]:
        source = element.attributes.get("src", "")
        inner = element.find("source")
        if inner is not None:
            source = source or inner.attributes.get("src", "")
        url = self._address.resolve(source)
        poster, words = element.attributes.get("poster", ""), element.attributes.get("aria-label", "")
        if poster:
            yield f"![{escape_text(words)}]({self._address.resolve(poster)})"
        elif words:
            yield from self._paragraph([words])
        if source:
            yield f"<{url}>" if "://" in url else f"[{escape_text(source)}]({url})"


_RULES: Mapping[str, Callable[[_Blocks, PageElement], Iterator[str]]] = MappingProxyType(
    {
        "p": _Blocks.paragraph,
        "blockquote": _Blocks.quotation,
        "hr": _Blocks.rule,
        "ul": _Blocks.unordered,
        "ol": _Blocks.ordered,
        "dl": _Blocks.definitions,
        "table": _Blocks.table,
        "pre": _Blocks.code,
        "figure": _Blocks.figure,
        "aside": _Blocks.aside,
        "details": _Blocks.aside,
        "math": _Blocks.display,
        "video": _Blocks.video,
        "audio": _Blocks.video,
        "iframe": _Blocks.video,
        "nav": _Blocks.ignore,
        "form": _Blocks.ignore,
    }
)
_CLASS_RULES: Mapping[str, Callable[[_Blocks, PageElement], Iterator[str]]] = MappingProxyType(
    {
        "math-display": _Blocks.display,
        "code": _Blocks.code,
        "output-stdout": _Blocks.output,
        "output-stderr": _Blocks.output,
        "output-error": _Blocks.output,
        "output-value": _Blocks.output,
        "provenance": _Blocks.provenance,
        "diagram": _Blocks.drawing,
        "footnotes": _Blocks.notes,
        "tab": _Blocks.aside,
        "sweep-controls": _Blocks.ignore,
    }
)


def indent(text: str, first: str, others: str) -> str:
    """Prefix the first line of `text` with `first` and the others with `others`."""
    lines = text.split("\n")
    rest = [(others + line).rstrip() if not line else others + line for line in lines[1:]]
    return "\n".join([first + lines[0], *rest])


def fence_code(text: str, info: str) -> str:
    """Return a code fence that is longer than any run of backticks in `text`."""
    ticks = make_fence("`", text, 3)
    return f"{ticks}{info}\n{text.removesuffix(chr(10))}\n{ticks}"


def _is_block(element: PageElement) -> bool:
    """Return whether an element is a block, a display formula, or an inline element with blocks, such as a
    link."""
    if element.tag in ("a", "span", "cite"):
        return any(child.tag in _BLOCKS and child.tag != "picture" for child in element.elements())
    is_display = element.tag == "math" and element.attributes.get("display") == "block"
    return element.tag in _BLOCKS or is_display


def _is_title(element: PageElement) -> bool:
    return element.tag in ("summary", "label") or "callout-title" in element.classes


def _definition_parts(element: PageElement) -> Iterator[PageElement]:
    for child in element.elements():
        if child.tag == "div":
            yield from _definition_parts(child)
        elif child.tag in ("dt", "dd"):
            yield child


def _rows(table: PageElement) -> Iterator[list[PageElement]]:
    for child in table.elements():
        if child.tag == "tr":
            yield [cell for cell in child.elements() if cell.tag in ("td", "th")]
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from _rows(child)


def _alignment(cell: PageElement) -> str:
    signs = {"align-left": ":---", "align-right": "---:", "align-center": ":---:"}
    return next((sign for name, sign in signs.items() if name in cell.classes), "---")


def _attribute(text: str) -> str:
    return collapse_spaces(text).replace('"', "'").replace("`", "'")
