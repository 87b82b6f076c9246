"""Rows 33 and 34: a build makes no requests and does not reveal the environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run_sites import STALE, page
from tests.run_sites import site as run_site
from tests.serve_process import PROGRAM
from tests.site_files import build, put, put_bare
from tests.test_sites import FOLDER, copied, tree

# -- 33: no network --

# Ends the build at the first name lookup and at the first connection to another machine.
FORBIDDEN = """
import sys
def hook(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "socket.bind"):
        address = arguments[1] if event == "socket.connect" else arguments[0]
        if not isinstance(address, (str, bytes)) or event != "socket.connect":
            raise SystemExit(f"{event} {arguments}")
sys.addaudithook(hook)
from blogsmith.__main__ import run
sys.argv[0] = "blogsmith"
sys.exit(run())
"""
PICTURED = """\
---
title: Addresses
date: 2026-01-01
---
https://example.org/ and <https://example.com/x.png>

{% video-embed src="https://www.youtube.com/watch?v=dQw4w9WgXcQ" %}

```python
#| run-in: browser
import numpy
```

$\\href{https://example.net/}{x}$ ![x](https://example.org/x.png)
"""


def sources(root: Path) -> Path:
    """Write a site that refers to many other hosts."""
    site = copied(FOLDER / "everything", root)
    put(site, {"content/posts/addresses.md": PICTURED.replace("![x](https://example.org/x.png)", "")})
    return site


def command(root: Path, *before: str) -> subprocess.CompletedProcess[str]:
    arguments = [*before, sys.executable, "-c", FORBIDDEN, "build", "--site", str(root), "--future"]
    environ = {**os.environ, "http_proxy": "http://127.0.0.1:9", "XDG_STATE_HOME": str(root.parent / "state")}
    return subprocess.run(arguments, capture_output=True, text=True, env=environ, cwd=root)


def test_row_33_a_build_opens_no_socket(tmp_path: Path) -> None:
    site = sources(tmp_path / "s")
    done = command(site)
    assert done.returncode == 0, done.stderr
    # Check that the guard itself works.
    probe = "import socket; socket.create_connection(('127.0.0.1', 9))"
    sees = subprocess.run(
        [sys.executable, "-c", FORBIDDEN.partition("from blogsmith")[0] + probe],
        capture_output=True,
        text=True,
    )
    assert sees.returncode == 1 and "socket." in sees.stderr


def test_row_33_the_same_bytes_without_a_network(tmp_path: Path) -> None:
    alone = ("unshare", "--net", "--map-root-user")
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("this system lends no network of one's own")
    one, two = sources(tmp_path / "one"), sources(tmp_path / "two")
    done = command(one, *alone)
    assert done.returncode == 0, done.stderr
    assert command(two).returncode == 0
    assert tree(one / "public") == tree(two / "public")


# -- 34: the environment --

SECRETS = {
    "SECRET": "s3cret-one",
    "AWS_SECRET_ACCESS_KEY": "s3cret-two",
    "GITHUB_TOKEN": "s3cret-three",
    "SSH_AUTH_SOCK": "/tmp/s3cret-four",
    "BLOGSMITH_SECRET": "s3cret-five",
    "PYTHONSTARTUP": "/tmp/s3cret-six",
    "DATABASE_URL": "postgres://s3cret-seven",
}
SEEN = """\
import os, subprocess
print(sorted(os.environ))
print(*os.environ.values())
print(os.environb if hasattr(os, "environb") else "")
print(subprocess.run(["env"], capture_output=True, text=True).stdout)
try:
    print(open("/proc/self/environ").read())
    print(open(f"/proc/{os.getppid()}/environ").read())
except OSError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="cells run on Linux and macOS only")
def test_row_34_cells_see_what_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MINE", "told")
    own = SEEN.replace('    print(open(f"/proc/{os.getppid()}/environ").read())\n', "")
    root = run_site(tmp_path / "s", "execute: {env: [MINE]}\n", a=own)
    assert build(root, execution=STALE).ok
    html = page(root)
    assert "told" in html and "PATH" in html
    assert not re.findall("s3cret-[a-z]+", html)
    assert not [path for path, data in tree(root).items() if b"s3cret" in data]


READING = (
    "{{ SECRET }}",
    "{{ env }}",
    "{{ environ.SECRET }}",
    "{{ os.environ.SECRET }}",
    "{{ site.env.SECRET }}",
    "{{ page.environ }}",
    "{{ config.SECRET }}",
    "{{ getenv('SECRET') }}",
    "{{ env('SECRET') }}",
    "{{ '$SECRET' }}",
    "{% include '/proc/self/environ' %}",
)


@pytest.mark.parametrize("template", READING)
def test_row_34_templates_see_nothing_of_it(
    template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    files = {
        "blogsmith.yaml": "title: $SECRET ${SECRET} %SECRET%\n",
        "content/posts/a.md": "---\ntitle: $SECRET\n---\n$SECRET ${SECRET} `{{ env }}`\n",
        "layouts/post.html": f"<title>x</title>{template}",
    }
    build(put_bare(tmp_path, files))
    assert not [path for path, data in tree(tmp_path).items() if b"s3cret" in data]


def test_row_34_nothing_of_it_stands_on_the_terminal_either(tmp_path: Path) -> None:
    root = put(tmp_path / "s", {"blogsmith.yaml": "titel: x\n", "content/a.md": "[x](gone.md)\n"})
    environ = {**os.environ, **SECRETS, "PYTHONSTARTUP": ""}
    done = subprocess.run(
        [str(PROGRAM), "build", "-v"], cwd=root, env=environ, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "s3cret" not in done.stdout + done.stderr
