"""Pages made by several processes are those that one process makes: bytes, messages, what is kept."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

from blogsmith.model.documents import Body
from blogsmith.pipeline import fonts, output_rows
from blogsmith.pipeline.pools import body_pool, page_executor, page_pool, spawned_process
from blogsmith.pipeline.pools.body_state import encode_state
from blogsmith.pipeline.pools.fork_pool import ForkPool, can_fork
from blogsmith.pipeline.pools.process_pool import ProcessDied
from blogsmith.pipeline.pools.spawn_pool import SpawnPool
from blogsmith.project.report import BuildReport, ExecutionOptions
from blogsmith.render import html
from blogsmith.render.html import render_body
from tests.preview_sites import built
from tests.sessions import is_alive, no_process_left, wait_for
from tests.site_files import build, printed, put

pytestmark = pytest.mark.skipif(not can_fork(), reason="processes are forked on Linux only")
# fresh processes are tried by `TestSpawned` in each run
METHODS = ("fork", pytest.param("spawn", marks=pytest.mark.long))
POSTS = 20
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="23" height="9"/>'


def text_of(number: int, chance: random.Random) -> str:
    """A post that refers to others, right and wrong ones."""
    other = chance.randrange(POSTS)
    pieces = [
        f"# Part {number} of $n_{{{number}}}$\n",
        f"See [part](p{other}.md), [](p{other}.md) and [there](p{other}.md#part-{other % 7}).\n",
        f"$$\nx_{{{number}}} = \\frac{{1}}{{{number + 1}}}\n$$ {{#eq-x}}\n",
        f"By {{@p{other}#eq-x}} and {{@eq-x}}.\n",
        f"```python\ndef f(x):\n    return x + {number}\n```\n",
        f'{{% include code.html file="src/f.py" lines="{number % 2 + 1}" %}}\n',
        f"> [!NOTE] Note {number}\n> Text with $\\alpha_{{{number}}}$.\n",
        f"![A picture](pictures/{chance.choice(['a', 'b', 'gone'])}.svg)\n",
        f"A footnote.[^1]\n\n[^1]: Number {number}.\n",
        f"[gone](p{POSTS + number}.md) and $\\unknown$\n" if number % 5 == 0 else "",
        f"As @key{number % 5} and [@key{number % 9}] say.\n" if number % 7 == 0 else "",
    ]
    cites = "bibliography: refs.bib\ncsl: apa\n" if number % 7 == 0 else ""
    head = f"title: Post {number}\ndate: 2026-01-{number % 28 + 1:02}\ntags: [t{number % 3}]\n{cites}"
    head = f"---\n{head}---\n"
    chance.shuffle(pieces)
    return head + "\n".join(pieces)


def site(root: Path) -> Path:
    chance = random.Random(5)
    put(root, {f"content/posts/p{number}.md": text_of(number, chance) for number in range(POSTS)})
    put(root, {"src/f.py": "def f(x):\n    return x\n"})
    files = {f"content/posts/pictures/{name}.svg": SVG for name in "ab"}
    entries = (f"@book{{key{n}, title = {{Book {n} on $n^{n}$}}, author = {{Doe, J.}}}}\n" for n in range(9))
    files["content/posts/refs.bib"] = "".join(entries)
    return put(root, {**files, "blogsmith.yaml": "title: Parts\nbase_url: https://example.org\n"})


def build_with(root: Path, jobs: int, **options: Any) -> BuildReport:
    return build(root, execution=ExecutionOptions(jobs=jobs), **options)


def mended(root: Path) -> Path:
    """The same site without errors."""
    for file in (root / "content/posts").glob("*.md"):
        lines = file.read_text().split("\n")
        wrong = ("unknown", "#part-", "gone.svg", "gone]")
        file.write_text("\n".join(line for line in lines if not any(part in line for part in wrong)))
    return root


@pytest.fixture(autouse=True)
def small_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes make pages of sites as small as ours, too."""
    for name in ("FORK_FEWEST", "SPAWN_FEWEST"):
        monkeypatch.setattr(page_executor, name, 5)
    monkeypatch.setattr(output_rows, "FEWEST", 16)


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    """How processes are started."""
    return str(request.param)


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What has been made by pools."""
    found: list[str] = []

    def watch(module: Any, name: str) -> None:
        plain = getattr(module, name).make

        def make(self: Any, *arguments: Any) -> Any:
            found.append(name)
            return plain(self, *arguments)

        monkeypatch.setattr(getattr(module, name), "make", make)

    watch(body_pool, "BodyPool")
    watch(page_pool, "PagePool")
    return found


def both(method: str) -> list[str]:
    """The pools of a build in which all is made anew: templates are filled by copies alone."""
    return ["BodyPool", "PagePool"] if method == "fork" else ["BodyPool"]


class TestBuilds:
    def test_the_same_site(self, tmp_path: Path, pools: list[str], method: str) -> None:
        root = mended(site(tmp_path / "site"))
        one = build_with(root, 1, output=tmp_path / "one")
        assert not pools
        several = build_with(root, 3, output=tmp_path / "several", start_method=method)
        assert pools == both(method)
        assert one.ok and one.diagnostics == several.diagnostics
        assert built(tmp_path / "one") == built(tmp_path / "several")
        assert (one.formulas, one.code_blocks, one.pages) == (
            several.formulas,
            several.code_blocks,
            several.pages,
        )

    def test_the_font_is_cut_by_one_of_them(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Half a second, for which the builder would let the others wait."""
        root, builder = mended(site(tmp_path / "site")), os.getpid()
        # signs for which the font of the theme's own pages is not enough
        put(root, {"content/posts/rare.md": "---\ntitle: Rare\n---\n\n$\\beth \\wr \\amalg$\n"})

        def cut(font: bytes, signs: Collection[str]) -> bytes:
            assert os.getpid() != builder
            return b"a font of %d signs" % len(signs)

        monkeypatch.setattr(fonts, "cut_font", cut)
        assert build_with(root, 3).ok
        found = [file.read_bytes() for file in (root / "public").rglob("*-math-*.woff2")]
        assert b"a font" in [data[:6] for data in found]

    def test_the_same_messages(self, tmp_path: Path, pools: list[str], method: str) -> None:
        root = site(tmp_path)
        one, several = (build_with(root, jobs, start_method=method) for jobs in (1, 3))
        assert pools == both(method)
        assert not one.ok and len(one.diagnostics) > POSTS
        assert printed(one) == printed(several)

    def test_the_same_doubts(self, tmp_path: Path, pools: list[str], method: str) -> None:
        """Whether pages are made for the check or were there, and some of them have cells."""
        root = mended(site(tmp_path / "site"))
        cell = "---\ntitle: Cell\n---\nLet $ y^2 $ be.\n\n```{python}\nprint(1 + 1)\n```\n"
        put(root, {"content/posts/cell.md": cell})
        for number in range(0, POSTS, 5):
            file = root / f"content/posts/p{number}.md"
            file.write_text(f"{file.read_text()}\nLet $ x^{number} $ be.\n\n$$\nz\n$$ {{#eq-z}}\n")
        one, several = (build_with(root, jobs, write=False, start_method=method) for jobs in (1, 3))
        assert pools.count("BodyPool") == 1
        codes = [found.code for found in one.diagnostics]
        assert (codes.count("dollar-doubtful"), codes.count("label-unused") >= 4) == (5, True)
        assert printed(one) == printed(several)
        build_with(root, 3, remembers=True)
        pools.clear()
        after = build_with(root, 3, write=False, remembers=True, start_method=method)
        assert (pools.count("BodyPool"), after.rebuilt) == (1, {})
        again = build_with(root, 3, write=False, remembers=True)
        assert pools.count("BodyPool") == 1
        assert printed(one) == printed(after) == printed(again)

    def test_code_that_takes_too_long(self, tmp_path: Path, pools: list[str], method: str) -> None:
        """Each process has the alarms that end it."""
        root = mended(site(tmp_path / "site"))
        stuck = f"# Stuck\n\n```console\n{'a' * 50_000}!\n```\n"
        put(root, {"content/posts/p7.md": stuck})
        put(root, {"blogsmith.yaml": "title: Parts\ncode: {deadline_s: 0.5, max_line: 100000}\n"})
        one, several = (
            build_with(root, jobs, output=tmp_path / str(jobs), start_method=method) for jobs in (1, 3)
        )
        assert pools == both(method)
        assert "highlighting takes longer than 0.5 s" in printed(one)
        assert printed(one) == printed(several)
        assert built(tmp_path / "1") == built(tmp_path / "3")

    def test_a_site_with_all_that_pages_depend_on(
        self, tmp_path: Path, pools: list[str], method: str
    ) -> None:
        """Settings, macros, callouts, plugins, shortcodes, a base path, drafts, Python for readers."""
        root = mended(site(tmp_path / "site"))
        settings = (
            "base_url: https://example.org/base\nplugins: [emoji_callouts, external_links, folder_tags]\n"
            "math: {macros: {'\\R': '\\mathbb{R}'}, numbering: all}\nnumbering: true\n"
            "callouts: {lemma: {title: Hilfssatz, numbered: true}}\n"
        )
        page = (
            '---\nextra: 1\n---\n# All\n\n$\\R^n$ and {% hello name="Ada" %}\n\n> [!LEMMA] One\n> Text\n\n'
            "[draft](draft.md), [out](https://example.com), [up](p1.md)\n\n"
            "<div class='runnable' data-lang='python'>\n\n```python\nimport numpy\n```\n\n</div>\n\n"
            "💡 Key insight: this.\n"
        )
        put(root, {"blogsmith.yaml": settings, "content/posts/all.md": page})
        put(root, {"content/posts/draft.md": "---\ndraft: true\n---\n# Later\n"})
        put(root, {"shortcodes/hello.inline.html": "<b>{{ args.name }}</b> {{ '/x/' | url }}"})
        one, several = (
            build_with(root, jobs, output=tmp_path / str(jobs), start_method=method) for jobs in (1, 3)
        )
        assert pools == both(method)
        assert printed(one) == printed(several) and "draft.md is not published" in printed(one)
        (root / "content/posts/all.md").write_text(page.replace("[draft](draft.md), ", ""))
        for jobs in (1, 3):
            report = build_with(root, jobs, output=tmp_path / str(jobs), start_method=method)
            assert report.ok, printed(report)
        assert built(tmp_path / "1") == built(tmp_path / "3")

    def test_few_changed_pages_of_many(self, tmp_path: Path, pools: list[str], method: str) -> None:
        """What others hold is known from rows, and told to those who ask."""
        root = mended(site(tmp_path / "site"))
        build_with(root, 3, remembers=True, start_method=method)
        for number in range(6):
            file = root / f"content/posts/p{number}.md"
            file.write_text(f"{file.read_text()}\nMore, see [](p17.md) and [](p{number + 1}.md).\n")
        pools.clear()
        changed = build_with(root, 3, remembers=True, start_method=method)
        assert pools == ["BodyPool"] and changed.ok and len(changed.rebuilt) == 6
        build_with(root, 1, output=tmp_path / "clean")
        assert built(root / "public") == built(tmp_path / "clean")

    def test_what_is_kept_serves_both(self, tmp_path: Path, pools: list[str], method: str) -> None:
        """Contents of pages are read from rows by each process."""
        root = mended(site(tmp_path / "site"))
        build_with(root, 3, remembers=True, start_method=method)
        again = build_with(root, 1, remembers=True)
        assert not again.rebuilt and again.written == 0
        put(root, {"layouts/post.html": "<!DOCTYPE html><title>{{ page.title }}</title>{{ page.content }}"})
        pools.clear()
        changed = build_with(root, 3, remembers=True)
        assert pools == ["PagePool"] and not changed.rebuilt and changed.written >= POSTS
        build_with(root, 1, output=tmp_path / "clean")
        assert built(root / "public") == built(tmp_path / "clean")

    def test_pages_with_cells_are_made_here(self, tmp_path: Path, pools: list[str], method: str) -> None:
        root = mended(site(tmp_path / "site"))
        cell = "---\ntitle: Cell\n---\n[part](p3.md)\n\n```{python}\nprint(1 + 1)\n```\n"
        put(root, {"content/posts/cell.md": cell})
        one, several = (
            build_with(root, jobs, output=tmp_path / str(jobs), start_method=method) for jobs in (1, 3)
        )
        assert pools == both(method)
        assert printed(one) == printed(several)
        assert built(tmp_path / "1") == built(tmp_path / "3")

    @pytest.mark.parametrize("text", ["{{ page.nothing }}", "{% for a in range(99999999) %}x{% endfor %}"])
    def test_templates_that_fail(self, tmp_path: Path, pools: list[str], text: str) -> None:
        root = put(mended(site(tmp_path)), {"layouts/post.html": text})
        one, several = (build_with(root, jobs) for jobs in (1, 3))
        assert pools and not one.ok
        assert printed(one) == printed(several)

    def test_code_of_the_site_sees_all_pages(self, tmp_path: Path, pools: list[str]) -> None:
        from blogsmith.project.trust.consent import trust

        code = (
            "def register(hooks):\n    seen = []\n"
            "    hooks.page_rendered(lambda html, page: seen.append(page.front.title) or html)\n"
            "    hooks.site_outputs(lambda site: {'seen.txt': str(len(seen))})\n"
        )
        root = put(mended(site(tmp_path)), {"plugins/count.py": code})
        put(root, {"blogsmith.yaml": "title: Parts\nplugins: [count]\n"})
        trust(root)
        assert build_with(root, 3).ok
        assert not pools
        assert (root / "public/seen.txt").read_text() == str(POSTS)


