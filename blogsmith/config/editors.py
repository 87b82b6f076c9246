"""The editor that the preview opens, given as a name, a URL or a command.

Each name in `EDITORS` stands for a URL with a scheme that the editor registers, or for the editor's own
command. Sources: the aliases of ripgrep's `--hyperlink-format` (VS Code and its forks, TextMate, MacVim),
Zed's `open_listener.rs`, and the manuals of the programs. JetBrains editors register `idea://open?file=` and
similar schemes on macOS; on other systems, use their command.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from ..base.diagnostics.model import did_you_mean
from ..base.patterns import lazy_pattern
from ..model.names import name_set

_AT_PLACE = "{file}:{line}:{column}"
_IN_QUERY = "{file}&line={line}&column={column}"

EDITORS: Mapping[str, str] = MappingProxyType(
    {
        "vscode": f"vscode://file{_AT_PLACE}",
        "vscode-insiders": f"vscode-insiders://file{_AT_PLACE}",
        "vscodium": f"vscodium://file{_AT_PLACE}",
        "cursor": f"cursor://file{_AT_PLACE}",
        "windsurf": f"windsurf://file{_AT_PLACE}",
        "zed": f"zed://file{_AT_PLACE}",
        "textmate": f"txmt://open?url=file://{_IN_QUERY}",
        "macvim": f"mvim://open?url=file://{_IN_QUERY}",
        "idea": f"idea://open?file={_IN_QUERY}",
        "pycharm": f"pycharm://open?file={_IN_QUERY}",
        "webstorm": f"webstorm://open?file={_IN_QUERY}",
        "emacs": "emacsclient -n +{line}:{column} {file}",
        "gvim": "gvim --remote-silent +{line} {file}",
        "sublime": f"subl {_AT_PLACE}",
    }
)
"""Maps each editor name to its URL or command, with placeholders for the file, line and column."""
PLACES = ("file", "line", "column")

_PLACE = lazy_pattern(r"\{(\w*)\}")
_SCHEME = lazy_pattern(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# Schemes that a browser handles itself, by running a script or by leaving the preview.
_REFUSED = name_set("about blob chrome data file filesystem http https javascript vbscript")
_PLACES_HINT = "known: {file}, {line} and {column}"


class EditorChoice(Struct, frozen=True):
    """An editor as configured. If there is a problem or no editor is set, all other fields are empty."""

    url: str = ""
    """URL with placeholders. `{file}` is an absolute path, percent-encoded, with a leading slash."""
    command: tuple[str, ...] = ()
    """Program and arguments, with placeholders."""
    is_code: bool = False
    """Whether the site's author chose the program that runs."""
    problem: str = ""
    """Error message, if the setting is invalid."""
    hint: str = ""


def read_editor(text: str) -> EditorChoice:
    """Parse the value of the setting `editor` or of BLOGSMITH_EDITOR."""
    text = text.strip()
    if not text or text in EDITORS:
        return _read(EDITORS.get(text, ""), is_code=False)
    unknown = [name for name in _PLACE.findall(text) if name not in PLACES]
    if unknown:
        near = did_you_mean(unknown[0], PLACES)
        return EditorChoice(problem=f"unknown place {{{unknown[0]}}}", hint=near or _PLACES_HINT)
    if "{file}" not in text:
        return EditorChoice(
            problem=f'unknown editor "{text}"',
            hint=did_you_mean(text, EDITORS) or f"known: {', '.join(EDITORS)}, or a command with {{file}}",
        )
    return _read(text, is_code=True)


def _read(text: str, *, is_code: bool) -> EditorChoice:
    if found := _SCHEME.match(text):
        return _url(text, found[1].lower())
    try:
        command = tuple(shlex.split(text))
    except ValueError:
        return EditorChoice(problem=f"{text} has a quote that is not closed", hint="as in a shell")
    if command and _PLACE.search(command[0]):
        hint = "emacsclient -n +{line}:{column} {file}"
        return EditorChoice(problem="the editor must begin with a program", hint=f"write it as {hint}")
    return EditorChoice(command=command, is_code=is_code and bool(command))


def _url(text: str, scheme: str) -> EditorChoice:
    if scheme in _REFUSED:
        return EditorChoice(
            problem=f"{scheme}: is no address of an editor", hint="write it as myeditor://open?file={file}"
        )
    if re.search(r"\s|[\x00-\x1f\"'<>\\^`|]", text):
        return EditorChoice(problem="the editor's address holds a blank or a quote", hint="percent-encode it")
    # The path begins with a slash, so `scheme://file/{file}` would produce two.
    return EditorChoice(url=re.sub(r"(?<=[^/])/\{file\}", "{file}", text))
