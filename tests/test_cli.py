"""The command line: exit codes, output streams, and behaviour on unusual terminals.

The build itself is faked here; `test_sites.py` and the broken sites run the real one.
"""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from msgspec.structs import replace

import blogsmith
from blogsmith.base.diagnostics.model import Diagnostic, Place, SiteError
from blogsmith.cli.clock import CommandClock
from blogsmith.cli.main import main
from blogsmith.cli.progress_bar import ProgressBar
from blogsmith.project.report import BuildOptions, BuildReport
from blogsmith.project.trust.consent import is_trusted

NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
ROOT = Path(__file__).parent.parent
ERROR = Diagnostic("link-missing", "no page c.md", "content/b.md", Place(3, 2, 4), "[x](c.md)")
WARNING = Diagnostic("code-language", 'unknown language "pyton"', "content/a.md", severity="warning")


REPORT = BuildReport(
    diagnostics=(),
    ok=True,
    pages=12,
    formulas=1048,
    code_blocks=1,
    images=0,
    written=3,
    unchanged=40,
    removed=1,
    timings={"read": 0.0123, "render": 1.5},
)


@dataclass
class FakeBuild:
    """Replaces `build.build_site`: records its call, then returns or raises."""

    answer: BuildReport | BaseException = REPORT
    root: Path | None = None
    options: BuildOptions | None = None

    def __call__(self, root: Path, options: BuildOptions, progress: Callable[..., None]) -> BuildReport:
        self.root, self.options = root, options
        progress("read", 1, 2)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return replace(self.answer, target=options.output or root / "public")


