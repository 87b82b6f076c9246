"""LaTeX files in the setting `math.macros`. Their macros and, as callout kinds, their theorems are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, Place, SiteError
from ..base.patterns import lazy_pattern
from ..config.load import CONFIG_NAME, LoadedConfig
from ..config.schema import CalloutKind, Config
from ..read.files import NO_TEXTS
from ..read.text_files import open_text_file, read_text_file
from ..syntax.kinds import kind_table
from ..tex.errors import PreambleError
from ..tex.parse.macros import MacroTable

if TYPE_CHECKING:
    from ..tex.preamble import TheoremKind

_MAX_CHARACTERS = 500_000
_SHOWN = 8
"""Maximum number of commands that one message names."""
_KIND_NAME = lazy_pattern(r"[a-z][a-z0-9-]*")


class MacroFiles(Struct, frozen=True):
    """The LaTeX files of a site."""

    paths: tuple[str, ...] = ()
    """Paths of the files, relative to the root of the site."""
    passed_over: tuple[Diagnostic, ...] = ()
    """One warning for each file that contains commands without an effect on formulas."""


def read_macro_files(
    root: Path, config: Config, loaded: LoadedConfig, open_files: Mapping[str, str] = NO_TEXTS
) -> tuple[Config, MacroFiles]:
    """Read the files that `math.macros` names. Return the settings with the macros and callout kinds of the
    files. Raise SiteError if a file cannot be read. open_files: path → content of a file that is open in an
    editor."""
    sources = config.math.macros
    if all(name.startswith("\\") for name in sources):
        return config, MacroFiles()
    from ..tex.preamble import read_preamble

    table, kinds, warnings = MacroTable(), dict(config.callouts), list[Diagnostic]()
    own = {name: body for name, body in sources.items() if name.startswith("\\")}
    paths = [name for name in sources if name not in own]
    for path in paths:
        text = _read_text(root, path, config, loaded, open_files)
        try:
            found = read_preamble(text, path, table)
        except PreambleError as error:
            raise SiteError(_locate(error, path, text)) from None
        table = table.extend(found.macros)
        passed = dict(found.passed_over)
        for kind in found.theorems:
            if not _add_kind(kinds, kind):
                passed[f"\\newtheorem{{{kind.name}}}"] = kind.line
        if passed:
            warnings.append(_passed_over_warning(path, passed))
    math = replace(config.math, macros=table.extend(own).with_files(paths))
    return replace(config, math=math, callouts=kinds), MacroFiles(tuple(paths), tuple(warnings))


def _read_text(
    root: Path, path: str, config: Config, loaded: LoadedConfig, open_files: Mapping[str, str]
) -> str:
    """Return the content of a file. If it cannot be read, raise SiteError at the setting that contains its
    path."""
    found = (
        open_text_file(open_files[path])
        if path in open_files
        else read_text_file(root, config.output, PurePosixPath(path))
    )
    problem, hint = "", "add the file, or write its path relative to the root of the site"
    if found is None:
        problem = f'file not found: "{path}"'
    elif found.is_outside:
        problem, hint = f'file "{path}" not allowed: it is outside the site', "copy the file into the site"
    elif found.problem:
        problem = found.problem
    elif len(found.text) > _MAX_CHARACTERS:
        problem = f'file "{path}" is longer than {_MAX_CHARACTERS:,} characters'
        hint = "write the definitions that formulas use into a file of their own"
    if found is None or problem:
        place = _setting_place(path, loaded)
        line = loaded.lines[place.line - 1] if place else ""
        raise SiteError(Diagnostic("config-value", problem, CONFIG_NAME, place, line, hint))
    return found.text


def _setting_place(path: str, loaded: LoadedConfig) -> Place | None:
    """Return the location of the list entry in the settings that contains the path of a file; None if it is
    unknown."""
    for key, place in loaded.locations.items():
        if key[:2] == ("math", "macros") and path in loaded.lines[place.line - 1]:
            return place
    return None


def _locate(error: PreambleError, path: str, text: str) -> Diagnostic:
    line = text.count("\n", 0, error.offset) + 1
    column = error.offset - (text.rfind("\n", 0, error.offset) + 1) + 1
    source = text.split("\n")[line - 1]
    return Diagnostic("math-macro", error.message, path, Place(line, column), source, error.hint)


def _passed_over_warning(path: str, passed: Mapping[str, int]) -> Diagnostic:
    """Return a warning that lists the commands of a file that have no effect on formulas. passed: command →
    1-based line."""
    names = [f'"{name}" (line {line})' for name, line in passed.items()]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    message = f"no effect on formulas: {', '.join(names[:_SHOWN])}{more}"
    return Diagnostic(
        "preamble-skipped",
        message,
        path,
        Place(min(passed.values())),
        hint=f"remove {'it' if len(names) == 1 else 'them'}, or define macros with `\\newcommand`",
        severity="warning",
    )


def _add_kind(kinds: dict[str, CalloutKind], theorem: TheoremKind) -> bool:
    """Add a callout kind for a theorem environment. If a kind has the same title, add the name of the
    environment as its alias. Return False if the name, or TeX in the title, cannot be used for a callout."""
    name, known = theorem.name.casefold().removesuffix("*"), kind_table()
    if name in kinds:
        return True
    if not _KIND_NAME.fullmatch(name) or "\\" in theorem.title:
        return False
    same = known.get(theorem.title.casefold())
    counter = theorem.counter.casefold()
    shared = next((kind for kind, row in kinds.items() if counter in row.alias), counter)
    if name in known:
        title = "" if known[name].title == theorem.title else theorem.title
        numbered = theorem.is_numbered and not known[name].numbered
        if title or shared or numbered:
            kinds[known[name].name] = CalloutKind(title=title, counter=shared, numbered=numbered)
    elif same is not None and same.title == theorem.title:
        before = kinds.get(same.name, CalloutKind())
        numbered = before.numbered or (theorem.is_numbered and not same.numbered)
        kinds[same.name] = replace(
            before, alias=(*before.alias, name), numbered=numbered, counter=before.counter or shared
        )
    else:
        kinds[name] = CalloutKind(
            title=theorem.title, numbered=theorem.is_numbered, counter=shared, style=theorem.style
        )
    return True
