"""Two processes that write a site leave what one process would, and its messages."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path, PurePosixPath

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.model.documents import Output
from blogsmith.write import stage
from blogsmith.write.forked_work import forked_work
from blogsmith.write.output import write_site

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing can be forked here")


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few files are worth another process."""
    monkeypatch.setattr(stage, "_MANY", 2)


def outputs(text: str, count: int = 9) -> list[Output]:
    """Pages that are at hand, and one that is not."""
    pages = [page(number, f"{text} {number}") for number in range(count)]
    return [*pages, Output(PurePosixPath("index.html"), text.encode())]


def page(number: int, text: str, make: Callable[[], bytes] | None = None) -> Output:
    """A page with this text. make: what gives it, in another way than at once."""
    path, digest = PurePosixPath(f"posts/{number}/index.html"), sha256(text.encode()).hexdigest()
    return Output(path, make=make or text.encode, digest=digest, is_at_hand=True)


def write(root: Path, files: list[Output]) -> None:
    write_site(files, root / "public", site_root=root, processes=2)


def contents(root: Path) -> dict[str, str]:
    """What stands in the folder of the site, apart from what is kept beside the pages."""
    files = (file for file in root.rglob("*") if file.is_file() and ".blogsmith" not in str(file))
    return {str(file.relative_to(root)): file.read_text() for file in files}


def wanted(text: str, count: int = 9) -> dict[str, str]:
    pages = {f"public/posts/{number}/index.html": f"{text} {number}" for number in range(count)}
    return {"public/index.html": text, **pages}


def test_what_is_written_and_removed(tmp_path: Path) -> None:
    for text, count in (("first", 9), ("second", 9), ("third", 4)):
        write(tmp_path, outputs(text, count))
        assert contents(tmp_path) == wanted(text, count)


@pytest.mark.parametrize("number", [1, 8])
def test_a_file_that_cannot_be_written(tmp_path: Path, number: int) -> None:
    def fail() -> bytes:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write(tmp_path, outputs("first"))
    files = outputs("second")
    files[number] = page(number, "none", fail)
    with pytest.raises(SiteError, match=f"posts/{number}/index.html: No space left"):
        write(tmp_path, files)
    assert contents(tmp_path) == wanted("first")


def test_a_process_that_is_killed(tmp_path: Path) -> None:
    ours = os.getpid()

    def die() -> bytes:
        if os.getpid() != ours:
            os.kill(os.getpid(), signal.SIGKILL)
        return b"second 8"

    files = outputs("second")
    files[8] = page(8, "second 8", die)
    write(tmp_path, files)
    assert contents(tmp_path) == wanted("second")


def test_it_ends_with_what_it_is_for() -> None:
    def sleep(part: int) -> None:
        signal.pause()

    with pytest.raises(KeyboardInterrupt), forked_work(sleep, [1]):
        raise KeyboardInterrupt
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
