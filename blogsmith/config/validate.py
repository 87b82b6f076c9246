"""Checks of settings that a type cannot express: URLs, folders, names and fixed sets of values.

`CHECKS` lists them all. A check reports an error at the location of its setting, and the other checks still
run. No check reads files of the site: a missing theme or plugin is reported when it is loaded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

from ..base.diagnostics.model import format_suggestion, list_choices, nearest
from ..base.patterns import lazy_pattern
from ..base.schema.forms import LAZY, SHAPED, Form, accepts, choice_form, get_form, union_form
from ..base.schema.records import (
    Check,
    each,
    keys,
    member_of_choices,
    must,
    rejects,
    shaped,
    unless_empty,
    values,
)
from ..base.schema.slots import Slot
from ..model.dates import DATE, MONTH, parse_date
from ..model.execution_values import BYTES_HINT, BYTES_SHAPE, KERNEL_NAMED, parse_bytes, parse_size
from ..model.language_names import LANGUAGE_TAGS, LONGEST_SUBTAG
from ..model.names import name_set
from ..model.publications import ORCID, is_orcid
from .editors import EDITORS, read_editor
from .people_checks import PEOPLE_CHECKS
from .schema import Browser, Config, SiteLanguage
from .services import check_analytics, check_comments

# URLs in the settings: the base URL of the site and the patterns for its pages.


DATE_FORM: Form = {
    "type": ["string", "integer"],
    "pattern": rf"^\s*(?:{DATE.pattern}|{MONTH.pattern}|)\s*$",
    "minimum": 1000,
    "maximum": 9999,
}
_URL = lazy_pattern(r"https?://[^\s\\\"'<>{}|^`]+")
_PATTERN_PART = lazy_pattern(r"[\w.:~-]*")
_DEVICE = lazy_pattern(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


def base_url_problem(url: str) -> str:
    """Return why `url` cannot be the base URL of a site, or an empty string if it is valid or empty."""
    if not url:
        return ""
    if not _URL.fullmatch(url):
        return 'must start with "http://" or "https://" and contain no spaces'
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "has an invalid host or port"
    if not has_host or "@" in parts.netloc:
        return "must contain a host and no user name"
    if "?" in url or "#" in url:
        return 'must not contain "?" or "#"'
    return 'must not contain "." or ".." in its path' if {".", ".."} & set(parts.path.split("/")) else ""


def is_device(name: str) -> bool:
    """Return whether Windows treats this file or folder name as a device, such as `aux` or `con.md`."""
    return bool(_DEVICE.match(name))


def permalink_problem(pattern: str) -> str:
    """Return why `pattern` is not a valid permalink, or an empty string. Placeholder names are not
    checked."""
    if not pattern.startswith("/"):
        return 'must start with "/"'
    parts = pattern.split("/")[1:]
    if any(part in (".", "..") or not _PATTERN_PART.fullmatch(part) for part in parts) or "" in parts[:-1]:
        return "may only contain letters, digits, `-`, `_`, `.`, `~` and single slashes"
    if any(part.strip(".") != part or is_device(part) for part in parts):
        return "has a part that starts or ends with a full stop, or is a Windows device name"
    return "" if ":slug" in pattern else 'must contain ":slug", otherwise all posts have the same URL'


# Sources that the settings add to the Content-Security-Policy of pages.


DIRECTIVES = (
    *("script-src", "style-src", "img-src", "font-src", "media-src", "connect-src", "worker-src"),
    *("frame-src", "manifest-src", "object-src", "form-action", "base-uri"),
)
"""Directives of the Content-Security-Policy that a page can set in its own HTML."""
_FROM_SERVERS = frozenset(("frame-ancestors", "sandbox", "report-uri", "report-to"))
_SOURCE = lazy_pattern(
    r"'self'|'sha(?:256|384|512)-[A-Za-z0-9+/=_-]+'|'(?:unsafe-eval|wasm-unsafe-eval|unsafe-hashes|strict-dynamic)'"
    r"|(?:https|http|wss|ws|data|blob|mediastream):"
    r"|(?:(?:https?|wss?)://)?(?:\*\.)?(?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+(?::(?:\d{1,5}|\*))?(?:/[\w/.~!$&()*+@=%:-]*)?",
    re.ASCII,
)


_SOURCE_FORM = {"anyOf": [{"pattern": _SOURCE}, choice_form(["'unsafe-inline'"])]}


@accepts({"propertyNames": choice_form(DIRECTIVES), "additionalProperties": {"items": _SOURCE_FORM}})
def check_policy(declared: str | Mapping[str, tuple[str, ...]], slot: Slot) -> Any:
    """Return the policy, or None if it contains an invalid directive or source. Report each of them."""
    found = [
        _check_directive(directive, sources, slot)
        for directive, sources in ({} if isinstance(declared, str) else declared).items()
    ]
    return declared if all(found) else None


def _check_directive(directive: str, sources: tuple[str, ...], policy: Slot) -> bool:
    if directive not in DIRECTIVES:
        is_header = directive in _FROM_SERVERS
        hint = "remove it, and set it in a header of your server" if is_header else list_choices(DIRECTIVES)
        policy.key(directive).report(f'unknown directive "{directive}" in the policy of a page', hint)
        return False
    problems = [_source_problem(directive, source) for source in sources]
    for index, (message, hint) in enumerate(problems):
        if message:
            policy.child(directive).child(index).report(message, hint)
    return not any(message for message, _ in problems)


def _source_problem(directive: str, source: str) -> tuple[str, str]:
    """Return what is wrong with a source of a Content-Security-Policy, and a hint; both empty if it is
    valid."""
    if source == "'unsafe-inline'" and directive != "style-src":
        return (
            f'"{source}" is not allowed in "{directive}"',
            "remove it: inline scripts of a page are already allowed",
        )
    if source == "'unsafe-inline'" or _SOURCE.fullmatch(source):
        return "", ""
    hint = "write a host such as `https://stats.example.org`, a scheme such as `data:`, or `'self'`"
    return f'invalid source "{source}"', hint


def language_check(check: Check, code: str) -> Check:
    """Return a check of a language tag that also warns about the name of a language, such as `english`. A fix
    replaces the name by the tag.

    code: code of the warning.
    """

    # editors mark what this check warns about
    @accepts(get_form(shaped(_SHORT_TAG, "language tag")))
    def read(value: str, slot: Slot) -> str | None:
        tag = LANGUAGE_TAGS.get(value.strip().casefold())
        if tag is None and check(value, slot) is None:
            return None
        if tag is None and len(value.partition("-")[0]) <= LONGEST_SUBTAG:
            return value
        fix = slot.rewrite(tag, is_safe=True) if tag else None
        hint = f"write `{tag}`" if tag else "write a tag such as `en` or `pt-BR`"
        slot.warn(code, f'invalid language tag "{value}": expected two or three letters', hint, fix)
        return tag or value

    return read


def _is_date(written: str) -> bool:
    with suppress(ValueError):
        return parse_date(written) is not None
    return False


check_date = must(
    _is_date, 'invalid date "{value}"', "write `2026-03-14` or `2026-03-14 09:30 +01:00`", form=DATE_FORM
)
check_macro_name = shaped(
    lazy_pattern(r"\\[A-Za-z]+"), "macro name", "write a backslash and letters, such as `\\R`"
)
LANGUAGE = lazy_pattern(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")
"""Syntax of a BCP 47 tag. It does not check that the language exists."""
_SHORT_TAG = lazy_pattern(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
"""Syntax of a BCP 47 tag whose first part is as short as that of every registered language."""
_check_tag_shape = shaped(LANGUAGE, "language tag", "write a tag such as `en` or `pt-BR`")
check_language_tag = language_check(_check_tag_shape, "config-value")
PLACEHOLDERS = ("section", "slug", "year", "month", "day")
PROVIDERS = ("youtube", "vimeo")
SHARES = ("mastodon", "bluesky", "email", "link")
PACKAGES = ("physics",)
"""LaTeX packages that a site or page may enable."""
KEY_TYPES = ("text", "number", "boolean", "date", "list", "mapping")
"""Types for custom front matter keys, under `sections`."""
BUDGET_SIZES = ("page", "styles", "scripts", "fonts", "pictures", "total")
"""Settings of `budget` that are sizes."""
BUDGET_COUNTS = ("requests", "hosts")
"""Settings of `budget` that are counts."""
COLORS = ("blue", "green", "amber", "red", "purple", "grey", "teal")

MAX_IMAGE_WIDTH, MAX_IMAGE_COPIES = 4000, 8
"""Largest width of an image copy, in pixels, and largest number of copies of one image."""
_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_PATH_PART = lazy_pattern(r"/?[a-z0-9]+(?:-[a-z0-9]+)*/?")
_WORD = lazy_pattern(r"[a-z][a-z0-9-]*")
_VARIABLE = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_MODULE = lazy_pattern(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_ADDRESS = lazy_pattern(r"(?:[a-z]+://)?(?:[\w.-]+|\[[\da-fA-F:.]+\]):\d{1,5}")
_ADDRESS_HINT = "write an address such as `tcp://10.0.0.5:8786`"
_PYTHON_HINT = "write an absolute path without `~`, or a path relative to blogsmith.yaml"
_VARIABLE_HINT = "write only the name: the value comes from the environment of blogsmith"
_PLACEHOLDER = lazy_pattern(r":([A-Za-z_]+)")
_MENU_URL = lazy_pattern(r"/(?![/\\])|#|mailto:|https?://[^/]")
_RESERVED_FOLDERS = name_set(
    "content static themes plugins layouts partials shortcodes languages _freeze blogsmith.yaml"
)
"""Folders with the author's own files. Writing the site there would replace them."""

