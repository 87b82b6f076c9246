"""Translation of inline syntax, which consists of roles, links, substitutions and formulas. It needs all
pages and labels of the book."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...api.importing import lazy_pattern, name_set
from ..bibliographies import fit_key
from ..text.containers import import_comment
from ..text.math import format_inline_math, split_formula
from ..text.pieces import literal_highlights, literal_shortcodes, literal_wikilinks
from ..text.segments import FormulaDelimiters, Segment, divide, is_table_cell, rewrite
from .directives import rewrite_attributes
from .insertions import align_rows
from .references import InlineText, file_address, label_url, write_reference

_TARGET = lazy_pattern(r"(.*?)\s*<([^<>]+)>", re.DOTALL)
_ABBREVIATION = lazy_pattern(r"(.+?)\s*\((.+)\)", re.DOTALL)
_REFERENCES = name_set("ref numref eq prf:ref proof:ref any std:ref std:numref math:numref")
_CODE = name_set("code command file samp program option envvar makevar literal regexp mailheader")
_INLINE_MARKUP = {
    **{"sub": ("<sub>", "</sub>"), "sup": ("<sup>", "</sup>"), "strong": ("**", "**")},
    **{"subscript": ("<sub>", "</sub>"), "superscript": ("<sup>", "</sup>"), "emphasis": ("*", "*")},
    **{"del": ("~~", "~~"), "strike": ("~~", "~~"), "u": ("<u>", "</u>"), "underline": ("<u>", "</u>")},
    **{"guilabel": ("**", "**"), "menuselection": ("**", "**"), "dfn": ("*", "*")},
    **{"smallcaps": ('<span style="font-variant:small-caps">', "</span>"), "title-reference": ("*", "*")},
}
_ICONS = lazy_pattern(r"fa[a-z]*|fa-\w+|octicon|material-\w+|bdg(?:-\w+)*")


def translate_role(name: str, content: str, page: InlineText) -> str:
    """Translate a role. An unknown role is left unchanged, followed by a comment."""
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
        return format_inline_math(content)
    if role in _INLINE_MARKUP:
        return text.join(_INLINE_MARKUP[role])
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
    message = f'unknown role "{{{name}}}"'
    page.notice("left", message, f"{{{name}}}`{content}`")
    return f"{{{name}}}`{content}`{import_comment(message)}"


_STANDARDS = {"pep": "https://peps.python.org/pep-{:0>4}/", "rfc": "https://www.rfc-editor.org/rfc/rfc{}"}


def _split(text: str) -> tuple[str, str]:
    """Return text and target of `text <target>`. If there is no `<target>`, return an empty text, and all of
    `text` as the target."""
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
        message = f'label not found: "{target}"'
        page.notice("mistake", message, f"{{{role}}}`{text}`")
        return f"{shown or target}{import_comment(message)}"
    if shown and ("%s" in shown or "{number}" in shown or "{name}" in shown):
        # references in blogsmith print "Figure 1", so a word before the number is removed
        shown = ""
    return write_reference(label, shown, page)


def _document(text: str, page: InlineText) -> str:
    shown, target = _split(text)
    if place := page.index.pages.find(target, page.place.source):
        return f"[{shown or place.title}]({page.relative(place.path)})"
    name, _, path = target.partition(":")
    if path and (base := page.index.inventories.get(name)):
        return f"[{shown or path}]({base.rstrip('/')}/{path}.html)"
    message = f'document not found: "{target}"'
    page.notice("mistake", message, f"{{doc}}`{text}`")
    return f"{shown or target}{import_comment(message)}"


def _term(text: str, page: InlineText) -> str:
    shown, target = _split(text)
    label = page.index.labels.find(f"term {target}")
    if label is None:
        page.notice("mistake", f'term not found in a glossary: "{target}"', f"{{term}}`{text}`")
        return shown or target
    return write_reference(label, shown or target, page)


def _citation(role: str, text: str, page: InlineText) -> str:
    shown, target = _split(text)
    keys = [key.strip() for key in target.split(",") if key.strip()]
    style = role.rpartition(":")[2] if ":" in role else ""
    for key in keys:
        if key in page.index.entries:
            page.cited.setdefault(key)
        else:
            page.notice("mistake", f'citation not found in a bibliography: "{key}"', text)
    if style in ("author", "year"):
        fields = [page.index.entries.get(key, {}) for key in keys]
        return ", ".join(each.get(style, "") for each in fields) or text
    fit = [f"@{fit_key(key)}" for key in keys]
    if style in ("t", "ct", "ts", "textpar") or role.startswith("cite-t"):
        return " and ".join(fit)
    return f"{shown} " * bool(shown) + f"[{'; '.join(fit)}]"


URL_LINK = lazy_pattern(r"(?<!\]\()<((?:inv|xref|myst|wiki|doi|project|path):[^<>\s]+)>")
"""Matches a link in angle brackets with one of MyST's URL schemes."""
_SCHEME = lazy_pattern(r"(inv|xref|myst|wiki|doi|project|path):(.+)")
_WIKI = "https://en.wikipedia.org/wiki/"
_DOI = "https://doi.org/"


