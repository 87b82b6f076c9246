"""The loops of markdown-it-py over the rules that the next character leaves.

At each place all rules are called in order, some thirty for a `$` and a dozen for each line of a paragraph,
and nearly all of them look at one character and go away. Here those are not called whose table row says that
they begin with another character. A rule without a row, such as a plugin's, is called everywhere; order and
effect of rules are those of markdown-it-py, and so are the tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

from markdown_it import MarkdownIt, rules_block, rules_inline
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType

from . import (
    attributes,
    blocks,
    east_asian,
    html_blocks,
    links,
    markdown_elements,
    notes,
    shortcodes,
    tabs,
    text,
)
from .cells import values
from .math import formulas
from .references import citations, references
from .state import line_start

BlockRule = Callable[[StateBlock, int, int, bool], bool]
InlineRule = Callable[[StateInline, bool], bool]
PairRule = Callable[[StateInline], None]

_STOCK_PAIRS = frozenset[PairRule](
    (
        rules_inline.link_pairs,
        rules_inline.strikethrough.postProcess,
        rules_inline.emphasis.postProcess,
        rules_inline.fragments_join,
    )
)
"""Rules behind the inline pass that do nothing to a text alone."""

BLOCK: Mapping[BlockRule, str] = MappingProxyType(
    {
        rules_block.fence: "`~",
        rules_block.blockquote: ">",
        rules_block.hr: "*-_",
        rules_block.list_block: "*+-0123456789",
        notes.link_definition: "[",
        html_blocks.html_block: "<",
        rules_block.heading: "#",
        formulas.math_block: "$\\",
        shortcodes.shortcode_block: "{",
        notes.definition: "[",
        attributes.attributes_block: "{",
        blocks.block_div: "<",
        markdown_elements.markdown_element: "<",
        tabs.tabs_div: "<",
        tabs.tabs_material: "=",
    }
)
"""Rules that do nothing on a line whose text begins with another character, unless it is indented code."""

INLINE: Mapping[InlineRule, str] = MappingProxyType(
    {
        rules_inline.newline: "\n",
        rules_inline.escape: "\\",
        rules_inline.backtick: "`",
        east_asian.strikethrough: "~",
        east_asian.emphasis: "*_",
        rules_inline.entity: "&",
        links.linkify_rule: ":",
        formulas.math_inline: "$\\",
        shortcodes.shortcode_inline: "{",
        values.value: "{",
        notes.mark: "[",
        links.link_rule: "[",
        links.image_rule: "!",
        links.autolink_rule: "<",
        links.html_rule: "<",
        references.command: "\\",
        references.braced_reference: "{",
        references.empty_link: "[",
        references.bare: "@",
        citations.group: "[",
        citations.bare: "@",
        citations.command: "\\",
        links.wiki_link: "[",
        text.mark: "=",
        text.abbreviation: ":",
        attributes.span: "[",
        attributes.attributes_inline: "{",
    }
)
"""Rules that do nothing in front of another character."""


class BlockTable(dict[str, list[BlockRule]]):
    """The first character of a line → the rules to be called, in order; filled as characters are met."""

    def __init__(self, rules: list[BlockRule]) -> None:
        super().__init__()
        self.rules = rules

    def __missing__(self, character: str) -> list[BlockRule]:
        self[character] = rules = [rule for rule in self.rules if character in BLOCK.get(rule, character)]
        return rules


class InlineTable(dict[str, list[InlineRule]]):
    """The next character → the rules to be called, in order; filled as characters are met."""

    def __init__(self, rules: list[InlineRule], stops: re.Pattern[str]) -> None:
        """stops: characters at which the rule `text` does nothing; at all others it takes what follows."""
        super().__init__()
        self.rules = rules
        self.stops = stops

    def __missing__(self, character: str) -> list[InlineRule]:
        rules = [rule for rule in self.rules if character in INLINE.get(rule, character)]
        if rules[:1] == [rules_inline.text]:
            rules = rules[1:] if self.stops.match(character) else rules[:1]
        self[character] = rules
        return rules


Nesting = Literal[-1, 0, 1]


def new_token(kind: str, tag: str, nesting: Nesting, level: int, content: str = "") -> Token:
    """The token that `Token` makes, in half of the time: a page has hundreds."""
    token = _new(Token)
    token.type, token.tag, token.nesting, token.level = kind, tag, nesting, level
    token.content, token.markup, token.info = content, "", ""
    token.attrs, token.meta, token.map, token.children = {}, {}, None, None
    token.block = token.hidden = False
    return token


_new: Callable[[type[Token]], Token] = object.__new__


class InlineTokens(StateInline):
    """The stock state, with tokens made quickly."""

    def pushPending(self) -> Token:
        """The text that waits as a token."""
        token = new_token("text", "", 0, self.pendingLevel, self.pending)
        self.tokens.append(token)
        self.pending = ""
        return token

    def push(self, ttype: str, tag: str, nesting: Nesting) -> Token:
        """A new token behind the text that waits."""
        if self.pending:
            self.pushPending()
        meta = None
        if nesting < 0:
            self.level -= 1
            self.delimiters = self._prev_delimiters.pop()
        token = new_token(ttype, tag, nesting, self.level)
        if nesting > 0:
            self.level += 1
            self._prev_delimiters.append(self.delimiters)
            self.delimiters = []
            meta = {"delimiters": self.delimiters}
        self.pendingLevel = self.level
        self.tokens.append(token)
        self.tokens_meta.append(meta)
        return token


class InlineDispatch(ParserInline):
    """The inline parser."""

    def __init__(self, stock: ParserInline) -> None:
        """Takes the place of `stock`, with its rules."""
        super().__init__()
        self.ruler, self.ruler2 = stock.ruler, stock.ruler2
        self._pairs: list[PairRule] = []
        self._has_stock_pairs = False
        self._table = InlineTable([], self.terminator_re)

    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        """The inline tokens of a text, behind those that there are."""
        pairs = self.ruler2.getRules("")
        if pairs is not self._pairs:
            self._pairs, self._has_stock_pairs = pairs, _STOCK_PAIRS.issuperset(pairs)
        if self._has_stock_pairs and self._is_text(src):
            tokens.append(new_token("text", "", 0, 0, src))
            return tokens
        state = InlineTokens(src, md, env, tokens)
        self.tokenize(state)
        for rule in pairs:
            rule(state)
        return state.tokens

    def _is_text(self, text: str) -> bool:
        """Whether nothing but the rule `text` does anything."""
        table = self._rules()
        return bool(text) and table[text[0]] == [rules_inline.text] and not table.stops.search(text)

    def _rules(self) -> InlineTable:
        rules = self.ruler.getRules("")
        # both are made anew when a rule or a character is added
        if self._table.rules is not rules or self._table.stops is not self.terminator_re:
            self._table = InlineTable(rules, self.terminator_re)
        return self._table

    def tokenize(self, state: StateInline) -> None:
        """Generate tokens for input range."""
        table, text, end = self._rules(), state.src, state.posMax
        nesting = state.md.options["maxNesting"]
        while state.pos < end:
            pos = state.pos
            if state.level < nesting:
                for rule in table[text[pos]]:
                    if rule(state, False):
                        break
                else:
                    state.append_pending(text[pos])
                    state.pos = pos + 1
            else:
                state.append_pending(text[pos])
                state.pos = pos + 1
            assert state.pos > pos, "a rule that takes something goes on"
        if state.pending:
            state.pushPending()

    def skipToken(self, state: StateInline) -> None:
        """Skip a single token by calling rules in validation mode."""
        pos = state.pos
        if pos in state.cache:
            state.pos = state.cache[pos]
            return
        found = False
        if state.level < state.md.options["maxNesting"]:
            state.level += 1
            for rule in self._rules()[state.src[pos]]:
                found = rule(state, True)
                if found:
                    break
            state.level -= 1
        else:
            state.pos = state.posMax
        if not found:
            state.pos += 1
        assert state.pos > pos, "a rule that takes something goes on"
        state.cache[pos] = state.pos


class LineTable(StateBlock):
    """The stock state, with what it knows of each line found in one look."""

    def __init__(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> None:
        super().__init__("", md, env, tokens)
        self.src = src
        self.looked_at: tuple[tuple[int, ...], int] | None = None
        """Where a paragraph was looked at last, and the line after it."""
        lines = src.split("\n")
        if not lines[-1].strip(" \t"):
            # an end of blanks alone is no line
            lines.pop()
        start = 0
        for table in (self.bMarks, self.eMarks, self.tShift, self.sCount, self.bsCount):
            table.clear()
        for line in lines:
            end = start + len(line)
            indent = len(line) - len(line.lstrip(" \t"))
            self.bMarks.append(start)
            self.eMarks.append(end)
            self.tShift.append(indent)
            self.sCount.append(_columns(line, indent) if indent else 0)
            start = end + 1
        # a line behind the last saves a look whether there is one
        self.bMarks.append(len(src))
        self.eMarks.append(len(src))
        self.tShift.append(0)
        self.sCount.append(0)
        self.bsCount += [0] * len(self.bMarks)
        self.lineMax = len(lines)

    def push(self, ttype: str, tag: str, nesting: Nesting) -> Token:
        """A new token."""
        self.level -= nesting < 0
        token = new_token(ttype, tag, nesting, self.level)
        token.block = True
        self.level += nesting > 0
        self.tokens.append(token)
        return token


def _columns(line: str, indent: int) -> int:
    """How far the first `indent` characters reach; tabs go on to the next multiple of four."""
    return len(line[:indent].expandtabs(4))


class BlockDispatch(ParserBlock):
    """The block parser."""

    def __init__(self, stock: ParserBlock) -> None:
        """Takes the place of `stock`, with its rules."""
        super().__init__()
        self.ruler = stock.ruler
        self._tables: dict[str, BlockTable] = {}

    def rules_at(self, state: StateBlock, line: int, chain: str = "") -> list[BlockRule]:
        """Rules to be called at `line`, which is not empty. chain: those that may end this kind of block."""
        rules = self.ruler.getRules(chain)
        if state.is_code_block(line):
            return rules
        table = self._tables.get(chain)
        # made anew when a rule is added
        if table is None or table.rules is not rules:
            table = self._tables[chain] = BlockTable(rules)
        return table[state.src[line_start(state, line)]]

    def parse(self, src: str, md: MarkdownIt, env: EnvType, outTokens: list[Token]) -> list[Token] | None:
        """The block tokens of a text."""
        if not src:
            return None
        state = LineTable(src, md, env, outTokens)
        self.tokenize(state, state.line, state.lineMax)
        return state.tokens

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:
        """Generate tokens for input range."""
        line, has_empty_lines = startLine, False
        while line < endLine:
            state.line = line = state.skipEmptyLines(line)
            # the second ends nested calls, of quotes and lists
            if line >= endLine or state.sCount[line] < state.blkIndent:
                break
            if state.level >= state.md.options["maxNesting"]:
                state.line = endLine
                break
            for rule in self.rules_at(state, line):
                if rule(state, line, endLine, False):
                    break
            assert state.line > line, "some rule takes something, and goes on"
            # an empty line right before a list does not make it loose
            state.tight = not has_empty_lines
            line = state.line
            # a paragraph may take the empty line behind it in nested lists
            if line - 1 < endLine and state.isEmpty(line - 1):
                has_empty_lines = True
            if line < endLine and state.isEmpty(line):
                has_empty_lines = True
                line += 1
                state.line = line


def dispatch_rules(md: MarkdownIt) -> None:
    """Put both parsers in place of the stock ones."""
    md.inline, md.block = InlineDispatch(md.inline), BlockDispatch(md.block)
