"""Conversion of kramdown syntax that CommonMark does not have: formulas, attribute lists, tables,
abbreviations.

kramdown parses `$$…$$` itself: as display math if it is a separate block, otherwise as inline math. It parses
text between other delimiters as Markdown, so it removes escapes before MathJax or KaTeX reads the formula.
This module removes the same escapes. All functions except those for code expect text with code and formulas
hidden.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from ...api.importing import lazy_pattern, name_set
from ..text.html import parse_length, style_length
from ..text.math import (
    format_display_math,
    format_inline_math,
    has_escapes,
    has_rows,
    is_display,
    split_formula,
    unescape_tex,
)
from ..text.segments import MARK, FormulaDelimiters, MaskedText
from .html import is_in_html_block
from .settings import JekyllConfig

DIALECT = FormulaDelimiters(spaced_dollar=True, escaped_brackets=True)
_MARK = re.compile(f"{MARK[0]}(\\d+){MARK[1]}")
_STARTS_BLOCK = lazy_pattern(r"[ \t>]*(?:(?:[-*+]|\d+\.)[ \t]+)*")
_BETWEEN_BLOCKS = lazy_pattern(r"[ \t>]*(?:\{[:#][^}\n]*\}[ \t]*)?")
_ENDS_ITEM = lazy_pattern(r"[ \t]*\n[ \t>]*(?:[-*+]|\d+\.)[ \t]")
_PROSE = lazy_pattern(
    r"\s*\d{1,3}\s*|[^\\^_={}+<>|/*&\d\ue000\ue010]*[^\W\d_]{2,}[^\\^_={}+<>|/*&\ue000\ue010]*"
)
"""Matches a number, or words without TeX characters. Between escaped brackets, it is text and not a
formula."""
_TAG = lazy_pattern(r"</?[A-Za-z][^<>]*>")
_TABLE_ROWS = lazy_pattern(
    r"(\\begin\{(?P<name>(?:[bBpvV]|small)?matrix\*?|array|d?cases)\})([\s\S]*?)(\\end\{(?P=name)\})"
)
_ENDS_BLOCK = lazy_pattern(r"[ \t]*(?:\Z|\n[ \t>]*(?:\n|\Z)|\n[ \t>]*\{:)")


def rewrite_formulas(
    prose: str, masked: MaskedText, config: JekyllConfig, colours: Mapping[str, str]
) -> MaskedText:
    """Convert every hidden formula to blogsmith's delimiters. prose: `masked.text` after other rewrites,
    which shows the context of each formula. colours: name → `[model]{value}`, for colors that the page
    defines."""
    hidden = list(masked.hidden)
    for mark in _MARK.finditer(prose):
        number = int(mark[1])
        if masked.kinds[number] == "math":
            before, after = prose[: mark.start()], prose[mark.end() :]
            written = expand_colours(hidden[number], colours) if colours else hidden[number]
            hidden[number] = _rewrite(written, before, after, config)
    return MaskedText(prose, tuple(hidden), masked.kinds)


def expand_colours(tex: str, colours: Mapping[str, str]) -> str:
    """Replace the names of colors that a page defines by their values. This is necessary because in blogsmith
    a definition applies only inside its formula. colours: name → `[model]{value}`."""

    def substitute(found: re.Match[str]) -> str:
        return found[1] + colours.get(found[2].strip(), f"{{{found[2]}}}")

    return _COLOUR_COMMAND.sub(substitute, tex)


_COLOUR_COMMAND = lazy_pattern(r"(\\(?:color|textcolor|colorbox))\s*\{([^{}]*)\}")


def _rewrite(formula: str, before: str, after: str, config: JekyllConfig) -> str:
    opener, written = split_formula(formula)
    if not written.strip():
        return formula
    closer = formula[len(opener) + len(written) :]
    tex = fix_row_separators(written)
    plain = f"{opener}{tex}{closer}"
    if opener == "$$":
        if is_in_html_block(before) or config.sets_dollars_as_display or has_rows(tex):
            return plain
        if _is_block(before, after):
            return plain
        return format_inline_math(tex, after[:1])
    if not opener:
        return unescape_tex(tex) if has_escapes(tex) else tex
    if opener in (r"\(", r"\["):
        is_text = _is_text(formula[1], written, before) and not is_in_html_block(before)
        return _bracketed_text(formula[1], written, before, after) if is_text else plain
    tex = unescape_tex(tex)
    return format_display_math(tex) if is_display(opener) else format_inline_math(tex, after[:1])


_ESCAPED_START = lazy_pattern(
    r"(?m)^(?:(?<![^\n]\n)|(?=[ \t>]*(?:[-*+]|\d+\.)[ \t]))"
    r"([ \t>]*(?:(?:[-*+]|\d+\.)[ \t]+)*)\\(?=\$\$[^$])|(?<!\\)\\(?=\$\$[^$\n]+\$\$(?!\$))"
)
_IN_LINE = "\ue016"


def mark_inline(text: str) -> str:
    r"""Replace the first backslash of `\$$x$$`, which is inline math in kramdown, with a placeholder. This
    applies to formulas of any length at the start of a block, and otherwise to formulas on one line. text:
    without code."""
    return _ESCAPED_START.sub(lambda found: (found[1] or "") + _IN_LINE, text)


def unmark_inline(text: str) -> str:
    """Remove the placeholders that `mark_inline` inserted."""
    return text.replace(_IN_LINE, "")


def _is_text(opening: str, text: str, before: str) -> bool:
    r"""Return whether text between escaped brackets is not a formula, for example `\[B, D<sub>Y</sub>\]`
    after `A`. opening: `[` or `(`; before: text before the brackets."""
    is_index = opening == "[" and before[-1:].isalnum()
    return is_index or _PROSE.fullmatch(text) is not None or _TAG.search(text) is not None


def _bracketed_text(opening: str, text: str, before: str, after: str) -> str:
    """Return text in brackets. Replace brackets that would start a link or a keyboard key by entities.
    opening: `[` or `(`; before, after: text around the brackets."""
    if opening == "(":
        return f"({text})"
    if before.endswith(("[", "]")) or after.startswith(("]", "(", "[", "{", ":")):
        return f"&#91;{text}&#93;"
    return f"[{text}]"


def _is_block(before: str, after: str) -> bool:
    """Return whether kramdown reads a formula between `before` and `after` as a separate block."""
    *above, line = before.rsplit("\n", 2)[-2:]
    has_marker = bool(line.strip(" \t>"))
    is_first = has_marker or not above or _BETWEEN_BLOCKS.fullmatch(above[0]) is not None
    starts = is_first and _STARTS_BLOCK.fullmatch(line) is not None
    ends = _ENDS_BLOCK.match(after) or (has_marker and _ENDS_ITEM.match(after))
    return starts and bool(ends)


def fix_row_separators(tex: str) -> str:
    r"""Replace `\\\\` with `\\` as row separator in tables of TeX. Some authors double the backslashes
    because of other Markdown parsers. For TeX, `\\\\` is an additional empty row."""
    if "\\\\\\\\" not in tex:
        return tex
    return _TABLE_ROWS.sub(lambda found: found[1] + found[3].replace("\\" * 4, "\\" * 2) + found[4], tex)


_LIST = lazy_pattern(r"\{:\s*([^{}\n]*?)\s*\}")
_ITEM = lazy_pattern(
    r"#(?P<id>[\w:.-]+)|\.(?P<class>[\w-]+)"
    r"|(?P<key>[\w:-]+)=(?:\"(?P<a>[^\"]*)\"|'(?P<b>[^']*)'|(?P<c>\S+))|(?P<name>[\w-]+)"
)
_LIST_DEFINITION = lazy_pattern(r"^[ ]{0,3}\{:([\w-]+):\s*([^{}\n]*)\}[ \t]*\n?", re.MULTILINE)
_TOC = lazy_pattern(
    r"(?mi)"
    r"^(?:[-*+]|\d+\.)[ \t]+[^\n]*\n(?:[ \t]+(?!\{:)\S[^\n]*\n){0,3}[ \t]*\{:[^{}\n]*\btoc\b[^{}\n]*\}[ \t]*$"
    r"|^\{:toc[^{}\n]*\}[ \t]*$"
)
_CAPTIONED_IMAGE = lazy_pattern(
    r"(?m)(?<![^\n]\n)^(!\[[^\]\n]*\]\([^\n]*\)(?:\{[^{}\n]*\})?)[ \t]*\n"
    r"(?=([*_])\S[^\n]*\2[ \t]*(?:\n[ \t]*(?:\n|\Z)|\Z))"
)
_COMMENT = lazy_pattern(r"\{::comment\}([\s\S]*?)\{:/(?:comment)?\}")
_OPTIONS = lazy_pattern(r"^\{::options[^{}]*/\}[ \t]*\n?", re.MULTILINE)
_NO_MARKDOWN = lazy_pattern(r"\{::nomarkdown[^{}]*\}([\s\S]*?)\{:/(?:nomarkdown)?\}")
_ABBREVIATION = lazy_pattern(r"^[ ]{0,3}\*\[([^\]\n]+)\]:[ \t]*([^\n]*)\n?", re.MULTILINE)
_END_OF_BLOCK = lazy_pattern(r"^\^[ \t]*$", re.MULTILINE)
_PROMPTS: Mapping[str, str] = {
    **dict.fromkeys(name_set("prompt-info notice notice--info notice--primary note highlight"), "NOTE"),
    **dict.fromkeys(name_set("prompt-warning notice--warning block-warning warning"), "WARNING"),
    **dict.fromkeys(name_set("prompt-danger notice--danger block-danger"), "DANGER"),
    **{"prompt-tip": "TIP", "block-tip": "TIP", "notice--success": "SUCCESS", "important": "IMPORTANT"},
}
"""Class of a paragraph or quote in Chirpy, Minimal Mistakes, al-folio or Just the Docs → kind of callout."""
_SUPPORTED_KEYS = frozenset(("title", "lang", "dir", "rel"))


@dataclass(frozen=True, slots=True)
class AttributeList:
    """An attribute list of kramdown."""

    id: str = ""
    classes: tuple[str, ...] = ()
    pairs: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    """Names of other attribute lists whose attributes apply too. `toc` may be among them."""

    @property
    def width(self) -> str:
        """Return the width that the list sets for an image; empty if it sets none."""
        return parse_length(self.pairs.get("width", "")) or style_length(self.pairs.get("style", ""))

    @property
    def callout(self) -> str:
        """Return the kind of callout for the classes of the list; empty if they mean none."""
        return next((_PROMPTS[name] for name in self.classes if name in _PROMPTS), "")

    def own(self) -> str:
        """Return the attributes that blogsmith supports, as an attribute list in its syntax; empty if there
        are none."""
        parts = [f"#{self.id}"] if self.id else []
        parts += [f"{key}={_quoted(value)}" for key, value in self.pairs.items() if key in _SUPPORTED_KEYS]
        parts += [f"width={self.width}"] if self.width else []
        return "{" + " ".join(parts) + "}" if parts else ""


def _quoted(value: str) -> str:
    return value if re.fullmatch(r"[\w.:-]+", value) else '"' + value.replace('"', "”") + '"'


def parse_list(text: str) -> AttributeList:
    """Parse the text between `{:` and `}` as an attribute list."""
    name, classes, pairs, names = "", [], {}, []
    for found in _ITEM.finditer(text):
        if found["id"]:
            name = found["id"]
        elif found["class"]:
            classes.append(found["class"])
        elif found["key"]:
            pairs[found["key"].lower()] = next(
                v for v in (found["a"], found["b"], found["c"]) if v is not None
            )
        else:
            names.append(found["name"])
    return AttributeList(name, tuple(classes), pairs, tuple(names))


def remove_directives(text: str) -> str:
    """Remove kramdown's directives, definitions and comments. If a list refers to a defined attribute list by
    name, insert the content of that list."""
    defined = {found[1]: found[2] for found in _LIST_DEFINITION.finditer(text)}
    text = _LIST_DEFINITION.sub("", text)
    for name, attributes in defined.items():
        pattern = rf"(\{{:[^{{}}\n]*)\b{re.escape(name)}\b(?=[^{{}}\n]*\}})"
        text = re.sub(pattern, partial(lambda attributes, found: found[1] + attributes, attributes), text)
    text = _TOC.sub("", text)
    text = _sub_closed(_COMMENT, lambda found: f"<!-- {found[1].strip().replace('--', '—')} -->", text)
    text = _sub_closed(_NO_MARKDOWN, lambda found: str(found[1]), _OPTIONS.sub("", text))
    return _END_OF_BLOCK.sub("", text)


def _sub_closed(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """Return `pattern.sub(replace, text)`. Search only the text up to the last `{:/ … }`, because every match
    ends with this closing directive."""
    end = text.find("}", text.rfind("{:/")) + 1 if "{:/" in text else 0
    return pattern.sub(replace, text[:end]) + text[end:]


def annotate_abbreviations(text: str) -> str:
    """Annotate abbreviations with their meanings, and remove the definitions."""
    known = {found[1]: found[2].strip() for found in _ABBREVIATION.finditer(text)}
    if not known:
        return text
    text = _ABBREVIATION.sub("", text)
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    # not inside a tag, a URL or a heading
    pattern = re.compile(rf"(?m)(<[^<>]*>|\]\([^()\s]*\)|https?://\S+|^#+ .*$)|(?<![\w:|])({names})(?!\w)")
    return pattern.sub(
        lambda found: found[0] if found[1] or not known[found[2]] else f"::{found[2]}|{known[found[2]]}::",
        text,
    )


_URL_WITH_SPACES = lazy_pattern(
    r"(?P<open>\]\([ \t]*)(?!<)(?P<address>(?:[^\s()<>\[\]{}]|\([^()\n]*\)|[ \t](?![ \t\"'(]))+?)"
    r"(?P<title>[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?[ \t]*\)"
)


def bracket_urls(text: str) -> str:
    """Put URLs with spaces, which kramdown accepts, in angle brackets. If the title of an image equals its
    alternative text, remove the title: Jekyll shows it as a tooltip, but blogsmith as a caption."""
    text = _URL_WITH_SPACES.sub(_bracketed, text)
    return _SAME_TITLE.sub(r"![\1](\2)", text)


def _bracketed(found: re.Match[str]) -> str:
    address = found["address"].strip()
    if not re.search(r"[ \t]", address):
        return found[0]
    return f"{found['open']}<{address}>{found['title'] or ''})"


_SAME_TITLE = lazy_pattern(r"!\[([^\[\]\n]+)\]\(([^\s()<>]+|<[^<>\n]+>)[ \t]+\"\1\"[ \t]*\)")
_IMAGE_LIST = lazy_pattern(r"(!\[(?:[^\[\]]|\[[^\]]*\])*\]\((?:[^()]|\([^()]*\))*\))[ \t]*\{:([^{}\n]*)\}")
_LINK_LIST = lazy_pattern(r"(\]\((?:[^()\n]|\([^()\n]*\))*\)|\]\[[^\]\n]*\]|[*_`>\ue001])\{:([^{}\n]*)\}")
_BREAK = lazy_pattern(r"(?<=[^\\\s])[ \t]*\\\\[ \t]*(\n(?![ \t>]*(?:\n|\Z))|(?=\n|\Z))")
_SPAN_MARK = lazy_pattern(
    r"(?i)(<(?:span|a|b|i|em|strong|small|font|sup|sub|u|mark)\b[^<>]*?)\s+markdown\s*=\s*[\"']?(?:span|1)[\"']?"
)


def hard_breaks(text: str) -> str:
    """Convert two backslashes at the end of a line to a hard line break. Also remove the `markdown` attribute
    from inline HTML, because blogsmith always reads Markdown in it."""
    text = _BREAK.sub(lambda found: "\\\n" if found[1] else "", text)
    return _SPAN_MARK.sub(r"\1", text)


_LINE_LIST = lazy_pattern(r"[ \t>]*\{:([^{}\n]*)\}[ \t]*")
_AT_END = lazy_pattern(r"[ \t]*\{:[^{}\n]*\}(?=[ \t]*(?:\||$))")
_HEADING = lazy_pattern(r"[ ]{0,3}#{1,6}[ \t]")


def move_lists(text: str) -> str:
    """Move attribute lists to the position where blogsmith expects them. Remove unsupported attributes."""
    text = _IMAGE_LIST.sub(lambda found: found[1] + parse_list(found[2]).own(), text)
    text = _LINK_LIST.sub(_after_link, text)
    return _move_lines(text)


def _after_link(found: re.Match[str]) -> str:
    own = parse_list(found[2]).own()
    is_link = found[1].startswith("]")
    return found[1] + (own if is_link else "")


def _move_lines(text: str) -> str:
    """Move attribute lists that are alone on a line or at the end of a heading."""
    lines = text.split("\n")
    done: list[str] = []
    waiting: AttributeList | None = None
    for number, line in enumerate(lines):
        found = _LINE_LIST.fullmatch(line)
        if found and not found[1].startswith((":", "/")):
            attributes = parse_list(found[1])
            if done and done[-1].strip():
                _apply(done, attributes)
            elif number + 1 < len(lines) and lines[number + 1].strip():
                waiting = attributes
            continue
        done.append(_AT_END.sub(partial(_replace_trailing_list, line), line))
        if waiting is not None and line.strip():
            _apply_before(done, waiting)
            waiting = None
    return "\n".join(done)


def _replace_trailing_list(line: str, found: re.Match[str]) -> str:
    attributes = parse_list(found[0].strip()[2:-1])
    is_named = _HEADING.match(line) and attributes.id
    return f" {{#{attributes.id}}}" if is_named else ""


def _apply(done: list[str], attributes: AttributeList) -> None:
    """Apply an attribute list to the block at the end of `done`, in place."""
    start = len(done)
    while start and done[start - 1].strip():
        start -= 1
    block = done[start:]
    if attributes.callout:
        done[start:] = callout(block, attributes.callout)
    elif _HEADING.match(block[-1]):
        done[-1] += f" {{#{attributes.id}}}" if attributes.id and "{#" not in block[-1] else ""
    elif len(block) == 1 and re.fullmatch(r"[ \t]*!\[.*\)", block[0]):
        done[-1] += attributes.own()
    elif attributes.id and not re.match(r"[ \t]*(?:[-*+>|]|\d+\.)", block[0]):
        done.insert(start, f"{{#{attributes.id}}}")


def _apply_before(done: list[str], attributes: AttributeList) -> None:
    if attributes.callout:
        done[-1:] = callout(done[-1:], attributes.callout)
    elif attributes.id and not re.match(r"[ \t]*(?:[-*+>|]|\d+\.)", done[-1]):
        if _HEADING.match(done[-1]):
            done[-1] += f" {{#{attributes.id}}}"
        else:
            done.insert(len(done) - 1, f"{{#{attributes.id}}}")


def callout(lines: list[str], kind: str) -> list[str]:
    """Return the lines of a paragraph or quote as a callout."""
    indent = re.match(r"[ \t]*", lines[0])
    space = indent[0] if indent else ""
    inner = [re.sub(r"^[ \t]*>[ \t]?", "", line) for line in lines]
    return [f"{space}> [!{kind}]", *(f"{space}> {line.strip()}".rstrip() for line in inner)]


_ROW = lazy_pattern(r"[ ]{0,3}\|.*\|[ \t]*")
_RULE = lazy_pattern(r"[ ]{0,3}\|?[ \t]*:?[-=]+:?[ \t]*(?:[|+][ \t]*:?[-=]+:?[ \t]*)*\|?[ \t]*")


def complete_tables(text: str) -> str:
    """Add an empty header row to tables that have none, and remove rules between body rows.

    Otherwise blogsmith would not recognize these tables.
    """
    lines = text.split("\n")
    done: list[str] = []
    number = 0
    while number < len(lines):
        end = number
        while end < len(lines) and (
            _ROW.fullmatch(lines[end]) or (end > number and _RULE.fullmatch(lines[end]))
        ):
            end += 1
        if end - number < 2:
            done.append(lines[number])
            number += 1
            continue
        done.extend(_complete(lines[number:end]))
        number = end
    return "\n".join(done)


def _complete(rows: list[str]) -> list[str]:
    if _RULE.fullmatch(rows[0]):
        rows = rows[1:]
    rules = [index for index, row in enumerate(rows) if _RULE.fullmatch(row)]
    if rules and rules[0] == 1:
        return [
            row.replace("+", "|").replace("=", "-") if i == 1 else row
            for i, row in enumerate(rows)
            if i == 1 or i not in rules
        ]
    cells = max(len(re.findall(r"(?<!\\)\|", row)) - 1 for row in rows)
    return ["|" + "  |" * cells, "|" + "--|" * cells, *(row for i, row in enumerate(rows) if i not in rules)]


def separate_captions(text: str) -> str:
    """Separate an image from an emphasized line directly after it, so that they become a figure and a
    paragraph. Styles of Jekyll themes also show the image as a separate block."""
    return _CAPTIONED_IMAGE.sub(r"\1\n\n", text)
