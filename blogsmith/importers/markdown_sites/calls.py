"""Conversion of `:::` containers, MDX, and the shortcodes and tags of Zola, Hexo, Nikola and Franklin."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import dedent

from ...api.importing import kind_table, lazy_pattern, name_set
from ..text.containers import callout_lines, collapsible, fence_text, import_comment, tab
from ..text.html import alt_text, image, link_destination
from ..text.math import format_display_math, format_inline_math

Report = Callable[[str, str], None]
"""Function that gets the message of a notice of the kind `left`, and the removed text."""
_OPEN = lazy_pattern(r"([ \t>]*):{3,}[ \t]*([A-Za-z][\w-]*)[ \t]*(?:\[(.*)\]|\{(.*)\}|(\S.*))?[ \t]*")
_CLOSE = lazy_pattern(r"[ \t>]*:{3,}[ \t]*")
_FENCE = lazy_pattern(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(`{3,}|~{3,})")
_TITLE = lazy_pattern(r"title=[\"']([^\"']*)[\"']")
_FOLDS = frozenset(("details", "spoiler", "collapse"))
_LAYOUT = name_set("tabs code-group code-blocks steps v-pre container row column columns grid")
_KINDS = {"secondary": "NOTE", "default": "NOTE", "primary": "NOTE", "light": "NOTE", "danger": "DANGER"}


def convert_containers(text: str) -> tuple[str, frozenset[str]]:
    """Convert blocks between `:::kind` and `:::` to callouts, folds and tabs. Return the text, and the kinds
    of callouts that the new settings must define."""
    if ":::" not in text:
        return text, frozenset()
    kinds: set[str] = set()
    return "\n".join(_containers(text.split("\n"), kinds, 0)), frozenset(kinds)


def _containers(lines: Sequence[str], kinds: set[str], depth: int) -> list[str]:
    out: list[str] = []
    index, fence = 0, ""
    while index < len(lines):
        line = lines[index]
        mark = _FENCE.match(line)
        if fence:
            fence = "" if line.strip(" \t>").startswith(fence) and not line.strip(" \t>`~") else fence
        elif mark:
            fence = mark[1]
        elif (found := _OPEN.fullmatch(line)) and depth < 20 and (end := _end(lines, index)):
            margin = found[1]
            body = [each.removeprefix(margin) for each in lines[index + 1 : end]]
            made = _container(found, _containers(body, kinds, depth + 1), kinds)
            out += ["", *(f"{margin}{each}".rstrip() for each in made), ""]
            index = end + 1
            continue
        out.append(line)
        index += 1
    return out


def _end(lines: Sequence[str], start: int) -> int:
    """Return the index of the line that closes the container opened at `start`; 0 if no line closes it."""
    depth, fence = 0, ""
    for number in range(start, len(lines)):
        line = lines[number]
        if fence:
            fence = "" if line.strip(" \t>").startswith(fence) and not line.strip(" \t>`~") else fence
        elif mark := _FENCE.match(line):
            fence = mark[1]
        elif _OPEN.fullmatch(line):
            depth += 1
        elif _CLOSE.fullmatch(line):
            depth -= 1
            if not depth:
                return number
    return 0


def _container(found: re.Match[str], body: Sequence[str], kinds: set[str]) -> list[str]:
    kind, attributes = found[2].lower(), found[4] or ""
    named = _TITLE.search(attributes)
    title = (named[1] if named else found[3] or found[5] or "").strip()
    if kind in _FOLDS:
        return collapsible(title or "Show", body)
    if kind == "tab":
        return tab(title or "Tab", body)
    if kind in _LAYOUT:
        return list(body)
    kind = _KINDS.get(kind, kind.upper())
    if kind.casefold() not in kind_table():
        kinds.add(kind.casefold())
    return callout_lines(kind, title, body)


_MODULE = lazy_pattern(
    r"(?m)^(?:import[ \t]+(?:[^\n;\"'{}]*(?:\{[^{}]*\})?[^\n;\"'{}]*from[ \t]*)?"
    r"[\"'](?P<path>[^\"'\n]+)[\"'];?[ \t]*\n?"
    r"|export[ \t]+(?:const|let|function|default)\b[^\n]*(?:\n(?![ \t]*\n)[^\n]+)*\n?)"
)
_IMPORTED = lazy_pattern(r"import[ \t]+(\w+)[ \t]+from")
_COMMENT = lazy_pattern(r"\{/\*[\s\S]*?\*/\}")
_VALUE = r"(?:\"[^\"]*\"|'[^']*'|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})"
_TAG = lazy_pattern(
    rf"(?P<margin>^[ \t]*)?<(?P<end>/?)(?P<name>[A-Z][\w.]*|(?=>))"
    rf"(?P<attributes>(?:\s+[\w:@-]+(?:={_VALUE})?|\s+\{{[^{{}}]*\}})*)\s*(?P<closed>/?)>",
    re.MULTILINE,
)
_ATTRIBUTE = lazy_pattern(rf"([\w:-]+)(?:=({_VALUE}))?")
_HTML_STYLE = lazy_pattern(r"(<[a-z][^<>]*?)\s+style=\{\{[^{}]*\}\}")
_HTML_VALUE = lazy_pattern(r"(<[a-z][^<>]*?\s[\w-]+=)\{(?:require\()?([\w./@~\"'`-]+)\)?(?:\.default)?\}")
_BASE_URL = lazy_pattern(r"\{useBaseUrl\([\"']([^\"']*)[\"']\)\}")
_CLASS = lazy_pattern(r"(<[a-z][^<>]*?\s)className=")
_TAG_LINE = lazy_pattern(r"<(/?)[A-Z][\w.]*")
_ITEM = lazy_pattern(r"(?:[-*+]|\d+[.)])[ ]+")
_IMAGES = frozenset(("Image", "ThemedImage", "Img", "IdealImage", "Picture", "Zoom"))
_BOXES = frozenset(("Aside", "Callout", "Admonition", "Note", "Tip", "Warning", "Caution", "Danger", "Info"))
_PARTS = frozenset(("TabItem", "Tab", "Details", "Collapse", "Accordion"))
_LAYOUTS = name_set(
    "Tabs Steps CardGrid FileTree Fragment CodeGroup Columns Row Col Center LinkGrid Icon Cards"
)
"""Components that only arrange their content. Their tags are removed."""
_LINKS = frozenset(("LinkCard", "LinkButton", "Link"))
_CARDS = frozenset(("Card", "Badge"))
_SHOWN = ("title", "label", "summary", "header", "text")


def dedent_components(text: str) -> str:
    """Remove the indentation inside MDX components, because Markdown would read indented lines as code.
    Inside a list item, the item's indentation stays."""
    if "<" not in text:
        return text
    out: list[str] = []
    frames: list[_Frame] = []
    items: list[int] = []
    fence, is_tag = "", False
    for line in text.split("\n"):
        inner = line.lstrip()
        width = len(line[: len(line) - len(inner)].expandtabs(4))
        if frames and frames[-1].width is None and inner and not is_tag:
            frames[-1].width = width
        if frames:
            width = frames[-1].margin + max(0, width - (frames[-1].width or 0))
        tag = None if fence else _TAG_LINE.match(inner)
        if not fence and inner and not tag:
            items = [each for each in items if each <= width]
            items += [width + len(found[0])] if (found := _ITEM.match(inner)) else []
        elif tag and tag[1]:
            width = frames.pop().margin if frames else width
        elif tag:
            width = max((each for each in items if each <= width), default=0)
        is_moved = frames or (tag and not fence)
        out.append(f"{' ' * width}{inner}" if is_moved and inner else line)
        if fence:
            fence = "" if inner.startswith(fence) and not inner.strip(" `~") else fence
        elif mark := _FENCE.match(inner):
            fence = mark[1]
        elif (tag and not tag[1]) or is_tag:
            end = inner.rstrip()
            is_tag = not end.endswith(">") or end.endswith("=>")
            if not is_tag and not end.endswith("/>") and "</" not in end:
                frames.append(_Frame(width))
    return "\n".join(out)


