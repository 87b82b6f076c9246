"""One preview from start to end: this module creates its parts, connects them and cleans up. The server
starts first, with the pages of the previous preview, because readers would have to wait while the modules
that render pages are imported."""

from __future__ import annotations

import os
import secrets
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from .editors import Editor, editor_link
from .gateway import SiteGateway
from .http.server import PreviewServer
from .options import ServeOptions
from .page_store import StoredPages
from .pages.script_tag import ScriptTag

_SWITCH_S = 0.001
"""Time in seconds after which a computing thread lets another thread run, so that some pages are sent while
other pages are rendered."""


def serve_site(
    root: Path,
    options: ServeOptions,
    say: Callable[[str], None],
    ready: Callable[[str], None],
    check: Callable[[], None],
) -> None:
    """Serve the site at `root` until a signal ends it. say: function that prints a line for the author.
    ready: function that is called with the URL as soon as the server accepts requests. check: function that
    is called often; it may raise an exception to end the preview."""
    root = root.resolve()
    editor = _editor(root)
    if editor.problem:
        say(f"warning: {editor.problem}")
    tag = ScriptTag(secrets.token_urlsafe(16), editor.template)
    stored = StoredPages(root, f"drafts={options.build.drafts} future={options.build.future}")
    front = SiteGateway(stored, tag, editor)

    def report_bug(error: Exception) -> None:
        if options.verbose:
            say("".join(traceback.format_exception(error)).rstrip())
        say(f"blogsmith has a bug: {type(error).__name__}: {error}; please report it with the output of -v")

    server = PreviewServer(
        front,
        front,
        token=tag.token,
        hello=front.hello,
        host=options.host,
        port=options.port,
        is_port_fixed=options.is_port_fixed,
        allowed_hosts=options.allowed_hosts,
        report_bug=report_bug,
    )
    with ExitStack() as stack:
        switch_s = sys.getswitchinterval()
        stack.callback(sys.setswitchinterval, switch_s)
        sys.setswitchinterval(_SWITCH_S)
        server.start()
        stack.callback(server.close)
        stack.callback(front.close)
        ready(f"{server.url}/")
        from .services import PreviewServices

        services = PreviewServices(root, options, tag, stored, server.hub.publish, say, report_bug)
        stack.callback(services.close)
        front.attach(services.runner, services.hello)
        services.run(front, check)


def _editor(root: Path) -> Editor:
    from ..config.load import load_config
    from ..project.trust.consent import check_consent

    # use the settings whose consent was checked, not those of a later read
    config = load_config(root).config
    consent = check_consent(root, config)
    return editor_link(config.editor, os.environ, root, consent.is_given, consent.reason)
