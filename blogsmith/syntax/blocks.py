"""Block `<div>`s with a special meaning, such as collapsible, gallery, image-compare and runnable.

A div that only carries data (`video-embed`, a plugin's class) becomes the shortcode of that name.
`collapsible`, `gallery` and `runnable` become containers whose content is parsed as Markdown, with or
without blank lines. Every other div is raw HTML, unless it requests Markdown (`markdown_elements.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from ..base.diagnostics.model import Place, TextMap, confirm_typo, format_suggestion, list_choices
from ..base.html_tags import Attribute, StartTag, parse_start_tag
from ..base.patterns import lazy_pattern
from .attributes import ALLOWED, ALLOWED_NAMES
from .extents import BlockExtent, find_extent, parse_inside, report_unclosed
from .records import CallError, Collapsible, Figure, LinkTargetPlace, Shortcode, attach_record
from .references.labels import is_figure_id, normal_id
from .state import block_place, get_page, line_start

INTERRUPTED_BLOCKS = ["paragraph", "reference", "blockquote"]
"""Block types that our elements can interrupt."""

CONTAINER_ARGUMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "collapsible": ("data-label", "data-open"),
        "gallery": ("data-cols", "data-caption", "data-alt"),
        "runnable": ("data-lang", "data-session"),
    }
)
"""Class of a div that contains Markdown → its arguments."""

SHORTCODE_CLASSES: Mapping[str, str] = MappingProxyType(
    {"image-compare": "image-compare", "video-embed": "video-embed"}
)
"""Class of a div that only carries data → its shortcode. Plugins add their own."""

NO_IMAGES = "missing Markdown image in this gallery"
IMAGES_HINT = 'write one image per line: `![alt](image.png "caption")`'

_DATA_NAMES = ("data-src", "data-label", "data-before", "data-after", "data-caption", "data-lang")
"""Attributes that show that a div without a known class was meant as one of our blocks."""

_ARGUMENTS = ("src", "before", "after", "caption", "alt", "title", "poster", "height")
"""Arguments that authors often write without the prefix `data-`."""

_LABEL_SPAN = lazy_pattern(
    r"<span\s+class=[\"']?(?:compare-)?label-(before|after)[\"']?\s*>(.*?)</span\s*>",
    re.IGNORECASE | re.DOTALL,
)


def block_div(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a div that has a class of `CONTAINER_ARGUMENTS` or of a shortcode (block rule)."""
    pos = line_start(state, start)
    if state.is_code_block(start) or state.src[pos : pos + 4].lower() != "<div":
        return False
    tag = parse_start_tag(state.src, pos)
    kind = _kind(state, tag) if tag else ""
    if not tag or not kind:
        if tag and not silent:
            _report_unknown(state, pos, tag)
        return False
    extent = find_extent(state, start, end, tag)
    if extent is None:
        if not silent:
            report_unclosed(state, start, tag, f'block "{kind}"')
        return False
    if state.src[extent.end : state.eMarks[extent.last]].strip():
        return False
    if kind == "gallery" and "![" not in state.src[extent.inner : extent.inner_end]:
        # A gallery in raw HTML may be styled by the author's own stylesheet.
        if not silent and any(item.name in _DATA_NAMES for item in tag.attributes):
            get_page(state.env).reporter.warn("gallery", NO_IMAGES, block_place(state, pos, 4), IMAGES_HINT)
        return False
    if silent:
        return True
    if kind in CONTAINER_ARGUMENTS:
        _push_container(state, extent, kind)
    else:
        _push_call(state, extent, kind)
    state.line = extent.last + 1
    return True


_MIN_TYPO = 6
"""Minimum length of a class that is compared with block names if the div has no attributes of a block."""


def _known_containers(state: StateBlock) -> list[str]:
    return sorted({*CONTAINER_ARGUMENTS, *SHORTCODE_CLASSES, *get_page(state.env).options.block_classes})


