"""Data of the manual from the source of blogsmith: settings, records, hooks, codes, help of commands.

Settings, records and hooks are read with `ast`, since their docstrings are not available at run time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import get_args

import click

from blogsmith.config.lists import ListStyle
from blogsmith.config.schema import HostName
from blogsmith.model.remote_images import RemoteRuleName
from blogsmith.render.templates.record_fields import FIELDS

ROOT = Path(__file__).parent.parent
HELP_WIDTH = 92


def _choices(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names if name)


_TYPES = MappingProxyType(
    {
        "ListStyle": _choices(get_args(ListStyle)),
        "Mapping[str, ListStyle]": "style by section",
        "HostName": _choices(get_args(HostName)),
        "RemoteRuleName": _choices(get_args(RemoteRuleName)),
        "Numbering": "true, false or `by part`",
        "str": "string",
        "bool": "true or false",
        "int": "whole number",
        "float": "number",
        "tuple[str, ...]": "list of strings",
        "Mapping[str, str]": "strings by name",
        "Mapping[str, Any]": "values by name",
        "Mapping[str, tuple[LevelRule, ...]]": "`warning`, `error`, `off`, a mapping, or a list of these",
    }
)

_KEYS = MappingProxyType({"diagnostics.levels": "diagnostics.<code>"})
"""Field → spelling of its key, if it differs from the name."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table of settings."""

    key: str
    """Dotted key, e.g. `math.numbering`."""
    type: str
    """Type in the author's terms."""
    default: str
    """Default as YAML; may be empty."""
    meaning: str


SCOPES = ("OfPage", "OfSite")


