"""Pages made by the workers of a Dask cluster equal those of a single process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pytest

from blogsmith.base.diagnostics.extras import install_command
from blogsmith.build import body_processes
from blogsmith.execute.cluster import dask_connection
from blogsmith.model.pictures import ImageInfo
from blogsmith.pools import cluster_pool, page_executor
from blogsmith.project.trust.consent import trust
from blogsmith.rows.file_rows import measure_image
from tests.dask_machines import Machines, machines, marked, needs_dask
from tests.preview_sites import built
from tests.sessions import LINUX, no_process_left, wait_for
from tests.site_files import printed, put
from tests.test_process_builds import SVG, build_with, mended, site
from tests.worker_faults import LETHAL, break_workers

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a cluster is started on Linux and macOS only")
HERE = "build: {executor: dask}\n"


def settings(root: Path, text: str) -> Path:
    return put(root, {"blogsmith.yaml": f"title: Parts\nbase_url: https://example.org\n{text}"})


def there(address: str) -> str:
    return f"{HERE}execute: {{dask: {{scheduler: '{address}'}}}}\n"


@pytest.fixture(autouse=True)
def small_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the cluster make pages of small sites too; each worker gets some of them."""
    monkeypatch.setattr(page_executor, "MIN_DASK_BODIES", 20)
    monkeypatch.setattr(cluster_pool, "_PER_CALL", 5)


@pytest.fixture(autouse=True)
def tracker() -> None:
    """Start Python's own helper of `multiprocessing`, which runs until the end and is not a leftover."""
    resource_tracker.ensure_running()


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record how many parallel calls each cluster could answer."""
    found: list[int] = []
    plain = dask_connection.PageCluster.submitter

    def submitter(self: Any, function: Any, state: Any) -> Any:
        found.append(self.threads)
        return plain(self, function, state)

    monkeypatch.setattr(dask_connection.PageCluster, "submitter", submitter)
    return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Start two workers independent of blogsmith."""
    with machines(tmp_path_factory.mktemp("cluster")) as found:
        found.add("one")
        found.add("two")
        yield found


@needs_dask
@pytest.mark.parametrize("is_mended", [True, False], ids=["site", "messages"])
def test_two_workers_here(tmp_path: Path, clusters: list[int], is_mended: bool) -> None:
    root = site(tmp_path / "site")
    limits = "code: {deadline_s: 0.5, max_line: 100000}\n"
    put(root, {"content/posts/stuck.md": f"# Stuck\n\n```console\n{'a' * 50_000}!\n```\n"})
    if is_mended:
        mended(root)
    one = build_with(settings(root, limits), 1, output=tmp_path / "one")
    settings(root, HERE + limits)
    with no_process_left():
        two = build_with(root, 2, output=tmp_path / "two")
    assert clusters == [2]
    assert one.ok == is_mended and printed(one) == printed(two)
    assert "highlighting takes longer than 0.5 s" in printed(two)
    if is_mended:
        assert built(tmp_path / "one") == built(tmp_path / "two")


