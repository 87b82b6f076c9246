"""Warnings about unsupported syntax of other generators, which stays plain text.

Only patterns that hardly anybody writes on purpose are searched, in the text that remains after all rules.
An author can turn a warning off with a backslash before the pattern. Formulas are not searched, and code
only for forms such as `{python} x`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from types import MappingProxyType

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct

from ..base.diagnostics.fixes import Fix, TextEdit, make_replacement
from ..base.diagnostics.model import Place, Reporter, TextMap
from ..base.patterns import lazy_pattern
from .emoji import EMOJI, EMOJI_NAME
from .kinds import STATEMENTS
from .latex.warnings import (
    COMMAND,
    COMMENT,
    ENVIRONMENT,
    QUOTATION,
    LatexFixes,
    accents,
    environment_end,
    exact_hint,
    find_tie,
    latex_fixes,
    latex_hint,
    translate_latex,
)
from .records import Callout, LinkTargetPlace, get_record
from .state import PageState, get_page


class _Pattern(Struct, frozen=True):
    """A pattern of another generator."""

    pattern: re.Pattern[str]
    hint: str = ""
    """Hint on what to write instead. Empty for LaTeX and fenced divs, whose hint depends on the match."""


_LIST = 'write `{#id .class key="value"}` directly after an image, link, code or `[text]`, or before a block'
_PATTERNS = (
    _Pattern(
        lazy_pattern(r"\{\{<\s*(?:rel)?ref(?![\w.-])"),
        "write a link to the file of the post: `[text](other-post.md)`",
    ),
    _Pattern(lazy_pattern(r"\{\{<\s*figure(?![\w.-])"), 'write an image as `![text](image.png "caption")`'),
    _Pattern(
        lazy_pattern(r"\{\{<\s*(?:youtube|vimeo)(?![\w.-])"),
        'write a video as `<div class="video-embed" data-src="URL"></div>`',
    ),
    _Pattern(
        lazy_pattern(r"\{\{<\s*/?\s*(?!(?:(?:rel)?ref|figure|youtube|vimeo)(?![\w.-]))[\w.-]+"),
        'write a shortcode as `{% name key="value" %}`',
    ),
    _Pattern(
        lazy_pattern(r"\{\{-?\s*(?:page|site|post)\.[\w.]+"),
        "write the value itself: a post is not a template",
    ),
    _Pattern(lazy_pattern(r"(?m)^:{3,}[ \t]*[\w{][^\n]{0,60}")),
    _Pattern(
        lazy_pattern(r"\{:[ \t]*toc[ \t]*\}|\A\[(?:TOC|toc)\]\Z"),
        "remove it: `toc:` turns the table of contents of posts on or off",
    ),
    _Pattern(
        lazy_pattern(r"\{:[ \t]*[.#\w][^{}\n]{0,80}\}"),
        "write only `{.class}`, on the line before the block",
    ),
    _Pattern(lazy_pattern(r"\{[.#][A-Za-z][^{}\n]{0,80}\}"), _LIST),
    _Pattern(lazy_pattern(r"\A\([A-Za-z][\w:.-]*\)=\Z"), "write `{#name}` after the heading or formula"),
    _Pattern(lazy_pattern(r"\{=[a-z]+\}"), "remove this marker, and write the HTML itself"),
    _Pattern(lazy_pattern(r"\^\["), "write `[^1]` here, and the note on a line `[^1]: …`"),
    _Pattern(
        lazy_pattern(r"\\(?:re)?newcommand(?![a-z])|\\DeclareMathOperator(?![a-z])"),
        "put it inside a formula, or under `math: macros:`",
    ),
    _Pattern(
        lazy_pattern(
            r"\\(?!citeauthor|citetitle)(?:no|auto|text|paren|foot)?cite[a-z]{0,8}\*?(?:\[[^\[\]\n]{0,80}\]){0,2}\{[^{}\n]{1,200}\}"
        ),
        "add the reference under `bibliography:` or `references:` in the front matter",
    ),
    _Pattern(
        lazy_pattern(r"\\cite(?:author|title)\*?\{[^{}\n]{1,200}\}"),
        "write `@key`, which prints the authors and the citation",
    ),
    _Pattern(
        lazy_pattern(r"\\(?:printbibliography(?![A-Za-z])|bibliography(?:style)?\{[^{}\n]{1,200}\})"),
        "remove it, and name the file under `bibliography:` in the front matter",
    ),
    _Pattern(ENVIRONMENT),
    _Pattern(COMMAND),
    _Pattern(QUOTATION),
    _Pattern(lazy_pattern(r"(?m)^(?:!!!|\?\?\?\+?)[ \t]+[a-z][\w-]*"), "write a callout as `> [!NOTE]`"),
    _Pattern(
        lazy_pattern(r"(?m)^\*\[[^\[\]\n]{1,80}\]:"), "write `::GPU|Graphics Processing Unit::` in the text"
    ),
    _Pattern(lazy_pattern(r"(?<=[\w)])~[A-Za-z0-9+-]{1,8}~(?!~)"), "write `<sub>2</sub>`, or `$x_2$`"),
    _Pattern(lazy_pattern(r"(?<=[\w)])\^[A-Za-z0-9+-]{1,8}\^(?!\^)"), "write `<sup>2</sup>`, or `$x^2$`"),
    _Pattern(lazy_pattern(r"%%(?=[^%\s])[^%]{1,2000}%%|\A%%\Z"), "remove it: readers of the page can see it"),
    _Pattern(lazy_pattern(r"\+\+[a-z]+(?:\+[a-z0-9]+){1,5}\+\+"), "write keys as `[[Ctrl]]+[[S]]`"),
)
_DIV_HINTS = (
    (lazy_pattern(r"#refs\b"), "remove it: the references follow the text of the page"),
    (lazy_pattern(r"#(eq-[\w.-]+)"), "write the label after the display: `$$ … $$ {{#{0}}}`"),
    (lazy_pattern(r"#(tbl-[\w.-]+)"), "write the label below the table: `: Caption {{#{0}}}`"),
    (lazy_pattern(r"#(lst-[\w.-]+)"), "write the label on the fence: ```python {{#{0}}}"),
    (lazy_pattern(r"#(fig-[\w.-]+)"), "write the label after the image: `![text](a.png){{#{0}}}`"),
    *(
        (lazy_pattern(rf"#({short}-[\w.-]+)"), f"write `> [!{kind}] {{{{#{{0}}}}}}`")
        for short, kind in (
            *(("thm", "THEOREM"), ("lem", "LEMMA"), ("cor", "COROLLARY")),
            *(("prp", "PROPOSITION"), ("def", "DEFINITION"), ("cnj", "CONJECTURE"), ("exm", "EXAMPLE")),
            *(("exr", "EXERCISE"), ("sol", "SOLUTION"), ("rem", "REMARK"), ("alg", "ALGORITHM")),
        )
    ),
    (
        lazy_pattern(r"(?:\.callout-|\A:+[ \t]*\{?)(note|tip|important|warning|caution|danger|info)\b"),
        "write a callout as `> [!{0}]`",
    ),
    (
        lazy_pattern(rf"(?<![\w#])\.?({'|'.join(STATEMENTS)})\b"),
        "write `> [!{0}]`",
    ),
    (
        lazy_pattern(r"(?<![\w#])\.?(?:column-)?(margin|aside)\b"),
        "write a note in the margin as `> [!MARGIN]`",
    ),
    (lazy_pattern(r"tabset|tab-set|\btabs?\b"), 'write tabs as `<div class="tabs">`'),
    (lazy_pattern(r"\{(?:figure|image)\}"), "write an image as `![text](image.png)`"),
    (lazy_pattern(r"\{math\}"), "write a display as `$$ … $$`"),
    (lazy_pattern(r"\{code(?:-block|-cell)?\}"), "write a fence of three backticks"),
    (lazy_pattern(""), "write a callout as `> [!NOTE]`, or another box as `<div>` … `</div>`"),
)
"""Content of a fenced div of Pandoc, Quarto or MyST → hint on what to write instead."""
_RST_ROLE = lazy_pattern(r"(?<![\w:]):([a-z][\w.:-]{0,40}):\Z")
_RST_HINTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("numref", "ref"), "write a reference as `{@fig-x}`, `{@tbl-x}` or `{@sec-x}`"),
        "eqref": "write a reference as `{@eq:x}` or `\\eqref{eq:x}`",
        **dict.fromkeys(("cite", "citet", "citep", "citeyear"), "write a citation as `[@key]`"),
        "label": "write `{#fig-x}` or `{#sec-x}` after the image or heading",
        "eqlabel": "write `\\label{eq:x}` in the formula, or `{#eq:x}` after it",
        **dict.fromkeys(("begin_tab", "end_tab"), 'write tabs as `<div class="tabs">`'),
        **dict.fromkeys(("width", "height"), "write `{width=60%}` directly after the image"),
        "math": "write a formula as `$x$`",
        "bibliography": "write the entries under `references:` in the front matter",
    }
)
"""Role of reStructuredText or Dive into Deep Learning → hint on what to write instead."""
_SIZE = lazy_pattern(r"\|[ \t]*(\d{2,4})(?:x\d{1,4})?\Z")
_ROLE = lazy_pattern(r"\{[a-z][a-z:-]*\}\Z")
_ROLE_HINT = "write a formula as `$x$`, a reference as `{@eq:x}`, a citation as `[@key]`"
_VALUE_ROLES = ("{eval}", "{py}", "{python}")
"""Roles of MyST and Sphinx before code whose value is printed."""
_TEXTS = ("text", "text_special")
_CONTEXT_TOKENS = frozenset(("code_inline", "kbd"))
"""Tokens that are part of unsupported syntax if certain text precedes them: a role such as :ref: before code.
"""
_CELL = "{python} "
_EMBED_HINT = "write an image as `![text](image.png)`"
_QUICK_TEST = lazy_pattern(
    r"\{|\[(?:\[|TOC|toc)|\^\[|\*\[|:::|:[a-z0-9+-]|\)=|\\[A-Za-z]|``|~(?=[$\\{\[\0])|!!!|\?\?\?|\+\+|%%|~(?<=[\w)]~)[\w+-]|\^(?<=[\w)]\^)[\w+-]"
)
"""Matches in every text that may contain one of the patterns above. Other text is not searched for them. Each
alternative begins with a literal, which is four times as fast as patterns that may begin with any letter."""
_WITHOUT_TEXT = "\0"
"""Placeholder in the joined text of a paragraph for tokens that are not text."""


def report_unsupported(state: StateCore) -> None:
    """Warn about unsupported syntax in text that no rule has parsed (core rule)."""
    page = get_page(state.env)
    # An environment that is never closed was reported at its start.
    reported = {(d.place.line, d.place.column) for d in page.reporter.diagnostics if d.place}
    latex_end = 0
    fixes = latex_fixes(page)
    for number, token in enumerate(state.tokens):
        if token.type != "inline" or not token.children:
            continue
        if token.content.startswith("%") and token.level == 1 and state.tokens[number - 1].tag == "p":
            _warn_of_comment(token, page, fixes)
        if "![" in token.content and "|" in token.content:
            _warn_of_sizes(token.children, page)
        if "\\" in token.content:
            found = (_Match(*hit) for hit in accents(token.children))
            _warn(page, _place_hits(get_record(token, TextMap), found), fixes)
        if not _may_match(token.content) and "`" not in token.content:
            continue
        # Most of these characters are inside formulas.
        if not _may_match(_joined_text(token.children)) and not _CONTEXT_TOKENS.intersection(
            child.type for child in token.children
        ):
            continue
        for hit in _place_hits(get_record(token, TextMap), _remaining_hits(_join(token.children), page)):
            place, text, _ = hit
            if page.is_latex and text.startswith("\\") and "cite" not in text:
                # The translation reported it.
                continue
            if text.startswith("\\qed") and _ends_proof(state.tokens, number, text):
                continue
            # The warning about a LaTeX environment covers its content.
            if (place.line, place.column) not in reported and place.line > latex_end:
                _warn(page, [hit], fixes)
                latex_end = environment_end(place, page) if text.startswith("\\begin{") else latex_end


def _ends_proof(tokens: Sequence[Token], number: int, mark: str) -> bool:
    """Return whether the paragraph of token `number` is the last of a proof and ends with `mark`, which the
    end mark of the proof replaces."""
    after = tokens[number + 2 : number + 3]
    if not after or after[0].type != "callout_body_close" or get_record(after[0], Callout).kind != "proof":
        return False
    return tokens[number].content.rstrip().endswith(mark)


def _warn(page: PageState, hits: Iterable[tuple[Place, str, str]], fixes: LatexFixes) -> None:
    """Warn about each hit. hits: position, matched text and hint of each hit. fixes: Fixes for LaTeX
    syntax."""
    for place, text, hint in hits:
        fix = translate_match(text, place, page) or translate_latex(text, place, page, fixes)
        hint = (exact_hint(text, place, page) if fix else "") or hint
        page.reporter.warn("foreign-syntax", f'unsupported syntax: "{text}"', place, hint, fix)


def _warn_of_comment(token: Token, page: PageState, fixes: LatexFixes) -> None:
    """Warn about a paragraph that LaTeX would read as a comment."""
    if COMMENT.fullmatch(token.content):
        _warn(page, [(get_record(token, TextMap).place(0, 1), "%", latex_hint("%", page))], fixes)


def _warn_of_sizes(children: Iterable[Token], page: PageState) -> None:
    """Warn about Obsidian's `![text|100](a.png)`, where the number is the width."""
    for child in children:
        found = _SIZE.search(child.content) if child.type == "image" else None
        if found:
            place = get_record(child, LinkTargetPlace).place if "linktargetplace" in child.meta else None
            message = f'unsupported syntax: "{found[0]}" becomes part of the alt text'
            hint = f"write `{{width={found[1]}}}` directly after the image"
            fix = translate_size(place, page.reporter)
            page.reporter.warn("foreign-syntax", message, place, hint, fix)