def fake_module(monkeypatch: pytest.MonkeyPatch, name: str, **members: object) -> None:
    """Make `from blogsmith.<name> import …` give `members`."""
    module = ModuleType(f"blogsmith.{name}")
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, f"blogsmith.{name}", module)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeBuild:
    """Return a fake build that needs no site."""
    fake = FakeBuild()
    config = SimpleNamespace(
        output="public", timezone="Pacific/Auckland", diagnostics=SimpleNamespace(documentation="")
    )
    loaded = SimpleNamespace(config=config, diagnostics=())
    fake_module(monkeypatch, "build.site", build_site=fake)
    fake_module(monkeypatch, "config.load", load_config=lambda root: loaded)
    return fake


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a site the current folder."""
    (tmp_path / "blogsmith.yaml").write_text("title: T\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def run(*argv: str) -> int:
    """Run one command at a fixed time, with a stopwatch that shows 0 and then 0.8 seconds."""
    ticks = iter((0.0, 0.8))
    return main(argv, CommandClock(now=lambda: NOW, seconds=lambda: next(ticks)))


def test_summary_is_one_line_on_stdout(
    site: Path, fake: FakeBuild, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("build") == 0
    assert capsys.readouterr() == (
        "built 12 pages, 1,048 formulas, 1 code block, 0 images in 0.8 s → public/"
        " (3 written, 40 unchanged, 1 removed)\n",
        "",
    )


SUMMARIES = [
    (("check",), REPORT, "checked 12 pages, 1,048 formulas, 1 code block, 0 images in 0.8 s\n"),
    (
        ("build",),
        replace(REPORT, diagnostics=(WARNING,)),
        "40 unchanged, 1 removed; 1 warning)\n",
    ),
    (("build",), replace(REPORT, drafts=2), "1 removed; 2 drafts skipped)\n"),
    (("build",), replace(REPORT, drafts=2, expired=3), "1 removed; 2 drafts skipped, 3 expired)\n"),
    (
        ("check",),
        replace(REPORT, scheduled=("content/a.md",)),
        "in 0.8 s\nnot checked: 1 scheduled page; run `blogsmith check --future`\n",
    ),
    (
        ("check",),
        replace(REPORT, drafts=2, expired=1, scheduled=("content/a.md",)),
        "not checked: 2 drafts, 1 expired page, 1 scheduled page; run `blogsmith check --drafts --future`\n",
    ),
    (("check",), replace(REPORT, expired=1), "1 expired page; run `blogsmith check --drafts`\n"),
    (("build", "--output", "out"), REPORT, "→ out/ (3"),
    (("build", "--timings"), REPORT, "read        12.3 ms\nrender    1500.0 ms\n"),
]


@pytest.mark.parametrize(("argv", "report", "expected"), SUMMARIES)
def test_summary_tells(
    site: Path,
    fake: FakeBuild,
    capsys: pytest.CaptureFixture[str],
    argv: tuple[str, ...],
    report: BuildReport,
    expected: str,
) -> None:
    fake.answer = report
    assert run(*argv) == 0
    assert expected in capsys.readouterr().out


def test_errors_go_to_stderr_and_exit_with_1(
    site: Path, fake: FakeBuild, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.answer = replace(REPORT, diagnostics=(ERROR, WARNING), scheduled=("content/later.md",), ok=False)
    assert run("build") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        'content/a.md: warning: unknown language "pyton" [code-language]\n'
        "content/b.md:3:2: error: no page c.md [link-missing]\n"
        "    3 | [x](c.md)\n"
        "      |  ^^^^\n"
        "1 error, 1 warning\n"
        "scheduled: content/later.md (built from its date on, or with --future)\n"
        "nothing was written: the last build of the site is unchanged\n"
        "run `blogsmith build --keep-going` to write the pages that can be rendered\n"
        "write `diagnostics: {link-missing: warning}` in blogsmith.yaml to treat these errors as warnings\n"
    )


def test_a_stage_that_cannot_go_on_is_reported_the_same_way(
    site: Path, fake: FakeBuild, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.answer = SiteError(ERROR)
    assert run("build") == 1
    assert "content/b.md:3:2: error: no page c.md [link-missing]" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [("build", "-q"), ("check", "--quiet"), ("build", "-qv", "--timings")])
def test_quiet_commands_print_nothing_on_success(
    site: Path, fake: FakeBuild, capsys: pytest.CaptureFixture[str], argv: tuple[str, ...]
) -> None:
    fake.answer = replace(REPORT, diagnostics=(WARNING,), scheduled=("content/later.md",))
    assert run(*argv) == 0
    assert capsys.readouterr() == ("", "")
    print("what comes afterwards is printed")
    assert capsys.readouterr().out


def test_quiet_commands_print_errors(site: Path, fake: FakeBuild, capsys: pytest.CaptureFixture[str]) -> None:
    fake.answer = replace(REPORT, diagnostics=(ERROR, WARNING), ok=False)
    assert run("build", "-q") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "[link-missing]" in err
    assert "[code-language]" not in err
    fake.answer = SiteError(ERROR)
    assert run("build", "-q") == 1
    assert "[link-missing]" in capsys.readouterr().err


def test_quiet_commands_still_print_what_a_program_asked_for(
    site: Path, fake: FakeBuild, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.answer = replace(REPORT, diagnostics=(WARNING,))
    assert run("check", "-q", "--format", "json") == 0
    out, err = capsys.readouterr()
    assert "code-language" in out
    assert err == ""
    assert run("check", "-q", "--fix") == 2


def given(options: BuildOptions) -> dict[str, object]:
    """Return the options by name, without execution, inspections and the request common to all."""
    names = {*options.__struct_fields__} - {"execution", "inspections", "request_digest"}
    return {name: getattr(options, name) for name in names}


def test_options_reach_the_build(site: Path, fake: FakeBuild) -> None:
    argv = ("--drafts", "--future", "--strict", "--base-url", "https://example.org/x", "--output", "out")
    assert run("build", "--keep-going", *argv) == 0
    assert fake.root == site
    assert fake.options is not None
    assert given(fake.options) == {
        "now": NOW,
        "drafts": True,
        "future": True,
        "strict": True,
        "base_url": "https://example.org/x",
        "use_cache": True,
        "output": site / "out",
        "write": True,
        "start_method": "",
        "include": (),
        "focus": (),
        "keep_going": True,
    }


def test_defaults_reach_the_build(site: Path, fake: FakeBuild) -> None:
    assert run("check") == 0
    assert fake.options is not None
    assert given(fake.options) == {
        "now": NOW,
        "drafts": False,
        "future": False,
        "strict": False,
        "base_url": None,
        "use_cache": True,
        "output": None,
        "write": False,
        "start_method": "",
        "include": (),
        "focus": (),
        "keep_going": False,
    }


@pytest.mark.parametrize("start", [".", "content/posts"])
def test_the_site_is_found_upward(
    site: Path, fake: FakeBuild, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    (site / "content" / "posts").mkdir(parents=True)
    monkeypatch.chdir(site / start)
    assert run("check") == 0
    assert fake.root == site


def test_the_site_can_be_named(
    site: Path, fake: FakeBuild, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (site / "elsewhere").mkdir()
    monkeypatch.chdir(site / "elsewhere")
    assert run("build", "--site", "..") == 0
    assert fake.root == site
    assert f" → {site}/public/ " in capsys.readouterr().out


USAGE = [
    ((), "Usage: blogsmith"),
    (("bild",), "No such command 'bild'"),
    (("init", "notes"), 'unknown command "init": run `blogsmith new site FOLDER`'),
    (("deploy",), 'unknown command "deploy": run `blogsmith publish`'),
    (("convert", "--all"), "run `blogsmith import FOLDER`"),
    (("preview",), "run `blogsmith serve --drafts --open`"),
    (("build", "--draft-s"), "No such option"),
    (("build", "extra"), "unexpected extra argument"),
    (("build", "--site", "missing"), "does not exist"),
    (("tokens", "missing.md"), "does not exist"),
    (("new", "post"), "Missing argument 'TITLE'"),
    (("completion", "tcsh"), "'tcsh' is not one of"),
    (("build",), "no blogsmith.yaml in"),
]


@pytest.mark.parametrize(("argv", "message"), USAGE)
def test_wrong_usage_exits_with_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    argv: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


@pytest.mark.parametrize("argv", [("--help",), ("build", "--help"), ("new", "post", "-h"), ("--version",)])
def test_help_and_version_exit_with_0(argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*argv) == 0
    out, err = capsys.readouterr()
    assert out
    assert err == ""


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(option) == 0
    assert capsys.readouterr().out == f"blogsmith {blogsmith.__version__}\n"


def test_interruption_exits_with_130(site: Path, fake: FakeBuild, capsys: pytest.CaptureFixture[str]) -> None:
    fake.answer = KeyboardInterrupt()
    assert run("build") == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_machine_that_refuses_is_no_bug(
    site: Path, fake: FakeBuild, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.answer = PermissionError(13, "Permission denied", "content")
    assert run("build") == 1
    assert capsys.readouterr().err == "error: [Errno 13] Permission denied: 'content'\n"


@pytest.mark.parametrize(
    ("argv", "traceback"), [(("build",), False), (("build", "-v"), True), (("build", "-qv"), True)]
)
def test_a_bug_shows_its_traceback_on_request(
    site: Path, fake: FakeBuild, capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], traceback: bool
) -> None:
    fake.answer = KeyError("stage")
    assert run(*argv) == 70
    err = capsys.readouterr().err
    assert "blogsmith has a bug: KeyError: 'stage'" in err
    assert ("Traceback" in err) is traceback


def test_new_post_is_dated_in_the_zone_of_the_site(
    site: Path, fake: FakeBuild, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("new", "post", "First post", "--bundle") == 0
    assert capsys.readouterr().out == "content/posts/first-post/index.md\n"
    # noon UTC on the 1st is already the 2nd in Auckland
    assert "\ndate: 2026-03-02\n" in (site / "content/posts/first-post/index.md").read_text()


def test_new_post_refusal_is_a_diagnostic(
    site: Path, fake: FakeBuild, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("new", "post", "?") == 1
    assert "[new-name]" in capsys.readouterr().err


def test_new_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("new", "site", "my notes") == 0
    assert capsys.readouterr().out.endswith("files written\nnext: cd 'my notes' && blogsmith serve\n")
    assert (tmp_path / "my notes" / "blogsmith.yaml").is_file()
    assert run("new", "site", "my notes") == 1
    assert run("new", "site", "--quiet", "more notes") == 0
    assert capsys.readouterr().out == ""


def test_tokens(site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[Path, Path]] = []

    def describe_tokens(file: Path, root: Path) -> str:
        seen.append((file, root))
        return "stream"

    fake_module(monkeypatch, "build.site", describe_tokens=describe_tokens)
    (site / "post.md").write_text("x")
    assert run("tokens", "post.md") == 0
    assert capsys.readouterr().out == "stream\n"
    assert seen == [(Path("post.md"), site)]


def test_clean(
    site: Path, fake: FakeBuild, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[tuple[Path, Path, bool]] = []
    answer = SimpleNamespace(removed=44)

    def clean(target: Path, root: Path, is_chosen: bool) -> SimpleNamespace:
        seen.append((target, root, is_chosen))
        return answer

    fake_module(monkeypatch, "write.output", clean=clean)
    assert run("clean") == 0
    assert capsys.readouterr().out == "44 files removed from public/\n"
    assert run("clean", "--output", "elsewhere") == 0
    assert seen == [(site / "public", site, False), (site / "elsewhere", site, True)]


def test_trust_lets_the_plugins_of_a_site_run_until_they_change(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(site / "state"))
    (site / "plugins").mkdir()
    (site / "plugins" / "mine.py").write_text("def register(hooks): ...\n")
    assert not is_trusted(site)
    assert run("trust") == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        f"the code of {site} may run until one of these changes:",
        "  plugins/mine.py",
    ]
    assert is_trusted(site)
    (site / "plugins" / "mine.py").write_text("import os\n")
    assert not is_trusted(site)


def test_broken_configuration_stops_new_post(
    site: Path, fake: FakeBuild, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = SimpleNamespace(config=None, diagnostics=(ERROR,))
    fake_module(monkeypatch, "config.load", load_config=lambda root: loaded)
    assert run("new", "post", "A") == 1
    assert "[link-missing]" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("completion", shell) == 0
    assert f"_BLOGSMITH_COMPLETE={shell}_complete" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("epoch", "code", "moment"),
    [("0", 0, dt.datetime(1970, 1, 1, tzinfo=dt.UTC)), ("soon", 2, None), ("9" * 30, 2, None)],
)
def test_source_date_epoch(
    site: Path,
    fake: FakeBuild,
    monkeypatch: pytest.MonkeyPatch,
    epoch: str,
    code: int,
    moment: dt.datetime | None,
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    assert main(["build"]) == code
    assert getattr(fake.options, "now", None) == moment


class Screen:
    """A terminal that records its output."""

    encoding = "utf-8"

    def __init__(self, is_terminal: bool) -> None:
        self.text = ""
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(
    ("is_terminal", "moments", "drawn"),
    [
        (True, (0.0, 0.4, 1.5), True),
        (True, (0.0, 0.4, 0.9), False),
        (False, (0.0, 5.0, 9.0), False),
        (False, (0.0, 5.0, 31.0), True),
    ],
)
def test_progress_appears_after_a_second_on_a_terminal_and_half_a_minute_in_a_log(
    is_terminal: bool, moments: tuple[float, ...], drawn: bool
) -> None:
    screen, ticks = Screen(is_terminal), iter(moments)
    with ProgressBar(screen, lambda: next(ticks)) as progress:  # type: ignore[arg-type]
        progress("read", 1, 2)
        progress("render [bold]", 2, 2)
    assert ("render [bold]" in screen.text) is drawn


def process(*argv: str, shell: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the real command in a separate process; `shell` is appended to its shell line."""
    command = f'"{sys.executable}" -m blogsmith ' + " ".join(argv) + shell
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=settings)


def test_ascii_terminals_get_escapes(tmp_path: Path) -> None:
    argv = ("new", "site", f"'{tmp_path}/ü'")
    plain = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    made, refused = process(*argv, **plain), process(*argv, **plain)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.isascii()
    assert refused.returncode == 1
    assert refused.stderr.isascii()
    assert "[file-exists]" in refused.stderr


@pytest.mark.parametrize(
    ("shell", "codes"),
    [
        ("| true; exit ${PIPESTATUS[0]}", {0, 1}),
        (">&-", {0}),
        ("2>&-", {0}),
        (">/dev/full", {1}),
    ],
)
def test_streams_that_go_away_are_quiet(shell: str, codes: set[int]) -> None:
    result = process("completion", "zsh", shell=f" {shell}")
    assert result.returncode in codes
    assert "Exception ignored" not in result.stderr
    assert "Traceback" not in result.stderr


def test_completion_protocol() -> None:
    variables = {"_BLOGSMITH_COMPLETE": "bash_complete", "COMP_WORDS": "blogsmith bu", "COMP_CWORD": "1"}
    result = process(**variables)
    assert (result.returncode, result.stdout) == (0, "plain,build\n")
