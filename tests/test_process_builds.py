"""Pages made by several processes equal those of a single one: bytes, messages, cache."""

from __future__ import annotations

import concurrent.futures
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import closing
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, NoReturn

import pytest

from blogsmith.build import body_processes, write
from blogsmith.build.body_processes import make_body_worker
from blogsmith.model.documents import Body
from blogsmith.pools import page_executor
from blogsmith.pools.pool import ProcessDiedError, ProcessPool, can_fork
from blogsmith.project.report import BuildReport, ExecutionOptions
from blogsmith.render import html
from blogsmith.render.html import render_body
from blogsmith.stages import fonts
from tests.preview_sites import built
from tests.sessions import is_alive, no_process_left, wait_for
from tests.site_files import build, printed, put
from tests.worker_faults import LETHAL, break_workers

pytestmark = pytest.mark.skipif(not can_fork(), reason="processes are forked on Linux only")
# fresh processes are tried by `TestSpawned` in each run
METHODS = ("fork", pytest.param("spawn", marks=pytest.mark.long))
POSTS = 20
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="23" height="9"/>'


def text_of(number: int, chance: random.Random) -> str:
    """Return a post that refers to others, correctly and incorrectly."""
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


def build_with(root: Path, jobs: int, start_method: str = "fork", **options: Any) -> BuildReport:
    return build(root, execution=ExecutionOptions(jobs=jobs), start_method=start_method, **options)


def mended(root: Path) -> Path:
    """Return the same site without errors."""
    for file in (root / "content/posts").glob("*.md"):
        lines = file.read_text().split("\n")
        wrong = ("unknown", "#part-", "gone.svg", "gone]")
        file.write_text("\n".join(line for line in lines if not any(part in line for part in wrong)))
    return root


@pytest.fixture(autouse=True)
def small_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes make pages of small sites, too."""
    for name in ("MIN_FORK_BODIES", "MIN_SPAWN_BODIES"):
        monkeypatch.setattr(page_executor, name, 5)
    monkeypatch.setattr(write, "MIN_PROCESS_PAGES", 16)


@pytest.fixture(autouse=True)
def tracker() -> None:
    """Start Python's own helper of `multiprocessing`, which runs until the end and is not a leftover."""
    resource_tracker.ensure_running()


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    """Return how processes are started."""
    return str(request.param)


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record what pools have made."""
    found: list[str] = []

    def watch(module: Any, name: str) -> None:
        plain = getattr(module, name).make

        def make(self: Any, *arguments: Any) -> Any:
            found.append(name)
            return plain(self, *arguments)

        monkeypatch.setattr(getattr(module, name), "make", make)

    watch(body_processes, "BodyPool")
    watch(write, "PagePool")
    return found


@pytest.fixture
def sent_states(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Record the final data of processes by page name; pages without data are missing."""
    found: dict[str, str] = {}
    take = body_processes.BodyPool._store_result

    def adopt(pool: Any, path: str, made: Any) -> Any:
        found[Path(path).stem] = made.state
        return take(pool, path, made)

    monkeypatch.setattr(body_processes.BodyPool, "_store_result", adopt)
    return found


def both(method: str) -> list[str]:
    """Return the pools of a build without cache: only forked copies fill templates."""
    return ["BodyPool", "PagePool"] if method == "fork" else ["BodyPool"]