@needs_dask
def test_machines_without_the_site(
    tmp_path: Path, clusters: list[int], cluster: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Images are measured here; two builds may share the workers, one after the other."""
    root = mended(site(tmp_path / "site"))
    measured: list[Path] = []

    def measure(file: Path) -> ImageInfo | str:
        measured.append(file)
        return measure_image(file)

    monkeypatch.setattr(body_processes, "measure_image", measure)
    settings(root, there(cluster.address))
    trust(root)
    far = build_with(root, 2, output=tmp_path / "far")
    put(root, {"content/posts/pictures/a.svg": SVG.replace("23", "29")})
    again = build_with(root, 2, output=tmp_path / "again")
    assert clusters == [2, 2] and far.ok and again.ok
    assert {file.name for file in measured} == {"a.svg", "b.svg"}
    settings(root, "")
    assert build_with(root, 1, output=tmp_path / "one").ok
    assert built(tmp_path / "one") == built(tmp_path / "again") != built(tmp_path / "far")


@needs_dask
def test_a_process_that_dies_is_named_with_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder := tmp_path / "cluster").mkdir()
    with machines(folder) as found:
        found.add("one")
        break_workers(monkeypatch, LETHAL)
        root = settings(mended(site(tmp_path / "site")), there(found.address))
        trust(root)
        report = build_with(root, 2)
    (error,) = [one for one in report.diagnostics if one.severity == "error"]
    assert (error.code, error.path) == ("page-process", "content/posts/p13.md")
    assert error.message == "the process that rendered this page was ended by SIGKILL: perhaps memory ran out"
    assert not (root / "public").exists()


@needs_dask
def test_pages_of_workers_that_are_lost_are_made_here(
    tmp_path: Path, clusters: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "cluster").mkdir()
    root = mended(site(tmp_path / "site"))
    build_with(root, 1, output=tmp_path / "one")
    with machines(folder) as found:
        found.add("one", "--no-nanny")
        break_workers(monkeypatch, f"os.kill({found.scheduler.pid}, signal.SIGKILL)")
        trust(settings(root, there(found.address)))
        assert build_with(root, 2, output=tmp_path / "two").ok
        assert clusters == [1] and found.scheduler.wait(60) == -signal.SIGKILL
    assert built(tmp_path / "one") == built(tmp_path / "two")


COMMAND = """
import sys
from blogsmith.__main__ import run
from blogsmith.pools import cluster_pool, page_executor
page_executor.MIN_DASK_BODIES = cluster_pool._PER_CALL = 1
if __name__ == "__main__":
    sys.exit(run())
"""


@needs_dask
@pytest.mark.skipif(not LINUX, reason="processes are looked for in /proc")
def test_nothing_is_left_of_a_build_that_is_broken_off(tmp_path: Path) -> None:
    root = settings(site(tmp_path / "site"), HERE)
    long = "".join(f"$\\frac{{{n}}}{{x_{{{n}}}}}$ and *more* `code`.\n\n" for n in range(20_000))
    put(root, {f"content/posts/long{number}.md": long for number in range(4)})
    program = tmp_path / "program.py"
    program.write_text(COMMAND)
    mark = f"broken-off-{os.getpid()}"
    command = [sys.executable, str(program), "build", "--jobs", "2"]
    env = {**os.environ, "USER": mark, "PYTHONPATH": str(Path(__file__).parents[1])}
    builder = subprocess.Popen(command, cwd=root, env=env, start_new_session=True, stderr=subprocess.DEVNULL)

    def makes_pages() -> bool:
        lines = [Path(f"/proc/{pid}/cmdline") for pid in marked(mark)]
        # two workers, and a process of each
        return sum(b"spawn_main" in line.read_bytes() for line in lines if line.exists()) == 4

    wait_for(makes_pages)
    os.killpg(builder.pid, signal.SIGINT)
    assert builder.wait(60) == 130
    wait_for(lambda: not marked(mark), 60)


@needs_dask
def test_another_program_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: Machines) -> None:
    root = settings(mended(site(tmp_path / "site")), there(cluster.address))
    trust(root)
    monkeypatch.setattr(cluster_pool, "_program_check", lambda: (str.upper, "a", "B", "has another program"))
    (found,) = [one for one in build_with(root, 2).diagnostics if one.severity == "error"]
    assert (found.code, found.path) == ("build-executor", "blogsmith.yaml")
    assert found.message.startswith("some Dask workers cannot render pages: tcp://")
    assert "has another program" in found.message


def test_an_address_that_nobody_trusts_gets_nothing(tmp_path: Path, clusters: list[int]) -> None:
    root = settings(mended(site(tmp_path / "site")), there("tcp://127.0.0.1:9"))
    report = build_with(root, 2)
    (found,) = [one for one in report.diagnostics if one.code == "build-executor"]
    assert report.ok and not clusters
    assert (found.severity, found.message) == (
        "warning",
        '"executor: dask" has no effect because this site is not trusted to use a cluster',
    )
    assert found.source_line[found.place.column - 1 :] == "dask}"  # type: ignore[union-attr]


def test_trust_covers_who_gets_the_posts(tmp_path: Path) -> None:
    root = settings(mended(site(tmp_path / "site")), there("tcp://127.0.0.1:9").replace(HERE, ""))
    trust(root)
    settings(root, there("tcp://127.0.0.1:9"))
    assert "is not trusted to use a cluster" in printed(build_with(root, 2))


def test_code_of_the_site_sees_all_pages(tmp_path: Path, clusters: list[int]) -> None:
    code = "def register(hooks):\n    hooks.page_rendered(lambda html, page: html + '<b>mine</b>')\n"
    root = put(mended(site(tmp_path / "site")), {"plugins/mine.py": code})
    settings(root, f"{HERE}plugins: [mine]\n")
    trust(root)
    report = build_with(root, 2)
    assert report.ok and not clusters
    assert 'plugin "mine" must see all pages' in printed(report)


def test_few_pages_are_made_here(tmp_path: Path, clusters: list[int]) -> None:
    root = settings(put(tmp_path, {"content/posts/a.md": "# A\n"}), HERE)
    report = build_with(root, 2)
    assert report.ok and not report.diagnostics and not clusters


def test_one_process_is_this_one(tmp_path: Path, clusters: list[int]) -> None:
    root = settings(mended(site(tmp_path / "site")), HERE)
    report = build_with(root, 1)
    assert report.ok and not clusters and "build-executor" not in printed(report)


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_connection, "find_spec", lambda name: None)
    root = settings(mended(site(tmp_path / "site")), HERE)
    (found,) = [one for one in build_with(root, 2).diagnostics if one.severity == "error"]
    assert (found.code, found.message, found.hint) == (
        "build-executor",
        'missing package "distributed", which "executor: dask" requires',
        f"run `{install_command('distributed>=2026.8')}`",
    )
    assert found.source_line[found.place.column - 1 :] == "dask}"  # type: ignore[union-attr]


@needs_dask
def test_no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_connection, "CONNECT_S", 1)
    root = settings(mended(site(tmp_path / "site")), there("tcp://127.0.0.1:9"))
    trust(root)
    (found,) = [one for one in build_with(root, 2).diagnostics if one.severity == "error"]
    assert (found.code, found.path) == ("build-executor", "blogsmith.yaml")
    assert found.message.startswith('cannot connect to the Dask scheduler at "tcp://127.0.0.1:9": ')
