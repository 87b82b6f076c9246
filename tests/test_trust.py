"""Trust: code of a site runs only after the user has agreed to exactly this code in this folder."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.project.trust import consent as consent_module
from blogsmith.project.trust.consent import check_consent, is_trusted, trust
from blogsmith.project.trust.place import record_file
from tests.site_files import build


@pytest.fixture(autouse=True)
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's own record, outside every site."""
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
    mark, folder = sorted(set(site.rglob("*")) - set(before), key=lambda path: path.name, reverse=True)
    assert folder == site / ".blogsmith" and mark.parent == folder and mark.read_bytes() == b""
    (recorded,) = json.loads(record.read_text()).values()
    assert recorded["folder"]["mark"] == mark.name
    assert list(recorded["files"]) == ["plugins/deep/part.py", "plugins/mine.py"]
    assert sorted(record.parent.iterdir()) == [record]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plugins/mine.py", "x = 2\n"),
        ("plugins/deep/part.py", ""),
        ("plugins/new.py", ""),
        ("plugins/data.json", "{}"),
        ("plugins/mine.so", ""),
        ("plugins/shortcodes.py", ""),
    ],
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
    (site / "plugins" / "shortcodes").mkdir()
    (site / "plugins" / "shortcodes" / "card.html").write_text("x")
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


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"a": 1}', "\x00", "[" * 100_000])
def test_a_damaged_record_trusts_nothing(site: Path, record: Path, text: str) -> None:
    record.parent.mkdir(parents=True)
    record.write_text(text)
    assert not is_trusted(site)
    is_json = text in ("[]", "null", '{"a": 1}')
    assert check_consent(site).reason == (
        "" if is_json else f'invalid JSON in "{record}"; run `blogsmith trust`'
    )
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


# -- one folder --


def make_site(site: Path) -> Path:
    """Create a site like a clone of an untrusted one, without plugins: it runs the cells of its posts."""
    site.mkdir()
    (site / "blogsmith.yaml").write_text("title: A\n")
    return site


def test_another_folder_at_the_same_path_is_not_trusted(tmp_path: Path) -> None:
    site = make_site(tmp_path / "x")
    trust(site)
    assert is_trusted(site)
    shutil.rmtree(site)
    make_site(site)
    assert (check_consent(site).state, is_trusted(site)) == ("elsewhere", False)


def test_a_clone_that_brings_the_mark_is_not_trusted(tmp_path: Path) -> None:
    site = make_site(tmp_path / "x")
    trust(site)
    shutil.copytree(site, tmp_path / "clone")
    site.rename(tmp_path / "away")
    (tmp_path / "clone").rename(site)
    assert check_consent(site).state == "elsewhere"
    # the inode may come again, the moment does not; nor the device where the system tells no moment
    assert not is_trusted(site)


@pytest.mark.parametrize("other", ["born_ns", "device", "inode"])
def test_every_part_of_the_identity_counts(
    tmp_path: Path, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if other == "device":
        monkeypatch.setattr(consent_module, "_birth_time_ns", lambda root, status: 0)
    site = make_site(tmp_path / "x")
    trust(site)
    noted = json.loads(record_file().read_text())
    folder = noted[str(site)]["folder"]
    if other not in folder:
        pytest.skip("the file system does not tell when a folder was made")
    assert is_trusted(site)
    folder[other] += 1
    record_file().write_text(json.dumps(noted))
    assert check_consent(site).state == "elsewhere"


def test_without_its_mark_a_folder_is_another_one(tmp_path: Path) -> None:
    site = make_site(tmp_path / "x")
    trust(site)
    (mark,) = (site / ".blogsmith").iterdir()
    mark.rename(tmp_path / "mark")
    assert check_consent(site).state == "elsewhere"
    # neither is a link to one
    mark.symlink_to(tmp_path / "mark")
    assert check_consent(site).state == "elsewhere"
    mark.unlink()
    (tmp_path / "mark").rename(mark)
    assert is_trusted(site)


def test_a_mark_is_not_written_through_a_link(tmp_path: Path) -> None:
    site = make_site(tmp_path / "x")
    (tmp_path / "elsewhere").mkdir()
    (site / ".blogsmith").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SiteError) as caught:
        trust(site)
    assert [d.code for d in caught.value.diagnostics] == ["trust-write"]
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not is_trusted(site)


def test_two_users_of_a_folder_do_not_take_consent_from_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = make_site(tmp_path / "x")
    trust(site)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another"))
    assert check_consent(site).state == "never"
    trust(site)
    assert is_trusted(site)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert is_trusted(site)


def test_to_trust_again_leaves_one_mark(site: Path) -> None:
    trust(site)
    (site / "plugins" / "mine.py").write_text("x = 2\n")
    trust(site)
    assert len(list((site / ".blogsmith").iterdir())) == 1


# -- the record belongs to this user alone --


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
@pytest.mark.parametrize("umask", [0, 0o002, 0o077])
def test_whatever_the_umask_nobody_else_reads_or_writes_what_a_user_keeps(
    umask: int, site: Path, record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = os.umask(umask)
    try:
        trust(site)
        build(site, use_cache=True)
    finally:
        os.umask(before)
    kept = [tmp_path / name for name in ("state", "cache")]
    kept += [path for top in tuple(kept) for path in top.rglob("*")]
    assert record in kept and len(kept) > 6
    assert {oct(path.stat().st_mode & 0o777) for path in kept} == {"0o700", "0o600"}
    assert is_trusted(site)


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
@pytest.mark.parametrize("mode", [0o020, 0o002])
@pytest.mark.parametrize("is_folder", [True, False])
def test_a_record_that_others_may_write_is_not_read(
    mode: int, site: Path, record: Path, *, is_folder: bool
) -> None:
    trust(site)
    place = record.parent if is_folder else record
    place.chmod(place.stat().st_mode | mode)
    before = record.read_bytes()
    assert not is_trusted(site)
    reason = f'invalid permissions of "{place}": other users can write to it'
    assert check_consent(site).reason == f"{reason}; run `chmod go-w {place}`"
    with pytest.raises(SiteError) as caught:
        trust(site)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("trust-write", reason)
    assert f"`chmod go-w {place}`" in found.hint
    assert record.read_bytes() == before
    place.chmod(place.stat().st_mode & ~mode)
    assert is_trusted(site)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="gives files to another user")
