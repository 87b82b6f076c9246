"""Unclosed comments, tags and elements of raw HTML that would swallow the rest of the page, or move it.

A comment or a tag that never ends becomes text. The start tag of a `<details>`, `<script>` or `<textarea>`
that is never closed is removed. Both are errors. Any other open element is closed at the end of the list
item, quotation or post that contains it. An end tag without an open element is removed, because it would
close an element of the theme. These are warnings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from types import MappingProxyType

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct

from ..base.diagnostics.model import Place, TextMap
from ..base.patterns import lazy_pattern
from ..model.html_names import is_element
from ..model.names import VOID_ELEMENTS, name_set
from .lookahead import matches_after
from .records import LinkTargetPlace, Shortcode, get_record
from .state import PageState, get_page

CODE = "html-open"
UNPAIRED = "html-unpaired"
_COMMENT_HINT = "write `-->` after the comment, or `\\<!--` for text"
_RAW_TEXT = name_set("iframe noembed noframes script style textarea title xmp")
"""Elements whose content browsers read as text up to the element's own end tag."""
_SWALLOWING = _RAW_TEXT | name_set(
    "audio canvas datalist desc details dialog foreignobject math meter noscript object progress select svg "
    "template video"
)
"""Elements that hide the text in them, or show it differently from other text."""
_HIDDEN = lazy_pattern(r"(?i)\shidden(?=[\s=/>])|display\s*:\s*none")
_BARRIERS = _SWALLOWING | name_set("applet caption marquee table td th")
"""Elements that protect the elements around them: an end tag inside a barrier closes nothing outside it
(HTML, 13.2.4.2)."""
_FORMATTING = name_set("a b big code em font i nobr s small strike strong tt u")
"""Elements that browsers reopen after the end of a paragraph or a block."""
_LASTING = (
    _SWALLOWING
    | _FORMATTING
    | name_set(
        "address article aside blockquote button center dir div dl fieldset figure footer form h1 h2 h3 h4 "
        "h5 h6 header hgroup listing main marquee menu nav ol pre search section summary table ul"
    )
)
"""Elements that stay open at the end of a paragraph."""
_OPTIONAL_END = name_set("caption colgroup dd dt li optgroup option rb rp rt rtc tbody td tfoot th thead tr")
_UNTRACKED = VOID_ELEMENTS | name_set("body br head html p")
"""Elements whose tags are not tracked, because a missing end tag does not matter: HTML does not require it,
or the element has none."""
_HTML = ("html_block", "html_inline")
_COMPLETE_SHORTCODES = frozenset(("hf-space", "image-compare", "img", "video-embed"))
"""Shortcodes whose HTML closes all its elements."""
_ITEMS = frozenset(("li", "dd", "dt"))
_LISTS = frozenset(("ul", "ol", "menu", "dir", "dl"))
_FOREIGN = frozenset(("svg", "math"))
_CONTAINERS: Mapping[str, str] = MappingProxyType(
    {"blockquote_open": "quotation", "heading_open": "heading", "list_item_open": "list item"}
)
"""Token that opens a container → its name in hints."""
_MOST_OPEN = 200
"""Maximum number of open elements of a container that are tracked."""
_MOST_UNFINISHED = 50
"""Maximum number of tags without an end in a block. All later tags are treated as unfinished."""
_COMMENT = lazy_pattern(r"(?<!\\)<!--")
_MARKUP = lazy_pattern(r"<(?:!--|[!?]|(?P<end>/?)(?P<name>[A-Za-z][^\s/>]*))")
_TAG_END = lazy_pattern(r"(?>(?:=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'>][^\s>]*+|(?=>))|[^=>])*)>")
"""Attributes of a tag and its end, as browsers read them (HTML, 13.2.5)."""
_COMMENT_END = lazy_pattern(r"--!?>")
_DECLARATION_END = lazy_pattern(">")
_NESTED_SCRIPT = lazy_pattern(r"(?i)<!--(?:(?!-->).)*?<script[\s/>]", re.DOTALL)
"""Text of a script after which browsers ignore the next `</script>` (HTML, 13.2.5.28)."""
_LINK = lazy_pattern(r"(?i)</?a(?=[\s/>])")
_END_NAME = lazy_pattern(r"</([A-Za-z]+)(?=[\s/>])")


class _Markup(Struct, frozen=True):
    """A tag in raw HTML, or the start of a comment or tag that never ends."""

    start: int
    end: int
    """Index after the tag; after its name if the tag never ends."""
    name: str
    """Name in lower case; empty for a comment and similar markup."""
    is_end: bool = False
    is_finished: bool = True


