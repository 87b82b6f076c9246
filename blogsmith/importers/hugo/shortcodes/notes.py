"""Shortcodes of notes, quotes and words: side notes, epigraphs, abbreviations, what is heard."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape

from ...text.placement import Replacement, dedent
from ...text.tags import address_text
from .context import CallContext
from .parse import Call

Handler = Callable[[Call, str, CallContext], Replacement | None]


def show_note(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`sidenote`, `marginnote`, `footnote`: a footnote, whose mark stands where the note began."""
    text = dedent(inner).strip() or call.get("text", "content", "note", 0)
    if not text:
        return None
    context.notes.append(text)
    return Replacement(f"[^side-{len(context.notes)}]")


def footnotes(notes: Sequence[str]) -> str:
    """The texts of notes, as they stand at the end of a page."""
    return "".join(
        "[^side-{}]: {}\n".format(number, text.replace("\n", "\n    "))
        for number, text in enumerate(notes, 1)
    )


def show_quote(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`quote`, `blockquote`, `epigraph`: a quote, and below it who said so."""
    text = dedent(inner).strip() or call.get("text", "quote", 0 if not call.named else "text")
    if not text:
        return None
    author, source = (
        call.get("author", "pre", "by", "person"),
        call.get("source", "cite", "title", "post", "work"),
    )
    link = call.get("url", "link", "href")
    said = source or author
    linked = f"[{said}]({address_text(link)})" if link and said else said or link
    names = ", ".join(filter(None, [author.strip(" ,") if source else "", linked]))
    lines = [*text.split("\n"), *(["", f"— {names}"] if names else [])]
    return Replacement("\n".join(f"> {line}".rstrip() for line in lines), is_block=True)


def _element(tag: str) -> Handler:
    def show(call: Call, inner: str, context: CallContext) -> Replacement | None:
        text = " ".join(inner.split()) or call.get("text", 0)
        return Replacement(f"<{tag}>{text}</{tag}>") if text else None

    show.__doc__ = f"Text in `<{tag}>`."
    return show


def show_abbreviation(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`abbr`: a short form and what it means."""
    text = " ".join(inner.split()) or call.get("text", "abbr", 0)
    title = call.get("title", "meaning", 1 if not inner.strip() else 0)
    return Replacement(f'<abbr title="{escape(title)}">{text}</abbr>') if text and title else None


def show_ruby(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`ruby`: a word and how it is read."""
    text, reading = call.get("text", "kanji", 0) or inner.strip(), call.get("rt", "reading", "ruby", 1)
    return Replacement(f"<ruby>{text}<rt>{reading}</rt></ruby>") if text and reading else None


def show_direction(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`rtl` and `ltr`: text of another direction."""
    if not inner.strip():
        return None
    return Replacement(f'<div dir="{call.name}" markdown="1">\n\n{dedent(inner)}\n\n</div>', is_block=True)


def show_audio(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`audio`: something to hear, from a file of the site."""
    address = context.image(call.get("src", "url", "file", 0))
    if not address:
        return None
    if re.match(r"(?:https?:)?//", address):
        return Replacement(
            f"[{call.get('title', 'caption') or 'Audio'}]({address_text(address)})", is_block=True
        )
    return Replacement(f'<audio controls src="{escape(address)}"></audio>', is_block=True)


def show_frame(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`iframe`, `pdf`: a link to what would be shown in a frame."""
    address = context.image(call.get("src", "url", "file", "link", 0))
    if not address:
        return None
    context.notice("changed", f"shortcode {call.name}: a link now", "pages load nothing from other hosts", "")
    title = call.get("title", "caption", "name") or address.rstrip("/").rpartition("/")[2] or address
    return Replacement(f"[{title}]({address_text(address)})", is_block=True)


def show_anchor(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`link`, `staticref`: a link with a text."""
    address = call.get("href", "url", "link", 0)
    if not address:
        return None
    last = address.strip("/").rpartition("/")[2].replace("-", " ") or address
    text = " ".join(inner.split()) or call.get("content", "text", "title", 1) or last
    return Replacement(f"[{text}]({address_text(context.link(address) or context.image(address))})")


def show_event(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """`timelineItem`: a line in bold, and what happened."""
    title = call.get("header", "title", "date", 0)
    head = " · ".join(filter(None, [title, call.get("subheader", "subtitle"), call.get("badge")]))
    if not (head or inner.strip()):
        return None
    return Replacement(
        "\n\n".join(filter(None, [f"**{head}**" if head else "", dedent(inner)])), is_block=True
    )


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(
        ("sidenote", "marginnote", "margin-note", "side-note", "sn", "mn", "footnote", "fn"), show_note
    ),
    **dict.fromkeys(("quote", "blockquote", "epigraph", "quotation", "pullquote"), show_quote),
    **{"sup": _element("sup"), "sub": _element("sub"), "small": _element("small"), "u": _element("u")},
    **dict.fromkeys(("abbr", "abbreviation", "tooltip"), show_abbreviation),
    "ruby": show_ruby,
    **dict.fromkeys(("rtl", "ltr"), show_direction),
    "audio": show_audio,
    **dict.fromkeys(("iframe", "pdf", "embed-pdf", "pdfviewer"), show_frame),
    **dict.fromkeys(("link", "staticref", "extlink", "a", "article"), show_anchor),
    **dict.fromkeys(("timelineitem", "event"), show_event),
}