def _may_match(text: str) -> bool:
    """Return whether text may contain a pattern. This test is fast and rules out most text."""
    return _QUICK_TEST.search(text) is not None


def _joined_text(children: Iterable[Token]) -> str:
    return "".join([child.content if child.type in _TEXTS else _WITHOUT_TEXT for child in children])


def _place_hits(origin: TextMap, hits: Iterable[_Match]) -> Iterator[tuple[Place, str, str]]:
    """Yield position, text and hint of each hit that is not escaped in the source."""
    cursor = 0
    for hit in hits:
        at = origin.text.find(hit.text, cursor)
        if at < 0:
            continue
        cursor = at + len(hit.text)
        if hit.hint and origin.text[at - 1 : at] != "\\":
            text = hit.text.split("\n")[0].rstrip()
            yield origin.place(at, len(text)), text, hit.hint


class _Match(Struct, frozen=True):
    """A range of the text, in source order. If it has a hint, it is reported; otherwise it is only
    skipped."""

    text: str
    hint: str = ""


def _join(children: Iterable[Token]) -> list[Token]:
    """Return the tokens, with neighbouring text and escape tokens joined into one."""
    result: list[Token] = []
    for child in children:
        if child.type not in _TEXTS:
            result.append(child)
        elif result and result[-1].type == "text":
            result[-1] = replace(result[-1], content=result[-1].content + child.content)
        else:
            result.append(Token("text", "", 0, content=child.content))
    return result