def all_settings() -> list[Setting]:
    """Return every setting, in the order of the fields of `Config`."""
    names = (
        *("config/checks.py", "config/lists.py", "config/page_services.py", "config/people.py"),
        "config/schema.py",
        *("model/cells.py", "model/courses.py"),
    )
    files = (ROOT / "blogsmith" / name for name in names)
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    structs = {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    return list(_settings_of("Config", structs))


def _settings_of(name: str, structs: Mapping[str, ast.ClassDef], prefix: str = "") -> Iterator[Setting]:
    for field, meaning in described(structs[name]):
        word, _, written = ast.unparse(field.annotation).rpartition(" | ")
        key = _KEYS.get(prefix + ast.unparse(field.target), prefix + ast.unparse(field.target))
        inner = next((s for s in structs if re.search(rf"\b{s}\b", written)), "")
        if written == "None":
            # left out, it is as another setting says
            yield Setting(key, _type_words(word), "", meaning)
        elif word:
            yield Setting(key, f"{_type_words(word)}, or a mapping", _default(field.value), meaning)
        elif not inner or written != inner:
            yield Setting(key, _type_words(written), _default(field.value), meaning)
        if inner:
            step = {inner: ".", f"tuple[{inner}, ...]": "[]."}.get(written, ".<kind>.")
            yield from _settings_of(inner, structs, key + step)


def described(struct: ast.ClassDef) -> Iterator[tuple[ast.AnnAssign, str]]:
    """Yield each annotated field of a class with the docstring after it, or an empty string."""
    for at, node in enumerate(struct.body):
        if isinstance(node, ast.AnnAssign):
            after = struct.body[at + 1] if at + 1 < len(struct.body) else None
            # how far a value reaches is of no interest to authors
            if isinstance(node.annotation, ast.Subscript) and ast.unparse(node.annotation.value) in SCOPES:
                node.annotation = node.annotation.slice
            yield node, _string(after)


def template_fields(struct: ast.ClassDef) -> Iterator[tuple[str, ast.expr, str]]:
    """Yield name, type and meaning of each field that templates see. Properties follow their sources."""
    (fields,) = (fields for kind, fields in FIELDS.items() if kind.__name__ == struct.name)
    properties = {node.name: node for node in struct.body if isinstance(node, ast.FunctionDef)}
    written = {ast.unparse(node.target): (node.annotation, meaning) for node, meaning in described(struct)}
    for name in fields:
        read = properties.get(name)
        if read is None or read.returns is None:
            yield name, *written[name]
        else:
            yield name, read.returns, ast.get_docstring(read) or ""


def _string(node: ast.AST | None) -> str:
    value = node.value if isinstance(node, ast.Expr) else None
    text = value.value if isinstance(value, ast.Constant) else ""
    return " ".join(text.split()) if isinstance(text, str) else ""


def _type_words(annotation: str) -> str:
    if annotation in _TYPES:
        return _TYPES[annotation]
    if annotation.startswith("Literal["):
        return _choices(ast.literal_eval(f"({annotation.removeprefix('Literal[').removesuffix(']')},)"))
    return "list" if annotation.startswith("tuple") else "mapping"


def _default(value: ast.expr | None) -> str:
    """Return the default as YAML. Empty strings, lists and mappings are omitted."""
    if value is None or isinstance(value, ast.Call):
        return ""
    literal = ast.literal_eval(value)
    if isinstance(literal, tuple):
        return f"[{', '.join(map(str, literal))}]" if literal else ""
    if isinstance(literal, bool):
        return str(literal).lower()
    return str(literal) if literal not in ("", {}) else ""


def record(name: str) -> ast.ClassDef:
    """Return the class `name` of the package `blogsmith`, regardless of its file."""
    for file in sorted((ROOT / "blogsmith").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        for node in ast.parse(text).body if f"class {name}" in text else ():
            if isinstance(node, ast.ClassDef) and node.name == name:
                return node
    raise KeyError(f"there is no class {name}")


def all_hooks() -> list[ast.FunctionDef]:
    """Return the public methods of `hooks.Hooks`."""
    methods = [node for node in record("Hooks").body if isinstance(node, ast.FunctionDef)]
    return [method for method in methods if not method.name.startswith("_")]


def signature(hook: ast.FunctionDef) -> str:
    """Return the signature that a plugin uses to call the hook."""
    arguments = ast.unparse(hook.args).removeprefix("self, ")
    return f"hooks.{hook.name}({arguments})"


def grouped_codes() -> dict[str, list[str]]:
    """Map the comment above a group of codes to the codes, in the order of the file."""
    text = (ROOT / "blogsmith" / "base" / "diagnostics" / "codes.py").read_text(encoding="utf-8")
    groups: dict[str, list[str]] = {}
    group = ""
    for comment, code in re.findall(r'^ {8}(?:# (.+)|"([a-z0-9-]+)":.*)$', text, re.MULTILINE):
        group = comment or group
        if code:
            groups.setdefault(group, []).append(code)
    return groups


_MAKING = re.compile(r"\b(?:Diagnostic|error|warn|report)\s*\(|\b(?:key_)?code\s*=")
"""Names of these calls. Half of the files contain none and need not be parsed."""


def used_codes() -> set[str]:
    """Return the code of every diagnostic that the source creates with a literal code."""
    texts = (file.read_text(encoding="utf-8") for file in (ROOT / "blogsmith").rglob("*.py"))
    trees = (ast.parse(text) for text in texts if _MAKING.search(text))
    calls = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {code for call in calls for code in _codes_of(call)}


def _codes_of(call: ast.Call) -> Iterator[str]:
    """Yield literal codes among the arguments of `Diagnostic(…)`, `x.error(…)`, `code=` and `key_code=`."""
    name = ast.unparse(call.func).rpartition(".")[2]
    # The message of `Slot.report(message, hint)` comes first; code, message and path are three arguments.
    has_code = name in ("Diagnostic", "error", "warn") or (name == "report" and len(call.args) > 2)
    first = call.args[:1] if has_code else []
    for argument in (
        *first,
        *(keyword.value for keyword in call.keywords if keyword.arg in ("code", "key_code")),
    ):
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield argument.value


def passed_variables() -> list[tuple[str, list[str]]]:
    """Return (purpose, names) of the environment variables that are passed to cells, by group."""
    return [(why, re.findall(r'"(\w+)"', line)) for why, line in _environment_lines("ALLOWED_VARIABLES")]


def fixed_variables() -> list[tuple[str, list[str]]]:
    """Return (purpose, `NAME=value` …) of the environment variables that are fixed for all cells."""
    groups: dict[str, list[str]] = {}
    for why, line in _environment_lines("_FIXED_VARIABLES"):
        groups.setdefault(why, []).extend("=".join(pair) for pair in re.findall(r'"(\w+)": "(.*?)"', line))
    return list(groups.items())


def _environment_lines(table: str) -> Iterator[tuple[str, str]]:
    """Yield (comment above, line) of each line of a table in `blogsmith/execute/session/environment.py`."""
    text = (ROOT / "blogsmith" / "execute" / "session" / "environment.py").read_text(encoding="utf-8")
    block = text.partition(f"\n{table}")[2].partition("\n)")[0]
    why = ""
    for comment, line in re.findall(r"^ +(?:# (.+)|(.*\".*))$", block, re.MULTILINE):
        why = re.sub(r"__\w+__", r"`\g<0>`", comment) or why
        if line:
            yield why, line


def all_help() -> dict[str, str]:
    """Map the full name of each command to its help."""
    from blogsmith.cli.commands import cli

    return dict(_help_of(cli, _context(cli, "blogsmith")))


def _help_of(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _help_of(inner, _context(inner, name, context))


def _context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    settings = {**command.context_settings, "terminal_width": HELP_WIDTH}
    return click.Context(command, parent, info_name=name, **settings)


_DOCSTRING = re.compile(r'(?:#.*\n|\n)*r?"""(?:[^"\\]|\\.|"(?!""))*"""', re.DOTALL)
"""Matches the start of a module up to its docstring; the rest need not be parsed."""


def first_sentence(file: Path) -> str:
    """Return the first paragraph of a module's docstring, on one line and without its full stop."""
    docstring = _DOCSTRING.match(file.read_text(encoding="utf-8"))
    text = ast.get_docstring(ast.parse(docstring[0])) or "" if docstring else ""
    return " ".join(text.partition("\n\n")[0].split()).removesuffix(".")


def packages() -> list[tuple[Path, list[Path]]]:
    """Return every folder of the package with its modules. Subfolders follow their parent."""
    folders = sorted(file.parent for file in (ROOT / "blogsmith").rglob("__init__.py"))
    return [(folder, sorted(set(folder.glob("*.py")) - {folder / "__init__.py"})) for folder in folders]
