"""Headers and redirects of Netlify and Cloudflare: parsed by the documented rules of these hosts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import quote

import pytest

from blogsmith.site.host_files import (
    CONTENT_TYPES,
    IMMUTABLE,
    MOST_REDIRECTS,
    SECURITY,
    RedirectRule,
    cloudflare_outputs,
    is_hashed,
    make_rules,
)
from tests.publish_sites import ALIASES, publish_site, run
from tests.site_files import build, put_bare

Rules = list[tuple[str, dict[str, str]]]


def read_headers(text: str) -> Rules:
    """Return the rules of a `_headers` file in order: a pattern, then indented headers."""
    rules: Rules = []
    for line in text.splitlines():
        if line.startswith(" "):
            name, _, value = line.strip().partition(": ")
            assert value
            assert name not in rules[-1][1]
            rules[-1][1][name] = value
        else:
            assert re.fullmatch(r"/[^\s:]*", line), line
            rules.append((line, {}))
    return rules


def headers_of(path: str, rules: Rules) -> dict[str, list[str]]:
    """Map headers to all values that the rules give for a path; hosts join several by commas."""
    found: dict[str, list[str]] = {}
    for pattern, headers in rules:
        if re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), path):
            for name, value in headers.items():
                found.setdefault(name, []).append(value)
    return found


def read_redirects(text: str) -> Mapping[str, tuple[str, str]]:
    """Map sources to target and status; the first rule of a source applies."""
    found: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        source, target, status = line.split(" ")
        found.setdefault(source, (target, status))
    return found


@pytest.fixture(scope="module", params=["netlify", "cloudflare"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Return a host, and the output folder of a site for it."""
    target = request.param
    settings = f"base_url: https://notes.example.org\npublish: {target}\n"
    root = publish_site(tmp_path_factory.mktemp("site"), settings)
    assert run("build", "--strict", "--site", str(root)) == 0
    return target, root / "public"


def test_every_file_gets_each_header_once(built: tuple[str, Path]) -> None:
    target, public = built
    rules = read_headers((public / "_headers").read_text("utf-8"))
    if target == "cloudflare":
        assert len(rules) <= 100
        assert all(pattern.count("*") <= 1 for pattern, _ in rules)
    else:
        assert all("*" not in pattern[:-1] for pattern, _ in rules)
    for file in (path for path in public.rglob("*") if path.is_file()):
        inside = PurePosixPath(file.relative_to(public).as_posix())
        found = headers_of(f"/{inside}", rules)
        assert all(len(values) == 1 for values in found.values()), inside
        assert {name: [value] for name, value in SECURITY.items()}.items() <= found.items()
        if file.suffix == ".html":
            # hosts set revalidation of pages themselves
            assert found.keys() == SECURITY.keys()
        if kind := CONTENT_TYPES.get(file.suffix[1:]):
            assert found["Content-Type"] == [kind]
        if file.name == "atom.xml":
            assert found["Content-Type"] == ["application/atom+xml; charset=utf-8"]
        if "Cache-Control" in found:
            assert found["Cache-Control"] == [IMMUTABLE]
            assert is_hashed(inside), inside
    hashed = headers_of("/assets/pictures/a-0123456789ab-800.webp", rules)
    assert hashed["Cache-Control"] == [IMMUTABLE]


def test_old_addresses_are_answered_with_301(built: tuple[str, Path]) -> None:
    target, public = built
    found = read_redirects((public / "_redirects").read_text("utf-8"))
    for alias in ALIASES:
        for form in {alias, alias.rstrip("/")}:
            status = "301!" if target == "netlify" else "301"
            assert found[quote(form, safe="/-_.~!$'()+,;=@")] == ("/posts/first/", status)


def test_the_list_of_our_files_is_not_served(built: tuple[str, Path]) -> None:
    target, public = built
    if target == "netlify":
        found = read_redirects((public / "_redirects").read_text("utf-8"))
        assert found["/.blogsmith-manifest.json"] == ("/404.html", "404!")
    else:
        assert (public / ".assetsignore").read_text("utf-8") == ".blogsmith-manifest.json\n"


def test_more_aliases_than_a_host_takes_lead_on_by_their_pages() -> None:
    rules = tuple(RedirectRule(f"/old/{number}/", "/x/") for number in range(3000))
    assert cloudflare_outputs(rules, ())["_redirects"].count("\n") == MOST_REDIRECTS


def test_cloudflare_takes_100_rules() -> None:
    sheets = [PurePosixPath(f"assets/paper/part-{number:010x}.css") for number in range(200)]
    rules = read_headers(cloudflare_outputs((), sheets)["_headers"])
    assert len(rules) == 100
    assert headers_of("/posts/a.md", rules)["Content-Type"] == ["text/markdown; charset=utf-8"]


def test_rules_of_a_site_in_a_folder_have_its_path() -> None:
    rules = make_rules([("/posts/é/", ["/alt", "/alt/", "//b//c.html"])], "/blog")
    assert rules == (
        RedirectRule("/blog/alt", "/blog/posts/%C3%A9/"),
        RedirectRule("/blog/alt/", "/blog/posts/%C3%A9/"),
        RedirectRule("/blog/b/c.html", "/blog/posts/%C3%A9/"),
    )


def test_the_authors_own_file_goes_before(tmp_path: Path) -> None:
    settings = "title: T\npublish: netlify\n"
    own = {"blogsmith.yaml": settings, "static/_headers": "/*\n  X-Own: 1\n", "content/a.md": "text\n"}
    root = put_bare(tmp_path, own)
    assert build(root).ok
    assert (root / "public/_headers").read_text("utf-8") == "/*\n  X-Own: 1\n"
    assert (root / "public/_redirects").is_file()


def test_without_a_host_there_are_no_such_files(tmp_path: Path) -> None:
    root = put_bare(tmp_path, {"blogsmith.yaml": "title: T\n", "content/a.md": "text\n"})
    assert build(root).ok
    assert not {"_headers", "_redirects", ".assetsignore"} & {
        path.name for path in (root / "public").iterdir()
    }


def test_they_follow_the_pages_from_build_to_build(tmp_path: Path) -> None:
    head = "---\ntitle: A\ndate: 2026-01-01\naliases: [{}]\n---\ntext\n"
    settings = "title: T\nllms_txt: true\npublish: netlify\n"
    root = put_bare(tmp_path, {"blogsmith.yaml": settings, "content/posts/a.md": head.format("/one/")})
    assert run("build", "--site", str(root)) == 0
    (root / "content/posts/a.md").write_text(head.format("/two/"), "utf-8")
    assert run("build", "--site", str(root)) == 0
    assert "/two/ /posts/a/ 301!" in (root / "public/_redirects").read_text("utf-8")
    assert "/one/" not in (root / "public/_redirects").read_text("utf-8")
    (root / "content/posts/b.md").write_text(head.format("/three/"), "utf-8")
    assert run("build", "--site", str(root)) == 0
    assert "/posts/b/index.md\n" in (root / "public/_headers").read_text("utf-8")
    before = {path: path.read_bytes() for path in (root / "public").rglob("*") if path.is_file()}
    assert run("build", "--no-cache", "--site", str(root)) == 0
    assert {path: path.read_bytes() for path in (root / "public").rglob("*") if path.is_file()} == before
