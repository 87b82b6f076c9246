"""The two converters behind one call: math-core, and latex2mathml where it has no wheel.

Neither is trusted: input has passed `guard` and `macros`, output goes through `clean`. An engine's
error is a `TexError` in the converter's own text; `convert` moves it to the author's.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Literal

from .commands import ENVIRONMENTS
from .errors import TexError

Engine = Literal["auto", "math-core", "latex2mathml"]
Convert = Callable[[str, bool], str]

# A formula whose every character opened a level would need 170 MB of stack at 2.6 kB a level.
_DEEP_STACK_BYTES = 256 << 20
_SHALLOW_LENGTH = 2_000
"""Characters; math-core survives more than 3,000 levels on the usual stack of 8 MB."""

_OFFSET = re.compile(r"(\d+): (.*)", re.DOTALL)
_UNKNOWN = re.compile(r'Unknown (command|environment) "(.*)"')
_PRINTED = re.compile(r"<m[ion][^>]*>\s*(\\[A-Za-z]+)\s*</m[ion]>")
_MESSAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        'Found "&"': ("& stands outside a table or alignment", "write \\& for the sign"),
        "Duplicate sub": ("double subscript or superscript", "group with braces, as in {x_a}_b"),
        "Expected argument but reached end": ("an argument is missing at the end of the formula", ""),
        "Expected argument": ("an argument is missing", ""),
        "Not valid in text mode": ("this cannot stand in text", "write \\_ or \\^{} for the sign itself"),
        "Not valid in math mode": ("this can stand in \\text{…} only", ""),
        'Unexpected "$"': ("$ stands inside a formula", "write \\$ for the sign"),
        "Math mode within text": ("formulas in text are nested too deep", ""),
    }
)


@cache
def engine(name: Engine) -> Convert:
    """The converter of that name; `auto` takes math-core if it is installed.

    Cached: making one costs as much as a formula, and none keeps anything from call to call.
    """
    if name == "auto":
        name = "math-core" if find_spec("math_core") else "latex2mathml"
    return _math_core() if name == "math-core" else _latex2mathml()


def _math_core() -> Convert:
    core = import_module("math_core")
    converter = core.LatexToMathML(fancy_error=False, allow_unreliable_rendering=True)

    def convert(tex: str, display: bool) -> str:
        try:
            return str(converter.convert_with_local_state(tex, displaystyle=display))
        except core.LatexError as error:
            raise _from_math_core(str(error)) from None

    return lambda tex, display: _with_stack(convert, tex, display)


def _with_stack(convert: Convert, tex: str, display: bool) -> str:
    """`convert(tex, display)`, a long formula on a stack that its deepest nesting cannot fill.

    `\\sqrt^\\sqrt^…` nests without a brace, so no count of braces can rule it out.
    """
    if len(tex) <= _SHALLOW_LENGTH:
        return convert(tex, display)
    results: list[str | TexError] = []

    def work() -> None:
        try:
            results.append(convert(tex, display))
        except TexError as error:
            results.append(error)

    before = threading.stack_size(_DEEP_STACK_BYTES)
    try:
        thread = threading.Thread(target=work)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if isinstance(results[0], TexError):
        raise results[0]
    return results[0]


def _unknown(what: str, name: str, offset: int) -> TexError:
    length = len(f"\\begin{{{name}}}") if what == "environment" else len(name)
    return TexError("math-command", f"unknown TeX {what} {name}", offset, length)


def _from_math_core(message: str) -> TexError:
    match = _OFFSET.match(message)
    offset, text = (int(match.group(1)), match.group(2)) if match else (0, message)
    unknown = _UNKNOWN.match(text)
    if unknown:
        return _unknown(unknown.group(1), unknown.group(2), offset)
    for start, (said, hint) in _MESSAGES.items():
        if text.startswith(start):
            return TexError("math-syntax", said, offset, 0, hint=hint)
    return TexError("math-syntax", text[:1].lower() + text[1:].rstrip("."), offset, 0)


# latex2mathml prints the text of \text{…} unescaped; these stand for `<`, `>`, `&` on the way through.
_HIDE = str.maketrans("<>&", "\uf8f0\uf8f1\uf8f2")
_SHOW = str.maketrans({"\uf8f0": "&lt;", "\uf8f1": "&gt;", "\uf8f2": "&amp;"})
_TEXT_GROUP = re.compile(r"(\\(?:text(?:rm|bf|it|sf|tt)?|mbox|operatorname\*?)\s*\{)([^{}]*)(\})")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{([A-Za-z]+\*?)\}")
# it knows no `aligned`, and loses the rows of `gather`
_RENAMED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "aligned": ("\\begin{align*}", "\\end{align*}"),
        "gathered": ("\\begin{array}{c}", "\\end{array}"),
        "gather*": ("\\begin{array}{c}", "\\end{array}"),
        "multline*": ("\\begin{array}{c}", "\\end{array}"),
        "dcases": ("\\begin{cases}", "\\end{cases}"),
    }
)


def _latex2mathml() -> Convert:
    library = import_module("latex2mathml.converter")

    def convert(tex: str, display: bool) -> str:
        prepared = _for_latex2mathml(tex)
        try:
            markup = str(library.convert(prepared, display="block" if display else "inline"))
        except RecursionError:
            raise TexError("math-limit", "formula is nested too deep", 0, len(tex)) from None
        except Exception as error:  # its exceptions are undocumented, and some are bare IndexErrors
            said = str(error) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower()
            message = f"formula cannot be read: {said.removesuffix(' error')}"
            raise TexError("math-syntax", message, 0, len(tex)) from None
        return _checked(markup, tex).translate(_SHOW)

    return convert


def _for_latex2mathml(tex: str) -> str:
    for match in _ENVIRONMENT.finditer(tex):
        if match.group(2) not in ENVIRONMENTS:
            raise _unknown("environment", match.group(2), match.start())
    tex = _ENVIRONMENT.sub(_renamed, tex)
    tex = _TEXT_GROUP.sub(lambda m: m.group(1) + m.group(2).translate(_HIDE) + m.group(3), tex)
    return tex if tex.strip() else "{}"


def _renamed(match: re.Match[str]) -> str:
    pair = _RENAMED.get(match.group(2))
    return match.group() if pair is None else pair[match.group(1) == "end"]


def _checked(markup: str, tex: str) -> str:
    """`markup`, unless it prints a command as text: that is how latex2mathml says unknown."""
    printed = _PRINTED.search(markup)
    if printed:
        raise _unknown("command", printed.group(1), max(0, tex.find(printed.group(1))))
    if "<mi>&</mi>" in markup:
        said, hint = _MESSAGES['Found "&"']
        raise TexError("math-syntax", said, max(0, tex.find("&")), hint=hint)
    return markup
