"""The process that runs the plugins of a site: data on the pipe, its end, and the actions it refuses."""

from __future__ import annotations

import datetime as dt
import gc
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from markupsafe import Markup

from blogsmith.base.diagnostics.model import Diagnostic, SiteError
from blogsmith.hooks import FormulaSource, Plugins, combine_hooks
from blogsmith.hooks.calls import convert_plugin_errors
from blogsmith.hooks.plugin_code import read_plugin_code
from blogsmith.model.documents import Document, FrontMatter, Source
from blogsmith.project.plugin_process import client
from blogsmith.project.plugin_process.messages import PluginSetup, pack, unpack
from blogsmith.project.trust.consent import trust
from blogsmith.render.converters import convert_with_plugin
from tests.rows import each_row

PAGE = Document(Source(Path("content/posts/a.md"), "Text", ""), FrontMatter(title="A"), "Text", 1)  # type: ignore[arg-type]


def start(root: Path, code: str, sandbox: str = "off", **helpers: str) -> Plugins:
    """Return the plugin `mine` of a new site, run in a process."""
    (root / "plugins").mkdir(parents=True, exist_ok=True)
    for name, text in {"mine": code, **helpers}.items():
        (root / "plugins" / f"{name}.py").write_text(text, "utf-8")
    setup = PluginSetup(read_plugin_code(root), ("mine",), sandbox)  # type: ignore[arg-type]
    return combine_hooks(list(client.start_plugins(setup).values()), setup.code)


def shortcodes(**bodies: str) -> str:
    """Return a plugin with these shortcodes, name → body of the function."""
    functions = "".join(
        f"    @hooks.shortcode_data({name!r})\n    def {name}(args, document):\n"
        + "".join(f"        {line}\n" for line in body.splitlines())
        for name, body in bodies.items()
    )
    return f"import os, sys\n\n\ndef register(hooks):\n{functions}"


def call(plugins: Plugins, name: str = "x", **args: str) -> object:
    return plugins.shortcode_data[name][1](args, PAGE)


def problem(plugins: Plugins, name: str = "x") -> Diagnostic:
    with pytest.raises(SiteError) as caught, convert_plugin_errors(plugins):
        call(plugins, name)
    (found,) = caught.value.diagnostics
    return found


# -- values --


def test_values_keep_their_types() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    value = {
        "html": Markup("<b>"), "list": [1, 2.5, None, True], "data": b"\0",
        "day": dt.date(2026, 3, 1), "time": dt.datetime(2026, 3, 1, 9, tzinfo=zone), "deep": {"a": {"b": 1}},
    }  # fmt: skip
    found = unpack(pack(value))
    assert found == value and found["time"].utcoffset() == dt.timedelta(hours=2)
    assert isinstance(found["html"], Markup)
    assert unpack(pack("a\ud800")) == "a\ud800"


def test_answers_are_never_unpickled() -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, ...]:
            return os._exit, (9,)

    for start in (b"", b"s", b"m"):
        try:
            found: object = unpack(start + pickle.dumps(Bomb()))
        except (ValueError, msgspec.DecodeError):
            continue
        assert isinstance(found, (str, int))


def test_what_cannot_cross_is_an_error_of_the_plugin(tmp_path: Path) -> None:
    plugins = start(tmp_path, shortcodes(x="return {'a': object()}"))
    with pytest.raises(Exception, match="cannot return object: expected strings, numbers, lists"):
        call(plugins)


