"""Shortcodes: `{% name arg="…" %}`, `{% include img.html … %}`, `{% raw %}…{% endraw %}`.

The parser only finds calls; the template is loaded when the page is rendered. Arguments are passed to the
template as values, never as template source.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.fixes import make_replacement
from ..base.diagnostics.model import Place, TextMap
from ..base.patterns import lazy_pattern
from .cells.values import report_values
from .lookahead import occurs_after
from .records import CallError, Shortcode, attach_record
from .references.labels import normal_id
from .state import (
    PageState,
    block_end,
    block_place,
    get_page,
    inline_map,
    inline_place,
    line_start,
    line_text,
    text_between,
)

_OPEN = lazy_pattern(r"\{%-?[ \t\n]*")
_NAME = lazy_pattern(r"[A-Za-z][\w.-]*")
_ARG = lazy_pattern(
    r"[ \t\n]*(?:(?P<key>[A-Za-z][\w-]*)[ \t]*=[ \t]*"
    r"(?:\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<bare>[^\s\"'%}]+))"
    r"|\"(?P<text>(?:[^\"\\]|\\.)*)\"|(?P<word>[^\s=\"'%}]+)(?=[\s%]|-%))",
    re.DOTALL,
)
_CLOSE = lazy_pattern(r"[ \t\n]*-?%\}")
_RAW_END = lazy_pattern(r"\{%-?\s*endraw\s*-?%\}")
_BLOCKS = lazy_pattern(r"(?m)^[ \t]*(?:`{3}|~{3}|</?[A-Za-z]|\$\$|\Z|\n)(?!\Z)")
"""Syntax of blocks. Text between `{% raw %}` tags that matches is parsed as Markdown."""
_FIGURE_ID = lazy_pattern(r"[ \t]*\{#([\w:.-]+)\}")
_CALLED = lazy_pattern(r"\{%-?[ \t]*(?:include[ \t]+)?([\w-]+)")
_ID = lazy_pattern(r"[\w:.-]+")


CODE = "code"
"""Name of the shortcode that shows code of a file, unless the theme has a template of that name."""
TABLE = "table"
"""Name of the shortcode that shows a data file as a table. A template of this name in the theme takes
precedence."""


class _Arguments(Struct, frozen=True):
    """The arguments of a call."""

    args: dict[str, str]
    maps: dict[str, TextMap]
    keys: dict[str, Place]
    """Key → position of its name."""
    unnamed: list[str]
    """Values of arguments without a name."""
    end: int
    """Index after the last argument that could be read."""
    mistakes: tuple[CallError, ...]


def call_end(text: str, pos: int, end: int) -> int:
    """Return the index after `%}` of the call that opens at `pos`, or -1. Quoted values may contain `%}`."""
    opening = _OPEN.match(text, pos, end)
    if not opening or not occurs_after(text, "%}", pos):
        return -1
    at = opening.end()
    while found := _ARG.match(text, at, end):
        at = found.end()
    closing = _CLOSE.match(text, at, end)
    if closing:
        return closing.end()
    # The arguments are malformed. The call ends at the next `%}` anyway, so that the error can be reported.
    at = text.find("%}", pos, end)
    return at + 2 if at >= 0 else -1


def read_call(origin: TextMap, page: PageState) -> Shortcode:
    """Return the call in `origin`, which includes `{%` and `%}`. Report errors."""
    text = origin.text
    opening = _OPEN.match(text)
    at = opening.end() if opening else 0
    found = _NAME.match(text, at)
    place = origin.place(0, len(text))
    if not found:
        page.reporter.error(
            "shortcode-name",
            "missing name of this shortcode",
            place,
            'write a name, such as `{% img src="a.png" %}`',
        )
        return Shortcode("", {}, place, source=text)
    name, at = found[0], found.end()
    read = _arguments(origin, at)
    for argument in read.maps.values():
        report_values(argument, page.reporter)
    words = read.unnamed
    if name == "include" and words:
        name = words.pop(0).removesuffix(".html")
    if not _CLOSE.match(text, read.end):
        unread = CallError(
            f'invalid arguments of shortcode "{name}"',
            origin.place(read.end + len(text[read.end :]) - len(text[read.end :].lstrip())),
            'write each as `name="value"`, with a closing quote',
        )
        mistakes = (*read.mistakes, unread)
        return Shortcode(name, {}, place, source=text, mistakes=mistakes, is_readable=False)
    given, wrong_id = _id(read)
    mistakes = (*read.mistakes, *(_no_argument(word, origin) for word in words), *wrong_id)
    return Shortcode(
        name, read.args, place, read.maps, given, key_places=read.keys, source=text, mistakes=mistakes
    )


def _no_argument(word: str, origin: TextMap) -> CallError:
    place = origin.place(origin.text.find(word), len(word))
    return CallError(f'missing name of argument "{word}"', place, 'write `name="value"`')


def _id(read: _Arguments) -> tuple[str, tuple[CallError, ...]]:
    """Return the HTML id that a call sets, or an empty string, and the errors in that id."""
    name = read.args.get("id", "")
    if name and not _ID.fullmatch(name):
        place = read.maps["id"].place(0, len(name))
        message = f'invalid id "{name}": expected letters, digits and hyphens'
        return "", (CallError(message, place, f'write `id="{"-".join(_ID.findall(name)) or "fig-x"}"`'),)
    return normal_id(name), ()


def _arguments(origin: TextMap, at: int) -> _Arguments:
    args: dict[str, str] = {}
    maps: dict[str, TextMap] = {}
    keys: dict[str, Place] = {}
    words: list[str] = []
    mistakes: list[CallError] = []
    while found := _ARG.match(origin.text, at):
        at = found.end()
        if not found["key"]:
            words.append(found["text"] if found["text"] is not None else found["word"])
            continue
        group = next(g for g in ("double", "single", "bare") if found[g] is not None)
        key = found["key"]
        place = origin.place(found.start("key"), len(key))
        if key in args:
            mistakes.append(CallError(f'duplicate argument "{key}"', place, "remove one of the two"))
        keys[key] = place
        args[key] = found[group] if group == "bare" else re.sub(r"\\([\"'])", r"\1", found[group])
        maps[key] = origin.cut(found.start(group), found.end(group))
    return _Arguments(args, maps, keys, words, at, tuple(mistakes))


def shortcode_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a call that fills its line or lines (block rule)."""
    pos = line_start(state, start)
    if state.is_code_block(start) or not state.src.startswith("{%", pos):
        return False
    if not get_page(state.env).takes_shortcodes:
        return False
    if re.compile(r"\{%-?\s*raw\s*-?%\}").match(state.src, pos, state.eMarks[start]):
        return _raw_block(state, start, end, silent)
    if not occurs_after(state.src, "%}", pos):
        return _reject_unclosed(state, start, pos, silent)
    stop = block_end(state, start + 1, end)
    after = call_end(state.src, pos, state.eMarks[stop - 1])
    if after < 0:
        return _reject_unclosed(state, start, pos, silent)
    last = next(line for line in range(start, stop) if state.eMarks[line] >= after)
    named = _FIGURE_ID.match(state.src, after, state.eMarks[last])
    rest = named.end() if named else after
    if state.src[rest : state.eMarks[last]].strip() or not _stands_alone(state, pos):
        return False
    if silent:
        return _is_block(state, pos)
    page = get_page(state.env)
    call = read_call(text_between(state, start, last, pos, after), page)
    if named:
        call = replace(call, id=normal_id(named[1]))
    token = state.push("shortcode", "", 0)
    token.map = [start, last + 1]
    attach_record(token, call)
    state.line = last + 1
    return True


