"""Attributes that many elements share: affixes, faces, quotes, case."""

from __future__ import annotations

from collections.abc import Mapping

from .cases import change_case
from .markup import wrap
from .rendering_context import Scene
from .style_tree import StyleNode

_FACES: Mapping[tuple[str, str], str] = {
    ("font-style", "italic"): "i",
    ("font-style", "oblique"): "i",
    ("font-weight", "bold"): "b",
    ("font-variant", "small-caps"): "sc",
    ("text-decoration", "underline"): "u",
    ("vertical-align", "sup"): "sup",
    ("vertical-align", "sub"): "sub",
}
_INNER = str.maketrans({"“": "‘", "”": "’"})


def finish(text: str, node: StyleNode, scene: Scene, *, affixes: bool = True) -> str:
    """A text as its element wants it: case, periods, quotes, faces, then affixes."""
    if not text:
        return ""
    if node.has("text-case"):
        text = change_case(text, node.get("text-case"), is_english=scene.is_english)
    if node.get("strip-periods") == "true":
        text = text.replace(".", "")
    if node.get("quotes") == "true":
        text = quote(text, scene)
    text = faces(text, node)
    return affix(text, node, scene) if affixes else text


def quote(text: str, scene: Scene) -> str:
    """A text in quotes; those in it become inner ones."""
    opening, closing = scene.locale.term("open-quote") or "“", scene.locale.term("close-quote") or "”"
    inner = text.translate(_INNER) if opening == "“" else text
    return f"{opening}{inner}{closing}"


def faces(text: str, node: StyleNode) -> str:
    """A text in the faces that an element names."""
    for (name, value), tag in _FACES.items():
        if node.get(name) == value:
            text = wrap(text, tag)
    return text


def affix(text: str, node: StyleNode, scene: Scene) -> str:
    """A text with what stands before and behind it."""
    if not text:
        return ""
    return scene.concat(scene.concat(node.get("prefix"), text), node.get("suffix"))
