"""What settings must be beyond their types: addresses, folders, names, known words.

Every check reports at the place of the setting and lets the others go on. Nothing here looks at the
site's files: whether a theme or a plugin exists is said where it is loaded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo, available_timezones

import msgspec

from ..diagnostics.codes import CODES
from ..diagnostics.model import Reporter, did_you_mean, nearest
from ..pyodide.distribution import CDN, setting_problem
from ..pyodide.names import PACKAGE_NAMES, package_meant
from ..strict_yaml.loader import MAX_REPORTS, Located
from .editors import read_editor
from .policy_sources import check_policy
from .schema import Config
from .units import BYTES_HINT, KERNEL, KERNEL_HINT, parse_bytes
from .urls import base_url_problem, permalink_problem

MACRO_NAME = re.compile(r"\\[A-Za-z]+")
LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")
"""The shape of a BCP 47 tag; whether the language exists is not looked up."""
PLACEHOLDERS = ("section", "slug", "year", "month", "day")
PROVIDERS = ("youtube", "vimeo")
PACKAGES = ("physics",)
"""LaTeX packages a site or page may ask for."""
COLORS = ("blue", "green", "amber", "red", "purple", "grey", "teal")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_WORD = re.compile(r"[a-z][a-z0-9-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_ADDRESS = re.compile(r"(?:[a-z]+://)?(?:[\w.-]+|\[[\da-fA-F:.]+\]):\d{1,5}")
_PLACEHOLDER = re.compile(r":([A-Za-z_]+)")
_TAKEN_FOLDERS = frozenset(
    (
        *("content", "static", "themes", "plugins"),
        *("layouts", "partials", "shortcodes", "_freeze", "blogsmith.yaml"),
    )
)
"""The author's own folders: writing the site there would replace them."""


@dataclass(frozen=True, slots=True)
class _Checker:
    """Reports at settings. Lives as long as one file is read."""

    located: Located
    reporter: Reporter
    unusable: set[str] = field(default_factory=set)
    """Top-level settings with something wrong in them."""

    def wrong(self, message: str, *path: str | int, hint: str = "") -> None:
        """Report the value at `path`."""
        self.unusable.add(str(path[0]))
        if len(self.reporter.diagnostics) < MAX_REPORTS:
            self.reporter.error("config-value", message, self.located.places.get(path), hint)

    def wrong_key(self, message: str, *path: str | int, hint: str = "") -> None:
        """Report the key at `path`."""
        self.unusable.add(str(path[0]))
        if len(self.reporter.diagnostics) < MAX_REPORTS:
            self.reporter.error("config-value", message, self.located.key_places.get(path), hint)

    def known(self, words: Iterable[str], known: Iterable[str], what: str, *path: str | int) -> None:
        """Report each of the words that is not a known one."""
        choices = sorted(known)
        for index, word in enumerate(words):
            if word not in choices:
                hint = did_you_mean(word, choices) or f"known: {', '.join(choices[:12])}"
                self.wrong(f'unknown {what} "{word}"', *path, index, hint=hint)


def check_config(config: Config, located: Located, reporter: Reporter) -> Config:
    """Report every setting that has the right type and a wrong value; those get their defaults."""
    checker = _Checker(located, reporter)
    for check in _CHECKS:
        check(config, checker)
    defaults = {name: getattr(Config(), name) for name in sorted(checker.unusable)}
    return msgspec.structs.replace(config, **defaults)


def _base_url(config: Config, checker: _Checker) -> None:
    if problem := base_url_problem(config.base_url):
        checker.wrong(f"base_url {problem}", "base_url", hint="write it as https://example.org/blog")