def _stands_alone(state: StateBlock, pos: int) -> bool:
    """Return whether a call that fills its line is a block. The call of an inline shortcode becomes a
    paragraph instead."""
    found = _CALLED.match(state.src, pos)
    return not found or found[1] not in get_page(state.env).options.inline_shortcodes


def _is_block(state: StateBlock, pos: int) -> bool:
    """Return whether the call interrupts a paragraph. An unknown shortcode does not."""
    found, page = _CALLED.match(state.src, pos), get_page(state.env)
    return not found or found[1] in page.options.block_shortcodes or shows_file(found[1], page)


def shows_file(name: str, page: PageState) -> bool:
    """Return whether the shortcode `name` shows code or data of a file."""
    own = page.options.inline_shortcodes | page.options.block_shortcodes
    return name in (CODE, TABLE) and name not in own


def _reject_unclosed(state: StateBlock, start: int, pos: int, silent: bool) -> bool:
    if not silent:
        place = block_place(state, pos, len("{%"))
        _report_unclosed(get_page(state.env), place)
    return False


def _report_unclosed(page: PageState, place: Place) -> None:
    line = page.reporter.lines[place.line - 1]
    fix = make_replacement(place.line, len(line.rstrip()) + 1, "", " %}", title="close it with %}")
    hint = "end it with `%}` in the same paragraph"
    page.reporter.error("shortcode-open", 'missing closing "%}" for "{%"', place, hint, fix)


