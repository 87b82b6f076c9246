"""The extension for VS Code, as far as it can be tested without npm: its statements about the program.

`make vscode` builds it and runs its own tests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from blogsmith.cli.commands import cli
from blogsmith.config.load import parse_config
from blogsmith.preview.events.terminal import serving_line
from blogsmith.syntax.kinds import ROWS
from tests.docs_fill import with_kinds
from tests.docs_sources import ROOT
from tests.picture_files import drawing, file_of
from tests.site_files import build, put, read_site_text
from tests.test_broken import FILES

EXTENSION = ROOT / "editors" / "vscode"


@cache
def read(name: str) -> Any:
    """Return the content of a JSON file of the extension."""
    return json.loads((EXTENSION / name).read_text("utf-8"))


MANIFEST: Mapping[str, Any] = read("package.json")
OFFERS: Mapping[str, Any] = MANIFEST["contributes"]


def source() -> str:
    """Return all of its code."""
    return "\n".join(file.read_text("utf-8") for file in sorted((EXTENSION / "src").glob("*.js")))


# the manifest


def test_files_that_it_names_are_there() -> None:
    named = [one["path"] for kind in ("snippets", "grammars") for one in OFFERS[kind]]
    assert [path for path in named if not (EXTENSION / path).is_file()] == []
    (validation,) = OFFERS["yamlValidation"]
    copied = re.search(r'cp\("([^"]+)", "([^"]+)"', (EXTENSION / "build.mjs").read_text("utf-8"))
    assert copied
    assert validation["url"].startswith(f"./{copied[2]}/")
    assert (EXTENSION / copied[1] / Path(validation["url"]).name).is_file()


def test_commands_and_settings_are_those_of_its_code() -> None:
    declared = {one["command"] for one in OFFERS["commands"]}
    assert declared == set(re.findall(r'register\("([\w.]+)"', source()))
    menu = {one["command"] for entries in OFFERS["menus"].values() for one in entries}
    assert menu <= declared
    settings = {key.removeprefix("blogsmith.") for key in OFFERS["configuration"]["properties"]}
    # the client library reads `trace.server`
    used = set(re.findall(r'\.get\("([\w.]+)"', source()))
    assert settings - {"trace.server"} == used
    assert {f"blogsmith.{key}" for key in ("executable",)} <= set(
        MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    )


def test_commands_of_the_program_exist() -> None:
    (definition,) = OFFERS["taskDefinitions"]
    called = {*definition["properties"]["command"]["enum"], "lsp", "new"}
    # the language server is built separately
    assert [name for name in called - {"lsp"} if _command(name) is None] == []
    tasks = dict(re.findall(r'\["(\w+)", \[(?:"(--[\w-]+)")?\]\]', source()))
    assert set(tasks) == set(definition["properties"]["command"]["enum"])
    for command, option in tasks.items():
        known = {name for one in _command(command).params for name in one.opts}
        assert not option or option in known
    assert {"--port", "--site", "--drafts"} <= {name for one in _command("serve").params for name in one.opts}


def _command(name: str) -> Any:
    return cli.get_command(cli.make_context("blogsmith", [], resilient_parsing=True), name)


def test_what_it_contains_is_listed() -> None:
    """No data of the packaging machine is included."""
    ignored = (EXTENSION / ".vscodeignore").read_text("utf-8").split()
    assert ignored[0] == "**"
    assert all(line.startswith("!") for line in ignored[1:])


# problems


@cache
def expected_lines() -> tuple[str, ...]:
    """Return every line that the program prints for broken sites."""
    return tuple(line for file in FILES for line in read_site_text(file).expected.splitlines())


def pattern(name: str) -> tuple[re.Pattern[str], Mapping[str, Any]]:
    """Return a problem pattern; JavaScript and Python read these in the same way."""
    (found,) = [one for one in OFFERS["problemPatterns"] if one["name"] == name]
    return re.compile(found["regexp"]), found


def test_every_message_of_the_program_is_a_problem_and_nothing_else() -> None:
    placed, groups = pattern("blogsmith")
    whole, _ = pattern("blogsmith-file")
    headline = re.compile(r"(?:\S.*: )?(?:error|warning): .* \[[a-z0-9-]+\]")
    for line in expected_lines():
        # a diagnostic without a file appears on the terminal only
        is_ours = bool(headline.fullmatch(line)) and not line.startswith(("error: ", "warning: ", "hint:"))
        assert (bool(placed.match(line)) + bool(whole.match(line))) == is_ours, line
        if found := placed.match(line):
            assert found[groups["severity"]] in ("error", "warning")
            assert PurePosixPath(found[groups["file"]]).suffix


def test_parts_of_a_problem_are_found() -> None:
    placed, groups = pattern("blogsmith")
    found = placed.match('content/a: b.md:41:7: error: unknown TeX command "\\sofmax" [math-command]')
    assert found
    parts = {key: found[at] for key, at in groups.items() if isinstance(at, int)}
    assert parts == {
        "file": "content/a: b.md",
        "line": "41",
        "column": "7",
        "severity": "error",
        "message": r'unknown TeX command "\sofmax"',
        "code": "math-command",
    }


def test_address_of_the_preview_is_found() -> None:
    pattern = re.search(r"const SERVING = /(.*)/m;", (EXTENSION / "src/output.js").read_text("utf-8"))
    assert pattern
    found = re.search(pattern[1].replace(r"\/", "/"), serving_line("http://127.0.0.1:8000/notes/"), re.M)
    assert found
    assert found[1] == "http://127.0.0.1:8000/notes/"


# snippets

_STEP = re.compile(
    r"\\(?P<escaped>[$}\\])|\$(?P<number>\d+)|\$(?P<variable>[A-Z_]+)"
    r"|\$\{(?P<choice>\d+)\|(?P<words>[^|]*)\|\}|\$\{(?P<place>\d+):(?P<default>(?:[^}\\]|\\.)*)\}"
)
_DATE = {"CURRENT_YEAR": "2026", "CURRENT_MONTH": "03", "CURRENT_DATE": "14"}


def expand(body: list[str]) -> str:
    """Return a snippet with its default values, as VS Code inserts it."""
    text = "\n".join(body)
    given: dict[str, str] = {}
    for found in _STEP.finditer(text):
        if found["place"] or found["choice"]:
            value = (found["words"] or "").split(",")[0] if found["choice"] else found["default"]
            given.setdefault(found["place"] or found["choice"], re.sub(r"\\([$}\\])", r"\1", value))

    def put(found: re.Match[str]) -> str:
        number = found["number"] or found["place"] or found["choice"]
        if number:
            return given.get(number, "")
        return found["escaped"] or _DATE[found["variable"]]

    return _STEP.sub(put, text)


SNIPPETS: Mapping[str, Mapping[str, Any]] = read("snippets/markdown.json")
PARTS_OF_HEADS = ("front", "front-series", "reference")
AROUND = {
    "ref": "$$\na = b \\label{eq:name}\n$$\n\n",
    "mermaid": "",
}
"""Prefix of a snippet → content that the page needs in addition."""
PICTURES = ("image.png", "other.png")


def test_snippets_have_prefixes_of_their_own() -> None:
    files = [read(one["path"]) for one in OFFERS["snippets"]]
    prefixes = [snippet["prefix"] for found in files for snippet in found.values()]
    assert len(set(prefixes)) == len(prefixes)


def test_snippets_name_every_kind_of_callout() -> None:
    text = (EXTENSION / "snippets/markdown.json").read_text("utf-8")
    assert with_kinds(text) == text, "run `python -m tests.regen docs`"
    words = re.search(r"\|(.+?)\|", SNIPPETS["Callout"]["body"][0])
    assert words
    assert sorted(words[1].lower().split(",")) == sorted(row.name for row, _ in ROWS)


def test_what_snippets_write_builds_without_a_word(tmp_path: Path) -> None:
    picture = file_of(drawing(40, 30))
    # without its renderer, a diagram causes a warning
    plugins = "mermaid" if find_spec("merman") else ""
    files: dict[str, str | bytes] = {"blogsmith.yaml": f"plugins: [{plugins}]\n"}
    for snippet in SNIPPETS.values():
        prefix, text = snippet["prefix"], expand(snippet["body"])
        folder = f"content/posts/{prefix}"
        files[f"{folder}/index.md"] = "".join(_page(prefix, text))
        files |= {f"{folder}/{name}": picture for name in PICTURES}
    report = build(put(tmp_path, files), drafts=True)
    # nobody has run these
    told = [found for found in report.diagnostics if found.code != "cell-pending"]
    assert told == []
    assert len(report.diagnostics) == 5


def _page(prefix: str, text: str) -> Iterator[str]:
    """Yield the page of a snippet: in a typical place, with everything it refers to."""
    if prefix in ("front", "front-series"):
        yield f"{text}Text.\n"
        return
    cited = "\nreferences:\n  - {id: key, title: Title, year: 2026}" if prefix == "cite" else ""
    head = f"\n{text}" if prefix == "reference" else cited
    yield f"---\ntitle: {prefix}\ndate: 2026-03-01{head}\n---\n"
    yield AROUND.get(prefix, "")
    yield "[@key]\n" if prefix == "reference" else f"Text.\n\n{text}\n" if "\n" in text else f"Text {text}.\n"


def test_snippets_of_settings_are_right() -> None:
    for name, snippet in read("snippets/yaml.json").items():
        assert parse_config(expand(snippet["body"])).diagnostics == (), name


# grammars


@pytest.mark.parametrize("grammar", [one["path"] for one in OFFERS["grammars"]])
def test_a_grammar_names_itself_as_the_manifest_does(grammar: str) -> None:
    (entry,) = [one for one in OFFERS["grammars"] if one["path"] == grammar]
    assert read(grammar)["scopeName"] == entry["scopeName"]
    assert read(grammar)["injectionSelector"].startswith("L:")