@dataclass(slots=True)
class _Frame:
    """An open component in `dedent_components`."""

    margin: int
    """Number of spaces before the component's tags in the new text."""
    width: int | None = None
    """Number of spaces before the first line of the content in the source; None until that line is read."""


def convert_mdx(masked: str, report: Report) -> str:
    """Convert modules and components of MDX to Markdown. masked: text with code replaced by placeholders.
    report: see `Report`.

    Known components become containers for `convert_containers`. Other components are replaced by their
    content.
    """
    paths: dict[str, str] = {}

    def drop(found: re.Match[str]) -> str:
        name = _IMPORTED.match(found[0])
        if name and found["path"]:
            paths[name[1]] = found["path"]
        first = found[0].strip().partition("\n")[0]
        report(f'MDX module code is not run: "{first}"', found[0])
        return ""

    text = _COMMENT.sub("", _MODULE.sub(drop, masked))
    text = _BASE_URL.sub(r'"\1"', text)
    text = _HTML_VALUE.sub(lambda found: f'{found[1]}"{_path(found[2], paths)}"', text)
    text = _CLASS.sub(r"\1class=", _HTML_STYLE.sub(r"\1", text))
    text = _TAG.sub(lambda found: _component(found, paths, report), text)
    return text


def _path(written: str, paths: Mapping[str, str]) -> str:
    name = written.strip("\"'`")
    return paths.get(name, name)


