"""Files for programs that read: a Markdown file beside each page, and `llms.txt`, which lists them.

Of a page it holds what readers see: formulas as TeX that compiles anywhere, references with their numbers,
recorded results with where they came from, addresses whole. Nobody's tools need to know our syntax, or HTML.
Form of the list: https://llmstxt.org.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath

from ...config.schema import Config
from ...languages.tags import language_name
from ...model.generated_files import GeneratedFile
from ...model.template_views import PageView
from ..frame import host_url
from ..redirects import output_path
from .blocks import block_markdown
from .escapes import collapse_spaces, escape_text
from .inline import Address, inline_markdown
from .tree import read_tree

_LIST = PurePosixPath("llms.txt")


def markdown_files(pages: Sequence[PageView], config: Config) -> dict[PurePosixPath, GeneratedFile]:
    """Path in the output folder → file: one beside each page that has a source, and their list."""
    if not config.llms_txt:
        return {}
    found = [page for page in pages if has_markdown(page)]
    files = dict(markdown_file(page, config) for page in found)
    return {**files, _LIST: GeneratedFile(partial(_list, config, found), tuple(found))}


def has_markdown(page: PageView) -> bool:
    """Whether a page is written, and not a list."""
    return bool(page.path) and not page.unlisted and page.kind in ("post", "page")


def markdown_file(page: PageView, config: Config) -> tuple[PurePosixPath, GeneratedFile]:
    """The Markdown of a page: its path in the output folder, and what makes it."""
    path = output_path(markdown_url(page.url).removeprefix(config.base_path))
    make: Callable[[], bytes] = partial(_page, page, config)
    return path, GeneratedFile(make, (page,), (page,))


def markdown_url(url: str) -> str:
    """`/posts/a/` → `/posts/a/index.md`, `/2026/a.html` → `/2026/a.md`."""
    return f"{url}index.md" if url.endswith("/") else f"{url.removesuffix('.html')}.md"


def _page(page: PageView, config: Config) -> bytes:
    address = Address(page.canonical_url or page.url, host_url(config))
    blocks = [*_head(page, address), *block_markdown(read_tree(page.content).children, address)]
    return ("\n\n".join(blocks) + "\n").encode("utf-8", "replace")


def _head(page: PageView, address: Address) -> Iterator[str]:
    yield f"# {inline_markdown(read_tree(page.title_html).children, address)}"
    if page.subtitle:
        yield f"*{escape_text(collapse_spaces(page.subtitle))}*"
    facts = [", ".join(page.authors), f"{page.date:%Y-%m-%d}" if page.date else "", page.canonical_url]
    line = " · ".join(escape_text(fact) if "://" not in fact else f"<{fact}>" for fact in facts if fact)
    if line:
        yield line


def _list(config: Config, pages: Sequence[PageView]) -> bytes:
    """Title, summary, then the pages of each section, newest first; other languages below the site's own."""
    parts = [f"# {escape_text(config.title)}"]
    if config.description:
        parts.append(f"> {escape_text(collapse_spaces(config.description))}")
    editions = ["", *config.languages]
    sections: dict[tuple[str, str], list[PageView]] = {}
    for page in sorted(pages, key=lambda page: (editions.index(page.edition), *_order(page))):
        # pages of another language without a section have its name above them
        title = page.section.title if page.section else language_name(page.edition) if page.edition else ""
        sections.setdefault((page.edition, title), []).append(page)
    for (_, title), listed in sections.items():
        lines = "\n".join(_line(config, page) for page in listed)
        parts.append(f"## {escape_text(title)}\n\n{lines}" if title else lines)
    return ("\n\n".join(parts) + "\n").encode("utf-8", "replace")


def _order(page: PageView) -> tuple[bool, float, str]:
    moment = page.date.timestamp() if page.date else 0
    # pages without a section first: no heading stands above them
    return page.section is not None, -moment, page.url


def _line(config: Config, page: PageView) -> str:
    words = escape_text(collapse_spaces(page.description))
    url = host_url(config) + markdown_url(page.url)
    return f"- [{escape_text(page.title)}]({url})" + (f": {words}" if words else "")