def _output(config: Config, checker: _Checker) -> None:
    output = config.output
    path = PurePosixPath(output)
    if not output.strip() or path == PurePosixPath("."):
        checker.wrong("output must name a folder below the site's", "output")
    elif path.is_absolute() or ".." in path.parts or re.search(r"^~|[\\:\x00-\x1f]", output):
        checker.wrong("output must be a relative path inside the site", "output")
    elif path.parts[0].casefold() in _TAKEN_FOLDERS or path.parts[0].startswith("."):
        checker.wrong(f"output cannot be {path.parts[0]}, which holds the site's own files", "output")


def _timezone(config: Config, checker: _Checker) -> None:
    name = config.timezone
    try:
        # `localtime` would make the site depend on the machine that builds it
        found = bool(name) and name != "localtime" and ZoneInfo(name) is not None
    except (OSError, ValueError, LookupError):
        found = False
    if not found:
        hint = did_you_mean(name, available_timezones() - {"localtime"}) or "write it as Europe/Vienna"
        checker.wrong(f'there is no time zone "{name}"', "timezone", hint=hint)


def _names(config: Config, checker: _Checker) -> None:
    if not LANGUAGE.fullmatch(config.lang):
        checker.wrong(f'"{config.lang}" is no language tag', "lang", hint="write it as en or pt-BR")
    if not _NAME.fullmatch(config.theme):
        checker.wrong(f'"{config.theme}" is no name of a theme', "theme", hint="letters, digits, - and _")
    for index, name in enumerate(config.plugins):
        if not _NAME.fullmatch(name):
            hint = "the file name of the plugin without .py"
            checker.wrong(f'"{name}" is no name of a plugin', "plugins", index, hint=hint)


def _menu(config: Config, checker: _Checker) -> None:
    entries = checker.located.value.get("menu")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        url = entry.get("url") if isinstance(entry, dict) else None
        if isinstance(url, str) and not re.match(r"/(?![/\\])|#|mailto:|https?://[^/]", url):
            checker.wrong(f'url "{url}" is no address', "menu", index, "url", hint="/posts/ or https://…")


def _permalinks(config: Config, checker: _Checker) -> None:
    for section, pattern in sorted(config.permalinks.items()):
        unknown = [name for name in _PLACEHOLDER.findall(pattern) if name not in PLACEHOLDERS]
        for name in unknown:
            near = nearest(name, PLACEHOLDERS)
            hint = f"did you mean :{near}?" if near else f"known: :{', :'.join(PLACEHOLDERS)}"
            checker.wrong(f"unknown placeholder :{name}", "permalinks", section, hint=hint)
        if (problem := permalink_problem(pattern)) and not unknown:
            hint = f"write it as /{section}/:year/:slug/"
            checker.wrong(f"permalink {problem}", "permalinks", section, hint=hint)


def _callouts(config: Config, checker: _Checker) -> None:
    for kind, settings in sorted(config.callouts.items()):
        if not _WORD.fullmatch(kind):
            hint = "lower-case letters, digits and -"
            checker.wrong_key(f'"{kind}" is no name of a callout', "callouts", kind, hint=hint)
        if settings.color and settings.color not in COLORS:
            hint = did_you_mean(settings.color, COLORS) or f"known: {', '.join(COLORS)}"
            checker.wrong(f'unknown color "{settings.color}"', "callouts", kind, "color", hint=hint)
        for index, alias in enumerate(settings.alias):
            if not _WORD.fullmatch(alias):
                message = f'"{alias}" is no name of a callout'
                checker.wrong(
                    message, "callouts", kind, "alias", index, hint="lower-case letters, digits and -"
                )


def _macros(config: Config, checker: _Checker) -> None:
    for name in config.math.macros:
        if not MACRO_NAME.fullmatch(name):
            hint = "a backslash and letters, as in \\R"
            checker.wrong_key(f'"{name}" is no name of a macro', "math", "macros", name, hint=hint)


def _limits(config: Config, checker: _Checker) -> None:
    if not (math.isfinite(config.code.deadline_s) and config.code.deadline_s > 0):
        checker.wrong("deadline_s must be more than 0", "code", "deadline_s")
    if config.code.max_line < 1:
        checker.wrong("max_line must be at least 1", "code", "max_line")
    if config.pagination < 0:
        checker.wrong("pagination must be 0 or more", "pagination")


