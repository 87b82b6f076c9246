"""Terms, dates and options of a language. The style takes precedence over the locale file."""

from __future__ import annotations

from collections.abc import Iterator

from .style_tree import StyleNode, read_locale

_FALLBACK = {"verb-short": "verb", "symbol": "short", "verb": "long", "short": "long"}


class Locale:
    """The terms and formats of a style in a language."""

    def __init__(self, style: StyleNode, language: str) -> None:
        main = language.partition("-")[0].lower()
        base = read_locale(language)
        own = {node.get("lang"): node for node in style.find_all("locale")}
        full = base.get("lang")
        names = dict.fromkeys((language, full, main, ""))
        self._nodes = [*(own[name] for name in names if name in own), base]
        if full != "en-US":
            self._nodes.append(read_locale("en"))
        self.language = main
        self._terms: dict[tuple[str, str], StyleNode | None] = {}

    def option(self, name: str) -> bool:
        """Return whether an option of the language is set."""
        for node in self._nodes:
            found = node.find("style-options")
            if found is not None and found.has(name):
                return found.get(name) == "true"
        return False

    def date(self, form: str) -> StyleNode | None:
        """Return the date format `text` or `numeric`, or None."""
        dates = (date for node in self._nodes for date in node.find_all("date"))
        return next((date for date in dates if date.get("form") == form), None)

    def term(self, name: str, form: str = "long", *, plural: bool = False) -> str:
        """Return a term; empty if there is none."""
        wanted: str | None = form
        while wanted:
            found = self._find(name, wanted)
            if found is not None:
                return _text(found, plural=plural)
            wanted = _FALLBACK.get(wanted)
        return ""

    def _find(self, name: str, form: str) -> StyleNode | None:
        key = (name, form)
        if key not in self._terms:
            self._terms[key] = next(self._matches(name, form), None)
        return self._terms[key]

    def _matches(self, name: str, form: str) -> Iterator[StyleNode]:
        for node in self._nodes:
            terms = node.find("terms")
            for term in terms.children if terms is not None else ():
                if term.get("name") == name and term.get("form", "long") == form:
                    yield term

    def ordinal(self, number: int) -> str:
        """Return the ordinal suffix of a number: `nd` for 2."""
        for name, wanted in (
            (f"ordinal-{number % 100:02}", ("last-two-digits", "whole-number")),
            (f"ordinal-{number % 10:02}", ("last-digit", "")),
        ):
            found = self._find(name, "long")
            if found is None:
                continue
            match = found.get("match") or ("last-digit" if number % 10 == int(name[-2:]) else "")
            is_two = name[-2:] == f"{number % 100:02}" and int(name[-2:]) > 9
            if match == "whole-number" and number != int(name[-2:]):
                continue
            if is_two or match in wanted or (match == "last-digit" and name[-2] == "0"):
                return found.text
        return self.term("ordinal")


def _text(term: StyleNode, *, plural: bool) -> str:
    found = term.find("multiple" if plural else "single")
    return found.text if found is not None else term.text.strip("\n")