def _remaining_hits(children: list[Token], page: PageState) -> Iterator[_Match]:
    for index, child in enumerate(children):
        if child.type in ("code_inline", "math_inline", "value"):
            is_cell = child.type == "code_inline" and child.content.startswith(_CELL)
            yield _Match(child.content, _value_hint(child.content.removeprefix(_CELL)) if is_cell else "")
        elif child.type == "text":
            yield from _text_hits(child.content, page)
            after = children[index + 1] if index + 1 < len(children) else Token("", "", 0)
            is_role = after.type == "code_inline"
            role = _ROLE.search(child.content) if is_role else None
            named = _RST_ROLE.search(child.content) if is_role and not role else None
            if named:
                yield _Match(named[0], _RST_HINTS.get(named[1], _ROLE_HINT))
            elif role:
                yield _Match(role[0], _value_hint(after.content) if role[0] in _VALUE_ROLES else _ROLE_HINT)
            elif tied := find_tie(child.content, after):
                yield _Match(tied, latex_hint(tied, page))
            elif after.type == "kbd" and child.content.endswith("!"):
                yield _Match("![[", _EMBED_HINT)


def _value_hint(expression: str) -> str:
    return f"write `{{= {expression.strip()} =}}`"


def _text_hits(text: str, page: PageState) -> Iterator[_Match]:
    if not _may_match(text):
        return
    hits = sorted(
        [(hit.start(), hit[0], habit.hint) for habit in _PATTERNS for hit in habit.pattern.finditer(text)]
        + [
            (hit.start(), hit[0], f"write `{EMOJI[hit[1]]}`")
            for hit in EMOJI_NAME.finditer(text)
            if hit[1] in EMOJI
        ]
    )
    end = 0
    for start, written, hint in hits:
        if start >= end:
            is_div = written.startswith(":::")
            yield _Match(written, hint or (_div_hint(written) if is_div else latex_hint(written, page)))
            end = start + len(written)


