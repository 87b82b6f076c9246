"""Folders are entered through no link, and no other code writes to disk."""

from __future__ import annotations

import ast
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from blogsmith.base.storage.folder import HAS_DESCRIPTORS, Folder, open_folder
from blogsmith.base.storage.links import UnexpectedLinkError, is_link, is_name
from blogsmith.base.storage.lock import LockBusyError, hold_lock
from blogsmith.base.storage.own_folder import OWN_FOLDER, open_own_folder
from blogsmith.base.storage.tree import OpenFolderPath, OwnTree, scan
from tests.rows import each_row

PACKAGE = Path(__file__).parent.parent / "blogsmith"


@pytest.fixture(params=[True, False], ids=["by descriptor", "by path"])
def top(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Folder]:
    """Yield an open folder, also as on systems without descriptors for folders; `outside/` is next to it."""
    (tmp_path / "site").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "precious").write_text("precious")
    if request.param and not HAS_DESCRIPTORS:
        pytest.skip("this system has no descriptors for folders")
    with open_folder(tmp_path / "site", by_descriptor=request.param) as folder:
        yield folder
    assert (tmp_path / "outside" / "precious").read_text() == "precious"
    assert [entry.name for entry in (tmp_path / "outside").iterdir()] == ["precious"]


def test_files_are_made_read_replaced_and_removed(top: Folder) -> None:
    with top.enter("a/b", make=True) as folder:
        with folder.create("new", 0o640) as file:
            file.write(b"one")
        assert stat.S_IMODE((top.path / "a/b/new").stat().st_mode) == 0o640
        with pytest.raises(FileExistsError):
            folder.create("new")
        folder.replace("new", b"two")
        assert folder.read("new") == b"two"
        assert folder.entries() == [("new", False)]
        folder.remove("new")
        assert folder.status("new") is None
    with top.enter("a") as folder:
        folder.remove_folder("b")
    top.remove_tree("a")
    assert list(top.path.iterdir()) == []


LINKED = ("file", "folder", "dangling")


@pytest.fixture(params=LINKED)
def linked(request: pytest.FixtureRequest, top: Folder) -> Folder:
    """Return the folder with a link in it, `link`, that points outside."""
    targets = {"file": "../outside/precious", "folder": "../outside", "dangling": "../outside/new"}
    (top.path / "link").symlink_to(targets[request.param])
    return top


def test_no_file_is_opened_through_a_link(linked: Folder) -> None:
    for attempt in (linked.open_file, linked.open_lock, linked.read):
        with pytest.raises(UnexpectedLinkError, match="a link is in the way"):
            attempt("link")
    with pytest.raises(OSError):
        linked.create("link")


def test_no_folder_is_entered_through_a_link(linked: Folder) -> None:
    for path in ("link", "link/below"):
        for make in (False, True):
            with pytest.raises(UnexpectedLinkError) as caught:
                linked.enter(path, make=make)
            assert caught.value.filename == str(linked.path / "link")
    with pytest.raises(OSError):
        linked.make("link")
    with pytest.raises(UnexpectedLinkError):
        linked.remove_tree("link")
    assert not linked.is_folder("link")


def test_a_link_is_replaced_and_removed_itself(linked: Folder) -> None:
    linked.replace("link", b"ours")
    assert not (linked.path / "link").is_symlink()
    assert linked.read("link") == b"ours"
    (linked.path / "other").symlink_to("../outside/precious")
    linked.remove("other")
    assert linked.entries() == [("link", False)]


def test_links_inside_a_tree_are_not_followed(linked: Folder) -> None:
    linked.make("tree").close()
    (linked.path / "tree" / "link").symlink_to("../../outside")
    assert scan(linked) == OwnTree(frozenset({"link", "tree/link"}), frozenset({"tree"}))
    linked.remove_tree("tree")
    assert not linked.is_folder("tree")


def test_links_are_copied_and_linked_as_links(linked: Folder) -> None:
    with linked.make("to") as to:
        linked.copy("link", to, "copy")
        assert os.readlink(linked.path / "to" / "copy") == os.readlink(linked.path / "link")  # noqa: PTH115
        linked.link("link", to, "again")
        found = to.status("again")
        assert found is not None and is_link(found)


def test_junctions_of_windows_count_as_links() -> None:
    junction = SimpleNamespace(st_mode=stat.S_IFDIR, st_reparse_tag=0xA0000003)
    cloud_file = SimpleNamespace(st_mode=stat.S_IFREG, st_reparse_tag=0x9000001A)
    assert is_link(cast(os.stat_result, junction))
    assert not is_link(cast(os.stat_result, cloud_file))


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", "a\0b", "../outside"])
def test_a_name_is_no_path(top: Folder, name: str) -> None:
    assert not is_name(name)
    for attempt in (top.create, top.read, top.remove, top.remove_tree, top.make):
        with pytest.raises(OSError, match="invalid file name"):
            attempt(name)


