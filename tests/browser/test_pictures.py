"""Images for readers: the copy of the right size, one colour scheme, enlarged over the page; videos."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from tests.picture_files import drawing, file_of, scene
from tests.site_files import build, printed, put

from . import tools
from .accessibility import faults_in_looks
from .conftest import Served
from .firefox import Firefox
from .reader import DARK, DESKTOP, PAPER, PHONE, WITHOUT_SCRIPTS, Look, Reader, wait_for
from .server import served

PAGE = "/sub/posts/a/"
POST = """---
title: A
date: 2026-01-02
---

![A scene](scene.png){#fig-scene}

![By day](day.png#only-light "A pair"){.lightbox}
![By night](night.png#only-dark)

By night ![a star](day.png#only-dark) alone.

<div class="gallery lightbox" data-cols="2">
![First](scene.png "One, $x^2$")
![](day.png)
</div>

![Rows come one by one](rows.mp4){.loop data-poster=day.png data-captions=rows.vtt}

<div class="gallery" data-cols="2">
![Left](scene.png)
![Right](scene.png)
</div>
"""
FILMS = Path(__file__).parents[2] / "content/docs/figures"
CONFIG = "title: T\nbase_url: https://example.org/sub\ntheme_options: {switch: true}\n"
VIEW = "const view = document.querySelector('dialog'); const image = view.querySelector('img'); return "
NAME = "new URL(image.src).pathname.split('/').pop().replace(/-[0-9a-f]{12}-/, '-')"
STATE = f"{VIEW}view.open ? [{NAME}, image.alt, view.querySelector('figcaption')?.textContent ?? ''] : []"
OPEN = "document.querySelectorAll('a.lightbox')[arguments[0]].click()"
SHOWN = "return [...document.images].filter(image => image.checkVisibility()).map(image => image.alt)"
SHIFT = """
let total = 0;
new PerformanceObserver(list => list.getEntries().forEach(entry => (total += entry.value)))
  .observe({type: "layout-shift", buffered: true});
return new Promise(done => setTimeout(() => done(total), 300));
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Build a post with images of every kind, below a path, and serve it."""
    small = {"day": drawing(400, 300), "night": drawing(400, 300).rotate(180)}
    files: dict[str, str | bytes] = {
        "blogsmith.yaml": CONFIG,
        "content/posts/a/index.md": POST,
        "content/posts/b.md": "---\ntitle: B\ndate: 2026-01-01\n---\n\nSee {@a#fig-scene}.\n",
        "content/posts/a/scene.png": file_of(scene(1800, 1200), compress_level=0),
        **{f"content/posts/a/{name}.png": file_of(image) for name, image in small.items()},
        **{f"content/posts/a/{name}": (FILMS / name).read_bytes() for name in ("rows.mp4", "rows.vtt")},
    }
    folder = tmp_path_factory.mktemp("pictures")
    root = put(folder / "site", files)
    report = build(root, output=folder / "public" / "sub")
    assert report.ok, printed(report)
    assert not report.diagnostics, printed(report)
    with served(folder / "public") as origin:
        yield Served(folder / "public", origin)


def pictures_of(reader: Reader) -> set[str]:
    """Return the names of requested images, after all nearby images are loaded."""
    reader.wait_for(lambda: reader.ask("return [...document.images].some(image => image.complete)"))
    reader.wait_for(lambda: reader.ask("return document.querySelector('figure img').naturalWidth > 0"))
    names = {url.rpartition("/")[2] for url in reader.requests()}
    return {name for name in names if name.endswith((".webp", ".png"))}


@pytest.mark.parametrize(("look", "width"), [(PHONE, "480"), (DESKTOP, "800")])
def test_each_screen_gets_the_copy_that_fits(site: Served, reader: Reader, look: Look, width: str) -> None:
    reader.open(site.url(PAGE), look)
    found = pictures_of(reader)
    assert any(name.startswith("scene-") and name.endswith(f"-{width}.webp") for name in found)
    assert "scene.png" not in found
    assert reader.ask("return document.querySelector('figure img').currentSrc").endswith(f"-{width}.webp")
    assert reader.ask(SHIFT) == 0
    assert reader.problems() == []


@pytest.mark.parametrize(
    ("look", "has", "lacks"), [(DESKTOP, "day.png", "night.png"), (DARK, "night.png", "")]
)
def test_one_of_a_pair_is_loaded(site: Served, reader: Reader, look: Look, has: str, lacks: str) -> None:
    reader.open(site.url(PAGE), look)
    reader.ask("document.querySelector('.scheme-pair').scrollIntoView()")
    seen = "return document.querySelector('.scheme-pair img').currentSrc"
    reader.wait_for(lambda: reader.ask(seen).endswith(has))
    assert lacks not in {url.rpartition("/")[2] for url in reader.requests()} - {""}
    words = reader.ask(SHOWN)
    assert words.count("By day") == 1
    assert ("a star" in words) is (look is DARK)


def test_pairs_follow_the_switch_and_paper_gets_the_light_one(site: Served, reader: Reader) -> None:
    reader.open(site.url(PAGE))
    reader.ask("document.documentElement.dataset.theme = 'dark'")
    seen = "return document.querySelector('.scheme-pair img').currentSrc"
    reader.wait_for(lambda: reader.ask(seen).endswith("night.png"))
    assert "a star" in reader.ask(SHOWN)
    reader.take_on(PAPER)
    assert "a star" not in reader.ask(SHOWN)
    assert reader.ask("return document.querySelector('.scheme-pair').checkVisibility()") is False
    assert reader.ask("return document.querySelector('.for-paper').checkVisibility()") is True


def test_a_lightbox_by_keyboard(site: Served, reader: Reader) -> None:
    reader.open(site.url(PAGE))
    reader.wait_for(lambda: reader.ask("return document.querySelector('dialog') !== null"))
    reader.ask("document.querySelectorAll('.gallery a.lightbox')[0].focus()")
    reader.press(Keys.ENTER)
    reader.wait_for(lambda: reader.ask(STATE))
    assert reader.ask(STATE) == ["scene-1600.webp", "First", "One, x2"]
    assert reader.ask("return document.activeElement.ariaLabel") == "Close"
    reader.press(Keys.ARROW_RIGHT)
    assert reader.ask(STATE) == ["day.png", "", ""]
    reader.press(Keys.ARROW_RIGHT)
    assert reader.ask(STATE)[1] == "First"
    reader.press(Keys.ARROW_LEFT)
    reader.press(Keys.ESCAPE)
    reader.wait_for(lambda: reader.ask(STATE) == [])
    # The dialog handles its end a moment later.
    reader.wait_for(lambda: reader.ask("return document.activeElement.href").endswith("/day.png"))
    assert reader.ask(SHIFT) == 0
    assert reader.problems() == []


def test_a_lightbox_shows_what_fits_the_scheme(site: Served, reader: Reader) -> None:
    for look, name in ((DESKTOP, "day.png"), (DARK, "night.png")):
        reader.open(site.url(PAGE), look)
        reader.ask(OPEN, 0)
        assert reader.ask(STATE)[0] == name
        # A single image has no links to others.
        assert reader.ask("return document.querySelector('.lightbox-step').checkVisibility()") is False
        reader.find(".lightbox-close").click()
        assert reader.ask(STATE) == []


def test_pages_with_pictures_have_no_fault(site: Served, reader: Reader) -> None:
    axe = tools.file(tools.AXE).read_text("utf-8")
    reader.open(site.url(PAGE))
    assert faults_in_looks(reader, axe) == []
    reader.ask(OPEN, 1)
    assert faults_in_looks(reader, axe) == []


def test_without_scripts_links_lead_to_large_pictures(site: Served, reader: Reader) -> None:
    reader.open(site.url(PAGE), WITHOUT_SCRIPTS)
    assert reader.ask("return document.querySelector('dialog').checkVisibility()") is False
    links = reader.ask("return [...document.querySelectorAll('a.lightbox')].map(link => link.pathname)")
    for link in links:
        assert (site.folder / link.removeprefix("/")).is_file()


def test_a_film_has_its_size_captions_and_no_haste(site: Served, reader: Reader) -> None:
    reader.open(site.url(PAGE))
    reader.ask("document.querySelector('video').scrollIntoView()")
    box = "const box = document.querySelector('video').getBoundingClientRect(); return box.width / box.height"
    assert reader.ask(box) == pytest.approx(640 / 360, rel=0.01)
    assert reader.ask("return document.querySelector('video').textTracks[0].kind") == "captions"
    # This reader prefers reduced motion.
    assert reader.ask("return document.querySelector('video').paused") is True
    reader.tell("Emulation.setEmulatedMedia", media="screen", features=[])
    reader.open_again()
    reader.ask("document.querySelector('video').scrollIntoView()")
    reader.wait_for(lambda: not reader.ask("return document.querySelector('video').paused"))


def test_a_card_from_a_page_with_a_film_asks_for_no_captions(site: Served, reader: Reader) -> None:
    reader.open(site.url("/sub/posts/b/"))
    reader.ask("document.querySelector('a.xref').focus()")
    reader.wait_for(lambda: reader.ask("return document.querySelector('.preview:popover-open') !== null"))
    assert not [url for url in reader.requests() if url.endswith(".vtt")]
    assert reader.problems() == []


def test_the_same_in_firefox(site: Served, fox: Firefox) -> None:
    fox.open(site.url(PAGE))
    loaded = "return document.querySelector('figure img').decode().then(() => true)"
    assert fox.ask(loaded)
    assert fox.ask("return document.querySelector('figure img').currentSrc").endswith("-800.webp")
    assert fox.ask(SHOWN).count("By day") == 1
    fox.ask(OPEN, 1)
    assert fox.ask(STATE) == ["scene-1600.webp", "First", "One, x2"]
    fox.ask("document.querySelectorAll('.lightbox-step')[1].click()")
    assert fox.ask(STATE)[0] == "day.png"
    fox.ask("document.querySelector('.lightbox-close').click()")
    # The dialog handles its end a moment later.
    closed = "return [document.querySelector('dialog').open, document.activeElement.className]"
    wait_for(lambda: fox.ask(closed) == [False, "lightbox"])


def test_rows_of_a_gallery_are_as_high_as_its_images_in_firefox(site: Served, fox: Firefox) -> None:
    fox.open(site.url(PAGE))
    images = "const images = [...document.querySelectorAll('.gallery:not(.lightbox) > .figure > img')];"
    load = "images.forEach(image => (image.loading = 'eager'));"
    assert fox.ask(f"{images}{load} return Promise.all(images.map(image => image.decode())).then(() => true)")
    heights = "images.flatMap(image => [image, image.parentElement]).map(one => one.clientHeight)"
    found = fox.ask(f"{images} return {heights}")
    # a figure has its share of the gap between rows
    assert len(found) == 4 and max(found) - min(found) < 20
