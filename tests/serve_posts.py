"""A preview of a dozen posts and one that editors save, and a tab that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from blogsmith.preview.pages.script_tag import POLICY_SOURCES
from blogsmith.render.policy.policy import add_sources
from tests.preview_sites import MARK
from tests.serve_process import Listener, Serving, post, running, write
from tests.test_watch_saves import in_place, temporary_and_rename, vim

POSTS = 12
QUICK = (in_place, temporary_and_rename, vim)
"""Ways of saving without delays."""
FILE = "content/posts/a.md"
PAGE = "/posts/a/"

TAG = re.compile(rb'<script type="module" src="/[^"]*_blogsmith/live\.js"[^>]*></script>\n')

_numbers = count(1)


def new_word() -> str:
    """Return a word that no post has contained yet."""
    return f"zq{next(_numbers):05}x"


@contextmanager
def serving_posts(root: Path) -> Iterator[Serving]:
    """Serve the posts from a new folder `root`."""
    files = {f"content/posts/p{number}.md": post(f"Post {number}") for number in range(POSTS)}
    write(root, {"blogsmith.yaml": "title: Notes\n", FILE: post("First"), **files})
    with running(root) as serving:
        serving.wait_until_whole()
        yield serving


@contextmanager
def tab_of(serving: Serving, page: str) -> Iterator[Listener]:
    """Yield a tab that shows `page`."""
    with serving.listen() as tab:
        serving.page(page)
        yield tab


def is_as_built(served: bytes, built: bytes) -> bool:
    """Return whether a page of the preview equals that of a build, except for the preview's script and its
    needs.
    """
    bare = MARK.sub(b"", TAG.sub(b"", served))
    # the policy of a page has to let the preview's script run
    return bare == (built if bare == served else add_sources(built, POLICY_SOURCES))


def wait_until_current(serving: Serving, tab: Listener) -> None:
    """Wait until the version of the page last announced to tabs is served."""
    tab.wait_until(lambda: tab.version(PAGE) == serving.version(PAGE))
