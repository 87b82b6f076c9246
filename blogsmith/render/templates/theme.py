"""Themes: pages and shortcodes through Jinja templates.

Templates come from `files.py`; they run in Jinja's sandbox, with autoescape on and no way to
disk, clock or chance, so a theme can neither execute code nor break repeatability. Data arrives
ready: the only helpers are `url`, `asset`, `t`, `date`, `isodate` and `json`. HTML of our own making is
marked as such where it is read, see `sandbox.py`, so templates need no `| safe`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ...base.diagnostics.model import Diagnostic, SiteError, did_you_mean
from ...languages.bundled_languages import find_language
from ...languages.language import ENGLISH, Language
from ...model.documents import Asset
from ...model.template_views import PageView, SiteView
from ...model.texts import PageParts
from .budget import TakesTooLong
from .environment import TemplateCodes, file_address, site_environment
from .errors import template_diagnostic
from .files import TemplateFile, ThemeFiles, read_theme_files
from .head import page_head
from .loads import EVERY
from .sandbox import Sandbox
from .script_bundles import ScriptBundle, join_scripts
from .style_sheets import StyleSheet, join_sheets
from .theme_options import variables_of

_INLINE = ".inline"


class Theme(Struct, frozen=True):
    """A theme ready to render. Made by `load_theme`; never changes."""

    files: ThemeFiles
    base_path: str
    """`/blog`, or empty at a host's root."""
    environment: Sandbox
    """Compiled templates; a cache only."""
    shortcodes: Mapping[str, str]
    """Name of a shortcode → name of its template."""
    layout_names: tuple[str, ...]
    """Sorted."""
    sheets: Mapping[str, StyleSheet] = {}
    bundles: Mapping[str, ScriptBundle] = {}
    """Group of pages → its style sheet."""

    @property
    def name(self) -> str:
        """The theme's name, that of its folder."""
        return self.files.name

    def render(self, layout: str, page: PageView, site: SiteView) -> str:
        """The whole HTML page as text."""
        parts = self.render_parts(layout, page, site)
        return b"".join((parts.before, parts.body.data, parts.after)).decode("utf-8", "surrogatepass")

    def render_parts(self, layout: str, page: PageView, site: SiteView) -> PageParts:
        """The whole HTML page; SiteError if the layout is unknown or a template is wrong.

        ValueError if `site` has another base path than the one the theme was loaded with.
        """
        if site.base_path != self.base_path:
            raise ValueError(f"theme loaded for {self.base_path!r}, site lies at {site.base_path!r}")
        if layout not in self.layout_names:
            message, hint = f'there is no layout "{layout}"', self.layout_hint(layout)
            raise SiteError(Diagnostic("layout-unknown", message, page.path, hint=hint))
        options = {**self.files.defaults, **site.options}
        context = {
            "page": page,
            "site": replace(site, options=options),
            "head": page_head(page, site, self._styles(page.math_font), self._scripts(), self._bundles()),
        }
        with self._blame_template(page.path or page.url):
            template, language = f"layouts/{layout}.html", self.language(page.lang)
            return self.environment.render_page(template, context, language, page.body, "\n")

    def watch_templates(self) -> AbstractContextManager[set[str]]:
        """The names of files that are looked for from now on to the end of the context, found or not.

        As in `TemplateLoads`.
        """
        return self.environment.loads.watch()

    def language(self, tag: str) -> Language:
        """The words for pages in a language, with what the site and its theme say of it."""
        return find_language(tag, self.files.languages)

    def render_shortcode(
        self, name: str, context: Mapping[str, Any], page_path: str = "", language: Language = ENGLISH
    ) -> str:
        """The HTML of shortcode `name`; strings in `context` are escaped unless they are `Markup`.

        KeyError if there is no such shortcode. page_path: for the hint of an error message.
        """
        template = self.shortcodes[name]
        with self._blame_template(page_path):
            return self.environment.render(template, context, language)

    def has_shortcode(self, name: str) -> bool:
        """Whether the site, the theme or a plugin has a template for it."""
        return name in self.shortcodes

    def shortcode_names(self) -> tuple[str, ...]:
        """All shortcodes, sorted."""
        return tuple(sorted(self.shortcodes))

    def inline_shortcodes(self) -> frozenset[str]:
        """Those that stand inside a paragraph: their template is named `<name>.inline.html`."""
        inline = f"{_INLINE}.html"
        return frozenset(name for name, file in self.shortcodes.items() if file.endswith(inline))

    def block_shortcodes(self) -> frozenset[str]:
        """Those that stand between paragraphs."""
        return frozenset(self.shortcodes) - self.inline_shortcodes()

    def layouts(self) -> tuple[str, ...]:
        """Names a post may give as its `template`, sorted."""
        return self.layout_names

    def layout_hint(self, layout: str) -> str:
        """Which layout may be meant by one that there is not, and which there are."""
        choices = self.layouts()
        near = did_you_mean(layout, choices)
        return f"{near} Layouts: {', '.join(choices)}" if near else f"layouts: {', '.join(choices)}"

    def static_files(self) -> tuple[Asset, ...]:
        """Files to copy, sorted; their paths are those in the output, under `assets/<theme>/`."""
        return tuple(file.asset for file in self.files.static.values())

    def _styles(self, math_font: str) -> dict[str, str]:
        return {group: f"{self.base_path}/{sheet.path(math_font)}" for group, sheet in self.sheets.items()}

    def _scripts(self) -> tuple[str, ...]:
        names = {entry.file: entry for entry in self.files.scripts}
        alone = (self.files.static[name] for name, entry in names.items() if not entry.groups)
        return tuple(file_address(file, self.base_path) for file in alone)

    def _bundles(self) -> dict[str, str]:
        return {group: f"{self.base_path}/{bundle.path()}" for group, bundle in self.bundles.items()}

    @contextmanager
    def _blame_template(self, what: str) -> Iterator[None]:
        """SiteError for whatever goes wrong inside. what: is rendered there, for the hint of the message."""
        try:
            yield
        except (Exception, TakesTooLong) as error:
            # a template may fail in as many ways as Python; all of them are its author's mistake
            self.environment.loads.note(EVERY)
            lines = {file.label: file.text.splitlines() for file in self.files.templates.values()}
            names = sorted(self.files.templates)
            hint = f"while rendering {what}" if what else ""
            raise SiteError(template_diagnostic(error, lines, names, hint)) from error


