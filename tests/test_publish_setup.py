"""`blogsmith publish setup`: what it writes, what it never overwrites, and untrusted strings."""

from __future__ import annotations

import datetime as dt
import json
import shlex
import subprocess
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from blogsmith import __version__
from blogsmith.base.diagnostics.model import SiteError
from blogsmith.publish import pip_resolver
from blogsmith.publish.dependency_lock import LOCK, parse_lock
from blogsmith.publish.hosted_site import HostedSite
from blogsmith.publish.quoting import quote_shell, quote_toml, quote_yaml, yaml_command
from blogsmith.publish.repository import Repository, find_repository, parse_remote
from blogsmith.publish.targets import TARGETS
from blogsmith.site.host_files import RedirectRule
from tests.publish_locks import MadeUpIndex, use_made_up_index
from tests.publish_sites import run
from tests.rows import each_row, examples
from tests.site_files import put, put_bare

GITHUB = '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@github.com:Ada/notes.git\n'
POST = "---\ntitle: A\ndate: 2026-01-01\naliases: [/old/]\n---\ntext\n"


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch) -> MadeUpIndex:
    return use_made_up_index(monkeypatch)


def site(root: Path, settings: str = "", **files: str) -> Path:
    """Create a site in a repository of GitHub, with its branch main checked out."""
    named = {
        "blogsmith.yaml": f"title: T\n{settings}",
        "content/posts/a.md": POST,
        ".git/config": GITHUB,
        ".git/HEAD": "ref: refs/heads/main\n",
    }
    return put_bare(root, {**named, **files})


def setup(root: Path, target: str, *options: str) -> int:
    return run("publish", "setup", target, "--site", str(root), *options)


def workflow(root: Path) -> dict[str, Any]:
    return read_workflow((root / ".github/workflows/publish.yml").read_text("utf-8"))


def read_workflow(text: str) -> dict[str, Any]:
    """Parse a workflow. PyYAML reads YAML 1.1, where the key `on` is true."""
    return {("on" if key is True else key): value for key, value in yaml.safe_load(text).items()}


def build_steps(root: Path) -> list[str]:
    return [step["run"] for step in workflow(root)["jobs"]["build"]["steps"] if "run" in step]


def hosted_site(**fields: Any) -> HostedSite:
    usual = {"base_url": "https://example.org", "repository": Repository(), "destination": "/srv/www/x"}
    return HostedSite(**{**usual, **fields})


# what is written


