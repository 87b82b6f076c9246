"""`blogsmith trust` lists what it covers and what has changed; messages explain why a site is not trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.format import format_diagnostic
from blogsmith.cli.main import main
from blogsmith.preview.editors import editor_link
from blogsmith.project.trust.consent import check_consent, trust
from blogsmith.project.trust.place import record_file
from tests.site_files import build

POST = "---\ntitle: A\ndate: 2026-03-01\n---\n\n```python\n#| label: x\nx = 1\n```\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "site"
    write(root, {"blogsmith.yaml": "plugins: [mine]\nexecute: {env: [A]}\n"})
    write(root, {"plugins/mine.py": "def register(hooks):\n    pass\n", "plugins/data.json": "{}"})
    write(root, {"content/a.md": POST})
    monkeypatch.chdir(root)
    return root


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def listed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["trust"]) == 0
    return capsys.readouterr().out.splitlines()


def test_every_covered_file_and_setting_is_listed(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "plugins" / "lost.py").symlink_to("nowhere")
    assert listed(capsys) == [
        f"the code of {site} may run until one of these changes:",
        "  plugins/data.json",
        "  plugins/mine.py",
        '  execute.env: ["A"]',
        "not covered, so no plugin can import it:",
        "  plugins/lost.py: it cannot be read",
        "Cells of its posts may run too, including future changes to them.",
    ]


def test_plugins_that_run_inside_are_named(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(site, {"plugins/mine.py": "def register(hooks):\n    hooks.markdown(print)\n"})
    line = "These run inside blogsmith, because they use the hook `markdown`: plugins/mine.py"
    assert line in listed(capsys)


def test_what_has_changed_is_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trust(site)
    (site / "plugins" / "data.json").unlink()
    write(site, {"plugins/mine.py": "x = 1\n", "plugins/new.py": ""})
    write(site, {"blogsmith.yaml": "execute: {env: [A, B]}\neditor: ed {file}\n"})
    assert listed(capsys) == [
        f"the code of {site} may run until one of these changes:",
        "  plugins/mine.py  (changed)",
        "  plugins/new.py  (new)",
        '  execute.env: ["A", "B"]  (changed, was ["A"])',
        "  editor: ed {file}  (new)",
        "removed:",
        "  plugins/data.json",
        "Cells of its posts may run too, including future changes to them.",
    ]


def test_a_site_without_code_has_cells_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, {"blogsmith.yaml": "title: A\n"})
    monkeypatch.chdir(tmp_path)
    assert listed(capsys) == [
        f"the code of {tmp_path} may run.",
        "Cells of its posts may run too, including future changes to them.",
    ]


def test_names_and_values_cannot_act_on_the_terminal(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(site, {"plugins/a\x1b[2K.py": "", "blogsmith.yaml": 'editor: "ed \\e[8m {file}"\n'})
    out = "\n".join(listed(capsys))
    assert "\x1b" not in out
    assert "plugins/a\\x1b[2K.py" in out and "ed \\x1b[8m" in out


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        ("nothing", ""),
        ("change", ": since it was trusted, plugins/mine.py has changed"),
        ("move", ": another folder was trusted at this path"),
        (
            "upgrade",
            ": it was trusted in an earlier version of blogsmith",
        ),
    ],
)
def test_messages_say_why_it_is_not_trusted(site: Path, happens: str, reason: str) -> None:
    if happens != "nothing":
        trust(site)
    if happens == "change":
        write(site, {"plugins/mine.py": "x = 1\n"})
    elif happens == "move":
        for mark in (site / ".blogsmith").iterdir():
            mark.unlink()
    elif happens == "upgrade":
        record_file().write_text(json.dumps({str(site): "ab" * 32}))
    (found,) = build(site).diagnostics
    assert found.code == "plugin-untrusted"
    assert found.message == f'plugin "mine" is not trusted{reason}'
    consent = check_consent(site)
    editor = editor_link("ed {file}", {}, site, consent.is_given, consent.reason)
    assert reason.removeprefix(": ") in editor.problem
    # without the plugin, the results of cells are missing
    write(site, {"blogsmith.yaml": "execute: {env: [A]}\n"})
    (found,) = build(site).diagnostics
    assert found.code == "cell-pending"
    assert reason.removeprefix(": ") in found.hint


def test_a_name_in_a_message_cannot_act_on_the_terminal(site: Path) -> None:
    trust(site)
    write(site, {"plugins/a\x1b[2K.py": ""})
    (found,) = build(site).diagnostics
    assert "a\\x1b[2K.py is new" in format_diagnostic(found, color=False)
