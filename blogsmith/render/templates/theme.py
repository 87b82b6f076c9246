"""Themes: pages and shortcodes rendered with Jinja templates.

`files.py` reads the templates. They run in Jinja's sandbox with autoescape, without access to disk, clock or
random numbers, so a theme can neither execute code nor make output differ between builds. Data are prepared
in advance: the only functions and filters are `url`, `asset`, `t`, `date`, `isodate` and `json`. HTML from
blogsmith is marked as safe when a template reads it (see `sandbox.py`), so templates need no `| safe`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ...base.diagnostics.model import Diagnostic, SiteError, did_you_mean, list_choices
from ...languages.bundled_languages import find_language
from ...languages.language import ENGLISH, Language
from ...model.documents import Asset
from ...model.template_views import PageView, SiteView
from ...model.texts import PageParts
from .budget import TemplateTimeout
from .environment import TemplateCodes, file_url, site_environment
from .errors import template_diagnostic
from .files import TEMPLATE_KINDS, TemplateFile, ThemeFiles, read_theme_files
from .head import page_head
from .loads import ALL_FILES
from .sandbox import Sandbox
from .script_bundles import ScriptBundle, join_scripts
from .style_sheets import REQUESTED, StyleSheet, join_sheets, unused_files
from .theme_options import option_variables

_INLINE = ".inline"


class Theme(Struct, frozen=True):
    """A theme ready to render. Created by `load_theme` and immutable."""

    files: ThemeFiles
    base_path: str
    """Path of the site's URL, such as `/blog`; empty at a host's root."""
    environment: Sandbox
    """Environment with the templates. It changes only as a cache."""
    shortcodes: Mapping[str, str]
    """Name of a shortcode → name of its template."""
    layout_names: tuple[str, ...]
    """Names of all layouts, sorted."""
    sheets: Mapping[str, StyleSheet] = {}
    bundles: Mapping[str, ScriptBundle] = {}
    """Group of pages → its script bundle."""
    unused: frozenset[str] = frozenset()
    """Names of static files that are not copied, because no page of the site loads them."""

    @property
    def name(self) -> str:
        """Name of the theme and of its folder."""
        return self.files.name

    def render(self, layout: str, page: PageView, site: SiteView) -> str:
        """Return the whole HTML page as a string."""
        parts = self.render_parts(layout, page, site)
        return b"".join((parts.before, parts.body.data, parts.after)).decode("utf-8", "surrogatepass")

    def render_parts(self, layout: str, page: PageView, site: SiteView) -> PageParts:
        """Return the whole HTML page. Raise SiteError if the layout is unknown or a template has an error.

        Raise ValueError if the base path of `site` differs from that of the theme.
        """
        if site.base_path != self.base_path:
            raise ValueError(f"theme loaded for {self.base_path!r}, site is at {site.base_path!r}")
        if layout not in self.layout_names:
            message, hint = f'unknown layout "{layout}"', self.layout_hint(layout)
            raise SiteError(Diagnostic("layout-unknown", message, page.path, hint=hint))
        options = {**self.files.defaults, **site.options}
        context = {
            "page": page,
            "site": replace(site, options=options),
            "head": page_head(page, site, self._styles(page.math_font), self._scripts(), self._bundles()),
        }
        with self._template_errors(page.path or page.url):
            template, language = f"layouts/{layout}.html", self.language(page.lang)
            return self.environment.render_page(template, context, language, page.body, "\n")

    def watch_templates(self) -> AbstractContextManager[set[str]]:
        """Yield a set that collects the names of theme files requested inside the block."""
        return self.environment.loads.watch()

    def language(self, tag: str) -> Language:
        """Return the translations for pages in a language, including those of the site and its theme."""
        return find_language(tag, self.files.languages)

    def render_shortcode(
        self, name: str, context: Mapping[str, Any], page_path: str = "", language: Language = ENGLISH
    ) -> str:
        """Return the HTML of the shortcode `name`. KeyError for an unknown shortcode. context: data for the
        template, whose strings are escaped unless they are `Markup`. page_path: path of the page, for the
        hint of an error."""
        template = self.shortcodes[name]
        with self._template_errors(page_path):
            return self.environment.render(template, context, language)

    def has_shortcode(self, name: str) -> bool:
        """Return whether the site, the theme or a plugin has a template for the shortcode."""
        return name in self.shortcodes

    def shortcode_names(self) -> tuple[str, ...]:
        """Return the names of all shortcodes, sorted."""
        return tuple(sorted(self.shortcodes))

    def inline_shortcodes(self) -> frozenset[str]:
        """Return the shortcodes that are part of a paragraph, with templates named `<name>.inline.html`."""
        inline = f"{_INLINE}.html"
        return frozenset(name for name, file in self.shortcodes.items() if file.endswith(inline))

    def block_shortcodes(self) -> frozenset[str]:
        """Return the shortcodes that are blocks between paragraphs."""
        return frozenset(self.shortcodes) - self.inline_shortcodes()

    def layouts(self) -> tuple[str, ...]:
        """Return the layouts that a post may name under `template`, sorted."""
        return self.layout_names

    def layout_hint(self, layout: str) -> str:
        """Return a hint with the nearest layout, or with all layouts if none is similar."""
        choices = self.layouts()
        return did_you_mean(layout, choices) or list_choices(choices)

    def static_files(self) -> tuple[Asset, ...]:
        """Return the static files to copy, sorted. Their paths in the output are under `assets/<theme>/`."""
        return tuple(file.asset for name, file in self.files.static.items() if name not in self.unused)

    def _styles(self, math_font: str) -> dict[str, str]:
        return {group: f"{self.base_path}/{sheet.path(math_font)}" for group, sheet in self.sheets.items()}

    def _scripts(self) -> tuple[str, ...]:
        names = {entry.file: entry for entry in self.files.scripts}
        alone = (self.files.static[name] for name, entry in names.items() if not entry.groups)
        return tuple(file_url(file, self.base_path) for file in alone)

    def _bundles(self) -> dict[str, str]:
        return {group: f"{self.base_path}/{bundle.path()}" for group, bundle in self.bundles.items()}

    @contextmanager
    def _template_errors(self, what: str) -> Iterator[None]:
        """Raise SiteError for any error inside the block. what: the page or shortcode that is rendered, for
        the hint."""
        try:
            yield
        except (Exception, TemplateTimeout) as error:
            # a template may raise any Python error, and all are errors of its author
            self.environment.loads.note(ALL_FILES)
            lines = {file.label: file.text.splitlines() for file in self.files.templates.values()}
            names = sorted(self.files.templates)
            hint = f"found while rendering {what}" if what else ""
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
    """Read the theme `name` from the site's `themes/`, otherwise from the bundled themes. SiteError if it is
    missing or has an error.

    extra_shortcodes: folders of plugins with templates of shortcodes, searched last. base_path: path of the
    site's URL, such as `/blog`, put before every site path. chosen: the site's `theme_options`; custom
    properties that they set become part of the stylesheets. codes: storage for compiled templates; None: no
    storage.
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
    """Return the theme that consists of these files, which are in memory. The other arguments are as in
    `load_theme`."""
    layouts = tuple(sorted(_stems(files.templates, "layouts")))
    environment = site_environment(files, base_path, codes)
    variables = option_variables(chosen, files.options)
    options = {**files.defaults, **chosen}
    sheets = join_sheets(files.styles, files.static, files.name, variables, options)
    bundles = join_scripts(files.scripts, files.static, files.name)
    unused = unused_files(files.static, sheets.values(), _requesting(files, chosen))
    return Theme(files, base_path, environment, _shortcodes(files), layouts, sheets, bundles, unused)


def _requesting(files: ThemeFiles, chosen: Mapping[str, Any]) -> Iterator[str]:
    """Yield the templates and options that may name static files. A template named after its theme, such as
    `paper/layouts/post.html`, is left out unless another template names it."""
    everything = "\n".join(file.text for file in files.templates.values())
    for name, file in files.templates.items():
        may_name = any(one in file.text for one in REQUESTED)
        if may_name and (name.partition("/")[0] in TEMPLATE_KINDS or name in everything):
            yield file.text
    for value in chosen.values():
        yield from (one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str))


def _shortcodes(files: ThemeFiles) -> dict[str, str]:
    """Return shortcode → name of its template. The templates are in search order, so the first one
    applies."""
    found: dict[str, str] = {}
    for stem in _stems(files.templates, "shortcodes"):
        found.setdefault(stem.removesuffix(_INLINE), f"shortcodes/{stem}.html")
    return found


def _stems(templates: Mapping[str, TemplateFile], kind: str) -> list[str]:
    """Return the names, without `.html`, of the templates directly in folder `kind`."""
    paths = [PurePosixPath(name) for name in templates]
    return [path.stem for path in paths if path.parent.as_posix() == kind]
