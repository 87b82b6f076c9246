"""The generated parts of the manual and of the package map: `python -m tests.regen docs` writes them.

A generated part is between `<!-- name: argument -->` and `<!-- end name -->`; the rest of a page is written
by hand. Its content comes from the source of truth: case files, docstrings of settings, the table of codes,
the help of commands. Examples of codes come from builds that fail.
"""

from __future__ import annotations

import ast
import html
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from blogsmith.base.diagnostics.codes import CODES, FIXABLE, LOWERABLE
from blogsmith.read.foreign_keys import ROWS as FOREIGN_KEYS
from blogsmith.syntax.html_blocks import without_raw_tags
from blogsmith.syntax.kinds import ROWS
from tests import docs_publish, docs_signs, docs_terminal, docs_tex, docs_theme
from tests import docs_sources as sources
from tests.cases_io import CONFIG, FOLDER, Case, read_cases, split_config
from tests.code_examples import example
from tests.dependency_forms import dependencies
from tests.docs_examples import regenerate_examples
from tests.docs_schema import regenerate_schemas
from tests.docs_sources import ROOT
from tests.site_files import read_site_text
from tests.test_layers import LAYERS, PACKAGE

DOCS = ROOT / "content" / "docs"
SNIPPETS = ROOT / "editors/vscode/snippets/markdown.json"
MAPS = (ROOT / "ARCHITECTURE.md", PACKAGE / "README.md")
"""Pages for contributors with generated parts."""
_BLOCK = re.compile(
    r"^<!-- (?P<name>[a-z]+)(?:: (?P<argument>[^\n]*?))? -->\n(?P<old>.*?)^<!-- end (?P=name) -->$",
    re.MULTILINE | re.DOTALL,
)
_EXAMPLE = re.compile(r"^(`{4,})markdown\n(?P<source>.*?)\n\1\n\Z", re.MULTILINE | re.DOTALL)

