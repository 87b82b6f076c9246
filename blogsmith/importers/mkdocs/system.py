"""Importer for MkDocs, Material for MkDocs and Zensical."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import Progress
from ..addresses import add_aliases, keep_url
from ..front_keys import complete_page
from ..model import ImportedFile, ImportedPage, Notice, SiteImport, by_path
from ..notebooks.independent import render_notebook
from ..notebooks.page import NotebookPage, NotebookTranslator
from ..page_work import ONE_PROCESS, Workers, translate_document
from ..protection import draft_settings
from ..source_files import read_text
from ..text.data import DataTextError, as_list, load_mapping
from ..text.math import script_macros
from .blocks import split_abbreviations
from .config import MkDocsConfig, code_notices, find_config, read_config
from .independent import render_python_markdown
from .links import (
    contents_page,
    link_table,
    page_address,
    page_path,
    section_series,
    site_menu,
    with_tag_lists,
)
from .page import KEYS, MkDocsPageTranslator
from .source import MkDocsFiles, find_files


class MkDocs:
    """Importer for a site with a `mkdocs.yml` or a `zensical.toml`."""

    title = "MkDocs"

    def recognises(self, root: Path) -> bool:
        """Return whether the folder contains settings of MkDocs or Zensical."""
        return find_config(root) is not None

    def read(self, root: Path, progress: Progress, workers: Workers = ONE_PROCESS) -> SiteImport:
        """Read the whole site."""
        config = read_config(root)
        files = find_files(root, config)
        translator = MkDocsPageTranslator(
            config=config,
            read=_snippet_reader(root, config),
            links=link_table([*(document.path for document in files.documents), *files.notebooks], config),
            titles={entry.file: entry.title for entry in files.nav if entry.file and entry.title},
            series=section_series(files.nav),
            abbreviations=_abbreviations(root, config),
            people=_people(root, config),
        )
        pages: list[ImportedPage] = []
        for done, document in enumerate(files.documents):
            progress("read", done, len(files.documents))
            page = complete_page(translate_document(translator.translate, document), document.front, KEYS)
            pages.append(keep_url(page, {}))
        notebooks = _notebook_pages(files, translator, root, progress)
        pages += [keep_url(each.page, {}) for each in notebooks if isinstance(each, NotebookPage)]
        pages, notices = _with_redirects(with_tag_lists(pages, translator.titles, config), config)
        titles = ((PurePosixPath(page.source), str(page.front["title"])) for page in pages)
        named = {source.relative_to(config.docs).as_posix(): title for source, title in titles}
        if not any(page.path.as_posix() == "content/contents.md" for page in pages):
            pages.append(contents_page(files.nav, named, config))
        notices = [*files.notices, *notices, *code_notices(config)]
        return SiteImport(
            root=root,
            system="mkdocs",
            settings=_settings(config, files, pages, translator, root),
            pages=by_path(pages),
            files=tuple(_files(files, config, root, pages)),
            notices=(*notices, *(each for each in notebooks if isinstance(each, Notice))),
            made=by_path(
                file for each in notebooks if isinstance(each, NotebookPage) for file in each.generated_files
            ),
            old_settings=(config.old_settings,),
        )

    def render(self, text: str, page: ImportedPage) -> str:
        """Return the HTML of a page's source, rendered by markdown-it."""
        # plugins render notebooks as Jupyter does
        return render_notebook(text) if page.source.endswith(".ipynb") else render_python_markdown(text)


def _notebook_pages(
    files: MkDocsFiles, site: MkDocsPageTranslator, root: Path, progress: Progress
) -> list[NotebookPage | Notice]:
    """Translate the notebooks, and add their positions in the navigation. Return a notice for each invalid or
    protected notebook."""
    config = site.config
    every = [*(document.path for document in files.documents), *files.notebooks]
    translator = NotebookTranslator(
        {path: page_path(path) for path in every}, frozenset(files.copied), config.docs.as_posix()
    )
    made: list[NotebookPage | Notice] = []
    for done, path in enumerate(files.notebooks):
        progress("read", done, len(files.notebooks))
        text = read_text(root / config.docs / path)
        found = translator.translate(path, text or "")
        if isinstance(found, NotebookPage):
            front = dict(found.page.front)
            if path.as_posix() in site.series:
                section, part = site.series[path.as_posix()]
                front["series"] = {"name": section, "part": part}
            found = replace(found, page=replace(found.page, front=front, address=page_address(path, config)))
        made.append(found)
    return made


def _files(
    files: MkDocsFiles, config: MkDocsConfig, root: Path, pages: list[ImportedPage]
) -> list[ImportedFile]:
    taken = {page.path for page in pages}
    content, docs = PurePosixPath("content"), root / config.docs
    copied = (ImportedFile(content / path, docs / path) for path in files.copied)
    return [file for file in copied if file.path not in taken]


