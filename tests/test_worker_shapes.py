"""Shape comments: their syntax, the meaning of names in them, and reports."""

from __future__ import annotations

import ast
import asyncio
import inspect
import linecache
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from blogsmith.execute.worker.dimensions import fit, parse_shapes
from blogsmith.execute.worker.shapes import instrument
from tests.rows import each_row

WORKER = Path(__file__).parent.parent / "blogsmith" / "execute" / "worker"


class Array:
    """An object with a shape."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def __matmul__(self, other: Array) -> Array:
        return Array(*self.shape[:-1], other.shape[-1])

    def __iadd__(self, other: Array) -> Array:
        return other


class Session:
    """Cells of one namespace."""

    def __init__(self, **names: object) -> None:
        self.names: dict[str, Any] = {"A": Array, "__name__": "__main__", **names}
        self.found: list[tuple[int, str, str, str]] = []

    def compiled(self, code: str) -> CodeType:
        source = textwrap.dedent(code)
        tree = instrument(ast.parse(source), source, self.names, lambda *found: self.found.append(found))
        linecache.cache["<cell 1>"] = (len(source), None, source.splitlines(True), "<cell 1>")
        code_object: CodeType = compile(tree, "<cell 1>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        return code_object

    def run(self, code: str) -> list[tuple[int, str, str, str]]:
        """Run a cell. Return the reports so far."""
        exec(self.compiled(code), self.names)
        return self.found


def found(code: str, **names: object) -> list[tuple[int, str, str, str]]:
    return Session(**names).run(code)


@each_row(
    ("comment", "shapes"),
    [
        ("# (n, d)", ["(n, d)"]),
        ("#(n,d)", ["(n,d)"]),
        ("# (n,)", ["(n,)"]),
        ("# shape: (n, d)", ["(n, d)"]),
        ("# shapes: (n, d), (m,)", ["(n, d)", "(m,)"]),
        ("# → (n, d)", ["(n, d)"]),
        ("# -> (n)", ["(n)"]),
        ("# ()", ["()"]),
        ("# (), (3,)", ["()", "(3,)"]),
        ("# (..., n)", ["(..., n)"]),
        ("# (…, n)", ["(…, n)"]),
        ("# (*batch, n)", ["(*batch, n)"]),
        ("# (2*d, n + 1, d//h, d/h, 2*(n-1))", ["(2*d, n + 1, d//h, d/h, 2*(n-1))"]),
        ("# (_, 4)", ["(_, 4)"]),
        ("# (see below)", []),
        ("# (n, the width)", []),
        ("# (n, d) queries", []),
        ("# queries (n, d)", []),
        ("# (n, d) = (4, 8)", []),
        ("# (n, 0.5)", []),
        ("# (n, -1)", []),
        ('# (n, "d")', []),
        ("# (x.shape, d)", []),
        ("# (f(n), d)", []),
        ("# (n=4)", []),
        ("# (2**n, d)", []),
        ("# (*a, *b)", []),
        ("# (..., n, ...)", []),
        ("# (1if, 2)", []),
        ("# (n, d", []),
        ("# n, d", []),
        ("# " + "(" * 90 + ")" * 90, []),
        ("# (" + "n, " * 100 + ")", []),
        ("#", []),
    ],
)
def test_which_comments_are_shapes(comment: str, shapes: list[str]) -> None:
    assert [shape.written for shape in parse_shapes(comment)] == shapes


@each_row(
    ("shape", "sizes", "known", "met"),
    [
        ("(n, d)", (4, 8), {}, {"n": 4, "d": 8}),
        ("(n, n)", (4, 8), {}, None),
        ("(n, d)", (4,), {}, None),
        ("(n, d)", (4, 8), {"n": 5}, None),
        ("(n + 1, n)", (5, 4), {}, {"n": 4}),
        ("(n + 1, n)", (4, 4), {}, None),
        ("(2*h,)", (8,), {}, {"h": 4}),
        ("(2*h,)", (7,), {}, None),
        ("(h*2,)", (8,), {}, {"h": 4}),
        ("(n - 1,)", (3,), {}, {"n": 4}),
        ("(5 - n,)", (3,), {}, {"n": 2}),
        ("(2 - n,)", (3,), {}, None),
        ("(d/h, h)", (4, 2), {}, {"h": 2, "d": 8}),
        ("(d/h,)", (4,), {"d": 8}, {"h": 2}),
        ("(d/h,)", (3,), {"d": 7, "h": 2}, None),
        ("(d/h + 1,)", (0,), {"d": 7, "h": 2}, None),
        ("(d//h,)", (3,), {"d": 7, "h": 2}, {}),
        ("(d//h,)", (3,), {"d": 7}, {}),
        ("(d//h,)", (3,), {"d": 7, "h": 0}, None),
        ("(0*n,)", (0,), {}, {}),
        ("(0*n,)", (1,), {}, None),
        ("(a*b,)", (6,), {}, {}),
        ("(..., n)", (2, 3, 4), {}, {"n": 4}),
        ("(..., n)", (4,), {}, {"n": 4}),
        ("(n, ..., m)", (4,), {}, None),
        ("(...)", (), {}, {}),
        ("(*b, n)", (2, 3, 4), {}, {"*b": (2, 3), "n": 4}),
        ("(n, *b)", (2, 3, 4), {}, {"*b": (3, 4), "n": 2}),
        ("(n, *b)", (2,), {}, {"*b": (), "n": 2}),
        ("(*b, n)", (2, 3, 4), {"*b": (2, 3)}, {"n": 4}),
        ("(*b, n)", (3, 2, 4), {"*b": (2, 3)}, None),
        ("(*b, n)", (2, 4), {"*b": (2, 3)}, None),
        ("(_, _)", (4, 8), {}, {}),
        ("()", (), {}, {}),
        ("()", (1,), {}, None),
    ],
)
def test_what_fits(
    shape: str, sizes: tuple[int, ...], known: dict[str, Any], met: dict[str, Any] | None
) -> None:
    (parsed,) = parse_shapes(f"# shape: {shape}")
    assert fit(parsed, sizes, known.get) == met


def test_a_mismatch_is_told_with_line_sizes_and_what_came() -> None:
    code = """\
        q = A(4, 8)  # (n, d)
        k = A(6, 9)  # (m, d)
        s = q @ A(8, 6)  # (n, m)
        """
    assert found(code) == [(2, "(m, d)", "(m, 8)", "(6, 9)")]
    # m was not bound by the incorrect comment: line 3 is valid with any m


@each_row(
    ("code", "expected"),
    [
        ("x = A(3)  # (4,)", ("(4,)", "(4,)", "(3,)")),
        ("x = A(3);  # (4,)", ("(4,)", "(4,)", "(3,)")),
        ("x = y = A(3)  # (4,)", ("(4,)", "(4,)", "(3,)")),
        ("x: object = A(3)  # (4,)", ("(4,)", "(4,)", "(3,)")),
        ("x = A(9)\nx += A(3)  # (4,)", ("(4,)", "(4,)", "(3,)")),
        ("x = {}\nx['w'] = A(3)  # (4,)", ("(4,)", "(4,)", "(3,)")),
        ("x = [A(9)]\nx[-1] += A(3)  # (4,)", ("(4,)", "(4,)", "(3,)")),
        ("x = (\n  A(3)\n)  # (4,)", ("(4,)", "(4,)", "(3,)")),
        ("if True: x = A(3)  # (4,)", ("(4,)", "(4,)", "(3,)")),
        ("x, y = A(4), A(3)  # (4,), (4,)", ("(4,)", "(4,)", "(3,)")),
        ("x, y = (A(n) for n in (4, 3))  # (4,)", ("(4,)", "(4,)", "(3,)")),
        ("x = A(4), A(3)  # (4,), (4,)", ("(4,)", "(4,)", "(3,)")),
        ("x, y = A(4), A(3)  # (4,), (3,), ()", ("(4,), (3,), ()", "3 values", "(4,), (3,)")),
        ("def f(): return A(3)  # (4,)\nf()", ("(4,)", "(4,)", "(3,)")),
        ("print(\n  A(3),  # (4,)\n  sep='',\n)", ("(4,)", "(4,)", "(3,)")),
        ("dict(\n  x=A(3)  # (4,)\n)", ("(4,)", "(4,)", "(3,)")),
        ("print(\n  (A(3)),  # (4,)\n)", ("(4,)", "(4,)", "(3,)")),
        ("ä = '𝛼'; x = A(3)  # (4,)", ("(4,)", "(4,)", "(3,)")),
        ("print(\n  'ä𝛼', str(1),\n  A(3),  # (4,)\n)", ("(4,)", "(4,)", "(3,)")),
        ("x = 3.0  # (4,)", ("(4,)", "(4,)", "()")),
        ("x = 'abc'  # (3,)", ("(3,)", "(3,)", "str")),
        ("x = {}  # ()", ("()", "()", "dict")),
        ("x = A  # ()", ("()", "()", "type")),
        ("x = [[1, 2], [3]]  # (2, 2)", ("(2, 2)", "(2, 2)", "ragged list")),
        ("x = [1, [2]]  # (2, 2)", ("(2, 2)", "(2, 2)", "ragged list")),
        ("x = []; x.append(x); y = x  # (1,)", ("(1,)", "(1,)", "list")),
        ("x = A(2, 3, 4)\nb, n = x.shape[:2]  # (2, 4)", ("(2, 4)", "(2, 4)", "(2, 3)")),
        ("x = A(2, 3)\ns = x.shape  # (2, 4)", ("(2, 4)", "(2, 4)", "(2, 3)")),
        ("n = 4\nx = A(3, 2)  # (n, ...)", ("(n, ...)", "(4, ...)", "(3, 2)")),
        ("n = 4\nx = A(3)  # (n)", ("(n)", "(4,)", "(3,)")),
        ("x = A(3)  # shape: (4)", ("(4)", "(4,)", "(3,)")),
        ("batch = (2, 3)\nx = A(2, 4, 5)  # (*batch, d)", ("(*batch, d)", "(2, 3, d)", "(2, 4, 5)")),
        ("d, h = 7, 2\nx = A(3)  # (d/h,)", ("(d/h,)", "(d / h,)", "(3,)")),
    ],
)
def test_where_comments_are_looked_at(code: str, expected: tuple[str, str, str]) -> None:
    line = next(number for number, text in enumerate(code.split("\n"), 1) if "#" in text)
    assert found(code) == [(line, *expected)]


@each_row(
    "code",
    [
        "x = A(3)  # (default)",
        "x = A(3)  # (row-wise)",
        "x = A(3)  # (1)",
        "x = A(3)  # (see below, please)",
        "x = None  # (n, d)",
        "x = 2 > 1  # ()",
        "x = 1j  # ()",
        "x = [1, 2.0]  # (2,)",
        "x = [A(3), A(3)]  # (2, 3)",
        "x = ['a', 'b']  # (2,)",
        "x = []  # (0,)",
        "x = (3, 7)  # (2,)",
        "s = A(3, 7).shape  # (3, 7)",
        "b, n, d = A(2, 3, 4).shape  # (b, n, d)",
        "n = True\nx = A(3)  # (n, )",
        "n = A(2)\nx = A(3)  # (n, )",
        "n = 3.0\nx = A(5)  # (n, )",
        "A(3)  # (4,)",
        "x = [\n  A(3),  # (4,)\n]",
        "x = A(3)\n# (4,)",
        "x = '# (4,)'",
        "class C:\n  x = A(3)  # (4,)",
        "i = iter([0, 1])\nx = [A(9), A(9)]\nx[next(i)] += A(3)  # (4,)\nassert next(i) == 1",
        "def f(x): return x  # (4,)",
        "print(*[\n  A(3),  # (4,)\n])",
        "x = f'{A(3)}'  # (see above)",
    ],
)
def test_what_is_left_alone(code: str) -> None:
    assert found(code, sys=sys) == []


def test_parameters_are_looked_at_when_the_function_is_called() -> None:
    code = '''\
        def attend(
            q,  # (..., n, d_k)
            k: Array = None,  # (..., m, d_k)
            *,
            v=None,  # (..., m, d_v)
            scale=None,  # ()
        ):
            """Words."""
            return q  # (..., n, d_k)

        attend(A(2, 4, 8))
        attend(A(4, 8), A(5, 8), v=A(5, 3), scale=0.5)
        attend(A(4, 8), A(5, 9), v=A(6, 3), scale=A(1))
        '''
    session = Session(Array=Array)
    assert session.run(code) == [
        (3, "(..., m, d_k)", "(..., m, 8)", "(5, 9)"),
        (6, "()", "()", "(1,)"),
    ]
    assert session.names["attend"].__doc__ == "Words."


def test_names_live_as_long_as_the_call_or_the_session() -> None:
    session = Session()
    session.run("def f(x):\n    y = x  # (k, k)\n    return y\nf(A(2, 2)); f(A(3, 3)); z = A(5)  # (k,)")
    assert session.found == []
    # the session bound k to 5, also in another cell; the function is not affected
    assert session.run("f(A(4, 4))\nw = A(6)  # (k,)") == [(2, "(k,)", "(5,)", "(6,)")]
    assert session.run("f(A(4, 7))")[1:] == [(2, "(k, k)", "(k, k)", "(4, 7)")]


def test_variables_come_before_what_was_met() -> None:
    code = """\
        x = A(3)  # (n,)
        n = 4
        y = A(4)  # (n,)
        def f(n):
            z = A(9)
            return [g(
                z,  # (n,)
            ) for _ in "a"]
        g = lambda x: x
        f(9)
        f(8)
        """
    assert found(code) == [(7, "(n,)", "(8,)", "(9,)")]


def test_a_loop_reports_once() -> None:
    assert found("for n in (3, 4, 5):\n    x = A(n + 1)  # (n,)") == [(2, "(n,)", "(3,)", "(4,)")]


def test_methods_generators_coroutines_nested_functions_and_lambdas() -> None:
    code = """\
        class Layer:
            def __init__(self, w):
                self.w = w  # (d, d)
            def __call__(self, x):
                def inner(y):
                    y += A(4)  # (d, 1)
                    return y
                x = inner(x)  # (d,)
                return (lambda z: print(
                    z,  # (d, d)
                    file=sink,
                ))(x)
        def steps():
            got = yield 1  # (7,)
            yield got
        async def later():
            return A(2)  # (5,)
        Layer(A(2, 3))(A(3))
        run = steps(); next(run); run.send(A(6))
        """
    import io

    session = Session(sink=io.StringIO())
    session.run(code)
    asyncio.run(eval(session.compiled("x = await later()  # (9,)"), session.names))
    assert session.found == [
        (3, "(d, d)", "(d, d)", "(2, 3)"),
        (6, "(d, 1)", "(d, 1)", "(4,)"),
        (10, "(d, d)", "(4, 4)", "(4,)"),
        (14, "(7,)", "(7,)", "(6,)"),
        (17, "(5,)", "(5,)", "(2,)"),
        (1, "(9,)", "(9,)", "(2,)"),
    ]


def test_tracebacks_carets_and_source_stay() -> None:
    code = """\
        def f(
            x,  # (n,)
        ):
            y = x.shape[0] + g(1, 0)  # ()
            return y  # ()
        g = lambda a, b: a / b
        """
    session = Session()
    session.run(code)
    source = textwrap.dedent(code)
    with pytest.raises(ZeroDivisionError) as caught:
        session.names["f"](Array(3))
    plain: dict[str, Any] = {}
    exec(compile(source, "<cell 1>", "exec"), plain)
    with pytest.raises(ZeroDivisionError) as as_written:
        plain["f"](Array(3))
    assert told(caught.value) == told(as_written.value)
    assert "x.shape[0] + g(1, 0)" in told(caught.value)
    assert inspect.getsource(session.names["f"]) == inspect.getsource(plain["f"])


def told(error: BaseException) -> str:
    """Return the traceback without the frame of the test."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__)[2:])


