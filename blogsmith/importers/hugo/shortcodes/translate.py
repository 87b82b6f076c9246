"""Translation of all shortcodes of a text, by built-in handlers or by the site's own templates.

A template is expanded if it contains only text, arguments, inner text and the supported subset of Go's
template language: `.Get`, `.Inner`, variables, `with`, `if`, `else`, `range` over the site's data, and a few
functions that change no text. Other templates are not expanded at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import unescape
from typing import Any

from ....api.importing import lazy_pattern, name_set
from ...text.containers import Replacement, append_replacement, dedent_text, strip_container_prefix
from ...text.segments import CODE, divide
from . import boxes, media
from .boxes import footnotes
from .parse import Call, CallContext, Literal, parse_shortcodes, write_source

_ACTION = lazy_pattern(
    r"(\{\{-?[ \t\n]*(?:/\*[\s\S]*?\*/|(?:`[^`]*`|\"(?:\\.|[^\"\\])*\"|(?!\}\})[\s\S])*?)[ \t\n]*-?\}\})"
)
_WORD = lazy_pattern(r"`[^`]*`|\"(?:\\.|[^\"\\])*\"|\(|\)|\||:=|=|[^\s()|`\"=:]+")
_IDENTITY_FUNCTIONS = name_set(
    "safehtml safeurl safecss safehtmlattr safejs markdownify htmlescape plainify print htmlunescape string "
    "trim absurl relurl emojify .page.renderstring $.page.renderstring .renderstring transform.markdownify "
    "strings.trimspace absurl chomp $.renderstring transform.plainify strings.trimright htmlattr partial"
) - {"partial", "trim"}
_ELEMENT = lazy_pattern(
    r"<(div|section|aside|details|figure|figcaption|blockquote|summary|p|center)\b([^>]*)>(?=\s*\ue013)"
)
_BLOCK = lazy_pattern(r"<(div|section|aside|details|figure|blockquote|p|center|ul|ol|table|pre|h\d)\b")
_INNER = "\ue013"
_MOST_ROUNDS = 2000
"""Maximum number of loop iterations for one call; real pages have shorter lists."""


class _UnsupportedTemplateError(Exception):
    """The template contains an unsupported construct."""


@dataclass(slots=True)
class _State:
    """State of the expansion of a template for one call."""

    call: Call
    inner: str
    context: CallContext
    variables: dict[str, Any] = field(default_factory=dict)
    dot: Any = None
    """Value of `.` inside `with` and `range`. None outside of them, where `.` is the call."""
    rounds: int = 0
    """Number of loop iterations so far."""


def expand_template(template: str, call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Expand a template for a call; return None if the template is not supported."""
    text = re.sub(r"\{\{-?\s*/\*[\s\S]*?\*/\s*-?\}\}", "", template)
    parts = _ACTION.split(text)
    state = _State(call, inner, context)
    try:
        shown = "".join(_expand(_trim_whitespace(parts), state))
    except (_UnsupportedTemplateError, StopIteration, RecursionError, TypeError):
        return None
    if re.search(r"<(script|style|link|iframe)\b", shown, re.IGNORECASE):
        return None
    shown = _ELEMENT.sub(lambda found: f'<{found[1]}{found[2]} markdown="1">', shown.strip())
    is_block = _BLOCK.match(shown) is not None
    body = dedent_text(inner) if is_block else inner
    body = f"\n\n{body}\n\n" if is_block and "\n" in body else body
    return Replacement(shown.replace(_INNER, body), is_block=is_block)


def _trim_whitespace(parts: list[str]) -> Iterator[str]:
    """Yield the literal text and the actions of a template, alternately. Remove whitespace of the text next
    to `{{-` and `-}}`."""
    for index, part in enumerate(parts):
        if index % 2:
            yield part
            continue
        if index and parts[index - 1].endswith("-}}"):
            part = part.lstrip()
        if index + 1 < len(parts) and parts[index + 1].startswith("{{-"):
            part = part.rstrip()
        yield part


def _expand(parts: Iterator[str], state: _State) -> Iterator[str]:
    rest = list(parts)
    position = 0
    while position < len(rest):
        if not position % 2:
            yield rest[position]
            position += 1
            continue
        words = _WORD.findall(rest[position].strip("{}- \t\n"))
        if words and words[0] in ("if", "with", "range"):
            branches, position = _branches(rest, position)
            yield from (_repeat if words[0] == "range" else _choose)(branches, state)
            continue
        yield _run(words, state)
        position += 1


