"""Formulas and the find command of browsers, as the manual describes it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.site_files import SiteText, build_text, printed

from .firefox import Firefox
from .reader import Reader
from .server import served
from .two_browsers import opened_in_either

POST = r"""---
title: Find
date: 2026-01-01
---

The energy $E = mc^2$, and $\arg\max_x f(x)$ of these:

$$\sin x = \operatorname{softmax}(y) \quad \text{where } y > 0$$
"""
FOUND = ("energy", "sin", "softmax", "where", "max", "E", "y")
"""Words, and single symbols."""
FIREFOX_ONLY = ("E=mc", "mc2", "softmax(", "softmax(y)", "f(x")
"""Several symbols, which are elements of their own."""
NOT_FOUND = ("E = mc", "sin x", "y > 0")
"""With the spaces of a formula, which are not text."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build and serve the post; yield its URL."""
    folder = tmp_path_factory.mktemp("find")
    files = {"blogsmith.yaml": b"title: Notes\n", "content/posts/a.md": POST.encode()}
    report = build_text(SiteText(files, "", ""), folder)
    assert report.ok, printed(report)
    with served(folder / "public") as origin:
        yield f"{origin}/posts/a/"


@pytest.fixture(params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest, page: str) -> Reader | Firefox:
    return opened_in_either(request, page, 1280, 1)


def test_words_and_single_symbols_are_found(browser: Reader | Firefox) -> None:
    # window.find() searches as the find command does.
    script = """
    const find = text => {
      getSelection().collapse(document.querySelector(".post-content"), 0);
      return window.find(text, false, false, true);
    };
    return arguments[0].filter(find);
    """
    is_firefox = isinstance(browser, Firefox)
    found = browser.ask(script, [*FOUND, *FIREFOX_ONLY, *NOT_FOUND])
    assert found == [*FOUND, *(FIREFOX_ONLY if is_firefox else ())]