def test_the_last_expression_of_a_cell_stays_the_last() -> None:
    source = "x, y = 1, 2  # (), ()\n"
    tree = instrument(ast.parse(source), source, {}, lambda *found: None)
    assert not any(isinstance(node, ast.Expr) for node in tree.body)


def test_code_without_shapes_is_untouched() -> None:
    source = "x = 1  # one\ny = '#'\n"
    names: dict[str, Any] = {}
    tree = ast.parse(source)
    assert ast.dump(instrument(tree, source, names, lambda *found: None)) == ast.dump(ast.parse(source))
    assert names == {}


def test_hostile_values_do_no_harm() -> None:
    code = """\
        class Bad:
            @property
            def shape(self): raise RuntimeError("no")
        class Odd:
            shape = "ab"
        class Index:
            shape = ()
            def __index__(self): raise TypeError("tracer")
        n = Index()
        x = Bad()  # (2,)
        y = Odd()  # (2,)
        z = A(5)  # (n, )
        """
    assert found(code) == [(10, "(2,)", "(2,)", "Bad"), (11, "(2,)", "(2,)", "Odd")]


def test_numpy() -> None:
    np = pytest.importorskip("numpy")
    code = """\
        n = np.int64(4)
        x = np.zeros((4, 8), np.float32)  # (n, d)
        m = x.mean()  # ()
        m = x.mean(1)  # (n,)
        x += 1  # (n, d)
        q, k = np.split(x, 2)  # (n//2, d)
        x[0, :] = 1  # ()
        y = x.T  # (n, d)
        """
    assert found(code, np=np) == [(8, "(n, d)", "(4, 8)", "(8, 4)")]