def test_the_way_down_never_leads_up(top: Folder) -> None:
    for path in ("..", "a/../..", "/etc"):
        with pytest.raises(OSError, match="invalid file name"):
            top.enter(path, make=True)


def test_a_pipe_is_no_file(top: Folder) -> None:
    os.mkfifo(top.path / "pipe")
    for attempt in (top.read, top.open_lock):
        with pytest.raises(OSError, match=r"not a regular file|No such device"):
            attempt("pipe")


def test_a_lock_on_a_file_with_two_names_is_refused(top: Folder) -> None:
    """An archive may contain a hard link: emptying the file would empty the other name too."""
    (top.path / "lock").hardlink_to(top.path.parent / "outside" / "precious")
    with pytest.raises(OSError, match="second name"), hold_lock(top, "lock", 0):
        pass


def test_a_lock_is_held_once(top: Folder) -> None:
    held = hold_lock(top, "lock", 0)
    with held, pytest.raises(LockBusyError, match=str(os.getpid())), hold_lock(top, "lock", 0):
        pass
    with hold_lock(top, "lock", 0):
        assert top.read("lock") == f"{os.getpid()}\n".encode()
    assert top.read("lock") == b""


def test_a_full_disk_at_the_end_of_a_lock_undoes_nothing(
    top: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changes made under the lock are kept."""
    opened = Folder.open_lock

    def open_full(folder: Folder, name: str, mode: int) -> object:
        file = opened(folder, name, mode)
        answers = iter((0,))

        class Full:
            """A file whose size can be changed only once."""

            def __getattr__(self, method: str) -> object:
                return getattr(file, method)

            def __enter__(self) -> Full:
                return self

            def __exit__(self, *_: object) -> None:
                file.close()

            def truncate(self, size: int) -> int:
                for answer in answers:
                    return answer
                raise OSError(28, "No space left on device")

        return Full()

    monkeypatch.setattr(Folder, "open_lock", open_full)
    with hold_lock(top, "lock", 0):
        done = True
    assert done


def test_what_cannot_be_written_leaves_the_old_file(top: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    top.replace("a", b"old")

    def refuse(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(OSError, match="No space left"):
            top.replace("a", b"new")
    assert top.read("a") == b"old"
    assert top.entries() == [("a", False)]


@pytest.mark.skipif(not HAS_DESCRIPTORS, reason="folders cannot be synced here")
def test_a_file_is_on_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a power failure the file has the old or the new bytes: write, fsync, rename, fsync."""
    steps: list[str] = []
    fsync, rename = os.fsync, os.replace

    def note_fsync(descriptor: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        steps.append(f"fsync {kind} of {os.fstat(descriptor).st_size if kind == 'file' else 'names'}")
        fsync(descriptor)

    def note_rename(*args: object, **kwargs: object) -> None:
        steps.append("rename")
        rename(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_rename)
    with open_folder(tmp_path) as folder:
        folder.replace("a", b"bytes")
    assert steps == ["fsync file of 5", "rename", "fsync folder of names"]


def test_a_descent_keeps_what_neighbours_share(top: Folder) -> None:
    with OpenFolderPath(top, mode=0o755) as descent:
        for path in ("a/b/1", "a/b/2", "a/c/3", "4", "a/5"):
            parent, name = descent.parent(path)
            with parent.create(name) as file:
                file.write(path.encode())
    assert scan(top).files == {"a/b/1", "a/b/2", "a/c/3", "4", "a/5"}
    assert (top.path / "a/c/3").read_text() == "a/c/3"


def test_the_folder_of_a_site_is_not_entered_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / OWN_FOLDER).symlink_to("elsewhere")
    with pytest.raises(UnexpectedLinkError):
        open_own_folder(tmp_path, "schema")
    assert list((tmp_path / "elsewhere").iterdir()) == []


# Modules that may write to disk themselves, and why. All others use `base/storage/`.
WRITERS = {
    "base/storage": "the one place for it",
    "lab": "runs in the process of a post, and writes what the post says",
    "execute/worker": "runs in the process of a post, with the standard library only",
    "execute/kernel": "writes in the private temporary folder of one session",
    "execute/session/working_folder.py": "makes and clears up temporary folders of sessions",
    "execute/session/site_copy.py": "copies a site to a temporary folder",
    "cli/terminal.py": "opens the null device",
    "cli/theme_preview.py": "writes small sites in temporary folders",
    "cli/math.py": "opens the null device",
}
METHODS = {
    "chmod",
    "hardlink_to",
    "mkdir",
    "rename",
    "rmdir",
    "symlink_to",
    "touch",
    "unlink",
    "write_bytes",
    "write_text",
}
"""Methods of pathlib; `replace` and `open` are checked separately."""
OS_CALLS = METHODS | {
    "fchmod",
    "link",
    "makedirs",
    "mkfifo",
    "mknod",
    "open",
    "remove",
    "removedirs",
    "renames",
    "replace",
    "symlink",
    "truncate",
    "utime",
}
MODULES = {"shutil": {"which", "get_terminal_size", "copyfileobj"}, "tempfile": {"gettempdir"}}
"""Modules that write, and their functions that do not."""
OTHER_OPENS = ("Image", "gzip", "tarfile", "webbrowser")
"""Modules whose `open` gets an open file here, or opens none."""
READING_OPENS = {
    "execute/worker/landlock.py",
    "freeze/store.py",
    "project/plugin_process/child.py",
    "watch/tree.py",
}
"""Modules that call `os.open` with flags that only read."""


_WRITING = re.compile(
    rf"\b(?:{'|'.join([*METHODS, *OS_CALLS, 'replace', 'open', *MODULES, 'sqlite3'])})\b\s*[.(]"
)
"""Strings in files with these calls; most files need not be parsed."""


def writes_in(text: str, *, reads_by_descriptor: bool = False) -> list[str]:
    """Return calls in Python code that may write to disk, as `line: call`."""
    found: list[str] = []
    if not _WRITING.search(text):
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and (name := _writing_call(node, reads_by_descriptor)):
            found.append(f"{node.lineno}: {name}")
    return found


def _writing_call(call: ast.Call, reads_by_descriptor: bool) -> str:
    function = call.func
    if isinstance(function, ast.Name):
        return "open" if function.id == "open" and _opens_to_write(call, 1) else ""
    if not isinstance(function, ast.Attribute):
        return ""
    name, owner = function.attr, function.value
    module = owner.id if isinstance(owner, ast.Name) else ""
    if module == "os":
        is_reading = name == "open" and reads_by_descriptor
        return f"os.{name}" if name in OS_CALLS and not is_reading else ""
    if module in MODULES:
        return f"{module}.{name}" if name not in MODULES[module] else ""
    if module == "sqlite3" and name == "connect":
        return "sqlite3.connect"
    if name == "open" and module not in OTHER_OPENS and _opens_to_write(call, 0):
        return ".open"
    # `Path.replace` has one argument; `str.replace` has two
    is_path_replace = name == "replace" and len(call.args) == 1 and not call.keywords
    # methods of folders in `base/storage/` get a name first: `folder.rename("a", to, "b")`
    is_ours = name in ("rename", "chmod") and len(call.args) == 3
    return f".{name}" if (name in METHODS or is_path_replace) and not is_ours else ""


def _opens_to_write(call: ast.Call, position: int) -> bool:
    """Return whether a mode among the arguments of `open` writes, or is unknown."""
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    modes += call.args[position : position + 1]
    for mode in modes:
        if not isinstance(mode, ast.Constant):
            return True
        if isinstance(mode.value, str) and set(mode.value) & set("wax+"):
            return True
    return False


def test_only_storage_writes() -> None:
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        path = file.relative_to(PACKAGE).as_posix()
        if not any(path == known or path.startswith(f"{known}/") for known in WRITERS):
            calls = writes_in(file.read_text("utf-8"), reads_by_descriptor=path in READING_OPENS)
            if calls:
                found[path] = calls
    assert found == {}


def test_every_exception_is_needed() -> None:
    for known in WRITERS:
        place = PACKAGE / known
        files = [place] if place.is_file() else list(place.rglob("*.py"))
        assert any(writes_in(file.read_text("utf-8")) for file in files), known
    for known in READING_OPENS:
        calls = writes_in((PACKAGE / known).read_text("utf-8"))
        assert any(call.endswith("os.open") for call in calls), known


@each_row(
    ("code", "is_writing"),
    [
        ("open('a', 'w')", True),
        ("open('a', mode='ab')", True),
        ("open('a', 'rb')", False),
        ("open('a')", False),
        ("Path('a').open('r+')", True),
        ("Path('a').open('rb')", False),
        ("Path('a').open(how)", True),
        ("Path('a').write_text('b')", True),
        ("Path('a').replace(b)", True),
        ("'a'.replace('b', 'c')", False),
        ("replace(record, field=1)", False),
        ("os.unlink('a')", True),
        ("os.open('a', flags)", True),
        ("os.stat('a')", False),
        ("shutil.rmtree('a')", True),
        ("shutil.which('a')", False),
        ("tempfile.mkdtemp()", True),
        ("sqlite3.connect('a')", True),
        ("folder.rename('a', folder, 'b')", False),
        ("path.rename('b')", True),
    ],
)
def test_every_form_of_writing_is_seen(code: str, is_writing: bool) -> None:
    assert bool(writes_in(code)) is is_writing
