"""The editor that the preview opens, given as a name, a URL or a command.

For each name, `EDITORS` contains a URL with a scheme that the editor registers, or the editor's own command.
Sources: the aliases of ripgrep's `--hyperlink-format` (VS Code and its forks, TextMate, MacVim), Zed's
`open_listener.rs`, and the manuals of the programs. JetBrains editors register `idea://open?file=` and
similar schemes on macOS; on other systems, use their command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from ..base.diagnostics.model import did_you_mean, list_choices
from ..base.patterns import lazy_pattern
from ..model.names import name_set

_FILE_POSITION = "{file}:{line}:{column}"
_FILE_QUERY = "{file}&line={line}&column={column}"

EDITORS: Mapping[str, str] = MappingProxyType(
    {
        "vscode": f"vscode://file{_FILE_POSITION}",
        "vscode-insiders": f"vscode-insiders://file{_FILE_POSITION}",
        "vscodium": f"vscodium://file{_FILE_POSITION}",
        "cursor": f"cursor://file{_FILE_POSITION}",
        "windsurf": f"windsurf://file{_FILE_POSITION}",
        "zed": f"zed://file{_FILE_POSITION}",
        "textmate": f"txmt://open?url=file://{_FILE_QUERY}",
        "macvim": f"mvim://open?url=file://{_FILE_QUERY}",
        "idea": f"idea://open?file={_FILE_QUERY}",
        "pycharm": f"pycharm://open?file={_FILE_QUERY}",
        "webstorm": f"webstorm://open?file={_FILE_QUERY}",
        "emacs": "emacsclient -n +{line}:{column} {file}",
        "gvim": "gvim --remote-silent +{line} {file}",
        "sublime": f"subl {_FILE_POSITION}",
    }
)
"""Maps each editor name to its URL or command, with placeholders for the file, line and column."""
PLACEHOLDERS = ("file", "line", "column")

_PLACEHOLDER = lazy_pattern(r"\{(\w*)\}")
_SCHEME = lazy_pattern(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# Schemes that a browser handles itself, by running a script or by leaving the preview.
_REJECTED_SCHEMES = name_set("about blob chrome data file filesystem http https javascript vbscript")
_PLACEHOLDERS_HINT = "write one of `{file}`, `{line}`, `{column}`"


class EditorChoice(Struct, frozen=True):
    """An editor as configured. If `problem` is set, or no editor is configured, the other fields are
    empty."""

    url: str = ""
    """URL with placeholders. `{file}` is an absolute path, percent-encoded, with a leading slash."""
    command: tuple[str, ...] = ()
    """Program and arguments, with placeholders."""
    runs_site_command: bool = False
    """Whether `command` was written in the setting itself, not taken from `EDITORS`. If the setting is in the
    file of a site, running the command needs trust."""
    problem: str = ""
    """Error message, if the setting is invalid."""
    hint: str = ""


def read_editor(text: str) -> EditorChoice:
    """Parse the value of the setting `editor` or of BLOGSMITH_EDITOR."""
    text = text.strip()
    if not text or text in EDITORS:
        return _parse_choice(EDITORS.get(text, ""), is_code=False)
    unknown = [name for name in _PLACEHOLDER.findall(text) if name not in PLACEHOLDERS]
    if unknown:
        near = did_you_mean(unknown[0], PLACEHOLDERS)
        return EditorChoice(
            problem=f'unknown placeholder "{{{unknown[0]}}}"', hint=near or _PLACEHOLDERS_HINT
        )
    if "{file}" not in text:
        return EditorChoice(
            problem=f'unknown editor "{text}"',
            hint=did_you_mean(text, EDITORS) or list_choices((*EDITORS, "COMMAND {file}")),
        )
    return _parse_choice(text, is_code=True)


def _parse_choice(text: str, *, is_code: bool) -> EditorChoice:
    if found := _SCHEME.match(text):
        return _parse_url(text, found[1].lower())
    try:
        command = tuple(shlex.split(text))
    except ValueError:
        return EditorChoice(
            problem=f'missing closing quote in "{text}"', hint="quote arguments as in a shell"
        )
    if command and _PLACEHOLDER.search(command[0]):
        hint = "emacsclient -n +{line}:{column} {file}"
        return EditorChoice(
            problem="the editor command must start with a program", hint=f"write a command such as `{hint}`"
        )
    return EditorChoice(command=command, runs_site_command=is_code and bool(command))


def _parse_url(text: str, scheme: str) -> EditorChoice:
    if scheme in _REJECTED_SCHEMES:
        return EditorChoice(
            problem=f'scheme "{scheme}:" is not allowed in the URL of an editor',
            hint="write a URL such as `myeditor://open?file={file}`",
        )
    if re.search(r"\s|[\x00-\x1f\"'<>\\^`|]", text):
        return EditorChoice(
            problem="the URL of the editor contains a space or a quote", hint="percent-encode it"
        )
    # the path begins with a slash, so `scheme://file/{file}` would contain two
    return EditorChoice(url=re.sub(r"(?<=[^/])/\{file\}", "{file}", text))
