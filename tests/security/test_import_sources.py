"""Row 45: an import reads and copies only files inside its source."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.importers import source_files
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.report import ImportResult
from blogsmith.project.report import no_progress
from tests.site_files import NOW, put

SECRET = "a-secret-of-another-folder"
JEKYLL = {
    "_config.yml": "title: Notes\n",
    "_posts/2024-03-01-a.md": "---\ntitle: A\n---\n\nText. {% include own.html %}\n",
}
HUGO = {"content/a.md": "---\ntitle: A\ndate: 2024-03-01\n---\n\nText.\n"}
QUARTO = {"_quarto.yml": "website: {title: Notes}\n", "a.qmd": "---\ntitle: A\n---\n\nText.\n"}


def run(tmp_path: Path, files: Mapping[str, str], lay: Callable[[Path], None] | None = None) -> ImportResult:
    """Import a source with a folder of secrets beside it, and assert that no secret is copied."""
    source, outside = tmp_path / "home" / "source", tmp_path / "home" / "outside"
    put(source, files)
    outside.mkdir()
    for name in ("a.md", "a.html", "a.bib", "a.yml", "a.txt", "a.tex", "index.md", "_index.md", "refs.bib"):
        (outside / name).write_text(_secret(name), encoding="utf-8")
    if lay:
        lay(source)
    done = import_site(source, tmp_path / "new", ImportOptions(now=NOW), no_progress)
    for file in (tmp_path / "new").rglob("*"):
        assert not file.is_symlink()
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file
    return done


def _secret(name: str) -> str:
    forms = {
        ".bib": f"@book{{key, title = {{{SECRET}}}, year = 2000}}\n",
        ".tex": rf"\newcommand{{\secret}}{{\text{{{SECRET}}}}}",
        ".yml": f"secret: {SECRET}\n",
    }
    return forms.get(Path(name).suffix, f"---\ntitle: {SECRET}\n---\n\n{SECRET}\n")


def link(name: str, target: str) -> Callable[[Path], None]:
    """Return a function that puts a symbolic link into the source and creates missing folders."""

    def lay(source: Path) -> None:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).symlink_to(target)

    return lay


LINKS = {
    "file that is copied": ("assets/a.txt", "../../outside/a.txt"),
    "absolute": ("assets/hosts", "/etc/hosts"),
    "folder that is copied": ("assets/all", "../../outside"),
    "post": ("_posts/2024-03-02-b.md", "../../outside/a.md"),
    "folder of posts": ("_drafts", "../outside"),
    "include": ("_includes/own.html", "../../outside/a.html"),
    "folder of includes": ("_includes", "../outside"),
    "data": ("_data", "../outside"),
    "bibliographies": ("_bibliography", "../outside"),
    "what is hidden in the source": ("assets/a.txt", "../.git/config"),
    "by two links": ("assets/a/config", "config"),
    "a loop": ("assets/loop", "loop"),
    "a folder in itself": ("assets/again", ".."),
    "a device": ("assets/zero", "/dev/zero"),
    "a post without an end": ("_posts/2024-03-02-b.md", "/dev/zero"),
}


@pytest.mark.parametrize("name", LINKS)
def test_row_45_links_of_a_source(name: str, tmp_path: Path) -> None:
    place, target = LINKS[name]

    def lay(source: Path) -> None:
        (source / ".git").mkdir()
        (source / ".git" / "config").write_text(f"token = {SECRET}")
        if name == "by two links":
            (source / "assets").mkdir()
            (source / "assets" / "a").symlink_to("../.git")
        else:
            link(place, target)(source)

    done = run(tmp_path, JEKYLL, lay)
    assert [page.source for page in done.site.pages] == ["_posts/2024-03-01-a.md"]
    assert not list((tmp_path / "new" / "static").rglob("*"))


def test_row_45_a_link_that_leads_out_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, JEKYLL, link("assets/a.txt", "../../outside/a.txt"))
    (found,) = [notice for notice in done.site.notices if notice.kind == "missing"]
    assert (found.source, found.message) == (
        "assets/a.txt",
        "symbolic link that points outside the site is not followed",
    )


def test_row_45_links_in_the_source_are_read(tmp_path: Path) -> None:
    files = {**JEKYLL, "assets/a.txt": "text"}
    done = run(tmp_path, files, link("assets/b.txt", "a.txt"))
    assert (tmp_path / "new/static/assets/b.txt").read_text() == "text"
    assert not done.site.notices


@pytest.mark.parametrize(
    "settings",
    [
        *("contentDir = '../outside'", "staticDir = '../outside'", "staticDir = ['static', '../outside']"),
        *("assetDir = '../outside'", "staticDir = '../../home/outside'", "contentDir = '/../outside'"),
        "[languages.en]\ncontentDir = '../outside'",
    ],
)
def test_row_45_folders_of_hugo_settings(settings: str, tmp_path: Path) -> None:
    shown = "---\ntitle: B\n---\n\n![](/a.txt) {{< code file=../../../outside/a.txt >}}\n"
    run(tmp_path, {**HUGO, "content/b.md": shown, "hugo.toml": f"title = 'Notes'\n{settings}\n"})


def test_row_45_assets_of_hugo_that_are_linked(tmp_path: Path) -> None:
    files = {**HUGO, "hugo.toml": "title = 'Notes'\n", "content/b.md": "---\ntitle: B\n---\n\n![](/a.txt)\n"}
    run(tmp_path, files, link("assets", "../outside"))


@pytest.mark.parametrize(
    "front",
    [
        "bibliography: ../outside/refs.bib",
        "bibliography: 'x:/../../outside/refs.bib'",
        "include-in-header: {file: ../outside/a.tex}",
        "include-in-header: [{file: ../outside/a.tex}]",
        "format: {html: {include-in-header: {file: ../outside/a.tex}}}",
        "metadata-files: [../outside/a.yml]",
    ],
)
def test_row_45_files_of_quarto_options(front: str, tmp_path: Path) -> None:
    text = f"---\ntitle: B\n{front}\n---\n\n[@key] $\\secret$ {{{{< meta secret >}}}}\n"
    files = {**QUARTO, "b.qmd": text, "x:/keep.txt": "", "c.qmd": "{{< include ../outside/a.md >}}\n"}
    run(tmp_path, files)


@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("_variables.yml", "../outside/a.yml"),
        ("_part.qmd", "../outside/a.md"),
        ("refs.bib", "../outside/a.bib"),
    ],
)
def test_row_45_linked_files_of_quarto(place: str, target: str, tmp_path: Path) -> None:
    text = "[@key] {{< var secret >}}\n\n{{< include _part.qmd >}}\n"
    files = {**QUARTO, "b.qmd": f"---\ntitle: B\nbibliography: refs.bib\n---\n\n{text}"}
    run(tmp_path, files, link(place, target))


@pytest.mark.parametrize(
    "place", ["_posts/2024-03-02-b.md", "assets/a.txt", "_includes/own.html", "_data/a.yml"]
)
def test_row_45_a_pipe_is_not_waited_for(place: str, tmp_path: Path) -> None:
    def lay(source: Path) -> None:
        (source / place).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(source / place)

    run(tmp_path, JEKYLL, lay)


def test_row_45_a_pipe_that_is_included_is_not_waited_for(tmp_path: Path) -> None:
    files = {**QUARTO, "b.qmd": "---\ntitle: B\n---\n\n{{< include _part.qmd >}}\n"}
    run(tmp_path, files, lambda source: os.mkfifo(source / "_part.qmd"))


def test_row_45_a_file_too_large_to_copy_is_told(tmp_path: Path) -> None:
    def lay(source: Path) -> None:
        (source / "assets").mkdir()
        (source / "assets" / "holes.bin").touch()
        os.truncate(source / "assets" / "holes.bin", source_files.MAX_COPY_BYTES + 1)

    done = run(tmp_path, JEKYLL, lay)
    (found,) = [notice for notice in done.site.notices if notice.kind == "missing"]
    assert found.message == "file is not copied: it is larger than 500 MB"
    assert not (tmp_path / "new/static").exists()


# -- where the import writes --


def test_row_45_links_in_the_new_folder_are_not_entered(tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "content").symlink_to(outside)
    with pytest.raises(SiteError, match="link"):
        run(tmp_path, JEKYLL)
    assert not list(outside.iterdir())


def test_row_45_a_record_of_another_does_not_remove_what_is_outside(tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("")
    (tmp_path / "new").mkdir()
    digest = hashlib.sha256(b"").hexdigest()
    names = ("../precious.txt", str(precious), "content/../../precious.txt", "up/precious.txt")
    (tmp_path / "new" / "up").symlink_to(tmp_path)
    (tmp_path / "new" / "import-report.json").write_text(json.dumps({"files": dict.fromkeys(names, digest)}))
    with suppress(SiteError):
        run(tmp_path, JEKYLL)
    assert precious.exists()


def test_row_45_a_new_folder_that_is_a_link_into_the_source(tmp_path: Path) -> None:
    def lay(source: Path) -> None:
        (source / "inner").mkdir()
        (tmp_path / "new").symlink_to(source / "inner")

    with pytest.raises(SiteError, match="overlap"):
        run(tmp_path, JEKYLL, lay)
