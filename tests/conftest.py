"""What all tests share: a quiet environment, repeatable properties, and the CommonMark examples."""

from __future__ import annotations

import compileall
import gc
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
"""How long a process waits for the others to have compiled their share; it goes on without them."""
IN_MEMORY = Path("/dev/shm")
"""A file system in memory, where Linux has it: tests write as many files as builds of a year."""
ROOM_BYTES = 6 << 30
"""What has to be free there, and of the memory, ten times what folders of tests take at once."""
FAST = "not slow and not long"
"""What `make check` selects."""
SPEC = ROOT / ".cache" / "node_modules" / "commonmark-spec" / "spec.txt"

# Files that start processes, build many sites, or try very many inputs; and folders of such.
SLOW_FILES = frozenset(
    (
        "agreement",
        "author_runs",
        "broken",
        "cells_hostile",
        "checkpoints",
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
        "incremental_builds",
        "lab_drawing",
        "lints",
        "lab_import",
        "lsp_wire",
        "markdown_files",
        "marks",
        "math_command",
        "math_font",
        "new_site",
        "other_systems",
        "output",
        "outputs",
        "page_words",
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
        "serve",
        "serve_cells",
        "serve_command",
        "serve_saves",
        "serve_site",
        "serve_stored",
        "sites",
        "sweep_runs",
        "tex_chemistry",
        "tex_hostile",
        "tex_remembered",
        "unchanged_builds",
        "used_files",
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
    )
)
SLOW_FOLDERS = frozenset(("bench", "browser", "faults", "security", "torch"))

# The same examples in every run, and no clock: a slow machine is not a failure.
settings.register_profile("short", max_examples=20, derandomize=True, deadline=None, database=None)
settings.register_profile("long", max_examples=200, derandomize=True, deadline=None, database=None)
settings.load_profile("short")

# Thousands of processes are started here, each of which would compile the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell that starts tests in the background lets them ignore Ctrl-C, and all that they start inherits it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# The same with `nohup` and the end of a terminal.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
# No proxy that the environment names can reach servers on this machine.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "*"
# Settings of the user's shell decide no test.
for _name in ("NO_COLOR", "FORCE_COLOR", "SOURCE_DATE_EPOCH", "COLUMNS", "_BLOGSMITH_COMPLETE"):
    os.environ.pop(_name, None)


def pytest_configure() -> None:
    """Have folders of tests in memory, where there is room: each write of a build waits for the disk."""
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
    """Compile the package once; processes that may write nothing here cannot do it for themselves."""
    if not hasattr(session.config, "workerinput"):
        for folder in ("blogsmith", "plugins"):
            compileall.compile_dir(ROOT / folder, quiet=1)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """What `-n auto` means: half as many again as cores, as browsers, servers and cells are waited for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + cores // 2


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Each process compiles a share of the tests, and then has those of the others.

    In a new checkout all would compile all of them at the same time, half of a minute each.
    """
    place: dict[str, Any] | None = getattr(session.config, "workerinput", None)
    if place is None or [Path(arg).resolve() for arg in session.config.args] != [TESTS]:
        return
    number, count = int(place["workerid"].removeprefix("gw")), int(place["workercount"])
    files = [file for file in TESTS.rglob("test_*.py") if not pytest_ignore_collect(file, session.config)]
    for file in sorted(files)[number::count]:
        # what is wrong with it is told when it is collected
        with suppress(Exception, pytest.skip.Exception):
            import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    done = _meeting(place["testrunuid"])
    done.mkdir(exist_ok=True)
    (done / str(number)).touch()
    end = time.monotonic() + MEETING_S
    while len(list(done.iterdir())) < count and time.monotonic() < end:
        time.sleep(0.05)


def _meeting(run: str) -> Path:
    """Where the processes of a run say that they are done."""
    return Path(tempfile.gettempdir(), f"blogsmith-tests-{run}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave nothing of it."""
    if place := getattr(session.config, "workerinput", None):
        shutil.rmtree(_meeting(place["testrunuid"]), ignore_errors=True)


@cache
def is_slow(path: Path) -> bool:
    """Whether the tests of a file, or of all files below a folder, are left out of `make check`."""
    parts = path.relative_to(TESTS).parts if path.is_relative_to(TESTS) else ()
    return bool(parts) and (parts[0] in SLOW_FOLDERS or path.stem.removeprefix("test_") in SLOW_FILES)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of which nothing is wanted are not even imported: that alone takes half of a minute."""
    wants_fast_only = str(config.getoption("markexpr")) == FAST
    return True if wants_fast_only and is_slow(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each test has the mark of its tier."""
    for item in items:
        if is_slow(item.path):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """What is there before the first test stays: a search for dead cycles need not look at it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def folder_numbers() -> Counter[str]:
    """How many folders of each name this process has made."""
    return Counter()


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, folder_numbers: Counter[str]
) -> Path:
    """The folder of that name that pytest would give, which looks at the thousands of others first."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return _new_folder(tmp_path_factory.getbasetemp(), name, folder_numbers)


def _new_folder(parent: Path, name: str, numbers: Counter[str]) -> Path:
    folder = parent / f"{name}{numbers[name]}"
    numbers[name] += 1
    folder.mkdir(0o700)
    return folder


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each test may have a folder for what programs remember of their user."""
    return tmp_path_factory.mktemp("states")


@pytest.fixture(autouse=True)
def own_state(states: Path, folder_numbers: Counter[str]) -> None:
    """No test trusts a site for the user or for the next test, or leaves anything in the user's cache."""
    folder_numbers["state"] += 1
    os.environ["XDG_STATE_HOME"] = f"{states}/state{folder_numbers['state']}"
    # pip goes on with what it has downloaded
    os.environ.setdefault("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip"))
    os.environ["XDG_CACHE_HOME"] = f"{states}/cache"


@pytest.fixture(scope="session", autouse=True)
def start_method() -> Iterator[None]:
    """Processes that make pages start as on macOS and Windows if the variable BLOGSMITH_TEST_SPAWN is set.

    Sites of tests are small: those for which copies would be worth their start get fresh processes then.
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
def font_cuts() -> Iterator[None]:
    """A font is cut once for the same signs: each time takes a third of a second, in hundreds of builds."""
    from blogsmith.stages.fonts import cut_font

    cut = cache(cut_font)
    with patch("blogsmith.stages.fonts.cut_font", lambda font, signs: cut(font, frozenset(signs))):
        yield


@pytest.fixture(scope="session", autouse=True)
def bundled_themes() -> Iterator[None]:
    """A bundled theme is read once where a site adds nothing to it: that is a sixth of a small build."""
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
    """The text of the CommonMark specification; `make test` fetches it, `.ci/run` insists on it."""
    path = Path(os.environ.get("BLOGSMITH_COMMONMARK_SPEC", SPEC))
    if not path.is_file():
        reason = f"{path} is missing; `make test` fetches it with npm"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return path.read_text("utf-8")


@pytest.fixture(scope="session")
def package_index(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Variables with which pip installs the packages that are installed here, without a network."""
    from blogsmith.publish.pip_resolver import HOST_PLATFORM, own_platform
    from tests.publish_locks import pack_installed

    if own_platform() != HOST_PLATFORM:
        pytest.skip("the packages installed here are not those of a host")
    folder = tmp_path_factory.mktemp("index")
    pack_installed(folder)
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": os.devnull}
