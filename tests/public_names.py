"""The public names of blogsmith: those that posts, sites, themes, plugins and scripts of users may contain.

`public_names.txt` lists the names of commit 7357e1d7, before the large renaming of names in the code. All of
them exist today. If one has to go, blogsmith must accept it as an alias with a deprecation warning, and the
function for its kind below must yield the aliases too.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

ROOT = Path(__file__).parent.parent
FILE = Path(__file__).with_name("public_names.txt")
_CLASS = re.compile(r"\.(-?[a-zA-Z_][\w-]*)")
_PROPERTY = re.compile(r"(--[a-z][\w-]*)\s*:")
_DATA = re.compile(r"\b(data-[a-z][a-z-]*[a-z])\b")
_ID = re.compile(r"""\bid=["'](?!id\b)([a-z][a-z-]+)["']""")
_HTML_CLASSES = re.compile(r"""\bclass=\\?["']([\w -]+)\\?["']""")
_BLOCK = re.compile(r"\{%-?\s*block\s+(\w+)")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r"\"[^\"]*\"|url\([^)]*\)")


def public_names(root: Path = ROOT) -> Mapping[str, list[str]]:
    """Return kind → names, sorted."""
    found = {
        "setting": schema_keys(root, "config"),
        "front matter key": schema_keys(root, "front-matter"),
        "cell option": schema_keys(root, "cell"),
        "code": dictionary_keys(root / "blogsmith/base/diagnostics/codes.py", "CODES"),
        "record key": class_fields(root / "blogsmith/freeze/record_form.py"),
        "command": commands(),
        "hook": methods(root / "blogsmith/hooks/__init__.py", "Hooks"),
        "lab name": exported(root / "blogsmith/lab/__init__.py"),
        "template variable": class_fields(root / "blogsmith/model/template_views.py", with_class=True),
        "template block": template_blocks(root),
        "shortcode": shortcodes(root),
        "fence word": tuple_items(root / "blogsmith/syntax/fences.py", "_KEYS", "_WORDS", "_RUN"),
        "block attribute": tuple_items(root / "blogsmith/syntax/blocks.py", "_DATA_NAMES", "_ARGUMENTS"),
        "callout kind": callout_kinds(),
        "CSS class": css_names(root, _CLASS) | html_classes(root),
        "custom property": css_names(root, _PROPERTY),
        "HTML id": template_names(root, _ID),
        "data attribute": template_names(root, _DATA),
    }
    return {kind: sorted(set(names)) for kind, names in found.items()}


def schema_keys(root: Path, name: str) -> Iterator[str]:
    """Yield the keys of a JSON Schema that ships, as dotted paths."""
    folder = root / "blogsmith/base/schema/json"
    file = next(
        one for one in sorted(folder.iterdir()) if one.name.startswith(name) and one.suffix == ".json"
    )
    schema = json.loads(file.read_text("utf-8"))
    yield from _keys(schema, schema, (), frozenset())


def _keys(part: Any, schema: Any, path: tuple[str, ...], seen: frozenset[str]) -> Iterator[str]:
    if isinstance(part, list):
        for one in part:
            yield from _keys(one, schema, path, seen)
    if not isinstance(part, dict):
        return
    target = part.get("$ref")
    if target and target not in seen:
        definition: Any = schema
        for step in target.removeprefix("#/").split("/"):
            definition = definition[step]
        yield from _keys(definition, schema, path, seen | {target})
    for key, value in part.get("properties", {}).items():
        yield ".".join((*path, key))
        yield from _keys(value, schema, (*path, key), seen)
    for word in ("anyOf", "oneOf", "allOf"):
        yield from _keys(part.get(word, []), schema, path, seen)
    for word, step in (("items", "[]"), ("additionalProperties", "*")):
        yield from _keys(part.get(word), schema, (*path, step), seen)


