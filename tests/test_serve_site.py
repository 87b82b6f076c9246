"""`blogsmith serve` with a site: pages, and behaviour with errors and missing files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.rows import thinned
from tests.serve_posts import is_as_built
from tests.serve_process import PATIENCE_S, PROGRAM, Serving, post, running, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

CONFIG = "title: Notes\nbase_url: https://notes.example/my\n"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{0}"><rect width="1" height="1"/></svg>'
ODD = "content/posts/größe 1<2.md"


def image_post(size: int) -> dict[str, str]:
    """Return a bundle with an image."""
    text = post("Picture", "![A square](<a square.svg>)")
    return {"content/posts/picture/index.md": text, "content/posts/picture/a square.svg": SVG.format(size)}


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Yield a preview of a site below a path; every test restores it."""
    root = tmp_path_factory.mktemp("notes") / "site"
    files = {
        "blogsmith.yaml": CONFIG,
        "content/posts/a.md": post("First", "Some $x^2$ text.", tags="[one]", aliases="[/old/]"),
        "content/posts/b.md": post("Second", "More text."),
        ODD: post("Odd", "Text of an odd post.", slug="größe-1"),
        "static/data.txt": "some data",
    }
    write(root, files | image_post(10))
    with running(root) as serving:
        serving.wait_until_whole()
        yield serving


