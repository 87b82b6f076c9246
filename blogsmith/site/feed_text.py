"""The text of a page for those who read it far from its site: in feeds.

What a reader sees is what a feed reader gets: formulas once, as MathML; addresses absolute; folded parts
open; buttons and sliders, which do nothing there, and pictures for paper, for dark pages and of other sizes
left out.
"""

from __future__ import annotations

import re

from ..base.patterns import lazy_pattern
from ..config.schema import Config
from ..model.template_views import PageView
from .frame import host_url

_LEFT_OUT = lazy_pattern(
    r'<a class="(?:heading|eq)-anchor"[^>]*></a>|<button\b[^>]*>.*?</button>|<input\b[^>]*>'
    r'|<img class="for-paper"[^>]*>|<source (?=srcset=)[^>]*>',
    re.DOTALL,
)
# an anchor without a text would be nothing there: the style sheet sets its number
_CODE_MARK = lazy_pattern(r'( data-mark="(\d{1,3})" aria-label="[^"]{0,200}">)</a>')
_SWEEP_CONTROLS = lazy_pattern(r'<div class="sweep-controls" hidden>[^\n]*?</div>\n')
_SWEEP_RUN = lazy_pattern(r'<details class="sweep-run"( open data-default)?>')
_DETAILS = lazy_pattern(r"</?details\b[^>]*>")
_RUNNABLE = lazy_pattern(r'<div class="(?:[^"]* )?runnable(?: [^"]*)?"[^>]*>')
_DATA = lazy_pattern(r' data-[\w-]+="[^"]*"')
# of an attribute, wherever it stands; only what is in front of the address is a part of the match
_ADDRESS = lazy_pattern(r'="(?:(?<=\shref=")|(?<=\ssrc=")|(?<=\sposter="))(?=([/#][^"]*)")')
_SHELL = lazy_pattern(
    r' (?:tabindex|loading|decoding|srcset|sizes|data-line|data-cell|data-wide|data-tex)="[^"]*"'
)
# a character XML cannot hold at all; U+FFFD says that something stood there
# (what it can hold instead, with ^, takes 4 ms to compile)
_NOT_XML = lazy_pattern("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def feed_html(page: PageView, config: Config) -> str:
    """The body of `page` for readers that show it far from its site."""
    # with the space in front of what is left out; as a part of the pattern it would be tried at every space
    *before, last = _LEFT_OUT.split(page.content)
    html = "".join([*(text.rstrip() for text in before), last])
    html = _CODE_MARK.sub(r"\1 (\2)</a>", html)
    html = _default_runs(html)
    html = _RUNNABLE.sub(lambda found: _DATA.sub("", found[0]), html)
    html = re.sub(r"<details(?![^>]*\sopen)", "<details open", html)
    if page.direction == "rtl":
        # what a style sheet of ours says is not known there
        html = html.replace("<math", '<math dir="ltr"')
    html = _with_addresses(_SHELL.sub("", html), page.canonical_url or page.url, host_url(config))
    return without_control_characters(html)


def _default_runs(html: str) -> str:
    """`html` with that run of each sweep alone which others see, and no fold around it."""
    html = _SWEEP_CONTROLS.sub("", html)
    pieces, end = [], 0
    for found in _SWEEP_RUN.finditer(html):
        close = _end_of_details(html, found.end())
        inside = html[found.end() : close - len("</details>")]
        is_default = "data-default" in found[0]
        # without its fold a run has a name, and nothing to unfold
        inside = inside.replace("<summary>", "<p>", 1).replace("</summary>", "</p>", 1)
        pieces += [html[end : found.start()], f"<div>{inside}</div>" if is_default else ""]
        end = close
    return "".join([*pieces, html[end:]])


def _end_of_details(html: str, start: int) -> int:
    """Behind the end tag of the element whose content begins at `start`."""
    depth = 1
    for tag in _DETAILS.finditer(html, start):
        depth += -1 if tag[0].startswith("</") else 1
        if depth == 0:
            return tag.end()
    return len(html)


def _with_addresses(html: str, page: str, host: str) -> str:
    """`html` with the first address of each tag made absolute, if it is an anchor or a path of the site."""
    end = 0

    def absolute(found: re.Match[str]) -> str:
        nonlocal end
        # from the address back to its tag is shorter than from each tag on to an address
        tag = html.rfind("<", end, found.start())
        if tag < 0 or html.find(">", tag, found.start()) >= 0:
            return found[0]
        end = found.end(1) + 1
        # protocol-relative addresses never reach a page, so one slash is a site path
        return found[0] + (page if found[1].startswith("#") else host)

    return _ADDRESS.sub(absolute, html)


def without_control_characters(text: str) -> str:
    """`text` with a sign in the place of what no XML can hold."""
    return _NOT_XML.sub("\ufffd", text)
