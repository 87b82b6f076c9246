"""Trust: code of a site runs only after its owner has agreed, to exactly this code in this folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blogsmith.errors import SiteError
from blogsmith.trust import code_digest, is_trusted, record_file, trust


@pytest.fixture(autouse=True)
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record of the user's own, outside every site."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "blogsmith" / "trusted.json"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site" / "plugins" / "deep").mkdir(parents=True)
    (tmp_path / "site" / "plugins" / "mine.py").write_text("x = 1\n")
    (tmp_path / "site" / "plugins" / "deep" / "part.py").write_text("y = 1\n")
    return tmp_path / "site"


def test_nobody_is_trusted_at_first(site: Path, record: Path) -> None:
    assert not is_trusted(site)
    assert record_file() == record
    assert not record.exists()


def test_trust_is_recorded_outside_the_site(site: Path, record: Path) -> None:
    before = sorted(site.rglob("*"))
    trust(site)
    assert is_trusted(site)
    assert sorted(site.rglob("*")) == before
    assert json.loads(record.read_text()) == {str(site.resolve()): code_digest(site)}
    assert sorted(record.parent.iterdir()) == [record]


@pytest.mark.parametrize(
    ("name", "text"),
    [("plugins/mine.py", "x = 2\n"), ("plugins/deep/part.py", ""), ("plugins/new.py", "")],
)
def test_changed_code_asks_again(site: Path, name: str, text: str) -> None:
    trust(site)
    (site / name).write_text(text)
    assert not is_trusted(site)
    trust(site)
    assert is_trusted(site)


def test_renamed_and_removed_code_asks_again(site: Path) -> None:
    trust(site)
    (site / "plugins" / "mine.py").rename(site / "plugins" / "yours.py")
    assert not is_trusted(site)
    (site / "plugins" / "yours.py").rename(site / "plugins" / "mine.py")
    assert is_trusted(site)
    (site / "plugins" / "deep" / "part.py").unlink()
    assert not is_trusted(site)


@pytest.mark.parametrize(
    "setting",
    [
        *("python: /bin/sh", "env: [API_KEY]", "sandbox: landlock", "preload: [numpy]"),
        *("engine: jupyter", "kernel: ir", "executor: dask"),
        *('dask: {scheduler: "tcp://10.0.0.5:8786"}', "dask: {cuda: {GPU: 2}}"),
    ],
)
def test_changed_settings_of_execution_ask_again(site: Path, setting: str) -> None:
    (site / "blogsmith.yaml").write_text("title: A\n")
    trust(site)
    (site / "blogsmith.yaml").write_text(f"title: A\nexecute: {{{setting}}}\n")
    assert not is_trusted(site)
    trust(site)
    assert is_trusted(site)


def test_what_is_no_code_may_change(site: Path) -> None:
    (site / "blogsmith.yaml").write_text("title: A\n")
    trust(site)
    (site / "blogsmith.yaml").write_text("title: B\nmenu: []\n")
    (site / "plugins" / "notes.txt").write_text("x")
    (site / "content").mkdir()
    assert is_trusted(site)


def test_a_copy_is_not_trusted(site: Path, tmp_path: Path) -> None:
    trust(site)
    site.rename(tmp_path / "moved")
    assert not is_trusted(tmp_path / "moved")


def test_a_link_to_the_site_is_the_site(site: Path, tmp_path: Path) -> None:
    trust(site)
    (tmp_path / "link").symlink_to(site)
    assert is_trusted(tmp_path / "link")


def test_sites_do_not_push_one_another_out(site: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    trust(site)
    trust(tmp_path / "other")
    assert is_trusted(site) and is_trusted(tmp_path / "other")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"a": 1}', "\x00"])
def test_a_damaged_record_trusts_nothing(site: Path, record: Path, text: str) -> None:
    record.parent.mkdir(parents=True)
    record.write_text(text)
    assert not is_trusted(site)
    trust(site)
    assert is_trusted(site)


def test_a_record_that_cannot_be_written(site: Path, record: Path) -> None:
    record.parent.parent.mkdir(parents=True)
    record.parent.write_text("a file in the way")
    with pytest.raises(SiteError) as caught:
        trust(site)
    assert [d.code for d in caught.value.diagnostics] == ["trust-write"]
    assert not is_trusted(site)


def test_an_editors_lock_changes_nothing(site: Path) -> None:
    trust(site)
    # Emacs: a link to nothing, as long as one edits
    (site / "plugins" / ".#mine.py").symlink_to("ada@machine.1234:5678")
    (site / "plugins" / "folder.py").mkdir()
    assert is_trusted(site)
