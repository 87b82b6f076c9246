"""The sandbox that templates run in, and what they see of our records.

Jinja asks many questions before it hands an attribute out. Our records hold nothing but data, so their fields
need none of them; anything else goes the long way. Fields that are HTML of our own making are marked as such
here, where a template reads them: to mark them before would mean a copy of every page that a list names.

What templates do is paid for, see `budget.py`; the functions below that take a value and give it
back are called by compiled templates, see `compiler.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from threading import local
from types import FunctionType
from typing import Any

from jinja2 import Template
from jinja2.runtime import Context, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEscapeFormatter, SandboxedFormatter
from markupsafe import Markup, escape

from ...base.patterns import lazy_pattern
from ...languages.language import ENGLISH, Language
from ...model.template_views import PageView
from ...model.texts import PageParts, PageText
from .budget import PLAIN, Budget, TakesTooLong, extent_of, is_container, time_net
from .compiler import PaidCode
from .filters import paid_filter
from .loads import TemplateLoads
from .operations import prepare_call, prepare_field, prepare_operator, take_result
from .record_fields import CONTENT, FIELDS, PLAIN_FIELDS, is_hidden

_PLAIN_CONTAINERS = frozenset((list, tuple, set, frozenset))
_LONG = 4096
"""Of a text: to compare or search that many characters takes about as long as a step."""
_SPECIAL = lazy_pattern(r"[&<>\"']")
"""Characters that are escaped."""
_DICT_NAMES = frozenset(dir(dict))
_NESTED = frozenset(("_loop_vars", "_block_vars"))
"""What compiled templates add to a call: variables around it, for functions that take the context."""


class PaidTemplate(Template):
    """A template whose macros are made once for each language, at no page's cost."""

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

    def make_module(self, *args: Any, **kwargs: Any) -> Any:
        """As Jinja's; what the template itself writes is text like any other."""
        module = super().make_module(*args, **kwargs)
        assert isinstance(self.environment, Sandbox)
        module._body_stream = self.environment.without_mark(module._body_stream)
        return module


