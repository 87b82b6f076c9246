"""Importer for Jupyter notebooks."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from ...api.importing import Diagnostic, Progress, SiteError, name_set
from ..model import ImportedFile, ImportedPage, Notice, SiteImport, by_path
from ..page_work import ONE_PROCESS, Workers
from ..source_files import read_text, walk_files
from .independent import render_notebook
from .page import NotebookPage, NotebookTranslator

_OWN_FILES = name_set("README LICENSE LICENSE-CODE LICENSE-TEXT CONTRIBUTING Makefile Dockerfile")
_UNCOPIED_SUFFIXES = frozenset((".ipynb", ".yml", ".yaml", ".toml", ".cfg", ".lock", ".md", ".rst", ".pyc"))
_TOOLS = frozenset(("requirements.txt", "environment.yml", "setup.py", "runtime.txt", "apt.txt", "postBuild"))
_MAX_BYTES = 20_000_000
_MAX_NAMES = 20
_REMOTE = {"images": {"remote": "warn"}, "embeds": {"remote": "warn"}}


class Notebooks:
    """Importer for a folder of notebooks, or a single notebook."""

    title = "Jupyter notebooks"

    def recognises(self, root: Path) -> bool:
        """Return whether `root` is a notebook, or a folder that contains one, directly or one folder
        below."""
        if root.is_file():
            return root.suffix == ".ipynb"
        return any(root.glob("*.ipynb")) or any(root.glob("*/*.ipynb"))

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Read all notebooks."""
        folder = root.parent if root.is_file() else root
        every = tuple(walk_files(folder))
        paths = [path for path in every if path.suffix == ".ipynb"]
        paths = [PurePosixPath(root.name)] if root.is_file() else paths
        if not paths:
            hint = "write the folder or the path of an `.ipynb` file"
            raise SiteError(Diagnostic("import-source", f'notebook not found in "{root}"', hint=hint))
        # notebooks in the top folder are posts
        has_posts = any(len(path.parts) == 1 for path in paths)
        top = PurePosixPath("content", "posts") if has_posts else PurePosixPath("content")
        others = frozenset(path for path in every if path.suffix != ".ipynb")
        translator = NotebookTranslator({path: top / path.with_suffix(".md") for path in paths}, others)
        found: list[NotebookPage] = []
        notices: list[Notice] = []
        for done, path in enumerate(paths):
            progress("read", done, len(paths))
            text = read_text(folder / path)
            unread = Notice("mistake", "file cannot be read as text", path.as_posix())
            made = unread if text is None else translator.translate(path, text)
            if isinstance(made, Notice):
                notices.append(made)
            else:
                found.append(made)
        copied = _files(found, others, folder, is_single=root.is_file())
        notices += _uncopied_notices(others, copied, is_single=root.is_file())
        return SiteImport(
            root=root,
            system="notebooks",
            settings={"title": _title(root, found), **_REMOTE},
            pages=by_path(each.page for each in found),
            files=tuple(ImportedFile(top / path, folder / path) for path in sorted(copied)),
            notices=tuple(notices),
            made=by_path(file for each in found for file in each.generated_files),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """Return the HTML of a notebook without the outputs of its cells."""
        return render_notebook(text)


def _title(root: Path, found: list[NotebookPage]) -> str:
    if root.is_file() and found:
        return str(found[0].page.front["title"])
    return root.resolve().name.replace("_", " ").replace("-", " ").strip() or "Notebooks"


def _files(
    found: list[NotebookPage], others: frozenset[PurePosixPath], folder: Path, *, is_single: bool
) -> set[PurePosixPath]:
    """Return the files to copy. These are files that pages name, and files that cells may read, because they
    are in the folder of a notebook or below it. others: files that are not notebooks."""
    named = {path for each in found for path in each.files}
    if is_single:
        return named
    folders = {PurePosixPath(each.page.source).parent for each in found}
    for path in others - named:
        is_tool = path.suffix.lower() in _UNCOPIED_SUFFIXES or path.name in _TOOLS or path.stem in _OWN_FILES
        is_near = any(each in path.parents for each in folders)
        if is_near and not is_tool and (folder / path).stat().st_size <= _MAX_BYTES:
            named.add(path)
    return named


def _uncopied_notices(
    others: frozenset[PurePosixPath], copied: set[PurePosixPath], *, is_single: bool
) -> list[Notice]:
    left = sorted(path.as_posix() for path in others - copied if path.suffix.lower() in (".md", ".rst"))
    if is_single or not left:
        return []
    hint = "copy it to `content/`, as Markdown"
    return [
        Notice("unread", f'unknown document format "{PurePosixPath(path).suffix}"', path, hint=hint)
        for path in left
    ]


SYSTEM = Notebooks()