def _raw_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse the lines between `{% raw %}` and `{% endraw %}`, each alone on a line.

    The text between becomes literal paragraphs. If it contains code, HTML, formulas or an empty line, it is
    parsed as Markdown without shortcodes. Jekyll authors write these tags around whole parts of a post, only
    to disable Liquid there.
    """
    last = start if occurs_after(state.src, "endraw", state.bMarks[start]) else end
    while last < end and not _RAW_END.fullmatch(line_text(state, last).strip()):
        last += 1
    opening_line = state.src[line_start(state, start) : state.eMarks[start]].strip()
    if last >= end or last == start or not opening_line.endswith("%}") or opening_line.count("%}") > 1:
        return False
    if silent:
        return True
    content = state.getLines(start + 1, last, state.blkIndent, False)
    if _BLOCKS.search(content):
        _parse_without_shortcodes(state, start + 1, last)
    else:
        token = state.push("raw_block", "", 0)
        token.content, token.map = content, [start, last + 1]
    state.line = last + 1
    return True


def _parse_without_shortcodes(state: StateBlock, first: int, end: int) -> None:
    page = get_page(state.env)
    page.raw_lines.append(range(first, end))
    parent, limit, page.takes_shortcodes = state.parentType, state.lineMax, False
    state.lineMax = end
    state.md.block.tokenize(state, first, end)
    state.parentType, state.lineMax, page.takes_shortcodes = parent, limit, True


def shortcode_inline(state: StateInline, silent: bool) -> bool:
    """Parse a call inside text (inline rule). Block shortcodes split the paragraph later."""
    if not state.src.startswith("{%", state.pos) or not get_page(state.env).takes_shortcodes:
        return False
    raw = re.compile(r"\{%-?\s*raw\s*-?%\}").match(state.src, state.pos, state.posMax)
    if raw:
        return _raw_inline(state, raw.end(), silent)
    after = call_end(state.src, state.pos, state.posMax)
    if after < 0:
        if not silent:
            place = inline_place(state, state.pos, state.pos + len("{%"))
            _report_unclosed(get_page(state.env), place)
        return False
    if not silent:
        page = get_page(state.env)
        call = read_call(inline_map(state, state.pos, after), page)
        is_block = call.name in page.options.block_shortcodes
        attach_record(state.push("shortcode" if is_block else "shortcode_inline", "", 0), call)
    state.pos = after
    return True


def _raw_inline(state: StateInline, start: int, silent: bool) -> bool:
    found = occurs_after(state.src, "endraw", start)
    closing = _RAW_END.search(state.src, start, state.posMax) if found else None
    if not closing:
        if not silent:
            reporter, place = get_page(state.env).reporter, inline_place(state, state.pos, start)
            end = len(reporter.lines[place.line - 1].rstrip()) + 1
            fix = make_replacement(place.line, end, "", "{% endraw %}", title="add {% endraw %}")
            hint = "write `{% endraw %}` in the same paragraph, or put both tags on lines of their own"
            reporter.error("shortcode-open", 'missing "{% endraw %}" for "{% raw %}"', place, hint, fix)
        return False
    if not silent:
        token = state.push("text", "", 0)
        token.content = state.src[start : closing.start()]
    state.pos = closing.end()
    return True


def shortcode_rules(md: MarkdownIt) -> None:
    """Register the rules: after code and math, before everything else."""
    md.block.ruler.after(
        "math", "shortcode", shortcode_block, {"alt": ["paragraph", "reference", "blockquote"]}
    )
    md.inline.ruler.after("math", "shortcode", shortcode_inline)
