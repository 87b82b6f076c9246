"""Fenced divs, from `::: {.class}` to `:::`. They are parsed, and translated to callouts, theorems and
tabs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from ...api.importing import lazy_pattern, name_set
from ..text.containers import quote_lines
from ..text.math import tex_macros
from ..text.pandoc import PandocAttributes, fit_id, read_pandoc_attributes
from ..text.segments import CODE, FormulaDelimiters, mask
from .cells import NoticeCallback
from .figures import FigureTranslator

_FENCE = lazy_pattern(r"(?P<prefix>[ \t]*(?:>[ \t]*)*)(?P<colons>:{3,})[ \t]*(?P<rest>.*?)[ \t]*:*[ \t]*")
_CLASS = lazy_pattern(r"[\w.-]+")


@dataclass(frozen=True, slots=True)
class Div:
    """A fenced div and its content."""

    prefix: str
    """Prefix of the div's lines inside its parent, such as indentation or `> `."""
    margin: str
    """Prefix of the div's lines in the page: the prefixes of all its parents, and its own."""
    attributes: PandocAttributes
    opening: str
    """First line, without the prefix."""
    children: tuple[Div | str, ...]
    """Inner divs, and the text between them without the div's prefix."""
    is_closed: bool = True


def parse_divs(text: str) -> tuple[Div | str, ...]:
    """Return the divs of a text and the text between them, in order. A div that is not closed ends at the end
    of the text."""
    children, _ = _parse(text.split("\n"), 0, "", is_inside=False)
    return children


def _parse(
    lines: Sequence[str], start: int, prefix: str, *, is_inside: bool
) -> tuple[tuple[Div | str, ...], int]:
    """Parse lines from `start` on. Return the inner divs and text before the line that closes the surrounding
    div, and the index of that line. If no line closes it, return the number of lines as index."""
    children: list[Div | str] = []
    text: list[str] = []
    number = start
    while number < len(lines):
        fence = _FENCE.fullmatch(lines[number])
        if fence is None:
            text.append(remove_prefix(lines[number], prefix))
        elif not fence["rest"]:
            if is_inside:
                break
            # ignore a fence that closes nothing
        elif (attributes := _attributes(fence["rest"])) is None:
            text.append(remove_prefix(lines[number], prefix))
        else:
            children.append("\n".join(text))
            text = []
            own = remove_prefix(fence["prefix"], prefix)
            inner, number = _parse(lines, number + 1, fence["prefix"], is_inside=True)
            children.append(
                Div(own, fence["prefix"], attributes, fence[0].strip(), inner, number < len(lines))
            )
        number += 1
    children.append("\n".join(text))
    return tuple(child for child in children if child != ""), number


def _attributes(text: str) -> PandocAttributes | None:
    """Return the attributes of an opening fence, which are a list in braces or one class. Return None if the
    text is neither."""
    if text.startswith("{"):
        read = read_pandoc_attributes(text)
        return read[0] if read and not text[read[1] :].strip(" :") else None
    name = text.partition(" ")[0]
    return PandocAttributes(classes=(name.removeprefix("."),)) if _CLASS.fullmatch(name) else None


def remove_prefix(line: str, prefix: str) -> str:
    """Remove `prefix` from a line. If the line starts with only a part of `prefix`, remove that part."""
    if line.startswith(prefix):
        return line[len(prefix) :]
    if prefix.strip():
        bare = prefix.rstrip()
        return line[len(bare) :].removeprefix(" ") if line.startswith(bare) else line
    return line[min(len(line) - len(line.lstrip(" ")), len(prefix)) :]


def add_prefix(text: str, prefix: str) -> str:
    """Return the text with a prefix before each line. In an empty line, omit the spaces at the end of the
    prefix."""
    return "\n".join((prefix + line).rstrip() if not line else prefix + line for line in text.split("\n"))


def split_title(text: str) -> tuple[str, str]:
    """Return the heading at the start of a text, without `#` characters, and the text after it.

    If there is no heading, it is empty.
    """
    found = re.match(r"\s*#{1,6}[ \t]+([^\n]+?)[ \t]*#*[ \t]*(?:\n|\Z)", text)
    return (found[1], text[found.end() :]) if found else ("", text)


