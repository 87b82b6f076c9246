"""Conversion of blocks of Python-Markdown and PyMdown: admonitions, details, tabs, code, `///` blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from ...api.importing import lazy_pattern
from ..text.containers import callout_lines, collapsible, dedent, indent, quote_lines, tab, trim_blank_lines

_ATTRIBUTE = lazy_pattern(r"([\w-]+)=(?:\"([^\"]*)\"|'([^']*)'|(\S+))")


def rewrite_fence(marks: str, info: str, code: Sequence[str], math: Collection[str]) -> list[str]:
    """Return the lines of a fence in blogsmith's form. math: languages whose content is a formula."""
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
    """Converter for the blocks of one page. It collects the kinds of callouts that blogsmith does
    not know."""

    report: Callable[[str, str], None]
    """Callback for changes: a fragment of the source, and a description."""
    math_fences: frozenset[str] = frozenset(("math",))
    """Languages of fences that contain formulas."""
    kinds: set[str] = field(default_factory=set)
    """Kinds of callouts that the settings must define."""
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
        """Return the number of lines of a block with its indented body, and the dedented body."""
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
        """Convert a slash block, `/// note | Title` … `///`."""
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
        """Remove the tags of a `<div markdown>` that is only layout. In other cases, write `markdown="1"`."""
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
    """Convert `/// define`: paragraphs are terms, and items of the lists after them are definitions."""
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