@dataclass(frozen=True, slots=True)
class SchemeLink:
    """A resolved link with a scheme such as `doi:`."""

    address: str
    """URL of the target; empty if the target's project is unknown."""
    text: str
    """Link text to use if the author wrote none."""


def scheme_link(target: str, page: InlineText) -> SchemeLink | None:
    """Resolve a link with the scheme of a reference, such as `doi:`. Return None for all other links."""
    found = _SCHEME.fullmatch(target)
    if found is None or found[1] in ("project", "path"):
        return None
    scheme, rest = found[1], found[2]
    if scheme == "doi":
        return SchemeLink(f"{_DOI}{rest.removeprefix(_DOI)}", rest)
    if scheme == "wiki":
        name = rest.lstrip("/")
        return SchemeLink(f"{_WIKI}{name}", name.replace("_", " "))
    path, _, name = rest.partition("#")
    project = path.partition(":")[0].partition("/")[0]
    base = page.index.inventories.get(project, "")
    if base:
        message = f'link into project "{project}" becomes a link to its home page'
        page.notice("changed", message, target, "replace it with the URL of its target")
    else:
        page.notice("left", f'unknown project in link "{target}"', target)
    return SchemeLink(base, name.removeprefix("*").lstrip(".") or path)


def strip_file_scheme(target: str) -> str:
    """Return a link target without the scheme `path:` or `project:`. Other targets are not changed."""
    found = _SCHEME.fullmatch(target)
    return found[2] if found and found[1] in ("project", "path") else target


DIALECT = FormulaDelimiters(spaced_dollar=True, brackets=False)
_ROLE = lazy_pattern(r"(?<!\\)\{([A-Za-z][\w:.+-]*)\}\Z")
_AMBIGUOUS_FORMULA = lazy_pattern(r"(?<![\\$])\$((?:\\.|[^$\\\n])+)\$(?!\$)")
r"""Matches a formula of MyST that blogsmith would read as an amount of money: `$5$0`, `$ 5\% $`."""
_ESCAPED = lazy_pattern(r"(?<!\\)((?:\\\\)*)\\([(\[\])])")
"""Matches a backslash and bracket, which would start or end a formula in blogsmith."""
_SUBSTITUTION = lazy_pattern(r"\{\{\s*([^{}\n]+?)\s*\}\}")
_LINK = lazy_pattern(
    r"(!?\[(?P<empty>\])?|\])\(<?(?P<to>[^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?P<rest>\s+\"[^\"]*\")?\)"
)
_MENTION = lazy_pattern(r"(?P<open>\[)?(?<![\w@\\{])@(?P<key>[A-Za-z][\w:.-]*\w)(?P<close>\])?")
_EXTERNAL = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def rewrite_inline(text: str, page: InlineText) -> str:
    """Translate the inline syntax of a page whose blocks are already translated."""
    text = rewrite(
        text, lambda part: _SUBSTITUTION.sub(lambda found: _substitute(found, page), part), DIALECT
    )
    parts: list[str] = []
    for segment in divide(text, DIALECT):
        if segment.kind == "math":
            parts.append(_formula(segment, text, splits_rows=page.index.splits_rows))
        elif segment.kind == "span" and parts and (role := _ROLE.search(parts[-1])):
            parts[-1] = parts[-1][: role.start()]
            content = segment.text.strip("`")
            parts.append(translate_role(role[1], content, page))
        elif segment.kind == "prose":
            prose = literal_shortcodes(literal_wikilinks(literal_highlights(segment.text)))
            # brackets that the next line adds are formulas
            prose = _ESCAPED.sub(lambda found: f"{found[1]}&#{ord(found[2])};", prose)
            parts.append(_AMBIGUOUS_FORMULA.sub(_rewrite_ambiguous_formula, prose))
        else:
            parts.append(segment.text)
    return rewrite("".join(parts), lambda part: _references(part, page), DIALECT)


