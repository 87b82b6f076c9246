"""Roles: `` {name}`content` ``."""

from __future__ import annotations

import re

from ...base.patterns import lazy_pattern
from ...model.units import name_set
from ..bibliography.bibtex import fit_key
from ..text.containers import import_comment
from ..text.math import inline
from .references import InlineText, file_address, refer

_TARGET = lazy_pattern(r"(.*?)\s*<([^<>]+)>", re.DOTALL)
_ABBREVIATION = lazy_pattern(r"(.+?)\s*\((.+)\)", re.DOTALL)
_REFERENCES = name_set("ref numref eq prf:ref proof:ref any std:ref std:numref math:numref")
_CODE = name_set("code command file samp program option envvar makevar literal regexp mailheader")
_MARKED = {
    **{"sub": ("<sub>", "</sub>"), "sup": ("<sup>", "</sup>"), "strong": ("**", "**")},
    **{"subscript": ("<sub>", "</sub>"), "superscript": ("<sup>", "</sup>"), "emphasis": ("*", "*")},
    **{"del": ("~~", "~~"), "strike": ("~~", "~~"), "u": ("<u>", "</u>"), "underline": ("<u>", "</u>")},
    **{"guilabel": ("**", "**"), "menuselection": ("**", "**"), "dfn": ("*", "*")},
    **{"smallcaps": ('<span style="font-variant:small-caps">', "</span>"), "title-reference": ("*", "*")},
}
_ICONS = lazy_pattern(r"fa[a-z]*|fa-\w+|octicon|material-\w+|bdg(?:-\w+)*")


def translate_role(name: str, content: str, page: InlineText) -> str:
    """What a role becomes; one that is not known stays, with a comment."""
    role, text = name.lower(), " ".join(content.split())
    if role in _REFERENCES:
        return _reference(role, text, page)
    if role.startswith(("cite", "footcite")):
        return _citation(role, text, page)
    if role == "doc":
        return _document(text, page)
    if role == "term":
        return _term(text, page)
    if role == "math":
        return inline(content)
    if role in _MARKED:
        return text.join(_MARKED[role])
    if role in _CODE or role.startswith(
        ("py:", "cpp:", "c:", "js:", "func", "class", "meth", "mod", "attr", "obj", "external")
    ):
        return _code(text)
    return _other(role, name, content, page)


def _other(role: str, name: str, content: str, page: InlineText) -> str:
    text = " ".join(content.split())
    if role == "kbd":
        return "+".join(f"[[{key.strip()}]]" for key in text.split("+"))
    if role in ("abbr", "abbreviation"):
        found = _ABBREVIATION.fullmatch(text)
        return f"::{found[1]}|{found[2]}::" if found else text
    if role == "download":
        label, target = _split(text)
        return f"[{label or target.rpartition('/')[2]}]({file_address(target, page)})"
    if role == "eval":
        return f"{{= {text} =}}"
    if role == "index":
        return _split(text)[0] or text if "<" in text else ""
    if role in ("button", "link", "issue", "user"):
        label, target = _split(text)
        return f"[{label or target}]({target})" if "://" in target else text
    if role in ("pep", "rfc"):
        return f"[{role.upper()} {text}]({_STANDARDS[role].format(text)})"
    if role == "sub-ref":
        return page.substitutions.get(text, text)
    if _ICONS.fullmatch(role):
        return "" if not role.startswith("bdg") else f"**{_split(text)[0] or text}**"
    message = f"role {{{name}}} has no translation"
    page.notice("left", message, f"{{{name}}}`{content}`")
    return f"{{{name}}}`{content}`{import_comment(message)}"


_STANDARDS = {"pep": "https://peps.python.org/pep-{:0>4}/", "rfc": "https://www.rfc-editor.org/rfc/rfc{}"}


def _split(text: str) -> tuple[str, str]:
    """`text <target>` as both; a text alone is the target."""
    found = _TARGET.fullmatch(text)
    return (found[1].strip(), found[2].strip()) if found else ("", text)


def _code(text: str) -> str:
    shown = _split(text)[0] or text.removeprefix("~")
    marks = "``" if "`" in shown else "`"
    return f"{marks}{shown}{marks}"


def _reference(role: str, text: str, page: InlineText) -> str:
    shown, target = _split(text)
    label = page.index.labels.find(target)
    if label is None and (place := page.index.pages.find(target, page.place.source)):
        return f"[{shown or place.title}]({page.relative(place.path)})"
    if label is None:
        message = f"there is no label {target}"
        page.notice("mistake", message, f"{{{role}}}`{text}`")
        return f"{shown or target}{import_comment(message)}"
    if shown and ("%s" in shown or "{number}" in shown or "{name}" in shown):
        # ours print the word with the number
        shown = ""
    return refer(label, shown, page)


def _document(text: str, page: InlineText) -> str:
    shown, target = _split(text)
    if place := page.index.pages.find(target, page.place.source):
        return f"[{shown or place.title}]({page.relative(place.path)})"
    name, _, path = target.partition(":")
    if path and (base := page.index.inventories.get(name)):
        return f"[{shown or path}]({base.rstrip('/')}/{path}.html)"
    message = f"there is no document {target}"
    page.notice("mistake", message, f"{{doc}}`{text}`")
    return f"{shown or target}{import_comment(message)}"


def _term(text: str, page: InlineText) -> str:
    shown, target = _split(text)
    label = page.index.labels.find(f"term {target}")
    if label is None:
        page.notice("mistake", f"no glossary has the term {target}", f"{{term}}`{text}`")
        return shown or target
    return refer(label, shown or target, page)


def _citation(role: str, text: str, page: InlineText) -> str:
    shown, target = _split(text)
    keys = [key.strip() for key in target.split(",") if key.strip()]
    style = role.rpartition(":")[2] if ":" in role else ""
    for key in keys:
        if key in page.index.entries:
            page.cited.setdefault(key)
        else:
            page.notice("mistake", f"no bibliography has the key {key}", text)
    if style in ("author", "year"):
        fields = [page.index.entries.get(key, {}) for key in keys]
        return ", ".join(each.get(style, "") for each in fields) or text
    fit = [f"@{fit_key(key)}" for key in keys]
    if style in ("t", "ct", "ts", "textpar") or role.startswith("cite-t"):
        return " and ".join(fit)
    return f"{shown} " * bool(shown) + f"[{'; '.join(fit)}]"
