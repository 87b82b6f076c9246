"""Every public hook: what a plugin may register and what it is given.

A plugin is one file with one `register(hooks)`. Bundled plugins use nothing that is not here. Hooks
are called at these places of the line:

| hook | called |
|---|---|
| `callout_kind` | before parsing: the table of kinds |
| `page_read` | when the front matter of a page has been read, before its text is parsed |
| `markdown` | once, when the Markdown parser is made |
| `block_div` | while parsing: a `<div class="x">` becomes a shortcode call |
| `shortcode_data` | while rendering: arguments of a call → data for its template |
| `diagram` | while rendering: the source in a fence of a language → its drawing |
| `formula_converter` | while rendering: the TeX of a formula → its MathML |
| `page_rendered` | when the text of a page is HTML, before a layout is put around it |
| `site_outputs` | when all pages are known: further files of the site |

Templates of plugins' shortcodes lie in `plugins/shortcodes/`; a theme or site may override them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

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
"""What plugins may import: the types of what they are given."""

ShortcodeData = Callable[[Mapping[str, str], Document], Mapping[str, Any]]
DiagramFunction = Callable[[str], str]
ConvertFunction = Callable[["FormulaSource"], str | None]
MarkdownRule = Callable[["MarkdownIt"], None]
PageReader = Callable[[Document], Document]
PageFilter = Callable[[str, Document], str]
FileContent = str | bytes | Callable[[], str | bytes]
OutputsFunction = Callable[["SiteOutputs"], Mapping[str, FileContent]]


class SiteOutputs(Struct, frozen=True):
    """What `site_outputs` is given."""

    config: Config
    """The settings of the site."""
    pages: tuple[PageView, ...]
    """Every page, also those that blogsmith makes, as templates see them."""
    documents: Mapping[str, Document]
    """Source path of a page → its front matter and its Markdown."""


class FormulaSource(Struct, frozen=True):
    """What `formula_converter` is given."""

    tex: str
    """TeX without delimiters: macros of site and page opened, without definitions, labels, tags, comments."""
    display: bool
    """It stands on a line of its own."""
    packages: frozenset[str] = frozenset()
    """LaTeX packages that the page asks for, such as `physics`."""


class Kind(Struct, frozen=True):
    """A callout kind a plugin declares; fields as under `callouts:` in the configuration."""

    name: str
    title: str
    prefix: str = ""
    icon: str = ""
    color: str = ""
    alias: tuple[str, ...] = ()
    numbered: bool = False


class Diagram(Struct, frozen=True):
    """How the fences of one language are drawn."""

    plugin: str
    draw: DiagramFunction
    """The fence's source → SVG."""
    trusted: bool = False
    """Whether sources of strangers must not reach it."""
    formulas: bool = False
    """Whether blogsmith typesets formulas in its labels."""


class FormulaConverter(Struct, frozen=True):
    """How formulas are typeset where it is chosen."""

    plugin: str
    convert: ConvertFunction
    """A formula → MathML, or None if it is none for this converter."""
    commands: frozenset[str] = frozenset()
    """Commands that it knows and blogsmith does not."""
    trusted: bool = False
    """As in `Diagram`."""


class Plugins(Struct, frozen=True):
    """What all loaded plugins registered. Immutable: lives across pages and builds."""

    names: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    markdown_rules: tuple[MarkdownRule, ...] = ()
    block_divs: Mapping[str, str] = field(default_factory=dict)
    """Class of a div → shortcode."""
    shortcode_data: Mapping[str, tuple[str, ShortcodeData]] = field(default_factory=dict)
    """Shortcode → (plugin, function)."""
    diagrams: Mapping[str, Diagram] = field(default_factory=dict)
    """Language of a fence → what draws it."""
    converters: Mapping[str, FormulaConverter] = field(default_factory=dict)
    """Plugin → what typesets formulas."""
    page_readers: tuple[tuple[str, PageReader], ...] = ()
    """(plugin, function), in the order of the settings."""
    page_filters: tuple[tuple[str, PageFilter], ...] = ()
    """As `page_readers`."""
    outputs: tuple[tuple[str, OutputsFunction], ...] = ()
    """As `page_readers`."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Path on disk → plugin, to know whose mistake an exception is."""
    code: PluginCode | None = None
    """What plugins of the site were loaded from; None if there are none."""
    installed: Mapping[str, str] = field(default_factory=dict)
    """Plugins of installed packages, as `name (package version)` → digest of the package."""
    package_paths: tuple[str, ...] = ()
    """Folders and files of these packages."""