_RESERVED_PATTERN = "|".join(map(re.escape, sorted(_RESERVED_FOLDERS)))
_OUTPUT: Form = {
    "pattern": rf"^(?!\s*$|\.?/?$|/|~|(?:\./)*(?:{_RESERVED_PATTERN})(?:/|$)|\.[^/]|.*\.\.(?:/|$))[^\\:]*$"
}
_BASE_URL: Form = {"pattern": r"^(?:$|https?://[^\s\\\"'<>{}|^`@?#]+$)"}
check_manual_url = rejects(
    base_url_problem,
    "{name} {problem}",
    "write the URL of a copy of the manual, such as `https://example.org/docs/`",
    form=_BASE_URL,
)
_PYTHON_PATH: Form = {"pattern": r"^(?:|[^\s~](?:.*\S)?)$"}


def _output_problem(output: str) -> str:
    path = PurePosixPath(output)
    if not output.strip() or path == PurePosixPath("."):
        return "must name a folder inside the site"
    if path.is_absolute() or ".." in path.parts or re.search(r"^~|[\\:\x00-\x1f]", output):
        return "must be a relative path inside the site"
    if path.parts[0].casefold() in _RESERVED_FOLDERS or path.parts[0].startswith("."):
        return f'cannot be "{path.parts[0]}", which contains files of the site'
    return ""


