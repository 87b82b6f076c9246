"""Shortcodes that enclose text, such as callouts, folds, tabs, columns, notes, quotes and inline text.

A handler `show_…` gets a call, the translation of its inner text, and the context of its page. It returns
None if it cannot translate the call, for example because a required argument is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape

from ....api.importing import kind_table, name_set
from ...text.containers import Replacement, begin_tabs, callout_text, dedent_text, fence_text, tab
from ...text.html import link_destination
from .parse import Call, CallContext, Literal, write_source

KINDS: Mapping[str, str] = {
    **{kind: kind for kind in kind_table()},
    **dict.fromkeys(("default callout", *name_set("primary secondary default light dark notice")), "note"),
    **dict.fromkeys(name_set("warn exclamation exclamation-triangle triangle-exclamation"), "warning"),
    "alert": "warning",
    **{"circle-info": "info", "information": "info", "lightbulb": "tip", "bell": "info", "fire": "warning"},
    **{"bomb": "danger", "bulb": "tip", "idea": "tip", "pro": "success", "con": "caution", "ok": "success"},
    **{"warning-circle": "warning", "exclamation-circle": "important", "pencil": "note", "comment": "note"},
}
"""Name that a theme uses for a box → kind of callout."""
MATHEMATICAL = name_set(
    "axiom assumption claim conjecture exercise problem solution algorithm notation observation fact "
    "property hypothesis postulate"
) - {*kind_table()}
"""Kinds of callouts in mathematical posts that blogsmith does not define; the settings of the new site define
them."""
_BOXES = name_set(
    "callout admonition notice alert hint box admonish aside infobox notification message panel "
    "blockquote-alert paige/alert tips"
)
_FOLDS = name_set("details spoiler collapse expand detail toggle collapsible fold accordion-item")
_INNER = name_set(
    "steps columns column row col grid cards center lead newthought keyword table bootstrap-table "
    "responsive-table scroll-table div section wrap accordion accordiongroup timeline align raw rawhtml html "
    "unsafe unescape md markdown cell blocks/section blocks/lead font typeit text style aside-inline "
    "cardpane codetabs paige/columns print screen flex block split figure-group"
)


def show_box(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `callout`, `notice`, `hint` and similar calls. An argument names the kind of callout."""
    if call.inner is None and not call.get("text", "content"):
        return None
    names = [
        call.get(key) for key in ("type", "style", "kind", "color", "status", "icon", "context", "severity")
    ]
    names = [*names, call.get(0)] if not call.named else names
    kind = next((KINDS[name.casefold()] for name in names if name.casefold() in KINDS), "")
    title = call.get("title", "heading", "header", "summary", "label")
    if not call.named:
        title = call.get(1) if kind or len(call.positional) > 1 else call.get(0)
        title = "" if title in ("true", "false") else title
    fold = _fold(call)
    return Replacement(
        callout_text(kind or "note", title, inner or call.get("text", "content"), fold=fold), is_block=True
    )


