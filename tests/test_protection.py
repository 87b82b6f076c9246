"""Pages that request protection: the keys and values that do, and that no command publishes one."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.codes import LOWERABLE, PROTECTED_CODE, has_warnings
from blogsmith.cli.main import main
from blogsmith.model.protection import RULES, find_restrictions
from tests.lsp_desk import Desk
from tests.rows import each_row
from tests.site_files import build, printed, put, put_bare

SECRET = "xylophone"
CONFIG = "title: S\nbase_url: https://example.org\nsearch: true\ndiagnostics: {link-unpublished: warning}\n"
POST = (
    "---\ntitle: A\ndate: 2026-01-01\ntags: [x]\nseries: {name: N, part: 1}\n---\n\n"
    "See [it](secret/index.md).\n"
)
PROTECTED_POST = (
    f"---\ntitle: About the {SECRET}\ndescription: A {SECRET}\ndate: 2026-01-02\ntags: [x, {SECRET}]\n"
    "series: {name: N, part: 2}\nDRAFT---\n\nSee [A](../a.md).\n\n"
    f"$$x \\label{{eq:{SECRET}}}$$\n\n[{SECRET}]({SECRET}.txt)\n"
)
PATH = "content/posts/secret/index.md"


@each_row(
    ("front", "expected"),
    [
        ({"password": "hunter2"}, ["access password"]),
        ({"password": "no"}, ["access password"]),
        ({"password": True}, ["access password"]),
        ({"password": 1234}, ["access password"]),
        ({"password": "-"}, ["access password"]),
        ({"password": ["a", "b"]}, ["access password"]),
        ({"password": {"a": "b"}}, ["access password"]),
        ({"password": ""}, []),
        ({"password": " "}, []),
        ({"password": None}, []),
        ({"password": []}, []),
        ({"password": {}}, []),
        ({"password": False}, []),
        ({"Password": "x"}, ["access Password"]),
        ({"post-password": "x"}, ["access post-password"]),
        ({"Password Protected": "yes"}, ["access Password Protected"]),
        ({"pasword": "x"}, ["access pasword=password"]),
        ({"passwrod": "x"}, ["access passwrod=password"]),
        ({"passsword": "x"}, ["access passsword=password"]),
        ({"visiblity": "paid"}, ["access visiblity=visibility"]),
        ({"visiblity": "public"}, []),
        ({"private": True}, ["access private"]),
        ({"private": "false"}, []),
        ({"private": False}, []),
        ({"private": 2026}, ["access private"]),
        ({"encrypted": "aes"}, ["access encrypted"]),
        ({"members": True}, ["access members"]),
        ({"members": ["gold", "silver"]}, ["access members"]),
        ({"members": False}, []),
        ({"member": "Ann"}, []),
        ({"access": "members"}, ["access access"]),
        ({"access": "none"}, ["access access"]),
        ({"access": "open"}, []),
        ({"access": "Open Access"}, []),
        ({"access": ["public"]}, []),
        ({"access": ["public", "paid"]}, ["access access"]),
        ({"accessed": "2026-01-01"}, []),
        ({"visibility": "public"}, []),
        ({"visibility": "paid"}, ["access visibility"]),
        ({"visibility": False}, ["access visibility"]),
        ({"visibility": "hidden"}, ["list visibility"]),
        ({"public": False}, ["access public"]),
        ({"public": True}, []),
        ({"status": "private"}, ["access status"]),
        ({"status": "hidden"}, ["list status"]),
        ({"status": "finished"}, []),
        ({"audience": "only_paid"}, ["access audience"]),
        ({"audience": "everyone"}, []),
        ({"audience": "developers"}, []),
        ({"hidden": True}, ["list hidden"]),
        ({"hide": ["navigation", "toc"]}, []),
        ({"unlisted": True}, []),
        ({"Unlisted": True}, ["list Unlisted"]),
        ({"publish": "no"}, ["draft publish"]),
        ({"_build": {"render": "never", "list": "never"}}, ["draft _build.render", "list _build.list"]),
        ({"build": {"list": "local"}}, []),
        ({"list": False, "render": True}, []),
        ({"params": {"password": "x"}}, ["access params.password"]),
        ({"cascade": [{"params": {"private": True}}, {"draft": True}]}, ["access cascade.params.private"]),
        ({"author": "Ann", "authors": [], "interval": 3, "internet": 4, "unrestricted": True}, []),
        ({"references": [{"access": "members"}]}, []),
    ],
)  # fmt: skip
def test_keys_and_values(front: dict[str, object], expected: list[str]) -> None:
    found = find_restrictions(front)
    assert [f"{one.remedy} {one.name}{'=' * bool(one.meant)}{one.meant}" for one in found] == expected


def _rows() -> Iterator[tuple[str, str, bool]]:
    """Yield each key of each rule with each known value, and whether that restricts access."""
    for number, rule in enumerate(RULES):
        taken = {(key, word) for earlier in RULES[:number] for key in earlier.keys for word in earlier.closed}
        for key in sorted(rule.keys):
            yield from ((key, word, True) for word in sorted(rule.closed))
            yield from ((key, word, (key, word) in taken) for word in sorted(rule.open))
            yield key, "swordfish", not rule.closed or any(key in one.keys and one.open for one in RULES)


@each_row(("key", "word", "restricts"), list(_rows()))
def test_every_row_of_the_table(key: str, word: str, restricts: bool) -> None:
    first, _, last = key.partition(".")
    front: dict[str, object] = {first: {last: word}} if last else {first.upper(): word}
    assert bool(find_restrictions(front)) is restricts


def test_the_error_can_be_neither_lowered_nor_silenced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert PROTECTED_CODE not in LOWERABLE
    assert not has_warnings(PROTECTED_CODE)
    config = f"title: S\ndiagnostics:\n  ignore: [{PROTECTED_CODE}]\n  {PROTECTED_CODE}: warning\n"
    put_bare(tmp_path, {"blogsmith.yaml": config, PATH: PROTECTED_POST.replace("DRAFT", "password: x\n")})
    assert main(["check", "--site", str(tmp_path)]) == 1
    assert f'"{PROTECTED_CODE}" cannot be lowered to a warning' in capsys.readouterr().err


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Create a site with a public post that links to a protected one."""
    secret = PROTECTED_POST.replace("DRAFT", "password: hunter2\n")
    files = {"blogsmith.yaml": CONFIG, "content/posts/a.md": POST, PATH: secret}
    files[f"content/posts/secret/{SECRET}.txt"] = SECRET
    return put(tmp_path / "site", files)


