"""The sandbox for templates, and their access to blogsmith's records.

A field with HTML from blogsmith is marked as safe when a template reads it; marking it earlier would require
a copy of every listed page. The work of templates is deducted from a budget (`budget.py`). `metering.py` says
which of these functions compiled templates call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from threading import local
from typing import Any

from jinja2 import Template, nodes, pass_context
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEscapeFormatter, SandboxedFormatter
from markupsafe import Markup, escape

from ...base.patterns import lazy_pattern
from ...languages.language import ENGLISH, Language
from ...model.texts import PageParts, PageText
from . import metering
from .budget import Budget, TemplateTimeout, is_container, measure_extent, time_net
from .growth import charged_filter, prepare_call, prepare_field, prepare_operator, take_result
from .loads import TemplateLoads
from .record_fields import FIELDS, is_hidden

_SPECIAL = lazy_pattern("[&<>'\"]")
"""Characters that are escaped in HTML."""
_LONG = 4096
"""Number of characters that Python compares or searches in about the time of one step."""


class ChargedTemplate(Template):
    """A template whose macros are created once for each language, outside the budget of any page."""

    def _get_default_module(self, ctx: Context | None = None) -> Any:
        environment = self.environment
        assert isinstance(environment, Sandbox)
        modules = self.__dict__.setdefault("_modules", {})
        tag = environment.language.tag
        is_shared = ctx is None or ctx.globals_keys.issubset(self.globals)
        if is_shared and tag in modules:
            module, names = modules[tag]
            environment.loads.note_all(names)
            return module
        with environment.budget.isolate(), environment.loads.watch() as names:
            if not is_shared:
                return super()._get_default_module(ctx)
            module = self.make_module()
        modules.setdefault(tag, (module, frozenset(names)))
        return module


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox with access to blogsmith's records, and with a budget."""

    template_class = ChargedTemplate
    code_generator_class = metering.MeteredCode
    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, **options: Any) -> None:
        self.budget = Budget()
        self.loads = TemplateLoads()
        self._page = local()
        """State of the page that each thread renders."""
        super().__init__(**options)
        for name, function in self.filters.items():
            self.add_filter(name, function)
        tests: dict[str, Any] = dict(self.tests)
        self.tests = {name: charged_filter(name, test, self.budget) for name, test in tests.items()}
        self.filters |= {
            metering.PRINT: self._print,
            metering.JOIN: self._join,
            metering.COMPARE: self._compared,
            metering.COPY: pass_context(lambda _, value: take_result(value, self.budget)),
        }

    @property
    def language(self) -> Language:
        """Language of the page that this thread renders."""
        language: Language = getattr(self._page, "language", ENGLISH)
        return language

    def add_filter(self, name: str, function: Callable[..., Any]) -> None:
        """Add a filter for templates. Its work is deducted from the budget."""
        self.filters[name] = charged_filter(name, function, self.budget)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return the environment's own globals for a template without globals of its own. Jinja would wrap
        them, but every context reads them."""
        return super().make_globals(d) if d else self.globals

    def render(self, template: str, context: Mapping[str, Any], language: Language = ENGLISH) -> str:
        """Return the output of a template, including all templates that it includes, within one budget and
        the time limit."""
        self._page.language = language
        with self.budget.isolate(), time_net():
            try:
                return "".join(self.get_template(template).generate(context))
            except TemplateTimeout:
                # adds the lines of templates to the traceback, as for other errors
                self.handle_exception()

    def render_page(
        self, template: str, context: Mapping[str, Any], language: Language, body: PageText, end: str
    ) -> PageParts:
        """Return the output of a page in UTF-8, followed by `end`. body: the rendered text of the page, which
        the output usually contains once and unchanged; then the parts before and after it are separate."""
        page = (self.render(template, context, language) + end).encode("utf-8", "surrogatepass")
        encoded = body.encode()
        if not encoded.data or page.count(encoded.data) != 1:
            return PageParts(page)
        before, _, after = page.partition(encoded.data)
        return PageParts(before, encoded, after)

    def _load_template(self, name: str, globals: MutableMapping[str, Any] | None) -> Template:
        self.loads.note(name)
        return super()._load_template(name, globals)

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        metering.meter(source)
        return super()._generate(source, *args, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        """Compile a template. The work of constants, which Jinja evaluates here, is not deducted from a
        page's budget."""
        with self.budget.isolate():
            return super().compile(*args, **kwargs)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return `obj.attribute` in a template."""
        kind = type(obj)
        is_html = FIELDS.get(kind, {}).get(attribute)
        if is_html is not None:
            value = getattr(obj, attribute)
            return self._markup(value) if is_html else value
        if is_hidden(kind, attribute):
            return self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Return `obj[argument]` in a template, also for filters such as `map(attribute=…)`."""
        kind = type(obj)
        is_field = isinstance(argument, str) and argument in FIELDS.get(kind, ())
        if is_field or is_hidden(kind, argument):
            return self.getattr(obj, argument)
        return super().getitem(obj, self.pay_comparison(argument))

    def _markup(self, html: str) -> Markup:
        self.budget.spend(0, len(html))
        return Markup(html)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Return `left operator right` in a template."""
        prepare_operator(operator, left, right, self.budget)
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Return `obj(…)` in a template."""
        # the body of a macro counts for itself
        if type(__obj) is not Macro:
            # Jinja passes `_loop_vars` and `_block_vars` for itself, not for the function
            own = {name: value for name, value in kwargs.items() if not name.startswith("_")}
            args = prepare_call(__obj, args, own, __self.budget)
        return take_result(super().call(__context, __obj, *args, **kwargs), __self.budget)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Return the function that replaces `text.format` or `text.format_map` in templates; None for other
        functions."""
        if super().wrap_str_format(value) is None:
            return None
        text: str = value.__self__
        is_mapping = value.__name__ == "format_map"
        is_html = isinstance(text, Markup)
        formatter = _EscapeFormatter(self, escape=Markup.escape) if is_html else _Formatter(self)
        formatter.budget = self.budget

        def format_text(*args: Any, **kwargs: Any) -> str:
            made = formatter.vformat(text, *((), args[0]) if is_mapping else (args, kwargs))
            return Markup(made) if is_html else made

        return format_text

    # Functions that compiled templates call.

    def pay(self, steps: int, characters: int) -> bool:
        """Deduct one run of a body of a template from the budget. Return True, so that conditions can contain
        the call."""
        self.budget.spend(steps, characters)
        return True

    def pay_comparison(self, value: Any) -> Any:
        """Deduct the work to compare, search or hash a value: a step for each value in it. Return the
        value."""
        if isinstance(value, str):
            if len(value) >= _LONG:
                self.budget.spend(len(value) // _LONG)
        elif is_container(value):
            measure_extent(value, self.budget)
        return value

    # with a context argument, Jinja does not evaluate a filter at compile time

    @pass_context
    def _compared(self, context: Context, value: Any) -> Any:
        return self.pay_comparison(value)

    @pass_context
    def _print(self, context: Context, value: Any) -> str:
        """Return the output of `{{ value }}`, escaped if necessary."""
        kind = type(value)
        if kind is Markup or (kind is str and not _SPECIAL.search(value)):
            self.budget.spend(0, len(value))
            text: str = value
            return text
        return self._text(value, is_escaped=bool(context.eval_ctx.autoescape))

    def _text(self, value: Any, *, is_escaped: bool) -> str:
        if is_container(value):
            measure_extent(value, self.budget)
        text: str = escape(value) if is_escaped else str(value)
        self.budget.spend(0, len(text))
        return text

    @pass_context
    def _join(self, context: Context, values: Iterable[Any]) -> str:
        """Return `a ~ b ~ c` in a template, as HTML if one of them is HTML."""
        has_html = context.eval_ctx.autoescape and any(hasattr(value, "__html__") for value in values)
        texts = [self._text(value, is_escaped=has_html) for value in values]
        self.budget.take_size(sum(map(len, texts)), "this text")
        text = "".join(texts)
        return Markup(text) if has_html else text

    def concat(self, pieces: Iterable[str]) -> str:
        """Return the output of a macro or a block: its joined pieces."""
        pieces = list(pieces)
        self.budget.take_size(sum(map(len, pieces)), "this block")
        return "".join(pieces)


class _ChargedFields:
    """Mixin for formatters that deducts each field from the budget."""

    budget: Budget

    def format_field(self, value: Any, format_spec: str) -> Any:
        prepare_field(value, format_spec, self.budget)
        return take_result(super().format_field(value, format_spec), self.budget)  # type: ignore[misc]


class _Formatter(_ChargedFields, SandboxedFormatter):
    pass


class _EscapeFormatter(_ChargedFields, SandboxedEscapeFormatter):
    pass
