"""The loops of markdown-it-py, but calling only rules that can match the next character.

The stock loops call all rules in order at each position, some thirty for a `$` and a dozen for each line of a
paragraph. Nearly all of them inspect one character and return. Here, a table lists the characters at which a
rule can match, and the rule is skipped at all others. A rule without an entry, such as a plugin's, is called
everywhere. Order and effect of the rules, and the tokens, are those of markdown-it-py.
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

_STOCK_POST_RULES = frozenset[PairRule](
    (
        rules_inline.link_pairs,
        rules_inline.strikethrough.postProcess,
        rules_inline.emphasis.postProcess,
        rules_inline.fragments_join,
    )
)
"""Stock rules that run after the inline pass and do not change plain text."""

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
"""Rule → first characters of the lines where it can match. All rules are also called for indented code."""

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
        notes.footnote_reference: "[",
        links.link_rule: "[",
        links.image_rule: "!",
        links.autolink_rule: "<",
        links.html_rule: "<",
        references.command: "\\",
        references.braced_reference: "{",
        references.empty_link: "[",
        references.bare_reference: "@",
        citations.citation_group: "[",
        citations.bare_citation: "@",
        citations.command: "\\",
        links.wiki_link: "[",
        text.mark: "=",
        text.abbreviation: ":",
        attributes.parse_span: "[",
        attributes.attributes_inline: "{",
    }
)
"""Rule → characters at which it can match."""


class BlockTable(dict[str, list[BlockRule]]):
    """First character of a line → rules to call, in order. Entries are created on first use."""

    def __init__(self, rules: list[BlockRule]) -> None:
        super().__init__()
        self.rules = rules

    def __missing__(self, character: str) -> list[BlockRule]:
        self[character] = rules = [rule for rule in self.rules if character in BLOCK.get(rule, character)]
        return rules


class InlineTable(dict[str, list[InlineRule]]):
    """Next character → rules to call, in order. Entries are created on first use."""

    def __init__(self, rules: list[InlineRule], stops: re.Pattern[str]) -> None:
        """Store the rules. stops: pattern of the characters where plain text may end. Elsewhere the rule
        `text` consumes text, so no other rule is needed."""
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
    """Return a token equal to that of `Token()`, in half the time. A page has hundreds of them."""
    token = _new(Token)
    token.type, token.tag, token.nesting, token.level = kind, tag, nesting, level
    token.content, token.markup, token.info = content, "", ""
    token.attrs, token.meta, token.map, token.children = {}, {}, None, None
    token.block = token.hidden = False
    return token


_new: Callable[[type[Token]], Token] = object.__new__


class InlineTokens(StateInline):
    """The stock inline state with faster creation of tokens."""

    def pushPending(self) -> Token:
        """Add the pending text as a token and return it."""
        token = new_token("text", "", 0, self.pendingLevel, self.pending)
        self.tokens.append(token)
        self.pending = ""
        return token

    def push(self, ttype: str, tag: str, nesting: Nesting) -> Token:
        """Add a token after the pending text and return it."""
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
        """Create the replacement for `stock`, with its rules."""
        super().__init__()
        self.ruler, self.ruler2 = stock.ruler, stock.ruler2
        self._pairs: list[PairRule] = []
        self._has_stock_pairs = False
        self._table = InlineTable([], self.terminator_re)

    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        """Append the inline tokens of a text to `tokens` and return them."""
        pairs = self.ruler2.getRules("")
        if pairs is not self._pairs:
            self._pairs, self._has_stock_pairs = pairs, _STOCK_POST_RULES.issuperset(pairs)
        if self._has_stock_pairs and self._is_text(src):
            tokens.append(new_token("text", "", 0, 0, src))
            return tokens
        state = InlineTokens(src, md, env, tokens)
        self.tokenize(state)
        for rule in pairs:
            rule(state)
        return state.tokens

    def _is_text(self, text: str) -> bool:
        """Return whether the inline rules leave `text` unchanged, so that it becomes a single text token."""
        table = self._rules()
        return bool(text) and table[text[0]] == [rules_inline.text] and not table.stops.search(text)

    def _rules(self) -> InlineTable:
        rules = self.ruler.getRules("")
        # Both objects are replaced when a rule or a character is added.
        if self._table.rules is not rules or self._table.stops is not self.terminator_re:
            self._table = InlineTable(rules, self.terminator_re)
        return self._table

    def tokenize(self, state: StateInline) -> None:
        """Add the tokens of the state's remaining range."""
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
            assert state.pos > pos, "a rule that matches advances"
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
        assert state.pos > pos, "a rule that matches advances"
        state.cache[pos] = state.pos


