"""Texts of strangers (titles, branches, addresses, folders) as one word of a file that a host reads.

Each function refuses what its format cannot hold in one word, so nothing can end a line or a string early.
"""

from __future__ import annotations

import json
import shlex

from ..api.publishing import Diagnostic, SiteError, lazy_pattern

_PLAIN = lazy_pattern(r"[a-z]+ [a-z-][A-Za-z0-9 ./_=-]*[A-Za-z0-9]")
"""Words that are nothing else in YAML: two at least, without colons, quotes and comments."""


def quote_yaml(text: str) -> str:
    """A double-quoted scalar of YAML 1.2; SiteError for control and invisible characters."""
    return json.dumps(_checked(text), ensure_ascii=False)


def yaml_command(text: str) -> str:
    """A command as a scalar of YAML on one line, as it is or in single quotes; SiteError as above."""
    if _PLAIN.fullmatch(_checked(text)):
        return text
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def refuse_expression(text: str) -> None:
    """SiteError for a text that GitHub would compute before any shell or program sees it."""
    if "${{" in text:
        raise _refusal(text, "${{")


def quote_toml(text: str) -> str:
    """A basic string of TOML 1.0, whose escapes are those of JSON; SiteError as above."""
    return json.dumps(_checked(text), ensure_ascii=False)


def quote_shell(text: str) -> str:
    """A word of a POSIX shell; SiteError as above."""
    return shlex.quote(_checked(text))


def quote_nginx(text: str) -> str:
    """An argument of a directive of nginx; SiteError also for `$`, which has no escape there."""
    if "$" in _checked(text):
        raise _refusal(text, "$")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quote_caddy(text: str) -> str:
    """A token of a Caddyfile; SiteError also for what begins a placeholder or has no escape there."""
    for sign in '{}`\\"':
        if sign in _checked(text):
            raise _refusal(text, sign)
    return f'"{text}"'


def quote_pattern(text: str) -> str:
    """The text as a part of a regular expression that matches nothing else, without a backslash; as above."""
    return "".join(
        char if char.isalnum() or char in "/-_~" else "[[^]]" if char == "^" else f"[{char}]"
        for char in _checked(text)
    )


def one_line(text: str) -> str:
    """The text as one line of a comment, whatever it holds."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _checked(text: str) -> str:
    wrong = next((char for char in text if not char.isprintable()), "")
    if wrong:
        raise _refusal(text, f"U+{ord(wrong):04X}")
    return text


def _refusal(text: str, sign: str) -> SiteError:
    return SiteError(
        Diagnostic("publish-name", f"{text!r} holds {sign}, which no settings of a host can have")
    )
