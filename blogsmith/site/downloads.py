"""Files that a page offers for download: its notebook, and its PDF."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Literal

from ..base.diagnostics.notebook_cells import NOTEBOOK
from ..config.schema import Config
from ..model.generated_files import GeneratedFile, OutputFile
from ..model.template_views import Download, PageView
from .frame import RenderedDocument
from .permalinks import files_url, output_path

_SUFFIXES: Mapping[Literal["pdf", "notebook"], str] = MappingProxyType({"pdf": ".pdf", "notebook": NOTEBOOK})


def page_downloads(item: RenderedDocument, config: Config) -> tuple[Download, ...]:
    """Return the files that a page offers. The URLs include the base path."""
    front = item.document.front
    # a notebook contains the whole text of the author, with its solutions
    has_notebook = bool(item.body.cell_lines) and item.document.solutions != "withheld"
    wanted = {
        "pdf": config.pdf if front.pdf is None else front.pdf,
        "notebook": has_notebook and (config.notebook if front.notebook is None else front.notebook),
    }
    if item.kind not in ("post", "page"):
        return ()
    return tuple(
        Download(kind, f"{config.base_path}{_file_url(item.url, suffix)}")
        for kind, suffix in _SUFFIXES.items()
        if wanted[kind]
    )


def _file_url(url: str, suffix: str) -> str:
    folder = files_url(url)
    return f"{folder}{PurePosixPath(folder).name or 'index'}{suffix}"


def download_path(page: PageView, kind: str, config: Config) -> PurePosixPath | None:
    """Return the output path of a download of a page; None if the page does not offer it."""
    found = next((one for one in page.downloads if one.kind == kind), None)
    return output_path(found.url.removeprefix(config.base_path)) if found else None


def notebook_files(
    views: Iterable[PageView], rendered: Iterable[RenderedDocument], config: Config, root: Path
) -> Iterator[OutputFile]:
    """Yield the notebooks of pages that offer them. A page that is a notebook offers that file. root: site
    root."""
    items = {str(item.document.path): item for item in rendered}
    for page in views:
        path = download_path(page, "notebook", config)
        if path is not None and page.path.endswith(NOTEBOOK):
            yield OutputFile(path, f"the notebook of {page.path}", root / page.path)
        elif path is not None:
            item = items[page.path]
            kernel = item.document.front.execution.kernel or config.execution.kernel
            key = f"notebook {item.document.digest} {item.body.cell_lines} {kernel}"
            made = GeneratedFile(partial(_export, item, kernel), (page,), key=key)
            yield OutputFile(path, f"the notebook of {page.path}", made)


def _export(item: RenderedDocument, kernel: str) -> bytes:
    from ..read.notebooks.export import export_notebook

    document = item.document
    return export_notebook(document.source.text, document.first_line, item.body.cell_lines, kernel)
