"""Statements of the manual and README are true: order, commands, settings, counts, and missing features."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import get_args, get_type_hints

import click
import pytest

from blogsmith.base.diagnostics.codes import CODES
from blogsmith.bibliography.citation_styles import BUNDLED_STYLES
from blogsmith.cli.commands import cli
from blogsmith.config.load import parse_config
from blogsmith.config.page_services import Analytics, Comments
from blogsmith.config.schema import Config
from blogsmith.config.validate import PROVIDERS, SHARES
from blogsmith.languages.bundled_languages import bundled_tags
from blogsmith.model.documents import Source
from blogsmith.publish.targets import TARGETS
from blogsmith.read.front_matter import read_document
from blogsmith.read.head import KNOWN_KEYS
from blogsmith.tex.convert import TexError, convert_formula
from tests import docs_fill
from tests.cases_io import case_files, read_cases
from tests.docs_sources import ROOT, all_help, all_settings
from tests.rows import each_row

PAGES = {
    "README.md": ROOT / "README.md",
    **{str(page.relative_to(docs_fill.DOCS.parent)): page for page in docs_fill.pages()},
}
GERMAN = docs_fill.DOCS / "first-post.de.md"
GENERATED = re.compile(r"^<!-- (\w+)(?:: [^\n]*)? -->\n.*?^<!-- end \1 -->$", re.MULTILINE | re.DOTALL)


def written(page: str) -> str:
    """Return the hand-written part of a page, without generated parts."""
    return GENERATED.sub("", PAGES[page].read_text(encoding="utf-8"))


# the order

GROUPS = ("Tutorials", "How-to guides", "Reference", "Explanation")
SPECIFICATION = "specification/_index.md"


def listed_pages(text: str) -> list[str]:
    """Return the pages that a list of contents names, in order."""
    return re.findall(r"^- \[[^\]]*\]\(([\w/-]+\.md)\)", text, re.MULTILINE)


def contents() -> dict[str, list[str]]:
    """Map each group of the manual to its pages in order, those of the markup specification included."""
    specification = [f"specification/{name}" for name in listed_pages(written(f"docs/{SPECIFICATION}"))]
    groups = re.findall(
        r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", written("docs/_index.md"), re.MULTILINE | re.DOTALL
    )
    found = {group: listed_pages(text) for group, text in groups}
    found["Reference"] = [name for name in found["Reference"] if name != SPECIFICATION] + specification
    return found


CONTENTS = contents()


def test_the_contents_have_four_groups() -> None:
    assert tuple(CONTENTS) == GROUPS


def test_next_and_previous_follow_the_contents() -> None:
    for group, names in CONTENTS.items():
        for number, name in enumerate(names, 1):
            head = written(f"docs/{name}").split("\n---\n")[0]
            assert f"\nseries: {{name: {group}, part: {number}}}" in head, name
    listed = [f"docs/{name}" for names in CONTENTS.values() for name in names]
    sections = {"README.md", "_index.md", "tour.md", "docs/_index.md", f"docs/{SPECIFICATION}"}
    assert sorted(listed) == sorted(set(PAGES) - sections)


PUBLISHED = """
books browser callouts checking citations code command-line comments configuration devices editors errors
figures first-post front-matter install lab language-server languages macros mathematics mathml moving
plugins preview publishing recipes recorded-results running-code search shortcodes tex-commands
tex-packages text theme-tutorial themes trust-and-safety writing
"""
"""Pages whose URLs other sites link to."""


def test_published_urls_stay_valid() -> None:
    aliases = re.findall(r"^aliases: \[(.+)\]$", "\n".join(map(written, PAGES)), re.MULTILINE)
    kept = {url for line in aliases for url in line.split(", ")}
    here = {f"/{page.removesuffix('.md').removesuffix('/index')}/" for page in PAGES}
    assert {f"/docs/{name}/" for name in PUBLISHED.split()} | {"/series/manual/"} <= kept | here


@each_row("name", [*CONTENTS["Tutorials"], *CONTENTS["How-to guides"]])
def test_a_guide_begins_with_a_command(name: str) -> None:
    """The first paragraph says what the page is for; a command is in it or directly follows it."""
    text = re.sub(r"\A---\n.*?\n---\n", "", written(f"docs/{name}"), flags=re.DOTALL)
    introduction = text.partition("\n## ")[0]
    assert not introduction.lstrip().startswith(("```", "|", "-", "#")), name
    assert any(command_lines(introduction)), name


@each_row("name", CONTENTS["How-to guides"])
def test_a_guide_has_no_cases(name: str) -> None:
    assert "<!-- cases:" not in (docs_fill.DOCS / name).read_text("utf-8")


@each_row("page", [page for page in PAGES if page.startswith("docs/")])
def test_a_description_fits_into_what_searchers_see(page: str) -> None:
    source = Source(PurePosixPath(f"content/{page}"), PAGES[page].read_text("utf-8"), "")
    front = read_document(source, Config())[0].front
    assert 40 <= len(front.description) <= 160, front.description
    assert front.title


def test_the_manual_can_be_searched() -> None:
    assert parse_config((ROOT / "blogsmith.yaml").read_text("utf-8")).config.search


# commands


def command_lines(text: str) -> Iterator[str]:
    """Yield every `blogsmith …` that an author may type: in a shell, in workflows, in a sentence."""
    for language, code in re.findall(r"^`{3,}(\w+)[^\n]*\n(.*?)^`{3,}$", text, re.MULTILINE | re.DOTALL):
        lines = re.sub(r" *\\\n *", " ", code)
        if language == "text":
            yield from re.findall(r"^\$ (blogsmith .*)$", lines, re.MULTILINE)
        elif language in ("sh", "console", "yaml"):
            yield from re.findall(r"^\s*(?:\$ |- run: |run: |.* && )?(blogsmith .*)$", lines, re.MULTILINE)
    prose = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"`(blogsmith [^`]+)`", prose)
    yield from re.findall(r"^ {4}(blogsmith .*)$", prose, re.MULTILINE)


def complaint(line: str) -> str:
    """Return an error in the names of commands, options and values of a command line; empty if none."""
    # without the rest for the shell, and without placeholders of a sentence: [POSTS]
    words = shlex.split(re.split(r" (?:&&|>|\|) ", line)[0].replace("[", "").replace("]", ""), comments=True)[
        1:
    ]
    command: click.Command = cli
    context = click.Context(cli, info_name="blogsmith", **cli.context_settings)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        inner = command.get_command(context, words[0])
        if inner is None:
            return f"{line}: no command {words[0]}"
        command, context = inner, click.Context(inner, context, info_name=words.pop(0))
    try:
        values, _, _ = command.make_parser(context).parse_args(list(words))
        for parameter in command.get_params(context):
            value = values.get(parameter.name or "")
            if isinstance(parameter.type, click.Choice) and isinstance(value, str) and not value.isupper():
                parameter.type.convert(value, parameter, context)
    except click.UsageError as error:
        return f"{line}: {error.format_message()}"
    return ""


@each_row("page", PAGES)
def test_every_command_line_is_one(page: str) -> None:
    assert [wrong for line in command_lines(written(page)) if (wrong := complaint(line))] == []


def test_every_command_line_of_the_german_page_is_one() -> None:
    lines = list(command_lines(GERMAN.read_text("utf-8")))
    assert len(lines) > 2
    assert [wrong for line in lines if (wrong := complaint(line))] == []


def test_command_lines_are_found_and_judged() -> None:
    assert sum(len(list(command_lines(written(page)))) for page in PAGES) > 150
    assert "no command bild" in complaint("blogsmith bild")
    assert "--stict" in complaint("blogsmith check --stict")
    assert "sariff" in complaint("blogsmith check --format sariff")
    assert not complaint("blogsmith build --execute=all && ls public > list")


def all_commands(command: click.Command, path: str = "blogsmith") -> Iterator[str]:
    """Yield every command without subcommands."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from all_commands(inner, f"{path} {name}")
    else:
        yield path


