"""Options of a cell: turns settings as written into `CellOptions`.

Quarto's keys keep their names and meaning. An unknown option is an error with a hint on what to write
instead. It is never ignored, because the author would not notice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from ...base.diagnostics.model import Place, confirm_typo, format_suggestion, list_choices, nearest
from ...base.schema.slots import LocatedMapping, Slot
from ...base.schema.yaml_loader import Located, YamlPath
from ...model.cells import DRAWINGS, PROGRAMS, CellOptions
from ..records import OptionSetting
from ..state import PageState
from .option_values import KEYS, OPTIONS, default_indices

_MAX_HINTS = 50
_MARKED_UP = ("fig-cap", "fig-alt", "tbl-cap", "lst-cap", "claim")
"""Options whose value is text that may contain formulas."""
_SIZE = "set it in the code: `plt.figure(figsize=(6, 4))`"
OTHER_OPTION_HINTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("fig-width", "fig-height", "fig-size", "fig-asp", "out-width", "out-height"), _SIZE),
        **dict.fromkeys(("fig-dpi", "dpi"), "set it in the code: `plt.figure(dpi=200)`"),
        **dict.fromkeys(
            ("layout-ncol", "layout-nrow"), "draw figures side by side in one: `plt.subplots(1, 2)`"
        ),
        **dict.fromkeys(("fig-subcap", "sub-cap"), "write it into the figure: `ax.set_title(…)`"),
        "filename": 'write `title="…"` after the language',
        **dict.fromkeys(
            ("code-line-numbers", "lineno-start", "linenos"), "write `linenos` after the language"
        ),
        "tbl-subcap": "write `tbl-cap:`, and one cell for each table",
        **dict.fromkeys(("name", "id"), "write `label:`"),
        **dict.fromkeys(("caption", "cap"), "write `fig-cap:`, `tbl-cap:` or `lst-cap:`"),
        **dict.fromkeys(
            ("cache", "freeze-cache"),
            "remove it, or write `freeze:` to set how long recorded results are used",
        ),
        "results": "write `output: false` to omit the output",
        "message": "write `warning: false` to omit stderr",
        "tags": "write the option itself, such as `echo: false`",
        "alt": "write `fig-alt:`",
        "dev": "write `fig-format: svg` or `fig-format: png`",
        "emphasize-lines": "write `{2,4-6}` after the language",
        "engine": "set it for the whole page: `execute: {engine: …}` in the front matter",
        "kernel": "set it for the whole page: `execute: {kernel: …}` in the front matter",
    }
)
"""Option of Quarto, knitr or MyST → hint on what to write here. Dots in its name are written as `-`."""


def read_options(settings: Sequence[OptionSetting], page: PageState, language: str = "python") -> CellOptions:
    """Return the options of one cell. Page and site supply the defaults. Report errors. language: canonical
    name of the language of the cell."""
    given = _settings_by_key(settings, page)
    found = {**_defaults(page), **_read(given, page)}
    _name_fold(given, found, page)
    if found.get("claim"):
        _ignore_error_and_freeze(given, found, page)
    _choose_default(given, found, page)
    if page.mode == "off":
        found["eval"] = False
    places = {key: setting.place for key, setting in given.items() if not setting.implied}
    texts = {key: text for key in _MARKED_UP if (text := given[key].text if key in given else None)}
    options = CellOptions(**found, places=places, texts=texts)
    _warn_of_no_effect(options, page, language)
    _report_unsupported_options(options, page)
    return options


def _read(given: Mapping[str, OptionSetting], page: PageState) -> dict[str, Any]:
    """Return the valid options: field of `CellOptions` → value."""
    places: dict[YamlPath, Place] = {}
    key_places: dict[YamlPath, Place] = {}
    texts: dict[YamlPath, str] = {}
    located = Located(None, places, key_places, texts)
    mapping = LocatedMapping(located, page.reporter, code="cell-option", is_bounded=False)
    found = {}
    for key, setting in given.items():
        path = (key,)
        places[path], key_places[path], texts[path] = setting.place, setting.key_place, setting.spelling
        for number, place in enumerate(setting.entries):
            places[(key, number)] = place
        for below, place in setting.nested.items():
            places[(key, *below)] = place
        # An option without a value is read too, so that the missing value is reported.
        value = OPTIONS.fields[key].read(Slot(mapping, path, setting.value))
        if value is not None:
            found[OPTIONS.fields[key].name] = value
    return found


def _settings_by_key(settings: Sequence[OptionSetting], page: PageState) -> dict[str, OptionSetting]:
    given: dict[str, OptionSetting] = {}
    for setting in settings:
        before = given.get(setting.key)
        if setting.key not in OPTIONS.fields:
            _report_unknown(setting, page)
        elif before and setting.implied:
            pass
        elif before and not before.implied:
            line = before.key_place.line
            message = f'duplicate option "{setting.key}" (first defined on line {line})'
            page.reporter.error("cell-option", message, setting.key_place, "remove one of the two")
        else:
            given[setting.key] = setting
    return given


def _report_unknown(setting: OptionSetting, page: PageState) -> None:
    key = setting.key.replace(".", "-").replace("_", "-")
    is_other = key in OPTIONS.fields
    near = key if is_other else None if key in OTHER_OPTION_HINTS else _nearest_key(key, page)
    hint = f"write `{near}:`" if is_other else OTHER_OPTION_HINTS.get(key) or format_suggestion(near)
    hint = hint or list_choices(KEYS)
    meant = near if is_other else confirm_typo(setting.key, near)
    fix = page.reporter.substitute(setting.key_place, setting.key, meant, is_safe=is_other)
    page.reporter.error("cell-option", f'unknown cell option "{setting.key}"', setting.key_place, hint, fix)


def _nearest_key(key: str, page: PageState) -> str | None:
    # A comparison with all options takes half a millisecond, and nobody reads a hundred hints.
    return nearest(key, KEYS) if len(page.reporter.diagnostics) < _MAX_HINTS else None


def _defaults(page: PageState) -> dict[str, Any]:
    said = page.execution
    chosen = {
        "echo": said.echo,
        "warning": said.warning,
        "error": said.error,
        "freeze": said.freeze,
        "provenance": said.provenance or page.options.provenance,
        "timeout_s": said.timeout_s,
        "memory_bytes": said.memory_bytes,
        "tolerance": said.tolerance,
        "shapes": page.engine == "worker"
        and (page.options.check_shapes if said.shapes is None else said.shapes),
    }
    return {name: value for name, value in chosen.items() if value is not None}


def _name_fold(given: Mapping[str, OptionSetting], found: dict[str, Any], page: PageState) -> None:
    """Set the label of the fold from `code-summary`, and show the fold open for `code-fold: show`."""
    label = found.get("code_summary", "")
    fold = given.get("code-fold")
    if label and found.get("code_fold"):
        found["code_fold"] = label
    elif label and fold is None:
        place = given["code-summary"].key_place
        page.reporter.warn(
            "cell-option",
            'option "code-summary" has no effect because "code-fold" is missing',
            place,
            "add `code-fold: true`",
        )
    found["fold_open"] = bool(fold and fold.value == "show")


def _choose_default(given: Mapping[str, OptionSetting], found: dict[str, Any], page: PageState) -> None:
    """Set the default values of the sweep from `sweep-default`."""
    sweep, values = found.get("sweep"), found.get("sweep_default")
    if values is None:
        return
    setting = given["sweep-default"]
    if sweep is None:
        if "sweep" not in given:
            page.reporter.warn(
                "cell-option",
                'option "sweep-default" has no effect because "sweep" is missing',
                setting.key_place,
                "remove it, or add `sweep:`",
            )
        return
    at = default_indices(sweep, values)
    if at is None:
        axes = ", ".join(f"{axis.name}: {axis.values[0]}" for axis in sweep.axes)
        page.reporter.error(
            "cell-sweep",
            'invalid "sweep-default": expected values of the sweep',
            setting.place,
            f"write a value of each list, such as `sweep-default: {{{axes}}}`",
        )
        return
    found["sweep"] = replace(sweep, default=at)


def _warn_of_no_effect(options: CellOptions, page: PageState, language: str) -> None:
    """Report an option that has no effect because of another one."""
    why = '"eval" is false' if not options.eval else "the cell runs in the browser"
    if page.mode != "off" and (not options.eval or options.run_in == "browser"):
        for key in ("claim", "needs", "seed", "depends", "sweep"):
            if key in options.places:
                message = f'option "{key}" has no effect because {why}'
                hint = f"remove `{key}`" + ("" if options.eval else ", or write `eval: true`")
                page.reporter.warn("cell-option", message, options.places[key], hint)
    if options.counter_check and not options.claim:
        message = 'option "counter-check" has no effect because "claim" is missing'
        place = options.places.get("counter-check")
        page.reporter.warn("cell-option", message, place, "remove it, or add `claim:`")
    if options.sweep and options.eval and options.run_in == "both":
        message = "a sweep is not allowed in a cell that runs in the browser: the build sets its names"
        page.reporter.error("cell-sweep", message, options.places.get("run-in"), "remove `run-in`")
    is_program = language in PROGRAMS and page.engine == "worker"
    if options.flags and not is_program:
        message = 'option "flags" has no effect because no compiler translates this cell'
        page.reporter.warn("cell-option", message, options.places.get("flags"), "remove it")
    has_own_need = is_program or language in DRAWINGS
    if "fallback" in options.places and "needs" not in options.places and not has_own_need:
        place = options.places["fallback"]
        message = 'option "fallback" has no effect because "needs" is missing'
        page.reporter.warn("cell-option", message, place, "remove it, or add `needs:`")


def _ignore_error_and_freeze(
    given: Mapping[str, OptionSetting], found: dict[str, Any], page: PageState
) -> None:
    """Reset `error` and `freeze` on a cell with a claim. Warn if the cell itself sets them. A claim that is
    false now is always an error."""
    for key, field, plain in (("error", "error", False), ("freeze", "freeze", "auto")):
        if key in given and found.get(field) in (True, "always"):
            message = f'option "{key}" has no effect because {_CLAIM_REASONS[key]}'
            page.reporter.warn("cell-option", message, given[key].key_place, f"remove `{key}`")
        if found.get(field) in (True, "always"):
            found[field] = plain


_CLAIM_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "error": "a claim that is not true is an error",
        "freeze": "a claim is checked again after each change",
    }
)
_WORKER_ONLY: Mapping[str, str] = MappingProxyType(
    {
        "claim": "remove `claim`, and end the cell with an assertion, which fails the build if it is false",
        "shapes": "remove `shapes`: only blogsmith's own worker sees variables while code runs",
        "fig-dark": "remove `fig-dark`, and draw in colours that are readable on light and dark pages",
        "fig-format": "remove `fig-format`: a kernel chooses the format of its figures",
    }
)
"""Option without effect in a Jupyter kernel → hint on the alternative."""
_PYTHON_ONLY: Mapping[str, str] = MappingProxyType(
    {
        "seed": "remove `seed`, and set the seed in the code",
        "sweep": "remove `sweep`, and write one cell for each value",
        "needs": "remove `needs`, and check the requirement in the code",
    }
)
"""Option without effect in kernels of languages other than Python → hint on the alternative."""


def _report_unsupported_options(options: CellOptions, page: PageState) -> None:
    """Report options that do not work in the page's kernel. These are errors, because otherwise authors would
    rely on a claim that is never checked."""
    if page.engine == "worker" or not options.eval or options.run_in == "browser":
        return
    plain = CellOptions()
    refused = dict(_WORKER_ONLY) if page.language == "python" else {**_WORKER_ONLY, **_PYTHON_ONLY}
    for key, hint in refused.items():
        field = OPTIONS.fields[key].name
        if key in options.places and getattr(options, field) not in (getattr(plain, field), False):
            page.reporter.error("cell-option", _no_effect(key, page), options.places[key], hint)


def _page_hint(key: str) -> str:
    return f"remove `{key}:` under `execute:` in the front matter or in blogsmith.yaml"


def report_unsupported_page_options(place: Place, page: PageState) -> None:
    """Report options of the whole page that do not work in its kernel. place: position of the first cell that
    runs."""
    if page.engine == "worker":
        return
    if page.execution.shapes:
        page.reporter.error(
            "cell-option", f"page-wide {_no_effect('shapes', page)}", place, _page_hint("shapes")
        )
    if page.execution.seed is not None and page.language != "python":
        page.reporter.error("cell-option", f"page-wide {_no_effect('seed', page)}", place, _page_hint("seed"))


def _no_effect(key: str, page: PageState) -> str:
    where = "Jupyter" if key in _WORKER_ONLY else f'a kernel for "{page.language}"'
    return f'option "{key}" has no effect because the page uses {where}'