def load_theme(
    name: str,
    site_root: Path,
    bundled: Path,
    extra_shortcodes: Sequence[Path] = (),
    *,
    base_path: str = "",
    chosen: Mapping[str, Any] = MappingProxyType({}),
    codes: TemplateCodes | None = None,
) -> Theme:
    """Read theme `name` from the site's `themes/`, else from the bundled ones.

    extra_shortcodes: folders of plugins with shortcode templates, searched last.
    base_path: the path of the site's address, `/blog`, put before every site path.
    chosen: what the site says under `theme_options`; custom properties that it sets go into the style sheets.
    codes: where compiled templates are kept beyond this process; None: nowhere.
    SiteError if the theme is missing or something in it is wrong.
    """
    files = read_theme_files(name, site_root, bundled, extra_shortcodes)
    return make_theme(files, base_path, chosen=chosen, codes=codes)


def make_theme(
    files: ThemeFiles,
    base_path: str,
    *,
    chosen: Mapping[str, Any] = MappingProxyType({}),
    codes: TemplateCodes | None = None,
) -> Theme:
    """The theme of files that were read. The rest as in `load_theme`."""
    layouts = tuple(sorted(_stems(files.templates, "layouts")))
    environment = site_environment(files, base_path, codes)
    variables = variables_of(chosen, files.options)
    options = {**files.defaults, **chosen}
    sheets = join_sheets(files.styles, files.static, files.name, variables, options)
    bundles = join_scripts(files.scripts, files.static, files.name)
    return Theme(files, base_path, environment, _shortcodes(files), layouts, sheets, bundles)


def _shortcodes(files: ThemeFiles) -> dict[str, str]:
    """Name → template; templates come in order of search, so the first of a name counts."""
    found: dict[str, str] = {}
    for stem in _stems(files.templates, "shortcodes"):
        found.setdefault(stem.removesuffix(_INLINE), f"shortcodes/{stem}.html")
    return found


def _stems(templates: Mapping[str, TemplateFile], kind: str) -> list[str]:
    """Names without `.html` of the templates that lie directly in folder `kind`."""
    paths = [PurePosixPath(name) for name in templates]
    return [path.stem for path in paths if path.parent.as_posix() == kind]
