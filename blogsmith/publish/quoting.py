"""Quoting of untrusted strings (titles, branches, URLs, folders) in configuration files of hosts.

Each function rejects characters that its format cannot escape, so that no value can end a line or string
early.
"""

from __future__ import annotations

import json
import shlex

from ..api.publishing import Diagnostic, SiteError, lazy_pattern

_PLAIN = lazy_pattern(r"[a-z]+ [a-z-][A-Za-z0-9 ./_=-]*[A-Za-z0-9]")
"""Matches commands that need no quotes in YAML: at least two words, without colons, quotes and comments."""


def quote_yaml(text: str) -> str:
    """Return a double-quoted YAML 1.2 scalar. SiteError for control and invisible characters."""
    return json.dumps(_check_printable(text), ensure_ascii=False)


def yaml_command(text: str) -> str:
    """Return a command as a one-line YAML scalar, plain or quoted. SiteError as in `quote_yaml`."""
    if _PLAIN.fullmatch(_check_printable(text)):
        return text
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def reject_expression(text: str) -> None:
    """Raise SiteError if the string contains an expression that GitHub would evaluate before the shell sees
    it."""
    if "${{" in text:
        raise _quoting_error(text, "${{")


def quote_toml(text: str) -> str:
    """Return a basic string of TOML 1.0, which has the escapes of JSON. SiteError as in `quote_yaml`."""
    return json.dumps(_check_printable(text), ensure_ascii=False)


def quote_shell(text: str) -> str:
    """Return a word of a POSIX shell. SiteError as in `quote_yaml`."""
    return shlex.quote(_check_printable(text))


def quote_nginx(text: str) -> str:
    """Return an argument of an nginx directive. SiteError also for `$`, which cannot be escaped there."""
    if "$" in _check_printable(text):
        raise _quoting_error(text, "$")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quote_caddy(text: str) -> str:
    """Return a token of a Caddyfile. SiteError also for characters that start a placeholder or cannot be
    escaped."""
    for sign in '{}`\\"':
        if sign in _check_printable(text):
            raise _quoting_error(text, sign)
    return f'"{text}"'


def quote_pattern(text: str) -> str:
    """Return a regular expression without backslashes that matches only this string. SiteError as in
    `quote_yaml`."""
    return "".join(
        char if char.isalnum() or char in "/-_~" else "[[^]]" if char == "^" else f"[{char}]"
        for char in _check_printable(text)
    )


def one_line(text: str) -> str:
    """Return the string as a single line for a comment."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _check_printable(text: str) -> str:
    wrong = next((char for char in text if not char.isprintable()), "")
    if wrong:
        raise _quoting_error(text, f"U+{ord(wrong):04X}")
    return text


def _quoting_error(text: str, sign: str) -> SiteError:
    message = f'"{text}" contains "{sign}", which is not allowed in settings of a host'
    return SiteError(Diagnostic("publish-name", message, hint=f"write a name without `{sign}`"))