def _scan(
    text: str, pos: int = 0, *, is_foreign: bool = False, ends_later: Callable[[str], bool] = lambda _: False
) -> Iterator[_Markup]:
    """Yield all tags of `text`, and comments and tags that never end. is_foreign: whether the text starts
    inside SVG or MathML. ends_later: returns whether text after `text` contains the end tag of an element."""
    at, unfinished, depth = pos, 0, int(is_foreign)
    while found := _MARKUP.search(text, at):
        start, name, is_end = found.start(), (found["name"] or "").lower(), bool(found["end"])
        end = _markup_end(text, found, name) if unfinished < _MOST_UNFINISHED else -1
        at = found.end() if end < 0 else end
        unfinished += end < 0
        if name or end < 0:
            yield _Markup(start, at, name, is_end, is_finished=end >= 0)
        if end < 0 or (is_end and name not in _FOREIGN):
            continue
        if is_end:
            depth = max(0, depth - 1)
        elif name in _FOREIGN and text[end - 2 : end] != "/>":
            depth += _raw_text_end(text, name, end) >= 0 or ends_later(name)
        elif name in _RAW_TEXT and not depth:
            closing = _raw_text_end(text, name, end)
            at = closing if closing >= 0 else len(text) if ends_later(name) else at


def _markup_end(text: str, opening: re.Match[str], name: str) -> int:
    """Return the index after the tag or comment that starts with `opening`, or -1 if it never ends."""
    if name:
        tag = _TAG_END.match(text, opening.end())
        return tag.end() if tag and name != "plaintext" else -1
    # `<!-->` is a whole comment.
    found = (_COMMENT_END if opening[0] == "<!--" else _DECLARATION_END).search(text, opening.start() + 2)
    return found.end() if found else -1


def _raw_text_end(text: str, name: str, pos: int) -> int:
    """Return the index of the end tag of an element whose content is only text, or -1."""
    pattern = _end_tag(name)
    closing = pattern.search(text, pos) if matches_after(text, pattern, pos) else None
    if closing and name == "script" and _NESTED_SCRIPT.search(text, pos, closing.start()):
        return -1
    return closing.start() if closing else -1


@lru_cache(64)
def _end_tag(name: str) -> re.Pattern[str]:
    return re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)


def escape_unfinished(html: str) -> str:
    """Return `html` with comments and tags that never end turned into text."""
    pieces, at = [], 0
    for found in _scan(html) if "<" in html else ():
        if not found.is_finished:
            pieces += [html[at : found.start], "&lt;"]
            at = found.start + 1
    return "".join((*pieces, html[at:])) if pieces else html


def find_open_markup(html: str, *, is_fragment: bool = False) -> str:
    """Return the end that a comment or an element of `html` lacks, such as `</script>`, or an empty string.

    is_fragment: whether other HTML follows, which may close elements other than comments and those with text
    only.
    """
    names = _RAW_TEXT if is_fragment else _SWALLOWING
    low = html.lower()
    # Counts cost a tenth of a scan.
    is_even = low.count("<!--") <= low.count("-->") and low.rfind("<") < low.rfind(">") + 1
    if is_even and all(low.count(f"<{name}") == low.count(f"</{name}") for name in names):
        return ""
    open_names: list[str] = []
    for found in _scan(html):
        if not found.is_finished:
            return ">" if found.name else "-->"
        if found.name not in names or html[: found.end].endswith("/>"):
            continue
        if not found.is_end:
            open_names.append(found.name)
        elif found.name in open_names:
            open_names.remove(found.name)
    return f"</{open_names[-1]}>" if open_names else ""


def report_comments(inline: Token, page: PageState) -> None:
    """Report comments that are never closed. Their text is visible."""
    text = inline.content
    for found in _COMMENT.finditer(text):
        if text.find("-->", found.end()) < 0:
            place = get_record(inline, TextMap).place(found.start(), len(found[0]))
            page.reporter.error(CODE, 'missing "-->" after this comment', place, _COMMENT_HINT)
            return


def close_elements(state: StateCore) -> None:
    """Close all elements that are still open at the end of their container (core rule)."""
    if not any(token.type == "html_block" or _has_html(token) for token in state.tokens):
        return
    balance = _Balance(get_page(state.env), state.tokens)
    result: list[Token] = []
    for index, token in enumerate(state.tokens):
        if token.type == "html_block":
            # A block with formulas is split into fragments.
            for piece in token.children or (token,):
                if piece.type in _HTML:
                    balance.read(piece)
        elif token.type == "inline" and token.children:
            balance.read_inline(token, state.tokens[index - 1].type)
        elif token.type == "footnotes_open":
            result += balance.closing()
        elif token.type == "shortcode":
            balance.pass_shortcode(token)
        if token.nesting > 0 and token.type != "paragraph_open":
            balance.containers.append([])
            balance.kinds.append(token.type)
        elif token.nesting < 0 and token.type != "paragraph_close" and len(balance.containers) > 1:
            result += balance.closing()
            balance.containers.pop()
            balance.kinds.pop()
        result.append(token)
    state.tokens = [*result, *balance.closing()]


