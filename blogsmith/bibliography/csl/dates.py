"""Dates, in the forms of the language or the style's own."""

from __future__ import annotations

from ...model.publications import WorkDate
from .formatting import affix, finish
from .rendering_context import Scene, StylePiece
from .style_tree import StyleNode

_PARTS = ("year", "month", "day")


def render_date(node: StyleNode, scene: Scene) -> StylePiece:
    """`date`."""
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
            _merged(part, own.get(part.get("name")))
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
    # a day that is not known leaves its blank behind
    return StylePiece(
        affix(finish(text.rstrip(" ,"), node, scene, affixes=False), node, scene), True, bool(text)
    )


def _merged(part: StyleNode, own: StyleNode | None) -> StyleNode:
    if own is None:
        return part
    return StyleNode(part.tag, {**part.attributes, **own.attributes})


def _part(part: StyleNode, date: WorkDate, scene: Scene, variable: str) -> str:
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
    return finish(_number(name, number, form, scene), part, scene)


def _number(name: str, number: int, form: str, scene: Scene) -> str:
    if form == "numeric-leading-zeros":
        return f"{number:02}"
    if name == "month" and form in ("", "long", "short"):
        return scene.locale.term(f"month-{number:02}", form or "long")
    if form == "ordinal" and not (scene.locale.option("limit-day-ordinals-to-day-1") and number > 1):
        return f"{number}{scene.locale.ordinal(number)}"
    return str(number)
