"""Checks for all inputs that `fuzz_site` tries."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import html5lib

from blogsmith.base.diagnostics.model import Diagnostic, Place
from blogsmith.freeze.record_json import from_json
from tests.check import Rendered, render
from tests.fuzz_programs import (
    IMPORT_LIMIT_S,
    judge_import,
    judge_language_server,
    judge_request,
    judge_state,
)
from tests.fuzz_texts import UNTRUSTED, Case
from tests.page_checks import dangers
from tests.preview_sites import built, new_line, outputs, settled
from tests.site_files import build, put, put_bare
from tests.test_landmarks import landmark_faults
from tests.test_nothing_swallowed import UNRELATED
from tests.test_properties import pieces, shape_problems
from tests.test_sites import tree

if TYPE_CHECKING:
    from blogsmith.build.incremental import UpdateRequest

LIMIT_S = 5.0
"""Seconds of processor time for one page."""
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="[^"<>]*">')
"""The permissions of every page: ours, not those of the record."""


def judge(made: Case, thorough: bool) -> str:
    """Return a short description of the fault; empty if there is none. thorough: render twice."""
    started = time.process_time()
    try:
        fault, answer = _JUDGES.get(made.kind, _judge_post)(made)
    except Exception as error:
        frames = []
        trace = error.__traceback__
        while trace:
            frames.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
            trace = trace.tb_next
        return f"{type(error).__name__} at {frames[-1]}: {str(error)[:80]}"
    seconds = time.process_time() - started
    limit = IMPORT_LIMIT_S if made.kind == "imports" else LIMIT_S
    if not fault and seconds > limit:
        return f"more than {limit:g} s of processor time"
    if not fault and thorough and _JUDGES.get(made.kind, _judge_post)(made)[1] != answer:
        return "not the same twice"
    return fault


def _judge_post(made: Case) -> tuple[str, object]:
    rendered = render(made.text, made.config)
    fault = misplaced(made.text, rendered.diagnostics)
    if not fault and made.config == UNTRUSTED:
        fault = unsafe(rendered)
    return fault, (rendered.html, rendered.diagnostics)


def _judge_sentence(made: Case) -> tuple[str, object]:
    rendered, plain = render(made.text, made.config), render(made.plain, made.config)
    named = {one.code for one in rendered.diagnostics} - {one.code for one in plain.diagnostics} - UNRELATED
    fault = misplaced(made.text, rendered.diagnostics)
    if not fault and made.expected not in rendered.html and not named:
        fault = f"{made.expected} is lost"
    return fault, (rendered.html, rendered.diagnostics)


def _judge_open_html(made: Case) -> tuple[str, object]:
    rendered = render(made.text, made.config)
    faults = landmark_faults(rendered.html)
    fault = misplaced(made.text, rendered.diagnostics) or (faults[0] if faults else "")
    return fault, (rendered.html, rendered.diagnostics)


def misplaced(text: str, diagnostics: tuple[Diagnostic, ...]) -> str:
    """Return a fault if a diagnostic has a position outside of the file."""
    lines = text.split("\n")
    for found in diagnostics:
        place = found.place or Place(1)
        if not 1 <= place.line <= len(lines) or not 1 <= place.column <= len(lines[place.line - 1]) + 1:
            return f"{found.code} has no place in the text"
    return ""


def unsafe(rendered: Rendered) -> str:
    """Return active content on a page of untrusted text, or a violation of HTML rules."""
    found = [danger for html in pieces(rendered) for danger in dangers(html)]
    if found:
        return f"{found[0].partition('=')[0]} on a page of untrusted text"
    if any(found.code == "shortcode-place" for found in rendered.diagnostics):
        # an error with a block in a heading: the page is not published
        return ""
    problems = shape_problems(rendered)
    return f"no valid HTML: {problems[0].partition(' at ')[0]}" if problems else ""


def _judge_record(made: Case) -> tuple[str, object]:
    found = from_json(made.text.encode("utf-8", "replace"), "outputs.json")
    if isinstance(found, Diagnostic):
        return "", found
    post = "---\ntitle: A\n---\n```{python}\nx = 1\n```\n\n{= x =}\n"
    with TemporaryDirectory() as folder:
        root = put_bare(Path(folder), {"blogsmith.yaml": "title: T\n", "content/posts/a.md": post})
        put(root, {"_freeze/posts/a/outputs.json": made.text.encode("utf-8", "replace")})
        report = build(root)
        pages = tree(root / "public", "*.html") if report.ok else {}
    for data in pages.values():
        html5lib.HTMLParser(strict=True).parse(data.decode("utf-8"))
    texts = [_POLICY.sub("", data.decode("utf-8"), count=1) for data in pages.values()]
    live = [danger for text in texts for danger in dangers(text)]
    return (f"{live[0]} from a record" if live else ""), (report.diagnostics, pages)


def _judge_preview(made: Case) -> tuple[str, object]:
    """Save one post over another: the preview must show the same as a build."""
    with TemporaryDirectory() as folder:
        first = "---\ntitle: A\ndate: 2026-01-01\n---\n[b](b.md)\n"
        root = put_bare(
            Path(folder), {"blogsmith.yaml": f"title: T\n{made.config}", "content/posts/a.md": first}
        )
        put(root, {"content/posts/b.md": "---\ntitle: B\ndate: 2026-01-01\n---\n[a](a.md)\n"})
        line = new_line(root)
        before = settled(line)
        put(root, {"content/posts/a.md": made.text.encode("utf-8", "replace")})
        after = outputs(settled(line, before, _asked()))
        report = build(root)
        is_same = not report.ok or _without_hashes(after) == _without_hashes(built(root / "public"))
    return ("" if is_same else "the preview shows something else"), (after, report.diagnostics)


def _without_hashes(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return pages without script hashes: an unclosed script contains line markers in the preview."""
    return {path: re.sub(rb"'sha256-[^']*'", b"", data) for path, data in files.items()}


def _asked() -> UpdateRequest:
    from blogsmith.build.incremental import UpdateRequest

    return UpdateRequest(("content/posts/a.md",), everything=False)


_JUDGES: dict[str, Callable[[Case], tuple[str, object]]] = {
    "records": _judge_record,
    "preview": _judge_preview,
    "requests": judge_request,
    "imports": judge_import,
    "language server": judge_language_server,
    "state": judge_state,
    "sentences": _judge_sentence,
    "open HTML": _judge_open_html,
}
