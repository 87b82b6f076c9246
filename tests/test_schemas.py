"""The JSON Schemas agree with the program: which keys exist, and their values.

If the files are outdated, run `python -m tests.regen docs`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

import pytest
from jsonschema import Draft7Validator

from blogsmith.base.diagnostics.codes import CODES
from blogsmith.base.diagnostics.model import Reporter
from blogsmith.base.schema.data_loaders import load_toml
from blogsmith.base.schema.files import FOLDER, SCHEMAS, read_schema
from blogsmith.base.schema.records import Schema
from blogsmith.base.schema.slots import LocatedMapping
from blogsmith.base.schema.yaml_loader import Located, load
from blogsmith.config.load import SETTINGS
from blogsmith.read.foreign_keys import HINTS
from blogsmith.read.head import HEAD, read_front_matter
from blogsmith.syntax.cells.option_values import OPTIONS
from blogsmith.syntax.cells.options import OTHER_OPTION_HINTS
from tests import docs_sources
from tests.docs_schema import PUBLISHED, schemas
from tests.docs_sources import ROOT
from tests.site_files import read_site_text
from tests.test_broken import FILES
from tests.test_sites import SITES


@cache
def validator(name: str) -> Draft7Validator:
    """Return a validator of one of the schemas that ship."""
    return Draft7Validator(read_schema(name))


def is_valid(name: str, data: object) -> bool:
    """Return whether an editor with the schema reports no error."""
    return bool(validator(name).is_valid(data))


@pytest.mark.parametrize("folder", [FOLDER, PUBLISHED], ids=["shipped", "published"])
def test_files_are_up_to_date(folder: Path) -> None:
    written = {file.stem: file.read_text("utf-8") for file in folder.iterdir()}
    assert written == schemas()


@pytest.mark.parametrize("name", SCHEMAS)
def test_files_are_schemas(name: str) -> None:
    Draft7Validator.check_schema(read_schema(name))


# which keys there are


def keys_of(form: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield dotted key and form of all keys in a schema, except for rejected ones."""
    for branch in ("anyOf", "allOf"):
        for one in form.get(branch, ()):
            yield from keys_of(one, prefix)
    for key, one in form.get("properties", {}).items():
        if one.get("not") != {}:
            yield prefix + key, one
            yield from keys_of(one, f"{prefix}{key}.")
    for step, inner in (("items", "[]."), ("additionalProperties", ".<kind>.")):
        if isinstance(form.get(step), dict):
            yield from keys_of(form[step], prefix.removesuffix(".") + inner)


def test_every_setting_has_a_row_and_the_reverse() -> None:
    schema = read_schema("config")
    schema["properties"]["callouts"]["additionalProperties"] = schema["definitions"]["callouts"]
    schema["properties"]["callouts"]["properties"] = {}
    codes = {f"diagnostics.{code}" for code in CODES}
    found = {key for key, _ in keys_of(schema)}
    settings = {setting.key for setting in docs_sources.all_settings()} - {"diagnostics.<code>"}
    # records without other data have no row in the manual
    heads = {key.partition(".")[0] for key in settings if "." in key}
    nested = {
        "execute.figures",
        "execute.dask",
        "person.links",
        "authors.<kind>.links",
        "series.<kind>.solutions",
    }
    assert found - heads - nested == (settings | codes) - heads


def test_every_key_of_front_matter_has_a_row_and_the_reverse() -> None:
    found = dict(read_schema("front-matter")["properties"])
    assert set(found) == {*HEAD.fields, *HINTS}
    assert {key for key, form in found.items() if form.get("deprecated")} == set(HINTS)


def test_every_option_of_cells_has_a_row_and_the_reverse() -> None:
    found = read_schema("cell")["properties"]
    assert {key for key, form in found.items() if form.get("not") != {}} == set(OPTIONS.fields)
    assert {key for key, form in found.items() if form.get("not") == {}} == set(OTHER_OPTION_HINTS)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_key_is_explained_and_has_a_form(name: str) -> None:
    schema = read_schema(name)
    known = {"description", "markdownDescription", "default", "doNotSuggest"}
    rows: dict[str, Mapping[str, Any]] = {}
    for key, form in keys_of(schema):
        rows.setdefault(key, form)
    assert [key for key, form in rows.items() if not form.get("description")] == []
    formless = [key for key, form in rows.items() if not form.keys() - known]
    assert [key for key in formless if not rows[key].get("deprecated")] == []