def published(root: Path) -> list[str]:
    """Return files of the output that contain the secret, in their path or their bytes."""
    public = root / "public"
    files = [file for file in sorted(public.rglob("*")) if file.is_file()]
    word = SECRET.encode()
    return [file.relative_to(public).as_posix() for file in files if word in bytes(file) + file.read_bytes()]


def test_a_build_writes_nothing(root: Path) -> None:
    report = build(root)
    (error,) = [found for found in report.diagnostics if found.severity == "error"]
    assert (error.code, error.path, error.place and error.place.line) == (PROTECTED_CODE, PATH, 7)
    assert error.message == '"password" has no effect because blogsmith has no access control'
    assert not (root / "public").exists()


@pytest.mark.parametrize("drafts", [False, True])
@pytest.mark.parametrize("front", ["password: hunter2", "draft: true\nprivate: true", "Members: [paid]"])
def test_no_output_has_it(root: Path, front: str, drafts: bool) -> None:
    put(root, {PATH: PROTECTED_POST.replace("DRAFT", f"{front}\n")})
    report = build(root, keep_going=True, drafts=drafts)
    assert not report.ok
    assert report.wrong_pages and report.wrong_pages.absent == 1
    assert (root / "public/posts/a/index.html").exists()
    assert published(root) == []


def test_what_was_published_before_goes(root: Path) -> None:
    secret = (root / PATH).read_text()
    put(root, {PATH: secret.replace("password: hunter2\n", "")})
    assert build(root).ok
    assert {"feed.json", "sitemap.xml", f"tags/{SECRET}/index.html"} <= {*published(root)}
    # with a page of unknown URL, a build removes nothing else
    put(root, {PATH: secret, "content/posts/unclear.md": "---\ntitle: [\n---\n"})
    assert not build(root, keep_going=True).ok
    assert published(root) == []


def test_no_book_has_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = root / "book.epub"
    arguments = ["epub", "--site", str(root), "--output", str(book)]
    assert main([*arguments, PATH]) == 1
    assert not book.exists()
    main([*arguments, "--series", "N"])
    if book.exists():
        with zipfile.ZipFile(book) as file:
            assert not any(SECRET.encode() in file.read(name) for name in file.namelist())
    assert PROTECTED_CODE in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["check"], ["check", PATH], ["build"], ["build", "--keep-going"]])
def test_every_command_reports_it(
    root: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(root / each) if each == PATH else each for each in arguments]
    assert main([*paths, "--site", str(root)]) == 1
    assert f"[{PROTECTED_CODE}]" in capsys.readouterr().err


def test_an_editor_shows_it(tmp_path: Path) -> None:
    desk = Desk(
        tmp_path, {"blogsmith.yaml": CONFIG, "content/posts/a.md": "---\ntitle: A\nprivate: false\n---\n"}
    )
    desk.open("content/posts/a.md")
    assert desk.codes("content/posts/a.md") == []
    desk.write("content/posts/a.md", "---\ntitle: A\nprivate: true\n---\n")
    assert PROTECTED_CODE in desk.codes("content/posts/a.md")


def test_a_check_of_a_protected_page_reports_its_other_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "---\ntitle: A\ndate: 2026-01-01\npassword: x\n---\n\n{@fig-nope}\n"
    root = put_bare(tmp_path, {"blogsmith.yaml": "title: T\n", "content/posts/a.md": text})
    assert main(["check", "--site", str(root), str(root / "content/posts/a.md")]) == 1
    said = capsys.readouterr().err
    assert "[page-protected]" in said
    assert "content/posts/a.md:7:1: error: " in said
    assert main(["build", "--site", str(root), "--keep-going"]) == 1
    assert not (root / "public/posts/a").exists()


@pytest.mark.parametrize(
    ("head", "shown"),
    [
        ("---\ntitle: A\npassword: hunter2\n---\n", "password: …"),
        ("---\ntitle: A\nextra: {Post_Password: 'hunter2', a: 1}\n---\n", "extra: {Post_Password: …"),
        ("---\ntitle: A\npasswrd:\n  - hunter2\n---\n", "passwrd:…"),
        ('+++\ntitle = "A"\npassword = "hunter2"\n+++\n', "password = …"),
        ('{"title": "A", "password": "hunter2"}\n', '{"title": "A", "password": …'),
        ("---\ntitle: A\nvisibility: members\n---\n", "visibility: members"),
    ],
)
def test_no_message_shows_a_password(head: str, shown: str, tmp_path: Path) -> None:
    root = put_bare(tmp_path, {"blogsmith.yaml": "title: T\n", "content/posts/a.md": f"{head}\nText.\n"})
    report = build(root)
    lines = [found.source_line for found in report.diagnostics if found.code == PROTECTED_CODE]
    assert lines == [shown]
    assert "hunter2" not in printed(report)
