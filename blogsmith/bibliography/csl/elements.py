"""Formats a publication according to the elements of a style, such as `text`, `names` and `choose`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ...model.publications import WorkDate
from .formatting import affix, apply_font_style, finish
from .names import render_names
from .rendering_context import Locale, RenderingContext, StylePiece
from .style_tree import StyleNode

# Dates, in the form of the locale or in the style's own form.


_PARTS = ("year", "month", "day")


def render_date(node: StyleNode, scene: RenderingContext) -> StylePiece:
    """Format a `date` element."""
    variable = node.get("variable")
    date = scene.date(variable)
    if date is None:
        is_year = "year" in node.get("date-parts", "year") and (
            node.has("form") or any(part.get("name") == "year" for part in node.children)
        )
        is_there = is_year and variable == "issued" and variable not in scene.suppressed
        text = scene.cite.work.date_text if is_there else ""
        return StylePiece(finish(text, node, scene), True, bool(text))
    if scene.is_sorting:
        return StylePiece(f"{date.year:05}{date.month:02}{date.day:02}", True, True)
    parts = list(node.find_all("date-part"))
    delimiter = node.get("delimiter")
    if node.has("form"):
        localized = scene.locale.date(node.get("form"))
        wanted = node.get("date-parts", "year-month-day").split("-")
        own = {part.get("name"): part for part in parts}
        parts = [
            _merge_date_part(part, own.get(part.get("name")))
            for part in (localized.find_all("date-part") if localized is not None else ())
            if part.get("name") in wanted
        ]
        delimiter = localized.get("delimiter") if localized is not None else ""
    texts = [text for part in parts if (text := _part(part, date, scene, variable))]
    text = ""
    for one in texts:
        text = scene.concat(scene.concat(text, delimiter), one) if text else one
    if text:
        scene.printed.add(variable)
    # a missing day leaves a space at the end
    return StylePiece(
        affix(finish(text.rstrip(" ,"), node, scene, affixes=False), node, scene), True, bool(text)
    )


def _merge_date_part(part: StyleNode, own: StyleNode | None) -> StyleNode:
    if own is None:
        return part
    return StyleNode(part.tag, {**part.attributes, **own.attributes})


def _part(part: StyleNode, date: WorkDate, scene: RenderingContext, variable: str) -> str:
    name, form = part.get("name"), part.get("form")
    if name == "year":
        year = f"{date.year}"[-2:] if form == "short" else str(date.year)
        if variable == "issued" and not scene.has_suffix_element and not scene.has_year:
            scene.has_year = True
            year += scene.cite.suffix
        return finish(year, part, scene)
    number = date.month if name == "month" else date.day
    if not number or (name == "day" and not date.month):
        return ""
    return finish(_date_number(name, number, form, scene), part, scene)


def _date_number(name: str, number: int, form: str, scene: RenderingContext) -> str:
    if form == "numeric-leading-zeros":
        return f"{number:02}"
    if name == "month" and form in ("", "long", "short"):
        return scene.locale.term(f"month-{number:02}", form or "long")
    if form == "ordinal" and not (scene.locale.option("limit-day-ordinals-to-day-1") and number > 1):
        return f"{number}{scene.locale.ordinal(number)}"
    return str(number)


_NUMBERS = frozenset(("volume", "issue", "number", "chapter-number", "collection-number", "edition"))
_PAGES = frozenset({"page", "page-first", "locator"})


def render(node: StyleNode, scene: RenderingContext) -> StylePiece:
    """Format one element."""
    scene.count()
    rule = _RULES.get(node.tag)
    return rule(node, scene) if rule else StylePiece()


def render_all(nodes: Iterable[StyleNode], scene: RenderingContext, delimiter: str = "") -> StylePiece:
    """Format elements and join them."""
    pieces = [render(node, scene) for node in nodes]
    text = scene.join([piece.text for piece in pieces], delimiter)
    return StylePiece(
        text, any(piece.uses_variables for piece in pieces), any(piece.has_value for piece in pieces)
    )


def _text(node: StyleNode, scene: RenderingContext) -> StylePiece:
    if node.has("variable"):
        text = _variable(node, scene)
        variable = node.get("variable")
        if text:
            scene.printed.add(variable)
        # a group that has only the year suffix is not shown
        return StylePiece(finish(text, node, scene), variable != "year-suffix", bool(text))
    if node.has("macro"):
        piece = render_macro(node.get("macro"), scene)
        # a macro or group that prints something counts as a variable with a value (CSL 1.0.2, Group)
        return StylePiece(
            finish(piece.text, node, scene), piece.uses_variables or bool(piece.text), bool(piece.text)
        )
    if node.has("term"):
        plural = node.get("plural") == "true"
        text = scene.locale.term(node.get("term"), node.get("form", "long"), plural=plural)
        return StylePiece(finish(text, node, scene))
    return StylePiece(finish(node.get("value"), node, scene))


def _variable(node: StyleNode, scene: RenderingContext) -> str:
    variable = node.get("variable")
    text = ""
    if node.get("form") == "short":
        text = scene.text(f"{variable}-short")
    text = text or scene.text(variable)
    if variable in _PAGES and text:
        form = scene.style.get("page-range-format") if variable != "locator" or _is_page(scene) else ""
        return format_pages(text, form, scene.locale)
    return text.replace("-", "–") if variable in _NUMBERS and is_numeric(text) else text


def _is_page(scene: RenderingContext) -> bool:
    return scene.cite.label == "page"


def render_macro(name: str, scene: RenderingContext) -> StylePiece:
    """Return the output of a macro; empty if the macro does not exist."""
    macro = scene.macros.get(name)
    if macro is None:
        return StylePiece()
    scene.macro_depth += 1
    scene.count()
    piece = render_all(macro.children, scene)
    scene.macro_depth -= 1
    return piece


def _number(node: StyleNode, scene: RenderingContext) -> StylePiece:
    variable = node.get("variable")
    text = scene.text(variable)
    if variable in _PAGES:
        text = format_pages(text, scene.style.get("page-range-format"), scene.locale)
    else:
        text = format_number(text, node.get("form"), scene.locale)
        if is_numeric(text):
            text = text.replace("-", "–")
    if text:
        scene.printed.add(variable)
    return StylePiece(finish(text, node, scene), True, bool(text))


def _label(node: StyleNode, scene: RenderingContext) -> StylePiece:
    variable = node.get("variable")
    text = scene.text(variable)
    if not text:
        return StylePiece("", True, False)
    term = (scene.cite.label or "page") if variable == "locator" else variable
    many = node.get("plural", "contextual")
    plural = many == "always" or (many == "contextual" and _needs_plural(variable, text))
    shown = scene.locale.term(term, node.get("form", "long"), plural=plural)
    return StylePiece(finish(shown, node, scene), True, bool(shown))


def _needs_plural(variable: str, text: str) -> bool:
    if variable.startswith("number-of"):
        return text != "1"
    return is_plural(text)


def _group(node: StyleNode, scene: RenderingContext) -> StylePiece:
    piece = render_all(_resolve_conditions(node.children, scene), scene, node.get("delimiter"))
    if piece.uses_variables and not piece.has_value:
        return StylePiece("", True, False)
    return StylePiece(affix(apply_font_style(piece.text, node), node, scene), True, bool(piece.text))


def _resolve_conditions(nodes: Iterable[StyleNode], scene: RenderingContext) -> list[StyleNode]:
    """Return the elements, with each `choose` replaced by the elements of its chosen branch. This way,
    delimiters also separate these elements."""
    found = list[StyleNode]()
    for node in nodes:
        if node.tag == "choose":
            scene.count()
            found += _resolve_conditions(choose(node, scene), scene)
        else:
            found.append(node)
    return found


def choose(node: StyleNode, scene: RenderingContext) -> tuple[StyleNode, ...]:
    """Return the elements of the first branch whose conditions are met; no elements if there is none."""
    for branch in node.children:
        if branch.tag == "else" or _is_met(branch, scene):
            return branch.children
    return ()


def _choose(node: StyleNode, scene: RenderingContext) -> StylePiece:
    return render_all(_resolve_conditions((node,), scene), scene)


def _is_met(branch: StyleNode, scene: RenderingContext) -> bool:
    results = [test(value, scene) for name, test in _TESTS.items() for value in branch.get(name).split()]
    match = branch.get("match", "all")
    if match == "any":
        return any(results)
    return not any(results) if match == "none" else all(results)


_TESTS: Mapping[str, Callable[[str, RenderingContext], bool]] = MappingProxyType(
    {
        "type": lambda value, scene: scene.cite.work.kind == value,
        "variable": lambda value, scene: scene.has(value),
        "is-numeric": lambda value, scene: is_numeric(scene.text(value)),
        "is-uncertain-date": lambda value, scene: False,
        "locator": lambda value, scene: bool(scene.cite.locator) and scene.cite.label == value,
        "position": lambda value, scene: value == "first" and not scene.is_bibliography,
        "disambiguate": lambda value, scene: (value == "true") == scene.cite.is_ambiguous,
    }
)
_RULES: Mapping[str, Callable[[StyleNode, RenderingContext], StylePiece]] = MappingProxyType(
    {
        "text": _text,
        "number": _number,
        "label": _label,
        "group": _group,
        "choose": _choose,
        "date": render_date,
        "names": lambda node, scene: render_names(node, scene, render),
    }
)


# Numbers: detection of numeric strings, ordinals, Roman numerals, ranges of pages.


_NUMERIC = lazy_pattern(r"[A-Za-z]*\d+[A-Za-z]*(?:\s*[-–,&]\s*[A-Za-z]*\d+[A-Za-z]*)*")
_PART = lazy_pattern(r"(\d+)|([^\d]+)")
_RANGE = lazy_pattern(r"([A-Za-z]*)(\d+)\s*[-–]+\s*([A-Za-z]*)(\d+)")
_PLURAL = lazy_pattern(r"\w\s*[-–,&]\s*\w")
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def is_numeric(text: str) -> bool:
    """Return whether the value of a variable is numeric."""
    return _NUMERIC.fullmatch(text.strip()) is not None


def is_plural(text: str) -> bool:
    """Return whether the value contains several numbers."""
    return _PLURAL.search(text) is not None


def format_number(text: str, form: str, locale: Locale) -> str:
    """Format the numbers in `text`. form: `numeric`, `ordinal`, `long-ordinal` or `roman`. If `text` is not
    numeric, return it unchanged. A number outside the range of its form becomes an ordinal."""
    if not is_numeric(text) or form in ("", "numeric"):
        return text
    return _PART.sub(
        lambda found: _format_single_number(int(found[1]), form, locale) if found[1] else found[0], text
    )


def _format_single_number(number: int, form: str, locale: Locale) -> str:
    if form == "roman" and 0 < number < 4000:
        text = ""
        for value, sign in _ROMAN:
            text += sign * (number // value)
            number %= value
        return text
    if form == "long-ordinal" and 0 < number <= 10 and (long := locale.term(f"long-ordinal-{number:02}")):
        return long
    return f"{number}{locale.ordinal(number)}"


def format_pages(text: str, form: str, locale: Locale) -> str:
    """Format ranges of pages. The second number of a range is abbreviated as the style requires."""
    dash = locale.term("page-range-delimiter") or "–"

    def shorten(found: object) -> str:
        start, first, end, last = found.groups()  # type: ignore[attr-defined]
        if start != end and end:
            return f"{start}{first}{dash}{end}{last}"
        if form == "expanded" and len(last) < len(first):
            last = first[: len(first) - len(last)] + last
        elif form and form != "expanded":
            whole = first[: len(first) - len(last)] + last if len(last) < len(first) else last
            last = _abbreviate_page(first, whole, form)
            end = ""
        return f"{start}{first}{dash}{end}{last}"

    made = _RANGE.sub(shorten, text)
    return made.replace("-", dash) if _PLURAL.search(made) else made


def _abbreviate_page(first: str, last: str, form: str) -> str:
    """Return the digits to print of the last page of a range."""
    if len(first) != len(last):
        return last
    common = 0
    while common < len(first) and first[common] == last[common]:
        common += 1
    if form == "minimal":
        return last[min(common, len(last) - 1) :]
    if form == "minimal-two":
        return last[min(common, max(0, len(last) - 2)) :]
    # Chicago: 3–10, 71–72, 100–104, 107–8, 321–28, 1496–504
    number = int(first)
    if number < 100 or number % 100 == 0:
        return last
    if number % 100 < 10:
        return last[common:] or last[-1:]
    if form in ("chicago", "chicago-15") and len(first) >= 4 and common < len(first) - 2:
        return last if len(first) - common > 3 else last[common:]
    return last[min(common, len(last) - 2) :]
