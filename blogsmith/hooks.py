"""Every public hook, and the loader of plugins.

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
| `page_rendered` | when the text of a page is HTML, before a layout is put around it |
| `site_outputs` | when all pages are known: further files of the site |

Templates of plugins' shortcodes lie in `plugins/shortcodes/`; a theme or site may override them.
"""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from types import MappingProxyType, ModuleType
from typing import Any

from markdown_it import MarkdownIt

from .config.schema import Config
from .diagnostics.extras import install_command
from .diagnostics.model import Diagnostic, Place, SiteError, did_you_mean
from .model.documents import Document
from .model.template_views import PageView
from .trust.plugin_code import FOLDER, PluginCode
from .trust.plugin_imports import forget_plugin_modules, guarded_imports, load_plugin_module

__all__ = ["Config", "Document", "Hooks", "PageView", "SiteOutputs"]
"""What plugins may import: the types of what they are given."""

ShortcodeData = Callable[[Mapping[str, str], Document], Mapping[str, Any]]
DiagramFunction = Callable[[str], str]
MarkdownRule = Callable[[MarkdownIt], None]
PageReader = Callable[[Document], Document]
PageFilter = Callable[[str, Document], str]
FileContent = str | bytes | Callable[[], str | bytes]
OutputsFunction = Callable[["SiteOutputs"], Mapping[str, FileContent]]


@dataclass(frozen=True, slots=True)
class SiteOutputs:
    """What `site_outputs` is given."""

    config: Config
    """The settings of the site."""
    pages: tuple[PageView, ...]
    """Every page, also those that blogsmith makes, as templates see them."""
    documents: Mapping[str, Document]
    """Source path of a page → its front matter and its Markdown."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A callout kind a plugin declares; fields as under `callouts:` in the configuration."""

    name: str
    title: str
    prefix: str = ""
    icon: str = ""
    color: str = ""
    alias: tuple[str, ...] = ()
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Diagram:
    """How the fences of one language are drawn."""

    plugin: str
    draw: DiagramFunction
    """The fence's source → SVG."""
    trusted: bool = False
    """Whether sources of strangers must not reach it."""


@dataclass(frozen=True, slots=True)
class Plugins:
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
        self, language: str, *, trusted: bool = False
    ) -> Callable[[DiagramFunction], DiagramFunction]:
        """Decorator: `f(source)` gives the SVG of a fence whose language is `language`.

        blogsmith cleans the SVG and lets its colours follow the theme. Raise ValueError with a sentence
        for the author when the source is wrong, SyntaxError(sentence, ("", line, column, None)) when you
        know where, and ImportError or FileNotFoundError with what to install when that is missing: then
        the source is shown. With `trusted`, sites with `markup.untrusted` never call the function.
        """

        def register(function: DiagramFunction) -> DiagramFunction:
            self._diagrams[language] = Diagram(self._plugin, function, trusted)
            return function

        return register


def load_plugins(names: Iterable[str], folders: Iterable[Path], code: PluginCode | None = None) -> Plugins:
    """Load plugins by name, from the first of `folders` that has them or from `code`; SiteError if one fails.

    Importing a plugin runs its code: only folders and code that the author trusts may be given.
    """
    folders = tuple(folders)
    with guarded_imports(code):
        if code:
            forget_plugin_modules(code)
        registered = [_register(name, folders, code) for name in names]
    data: dict[str, tuple[str, ShortcodeData]] = {}
    divs: dict[str, str] = {}
    diagrams: dict[str, Diagram] = {}
    for hooks in registered:
        data |= {key: (hooks._plugin, function) for key, function in hooks._data.items()}
        divs |= hooks._divs
        diagrams |= hooks._diagrams
    return Plugins(
        names=tuple(hooks._plugin for hooks in registered),
        kinds=tuple(kind for hooks in registered for kind in hooks._kinds),
        markdown_rules=tuple(rule for hooks in registered for rule in hooks._markdown),
        block_divs=MappingProxyType(divs),
        shortcode_data=MappingProxyType(data),
        diagrams=MappingProxyType(diagrams),
        page_readers=tuple((hooks._plugin, read) for hooks in registered for read in hooks._page_readers),
        page_filters=tuple((hooks._plugin, change) for hooks in registered for change in hooks._page_filters),
        outputs=tuple((hooks._plugin, make) for hooks in registered for make in hooks._outputs),
        files=MappingProxyType({str(hooks._file): hooks._plugin for hooks in registered}),
        code=code,
    )


def filter_document(plugins: Plugins, document: Document) -> tuple[Document, tuple[Diagnostic, ...]]:
    """The document that plugins make of `document`, and what they say is wrong with it."""
    found: list[Diagnostic] = []
    for plugin, read in plugins.page_readers:
        try:
            changed = read(document)
        except ValueError as error:
            found.append(
                Diagnostic("plugin", f"plugin {plugin}: {error}", str(document.path), subject=plugin)
            )
            continue
        if not isinstance(changed, Document) or changed.source is not document.source:
            message = f"plugin {plugin}: its page_read gives no document of this page"
            raise SiteError(Diagnostic("plugin", message, str(document.path), subject=plugin))
        document = changed
    return document, tuple(found)


