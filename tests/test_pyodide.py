"""Python for browsers: imports of code, validation of locks, and the copy in a site's own folder."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPMessage
from pathlib import Path
from urllib.request import Request

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.base.storage.folder import Folder
from blogsmith.base.storage.lock import site_lock
from blogsmith.cli import pyodide_vendor
from blogsmith.cli.main import main
from blogsmith.cli.pyodide_vendor import NOTICE, VendorResult
from blogsmith.pyodide.distribution import LockError, damaged_files, open_distribution, read_lock
from blogsmith.pyodide.imports import find_imports
from blogsmith.pyodide.names import MODULES, STANDARD_LIBRARY, is_built_in
from blogsmith.pyodide.release import CDN_URL, CORE, LOCK, LOCK_SHA256, VERSION
from blogsmith.pyodide.source import (
    PyodideSource,
    ReleaseSource,
    SafeRedirects,
    SourceError,
    WebSource,
    open_source,
)
from blogsmith.write import stage
from tests.pyodide_stub import PACKAGES, file_name, pin_stub, served, sha256, stub_lock, wheel, write_stub
from tests.rows import each_row

NPM = Path(__file__).parent.parent / ".cache" / "node_modules" / "pyodide"
POST = """---
title: {title}
---

<div class="runnable" data-lang="python">

```python
{code}
```

