"""Environment of templates: Jinja's options, blogsmith's filters and functions, and code that is compiled
once for all sites."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from types import CodeType, MappingProxyType
from typing import Any, Protocol

from jinja2 import BaseLoader, Environment, TemplateNotFound, TemplateRuntimeError, nodes, pass_context
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from ...base.diagnostics.model import did_you_mean
from ...tex.on_demand import spoken_text
from .errors import NamedUndefined
from .files import TemplateFile, ThemeFiles
from .loads import STATIC
from .sandbox import Sandbox
from .style_sheets import StaticFile

_OPTIONS: Mapping[str, Any] = MappingProxyType(
    {
        "autoescape": True,
        "undefined": NamedUndefined,
        "trim_blocks": True,
        "lstrip_blocks": True,
        "keep_trailing_newline": False,
        "auto_reload": False,
        # folding constants takes a sixth of the time of a compilation, and templates have few
        "optimized": False,
    }
)


_PLACEHOLDER_TYPES = (str, int, float)
"""Types of values that may fill placeholders of a translated string."""


class TemplateCodes(Protocol):
    """Storage for compiled templates that lasts longer than the process."""

    def get(self, template: str, digest: str) -> CodeType | None:
        """Return the stored code of a template, or None if there is none for this digest. digest: digest of
        everything that the code is compiled from."""

    def put(self, template: str, digest: str, code: CodeType) -> None:
        """Store compiled code. It replaces the stored code of the template."""


class _Templates(BaseLoader):
    """Loader of templates that are in memory."""

    def __init__(self, templates: Mapping[str, TemplateFile]) -> None:
        self.templates = templates

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, Callable[[], bool]]:
        """Return the text, the path for tracebacks, and a function that returns True, because the text never
        changes."""
        if template not in self.templates:
            raise TemplateNotFound(template)
        file = self.templates[template]
        return file.text, file.label, lambda: True


class _SiteSandbox(Sandbox):
    """Sandbox for the templates of a site. They are compiled in another environment, which does not depend on
    the site: Jinja evaluates constants at compile time, with the filters of the compiling environment. So the
    compiled code is valid for all sites, and is created only once."""

    def __init__(self, codes: TemplateCodes | None, **options: Any) -> None:
        super().__init__(**options)
        self._codes = codes

    def compile(
        self,
        source: str | nodes.Template,
        name: str | None = None,
        filename: str | None = None,
        raw: bool = False,
        defer_init: bool = False,
    ) -> Any:
        """Compile a template. If `source` is the text of a named template, its stored code is used if
        possible."""
        if isinstance(source, str) and not raw and not defer_init:
            return self._code_of(source, name, filename)
        return super().compile(source, name, filename, raw, defer_init)

    def _code_of(self, source: str, name: str | None, filename: str | None) -> CodeType:
        if self._codes is None or name is None:
            return _code(source, name, filename)
        origin = f"{name}\0{filename}\0{source}"
        digest = sha256(origin.encode("utf-8", "surrogatepass")).hexdigest()
        code = self._codes.get(name, digest)
        if code is None:
            code = _code(source, name, filename)
            self._codes.put(name, digest, code)
        return code


@lru_cache(maxsize=512)
def _code(source: str, name: str | None, filename: str | None) -> CodeType:
    code: CodeType = _compiler().compile(source, name, filename)
    return code


@lru_cache(maxsize=1)
def _compiler() -> Sandbox:
    """Return the environment that compiles the templates of all sites. It never runs them."""
    return _with_helpers(Sandbox(**_OPTIONS), {}, "")


def site_environment(files: ThemeFiles, base_path: str, codes: TemplateCodes | None = None) -> Sandbox:
    """Return the sandbox for the templates of a site. codes: as in `load_theme`."""
    addresses = {name: file_url(file, base_path) for name, file in files.static.items()}
    environment = _SiteSandbox(codes, loader=_Templates(files.templates), cache_size=-1, **_OPTIONS)
    return _with_helpers(environment, addresses, base_path)


def _with_helpers(environment: Sandbox, addresses: Mapping[str, str], base_path: str) -> Sandbox:
    """Add blogsmith's filters and functions to `environment` and return it. A filter that depends on the site
    has a context argument, so that Jinja cannot evaluate it at compile time. addresses: as in
    `asset_finder`."""
    # both return random text, but the same input must give the same bytes
    environment.globals.pop("lipsum")
    environment.filters.pop("random")
    environment.globals["asset"] = asset_finder(environment, addresses)
    environment.add_filter("url", pass_context(lambda context, path: site_url(path, base_path)))
    environment.add_filter("date", pass_context(lambda _, value: environment.language.format_date(value)))
    environment.globals["t"] = translator(environment)
    environment.add_filter("isodate", iso_date)
    environment.add_filter("spoken", spoken_text)
    environment.add_filter("json", script_json)
    return environment


def asset_finder(environment: Sandbox, addresses: Mapping[str, str]) -> Callable[[str], str]:
    """Return the template function `asset`: `asset("widget.js")` is the URL of a theme's file. addresses:
    name of a file → its URL."""

    def find(path: str) -> str:
        if isinstance(path, str):
            environment.loads.note(f"{STATIC}{path}")
        return addresses.get(path) or _raise_missing_asset(path, addresses)

    return find


def translator(environment: Sandbox) -> Callable[..., str]:
    """Return the template function `t`, which translates into the language of the page, as in `t("Page
    {number} of {total}", number=2, total=8)`. It checks the size before it joins the parts, because a text
    may repeat a placeholder a thousand times."""

    def translate(text: str, *, one: str = "", **values: Any) -> str:
        wrong = ""
        if values:
            wrong = next(
                (name for name, value in values.items() if not isinstance(value, _PLACEHOLDER_TYPES)), ""
            )
        if not isinstance(text, str) or not isinstance(one, str) or wrong:
            what = f'value of "{wrong}"' if wrong else "argument"
            raise TemplateRuntimeError(f'invalid {what} in "t": expected strings and numbers')
        parts, is_html = environment.language.parts(text, one, values)
        environment.budget.take_size(sum(map(len, parts)), "t")
        made = "".join(parts)
        return Markup(made) if is_html else made

    return translate


def site_url(path: str, base_path: str) -> str:
    """Return the URL of a site path such as `/posts/` with the base path; any other URL unchanged."""
    is_site_path = path.startswith("/") and not path.startswith("//")
    return base_path + path if is_site_path else path


def file_url(file: StaticFile, base_path: str) -> str:
    """Return the URL of a theme's static file, with a version that changes with the file."""
    return f"{base_path}/{file.asset.path.as_posix()}?v={file.version}"


def _raise_missing_asset(path: str, known: Iterable[str]) -> str:
    near = did_you_mean(path, known)
    raise TemplateRuntimeError(f'theme file not found: "static/{path}"' + (f"; {near}" if near else ""))


def iso_date(value: dt.date) -> str:
    """Return a date for `<time datetime>`, without the time if the author gave none."""
    if isinstance(value, dt.datetime) and value.time() != dt.time():
        return value.isoformat(timespec="seconds")
    return value.isoformat()[:10]


def script_json(value: Any) -> Markup:
    """Return `value` as JSON for a `<script>`, with `<`, `>`, `&` and `'` escaped."""
    return htmlsafe_json_dumps(value, ensure_ascii=False)