def filter_html(plugins: Plugins, html: str, document: Document) -> str:
    """The HTML of a page's text that plugins make of `html`; SiteError if one of them gives none."""
    for plugin, change in plugins.page_filters:
        changed: object = change(html, document)
        if not isinstance(changed, str):
            message = f"plugin {plugin}: its page_rendered gives no text"
            raise SiteError(Diagnostic("plugin", message, str(document.path), subject=plugin))
        html = changed
    return html


def plugin_files(
    plugins: Plugins, site: SiteOutputs
) -> Iterator[tuple[str, PurePosixPath, Callable[[], bytes]]]:
    """(plugin, path in the output folder, what makes its bytes) of each file that plugins add."""
    for plugin, outputs in plugins.outputs:
        for name, content in outputs(site).items():
            path = PurePosixPath(name)
            if not name or path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
                message = f'plugin {plugin}: "{name}" is no path in the output folder'
                raise SiteError(Diagnostic("plugin", message, "blogsmith.yaml", subject=plugin))
            yield plugin, path, partial(_bytes_of, plugins, content)


def _bytes_of(plugins: Plugins, content: FileContent) -> bytes:
    with blamed_on_plugins(plugins):
        made = content() if callable(content) else content
    return made.encode() if isinstance(made, str) else made


@contextmanager
def blamed_on_plugins(plugins: Plugins) -> Iterator[None]:
    """Whatever a plugin raises inside becomes a SiteError with its name; bugs of our own pass through.

    What plugins of the site import inside is guarded as while they were loaded.
    """
    try:
        with guarded_imports(plugins.code):
            yield
    except SiteError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit) and not _is_raised_by(error, plugins.files):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        guilty = next((f.filename for f in reversed(frames) if f.filename in plugins.files), None)
        if guilty is None:
            raise
        raise SiteError(plugin_failure(plugins.files[guilty], Path(guilty), error)) from error


def _is_raised_by(error: SystemExit, files: Iterable[str]) -> bool:
    """Whether code of these files ends the program, rather than a signal that came while it ran."""
    frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return bool(frames) and frames[-1] in set(files)


def plugin_failure(plugin: str, file: Path, error: BaseException, what: str = "fails") -> Diagnostic:
    """The diagnostic for what `plugin` raised, at the line of its file that did it."""
    frames = traceback.extract_tb(error.__traceback__)
    line = next((f.lineno for f in reversed(frames) if f.filename == str(file)), None)
    if isinstance(error, SyntaxError) and error.filename == str(file):
        line = error.lineno
    message = f"plugin {plugin} {what}: {type(error).__name__}: {_words(error)}"
    place = Place(line) if line else None
    text = file.read_text(encoding="utf-8", errors="replace").split("\n")[line - 1] if line else ""
    if place and text.strip():
        indent = len(text) - len(text.lstrip())
        place = Place(place.line, indent + 1, len(text.strip()))
    return Diagnostic(
        "plugin", message, f"plugins/{file.name}", place, text, _suggestion(error), subject=plugin
    )


def _words(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _suggestion(error: BaseException) -> str:
    if isinstance(error, AttributeError) and isinstance(error.obj, Hooks):
        return did_you_mean(error.name or "", (name for name in dir(Hooks) if not name.startswith("_")))
    return ""


def _register(name: str, folders: tuple[Path, ...], code: PluginCode | None) -> Hooks:
    file = next((f / f"{name}.py" for f in folders if (f / f"{name}.py").is_file()), None)
    is_of_site = file is None and code is not None and f"{FOLDER}/{name}.py" in code.sources
    if code and is_of_site:
        file = code.root / FOLDER / f"{name}.py"
    if file is None:
        raise SiteError(_missing(name, folders, code))
    hooks = Hooks(name, file)
    with _blamed_on(name, file):
        module = load_plugin_module(name, code) if code and is_of_site else _import(name, file)
    if not callable(getattr(module, "register", None)):
        message = f"plugin {name} has no function register(hooks)"
        raise SiteError(Diagnostic("plugin", message, f"plugins/{file.name}", subject=name))
    with _blamed_on(name, file):
        module.register(hooks)
    return hooks


@contextmanager
def _blamed_on(name: str, file: Path) -> Iterator[None]:
    """Whatever a plugin raises is its own; the site's author needs its name and line, not our stack."""
    try:
        yield
    except SiteError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit) and not _is_raised_by(error, [str(file)]):
            raise
        raise SiteError(plugin_failure(name, file, error, "fails to load")) from error


def _import(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"blogsmith_plugin_{name}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _missing(name: str, folders: tuple[Path, ...], code: PluginCode | None) -> Diagnostic:
    why = code.left_out.get(f"{FOLDER}/{name}.py") if code else None
    if why:
        return _missing_plugin(name, f"plugin {name} is not loaded: {why}", "copy the file to plugins/")
    known = {path.stem for folder in folders if folder.is_dir() for path in folder.glob("*.py")}
    known |= {Path(path).stem for path in code.sources if path.count("/") == 1} if code else set()
    hint = did_you_mean(name, sorted(known)) or f"plugins here: {', '.join(sorted(known)) or 'none'}"
    return _missing_plugin(name, f"there is no plugin {name}", hint)


def _missing_plugin(name: str, message: str, hint: str) -> Diagnostic:
    return Diagnostic("plugin-missing", message, "blogsmith.yaml", hint=hint, subject=name)
