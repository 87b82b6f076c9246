"""The elements of a style, from `text` to `choose`: a work and an element → text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from .dates import render_date
from .formatting import affix, faces, finish
from .names import render_names
from .numbers import format_number, format_pages, is_numeric, is_plural
from .rendering_context import Scene, StylePiece
from .style_tree import StyleNode

_NUMBERS = frozenset(("volume", "issue", "number", "chapter-number", "collection-number", "edition"))
_PAGES = frozenset({"page", "page-first", "locator"})


def render(node: StyleNode, scene: Scene) -> StylePiece:
    """One element."""
    scene.count()
    rule = _RULES.get(node.tag)
    return rule(node, scene) if rule else StylePiece()


def render_all(nodes: Iterable[StyleNode], scene: Scene, delimiter: str = "") -> StylePiece:
    """Elements one behind the other."""
    pieces = [render(node, scene) for node in nodes]
    text = scene.join([piece.text for piece in pieces], delimiter)
    return StylePiece(text, any(piece.asks for piece in pieces), any(piece.holds for piece in pieces))


def _text(node: StyleNode, scene: Scene) -> StylePiece:
    if node.has("variable"):
        text = _variable(node, scene)
        variable = node.get("variable")
        if text:
            scene.printed.add(variable)
        # a letter behind the year is no reason for words around it
        return StylePiece(finish(text, node, scene), variable != "year-suffix", bool(text))
    if node.has("macro"):
        piece = render_macro(node.get("macro"), scene)
        # a macro that prints something counts as a variable that is there; so does a group (CSL 1.0.2, Group)
        return StylePiece(finish(piece.text, node, scene), piece.asks or bool(piece.text), bool(piece.text))
    if node.has("term"):
        plural = node.get("plural") == "true"
        text = scene.locale.term(node.get("term"), node.get("form", "long"), plural=plural)
        return StylePiece(finish(text, node, scene))
    return StylePiece(finish(node.get("value"), node, scene))


def _variable(node: StyleNode, scene: Scene) -> str:
    variable = node.get("variable")
    text = ""
    if node.get("form") == "short":
        text = scene.text(f"{variable}-short")
    text = text or scene.text(variable)
    if variable in _PAGES and text:
        form = scene.style.get("page-range-format") if variable != "locator" or _is_page(scene) else ""
        return format_pages(text, form, scene.locale)
    return text.replace("-", "–") if variable in _NUMBERS and is_numeric(text) else text


def _is_page(scene: Scene) -> bool:
    return scene.cite.label == "page"


def render_macro(name: str, scene: Scene) -> StylePiece:
    """What a macro prints; nothing if there is none of the name."""
    macro = scene.macros.get(name)
    if macro is None:
        return StylePiece()
    scene.macro_depth += 1
    scene.count()
    piece = render_all(macro.children, scene)
    scene.macro_depth -= 1
    return piece


def _number(node: StyleNode, scene: Scene) -> StylePiece:
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


def _label(node: StyleNode, scene: Scene) -> StylePiece:
    variable = node.get("variable")
    text = scene.text(variable)
    if not text:
        return StylePiece("", True, False)
    term = (scene.cite.label or "page") if variable == "locator" else variable
    many = node.get("plural", "contextual")
    plural = many == "always" or (many == "contextual" and _is_several(variable, text))
    shown = scene.locale.term(term, node.get("form", "long"), plural=plural)
    return StylePiece(finish(shown, node, scene), True, bool(shown))


def _is_several(variable: str, text: str) -> bool:
    if variable.startswith("number-of"):
        return text != "1"
    return is_plural(text)


def _group(node: StyleNode, scene: Scene) -> StylePiece:
    piece = render_all(_open(node.children, scene), scene, node.get("delimiter"))
    if piece.asks and not piece.holds:
        return StylePiece("", True, False)
    return StylePiece(affix(faces(piece.text, node), node, scene), True, bool(piece.text))


def _open(nodes: Iterable[StyleNode], scene: Scene) -> list[StyleNode]:
    """Elements, with what conditions choose in their place: a delimiter stands between these, too."""
    found = list[StyleNode]()
    for node in nodes:
        if node.tag == "choose":
            scene.count()
            found += _open(choose(node, scene), scene)
        else:
            found.append(node)
    return found


def choose(node: StyleNode, scene: Scene) -> tuple[StyleNode, ...]:
    """The elements of the first branch whose conditions hold."""
    for branch in node.children:
        if branch.tag == "else" or _holds(branch, scene):
            return branch.children
    return ()


def _choose(node: StyleNode, scene: Scene) -> StylePiece:
    return render_all(_open((node,), scene), scene)


def _holds(branch: StyleNode, scene: Scene) -> bool:
    results = [test(value, scene) for name, test in _TESTS.items() for value in branch.get(name).split()]
    match = branch.get("match", "all")
    if match == "any":
        return any(results)
    return not any(results) if match == "none" else all(results)


_TESTS: Mapping[str, Callable[[str, Scene], bool]] = MappingProxyType(
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
_RULES: Mapping[str, Callable[[StyleNode, Scene], StylePiece]] = MappingProxyType(
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