def _substitute(found: re.Match[str], page: InlineText) -> str:
    value = page.substitutions.get(found[1])
    if value is None:
        page.notice("left", f'unknown substitution "{found[0]}"', found[0])
        return found[0]
    return value


def _rewrite_ambiguous_formula(found: re.Match[str]) -> str:
    return format_inline_math(found[1], found.string[found.end() : found.end() + 1]) or found[0]


def _formula(segment: Segment, text: str, *, splits_rows: bool) -> str:
    opener, tex = split_formula(segment.text)
    if is_table_cell(text, segment.start):
        tex = tex.replace(r"\|", "|")
    if opener == "$$" and splits_rows:
        return f"$${align_rows(tex)}$$"
    if opener != "$" or not tex.strip():
        return segment.text
    return format_inline_math(tex, text[segment.start + len(segment.text) :][:1])


def _references(text: str, page: InlineText) -> str:
    text = _LINK.sub(lambda found: _link(found, page), URL_LINK.sub(r"[](\1)", text))
    text = rewrite_attributes(
        text, lambda item: page.notice("dropped", f'attribute "{item}" has no effect in blogsmith', item)
    )
    return _MENTION.sub(lambda found: _mention(found, page), text)


def _mention(found: re.Match[str], page: InlineText) -> str:
    """Translate `@key` or `[@key]` of mystmd to a citation or a reference. If the key is unknown, return the
    source text."""
    key = found["key"]
    if key in page.index.entries:
        page.cited.setdefault(key)
        return found[0]
    label = page.index.labels.find(key)
    is_bracketed = found["open"] and found["close"]
    if label is None or (not is_bracketed and key in (label.id, label.id.replace(":", "-"))):
        return found[0]
    shown = write_reference(label, "", page)
    return shown if is_bracketed else f"{found['open'] or ''}{shown}{found['close'] or ''}"


def _link(found: re.Match[str], page: InlineText) -> str:
    target, is_image = strip_file_scheme(found["to"]), found[1].startswith("!")
    is_empty = found["empty"] is not None and not is_image
    if is_image and target.startswith("#"):
        page.notice("held", f'unsupported syntax: "{target[1:]}" is linked, not embedded', found[0])
        embedded = page.index.labels.find(target[1:])
        return write_reference(embedded, "", page) if embedded else f"`{target[1:]}`"
    if link := scheme_link(target, page):
        shown = f"[{link.text}]" if is_empty else found[1]
        return f"{shown}(<{link.address}>)" if link.address else link.text if is_empty else shown
    if not target or (_EXTERNAL.match(target) and (is_image or not page.index.labels.find(target))):
        return f"<{target}>" if is_empty and target else found[0]
    path, _, anchor = target.partition("#")
    place = page.index.pages.find(path, page.place.source) if path and not is_image else None
    label = page.index.labels.find(anchor or path) if not is_image and (anchor or not place) else None
    if label and not (place and place.source != label.source):
        return (
            write_reference(label, "", page)
            if is_empty
            else f"]({label_url(label, page)}{found['rest'] or ''})"
        )
    if place:
        to = page.relative(place.path) + (f"#{anchor}" if anchor else "")
        return f"[{place.title}]({to})" if is_empty else f"{found[1]}({to}{found['rest'] or ''})"
    return f"{found[1]}({file_address(target, page)}{found['rest'] or ''})"