@each_row("name", [*all_commands(cli)])
def test_every_command_has_a_place_where_it_is_told(name: str) -> None:
    assert any(line.startswith(name) for page in PAGES for line in command_lines(written(page)))


# settings and front matter


def yaml_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield (title, content) of each fence of YAML."""
    pattern = r'^```yaml(?: title="([^"\n]+)")?\n(.*?)^```$'
    yield from re.findall(pattern, text, re.MULTILINE | re.DOTALL)


def is_front_matter(text: str) -> bool:
    head = text if text.startswith("---\n") else f"---\n{text}---\n"
    _, found = read_document(Source(PurePosixPath("content/a.md"), f"{head}\nText\n", ""), Config())
    return found == ()


OTHER_YAML = ("languages/", ".github/", ".gitlab-ci.yml", "themes/", "remote-", "import-map.yaml")
PIECES = ("schedule:\n", "styles:\n", "- uses:", "name: ", "- run:")
"""Starts of fragments of other files."""


@each_row("page", PAGES)
def test_every_key_in_yaml_is_one(page: str) -> None:
    for title, text in yaml_blocks(written(page)):
        if title.startswith(OTHER_YAML) or (not title and text.lstrip().startswith(PIECES)):
            continue
        if title.startswith("content/"):
            assert is_front_matter(text), text
        else:
            assert not parse_config(text).diagnostics or (not title and is_front_matter(text)), text


SETTINGS = {re.sub(r"<\w+>", "*", setting.key) for setting in all_settings()}
ROOMS = {key.partition(".")[0] for key in SETTINGS if "." in key} - {"diagnostics"}
"""Settings that contain others; `diagnostics` contains codes, which have their own test."""
ELSEWHERE = {"build.render"}
"""Settings of other systems."""


@each_row("page", PAGES)
def test_every_setting_that_is_named_exists(page: str) -> None:
    for name in re.findall(r"`(\w+\.[\w.]+)(?:: [^`]*)?`", written(page)):
        is_file = re.search(r"\.(html|md|css|js|py|yaml|jsonl?|cu)$", name)
        if name.partition(".")[0] in ROOMS and not is_file and name not in ELSEWHERE:
            assert any(f"{key}.".startswith(f"{name}.") for key in SETTINGS), name


@each_row("page", PAGES)
def test_every_code_of_a_message_exists(page: str) -> None:
    for code in re.findall(r"^\S+:\d+:\d+: .*\[([a-z-]+)\]$", written(page), re.MULTILINE):
        assert code in CODES


# all syntax in the cases is described

OWN_WORDS = {"dark-ok", "external", "intro", "term", "vegalite"}
"""Classes of the author's own in cases, and a MIME type."""