def test_a_project_page_asks_github_for_its_address(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site(tmp_path)
    assert setup(tmp_path, "github-pages") == 0
    text = capsys.readouterr().out
    assert "base URL: https://ada.github.io/notes/" in text
    assert "Source: GitHub Actions" in text
    install, build, elsewhere, removal = build_steps(tmp_path)
    assert install == "python -m pip install --require-hashes --requirement publish/requirements.txt"
    assert build == 'blogsmith build --frozen --strict --base-url "$BASE_URL"'
    assert elsewhere == "blogsmith build --frozen --strict"
    assert removal == "rm -f public/.blogsmith-manifest.json"
    assert not (tmp_path / "static").exists()


def test_a_domain_of_ones_own_is_in_the_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site(tmp_path, "base_url: https://notes.example.org\n")
    assert setup(tmp_path, "github-pages") == 0
    assert "Custom domain: notes.example.org" in capsys.readouterr().out
    assert (tmp_path / "static/CNAME").read_text("utf-8") == "notes.example.org\n"
    assert build_steps(tmp_path)[1] == "blogsmith build --frozen --strict"
    assert "configure-pages" not in (tmp_path / ".github/workflows/publish.yml").read_text("utf-8")


def test_the_option_goes_before_the_setting(tmp_path: Path) -> None:
    site(tmp_path, "base_url: https://example.org\n")
    assert setup(tmp_path, "github-pages", "--base-url", "https://ada.github.io/notes") == 0
    assert build_steps(tmp_path)[1].endswith("--base-url https://ada.github.io/notes")


@pytest.mark.parametrize("target", [name for name in TARGETS if not TARGETS[name].address_variable])
def test_who_cannot_know_the_address_is_told(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site(tmp_path)
    assert setup(tmp_path, target, "--destination", "/srv/x") == 1
    assert "needs the URL of the site [publish-base-url]" in capsys.readouterr().err


def test_an_address_of_another_repository_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site(tmp_path, "base_url: https://ada.github.io\n")
    assert setup(tmp_path, "github-pages") == 0
    told = 'GitHub shows "Ada/notes" at "https://ada.github.io/notes/", not at "https://ada.github.io/"'
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("target", ["cloudflare", "netlify"])
def test_hosts_without_folders_warn_of_a_path(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site(tmp_path, "base_url: https://example.org/blog\n")
    assert setup(tmp_path, target) == 0
    assert 'shows a site at the root of a host, not at "/blog/"' in capsys.readouterr().err


@pytest.mark.parametrize("target", ["cloudflare", "netlify"])
def test_hosts_that_read_files_of_the_site_are_named_in_its_settings(target: str, tmp_path: Path) -> None:
    site(tmp_path, "base_url: https://example.org  # ours\n")
    before = (tmp_path / "blogsmith.yaml").read_text("utf-8")
    assert setup(tmp_path, target) == 0
    after = (tmp_path / "blogsmith.yaml").read_text("utf-8")
    assert after.startswith(before)
    assert yaml.safe_load(after)["publish"] == target
    assert setup(tmp_path, target) == 0
    assert (tmp_path / "blogsmith.yaml").read_text("utf-8") == after


def test_another_host_in_the_settings_is_the_authors_to_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site(tmp_path, "base_url: https://example.org\npublish: netlify\n")
    assert setup(tmp_path, "cloudflare") == 1
    assert 'blogsmith.yaml:3:10: error: invalid "publish": expected cloudflare' in capsys.readouterr().err
    assert not (tmp_path / "wrangler.toml").exists()


def test_a_site_that_needs_more_says_so_in_its_workflow(tmp_path: Path) -> None:
    dated = "---\ntitle: A\ndate: 2026-01-01\nupdated: git\n---\ntext\n"
    site(tmp_path, "plugins: [mermaid]\n", **{"content/posts/a.md": dated})
    put(tmp_path, {".gitattributes": "*.png filter=lfs diff=lfs\n"})
    assert setup(tmp_path, "github-pages") == 0
    checkout = workflow(tmp_path)["jobs"]["build"]["steps"][0]["with"]
    assert checkout == {"persist-credentials": False, "fetch-depth": 0, "lfs": True}
    assert build_steps(tmp_path)[1] == "blogsmith trust"
    lock = (tmp_path / LOCK).read_text("utf-8")
    assert parse_lock(lock).inputs.startswith("blogsmith-site[diagrams] ")
    assert f"./publish/blogsmith_site-{__version__}-py3-none-any.whl[diagrams] " in lock


def test_a_host_draws_no_diagram_that_is_not_drawn_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pip_resolver, "installed_version", lambda name: "")
    site(tmp_path, "plugins: [mermaid]\n")
    assert setup(tmp_path, "github-pages") == 0
    assert "[diagrams]" not in (tmp_path / LOCK).read_text("utf-8")


def test_a_site_in_a_folder_of_its_repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, {".git/config": GITHUB, ".git/HEAD": "ref: refs/heads/trunk\n"})
    root = put_bare(tmp_path / "web site", {"blogsmith.yaml": "title: T\n", "content/posts/a.md": POST})
    assert setup(root, "github-pages") == 1
    assert f"add `--repository {tmp_path}` to write them there" in capsys.readouterr().err
    assert setup(root, "github-pages", "--repository", str(tmp_path)) == 0
    assert (root / LOCK).is_file()
    found = workflow(tmp_path)
    assert found["jobs"]["build"]["defaults"]["run"]["working-directory"] == "web site"
    assert found["on"]["push"]["branches"] == ["trunk"]
    upload = next(step for step in found["jobs"]["build"]["steps"] if "upload" in step.get("uses", ""))
    assert upload["with"]["path"] == "web site/public"
    assert setup(root, "gitlab", "--repository", str(tmp_path)) == 0
    pipeline = yaml.safe_load((tmp_path / ".gitlab-ci.yml").read_text("utf-8"))
    assert pipeline[".site"]["before_script"][0] == "cd 'web site'"
    assert pipeline["pages"]["artifacts"]["paths"] == ["web site/public"]


# what is never written over


def test_a_file_that_the_author_has_changed_is_shown_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site(tmp_path)
    assert setup(tmp_path, "github-pages") == 0
    file = tmp_path / ".github/workflows/publish.yml"
    ours = file.read_text("utf-8")
    theirs = ours.replace("ubuntu-latest", "ubuntu-24.04")
    file.write_text(theirs, "utf-8")
    (tmp_path / LOCK).unlink()
    capsys.readouterr()
    assert setup(tmp_path, "github-pages") == 1
    told = capsys.readouterr()
    assert "-    runs-on: ubuntu-24.04\n+    runs-on: ubuntu-latest\n" in told.out
    assert told.err == "nothing was written: add --force to overwrite .github/workflows/publish.yml\n"
    assert file.read_text("utf-8") == theirs
    assert not (tmp_path / LOCK).exists()
    assert setup(tmp_path, "github-pages", "--diff") == 0
    assert "+click==8.3.0 " in capsys.readouterr().out
    assert file.read_text("utf-8") == theirs
    assert setup(tmp_path, "github-pages", "--force") == 0
    assert file.read_text("utf-8") == ours
    assert setup(tmp_path, "github-pages", "--diff") == 0
    assert "nothing would change" in capsys.readouterr().out


def test_nothing_is_written_through_a_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = site(tmp_path / "site")
    (root / ".github").symlink_to(outside)
    assert setup(root, "github-pages", "--force") == 1
    assert "[publish-file]" in capsys.readouterr().err
    assert list(outside.iterdir()) == []
    (root / ".gitlab-ci.yml").symlink_to(outside / "made")
    assert setup(root, "gitlab", "--force") == 1
    assert list(outside.iterdir()) == []


# repositories are read, never asked


@each_row(
    ("url", "found"),
    [
        ("git@github.com:Ada/notes.git", ("github.com", "Ada/notes")),
        ("https://github.com/Ada/notes", ("github.com", "Ada/notes")),
        ("https://user:token@github.com/Ada/notes.git/", ("github.com", "Ada/notes")),
        ("ssh://git@gitlab.example.org:2222/group/sub/notes.git", ("gitlab.example.org", "group/sub/notes")),
        ("https://github.com/Ada/notes; rm -rf ~", ("", "")),
        ("https://github.com/$(id)/`id`", ("", "")),
        ("ext::sh -c id", ("", "")),
        ("/home/ada/notes.git", ("", "")),
        ("--upload-pack=id", ("", "")),
        ("", ("", "")),
    ],
)
def test_remotes(url: str, found: tuple[str, str]) -> None:
    assert (
        parse_remote(f'[remote "other"]\n\turl = https://x.org/a/b\n[remote "origin"]\n\turl = {url}\n')
        == found
    )


@examples(30)
@given(st.text())
def test_any_settings_of_a_repository_can_be_read(text: str) -> None:
    host, path = parse_remote(text)
    assert bool(host) == bool(path)


def test_a_hostile_repository_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object, **options: object) -> None:
        raise AssertionError("a process was started")

    for name in ("run", "Popen", "check_output"):
        monkeypatch.setattr(subprocess, name, never)
    site(tmp_path, **{".git/config": GITHUB + f"[core]\n\tfsmonitor = touch {tmp_path}/gone\n"})
    assert setup(tmp_path, "github-pages") == 0
    assert find_repository(tmp_path).path == "Ada/notes"


