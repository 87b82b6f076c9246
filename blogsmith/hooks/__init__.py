"""Public hooks: the functions that a plugin can register, and the types that its functions receive.

A plugin is one file with one function `register(hooks)`. Bundled plugins use only this interface. Hooks are
called at these stages of a build:

| hook | called |
|---|---|
| `callout_kind` | before parsing: adds a kind of callout |
| `page_read` | after the front matter of a page is read, before its Markdown is parsed |
| `markdown` | once, when the Markdown parser is created |
| `block_div` | while parsing: turns a `<div class="x">` into a shortcode call |
| `shortcode_data` | while rendering: turns the arguments of a call into data for its template |
| `diagram` | while rendering: turns the source in a fence of a language into a drawing |
| `cell_output` | while rendering: turns a value of a cell into HTML or a drawing |
| `formula_converter` | while rendering: turns the TeX of a formula into MathML |
| `page_rendered` | after the content of a page is rendered to HTML, before the layout is applied |
| `site_outputs` | when all pages are known: adds files to the site |

Templates of plugins' shortcodes are in `plugins/shortcodes/`; a theme or site may override them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field

from ..base.diagnostics.extras import install_command
from ..base.installed import InstalledPart, part_digest, part_path
from ..config.schema import Config
from ..model.documents import Document
from ..model.template_views import PageView
from .plugin_code import PluginCode

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

__all__ = ["Config", "Document", "FormulaSource", "Hooks", "PageView", "SiteOutputs"]
"""Types that plugins may import: the types of the arguments that their functions receive."""

ShortcodeData = Callable[[Mapping[str, str], Document], Mapping[str, Any]]
DiagramFunction = Callable[[str], str]
OutputFunction = Callable[[str], str]
ConvertFunction = Callable[["FormulaSource"], str | None]
MarkdownRule = Callable[["MarkdownIt"], None]
PageReader = Callable[[Document], Document]
PageFilter = Callable[[str, Document], str]
FileContent = str | bytes | Callable[[], str | bytes]
OutputsFunction = Callable[["SiteOutputs"], Mapping[str, FileContent]]


class SiteOutputs(Struct, frozen=True):
    """Argument of a `site_outputs` function."""

    config: Config
    """Settings of the site."""
    pages: tuple[PageView, ...]
    """All pages as templates see them, including generated ones."""
    documents: Mapping[str, Document]
    """Maps the source path of a page to its front matter and Markdown."""


class FormulaSource(Struct, frozen=True):
    """Argument of a `formula_converter` function."""

    tex: str
    """TeX without delimiters, definitions, labels, tags and comments. Macros of site and page are expanded.
    """
    display: bool
    """Whether the formula is display math."""
    packages: frozenset[str] = frozenset()
    """LaTeX packages that the page enables, such as `physics`."""


class Kind(Struct, frozen=True):
    """A callout kind declared by a plugin. The fields are the same as under `callouts:` in the settings."""

    name: str
    title: str
    prefix: str = ""
    icon: str = ""
    color: str = ""
    alias: tuple[str, ...] = ()
    numbered: bool = False
    style: Literal["", "theorem", "definition", "remark"] = ""


class Diagram(Struct, frozen=True):
    """A plugin's function that draws the fences of one language."""

    plugin: str
    draw: DiagramFunction
    """Turns the source of a fence into SVG."""
    trusted: bool = False
    """Whether the function needs trusted input. If true, sites with `markup.untrusted` never call it."""
    formulas: bool = False
    """If true, blogsmith typesets the formulas in labels."""


class OutputForm(Struct, frozen=True):
    """Function of a plugin that shows values of one MIME type."""

    plugin: str
    show: OutputFunction
    """Turns the data of a value into HTML or SVG."""
    trusted: bool = False
    """Whether the function must only receive trusted data."""


class FormulaConverter(Struct, frozen=True):
    """A plugin's function that converts formulas, if the site uses it."""

    plugin: str
    convert: ConvertFunction
    """Converts a formula to MathML, or returns None if it does not support the formula."""
    commands: frozenset[str] = frozenset()
    """Commands that the converter knows and blogsmith does not."""
    trusted: bool = False
    """Whether the function needs trusted input. If true, sites with `markup.untrusted` never call it."""


