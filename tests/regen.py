"""`python -m tests.regen cases [FILE…]`: rewrite the expected results of tests; read the diff before use.

Targets are rows of `TARGETS`. `broken` rewrites the messages of broken sites, `scripts` the minified scripts
of the themes (with terser, from npm), `sites` the snapshots of whole sites, `docs` the generated parts of
the manual, `plugins` the table of cases that plugins of mdit-py-plugins fail, `messages` the catalogue of
messages. `cases` rewrites the HTML of
case files, all or the named ones (without `.md`); sources and titles stay unchanged. `golden` is for
releases only: it replaces the sites that later versions are compared with.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from blogsmith.base.diagnostics.model import Place
from tests.cases_io import Case, case_files, format_cases, read_cases, shown_html, split_config
from tests.docs_fill import regenerate_docs
from tests.stock_plugins import regenerate_plugins
from tests.theme_scripts import regenerate_scripts


def outcome(case: Case) -> str:
    """Return the expectation of `case`: HTML and a line for each diagnostic."""
    from tests.check import render

    config, post = split_config(case.source)
    rendered = render(post, config)
    html = shown_html(rendered.html, mathml=case.shows_mathml).rstrip("\n")
    marks = [f"! {d.code} {_position(d.place)}" for d in rendered.diagnostics]
    return "\n".join([*([html] if html else []), *marks])


def _position(place: Place | None) -> str:
    """Return `line:column`, or `-` for a diagnostic about the file as a whole."""
    return "-" if place is None else f"{place.line}:{place.column}"


def regenerate_cases(names: Sequence[str]) -> None:
    """Rewrite the expectations of the named case files, or of all."""
    for path in case_files():
        if names and path.stem not in names:
            continue
        old = path.read_text(encoding="utf-8")
        new = format_cases(replace(case, expected=outcome(case)) for case in read_cases(path))
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"rewrote {path.name}")


def regenerate_broken(names: Sequence[str]) -> None:
    """Rewrite the messages of the named broken sites, or of all."""
    from tests.site_files import build_text, has_latex, printed, read_site_text
    from tests.test_broken import FILES

    for path in FILES:
        if names and path.stem not in names:
            continue
        site = read_site_text(path)
        if site.latex and not has_latex():
            continue
        with TemporaryDirectory() as folder:
            messages = printed(build_text(site, Path(folder)))
        new = f"{site.head}=== expected\n{messages}\n"
        if new != path.read_text(encoding="utf-8"):
            path.write_text(new, encoding="utf-8")
            print(f"rewrote {path.name}")


def regenerate_sites(names: Sequence[str]) -> None:
    """Rewrite the snapshots of the named sites, or of all."""
    from tests.site_files import build
    from tests.test_sites import SITES, copied, snapshot

    for site in SITES:
        if names and site.name not in names:
            continue
        with TemporaryDirectory() as folder:
            root = copied(site, Path(folder) / "site")
            report = build(root)
            if not report.ok:
                raise SystemExit(f"{site.name}: {report.diagnostics}")
            shutil.rmtree(site / "expected", ignore_errors=True)
            for path, data in snapshot(root / "public").items():
                file = site / "expected" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
        print(f"rewrote {site.name}")


def regenerate_golden(names: Sequence[str]) -> None:
    """Rebuild the sites that later versions are compared with."""
    from tests.faults import golden

    golden.regenerate()


def regenerate_messages(names: Sequence[str]) -> None:
    """Rewrite the catalogue of messages."""
    from tests.messages.catalogue import FILE, format_catalogue

    FILE.write_text(format_catalogue(), encoding="utf-8")


TARGETS: Mapping[str, Callable[[Sequence[str]], None]] = MappingProxyType(
    {
        "cases": regenerate_cases,
        "broken": regenerate_broken,
        "scripts": regenerate_scripts,
        "sites": regenerate_sites,
        "docs": regenerate_docs,
        "plugins": regenerate_plugins,
        "messages": regenerate_messages,
        "golden": regenerate_golden,
    }
)


def main(arguments: Sequence[str]) -> int:
    """Run the named target, or all of them without a name."""
    if arguments and arguments[0] not in TARGETS:
        print(f"usage: python -m tests.regen [{'|'.join(TARGETS)}] [FILE…]", file=sys.stderr)
        return 2
    # sites of a release are replaced by the next release only, not with every change
    for name in arguments[:1] or [target for target in TARGETS if target != "golden"]:
        TARGETS[name](arguments[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
