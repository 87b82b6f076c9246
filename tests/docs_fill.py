"""The generated parts of the manual: `python -m tests.regen docs` writes them into `content/docs/`.

A generated part stands between `<!-- name: argument -->` and `<!-- end name -->`; the rest of a page
is written by hand. What a part shows comes from the place that decides it: case files, docstrings
of settings, the table of codes, the commands' own help. Nothing here runs blogsmith on a post.
"""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import click

from blogsmith.codes import CODES
from blogsmith.syntax.kinds import ROWS
from tests.cases_io import FOLDER, Case, read_cases

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "content" / "docs"
HELP_WIDTH = 92

_BLOCK = re.compile(
    r"^<!-- (?P<name>[a-z]+)(?:: (?P<argument>[^\n]*?))? -->\n(?P<old>.*?)^<!-- end (?P=name) -->$",
    re.MULTILINE | re.DOTALL,
)
_EXAMPLE = re.compile(r"^(`{4,})markdown\n(?P<source>.*?)\n\1\n\Z", re.MULTILINE | re.DOTALL)
_TYPES = MappingProxyType(
    {
        "str": "text",
        "bool": "true or false",
        "int": "whole number",
        "float": "number",
        "tuple[str, ...]": "list of texts",
        "Mapping[str, str]": "texts by name",
        "Mapping[str, Any]": "values by name",
    }
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table of settings."""

    key: str
    """Dotted, e.g. `math.numbering`."""
    type: str
    """In the author's words."""
    default: str
    """As YAML; empty if it is empty."""
    meaning: str


def pages() -> list[Path]:
    """Every page of the manual, sorted."""
    return sorted(DOCS.rglob("*.md"))


def filled(text: str) -> str:
    """`text` with every generated part made anew; ValueError for an unknown one."""
    return _BLOCK.sub(_fill, text)


def _fill(block: re.Match[str]) -> str:
    name, argument = block["name"], block["argument"] or ""
    if name == "live":
        content = live(block.string[: block.start()])
    elif name in PARTS:
        content = PARTS[name](argument.split())
    else:
        raise ValueError(f"no generated part is called {name}")
    opening = f"<!-- {name}: {argument} -->" if argument else f"<!-- {name} -->"
    return f"{opening}\n\n{content}\n\n<!-- end {name} -->"


def live(before: str) -> str:
    """The example that ends `before`, once more outside its fence, so that the page shows the result."""
    example = _EXAMPLE.search(before, max(0, before.rfind("\n````markdown\n")))
    if example is None:
        raise ValueError("a live example follows directly on a fence of four backticks and `markdown`")
    return f'<div class="example">\n\n{example["source"]}\n\n</div>'


def cases(names: Sequence[str]) -> str:
    """The cases of the named files, each file folded away."""
    return "\n\n".join(_case_file(read_cases(FOLDER / f"{name}.md"), name) for name in names)


def _case_file(found: Sequence[Case], name: str) -> str:
    count = f"{len(found)} cases" if len(found) != 1 else "1 case"
    body = "\n\n".join(_case(case) for case in found)
    return f'<div class="collapsible" data-label="{name}: {count}">\n\n{body}\n\n</div>'


def _case(case: Case) -> str:
    lines = case.expected.split("\n")
    shown = [line for line in lines if not line.startswith("! ")]
    reported = [line.removeprefix("! ").split(" ") for line in lines if line.startswith("! ")]
    parts = [f'<p class="case-title">{html.escape(case.title)}</p>', fence("markdown", case.source)]
    if any(shown):
        parts.append(fence("html", "\n".join(shown)))
    if reported:
        parts.append("Reported: " + ", ".join(f"`{code}` at {place}" for code, place in reported))
    return "\n\n".join(parts)


def fence(language: str, code: str) -> str:
    """A fence around `code`, longer than any run of backticks in it."""
    ticks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", code)), 3)
    return f"{ticks}{language}\n{code}\n{ticks}"


def kinds(_: Sequence[str]) -> str:
    """Table of the callout kinds."""
    rows = [
        (f"`{row.name}`", row.title, ", ".join(f"`{name}`" for name in names), "yes" if row.numbered else "")
        for row, names in ROWS
    ]
    return table(("kind", "default title", "other names", "numbered with an id"), rows)


def settings(_: Sequence[str]) -> str:
    """Table of the settings in `blogsmith.yaml`."""
    rows = [
        (f"`{row.key}`", row.type, f"`{row.default}`" if row.default else "", row.meaning)
        for row in all_settings()
    ]
    return table(("setting", "value", "default", "meaning"), rows)


def all_settings() -> list[Setting]:
    """Every setting, in the order of `blogsmith/config.py`."""
    tree = ast.parse((ROOT / "blogsmith" / "config.py").read_text(encoding="utf-8"))
    structs = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    return list(_settings_of("Config", structs))


def _settings_of(name: str, structs: Mapping[str, ast.ClassDef], prefix: str = "") -> Iterator[Setting]:
    for field, meaning in described(structs[name]):
        written = ast.unparse(field.annotation)
        key = prefix + ast.unparse(field.target)
        inner = next((s for s in structs if re.search(rf"\b{s}\b", written)), "")
        if not inner or written != inner:
            yield Setting(key, _type_words(written), _default(field.value), meaning)
        if inner:
            step = {inner: ".", f"tuple[{inner}, ...]": "[]."}.get(written, ".<kind>.")
            yield from _settings_of(inner, structs, key + step)


def described(struct: ast.ClassDef) -> Iterator[tuple[ast.AnnAssign, str]]:
    """Each annotated field of a class with the docstring that follows it, or an empty text."""
    for at, node in enumerate(struct.body):
        if isinstance(node, ast.AnnAssign):
            after = struct.body[at + 1] if at + 1 < len(struct.body) else None
            yield node, _string(after)


def _string(node: ast.AST | None) -> str:
    value = node.value if isinstance(node, ast.Expr) else None
    text = value.value if isinstance(value, ast.Constant) else ""
    return " ".join(text.split()) if isinstance(text, str) else ""


def _type_words(annotation: str) -> str:
    if annotation in _TYPES:
        return _TYPES[annotation]
    if annotation.startswith("Literal["):
        choices = ast.literal_eval(f"({annotation.removeprefix('Literal[').removesuffix(']')},)")
        return ", ".join(f"`{choice}`" for choice in choices)
    return "list" if annotation.startswith("tuple") else "mapping"


def _default(value: ast.expr | None) -> str:
    """The default as YAML; empty texts, lists and mappings as nothing."""
    if value is None or isinstance(value, ast.Call):
        return ""
    literal = ast.literal_eval(value)
    if isinstance(literal, tuple):
        return f"[{', '.join(literal)}]" if literal else ""
    if isinstance(literal, bool):
        return str(literal).lower()
    return str(literal) if literal not in ("", {}) else ""


def fields(names: Sequence[str]) -> str:
    """Table of the fields of a record in `blogsmith/model.py`, as templates see it."""
    rows = [
        (f"`{ast.unparse(field.target)}`", f"`{ast.unparse(field.annotation)}`", meaning)
        for name in names
        for field, meaning in described(_record(name))
    ]
    return table(("field", "type", "meaning"), rows)


def _record(name: str) -> ast.ClassDef:
    tree = ast.parse((ROOT / "blogsmith" / "model.py").read_text(encoding="utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)


def codes(_: Sequence[str]) -> str:
    """A table of codes for each group of `blogsmith/codes.py`."""
    parts = []
    for group, found in grouped_codes().items():
        rows = [(f"`{code}`", CODES[code]) for code in found]
        parts.append(f"### {group[:1].upper()}{group[1:]}\n\n{table(('code', 'meaning'), rows)}")
    return "\n\n".join(parts)


def grouped_codes() -> dict[str, list[str]]:
    """Comment above a group of codes → the codes, in the order of the file."""
    text = (ROOT / "blogsmith" / "codes.py").read_text(encoding="utf-8")
    groups: dict[str, list[str]] = {}
    group = ""
    for comment, code in re.findall(r'^ {8}(?:# (.+)|"([a-z0-9-]+)":.*)$', text, re.MULTILINE):
        group = comment or group
        if code:
            groups.setdefault(group, []).append(code)
    return groups


def commands(_: Sequence[str]) -> str:
    """The help of every command, in the order of `--help`."""
    return "\n\n".join(f"### `{name}`\n\n{fence('text', text)}" for name, text in all_help().items())


def all_help() -> dict[str, str]:
    """Full name of each command → its help."""
    from blogsmith.cli import cli

    return dict(_help_of(cli, _context(cli, "blogsmith")))


def _help_of(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _help_of(inner, _context(inner, name, context))


def _context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    settings = {**command.context_settings, "terminal_width": HELP_WIDTH}
    return click.Context(command, parent, info_name=name, **settings)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; pipes in cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


PARTS: Mapping[str, Callable[[Sequence[str]], str]] = MappingProxyType(
    {
        "cases": cases,
        "kinds": kinds,
        "settings": settings,
        "fields": fields,
        "codes": codes,
        "commands": commands,
    }
)


def regenerate_docs(_: Sequence[str] = ()) -> None:
    """Rewrite every page of the manual whose generated parts are out of date."""
    for path in pages():
        old = path.read_text(encoding="utf-8")
        new = filled(old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"rewrote {path.relative_to(ROOT)}")