@dataclass(frozen=True, slots=True)
class _Branch:
    words: tuple[str, ...]
    """Words of the action that starts the branch, for example `if .Inner`; empty for a plain `else`."""
    parts: tuple[str, ...]


def _branches(parts: list[str], start: int) -> tuple[list[_Branch], int]:
    """Return the branches of the block action at `start`, and the index after its `end` action. parts:
    literal text and actions, alternately."""
    branches: list[_Branch] = []
    depth, begin, words = 0, start + 1, _WORD.findall(parts[start].strip("{}- \t\n"))
    for position in range(start + 2, len(parts), 2):
        found = _WORD.findall(parts[position].strip("{}- \t\n"))
        first = found[0] if found else ""
        if first in ("if", "with", "range", "define", "block"):
            depth += 1
        elif first == "end" and depth:
            depth -= 1
        elif not depth and first in ("else", "end"):
            branches.append(_Branch(tuple(words), tuple(parts[begin:position])))
            begin, words = position + 1, found[1:]
            if first == "end":
                return branches, position + 1
    raise _UnsupportedTemplateError


def _choose(branches: list[_Branch], state: _State) -> Iterator[str]:
    for branch in branches:
        if not branch.words:
            yield from _expand(iter(branch.parts), state)
            return
        keyword, *condition = branch.words
        if len(condition) > 1 and condition[1] == ":=":
            state.variables[condition[0]] = value = _value(condition[2:], state)
        else:
            value = _value(condition, state)
        if value:
            dot = state.dot
            state.dot = value if keyword == "with" else dot
            yield from _expand(iter(branch.parts), state)
            state.dot = dot
            return


def _repeat(branches: list[_Branch], state: _State) -> Iterator[str]:
    """Yield the output of `range`. It is the expansion of the body for each item of a list or mapping or, if
    there are no items, of the `else` branch."""
    _, *expression = branches[0].words
    names: list[str] = []
    if ":=" in expression:
        place = expression.index(":=")
        names = [word.strip(",") for word in expression[:place] if word != ","]
        expression = expression[place + 1 :]
    value = _value(expression, state)
    if isinstance(value, str) and value:
        raise _UnsupportedTemplateError
    pairs = sorted(value.items()) if isinstance(value, Mapping) else list(enumerate(value or ()))
    dot, variables = state.dot, dict(state.variables)
    for key, item in pairs:
        state.rounds += 1
        if state.rounds > _MOST_ROUNDS:
            raise _UnsupportedTemplateError
        state.dot = item
        # one variable is the item; two variables are the index and the item
        values = {1: (item,), 2: (str(key), item)}.get(len(names), ())
        state.variables |= dict(zip(names, values, strict=False))
        yield from _expand(iter(branches[0].parts), state)
    state.dot, state.variables = dot, variables
    if not pairs and len(branches) > 1:
        yield from _expand(iter(branches[1].parts), state)


def _format_value(value: Any) -> str:
    """Return a value as a template prints it. Raise _UnsupportedTemplateError for lists and mappings."""
    if isinstance(value, bool) or value is None:
        return "true" if value else ""
    if isinstance(value, (str, int, float)):
        return str(value)
    raise _UnsupportedTemplateError


def _run(words: list[str], state: _State) -> str:
    if words and words[0].startswith("$") and (words[1:2] in ([":="], ["="]) or words[1:3] == [":", "="]):
        state.variables[words[0]] = _value(words[3:] if words[1] == ":" else words[2:], state)
        return ""
    return _format_value(_value(words, state)) if words else ""


def _value(words: list[str] | tuple[str, ...], state: _State) -> Any:
    """Return the value of an expression. Any false value is an empty string. words: words of the
    expression."""
    value: Any = None
    for stage in _stages(list(words)):
        value = _apply(stage, value, state)
    return value if value else ""


def _stages(words: list[str]) -> Iterator[list[str]]:
    stage: list[str] = []
    depth = 0
    for word in words:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == "|" and not depth:
            yield stage
            stage = []
        else:
            stage.append(word)
    yield stage


