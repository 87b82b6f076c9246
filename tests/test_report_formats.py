"""Diagnostics in formats for programs: JSON, SARIF, and annotations of GitHub Actions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from blogsmith.base.diagnostics.codes import CODES
from blogsmith.base.diagnostics.fixes import Fix, TextEdit
from blogsmith.base.diagnostics.model import Diagnostic, Place
from blogsmith.base.diagnostics.report_formats import format_annotations, format_json, format_sarif
from blogsmith.cli.clock import CommandClock
from blogsmith.cli.main import main
from tests.site_files import NOW, put_bare

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0.json").read_text("utf-8"))

FIX = Fix("write \\softmax", (TextEdit(3, 5, "\\sofmax", "\\softmax"),))
FOUND = (
    Diagnostic(
        "math-command", "unknown \\sofmax", "content/a b.md", Place(3, 5, 7), "$x \\sofmax$", "ask", fix=FIX
    ),
    Diagnostic("busy", "another blogsmith", severity="error"),
    Diagnostic("unreadable", "cannot be read", "content/x.md", severity="warning"),
)
MANUAL = "https://example.org/docs/"
HOSTILE = "a\r\n::error file=x::b %0A \x1b[31m\u202e\ud800 \x7f,:"
BAD = Diagnostic("link-missing", HOSTILE, f"content/{HOSTILE}.md", Place(1, 1), HOSTILE, HOSTILE)


def test_json() -> None:
    found = json.loads(format_json(FOUND, "/site", "1.0", MANUAL))
    assert (found["version"], found["errors"], found["warnings"], found["root"]) == (1, 2, 1, "/site")
    first, second, third = found["diagnostics"]
    assert first == {
        "code": "math-command",
        "severity": "error",
        "message": "unknown \\sofmax",
        "path": "content/a b.md",
        "range": {"start": {"line": 3, "column": 5}, "end": {"line": 3, "column": 12}},
        "source": "$x \\sofmax$",
        "hint": "ask",
        "fixes": [
            {
                "title": "write \\softmax",
                "safe": False,
                "edits": [
                    {
                        "range": {"start": {"line": 3, "column": 5}, "end": {"line": 3, "column": 12}},
                        "old": "\\sofmax",
                        "new": "\\softmax",
                    }
                ],
            }
        ],
        "documentation": "https://example.org/docs/errors/#math-command",
    }
    assert (second["path"], second["range"]) == (None, None)
    assert (third["path"], third["range"]) == ("content/x.md", None)


@pytest.mark.parametrize("found", [(), FOUND, (BAD,)], ids=["none", "some", "hostile"])
def test_sarif_is_valid(found: tuple[Diagnostic, ...]) -> None:
    log = json.loads(format_sarif(found, "docs/", "1.0", MANUAL))
    assert not list(Draft4Validator(SCHEMA).iter_errors(log))
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    for one, result in zip(found, run["results"], strict=True):
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"] == one.code
        assert rule["shortDescription"]["text"] == CODES[one.code]
        assert rule["helpUri"] == f"https://example.org/docs/errors/#{one.code}"
        file = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert re.fullmatch(r"docs/[\w/.%~-]+", file["uri"])


def test_without_a_manual_there_are_no_links() -> None:
    found = json.loads(format_json(FOUND, "/site", "1.0"))["diagnostics"]
    assert not any("documentation" in one for one in found)
    log = json.loads(format_sarif(FOUND, "", "1.0"))
    assert not list(Draft4Validator(SCHEMA).iter_errors(log))
    driver = log["runs"][0]["tool"]["driver"]
    assert "informationUri" not in driver
    assert not any("helpUri" in rule for rule in driver["rules"])


def test_the_settings_name_the_manual(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (site / "blogsmith.yaml").open("a") as settings:
        settings.write("diagnostics: {documentation: 'https://example.org/m'}\n")
    assert run("check", "--format", "json", "content/posts/a.md") == 1
    first = json.loads(capsys.readouterr().out)["diagnostics"][0]
    assert first["documentation"] == f"https://example.org/m/errors/#{first['code']}"
    assert run("check", "--format", "sarif", "content/posts/a.md") == 1
    driver = json.loads(capsys.readouterr().out)["runs"][0]["tool"]["driver"]
    assert driver["informationUri"] == "https://example.org/m"
    assert {rule["helpUri"] for rule in driver["rules"]} == {
        f"https://example.org/m/errors/#{rule['id']}" for rule in driver["rules"]
    }


def test_sarif_tells_regions_and_fixes() -> None:
    first, *_, last = json.loads(format_sarif(FOUND, "", "1.0"))["runs"][0]["results"]
    where = first["locations"][0]["physicalLocation"]
    assert where["artifactLocation"]["uri"] == "content/a%20b.md"
    region = {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 12}
    assert where["region"] == {**region, "snippet": {"text": "$x \\sofmax$"}}
    (change,) = first["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [{"deletedRegion": region, "insertedContent": {"text": "\\softmax"}}]
    assert "region" not in last["locations"][0]["physicalLocation"], "the whole file is meant"


def test_annotations() -> None:
    assert format_annotations(FOUND, "docs/").split("\n") == [
        "::error file=docs/content/a b.md,line=3,endLine=3,col=5,endColumn=12,"
        "title=blogsmith%3A math-command::unknown \\sofmax%0Ahint: ask",
        "::error title=blogsmith%3A busy::another blogsmith",
        "::warning file=docs/content/x.md,title=blogsmith%3A unreadable::cannot be read",
    ]


def test_hostile_text_is_no_command() -> None:
    (line,) = format_annotations((BAD,), "").split("\n")
    properties, _, message = line.removeprefix("::error ").partition("::")
    assert not set("\r\x1b\u202e\x7f").intersection(line)
    assert [part.partition("=")[0] for part in properties.split(",")] == [
        *("file", "line", "endLine", "col", "endColumn", "title")
    ]
    assert "%250A" in message, "a percent sign of the author's is none of ours"


@pytest.mark.parametrize("write", [format_json, format_sarif])
def test_programs_get_ascii(write: Any) -> None:
    text = write((BAD,), "/site", "1.0")
    assert text.isascii() and text.replace("\n", "").isprintable()
    json.loads(text).keys()
    assert "\\ud800" not in text


FILES = {
    "content/posts/a.md": "---\ntitle: A\ndate: 2026-01-01\n---\n\n[x](b.md) $\\alpah$\n",
    "content/posts/c.md": "---\ntitle: C\ndate: 2026-01-01\n---\n\n" + "[x](d.md)\n\n" * 600,
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a site with very many errors."""
    root = put_bare(tmp_path.resolve(), FILES)
    monkeypatch.chdir(root)
    return root


