"""Rows 47 and 48: an import runs no code of its source, and its reports contain no active markup."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.report import ImportResult
from blogsmith.project.report import no_progress
from blogsmith.project.trust.consent import is_trusted, trust
from tests.site_files import NOW, build, put

HEAD = "---\ntitle: A\ndate: 2024-03-01\n---\n\n"
POST = "_posts/2024-03-01-a.md"


def run(source: Path, into: Path) -> ImportResult:
    return import_site(source, into, ImportOptions(now=NOW), no_progress)


# -- 47: code and settings that would run --

RUNNING = """\
execute: {python: ./evil, sandbox: none, env: [HOME], dask: 'tcp://203.0.113.1:1'}
editor: {command: ./evil}
build: {executor: dask}
plugins: [evil, ../evil]
csp: {script: ['*']}
theme: ../evil
output: /tmp/evil
markup: {untrusted: false}
math: {macros: {}}
diagnostics: {link-target: off}
"""
_ALLOWED = {
    *("title", "description", "author", "base_url", "lang", "timezone", "permalinks", "menu", "markup"),
    *("slugs", "images", "embeds", "math", "toc", "numbering", "callouts", "code", "diagnostics", "plugins"),
}


@pytest.mark.parametrize("system", ["jekyll", "hugo", "quarto"])
def test_row_47_settings_of_a_source_trust_nothing(system: str, tmp_path: Path) -> None:
    evil = {"plugins/evil.py": "open('ran', 'w')\n", "_plugins/evil.rb": "", "blogsmith.yaml": RUNNING}
    text = "---\ntitle: A\nexecute: {python: ./evil}\nplugins: [evil]\n---\n\nText.\n"
    files = {
        "jekyll": {"_config.yml": f"title: Notes\n{RUNNING}", POST: text},
        "hugo": {"hugo.yaml": f"title: Notes\n{RUNNING}", "content/a.md": text},
        "quarto": {"_quarto.yml": f"website: {{title: Notes}}\n{RUNNING}", "a.qmd": text},
    }
    put(tmp_path / "old", {**evil, **files[system]})
    done = run(tmp_path / "old", tmp_path / "new")
    assert set(done.site.settings) <= _ALLOWED
    assert "evil" not in (tmp_path / "new/blogsmith.yaml").read_text()
    assert "untrusted" not in (tmp_path / "new/blogsmith.yaml").read_text()
    assert not (tmp_path / "new/plugins").exists()
    assert {Path(path).parts[0] for path in done.files} <= {
        *(".gitignore", "blogsmith.yaml", "content", "static"),
    }
    assert not is_trusted(tmp_path / "new", None)


def qmd(marker: Path) -> str:
    cell = f"```{{python}}\n#| eval: true\nopen({str(marker)!r}, 'w')\n```\n"
    return f"---\ntitle: A\ndate: 2024-03-01\nexecute: {{eval: true, freeze: false}}\n---\n\n{cell}"


def test_row_47_cells_of_a_source_run_only_after_consent(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    put(tmp_path / "old", {"_quarto.yml": "website: {title: Notes}\n", "a.qmd": qmd(marker)})
    run(tmp_path / "old", tmp_path / "new")
    assert not marker.exists()
    build(tmp_path / "new")
    assert not marker.exists()


def test_row_47_an_import_into_a_trusted_site_runs_nothing_itself(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    put(tmp_path / "old", {"_quarto.yml": "website: {title: Notes}\n", "a.qmd": f"{HEAD}Text.\n"})
    run(tmp_path / "old", tmp_path / "new")
    trust(tmp_path / "new")
    put(tmp_path / "old", {"a.qmd": qmd(marker)})
    run(tmp_path / "old", tmp_path / "new")
    assert not marker.exists()


# -- 48: reports --

NAMES = {
    "markup": "<img src=x onerror=alert(1)>.md",
    "escapes of a terminal": "\x1b]0;evil\x07\x9b31m.md",
    "a turned name": "a\u202egnp.md",
    "lines": "a\n# A heading\n<script>alert(1)</script>.md",
    "no UTF-8": "a\udcff.md",
}


@pytest.mark.parametrize("name", NAMES)
def test_row_48_names_in_reports(name: str, tmp_path: Path) -> None:
    source = tmp_path / "old"
    text = f"{HEAD}{{% unknown <script>alert(2)</script> \x1b[31m %}} {{% include <b>``<i>.html %}}\n"
    put(source, {"_config.yml": "title: Notes\n", f"_posts/2024-03-01-{NAMES[name].replace('/', '')}": text})
    first = run(source, tmp_path / "new")
    assert len(first.site.pages) == 1
    report = (tmp_path / "new/import-report.md").read_text("utf-8")
    record = (tmp_path / "new/import-report.json").read_text("utf-8")
    for shown in (report, record):
        assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
    assert not re.search(r"<(?:img|script|b|i)\b", re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", report))
    assert "\n# A heading" not in report
    assert set(json.loads(record)["files"]) == set(first.files)
    again = run(source, tmp_path / "new")
    assert dict(again.files) == dict(first.files)
