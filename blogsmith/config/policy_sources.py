"""Sources that a site adds to the Content-Security-Policy of its pages, as its settings write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..base.patterns import lazy_pattern
from ..base.schema.forms import accepts, one_of
from ..base.schema.slots import Slot

DIRECTIVES = (
    *("script-src", "style-src", "img-src", "font-src", "media-src", "connect-src", "worker-src"),
    *("frame-src", "manifest-src", "object-src", "form-action", "base-uri"),
)
"""Those that a page may say of itself."""
_FROM_SERVERS = frozenset(("frame-ancestors", "sandbox", "report-uri", "report-to"))
_SOURCE = lazy_pattern(
    r"'self'|'sha(?:256|384|512)-[A-Za-z0-9+/=_-]+'|'(?:unsafe-eval|wasm-unsafe-eval|unsafe-hashes|strict-dynamic)'"
    r"|(?:https|http|wss|ws|data|blob|mediastream):"
    r"|(?:(?:https?|wss?)://)?(?:\*\.)?(?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+(?::(?:\d{1,5}|\*))?(?:/[\w/.~!$&()*+@=%:-]*)?",
    re.ASCII,
)


_SOURCE_FORM = {"anyOf": [{"pattern": _SOURCE}, one_of(["'unsafe-inline'"])]}


@accepts({"propertyNames": one_of(DIRECTIVES), "additionalProperties": {"items": _SOURCE_FORM}})
def check_policy(declared: str | Mapping[str, tuple[str, ...]], slot: Slot) -> Any:
    """The policy, or None after a report of directives and sources that no page can have."""
    found = [
        _check_directive(directive, sources, slot)
        for directive, sources in ({} if isinstance(declared, str) else declared).items()
    ]
    return declared if all(found) else None


def _check_directive(directive: str, sources: tuple[str, ...], policy: Slot) -> bool:
    if directive not in DIRECTIVES:
        is_header = directive in _FROM_SERVERS
        hint = "only a server's header can say that" if is_header else f"known: {', '.join(DIRECTIVES)}"
        policy.key(directive).wrong(f'the policy of a page has no directive "{directive}"', hint)
        return False
    problems = [_source_problem(directive, source) for source in sources]
    for index, (message, hint) in enumerate(problems):
        if message:
            policy.at(directive).at(index).wrong(message, hint)
    return not any(message for message, _ in problems)


def _source_problem(directive: str, source: str) -> tuple[str, str]:
    """What is wrong with a source, and a hint; empty if it is one."""
    if source == "'unsafe-inline'" and directive != "style-src":
        return "scripts cannot all be allowed", "inline scripts that stand in a page are allowed as they are"
    if source == "'unsafe-inline'" or _SOURCE.fullmatch(source):
        return "", ""
    hint = "write a host such as https://stats.example.org, a scheme such as data:, or a word such as 'self'"
    return f'"{source}" is no source', hint
