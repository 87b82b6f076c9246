"""What templates run in: Jinja's options, our helpers, and code that is compiled once for all sites."""

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
    }
)


_PRINTED = (str, int, float)
"""What may stand in a place of a text."""


class TemplateCodes(Protocol):
    """Where the code of templates is kept beyond one process."""

    def get(self, template: str, digest: str) -> CodeType | None:
        """The code of a template. digest: names what it is compiled from."""

    def put(self, template: str, digest: str, code: CodeType) -> None:
        """Keep it in place of what was there."""


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


class _SiteSandbox(Sandbox):
    """Runs templates that another environment has compiled, one that knows nothing of the site.

    Jinja works out constants while it compiles, with filters of the environment that does it. So what is
    compiled there is right for all sites, and is made once for all of them.
    """

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
        """As Jinja's; only the text of a template with its names is ever asked for."""
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
    """Compiles the templates of all sites; none runs in it."""
    return _with_helpers(Sandbox(**_OPTIONS), {}, "")


def site_environment(files: ThemeFiles, base_path: str, codes: TemplateCodes | None = None) -> Sandbox:
    """The sandbox for the templates of a site. codes: as in `load_theme`."""
    addresses = {name: file_address(file, base_path) for name, file in files.static.items()}
    environment = _SiteSandbox(codes, loader=_Templates(files.templates), cache_size=-1, **_OPTIONS)
    return _with_helpers(environment, addresses, base_path)


def _with_helpers(environment: Sandbox, addresses: Mapping[str, str], base_path: str) -> Sandbox:
    """What templates may use. A filter with a context, as one that knows the site, is never a constant."""
    # both give another text on each call: same input must give same bytes
    environment.globals.pop("lipsum")
    environment.filters.pop("random")
    environment.globals["asset"] = asset_finder(environment, addresses)
    environment.add_filter("url", pass_context(lambda context, path: site_url(path, base_path)))
    environment.add_filter("date", pass_context(lambda _, value: environment.language.format_date(value)))
    environment.globals["t"] = translator(environment)
    environment.add_filter("isodate", iso_date)
    environment.add_filter("json", script_json)
    return environment


def asset_finder(environment: Sandbox, addresses: Mapping[str, str]) -> Callable[[str], str]:
    """`asset("widget.js")`: the address of a file of the theme. addresses: of all of them, by name."""

    def find(path: str) -> str:
        if isinstance(path, str):
            environment.loads.note(f"{STATIC}{path}")
        return addresses.get(path) or _no_asset(path, addresses)

    return find


def translator(environment: Sandbox) -> Callable[..., str]:
    """`t("Page {number} of {total}", number=2, total=8)`, in the language of the page; paid for before it is
    joined, for a text may name a place a thousand times.
    """

    def translate(text: str, *, one: str = "", **values: Any) -> str:
        wrong = ""
        if values:
            wrong = next((name for name, value in values.items() if not isinstance(value, _PRINTED)), "")
        if not isinstance(text, str) or not isinstance(one, str) or wrong:
            raise TemplateRuntimeError(f"t takes texts and numbers{f'; {wrong} is neither' if wrong else ''}")
        parts, is_html = environment.language.parts(text, one, values)
        environment.budget.take_size(sum(map(len, parts)), "t")
        made = "".join(parts)
        return Markup(made) if is_html else made

    return translate


def site_url(path: str, base_path: str) -> str:
    """A site path (`/posts/`) with the base path; any other address as it is."""
    is_site_path = path.startswith("/") and not path.startswith("//")
    return base_path + path if is_site_path else path


def file_address(file: StaticFile, base_path: str) -> str:
    """Of a theme's static file, with a version that changes when the file does."""
    return f"{base_path}/{file.asset.path.as_posix()}?v={file.version}"


def _no_asset(path: str, known: Iterable[str]) -> str:
    near = did_you_mean(path, known)
    raise TemplateRuntimeError(f'the theme has no file "static/{path}"' + (f"; {near}" if near else ""))


def iso_date(value: dt.date) -> str:
    """For `<time datetime>`: a date alone if the author gave no time of day."""
    if isinstance(value, dt.datetime) and value.time() != dt.time():
        return value.isoformat(timespec="seconds")
    return value.isoformat()[:10]


def script_json(value: Any) -> Markup:
    """`value` as JSON that may stand in a `<script>`: `<`, `>`, `&` and `'` are escapes."""
    return htmlsafe_json_dumps(value, ensure_ascii=False)
