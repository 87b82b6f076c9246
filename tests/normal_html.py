"""HTML in a normal form, after the specification's own normalizer: equivalent HTML becomes equal.

Attributes are sorted, character references resolved, spaces collapsed outside of `<pre>` and removed around
block tags, and `<br/>` becomes `<br>`.
"""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

_BLOCKS = frozenset(
    [
        "article",
        "header",
        "aside",
        "hgroup",
        "blockquote",
        "hr",
        "iframe",
        "body",
        "li",
        "map",
        "button",
        "object",
        "canvas",
        "ol",
        "caption",
        "output",
        "col",
        "p",
        "colgroup",
        "pre",
        "dd",
        "progress",
        "div",
        "section",
        "dl",
        "table",
        "td",
        "dt",
        "tbody",
        "embed",
        "textarea",
        "fieldset",
        "tfoot",
        "figcaption",
        "th",
        "figure",
        "thead",
        "footer",
        "tr",
        "form",
        "ul",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "video",
        "script",
        "style",
    ]
)


class _Normaliser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.output = ""
        self.in_pre = False
        self.last = ""
        self.last_tag = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._before_tag(tag)
        self.in_pre = self.in_pre or tag == "pre"
        self.output += f"<{tag}"
        for name, value in sorted(attrs):
            self.output += f' {name}="{html.escape(value or "", quote=True)}"'
        self.output += ">"
        self.last, self.last_tag = "start", tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.last = "end"

    def handle_endtag(self, tag: str) -> None:
        self.in_pre = self.in_pre and tag != "pre"
        self._before_tag(tag)
        self.output += f"</{tag}>"
        self.last, self.last_tag = "end", tag

    def handle_data(self, data: str) -> None:
        after_tag = self.last in ("start", "end")
        after_block = after_tag and self.last_tag in _BLOCKS
        if after_tag and self.last_tag == "br":
            data = data.lstrip("\n")
        if not self.in_pre:
            data = re.sub(r"\s+", " ", data)
            data = data.lstrip() if after_block else data
        self.output += html.escape(data, quote=True)
        self.last = "data"

    def handle_entityref(self, name: str) -> None:
        self.handle_data(html.unescape(f"&{name};"))

    def handle_charref(self, name: str) -> None:
        self.handle_data(html.unescape(f"&#{name};"))

    def handle_comment(self, data: str) -> None:
        self.output += f"<!--{data}-->"
        self.last = "comment"

    def handle_decl(self, decl: str) -> None:
        self.output += f"<!{decl}>"
        self.last = "decl"

    def unknown_decl(self, data: str) -> None:
        self.output += f"<![{data}]>"
        self.last = "decl"

    def handle_pi(self, data: str) -> None:
        self.output += f"<?{data}>"
        self.last = "pi"

    def _before_tag(self, tag: str) -> None:
        if tag in _BLOCKS and not self.in_pre:
            self.output = self.output.rstrip()


def normal_html(text: str) -> str:
    """Return the normal form of an HTML fragment."""
    parser = _Normaliser()
    parser.feed(text)
    parser.close()
    return parser.output.strip()