CALLOUTS = ("note", "tip", "important", "warning", "caution")
THEOREMS: Mapping[str, str] = {
    **{"thm": "THEOREM", "lem": "LEMMA", "cor": "COROLLARY", "prp": "PROPOSITION", "def": "DEFINITION"},
    **{"exm": "EXAMPLE", "exr": "EXERCISE", "cnj": "CONJECTURE", "rem": "REMARK", "sol": "SOLUTION"},
    **{"alg": "ALGORITHM"},
}
"""Prefix of a label → kind of callout; `thm` for `#thm-limit`."""
NUMBERED_BY_SETTING: Mapping[str, str] = {"exm": "example", "rem": "remark"}
"""Prefix of a label → kind of callout, for kinds that blogsmith only numbers if a setting says so."""
_BY_CLASS = {**{name.lower(): name for name in THEOREMS.values()}, "proof": "PROOF"}
_LAYOUT = name_set(
    "column columns column-page column-screen column-body column-body-outset incremental column-page-inset "
    "column-screen-inset column-page-right column-page-left nonincremental column-screen-right "
    "column-screen-left column-body-outset-right column-body-outset-left column-page-inset-right "
    "column-page-inset-left column-screen-inset-right figure-like cell column-screen-inset-left "
    "column-screen-inset-shaded content-visible panel-input panel-fill panel-center panel-sidebar panel "
    "cell-output cell-output-display cell-output-stdout center fragment grid hanging-indent unnumbered "
    "unlisted border callout-body"
)
_SINGLE_IMAGE = re.compile(r"(!\[[^\n]*\]\([^()\s]*(?: \"[^\"\n]*\")?\))(?:\{([^{}\n]*)\})?")
_MARGIN = frozenset(("column-margin", "aside", "margin"))
_FORMATS = ("html", "html:js", "markdown")


def convert_label(name: str) -> str:
    """Return a label in blogsmith's syntax. For kinds in `NUMBERED_BY_SETTING`, replace the prefix with
    `thm-`."""
    return f"thm-{fit_id(name)}" if name.partition("-")[0] in NUMBERED_BY_SETTING else fit_id(name)