def words_of(source: str) -> set[str]:
    """Return the attributes, arguments, fence names, cell options, classes and commands in a case."""
    calls = " ".join(re.findall(r"\{% *(?:include )?[\w.-]+ (.*?)%\}", source, re.DOTALL))
    fences = " ".join(re.findall(r"^`{3,}\S*(.*)$", source, re.MULTILINE))
    return {
        *re.findall(r"\bdata-[a-z-]+", source),
        *re.findall(r"\b\w+(?==[\"'])", calls + fences),
        *re.findall(r"(?<= )[a-z]+(?= |$)", re.sub(r"([\"']).*?\1|\{.*?\}", "", fences)),
        *re.findall(r"^#\| ([\w-]+):", source, re.MULTILINE),
        *re.findall(r"\{[^}\n]*?\.([a-z-]+)[^}\n]*\}", source),
        *re.findall(r'class="([\w-]+)', source),
        *re.findall(r"\\begin\{(\w+\*?)\}", source),
        *re.findall(r"\\(?:label|tag|notag|nonumber|\w*ref|\w*text|cite[tp]?|newcommand|def)\b", source),
    } - OWN_WORDS


TOLD = {word for page in PAGES for word in re.findall(r"\\?[\w-]+\*?", written(page))}
SYNTAX = [file for file in case_files() if not file.stem.startswith("tex-")]
"""All TeX commands are on a separate page."""


@each_row("file", SYNTAX, ids=lambda file: file.stem)
def test_what_stands_in_a_case_is_told(file: Path) -> None:
    # rejected syntax need not be described
    right = [case.source for case in read_cases(file) if "\n! " not in f"\n{case.expected}"]
    assert {word for source in right for word in words_of(source)} - TOLD == set()


# counts and lists