def test_a_branch_is_one_word_of_the_workflow(tmp_path: Path) -> None:
    branch = 'x"]}}#$(id)`id`;&|'
    site(tmp_path, **{".git/HEAD": f"ref: refs/heads/{branch}\n"})
    assert setup(tmp_path, "github-pages") == 0
    assert workflow(tmp_path)["on"]["push"]["branches"] == [branch]


# schemas, and untrusted strings

HOSTILE = (
    "public; rm -rf ~",
    "$(id)",
    "`id`",
    "a'b\"c",
    "- x: {y}",
    "# no comment",
    "é ünï",
    "&& id",
)


def schema(name: str) -> dict[str, Any]:
    folder = resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    loaded = json.loads((folder / f"{name}.json").read_text("utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def files_of(target: str, **fields: Any) -> Mapping[str, str]:
    return TARGETS[target].files(hosted_site(**fields))


@each_row("has_url", [True, False])
@each_row("output", ["public", *HOSTILE])
@each_row(
    ("target", "path", "name"),
    [
        ("github-pages", ".github/workflows/publish.yml", "github-workflows"),
        ("gitlab", ".gitlab-ci.yml", "gitlab-ci"),
    ],
)
def test_workflows_are_valid(target: str, path: str, name: str, output: str, has_url: bool) -> None:
    url = {"base_url": "https://example.org" if has_url else "", "has_own_base_url": False}
    flags = {"needs_trust": True, "needs_history": True, "has_large_files": True}
    text = files_of(target, output=output, **url, **flags)[path]
    loaded = read_workflow(text)
    jsonschema.validate(loaded, schema(name))
    commands = (
        [step["run"] for step in loaded["jobs"]["build"]["steps"] if "run" in step]
        if target == "github-pages"
        else loaded["pages"]["script"]
    )
    for command in commands:
        words = shlex.split(command)
        assert words[0] in ("python", "blogsmith", "rm", "find")
        if words[0] == "rm":
            assert words[1:] == ["-f", f"{output}/.blogsmith-manifest.json"]
        if words[0] == "find":
            assert words[1] == output


@pytest.mark.parametrize(
    "fields",
    [{"output": "${{ secrets.TOKEN }}"}, {"repository": Repository(branch="${{github.token}}")}],
)
def test_nothing_is_an_expression_of_github_but_what_we_write(fields: dict[str, Any]) -> None:
    with pytest.raises(SiteError) as refused:
        files_of("github-pages", **fields)
    assert refused.value.diagnostics[0].code == "publish-name"


@each_row("output", ["public", *HOSTILE])
def test_settings_in_toml_say_what_they_were_told(output: str) -> None:
    netlify = tomllib.loads(files_of("netlify", output=output)["netlify.toml"])
    assert netlify["build"]["publish"] == output
    assert netlify["build"]["command"].endswith("&& blogsmith build --frozen --strict")
    cloudflare = tomllib.loads(files_of("cloudflare", output=output)["wrangler.toml"])
    assert cloudflare["assets"]["directory"] == f"./{output}"
    assert cloudflare["name"] == "example-org"


@pytest.mark.parametrize("hostile", HOSTILE)
def test_the_script_of_rsync_has_one_word_for_a_folder(hostile: str, tmp_path: Path) -> None:
    text = files_of("rsync", destination=f"host:/srv/{hostile}", output=hostile)["publish/rsync.sh"]
    line = next(line for line in text.splitlines() if line.startswith("destination="))
    assert shlex.split(line) == [f"destination=host:/srv/{hostile}/"]
    script = put(tmp_path, {"x.sh": text}) / "x.sh"
    assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0


@each_row("target", ["nginx", "caddy"])
@each_row(
    "fields",
    [
        {"destination": "/srv/$host; } evil { x"},
        {"destination": "/srv/{env.HOME}"},
        {"destination": '/srv/"; evil'},
        {"destination": "/srv/a\nb"},
        {"base_url": "https://example.org/a\nb"},
    ],
)
def test_servers_get_one_word_or_nothing(target: str, fields: dict[str, str]) -> None:
    try:
        (text,) = files_of(target, **fields).values()
    except SiteError as error:
        assert error.diagnostics[0].code == "publish-name"
        return
    body = text.partition("\n\n")[2]
    for value in fields.values():
        for line in body.splitlines():
            if "evil" in line:
                assert value.replace('"', '\\"') in line
                assert line.count('"') % 2 == line.count('\\"') % 2


def test_an_alias_that_nginx_cannot_say_leads_on_by_its_page() -> None:
    rules = (RedirectRule("/a$b/", "/x/"), RedirectRule("/it's,(old)/", "/x/"))
    (text,) = files_of("nginx", redirects=rules).values()
    assert 'location = "/it\'s,(old)/" { return 301 "/x/"; }' in text
    assert "a$b" not in text


@examples(30)
@given(st.text())
def test_quoted_texts_are_themselves(text: str) -> None:
    if not text.isprintable():
        for quote in (quote_yaml, quote_toml, quote_shell, yaml_command):
            with pytest.raises(SiteError):
                quote(text)
        return
    assert yaml.safe_load(f"a: {quote_yaml(text)}") == {"a": text}
    assert yaml.safe_load(f"- {yaml_command(text)}") == [text]
    assert tomllib.loads(f"a = {quote_toml(text)}") == {"a": text}
    assert shlex.split(quote_shell(text)) == [text]


def test_the_same_site_gives_the_same_files() -> None:
    day = dt.date(2026, 5, 1).isoformat()
    for target in TARGETS:
        assert files_of(target, date=day) == files_of(target, date=day)


def test_pull_requests_of_strangers_get_no_consent_and_no_cache() -> None:
    flags = {"needs_trust": True}
    job = read_workflow(files_of("github-pages", **flags)[".github/workflows/publish.yml"])["jobs"]["build"]
    assert "head.repo.full_name == github.repository" in job["if"]
    (python,) = (step["with"] for step in job["steps"] if "setup-python" in step.get("uses", ""))
    assert python["cache"] == "${{ github.event_name != 'pull_request' && 'pip' || '' }}"
    pipeline = read_workflow(files_of("gitlab", **flags)[".gitlab-ci.yml"])
    assert (
        "cache" not in pipeline[".site"] and "cache" not in pipeline["site"] and "cache" in pipeline["pages"]
    )
    assert any("SOURCE_PROJECT_PATH !=" in rule["if"] for rule in pipeline["site"]["rules"])
    settings = tomllib.loads(files_of("netlify", **flags)["netlify.toml"])
    assert "blogsmith trust" in settings["build"]["command"]
    assert "blogsmith trust" not in settings["context"]["deploy-preview"]["command"]
    # without plugins, every pull request is built
    workflow = read_workflow(files_of("github-pages")[".github/workflows/publish.yml"])
    assert "if" not in workflow["jobs"]["build"]