class DivTranslator:
    """Translator for the divs of one page. It collects the callout kinds and macros that it finds."""

    def __init__(
        self, restore: Callable[[str, str], str], figures: FigureTranslator, note: NoticeCallback
    ) -> None:
        """Create a translator. restore: function that returns the final form of a masked text. Its second
        argument is a prefix to remove from each line of hidden code."""
        self._restore = restore
        self._figures = figures
        self._note = note
        self._labels: set[str] = set()
        self.kinds: set[str] = set()
        self.macros: dict[str, str] = {}

    def page(self, children: tuple[Div | str, ...]) -> str:
        """Translate a page. children: its divs and the text between them."""
        return self._join(children, "")

    def _join(self, children: tuple[Div | str, ...], margin: str) -> str:
        parts: list[str] = []
        for child in children:
            if isinstance(child, str):
                parts.append(self._restore(child, margin))
            else:
                made = self._div(child).strip("\n")
                spaced = f"{child.prefix.rstrip()}\n{add_prefix(made, child.prefix)}\n{child.prefix.rstrip()}"
                parts.append(spaced if made else child.prefix.rstrip())
        return re.sub(r"\n(?:[ \t]*\n){2,}", "\n\n", "\n".join(parts))

    def _div(self, div: Div) -> str:
        if not div.is_closed:
            self._note("mistake", f'unclosed block "{div.opening}"', div.opening)
        attributes = div.attributes
        kind = next((name for name in CALLOUTS if attributes.has(f"callout-{name}")), "")
        if kind or attributes.has("callout"):
            return self._callout(div, kind or "note")
        if theorem := self._theorem_kind(attributes):
            return self._theorem(div, theorem)
        if attributes.has("panel-tabset", "tabset"):
            return self._tabs(div)
        if attributes.id == "refs":
            return ""
        if attributes.has("hidden"):
            return self._hidden(div)
        if self._is_for_other_formats(attributes):
            text = self._inner(div)
            self._note("dropped", "content for other formats than HTML is removed", div.opening, removed=text)
            return ""
        if attributes.has("content-hidden", "content-visible"):
            return self._inner(div)
        if grid := self._grid(div):
            return grid
        if attributes.id.startswith(("fig-", "tbl-")) and (made := self._float(div)):
            return made
        return self._plain(div)

    def _inner(self, div: Div) -> str:
        return self._join(div.children, div.margin).strip("\n")

    def _callout(self, div: Div, kind: str) -> str:
        attributes = div.attributes
        text = self._inner(div)
        title = self._restore(attributes.get("title"), "")
        if not title:
            title, text = split_title(text)
        collapse = attributes.get("collapse").lower()
        fold = {"true": "-", "false": "+"}.get(collapse, "")
        return _callout(kind.upper(), title, fit_id(attributes.id), text, fold)

    def _theorem_kind(self, attributes: PandocAttributes) -> str:
        prefix, dash, _ = attributes.id.partition("-")
        if dash and prefix in THEOREMS:
            if prefix in NUMBERED_BY_SETTING:
                self.kinds.add(NUMBERED_BY_SETTING[prefix])
            return THEOREMS[prefix]
        return next((_BY_CLASS[name] for name in attributes.classes if name in _BY_CLASS), "")

    def _theorem(self, div: Div, kind: str) -> str:
        text = self._inner(div)
        name = self._restore(div.attributes.get("name", "title"), "")
        if not name:
            name, text = split_title(text)
        label = convert_label(div.attributes.id) if div.attributes.id else ""
        if not name and kind == "PROOF" and div.attributes.id:
            label = fit_id(div.attributes.id)
        return _callout(kind, name, self._unique_label(label, div), text, "")

    def _unique_label(self, label: str, div: Div) -> str:
        """Return the label. If another div of the page already has it, append a number."""
        name, number = label, 2
        while name in self._labels:
            name, number = f"{label}-{number}", number + 1
        if label and name != label:
            self._note("mistake", f'duplicate label "{label}": renamed to "{name}"', div.opening)
        self._labels |= {name} if name else set()
        return name

    def _tabs(self, div: Div) -> str:
        """Translate a tabset. Each heading of the highest level starts a tab."""
        whole = self._inner(div)
        # code is masked, because a line of it may look like a heading
        masked = mask(whole, FormulaDelimiters(brackets=False), CODE)
        text = masked.text
        level = min((len(marks) for marks in re.findall(r"^(#{1,6})[ \t]", text, re.MULTILINE)), default=0)
        if not level:
            return whole
        parts = re.split(rf"^#{{{level}}}[ \t]+(.+?)[ \t]*#*[ \t]*$", text, flags=re.MULTILINE)
        parts = [masked.restore(part) for part in parts]
        titles, bodies = parts[1::2], parts[2::2]
        message = "headings in tabs become tab labels"
        removed = "\n\n".join(f"{'#' * level} {each}" for each in titles)
        self._note("changed", message, div.opening, removed=removed)
        made = [parts[0].strip("\n")] if parts[0].strip() else []
        tabs = ['<div class="tabs">']
        for title, body in zip(titles, bodies, strict=True):
            title = re.sub(r"[ \t]*\{[^{}]*\}$", "", title)
            label = escape(" ".join(title.split()))
            body = body.strip("\n")
            tabs.append(f'<div data-label="{label}">\n\n{body}\n\n</div>')
        return "\n\n".join([*made, "\n".join(tabs), "</div>"])

    def _hidden(self, div: Div) -> str:
        text = self._inner(div)
        macros = tex_macros(text)
        self.macros |= macros
        what = "hidden block is removed"
        if macros:
            what = "macros in a hidden block are moved to `math: macros:`"
        self._note("changed" if macros else "dropped", what, div.opening, removed=text)
        return ""

    def _is_for_other_formats(self, attributes: PandocAttributes) -> bool:
        when, unless = attributes.get("when-format"), attributes.get("unless-format")
        if attributes.has("content-hidden"):
            return not (when or unless) or when in _FORMATS or (bool(unless) and unless not in _FORMATS)
        if attributes.has("content-visible"):
            return (bool(when) and when not in _FORMATS) or unless in _FORMATS
        return False

    def _grid(self, div: Div) -> str:
        """Return a shortcode that shows the figures in a div side by side; empty if the div contains anything
        else."""
        attributes = div.attributes
        is_figure = attributes.id.startswith("fig-")
        if not (is_figure or attributes.get("layout-ncol", "layout-nrow", "layout")):
            return ""
        children = [child if isinstance(child, str) else self._flatten(child) for child in div.children]
        between = "\n\n" if any(isinstance(child, Div) for child in div.children) else "\n"
        return self._figures.grid(between.join(children), attributes, div.opening)

    def _flatten(self, div: Div) -> str:
        return "\n".join(child if isinstance(child, str) else self._flatten(child) for child in div.children)

    def _float(self, div: Div) -> str:
        """Translate a div whose label is that of a figure or table, but whose content is something else, such
        as code. The last paragraph of the div is the caption."""
        text = self._inner(div)
        body, _, caption = text.strip().rpartition("\n\n")
        if not body:
            body, caption = text.strip(), ""
        if re.search(r"^: ", text, re.MULTILINE) or caption.lstrip().startswith(
            ("|", "`", ">", "<", "$$", ":", "!")
        ):
            body, caption = text.strip(), ""
        if div.attributes.id.startswith("tbl-") and body.lstrip().startswith("|"):
            if caption:
                return f"{body}\n\n: {' '.join(caption.split())} {{#{fit_id(div.attributes.id)}}}"
            return body
        self._figures.add_unnumbered(div.attributes.id, caption)
        shown = f"*{' '.join(caption.split())}*" if caption and "*" not in caption else caption
        shown = f"\n\n{shown}" if shown else ""
        return f'<div id="{fit_id(div.attributes.id)}" markdown="1">\n\n{body}{shown}\n\n</div>'

    def _plain(self, div: Div) -> str:
        attributes = div.attributes
        text = self._inner(div)
        if attributes.has(*_MARGIN):
            return _margin(text) if text.strip() else ""
        if attributes.has(*_LAYOUT) and not attributes.id:
            message = "columns and widths of the page are ignored; their content is kept"
            self._note("changed", message, div.opening)
            return text
        rest = replace(attributes, pairs={})
        pairs = "".join(_html_attributes(rest, attributes.pairs))
        if not pairs:
            return text
        return f'<div{pairs} markdown="1">\n\n{text}\n\n</div>'