@pytest.mark.parametrize("is_folder", [True, False])
def test_a_record_of_another_user_is_not_read(site: Path, record: Path, *, is_folder: bool) -> None:
    trust(site)
    place = record.parent if is_folder else record
    os.chown(place, 12345, 12345)
    assert (
        check_consent(site).reason == f'invalid owner of "{place}": another user; run `sudo chown 0 {place}`'
    )


def test_a_record_that_is_a_link_or_a_pipe_is_not_read(site: Path, record: Path) -> None:
    trust(site)
    record.rename(record.with_name("elsewhere"))
    record.symlink_to("elsewhere")
    assert not is_trusted(site)
    record.unlink()
    os.mkfifo(record)
    assert not is_trusted(site)


# -- why not --


def test_a_record_of_an_earlier_blogsmith_asks_once_more(site: Path, record: Path) -> None:
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({str(site.resolve()): "ab" * 32}))
    assert check_consent(site).state == "earlier"
    assert "an earlier version of blogsmith" in check_consent(site).reason
    assert trust(site).state == "earlier"
    assert check_consent(site).state == "given"


def test_what_has_changed_is_named(site: Path) -> None:
    (site / "blogsmith.yaml").write_text("title: A\nexecute: {python: old, jobs: 2}\n")
    trust(site)
    (site / "plugins" / "mine.py").write_text("x = 2\n")
    (site / "plugins" / "new.py").write_text("")
    (site / "plugins" / "deep" / "part.py").unlink()
    (site / "blogsmith.yaml").write_text("title: A\nexecute: {python: new}\neditor: ed {file}\n")
    consent = check_consent(site)
    assert [(change.name, change.kind) for change in consent.changes] == [
        ("plugins/deep/part.py", "gone"),
        ("plugins/mine.py", "changed"),
        ("plugins/new.py", "new"),
        ("editor", "new"),
        ("execute.jobs", "gone"),
        ("execute.python", "changed"),
    ]
    assert consent.reason == (
        "since it was trusted, "
        "plugins/deep/part.py was removed, plugins/mine.py has changed, plugins/new.py is new, and 3 more"
    )
    assert trust(site).changes == consent.changes
    assert trust(site).changes == ()


@pytest.mark.parametrize(
    "damaged",
    [[], {}, {"folder": 1}, {"folder": {"mark": "../x"}}, {"folder": {}, "files": 1, "settings": None}],
)
def test_a_damaged_entry_trusts_nothing(site: Path, record: Path, damaged: object) -> None:
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps({str(site.resolve()): damaged}))
    assert not is_trusted(site)
    trust(site)
    assert is_trusted(site)


# -- which files --


def test_links_are_read_where_they_lead_inside_the_site(site: Path, tmp_path: Path) -> None:
    (site / "shared.py").write_text("a")
    (tmp_path / "foreign.py").write_text("a")
    (site / "plugins" / "inner.py").symlink_to("../shared.py")
    (site / "plugins" / "outer.py").symlink_to(tmp_path / "foreign.py")
    (site / "plugins" / "folder").symlink_to(".")
    os.mkfifo(site / "plugins" / "pipe.py")
    consent = trust(site)
    assert set(consent.code.digests) == {"plugins/deep/part.py", "plugins/mine.py", "plugins/inner.py"}
    assert dict(consent.code.uncovered) == {
        "plugins/folder": "it is a link to a folder",
        "plugins/outer.py": "it is a link to a file outside the site",
        "plugins/pipe.py": "it is not a regular file",
    }
    (tmp_path / "foreign.py").write_text("b")
    assert is_trusted(site)
    (site / "shared.py").write_text("b")
    assert not is_trusted(site)


def test_a_folder_of_plugins_outside_the_site_is_not_read(tmp_path: Path) -> None:
    site = make_site(tmp_path / "x")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "mine.py").write_text("")
    (site / "plugins").symlink_to(tmp_path / "code")
    assert trust(site).code.digests == {}


@pytest.mark.parametrize("setting", ["editor: ./tools/run {file}", "execute: {python: tools/run}"])
def test_a_program_of_the_site_that_a_setting_names_is_covered(tmp_path: Path, setting: str) -> None:
    site = make_site(tmp_path / "x")
    (site / "tools").mkdir()
    (site / "tools" / "run").write_text("#!/bin/sh\n")
    (site / "blogsmith.yaml").write_text(f"{setting}\n")
    assert list(trust(site).files) == ["tools/run"]
    (site / "tools" / "run").write_text("#!/bin/sh\nrm -rf ~\n")
    assert check_consent(site).reason == "since it was trusted, tools/run has changed"


def test_programs_elsewhere_are_the_users_own(tmp_path: Path) -> None:
    site = make_site(tmp_path / "x")
    (site / ".venv").mkdir()
    (site / ".venv" / "python").symlink_to(sys.executable)
    for setting in (
        "execute: {python: .venv/python}",
        "execute: {python: ../x/../python}",
        "editor: ed {file}",
    ):
        (site / "blogsmith.yaml").write_text(f"{setting}\n")
        assert trust(site).files == {}
