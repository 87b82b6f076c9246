r"""The tokens of a formula while TeX reads them: a stack on which macros are expanded.

Macros follow TeX: a definition is valid up to the end of its group, with `\gdef` and `\global` up to the end
of the formula. Bodies are read when they are called. A budget limits the tokens that macros may produce, so
that a loop ends; the error points to the author's call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Protocol

from ...model.tex_macros import Macro, MacroParameter
from .errors import ParseError, argument_hint
from .scan import cut_token, extend_range, move_tokens, split, text_of

MAX_EXPANDED = 200_000
r"""Maximum number of tokens that commands such as `\qty` and `\ce` may produce together in one formula."""


def is_argumentless_macro(macro: object) -> bool:
    """Return whether `macro` is a macro without arguments whose body is empty or has several tokens."""
    return isinstance(macro, Macro) and not (macro.arity or macro.delimiters) and len(macro.body) != 1


def fill(template: str, *arguments: Sequence[str]) -> list[str]:
    """Return the tokens of `template` with `#1` … `#9` replaced by the arguments."""
    return fill_body(_template(template), arguments)


@lru_cache(2048)
def _template(template: str) -> tuple[str, ...]:
    return tuple(split(template))


def fill_body(body: Sequence[str], arguments: Sequence[Sequence[str]], most: int = MAX_EXPANDED) -> list[str]:
    """Return `body` with its parameters replaced by the arguments; `##` becomes `#`. If the result is longer
    than `most`, it may be cut."""
    if not arguments and "#" not in body:
        return list(body)
    made: list[str] = []
    index = 0
    while index < len(body):
        token = body[index]
        follower = body[index + 1] if token == "#" and index + 1 < len(body) else ""
        if follower and follower[0].isdecimal() and 0 < int(follower[0]) <= len(arguments):
            made += arguments[int(follower[0]) - 1]
            if len(follower) > 1:
                made.append(cut_token(follower, 1, len(follower)))
            if len(made) > most:
                break
            index += 2
        elif follower == "#":
            made.append(token)
            index += 2
        else:
            made.append(token)
            index += 1
    return made


__all__ = [
    "BUDGET",
    "Expander",
    "FormulaReader",
    "Macro",
    "TokenReader",
    "fill",
    "fill_body",
    "text_of",
    "tokens",
]

BUDGET = 100_000
"""Maximum number of tokens that all macros of one formula may produce."""
_WORK = 500_000
"""Maximum number of tokens in one formula that may be inspected again: arguments in arguments, brackets that
are never closed, tokens that an array repeats in each row."""


class FormulaReader(Protocol):
    """Interface through which an expander reads the formula after its command."""

    def peek(self) -> str:
        """Return the next token after spaces, unexpanded; empty at the end of the formula."""

    def pop(self) -> str:
        """Consume and return the next token after spaces; empty at the end of the formula."""

    def star(self) -> bool:
        """Consume a `*` if it is next. Return whether a `*` was consumed."""

    def argument(self) -> list[str]:
        """Consume one TeX argument. Return it without its braces."""

    def optional(self) -> list[str] | None:
        """Consume `[…]` if it is next, and return the content; otherwise None."""

    def read_delimited(self, opening: str, closing: str) -> list[str] | None:
        """Consume `opening`, `closing` and the tokens between them if `opening` is next. Return the tokens
        between; otherwise None."""

    def push(self, made: Sequence[str]) -> None:
        """Push tokens to be read next."""

    def syntax_error(self, message: str, *, hint: str = "") -> Exception:
        """Return an error at the command, for the caller to raise."""


Expander = Callable[[FormulaReader, str], list[str]]
"""Function from (reader, command) to tokens that replace the command and the arguments that it reads."""


def tokens(tex: str) -> list[str]:
    """Return the tokens of TeX source."""
    return split(tex)


class TokenReader:
    """A stack of tokens, with the macros defined at the current position. Each formula has its own."""

    def __init__(self, source: Sequence[str], macros: Mapping[str, Macro | Expander]) -> None:
        self.stack: list[str] = list(reversed(source))
        self.macros: dict[str, Macro | Expander] = dict(macros)
        """Macros of the author, and commands that a package redefines, at the current position."""
        self.initial_macros = macros
        """Macros known before the formula."""
        self.budget = BUDGET
        self.command = ""
        """The command whose arguments are being read."""
        self.last = ""
        """Last token of the argument that was read last."""
        self.expanded = 0
        """Number of tokens that expanders have produced so far."""
        self._work = _WORK
        self._defined = 0
        """Number of definitions so far."""
        self._global_definitions: dict[str, int] = {}
        """Globally defined name → value of `_defined` at that definition."""
        self._saved_definitions: list[tuple[int, str, Macro | Expander | None]] = []
        """(value of `_defined`, name, earlier definition or None) to restore at the end of a group."""

    def peek(self) -> str:
        """Implement `FormulaReader`."""
        stack = self.stack
        while stack and stack[-1] == " ":
            stack.pop()
        return stack[-1] if stack else ""

    def pop(self) -> str:
        """Implement `FormulaReader`."""
        self.peek()
        return self.stack.pop() if self.stack else ""

    def push(self, made: Sequence[str]) -> None:
        """Push tokens to be read next."""
        self.stack.extend(reversed(made))

    def star(self) -> bool:
        """Implement `FormulaReader`."""
        return bool(self.peek() == "*" and self.stack.pop())

    def argument(self) -> list[str]:
        """Implement `FormulaReader`. ParseError if there is no argument."""
        token = self.peek()
        if not token or token == "}":
            what = "the formula" if not token else "the group"
            message = f'missing argument of "{self.command}" at the end of {what}'
            raise self.syntax_error(message, hint=argument_hint(self.command))
        self.stack.pop()
        if token == "{":
            return self._group(token)
        if token[0].isdecimal() and len(token) > 1:
            self.stack.append(cut_token(token, 1, len(token)))
            token = cut_token(token, 0, 1)
        self.last = token
        return [token]

    def name_argument(self) -> list[str]:
        """Consume an argument that is a name, a length or similar. Return it with its macros expanded."""
        source = self.argument()
        if not any(token in self.macros for token in source):
            return source
        rest, self.stack = self.stack, source[::-1]
        made: list[str] = []
        try:
            while self.stack:
                token = self.stack.pop()
                if token in self.macros:
                    self.expand(token)
                else:
                    made.append(token)
        finally:
            self.stack = rest
        return made

    def _group(self, brace: str) -> list[str]:
        """Consume the tokens up to the closing brace, and return those between; the opening one is consumed
        already."""
        taken: list[str] = []
        depth, stack = 1, self.stack
        while stack:
            token = stack.pop()
            if token == "{":
                depth += 1
            elif token == "}":
                depth -= 1
                if not depth:
                    self.last = token
                    self.spend(len(taken))
                    return taken
            taken.append(token)
        raise ParseError("math-brace", 'opening brace "{" is never closed', brace, unclosed=True)

    def spend(self, work: int) -> None:
        """Count tokens that are inspected again. ParseError if their number exceeds `_WORK`."""
        self._work -= work
        if self._work < 0:
            raise ParseError("math-limit", "formula is too large to be typeset", self.command)

    def optional(self) -> list[str] | None:
        """Implement `FormulaReader`."""
        return self.read_delimited("[", "]")

    def read_delimited(self, opening: str, closing: str) -> list[str] | None:
        """Implement `FormulaReader.read_delimited`. Ignore brackets inside braces. Return None if `opening`
        is not next or `closing` is missing."""
        if self.peek() != opening:
            return None
        stack = self.stack
        depth = braces = 0
        for index in range(len(stack) - 1, -1, -1):
            token = stack[index]
            if token == "{":
                braces += 1
            elif token == "}":
                braces -= 1
                if braces < 0:
                    break
            elif (
                not braces
                and token == closing
                and ((opening == closing and index < len(stack) - 1) or depth == 1)
            ):
                self.spend(len(stack) - index)
                self.last = token
                taken = stack[index + 1 : -1]
                del stack[index:]
                return taken[::-1]
            elif not braces and token in (opening, closing):
                depth += 1 if token == opening else -1
        self.spend(len(stack) - index)
        return None

    def syntax_error(self, message: str, *, hint: str = "") -> ParseError:
        """Implement `FormulaReader`."""
        return ParseError("math-syntax", message, self.command, hint=hint)

    def expand(self, call: str) -> None:
        """Push the expansion of the macro `call`, whose name is consumed already."""
        macro = self.macros[call]
        if not isinstance(macro, Macro):
            self.expand_by(call, macro)
            return
        before, self.command, self.last = self.command, call, call
        if macro.problem:
            hint = f"change its definition in {macro.origin}" if macro.origin else ""
            raise ParseError("math-macro", f'macro "{call}" cannot be used: {macro.problem}', call, hint=hint)
        body: Sequence[str] = macro.body
        if macro.parameters:
            values = self._values(call, macro.parameters)
            body = choose_branches(body, values)
            is_mark = [parameter.kind == "mark" for parameter in macro.parameters]
            arguments = [
                value or (_FALSE if mark else []) for value, mark in zip(values, is_mark, strict=True)
            ]
        elif macro.delimiters:
            arguments = self._delimited_arguments(macro)
        else:
            arguments = self._arguments(call, macro)
        made = fill_body(body, arguments, self.budget)
        self.budget -= len(made) + 1
        if self.budget < 0:
            hint = "do not use a macro in its own definition, not even through other macros"
            raise ParseError("math-macro", f'macro "{call}" expands without end', call, hint=hint)
        self.stack.extend(reversed(move_tokens(made, extend_range(call, self.last), call)))
        self.command = before

    def expand_by(self, call: str, expander: Expander) -> None:
        """Push the tokens that `expander` returns for the command `call`."""
        before, self.command = self.command, call
        made = expander(self, call)
        self.command = before
        self.expanded += len(made) + 1
        if self.expanded > MAX_EXPANDED:
            raise ParseError(
                "math-limit",
                f'"{call}" and related commands expand to more than {MAX_EXPANDED:,} tokens',
                call,
            )
        self.push(move_tokens(made, call, call))

    def _arguments(self, call: str, macro: Macro) -> list[list[str]]:
        arguments: list[list[str]] = []
        if macro.default is not None:
            found = self.optional()
            arguments.append(list(macro.default) if found is None else found)
        while len(arguments) < macro.arity:
            if self.peek() in ("", "}"):
                needed = f"{macro.arity} argument" + ("s" if macro.arity > 1 else "")
                hint = f"write `{call}{'{…}' * macro.arity}`"
                raise ParseError("math-macro", f'macro "{call}" needs {needed}', call, hint=hint)
            arguments.append(self.argument())
        return arguments

    def _values(self, call: str, parameters: Sequence[MacroParameter]) -> list[list[str] | None]:
        """Consume the arguments of a document command, and return one value for each parameter. None means
        that an optional argument or a star is missing."""
        values: list[list[str] | None] = []
        marks = {parameter.opening for parameter in parameters if parameter.kind == "embellished"}
        marked: dict[str, list[str]] = {}
        for parameter in parameters:
            value: list[str] | None
            if parameter.kind == "embellished":
                while self.peek() in marks:
                    mark = self.pop()
                    marks.discard(mark)
                    marked[mark] = self.argument()
                default = None if parameter.default is None else list(parameter.default)
                value = marked.get(parameter.opening, default)
            elif parameter.kind == "mandatory":
                if self.peek() in ("", "}"):
                    message = f'macro "{call}" needs more arguments'
                    raise ParseError("math-macro", message, call, hint=argument_hint(call))
                value = self.argument()
            elif parameter.kind == "mark":
                value = ["\\BooleanTrue"] if self.peek() == parameter.opening else None
                if value:
                    self.pop()
            else:
                value = self.read_delimited(parameter.opening, parameter.closing)
                if value is None and parameter.default is not None:
                    value = list(parameter.default)
                if value is None and parameter.kind == "delimited":
                    needed = f'"{parameter.opening}…{parameter.closing}"'
                    message = f'macro "{call}" needs an argument in {needed}'
                    hint = f"write `{parameter.opening}…{parameter.closing}` after `{call}`"
                    raise ParseError("math-macro", message, call, hint=hint)
            values.append(value)
        return values

    def _delimited_arguments(self, macro: Macro) -> list[list[str]]:
        """Consume and return the arguments of a macro with delimited parameters (TeXbook, chapter 20)."""
        before, *after = macro.delimiters
        for expected in before:
            if not self.stack or self.stack.pop() != expected:
                raise self._no_match()
        arguments: list[list[str]] = []
        for delimiter in after:
            arguments.append(self._until(delimiter) if delimiter else self.argument())
        return arguments

    def _until(self, delimiter: tuple[str, ...]) -> list[str]:
        taken: list[str] = []
        depth, length, first = 0, len(delimiter), delimiter[0]
        while self.stack:
            if not depth and self.stack[-1] == first:
                self.spend(length)
                if tuple(self.stack[-1 : -length - 1 : -1]) == delimiter:
                    self.last = self.stack[-length]
                    del self.stack[-length:]
                    whole = len(taken) > 1 and taken[0] == "{" and taken[-1] == "}"
                    return taken[1:-1] if whole else taken
            token = self.stack.pop()
            depth += (token == "{") - (token == "}")
            if depth < 0:
                break
            taken.append(token)
        raise self._no_match()

    def _no_match(self) -> ParseError:
        message = f'use of "{self.command}" does not match its definition'
        hint = "write its arguments with the delimiters of the definition"
        return ParseError("math-macro", message, self.command, hint=hint)

    def define(self, name: str, macro: Macro | Expander | None, *, everywhere: bool = False) -> None:
        """Define `name` up to the end of the group.

        macro: the definition; None restores TeX's own meaning. everywhere: define up to the end of the
        formula instead.
        """
        if everywhere:
            self._global_definitions[name] = self._defined
        else:
            self._saved_definitions.append((self._defined, name, self.macros.get(name)))
        self._defined += 1
        if macro is None:
            self.macros.pop(name, None)
        else:
            self.macros[name] = macro

    @property
    def has_definitions(self) -> bool:
        """Whether the formula contains a definition."""
        return self._defined > 0

    def defined_names(self) -> set[str]:
        """Return the names that may have another definition than before the formula."""
        return {*self._global_definitions, *(name for _, name, _ in self._saved_definitions)}

    def mark(self) -> int:
        """Return a marker for the current definitions, to be passed to `restore`."""
        return len(self._saved_definitions)

    def restore(self, mark: int) -> None:
        """Undo the definitions since `mark`, except global ones."""
        while len(self._saved_definitions) > mark:
            number, name, old = self._saved_definitions.pop()
            if number < self._global_definitions.get(name, 0):
                continue  # \gdef has defined it after the group began
            if old is None:
                self.macros.pop(name, None)
            else:
                self.macros[name] = old


_FALSE = ["\\BooleanFalse"]
r"""Value of a missing star. A macro can pass it on to another macro, as in `\other#1`."""
_TESTS: Mapping[str, bool] = MappingProxyType(
    {"\\IfValue": True, "\\IfNoValue": False, "\\IfBoolean": True, "\\IfBlank": False}
)
"""Test, without its ending `T`, `F` or `TF` → its result if the argument is present."""


def choose_branches(body: Sequence[str], values: Sequence[list[str] | None]) -> list[str]:
    """Return `body` with tests of arguments replaced by the branch that applies. values: arguments or
    None."""
    if not any(token.startswith("\\If") for token in body):
        return list(body)
    reader = TokenReader(body, {})
    made: list[str] = []
    while reader.stack:
        token = reader.stack.pop()
        ending = "TF" if token.endswith("TF") else token[-1:]
        expected = _TESTS.get(token.removesuffix(ending)) if ending in ("TF", "T", "F") else None
        if expected is None:
            made.append(token)
            continue
        reader.command = token
        tested = [reader.pop(), reader.pop()] if reader.peek() == "#" else reader.argument()
        is_true = _is_present(tested, values, token) == expected
        branches = {letter: reader.argument() for letter in ending}
        reader.push(branches.get("T" if is_true else "F", ()))
    return made


def _is_present(tested: Sequence[str], values: Sequence[list[str] | None], command: str) -> bool:
    r"""Return whether the argument that `tested` names, such as `#2`, is present. For `\IfBlank`: whether it
    contains anything but spaces."""
    number = int(tested[1]) if len(tested) == 2 and tested[0] == "#" and tested[1].isdecimal() else 0
    value = values[number - 1] if 0 < number <= len(values) else list(tested)
    if command.startswith("\\IfBlank"):
        return any(token != " " for token in value or ())
    return value is not None and value != _FALSE
