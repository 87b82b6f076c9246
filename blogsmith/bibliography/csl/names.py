"""Formats names of people: initials, order, `and`, et al., labels, and substitutes for missing names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...model.publications import Person
from .formatting import affix, apply_font_style, change_case, finish
from .markup import concat
from .rendering_context import OTHERS, RenderingContext, StylePiece
from .style_tree import StyleNode

Render = Callable[[StyleNode, RenderingContext], StylePiece]


def render_names(node: StyleNode, scene: RenderingContext, render: Render) -> StylePiece:
    """Format a `names` element. Inside a `substitute`, a `names` element without `name` uses the `name` of
    the element that it replaces."""
    outer = scene.names
    like = outer if node.find("name") is None and outer is not None else node
    roles = node.get("variable").split()
    texts = [_with_label(role, like, scene, term) for role, term in _roles(roles, scene)]
    delimiter = node.get("delimiter") or like.get("delimiter")
    text = scene.join(texts, delimiter or scene.name_options(None).get("names-delimiter", ""))
    if text:
        scene.printed.update(roles)
        return StylePiece(finish(text, node, scene), True, True)
    substitute = node.find("substitute")
    for child in substitute.children if substitute is not None else ():
        before, scene.printed, scene.names = scene.printed, set(), node
        piece = render(child, scene)
        printed, scene.printed, scene.names = scene.printed, before | scene.printed, outer
        if piece.text:
            # print a variable that replaced names only once
            scene.suppressed |= printed
            return StylePiece(finish(piece.text, node, scene), True, True)
    return StylePiece("", True, False)


def _roles(roles: Sequence[str], scene: RenderingContext) -> list[tuple[str, str]]:
    """Return each role with the term that is printed for it. If the editors are also the translators, return
    one combined role."""
    are_both = {"editor", "translator"} <= set(roles) and scene.people("editor") == scene.people("translator")
    if are_both and scene.people("editor") and scene.locale.term("editortranslator"):
        return [("editor", "editortranslator")]
    return [(role, role) for role in roles]


def _with_label(role: str, node: StyleNode, scene: RenderingContext, term: str) -> str:
    people = scene.people(role)
    if not people:
        return ""
    name = node.find("name")
    text = format_people(people, name, node.find("et-al"), scene)
    label = node.find("label")
    if label is None or not text or scene.is_sorting:
        return text
    many = label.get("plural", "contextual")
    is_plural = len(people) > 1 if many == "contextual" else many == "always"
    shown = finish(scene.locale.term(term, label.get("form", "long"), plural=is_plural), label, scene)
    first = next((child.tag for child in node.children if child.tag in ("name", "label")), "name")
    return scene.concat(shown, text) if first == "label" else scene.concat(text, shown)


def format_people(
    people: Sequence[Person], name: StyleNode | None, et_al: StyleNode | None, scene: RenderingContext
) -> str:
    """Format several names."""
    options = scene.name_options(name)
    at_least, first = int(options["et-al-min"] or 0), int(options["et-al-use-first"] or 1)
    first += scene.cite.extra_names if not scene.is_sorting else 0
    is_cut = 0 < at_least <= len(people) and first < len(people)
    shown = people[:first] if is_cut else people
    if options["form"] == "count":
        return str(len(shown))
    texts = [_person(person, index, name, options, scene) for index, person in enumerate(shown)]
    delimiter = options["delimiter"]
    if is_cut:
        text = _format_et_al(texts, people, name, et_al, options, scene)
    else:
        text = _join_names(texts, delimiter, options, scene)
    return affix(apply_font_style(text, name), name, scene) if name is not None else text


def _format_et_al(
    texts: list[str],
    people: Sequence[Person],
    name: StyleNode | None,
    et_al: StyleNode | None,
    options: dict[str, str],
    scene: RenderingContext,
) -> str:
    delimiter = options["delimiter"]
    if options["et-al-use-last"] == "true" and len(people) > len(texts) + 1:
        last = _person(people[-1], len(people) - 1, name, options, scene)
        return f"{scene.join(texts, delimiter)}{delimiter}… {last}"
    term = et_al.get("term", "et-al") if et_al is not None else "et-al"
    word = scene.locale.term(term)
    word = finish(word, et_al, scene) if et_al is not None else word
    rule = options["delimiter-precedes-et-al"]
    inverted = options.get("name-as-sort-order", "") in ("first", "all")
    takes = rule == "always" or (rule == "contextual" and len(texts) > 1)
    takes = takes or (rule == "after-inverted-name" and inverted and len(texts) == 1)
    return concat(scene.join(texts, delimiter), (delimiter if takes else " ")) + word


def _join_names(texts: list[str], delimiter: str, options: dict[str, str], scene: RenderingContext) -> str:
    word = {"text": scene.locale.term("and"), "symbol": "&"}.get(options.get("and", ""), "")
    if not word or len(texts) < 2:
        return scene.join(texts, delimiter)
    if texts[-1] == OTHERS:
        # `OTHERS` stands for the missing end of a list; it is not a name
        return f"{scene.join(texts[:-1], delimiter)} {word} {OTHERS}"
    rule, order = options["delimiter-precedes-last"], options.get("name-as-sort-order", "")
    takes = rule == "always" or (rule == "contextual" and len(texts) > 2)
    is_inverted = order == "all" or (order == "first" and len(texts) == 2)
    takes = takes or (rule == "after-inverted-name" and is_inverted)
    start = scene.join(texts[:-1], delimiter)
    return f"{concat(start, delimiter if takes else ' ')}{word} {texts[-1]}"


def _person(
    person: Person, index: int, name: StyleNode | None, options: dict[str, str], scene: RenderingContext
) -> str:
    if person.literal:
        return person.literal
    family, given = _part("family", person.family, name), _given_name(person, options)
    order = options.get("name-as-sort-order", "")
    particle, suffix = person.particle, person.suffix
    if options["form"] == "short":
        if not scene.is_sorting and person.short in scene.cite.given_names and given:
            return f"{_part('given', given, name)} {particle} {family}".replace("  ", " ")
        return f"{particle} {family}".strip()
    given = _part("given", given, name)
    if order == "all" or (order == "first" and index == 0):
        demoted = scene.style.get("demote-non-dropping-particle", "display-and-sort")
        if demoted == "display-and-sort" or (demoted == "sort-only" and scene.is_sorting):
            given = f"{given} {particle}".strip()
        else:
            family = f"{particle} {family}".strip()
        return options["sort-separator"].join(part for part in (family, given, suffix) if part)
    return " ".join(part for part in (given, particle, family, suffix) if part)


def _part(part: str, text: str, name: StyleNode | None) -> str:
    """Return the part of a name in the font style and case that a style sets for it. part: `family` or
    `given`."""
    for node in name.find_all("name-part") if name is not None else ():
        if node.get("name") == part and text:
            if node.has("text-case"):
                text = change_case(text, node.get("text-case"), is_english=True)
            text = node.get("prefix") + apply_font_style(text, node) + node.get("suffix")
    return text


def _given_name(person: Person, options: dict[str, str]) -> str:
    mark = options.get("initialize-with")
    if mark is None or not person.given:
        return person.given
    keeps_words = options["initialize"] == "false"
    words = []
    for word in person.given.replace(".", ". ").split():
        bare = word.rstrip(".")
        is_initial = word.endswith(".") and len(bare) <= 2
        if not bare[:1].isupper() or (keeps_words and not is_initial):
            words.append(f" {word} ")
        else:
            words.append(_initials(bare, mark, options))
    return " ".join("".join(words).split())


def _initials(word: str, mark: str, options: dict[str, str]) -> str:
    if options.get("initialize-with-hyphen", "true") == "false":
        return "".join(f"{part[0]}{mark}" for part in word.split("-") if part)
    parts = [part for part in word.split("-") if part]
    firsts = [part[0] for part in parts]
    return f"{mark.rstrip()}-".join(firsts) + mark