@accepts({"pattern": r"^(?!localtime$)[A-Za-z][\w+-]*(?:/[\w+-]+)*$"})
def _timezone(name: str, slot: Slot) -> str | None:
    try:
        # With `localtime`, the output would depend on the machine that builds it.
        if name and name != "localtime" and ZoneInfo(name) is not None:
            return name
    except (OSError, ValueError, LookupError):
        pass
    near = nearest(name, available_timezones() - {"localtime"})
    hint = format_suggestion(near) or "write a name such as `Europe/Vienna`"
    slot.report(f'unknown time zone "{name}"', hint, fix=slot.correct(near))
    return None


_PLACEHOLDER_PATTERN = "|".join(PLACEHOLDERS)


@accepts(
    {
        **SHAPED,
        "pattern": rf"^(?=.*:slug)(?!.*:(?!(?:{_PLACEHOLDER_PATTERN})(?![A-Za-z_])))(?:/[\w.:~-]+)+/?$",
    }
)
def _permalink(pattern: str, slot: Slot) -> str | None:
    unknown = [name for name in _PLACEHOLDER.findall(pattern) if name not in PLACEHOLDERS]
    for name in unknown:
        near = nearest(name, PLACEHOLDERS)
        hint = f"did you mean `:{near}`?" if near else list_choices(f":{one}" for one in PLACEHOLDERS)
        slot.report(f'unknown placeholder ":{name}"', hint, fix=slot.correct(near and f":{near}", f":{name}"))
    problem = permalink_problem(pattern)
    if problem and not unknown:
        slot.report(
            f'permalink "{pattern}" {problem}', f"write a permalink such as `/{slot.name}/:year/:slug/`"
        )
    return None if problem or unknown else pattern


