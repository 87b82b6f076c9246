"""Setup for all tests: a quiet environment, reproducible properties, and the CommonMark examples."""

from __future__ import annotations

import compileall
import gc
import math
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
ROOT = TESTS.parent
MEETING_S = 60
"""Seconds that a process waits for the others to compile their share; then it continues without them."""
IN_MEMORY = Path("/dev/shm")
"""A file system in memory on Linux: tests write as many files as builds in a year."""
ROOM_BYTES = 6 << 30
"""Free space and memory required there: ten times what test folders need at the same time."""
FAST = "not slow and not long"
"""The selection of `make check`."""
SPEC = ROOT / ".cache" / "node_modules" / "commonmark-spec" / "spec.txt"

# Files that start processes, build many sites or try very many inputs, and folders of these.
SLOW_FILES = frozenset(
    (
        "agreement",
        "author_runs",
        "broken",
        "cells_hostile",
        "checkpoints",
        "deep_data",
        "sandbox_table",
        "dependencies",
        "claims",
        "claims_of_posts",
        "clean_tree",
        "cli",
        "cluster_builds",
        "completion",
        "diagrams",
        "distribution",
        "docs",
        "editions",
        "execute_dask",
        "execute_faults",
        "execute_forked",
        "execute_jupyter",
        "execute_pool",
        "execute_session",
        "execution_broken_off",
        "execution_machine",
        "execution_safety",
        "fix_trials",
        "formula_converters",
        "freeze_store",
        "fuzz",
        "fuzz_site",
        "hooks",
        "import_builds",
        "incremental_builds",
        "kept_results",
        "lab_drawing",
        "lints",
        "lab_import",
        "landmarks",
        "lsp_wire",
        "messages",
        "markdown_files",
        "marks",
        "math_command",
        "math_font",
        "moved_records",
        "moving_in",
        "new_site",
        "other_systems",
        "output",
        "outputs",
        "page_words",
        "paper",
        "other_interpreters",
        "performing",
        "performing_needs",
        "photos",
        "picture_builds",
        "plugin_imports",
        "posts",
        "preview_engine",
        "preview_line",
        "preview_running",
        "preview_server",
        "preview_server_admission",
        "preview_server_events",
        "preview_server_life",
        "preview_soak",
        "preview_stored",
        "probe_cache",
        "process_builds",
        "properties",
        "publish_check",
        "publish_commands",
        "publish_deploy",
        "publish_outputs",
        "publish_rehearsal",
        "publish_rsync",
        "publish_servers",
        "pyodide",
        "seals",
        "serve",
        "serve_cells",
        "serve_command",
        "serve_saves",
        "serve_site",
        "serve_stored",
        "result_changes",
        "sites",
        "sweep_runs",
        "tex_chemistry",
        "tex_drawings",
        "tex_hostile",
        "tex_remembered",
        "tutorials",
        "unchanged_builds",
        "used_files",
        "verify",
        "versions_of_results",
        "walk",
        "watch",
        "watch_saves",
        "worker",
        "worker_endings",
        "worker_figures",
        "worker_file_access",
        "worker_landlock",
        "worker_values",
        "working_folder",
        "interactive_values",
    )
)
SLOW_FOLDERS = frozenset(("bench", "browser", "faults", "security", "torch"))

# The same examples in every run, and no time limit, so that tests do not fail on a slow machine.
settings.register_profile("short", max_examples=20, derandomize=True, deadline=None, database=None)
settings.register_profile("long", max_examples=200, derandomize=True, deadline=None, database=None)
settings.load_profile("short")

# Tests start thousands of processes, and each would compile the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell that starts tests in the background makes them ignore Ctrl-C, and all child processes inherit it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# The same for `nohup` and the end of a terminal.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
# No proxy from the environment can reach servers on this machine.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "*"
# Settings of the user's shell must not affect tests.
for _name in ("NO_COLOR", "FORCE_COLOR", "SOURCE_DATE_EPOCH", "COLUMNS", "_BLOGSMITH_COMPLETE"):
    os.environ.pop(_name, None)


def pytest_configure() -> None:
    """Put test folders in memory if there is space, because each write of a build waits for the disk."""
    if _has_room():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


def _has_room() -> bool:
    try:
        free = shutil.disk_usage(IN_MEMORY).free
        memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return False
    return os.access(IN_MEMORY, os.W_OK) and min(free, memory) >= ROOM_BYTES


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the package once, since processes without write access cannot do it themselves."""
    if not hasattr(session.config, "workerinput"):
        for folder in ("blogsmith", "plugins"):
            compileall.compile_dir(ROOT / folder, quiet=1)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return the number of workers for `-n auto`: 1.5 times the cores, since tests wait for browsers and
    servers.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + cores // 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Compile the tests in parallel: each process compiles a share.

    In a new checkout each process would otherwise compile all of them, which takes half a minute.
    """
    place: dict[str, Any] | None = getattr(session.config, "workerinput", None)
    if place is None or [Path(arg).resolve() for arg in session.config.args] != [TESTS]:
        return
    number, count = int(place["workerid"].removeprefix("gw")), int(place["workercount"])
    files = [file for file in TESTS.rglob("test_*.py") if not pytest_ignore_collect(file, session.config)]
    for file in sorted(files)[number::count]:
        # errors are reported when the file is collected
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    done = _meeting(place["testrunuid"])
    done.mkdir(exist_ok=True)
    (done / str(number)).touch()
    end = time.monotonic() + MEETING_S
    while len(list(done.iterdir())) < count and time.monotonic() < end:
        time.sleep(0.05)


