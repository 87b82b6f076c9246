"""`blogsmith theme list` and `blogsmith theme preview`."""

from __future__ import annotations

import _thread
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from blogsmith.cli import theme_preview
from blogsmith.cli.theme import theme
from blogsmith.render.templates.files import ThemeFolder, theme_folders


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "blogsmith.yaml").write_text("title: T\ntheme: mine\n")
    folder = tmp_path / "themes" / "mine"
    folder.mkdir(parents=True)
    (folder / "theme.yaml").write_text("name: mine\ndescription: 'Green: and calm'\nextends: distill\n")
    return tmp_path


def test_the_list_has_bundled_themes_and_those_of_the_site(site: Path) -> None:
    result = CliRunner().invoke(theme, ["list", "--site", str(site)], standalone_mode=False)
    lines = result.output.splitlines()
    assert [line.split()[0 if line[0] == " " else 1] for line in lines] == [
        *("distill", "mine", "notebook", "paper", "scholar", "terminal")
    ]
    assert lines[1] == "* mine      Green: and calm (themes/mine)"
    assert lines[3].endswith("(bundled)")
    (site / "blogsmith.yaml").write_text("title: T\ntheme: yours\n", "utf-8")
    result = CliRunner().invoke(theme, ["list", "--site", str(site)], standalone_mode=False)
    assert (
        result.output.splitlines()[-1] == "* yours     unknown theme: choose one of these in blogsmith.yaml"
    )


def fetch(url: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""


def test_every_theme_has_a_page_with_every_element(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def two(root: Path, bundled: Path) -> list[ThemeFolder]:
        return [folder for folder in theme_folders(root, bundled) if folder.name in ("mine", "scholar")]

    monkeypatch.setattr(theme_preview, "theme_folders", two)
    got: dict[str, tuple[int, str]] = {}

    def read(url: str) -> None:
        for path in ("", "mine/elements/", "scholar/elements/", "../../etc/passwd"):
            got[path] = fetch(url + path)
        got["another host"] = fetch(url, Host="evil.example")
        _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        theme_preview.preview_themes(
            site, "mine", 0, lambda url: threading.Thread(target=read, args=(url,), daemon=True).start()
        )
    menu = got[""][1]
    assert menu.index("/mine/elements/") < menu.index("/scholar/elements/")
    assert "<script" not in menu
    for name in ("mine", "scholar"):
        status, page = got[f"{name}/elements/"]
        assert status == 200 and f"assets/{name}/" in page and 'class="callout' in page
    assert got["../../etc/passwd"][0] == 404
    assert got["another host"][0] == 403
    assert not (site / "public").exists()