def _has_html(inline: Token) -> bool:
    return "html_inline" in [child.type for child in inline.children or ()]


class _Open(Struct, frozen=True):
    """An open element."""

    name: str
    place: Place
    token: Token
    """The HTML that contains the start tag."""
    tag: _Markup
    is_hiding: bool
    """Whether the element hides its content, so that readers would miss the text."""


class _Balance:
    """The open elements of a page, by container: a list item, a quotation, a cell, the post."""

    def __init__(self, page: PageState, tokens: list[Token]) -> None:
        self.page = page
        self.containers: list[list[_Open]] = [[]]
        self.kinds = [""]
        """Type of the token that opens each container."""
        self.has_shortcode = False
        """Whether a shortcode precedes. Its template may have opened an element."""
        self._tokens = tokens
        self._reported = {
            (one.place.line, one.place.column) for one in page.reporter.diagnostics if one.place
        }
        self._unfinished = 0
        self._number = 0
        """Number of fragments of HTML read so far."""
        self._origin = TextMap("", ((page.first_line, 1),))
        """The fragment of HTML being read."""

    @cached_property
    def _last_ends(self) -> Mapping[str, int]:
        """Name of an element → number of the last fragment with its end tag."""
        found: dict[str, int] = {}
        fragments = (
            piece for token in self._tokens for piece in token.children or (token,) if piece.type in _HTML
        )
        for number, piece in enumerate(fragments, 1):
            found |= {name.lower(): number for name in _END_NAME.findall(piece.content)}
        return found

    def pass_shortcode(self, token: Token) -> None:
        """Record that the template of a shortcode may have opened an element."""
        if get_record(token, Shortcode).name not in _COMPLETE_SHORTCODES:
            self.has_shortcode = True

    def _ends_later(self, name: str) -> bool:
        return self._last_ends.get(name, 0) > self._number

    def read_inline(self, inline: Token, parent: str) -> None:
        """Read the tags in the inline tokens of a block. Only in a paragraph may an element stay open for
        later blocks."""
        children = inline.children or []
        for child in children:
            if child.type in ("shortcode", "shortcode_inline"):
                self.pass_shortcode(child)
        if not _has_html(inline):
            return
        is_paragraph = parent == "paragraph_open"
        if not is_paragraph:
            self.containers.append([])
            self.kinds.append(parent)
        start = len(self.containers[-1])
        links = 0
        for child in children:
            links += (child.type == "link_open") - (child.type == "link_close")
            if child.type == "html_inline":
                # HTML forbids a link in a link, so the renderer writes none.
                self.read(child, is_ignored=links > 0 and _LINK.match(child.content) is not None)
        if is_paragraph:
            elements = self.containers[-1]
            elements[start:] = [one for one in elements[start:] if one.name in _LASTING or one.is_hiding]
            return
        for token in self.closing():
            token.type, token.block = "html_inline", False
            token.content = token.content.rstrip("\n")
            children.append(token)
        self.containers.pop()
        self.kinds.pop()

    def read(self, token: Token, *, is_ignored: bool = False) -> None:
        """Add the elements that a fragment of HTML opens, and remove those that it closes. is_ignored: only
        count the fragment."""
        self._number += 1
        if is_ignored:
            return
        self._origin = self._text_map(token)
        elements = self.containers[-1]
        inside = elements[-1].name if elements and elements[-1].name in _RAW_TEXT else ""
        pos = _raw_text_end(token.content, inside, 0) if inside else 0
        is_foreign = any(element.name in _FOREIGN for element in elements)
        if pos < 0:
            return
        for found in _scan(token.content, pos, is_foreign=is_foreign, ends_later=self._ends_later):
            if not found.is_finished:
                self._report_unfinished(token, found)
            elif found.name in _UNTRACKED:
                continue
            elif found.is_end:
                self._close(token, found)
            else:
                self._open(token, found)

    def _text_map(self, token: Token) -> TextMap:
        """Return the positions of a fragment of HTML."""
        if "textmap" in token.meta:
            return get_record(token, TextMap)
        if "linktargetplace" in token.meta:
            place = get_record(token, LinkTargetPlace).place
            return TextMap(token.content, ((place.line, place.column),) * (token.content.count("\n") + 1))
        return self.page.text_map(token.content, (token.map or [0])[0])

    def _open(self, token: Token, found: _Markup) -> None:
        elements, written = self.containers[-1], token.content[found.start : found.end]
        if len(elements) >= _MOST_OPEN:
            return
        is_foreign = any(element.name in _FOREIGN for element in elements)
        if written.endswith("/>") and (is_foreign or found.name in _FOREIGN):
            return
        is_hiding = found.name in _SWALLOWING or bool(_HIDDEN.search(written))
        element = _Open(found.name, self._place(found), token, found, is_hiding)
        if found.name in _FOREIGN or (found.name in _RAW_TEXT and not is_foreign):
            # Its content is parsed as HTML or as text, depending on whether it ends.
            is_closed = _raw_text_end(token.content, found.name, found.end) >= 0
            if not is_closed and not self._ends_later(found.name):
                self._remove(element)
                return
        is_stray = found.name in _ITEMS and not any(one.name in _LISTS for one in elements)
        if is_stray and (len(self.containers) > 1 or not self.has_shortcode):
            # This tag would end the item of the Markdown list that contains it, or the elements around an
            # earlier one.
            message = f'"<{found.name}>" is not in a list'
            around = "`<ul>` or `<ol>`" if found.name == "li" else "`<dl>`"
            self.page.reporter.warn(UNPAIRED, message, element.place, f"write a {around} around it")
            _blank(token, found)
            return
        elements.append(element)

    def _close(self, token: Token, found: _Markup) -> None:
        elements = self.containers[-1]
        last = next((i for i in range(len(elements) - 1, -1, -1) if elements[i].name == found.name), None)
        if last is not None:
            after = elements[last + 1 :]
            if found.name not in _FORMATTING:
                for element in after:
                    if element.name in _BARRIERS and not (
                        found.name == "table" and element.name in _OPTIONAL_END
                    ):
                        self._remove(element)
                # Browsers reopen formatting after the end of the block that contains it.
                after = [element for element in after if element.name in _FORMATTING]
            elements[last:] = after
        elif not self.has_shortcode and len(elements) < _MOST_OPEN:
            name = _shorten(found.name)
            outer = next((one for held in self.containers for one in held if one.name == found.name), None)
            if outer:
                where = _CONTAINERS.get(self.kinds[-1], "block")
                message = (
                    f'"</{name}>" is not allowed here: "<{name}>" is outside, on line {outer.place.line}'
                )
                hint = f"move `</{name}>` after the {where}"
            else:
                message = f'end tag "</{name}>" closes no element'
                hint = f"remove it, or write `<{name}>` before it"
            self.page.reporter.warn(UNPAIRED, message, self._place(found), hint)
            _blank(token, found)

    def _remove(self, element: _Open) -> None:
        """Report an element that is never closed, and remove its start tag."""
        self._report_open(element, is_error=element.is_hiding)
        _blank(element.token, element.tag)

    def _report_unfinished(self, token: Token, found: _Markup) -> None:
        self._unfinished += 1
        if self._unfinished > _MOST_UNFINISHED:
            return
        if found.name == "plaintext":
            message, hint = (
                'invalid element "<plaintext>": the rest of the page would be inside it',
                "write `<pre>`",
            )
        elif found.name:
            message = f'missing ">" or quotation mark in the tag "<{_shorten(found.name)}"'
            hint = "close its quotation marks, and write `>` after its attributes, or `&lt;` for text"
        elif token.content.startswith("<!--", found.start):
            message, hint = 'missing "-->" after this comment', "write `-->` after the comment"
        else:
            message, hint = 'missing ">" after this markup', "write `>` after it, or `&lt;` for text"
        self.page.reporter.error(CODE, message, self._place(found), hint)

    def _place(self, found: _Markup) -> Place:
        return self._origin.place(found.start, found.end - found.start)

    def closing(self) -> Iterator[Token]:
        """Report the elements that are open in the container, and yield their end tags. The container is
        empty afterwards."""
        elements = self.containers[-1]
        for element in [elements.pop() for _ in range(len(elements))]:
            if element.is_hiding or element.name == "table":
                # A table without an end would move the blocks after it.
                self._remove(element)
            elif element.name not in _OPTIONAL_END:
                self._report_open(element, is_error=False)
                yield Token("html_block", "", 0, content=f"</{element.name}>\n", block=True, map=None)

    def _report_open(self, element: _Open, *, is_error: bool) -> None:
        reporter, name, place = self.page.reporter, element.name, element.place
        if (place.line, place.column) in self._reported:
            return
        if is_error:
            message = f'missing "</{name}>": the rest of the page would be inside this element'
            reporter.error(CODE, message, place, f"write `</{name}>` after it, or `\\<{name}>` for text")
        elif is_element(name, f"<{name}"):
            # Elements that browsers do not know have a warning of their own.
            message = f'missing "</{name}>" after this element'
            reporter.warn(UNPAIRED, message, place, f"write `</{name}>` after it")


def _blank(token: Token, tag: _Markup) -> None:
    """Replace a tag by spaces, so that the positions of later tags do not change."""
    text, length = token.content, tag.end - tag.start
    token.content = f"{text[: tag.start]}{' ' * length}{text[tag.end :]}"


def _shorten(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:19]}…"
