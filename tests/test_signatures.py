"""Signatures of records: a page names the signer only if `ssh-keygen` has verified the signature."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from blogsmith.cli.main import main
from blogsmith.freeze.archive import pack, unpack
from blogsmith.freeze.signatures import KEY_VARIABLE, SIGNATURE, find_signer, make_signature
from blogsmith.freeze.store import read_page
from tests.recorded import unsealed
from tests.run_sites import STALE, page, site
from tests.site_files import build

HAS_SSH = shutil.which("ssh-keygen") is not None or "CI" in os.environ
pytestmark = pytest.mark.skipif(not HAS_SSH, reason="ssh-keygen is not installed")
POST = PurePosixPath("content/posts/a.md")
RECORD = "_freeze/posts/a/outputs.json"
BAD = "invalid signature of the recorded results: they changed after they were signed"
UNKNOWN = "unknown signer of the recorded results: not in _freeze/allowed_signers"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the keys `ada` and `eve`."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ada", "eve"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)], check=True
        )
    return folder


def line(keys: Path, name: str = "ada", options: str = "") -> str:
    return f"{name}@example.org {options} {(keys / f'{name}.pub').read_text()}"


@pytest.fixture
def root(tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a site with a signed record, and a list with its signer."""
    made = site(tmp_path / "s", a="#| label: x\nx = 20\nprint(x)")
    (made / "_freeze").mkdir()
    (made / "_freeze/allowed_signers").write_text(line(keys))
    monkeypatch.setenv(KEY_VARIABLE, str(keys / "ada"))
    assert build(made, execution=STALE).diagnostics == ()
    monkeypatch.delenv(KEY_VARIABLE)
    return made


def errors(root: Path) -> list[tuple[str, str, str]]:
    return [(d.code, d.path, d.message) for d in build(root).diagnostics if d.severity == "error"]


def run(capsys: pytest.CaptureFixture[str], root: Path, *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main([*arguments, "--site", str(root)])
    found = capsys.readouterr()
    return code, found.out + found.err


def test_a_signed_record_names_its_signer(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = page(root)
    assert "signed by ada@example.org</p>" in shown and ' data-signer="ada@example.org"' in shown
    assert build(root).diagnostics == () and page(root) == shown, "the same from the record"
    assert "signed by ada@example.org" in run(capsys, root, "freeze", "status")[1]
    assert "its record was signed by ada@example.org" in run(capsys, root, "freeze", "explain")[1]
    assert run(capsys, root, "verify") == (0, "1 result verified\n")
    (root / "_freeze/allowed_signers").unlink()
    assert build(root).diagnostics == ()
    assert "signed by" not in page(root), "nobody is trusted"


def test_a_forged_record(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = root / RECORD
    file.write_bytes(unsealed(file.read_bytes()).replace(b'"20', b'"21'))
    assert errors(root) == [("freeze-signature", RECORD, BAD)]
    code, said = run(capsys, root, "verify")
    assert code == 1 and BAD in said
    assert (
        "accepted the record without its signature"
        in run(capsys, root, "freeze", "accept", str(root / POST))[1]
    )
    assert errors(root) == [] and "signed by" not in page(root)
    assert not file.with_name(SIGNATURE).exists()


def test_a_key_that_is_not_listed(root: Path, keys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, root, "freeze", "sign", str(root / POST), "--key", str(keys / "eve"))
    assert code == 1 and UNKNOWN in said
    assert errors(root) == [], "the signature of ada stays"
    (root / "_freeze/allowed_signers").write_text(line(keys, "eve"))
    assert errors(root) == [("freeze-signature", RECORD, UNKNOWN)]
    code, said = run(capsys, root, "freeze", "sign", str(root / POST), "--key", str(keys / "eve"))
    assert (code, said) == (0, f"{POST}: signed by eve@example.org\n")
    assert "signed by eve@example.org" in (build(root), page(root))[1]
    code, said = run(capsys, root, "freeze", "sign", str(root / POST), "--key", str(keys / "gone"))
    assert code == 1 and "invalid signing key" in said


def test_another_record_loses_the_signature(root: Path, monkeypatch: pytest.MonkeyPatch, keys: Path) -> None:
    post = root / POST
    signature = root / RECORD
    signature = signature.with_name(SIGNATURE)
    assert build(root, execution=STALE).diagnostics == () and signature.exists()
    post.write_text(post.read_text().replace("20", "30"))
    assert build(root, execution=STALE).diagnostics == ()
    assert not signature.exists() and "signed by" not in page(root)
    monkeypatch.setenv(KEY_VARIABLE, str(keys / "ada"))
    post.write_text(post.read_text() + "\n```{python}\n#| session: b\nprint(1)\n```\n")
    assert build(root, execution=STALE).diagnostics == ()
    assert not signature.exists(), "one of its sessions did not run now"
    monkeypatch.setenv(KEY_VARIABLE, str(keys / "eve"))
    post.write_text(post.read_text().replace("print(1)", "print(2)").replace("30", "40"))
    assert [d.message for d in build(root, execution=STALE).diagnostics] == [UNKNOWN]
    assert not signature.exists() and errors(root) == [], "recorded without a signature"


def test_a_signature_follows_its_record(root: Path, tmp_path: Path) -> None:
    pack(root, [POST], tmp_path / "a.tar.gz")
    other = site(tmp_path / "other", a="x")
    unpack(other, tmp_path / "a.tar.gz")
    first, second = ((each / RECORD).with_name(SIGNATURE).read_bytes() for each in (root, other))
    assert first == second
    (root / POST).rename(root / "content/posts/b.md")
    assert build(root, execution=STALE).diagnostics == ()
    assert read_page(root, PurePosixPath("content/posts/b.md")).signer == "ada@example.org"
    assert main(["freeze", "prune", "--site", str(root)]) == 0
    assert not (root / RECORD).parent.exists()


def test_without_ssh_keygen(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    report = build(root)
    assert [(d.code, d.severity) for d in report.diagnostics] == [("freeze-signature", "warning")]
    assert "signed by" not in page(root) and "20" in page(root)


def test_keys_are_valid_on_the_day_of_the_record(keys: Path) -> None:
    data = b"record"
    signature = make_signature(data, str(keys / "ada"))

    def signer(options: str, date: str = "2026-03-01", signed: bytes = data) -> object:
        found = find_signer(signed, signature, line(keys, options=options).encode(), date, RECORD)
        return found if isinstance(found, str) else found.message

    assert signer("") == "ada@example.org"
    assert signer('namespaces="blogsmith-record"') == "ada@example.org"
    assert signer('valid-before="20260302"') == "ada@example.org"
    assert signer('valid-before="20260228"') == UNKNOWN
    assert signer('namespaces="git"') == UNKNOWN
    assert signer("", signed=b"forgery") == BAD


def test_random_edits_of_a_signed_record(keys: Path) -> None:
    data = bytes(range(256)) * 8
    signature, signers = make_signature(data, str(keys / "ada")), line(keys).encode()
    for place in range(7, len(data), 500):
        for edited in (data[:place] + b"x" + data[place + 1 :], data[:place] + data[place + 1 :]):
            assert edited == data or not isinstance(find_signer(edited, signature, signers, "", RECORD), str)
