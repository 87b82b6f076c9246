"""HTML tags in Markdown: their attributes, and elements that Markdown can say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import unescape

from ...base.patterns import lazy_pattern

_NAME = lazy_pattern(r"<\s*(/?)\s*([A-Za-z][\w:-]*)")
_ATTRIBUTE = lazy_pattern(r"([^\s=<>\"'/]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))?")
_NUMBER = lazy_pattern(r"(\d+(?:\.\d+)?)\s*(px|%|em|rem)?")
_SAFE_ADDRESS = lazy_pattern(r"[^\s()<>]+")


def tag_name(tag: str) -> str:
    """`img` of `<img …>`, `/a` of `</a>`; lower case; empty for anything else."""
    found = _NAME.match(tag)
    return (found[1] + found[2]).lower() if found else ""


def tag_attributes(tag: str) -> dict[str, str]:
    """The attributes of a tag, names in lower case, entities as characters."""
    found = _NAME.match(tag)
    rest = tag[found.end() :].rstrip().removesuffix(">").rstrip().removesuffix("/") if found else ""
    values: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(rest):
        values.setdefault(name.lower(), unescape(value.strip("\"'")))
    return values


def image(
    address: str, alt: str = "", *, caption: str = "", width: str = "", name: str = "", title: str = ""
) -> str:
    """An image in Markdown; with a caption it stands alone in its paragraph, which the caller sees to.

    width: as HTML or a style has it; left out where it is no length or the whole line.
    """
    shown = "".join(
        [
            f' "{_quoted(caption_text(caption or title))}"' if caption or title else "",
            ")",
            attribute_list(name, {"width": length(width)}),
        ]
    )
    return f"![{alt_text(alt)}]({address_text(address)}{shown}"


def caption_text(text: str) -> str:
    """A caption without tags, which are text in ours: links, emphasis and code as Markdown, raised and
    lowered signs as formulas, of the rest what stands in it."""
    if "<" not in text:
        return text
    text = _SCRIPT.sub(_script, code_spans(text))
    text = _LINK.sub(_link, _EMPHASIS.sub(_emphasis, text))
    return _BREAK.sub(" ", _CAPTION_TAG.sub("", text))


def code_spans(text: str) -> str:
    """A text with code between backticks in place of tags."""
    return _CODE.sub(lambda found: f"`{unescape(found[2])}`", text)


def _script(found: re.Match[str]) -> str:
    mark, inner = "_" if found[1][2] in "bB" else "^", found[2]
    # a word is not the product of its letters
    is_word = len(inner) > 1 and inner.isalpha()
    return f"${mark}{{\\text{{{inner}}}}}$" if is_word else f"${mark}{{{inner}}}$"


def _emphasis(found: re.Match[str]) -> str:
    mark = "**" if found[1].lower() in ("b", "strong") else "*"
    return f"{mark}{found[2]}{mark}"


def _link(found: re.Match[str]) -> str:
    address = tag_attributes(found[1]).get("href", "")
    return f"[{found[2]}]({address_text(address)})" if address and found[2].strip() else found[2]


_LINK = lazy_pattern(r"(<a\s[^<>]*>)([^<>\[\]]*)</a\s*>", re.IGNORECASE)
_SCRIPT = lazy_pattern(r"<(su[bp])\b[^<>]*>([\w+−-]{1,20})</\1\s*>", re.IGNORECASE)
_CODE = lazy_pattern(r"<(code|tt|samp)\b[^<>]*>(?![\s`])([^<>`]+)(?<!\s)</\1\s*>", re.IGNORECASE)
_EMPHASIS = lazy_pattern(r"<(b|strong|i|em)\b[^<>]*>(?![\s*_])([^<>*_]+)(?<![\s*_])</\1\s*>", re.IGNORECASE)
_BREAK = lazy_pattern(r"\s*<br\b[^<>]*>\s*", re.IGNORECASE)
_CAPTION_TAG = lazy_pattern(
    r"</?(?:span|font|small|big|u|center|p|div|a|b|i|em|strong|cite|ins|mark|sub|sup|label|figcaption)"
    r"(?:\s[^<>]*)?>",
    re.IGNORECASE,
)


def attribute_list(name: str = "", values: Mapping[str, str] | None = None) -> str:
    """`{#name key=value}`; empty without anything in it."""
    parts = [f"#{name}"] if name else []
    parts += [f"{key}={value}" for key, value in (values or {}).items() if value]
    return "{" + " ".join(parts) + "}" if parts else ""


def length(text: str) -> str:
    """A width as our attribute lists have it: `60%`, `300`; empty for none, `auto` and what fills the
    line."""
    found = _NUMBER.match(text.strip())
    if not found or not float(found[1]):
        return ""
    number, unit = found[1], found[2] or ""
    if unit == "%" and float(number) >= 100:
        return ""
    return number if unit == "px" else number + unit


def style_length(style: str, name: str = "width") -> str:
    """The length of a property in a `style` attribute, or empty."""
    found = re.search(rf"(?:^|;)\s*{name}\s*:\s*([^;]+)", style)
    return length(found[1]) if found else ""


def width_of(values: Mapping[str, str]) -> str:
    """How wide an image's tag wants it: by `width`, or by `style`."""
    return length(values.get("width", "")) or style_length(values.get("style", ""))


def alt_text(text: str) -> str:
    """A text as the alternative text of an image: one line, brackets escaped."""
    return re.sub(r"(?<!\\)([\[\]])", r"\\\1", " ".join(text.split()))


def address_text(address: str) -> str:
    """An address as the destination of a link."""
    address = address.strip()
    if _SAFE_ADDRESS.fullmatch(address):
        return address
    return f"<{address.replace('<', '%3C').replace('>', '%3E')}>"


def _quoted(text: str) -> str:
    return (
        " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
        if '"' in text
        else " ".join(text.split())
    )


def replace_elements(text: str, name: str, replace: Callable[[Mapping[str, str], str], str | None]) -> str:
    """Every element `<name …>…</name>` that holds none of its own kind, replaced; None leaves it as it is.

    replace: takes attributes and inner text. Call it on masked text: what looks like a tag in code is none.
    """
    pattern = re.compile(rf"(<{name}\b[^>]*>)((?:(?!<{name}\b)[\s\S])*?)</{name}\s*>", re.IGNORECASE)

    def substitute(found: re.Match[str]) -> str:
        if found[1].endswith("/>"):
            return found[0]
        replaced = replace(tag_attributes(found[1]), found[2])
        return found[0] if replaced is None else replaced

    return pattern.sub(substitute, text)