@accepts(union_form(choice_form(["", *EDITORS]), {"pattern": r"\{file\}|^\s*$"}))
def _editor(text: str, slot: Slot) -> str | None:
    choice = read_editor(text)
    if choice.problem:
        slot.report(choice.problem, choice.hint)
    return None if choice.problem else text


def _packages_form() -> Form:
    from ..pyodide.distribution import CDN
    from ..pyodide.names import PACKAGE_NAMES

    here = {"properties": {"pyodide": {"not": choice_form([CDN])}}, "required": ["pyodide"]}
    names = choice_form(sorted(PACKAGE_NAMES))
    folder = {"pattern": rf"^(?:{CDN}|static/(?!.*(?:^|/)\.)[^\\:?#]+)$"}
    of_cdn = {"properties": {"packages": {"items": names}}}
    return {"properties": {"pyodide": folder}, "if": here, "then": {}, "else": of_cdn}


@accepts({LAZY: _packages_form})
def _browser(settings: Browser, slot: Slot) -> Browser | None:
    """Check the packages; which names are valid depends on `pyodide`. Return None after an error."""
    from ..pyodide.distribution import CDN, setting_problem
    from ..pyodide.names import PACKAGE_NAMES, guess_package

    problem = setting_problem(settings.pyodide)
    if problem:
        hint = "write `cdn`, or a folder such as `static/pyodide`"
        slot.child("pyodide").report(f'"{settings.pyodide}" {problem}', hint)
    of_cdn = settings.packages if settings.pyodide == CDN else ()
    unknown = [index for index, name in enumerate(of_cdn) if name not in PACKAGE_NAMES]
    for index in unknown:
        meant = guess_package(of_cdn[index])
        hint = f"did you mean `{meant}`?" if meant else "remove it: Pyodide does not include this package"
        slot.child("packages").child(index).report(f'unknown Pyodide package "{of_cdn[index]}"', hint)
    return None if problem or unknown else settings


_WIDTH: Form = {"minimum": 16, "maximum": MAX_IMAGE_WIDTH}


@accepts({"items": _WIDTH, "minItems": 1, "maxItems": MAX_IMAGE_COPIES})
def _widths(widths: tuple[int, ...], slot: Slot) -> tuple[int, ...] | None:
    wrong = [index for index, width in enumerate(widths) if not 16 <= width <= MAX_IMAGE_WIDTH]
    for index in wrong:
        message = f'invalid width "{widths[index]}": expected 16 to {MAX_IMAGE_WIDTH} pixels'
        slot.child(index).report(message, "write widths such as `[480, 960]`")
    if not widths or len(widths) > MAX_IMAGE_COPIES:
        slot.report(
            f'"widths" must contain 1 to {MAX_IMAGE_COPIES} sizes',
            "write `responsive: false` to have no copies",
        )
        return None
    return None if wrong else widths


