"""Images for light and dark pages: two adjacent images, one for each colour scheme, become one.

The scheme is named by a URL fragment, `a.png#only-dark` as in Material or `#gh-dark-mode-only` as on GitHub,
or by a class: `{.light}` and `{.dark}` as in Chirpy, `{.only-light}` as in Sphinx. The two images are in one
paragraph with only whitespace between them, or in two paragraphs of their own, in either order. An image
with a fragment but without a partner is shown only in its scheme. A class without a partner has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from ..base.patterns import lazy_pattern
from .records import DarkVariant, LinkTargetPlace, attach_record, get_record

_FRAGMENT = lazy_pattern(r"#(?:gh-(dark|light)-mode-only|only-(dark|light))\Z")
_CLASSES = MappingProxyType(
    {
        **{name: "light" for name in ("light", "only-light", "light-content")},
        **{name: "dark" for name in ("dark", "only-dark", "dark-content")},
    }
)
_PARAGRAPH = 3
"""Number of block tokens of one paragraph: opening, inline and closing."""


def schemes(state: StateCore) -> None:
    """Join each pair of a light and a dark image (core rule, before `figures`)."""
    if "![" not in state.src:
        return
    inlines = (token for token in state.tokens if token.type == "inline")
    if not any(_scheme(child) for inline in inlines for child in inline.children or ()):
        return
    for token in state.tokens:
        if token.type == "inline" and token.children:
            token.children = _join_pairs(token.children)
    state.tokens = _join_paragraphs(state.tokens)
    for token in state.tokens:
        for child in token.children or ():
            scheme = _fragment(child)
            if scheme and "darkvariant" not in child.meta:
                child.attrJoin("class", f"only-{scheme}")


def _fragment(token: Token) -> str:
    """Return the colour scheme in the fragment of an image URL, or an empty string."""
    if token.type != "image" or "linktargetplace" not in token.meta:
        return ""
    found = _FRAGMENT.search(get_record(token, LinkTargetPlace).target)
    return (found[1] or found[2]) if found else ""


def _scheme(token: Token) -> str:
    if token.type != "image" or "linktargetplace" not in token.meta:
        return ""
    names = str(token.attrs.get("class", "")).split()
    return _fragment(token) or next((_CLASSES[name] for name in names if name in _CLASSES), "")


def _is_pair(first: Token, second: Token) -> bool:
    return {_scheme(first), _scheme(second)} == {"light", "dark"}


def _join_pairs(children: Sequence[Token]) -> list[Token]:
    """Return the tokens with each pair joined into one image."""
    out: list[Token] = []
    last: int | None = None
    for token in children:
        if token.type == "image" and last is not None and _is_pair(out[last], token):
            out[last:] = [_join_pair(out[last], token)]
            last = None
            continue
        out.append(token)
        if token.type == "image":
            last = len(out) - 1 if _scheme(token) else None
        elif not _is_blank(token):
            last = None
    return out


def _is_blank(token: Token) -> bool:
    return token.type in ("softbreak", "hardbreak") or (token.type == "text" and not token.content.strip())


def _join_paragraphs(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens after joining pairs of images in adjacent paragraphs. The paragraph of the second
    image is removed."""
    out: list[Token] = []
    for token in tokens:
        out.append(token)
        if token.type != "paragraph_close":
            continue
        first, second = _only_image(out[-2 * _PARAGRAPH : -_PARAGRAPH]), _only_image(out[-_PARAGRAPH:])
        if first is not None and second is not None and _is_pair(first, second):
            out[-_PARAGRAPH - 2].children = [_join_pair(first, second)]
            del out[-_PARAGRAPH:]
    return out


def _only_image(tokens: Sequence[Token]) -> Token | None:
    """Return the image of a paragraph that contains nothing else, or None."""
    if [token.type for token in tokens] != ["paragraph_open", "inline", "paragraph_close"]:
        return None
    children = [child for child in tokens[1].children or () if not _is_blank(child)]
    return children[0] if len(children) == 1 and children[0].type == "image" else None


def _join_pair(first: Token, second: Token) -> Token:
    """Return the light image with the dark one attached. Attributes that only the dark image has apply to
    both."""
    light, dark = (first, second) if _scheme(first) == "light" else (second, first)
    attach_record(light, DarkVariant(get_record(dark, LinkTargetPlace)))
    for name in ("id", "title", "width", "height"):
        if name in dark.attrs and name not in light.attrs:
            light.attrs[name] = dark.attrs[name]
    names = str(light.attrs.pop("class", "")).split()
    if own := [name for name in names if name not in _CLASSES]:
        light.attrs["class"] = " ".join(own)
    light.children = light.children or dark.children
    return light