# values of keys

WORDS = ("", " ", "x", "a b", "Ä-1", "true", "no", "off", "2026-01-02", "/a/", "/:slug/", "a/b.py", "../x")
MORE_WORDS = ("https://example.org", "5 min", "2 GB", "10.1000/182", "en", "torch>=2", "static/a", "\\R")
SCALARS = (None, True, False, 0, 1, -1, 2.5, 2026, 10**7, *WORDS, *MORE_WORDS)
VALUES: tuple[Any, ...] = (
    *SCALARS,
    *([], ["a"], ["a", "b"], [1], [""], [None], [True], [["a"]], [{"id": "a", "title": "A"}]),
    *({}, {"a": "b"}, {"a": 1}, {"a": None}, {"name": "a"}, {"name": "a", "part": 2}, {"a": ["x", "y"]}),
    *({"d": [1, 2]}, {"use": "x"}, [{"title": "A", "url": "/a/"}], {"de": {"title": "B"}}),
)
HEAD_CODES = frozenset({"front-matter-value", "front-matter-unknown", "date"})
"""Codes of invalid values. Unknown keys belong to the author; conflicts of keys are not about values."""


def slot_of(data: Any, code: str) -> tuple[Any, Reporter]:
    """Return data as a reader gets it, and the reporter of its errors."""
    reporter = Reporter("content/posts/a.md")
    return LocatedMapping(Located(data, {}, {}, {}), reporter, code, is_bounded=False).root(), reporter


def reads_settings(data: Any) -> bool:
    """Return whether the program reports nothing."""
    slot, reporter = slot_of(data, "config-value")
    SETTINGS.read(slot)
    return not reporter.diagnostics


def reads_head(data: Any) -> bool:
    """Return the same for front matter; unknown keys belong to the author."""
    slot, reporter = slot_of(data, "front-matter-value")
    read_front_matter(slot, PurePosixPath("content/posts/a.md"), "UTC")
    return HEAD_CODES.isdisjoint(found.code for found in reporter.diagnostics)


def reads_options(data: Any) -> bool:
    """Return the same for a cell, key by key."""
    slot, reporter = slot_of(data, "cell-option")
    for key in data:
        OPTIONS.fields[key].read(slot.child(key))
    return not reporter.diagnostics


