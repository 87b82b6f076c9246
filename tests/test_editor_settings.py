"""The manual's settings for editors: each can be parsed, and matches the program."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from blogsmith.base.schema.files import KIND, SCHEMAS
from blogsmith.base.storage.own_folder import OWN_FOLDER
from blogsmith.config.load import parse_config
from tests.docs_fill import DOCS
from tests.docs_sources import ROOT
from tests.rows import each_row
from tests.test_broken import FILES

PAGE = (DOCS / "editors.md").read_text("utf-8")
FENCES = re.findall(r'^```(\w+) title="([^"]+)"\n(.*?)\n```$', PAGE, re.MULTILINE | re.DOTALL)
COPY = f"{OWN_FOLDER}/{KIND}/config.json"


def settings_of(title: str) -> Any:
    """Return the JSON for a file."""
    return next(json.loads(text) for kind, name, text in FENCES if kind == "json" and name == title)


def texts_in(value: Any) -> Iterator[str]:
    """Yield every string in nested data, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (key, *texts_in(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


@each_row(("kind", "text"), [(kind, text) for kind, _, text in FENCES], ids=[name for _, name, _ in FENCES])
def test_settings_parse(kind: str, text: str) -> None:
    readers: Mapping[str, Callable[[str], Any]] = {
        "json": json.loads,
        "toml": tomllib.loads,
        "yaml": lambda text: parse_config(text).diagnostics,
    }
    if kind in readers:
        assert readers[kind](text) is not None
    else:
        # there is no parser for Lua, Lisp and Vim script here, but brackets must be balanced
        bare = re.sub(r"\"[^\"\n]*\"|--[^\n]*", "", text)
        assert [bare.count(sign) for sign in "([{"] == [bare.count(sign) for sign in ")]}"]


def test_every_editor_has_its_settings() -> None:
    assert re.findall(r"^## (.+)$", PAGE, re.MULTILINE)[2:-1] == [
        "VS Code",
        "Neovim",
        "Helix",
        "Zed",
        "Emacs",
    ]
    assert {"json", "lua", "toml", "elisp", "vim", "yaml"} == {kind for kind, _, _ in FENCES}


def test_paths_of_schemas_are_those_that_builds_write() -> None:
    found = set(re.findall(r"[\w./]*/schema/[\w-]+\.json", PAGE))
    copies = {path.removeprefix("./") for path in found if OWN_FOLDER in path}
    assert copies == {COPY}
    assert {path for path in found if OWN_FOLDER not in path} == {f"/schema/{name}.json" for name in SCHEMAS}
    starter = (ROOT / "blogsmith" / "starter" / "blogsmith.yaml").read_text("utf-8")
    assert starter.splitlines()[0] == f"# yaml-language-server: $schema={COPY}"
    assert starter.splitlines()[0] in PAGE


def test_helix_names_servers_that_it_declares() -> None:
    helix = tomllib.loads(next(text for kind, _, text in FENCES if kind == "toml"))
    own = {name for name, server in helix["language-server"].items() if "command" in server}
    assert own == {"blogsmith"}
    assert all("blogsmith" in language["language-servers"] for language in helix["language"])


def test_pattern_of_problems_is_that_of_the_extension() -> None:
    manifest = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text("utf-8"))
    (task,) = settings_of(".vscode/tasks.json")["tasks"]
    (ours,) = [one for one in manifest["contributes"]["problemPatterns"] if one["name"] == "blogsmith"]
    assert {"name": "blogsmith", **task["problemMatcher"]["pattern"]} == ours


def test_message_of_the_page_is_one_of_the_program() -> None:
    message = re.search(
        r"^content/posts/a\.md:\d+:\d+: (error: unknown TeX command ).* (\[.*\])$", PAGE, re.M
    )
    assert message
    printed = "\n".join(file.read_text("utf-8") for file in FILES)
    assert re.search(rf"{message[1]}\S+ {re.escape(message[2])}", printed)
