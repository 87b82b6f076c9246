"""The shape of the code: imports go down only, files and functions stay small, importing is cheap."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median
from types import MappingProxyType

import pytest

from blogsmith.base.installed import COMMANDS, IMPORTERS, installed_parts
from blogsmith.importers.systems import system_names
from tests.rows import each_row

PACKAGE = Path(__file__).parent.parent / "blogsmith"

LAYERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("start", ("__main__",)),
    ("parts found by entry points", ("epub", "importers", "lsp", "paper", "publish")),
    ("the core as these parts see it", ("api",)),
    ("command line", ("cli",)),
    ("live preview", ("preview",)),
    ("uses of a finished site", ("features",)),
    ("the way from sources to a site", ("build",)),
    ("what needs all pages; cells of posts", ("stages", "cells")),
    ("rows of the cache; processes", ("rows", "pools")),
    ("an opened site; other hosts; changes on disk", ("project", "network", "watch")),
    ("one page; stages that see all pages; hosts of a finished site", ("render", "site", "lint")),
    (
        "one text; cells; finished files",
        ("read", "syntax", "execute", "freeze", "hooks", "write"),
    ),
    (
        "settings; formulas; cited works; words of pages",
        ("config", "tex", "bibliography", "languages"),
    ),
    ("records; Python for browsers", ("model", "pyodide")),
    ("mistakes; files; YAML; regular expressions", ("base",)),
    ("for posts, not for the builder", ("lab",)),
    ("version", ("__init__",)),
)
"""Name of a row of units → its units: folders, or single modules; top to bottom.

A unit may import units of lower rows, never one of its own row or above.
"""
INNER_LAYERS: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType(
    {
        "base": (("schema",), ("storage",), ("diagnostics",)),
        "execute": (("cluster", "kernel"), ("session",), ("probe", "worker")),
        "importers": (
            ("markdown_sites",),
            ("hugo", "jekyll", "mkdocs", "myst", "obsidian", "quarto"),
            ("notebooks",),
            ("verify",),
            ("text",),
        ),
        "network": (("images", "linkcheck"),),
        "preview": (("loop",), ("events",), ("cells", "pages"), ("http",)),
        "render": (("citations", "outputs"), ("policy", "svg", "templates")),
        "site": (("markdown",), ("cards", "search")),
        "syntax": (("cells", "latex"), ("math",), ("references",)),
        "tex": (
            ("constructs", "speech"),
            ("analysis", "diagrams", "foreign", "packages"),
            ("parse",),
            ("mathml",),
        ),
    }
)
"""Unit → rows of its folders, read in the same way. Modules directly in a unit connect its folders."""
ROW_OF = {unit: number for number, (_, units) in enumerate(LAYERS) for unit in units}
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_FILE_LINES = 500
MAX_MEDIAN_LINES = 150
MAX_FUNCTION_LINES = 60
HEAVY = (
    "jinja2",
    "markdown_it",
    "mdit_py_plugins",
    "pygments",
    "rich",
    "PIL",
    "yaml",
    "msgspec",
    "numpy",
    "torch",
)


NOT_FOR_TEXT = (
    *("asyncio", "ssl", "multiprocessing", "rich", "PIL", "pygments.lexers"),
    *("blogsmith.cells.results", "blogsmith.cells.run", "blogsmith.cells.update"),
    *("blogsmith.freeze", "blogsmith.execute.cluster", "blogsmith.execute.kernel", "blogsmith.execute.probe"),
    *("blogsmith.execute.session.jobs", "blogsmith.execute.session.process", "blogsmith.execute.worker"),
    *("blogsmith.hooks.plugin_imports", "blogsmith.pyodide"),
    *("blogsmith.render.outputs.cells", "blogsmith.tex.analysis", "blogsmith.tex.convert"),
    *("blogsmith.tex.constructs", "blogsmith.tex.packages", "blogsmith.tex.parse.parser"),
)
"""Name prefixes of modules, ours and others, that a page of plain text does not need.

Lints are not included: a build caches their results for the next check.
"""


def name_of(file: Path) -> str:
    """Return `syntax.math` for `blogsmith/syntax/math.py`; `__init__` for the package itself."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


NAMES = {name_of(file) for file in MODULES}


def unit_of(name: str) -> str:
    """Return the unit of a module."""
    return name.partition(".")[0]


def folder_of(file: Path) -> tuple[str, str]:
    """Return unit and inner folder of a module. The folder is empty if it has none, or no declared rows."""
    parts = file.relative_to(PACKAGE).parts
    return (parts[0], parts[1]) if len(parts) > 2 and parts[0] in INNER_LAYERS else (parts[0], "")