def run(*arguments: str) -> int:
    """Run one command at the time of the tests."""
    return main(arguments, CommandClock(now=lambda: NOW, seconds=lambda: 0.0))


def test_all_of_them_reach_programs(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--format", "json") == 1
    out, err = capsys.readouterr()
    found = json.loads(out)["diagnostics"]
    assert len(found) == 602 and err == ""
    assert [one["path"] for one in found] == sorted(one["path"] for one in found)
    assert run("check", "--format", "json") == 1
    assert capsys.readouterr().out == out


def test_only_named_files(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", "--format", "github", "content/posts/a.md") == 1
    assert capsys.readouterr().out.count("::error file=content/posts/a.md,") == 2
    (site / "content/posts/good.md").write_text("---\ntitle: G\ndate: 2026-01-01\n---\n\nText.\n")
    assert run("check", "posts/good.md") == 0
    assert capsys.readouterr() == ("checked 1 path of a site of 7 pages in 0.0 s\n", "")
    assert run("check", "content/posts/god.md") == 2
    assert "did you mean `content/posts/good.md`?" in capsys.readouterr().err
    assert run("check", "themes", "blogsmith.yaml") == 0
    (site / "notes.txt").write_text("no part of it")
    assert run("check", "notes.txt") == 2
    assert "not part of the site" in capsys.readouterr().err


def test_a_site_that_cannot_be_read_is_told_whatever_is_asked(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "blogsmith.yaml").write_text("titel: T\n")
    assert run("check", "--format", "json", "content/posts/a.md") == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["path"], found["code"]) == ("blogsmith.yaml", "config-key")


def test_paths_count_from_the_top_of_the_repository(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    top = site.parent / ".git"
    top.mkdir()
    try:
        assert run("check", "--format", "github", "content/posts/a.md") == 1
    finally:
        # sites of other tests lie beside this one
        top.rmdir()
    assert f"file={site.name}/content/posts/a.md," in capsys.readouterr().out