class LineTable(StateBlock):
    """The stock block state, which scans each line only once."""

    def __init__(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> None:
        super().__init__("", md, env, tokens)
        self.src = src
        self.scanned_paragraph: tuple[tuple[int, ...], int] | None = None
        """Start of the paragraph that was last scanned without finding a setext heading, and the line after
        the paragraph. None if there is no unused scan."""
        lines = src.split("\n")
        if not lines[-1].strip(" \t"):
            # If the last line has only spaces, it is not a line of the text.
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
        # An entry after the last line saves checks for the end.
        self.bMarks.append(len(src))
        self.eMarks.append(len(src))
        self.tShift.append(0)
        self.sCount.append(0)
        self.bsCount += [0] * len(self.bMarks)
        self.lineMax = len(lines)

    def push(self, ttype: str, tag: str, nesting: Nesting) -> Token:
        """Add a block token and return it."""
        self.level -= nesting < 0
        token = new_token(ttype, tag, nesting, self.level)
        token.block = True
        self.level += nesting > 0
        self.tokens.append(token)
        return token


def _columns(line: str, indent: int) -> int:
    """Return the width of the first `indent` characters in columns; tab stops are four columns apart."""
    return len(line[:indent].expandtabs(4))


class BlockDispatch(ParserBlock):
    """The block parser."""

    def __init__(self, stock: ParserBlock) -> None:
        """Create the replacement for `stock`, with its rules."""
        super().__init__()
        self.ruler = stock.ruler
        self._tables: dict[str, BlockTable] = {}

    def rules_at(self, state: StateBlock, line: int, chain: str = "") -> list[BlockRule]:
        """Return the rules to call at `line`, which must not be empty. chain: kind of block, such as
        `paragraph`; return only rules that may end it. If empty, return rules for new blocks."""
        rules = self.ruler.getRules(chain)
        if state.is_code_block(line):
            return rules
        table = self._tables.get(chain)
        # A plugin has added a rule, so the table is outdated.
        if table is None or table.rules is not rules:
            table = self._tables[chain] = BlockTable(rules)
        return table[state.src[line_start(state, line)]]

    def parse(self, src: str, md: MarkdownIt, env: EnvType, outTokens: list[Token]) -> list[Token] | None:
        """Return the block tokens of a text, or None if it is empty."""
        if not src:
            return None
        state = LineTable(src, md, env, outTokens)
        self.tokenize(state, state.line, state.lineMax)
        return state.tokens

    def tokenize(self, state: StateBlock, startLine: int, endLine: int) -> None:
        """Add the tokens of the lines from `startLine` to before `endLine`."""
        line, has_empty_lines = startLine, False
        while line < endLine:
            state.line = line = state.skipEmptyLines(line)
            # Nested calls, for quotes and lists, end at a less indented line.
            if line >= endLine or state.sCount[line] < state.blkIndent:
                break
            if state.level >= state.md.options["maxNesting"]:
                state.line = endLine
                break
            for rule in self.rules_at(state, line):
                if rule(state, line, endLine, False):
                    break
            assert state.line > line, "one of the rules matches and advances"
            # An empty line directly before a list does not make it loose.
            state.tight = not has_empty_lines
            line = state.line
            # In nested lists, a paragraph may include the empty line after it.
            if line - 1 < endLine and state.isEmpty(line - 1):
                has_empty_lines = True
            if line < endLine and state.isEmpty(line):
                has_empty_lines = True
                line += 1
                state.line = line


def dispatch_rules(md: MarkdownIt) -> None:
    """Replace both stock parsers."""
    md.inline, md.block = InlineDispatch(md.inline), BlockDispatch(md.block)