def _report_unknown(state: StateBlock, pos: int, tag: StartTag) -> None:
    """Warn about a div that has attributes of a block, such as `data-src`, but no class of a block, because
    the page would show nothing."""
    has_data = any(item.name in _DATA_NAMES for item in tag.attributes)
    if not tag.classes or not (has_data or len(tag.classes[0]) >= _MIN_TYPO):
        return
    reporter = get_page(state.env).reporter
    near = reporter.nearest(tag.classes[0], _known_containers(state))
    if not (has_data or confirm_typo(tag.classes[0], near)):
        return
    plugin = get_page(state.env).options.plugin_hint(tag.classes[0])
    others = f"add a plugin under `plugins:`, or {list_choices(_known_containers(state))}"
    hint = plugin or format_suggestion(near) or others
    place = block_place(state, pos, len("<div"))
    message = f'unknown block "{tag.classes[0]}": this element is plain HTML'
    fix = None if plugin else reporter.correct(place, tag.classes[0], near)
    reporter.warn("div-unknown", message, place, hint, fix)


def _kind(state: StateBlock, tag: StartTag) -> str:
    known = _known_containers(state)
    return next((name for name in tag.classes if name in known), "")


def _push_container(state: StateBlock, extent: BlockExtent, kind: str) -> None:
    opening = state.push(f"{kind}_open", "div", 1)
    opening.map = [extent.first, extent.last + 1]
    pos = line_start(state, extent.first)
    attach_record(
        opening,
        LinkTargetPlace(kind, block_place(state, pos, min(extent.tag.end, state.eMarks[extent.first]) - pos)),
    )
    if kind == "collapsible":
        is_open = any(a.name in ("open", "data-open") for a in extent.tag.attributes)
        attach_record(opening, Collapsible(is_open))
        _push_label(state, extent)
    _check_arguments(state, extent, kind)
    copy_attributes(state, extent, opening.attrs)
    parse_inside(state, extent)
    closing = state.push(f"{kind}_close", "div", -1)
    if kind == "gallery":
        _frame_gallery(state, extent, opening, closing)


def _check_arguments(state: StateBlock, extent: BlockExtent, kind: str) -> None:
    """Report `data-…` attributes that the block does not accept."""
    known, given = CONTAINER_ARGUMENTS[kind], [item.name for item in extent.tag.attributes]
    reporter = get_page(state.env).reporter
    for item in extent.tag.attributes:
        if item.name.startswith("data-") and item.name not in known:
            place = block_place(state, item.name_start, len(item.name))
            near = reporter.nearest(item.name, [name for name in known if name not in given])
            hint = format_suggestion(near) or list_choices(known)
            fix = reporter.correct(place, item.name, near)
            message = f'unknown argument "{item.name}" for block "{kind}"'
            reporter.error("shortcode-argument", message, place, hint, fix)


def _frame_gallery(state: StateBlock, extent: BlockExtent, opening: Token, closing: Token) -> None:
    """Turn the gallery into a figure if it has a figure id, a caption or an alternative text for
    all images."""
    name = normal_id(str(opening.attrs.get("id", "")))
    caption = next((a for a in extent.tag.attributes if a.name == "data-caption" and a.value.strip()), None)
    if not (caption or is_figure_id(name) or opening.attrs.get("data-alt")):
        return
    figure = Figure(name, caption=caption is not None)
    for token in (opening, closing):
        token.attrs.pop("id", None)
        attach_record(token, figure)
    if caption:
        # `galleries.py` parses the caption together with the page.
        attach_record(closing, attribute_map(state, caption))


def _push_label(state: StateBlock, extent: BlockExtent) -> None:
    """Add the label of a collapsible, which readers click: `data-label`, or "Show". It may
    contain formulas."""
    given = next((a for a in extent.tag.attributes if a.name == "data-label" and a.value.strip()), None)
    place = block_place(state, line_start(state, extent.first))
    origin = attribute_map(state, given) if given else TextMap("Show", ((place.line, place.column),))
    state.push("collapsible_label_open", "summary", 1)
    inline = state.push("inline", "", 0)
    inline.content, inline.children, inline.map = origin.text, [], [extent.first, extent.first + 1]
    attach_record(inline, origin)
    state.push("collapsible_label_close", "summary", -1)


