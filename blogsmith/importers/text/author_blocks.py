"""Blocks that an author defined for the old site, replaced in the source of a page before the importer reads
the page.

`import-map.yaml` gives a replacement for each block name. The name may be that of a shortcode (Hugo, Quarto,
Zola, Nikola), a Liquid or Hexo tag, a container (`:::`, `///`), a directive or role (MyST), an admonition
(`!!!`), a callout (`> [!NAME]`), a class of a div or span (Pandoc), or an MDX component. The importers keep
callouts of blogsmith unchanged, so a replacement can be a callout in every system.

The number of lines of a page stays the same where possible, so that reports give correct line numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...api.importing import lazy_pattern, name_set
from .containers import Replacement, append_replacement, callout_lines, dedent, strip_container_prefix
from .data import split_front_matter
from .segments import CODE, PLAIN, mask, rewrite

BlockMap = tuple[tuple[str, str], ...]
"""Pairs of a block name and its replacement."""
CALLOUT = lazy_pattern(r"\[!([\w-]+)\]([+-]?)[ \t]*(.*)")
"""Matches a replacement that is a callout. Groups: kind, fold (`+`, `-` or empty), title, which may contain
placeholders."""
PLACEHOLDER = lazy_pattern(r"(?<!\{)\{([A-Za-z][\w-]*|\d+)\}(?!\})")
"""`{content}`, `{title}`, or the name or number of an argument."""
_PREFIX = r"(?P<prefix>[ \t]*(?:>[ \t]?)*)"
_FENCE = lazy_pattern(rf"{_PREFIX}(?P<marks>`{{3,}}|~{{3,}}|:{{3,}}|/{{3,}})[ \t]*(?P<rest>.*?)[ \t]*")
_BOX = lazy_pattern(rf"{_PREFIX}(?:!!!|\?\?\?\+?)[ \t]+(?P<name>[\w-]+)[^\"\n]*(?:\"(?P<title>.*)\")?[ \t]*")
_QUOTE = lazy_pattern(rf"{_PREFIX}\[!(?P<name>[\w-]+)\][+-]?[ \t]*(?P<title>.*)")
_NAMED = lazy_pattern(r"\{[ \t]*([\w:+-][\w:.+-]*)[ \t]*\}[ \t]*(.*)")
_CLASSES = lazy_pattern(r"\{([^{}]*)\}")
_CLASS = lazy_pattern(r"(?<!\S)\.([\w-]+)")
_PLAIN_NAME = lazy_pattern(r"([\w:+-][\w:.+-]*)[ \t]*(?:\[(.*?)\])?[ \t]*(?:\{(.*)\})?[ \t]*\|?[ \t]*(.*)")
_OPTION = lazy_pattern(r"[ \t]*:([\w-]+):(?:[ \t]+(.*)|[ \t]*)")
_ARGUMENT = lazy_pattern(r"(?:([\w-]+)[ \t]*[=:][ \t]*)?(\"[^\"]*\"|'[^']*'|\{[^{}]*\}|[^\s,=\"']+)")
_TITLES = ("title", "name", "summary", "caption")
_CODE = name_set(
    "code code-block code-cell sourcecode literalinclude math eval-rst raw mermaid python python3 r julia "
    "ojs dot bash sh sql js css html latex tikz"
)
"""Directives and cells whose content is not Markdown."""
_MAX_DEPTH = 20
_ARGUMENTS = r"(?:\"[^\"]*\"|'[^']*'|[^\"'{}<>%]){0,1000}?"


@dataclass(frozen=True, slots=True)
class _Call:
    """A block or tag as written in the source, split into its parts."""

    name: str
    arguments: str = ""
    content: str = ""
    title: str = ""
    options: Mapping[str, str] | None = None

    def values(self) -> dict[str, str]:
        """Return placeholder name → value."""
        found, positions = dict(self.options or {}), 0
        for key, value in _ARGUMENT.findall(self.arguments):
            if not key:
                positions += 1
            found[key or str(positions)] = value.strip("\"'{}")
        title = self.title or next((found[name] for name in _TITLES if found.get(name)), "")
        if not title and positions and positions == len(found):
            title = self.arguments.strip().strip("\"'")
        return {**found, "title": title, "content": self.content}


def _replace(call: _Call, entry: str) -> Replacement:
    values = call.values()

    def fill(text: str) -> str:
        return PLACEHOLDER.sub(lambda found: values.get(found[1], ""), text)

    if not (box := CALLOUT.fullmatch(entry)):
        text = fill(entry)
        return Replacement(text.strip("\n"), is_block="\n" in text)
    title = fill(box[3]) if box[3] else values["title"]
    lines = callout_lines(box[1], title, dedent(call.content.strip("\n").split("\n"), 0), fold=box[2])
    return Replacement("\n".join(lines), is_block=True)


def replace_blocks(text: str, blocks: BlockMap) -> str:
    """Replace the blocks with these names in the text of a page. Front matter and code stay unchanged."""
    entries = {name: entry for name, entry in blocks if name in text}
    if not entries:
        return text
    body = split_front_matter(text).body
    replacer, masked = _Replacer(entries), mask(body, PLAIN, CODE)
    # tags first, because their content may contain other blocks
    made = replacer.blocks(masked.restore(replacer.tags(masked.text)))
    return f"{text[: len(text) - len(body)]}{made}"


class _Replacer:
    """Replaces blocks in one page."""

    def __init__(self, entries: Mapping[str, str]) -> None:
        self._entries = entries
        self._roles, self._spans, self._tags = _patterns(tuple(sorted(entries)))
        self._depth = 0

    def blocks(self, text: str) -> str:
        """Replace blocks that consist of whole lines. Then replace roles and spans in the text between these
        blocks."""
        if self._depth >= _MAX_DEPTH:
            return text
        self._depth += 1
        lines, out, run, index = text.split("\n"), list[str](), list[str](), 0
        ends = _block_ends(lines)
        while index < len(lines):
            used, made, is_done = self._step(lines, index, ends)
            if is_done:
                out += [*self._inline(run), *made]
                run = []
            else:
                run += made
            index += used
        out += self._inline(run)
        self._depth -= 1
        return "\n".join(out)

    def _step(self, lines: Sequence[str], index: int, ends: Mapping[int, int]) -> tuple[int, list[str], bool]:
        """Return the number of lines of the block or line at `index`, the new lines, and whether these are
        complete. If they are not, the caller must still replace roles and spans in them. ends: opening line →
        closing line, as from `_block_ends`."""
        line = lines[index]
        if found := _FENCE.fullmatch(line):
            return self._fence(lines, index, found, ends.get(index, 0))
        if (found := _BOX.fullmatch(line)) and found["name"] in self._entries:
            end = _box_end(lines, index, found["prefix"])
            body = [each.removeprefix(found["prefix"])[4:] for each in lines[index + 1 : end]]
            return self._put(
                _Call(found["name"], title=found["title"] or ""), body, found["prefix"], end - index
            )
        found = _QUOTE.fullmatch(line)
        if found and ">" in found["prefix"] and found["name"] in self._entries:
            outer, _, _ = found["prefix"].rstrip().rpartition(">")
            end = index + 1
            while end < len(lines) and lines[end].startswith(f"{outer}>"):
                end += 1
            body = [each[len(outer) + 1 :].removeprefix(" ") for each in lines[index + 1 : end]]
            return self._put(_Call(found["name"], title=found["title"]), body, outer, end - index)
        return 1, [line], False

    def _fence(
        self, lines: Sequence[str], index: int, found: re.Match[str], end: int
    ) -> tuple[int, list[str], bool]:
        prefix, marks = found["prefix"], found["marks"]
        call, is_directive = _opening(marks, found["rest"], self._entries)
        is_code = marks[0] in "`~"
        if call and end:
            body = [each.removeprefix(prefix) for each in lines[index + 1 : end]]
            return self._put(call, body, prefix, end - index + 1, has_options=is_directive)
        if not is_code:
            return 1, [lines[index]], False
        used = (end or len(lines) - 1) - index + 1
        name = _NAMED.fullmatch(found["rest"])
        if name and end and name[1].lower() not in _CODE:
            inner = self.blocks("\n".join(lines[index + 1 : end])).split("\n") if end > index + 1 else []
            return used, [lines[index], *inner, lines[end]], True
        return used, list(lines[index : index + used]), False

    def _put(
        self, call: _Call, body: list[str], prefix: str, used: int, *, has_options: bool = False
    ) -> tuple[int, list[str], bool]:
        options: dict[str, str] = {}
        while has_options and body and (option := _OPTION.fullmatch(body[0])):
            options[option[1]] = option[2] or ""
            body = body[1:]
        content = self.blocks("\n".join(body)).strip("\n")
        call = _Call(call.name, call.arguments, content, call.title, options)
        made = _replace(call, self._entries[call.name]).text.split("\n")
        label = options.get("label") or options.get("name")
        made = [f"({label})=", *made] if label else made
        made += [""] * max(1, used - len(made))
        return used, [f"{prefix}{each}" if each else prefix.rstrip() for each in made], True

    def _inline(self, lines: Sequence[str]) -> list[str]:
        """Replace roles and spans in lines. Code in the lines stays unchanged."""
        if not lines:
            return []
        text = "\n".join(lines)
        if not any(name in text for name in self._entries):
            return list(lines)

        def role(found: re.Match[str]) -> str:
            return _replace(_Call(found[1], content=found[3]), self._entries[found[1]]).text

        def span(found: re.Match[str]) -> str:
            name = next((each for each in _CLASS.findall(found[2]) if each in self._entries), "")
            call = _Call(name, _CLASS.sub("", found[2]), found[1])
            return _replace(call, self._entries[name]).text if name else found[0]

        text = rewrite(text, lambda part: self._roles.sub(role, part), PLAIN, CODE - {"span"})
        masked = mask(text, PLAIN, CODE)
        return masked.restore(self._spans.sub(span, masked.text)).split("\n")

    def tags(self, text: str) -> str:
        """Replace single tags, and pairs of an opening and a closing tag. text: text with code hidden."""
        tokens = sorted(
            (found.start(), number, found)
            for number, pattern in enumerate(self._tags)
            for found in pattern.finditer(text)
        )
        stack: list[int] = []
        ends: dict[int, int] = {}
        for position, (_, number, found) in enumerate(tokens):
            if not found["end"]:
                stack.append(position)
                continue
            for at in reversed(range(len(stack))):
                opened = tokens[stack[at]]
                if opened[1] == number and found["name"] in (opened[2]["name"], None):
                    ends[stack[at]] = position
                    del stack[at:]
                    break
        return self._join(text, [found for _, _, found in tokens], ends, (0, len(tokens)), (0, len(text)), 0)

    def _join(
        self,
        text: str,
        tokens: Sequence[re.Match[str]],
        ends: Mapping[int, int],
        numbers: tuple[int, int],
        span: tuple[int, int],
        depth: int,
    ) -> str:
        """Return `text[span[0]:span[1]]` with its tags replaced. tokens: all tags of the text; ends: number
        of an opening tag → number of its closing tag; numbers: range of the tags in the span; depth: nesting
        of the span in paired tags."""
        done, position, number = "", span[0], numbers[0]
        while number < numbers[1]:
            opening = tokens[number]
            if opening["end"] or opening.start() < position:
                number += 1
                continue
            done += text[position : opening.start()]
            closing, content = opening, ""
            if number in ends and depth < _MAX_DEPTH:
                inner = (opening.end(), tokens[ends[number]].start())
                content = self._join(text, tokens, ends, (number + 1, ends[number]), inner, depth + 1)
                content = strip_container_prefix(content, done[done.rfind("\n") + 1 :])
                number, closing = ends[number], tokens[ends[number]]
            position = closing.end()
            call = _Call(opening["name"], opening["args"] or "", content.strip("\n"))
            new = _replace(call, self._entries[call.name])
            done = append_replacement(done, new, text[position : span[1]])
            number += 1
        return done + text[position : span[1]]


@lru_cache(maxsize=64)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str], tuple[re.Pattern[str], ...]]:
    """Return the patterns of roles, spans and tags with these names."""
    name = rf"(?P<name>{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})"
    args = rf"(?:[\s(](?P<args>{_ARGUMENTS}))?"
    bare = name.replace("?P<name>", "")
    tags = (
        rf"\{{\{{<\s*(?P<end>/?)\s*{name}(?![\w.-]){args}\s*/?\s*>\}}\}}",
        rf"\{{\{{%\s*(?P<end>/?)\s*{name}(?![\w.-]){args}\s*/?\s*%\}}\}}",
        rf"(?<!\{{)\{{%-?\s*(?=end[\s%-]|(?:end)?{bare}(?![\w.-]))(?P<end>end)?{name}?(?![\w.-])"
        rf"{args}\)?\s*-?%\}}(?!\}})",
        rf"(?P<end>(?!))?(?<!\{{)\{{\{{\s*{name}{args}\)?\s*\}}\}}",
        rf"<(?P<end>/?)(?=[A-Z]){name}(?![\w.-]){args}\s*/?>",
    )
    return (
        re.compile(rf"(?<!`)\{{({bare[1:-1]})\}}(`+)(.+?)(?<!`)\2(?!`)"),
        re.compile(rf"(?<!!)\[([^\[\]\n]+)\]\{{([^{{}}\n]*\.{bare}[^{{}}\n]*)\}}"),
        tuple(map(re.compile, tags)),
    )


def _opening(marks: str, rest: str, entries: Mapping[str, str]) -> tuple[_Call | None, bool]:
    """Return the block that a fence or container opens, and whether the block has the form of a directive.
    The block is None if its name is not in `entries`. marks: backticks, colons or slashes. rest: the line
    after them."""
    if named := _NAMED.fullmatch(rest):
        return (_Call(named[1], named[2], title=named[2]), True) if named[1] in entries else (None, True)
    if marks[0] in "`~":
        name = rest.partition(" ")[0]
        return (_Call(name) if name.startswith("ad-") and name in entries else None), False
    if listed := _CLASSES.match(rest):
        name = next((each for each in _CLASS.findall(listed[1]) if each in entries), "")
        return (_Call(name, _CLASS.sub("", listed[1]).replace("#", "id=")) if name else None), False
    plain = _PLAIN_NAME.fullmatch(rest)
    if not plain or plain[1] not in entries:
        return None, False
    return _Call(plain[1], plain[3] or "", title=plain[2] or plain[4] or ""), False


def _block_ends(lines: Sequence[str]) -> dict[int, int]:
    """Return index of the line that opens a fence or container → index of the line that closes it."""
    found = [_FENCE.fullmatch(line) for line in lines]
    closers = [number for number, each in enumerate(found) if each and not each["rest"].strip(":")]
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {":": [], "/": []}
    number = 0
    while number < len(lines):
        fence = found[number]
        marks = fence["marks"] if fence else ""
        if fence and marks[0] in "`~":
            after = (closers[at] for at in range(bisect_right(closers, number), len(closers)))
            end = next(
                (each for each in after if (last := found[each]) and last["marks"].startswith(marks)), 0
            )
            ends |= {number: end} if end else {}
            is_directive = _NAMED.fullmatch(fence["rest"])
            number = number if is_directive else end or number
        elif fence and fence["rest"].strip(":"):
            opened[marks[0]].append(number)
        elif fence and opened[marks[0]]:
            ends[opened[marks[0]].pop()] = number
        number += 1
    return ends


def _box_end(lines: Sequence[str], index: int, prefix: str) -> int:
    """Return the index after the last line of the admonition that starts at `index`. The content of an
    admonition is indented."""
    end = index + 1
    for number in range(index + 1, len(lines)):
        line = lines[number].removeprefix(prefix)
        if line.startswith("    "):
            end = number + 1
        elif line.strip():
            break
    return end
