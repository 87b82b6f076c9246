"""`python -m tests.regen cases [FILE…]`: rewrite what tests compare with; read the diff before use.

Targets are rows of `TARGETS`. `cases` rewrites the HTML of case files, all or the named ones
(without `.md`); sources and titles stay as they are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from blogsmith.errors import Place
from tests.cases_io import case_files, fold_math, format_cases, read_cases
from tests.docs_fill import regenerate_docs


def outcome(source: str) -> str:
    """What a case expects of `source`: folded HTML and a line for each diagnostic."""
    from tests.check import render

    rendered = render(source)
    html = fold_math(rendered.html).rstrip("\n")
    marks = [f"! {d.code} {_position(d.place)}" for d in rendered.diagnostics]
    return "\n".join([*([html] if html else []), *marks])


def _position(place: Place | None) -> str:
    """`line:column`, or `-` for a diagnostic about the file as a whole."""
    return "-" if place is None else f"{place.line}:{place.column}"


def regenerate_cases(names: Sequence[str]) -> None:
    """Rewrite the expectations of the named case files, or of all."""
    for path in case_files():
        if names and path.stem not in names:
            continue
        old = path.read_text(encoding="utf-8")
        new = format_cases(replace(case, expected=outcome(case.source)) for case in read_cases(path))
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"rewrote {path.name}")


TARGETS: Mapping[str, Callable[[Sequence[str]], None]] = MappingProxyType(
    {
        "cases": regenerate_cases,
        "docs": regenerate_docs,
    }
)


def main(arguments: Sequence[str]) -> int:
    """Run the named target, or all of them without a name."""
    if arguments and arguments[0] not in TARGETS:
        print(f"usage: python -m tests.regen [{'|'.join(TARGETS)}] [FILE…]", file=sys.stderr)
        return 2
    for name in arguments[:1] or TARGETS:
        TARGETS[name](arguments[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
