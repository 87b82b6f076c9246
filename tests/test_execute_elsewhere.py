"""Sessions on other machines: their input, selection of a machine, and lost sessions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from blogsmith.execute.cluster import dask_cluster
from blogsmith.execute.cluster.dask_cluster import DaskExecutor, Task
from blogsmith.execute.cluster.remote import (
    NeedsVerdict,
    RemoteEnvironment,
    Run,
    WorkerResources,
    merge_answers,
    plan_queries,
    remote_environment_for,
    run_on_this_machine,
)
from blogsmith.execute.session.jobs import SessionJob
from blogsmith.execute.session.pool import LostSessionError, run_sessions
from blogsmith.execute.session.session import run_session
from blogsmith.model.cells import Need
from blogsmith.model.results import SessionRun
from tests.run_sites import site
from tests.sessions import SLACK_S, job, no_process_left, printed, wait_for
from tests.site_files import build
from tests.site_files import printed as printed_report

CUDA, TORCH = Need("cuda"), Need("torch", "2.6")
GPU = {"GPU": 1.0}
OFFERS = {
    "tcp://a:1": WorkerResources("a"),
    "tcp://a:2": WorkerResources("a"),
    "tcp://b:1": WorkerResources("b", {"GPU": 2.0}),
    "tcp://b:2": WorkerResources("b", {"GPU": 2.0}),
}


# -- what the site says --


@pytest.mark.parametrize(
    ("dask", "message"),
    [
        ("scheduler: '10.0.0.5:8786'", ""),
        ("scheduler: 'tls://[::1]:8786'", ""),
        ("cuda: {GPU: 0.5, VRAM: 80e9}", ""),
        ("cuda: {}", ""),
        ("scheduler: box", '2:29: error: invalid scheduler address "box"'),
        ("scheduler: 'tcp://box'", '2:29: error: invalid scheduler address "tcp://box"'),
        ("cuda: {GPU: 0}", '2:30: error: "GPU" must be more than 0'),
        ("cuda: {GPU: .inf}", '2:30: error: "GPU" must be more than 0'),
    ],
)
def test_settings(tmp_path: Path, dask: str, message: str) -> None:
    said = printed_report(build(site(tmp_path / "s", f"execute: {{dask: {{{dask}}}}}\n", a="# no code")))
    assert f"blogsmith.yaml:{message}" in said if message else "error" not in said


# -- what it brings along --


def test_variables_of_the_machine_and_of_the_site() -> None:
    here = {"PATH": "/here", "SHIFT": "1", "CUDA_VISIBLE_DEVICES": "0", "SECRET": "x"}
    there = {"PATH": "/there", "SHIFT": "2", "UNSET": "3", "CUDA_VISIBLE_DEVICES": "7"}
    terms = remote_environment_for("", ("SHIFT", "UNSET"), here)
    env = terms.environment(there, 2, Path("/t"))
    assert (env["PATH"], env["CUDA_VISIBLE_DEVICES"], env["TMPDIR"]) == ("/there", "7", "/t")
    assert (env["SHIFT"], env["OMP_NUM_THREADS"]) == ("1", "2")
    assert not {"UNSET", "SECRET"} & set(env)
    assert "x" not in str(terms)


def test_a_declared_variable_wins_even_if_it_is_one_of_the_machine() -> None:
    terms = remote_environment_for("", ("CUDA_VISIBLE_DEVICES",), {"CUDA_VISIBLE_DEVICES": "0"})
    assert terms.environment({"CUDA_VISIBLE_DEVICES": "7"}, 1, Path("/t"))["CUDA_VISIBLE_DEVICES"] == "0"


def test_a_session_gets_folders_of_the_machine_it_runs_on(tmp_path: Path) -> None:
    work = job(tmp_path, "import os\nprint(os.environ['TMPDIR'])", python="/nowhere")
    work = replace(work, env={"TMPDIR": "/nowhere"})
    run = run_on_this_machine(run_session, work, RemoteEnvironment(), lambda: True)
    assert (run.problem, printed(run.cells[0])) == ("", "/tmp\n")


def test_a_session_that_nobody_wants_ends(tmp_path: Path) -> None:
    work = job(tmp_path, "open('started', 'w').close()\nwhile True: pass")
    with no_process_left():
        run = run_on_this_machine(
            run_session, work, RemoteEnvironment(), lambda: not (work.folder / "started").exists()
        )
    # not by its limit
    assert run.cells[0].status == "died"
    assert run.cells[0].seconds < SLACK_S


# -- where its needs are met --


def test_each_kind_of_worker_is_asked_once() -> None:
    assert plan_queries([CUDA, TORCH], OFFERS, GPU) == {
        "tcp://a:1": (TORCH,),
        "tcp://b:1": (CUDA, TORCH),
    }
    assert plan_queries([CUDA], OFFERS, {"GPU": 3}) == {}
    assert plan_queries([CUDA], OFFERS, {}) == {"tcp://a:1": (CUDA,), "tcp://b:1": (CUDA,)}


def test_who_meets_what() -> None:
    judged = merge_answers([CUDA, TORCH], OFFERS, GPU, {"tcp://a:1": {TORCH: "too old"}, "tcp://b:1": {}})
    assert judged.unmet == {}
    assert judged.suitable([TORCH], OFFERS) == {"tcp://b:1", "tcp://b:2"}
    assert judged.suitable([], OFFERS) == set(OFFERS)
    assert judged.suitable([Need("numpy")], OFFERS) == set(OFFERS)


@pytest.mark.parametrize(
    ("cuda", "answers", "reasons"),
    [
        ({"GPU": 3}, {}, {CUDA: "no Dask worker offers GPU=3"}),
        ({"GPU": 1, "X": 1}, {}, {CUDA: "no Dask worker offers GPU and X"}),
        (
            GPU,
            {"tcp://b:1": {CUDA: "no device"}},
            {CUDA: "no Dask worker meets it; tcp://b:1 reports: no device"},
        ),
        (
            GPU,
            {"tcp://b:1": OSError("gone")},
            {CUDA: "no Dask worker meets it; tcp://b:1 reports: OSError: gone"},
        ),
    ],
)
def test_nobody_meets_it(cuda: dict[str, float], answers: Mapping[str, Any], reasons: object) -> None:
    assert merge_answers([CUDA], OFFERS, cuda, answers).unmet == reasons


# -- how it gets there, and what if it does not come back --


@dataclass
class FakeTask:
    status: str = "pending"
    outcome: SessionRun | BaseException | None = None
    released: bool = False
    callbacks: list[Callable[[Task], object]] = field(default_factory=list)

    def result(self) -> Any:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome

    def release(self) -> None:
        self.released = True

    def add_done_callback(self, fn: Callable[[Task], object]) -> None:
        self.callbacks.append(fn)

    def end(self, status: str, outcome: SessionRun | BaseException | None = None) -> None:
        self.status, self.outcome = status, outcome
        for callback in self.callbacks:
            callback(self)


@dataclass
class FakeCluster:
    workers: dict[str, WorkerResources] = field(default_factory=lambda: dict(OFFERS))
    asked: list[tuple[Sequence[str] | None, Mapping[str, float]]] = field(default_factory=list)
    tasks: list[FakeTask] = field(default_factory=list)

    def submit(
        self, run: Run, job: SessionJob, workers: Sequence[str] | None, resources: Mapping[str, float]
    ) -> Task:
        self.asked.append((workers, resources))
        self.tasks.append(FakeTask())
        return self.tasks[-1]

    def worker_resources(self) -> Mapping[str, WorkerResources]:
        # asked in another thread while the test changes them
        return dict(self.workers)

    def describe_error(self, error: BaseException) -> str:
        return f"why: {error}"


JUDGED = merge_answers([CUDA, TORCH], OFFERS, GPU, {"tcp://a:1": {TORCH: "none"}, "tcp://b:1": {}})


def lost(future: Future[SessionRun]) -> str:
    error = future.exception(10)
    assert isinstance(error, LostSessionError)
    return str(error)


@pytest.mark.parametrize(
    ("needs", "asked"),
    [
        ((), (None, {})),
        ((TORCH,), (["tcp://b:1", "tcp://b:2"], {})),
        # those with the resource all have torch, so no address is named
        ((CUDA, TORCH), (None, GPU)),
    ],
)
def test_where_a_session_goes(tmp_path: Path, needs: tuple[Need, ...], asked: object) -> None:
    cluster = FakeCluster()
    with DaskExecutor(cluster, JUDGED, GPU) as executor:
        executor.submit(run_session, job(tmp_path, "1", needs=needs, cuda=CUDA in needs))
    assert cluster.asked == [asked]


def test_needs_that_no_worker_meets_together(tmp_path: Path) -> None:
    judged = NeedsVerdict(workers_by_need={TORCH: frozenset(["tcp://a:1"]), CUDA: frozenset(["tcp://b:1"])})
    cluster = FakeCluster()
    with DaskExecutor(cluster, judged, GPU) as executor:
        future = executor.submit(run_session, job(tmp_path, "1", needs=(CUDA, TORCH), cuda=True))
    assert lost(future) == "no Dask worker meets all needs of the session: cuda, torch>=2.6"
    assert cluster.asked == []


def test_how_sessions_end(tmp_path: Path) -> None:
    cluster = FakeCluster()
    work = job(tmp_path, "1")
    with DaskExecutor(cluster, NeedsVerdict(), GPU) as executor:
        futures = [executor.submit(run_session, work) for _ in range(5)]
        done = SessionRun("main", ())
        cluster.tasks[0].end("finished", done)
        cluster.tasks[1].end("error", ValueError("x"))
        cluster.tasks[2].end("cancelled")
        futures[3].cancel()
        cluster.tasks[3].end("cancelled")
        assert futures[0].result(0) == done
        assert lost(futures[1]) == "why: x"
        assert lost(futures[2]) == "the connection to the Dask scheduler is lost"
    assert [future.cancelled() for future in futures] == [False, False, False, True, True]
    assert [task.released for task in cluster.tasks] == [False, False, False, True, True]
    assert "dask-workers" not in {thread.name for thread in threading.enumerate()}


def test_a_worker_gets_one_session_at_a_time(tmp_path: Path) -> None:
    """Otherwise other sessions that wait for it would be blamed for its death."""
    cluster = FakeCluster({"a": WorkerResources("a"), "b": WorkerResources("a", GPU)})
    plain, cuda = job(tmp_path, "1"), job(tmp_path, "1", cuda=True)
    with DaskExecutor(cluster, NeedsVerdict(), GPU, one_each=True) as executor:
        futures = [executor.submit(run_session, work) for work in (cuda, cuda, plain, plain)]
        assert [resources for _, resources in cluster.asked] == [GPU, {}]
        cluster.tasks[1].end("finished", SessionRun("main", ()))
        assert [resources for _, resources in cluster.asked] == [GPU, {}, {}]
        del cluster.workers["b"]
        cluster.tasks[0].end("error", OSError("died"))
        assert len(cluster.asked) == 3, "one worker, one session"
        cluster.workers["c"] = WorkerResources("a", GPU)
        cluster.tasks[2].end("finished", SessionRun("main", ()))
        assert [resources for _, resources in cluster.asked] == [GPU, {}, {}, GPU]
    assert [future.cancelled() for future in futures] == [False, True, False, False]


def test_a_session_does_not_wait_for_workers_that_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_cluster, "GRACE_S", 0.1)
    monkeypatch.setattr(dask_cluster, "_POLL_S", 0.02)
    cluster = FakeCluster()
    with DaskExecutor(cluster, NeedsVerdict(), GPU) as executor:
        waits = executor.submit(run_session, job(tmp_path, "1"))
        gives_up = executor.submit(run_session, job(tmp_path, "1", cuda=True))
        del cluster.workers["tcp://b:1"], cluster.workers["tcp://b:2"]
        assert lost(gives_up) == "no Dask workers are left that offer GPU"
        wait_for(lambda: cluster.tasks[1].released)
        assert not waits.done()
        cluster.workers.clear()
        assert lost(waits) == "no Dask workers are left that can run the session"


def test_a_worker_may_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that died is restarted under another address."""
    monkeypatch.setattr(dask_cluster, "_POLL_S", 0.01)
    looks = []

    class Cluster(FakeCluster):
        def worker_resources(self) -> Mapping[str, WorkerResources]:
            looks.append(1)
            return super().worker_resources()

    cluster = Cluster()
    with DaskExecutor(cluster, NeedsVerdict(), GPU) as executor:
        waits = executor.submit(run_session, job(tmp_path, "1"))
        cluster.workers.clear()
        seen = len(looks)
        wait_for(lambda: len(looks) > seen + 3)
        assert not waits.done() and not cluster.tasks[0].released
        cluster.workers["tcp://b:9"] = WorkerResources("b")
        cluster.tasks[0].end("finished", SessionRun("main", ()))
        assert waits.result(10) == SessionRun("main", ())


def test_a_lost_session_is_one_that_could_not_run(tmp_path: Path) -> None:
    class Cluster(FakeCluster):
        def submit(self, *_: Any) -> Task:
            raise RuntimeError("closed")

    jobs = [job(tmp_path, "1", "2")]
    with (
        DaskExecutor(Cluster(), NeedsVerdict(), GPU) as executor,
        closing(run_sessions(jobs, workers=1, executor=executor)) as runs,
    ):
        (run,) = runs
    assert run.problem == "why: closed"
    assert [(c.status, c.problem) for c in run.cells] == [("skipped", "why: closed")] * 2