def _margin(text: str) -> str:
    """Return content for the margin. A single image gets the class `margin`; any other content becomes a
    note."""
    lone = _SINGLE_IMAGE.fullmatch(text.strip())
    if lone:
        return f"{lone[1]}{{{lone[2] or ''}{' ' if lone[2] else ''}.margin}}"
    return _callout("MARGIN", "", "", text, "")


def _html_attributes(attributes: PandocAttributes, pairs: Mapping[str, str]) -> Iterator[str]:
    if attributes.id:
        yield f' id="{escape(fit_id(attributes.id))}"'
    if attributes.classes:
        yield f' class="{escape(" ".join(attributes.classes))}"'
    for key, value in pairs.items():
        if key in ("style", "lang", "dir") or key.startswith(("data-", "aria-")):
            yield f' {key}="{escape(value)}"'


def _callout(kind: str, title: str, label: str, text: str, fold: str) -> str:
    """Return a callout. If `text` is empty, the callout consists of its first line only."""
    head = " ".join(
        filter(None, (f"[!{kind}]{fold}", " ".join(title.split()), f"{{#{label}}}" if label else ""))
    )
    body = text.strip("\n")
    # without the blank line, text after a marker without title would be read as the title
    return "\n".join(quote_lines([head, "", *body.split("\n")] if body else [head]))