LETHAL = "os.kill(os.getpid(), signal.SIGKILL)"
ENDLESS = "time.sleep(600)"


def break_spawned(monkeypatch: pytest.MonkeyPatch, act: str, number: int = 13) -> None:
    """Let processes that are started fresh do something when they render a page."""
    monkeypatch.setattr(
        spawned_process,
        "_CHILD",
        spawned_process._CHILD.replace(
            "\nserve()",
            f"""
import os, signal, time
from blogsmith.pipeline import output_rows
from blogsmith.render import html
from blogsmith.render.html import render_body
def render(parsed, tools):
    if parsed.document.path.stem == "p{number}":
        {act}
    return render_body(parsed, tools)
html.render_body = render
serve()""",
        ),
    )


BUILDER = """
import sys, datetime as dt, pathlib, pytest
from blogsmith.pipeline.pools import page_executor
from blogsmith.pipeline.build import build_site
from blogsmith.project.report import BuildOptions, ExecutionOptions
from tests.test_process_builds import ENDLESS, break_spawned
page_executor.SPAWN_FEWEST = 1
busy = sys.argv[1] + "/busy"
break_spawned(pytest.MonkeyPatch(), f"open({busy!r}, 'w').close(); {ENDLESS}")
now, jobs = dt.datetime(2026, 6, 1, tzinfo=dt.UTC), ExecutionOptions(jobs=2)
build_site(pathlib.Path(sys.argv[1]), BuildOptions(now=now, start_method="spawn", execution=jobs))
"""


