"""Row 12: text from files and file names in messages of the preview stays text, in Chromium."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator

import pytest

from tests.browser.conftest import reader
from tests.browser.preview_tab import Tab
from tests.browser.reader import Reader
from tests.serve_process import Serving, post, running, write

__all__ = ["reader"]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

SCRIPT = "<script>window.hit = 1</script>"
IMAGE = "<img src=x onerror=window.hit=1>"
LINK = "[x](<no&lt;img src=x onerror=window.hit=1&gt;.md>)"
SITE = {
    "blogsmith.yaml": "title: Notes\n",
    "content/posts/a.md": post("First", "Some text."),
    "content/posts/b.md": post("Second", "More text."),
}
HOSTILE = {
    "path": ({f"content/posts/{IMAGE}.md": post("Odd", r"$\sofmax$")}, IMAGE),
    "title": ({"content/posts/b.md": f'---\ntitle: {{"{SCRIPT}": 1}}\n---\n'}, SCRIPT),
    "message": ({"content/posts/b.md": f'---\ntitle: B\ndate: "{SCRIPT}"\n---\n'}, SCRIPT),
    "source line": ({"content/posts/b.md": post("B", rf"{IMAGE} {SCRIPT} $\sofmax$")}, SCRIPT),
    "title of the page": ({"content/posts/b.md": post(f"'{SCRIPT}'", r"$\sofmax$ " + IMAGE)}, IMAGE),
    "link": ({"content/posts/b.md": post("B", LINK + r" $\sofmax$")}, "onerror"),
    "formula": ({"content/posts/b.md": post("B", rf"$\sofmax{{{SCRIPT}}}$")}, SCRIPT),
    "settings": ({"blogsmith.yaml": f'title: Notes\n"{SCRIPT}": x\n'}, SCRIPT),
    "template": ({"partials/site_footer.html": f"<p>{{{{ nothing }}}}{SCRIPT}</p>"}, SCRIPT),
}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Run a preview of two posts."""
    root = tmp_path_factory.mktemp("messages") / "site"
    write(root, SITE)
    with running(root) as serving:
        serving.wait_until_whole()
        yield serving


@pytest.fixture
def tab(serving: Serving, reader: Reader) -> Iterator[Tab]:
    """Open a tab of the first post, and assert at the end that no script from a file has run."""
    tab = Tab(serving, reader)
    tab.open("/posts/a/")
    yield tab
    assert tab.ask("return window.hit === undefined && document.querySelector('[onerror]') === null")
    assert tab.own("return shadow.querySelector('script, img, iframe, [onerror]') === null")
    assert reader.foreign_requests() == []
    # Fixed errors are no longer reported.
    for name in ("content", "partials"):
        shutil.rmtree(serving.root / name, ignore_errors=True)
    write(serving.root, SITE)
    tab.wait_own("return !shadow.querySelector('dialog').open")
    assert tab.is_same
    reader.problems()
    reader.tell("Page.navigate", url="about:blank")


@pytest.mark.parametrize("place", HOSTILE)
def test_row_12_the_overlay_shows_text(tab: Tab, place: str) -> None:
    files, hostile = HOSTILE[place]
    tab.save(files)
    text = tab.wait_own("const box = shadow.querySelector('dialog'); return box.open && box.innerText")
    assert hostile in text
    # The button of a message and the text for screen readers also come from files.
    said = tab.own("return [...shadow.querySelectorAll('*')].map(e => e.localName)")
    assert not {"script", "img", "iframe", "object", "embed", "link", "base"} & set(said)
