"""Errors in templates as diagnostics with the line of the template.

Jinja rewrites tracebacks so that frames of compiled templates have the template's name and line. The location
of an error is the innermost of these frames. Jinja does not know columns, so the caret underlines
the name in the message, if the line contains it once, otherwise the whole line.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from jinja2 import StrictUndefined, TemplateNotFound, TemplateSyntaxError, UndefinedError
from jinja2.exceptions import SecurityError, TemplateRuntimeError
from jinja2.utils import missing
from msgspec import Struct

from ...base.diagnostics.model import Diagnostic, Place, did_you_mean
from ...base.patterns import lazy_pattern
from .budget import NET_S, BudgetExceededError, TemplateTimeout
from .record_fields import field_names


class NamedUndefined(StrictUndefined):
    """An undefined value. Its error message uses terms that authors of templates know."""

    __slots__ = ()

    def __init__(
        self,
        hint: str | None = None,
        obj: Any = missing,
        name: str | None = None,
        exc: type[TemplateRuntimeError] = UndefinedError,
    ) -> None:
        super().__init__(hint or _describe(obj, name), obj, name, exc)


def _describe(obj: Any, name: str | None) -> str | None:
    """Return a message about an unknown name, with a similar known name if any; None: use Jinja's message."""
    if obj is missing:
        return f'"{name}" is not defined'
    if isinstance(obj, Struct) or is_dataclass(obj):
        owner = type(obj).__name__.removesuffix("View").lower()
        names = field_names(type(obj)) if isinstance(obj, Struct) else [field.name for field in fields(obj)]
        return _no_such(f'"{owner}" has no field "{name}"', name, names)
    if isinstance(obj, Mapping):
        return _no_such(f'unknown entry "{name}"', name, [str(key) for key in obj])
    return None


def _no_such(message: str, name: str | None, choices: list[str]) -> str:
    near = did_you_mean(str(name), choices)
    return f"{message}; {near}" if near else message


_ACTIONS: tuple[tuple[type[BaseException], str], ...] = (
    (RecursionError, "remove the tag that leads back to the same template"),
    (TemplateTimeout, "remove loops inside loops over many items"),
    (MemoryError, "print less on this page"),
    (TemplateNotFound, "add this template, or write the name of another one"),
    (SecurityError, "remove it: templates may only read public fields"),
    (TemplateSyntaxError, "correct the Jinja tag on this line: `{{ … }}` or `{% … %}`"),
    (UndefinedError, "write a name that exists, or `{% if NAME is defined %}` around it"),
)
_ACTION = "correct the expression on this line"
"""Text that tells authors what to do about errors that `_ACTIONS` does not list."""

_NAMED = lazy_pattern(
    r"(?:filter named|test named|field|entry|not found:) ['\"]([^'\"]+)['\"]|\A\"([^\"]+)\" is not"
)
"""Matches the wrong word in a message."""


def template_diagnostic(
    error: BaseException, lines: Mapping[str, list[str]], names: list[str], hint: str
) -> Diagnostic:
    """Return the diagnostic for an error that occurred while a template was compiled or rendered. lines: path
    of a template for messages → its lines. names: names of all templates, for suggestions. hint: addition to
    the hint, such as the page; may be empty."""
    path, line = _template_place(error, lines)
    action = error.hint if isinstance(error, BudgetExceededError) else ""
    action = action or next((words for kind, words in _ACTIONS if isinstance(error, kind)), _ACTION)
    text = lines[path][line - 1] if path in lines and 0 < line <= len(lines[path]) else ""
    column = len(text) - len(text.lstrip()) + 1
    place = Place(line, column, max(1, len(text.strip()))) if line else None
    circle = _find_cycle(_template_places(error, lines)) if isinstance(error, RecursionError) else []
    message, _, near = _message(error, names, [path for path, _ in circle]).partition("; did you mean ")
    name = next(filter(None, named.groups())) if (named := _NAMED.search(message)) else ""
    if name and line and text.count(name) == 1:
        place = Place(line, text.find(name) + 1, len(name))
    if near:
        action = f"did you mean {near}"
    hint = f"{action} ({hint})" if hint else action
    is_limit = isinstance(error, BudgetExceededError | TemplateTimeout | MemoryError)
    return Diagnostic("template-limit" if is_limit else "template", message, path, place, text, hint)


def _template_place(error: BaseException, lines: Mapping[str, list[str]]) -> tuple[str, int]:
    """Return path and line of the innermost template that was running, or ("", 0) if none was."""
    if isinstance(error, TemplateSyntaxError):
        return error.filename or "", error.lineno
    places = _template_places(error, lines)
    if isinstance(error, RecursionError):
        # the start of the cycle, because its end depends on how deep the Python stack was before
        return _find_cycle(places)[0]
    return places[-1] if places else ("", 0)


def _template_places(error: BaseException, lines: Mapping[str, list[str]]) -> list[tuple[str, int]]:
    """Return path and line of each template that was running, outermost first."""
    frames = traceback.walk_tb(error.__traceback__)
    return [(frame.f_code.co_filename, line) for frame, line in frames if frame.f_code.co_filename in lines]


def _find_cycle(places: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the positions from the first one that occurs twice up to its second occurrence. If none occurs
    twice, return only the first position."""
    seen: dict[tuple[str, int], int] = {}
    for index, place in enumerate(places):
        if place in seen:
            return places[seen[place] : index + 1]
        seen[place] = index
    return places[:1] or [("", 0)]


def _message(error: BaseException, names: list[str], circle: Sequence[str] = ()) -> str:
    if isinstance(error, RecursionError):
        names = list(dict.fromkeys(circle))
        if len(names) < 2:
            name = f' "{names[0]}"' if names and names[0] else ""
            return f"template{name} includes, extends or calls itself without end"
        return f"templates include or extend each other in a cycle: {' → '.join([*names, names[0]])}"
    if isinstance(error, TemplateTimeout):
        return f"more than {NET_S:g} s of CPU time in the templates of one page"
    if isinstance(error, MemoryError):
        return "more memory than is available in the templates of one page"
    if isinstance(error, BudgetExceededError):
        return str(error)
    if isinstance(error, TemplateNotFound):
        wanted = str(error.name)
        return _no_such(f'template not found: "{wanted}"', wanted, names)
    words = str(error.message if isinstance(error, TemplateSyntaxError) else error).rstrip(".")
    words = re.sub(r"'([^']+)'", r'"\1"', words)
    if isinstance(error, SecurityError):
        return f"not allowed in templates: {words}"
    if isinstance(error, TemplateSyntaxError):
        return words[:1].lower() + words[1:]
    if isinstance(error, TemplateRuntimeError):
        return words
    return f"{type(error).__name__}: {words}"