class TestAsBuilt:
    def test_every_file_is_that_of_a_build(self, serving: Serving, tmp_path: Path) -> None:
        output = tmp_path / "public"
        command = [str(PROGRAM), "build", "--output", str(output)]
        done = subprocess.run(command, cwd=serving.root, capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == 0, done.stderr
        files = [path for path in output.rglob("*") if path.is_file() and not path.name.startswith(".")]
        names = {path.relative_to(output).as_posix() for path in files}
        assert {"index.html", "atom.xml", "feed.json", "sitemap.xml", "robots.txt", "data.txt"} <= names
        assert {"old/index.html", "404.html", "posts/größe-1/index.html"} <= names
        for name in sorted(names):
            got = serving.ask(f"/my/{quote(name.removesuffix('index.html'))}")
            assert (name, got.status) == (name, 200)
            built = (output / name).read_bytes()
            assert is_as_built(got.body, built) if name.endswith(".html") else got.body == built, name

    def test_types(self, serving: Serving) -> None:
        for name, type_ in {
            "atom.xml": "application/atom+xml",
            "feed.json": "application/feed+json",
            "sitemap.xml": "application/xml",
            "data.txt": "text/plain",
            "posts/a/": "text/html; charset=utf-8",
            "posts/picture/a%20square.svg": "image/svg+xml",
        }.items():
            assert serving.ask(f"/my/{name}").headers["content-type"].startswith(type_), name

    @pytest.mark.parametrize(
        ("asked", "found"),
        [("/", "/my/"), ("/my", "/my/"), ("/my/posts/a", "/my/posts/a/"), ("/my/old", "/my/old/")],
    )
    def test_where_addresses_lead(self, serving: Serving, asked: str, found: str) -> None:
        got = serving.ask(asked)
        assert (got.status, got.headers["location"]) == (301, found)

    @pytest.mark.parametrize(
        "path", ["/posts/a/", "/myposts/a/", "/my/content/posts/a.md", "/my/blogsmith.yaml", "/my/../"]
    )
    def test_what_is_no_page(self, serving: Serving, path: str) -> None:
        assert serving.ask(path).status in (400, 404)

    def test_a_page_under_an_odd_name(self, serving: Serving) -> None:
        page = serving.page(f"/my/posts/{quote('größe-1')}/")
        assert 'data-source="content/posts/größe 1&lt;2.md"' in page
        with serving.listen() as tab:
            write(serving.root, {ODD: post("Odd", "Another text.", slug="größe-1")})
            path = f"/my/posts/{quote('größe-1')}/"
            # pages requested by earlier tests may be announced, too
            tab.wait_until(lambda: bool(tab.version(path)))
            [told] = [event["pages"][path] for event in tab.of("pages") if path in event["pages"]]
            assert told["line"] == 7
        serving.wait_for(path, "Another text.", told["version"])

    def test_a_page_that_is_not_there_yet(self, serving: Serving) -> None:
        page = "/my/posts/soon/"
        with serving.listen() as tab:
            assert "data-blogsmith" in serving.page(page)
            write(serving.root, {"content/posts/soon.md": post("Soon")})
            tab.wait_until(lambda: bool(tab.version(page)) and tab.version(page) == serving.version(page))
            (serving.root / "content/posts/soon.md").unlink()
            tab.wait_until(lambda: tab.version(page) == "")
            write(serving.root, {"content/posts/soon.md": post("Soon")})
            tab.wait_until(lambda: tab.version(page) != "")
        (serving.root / "content/posts/soon.md").unlink()
        serving.wait_for(page, "404 ")


class TestPosts:
    def test_a_new_post_is_in_lists_until_it_is_deleted(self, serving: Serving) -> None:
        with serving.listen() as tab:
            for path in ("/my/posts/", "/my/posts/new/"):
                serving.page(path)
            write(serving.root, {"content/posts/new.md": post("A new one", "Text", tags="[fresh]")})
            serving.wait_for("/my/posts/new/", "200 ", "A new one")
            serving.wait_for("/my/posts/", "A new one")
            serving.wait_for("/my/tags/fresh/", "200 ")
            tab.wait_until(lambda: tab.version("/my/posts/") == serving.version("/my/posts/"))
            (serving.root / "content/posts/new.md").unlink()
            page = serving.wait_for("/my/posts/new/", "404 ")
            assert "data-blogsmith" in page, "it comes back by itself when there is a post again"
            serving.wait_for("/my/tags/fresh/", "404 ")
            assert "A new one" not in serving.page("/my/posts/")
            tab.wait_until(lambda: tab.version("/my/posts/") == serving.version("/my/posts/"))

    def test_an_image(self, serving: Serving) -> None:
        page, file = "/my/posts/picture/", "/my/posts/picture/a%20square.svg"
        with serving.listen() as tab:
            assert 'width="10"' in serving.page(page)
            write(serving.root, image_post(23))
            tab.wait_for("files", files=[file])
            assert serving.ask(file).body.decode() == SVG.format(23)
            serving.wait_for(page, 'width="23"')
            tab.wait_until(lambda: tab.version(page) == serving.version(page))
        write(serving.root, image_post(10))
        serving.wait_for(page, 'width="10"')

    def test_a_style_sheet(self, serving: Serving) -> None:
        with serving.listen() as tab:
            write(serving.root, {"static/own.css": "p { color: red }"})
            serving.wait_for("/my/own.css", "200 ")
            write(serving.root, {"static/own.css": "p { color: blue }"})
            tab.wait_until(lambda: any("/my/own.css" in event["files"] for event in tab.of("css")))
            assert serving.page("/my/own.css") == "200 p { color: blue }"
        (serving.root / "static/own.css").unlink()
        serving.wait_for("/my/own.css", "404 ")

    @pytest.mark.parametrize("name", ["static/data.txt", "content/posts/picture/a square.svg"])
    def test_a_file_that_becomes_a_link_to_elsewhere(self, serving: Serving, name: str) -> None:
        file = serving.root / name
        path = quote("/my/" + name.removeprefix("static/").removeprefix("content/"))
        before = file.read_bytes()
        assert serving.ask(path).body == before
        beside = serving.root.with_name("beside.txt")
        beside.write_text("not of the site", "utf-8")
        # the response must not depend on whether the change was detected already
        for target in ("/etc/passwd", os.path.relpath(beside, file.parent)):
            file.unlink()
            file.symlink_to(target)
            for _ in range(20):
                got = serving.ask(path)
                assert b"root:" not in got.body and b"not of the site" not in got.body
                assert got.status == 404 or got.body == before
            serving.wait_for(path, "404 ")
        file.unlink()
        file.write_bytes(before)
        serving.wait_for(path, "200 ")


class TestMistakes:
    def test_in_the_settings(self, serving: Serving) -> None:
        page = serving.page("/my/posts/a/")
        with serving.listen() as tab:
            write(serving.root, {"blogsmith.yaml": f"{CONFIG}titel: x\n"})
            told = tab.wait_for("problems", errors=1)
            assert told["items"][0]["where"] == "blogsmith.yaml:3:1"
            assert "did you mean `title`" in told["items"][0]["text"]
            assert told["items"][0]["new"]
            serving.wait_for_words("blogsmith.yaml:3:1: error: ")
            assert serving.page("/my/posts/a/") == page
            write(serving.root, {"blogsmith.yaml": CONFIG.replace("Notes", "Other notes")})
            tab.wait_for("problems", errors=0, after=tab.events.index(told))
            serving.wait_for("/my/posts/a/", "Other notes")
            serving.wait_for_words("fixed: ")
        write(serving.root, {"blogsmith.yaml": CONFIG})
        serving.wait_for("/my/posts/a/", "<title>First · Notes")

    def test_in_a_template(self, serving: Serving) -> None:
        page, footer = serving.page("/my/posts/a/"), serving.root / "partials/site_footer.html"
        with serving.listen() as tab:
            write(serving.root, {"partials/site_footer.html": "<footer>{{ nothing }}</footer>"})
            told = tab.wait_for("problems", errors=1)
            assert told["items"][0]["path"] == "partials/site_footer.html"
            assert serving.page("/my/posts/a/") == page
            write(serving.root, {"partials/site_footer.html": "<footer>My own</footer>"})
            tab.wait_for("problems", errors=0, after=tab.events.index(told))
            serving.wait_for("/my/posts/a/", "<footer>My own</footer>")
            serving.wait_for("/my/", "<footer>My own</footer>")
        footer.unlink()
        serving.wait_for("/my/posts/a/", 'class="site-footer"')

    def test_in_a_post(self, serving: Serving) -> None:
        page = serving.page("/my/posts/b/")
        with serving.listen() as tab:
            write(serving.root, {"content/posts/b.md": post("Second", r"More $\sofmax$ text.")})
            told = tab.wait_for("problems", errors=1)
            item = told["items"][0]
            assert (item["where"], item["pages"]) == ("content/posts/b.md:6:7", ["/my/posts/b/"])
            assert "^^^^^^^" in item["text"]
            serving.wait_for_words(item["text"])
            assert serving.page("/my/posts/b/") == page
            write(serving.root, {"content/posts/b.md": post("Second", "More text.")})
            tab.wait_for("problems", errors=0, after=tab.events.index(told))
            assert serving.page("/my/posts/b/") == page
            with serving.listen() as later:
                assert later.events[0]["problems"]["errors"] == 0

    def test_in_the_settings_from_the_start(self, tmp_path: Path) -> None:
        root = tmp_path / "site"
        write(root, {"blogsmith.yaml": "titel: x\n", "content/posts/a.md": post("First", "Some text.")})
        with running(root) as serving, serving.listen() as tab:
            page = serving.page("/posts/a/")
            assert page.startswith("503 ") and "data-blogsmith" in page
            with serving.listen() as later:
                [item] = later.events[0]["problems"]["items"]
                assert item["where"] == "blogsmith.yaml:1:1"
            assert serving.version("/posts/a/") == ""
            write(root, {"blogsmith.yaml": "title: Notes\n"})
            serving.wait_for("/posts/a/", "200 ", "Some text.")
            tab.wait_for("problems", errors=0)
            tab.wait_until(lambda: tab.version("/posts/a/") == serving.version("/posts/a/"))

    def test_in_a_plugin(self, tmp_path: Path) -> None:
        root = tmp_path / "site"
        good = "def register(hooks):\n    @hooks.shortcode_data('card')\n    def card(args, page):\n"
        files = {
            "blogsmith.yaml": "title: Notes\nplugins: [mine]\n",
            "plugins/mine.py": f"{good}        return {{'word': 'hello'}}\n",
            "shortcodes/card.html": "<p>It says {{ word }}.</p>",
            "content/posts/a.md": post("First", "{% card %}"),
            "content/posts/b.md": post("Second", "Text."),
        }
        write(root, files)
        with running(root, trusted=True) as serving, serving.listen() as tab:
            serving.wait_for("/posts/a/", "It says hello.")
            for broken in ("        raise KeyError('x')\n", "        raise RecursionError\n", "    1 +\n"):
                write(root, {"plugins/mine.py": f"{good}{broken}"})
                before = len(tab.events)
                self._trust(serving)
                tab.wait_until(lambda before=before: any(  # type: ignore[misc]
                    "mine" in item["message"] and "fail" in item["message"]
                    for event in tab.of("problems", before) for item in event["items"]))  # fmt: skip
                assert "It says hello." in serving.page("/posts/a/")
            write(root, {"plugins/mine.py": f"{good}        return {{'word': 'goodbye'}}\n"})
            self._trust(serving)
            serving.wait_for("/posts/a/", "200 ", "It says goodbye.")

    def _trust(self, serving: Serving) -> None:
        """Consent is stored outside the site: it takes effect with the next save."""
        serving.trust()
        write(serving.root, {"content/posts/b.md": post("Second", f"Text {len(serving.said())}.")})


@pytest.mark.parametrize(
    ("options", "shown"),
    thinned(
        [
            ((), set()),
            (("--drafts",), {"draft"}),
            (("--future",), {"later"}),
            (("--drafts", "--future"), {"draft", "later"}),
        ],
        every=3,
    ),
    ids=["none", "drafts", "future", "both"],
)
def test_what_is_not_published_yet(tmp_path: Path, options: tuple[str, ...], shown: set[str]) -> None:
    root = tmp_path / "site"
    drafts = {"content/posts/draft.md": post("A draft", draft="true")}
    later = {"content/posts/later.md": post("To come", date="2999-01-01")}
    write(root, {"blogsmith.yaml": "title: Notes\n", **drafts, **later})
    with running(root, *options) as serving:
        for name, title in (("draft", "A draft"), ("later", "To come")):
            assert serving.ask(f"/posts/{name}/").status == (200 if name in shown else 404)
            assert (title in serving.page("/")) == (name in shown)
