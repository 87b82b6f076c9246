"""Cells in C, C++ and CUDA: what is recorded, what makes a result stale, and what is reported."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from blogsmith.execute.probe.requirements import unmet
from blogsmith.execute.worker.programs import ProgramError, Programs
from blogsmith.model.cells import PROGRAMS, Need
from blogsmith.project.report import ExecutionOptions
from tests.run_sites import STALE, page, site
from tests.site_files import build, printed

needs_compilers = pytest.mark.skipif(
    not all(map(shutil.which, ("cc", "c++", "nm"))), reason="cc, c++ or nm is not installed"
)
SUM = """\
Sum:

```{cpp}
//| label: sum
//| flags: -DN=10
#include <cstdio>
#include "square.hpp"
int main() {
    double sum = 0;
    for (int i = 1; i <= N; ++i) sum += square(i);
    std::printf("sum of squares: %g\\n", sum);
}
```
"""
SQUARE = "inline double square(double x) { return x * x; }\n"


@needs_compilers
def test_a_program_is_recorded_with_its_headers_and_compiler(tmp_path: Path) -> None:
    root = site(tmp_path, "execute: {sandbox: offline}\n", a=SUM)
    header = root / "content" / "posts" / "square.hpp"
    header.write_text(SQUARE)
    report = build(root, execution=STALE)
    assert printed(report) == ""
    html = page(root)
    assert "sum of squares: 385" in html
    assert "CPU (" in html
    assert "GCC" in html or "clang" in html
    frozen = ExecutionOptions(frozen=True)
    assert build(root, execution=frozen).ok
    header.write_text(SQUARE.replace("x * x", "x * x * x"))
    (stale,) = build(root, execution=frozen).diagnostics
    assert 'no valid result for cell "sum": content/posts/square.hpp, which it read, has changed' in str(
        stale
    )
    post = root / "content" / "posts" / "a.md"
    post.write_text(post.read_text().replace("N=10", "N=11"))
    build(root, execution=STALE)
    assert "sum of squares: 4356" in page(root), "a change of a header or of the flags runs the program again"


FAILURES = {
    "syntax": ("{cpp}", "int main() {\n    int x = y;\n}", "8:5: error: compiler: ", "'y'"),
    "no main": ("{cpp}", "int f() { return 1; }", 'function "main" not found: a cell is a whole program', ""),
    "code": (
        "c eval",
        "int main(void) { return 3; }",
        "6:4: error: program: exit code 3",
        "return 0 from `main`",
    ),
    "crash": (
        "{c}",
        "#include <stdlib.h>\nint main(void) { abort(); }",
        "killed by signal 6 (SIGABRT)",
        "//| error",
    ),
    "flag": (
        "{c}",
        "//| flags: --no-such-flag\nint main(void) { return 0; }",
        "error: compiler: ",
        "no-such-flag",
    ),
    "quote": (
        "{c}",
        "//| flags: -DX='1\nint main(void) { return 0; }",
        "invalid flags",
        "second quotation mark",
    ),
    "seed": ("{c}", "//| seed: 1\nint main(void) { return 0; }", 'option "seed" has no effect', "a compiler"),
    "clock": (
        "{c}",
        "#include <time.h>\nint main(void) { return time(0) < 0; }",
        "reads the clock",
        "//| repeatable",
    ),
    "python": ("{python}", "#| flags: -O3\n1", 'option "flags" has no effect', "no compiler"),
}


@needs_compilers
def test_what_goes_wrong_is_reported(tmp_path: Path) -> None:
    posts = {name: f"Text.\n\n```{info}\n{code}\n```" for name, (info, code, *_) in FAILURES.items()}
    report = build(site(tmp_path, **posts), execution=STALE)
    said = {one.split(".md:")[0]: one for one in printed(report).split("content/posts/")}
    for name, (*_, first, second) in FAILURES.items():
        assert first in said[name], name
        assert second in said[name], name


def test_a_notebook_for_python_has_programs_as_text(tmp_path: Path) -> None:
    root = site(tmp_path, "notebook: true\n", a=f"{SUM}\n```{{python}}\n1 + 1\n```")
    build(root)
    (notebook,) = (root / "public").rglob("*.ipynb")
    cells = json.loads(notebook.read_bytes())["cells"]
    assert [cell["cell_type"] for cell in cells] == ["raw", "markdown", "code"]


@needs_compilers
def test_error_true_shows_the_message_of_the_compiler(tmp_path: Path) -> None:
    root = site(tmp_path, a="Text.\n\n```{c}\n//| error: true\nint main(void) { return y; }\n```")
    assert printed(build(root, execution=STALE)) == ""
    assert "cell.c:1:25: error:" in page(root)


REASONS = {
    "none": ('#include <math.h>\nint main(void) { printf("%g", sin(1)); return 0; }', []),
    "clock": ("#include <time.h>\nint main(void) { return time(0) < 0; }", ["clock"]),
    "time": ("#include <time.h>\nint main(void) { return clock() < 0; }", ["stopwatch"]),
    "file": ('int main(void) { return fopen("absent", "r") != 0; }', ["code fopen"]),
    "program": ('#include <stdlib.h>\nint main(void) { return system("true"); }', ["code system"]),
    "variable": (
        '#include <stdlib.h>\nint main(void) { return getenv("NO") != 0; }',
        ["code getenv"],
    ),
    "random": (
        "#include <sys/random.h>\nint main(void) { char c; return getrandom(&c, 1, 0) < 0; }",
        ["code getrandom"],
    ),
}


@needs_compilers
@pytest.mark.parametrize(("code", "reasons"), REASONS.values(), ids=list(REASONS))
def test_the_functions_of_a_program_show_whether_it_is_repeatable(
    code: str, reasons: list[str], tmp_path: Path
) -> None:
    programs = Programs({"folder": str(tmp_path), "language": "c", "flags": "-lm"})
    facts = list(programs.run(f"#include <stdio.h>\n{code}\n"))
    assert [text for kind, text in facts if kind == "reason"] == reasons
    assert ("name", "absent") in facts or '"absent"' not in code


@needs_compilers
@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            '#include <fstream>\nint main() { std::ifstream file("absent"); return file.good(); }',
            "code std::fstream",
        ),
        ("#include <random>\nint main() { return std::random_device{}() == 0; }", "code std::random_device"),
        (
            "#include <chrono>\nusing C = std::chrono::steady_clock;\n"
            "int main() { return C::now() == C::time_point(); }",
            "stopwatch",
        ),
    ],
)
def test_names_of_c_plus_plus_are_known_too(code: str, reason: str, tmp_path: Path) -> None:
    programs = Programs({"folder": str(tmp_path), "language": "cpp", "flags": "-O0"})
    assert ("reason", reason) in list(programs.run(code))


def test_a_program_in_cuda_needs_a_compiler_and_a_device(tmp_path: Path) -> None:
    need = Need(PROGRAMS["cuda"])
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\n")
    nvcc.chmod(0o755)
    assert unmet([need], "python", {"PATH": ""})[need] == 'program "nvcc" is not installed'
    found = {"PATH": str(tmp_path)}
    assert unmet([need], "python", found, device=lambda: False)[need] == "this machine has no CUDA device"
    assert unmet([need], "python", found, device=lambda: True) == {}


@pytest.mark.skipif(not shutil.which("nvcc"), reason="nvcc is not installed")
def test_a_program_in_cuda_is_compiled(tmp_path: Path) -> None:
    programs = Programs({"folder": str(tmp_path), "language": "cuda", "flags": ""})
    kernel = "__global__ void add(float *x) { x[threadIdx.x] += 1; }\nint main() { return 0; }\n"
    assert [text for kind, text in programs.run(kernel) if kind == "reason"] == []
    assert programs.versions["nvcc"]
    with pytest.raises(ProgramError, match="identifier") as caught:
        list(programs.run(kernel.replace("+= 1", "+= y")))
    assert caught.value.line == 1