@pytest.mark.parametrize("python", ["python3.9", "python3.10", "python3.12", "python3.13", "python3.14"])
def test_other_pythons(python: str, tmp_path: Path) -> None:
    """The same in the Python versions that authors may have."""
    script = tmp_path / "try.py"
    script.write_text(
        "import ast, sys, types\n"
        "package = types.ModuleType('_blogsmith'); package.__path__ = [sys.argv[1]]\n"
        "sys.modules['_blogsmith'] = package\n"
        "from _blogsmith.shapes import instrument\n"
        "source = '''\n"
        "class A:\n"
        "    def __init__(self, *shape): self.shape = shape\n"
        "def f(\n"
        "    x,  # (n, n)\n"
        "    y=None,  # (n,)\n"
        "):\n"
        "    x, y = [A(3) for _ in 'ab']  # (n,), (2,)\n"
        "    return x  # (n + 1,)\n"
        "print(f(A(3, 3)).shape, f'{A(4).shape}')\n"
        "'''\n"
        "names = {}\n"
        "tree = instrument(ast.parse(source), source, names, print)\n"
        "exec(compile(tree, '<cell 1>', 'exec'), names)\n",
        "utf-8",
    )
    try:
        command = [python, str(script), str(WORKER)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError:
        pytest.skip(f"no {python} here")
    if run.returncode == 127:
        pytest.skip(f"no {python} here")
    assert (run.stderr, run.stdout.splitlines()) == (
        "",
        ["8 (2,) (2,) (3,)", "9 (n + 1,) (4,) (3,)", "(3,) (4,)"],
    )
