"""Ids that stand twice in a page: a link to one of them could mean either.

Looked for in the finished HTML, since ids come from headings, labels, attribute lists, templates and
the author's own tags alike; the place is found again in the author's text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ..base.diagnostics.model import Place, Reporter
from ..base.patterns import lazy_pattern

_ID = lazy_pattern(r"<[A-Za-z][^<>]*?\sid\s*=\s*[\"']?([^\s\"'<>]+)")
# the same wherever it stands: in a tag or in text that shows one
_LIKE_ID = lazy_pattern(r"id(?<=\sid)(?=\s*=\s*[\"']?([^\s\"'<>]+))")
_COMMENT = lazy_pattern(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def report_repeated_ids(html: str, reporter: Reporter, title_id: str = "") -> None:
    """An error for each id that `html` holds more than once, unless its label was reported before.

    title_id: of the heading that stands above it, empty for none.
    """
    html = f'<h1 id="{title_id}">{html}' if title_id else html
    if "<!--" in html:
        html = _COMMENT.sub("", html)
    maybe = _LIKE_ID.findall(html)
    if len(set(maybe)) == len(maybe):
        # as nearly always: to look for the tag around each takes twice as long
        return
    counts = Counter(_ID.findall(html))
    for name, count in counts.items():
        if count > 1:
            places = _places(name, reporter.lines)
            first = f", first on line {places[0].line}" if len(places) > 1 else ""
            message = f"id {name} stands {count} times in this page{first}"
            hint = "" if len(places) > 1 else "a heading gets an id from its text"
            reporter.error("id-twice", message, places[-1] if places else None, hint)


def _places(name: str, lines: Sequence[str]) -> list[Place]:
    """Where the author wrote the id, `#x` or `id="x"`."""
    written = re.compile(rf"(?:#|\bid\s*=\s*[\"']?)({re.escape(name)})(?![\w.:-])")
    found = []
    for number, line in enumerate(lines, start=1):
        found += [Place(number, at.start(1) + 1, len(name)) for at in written.finditer(line)]
    return found