class Hooks:
    """What a plugin's `register` is given."""

    def __init__(self, plugin: str, file: Path) -> None:
        self._plugin = plugin
        self._file = file
        self._kinds: list[Kind] = []
        self._markdown: list[MarkdownRule] = []
        self._divs: dict[str, str] = {}
        self._data: dict[str, ShortcodeData] = {}
        self._diagrams: dict[str, Diagram] = {}
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
    ) -> None:
        """Declare a callout kind; with `prefix`, a paragraph opening with that text is one."""
        self._kinds.append(Kind(name.lower(), title, prefix, icon, color, tuple(alias), numbered))

    def markdown(self, rule: MarkdownRule) -> MarkdownRule:
        """Decorator: `rule(md)` adds rules to the markdown-it parser, after blogsmith's own."""
        self._markdown.append(rule)
        return rule

    def block_div(self, class_name: str, shortcode: str) -> None:
        """Let `<div class="class_name" data-x="…">` mean the call `{% shortcode x="…" %}`."""
        self._divs[class_name] = shortcode

    def shortcode_data(self, name: str) -> Callable[[ShortcodeData], ShortcodeData]:
        """Decorator: `f(args, document)` gives the data for the template of shortcode `name`.

        Raise ValueError with a sentence for the author when an argument is wrong. A `data` that
        holds `widget` asks for the script of that name (`embed`, `compare`).
        """

        def register(function: ShortcodeData) -> ShortcodeData:
            self._data[name] = function
            return function

        return register

    def page_read(self, function: PageReader) -> PageReader:
        """Decorator: `f(document)` gives the document that is built in place of the one that was read.

        `dataclasses.replace(document, body=…)` changes the Markdown, `front=…` what stands in front of it.
        Keep the number of lines: mistakes are told at the author's. Raise ValueError with a sentence for the
        author when the page is wrong.
        """
        self._page_readers.append(function)
        return function

    def page_rendered(self, function: PageFilter) -> PageFilter:
        """Decorator: `f(html, document)` gives the HTML of a page's text, before its layout is filled."""
        self._page_filters.append(function)
        return function

    def site_outputs(self, function: OutputsFunction) -> OutputsFunction:
        """Decorator: `f(site)` gives further files of the site, path in the output folder → text or bytes.

        A function in place of the text is called when the file is written. `site` has the settings
        (`config`), all pages as templates see them (`pages`) and the sources (`documents`). The preview
        calls it after each change.
        """
        self._outputs.append(function)
        return function

    def install_command(self, *packages: str) -> str:
        """What an author types to install these packages where blogsmith runs: with pipx, uv or pip."""
        return install_command(*packages)

    def diagram(
        self, language: str, *, trusted: bool = False, formulas: bool = False
    ) -> Callable[[DiagramFunction], DiagramFunction]:
        """Decorator: `f(source)` gives the SVG of a fence whose language is `language`.

        blogsmith cleans the SVG and lets its colours follow the theme. Raise ValueError with a sentence
        for the author when the source is wrong, SyntaxError(sentence, ("", line, column, None)) when you
        know where, and ImportError or FileNotFoundError with what to install when that is missing: then
        the source is shown. With `trusted`, sites with `markup.untrusted` never call the function. With
        `formulas`, blogsmith typesets each `$…$` in a label: `source` has a word of about its width there,
        such as `jiliijij`, and every `<text>` of the drawing with that word becomes HTML with the formula.
        """

        def register(function: DiagramFunction) -> DiagramFunction:
            self._diagrams[language] = Diagram(self._plugin, function, trusted, formulas)
            return function

        return register

    def formula_converter(
        self, *, commands: Iterable[str] = (), trusted: bool = False
    ) -> Callable[[ConvertFunction], ConvertFunction]:
        """Decorator: `f(formula)` gives the MathML of a formula, one `<math>` element, or None.

        `formula` has `tex` (macros opened, without labels and tags), `display` and `packages`. Numbers,
        labels, links, the text for screen readers and the TeX to copy stay blogsmith's. What comes back is
        read as XML and written anew with what MathML Core has. What is not in Core, None, and whatever the
        function raises leave the formula to blogsmith, which `-v` tells. Mistakes in TeX are told as ever;
        name under `commands`, with backslash, what only your converter knows. One plugin of a site typesets:
        `math: {converter: name}` says which. With `trusted`, sites with `markup.untrusted` never call the
        function.
        """

        def register(function: ConvertFunction) -> ConvertFunction:
            known = frozenset(commands)
            self._converters[self._plugin] = FormulaConverter(self._plugin, function, known, trusted)
            return function

        return register


def combine_hooks(
    registered: Sequence[Hooks], code: PluginCode | None, installed: Sequence[InstalledPart]
) -> Plugins:
    """Return everything that several plugins have registered, in the order of the settings.

    code: as in `Plugins`. installed: the packages that bring some of them.
    """
    data: dict[str, tuple[str, ShortcodeData]] = {}
    divs: dict[str, str] = {}
    diagrams: dict[str, Diagram] = {}
    converters: dict[str, FormulaConverter] = {}
    for hooks in registered:
        data |= {key: (hooks._plugin, function) for key, function in hooks._data.items()}
        divs |= hooks._divs
        diagrams |= hooks._diagrams
        converters |= hooks._converters
    return Plugins(
        names=tuple(hooks._plugin for hooks in registered),
        kinds=tuple(kind for hooks in registered for kind in hooks._kinds),
        markdown_rules=tuple(rule for hooks in registered for rule in hooks._markdown),
        block_divs=MappingProxyType(divs),
        shortcode_data=MappingProxyType(data),
        diagrams=MappingProxyType(diagrams),
        converters=MappingProxyType(converters),
        page_readers=tuple((hooks._plugin, read) for hooks in registered for read in hooks._page_readers),
        page_filters=tuple((hooks._plugin, change) for hooks in registered for change in hooks._page_filters),
        outputs=tuple((hooks._plugin, make) for hooks in registered for make in hooks._outputs),
        files=MappingProxyType({str(hooks._file): hooks._plugin for hooks in registered}),
        code=code,
        installed=MappingProxyType({part.label: part_digest(part) for part in installed}),
        package_paths=tuple(str(path) for part in installed if (path := part_path(part.package_part))),
    )
