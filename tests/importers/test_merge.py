"""A repeated import: changes here and in the source, decided file by file."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.base.storage.folder import TEMPORARY_PREFIX, Folder
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.merge import CONFLICTS, Merge, apply_merge, plan_merge, read_record
from blogsmith.importers.report import ImportResult
from blogsmith.importers.write import RECORD, digest_content, record_text, write_reports
from blogsmith.project.report import no_progress
from tests.site_files import NOW

Files = dict[str, bytes]
PATHS = [f"content/{name}.md" for name in "abcdefgh"] + ["static/x/y.png", "static/x.png", "blogsmith.yaml"]


def import_files(files: Mapping[str, bytes], into: Path) -> Merge:
    """Write files like an import whose translation is the identity."""
    old = read_record(into)
    digests = {path: digest_content(data) for path, data in files.items()}
    merge = plan_merge(digests, digests, old, into)
    apply_merge(merge, old, files, into, no_progress)
    record = {"files": merge.record.files, "sources": merge.record.sources}
    write_reports({RECORD: record_text(record)}, into)
    return merge


def contents(into: Path) -> Files:
    """Return all files of a site except its record."""
    found = {
        path.relative_to(into).as_posix(): path.read_bytes() for path in into.rglob("*") if path.is_file()
    }
    return {path: data for path, data in found.items() if path != RECORD}


def change(files: Files, random_: random.Random, mark: bytes) -> Files:
    """Edit, remove and add random files."""
    new = dict(files)
    for path in random_.sample(PATHS, 4):
        if path in new and random_.random() < 0.3:
            del new[path]
        else:
            new[path] = mark + str(random_.randrange(2)).encode()
    return new


def put(into: Path, files: Files) -> None:
    """Make a folder contain exactly these files and its record."""
    for path in contents(into).keys() - files.keys():
        (into / path).unlink()
    for path, data in files.items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        (into / path).write_bytes(data)


def merged(base: Files, here: Files, new: Files) -> tuple[Files, set[str]]:
    """Return the files of a merge, and the paths with conflicts: the definition of a three-way merge."""
    found, conflicts = {}, set()
    for path in base.keys() | here.keys() | new.keys():
        one, mine, other = base.get(path), here.get(path), new.get(path)
        kept = other if mine == one else mine
        if mine not in (one, other) and other not in (one, None):
            conflicts.add(path)
            found[f"{CONFLICTS}/{path}"] = other
        if kept is not None:
            found[path] = kept
    return found, conflicts


@pytest.mark.parametrize("seed", range(40))
def test_random_changes_are_merged(seed: int, tmp_path: Path) -> None:
    random_ = random.Random(seed)
    base = change(dict.fromkeys(PATHS[:8], b"0"), random_, b"first")
    import_files(base, tmp_path)
    assert contents(tmp_path) == base
    here, new = change(base, random_, b"here"), change(base, random_, random_.choice([b"here", b"new"]))
    put(tmp_path, here)
    expected, conflicts = merged(base, here, new)
    merge = import_files(new, tmp_path)
    assert contents(tmp_path) == expected
    assert {each.path for each in merge.conflicts} == conflicts
    record = (tmp_path / RECORD).read_bytes()
    again = import_files(new, tmp_path)
    assert not (again.writes or again.removes)
    assert [each.path for each in again.conflicts] == sorted(conflicts)
    assert (contents(tmp_path), (tmp_path / RECORD).read_bytes()) == (expected, record)
    for path in conflicts:
        offer = tmp_path / CONFLICTS / path
        if random_.random() < 0.5:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            offer.replace(tmp_path / path)
        else:
            offer.unlink()
    solved = contents(tmp_path)
    assert not import_files(new, tmp_path).conflicts
    assert contents(tmp_path) == solved


@pytest.mark.parametrize("seed", range(12))
def test_an_interrupted_merge_is_completed(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random_ = random.Random(seed)
    base = change(dict.fromkeys(PATHS[:8], b"0"), random_, b"first")
    here, new = change(base, random_, b"here"), change(base, random_, b"new")
    last = change(base, random_, b"last") if seed % 2 else new
    import_files(base, tmp_path)
    put(tmp_path, here)
    calls, replace = iter(range(100)), Folder.replace
    stop = random_.randrange(6)

    def interrupt(folder: Folder, name: str, *args: Any, **options: Any) -> None:
        if next(calls) == stop:
            folder.create(f"{TEMPORARY_PREFIX}half").close()
            raise KeyboardInterrupt
        replace(folder, name, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "replace", interrupt)
        with suppress(KeyboardInterrupt):
            import_files(new, tmp_path)
            last = new  # complete: the next import would compare with this one
    import_files(last, tmp_path)
    assert contents(tmp_path) == merged(base, here, last)[0]


def test_an_edited_offer_is_kept_until_it_is_removed(tmp_path: Path) -> None:
    page, offer = tmp_path / PATHS[0], tmp_path / CONFLICTS / PATHS[0]
    import_files({PATHS[0]: b"1"}, tmp_path)
    page.write_bytes(b"mine")
    import_files({PATHS[0]: b"2"}, tmp_path)
    offer.write_bytes(b"half merged")
    for _ in range(2):
        assert import_files({PATHS[0]: b"3"}, tmp_path).conflicts
        assert (page.read_bytes(), offer.read_bytes()) == (b"mine", b"half merged")
    offer.unlink()
    assert import_files({PATHS[0]: b"3"}, tmp_path).conflicts
    assert (page.read_bytes(), offer.read_bytes()) == (b"mine", b"3")


def test_links_in_the_new_site_are_not_followed(tmp_path: Path) -> None:
    into, outside = tmp_path / "new", tmp_path / "outside"
    import_files({"content/a.md": b"1", "content/in/b.md": b"1", "static/c": b"1"}, into)
    outside.mkdir()
    (outside / "b.md").write_bytes(b"1")
    for path in ("content/a.md", "content/in/b.md"):
        (into / path).unlink()
    (into / "content/in").rmdir()
    try:
        (into / "content/a.md").symlink_to(outside / "b.md")
        (into / "content/in").symlink_to(outside)
    except OSError:
        pytest.skip("no permission to make links")
    merge = import_files({"content/a.md": b"2", "content/in/b.md": b"2"}, into)
    assert [each.path for each in merge.conflicts] == ["content/a.md", "content/in/b.md"]
    assert (outside / "b.md").read_bytes() == b"1"
    assert (into / CONFLICTS / "content/in/b.md").read_bytes() == b"2"


@pytest.mark.parametrize(
    "record",
    [
        b"<<<<<<< HEAD\n{}",
        b"[]",
        *(
            f'{{"files": {{"{path}": "{"0" * 64}"}}}}'.encode()
            for path in ("../outside.md", ".git/config", "content/../../x", "plugins/a.py", "")
        ),
        f'{{"files": {{"import-conflicts/.ssh/id": "{"0" * 64}"}}}}'.encode(),
        b'{"files": {"content/a.md": "other"}}',
        b'{"files": [1], "pending": 2}',
        b'{"files": {}, "pending": {"content/a.md": 3}}',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_an_invalid_record_is_rejected(record: bytes, tmp_path: Path) -> None:
    import_files({"content/a.md": b"1"}, tmp_path)
    (tmp_path / RECORD).write_bytes(record)
    before = contents(tmp_path)
    with pytest.raises(SiteError, match="invalid record") as caught:
        import_files({"content/a.md": b"2"}, tmp_path)
    assert caught.value.diagnostics[0].hint.startswith("restore the file")
    assert contents(tmp_path) == before


def test_an_import_reports_what_it_left(tmp_path: Path) -> None:
    source, into = tmp_path / "old", tmp_path / "new"
    posts = source / "_posts"
    posts.mkdir(parents=True)
    (source / "_config.yml").write_text("title: Notes\n", encoding="utf-8")
    for name in "abcd":
        (posts / f"2024-01-01-{name}.md").write_text(f"Page {name}.\n", encoding="utf-8")

    def run(*, dry_run: bool = False) -> ImportResult:
        return import_site(source, into, ImportOptions(now=NOW, dry_run=dry_run), no_progress)

    assert run().ok
    here = {name: into / f"content/posts/2024-01-01-{name}.md" for name in "abcde"}
    for name in "ab":
        here[name].write_text(f"Mine {name}.\n", encoding="utf-8")
    for name in "bce":
        (posts / f"2024-01-01-{name}.md").write_text(f"New {name}.\n", encoding="utf-8")
    (posts / "2024-01-01-d.md").unlink()
    before = contents(into)
    assert not run(dry_run=True).ok
    assert contents(into) == before
    done = run()
    assert done.problems == ("not merged: 1 file that you changed here",)
    assert (done.merge.added, done.merge.renewed, done.merge.removed) == tuple(
        (here[name].relative_to(into).as_posix(),) for name in "ecd"
    )
    assert [here[name].read_text("utf-8") for name in "ab"] == ["Mine a.\n", "Mine b.\n"]
    assert "New b." in (into / CONFLICTS / "content/posts/2024-01-01-b.md").read_text("utf-8")
    report = (into / "import-report.md").read_text("utf-8")
    assert "- content/posts/2024-01-01-b.md: changed here, changed in the source\n" in report
    assert "- content/posts/2024-01-01-a.md: changed here\n" in report
    assert json.loads((into / RECORD).read_bytes())["sources"].keys() == {
        str(page.path) for page in done.site.pages
    }
    first = contents(into)
    run()
    assert contents(into) == first