class Plugins(Struct, frozen=True):
    """Registrations of all loaded plugins. Immutable, so that pages and builds can share it."""

    names: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    markdown_rules: tuple[MarkdownRule, ...] = ()
    block_divs: Mapping[str, str] = field(default_factory=dict)
    """Maps the class of a div to a shortcode."""
    shortcode_data: Mapping[str, tuple[str, ShortcodeData]] = field(default_factory=dict)
    """Maps a shortcode to (plugin, function)."""
    diagrams: Mapping[str, Diagram] = field(default_factory=dict)
    """Maps the language of a fence to its drawing function."""
    cell_outputs: Mapping[str, OutputForm] = field(default_factory=dict)
    """Maps a MIME type to the function that shows its values."""
    converters: Mapping[str, FormulaConverter] = field(default_factory=dict)
    """Maps a plugin to its formula converter."""
    page_readers: tuple[tuple[str, PageReader], ...] = ()
    """Pairs (plugin, function registered by `page_read`), in the order of the settings."""
    page_filters: tuple[tuple[str, PageFilter], ...] = ()
    """Pairs (plugin, function registered by `page_rendered`), in the order of the settings."""
    outputs: tuple[tuple[str, OutputsFunction], ...] = ()
    """Pairs (plugin, function registered by `site_outputs`), in the order of the settings."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Maps a file path to its plugin, to find the plugin that caused an exception."""
    code: PluginCode | None = None
    """Code in the site's `plugins/`; None if no plugin comes from there."""
    guarded: PluginCode | None = None
    """The same code, if plugins of the site run in this process; otherwise None."""
    installed: Mapping[str, str] = field(default_factory=dict)
    """Plugins of installed packages, as `name (package version)` → digest of the package."""
    package_paths: tuple[str, ...] = ()
    """Folders and files of the packages in `installed`."""


class Hooks:
    """Argument of a plugin's `register` function."""

    def __init__(self, plugin: str, file: Path) -> None:
        self._plugin = plugin
        self._file = file
        self._kinds: list[Kind] = []
        self._markdown: list[MarkdownRule] = []
        self._divs: dict[str, str] = {}
        self._data: dict[str, ShortcodeData] = {}
        self._diagrams: dict[str, Diagram] = {}
        self._cell_outputs: dict[str, OutputForm] = {}
        self._converters: dict[str, FormulaConverter] = {}
        self._page_readers: list[PageReader] = []
        self._page_filters: list[PageFilter] = []
        self._outputs: list[OutputsFunction] = []

    def callout_kind(
        self,
        name: str,
        title: str,
        *,
        prefix: str = "",
        icon: str = "",
        color: str = "",
        alias: Iterable[str] = (),
        numbered: bool = False,
        style: Literal["", "theorem", "definition", "remark"] = "",
    ) -> None:
        """Declare a callout kind.

        prefix: a paragraph that begins with this text becomes a callout of this kind.
        """
        self._kinds.append(Kind(name.lower(), title, prefix, icon, color, tuple(alias), numbered, style))

    def markdown(self, rule: MarkdownRule) -> MarkdownRule:
        """Register `rule(md)`, which adds rules to the markdown-it parser after our own. Use as a
        decorator.

        A plugin of a site with this hook runs inside blogsmith. Write the call as `hooks.markdown`, so that
        `blogsmith trust` can report this.
        """
        self._markdown.append(rule)
        return rule

    def block_div(self, class_name: str, shortcode: str) -> None:
        """Treat `<div class="class_name" data-x="…">` as the call `{% shortcode x="…" %}`."""
        self._divs[class_name] = shortcode

    def shortcode_data(self, name: str) -> Callable[[ShortcodeData], ShortcodeData]:
        """Register `f(args, document)`, which returns the data for the template of shortcode `name`. Use as a
        decorator.

        The data consists of strings, `markupsafe.Markup`, numbers, dates, None, lists and mappings. The
        function raises ValueError with a message for the author if an argument is invalid. If the data
        contains `widget`, the page loads the script of that name (`embed`, `compare`).
        """

        def register(function: ShortcodeData) -> ShortcodeData:
            self._data[name] = function
            return function

        return register

    def page_read(self, function: PageReader) -> PageReader:
        """Register `f(document)`, which returns a document that replaces the one that was read. Use as a
        decorator.

        `dataclasses.replace(document, body=…)` changes the Markdown, `front=…` the front matter. The number
        of lines must not change: errors are reported with the line numbers of the author's file. The
        function raises ValueError with a message for the author if the page is invalid.
        """
        self._page_readers.append(function)
        return function

    def page_rendered(self, function: PageFilter) -> PageFilter:
        """Register `f(html, document)`, which returns the new HTML of a page, without layout. Use as a
        decorator.

        A comment or an element such as `<details>` without its end is an error.
        """
        self._page_filters.append(function)
        return function

    def site_outputs(self, function: OutputsFunction) -> OutputsFunction:
        """Register `f(site)`, which returns additional files by path in the output folder. Use as a
        decorator.

        The content of a file is a string, bytes, or a function that is called when the file is written.
        `site` has the settings (`config`), all pages as templates see them (`pages`) and the sources
        (`documents`). The preview calls the function after each change.
        """
        self._outputs.append(function)
        return function

    def install_command(self, *packages: str) -> str:
        """Return the command that installs these packages next to blogsmith: with pipx, uv or pip."""
        return install_command(*packages)

    def diagram(
        self, language: str, *, trusted: bool = False, formulas: bool = False
    ) -> Callable[[DiagramFunction], DiagramFunction]:
        """Register `f(source)`, which returns the SVG for a fence of this language. Use as a decorator.

        blogsmith removes active content from the SVG and adapts its colours to the theme. The function raises
        ValueError with a message for the author if the source is invalid, or SyntaxError(message, ("", line,
        column, None)) if it knows the location. If a program is missing, it raises ImportError or
        FileNotFoundError with what to install; then the page shows the source.

        trusted: sites with `markup.untrusted` never call the function.
        formulas: blogsmith typesets each `$…$` in a label. In `source`, a placeholder word of about the same
        width, such as `jiliijij`, replaces the formula. Every `<text>` of the drawing with that word becomes
        HTML with the formula.
        """

        def register(function: DiagramFunction) -> DiagramFunction:
            self._diagrams[language] = Diagram(self._plugin, function, trusted, formulas)
            return function

        return register

    def cell_output(self, mime: str, *, trusted: bool = False) -> Callable[[OutputFunction], OutputFunction]:
        """Register `f(data)`, which returns HTML or one `<svg>` for values of this MIME type. Use as a
        decorator.

        `data` is the text or JSON that a cell recorded: types `application/vnd.…` and `text/vnd.…` of
        `_repr_mimebundle_` and `_mime_`. It takes precedence over the other types of the value. blogsmith
        removes active content from the result. If the function raises ValueError with a message for the
        author, or ImportError with a missing package, the page shows another type of the value.

        trusted: sites with `markup.untrusted` never call the function.
        """

        def register(function: OutputFunction) -> OutputFunction:
            self._cell_outputs[mime] = OutputForm(self._plugin, function, trusted)
            return function

        return register

    def formula_converter(
        self, *, commands: Iterable[str] = (), trusted: bool = False
    ) -> Callable[[ConvertFunction], ConvertFunction]:
        """Register `f(formula)`, which returns the MathML of a formula, one `<math>` element, or None. Use
        as a decorator.

        `formula` has `tex` (macros expanded, without labels and tags), `display` and `packages`.
        blogsmith adds numbers, labels, links, the text for screen readers and the TeX to copy. The
        result is read as XML and rewritten with the elements of MathML Core. If it uses other elements,
        or if the function returns None or raises an exception, blogsmith typesets the formula itself;
        `-v` reports this. Errors in TeX are reported as usual. A site uses one converter, chosen by
        `math: {converter: name}`.

        commands: commands, with backslash, that only this converter knows.
        trusted: sites with `markup.untrusted` never call the function.
        """

        def register(function: ConvertFunction) -> ConvertFunction:
            known = frozenset(commands)
            self._converters[self._plugin] = FormulaConverter(self._plugin, function, known, trusted)
            return function

        return register