def _meeting(run: str) -> Path:
    """Return the folder where the processes of a run report that they are done."""
    return Path(tempfile.gettempdir(), f"blogsmith-tests-{run}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the folder of the run."""
    if place := getattr(session.config, "workerinput", None):
        shutil.rmtree(_meeting(place["testrunuid"]), ignore_errors=True)


@cache
def is_slow(path: Path) -> bool:
    """Return whether `make check` skips the tests of a file or folder."""
    parts = path.relative_to(TESTS).parts if path.is_relative_to(TESTS) else ()
    return bool(parts) and (parts[0] in SLOW_FOLDERS or path.stem.removeprefix("test_") in SLOW_FILES)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files without selected tests without importing them, which alone takes half a minute."""
    wants_fast_only = str(config.getoption("markexpr")) == FAST
    return True if wants_fast_only and is_slow(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its tier."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Freeze existing objects and collect garbage less often, which saves a tenth of the time of tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session")
def folder_numbers() -> Counter[str]:
    """Count the folders of each name that this process has created."""
    return Counter()


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, folder_numbers: Counter[str]
) -> Path:
    """Return the folder that pytest would create, without pytest's scan of thousands of other folders."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return _new_folder(tmp_path_factory.getbasetemp(), name, folder_numbers)


def _new_folder(parent: Path, name: str, numbers: Counter[str]) -> Path:
    folder = parent / f"{name}{numbers[name]}"
    numbers[name] += 1
    folder.mkdir(0o700)
    return folder


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder for the state folders of all tests."""
    return tmp_path_factory.mktemp("states")


@pytest.fixture(autouse=True)
def own_state(states: Path, folder_numbers: Counter[str]) -> None:
    """Isolate each test from trust and caches of the user and of other tests."""
    folder_numbers["state"] += 1
    os.environ["XDG_STATE_HOME"] = f"{states}/state{folder_numbers['state']}"
    # pip still uses its download cache
    os.environ.setdefault("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip"))
    os.environ["XDG_CACHE_HOME"] = f"{states}/cache"


@pytest.fixture(scope="session", autouse=True)
def start_method() -> Iterator[None]:
    """Start processes for pages as on macOS and Windows if BLOGSMITH_TEST_SPAWN is set.

    Test sites are small. Those large enough for forked processes then use fresh ones.
    """
    if not os.environ.get("BLOGSMITH_TEST_SPAWN"):
        yield
        return
    from blogsmith.pools import page_executor

    with (
        patch.object(page_executor, "default_method", lambda: "spawn"),
        patch.object(page_executor, "MIN_SPAWN_BODIES", page_executor.MIN_FORK_BODIES),
    ):
        yield


@pytest.fixture(scope="session", autouse=True)
def kept_states() -> Iterator[None]:
    """Keep no process after builds with slow cells. `test_reuse.py` tests these processes."""
    with patch("blogsmith.cells.reuse.MIN_SAVED_S", math.inf):
        yield


@pytest.fixture(scope="session", autouse=True)
def font_cuts() -> Iterator[None]:
    """Subset a font only once for the same symbols: it needs a third of a second, in hundreds of builds."""
    from blogsmith.stages.fonts import cut_font

    cut = cache(cut_font)
    with patch("blogsmith.stages.fonts.cut_font", lambda font, signs: cut(font, frozenset(signs))):
        yield


@pytest.fixture(scope="session", autouse=True)
def bundled_themes() -> Iterator[None]:
    """Read a bundled theme only once for sites that do not change it: a sixth of a small build's time."""
    from blogsmith.project.bundled_folders import bundled_folder
    from blogsmith.render.templates.files import TEMPLATE_KINDS, ThemeFiles, read_theme_files

    ours = bundled_folder("themes")
    known: dict[str, ThemeFiles] = {}

    def read(name: str, site: Path, bundled: Path, extra: Sequence[Path]) -> ThemeFiles:
        own = (*TEMPLATE_KINDS, "languages", "themes")
        if bundled != ours or extra or any(os.path.lexists(site / folder) for folder in own):
            return read_theme_files(name, site, bundled, extra)
        if name not in known:
            known[name] = read_theme_files(name, site, bundled, extra)
        return known[name]

    with patch("blogsmith.render.templates.theme.read_theme_files", read):
        yield


@pytest.fixture(scope="session")
def commonmark_spec() -> str:
    """Return the CommonMark specification. `make test` downloads it; `.ci/run` requires it."""
    path = Path(os.environ.get("BLOGSMITH_COMMONMARK_SPEC", SPEC))
    if not path.is_file():
        reason = f"{path} is missing; `make test` fetches it with npm"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return path.read_text("utf-8")


@pytest.fixture(scope="session")
def package_index(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Return variables that let pip install the packages of this environment without a network."""
    from blogsmith.publish.pip_resolver import HOST_PLATFORM, own_platform
    from tests.publish_locks import pack_installed

    if own_platform() != HOST_PLATFORM:
        pytest.skip("the packages installed here are not those of a host")
    folder = tmp_path_factory.mktemp("index")
    pack_installed(folder)
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": os.devnull}
