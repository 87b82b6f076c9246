"""Converters for measurements, with the scorer's protocol, and their speed.

    python -m tests.bench.math_engines ENGINE              answers JSON lines
    python -m tests.bench.math_engines ENGINE --time FILE  prints how long the formulas of FILE take

ENGINE: `ours`, `math-core`, `latex2mathml`, or `plugin`, which is latex2mathml as a plugin of a site, with
our converter as the fallback.

The times are those of two passes in a new process, without the import: in the first one no cache is warm.
They are CPU time, which is more reliable than wall-clock time on a busy machine. Libraries are measured as
their users call them, without any code of ours.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

Convert = Callable[[str, bool, Mapping[str, str]], str]


class EngineError(Exception):
    """The converter does not accept the formula."""


def ours() -> Convert:
    """Return our converter, called as for every page."""
    from blogsmith.tex.convert import TexError, convert_formula

    def convert(tex: str, display: bool, macros: Mapping[str, str]) -> str:
        try:
            return convert_formula(tex, display=display, macros=macros).mathml
        except TexError as error:
            raise EngineError(error.message) from None

    return convert


def math_core() -> Convert:
    """Return the library math-core alone."""
    from math_core import LatexError, LatexToMathML

    plain = LatexToMathML(fancy_error=False, allow_unreliable_rendering=True)

    def convert(tex: str, display: bool, macros: Mapping[str, str]) -> str:
        converter = plain
        try:
            if macros:
                own = {name.lstrip("\\"): body for name, body in macros.items()}
                converter = LatexToMathML(fancy_error=False, allow_unreliable_rendering=True, macros=own)
            return converter.convert_with_local_state(tex, displaystyle=display)
        except LatexError as error:
            raise EngineError(str(error)) from None

    return convert


def latex2mathml() -> Convert:
    """Return the library latex2mathml alone; it has no macros."""
    from latex2mathml.converter import convert as convert_latex

    def convert(tex: str, display: bool, macros: Mapping[str, str]) -> str:
        try:
            return convert_latex(tex, display="block" if display else "inline")
        except Exception as error:
            # It has exceptions of its own, and also raises others.
            raise EngineError(repr(error)) from None

    return convert


def plugin() -> Convert:
    """Return the bundled plugin latex2mathml, loaded as for a site that names it."""
    from blogsmith.hooks.loader import load_plugins
    from blogsmith.project.bundled_folders import bundled_folder
    from blogsmith.render.converters import convert_with_plugin, with_plugin
    from blogsmith.tex.convert import TexError, convert_formula

    converters = load_plugins(["latex2mathml"], [bundled_folder("plugins")]).converters
    typeset = with_plugin(
        convert_formula, converters["latex2mathml"], convert_with_plugin, lambda reason: None
    )

    def convert(tex: str, display: bool, macros: Mapping[str, str]) -> str:
        try:
            return typeset(tex, display=display, macros=macros, rows=(), packages=frozenset()).mathml
        except TexError as error:
            raise EngineError(error.message) from None

    return convert


ENGINES = MappingProxyType(
    {"ours": ours, "math-core": math_core, "latex2mathml": latex2mathml, "plugin": plugin}
)


def answer(convert: Convert, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the protocol's response for one formula."""
    macros = {"\\" + name.lstrip("\\"): body for name, body in (request.get("macros") or {}).items()}
    try:
        return {"id": request["id"], "mathml": convert(request["tex"], bool(request["display"]), macros)}
    except EngineError as error:
        return {"id": request["id"], "error": str(error)}


def seconds(convert: Convert, formulas: Sequence[tuple[str, bool]]) -> float:
    """Return the CPU seconds that all `formulas` take, including rejected ones."""
    started = time.process_time()
    for tex, display in formulas:
        try:
            convert(tex, display, {})
        except EngineError:
            continue
    return time.process_time() - started


def main(arguments: Sequence[str]) -> int:
    """Answer requests for formulas, or time formulas."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.math_engines", description=__doc__)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("--time", type=Path, metavar="FILE", help="JSON lines with tex and display")
    options = parser.parse_args(arguments)
    convert = ENGINES[options.engine]()
    if options.time is None:
        for line in sys.stdin:
            print(json.dumps(answer(convert, json.loads(line))), flush=True)
        return 0
    rows = [json.loads(line) for line in options.time.read_text("utf-8").splitlines()]
    formulas = [(row["tex"], bool(row["display"])) for row in rows]
    passes = [seconds(convert, formulas) for _ in range(2)]
    print(json.dumps({"formulas": len(formulas), "seconds": passes}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