def samples(table: Schema, schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield every key with every value, including keys of records."""
    for key, form in schema["properties"].items():
        if form.get("not") == {} or form.get("deprecated"):
            continue
        yield from ({key: value} for value in (*VALUES, *words_in(form)))
        for inner, one in keys_of(form):
            if not re.search(r"[.\[<]", inner):
                yield from ({key: {inner: value}} for value in (*SCALARS, ["a"], {"a": 1}, *words_in(one)))


def words_in(form: Mapping[str, Any]) -> list[Any]:
    """Return the values that a form lists."""
    found = [*form.get("enum", ()), *(word for one in form.get("anyOf", ()) for word in one.get("enum", ()))]
    return found[:12]


READERS = MappingProxyType(
    {
        "config": (SETTINGS, reads_settings),
        "front-matter": (HEAD, reads_head),
        "cell": (OPTIONS, reads_options),
    }
)
DIFFERENT: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        # valid time zones are known where a site is built
        "config timezone": lambda value: isinstance(value, str),
        # the theme knows its options
        "config theme_options": lambda value: isinstance(value, dict),
        # a number is read as a string as spelled, which no schema can see
        **dict.fromkeys(
            ("front-matter doi", "front-matter lang", "front-matter template", "front-matter layout"),
            lambda value: isinstance(value, int | float) or value == " ",
        ),
        "front-matter execute": lambda value: value == {"kernel": -1},
    }
)
"""Schema and key → where it differs from the program, and why."""


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_accepts_what_the_program_accepts(name: str) -> None:
    table, reads = READERS[name]
    different = [
        (json.dumps(data, ensure_ascii=False), "schema" if is_valid(name, data) else "program")
        for data in samples(table, read_schema(name))
        if is_valid(name, data) != reads(data)
        and not any(DIFFERENT.get(f"{name} {key}", bool)(value) for key, value in data.items())
    ]
    assert different == []


# files of authors

_HEAD = re.compile(r"(?P<mark>---|\+\+\+)[ \t]*\n(?P<head>.*?)^(?P=mark)[ \t]*$", re.DOTALL | re.MULTILINE)
FOLDERS = (ROOT / "content", ROOT / "blogsmith/starter", *(site / "source" for site in SITES))


def written_files() -> Iterator[tuple[str, str, str]]:
    """Yield (where, name, content) of every settings file and post of valid, broken, own and new sites."""
    yield "", "blogsmith.yaml", (ROOT / "blogsmith.yaml").read_text("utf-8")
    for folder in FOLDERS:
        for file in sorted(path for path in folder.rglob("*") if path.suffix in (".md", ".yaml")):
            yield file.relative_to(ROOT).as_posix(), file.name, file.read_text("utf-8")
    for file in FILES:
        for name, data in read_site_text(file).files.items():
            if name.endswith(".md") or name == "blogsmith.yaml":
                yield file.name, name, data.decode("utf-8", "replace")


def test_what_is_written_in_sites_is_valid_when_it_is_right() -> None:
    """With a syntax error, the values are unknown."""
    different, count = [], 0
    for where, name, text in written_files():
        kind = "config" if name.endswith("blogsmith.yaml") else "front-matter"
        if kind == "front-matter":
            head = _HEAD.match(text)
            text = head["head"] if head else ""
            loader = load_toml if head and head["mark"] == "+++" else load
        else:
            loader = load
        reporter = Reporter(name)
        located = loader(text, reporter)
        data = located.value if located else None
        if reporter.diagnostics or not isinstance(data, dict):
            continue
        count += 1
        is_right = reads_settings(data) if kind == "config" else reads_head(data)
        if is_valid(kind, data) != is_right and (where, name) not in UNSEEN:
            different.append((where, name, "schema" if is_valid(kind, data) else "program"))
    assert different == []
    assert count > 300


UNSEEN = frozenset(
    {
        # a path for the site's own language, which changes nothing
        ("languages-own-path.txt", "blogsmith.yaml"),
        # the last digit of an ORCID iD does not match the others
        ("citable-settings.txt", "blogsmith.yaml"),
        # a reference without an id, which nothing can cite
        ("cite-without-id.txt", "content/posts/a.md"),
        # a page that was updated before it was written
        ("front-foreign-keys.txt", "content/posts/a.md"),
        # the 41st of March
        ("several-in-one-file.txt", "content/posts/a.md"),
        # the theme knows its options; the schema knows those of bundled ones
        ("theme-options.txt", "blogsmith.yaml"),
    }
)
"""Broken sites with invalid values that only the schema or only the reader can detect."""


# what it says of itself


def test_words_of_the_program_are_known_to_editors() -> None:
    config, head = read_schema("config")["properties"], read_schema("front-matter")["properties"]
    assert {"paper", "terminal"} <= set(words_in(config["theme"]))
    assert {"de", "en"} <= set(words_in(config["lang"])) & set(words_in(head["lang"]))
    assert "mermaid" in words_in(config["plugins"]["items"])
    assert {"theorem", "proof"} <= set(config["callouts"]["properties"])
    assert "labelled" in config["math"]["properties"]["numbering"]["enum"]


def test_options_of_bundled_themes_are_known() -> None:
    assert is_valid("config", {"theme_options": {"font": "system", "switch": True}})
    assert not is_valid("config", {"theme_options": {"fnot": "system"}})
    assert not is_valid("config", {"theme": "terminal", "theme_options": {"font": "x"}})
    assert is_valid("config", {"theme": "own", "theme_options": {"anything": 1}})