def attribute_map(state: StateBlock, item: Attribute) -> TextMap:
    """Return the value of an attribute with its positions in the file. All lines of a value except the first
    start in column 1."""
    place = block_place(state, item.start)
    further = range(place.line + 1, place.line + 1 + item.value.count("\n"))
    return TextMap(item.value, ((place.line, place.column), *((line, 1) for line in further)))


def copy_attributes(state: StateBlock, extent: BlockExtent, attrs: dict[str, str | int | float]) -> None:
    """Copy the attributes of the start tag to `attrs`. Report those that are not allowed. `style` is allowed
    only in trusted markup."""
    for item in extent.tag.attributes:
        if item.name in ("markdown", "data-label", "open", "data-open"):
            continue
        if item.name in ALLOWED or item.name.startswith(("data-", "aria-")) or item.name == "role":
            attrs[item.name] = item.value
        elif not (item.name == "style" and not get_page(state.env).options.untrusted):
            place = block_place(state, item.name_start, len(item.name))
            hint = f"remove it, or {list_choices(ALLOWED_NAMES)}"
            get_page(state.env).reporter.error(
                "attribute", f'attribute "{item.name}" is not allowed here', place, hint
            )
        else:
            attrs[item.name] = item.value


def _push_call(state: StateBlock, extent: BlockExtent, kind: str) -> None:
    """Turn a div that only carries data into a shortcode call. `data-src="x"` becomes the argument `src`."""
    page = get_page(state.env)
    args: dict[str, str] = {}
    maps: dict[str, TextMap] = {}
    keys: dict[str, Place] = {}
    mistakes = []
    for item in extent.tag.attributes:
        at = block_place(state, item.name_start, len(item.name))
        if item.name.startswith("data-"):
            key = item.name.removeprefix("data-")
            args[key] = item.value
            maps[key], keys[key] = attribute_map(state, item), at
        elif item.name in _ARGUMENTS:
            message = f'attribute "{item.name}" has no effect because block "{kind}" does not read it'
            mistakes.append(CallError(message, at, f"write `data-{item.name}`"))
    inside = state.src[extent.inner : extent.inner_end]
    if kind == "image-compare":
        _read_labels(state, extent, inside, args, maps)
    elif inside.strip():
        place = block_place(state, extent.inner + len(inside) - len(inside.lstrip()))
        page.reporter.error(
            "div-content",
            f'text is not allowed in block "{kind}"',
            place,
            "move the text after the `</div>`",
        )
    pos = line_start(state, extent.first)
    place = block_place(state, pos, min(extent.tag.end, state.eMarks[extent.first]) - pos)
    name = SHORTCODE_CLASSES.get(kind) or page.options.block_classes[kind]
    token = state.push("shortcode", "", 0)
    token.map = [extent.first, extent.last + 1]
    given = extent.tag.get("id") or args.get("id", "")
    call = Shortcode(name, args, place, maps, normal_id(given), key_places=keys, mistakes=tuple(mistakes))
    attach_record(token, call)


def _read_labels(
    state: StateBlock, extent: BlockExtent, inside: str, args: dict[str, str], maps: dict[str, TextMap]
) -> None:
    """Read the label spans of a compare slider into `args` and `maps`. Report any other content."""
    for found in _LABEL_SPAN.finditer(inside):
        key = f"label-{found[1].lower()}"
        args[key] = " ".join(found[2].split())
        place = block_place(state, extent.inner + found.start(2))
        maps[key] = TextMap(args[key], ((place.line, place.column),))
    rest = _LABEL_SPAN.sub("", inside)
    if rest.strip():
        offset = inside.find(rest.strip().split("\n")[0])
        get_page(state.env).reporter.error(
            "div-content",
            'only images and their two labels are allowed in "image-compare"',
            block_place(state, extent.inner + max(0, offset)),
            'remove it, or write `<span class="compare-label-after">…</span>`',
        )


def block_rules(md: MarkdownIt) -> None:
    """Register the rule before the rule for raw HTML."""
    md.block.ruler.before("html_block", "div", block_div, {"alt": INTERRUPTED_BLOCKS})