@accepts({**SHAPED, "pattern": ORCID})
def _orcid(written: str, slot: Slot) -> str | None:
    found = ORCID.fullmatch(written)
    if found and is_orcid(found[1]):
        return written
    if found:
        message = f'invalid ORCID iD "{written}": its last digit does not match the others'
        slot.report(message, "copy it again from orcid.org")
    else:
        slot.report(f'invalid ORCID iD "{written}"', "write it in the form `0000-0002-1825-0097`")
    return None


def _is_positive(amount: float) -> bool:
    return math.isfinite(amount) and amount > 0


def _is_pause(seconds: float) -> bool:
    return 0 <= seconds <= 60


def _is_memory(text: str) -> bool:
    return parse_bytes(text) is not None


def _is_path(text: str) -> bool:
    return text == text.strip() and not re.search(r"^~|[\x00-\x1f]", text)


@accepts({"propertyNames": {"pattern": LANGUAGE}})
def check_languages(languages: Mapping[str, SiteLanguage], slot: Slot) -> Mapping[str, SiteLanguage]:
    """Check that each language tag is valid and that no two languages have the same URL path."""
    named = {tag: found for tag, found in languages.items() if check_language_tag(tag, slot.key(tag))}
    taken: dict[str, str] = {}
    for tag, found in named.items():
        path = found.path.strip("/") or tag.lower()
        first = taken.setdefault(path, tag)
        if first != tag:
            hint = "give one of them another `path`" if first.lower() != tag.lower() else "remove one of them"
            slot.key(tag).report(f'languages "{first}" and "{tag}" have the same path "/{path}/"', hint)
    _warn_of_own_path(named, slot)
    return named


def _warn_of_own_path(languages: Mapping[str, SiteLanguage], slot: Slot) -> None:
    """Warn if the default language has a `path`, which has no effect: its pages are always at the root."""
    settings = slot.mapping.located.value
    own = settings.get("lang", Config().lang) if isinstance(settings, dict) else ""
    for tag, found in languages.items():
        if found.path and tag.lower() == str(own).lower():
            message = f'path of "{tag}" has no effect because pages in the default language are at the root'
            slot.child(tag).child("path").warn("config-value", message, "remove `path`")


_AMOUNT = must(
    lambda text: parse_size(text) is not None,
    'invalid size "{value}"',
    "write a size such as `150 kB` or `2 MB`",
)
_POSITIVE: Form = {"exclusiveMinimum": 0}
_OUTPUT_HINT = "write another folder, such as `public`"
_NOT_NEGATIVE = must(
    lambda amount: amount >= 0, "{name} must be 0 or more", "write `0` or more", form={"minimum": 0}
)
_SECONDS = must(
    _is_positive, "{name} must be more than 0 seconds", "write a time such as `10`", form=_POSITIVE
)
_check_url = must(
    _MENU_URL.match,
    'invalid URL "{value}"',
    "write a path such as `/posts/`, or a URL such as `https://example.org/`",
    form={"pattern": rf"^(?:{_MENU_URL.pattern})"},
)
_CALLOUT = shaped(_WORD, "callout name", "write lower-case letters, digits and `-`")

CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "base_url": rejects(
            base_url_problem,
            "{name} {problem}",
            "write a URL such as `https://example.org/blog`",
            form=_BASE_URL,
        ),
        "lang": check_language_tag,
        **dict.fromkeys(("solutions.after", "series.solutions.after"), check_date),
        "languages": check_languages,
        "languages.path": unless_empty(shaped(_PATH_PART, "URL path", "write one word such as `de`")),
        "languages.menu.url": _check_url,
        "orcids": values(_orcid),
        **PEOPLE_CHECKS,
        "person.links.orcid": unless_empty(_orcid),
        "authors.links.orcid": unless_empty(_orcid),
        "theme": shaped(_NAME, "theme name", "write letters, digits, `-` and `_`"),
        "output": rejects(_output_problem, "{name} {problem}", _OUTPUT_HINT, form=_OUTPUT),
        "timezone": _timezone,
        "menu.url": _check_url,
        "permalinks": values(_permalink),
        "pagination": _NOT_NEGATIVE,
        "archive_pagination": _NOT_NEGATIVE,
        "plugins": each(shaped(_NAME, "plugin name", "write the file name of the plugin without `.py`")),
        "callouts": keys(_CALLOUT),
        "callouts.color": unless_empty(member_of_choices(COLORS, "color", listed=COLORS)),
        "callouts.alias": each(_CALLOUT),
        "callouts.counter": unless_empty(_CALLOUT),
        "math.packages": each(member_of_choices(PACKAGES, "package")),
        "code.deadline_s": must(
            _is_positive, "{name} must be more than 0", "write a number such as `1`", form=_POSITIVE
        ),
        "code.max_line": must(lambda length: length >= 1, "{name} must be at least 1", form={"minimum": 1}),
        "images.widths": _widths,
        "images.formats": must(bool, "{name} must contain at least one format", form={"minItems": 1}),
        "embeds.allow": each(member_of_choices(PROVIDERS, "provider")),
        "comments": check_comments,
        "analytics": check_analytics,
        "share": each(member_of_choices(SHARES, "kind of link", listed=SHARES)),
        "feeds.entries": _NOT_NEGATIVE,
        "feeds.term_entries": _NOT_NEGATIVE,
        "links.timeout": _SECONDS,
        "links.pause": must(_is_pause, "{name} must be from 0 to 60 seconds"),
        "links.hosts": must(lambda amount: 1 <= amount <= 64, "{name} must be from 1 to 64"),
        "links.days": _NOT_NEGATIVE,
        **{f"budget.{name}": unless_empty(_AMOUNT) for name in BUDGET_SIZES},
        **{f"budget.{name}": _NOT_NEGATIVE for name in BUDGET_COUNTS},
        **{f"budget.sections.{name}": unless_empty(_AMOUNT) for name in BUDGET_SIZES},
        **{f"budget.sections.{name}": _NOT_NEGATIVE for name in BUDGET_COUNTS},
        "sections.types": values(member_of_choices(KEY_TYPES, "type", listed=KEY_TYPES)),
        "execute.python": must(
            _is_path,
            'invalid path of a Python interpreter "{value}"',
            _PYTHON_HINT,
            form=_PYTHON_PATH,
        ),
        "execute.env": each(shaped(_VARIABLE, "environment variable name", _VARIABLE_HINT)),
        "execute.timeout": _SECONDS,
        "execute.memory": must(
            _is_memory, 'invalid memory size "{value}"', BYTES_HINT, form={"pattern": BYTES_SHAPE}
        ),
        "execute.jobs": _NOT_NEGATIVE,
        "execute.keep": _NOT_NEGATIVE,
        "execute.preload": each(
            shaped(_MODULE, "module name", "write the name as in an import, such as `numpy`")
        ),
        "execute.kernel": unless_empty(KERNEL_NAMED),
        "execute.dask.scheduler": unless_empty(shaped(_ADDRESS, "scheduler address", _ADDRESS_HINT)),
        "execute.dask.cuda": values(
            must(_is_positive, "{name} must be more than 0", "write a number such as `1`", form=_POSITIVE)
        ),
        "browser": _browser,
        "browser.timeout": _SECONDS,
        "security.csp": check_policy,
        "editor": _editor,
    }
)
"""Maps each setting to its check. Checks for the items of a list or mapping are listed under the setting
itself."""