class TestSpawned:
    def test_a_process_that_dies_is_named_with_its_page(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = mended(site(tmp_path))
        break_spawned(monkeypatch, LETHAL)
        with no_process_left():
            report = build_with(root, 2, start_method="spawn")
        (found,) = [found for found in report.diagnostics if found.severity == "error"]
        assert (found.code, found.path) == ("page-process", "content/posts/p13.md")
        assert found.message == "the process that made this page was ended by SIGKILL"
        assert not (root / "public").exists()

    def test_what_only_fails_there_is_made_here(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = mended(site(tmp_path / "site"))
        build_with(root, 1, output=tmp_path / "one")
        break_spawned(monkeypatch, "1 / 0")
        assert build_with(root, 2, output=tmp_path / "several", start_method="spawn").ok
        assert built(tmp_path / "one") == built(tmp_path / "several")

    def test_what_is_printed_there_is_no_answer(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        root = mended(site(tmp_path / "site"))
        break_spawned(monkeypatch, "print('noise', flush=True); os.write(1, b'loud')")
        assert build_with(root, 2, start_method="spawn").ok
        said = capfd.readouterr()
        assert (said.out, "noise" in said.err, "loud" in said.err) == ("", True, True)

    @pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
    def test_processes_end_with_the_builder(self, tmp_path: Path, ending: signal.Signals) -> None:
        """Also those that are in the midst of a page."""
        root = mended(site(tmp_path / "site"))
        builder = subprocess.Popen(
            [sys.executable, "-c", BUILDER, str(root)],
            cwd=Path(__file__).parents[1],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

        def workers() -> list[int]:
            children = Path(f"/proc/{builder.pid}/task/{builder.pid}/children")
            return [int(pid) for pid in children.read_text().split()]

        wait_for(lambda: len(workers()) == 2)
        pids = workers()
        # from there on one is busy for good
        wait_for((root / "busy").exists)
        assert all(map(is_alive, pids))
        os.killpg(builder.pid, ending)
        builder.wait(60)
        wait_for(lambda: not any(map(is_alive, pids)), 60)

    def test_on_a_machine_without_the_site(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Sizes of pictures are sent; what programs draw, and a folder of the site, are left to us."""
        root = mended(site(tmp_path / "site"))
        put(root, {"blogsmith.yaml": "plugins: [graphviz]\nbrowser: {pyodide: static/pyodide}\n"})
        drawn = "# Drawn\n\n```dot\ndigraph { a -> b }\n```\n"
        run = "# Run\n\n<div class='runnable' data-lang='python'>\n\n```python\n1\n```\n\n</div>\n"
        put(root, {"content/posts/drawn.md": drawn, "content/posts/run.md": run})
        one = build_with(root, 1, output=tmp_path / "one")
        states: dict[str, str] = {}
        take = body_pool.BodyPool._adopt

        def note(pool: Any, made: Any) -> Any:
            states[Path(made.path).stem] = made.state
            return take(pool, made)

        def state(job: Any, *, is_elsewhere: bool) -> bytes:
            return encode_state(job._resolved, is_elsewhere=True, has_lints=False)

        monkeypatch.setattr(body_pool.BodyPool, "_adopt", note)
        monkeypatch.setattr(body_pool.BodyJob, "state", state)
        several = build_with(root, 2, output=tmp_path / "several", start_method="spawn")
        # bibliographies are here
        cites = {f"p{number}" for number in range(0, POSTS, 7)}
        assert {name for name, state in states.items() if state != "made"} == {"drawn", "run"} | cites
        assert printed(one) == printed(several)

    def test_answers_of_a_worker_that_cannot_start_are_none(self) -> None:
        with no_process_left(), SpawnPool(2, "bodies", b"no state") as pool:
            assert [answer.data for answer in pool.map([b"x", b"y"])] == [None, None]

    def test_one_that_dies_idle_is_told_when_it_is_needed(self) -> None:
        with SpawnPool(2, "bodies", b"no state") as pool:
            list(pool.map([b"x", b"y"], [0, 1]))
            os.kill(pool.pids[1], signal.SIGKILL)
            list(pool.map([b"x"] * 3, [0, 0, 0]))
            with pytest.raises(ProcessDied) as caught:
                list(pool.map([b"x"], [1]))
        assert caught.value.ending == "was ended by SIGKILL"

    def test_large_requests_and_answers_do_not_wait_for_each_other(self, tmp_path: Path) -> None:
        root = mended(site(tmp_path / "site"))
        for number in range(4):
            file = root / f"content/posts/p{number}.md"
            file.write_text(f"{file.read_text()}\n{'many words ' * 20_000}\n")
        for jobs in (1, 2):
            assert build_with(root, jobs, output=tmp_path / str(jobs), start_method="spawn").ok
        assert built(tmp_path / "1") == built(tmp_path / "2")


class TestFailures:
    def break_page(
        self, monkeypatch: pytest.MonkeyPatch, act: Callable[[], None], *, everywhere: bool = False
    ) -> None:
        here, number = os.getpid(), 13

        def render(parsed: Any, tools: Any) -> Body:
            if parsed.document.path.stem == f"p{number}" and (everywhere or os.getpid() != here):
                act()
            return render_body(parsed, tools)

        monkeypatch.setattr(html, "render_body", render)

    def test_a_process_that_dies_is_named_with_its_page(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = mended(site(tmp_path))
        self.break_page(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGKILL))
        report = build_with(root, 3)
        (found,) = [found for found in report.diagnostics if found.severity == "error"]
        assert (found.code, found.path) == ("page-process", "content/posts/p13.md")
        assert found.message == "the process that made this page was ended by SIGKILL"
        assert not (root / "public").exists()

    def test_what_is_raised_there_is_raised_here(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail() -> None:
            raise ZeroDivisionError

        root = mended(site(tmp_path))
        self.break_page(monkeypatch, fail, everywhere=True)
        with pytest.raises(ZeroDivisionError):
            build_with(root, 3)

    def test_what_only_fails_there_is_made_here(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail() -> None:
            raise ZeroDivisionError

        root = mended(site(tmp_path / "site"))
        build_with(root, 1, output=tmp_path / "one")
        self.break_page(monkeypatch, fail)
        assert build_with(root, 3, output=tmp_path / "several").ok
        assert built(tmp_path / "one") == built(tmp_path / "several")


class TestPool:
    def test_answers_come_to_their_requests(self) -> None:
        with ForkPool(3, lambda request: request * 2) as pool:
            requests = [str(number).encode() for number in range(50)]
            found = {answer.request: answer.data for answer in pool.map(requests)}
            assert found == {number: str(number).encode() * 2 for number in range(50)}

    def test_a_request_goes_to_its_process(self) -> None:
        with ForkPool(3, lambda request: str(os.getpid()).encode()) as pool:
            wanted = [number % 3 for number in range(20)]
            found = {(answer.process, answer.data) for answer in pool.map([b""] * 20, wanted)}
            assert len(found) == 3 and len({data for _, data in found}) == 3

    def test_an_exception_is_no_answer(self) -> None:
        with ForkPool(2, lambda request: bytes([1 // request[0]])) as pool:
            found = {answer.request: answer.data for answer in pool.map([b"\1", b"\0", b"\1"])}
            assert found == {0: b"\1", 1: None, 2: b"\1"}

    def test_an_end_is_told(self) -> None:
        with pytest.raises(ProcessDied) as caught, ForkPool(2, lambda request: os._exit(7)) as pool:
            list(pool.map([b"x"]))
        assert (caught.value.request, caught.value.ending) == (0, "ended with status 7")

    def test_processes_end_with_the_pool(self) -> None:
        """Also when something else is raised while they work."""
        pids: list[int] = []

        def answer(request: bytes) -> bytes:
            if request == b"wait":
                time.sleep(600)
            return str(os.getpid()).encode()

        with pytest.raises(KeyboardInterrupt), ForkPool(2, answer) as pool:
            pids += [int(found.data or b"0") for found in pool.map([b"", b""], [0, 1])]
            for _ in pool.map([b"wait", b""], [0, 1]):
                raise KeyboardInterrupt
        assert len(set(pids)) == 2
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
