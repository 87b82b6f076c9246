"""Directives that enclose text, such as admonitions, theorems, exercises, folds, tabs, cards and quotes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from ...api.importing import kind_table, name_set
from ..text.containers import begin_tabs, callout_lines, collapsible, quote_lines, tab, trim_blank_lines
from .directives import Directive
from .walker import BlockTranslator

ADMONITIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **{"note": ("NOTE", ""), "tip": ("TIP", ""), "important": ("IMPORTANT", "")},
        **{"warning": ("WARNING", ""), "caution": ("CAUTION", ""), "danger": ("DANGER", "")},
        **{"hint": ("TIP", "Hint"), "attention": ("WARNING", "Attention"), "error": ("DANGER", "Error")},
        **{"seealso": ("NOTE", "See also"), "todo": ("NOTE", "To do")},
        **{"versionadded": ("NOTE", "New in version"), "versionchanged": ("NOTE", "Changed in version")},
        "deprecated": ("WARNING", "Deprecated since version"),
    }
)
"""Name of an admonition → kind of callout, and a title; the title is empty if the kind's own title fits."""
THEOREMS = name_set(
    "theorem lemma corollary proposition definition proof remark example algorithm axiom assumption claim "
    "conjecture criterion observation property notation fact"
)
"""Directives of sphinx-proof, without `prf:`."""
NUMBERED = frozenset(name for name, row in kind_table().items() if row.numbered)
"""Kinds of callouts that blogsmith numbers by default, without an entry in the settings."""
UNNUMBERED = frozenset(("proof",))
_VERSIONS = ("versionadded", "versionchanged", "deprecated")
_SEPARATOR = re.compile(r"\s*(?:\^{3,}|\+{3,})\s*")