def _arguments(words: list[str], state: _State) -> list[Any]:
    found: list[Any] = []
    position = 0
    while position < len(words):
        if words[position] != "(":
            found.append(_atom(words[position], state))
            position += 1
            continue
        depth, end = 1, position + 1
        while end < len(words) and depth:
            depth += {"(": 1, ")": -1}.get(words[end], 0)
            end += 1
        found.append(_value(words[position + 1 : end - 1], state))
        position = end
    return found


def _apply(stage: list[str], piped: Any, state: _State) -> Any:
    if not stage:
        raise _UnsupportedTemplateError
    name = stage[0].casefold()
    if name in (".get", "$.get"):
        keys = [_format_value(each) for each in _arguments(stage[1:], state)]
        return state.call.get(int(keys[0]) if keys[0].isdigit() else keys[0].casefold()) if keys else ""
    if name == "index":
        return _index([*_arguments(stage[1:], state), *([piped] if piped is not None else [])])
    if name == "len":
        (value,) = _arguments(stage[1:], state) or ("",)
        return str(len(value))
    if name in _FUNCTIONS or name in _IDENTITY_FUNCTIONS:
        arguments = _arguments(stage[1:], state) + ([piped] if piped is not None else [])
        return arguments[-1] if name in _IDENTITY_FUNCTIONS and arguments else _call(name, arguments)
    values = _arguments(stage, state)
    if piped is None and len(values) == 1:
        return values[0]
    raise _UnsupportedTemplateError


_FUNCTIONS = name_set("default or and not eq ne isset printf lower upper cond trim")


def _index(arguments: list[Any]) -> Any:
    """Return the item of nested data at a path of keys; empty if it does not exist. arguments: the data, then
    the keys."""
    value, *keys = arguments or [""]
    for key in keys:
        if isinstance(value, Mapping):
            value = _field(value, str(key))
        elif isinstance(value, list) and str(key).isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return ""
    return value


def _field(value: Any, *names: str) -> Any:
    """Return the value of nested mappings at a path of names, ignoring case; empty if it does not exist."""
    for name in names:
        if not isinstance(value, Mapping):
            return ""
        value = next((each for key, each in value.items() if str(key).casefold() == name.casefold()), "")
    return value


def _call(name: str, arguments: list[Any]) -> Any:
    if name == "default" and len(arguments) == 2:
        return arguments[1] or arguments[0]
    if name in ("or", "and"):
        return next((each for each in arguments if bool(each) == (name == "or")), arguments[-1])
    if name == "not" and len(arguments) == 1:
        return "" if arguments[0] else "true"
    if name in ("eq", "ne") and len(arguments) > 1:
        return "true" if (arguments[0] in arguments[1:]) == (name == "eq") else ""
    if name in ("lower", "upper", "trim", "printf"):
        arguments = [_format_value(each) for each in arguments]
    if name in ("lower", "upper") and len(arguments) == 1:
        return arguments[0].lower() if name == "lower" else arguments[0].upper()
    if name == "cond" and len(arguments) == 3:
        return arguments[1] if arguments[0] else arguments[2]
    if name == "trim" and len(arguments) == 2:
        return arguments[0].strip(arguments[1])
    if name == "printf" and arguments and arguments[0].count("%") == len(arguments) - 1:
        pieces = iter(arguments[1:])
        return re.sub("%[svdq]", lambda _: next(pieces), arguments[0])
    raise _UnsupportedTemplateError


def _atom(word: str, state: _State) -> Any:
    name = word.casefold()
    if word[:1] in '"`':
        return unescape(word[1:-1])
    if word.isdigit() or name in ("true", "false", "nil"):
        return "" if name in ("false", "nil") else word
    if name in (".inner", "$.inner", ".innerdeindent"):
        return _INNER if state.inner.strip() else ""
    if name == "." and state.dot is not None:
        return state.dot
    if found := re.fullmatch(r"(?:\$?\.(?:page\.)?site|site|hugo)\.data(?:\.([\w.-]+))?", name):
        return _field(state.context.data(), *(found[1].split(".") if found[1] else ()))
    if name.startswith("$") and (head := word.partition("."))[0] in state.variables:
        value = state.variables[head[0]]
        return _field(value, *head[2].split(".")) if head[1] else value
    if isinstance(state.dot, Mapping) and re.fullmatch(r"(?:\.\w+)+", word):
        return _field(state.dot, *word[1:].split("."))
    if found := re.fullmatch(r"\$?\.?(?:page|site|params)?\.?(?:site\.)?params\.([\w.-]+)", name):
        return state.context.param(found[1])
    raise _UnsupportedTemplateError