def _snippet_reader(root: Path, config: MkDocsConfig) -> Callable[[str], str | None]:
    """Return a function that returns the content of a snippet from a folder in `base_path` or from the site's
    own folders. The function returns None for missing files and for files outside the source."""
    written = config.extensions.get("pymdownx.snippets", {}).get("base_path") or ["."]
    bases = [str(each) for each in as_list(written) if each]
    folders = [root / config.folder / base.replace("$config_dir", ".") for base in bases]
    top = root.resolve()

    def read(name: str) -> str | None:
        if "://" in name:
            return None
        for folder in (*folders, root / config.folder, root / config.docs):
            file = (folder / name.lstrip("/")).resolve()
            if file.is_file() and file.is_relative_to(top):
                return read_text(file)
        return None

    return read


def _abbreviations(root: Path, config: MkDocsConfig) -> dict[str, str]:
    """Return abbreviation → meaning, from the files that the extension snippets appends to every page."""
    read = _snippet_reader(root, config)
    names = config.extensions.get("pymdownx.snippets", {}).get("auto_append") or []
    found: dict[str, str] = {}
    for name in as_list(names):
        found |= split_abbreviations(read(str(name)) or "")[1]
    return found


def _people(root: Path, config: MkDocsConfig) -> dict[str, str]:
    """Return short name → full name of each author in the blog's `.authors.yml`; empty if this file does not
    exist."""
    file = root / config.docs / config.blog_folder / ".authors.yml"
    if not config.blog_folder or not file.is_file():
        return {}
    try:
        authors = load_mapping(read_text(file) or "").get("authors")
    except DataTextError:
        return {}
    people = authors.items() if isinstance(authors, dict) else ()
    return {str(key): str(each.get("name") or key) for key, each in people if isinstance(each, dict)}


def _with_redirects(
    pages: list[ImportedPage], config: MkDocsConfig
) -> tuple[list[ImportedPage], list[Notice]]:
    """Return the pages, with old URLs that redirect to them as aliases. Also return a notice for each
    redirect whose target is not one of these pages."""
    aliases: dict[PurePosixPath, list[str]] = {}
    notices = []
    known = {page.path for page in pages}
    for old, new in config.redirects.items():
        path = page_path(PurePosixPath(new.partition("#")[0]))
        stem = PurePosixPath(old).with_suffix("").as_posix().removesuffix("/index")
        if path in known:
            aliases.setdefault(path, []).append(f"/{stem}/" if config.has_pretty_urls else f"/{stem}.html")
        else:
            message = f'redirect from "{old}" is omitted: its target "{new}" is outside the site'
            notices.append(Notice("dropped", message, config.file.as_posix()))
    return [add_aliases(page, sorted(aliases.get(page.path, ()))) for page in pages], notices


def _settings(
    config: MkDocsConfig,
    files: MkDocsFiles,
    pages: list[ImportedPage],
    translator: MkDocsPageTranslator,
    root: Path,
) -> dict[str, Any]:
    found: dict[str, Any] = {"title": config.text("site_name") or "Untitled site"}
    for name, key in (("site_description", "description"), ("site_author", "author")):
        if text := config.text(name):
            found[key] = text
    if (address := config.text("site_url").rstrip("/")).startswith(("https://", "http://")):
        found["base_url"] = address
    if config.language:
        found["lang"] = config.language.replace("_", "-")
    if menu := site_menu(files.nav, config):
        found["menu"] = menu
    found |= {"slugs": "github", "images": {"remote": "warn"}, "embeds": {"remote": "warn"}}
    if config.extensions.get("pymdownx.highlight", {}).get("linenums") is True:
        found["code"] = {"line_numbers": True}
    if "nl2br" in config.extensions:
        found["markup"] = {"line_breaks": True}
    macros = _macros(root, config)
    if macros:
        found["math"] = {"macros": macros}
    if translator.kinds:
        found["callouts"] = {
            kind: {"title": kind.replace("-", " ").capitalize()} for kind in sorted(translator.kinds)
        }
    return found | draft_settings(pages)


def _macros(root: Path, config: MkDocsConfig) -> dict[str, str]:
    """Return the TeX macros in scripts that configure MathJax or KaTeX."""
    scripts = config.values.get("extra_javascript")
    macros: dict[str, str] = {}
    for script in scripts if isinstance(scripts, list) else ():
        name = str(script.get("path") if isinstance(script, dict) else script)
        file = root / config.docs / name.partition("?")[0]
        if "://" not in name and file.is_file():
            macros |= script_macros(read_text(file) or "")
    return macros


SYSTEM = MkDocs()