def _component(found: re.Match[str], paths: Mapping[str, str], report: Report) -> str:
    name, margin = found["name"].rpartition(".")[2], found["margin"] or ""
    values = {key: _path(value.strip("{}"), paths) for key, value in _ATTRIBUTE.findall(found["attributes"])}
    is_block = found["margin"] is not None
    if name in _IMAGES and not found["end"]:
        return f"{margin}{image(values.get('src', ''), values.get('alt', ''))}"
    if name in _BOXES | _PARTS and is_block and not found["closed"]:
        if found["end"]:
            return f"\n{margin}:::\n"
        title = next((values[key] for key in _SHOWN if values.get(key)), "")
        title = title or (values.get("value", "") if name in _PARTS else "")
        kind = values.get("type") or ("note" if name in ("Aside", "Callout", "Admonition") else name)
        kind = {"TabItem": "tab", "Tab": "tab"}.get(name, "details" if name in _PARTS else kind)
        return f"\n{margin}:::{kind.lower()} {title}\n"
    title = next((values[key] for key in _SHOWN if values.get(key)), "")
    if name in _LINKS and values.get("href") and not found["end"]:
        shown = f"[{title}]({values['href']})" if title else f'<a href="{escape(values["href"])}">'
        return margin + " ".join(filter(None, [shown, values.get("description", "")]))
    if name in _LINKS and found["end"]:
        return f"{margin}</a>"
    if name in _CARDS and not found["end"]:
        return f"{margin}**{title}**{'' if found['closed'] or not is_block else chr(10)}" if title else margin
    if name in _LAYOUTS | _CARDS or not name:
        return margin
    if found["closed"] or not found["end"]:
        first = " ".join(found[0].split())
        report(f'MDX component "{name}" is not run: "{first[:60]}"', found[0])
    return f"{margin}{import_comment(f'component {name}')}" if found["closed"] else margin


_ARGUMENTS = r"(?:\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`|[^\"'`%{}])*?"
_ZOLA = lazy_pattern(
    rf"\{{\{{-?\s*(?P<inline>[a-zA-Z_]\w*)\((?P<given>{_ARGUMENTS})\)\s*-?\}}\}}"
    rf"|\{{%-?\s*(?P<block>[a-zA-Z_]\w*)\((?P<args>{_ARGUMENTS})\)\s*-?%\}}(?P<body>[\s\S]*?)\{{%-?\s*end\s*-?%\}}"
)
_HEXO = lazy_pattern(
    rf"\{{%\s*(?P<block>\w+)(?P<args>(?:\s{_ARGUMENTS})?)\s*%\}}(?P<body>[\s\S]*?)\{{%\s*end(?P=block)\s*%\}}"
    rf"|\{{%\s*(?P<inline>\w+)(?P<given>(?:\s{_ARGUMENTS})?)\s*%\}}"
)
_NIKOLA = lazy_pattern(
    rf"\{{\{{%\s*(?P<block>[\w-]+)(?P<args>(?:\s{_ARGUMENTS})?)\s*%\}}\}}(?P<body>[\s\S]*?)\{{\{{%\s*/(?P=block)\s*%\}}\}}"
    rf"|\{{\{{%\s*(?P<inline>[\w-]+)(?P<given>(?:\s{_ARGUMENTS})?)\s*%\}}\}}"
)
_FRANKLIN = lazy_pattern(
    r"\{\{\s*(?P<inline>\w+)(?P<given>[^{}]*)\}\}(?P<block>(?!))?(?P<args>(?!))?(?P<body>(?!))?"
)
CALLS: Mapping[str, re.Pattern[str]] = {
    "zola": _ZOLA,
    "hexo": _HEXO,
    "nikola": _NIKOLA,
    "franklin": _FRANKLIN,
}
_WORD = lazy_pattern(r"(?:(\w+)\s*[=:]\s*)?(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`|[^\s,=]+)")
_VIDEOS = {"youtube": "https://www.youtube.com/watch?v={}", "vimeo": "https://vimeo.com/{}"}
_FORMULAS = frozenset(("katex", "math", "latex", "tex", "mathjax"))
_HEXO_NOTES = frozenset(("note", "message", "alert", "callout", "admonition", "hint", "notice"))


def convert_calls(masked: str, pattern: re.Pattern[str], values: Mapping[str, str], report: Report) -> str:
    """Convert shortcodes and tags. masked: text with code and formulas replaced by placeholders. pattern:
    matches the calls of one system. values: file name of a post without suffix → path; for Franklin, variable
    → value."""

    def replace(found: re.Match[str]) -> str:
        name = (found["inline"] or found["block"]).lower()
        words = _WORD.findall(found["given"] or found["args"] or "")
        named = {key: value.strip("\"'`") for key, value in words if key}
        plain = [value.strip("\"'`") for key, value in words if not key]
        body = found["body"]
        if pattern.pattern == _FRANKLIN.pattern and name in values and not words:
            return values[name]
        made = _call(name, plain, named, body.strip("\n") if body else "", values)
        if made is None:
            report(f'unknown shortcode "{name}"', found[0] if body is None else "")
            made = (
                f"{import_comment(f'shortcode {name}')}\n\n{body.strip()}\n"
                if body
                else (import_comment(f"shortcode {name}"))
            )
        return made

    return pattern.sub(replace, masked)


