"""Bare addresses as links: `https://…`, `www.…` and `name@host`, found by linkify-it.

linkify-it looks at every word for a domain before it knows that there is none, which took a fifth of the time
of parsing. Here only paragraphs get to it in which a text holds what each address must hold.
"""

from __future__ import annotations

import re
from typing import Any

from linkify_it import LinkifyIt
from linkify_it.main import Match
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_core import linkify as link_addresses
from markdown_it.token import Token

from .links import linkify_rule

# GFM 6.9: punctuation at the end of an address is not part of it. Lengths are those of DNS, and of
# what servers take: every `www.` is tried, and without bounds each would read to the end of its word.
_WWW = re.compile(
    r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,126}(?:[/?#](?:[^\s<]{0,2000}[^\s<.,;:!?)\"'*_~])?)?",
    re.IGNORECASE,
)


class AddressFinder(LinkifyIt):  # type: ignore[misc]  # it has no types
    """linkify-it, which also says cheaply where it would find nothing."""

    def __init__(self, options: dict[str, bool]) -> None:
        super().__init__(options=options)
        # http:, https: and ftp: are followed by the first, mailto: by the second
        self._signs = ["//", "@"]
        self._note_signs()

    def add(self, schema: str, definition: Any) -> LinkifyIt:
        """Find addresses that begin with `schema`."""
        self._signs.append(schema)
        self._note_signs()
        return super().add(schema, definition)

    def set(self, options: dict[str, bool]) -> LinkifyIt:
        """Change options, as a plugin may."""
        super().set(options)
        self._note_signs()
        return self

    def _note_signs(self) -> None:
        # a domain alone may be any word with a dot
        signs = ["."] if self._opts["fuzzy_link"] else []
        self._lower_signs = [sign.lower() for sign in (*self._signs, *signs)]
        self._sign = re.compile("|".join(map(re.escape, self._lower_signs)), re.IGNORECASE)

    def may_match(self, text: str) -> bool:
        """Whether `text` holds what every address has; without it there is no match."""
        if not text.isascii():
            return self._sign.search(text) is not None
        text = text.lower()
        for sign in self._lower_signs:  # noqa: SIM110  # most texts are short
            if sign in text:
                return True
        return False


def bare_link_rules(md: MarkdownIt) -> None:
    """Switch bare addresses on."""
    # bare `name.tld` is left alone: in technical prose `model.py` and `README.md` are file names
    finder = AddressFinder({"fuzzy_link": False, "fuzzy_email": True, "fuzzy_ip": False})
    finder.add("www.", {"validate": _WWW, "normalize": _with_scheme})
    md.linkify = finder
    md.options["linkify"] = True
    md.inline.ruler.at("linkify", linkify_rule)
    md.core.ruler.at("linkify", _link_addresses)
    md.enable(["linkify"])


def _with_scheme(linkify: LinkifyIt, match: Match) -> None:
    """GFM's extended autolink: `www.example.org` means http."""
    match.url = f"http://{match.url}"


def _link_addresses(state: StateCore) -> None:
    """The stock core rule, for the texts in which there may be an address."""
    tokens, finder = state.tokens, state.md.linkify
    if isinstance(finder, AddressFinder):
        state.tokens = [
            token for token in tokens if token.type == "inline" and _may_have_links(token, finder)
        ]
    try:
        link_addresses(state)
    finally:
        state.tokens = tokens


def _may_have_links(token: Token, finder: AddressFinder) -> bool:
    texts = [child.content for child in token.children or () if child.type == "text"]
    return finder.may_match("\n".join(texts))
