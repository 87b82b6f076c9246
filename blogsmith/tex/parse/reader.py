"""The formula as TeX sees it while reading: a stack of tokens on which macros are opened.

Macros follow TeX: a definition holds from where it stands to the end of its group, `\\gdef` and
`\\global` to the end of the formula. Their bodies are read when called. What a macro may make is
bounded by a budget, so a loop ends; the error points at the author's call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from .errors import ParseError
from .macro_bodies import EXPANDED, Macro, fill, fill_body
from .scan import cut_token, move_tokens, spanning, split, text_of

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
"""Tokens that all macros of one formula may make together."""
_WORK = 500_000
"""What a formula may cost beyond its own length, in tokens looked at: of arguments in arguments, of brackets
that never close, of what an array repeats in each row."""


class FormulaReader(Protocol):
    """What an expander may take from the formula behind its command."""

    def peek(self) -> str:
        """The next token, spaces skipped, unexpanded; empty at the end of the formula."""

    def pop(self) -> str:
        """Takes that token."""

    def star(self) -> bool:
        """Takes a `*` if it is next."""

    def argument(self) -> list[str]:
        """One TeX argument without its braces."""

    def optional(self) -> list[str] | None:
        """`[…]` if it is next, without the brackets."""

    def take_between(self, opening: str, closing: str) -> list[str] | None:
        """What stands between `opening` and its partner if it is next."""

    def syntax_error(self, message: str, *, hint: str = "") -> Exception:
        """An error at the command, to be raised."""


Expander = Callable[[FormulaReader, str], list[str]]
"""(reader, command) → the tokens to read in place of the command and what the expander took."""


def tokens(tex: str) -> list[str]:
    """The tokens of TeX text."""
    return split(tex)


class TokenReader:
    """A stack of tokens with the macros known at this point. One per formula."""

    def __init__(self, source: Sequence[str], macros: Mapping[str, Macro | Expander]) -> None:
        self.stack: list[str] = list(reversed(source))
        self.macros: dict[str, Macro | Expander] = dict(macros)
        """The author's, and what a package gives another meaning."""
        self.given = macros
        """Those known before the formula."""
        self.budget = BUDGET
        self.command = ""
        """The command being carried out."""
        self.last = ""
        """The token that ended the last argument."""
        self.expanded = 0
        """Tokens that expanders have made."""
        self._work = _WORK
        self._defined = 0
        """How many definitions there were."""
        self._lasting: dict[str, int] = {}
        """Name defined for good → number of that definition."""
        self._shadowed: list[tuple[int, str, Macro | Expander | None]] = []
        """Definitions that come back at the end of a group, with their numbers and names."""

    def peek(self) -> str:
        """See `FormulaReader`."""
        stack = self.stack
        while stack and stack[-1] == " ":
            stack.pop()
        return stack[-1] if stack else ""

    def pop(self) -> str:
        """See `FormulaReader`."""
        self.peek()
        return self.stack.pop() if self.stack else ""

    def push(self, made: Sequence[str]) -> None:
        """Let `made` be read next."""
        self.stack.extend(reversed(made))

    def star(self) -> bool:
        """See `FormulaReader`."""
        return bool(self.peek() == "*" and self.stack.pop())

    def argument(self) -> list[str]:
        """See `FormulaReader`; `ParseError` if there is none."""
        token = self.peek()
        if not token or token == "}":
            what = "the formula" if not token else "the group"
            raise self.syntax_error(f"an argument of {self.command} is missing at the end of {what}")
        self.stack.pop()
        if token == "{":
            return self._group(token)
        if token[0].isdecimal() and len(token) > 1:
            self.stack.append(cut_token(token, 1, len(token)))
            token = cut_token(token, 0, 1)
        self.last = token
        return [token]

    def name_argument(self) -> list[str]:
        """An argument that is no formula but a name, a length or the like: its macros are opened."""
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
        """Tokens up to the brace that closes; the opening one is taken already."""
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
        raise ParseError("math-brace", "opening brace { is never closed", brace, unclosed=True)

    def spend(self, work: int) -> None:
        """Counts tokens that are looked at once more; `ParseError` if that is too much for one formula."""
        self._work -= work
        if self._work < 0:
            raise ParseError("math-limit", "formula is too big to be typeset", self.command)

    def optional(self) -> list[str] | None:
        """See `FormulaReader`."""
        return self.take_between("[", "]")

    def take_between(self, opening: str, closing: str) -> list[str] | None:
        """See `FormulaReader`; partners inside braces do not count. None also if it never closes."""
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
        """See `FormulaReader`."""
        return ParseError("math-syntax", message, self.command, hint=hint)

    def expand(self, call: str) -> None:
        """Put what the macro `call` makes on the stack; its name is taken already."""
        macro = self.macros[call]
        if not isinstance(macro, Macro):
            self.expand_by(call, macro)
            return
        before, self.command, self.last = self.command, call, call
        arguments = self._delimited_arguments(macro) if macro.delimiters else self._arguments(call, macro)
        made = fill_body(macro.body, arguments, self.budget)
        self.budget -= len(made) + 1
        if self.budget < 0:
            hint = "a macro must not use itself, not even through another one"
            raise ParseError("math-macro", f"macro {call} expands without end", call, hint=hint)
        self.stack.extend(reversed(move_tokens(made, spanning(call, self.last), call)))
        self.command = before

    def expand_by(self, call: str, expander: Expander) -> None:
        """Put what `expander` makes of the command `call` on the stack."""
        before, self.command = self.command, call
        made = expander(self, call)
        self.command = before
        self.expanded += len(made) + 1
        if self.expanded > EXPANDED:
            raise ParseError("math-limit", f"{call} and related commands make over {EXPANDED:,} tokens", call)
        self.push(move_tokens(made, call, call))

    def _arguments(self, call: str, macro: Macro) -> list[list[str]]:
        arguments: list[list[str]] = []
        if macro.default is not None:
            found = self.optional()
            arguments.append(list(macro.default) if found is None else found)
        while len(arguments) < macro.arity:
            if self.peek() in ("", "}"):
                needed = f"{macro.arity} argument" + ("s" if macro.arity > 1 else "")
                raise ParseError("math-macro", f"macro {call} needs {needed}", call)
            arguments.append(self.argument())
        return arguments

    def _delimited_arguments(self, macro: Macro) -> list[list[str]]:
        """Arguments of a macro whose parameters are parted by tokens (TeXbook, chapter 20)."""
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
        return ParseError(
            "math-macro", f"the use of {self.command} does not match its definition", self.command
        )

    def define(self, name: str, macro: Macro | Expander | None, *, everywhere: bool = False) -> None:
        """From here on `name` means `macro` (None: what it means in TeX), to the end of the group."""
        if everywhere:
            self._lasting[name] = self._defined
        else:
            self._shadowed.append((self._defined, name, self.macros.get(name)))
        self._defined += 1
        if macro is None:
            self.macros.pop(name, None)
        else:
            self.macros[name] = macro

    def mark(self) -> int:
        """Where a group begins, for `restore`."""
        return len(self._shadowed)

    def restore(self, mark: int) -> None:
        """Forget what was defined since `mark`."""
        while len(self._shadowed) > mark:
            number, name, old = self._shadowed.pop()
            if number < self._lasting.get(name, 0):
                continue  # \\gdef has come since
            if old is None:
                self.macros.pop(name, None)
            else:
                self.macros[name] = old