</div>
"""


def vendor(
    target: Path, source: PyodideSource, packages: Sequence[str], modules: Sequence[str]
) -> VendorResult:
    """Copy to a site whose root is the folder above `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    return pyodide_vendor.vendor(target.parent, target, source, packages, modules)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use no proxy, since the servers of these tests are on this machine."""
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a complete distribution whose core is accepted as the pinned one."""
    pin_stub(monkeypatch)
    return write_stub(tmp_path / "dist")


@pytest.fixture
def npm() -> Path:
    """Return the core as published on npm."""
    if not NPM.is_dir():
        reason = f"{NPM} is missing; `make test` fetches it with npm"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return NPM


def site(root: Path, code: str = "import scipy", settings: str = "") -> Path:
    """Create a site with one page whose readers run `code`."""
    (root / "content").mkdir(parents=True)
    (root / "blogsmith.yaml").write_text(f"title: T\n{settings}", encoding="utf-8")
    (root / "content" / "a.md").write_text(POST.format(title="A", code=code), encoding="utf-8")
    return root


def contents(folder: Path) -> dict[str, bytes]:
    """Return name → bytes of every file."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def run(root: Path, *arguments: str | Path) -> int:
    """Run `blogsmith pyodide …` on a site."""
    return main(["pyodide", *map(str, arguments), "--site", str(root)])


# what code imports


def test_every_import_is_found_with_its_place() -> None:
    code = (
        "import numpy.linalg as la, torch\ndef f():\n    from  scipy.special import erf\n'é'; import sympy\n"
    )
    found = [(item.module, item.line, item.column) for item in find_imports(code)]
    assert found == [("numpy", 1, 8), ("torch", 1, 28), ("scipy", 3, 11), ("sympy", 4, 13)]


@each_row(
    ("code", "guarded"),
    [
        ("try:\n    import a\nexcept ImportError:\n    a = None", True),
        ("try:\n    import a\nexcept (KeyError, ModuleNotFoundError):\n    a = None", True),
        ("try:\n    if x:\n        import a\nexcept:\n    pass", True),
        ("try:\n    import a\nexcept KeyError:\n    pass", False),
        ("try:\n    x()\nexcept ImportError:\n    import a", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a", True),
        ("if x:\n    import a", False),
    ],
)
def test_an_import_that_may_fail_is_known(code: str, guarded: bool) -> None:
    assert [item.guarded for item in find_imports(code) if item.module == "a"] == [guarded]


@each_row("code", ["import", "from . import x", "\0", "x = '\\d'", "(" * 3000])
def test_code_without_imports_gives_none(code: str) -> None:
    assert find_imports(code) == []


def test_the_tables_are_those_of_the_release(npm: Path) -> None:
    data = (npm / LOCK).read_bytes()
    assert sha256(data) == LOCK_SHA256
    assert {name: (len(b := (npm / name).read_bytes()), sha256(b)) for name in CORE} == dict(CORE)
    lock = read_lock(data)
    for module, package in MODULES.items():
        assert module in (found := [name.replace("-", "_") for name in lock.packages[package].modules]), found
    missing = {n for n, p in lock.packages.items() if p.modules and not n.endswith("-tests")}
    assert missing - set(MODULES.values()) <= {"argon2-cffi-bindings"}, "private modules only"


def test_what_needs_no_package() -> None:
    assert is_built_in("annotationlib"), "also what a newer Python has"
    assert is_built_in("js")
    assert not any(is_built_in(name) for name in ("tkinter", "venv", "curses", "numpy", "torch"))
    assert not STANDARD_LIBRARY & set(MODULES)
    assert (MODULES["sklearn"], MODULES["PIL"], MODULES["numpy"]) == ("scikit-learn", "pillow", "numpy")


# the lock


def test_a_lock_is_pruned_to_what_is_needed() -> None:
    lock = read_lock(json.dumps(stub_lock()).encode())
    needed = lock.with_dependencies(["scipy"])
    assert list(needed) == ["libopenblas", "numpy", "scipy"]
    pruned = json.loads(lock.prune(needed))
    assert pruned["info"] == stub_lock()["info"]
    assert pruned["tool"] == {"kept": 1}
    assert pruned["packages"] == {name: stub_lock()["packages"][name] for name in needed}
    assert list(read_lock(lock.prune(needed)).packages) == list(needed)


def test_packages_may_need_each_other() -> None:
    lock = read_lock(json.dumps(stub_lock(numpy={"depends": ["scipy"]})).encode())
    assert list(lock.with_dependencies(["numpy"])) == ["libopenblas", "numpy", "scipy"]


HOSTILE: Mapping[str, object] = {
    "up": {"file_name": "../../evil.whl"},
    "absolute": {"file_name": "/etc/passwd.whl"},
    "address": {"file_name": "https://example.org/evil.whl"},
    "folder": {"file_name": "a/b.whl"},
    "backslash": {"file_name": "a\\b.whl"},
    "hidden": {"file_name": ".htaccess.whl"},
    "page": {"file_name": "index.html"},
    "core": {"file_name": "python_stdlib.zip"},
    "line": {"file_name": "a.whl\n"},
    "number": {"file_name": 3},
    "digest": {"sha256": "abc"},
    "no digest": {"sha256": None},
    "depends": {"depends": "numpy"},
    "imports": {"imports": [1]},
}


@each_row("name", HOSTILE)
def test_a_hostile_lock_is_refused(name: str) -> None:
    with pytest.raises(LockError):
        read_lock(json.dumps(stub_lock(numpy=HOSTILE[name])).encode())  # type: ignore[arg-type]


@each_row(
    "text",
    ["", "[]", "{}", '{"packages": {}}', '{"packages": [], "info": {}}', "[" * 100_000, "\xff",
     '{"info": {}, "packages": {"../x": {}}}', '{"info": {}, "packages": {"x": 1}}'],
)  # fmt: skip
def test_what_is_no_lock_is_refused(text: str) -> None:
    with pytest.raises(LockError):
        read_lock(text.encode("latin-1"))


# copying


def test_a_copy_holds_what_is_needed_and_nothing_else(stub: Path, tmp_path: Path) -> None:
    target = tmp_path / "site" / "static" / "pyodide"
    done = vendor(target, open_source(str(stub)), ("numpy",), ("scipy", "torch"))
    wheels = {file_name(name): wheel(name) for name in ("numpy", "scipy", "libopenblas")}
    held = contents(target)
    assert {name: held[name] for name in wheels} == wheels
    assert set(held) == {*wheels, *CORE, LOCK, NOTICE}
    assert set(json.loads(held[LOCK])["packages"]) == {"numpy", "scipy", "libopenblas"}
    assert b"Mozilla Public License 2.0" in held[NOTICE]
    assert b"scipy 1.0" in held[NOTICE]
    assert (done.changed, done.unknown) == (True, ("torch",))
    assert dict(done.files) == {name: len(data) for name, data in held.items()}
    assert [path.name for path in target.parent.iterdir()] == ["pyodide"]
    assert damaged_files(target, read_lock(held[LOCK])) == []


def test_a_second_copy_changes_nothing(stub: Path, tmp_path: Path) -> None:
    target = tmp_path / "static" / "pyodide"
    vendor(target, open_source(str(stub)), (), ("numpy",))
    before = contents(target), target.stat().st_ino
    assert not vendor(target, open_source(str(stub)), (), ("numpy",)).changed
    assert (contents(target), target.stat().st_ino) == before


def test_packages_that_nobody_imports_any_more_go(stub: Path, tmp_path: Path) -> None:
    target = tmp_path / "static" / "pyodide"
    vendor(target, open_source(str(stub)), (), ("scipy",))
    assert vendor(target, open_source(str(stub)), (), ()).changed
    assert set(contents(target)) == {*CORE, LOCK, NOTICE}
    assert [path.name for path in target.parent.iterdir()] == ["pyodide"]


def test_what_a_run_left_that_died_is_not_in_the_way(
    stub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if two names cannot be exchanged in one step."""
    monkeypatch.setattr(stage, "exchange", lambda *names: False)
    target = tmp_path / "static" / "pyodide"
    vendor(target, open_source(str(stub)), (), ())
    for name in (stage.staged_name(target.name), stage.retired_name(target.name)):
        left = target.with_name(name)
        left.mkdir()
        (left / LOCK).write_bytes(b"{")
    vendor(target, open_source(str(stub)), (), ("numpy",))
    assert file_name("numpy") in contents(target)
    assert [path.name for path in target.parent.iterdir()] == ["pyodide"]


def test_wheels_of_a_copy_that_has_lost_its_lock_go(stub: Path, tmp_path: Path) -> None:
    target = tmp_path / "static" / "pyodide"
    vendor(target, open_source(str(stub)), (), ("numpy",))
    (target / LOCK).write_bytes(b"{")
    vendor(target, open_source(str(stub)), (), ())
    assert set(contents(target)) == {*CORE, LOCK, NOTICE}


def test_the_lock_of_the_release_is_known(stub: Path, tmp_path: Path) -> None:
    source = ReleaseSource()
    source.read = open_source(str(stub)).read  # type: ignore[method-assign]
    with pytest.raises(SiteError, match=f"it is not the lock of Pyodide {VERSION}"):
        vendor(tmp_path / "a", source, (), ())


def _damage_wheel(stub: Path) -> None:
    (stub / file_name("numpy")).write_bytes(b"other")


def _damage_core(stub: Path) -> None:
    data = (stub / "pyodide.asm.wasm").read_bytes()
    (stub / "pyodide.asm.wasm").write_bytes(data[:-1] + b"!")


def _longer_core(stub: Path) -> None:
    (stub / "pyodide.mjs").write_bytes(b"x" * 100_000)


def _no_wheel(stub: Path) -> None:
    (stub / file_name("numpy")).unlink()


def _link_out(stub: Path) -> None:
    secret = stub.parent / "secret"
    secret.write_bytes(wheel("numpy"))
    _no_wheel(stub)
    (stub / file_name("numpy")).symlink_to(secret)


def _no_lock(stub: Path) -> None:
    (stub / LOCK).unlink()


def _no_dependency(stub: Path) -> None:
    lock = stub_lock()
    del lock["packages"]["libopenblas"]
    (stub / LOCK).write_text(json.dumps(lock), encoding="utf-8")


def _no_package(stub: Path) -> None:
    lock = stub_lock()
    del lock["packages"]["scipy"]
    (stub / LOCK).write_text(json.dumps(lock), encoding="utf-8")


def _hostile(stub: Path) -> None:
    (stub / LOCK).write_text(json.dumps(stub_lock(pandas={"file_name": "../x.whl"})), encoding="utf-8")


DAMAGES: Mapping[str, tuple[Callable[[Path], None], str]] = {
    "wheel": (_damage_wheel, "its SHA-256 differs"),
    "core": (_damage_core, "does not match Pyodide 314.0.7"),
    "longer": (_longer_core, "is larger than"),
    "gone": (_no_wheel, ': "numpy-1.0-stub.whl"'),
    "link": (_link_out, ': "numpy-1.0-stub.whl"'),
    "lock": (_no_lock, f': "{LOCK}"'),
    "dependency": (_no_dependency, 'missing package "libopenblas", which "scipy" needs'),
    "package": (_no_package, 'missing package for "scipy", which pages import'),
    "hostile": (_hostile, 'invalid file name "../x.whl" of package "pandas"'),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_wrong_source_leaves_the_copy_as_it_was(stub: Path, tmp_path: Path, damage: str) -> None:
    target = tmp_path / "static" / "pyodide"
    vendor(target, open_source(str(stub)), (), ())
    for name in CORE:
        # else the copy itself would be asked first
        (target / name).write_bytes(b"old")
    before = contents(target)
    spoil, message = DAMAGES[damage]
    spoil(stub)
    with pytest.raises(SiteError, match=message) as caught:
        vendor(target, open_source(str(stub)), (), ("scipy",))
    assert [found.code for found in caught.value.diagnostics] == ["pyodide-vendor"]
    assert contents(target) == before
    assert [path.name for path in target.parent.iterdir()] == ["pyodide"]


def test_a_failing_disk_leaves_the_copy_as_it_was(
    stub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "static" / "pyodide"
    vendor(target, open_source(str(stub)), (), ())
    before = contents(target)

    def full(parent: Folder, stage: str, name: str) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(pyodide_vendor, "swap", full)
    with pytest.raises(OSError, match="disk full"):
        vendor(target, open_source(str(stub)), (), ("numpy",))
    assert contents(target) == before
    assert [path.name for path in target.parent.iterdir()] == ["pyodide"]


def _foreign_file(target: Path) -> None:
    (target / "notes.txt").write_text("mine", encoding="utf-8")


def _foreign_zip(target: Path) -> None:
    (target / "data.zip").write_bytes(b"mine")


def _foreign_folder(target: Path) -> None:
    (target / "img").mkdir()


def _foreign_wheel(target: Path) -> None:
    (target / "mine-1.0-py3-none-any.whl").write_bytes(b"mine")


def _only_a_wheel(target: Path) -> None:
    for path in target.iterdir():
        path.unlink()
    _foreign_wheel(target)


@pytest.mark.parametrize("put", [_foreign_file, _foreign_zip, _foreign_folder, _foreign_wheel, _only_a_wheel])
def test_what_is_not_pyodide_is_never_replaced(
    stub: Path, tmp_path: Path, put: Callable[[Path], None]
) -> None:
    target = tmp_path / "static" / "pyodide"
    vendor(target, open_source(str(stub)), (), ("scipy",))
    put(target)
    with pytest.raises(SiteError, match="which is not a file of Pyodide"):
        vendor(target, open_source(str(stub)), (), ())


def test_a_link_is_never_replaced(stub: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "pyodide").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SiteError, match="is a link or a file, not a folder"):
        vendor(tmp_path / "pyodide", open_source(str(stub)), (), ())


# from a server


def test_a_server_gives_what_a_folder_gives(stub: Path, tmp_path: Path) -> None:
    vendor(tmp_path / "a", open_source(str(stub)), (), ("scipy",))
    with served(stub) as web:
        vendor(tmp_path / "b", open_source(web.url.rstrip("/")), (), ("scipy",))
        assert contents(tmp_path / "a") == contents(tmp_path / "b")
        first = list(web.asked)
        vendor(tmp_path / "b", open_source(web.url), (), ("scipy", "pandas"))
    assert (
        contents(tmp_path / "a").items()
        <= contents(tmp_path / "b").items() | contents(tmp_path / "a").items()
    )
    assert len(first) == len(CORE) + 1 + 3
    assert web.asked[len(first) :] == [LOCK, file_name("pandas")], "what is there is not loaded again"


def test_what_a_server_gets_wrong_is_said(stub: Path, tmp_path: Path) -> None:
    target = tmp_path / "static" / "pyodide"
    with served(stub) as web:
        source = open_source(web.url)
        web.cut = "pyodide.asm.wasm"
        with pytest.raises(SiteError, match=r'asm\.wasm": connection closed after \d+ of \d+ bytes'):
            vendor(target, source, (), ())
        web.cut = ""
        del web.files[file_name("numpy")]
        with pytest.raises(SiteError, match=r'numpy-1\.0-stub\.whl": 404'):
            vendor(target, source, (), ("numpy",))
        web.files[file_name("numpy")] = b"other"
        with pytest.raises(SiteError, match="its SHA-256 differs"):
            vendor(target, source, (), ("numpy",))
        web.redirects[LOCK] = "http://example.org/lock.json"
        with pytest.raises(
            SiteError, match=r'redirects to "http://example\.org/lock\.json", which is not https'
        ):
            vendor(target, source, (), ())
        web.redirects[LOCK] = "file:///etc/passwd"
        with pytest.raises(SiteError, match='": 302'):
            vendor(target, source, (), ())
    with pytest.raises(SiteError, match=r"cannot load .*: Connection refused"):
        vendor(target, source, (), ())
    assert not target.exists()


@each_row(
    "address", ["http://example.org/", "ftp://example.org/", "file:///etc/", "https://", "http://[::bad/"]
)
def test_only_safe_addresses_are_loaded_from(address: str) -> None:
    with pytest.raises(SourceError):
        WebSource(address)


@each_row(
    ("old", "new", "is_followed"),
    [
        ("https://a.example/x", "https://b.example/x", True),
        ("https://a.example/x", "http://127.0.0.1/x", False),
        ("http://127.0.0.1/x", "http://127.0.0.1/y", True),
        ("http://127.0.0.1/x", "http://a.example/x", False),
        ("https://a.example/x", "file:///etc/passwd", False),
    ],
)
def test_only_safe_redirects_are_followed(old: str, new: str, is_followed: bool) -> None:
    def follow() -> Request | None:
        return SafeRedirects().redirect_request(Request(old), io.BytesIO(), 302, "", HTTPMessage(), new)

    if is_followed:
        assert (found := follow()) and found.full_url == new
    else:
        with pytest.raises(SourceError, match="which is not https"):
            follow()


def test_a_lock_of_no_end_is_not_read(stub: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pyodide_vendor, "MAX_LOCK_BYTES", 100)
    with pytest.raises(SiteError, match=f'"{LOCK}" is larger than 100 bytes'):
        vendor(tmp_path / "a", open_source(str(stub)), (), ())


# the commands


def test_the_command_fills_the_folder_and_says_what_to_write(
    stub: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = site(tmp_path / "site", "import scipy\nimport torch")
    assert run(root, "vendor", "--from", stub) == 0
    out, err = capsys.readouterr()
    assert set(contents(root / "static" / "pyodide")) >= {file_name("scipy"), file_name("numpy")}
    assert "9 files" in out
    assert out.endswith("Now add to blogsmith.yaml:\n\nbrowser:\n  pyodide: static/pyodide\n")
    assert err == 'warning: Pyodide has no package for "torch", which content/a.md imports\n'
    (root / "blogsmith.yaml").write_text("browser: {pyodide: static/pyodide}\n", encoding="utf-8")
    assert run(root) == 0
    out, _ = capsys.readouterr()
    assert "from static/pyodide: " in out
    assert "content/a.md  1 block, imports scipy, torch" in out


def test_one_copy_at_a_time(stub: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = site(tmp_path / "site")
    with site_lock(root, 0):
        assert run(root, "vendor", "--from", stub) == 1
    assert "is writing to this site [busy]" in capsys.readouterr().err
    assert not (root / "static").exists()


@pytest.mark.parametrize("taken", ["static", ".blogsmith"])
def test_a_folder_that_cannot_be_made_is_said(
    stub: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], taken: str
) -> None:
    root = site(tmp_path / "site")
    (root / taken).write_text("a file where a folder is needed", encoding="utf-8")
    assert run(root, "vendor", "--from", stub) == 1
    err = capsys.readouterr().err
    assert 'error: cannot write "static/pyodide": ' in err and "[pyodide-vendor]" in err


def test_what_code_can_do_without_is_not_missed(
    stub: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "try:\n    import nowhere, numpy\nexcept ImportError:\n    pass"
    root = site(tmp_path / "site", code)
    assert run(root, "vendor", "--from", stub) == 0
    assert file_name("numpy") in contents(root / "static" / "pyodide")
    assert "nowhere" not in capsys.readouterr().err


def test_a_complete_folder_is_not_loaded_again(
    stub: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = site(tmp_path / "site", settings="browser: {pyodide: static/py, packages: [pandas]}\n")
    with served(stub) as web:
        assert run(root, "vendor", "--from", web.url) == 0
    before = contents(root / "static" / "py")
    assert file_name("pandas") in before
    capsys.readouterr()
    # no server any more, and no address given
    assert run(root, "vendor") == 0
    out, _ = capsys.readouterr()
    assert "already in" in out
    assert "Now write" not in out
    assert contents(root / "static" / "py") == before
    (root / "content" / "a.md").write_text(POST.format(title="A", code="x = 1"), encoding="utf-8")
    assert run(root, "vendor") == 0, "less is needed: the folder is its own source"
    assert set(before) - set(contents(root / "static" / "py")) == {
        file_name("scipy"),
        file_name("libopenblas"),
    }


def test_the_state_of_a_folder_is_told(
    stub: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = site(tmp_path / "site", settings="browser: {pyodide: static/pyodide}\n")
    assert run(root) == 1
    assert (
        'folder not found: "static/pyodide"\n  run `blogsmith pyodide vendor` to complete it'
        in capsys.readouterr().out
    )
    assert run(root, "vendor", "--from", stub) == 0
    (root / "static" / "pyodide" / file_name("numpy")).write_bytes(b"x")
    capsys.readouterr()
    assert run(root) == 1
    assert f"static/pyodide/{file_name('numpy')} is damaged" in capsys.readouterr().out
    assert run(root, "vendor", "--from", stub) == 0
    (root / "content" / "a.md").write_text(POST.format(title="A", code="import pandas"), encoding="utf-8")
    assert run(root) == 1
    assert "packages that pages need are missing in static/pyodide" in capsys.readouterr().out


def test_the_cdn_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(site(tmp_path / "site", "x = 1")) == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "Pyodide 314.0.7, Python 3.14",
        f"from {CDN_URL}, about 6.3 MB plus packages",
        "content/a.md  1 block, imports no package",
    ]


@pytest.mark.parametrize(
    "folder",
    ["static", "public/pyodide", "static/../x", "/tmp/x", "cdn", "static/.py", "static/a b/../../.."],
)
def test_only_a_folder_below_static_is_filled(stub: Path, tmp_path: Path, folder: str) -> None:
    root = site(tmp_path / "site")
    assert run(root, "vendor", "--from", stub, "--to", folder) == 2
    assert sorted(path.name for path in root.iterdir()) == ["blogsmith.yaml", "content"]


def test_a_linked_static_folder_is_not_filled(stub: Path, tmp_path: Path) -> None:
    root = site(tmp_path / "site")
    (tmp_path / "elsewhere").mkdir()
    (root / "static").symlink_to(tmp_path / "elsewhere")
    assert run(root, "vendor", "--from", stub) == 2
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_missing_source_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = site(tmp_path / "site")
    assert run(root, "vendor", "--from", tmp_path / "nowhere") == 1
    assert "folder not found" in capsys.readouterr().err
    assert not (root / "static").exists()


def test_the_published_core_is_taken(npm: Path, tmp_path: Path) -> None:
    root = site(tmp_path / "site", "print(1)")
    assert run(root, "vendor", "--from", npm) == 0
    found = open_distribution("static/pyodide", root, "/blog")
    assert (found.url, found.problems) == ("/blog/pyodide/", ())
    lock_size = (root / "static" / "pyodide" / LOCK).stat().st_size
    assert found.transfer_bytes(["numpy"]) == sum(core.size for core in CORE.values()) + lock_size


def test_the_stub_is_a_whole_distribution(stub: Path) -> None:
    found = open_distribution("dist", stub.parent, "")
    assert found.problems == ()
    assert all(found.has(name) for name in PACKAGES)