def translate_admonition(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{note}`, `{admonition} Title` and similar directives."""
    kind, title = _callout_kind(directive)
    body = walker.walk_nested(directive.body, directive.body_line)
    if directive.name in _VERSIONS:
        version, _, text = directive.argument.partition(" ")
        title, body = f"{title} {version}", [*([text, ""] if text else []), *body]
    elif directive.argument and (
        directive.name in ("admonition", "topic") or (body and not walker.book.is_sphinx)
    ):
        title = directive.argument
    elif directive.argument:
        is_apart = bool(directive.body) and not directive.body[0].strip()
        body = [directive.argument, *([""] if is_apart else []), *body]
    return [*_named_anchor(walker, directive), *callout_lines(kind, title, body, fold=_fold(directive))]


def _callout_kind(directive: Directive) -> tuple[str, str]:
    if directive.name in ADMONITIONS:
        return ADMONITIONS[directive.name]
    known = next((name for name in sorted(directive.classes) if name in ADMONITIONS), "note")
    return ADMONITIONS[known][0], ""


def _fold(directive: Directive) -> str:
    if not {"dropdown", "toggle"} & directive.classes and "dropdown" not in directive.options:
        return ""
    return "+" if {"toggle-shown", "open"} & directive.classes or "open" in directive.options else "-"


def _named_anchor(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Return the lines of an anchor with the label of an unnumbered box; empty if it has no label."""
    if directive.label:
        walker.pending.append(directive.label)
    return walker.anchor()


def translate_theorem(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{prf:theorem} Title` to a theorem, which is numbered unless an option prevents it."""
    kind = directive.name.removeprefix("prf:").removeprefix("proof:")
    if kind not in THEOREMS:
        return [*walker.anchor(), *walker.leave(directive, f'unknown directive "{{{directive.name}}}"')]
    name = _number(walker, directive, kind)
    body = walker.walk_nested(directive.body, directive.body_line)
    anchor = [] if name else _named_anchor(walker, directive)
    return [*anchor, *callout_lines(kind, directive.argument, body, fold=_fold(directive), name=name)]


def _number(walker: BlockTranslator, directive: Directive, kind: str) -> str:
    """Return the id that gives a box its number; empty for a box without a number."""
    if kind in UNNUMBERED or "nonumber" in directive.options:
        return ""
    if kind not in NUMBERED:
        walker.book.kinds.add(kind)
    if name := walker.add_label("thm", directive.label):
        return name
    walker.unlabelled_count += 1
    return f"thm-{kind}-{walker.unlabelled_count}"


def translate_exercise(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{exercise} Title` to a numbered exercise. Hidden exercises become visible."""
    name = _number(walker, directive, "exercise")
    anchor = [] if name else _named_anchor(walker, directive)
    body = walker.walk_nested(directive.body, directive.body_line)
    return [*anchor, *callout_lines("exercise", directive.argument, body, fold=_fold(directive), name=name)]


def translate_solution(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{solution} label`, whose argument is the label of the exercise."""
    anchor = _named_anchor(walker, directive)
    target = directive.argument.strip()
    title = f"Solution to {{prf:ref}}`{target}`" if target else ""
    body = walker.walk_nested(directive.body, directive.body_line)
    return [*anchor, *callout_lines("solution", title, body, fold=_fold(directive))]


def translate_fold(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{dropdown} Title` and `{toggle}`."""
    body = walker.walk_nested(directive.body, directive.body_line)
    return [*_named_anchor(walker, directive), *collapsible(directive.argument or "Show", body)]


def translate_tab(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{tab-item} Label`. Adjacent tabs become one block."""
    body = walker.walk_nested(directive.body, directive.body_line)
    made = tab(directive.argument or "Tab", body, is_chosen="selected" in directive.options)
    return [*_named_anchor(walker, directive), *made]


def translate_tabs(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{tab-set}` to a block of tabs, separate from a block of tabs before it."""
    lines = begin_tabs(walker.walk_nested(directive.body, directive.body_line))
    return [*_named_anchor(walker, directive), *lines]


def translate_layout(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Return the translated content of a directive that only affects layout, such as `{grid}` or `{div}`."""
    return [*_named_anchor(walker, directive), *walker.walk_nested(directive.body, directive.body_line)]


def translate_card(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{card} Title` and `{grid-item-card}` to text, which starts with the title as a bold link."""
    body = [line for line in directive.body if not _SEPARATOR.fullmatch(line)]
    text = walker.walk_nested(body, directive.body_line)
    title, link = directive.argument, directive.option("link")
    if link and directive.option("link-type") in ("ref", "doc"):
        return [*_card_title(f"{{{directive.option('link-type')}}}`{title or link} <{link}>`"), *text]
    if link:
        title = f"[{title or link}]({link})"
    return [*_card_title(title), *text]


def _card_title(title: str) -> list[str]:
    return [f"**{title}**", ""] if title else []


def translate_aside(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{margin} Title` and `{aside}` to margin notes, and `{sidebar} Title` to a note in the
    text."""
    body = walker.walk_nested(directive.body, directive.body_line)
    title = directive.argument
    if directive.name == "sidebar":
        return [*_named_anchor(walker, directive), *callout_lines("note", title, body, fold=_fold(directive))]
    return [*_named_anchor(walker, directive), *callout_lines("margin", title, body)]


def translate_rubric(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{rubric} Title` to a bold line instead of a heading, so that tables of contents do not list
    the title."""
    return [*_named_anchor(walker, directive), *_card_title(directive.argument)]


def translate_line_block(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{line-block}` to lines with hard line breaks."""
    body = trim_blank_lines(directive.body)
    broken = (f"{line.rstrip()}\\" if line.strip() else "" for line in body[:-1])
    return [*walker.anchor(), *broken, *body[-1:]]


def translate_quote(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{epigraph}` and `{pull-quote}`, whose last line may be `-- Author`."""
    body = [*([directive.argument] if directive.argument else []), *directive.body]
    lines = trim_blank_lines(walker.walk_nested(body, directive.body_line))
    author = re.fullmatch(r"(?:--+|—)\s*(.+)", lines[-1].strip()) if lines else None
    if author:
        lines = [*trim_blank_lines(lines[:-1]), "", f"— {author[1]}"]
    elif attribution := directive.option("attribution"):
        lines = [*lines, "", f"— {attribution}"]
    return [*_named_anchor(walker, directive), *quote_lines(trim_blank_lines(lines))]