@dataclass(frozen=True, slots=True)
class Outline:
    """Data of a file for the tests below, parsed once."""

    imports: frozenset[str]
    """Imported modules of ours."""
    functions: tuple[tuple[str, int], ...]
    """Name and number of lines of every function and method."""
    classes: tuple[str, ...]
    """Names of top-level classes."""
    docstring: str


@cache
def outline_of(file: Path) -> Outline:
    """Parse a file of the package."""
    tree = ast.parse(file.read_text("utf-8"))
    nodes = list(ast.walk(tree))
    package = ("blogsmith", *file.relative_to(PACKAGE).parts[:-1])
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return Outline(
        imports=frozenset(imports_among(nodes, package) - {name_of(file)}),
        functions=tuple((node.name, (node.end_lineno or 0) - node.lineno + 1) for node in functions),
        classes=tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef)),
        docstring=ast.get_docstring(tree) or "",
    )


def imports_of(file: Path) -> frozenset[str]:
    """Return the modules of ours that `file` imports."""
    return outline_of(file).imports


def imports_in(text: str, package: tuple[str, ...]) -> set[str]:
    """Return the modules of ours imported anywhere in `text`, also inside functions and for types only."""
    return imports_among(ast.walk(ast.parse(text)), package)


def imports_among(nodes: Iterable[ast.AST], package: tuple[str, ...]) -> set[str]:
    """Return the modules of ours that statements among `nodes` import into a module of `package`."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            target = ".".join((*base, *filter(None, [node.module])))
            # `from .x import y`: y is a module of ours, or a name inside x
            found |= {deeper if is_ours(deeper := f"{target}.{a.name}") else target for a in node.names}
    return {name.removeprefix("blogsmith").removeprefix(".") or "__init__" for name in found if is_ours(name)}


def is_ours(name: str) -> bool:
    """Return whether a dotted name is a module of this package."""
    return name == "blogsmith" or (name.startswith("blogsmith.") and name[len("blogsmith.") :] in NAMES)


# All modules in one test each: thousands of tests of a millisecond would take seconds in pytest.
def test_imports_go_down_only() -> None:
    without_row = sorted({unit for file in MODULES if (unit := unit_of(name_of(file))) not in ROW_OF})
    assert without_row == [], "give each a row in LAYERS"
    assert [found for file in MODULES for found in imports_upward(file)] == []


def imports_upward(file: Path) -> list[str]:
    """Return the modules of the same row or above that a file imports from another unit."""
    unit = unit_of(name_of(file))
    others = [(target, unit_of(target)) for target in sorted(imports_of(file))]
    return [
        f"{name_of(file)} imports {target}"
        for target, other in others
        if other != unit and ROW_OF[other] <= ROW_OF[unit]
    ]


@pytest.mark.parametrize("part", next(units for name, units in LAYERS if "entry points" in name))
def test_a_part_uses_the_core_through_its_public_module(part: str) -> None:
    own = {
        **{"epub": "books", "importers": "importing", "lsp": "editing"},
        **{"paper": "books", "publish": "publishing"},
    }[part]
    allowed = {f"api.{own}", "api.commands"}
    used = {
        name
        for file in MODULES
        if unit_of(name_of(file)) == part
        for name in imports_of(file)
        if unit_of(name) != part
    }
    assert used == allowed


def test_entry_points_name_every_part() -> None:
    names = {part.module.split(".")[1] for part in installed_parts(COMMANDS).values()}
    assert names == set(next(units for name, units in LAYERS if "entry points" in name))
    folders = {file.parent.name for file in PACKAGE.glob("importers/*/system.py")}
    modules = [part.module.split(".")[2:] for part in installed_parts(IMPORTERS).values()]
    assert {module[0] for module in modules if module[-1] == "system"} == folders
    assert set(system_names()) == installed_parts(IMPORTERS).keys()


def test_imports_inside_a_unit_go_down_only() -> None:
    assert [found for file in MODULES for found in imports_upward_inside(file)] == []


def imports_upward_inside(file: Path) -> list[str]:
    """Return the same for the folders within a unit."""
    unit, folder = folder_of(file)
    if not folder:
        return []
    row_of = {name: number for number, row in enumerate(INNER_LAYERS[unit]) for name in row}
    found = []
    for target in sorted(imports_of(file)):
        other_unit, other = folder_of(PACKAGE.joinpath(*target.split(".")).with_suffix(".py"))
        if other_unit == unit and other not in ("", folder) and row_of[other] <= row_of[folder]:
            found.append(f"{name_of(file)} imports {target}")
    return found


def test_no_cycles() -> None:
    graph = {name_of(file): imports_of(file) for file in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other in a circle: {' → '.join(error.args[1])}")


def test_files_and_functions_stay_small() -> None:
    lines = {name_of(file): file.read_text("utf-8").count("\n") for file in MODULES}
    assert {name: count for name, count in lines.items() if count > MAX_FILE_LINES} == {}
    functions = [(name_of(file), *each) for file in MODULES for each in outline_of(file).functions]
    assert [each for each in functions if each[-1] > MAX_FUNCTION_LINES] == []


def test_most_files_are_read_without_scrolling() -> None:
    assert median(file.read_text("utf-8").count("\n") for file in MODULES) <= MAX_MEDIAN_LINES


def test_no_two_public_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    # the lab is a library of its own, for posts
    for file in (file for file in MODULES if unit_of(name_of(file)) != "lab"):
        for name in outline_of(file).classes:
            if not name.startswith("_"):
                places.setdefault(name, []).append(name_of(file))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_every_module_says_what_it_is_for() -> None:
    assert [name_of(file) for file in MODULES if not outline_of(file).docstring] == []


@pytest.mark.parametrize(
    "statement",
    [
        "import blogsmith",
        "from blogsmith.cli.main import main; main(['--version'])",
        "from blogsmith.cli.main import main; main(['build', '--help'])",
        "from blogsmith.cli.main import main; main(['completion', 'zsh'])",
    ],
)
def test_starting_imports_nothing_heavy(statement: str) -> None:
    report = f"{statement}; import sys; print(*sorted(set(sys.modules) & {set(HEAVY)!r}), file=sys.stderr)"
    result = subprocess.run(
        [sys.executable, "-c", report], cwd=PACKAGE.parent, capture_output=True, text=True
    )
    assert (result.returncode, result.stderr.strip()) == (0, "")


def modules_of_build(root: Path, text: str) -> set[str]:
    """Return the modules imported by a build of a site of one page."""
    (root / "content").mkdir(parents=True)
    (root / "content" / "_index.md").write_text(text, encoding="utf-8")
    (root / "blogsmith.yaml").write_text("title: Notes\n", encoding="utf-8")
    report = (
        "from blogsmith.cli.main import main; main(['build']); import sys; print('modules', *sys.modules)"
    )
    # a temporary folder without leftovers of killed runs, whose cleanup imports more
    (root / "temporary").mkdir()
    env = {**os.environ, "TMPDIR": str(root / "temporary")}
    result = subprocess.run([sys.executable, "-c", report], cwd=root, env=env, capture_output=True, text=True)
    assert (root / "public" / "index.html").is_file(), result.stderr
    return set(result.stdout.partition("modules ")[2].split())


def test_a_site_of_plain_text_imports_nothing_for_cells_and_formulas(tmp_path: Path) -> None:
    imported = modules_of_build(tmp_path, "# Hello\n\nA line with `code` in it.\n")
    assert "blogsmith.render.html" in imported
    assert sorted(name for name in imported if name.startswith(NOT_FOR_TEXT)) == []


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("Let $x$ be.\n", "blogsmith.tex.convert"),
        ("```{python}\n1\n```\n", "blogsmith.freeze.store"),
        ("```{python}\n1\n```\n", "blogsmith.render.outputs.cells"),
    ],
)
def test_what_a_page_holds_is_imported_for_it(text: str, module: str, tmp_path: Path) -> None:
    assert module in modules_of_build(tmp_path, text)


@each_row(
    ("text", "expected"),
    [
        ("from .. import hooks", {"hooks"}),
        ("from ..base.diagnostics import model", {"base.diagnostics.model"}),
        ("from ..base.diagnostics.model import Place", {"base.diagnostics.model"}),
        ("import blogsmith.model.slugs", {"model.slugs"}),
        ("from blogsmith import hooks", {"hooks"}),
        ("def f():\n    from .. import hooks", {"hooks"}),
        ("from blogsmith import __version__", {"__init__"}),
        ("import os, blogsmithery\nfrom os import path", set()),
    ],
)
def test_every_form_of_import_is_seen(text: str, expected: set[str]) -> None:
    assert imports_in(text, ("blogsmith", "syntax")) == expected


def test_the_builder_does_not_use_what_posts_import() -> None:
    outside = [file for file in MODULES if unit_of(name_of(file)) != "lab"]
    assert [name_of(f) for f in outside if any(unit_of(n) == "lab" for n in imports_of(f))] == []


def test_every_public_name_is_used_in_the_package() -> None:
    """A function or class that only its own module names once, or only tests use, is dead."""
    named: Counter[str] = Counter()
    defined: list[tuple[str, str]] = []
    for file in MODULES:
        text = file.read_text("utf-8")
        named.update(re.findall(r"\w+", text))
        # decorators register commands and handlers; Python calls special methods
        defined += (
            (name_of(file), node.name)
            for node in ast.parse(text).body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            and not node.decorator_list
            and not node.name.startswith("__")
        )
    unused = [f"{module}.{name}" for module, name in defined if named[name] == 1]
    assert unused == []