def test_documents_cross_in_both_directions(tmp_path: Path) -> None:
    plugin = (
        "import dataclasses\n\n\ndef register(hooks):\n    @hooks.page_read\n    def read(page):\n"
        "        if page.front.title == 'A':\n            return page\n"
        "        if page.front.title == 'C':\n"
        "            return dataclasses.replace(page, front=dataclasses.replace(page.front, tags=5))\n"
        "        extra = {'when': page.front.date.date()}\n"
        "        front = dataclasses.replace(page.front, tags=('x',), extra=extra)\n"
        "        return dataclasses.replace(page, front=front, body=page.body.upper())\n"
    )
    ((_, read),) = start(tmp_path, plugin).page_readers
    assert read(PAGE) is PAGE
    front = FrontMatter(title="B", date=dt.datetime(2026, 3, 1, tzinfo=dt.UTC))
    page = Document(PAGE.source, front, "text", 1)
    made = read(page)
    assert (made.body, made.front.tags, made.front.extra) == ("TEXT", ("x",), {"when": dt.date(2026, 3, 1)})
    assert made.source is page.source and made.front.date is front.date
    with pytest.raises(SiteError, match=r"invalid document of plugin \"mine\": Expected `array`, got `int`"):
        read(Document(PAGE.source, FrontMatter(title="C"), "text", 1))


# -- exceptions --

RAISING = {
    "own": "class Own(ValueError): pass\nraise Own('no')",
    "syntax": "raise SyntaxError('bad', ('', 3, 5, None))",
    "missing": "import no_such_module",
    "exit": "sys.exit('enough')",
    "many": "raise ExceptionGroup('some', [ValueError('a')])",
    "decode": "b'\\xff'.decode()",
}


@pytest.fixture(scope="module")
def raising(tmp_path_factory: pytest.TempPathFactory) -> Plugins:
    return start(tmp_path_factory.mktemp("raising"), shortcodes(**RAISING))