def _div_hint(written: str) -> str:
    found, hint = next((found, hint) for pattern, hint in _DIV_HINTS if (found := pattern.search(written)))
    name = found[1] if found.groups() else ""
    return hint.format(name if "#" in hint else name.upper())


# Translations of unsupported syntax to ours, if they are exact. Otherwise the author must decide.


_ROLE_MARK = lazy_pattern(r"(?::math:|\{math\})`([^`\n$]+)`")
_SIZED = lazy_pattern(r"!\[([^\[\]\n]*?)[ \t]*\|[ \t]*(\d{2,4})(?:x\d{1,4})?\]\(([^()\n]*)\)(?!\{)")
_ADMONITION = lazy_pattern(r'(!!!|\?\?\?\+?)[ \t]+([a-z][\w-]*)(?:[ \t]+"([^"\n]*)")?[ \t]*')
_FOLDS = {"!!!": "", "???": "-", "???+": "+"}
_INDENT = 4
_MOST_LINES = 500
"""Maximum number of lines of an admonition."""


def translate_match(text: str, place: Place, page: PageState) -> Fix | None:
    """Return a fix for unsupported syntax, or None if only the author can decide."""
    reporter = page.reporter
    if len(text) > 2 and text[0] == text[-1] and text[0] in "~^":
        tag = "sub" if text[0] == "~" else "sup"
        return reporter.substitute(place, text, f"<{tag}>{text[1:-1]}</{tag}>", is_safe=True)
    if text.startswith("++"):
        keys = "+".join(f"[[{key.capitalize()}]]" for key in text.strip("+").split("+"))
        return reporter.substitute(place, text, keys, is_safe=True)
    if text.strip(":") in EMOJI:
        return reporter.substitute(place, text, EMOJI[text.strip(":")], is_safe=True)
    if text.startswith("%%") and len(text) > len("%%"):
        return reporter.substitute(place, text, "", title="remove the comment")
    if text in (":math:", "{math}"):
        return _translate_at(_ROLE_MARK, place, reporter, lambda part: f"${part[1].strip()}$")
    if text.startswith(("!!!", "???")):
        return _translate_admonition(place, page)
    return None


