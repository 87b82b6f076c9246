"""Quoting of untrusted strings (titles, branches, URLs, folders) in configuration files of hosts.

Each function rejects characters that its format cannot escape, so that no value can end a line or string
early.
"""

from __future__ import annotations

import json
import shlex

from ..api.publishing import Diagnostic, SiteError, lazy_pattern

_PLAIN = lazy_pattern(r"[a-z]+ [a-z-][A-Za-z0-9 ./_=-]*[A-Za-z0-9]")
"""Matches a command that needs no quotes in YAML. It has at least two words, and no colons, quotes or
comments."""


def quote_yaml(text: str) -> str:
    """Return a double-quoted YAML 1.2 scalar. Raise SiteError for control and invisible characters."""
    return json.dumps(_check_printable(text), ensure_ascii=False)


def yaml_command(text: str) -> str:
    """Return a command as a one-line YAML scalar, plain or quoted. Raise SiteError as `quote_yaml` does."""
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
    """Return a basic string of TOML 1.0, which has the escapes of JSON. Raise SiteError as `quote_yaml`
    does."""
    return json.dumps(_check_printable(text), ensure_ascii=False)


def quote_shell(text: str) -> str:
    """Return a word of a POSIX shell. Raise SiteError as `quote_yaml` does."""
    return shlex.quote(_check_printable(text))


def quote_nginx(text: str) -> str:
    """Return an argument of an nginx directive. Raise SiteError as `quote_yaml` does, and for `$`, which
    nginx cannot escape."""
    if "$" in _check_printable(text):
        raise _quoting_error(text, "$")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quote_caddy(text: str) -> str:
    """Return a token of a Caddyfile. Raise SiteError as `quote_yaml` does, and for characters that start a
    placeholder or cannot be escaped."""
    for sign in '{}`\\"':
        if sign in _check_printable(text):
            raise _quoting_error(text, sign)
    return f'"{text}"'


def quote_pattern(text: str) -> str:
    """Return a regular expression without backslashes that matches only this string. Raise SiteError as
    `quote_yaml` does."""
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
