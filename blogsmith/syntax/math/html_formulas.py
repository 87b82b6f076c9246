r"""Formulas in raw HTML blocks: `<td>$x$</td>`, `<figcaption>`, a hidden `<div>` of definitions.

The block is split into fragments of HTML and the formulas between them, which are numbered, typeset and
checked like all others. Delimiters are those of Markdown. No other Markdown has a meaning here, except `\$`,
`\ref` and `\eqref`. TeX is decoded as in a browser: `&lt;` is `<`. A block without `$` and `\` costs one
search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import unescape

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ...base.diagnostics.model import Place, TextMap
from ...base.patterns import lazy_pattern
from ..html_nodes import TextNode, text_nodes
from ..records import Math, XRef, attach_record
from ..references.references import find_command, label_id
from ..state import PageState, get_page
from .delimiters import FoundFormula, RejectedFormula, contains_environment, find_formula, is_price
from .display_tails import add_tail, read_display_tail
from .doubts import report_between_words, report_rejected, report_unparsed
from .formulas import PUNCTUATION

_FORMULA_START = lazy_pattern(r"\$|\\(?:[(\[$\\]|begin\{|(?:eq)?ref\{)")
_STOP = lazy_pattern(r"[$\\]")
_REFERENCE = lazy_pattern(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def html_formulas(state: StateCore) -> None:
    """Split HTML blocks with formulas into child tokens (core rule)."""
    page = get_page(state.env)
    for token in state.tokens:
        if token.type == "html_block" and _FORMULA_START.search(token.content):
            pieces = _HtmlSplitter(token, page)
            for node in text_nodes(token.content):
                pieces.read(node)
            token.children = pieces.finish()


@dataclass(slots=True)
class _HtmlSplitter:
    """Splits one HTML block into fragments of HTML and formulas."""

    block: Token
    page: PageState
    origin: TextMap = field(init=False)
    tokens: list[Token] = field(default_factory=list)
    position: int = 0
    """End of the part of the block that has been split."""

    def __post_init__(self) -> None:
        self.origin = self.page.text_map(self.block.content, (self.block.map or [0])[0])

    def read(self, node: TextNode) -> None:
        """Split off the formulas in a range of text."""
        pos, literal = node.start, -1
        while stop := _STOP.search(self.origin.text, pos, node.end):
            pos = stop.start()
            if pos == literal:
                pos += 1
                continue
            found = find_formula(self.origin.text, pos, node.end)
            if isinstance(found, RejectedFormula):
                report_rejected(self.origin.text, found, self.page.reporter, self.place)
                pos, literal = pos + 1, found.end - 1
            elif found is None:
                pos = self._read_sign(pos, node)
            elif literal >= 0 and is_price(self.origin.text, found):
                pos += 1
            else:
                pos = self._add_formula(found, node)

    def finish(self) -> list[Token] | None:
        """Return the child tokens, or None if the block is only HTML."""
        if not self.tokens:
            return None
        self._add_html(len(self.origin.text))
        return self.tokens

    def place(self, start: int, end: int) -> Place:
        """Return the position in the file of a range of the block."""
        return self.origin.place(start, end - start)

    def _read_sign(self, pos: int, node: TextNode) -> int:
        """Handle a `$` or backslash that starts no formula. Return the index where the search continues."""
        text = self.origin.text
        if text.startswith("\\$", pos):
            self._add_html(pos)
            self.position = pos + 1
            return pos + 2
        command = find_command(text, pos, node.end)
        if command:
            page, _, target = command[2].rpartition("#")
            self._add_html(pos)
            place = self.place(*command.span())
            self._push("xref", XRef(label_id(target), page, "number", place, command[0]), command.end())
            return command.end()
        report_unparsed(text, pos, node.end, self.page.reporter, self.place)
        return pos + (2 if text.startswith(("$$", "\\"), pos) else 1)

    def _add_formula(self, found: FoundFormula, node: TextNode) -> int:
        origin = _decode(self.origin.cut(found.inner, found.inner_end))
        self._add_html(found.start)
        if not self._is_display(found, node):
            self._push("math_inline", Math(origin.text, False, origin), found.end)
            self.tokens[-1].markup = self.origin.text[found.start : found.inner]
            return self._add_punctuation(found.end, node)
        after = read_display_tail(self.origin.text, found.end, node.end)
        math = Math(origin.text, True, origin, is_phrasing=node.is_phrasing)
        math = add_tail(math, after, lambda at, length: self.place(at, at + length), self.page.reporter)
        report_between_words(
            self.origin.text,
            found,
            start=node.start,
            end=node.end,
            reporter=self.page.reporter,
            place=self.place,
        )
        self._push("math_display", math, after.pos)
        return after.pos

    def _is_display(self, found: FoundFormula, node: TextNode) -> bool:
        if not found.display or node.is_line:
            return False
        text = self.origin.text
        is_kramdown = self.page.options.double_dollar == "kramdown" and text.startswith("$$", found.start)
        if not is_kramdown or contains_environment(text, found.start):
            return True
        return not (text[node.start : found.start].strip() or text[found.end : node.end].strip())

    def _add_punctuation(self, pos: int, node: TextNode) -> int:
        """Add the punctuation after a formula as text, so that it stays on the formula's line. Return its
        end."""
        found = PUNCTUATION.match(self.origin.text, pos, node.end)
        if found:
            self.tokens.append(Token("text", "", 0, content=found[0]))
            self.position = found.end()
        return self.position

    def _add_html(self, end: int) -> None:
        if self.position < end:
            origin = self.origin.cut(self.position, end)
            self.tokens.append(Token("html_inline", "", 0, content=origin.text))
            attach_record(self.tokens[-1], origin)
            self.position = end

    def _push(self, kind: str, record: Math | XRef, end: int) -> None:
        self.tokens.append(Token(kind, "math" if isinstance(record, Math) else "a", 0))
        if isinstance(record, Math):
            self.tokens[-1].content = record.tex
        attach_record(self.tokens[-1], record)
        self.position = end


def _decode(origin: TextMap) -> TextMap:
    """Return the text with its character references decoded, as in a browser."""
    if "&" not in origin.text:
        return origin
    pieces: list[str] = []
    gaps: list[tuple[int, int]] = []
    at = length = 0
    for found in _REFERENCE.finditer(origin.text):
        # A non-breaking space has no meaning in TeX.
        sign = unescape(found[0]).replace("\xa0", " ")
        pieces += [origin.text[at : found.start()], sign]
        length += found.start() - at + len(sign)
        gaps.append((length, len(found[0]) - len(sign)))
        at = found.end()
    return TextMap("".join([*pieces, origin.text[at:]]), origin.starts, tuple(gaps))
