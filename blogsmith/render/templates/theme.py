"""Themes: pages and shortcodes through Jinja templates.

Templates come from `files.py`; they run in Jinja's sandbox, with autoescape on and no way to
disk, clock or chance, so a theme can neither execute code nor break repeatability. Data arrives
ready: the only helpers are `url`, `asset`, `date`, `isodate` and `json`. HTML of our own making is marked
as such where it is read, see `sandbox.py`, so templates need no `| safe`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import BaseLoader, Environment, TemplateNotFound, TemplateRuntimeError
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from ...diagnostics.model import Place, Reporter, SiteError, did_you_mean
from ...model.documents import Asset
from ...model.template_views import PageView, SiteView
from .budget import TakesTooLong
from .errors import NamedUndefined, template_diagnostic
from .files import StaticFile, TemplateFile, ThemeFiles, read_theme_files
from .head import page_head
from .sandbox import Sandbox

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_INLINE = ".inline"


@dataclass(frozen=True, slots=True)
class Theme:
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

    @property
    def name(self) -> str:
        """The theme's name, that of its folder."""
        return self.files.name

    def render(self, layout: str, page: PageView, site: SiteView) -> str:
        """The whole HTML page; SiteError if the layout is unknown or a template is wrong.

        ValueError if `site` has another base path than the one the theme was loaded with.
        """
        if site.base_path != self.base_path:
            raise ValueError(f"theme loaded for {self.base_path!r}, site lies at {site.base_path!r}")
        if layout not in self.layout_names:
            reporter = Reporter(page.path)
            self.report_unknown_layout(layout, reporter)
            raise SiteError(*reporter.diagnostics)
        options = {**self.files.options, **site.options}
        context = {
            "page": page,
            "site": replace(site, options=options),
            "head": page_head(page, site),
        }
        return self._render(f"layouts/{layout}.html", context, page.path or page.url) + "\n"

    def render_shortcode(self, name: str, context: Mapping[str, Any], page_path: str = "") -> str:
        """The HTML of shortcode `name`; strings in `context` are escaped unless they are `Markup`.

        KeyError if there is no such shortcode. page_path: for the hint of an error message.
        """
        return self._render(self.shortcodes[name], context, page_path)

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

    def layouts(self) -> tuple[str, ...]:
        """Names a post may give as its `template`, sorted."""
        return self.layout_names

    def report_unknown_layout(self, layout: str, reporter: Reporter, place: Place | None = None) -> None:
        """Say that there is no such layout, which one may be meant, and which there are."""
        choices = self.layouts()
        near = did_you_mean(layout, choices)
        hint = f"{near} Layouts: {', '.join(choices)}" if near else f"layouts: {', '.join(choices)}"
        reporter.error("layout-unknown", f'there is no layout "{layout}"', place, hint)

    def static_files(self) -> tuple[Asset, ...]:
        """Files to copy, sorted; their paths are those in the output, under `assets/<theme>/`."""
        return tuple(file.asset for file in self.files.static.values())

    def _render(self, template: str, context: Mapping[str, Any], what: str) -> str:
        try:
            return self.environment.render(template, context)
        except (Exception, TakesTooLong) as error:
            # a template may fail in as many ways as Python; all of them are its author's mistake
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
) -> Theme:
    """Read theme `name` from the site's `themes/`, else from the bundled ones.

    extra_shortcodes: folders of plugins with shortcode templates, searched last.
    base_path: the path of the site's address, `/blog`, put before every site path.
    SiteError if the theme is missing or something in it is wrong.
    """
    files = read_theme_files(name, site_root, bundled, extra_shortcodes)
    layouts = tuple(sorted(_stems(files.templates, "layouts")))
    return Theme(files, base_path, _environment(files, base_path), _shortcodes(files), layouts)


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


class _Templates(BaseLoader):
    """Hands Jinja the templates read before; what is not among them does not exist."""

    def __init__(self, templates: Mapping[str, TemplateFile]) -> None:
        self.templates = templates

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Text, path for tracebacks, and that the text never changes."""
        if template not in self.templates:
            raise TemplateNotFound(template)
        file = self.templates[template]
        return file.text, file.label, lambda: True


def _environment(files: ThemeFiles, base_path: str) -> Sandbox:
    environment = Sandbox(
        loader=_Templates(files.templates),
        autoescape=True,
        undefined=NamedUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
        auto_reload=False,
        cache_size=-1,
    )
    # both give another text on each call: same input must give same bytes
    environment.globals.pop("lipsum")
    environment.filters.pop("random")
    addresses = {name: _address(file, base_path) for name, file in files.static.items()}
    environment.globals["asset"] = lambda path: addresses.get(path) or _no_asset(path, addresses)
    environment.add_filter("url", lambda path: site_url(path, base_path))
    environment.add_filter("date", long_date)
    environment.add_filter("isodate", iso_date)
    environment.add_filter("json", script_json)
    return environment


def site_url(path: str, base_path: str) -> str:
    """A site path (`/posts/`) with the base path; any other address as it is."""
    is_site_path = path.startswith("/") and not path.startswith("//")
    return base_path + path if is_site_path else path


def _address(file: StaticFile, base_path: str) -> str:
    """Of a theme's static file, with a version that changes when the file does."""
    return f"{base_path}/{file.asset.path.as_posix()}?v={file.version}"


def _no_asset(path: str, known: Iterable[str]) -> str:
    near = did_you_mean(path, known)
    raise TemplateRuntimeError(f'the theme has no file "static/{path}"' + (f"; {near}" if near else ""))


def long_date(value: dt.date) -> str:
    """`3 March 2026`, whatever the locale."""
    return f"{value.day} {_MONTHS[value.month - 1]} {value.year}"


def iso_date(value: dt.date) -> str:
    """For `<time datetime>`: a date alone if the author gave no time of day."""
    if isinstance(value, dt.datetime) and value.time() != dt.time():
        return value.isoformat(timespec="seconds")
    return value.isoformat()[:10]


def script_json(value: Any) -> Markup:
    """`value` as JSON that may stand in a `<script>`: `<`, `>`, `&` and `'` are escapes."""
    return htmlsafe_json_dumps(value, ensure_ascii=False)