class TestBuilds:
    def test_the_same_site(
        self, tmp_path: Path, pools: list[str], sent_states: dict[str, str], method: str
    ) -> None:
        root = mended(site(tmp_path / "site"))
        one = build_with(root, 1, output=tmp_path / "one")
        assert not pools
        several = build_with(root, 3, output=tmp_path / "several", start_method=method)
        assert pools == both(method)
        assert sent_states == {f"p{number}": "made" for number in range(POSTS)}
        assert one.ok and one.diagnostics == several.diagnostics
        assert built(tmp_path / "one") == built(tmp_path / "several")
        assert (one.formulas, one.code_blocks, one.pages) == (
            several.formulas,
            several.code_blocks,
            several.pages,
        )

    def test_the_font_is_cut_by_one_of_them(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It takes half a second, during which the builder would let the others wait."""
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
        """Whether pages are made for the check or were cached, and some of them have cells."""
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
        build_with(root, 3, use_cache=True)
        pools.clear()
        # the build has kept what lints find
        after = build_with(root, 3, write=False, use_cache=True, start_method=method)
        assert (pools.count("BodyPool"), after.rebuilt) == (0, {})
        again = build_with(root, 3, write=False, use_cache=True)
        assert pools.count("BodyPool") == 0
        assert printed(one) == printed(after) == printed(again)

    def test_code_that_takes_too_long(self, tmp_path: Path, pools: list[str], method: str) -> None:
        """Each process has its own time limit."""
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
        assert printed(one) == printed(several) and 'draft.md" is not published' in printed(one)
        (root / "content/posts/all.md").write_text(page.replace("[draft](draft.md), ", ""))
        for jobs in (1, 3):
            report = build_with(root, jobs, output=tmp_path / str(jobs), start_method=method)
            assert report.ok, printed(report)
        assert built(tmp_path / "1") == built(tmp_path / "3")

    def test_few_changed_pages_of_many(self, tmp_path: Path, pools: list[str], method: str) -> None:
        """Content of other pages is read from rows, and sent to the processes that need it."""
        root = mended(site(tmp_path / "site"))
        build_with(root, 3, use_cache=True, start_method=method)
        for number in range(6):
            file = root / f"content/posts/p{number}.md"
            file.write_text(f"{file.read_text()}\nMore, see [](p17.md) and [](p{number + 1}.md).\n")
        pools.clear()
        changed = build_with(root, 3, use_cache=True, start_method=method)
        assert pools == ["BodyPool"] and changed.ok and len(changed.rebuilt) == 6
        build_with(root, 1, output=tmp_path / "clean")
        assert built(root / "public") == built(tmp_path / "clean")

    def test_what_is_kept_serves_both(self, tmp_path: Path, pools: list[str], method: str) -> None:
        """Contents of pages are read from rows by each process."""
        root = mended(site(tmp_path / "site"))
        build_with(root, 3, use_cache=True, start_method=method)
        again = build_with(root, 1, use_cache=True)
        assert not again.rebuilt and again.written == 0
        put(root, {"layouts/post.html": "<!DOCTYPE html><title>{{ page.title }}</title>{{ page.content }}"})
        pools.clear()
        changed = build_with(root, 3, use_cache=True)
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


BUILDER = """
import sys, datetime as dt, pathlib, pytest
from blogsmith.pools import page_executor
from blogsmith.build.site import build_site
from blogsmith.project.report import BuildOptions, ExecutionOptions
from tests.worker_faults import ENDLESS, break_pages, break_workers
page_executor.MIN_FORK_BODIES = page_executor.MIN_SPAWN_BODIES = 1
root, method = sys.argv[1:]
act = f"open({root + '/busy'!r}, 'w').close(); {ENDLESS}"
break_pages(act) if method == "fork" else break_workers(pytest.MonkeyPatch(), act)
now, jobs = dt.datetime(2026, 6, 1, tzinfo=dt.UTC), ExecutionOptions(jobs=2)
build_site(pathlib.Path(root), BuildOptions(now=now, start_method=method, execution=jobs))
"""

OPEN_SITE = """
import os, pathlib, datetime as dt
from blogsmith.build import body_processes as body_pool
from blogsmith.pools import page_executor
from blogsmith.build.site import build_site
from blogsmith.project.report import BuildOptions, ExecutionOptions
os.environ["PYTHONPATH"] = os.pathsep
page_executor.MIN_SPAWN_BODIES, take, sent_states = 1, body_pool.BodyPool._store_result, []
def store(pool, path, made):
    sent_states.append(made.state)
    return take(pool, path, made)
body_pool.BodyPool._store_result = store
now, jobs = dt.datetime(2026, 6, 1, tzinfo=dt.UTC), ExecutionOptions(jobs=2)
# without a guard for the main module, which no process imports again
build_site(pathlib.Path.cwd(), BuildOptions(now=now, start_method="spawn", execution=jobs))
assert "made" in sent_states
assert (os.environ["PYTHONPATH"], "PYTHONSAFEPATH" in os.environ) == (os.pathsep, False)
"""


class TestSpawned:
    def test_a_process_that_dies_is_named_with_its_page(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = mended(site(tmp_path))
        break_workers(monkeypatch, LETHAL)
        with no_process_left():
            report = build_with(root, 2, start_method="spawn")
        (found,) = [found for found in report.diagnostics if found.severity == "error"]
        assert (found.code, found.path) == ("page-process", "content/posts/p13.md")
        assert (
            found.message
            == "the process that rendered this page was ended by SIGKILL: perhaps memory ran out"
        )
        assert not (root / "public").exists()

    def test_what_only_fails_there_is_made_here(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = mended(site(tmp_path / "site"))
        build_with(root, 1, output=tmp_path / "one")
        break_workers(monkeypatch, "1 / 0")
        assert build_with(root, 2, output=tmp_path / "several", start_method="spawn").ok
        assert built(tmp_path / "one") == built(tmp_path / "several")

    def test_what_is_printed_there_is_no_answer(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        root = mended(site(tmp_path / "site"))
        break_workers(monkeypatch, "print('noise', flush=True); os.write(1, b'loud')")
        assert build_with(root, 2, start_method="spawn").ok
        said = capfd.readouterr()
        assert (said.out, "noise" in said.err, "loud" in said.err) == ("", True, True)

    def test_links_in_two_languages(self, tmp_path: Path) -> None:
        """A link to a file resolves to the page in the language of the linking page."""
        root = mended(site(tmp_path / "site"))
        put(root, {"blogsmith.yaml": "title: Parts\nlang: en\nlanguages: {de: {}}\n"})
        german = "---\ntitle: Post {n}\ndate: 2026-02-01\n---\n\nSiehe [](p{m}.md) und [hier](p{m}.md).\n"
        put(root, {f"content/posts/p{n}.de.md": german.format(n=n, m=n + 1) for n in range(5)})
        one, several = (
            build_with(root, jobs, output=tmp_path / str(jobs), start_method="spawn") for jobs in (1, 2)
        )
        assert one.ok and printed(one) == printed(several)
        assert built(tmp_path / "1") == built(tmp_path / "2")
        assert b'href="/de/posts/p2/"' in (tmp_path / "2/de/posts/p1/index.html").read_bytes()

    def test_nothing_is_imported_from_the_folder_of_a_site(self, tmp_path: Path) -> None:
        """The builder may be started in that folder."""
        root = mended(site(tmp_path / "site"))
        modules = ("blogsmith", "concurrent", "encodings", "multiprocessing", "sitecustomize", "tokenize")
        put(root, {f"{name}.py": "open('imported', 'w').close()\n" for name in modules})
        (program := tmp_path / "program.py").write_text(OPEN_SITE)
        done = subprocess.run([sys.executable, program], cwd=root, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert not (root / "imported").exists()

    @pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
    @pytest.mark.parametrize("method", ["fork", "spawn"])
    def test_processes_end_with_the_builder(
        self, tmp_path: Path, method: str, ending: signal.Signals
    ) -> None:
        """Including processes that are rendering a page."""
        root = mended(site(tmp_path / "site"))
        builder = subprocess.Popen(
            [sys.executable, "-c", BUILDER, str(root), method],
            cwd=Path(__file__).parents[1],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

        def workers() -> list[int]:
            children = Path(f"/proc/{builder.pid}/task/{builder.pid}/children")
            return [int(pid) for pid in children.read_text().split()]

        # from there on one is busy for good
        wait_for((root / "busy").exists)
        pids = workers()
        assert len(pids) >= 2 and all(map(is_alive, pids))
        os.killpg(builder.pid, ending)
        builder.wait(60)
        wait_for(lambda: not any(map(is_alive, pids)), 60)

    def test_on_a_machine_without_the_site(
        self, tmp_path: Path, sent_states: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Sizes of images are sent; diagrams by programs, and a folder of the site, are left to us."""
        root = mended(site(tmp_path / "site"))
        put(root, {"blogsmith.yaml": "plugins: [graphviz]\nbrowser: {pyodide: static/pyodide}\n"})
        drawn = "# Drawn\n\n```dot\ndigraph { a -> b }\n```\n"
        run = "# Run\n\n<div class='runnable' data-lang='python'>\n\n```python\n1\n```\n\n</div>\n"
        put(root, {"content/posts/drawn.md": drawn, "content/posts/run.md": run})
        one = build_with(root, 1, output=tmp_path / "one")
        monkeypatch.setattr(page_executor.PageExecutor, "is_remote", True)
        several = build_with(root, 2, output=tmp_path / "several", start_method="spawn")
        # bibliographies are here
        cites = {f"p{number}" for number in range(0, POSTS, 7)}
        assert {path for path, state in sent_states.items() if state != "made"} == {"drawn", "run"} | cites
        assert printed(one) == printed(several)

    def test_results_of_a_worker_that_cannot_be_made_are_none(self) -> None:
        make = partial(make_body_worker, b"no state")
        with no_process_left(), ProcessPool("spawn", 2, make) as pool:
            assert sorted(pool.map("xy")) == [(0, None), (1, None)]

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
        assert (
            found.message
            == "the process that rendered this page was ended by SIGKILL: perhaps memory ran out"
        )
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


def forked(processes: int, answer: Callable[[Any], Any], tasks: Iterable[Any], per_call: int = 1) -> Any:
    """Return the results of tasks in forked processes."""
    with ProcessPool("fork", processes, lambda: answer) as pool:
        yield from pool.map(tasks, per_call)


class TestPool:
    def test_results_come_with_the_numbers_of_their_tasks(self) -> None:
        for per_call in (1, 3):
            found = forked(3, lambda task: task * 2, range(50), per_call=per_call)
            assert sorted(found) == [(number, number * 2) for number in range(50)]

    def test_tasks_are_taken_when_there_is_room(self) -> None:
        """All tasks together might contain the content of the whole site."""
        taken = []

        def tasks() -> Iterator[int]:
            for number in range(50):
                taken.append(number)
                yield number

        for done, _ in enumerate(forked(2, str, tasks(), per_call=2)):
            assert len(taken) <= done + 2 + 2 * 2 * 2

    def test_an_exception_gives_none(self) -> None:
        assert sorted(forked(2, lambda task: 1 // task, [1, 0, 1], per_call=3)) == [
            (0, 1),
            (1, None),
            (2, 1),
        ]

    def test_what_cannot_be_sent_gives_none(self) -> None:
        found = forked(2, lambda task: task if task else lambda: 0, [1, 0, 1])
        assert sorted(found) == [(0, 1), (1, None), (2, 1)]

    @pytest.mark.parametrize("per_call", [1, 4])
    def test_the_task_that_ends_its_process_is_named(self, per_call: int) -> None:
        def answer(task: int) -> int:
            return os._exit(7) if task == 11 else task

        found = []
        with no_process_left(), pytest.raises(ProcessDiedError) as caught:
            for number, _ in forked(2, answer, range(30), per_call=per_call):
                found.append(number)
        assert (caught.value.task, caught.value.ending) == (11, "ended with status 7")
        assert len(set(found)) == len(found) and 11 not in found

    def test_a_process_that_dies_once_costs_no_result(self, tmp_path: Path) -> None:
        def answer(task: int) -> int:
            if task == 11 and not (tmp_path / "died").exists():
                (tmp_path / "died").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return task

        with no_process_left():
            found = sorted(forked(2, answer, range(30)))
        assert found == [(number, number) for number in range(30)] and (tmp_path / "died").exists()

    def test_where_no_process_can_start_nothing_is_made(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*arguments: object) -> NoReturn:
            raise OSError(38, "Function not implemented")

        monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", fail)
        assert [*forked(2, str, range(2))] == [(0, None), (1, None)]

    def test_processes_end_with_the_pool(self) -> None:
        """Even if another exception is raised while they work."""
        pids = set()

        def answer(task: str) -> int:
            if task == "wait":
                time.sleep(600)
            time.sleep(0.1)
            return os.getpid()

        results = forked(2, answer, ["", "", "", "wait", ""])
        with pytest.raises(KeyboardInterrupt), closing(results):
            for number, pid in results:
                pids.add(pid)
                if number == 4:
                    raise KeyboardInterrupt
        assert len(pids) == 2
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    def test_a_look_may_end_all(self) -> None:
        """Even with more in the pipe than its capacity."""

        def look() -> None:
            raise CancelledError

        with (
            no_process_left(),
            pytest.raises(CancelledError),
            ProcessPool("fork", 2, lambda: lambda task: time.sleep(600), look) as pool,
        ):
            list(pool.map([b"large" * 200_000] * 20, 2))

    def test_the_same_processes_take_more_tasks(self) -> None:
        with ProcessPool("fork", 2, lambda: lambda task: os.getpid()) as pool:
            pids = {pid for _ in range(3) for _, pid in pool.map(range(5))}
        assert len(pids) <= 2