def _execution(config: Config, checker: _Checker) -> None:
    settings = config.execution
    if not (math.isfinite(settings.timeout) and settings.timeout > 0):
        checker.wrong("timeout must be more than 0 seconds", "execute", "timeout")
    if parse_bytes(settings.memory) is None:
        checker.wrong(f'"{settings.memory}" is no amount of memory', "execute", "memory", hint=BYTES_HINT)
    if settings.jobs < 0:
        checker.wrong("jobs must be 0 or more", "execute", "jobs")
    if settings.python != settings.python.strip() or re.search(r"^~|[\x00-\x1f]", settings.python):
        hint = "a path from the root, or from the folder of blogsmith.yaml"
        checker.wrong(f'"{settings.python}" is no path of a Python', "execute", "python", hint=hint)
    if settings.kernel and not KERNEL.fullmatch(settings.kernel):
        checker.wrong(f'"{settings.kernel}" is no name of a kernel', "execute", "kernel", hint=KERNEL_HINT)
    for index, name in enumerate(settings.env):
        if not _VARIABLE.fullmatch(name):
            hint = "the name alone; its value comes from where blogsmith is started"
            message = f'"{name}" is no name of an environment variable'
            checker.wrong(message, "execute", "env", index, hint=hint)
    for index, name in enumerate(settings.preload):
        if not _MODULE.fullmatch(name):
            hint = "as it is imported: numpy"
            checker.wrong(f'"{name}" is no name of a module', "execute", "preload", index, hint=hint)


def _dask(config: Config, checker: _Checker) -> None:
    dask = config.execution.dask
    if dask.scheduler and not _ADDRESS.fullmatch(dask.scheduler):
        hint = "write it as tcp://10.0.0.5:8786"
        checker.wrong(
            f'"{dask.scheduler}" is no address of a scheduler', "execute", "dask", "scheduler", hint=hint
        )
    for name, amount in sorted(dask.cuda.items()):
        if not (math.isfinite(amount) and amount > 0):
            checker.wrong(f"an amount of {name} must be more than 0", "execute", "dask", "cuda", name)


def _browser(config: Config, checker: _Checker) -> None:
    settings = config.browser
    if not (math.isfinite(settings.timeout) and settings.timeout > 0):
        checker.wrong("timeout must be more than 0 seconds", "browser", "timeout")
    if problem := setting_problem(settings.pyodide):
        hint = "write cdn, or a folder such as static/pyodide"
        checker.wrong(f'"{settings.pyodide}" {problem}', "browser", "pyodide", hint=hint)
    for index, name in enumerate(settings.packages):
        if settings.pyodide == CDN and name not in PACKAGE_NAMES:
            meant = package_meant(name)
            hint = f"did you mean {meant}?" if meant else ""
            message = f'Pyodide has no package "{name}"'
            checker.wrong(message, "browser", "packages", index, hint=hint)


def _editor(config: Config, checker: _Checker) -> None:
    choice = read_editor(config.editor)
    if choice.problem:
        checker.wrong(choice.problem, "editor", hint=choice.hint)


def _known_words(config: Config, checker: _Checker) -> None:
    checker.known(config.embeds.allow, PROVIDERS, "provider", "embeds", "allow")
    checker.known(config.diagnostics.ignore, CODES, "code", "diagnostics", "ignore")
    checker.known(config.math.packages, PACKAGES, "package", "math", "packages")


_CHECKS: tuple[Callable[[Config, _Checker], None], ...] = (
    _base_url,
    _output,
    _timezone,
    _names,
    _menu,
    _permalinks,
    _callouts,
    _macros,
    _limits,
    _execution,
    _dask,
    _browser,
    _editor,
    check_policy,
    _known_words,
)
