"""Conversion of inline syntax of Python-Markdown and PyMdown.

All functions expect text with code and formulas hidden.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ...api.importing import lazy_pattern, replace_emoji
from ..text.html import attribute_list, parse_length
from .config import MkDocsConfig

_SYMBOLS = {
    **{"(c)": "©", "(r)": "®", "(tm)": "™", "c/o": "℅", "+/-": "±", "=/=": "≠"},
    **{"<-->": "↔", "-->": "→", "<--": "←", "1/4": "¼", "1/2": "½", "3/4": "¾"},
}
"""Text such as `(c)` → symbol that replaces it in the extension smartsymbols."""
_SYMBOL = lazy_pattern(
    r"(?<![\w/.-])(?:\(c\)|\(r\)|\(tm\)|c/o|[13]/[24])(?![\w/-])|\+/-|=/=|(?<![\w<-])(?:<-->|-->|<--)(?![\w>-])"
)
_PROGRESS = lazy_pattern(r"\[=(\d+(?:\.\d+)?)%(?:[ \t]+\"([^\"\n]*)\")?\]")
_KEYS = lazy_pattern(r"(?<![+\w])\+\+((?:[\w-]+|\"[^\"\n]+\")(?:\+(?:[\w-]+|\"[^\"\n]+\"))*)\+\+(?!\+)")
_INSERTION = lazy_pattern(r"\^\^(?=\S)([^\n]+?)(?<=\S)\^\^")
_SUPERSCRIPT = lazy_pattern(r"(?<![\^\[\\])\^(?=[^\s\^])([^\s\^]+?)\^(?!\^)")
_SUBSCRIPT = lazy_pattern(r"(?<![~\\])~(?=[^\s~])([^\s~]+?)~(?!~)")
_CRITIC = (
    (lazy_pattern(r"\{\+\+(.*?)\+\+[ \t]*\}", re.DOTALL), r"<ins>\1</ins>"),
    (lazy_pattern(r"\{--(.*?)--[ \t]*\}", re.DOTALL), r"~~\1~~"),
    (lazy_pattern(r"\{~~(.*?)~>(.*?)~~[ \t]*\}", re.DOTALL), r"~~\1~~<ins>\2</ins>"),
    (lazy_pattern(r"\{==(.*?)==[ \t]*\}", re.DOTALL), r"==\1=="),
    (lazy_pattern(r"\{>>(.*?)<<[ \t]*\}", re.DOTALL), r"<!-- \1 -->"),
)
_ICON = lazy_pattern(r":(?:material|fontawesome|octicons|simple)-[\w-]+:(?:\{[^{}\n]*\})?[ \t]?")
_ATTRIBUTES = lazy_pattern(
    r"(?<![{$\\])\{:?[ \t]*((?:[.#][\w:-]+|[\w-]+(?:=(?:\"[^\"]*\"|'[^']*'|[^\s{}\"']+))?)"
    r"(?:[ \t]+[^{}\n]*?)?)[ \t]*\}(?!\})"
)
_VALUE = lazy_pattern(r"([\w-]+)=(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+))")
_IDENTIFIER = lazy_pattern(r"#([\w:.-]+)")
_ABBREVIATION = lazy_pattern(r"^[ ]{0,3}\*\[([^\]\n]+)\]:[ \t]*(.*)$\n?", re.MULTILINE)
_UNPREFIXED_WORDS = lazy_pattern(r"[\w-]+(?:[ \t]+[\w-]+)*")
_CONTENTS = lazy_pattern(r"^\[TOC\][ \t]*$", re.MULTILINE)
_NAMES = {
    **{"ctrl": "Ctrl", "control": "Ctrl", "alt": "Alt", "shift": "Shift", "cmd": "Cmd", "command": "Cmd"},
    **{"enter": "Enter", "return": "Enter", "esc": "Esc", "escape": "Esc", "tab": "Tab", "del": "Del"},
    **{"delete": "Del", "backspace": "Backspace", "space": "Space", "win": "Win", "windows": "Win"},
    **{"arrow-up": "Up", "arrow-down": "Down", "arrow-left": "Left", "arrow-right": "Right", "plus": "+"},
}


def rewrite_inline_syntax(text: str, config: MkDocsConfig, report: Callable[[str, str], None]) -> str:
    """Convert inline syntax, icons and attribute lists. report: called with removed text and the reason."""
    text = _CONTENTS.sub("", text)
    if config.has("pymdownx.smartsymbols"):
        text = _SYMBOL.sub(lambda found: _SYMBOLS.get(found[0].lower(), found[0]), text)
    for pattern, shown in _CRITIC:
        if config.has("pymdownx.critic"):
            text = pattern.sub(shown, text)
    if config.has("pymdownx.progressbar"):
        text = _PROGRESS.sub(_progress, text)
    if config.has("pymdownx.keys"):
        text = _KEYS.sub(lambda found: _keys(found[1]), text)
    if config.has("pymdownx.caret"):
        text = _SUPERSCRIPT.sub(r"<sup>\1</sup>", _INSERTION.sub(r"<ins>\1</ins>", text))
    if config.has("pymdownx.tilde"):
        text = _SUBSCRIPT.sub(r"<sub>\1</sub>", text)
    if config.has("pymdownx.emoji", "materialx.emoji"):
        for icon in _ICON.findall(text):
            report(icon, "icon is omitted")
        text = replace_emoji(_ICON.sub("", text))
    return _ATTRIBUTES.sub(_attributes, text)


def _progress(found: re.Match[str]) -> str:
    shown = f" {found[2]}" if found[2] else ""
    return f'<progress value="{found[1]}" max="100">{found[1]}%</progress>{shown}'


def _keys(text: str) -> str:
    keys = re.findall(r"\"[^\"]+\"|[\w-]+", text)
    return "+".join(f"[[{_key_name(key)}]]" for key in keys)


def _key_name(key: str) -> str:
    if key.startswith('"'):
        return key.strip('"')
    is_letter = len(key) == 1 or re.fullmatch(r"f\d+", key)
    return _NAMES.get(key.lower(), key.upper() if is_letter else key.replace("-", " ").title())


def _attributes(found: re.Match[str]) -> str:
    """Return the attribute list reduced to the attributes that blogsmith supports: id and width."""
    text = found[1]
    if _UNPREFIXED_WORDS.fullmatch(text):
        return found[0]
    values = {each[1].lower(): each[2] or each[3] or each[4] or "" for each in _VALUE.finditer(text)}
    name = _IDENTIFIER.search(_VALUE.sub("", text))
    before = found.string[: found.start()]
    is_image = before.endswith(")") and "![" in before[before.rfind("\n") + 1 :]
    width = parse_length(values.get("width", "")) if is_image else ""
    is_heading = before[before.rfind("\n") + 1 :].startswith("#")
    identifier = name[1] if name and (is_image or is_heading) else ""
    return attribute_list(identifier, {"width": width})


def split_abbreviations(text: str) -> tuple[str, dict[str, str]]:
    """Remove the definitions `*[HTML]: …` from a text. Return the text and the abbreviations."""
    found = {short: " ".join(long.split()) for short, long in _ABBREVIATION.findall(text)}
    return _ABBREVIATION.sub("", text), found


def annotate_abbreviations(text: str, known: Mapping[str, str]) -> str:
    """Annotate the first occurrence of each abbreviation in a text with its meaning."""
    for short, long in sorted(known.items(), key=lambda each: -len(each[0])):
        pattern = re.compile(rf"(?<![\w:|\[\]/#.-]){re.escape(short)}(?![\w:|\]/-])")
        for line in pattern.finditer(text):
            start = text.rfind("\n", 0, line.start()) + 1
            if not text.startswith("#", start) and long:
                text = f"{text[: line.start()]}::{short}|{long.replace('|', '/')}::{text[line.end() :]}"
                break
    return text
