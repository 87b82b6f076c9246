"""New themes and copied theme files: what is written, that it works, and what is rejected."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.cli.new_theme import copy_theme_file, new_theme
from blogsmith.config.load import load_config
from tests.site_files import build
from tests.test_theme import write

POST = "---\ntitle: A\ndate: 2026-01-01\n---\n\nText.\n"


def site(root: Path, theme: str = "paper") -> Path:
    return write(root, {"blogsmith.yaml": f"title: Site\ntheme: {theme}\n", "content/posts/a.md": POST})


def copy(root: Path, name: str) -> str:
    return copy_theme_file(root, load_config(root).config, name).relative_to(root).as_posix()


def refusal(root: Path, name: str) -> tuple[str, str, str]:
    with pytest.raises(SiteError) as caught:
        copy(root, name)
    (found,) = caught.value.diagnostics
    return found.code, found.message, found.hint


def test_a_new_theme_works(tmp_path: Path) -> None:
    root = site(tmp_path, "mine")
    written = new_theme(root, "mine")
    assert [str(path) for path in written] == [
        "themes/mine/layouts/post.html",
        "themes/mine/static/own.css",
        "themes/mine/theme.yaml",
    ]
    report = build(root)
    assert report.diagnostics == ()
    html = (root / "public/posts/a/index.html").read_text()
    assert "Thank you for reading." in html and 'data-header="bar"' in html
    assert '<meta name="theme-color" content="#fcfcfa" media="(prefers-color-scheme: light)">' in html
    (sheet,) = (root / "public/assets/mine").glob("posts-*.css")
    assert ":root{--accent:light-dark(#1f5673, #8fc1dc)}" in sheet.read_text()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../x", "expected a plain folder name"),
        ("", "expected a plain folder name"),
        ("paper", 'theme "paper" already exists'),
        ("mine", 'theme "mine" already exists'),
    ],
)
def test_names_that_are_refused(tmp_path: Path, name: str, message: str) -> None:
    root = write(site(tmp_path), {"themes/mine/theme.yaml": ""})
    with pytest.raises(SiteError, match=message):
        new_theme(root, name)


def test_a_template_of_a_bundled_theme_goes_to_the_site(tmp_path: Path) -> None:
    root = site(tmp_path)
    assert copy(root, "partials/site_footer.html") == "partials/site_footer.html"
    source = Path(__file__).parent.parent / "themes/paper/partials/site_footer.html"
    assert (root / "partials/site_footer.html").read_bytes() == source.read_bytes()
    assert build(root).diagnostics == ()


def test_files_that_a_theme_inherits_go_to_that_theme(tmp_path: Path) -> None:
    root = site(tmp_path, "mine")
    new_theme(root, "mine")
    assert copy(root, "layouts/section.html") == "themes/mine/layouts/section.html"
    assert copy(root, "theme.css") == copy_path(root, "theme.css")
    assert copy(root, "static/code.css") == copy_path(root, "code.css")
    assert build(root).diagnostics == ()


def copy_path(root: Path, name: str) -> str:
    path = f"themes/mine/static/{name}"
    assert (root / path).is_file()
    return path


def test_what_cannot_be_copied(tmp_path: Path) -> None:
    root = site(tmp_path)
    assert refusal(root, "partials/site_fooder.html") == (
        "theme-file",
        'file not found in theme "paper": "partials/site_fooder.html"',
        "did you mean `partials/site_footer.html`?",
    )
    assert refusal(root, "toc.html")[2] == "did you mean `partials/toc.html`?"
    assert refusal(root, "theme.css")[0] == "theme-file"
    assert "blogsmith new theme" in refusal(root, "theme.css")[2]
    assert refusal(root, "paper/layouts/post.html")[0] == "theme-file"
    copy(root, "layouts/post.html")
    before = (root / "layouts/post.html").read_bytes()
    assert refusal(root, "layouts/post.html")[:2] == ("file-exists", '"layouts/post.html" already exists')
    assert (root / "layouts/post.html").read_bytes() == before
