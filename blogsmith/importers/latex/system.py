"""Importer for papers in LaTeX."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from ...api.importing import Diagnostic, PageTimeout, Progress, SiteError
from ..model import ImportedPage, Notice, SiteImport
from ..page_work import ONE_PROCESS, Workers, page_limit
from ..source_files import read_text, source_root
from .independent import render_paper
from .paper import PaperReader, plain_line
from .source import find_papers

_LIMIT_S = 30.0
"""Time limit for one paper, in seconds of processor time; the longest of 20 papers took 5 seconds."""


class LatexPapers:
    """Importer for a paper, or for the folder of an arXiv source."""

    title = "LaTeX"

    def recognises(self, root: Path) -> bool:
        """Return whether `root` is a LaTeX file, or a folder that contains one with a document class."""
        if root.is_file():
            return root.suffix.lower() in (".tex", ".ltx")
        files = (*root.glob("*.tex"), *root.glob("*/*.tex"))
        return any("\\documentclass" in (read_text(file) or "") for file in files[:200])

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Read the paper. If the folder contains several papers, read the most likely one and report the
        names of the others."""
        folder = source_root(root.parent) if root.is_file() else root
        papers = [PurePosixPath(root.name)] if root.is_file() else find_papers(folder)
        if not papers:
            hint = "name the file of the paper: `blogsmith import paper.tex`"
            raise SiteError(Diagnostic("import-source", f'LaTeX paper not found in "{root}"', hint=hint))
        progress("read", 0, 1)
        try:
            with page_limit(_LIMIT_S):
                paper = PaperReader(folder, papers[0]).read()
        except (PageTimeout, RecursionError) as error:
            message = f'too long: "{papers[0]}" needs too much time or depth to translate'
            hint = "split the paper, or remove the part that is not a text"
            raise SiteError(Diagnostic("import-source", message, hint=hint)) from error
        notices = tuple(
            Notice(
                "unread",
                "more than one paper in the folder",
                path.as_posix(),
                hint=f"import it with `blogsmith import {path}`",
            )
            for path in papers[1:]
        )
        title = plain_line(str(paper.page.front["title"]))
        return SiteImport(
            root=root,
            system="latex",
            settings={"title": title, **paper.settings},
            pages=(paper.page,),
            files=paper.files,
            notices=notices,
            made=paper.made,
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """Return the source of a paper as HTML, to compare it with the new page."""
        return render_paper(text)


SYSTEM = LatexPapers()