def translate_size(place: Place | None, reporter: Reporter) -> Fix | None:
    """Return a fix for Obsidian's `![text|100](a.png)`; None if it is not at `place`."""
    if place is None or place.line > len(reporter.lines):
        return None
    return _translate_at(_SIZED, place, reporter, lambda part: f"![{part[1]}]({part[3]}){{width={part[2]}}}")


def _translate_at(
    pattern: re.Pattern[str], place: Place, reporter: Reporter, write: Callable[[Sequence[str]], str]
) -> Fix | None:
    """Return a fix if the pattern matches exactly at `place`, otherwise None. write: returns the new text for
    the groups of the match."""
    found = pattern.match(reporter.lines[place.line - 1], place.column - 1)
    if not found:
        return None
    parts = (found[0], *found.groups())
    return make_replacement(place.line, place.column, found[0], write(parts), is_safe=True)


def _translate_admonition(place: Place, page: PageState) -> Fix | None:
    """Return a fix for `!!! note "Title"` at the start of a line and its indented lines; None if the line has
    another form."""
    lines = page.reporter.lines
    head = _ADMONITION.fullmatch(lines[place.line - 1])
    if head is None or head[2] not in page.options.kinds:
        return None
    below = lines[place.line : place.line + _MOST_LINES]
    body = list(takewhile(lambda line: not line.strip() or line[:_INDENT].isspace(), below))
    while body and not body[-1].strip():
        body.pop()
    if not body or any(line.strip() and not line.startswith(" " * _INDENT) for line in body):
        return None
    title = f" {head[3]}" if head[3] else ""
    quoted = [f"> [!{head[2].upper()}]{_FOLDS[head[1]]}{title}"]
    quoted += [f"> {line[_INDENT:]}".rstrip() for line in body]
    old = "\n".join((head[0], *body))
    edit = TextEdit(place.line, 1, old, "\n".join(quoted))
    return Fix(f"write {quoted[0]}", (edit,), is_safe=True)