_HANDLERS = {**boxes.HANDLERS, **media.MEDIA_HANDLERS, **media.HANDLERS, **boxes.NOTES}
_LOADED_HTML = lazy_pattern(r"<(script|style)\b[\s\S]*?</\1\s*>|<link\b[^>]*>|<!--[\s\S]*?-->")
"""Matches scripts, styles and comments in an inline template. They are removed; formulas need no scripts in
blogsmith."""


class HugoShortcodeTranslator:
    """Translator for the shortcodes of one page."""

    def __init__(self, context: CallContext, templates: Mapping[str, str]) -> None:
        """Create a translator. context: data of the page.

        templates: name of a shortcode of the site → source of its template.
        """
        self._context = context
        self._templates = templates
        self._code: tuple[range, ...] = ()

    def translate(self, text: str) -> str:
        """Translate the supported shortcodes of a text. Keep unsupported ones in the text, with a comment."""
        if "{{" not in text:
            return text
        media = (segment for segment in divide(text) if segment.kind in CODE)
        self._code = tuple(range(each.start, each.start + len(each.text)) for each in media)
        shown = self._join(parse_shortcodes(text))
        boxes = self._context.notes
        return shown.rstrip("\n") + "\n\n" + footnotes(boxes) if boxes else shown

    def _join(self, nodes: tuple[Literal | Call, ...]) -> str:
        done = ""
        for index, node in enumerate(nodes):
            if isinstance(node, Literal):
                done += self._literal_text(node)
                continue
            following = nodes[index + 1] if index + 1 < len(nodes) else None
            after = following.text if isinstance(following, Literal) else "\nx" if following else ""
            prefix = done[done.rfind("\n") + 1 :]
            done = append_replacement(done, self._replacement(node, prefix), after)
        return done

    def _literal_text(self, node: Literal) -> str:
        if not node.text.startswith(("{{<", "{{%")):
            return node.text
        # a call shown as text stays text, so hide it from further translation
        in_code = any(node.start in each for each in self._code)
        shown = node.text if in_code else node.text.replace("{{", "&#123;&#123;", 1)
        return self._context.finished.mask(shown)

    def _replacement(self, call: Call, prefix: str) -> Replacement:
        inner = strip_container_prefix(self._join(call.inner), prefix) if call.inner is not None else ""
        if call.name.endswith(".inline"):
            return self._inline_template(call)
        handler = _HANDLERS.get(call.name) or _HANDLERS.get(call.name.rpartition("/")[2])
        template = self._templates.get(call.name)

        def translate() -> Replacement | None:
            return handler(call, inner, self._context) if handler else None

        def expand() -> Replacement | None:
            return None if template is None else expand_template(template, call, inner, self._context)

        ways = (expand, translate) if call.name in boxes.INLINE_SHORTCODES else (translate, expand)
        found = next((made for way in ways if (made := way()) is not None), None)
        return self._keep_call(call, inner) if found is None else found

    def _inline_template(self, call: Call) -> Replacement:
        template = _LOADED_HTML.sub("", write_source(call.inner or ()))
        found = expand_template(template, replace(call, inner=None), "", self._context)
        if found is None:
            return self._keep_call(call, self._join(call.inner or ()))
        if not found.text.strip():
            self._context.notice("dropped", f'shortcode "{call.name}" has no output', "", "")
        return found

    def _keep_call(self, call: Call, inner: str) -> Replacement:
        """Return the source of a call whose name is unknown, with its inner text translated. Add a notice,
        unless the call is in code."""
        put = self._context.finished.mask
        if any(call.start in each for each in self._code):
            return Replacement(put(call.opener) + inner + call.closer)
        hint = "rewrite it, or define it as a shortcode of the new site"
        self._context.notice("left", f'unknown shortcode "{call.name}"', hint, "")
        opener = put(f"<!-- import: shortcode {call.name.replace('--', '- -')} -->") + put(call.opener)
        is_block = "\n" in inner
        return Replacement(opener + inner + (put(call.closer) if call.closer else ""), is_block=is_block)