def combine_hooks(
    registered: Sequence[Hooks],
    code: PluginCode | None = None,
    installed: Sequence[InstalledPart] = (),
    guarded: PluginCode | None = None,
) -> Plugins:
    """Return the registrations of several plugins as one record, in the order of the settings. code: code in
    the site's `plugins/`; None if no plugin comes from there. guarded: the same code, if plugins of the site
    run in this process. installed: the installed packages that contain some of the plugins."""
    data: dict[str, tuple[str, ShortcodeData]] = {}
    divs: dict[str, str] = {}
    diagrams: dict[str, Diagram] = {}
    outputs: dict[str, OutputForm] = {}
    converters: dict[str, FormulaConverter] = {}
    for hooks in registered:
        data |= {key: (hooks._plugin, function) for key, function in hooks._data.items()}
        divs |= hooks._divs
        diagrams |= hooks._diagrams
        outputs |= hooks._cell_outputs
        converters |= hooks._converters
    return Plugins(
        names=tuple(hooks._plugin for hooks in registered),
        kinds=tuple(kind for hooks in registered for kind in hooks._kinds),
        markdown_rules=tuple(rule for hooks in registered for rule in hooks._markdown),
        block_divs=MappingProxyType(divs),
        shortcode_data=MappingProxyType(data),
        diagrams=MappingProxyType(diagrams),
        cell_outputs=MappingProxyType(outputs),
        converters=MappingProxyType(converters),
        page_readers=tuple((hooks._plugin, read) for hooks in registered for read in hooks._page_readers),
        page_filters=tuple((hooks._plugin, change) for hooks in registered for change in hooks._page_filters),
        outputs=tuple((hooks._plugin, make) for hooks in registered for make in hooks._outputs),
        files=MappingProxyType({str(hooks._file): hooks._plugin for hooks in registered}),
        code=code,
        guarded=guarded,
        installed=MappingProxyType({part.label: part_digest(part) for part in installed}),
        package_paths=tuple(str(path) for part in installed if (path := part_path(part.package_part))),
    )
