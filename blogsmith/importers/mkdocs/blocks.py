"""Conversion of Python-Markdown and PyMdown: admonitions, details, tabs, code, `///` blocks, inline syntax.

Functions for inline syntax expect text whose code and formulas are replaced by placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ...api.importing import lazy_pattern, replace_emoji
from ..text.containers import callout_lines, collapsible, dedent, indent, quote_lines, tab, trim_blank_lines
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
_MARK_NAME = lazy_pattern(r"#([\w:.-]+)")
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
    """Convert inline syntax, icons and attribute lists. report: function that gets the removed text and the
    reason."""
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
    """Return the attribute list of a match, with only the attributes that blogsmith supports: id and
    width."""
    text = found[1]
    if _UNPREFIXED_WORDS.fullmatch(text):
        return found[0]
    values = {each[1].lower(): each[2] or each[3] or each[4] or "" for each in _VALUE.finditer(text)}
    name = _MARK_NAME.search(_VALUE.sub("", text))
    before = found.string[: found.start()]
    is_image = before.endswith(")") and "![" in before[before.rfind("\n") + 1 :]
    width = parse_length(values.get("width", "")) if is_image else ""
    is_heading = before[before.rfind("\n") + 1 :].startswith("#")
    identifier = name[1] if name and (is_image or is_heading) else ""
    return attribute_list(identifier, {"width": width})


def split_abbreviations(text: str) -> tuple[str, dict[str, str]]:
    """Remove the definitions `*[HTML]: …` from a text. Return the text, and abbreviation → meaning."""
    found = {short: " ".join(long.split()) for short, long in _ABBREVIATION.findall(text)}
    return _ABBREVIATION.sub("", text), found


def annotate_abbreviations(text: str, known: Mapping[str, str]) -> str:
    """Annotate the first occurrence of each abbreviation in a text with its meaning. known: abbreviation →
    meaning."""
    for short, long in sorted(known.items(), key=lambda each: -len(each[0])):
        pattern = re.compile(rf"(?<![\w:|\[\]/#.-]){re.escape(short)}(?![\w:|\]/-])")
        for line in pattern.finditer(text):
            start = text.rfind("\n", 0, line.start()) + 1
            if not text.startswith("#", start) and long:
                text = f"{text[: line.start()]}::{short}|{long.replace('|', '/')}::{text[line.end() :]}"
                break
    return text


_ATTRIBUTE = lazy_pattern(r"([\w-]+)=(?:\"([^\"]*)\"|'([^']*)'|(\S+))")


def rewrite_fence(marks: str, info: str, code: Sequence[str], math: Collection[str]) -> list[str]:
    """Return the lines of a fence in blogsmith's syntax. marks: characters that open the fence. math:
    languages of fences that contain formulas."""
    text = info.strip()
    attributes = {
        found[1].lower(): found[2] or found[3] or found[4] or "" for found in _ATTRIBUTE.finditer(text)
    }
    words = _ATTRIBUTE.sub(" ", text.strip("{} ")).split()
    language = next(
        (word.strip("{}") for word in words if not word.startswith((".", "#")) and word.strip("{}")), ""
    )
    if not language or text.startswith("{"):
        language = next(
            (word[1:] for word in words if word.startswith(".") and word not in _CLASSES), language
        )
    if language in math:
        return ["$$", *(line for line in code if line.strip()), "$$"]
    return [f"{marks}{_info(language, attributes)}".rstrip(), *code, marks]


_CLASSES = frozenset((".annotate", ".no-copy", ".copy", ".select", ".no-select", ".yaml-annotate"))


def _info(language: str, attributes: dict[str, str]) -> str:
    parts = [language]
    if title := attributes.get("title"):
        parts.append(f'title="{title.replace(chr(34), chr(39))}"')
    if marked := ",".join(re.findall(r"\d+(?:-\d+)?", attributes.get("hl_lines", ""))):
        parts.append(f"{{{marked}}}")
    if start := attributes.get("linenums", "").split():
        is_number = start[0].isdecimal() and start[0] not in ("0", "1")
        parts += ["linenos", *([f"start={start[0]}"] if is_number else [])]
    if len(parts) > 1 and not language:
        parts[0] = "text"
    return " ".join(parts)


_BOX = lazy_pattern(r"( *)(!!!|\?\?\?\+?)[ \t]*([\w-]+(?:[ \t]+[\w-]+)*)?[ \t]*(?:\"(.*)\")?[ \t]*")
_TAB = lazy_pattern(r"( *)===([!+]*)[ \t]+(?:\"(.*)\"|'(.*)')[ \t]*")
_SLASHES = lazy_pattern(r"( *)(/{3,})[ \t]*([\w-]+)[ \t]*(?:\|[ \t]*(.*?))?[ \t]*")
_FENCE = lazy_pattern(r"( *(?:(?:[-*+]|\d+\.)[ \t]+)*)(`{3,}|~{3,})(.*)")
_OPEN_DIV = lazy_pattern(r" *<(div|section|article|span)\b[^>]*\bmarkdown\b[^>]*>[ \t]*", re.IGNORECASE)
_HEADING = lazy_pattern(r"( *#{1,6} .*?)[ \t]*\{:?[ \t]*((?:[.#]|[\w-]+=)[^\n]*)\}[ \t]*#*[ \t]*")
_IDENTIFIER = lazy_pattern(r"(?:^|\s)#([\w:.-]+)")
_QUOTE = lazy_pattern(r" {0,3}> ?")
_DEFINITION = lazy_pattern(r"( *):[ ]{3}(.*)")
_MEANING = lazy_pattern(r"[-*+][ \t]+(.*)")
_CAPTIONS = frozenset(("caption", "figure-caption", "table-caption"))
_LAYOUT = frozenset(("grid", "cards", "annotate", "result", "md-grid", "doc-contents"))
_KINDS = {
    **{"note": "NOTE", "abstract": "ABSTRACT", "summary": "ABSTRACT", "tldr": "ABSTRACT", "info": "INFO"},
    **{"todo": "INFO", "tip": "TIP", "hint": "TIP", "important": "IMPORTANT", "success": "SUCCESS"},
    **{"check": "SUCCESS", "done": "SUCCESS", "question": "QUESTION", "help": "QUESTION", "faq": "FAQ"},
    **{"warning": "WARNING", "caution": "CAUTION", "attention": "WARNING", "failure": "FAILURE"},
    **{"fail": "FAILURE", "missing": "FAILURE", "danger": "DANGER", "error": "DANGER", "bug": "BUG"},
    **{"example": "EXAMPLE", "quote": "QUOTE", "cite": "QUOTE", "seealso": "NOTE", "theorem": "THEOREM"},
    **{"lemma": "LEMMA", "definition": "DEFINITION", "proof": "PROOF", "corollary": "COROLLARY"},
    **{"proposition": "PROPOSITION", "remark": "REMARK"},
}
_OWN_TITLES = {"FAILURE": "Failure", "BUG": "Bug"}


@dataclass(slots=True)
class BlockRewriter:
    """Converter for the blocks of one page. It collects the kinds of callouts that blogsmith does not
    define."""

    report: Callable[[str, str], None]
    """Function that is called for each change, with a fragment of the source and a description."""
    math_fences: frozenset[str] = frozenset(("math",))
    """Languages of fences that contain formulas."""
    kinds: set[str] = field(default_factory=set)
    """Kinds of callouts that the settings of the new site must define."""
    depth: int = 0

    def rewrite(self, lines: Sequence[str]) -> list[str]:
        """Convert lines to blogsmith's Markdown."""
        self.depth += 1
        out: list[str] = []
        index = 0
        while index < len(lines):
            used, made = self._step(lines, index)
            is_double = bool(made) and not made[0].strip() and (not out or not out[-1].strip())
            out.extend(made[1:] if is_double and used < len(lines) else made)
            index += used
        self.depth -= 1
        return out

    def _step(self, lines: Sequence[str], index: int) -> tuple[int, list[str]]:
        line = lines[index]
        if self.depth > 30:
            return 1, [line]
        if found := _FENCE.fullmatch(line):
            return self._fence(lines, index, found)
        if (found := _BOX.fullmatch(line)) and (found[3] or found[4]):
            return self._box(lines, index, found)
        if found := _TAB.fullmatch(line):
            return self._tab(lines, index, found)
        if (found := _SLASHES.fullmatch(line)) and found[3] != "end":
            return self._slashes(lines, index, found)
        if found := _OPEN_DIV.fullmatch(line):
            return self._div(lines, index, found)
        if (found := _DEFINITION.fullmatch(line)) and _ends_with_comment(lines[:index]):
            # a comment is not a term in blogsmith, so its definition becomes text
            used, body = self._body(lines, index, len(found[1]))
            return used, ["", *indent(self.rewrite([found[2], *body]), found[1]), ""]
        if found := _HEADING.fullmatch(line):
            name = _IDENTIFIER.search(found[2])
            return 1, [f"{found[1]}{f' {{#{name[1]}}}' if name else ''}"]
        if _QUOTE.match(line):
            end = index
            while end < len(lines) and _QUOTE.match(lines[end]):
                end += 1
            inner = [_QUOTE.sub("", each, count=1) for each in lines[index:end]]
            return end - index, quote_lines(self.rewrite(inner))
        return 1, [line]

    def _fence(self, lines: Sequence[str], index: int, found: re.Match[str]) -> tuple[int, list[str]]:
        margin, marks, info = found[1], found[2], found[3]
        if marks[0] == "`" and "`" in info:
            return 1, [lines[index]]
        end = index + 1
        while end < len(lines) and not (
            lines[end].strip().startswith(marks) and not lines[end].strip().strip(marks[0])
        ):
            end += 1
        width = len(margin)
        body = dedent(lines[index + 1 : end], width)
        made = rewrite_fence(marks, info, body, self.math_fences)
        return end - index + 1, [f"{margin}{made[0]}", *indent(made[1:], " " * width)]

    def _body(self, lines: Sequence[str], index: int, margin: int) -> tuple[int, list[str]]:
        """Return the number of lines of the block that starts at `index`, and its body without indentation.
        margin: indentation of the block's first line."""
        end = index + 1
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" " * (margin + 4))):
            end += 1
        while end > index + 1 and not lines[end - 1].strip():
            end -= 1
        return end - index, dedent(lines[index + 1 : end], margin + 4)

    def _box(self, lines: Sequence[str], index: int, found: re.Match[str]) -> tuple[int, list[str]]:
        margin = len(found[1])
        used, body = self._body(lines, index, margin)
        fold = {"!!!": "", "???": "-", "???+": "+"}[found[2]]
        made = self._callout((found[3] or "note").split()[0], found[4], self.rewrite(body), fold)
        return used, ["", *indent(made, found[1]), ""]

    def _callout(self, written: str, title: str | None, body: Sequence[str], fold: str) -> list[str]:
        kind = _KINDS.get(written.lower())
        if kind is None:
            kind = re.sub(r"[^a-z0-9-]", "-", written.lower())
            self.kinds.add(kind)
        title = title if title is not None else _OWN_TITLES.get(kind, "")
        return callout_lines(kind, title.replace(r"\"", '"'), body, fold=fold)

    def _tab(self, lines: Sequence[str], index: int, found: re.Match[str]) -> tuple[int, list[str]]:
        used, body = self._body(lines, index, len(found[1]))
        label = found[3] if found[3] is not None else found[4]
        label, is_first, is_chosen = label.replace(r"\"", '"'), "!" in found[2], "+" in found[2]
        made = tab(label, self.rewrite(body), is_first=is_first, is_chosen=is_chosen)
        return used, ["", *indent(made, found[1]), ""]

    def _slashes(self, lines: Sequence[str], index: int, found: re.Match[str]) -> tuple[int, list[str]]:
        """Convert a slash block, `/// note | Title` … `///`. Return the number of lines read, and the new
        lines."""
        margin, marks, name, title = found[1], found[2], found[3].lower(), found[4]
        end = next((n for n in range(index + 1, len(lines)) if lines[n].strip() == marks), len(lines))
        body = dedent(lines[index + 1 : end], len(margin))
        options: dict[str, str] = {}
        while body and (option := re.fullmatch(r" {4}([\w-]+):\s*(.*)", body[0])):
            options[option[1]] = option[2]
            body = body[1:]
        text = self.rewrite(trim_blank_lines(body))
        if name == "tab":
            made = tab(title or "Tab", text, is_first=options.get("new", "").lower() == "true")
        elif name == "details" and not options.get("type"):
            made = collapsible(title or "Show", text)
        elif name == "define":
            made = _definitions(text)
        elif name in _CAPTIONS:
            self.report(
                lines[index], f'block "/// {name}" becomes a line of text after the element it describes'
            )
            made = [f"*{' '.join(' '.join(text).split())}*"] if text else []
        elif name == "html":
            self.report(lines[index], 'block "/// html" is replaced by its content')
            made = text
        else:
            kind = options.get("type", "note") if name in ("admonition", "details") else name
            fold = "" if name != "details" else "+" if options.get("open", "").lower() == "true" else "-"
            made = self._callout(kind, title, text, fold)
        return end - index + 1, ["", *indent(made, margin), ""]

    def _div(self, lines: Sequence[str], index: int, found: re.Match[str]) -> tuple[int, list[str]]:
        """Remove the tags of a `<div markdown>` that is only layout; for other elements, write
        `markdown="1"`. Return the number of lines read, and the new lines."""
        name = found[1].lower()
        depth, end = 0, index
        for end in range(index, len(lines)):
            depth += len(re.findall(rf"<{name}\b", lines[end]))
            depth -= len(re.findall(rf"</{name}\s*>", lines[end]))
            if depth <= 0:
                break
        if end == index or lines[end].strip() != f"</{name}>":
            return 1, [re.sub(r"\bmarkdown(?!=)", 'markdown="1"', lines[index])]
        inner = self.rewrite(lines[index + 1 : end])
        classes = set(re.findall(r"[\w-]+", (re.search(r'class="([^"]*)"', lines[index]) or [""])[0]))
        if classes & _LAYOUT or not re.search(r"\b(?:class|id|style)=", lines[index]):
            return end - index + 1, ["", *dedent(inner, 4 if _all_indented(inner) else 0), ""]
        head = re.sub(r"\s*\bmarkdown(?:=(?:\"\w*\"|'\w*'|\w+))?", "", lines[index]).rstrip()
        return end - index + 1, ["", head.replace(">", ' markdown="1">', 1), "", *inner, "", lines[end], ""]


def _ends_with_comment(lines: Sequence[str]) -> bool:
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return last.startswith("<!--") and last.endswith("-->")


def _definitions(lines: Sequence[str]) -> list[str]:
    """Return the content of `/// define` as a definition list. A paragraph is a term, and the list items
    after it are its definitions."""
    out: list[str] = []
    for line in lines:
        if item := _MEANING.fullmatch(line):
            while out and not out[-1].strip():
                out.pop()
            out.append(f": {item[1]}")
        else:
            out.append(f"  {line.strip()}" if out and line.startswith("  ") and line.strip() else line)
    return out


def _all_indented(lines: Sequence[str]) -> bool:
    return all(not line.strip() or line.startswith("    ") for line in lines)