# U+2400 … are visible symbols; control characters themselves are not valid in HTML
_PICTURES = MappingProxyType({code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"})


def pages() -> list[Path]:
    """Return every page of the manual, sorted, then front page and tour; no translations."""
    own = (page for page in DOCS.rglob("*.md") if "." not in page.stem)
    return [*sorted(own), DOCS.parent / "_index.md", DOCS.parent / "tour.md"]


def filled(text: str) -> str:
    """Return `text` with every generated part regenerated; ValueError for an unknown one."""
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
    """Return the example at the end of `before` without its fence, so that the page shows the result."""
    example = _EXAMPLE.search(before, max(0, before.rfind("\n````markdown\n")))
    if example is None:
        raise ValueError("a live example follows directly on a fence of four backticks and `markdown`")
    return f'<div class="example">\n\n{example["source"]}\n\n</div>'


def cases(names: Sequence[str]) -> str:
    """Return the cases of the named files, each file folded."""
    return "\n\n".join(_case_file(read_cases(FOLDER / f"{name}.md"), name) for name in names)


def _case_file(found: Sequence[Case], name: str) -> str:
    count = f"{len(found)} cases" if len(found) != 1 else "1 case"
    body = "\n\n".join(_case(case) for case in found)
    return f'<div class="collapsible" data-label="{name}: {count}">\n\n{body}\n\n</div>'


def _case(case: Case) -> str:
    lines = case.expected.split("\n")
    shown = [line for line in lines if not line.startswith("! ")]
    reported = [line.removeprefix("! ").split(" ") for line in lines if line.startswith("! ")]
    title = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(case.title))
    parts = [f'<p class="case-title">{title}</p>']
    config, post = split_config(case.source)
    if config != CONFIG:
        parts.append(fence('yaml title="blogsmith.yaml"', config.rstrip("\n")))
    parts.append(fence("markdown", post))
    if any(shown):
        # a page of highlighted MathML would be six times as large
        parts.append(fence("text" if case.shows_mathml else "html", "\n".join(shown)))
    if reported:
        parts.append("Reported: " + ", ".join(f"`{code}` at {place}" for code, place in reported))
    return "\n\n".join(parts)


def fence(language: str, code: str) -> str:
    """Return a fence around `code`, longer than any run of backticks in it. Control characters become
    visible.
    """
    code = code.translate(_PICTURES)
    if without_raw_tags(code) != code:
        # of paired delimiters in code, the outermost one is omitted
        code = f"{{% raw %}}\n{code}\n{{% endraw %}}"
    ticks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", code)), 3)
    return f"{ticks}{language}\n{code}\n{ticks}"


def broken(names: Sequence[str]) -> str:
    """Return the first diagnostic of each named broken site."""
    found = [read_site_text(FOLDER.parent / "broken" / f"{name}.txt").expected for name in names]
    return fence("text", "\n".join(_first_message(text) for text in found))


def examples(names: Sequence[str]) -> str:
    """Return the example of each code named."""
    return "\n\n".join(fence("text", _shown(example(name))) for name in names)


def _first_message(text: str) -> str:
    return re.split(r"\n(?=\S+:\d+:\d+: )", text, maxsplit=1)[0]


def transcript(names: Sequence[str]) -> str:
    """Return commands at a terminal and their output."""
    return "\n\n".join(fence("console", docs_terminal.transcript(name)) for name in names)


def environment(_: Sequence[str]) -> str:
    """Return tables of the environment variables of cells."""
    passed = [(_names(names), why) for why, names in sources.passed_variables()]
    fixed = [(_names(names), why) for why, names in sources.fixed_variables()]
    return f"{table(('passed on', 'for'), passed)}\n\n{table(('always', 'for'), fixed)}"


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def kinds(_: Sequence[str]) -> str:
    """Return the table of callout kinds."""
    rows = [
        (f"`{row.name}`", row.title, ", ".join(f"`{name}`" for name in names), "yes" if row.numbered else "")
        for row, names in ROWS
    ]
    return table(("kind", "default title", "other names", "numbered with an id"), rows)


def settings(_: Sequence[str]) -> str:
    """Return the table of the settings in `blogsmith.yaml`."""
    rows = [
        (f"`{row.key}`", row.type, f"`{row.default}`" if row.default else "", row.meaning)
        for row in sources.all_settings()
    ]
    return table(("setting", "value", "default", "meaning"), rows)


def fields(names: Sequence[str]) -> str:
    """Return the table of the fields of the named records that templates can use."""
    rows = [
        (f"`{name}`", f"`{ast.unparse(kind)}`", meaning)
        for record in names
        for name, kind, meaning in sources.template_fields(sources.record(record))
    ]
    return table(("field", "type", "meaning"), rows)


def hooks(_: Sequence[str]) -> str:
    """Return every hook with its signature and docstring."""
    parts = []
    for hook in sources.all_hooks():
        signature = fence("python", sources.signature(hook))
        parts += [f"### `{hook.name}`", signature, ast.get_docstring(hook) or ""]
    return "\n\n".join(parts)


def codes(_: Sequence[str]) -> str:
    """Return a table for each group of codes in `blogsmith/base/diagnostics/codes.py`, with examples."""
    parts = []
    for group, found in sources.grouped_codes().items():
        # programs link to the id
        rows = [(f"`{code}`{{#{code}}}", CODES[code], "yes" if code in FIXABLE else "") for code in found]
        examples = "\n\n".join(fence("text", _shown(example(code))) for code in found)
        parts += [
            f"### {group[:1].upper()}{group[1:]}\n\n{table(('code', 'meaning', 'fix'), rows)}",
            f'<div class="collapsible" data-label="Examples">\n\n{examples}\n\n</div>',
        ]
    return "\n\n".join(parts)


def lowerable(_: Sequence[str]) -> str:
    """Return the codes whose errors may be lowered, with their meaning."""
    return table(("code", "meaning"), [(f"`{code}`", CODES[code]) for code in CODES if code in LOWERABLE])


def _shown(message: str) -> str:
    return message.translate(_PICTURES)


def commands(_: Sequence[str]) -> str:
    """Return the help of every command, in the order of `--help`."""
    return "\n\n".join(f"### `{name}`\n\n{fence('text', text)}" for name, text in sources.all_help().items())


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; pipes in cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def layers(_: Sequence[str]) -> str:
    """Return the rows of units, top to bottom."""
    return table(["row", "units"], [[name, ", ".join(map(_unit, units))] for name, units in LAYERS])


def _unit(name: str) -> str:
    return f"`{name}/`" if (PACKAGE / name).is_dir() else f"`{name}.py`"


def rooms(_: Sequence[str]) -> str:
    """Return the purpose and the modules of each folder of the package."""
    lines = [
        [
            f"`{folder.relative_to(PACKAGE).as_posix()}/`",
            sources.first_sentence(folder / "__init__.py"),
            ", ".join(f"`{file.stem}`" for file in files),
        ]
        for folder, files in sources.packages()
        if folder != PACKAGE
    ]
    return table(["folder", "what is in it", "modules"], lines)


def theme_variables(_: Sequence[str]) -> str:
    """Return the table of the custom properties of theme paper."""
    rows = [(f"`{name}`", f"`{value}`", meaning) for name, value, meaning in docs_theme.variables()]
    return table(("variable", "in theme `paper`", "what has it"), rows)


def theme_blocks(_: Sequence[str]) -> str:
    """Return the table of the blocks of each layout."""
    found: dict[tuple[str, ...], list[str]] = {}
    for layout, names in docs_theme.blocks().items():
        found.setdefault(names, []).append(layout)
    rows = [(_names(layouts), _names(names)) for names, layouts in found.items()]
    return table(("layouts", "blocks"), rows)


def theme_options(_: Sequence[str]) -> str:
    """Return the table of the options of theme paper."""
    rows = [
        (f"`{name}`", values, f"`{default}`" if default else "", meaning)
        for name, values, default, meaning in docs_theme.options()
    ]
    return table(("option", "value", "default", "meaning"), rows)


def breaking(_: Sequence[str]) -> str:
    """Return the breaking changes of each version in CHANGELOG.md, the newest version first."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](content/docs/", "](")
    versions = re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    parts = []
    for version, body in versions:
        if found := re.search(r"^### Breaking\n(.*?)(?=^### |\Z)", body, re.MULTILINE | re.DOTALL):
            parts.append(f"### {version}\n\n{{% raw %}}\n\n{found[1].strip()}\n\n{{% endraw %}}")
    return "\n\n".join(parts)


def texts(_: Sequence[str]) -> str:
    """Return the English strings of pages, as a translation file uses them."""
    listed = (PACKAGE / "languages" / "en.yaml").read_text(encoding="utf-8")
    _, _, body = listed.partition("\n\n")
    return f'```yaml fold="All texts"\n{body.rstrip()}\n```'


def keys(_: Sequence[str]) -> str:
    """Return the table of front matter keys of other systems."""
    rows = [
        (", ".join(f"`{key}`" for key in sorted(row.keys)), row.systems, row.advice) for row in FOREIGN_KEYS
    ]
    return table(("key", "in", "here"), rows)


PARTS: Mapping[str, Callable[[Sequence[str]], str]] = MappingProxyType(
    {
        "cases": cases,
        "broken": broken,
        "example": examples,
        "transcript": transcript,
        "dependencies": dependencies,
        "environment": environment,
        "kinds": kinds,
        "settings": settings,
        "fields": fields,
        "hooks": hooks,
        "codes": codes,
        "lowerable": lowerable,
        "commands": commands,
        "host": docs_publish.part,
        "tex": docs_tex.part,
        "signs": docs_signs.part,
        "variables": theme_variables,
        "blocks": theme_blocks,
        "options": theme_options,
        "breaking": breaking,
        "texts": texts,
        "keys": keys,
        "layers": layers,
        "rooms": rooms,
    }
)


def regenerate_docs(_: Sequence[str] = ()) -> None:
    """Rewrite every page whose generated parts are out of date."""
    # a page shows the output of `blogsmith explain`
    regenerate_examples()
    for path in (*pages(), *MAPS):
        old = path.read_text(encoding="utf-8")
        new = filled(old)
        if new != old:
            path.write_text(new, encoding="utf-8")
            print(f"rewrote {path.relative_to(ROOT)}")
    regenerate_schemas()
    if (new := with_kinds(old := SNIPPETS.read_text("utf-8"))) != old:
        SNIPPETS.write_text(new, "utf-8")
        print(f"rewrote {SNIPPETS.relative_to(ROOT)}")


def with_kinds(snippets: str) -> str:
    """Return the snippets of VS Code with every kind of callout in the first list of kinds."""
    names = ",".join(row.name.upper() for row, _ in ROWS)
    return re.sub(r"(?<=\[!\$\{1\|)[A-Z,]+(?=\|\}\] )", names, snippets, count=1)