def dictionary_keys(file: Path, name: str) -> Iterator[str]:
    """Yield the keys of a dictionary that a module defines."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
            for one in ast.walk(node):
                if isinstance(one, ast.Dict):
                    keys = (key.value for key in one.keys if isinstance(key, ast.Constant))
                    yield from (key for key in keys if isinstance(key, str))


def tuple_items(file: Path, *names: str) -> Iterator[str]:
    """Yield the items of tuples that a module defines."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in names:
            yield from ast.literal_eval(node.value)


def class_fields(file: Path, *, with_class: bool = False) -> Iterator[str]:
    """Yield the fields of the records of a module; without their class, several may have the same."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            for one in node.body:
                prefix = f"{node.name}." if with_class else ""
                if isinstance(one, ast.AnnAssign) and not ast.unparse(one.target).startswith("_"):
                    yield prefix + ast.unparse(one.target)
                if isinstance(one, ast.FunctionDef) and "property" in map(ast.unparse, one.decorator_list):
                    yield prefix + one.name


def methods(file: Path, name: str) -> Iterator[str]:
    """Yield the public methods of a class with their parameters."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for one in node.body:
                if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
                    yield one.name
                    yield from (
                        f"{one.name}.{given.arg}" for given in (*one.args.args[1:], *one.args.kwonlyargs)
                    )


def exported(file: Path) -> list[str]:
    """Return `__all__` of a module."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise AssertionError(f"{file} has no __all__")


def commands() -> Iterator[str]:
    """Yield the commands with their arguments and options."""
    from blogsmith.cli.commands import cli

    yield from _commands(cli, ())


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[str]:
    name = " ".join(path)
    if path:
        yield name
    for one in command.params:
        options = [*one.opts, *one.secondary_opts]
        if isinstance(one, click.Option):
            yield from (f"{name} {option}".strip() for option in options)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            if inner is not None:
                yield from _commands(inner, (*path, each))


def shortcodes(root: Path) -> set[str]:
    """Return the shortcodes of bundled themes and plugins."""
    return {
        one.stem for folder in ("themes", "plugins") for one in root.glob(f"{folder}/**/shortcodes/*.html")
    }


def callout_kinds() -> Iterator[str]:
    """Yield the kinds of callouts and their aliases."""
    from blogsmith.syntax.kinds import ROWS

    for row, others in ROWS:
        yield row.name
        yield from others


def template_blocks(root: Path) -> set[str]:
    """Return the blocks of the templates of themes."""
    return {name for text in _texts(root.glob("themes/*/**/*.html")) for name in _BLOCK.findall(text)}


def css_names(root: Path, pattern: re.Pattern[str]) -> set[str]:
    """Return the names that the stylesheets of themes select or set."""
    files = (one for one in root.glob("themes/*/static/**/*.css"))
    return {
        name for text in _texts(files) for name in pattern.findall(_STRING.sub("", _COMMENT.sub("", text)))
    }


def html_classes(root: Path) -> set[str]:
    """Return the classes in templates and in pages of the snapshots."""
    files = [*root.glob("themes/*/**/*.html"), *root.glob("tests/sites/*/expected/**/*.html")]
    return {name for text in _texts(files) for names in _HTML_CLASSES.findall(text) for name in names.split()}


def template_names(root: Path, pattern: re.Pattern[str]) -> set[str]:
    """Return the names that a pattern finds in templates, scripts and code that prints HTML."""
    files = [
        *root.glob("themes/*/**/*.html"),
        *root.glob("themes/*/static/**/*.js"),
        *root.glob("themes/*/static/**/*.css"),
        *root.glob("blogsmith/render/**/*.py"),
        *root.glob("blogsmith/syntax/**/*.py"),
        *root.glob("blogsmith/site/**/*.py"),
    ]
    return {name for text in _texts(files) for name in pattern.findall(text)}


def _texts(files: Iterable[Path]) -> Iterator[str]:
    for file in sorted(set(files)):
        yield file.read_text("utf-8")


def read_names() -> set[tuple[str, str]]:
    """Return (kind, name) of the list."""
    lines = FILE.read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return {(kind, name) for kind, name in rows}