NUMBERS = {"five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}


@each_row("page", PAGES)
def test_numbers_of_languages_and_styles(page: str) -> None:
    words = re.sub(r"\*\*", "", written(page))
    for number in re.findall(rf"\b({'|'.join(NUMBERS)}) languages\b", words, re.IGNORECASE):
        assert NUMBERS[number.lower()] == len(bundled_tags())
    for number in re.findall(r"\b(?:Each of the|The) (\w+)(?: styles\b| gives what citeproc)", words):
        assert NUMBERS[number.lower()] == len(BUNDLED_STYLES)


def listed(page: str, start: str, end: str) -> set[str]:
    """Return the code spans of a sentence."""
    found = re.search(rf"{re.escape(start)}(.*?){re.escape(end)}", written(page), re.DOTALL)
    assert found, f"{page} has no such sentence: {start}"
    return set(re.findall(r"`([^`]+)`", found[1]))


EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
OFFERED = set(EXTRAS) - {"test"}
ICONS = set(re.findall(r'data-icon="(\w+)"', (ROOT / "themes/paper/static/callouts.css").read_text("utf-8")))


@pytest.mark.parametrize(
    ("page", "start", "end", "what"),
    [
        ("README.md", "\n| extra | installs |", "\n[What goes where]", OFFERED),
        ("docs/configuration.md", "\nThere are Arabic", ". `de-AT`", {*bundled_tags()}),
        ("docs/citations.md", "one of those that come with blogsmith", ", or the path", {*BUNDLED_STYLES}),
        ("docs/callouts.md", "Theme `paper` has the icons", ", and a pencil", ICONS),
    ],
)
def test_lists_are_whole(page: str, start: str, end: str, what: set[str]) -> None:
    assert listed(page, start, end) == what


def test_tables_are_whole() -> None:
    def first_column(page: str) -> set[str]:
        rows = re.findall(r"^\| ((?:\[?`[\w-]+`[^,|]*,? ?)+)\|", written(page), re.MULTILINE)
        return {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}

    assert first_column("docs/install.md") == OFFERED
    assert first_column("docs/publishing.md") >= set(TARGETS)
    assert first_column("docs/comments.md") == set(literal(Analytics)) - {"none"}
    assert set(re.findall(r"^ *(?:comments: \{ )?provider: (\w+)", written("docs/comments.md"), re.M)) == (
        set(literal(Comments)) - {"none"}
    )
    assert f"share: [{', '.join(SHARES)}]" in written("docs/comments.md")
    assert PROVIDERS == ("youtube", "vimeo")
    assert "Hosts are YouTube and Vimeo" in written("docs/figures/index.md")


def literal(settings: type[Analytics] | type[Comments]) -> tuple[str, ...]:
    """Return the providers that a setting supports."""
    return get_args(get_type_hints(settings)["provider"])


def test_the_oldest_python_is_that_of_the_package() -> None:
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    for page in ("README.md", "docs/install.md"):
        assert set(re.findall(r"Python (3\.\d+) or (?:later|newer)", written(page))) == {
            oldest.removeprefix(">=")
        }


# features described as missing are missing, and no others


def fails(tex: str) -> bool:
    try:
        convert_formula(tex, display=True)
    except TexError:
        return True
    return False


def known_words() -> set[str]:
    """Return the names of commands, options, settings and front matter keys."""
    options = {word for text in all_help().values() for word in re.findall(r"--([a-z-]+)", text)}
    commands = {word for path in all_commands(cli) for word in path.split()}
    return options | commands | {part for key in SETTINGS for part in key.split(".")} | {*KNOWN_KEYS}


MISSING_WORDS = {
    "docs/moving.md": (
        "Nothing here pins posts, keeps several versions of a site",
        {"pin", "pinned", "sticky", "versions", "weight"},
    ),
}


@pytest.mark.parametrize("page", MISSING_WORDS)
def test_what_is_said_to_be_missing_has_no_word(page: str) -> None:
    sentence, words = MISSING_WORDS[page]
    assert sentence in written(page)
    assert words & known_words() == set()


@each_row(
    ("name", "tex"),
    [
        (r"\style", r"\style{color:red}{x}"),
        (r"\toggle", r"\toggle{x}{y}\endtoggle"),
        (r"\includegraphics", r"\includegraphics{a.png}"),
    ],
)
def test_commands_of_tex_that_are_said_to_be_missing_are(name: str, tex: str) -> None:
    rows = re.findall(r"^\| (.*`.*`.*) \| (?:are|is) missing", written("docs/mathematics.md"), re.MULTILINE)
    assert any(f"`{name}`" in row for row in rows)
    assert fails(tex)


THERE = {
    "search": "search",
    "comments": "comments",
    "translations": "languages",
    "an epub": "epub",
    "a language server": "lsp",
    "diagrams": "plugins",
    "citation styles": "csl",
    "publication lists": "publications",
    "redirects": "aliases",
    "smaller pictures": "responsive",
    "tabs": "check",
}
"""Feature → the name that proves it. None of them may be described as missing."""


@each_row("page", PAGES)
def test_nothing_that_is_there_is_called_missing(page: str) -> None:
    assert set(THERE.values()) <= known_words()
    pattern = r"(?:[Mm]issing(?: here)?: |[Nn]ot (?:there|here) yet:? |has no )([^.:;|]*)"
    for rest in re.findall(pattern, re.sub(r"^(`{3,}).*?^\1$", "", written(page), flags=re.M | re.S)):
        for name in THERE:
            assert not re.match(rf"(?:\w+ )?{name}(?: of its own)?(?:,|$)", rest.strip()), rest
