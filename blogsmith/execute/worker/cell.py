"""Runs cells and values in one namespace, the module `__main__`, as Python runs scripts."""

from __future__ import annotations

import sys
from _ast import Expr, Expression, Import, ImportFrom, Module, PyCF_ALLOW_TOP_LEVEL_AWAIT, PyCF_ONLY_AST
from time import perf_counter
from typing import TYPE_CHECKING

from . import figures, versions
from .claims import Claim
from .truths import Truths
from .values import cut

if TYPE_CHECKING:
    from _ast import expr
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any

    from .checkpoints import Checkpoints
    from .file_access import FileAccess
    from .limits import Interrupts, MemoryLimit
    from .programs import Programs
    from .seeds import Seeds
    from .streams import StreamOutput
    from .tracebacks import Tracebacks
    from .values import Values

_IS_COROUTINE = 0x80  # CO_COROUTINE of `inspect`, which is expensive to import
_FUTURE_ANNOTATIONS = 0x1000000  # CO_FUTURE_ANNOTATIONS of `__future__`, since Python 3.9
_VALUE_BYTES = 64 * 1024
"""Maximum size in bytes of a value in the text. A larger value is certainly an error."""
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_CONVERSIONS = (("r", repr), ("s", str), ("a", ascii))


class WorkerSession:
    """State of a session that lasts from one cell to the next."""

    def __init__(
        self,
        output: StreamOutput,
        interrupts: Interrupts,
        memory: MemoryLimit,
        observed: FileAccess,
        tracebacks: Tracebacks,
        values: Values,
        seeds: Seeds,
        sources: dict[str, str],
        programs: Programs | None = None,
    ) -> None:
        self._output = output
        self._interrupts = interrupts
        self._memory = memory
        self._observed = observed
        self._tracebacks = tracebacks
        self._values = values
        self._seeds = seeds
        self._sources = sources
        self._programs = programs
        """Compiler of the cells; None if they are Python."""
        module = type(sys)("__main__")
        self._namespace = vars(module)
        self._namespace["__builtins__"] = sys.modules["builtins"]
        sys.modules["__main__"] = module
        self._flags = 0
        """Flags of `from __future__ import` in earlier cells."""
        self._loop: AbstractEventLoop | None = None
        self.imports: dict[str, None] = {}
        """Top-level names that cells import directly, in order."""
        self._shapes: list[dict[str, Any]] = []
        """Mismatches of shapes that are not reported yet. A shape comment may be in a function of an earlier
        cell."""
        self._truths = Truths()
        self._truths.install()
        self.checkpoints: Checkpoints | None = None

    def run_cell(self, message: dict[str, Any]) -> dict[str, Any]:
        """Run one cell and send its outputs. Return the message that ends it."""
        if message.get("leaves", True):
            self._namespace.update(message.get("binding") or ())
            return self._run_cell(message)
        from .sweeps import SessionState, changed_in_place

        state = SessionState(self._namespace)
        self._namespace.update(message["binding"])
        ended = self._run_cell(message)
        changed = state.restore()
        return {**ended, **changed_in_place(changed)} if changed and ended["status"] == "ok" else ended

    def _run_cell(self, message: dict[str, Any]) -> dict[str, Any]:
        self._observed.attention()  # attention computed between cells belongs to none
        # As in a script of its own, each location may warn again.
        self._namespace.pop("__warningregistry__", None)
        self._output.open()
        figures.begin(message["figures"])
        start = perf_counter()
        ending = self._run_guarded(lambda: self._cell(message))
        ending["claim"] = ending.pop("value")
        if "matplotlib.pyplot" in sys.modules:
            drawn = self._run_guarded(lambda: figures.flush(message["figures"]))
            drawn.pop("value")
            # If the cell itself failed, report that failure.
            ending = {**ending, **drawn} if ending["status"] == "ok" else ending
        self._output.close()
        seconds = perf_counter() - start
        reads, modules = self._observed.take_new()
        sdpa = self._observed.attention()
        if sdpa:
            # The cell did not import torch itself, but its version affects the result.
            self.imports.setdefault("torch")
        return {
            "event": "done",
            **ending,
            "seconds": seconds,
            "reads": reads,
            "modules": modules,
            "stamps": self._observed.stamps(),
            "uses": self._observed.uses(is_seeded=self._seeds.is_seeded),
            "absent": self._observed.absent(self.imports),
            "device": self._programs.device if self._programs else versions.device(),
            "sdpa": sdpa,
            "imports": [*self.packages(), *(self._programs.versions if self._programs else ())],
            "shapes": self._new_shapes(),
        }

    def compute(self, message: dict[str, Any]) -> dict[str, Any]:
        self._output.mute()
        ending = self._run_guarded(lambda: self._value(message))
        if "matplotlib.pyplot" in sys.modules:
            # Close figures that it drew; they are not shown.
            self._run_guarded(lambda: figures.flush({"format": "svg", "dark": False}))
        self._output.unmute()
        text, latex = ending["value"] or ("", "")
        reads, modules = self._observed.take_new()
        return {
            "event": "value",
            "number": message["number"],
            "status": "ok" if ending["status"] == "ok" else "error",
            "text": text,
            "latex": latex,
            "failure": ending["failure"],
            "reads": reads,
            "modules": modules,
            "stamps": self._observed.stamps(),
            "uses": self._observed.uses(is_seeded=self._seeds.is_seeded),
            "absent": self._observed.absent(self.imports),
            "shapes": self._new_shapes(),
        }

    def _new_shapes(self) -> list[dict[str, Any]]:
        """Return shape mismatches found since the last call, including those of threads between cells."""
        found, self._shapes = self._shapes, []
        return found

    def packages(self) -> list[str]:
        """Return the packages that cells import directly, without Python's own modules and those of the
        site."""
        return versions.used_packages(self.imports, lambda file: bool(self._observed.name_of(file)))

    def machine(self) -> dict[str, Any]:
        """Return the fields of `results.Machine`, which describe this machine."""
        found = versions.machine(self.packages())
        if self._programs:
            found = {**found, **self._programs.machine(), "packages": self._programs.versions}
        return found

    def _run_guarded(self, work: Callable[[], Any]) -> dict[str, Any]:
        """Run `work` and return how it ended. If the author's code raises an exception, the exception is part
        of the returned data."""
        try:
            self._interrupts.install()
            self._interrupts.allow()
            try:
                value = work()
            finally:
                self._interrupts.refuse()
        except BaseException as error:
            self._interrupts.refuse()
            return self._ending(error)
        return {"status": "ok", "problem": "", "failure": None, "value": value}

    def _ending(self, error: BaseException) -> dict[str, Any]:
        self._memory.lift()
        program_failure = getattr(error, "failure", None) if self._programs else None
        failure = program_failure() if program_failure else self._tracebacks.failure(error)
        self._memory.hold()
        status, problem = _describe_error(error, failure, self._memory.limit)
        return {"status": status, "problem": problem, "failure": failure, "value": None}

    def _cell(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Run the code of a cell. Return the result of its claim; None if the cell has no claim."""
        if self._programs:
            self._observed.follow_program(self._programs.run(message["code"]))
            return None
        code, name = message["code"], f"<cell {message['number']}>"
        self._remember(code, name)
        tree: Module = self._compile(code, name, "exec", PyCF_ONLY_AST)
        self.imports.update(dict.fromkeys(imports_in(tree)))
        if message["seed"] is not None:
            self._seeds.seed(message["seed"])
        if message["shapes"]:
            tree = self._with_shapes(tree, code, message["number"])
        last = _last_expression(tree)
        if message["claim"]:
            return self._claim(tree, last, code, name)
        value = self._value_of(tree, None if last and ends_with_semicolon(code, last) else last, name)
        if value is not None:
            self._values.show(value, "value")
        return None

    def _claim(self, tree: Module, last: expr | None, code: str, name: str) -> dict[str, Any]:
        if last is None:
            self._value_of(tree, None, name)
            return {"holds": None, "kind": "none", "detail": ""}
        return Claim(last, code, self._truths).evaluate(
            self._namespace, lambda: self._value_of(tree, last, name)
        )

    def _value_of(self, tree: Module, last: expr | None, name: str) -> Any:
        """Run the code of a cell. Return the value of its last expression, or None if this value is not
        needed."""
        if last is None:
            self._run(self._body(tree, name))
            return None
        tree.body.pop()
        return self._run(self._body(tree, name), self._compile(Expression(last), name, "eval"))

    def _body(self, tree: Module, name: str) -> CodeType:
        code: CodeType = self._compile(tree, name, "exec")
        self._flags |= code.co_flags & _FUTURE_ANNOTATIONS
        return code

    def _with_shapes(self, tree: Module, code: str, number: int) -> Module:
        from .shapes import instrument

        def report(line: int, written: str, expected: str, got: str) -> None:
            found = {"cell": number, "line": line, "written": written, "expected": expected, "got": got}
            self._shapes.append(found)

        return instrument(tree, code, self._namespace, report)

    def _value(self, message: dict[str, Any]) -> tuple[str, str]:
        expression = message["expression"].strip()
        # evaluate it as in an f-string, where it may contain line breaks
        code = f"({expression})" if "\n" in expression else expression
        value = self._evaluate(code, f"<value {message['number']}>")
        spec = self._fill_spec(message["spec"])
        latex = "" if spec or message["conversion"] else self._values.latex(value)
        conversions: dict[str, Callable[[object], str]] = dict(_CONVERSIONS)
        convert = conversions.get(message["conversion"])
        text = format(convert(value) if convert else value, spec)
        return cut(text, _VALUE_BYTES), latex if len(latex) <= _VALUE_BYTES else ""

    def _evaluate(self, code: str, name: str) -> Any:
        self._remember(code, name)
        return self._run(self._compile(code, name, "eval"))

    def _fill_spec(self, spec: str) -> str:
        """Return a format spec with its nested `{…}` evaluated."""
        return str(self._evaluate(f"f{spec!r}", "<format>")) if "{" in spec else spec

    def _remember(self, code: str, name: str) -> None:
        self._sources[name] = code
        self._tracebacks.remember(name)
        self._observed.scan(code)

    def _run(self, *codes: CodeType) -> Any:
        """Run code objects in the namespace one after the other. Return the value of the last one. If one of
        them awaits something, all run in the session's event loop."""
        for code in codes:
            self._observed.scan_names(code)
        if not any(code.co_flags & _IS_COROUTINE for code in codes):
            return [eval(code, self._namespace) for code in codes][-1]
        import asyncio

        async def together() -> Any:
            value = None
            for code in codes:
                value = eval(code, self._namespace)
                value = await value if code.co_flags & _IS_COROUTINE else value
            return value

        self._loop = self._loop or asyncio.new_event_loop()
        return self._loop.run_until_complete(together())

    def _compile(self, source: Any, name: str, mode: str, flags: int = 0) -> Any:
        flags |= PyCF_ALLOW_TOP_LEVEL_AWAIT | self._flags
        return compile(source, name, mode, flags, dont_inherit=True)


def imports_in(tree: Module) -> Iterator[str]:
    """Yield top-level names that statements import, at any nesting level. Relative imports are ignored."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
        for name in _BODIES:
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                waiting += inner


def _last_expression(tree: Module) -> expr | None:
    last = tree.body[-1] if tree.body else None
    return last.value if isinstance(last, Expr) else None


def ends_with_semicolon(code: str, last: expr) -> bool:
    """Return whether a semicolon follows the expression, with only brackets and comments after it."""
    lines = code.encode("utf-8", "replace").split(b"\n")[(last.end_lineno or 0) - 1 :]
    lines[0] = lines[0][last.end_col_offset or 0 :]
    return b"".join(line.partition(b"#")[0].strip() for line in lines).endswith(b";")


def _describe_error(
    error: BaseException, failure: dict[str, Any], memory_bytes: int | None
) -> tuple[str, str]:
    """Return the status of a cell that raised an exception, and the reason as a message."""
    if isinstance(error, SystemExit):
        return "exit", f"it calls sys.exit({'' if error.code is None else repr(error.code)})"
    if isinstance(error, MemoryError):
        limit = "" if memory_bytes is None else f": the limit is {memory_bytes / 10**6:,.0f} MB"
        return "memory", f"it ran out of memory{limit}"
    if isinstance(error, SyntaxError) and (error.text or "").lstrip()[:1] in ("%", "!", "?"):
        command = (error.text or "").split()[0]
        return "error", f"{command} is a command of IPython, not Python"
    message = failure["message"].partition("\n")[0]
    return "error", f"{failure['name']}: {message}" if message else failure["name"]
