"""The JSON Schemas of author files: `python -m tests.regen docs` writes the files that ship.

They are composed from the tables that the program itself uses, and the docstrings of the records' fields,
which are not available at run time. The files are next to the package and also in `static/`, where the
manual's site publishes them.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from blogsmith.base.diagnostics.model import Reporter
from blogsmith.base.schema.files import FOLDER, SCHEMAS
from blogsmith.bibliography.citation_styles import BUNDLED_STYLES
from blogsmith.config.load import SETTINGS
from blogsmith.languages.bundled_languages import bundled_tags
from blogsmith.project.bundled_folders import bundled_plugins
from blogsmith.read.foreign_keys import HINTS
from blogsmith.read.head import HEAD
from blogsmith.render.templates.theme_options import ThemeOption, merge_options
from blogsmith.render.templates.theme_settings import read_settings
from blogsmith.syntax.cells.option_values import OPTIONS
from blogsmith.syntax.cells.options import OTHER_OPTION_HINTS
from blogsmith.syntax.kinds import ROWS
from tests import docs_sources as sources
from tests import docs_theme
from tests.docs_sources import ROOT
from tests.schema_composer import DRAFT, Composer, forbid_key

PUBLISHED = ROOT / "static" / "schema"
THEMES = ROOT / "themes"
_TITLES = {
    "config": "Settings of a blogsmith site: blogsmith.yaml",
    "front-matter": "Front matter of a blogsmith post",
    "cell": "Options of a blogsmith cell",
}
_COMMENT = "Made from the source of blogsmith by `python -m tests.regen docs`."
_KINDS: Mapping[str, dict[str, Any]] = {
    "flag": {"type": "boolean"},
    "number": {"type": "number"},
    "text": {"type": ["string", "null"]},
    "list": {"type": ["array", "null"], "items": {"type": "string"}},
    "mapping": {"type": ["object", "null"]},
    "color": {"type": ["string", "object", "null"]},
    "length": {"type": ["string", "null"]},
    "file": {"type": ["string", "null"]},
    "files": {"type": ["array", "null"], "items": {"type": "string"}},
}
"""Kind of a theme option → its form."""


@cache
def schemas() -> Mapping[str, str]:
    """Map names to the content of each schema."""
    found = {"config": _config(), "front-matter": _front_matter(), "cell": _cell()}
    assert tuple(found) == SCHEMAS
    heads = {name: {"$schema": DRAFT, "$comment": _COMMENT, "title": _TITLES[name]} for name in found}
    return {name: _text({**heads[name], **schema}) for name, schema in found.items()}


def _text(schema: Mapping[str, Any]) -> str:
    written = json.dumps(schema, ensure_ascii=False, indent=1) + "\n"
    # these two characters in patterns are invisible
    return written.replace("\x80", "\\u0080").replace("\U0010ffff", "\\udbff\\udfff")


def _config() -> dict[str, Any]:
    suggestions = {
        "theme": _themes(),
        "plugins[]": bundled_plugins(),
        "lang": bundled_tags(),
        "csl": tuple(BUNDLED_STYLES),
    }
    keys = {"callouts": {row.name.lower(): row.title for row, _ in ROWS}}
    composer = Composer(describe, suggestions, keys)
    made = composer.schema(SETTINGS, is_open=False, notes={})
    return {**made, "allOf": [_theme_options(theme) for theme in _themes()]}


def _front_matter() -> dict[str, Any]:
    suggestions = {
        "lang": bundled_tags(),
        "csl": tuple(BUNDLED_STYLES),
        "template": tuple(docs_theme.blocks()),
    }
    notes = {key: _deprecated(f'"{key}" has no effect here: {hint}') for key, hint in HINTS.items()}
    return Composer(describe, suggestions).schema(HEAD, is_open=True, notes=notes)


def _cell() -> dict[str, Any]:
    foreign = {key: forbid_key(hint) for key, hint in OTHER_OPTION_HINTS.items()}
    return Composer(describe, takes_nothing=False).schema(OPTIONS, is_open=False, notes=foreign)


def _deprecated(message: str) -> dict[str, Any]:
    return {"description": message, "deprecated": True, "deprecationMessage": message, "doNotSuggest": True}


def _themes() -> tuple[str, ...]:
    return tuple(sorted(file.parent.name for file in THEMES.glob("*/theme.yaml")))


def _theme_options(theme: str) -> dict[str, Any]:
    """Return the form of `theme_options` with a bundled theme."""
    options = _options_of(theme)
    meanings = {name: text for name, _, _, text in docs_theme.options()}
    properties = {name: _option(one, meanings.get(name, "")) for name, one in sorted(options.items())}
    chosen = {"theme_options": {"properties": properties, "additionalProperties": False}}
    is_default = {"required": []} if theme == "paper" else {"required": ["theme"]}
    words = ["paper", None] if theme == "paper" else [theme]
    return {"if": {"properties": {"theme": {"enum": words}}, **is_default}, "then": {"properties": chosen}}


@cache
def _options_of(theme: str) -> Mapping[str, ThemeOption]:
    text = (THEMES / theme / "theme.yaml").read_text("utf-8")
    settings = read_settings(text, theme, Reporter("theme.yaml", text.splitlines()))
    parents = _options_of(settings.extends) if settings.extends else {}
    return merge_options(parents, settings.options)


def _option(option: ThemeOption, meaning: str) -> dict[str, Any]:
    form = {"enum": list(option.choices)} if option.choices else _KINDS[option.kind]
    default = {} if option.default in ("", [], {}) else {"default": option.default}
    return {**({"description": meaning} if meaning else {}), **form, **default}


def describe(kind: type, name: str) -> str:
    """Return the docstring of a field, or of the record in it if the field has none."""
    text = _fields(kind)[name]
    holds = _types(kind)[name]
    return text or (inspect.getdoc(holds) or "" if isinstance(holds, type) else "").partition("\n\n")[0]


@cache
def _types(record: type) -> dict[str, Any]:
    # Each call compiles all annotations, which the guards of plugins that other tests have loaded check.
    return get_type_hints(record)


@cache
def _fields(record: type) -> dict[str, str]:
    """Map fields to their docstrings."""
    tree = _parsed(inspect.getfile(record))
    struct = next(one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == record.__name__)
    return {ast.unparse(node.target): text for node, text in sources.described(struct)}


@cache
def _parsed(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text("utf-8"))


def regenerate_schemas() -> None:
    """Rewrite the files that are out of date."""
    for name, text in schemas().items():
        for folder in (FOLDER, PUBLISHED):
            file = folder / f"{name}.json"
            if not file.exists() or file.read_text("utf-8") != text:
                folder.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
                print(f"rewrote {file.relative_to(ROOT)}")
