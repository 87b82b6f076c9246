"""`blogsmith serve`. It converts options to a preview, and prints the preview's status on the terminal."""

from __future__ import annotations

import errno
import math
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TextIO
from urllib.parse import urlsplit

import click

from ..base.diagnostics.format import wants_color
from ..preview.events.terminal import replaces, serving_line
from ..preview.options import HOST, PORT, ServeOptions
from ..project.report import BuildOptions, ExecutionOptions
from . import terminal
from .clock import CommandClock
from .execution_options import execute_option, jobs_option, verbose_option
from .garbage import rare_collections
from .options import drafts_option, future_option, site_option, site_root
from .site_folder import CONFIG_FILE


def _number(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Return `value`, but reject `nan`, which a range check does not."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("'nan' is not a number of seconds.")
    return value


class _PortType(click.ParamType[int | Literal["auto"]]):
    """Type of an option: a port number, or `auto` to choose a free port."""

    name = "port"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | Literal["auto"]:
        return "auto" if value == "auto" else click.IntRange(0, 65535).convert(value, param, ctx)


@click.command()
@click.option(
    "--port",
    type=_PortType(),
    metavar="N|auto",
    default="auto",
    help="Port to listen on. 0 selects any free port. A port that is in use is an error.  "
    f"[default: auto, which is {PORT} or the next free port]",
)
@click.option(
    "--host",
    default=HOST,
    metavar="ADDRESS",
    help=f"Address to listen on. With any other than {HOST}, others on the network can read the site, "
    f"including drafts.  [default: {HOST}]",
)
@click.option("--open", "browser", is_flag=True, help="Open the site in the browser.")
@drafts_option
@future_option
@execute_option
@jobs_option
@click.option(
    "--poll",
    type=click.FloatRange(0.05, 3600),
    is_flag=False,
    flag_value=1.0,
    default=None,
    callback=_number,
    metavar="[SECONDS]",
    help="Scan all files every SECONDS (1 if omitted), for folders that send no change events.  "
    "[default: use the change events of the system]",
)
@site_option
@click.option("-q", "--quiet", is_flag=True, help="Print the URL and errors only.")
@verbose_option
@click.pass_obj
def serve(clocks: CommandClock, /, site: Path | None, browser: bool, **options: Any) -> int:
    """Show a live preview of the site in the browser.

    Pages update after every save, without a reload. They are rendered in memory; nothing is written to the
    output folder. Cells run in the background, under the same rules as in a build.
    """
    root = site_root(site)
    from ..execute.session.signals import handle_termination

    try:
        with handle_termination() as ending:
            return _serve(root, _serve_options(clocks, options), ending.check, browser=browser)
    except KeyboardInterrupt:
        # Handled here and not in `cli.main`, because click would print an empty line first.
        _print_stopped(sys.stderr)
        return 130


def _serve(root: Path, options: ServeOptions, check: Callable[[], None], *, browser: bool) -> int:
    from ..base.schema.files import update_schemas
    from ..preview.app import serve_site
    from ..preview.http.guard import is_loopback

    update_schemas(root / CONFIG_FILE)
    if not is_loopback(options.host):
        terminal.warn(_open_to_others(options))

    def ready(url: str) -> None:
        port = urlsplit(url).port
        if options.port not in (0, port):
            terminal.warn(f"port {options.port} is in use: this preview uses port {port}")
        terminal.print_line(serving_line(url))
        if browser:
            # In another thread, because a browser may start slowly or block its caller.
            threading.Thread(target=_open, args=(url,), daemon=True, name="browser").start()

    # Objects of the site live until the end, so the garbage collector need not scan them.
    with rare_collections():
        try:
            serve_site(root, options, StatusLines(sys.stderr), ready, check)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and options.is_port_fixed:
                message = f"port {options.port} is in use: write `--port auto` to use the next free port"
                raise click.ClickException(message) from error
            raise
    return 0


def _serve_options(clocks: CommandClock, options: dict[str, Any]) -> ServeOptions:
    from ..preview.http.guard import allowed_hosts

    execution = ExecutionOptions(execute=options["execute"] or "", jobs=options["jobs"] or 0)
    build = BuildOptions(
        now=clocks.now(), drafts=options["drafts"], future=options["future"], execution=execution
    )
    return ServeOptions(
        build=build,
        now=clocks.now,
        host=options["host"],
        port=PORT if options["port"] == "auto" else options["port"],
        is_port_fixed=options["port"] not in ("auto", 0),
        allowed_hosts=allowed_hosts(options["host"]),
        poll_s=options["poll"],
        verbose=options["verbose"],
        quiet=options["quiet"],
        color=wants_color(sys.stderr),
    )


def _open_to_others(options: ServeOptions) -> str:
    names = ", ".join(options.allowed_hosts)
    return (
        f"warning: anyone who can reach {options.host} can read this preview, including drafts; it answers "
        f"to localhost and {names}"
    )


def _open(url: str) -> None:
    import webbrowser

    if not webbrowser.open(url):
        terminal.warn(f"no browser found: open {url}")


def _print_stopped(stream: TextIO) -> None:
    """Print "stopped" over the characters ^C on a terminal. If `stream` is not a terminal, print nothing."""
    if stream.isatty():
        stream.write("\rstopped\n")
        stream.flush()


class StatusLines:
    """Printer of status messages. Any thread may call it; it prints one message at a time. On a terminal, the
    line about a later save of the same file replaces the previous one."""

    def __init__(self, stream: TextIO, columns: Callable[[], int] | None = None) -> None:
        self._stream = stream
        self._columns = columns or _columns
        self._in_place = stream.isatty()
        self._lock = threading.Lock()
        self._last = ""

    def __call__(self, text: str) -> None:
        with self._lock:
            # A line with more bytes than columns may have been wrapped, so it may occupy several rows.
            fits = len(self._last.encode("utf-8", "replace")) < self._columns()
            wiped = "\x1b[1A\r\x1b[2K" if self._in_place and fits and replaces(text, self._last) else ""
            self._last = text
            print(f"{wiped}{text}", file=self._stream, flush=True)


def _columns() -> int:
    import shutil

    return shutil.get_terminal_size().columns