def show_named_box(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `note`, `tip`, `theorem` and similar calls to a callout whose kind is the name of the
    call."""
    if call.inner is None:
        return None
    title = call.get("title", "name", "heading", 0)
    return Replacement(callout_text(KINDS[call.name], title, inner, fold=_fold(call)), is_block=True)


def show_numbered_box(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `exercise`, `claim` and similar calls to a callout. Its kind is the name of the call, and the
    settings of the new site define it."""
    if call.inner is None:
        return None
    context.kinds.add(call.name)
    title = call.get("title", "name", "heading", 0)
    return Replacement(callout_text(call.name, title, inner, fold=_fold(call)), is_block=True)


def _fold(call: Call) -> str:
    written = call.get("open", "expanded", "collapse", "collapsible", "fold", "closed", default="")
    if not call.named and call.name == "admonition":
        written = call.get(2)
    if not written:
        return ""
    is_inverse = not call.get("open", "expanded") and bool(call.named)
    is_open = (written.casefold() in ("true", "open")) != is_inverse
    return "+" if is_open else "-"


def show_fold(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `details`, `spoiler`, `expand` and similar calls to a fold."""
    if call.inner is None:
        return None
    label = call.get("summary", "title", "text", "label", "header", "name", 0) or "Details"
    body = dedent_text(inner)
    is_open = call.get("open", "closed", "expanded", default="")
    opened = is_open.casefold() in ("true", "open") if "closed" not in call.named else is_open == "false"
    if opened or re.search(r"[$*_`\[<\\]", label):
        return Replacement(_details(label, body, opened=opened), is_block=True)
    start = f'<div class="collapsible" data-label="{escape(label)}">'
    return Replacement(f"{start}\n\n{body}\n\n</div>", is_block=True)


def _details(label: str, body: str, *, opened: bool) -> str:
    start = '<details markdown="1" open>' if opened else '<details markdown="1">'
    return f"{start}\n<summary>{label}</summary>\n\n{body}\n\n</details>"


def show_inner(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Replace a box that only affects the layout with its content, and remove dividers in the content."""
    inner = re.sub(r"(?m)^[ \t]*<-+>[ \t]*$", "", inner)
    if not inner.strip():
        return None
    return Replacement(dedent_text(inner), is_block="\n" in inner.strip("\n") or "\n\n" in inner)


def show_tabs(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `tabs` to a block of tabs. The block is not joined with a block of tabs before it."""
    if call.inner is None:
        return None
    names = [each.strip() for each in call.get("items").split(",") if each.strip()]
    parts = inner.split(_TAB)
    if not names:
        # a tab without a name still needs a label
        names = [str(number) for number in range(1, len(parts))]
    if len(parts) == 1:
        return Replacement("\n".join(begin_tabs(dedent_text(inner).split("\n"))), is_block=True)
    labelled = [
        "\n".join(tab(name, dedent_text(part).split("\n"), is_first=not number))
        for number, (name, part) in enumerate(zip(names, parts[1:], strict=False))
    ]
    rest = [dedent_text(part) for part in parts[len(names) + 1 :]]
    return Replacement("\n\n".join([dedent_text(parts[0]), *labelled, *rest]).strip("\n"), is_block=True)


_TAB = "\ue012"


def show_tab(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `tab` to one tab. If it has no label, `show_tabs` adds one later. Return None if the call has
    no closing call."""
    if call.inner is None:
        return None
    name = call.get("header", "title", "name", "tabname", "label", 0)
    language = call.get("lang", "codelang")
    body = fence_text(write_source(call.inner).strip("\n"), language) if language else dedent_text(inner)
    if not name:
        return Replacement(f"{_TAB}{body}", is_block=True)
    return Replacement("\n".join(tab(name, body.split("\n"))), is_block=True)


def show_card(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `card` to a list item that contains a link and the text of the card."""
    title, link = call.get("title", "header", 0), call.get("link", "url", "href")
    shown = f"[{title}]({link})" if title and link else f"**{title}**" if title else ""
    body = " ".join([call.get("subtitle", "text"), " ".join(inner.split())]).strip()
    line = ": ".join(filter(None, [shown, body]))
    return Replacement(f"- {line}", is_block=True) if line else None


def show_button(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `button` to a link; return None if it has no URL."""
    link = call.get("href", "link", "url", "relref", "ref", 0)
    text = " ".join(inner.split()) or call.get("text", "label", "title", 1) or link
    return Replacement(f"[{text}]({context.link(link) or link})") if link else None


INLINE_SHORTCODES = ("badge", "kbd", "mark", "label", "chip", "tag", "underline", "color", "colour")
"""Shortcodes for inline text. A template of the site takes precedence, because only the template shows the
meaning of arguments."""


def show_text(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `badge`, `mark`, `kbd` and similar calls to their text. If `color` has two arguments, the
    text is the second."""
    last = (1, 0) if call.name in ("color", "colour") else (0,)
    text = " ".join(inner.split()) or call.get("content", "text", "label", "value", *last)
    form = {"kbd": "[[{}]]", "mark": "=={}=="}.get(call.name, "{}")
    return Replacement(form.format(text)) if text else None


def remove_call(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Remove a shortcode that only generates content or decoration, and add a notice."""
    removed = "".join(node.text for node in call.inner or () if isinstance(node, Literal))
    context.notice("dropped", f'shortcode "{call.name}" has no effect in blogsmith', "", removed)
    return Replacement("")


HANDLERS = {
    **dict.fromkeys(_INNER, show_inner),
    **dict.fromkeys(
        (name for name in KINDS if re.fullmatch("[a-z]+", name) and name != "default"), show_named_box
    ),
    **dict.fromkeys(MATHEMATICAL, show_numbered_box),
    **dict.fromkeys(_BOXES, show_box),
    **dict.fromkeys(_FOLDS, show_fold),
    **dict.fromkeys(("tabs", "tabpane", "tabgroup", "paige/tabs"), show_tabs),
    **dict.fromkeys(("tab", "paige/tab"), show_tab),
    "card": show_card,
    **dict.fromkeys(("button", "btn", "link-card", "linkcard"), show_button),
    **dict.fromkeys(INLINE_SHORTCODES, show_text),
    **dict.fromkeys(
        name_set(
            "toc icon br clear clearfix recent-posts list-children children list giscus disqus comment "
            "comments ad"
        ),
        remove_call,
    ),
}


Handler = Callable[[Call, str, CallContext], Replacement | None]


def show_note(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `sidenote`, `marginnote` and `footnote` to a footnote reference. Add the text of the note to
    `context.notes`."""
    text = dedent_text(inner).strip() or call.get("text", "content", "note", 0)
    if not text:
        return None
    context.notes.append(text)
    return Replacement(f"[^side-{len(context.notes)}]")


def footnotes(notes: Sequence[str]) -> str:
    """Return Markdown footnotes for the end of a page. notes: text of each note, in order."""
    return "".join(
        "[^side-{}]: {}\n".format(number, text.replace("\n", "\n    "))
        for number, text in enumerate(notes, 1)
    )


def show_quote(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `quote`, `blockquote` and `epigraph` to a quote. If the call names an author and a source,
    they follow the quote."""
    text = dedent_text(inner).strip() or call.get("text", "quote", 0 if not call.named else "text")
    if not text:
        return None
    author = call.get("author", "pre", "by", "person")
    source = call.get("source", "cite", "title", "post", "work")
    link = call.get("url", "link", "href")
    said = source or author
    linked = f"[{said}]({link_destination(link)})" if link and said else said or link
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
    """Translate `abbr` to an abbreviation with its meaning."""
    text = " ".join(inner.split()) or call.get("text", "abbr", 0)
    title = call.get("title", "meaning", 1 if not inner.strip() else 0)
    return Replacement(f'<abbr title="{escape(title)}">{text}</abbr>') if text and title else None


def show_ruby(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `ruby` to a word with its pronunciation above it."""
    text, reading = call.get("text", "kanji", 0) or inner.strip(), call.get("rt", "reading", "ruby", 1)
    return Replacement(f"<ruby>{text}<rt>{reading}</rt></ruby>") if text and reading else None


def show_direction(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `rtl` and `ltr` to a block with that text direction."""
    if not inner.strip():
        return None
    return Replacement(
        f'<div dir="{call.name}" markdown="1">\n\n{dedent_text(inner)}\n\n</div>', is_block=True
    )


def show_audio(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `audio` to a player, or to a link if the file is on another host."""
    address = context.image(call.get("src", "url", "file", 0))
    if not address:
        return None
    if re.match(r"(?:https?:)?//", address):
        return Replacement(
            f"[{call.get('title', 'caption') or 'Audio'}]({link_destination(address)})", is_block=True
        )
    return Replacement(f'<audio controls src="{escape(address)}"></audio>', is_block=True)


def show_frame(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `iframe` and `pdf` to a link to the document that they show."""
    address = context.image(call.get("src", "url", "file", "link", 0))
    if not address:
        return None
    message = f'shortcode "{call.name}" becomes a link: pages load nothing from other hosts'
    context.notice("changed", message, "", "")
    title = call.get("title", "caption", "name") or address.rstrip("/").rpartition("/")[2] or address
    return Replacement(f"[{title}]({link_destination(address)})", is_block=True)


def show_anchor(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `link` and `staticref` to a link."""
    address = call.get("href", "url", "link", 0)
    if not address:
        return None
    last = address.strip("/").rpartition("/")[2].replace("-", " ") or address
    text = " ".join(inner.split()) or call.get("content", "text", "title", 1) or last
    return Replacement(f"[{text}]({link_destination(context.link(address) or context.image(address))})")


def show_event(call: Call, inner: str, context: CallContext) -> Replacement | None:
    """Translate `timelineItem` to a title in bold, followed by the text of the item."""
    title = call.get("header", "title", "date", 0)
    head = " · ".join(filter(None, [title, call.get("subheader", "subtitle"), call.get("badge")]))
    if not (head or inner.strip()):
        return None
    return Replacement(
        "\n\n".join(filter(None, [f"**{head}**" if head else "", dedent_text(inner)])), is_block=True
    )


NOTES: dict[str, Handler] = {
    **dict.fromkeys(name_set("sidenote marginnote margin-note side-note sn mn footnote fn"), show_note),
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