def _call(
    name: str, plain: Sequence[str], named: Mapping[str, str], body: str, posts: Mapping[str, str]
) -> str | None:
    """Return the Markdown for a call of the shortcode or tag `name`; None if the name is unknown. plain:
    positional arguments. named: named arguments. posts: name of a post → path."""
    first = next(iter(plain), "")
    if name in _FORMULAS and (tex := body or named.get("body") or first):
        # a blank line would end the formula
        tex = re.sub(r"\n\s*\n", "\n", tex.strip())
        is_block = named.get("block") == "true" or "\n" in tex
        return f"\n\n{format_display_math(tex)}\n\n" if is_block else format_inline_math(tex)
    if name in _VIDEOS:
        address = _VIDEOS[name].format(named.get("id") or first)
        return f'\n\n<div class="video-embed" data-src="{escape(address)}"></div>\n\n'
    if name in ("figure", "image", "img", "asset_img"):
        paths = [word for word in plain if re.search(r"\.\w{2,5}$|^https?:", word)]
        source = named.get("src") or named.get("path") or named.get("url") or next(iter(paths), "")
        rest = " ".join(plain[plain.index(source) + 1 :]) if source in plain else ""
        rest = re.sub(r"^(?:\d+\s+)*", "", rest)
        return image(source, named.get("alt") or rest, caption=named.get("caption", "")) if source else None
    if name in ("post_link", "asset_link", "link", "post_path", "asset_path"):
        target = posts.get(first, first)
        shown, target = (
            (first, plain[1]) if name == "link" and len(plain) > 1 else (" ".join(plain[1:]), target)
        )
        return (
            target if name.endswith("_path") else f"[{alt_text(shown or first)}]({link_destination(target)})"
        )
    if name in ("codeblock", "code", "highlight"):
        language = named.get("lang") or named.get("language") or next((w for w in plain if w.isalnum()), "")
        return f"\n\n{fence_text(body, language)}\n\n"
    if name in ("blockquote", "quote", "pullquote", "epigraph"):
        signature = ["", f"— {' '.join(plain)}"] if plain else []
        return (
            "\n\n"
            + "\n".join(f"> {line}".rstrip() for line in [*body.strip().split("\n"), *signature])
            + "\n\n"
        )
    if name in ("raw", "more", "teaser", "toc"):
        return body
    kind = (named.get("type") or first or "note") if name in _HEXO_NOTES else name
    kind = _KINDS.get(kind, kind.upper())
    if body and kind.casefold() in kind_table():
        title = named.get("title") or named.get("name") or " ".join(plain[1 if name in _HEXO_NOTES else 0 :])
        return "\n\n" + "\n".join(callout_lines(kind, title, body.strip().split("\n"))) + "\n\n"
    return None


_RAW_HTML = lazy_pattern(r"(?m)^[ \t]*~~~[ \t]*\n([\s\S]*?)^[ \t]*~~~[ \t]*$")
_DIV_OPEN = lazy_pattern(r"(?m)^[ \t]*@@([\w,-]+)[ \t]*$")
_DIV_LINE = lazy_pattern(r"@@([\w,-]+)[ \t]+([^@\n]*?)[ \t]*@@")
_DIV_TEXT = lazy_pattern(r"(?m)^(@@[\w,-]+[ \t]*\n)((?:[ \t]+\S[^\n]*\n)+)")
_DIV_CLOSE = lazy_pattern(r"(?m)^[ \t]*@@[ \t]*$")


def convert_franklin(text: str) -> str:
    r"""Convert Franklin's `~~~` for raw HTML and `@@name` for a box, and remove `\toc`."""
    text = _RAW_HTML.sub(r"\n\1\n", text)
    text = _DIV_LINE.sub(r"\2", text)
    # Franklin has no indented code
    text = _DIV_TEXT.sub(lambda found: found[1] + dedent(found[2]), text)
    text = _DIV_OPEN.sub(lambda found: f":::{_box(found[1])}", _DIV_CLOSE.sub(":::", text))
    return re.sub(r"(?m)^[ \t]*\\(?:toc|tableofcontents)(?:\{\})?[ \t]*$", "", text)


def _box(names: str) -> str:
    known = (name for each in names.split(",") for name in each.split("-") if name.casefold() in kind_table())
    return next(known, "container")