class _PageState(local):
    """The page that is rendered; each thread renders pages of its own."""

    def __init__(self) -> None:
        self.language = ENGLISH
        self.body: PageText | None = None
        """Its text; None: what is rendered has none of its own."""


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's, with a short way to the fields of our records, and with a budget."""

    code_generator_class = PaidCode
    template_class = PaidTemplate
    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, **options: Any) -> None:
        self.budget = Budget()
        self.loads = TemplateLoads()
        self._ready: dict[str, Template] = {}
        """Templates that were loaded, without globals of their own; pages ask for each some thirty times."""
        self._page = _PageState()
        self._fields = {kind: dict(names) for kind, names in FIELDS.items()}
        self._helpers: set[Callable[..., str]] = set()
        self._payers: set[Callable[..., str]] = set()
        self._last_html: tuple[str, Markup] = ("", Markup())
        self._mark = Markup("<!-- text of the page -->")
        """Stands for the text of the page among the pieces that templates write; told apart by identity."""
        self.plain_fields = PLAIN_FIELDS
        """For compiled templates."""
        super().__init__(**options)
        for name, function in self.filters.items():
            self.add_filter(name, function)

    @property
    def language(self) -> Language:
        """That of the page that is rendered."""
        return self._page.language

    def add_filter(self, name: str, function: Callable[..., Any]) -> None:
        """Let templates use a filter; what it does is paid for."""
        self.filters[name] = paid_filter(name, function, self.budget)

    def add_helper(self, name: str, function: Callable[..., str], *, pays: bool = False) -> None:
        """Let templates use a function that takes texts and gives one.

        pays: it looks at what it is given, whatever that is, and pays for it and for its text.
        """
        assert type(function) is FunctionType, "calls are told apart by that"
        self.globals[name] = function
        self._helpers.add(function)
        if pays:
            self._payers.add(function)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Those of the environment itself where a template has none of its own: every context reads them."""
        return super().make_globals(d) if d else self.globals

    def render(self, template: str, context: Mapping[str, Any], language: Language = ENGLISH) -> str:
        """The text of a template and of all that it includes, within one budget and a net of time."""
        return "".join(self._pieces(template, context, language))

    def render_page(
        self, template: str, context: Mapping[str, Any], language: Language, body: PageText, end: str
    ) -> PageParts:
        """The same in UTF-8, with `end` behind it. body: a text that is mostly printed once and as it is."""
        self._page.body = body
        try:
            pieces = [*self._pieces(template, context, language), end]
        finally:
            self._page.body = None
        text, markup = self._last_html
        mark = self._mark
        # a template may have printed what it had kept in a variable
        own = markup if text is body.peek() else mark
        places = [at for at, piece in enumerate(pieces) if piece is mark or piece is own]
        if len(places) != 1:
            return PageParts(_encode(body.read() if piece is mark else piece for piece in pieces))
        (at,) = places
        return PageParts(_encode(pieces[:at]), body.encode(), _encode(pieces[at + 1 :]))

    def _pieces(self, template: str, context: Mapping[str, Any], language: Language) -> list[str]:
        self._page.language = language
        with self.budget.isolate(), time_net():
            try:
                return list(self.get_template(template).generate(context))
            except TakesTooLong:
                # with the lines of templates in its traceback, as other errors have them
                self.handle_exception()

    def get_template(
        self,
        name: str | Template,
        parent: str | None = None,
        globals: MutableMapping[str, Any] | None = None,
    ) -> Template:
        """As Jinja's; what is looked for is noted."""
        known = self._ready.get(name) if isinstance(name, str) and globals is None else None
        if known is None:
            known = super().get_template(name, parent, globals)
            if isinstance(name, str) and globals is None:
                self._ready[name] = known
        elif isinstance(name, str):
            self.loads.note(name)
        return known

    def _load_template(self, name: str, globals: MutableMapping[str, Any] | None) -> Template:
        self.loads.note(name)
        return super()._load_template(name, globals)

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        """Jinja works out what is constant: once, at no page's cost."""
        with self.budget.isolate():
            return super().compile(*args, **kwargs)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute` in a template."""
        kind = type(obj)
        known = self._fields.get(kind)
        if known is not None:
            is_html = known.get(attribute)
            if is_html is not None:
                value = getattr(obj, attribute)
                return self._markup(value) if is_html else value
            if is_hidden(kind, attribute):
                return self.undefined(obj=obj, name=attribute)
        elif kind is dict and attribute not in _DICT_NAMES:
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """`obj[argument]` in a template; filters such as `map(attribute=…)` come here too."""
        kind = type(obj)
        is_field = isinstance(argument, str) and argument in FIELDS.get(kind, ())
        if is_field or is_hidden(kind, argument):
            return self.getattr(obj, argument)
        return super().getitem(obj, self.pay_comparison(argument))

    def _markup(self, html: str) -> Markup:
        self.budget.spend(0, len(html))
        if len(html) <= _LONG:
            return Markup(html)
        # layouts ask a dozen times what the text of a page holds, and each `Markup` is a copy
        text, markup = self._last_html
        if text is not html:
            markup = Markup(html)
            self._last_html = (html, markup)
        return markup

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """`left operator right` in a template."""
        prepare_operator(operator, left, right, self.budget)
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """`obj(…)` in a template."""
        kind, budget = type(__obj), __self.budget
        # of these two it is known what Jinja would find out about them
        if kind is Macro:
            return take_result(__obj(__context.eval_ctx, *args, **_own(kwargs)), budget)
        if kind is FunctionType and __obj in __self._helpers:
            own = _own(kwargs)
            if __obj in __self._payers:
                return __obj(*args, **own)
            if _are_texts(args) and not own:
                return take_result(__obj(*args), budget)
        args = prepare_call(__obj, args, kwargs, budget)
        return take_result(super().call(__context, __obj, *args, **kwargs), budget)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`text.format` as templates have it."""
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

    # called by compiled templates

    def pay(self, steps: int, characters: int) -> None:
        """For one pass through a body of a template."""
        left = self.budget.left
        left.steps -= steps
        left.characters -= characters
        if left.steps < 0 or left.characters < 0:
            self.budget.spend(0)

    def passes(self, steps: int) -> bool:
        """True, for the condition of a loop, once it is paid for."""
        self.budget.spend(steps)
        return True

    def print_value(self, is_escaped: bool, value: Any) -> str:
        """What `{{ value }}` writes."""
        kind = type(value)
        if (kind is Markup and is_escaped) or (kind is str and not _SPECIAL.search(value)):
            text: str = value
        else:
            if not isinstance(value, str) and is_container(value):
                extent_of(value, self.budget)
            text = escape(value) if is_escaped else str(value)
        left = self.budget.left
        left.characters -= len(text)
        if left.characters < 0:
            self.budget.spend(0)
        return text

    def print_content(self, record: Any) -> Any:
        """`record.content` where it is written as it is: of the page that is rendered a mark."""
        body = self._page.body
        if body is None or type(record) is not PageView or record.body is not body:
            return self.getattr(record, CONTENT)
        self.budget.spend(0, 2 * len(body.encode().data))
        return self._mark

    def without_mark(self, pieces: Iterable[str]) -> list[str]:
        """Pieces of text that are handed on to a template."""
        pieces, mark, body = list(pieces), self._mark, self._page.body
        if body is not None and any(piece is mark for piece in pieces):
            return [Markup(body.read()) if piece is mark else piece for piece in pieces]
        return pieces

    def concatenate(self, is_escaped: bool, values: Iterable[Any]) -> str:
        """`a ~ b ~ c`; HTML as soon as one of them is."""
        has_html = is_escaped and any(hasattr(value, "__html__") for value in values)
        texts = [self.print_value(has_html, value) for value in values]
        self.budget.take_size(sum(map(len, texts)), "this text")
        text = "".join(texts)
        return Markup(text) if has_html else text

    def pay_comparison(self, value: Any) -> Any:
        """A value that is compared, searched or hashed, which is one step for each value in it."""
        if isinstance(value, str):
            if len(value) > _LONG:
                self.budget.spend(len(value) // _LONG)
        elif is_container(value):
            if type(value) in _PLAIN_CONTAINERS and PLAIN.issuperset(map(type, value)):
                # as `extent_of` finds out, one by one
                self.budget.spend(2 * (1 + len(value)))
            else:
                extent_of(value, self.budget)
        return value

    def pay_copy(self, value: Any) -> Any:
        """A value that is a copy."""
        return take_result(value, self.budget)

    def concat(self, pieces: Iterable[str]) -> str:
        """The text of what a macro or a block has written piece by piece."""
        pieces = self.without_mark(pieces)
        self.budget.take_size(sum(map(len, pieces)), "this block")
        return "".join(pieces)


def _encode(pieces: Iterable[str]) -> bytes:
    return "".join(pieces).encode("utf-8", "surrogatepass")


def _are_texts(values: Iterable[Any]) -> bool:
    return all(type(value) is str for value in values)


def _own(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Those arguments that stand in the template."""
    return {name: value for name, value in kwargs.items() if name not in _NESTED} if kwargs else kwargs


class _PaidFields:
    """Fields of a format, each paid for."""

    budget: Budget

    def format_field(self, value: Any, format_spec: str) -> Any:
        prepare_field(value, format_spec, self.budget)
        return take_result(super().format_field(value, format_spec), self.budget)  # type: ignore[misc]


class _Formatter(_PaidFields, SandboxedFormatter):
    pass


class _EscapeFormatter(_PaidFields, SandboxedEscapeFormatter):
    pass