@each_row(
    ("name", "kind", "message"),
    [
        ("own", ValueError, "Own: no"),
        ("syntax", SyntaxError, "SyntaxError: bad"),
        ("missing", ImportError, "ModuleNotFoundError: No module named 'no_such_module'"),
        ("exit", SystemExit, "SystemExit: enough"),
        ("many", Exception, "ExceptionGroup: some (1 sub-exception)"),
        ("decode", ValueError, "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_exceptions_keep_class_message_and_line(
    raising: Plugins, name: str, kind: type[BaseException], message: str
) -> None:
    with pytest.raises(kind) as caught:
        call(raising, name)
    if isinstance(error := caught.value, SyntaxError):
        assert (error.filename, error.lineno, error.offset) == ("", 3, 5)
    found = problem(raising, name)
    assert message in found.message and found.path == "plugins/mine.py"
    assert found.source_line.strip() == RAISING[name].splitlines()[-1]


# -- ends --


@each_row(
    ("body", "message"),
    [
        ("os._exit(3)", 'missing answer of plugin "mine": its process ended with exit code 3'),
        ("os.kill(os.getpid(), 11)", 'missing answer of plugin "mine": its process ended with signal 11'),
        ("import time\ntime.sleep(60)", 'more than 1 seconds without an answer of plugin "mine"'),
    ],
)
def test_a_plugin_that_ends_its_process_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    """The next call starts a new process."""
    plugins = start(tmp_path, shortcodes(x=body, y="return {}"))
    if "sleep" in body:
        monkeypatch.setattr(client, "LIMIT_S", 1.0)
    found = problem(plugins)
    assert (found.code, found.path, found.message) == ("plugin", "plugins/mine.py", message)
    monkeypatch.setattr(client, "LIMIT_S", 60.0)
    assert call(plugins, "y") == {}


def test_an_interrupted_call_does_not_shift_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugins = start(tmp_path, shortcodes(x="return {'x': args['x']}"))

    def interrupt(self: object, request: bytes) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(client._Running, "ask", interrupt)
        call(plugins, x="1")
    assert call(plugins, x="2") == {"x": "2"}


def test_a_slow_converter_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = (
        "def register(hooks):\n    @hooks.formula_converter(commands=['\\\\x'])\n    def convert(formula):\n"
        "        while formula.tex == 'slow':\n            pass\n        return '<math><mi>x</mi></math>'\n"
    )
    monkeypatch.setattr(client, "DEADLINE_S", 0.1)
    converter = start(tmp_path, plugin).converters["mine"]
    assert converter.commands == {"\\x"}
    assert convert_with_plugin(converter, FormulaSource("slow", False)) == "it takes longer than 1 s"
    assert not isinstance(convert_with_plugin(converter, FormulaSource("x", False)), str)


def test_no_process_is_left(tmp_path: Path) -> None:
    """The programs that a plugin starts end with it."""
    body = "import subprocess\nreturn {'pids': [os.getpid(), subprocess.Popen(['sleep', '60']).pid]}"
    plugins = start(tmp_path, shortcodes(x=body))
    found = call(plugins)
    assert isinstance(found, dict)
    del plugins
    gc.collect()
    deadline = time.monotonic() + 10
    while any(is_running(pid) for pid in found["pids"]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(is_running(pid) for pid in found["pids"])


@pytest.mark.skipif(sys.platform != "linux", reason="pipes send no signals on other systems")
def test_the_process_ends_with_a_killed_builder(tmp_path: Path) -> None:
    program = (
        "import os; from pathlib import Path; from tests.test_plugin_process import call, shortcodes, start\n"
        f"plugins = start(Path({str(tmp_path)!r}), shortcodes(x='return os.getpid()'))\n"
        "print(call(plugins), flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    deadline = time.monotonic() + 10
    while is_running(int(done.stdout)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(int(done.stdout))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


# -- what the process sees and may do --


def test_prints_are_shown_with_the_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body = "print('one \\x1b[31m')\nos.write(1, b'two\\n')\nos.system('echo three')\nreturn {}"
    plugins = start(tmp_path, shortcodes(x=body))
    assert call(plugins) == {}
    out, err = capfd.readouterr()
    lines = [line.removeprefix('plugin "mine" prints: ') for line in err.splitlines()]
    assert (out, sorted(lines)) == ("", ["one \\x1b[31m", "three", "two"])


def test_the_process_is_not_in_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    (site / "lib").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(site / "lib"), "", *sys.path])
    plugins = start(
        site, shortcodes(x="return {'cwd': os.getcwd(), 'path': sys.path, 'in': sys.stdin.read()}")
    )
    found = call(plugins)
    assert isinstance(found, dict)
    assert not found["cwd"].startswith(str(tmp_path)) and found["in"] == ""
    assert "" not in found["path"] and not any(entry.startswith(str(site)) for entry in found["path"])


def test_a_plugin_is_fenced_like_a_cell(tmp_path: Path) -> None:
    written = tmp_path / "written"
    body = f"open({str(written)!r}, 'w')"
    try:
        plugins = start(tmp_path / "site", shortcodes(x=body), sandbox="landlock")
    except SiteError as error:
        pytest.skip(str(error))
    assert "PermissionError" in problem(plugins).message
    assert not written.exists()


SILENT = """
import atexit, gc, sys, threading, time
ROOT = __file__.rpartition('/plugins/')[0]

def late():
    sys.path.insert(0, ROOT + '/lib')
    import others

def soon():
    time.sleep(0.3)
    late()

class Dying:
    def __del__(self):
        late()

atexit.register(late)
LATER = threading.Thread(target=soon)
LATER.start()

def register(hooks):
    Dying()
    gc.collect()
    @hooks.shortcode_data("x")
    def x(args, document):
        threading.Thread(target=soon).start()
        LATER.join()
        return {}
"""
"""Ways whose errors Python does not raise: they only have to be without effect."""


@pytest.mark.parametrize("rule", ["", "    hooks.markdown(lambda md: None)\n"], ids=["process", "builder"])
def test_code_that_runs_late_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    """`atexit`, threads and `__del__`, in the process of plugins and in that of blogsmith."""
    ran, root = tmp_path / "ran", tmp_path / "site"
    files = {
        "blogsmith.yaml": "plugins: [mine]\n",
        "plugins/mine.py": SILENT + rule,
        "shortcodes/x.html": "<p>x</p>\n",
        "lib/others.py": f"open({str(ran)!r}, 'w')\n",
        "content/posts/a.md": "---\ntitle: A\ndate: 2026-03-01\n---\n\n{% x %}\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    trust(root)
    command = [sys.executable, "-P", "-m", "blogsmith", "build"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count('may not import "lib/others.py"') >= 2
    assert not ran.exists()
