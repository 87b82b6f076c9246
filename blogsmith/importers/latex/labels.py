r"""Labels of a paper, renamed because blogsmith requires the kind of the target as prefix of a label.

`\label{bound}` in a theorem becomes `\label{thm:bound}`, also in references. A second label of an element,
such as that of a part of a figure, is replaced by the first label; references to a part get its letter. A
label in the text of a section moves to the heading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...api.importing import DISPLAY_ENVIRONMENTS, lazy_pattern, name_set
from .scanning import find_spans, group_end, groups_end, option_end, skip_space
from .source import SourceText

_EVENT = lazy_pattern(
    r"\\(?P<edge>begin|end)\s*\{(?P<name>[A-Za-z]+)\*?\}|\\(?P<heading>part|chapter|(?:sub)*section)"
    r"\*?(?![A-Za-z])"
    r"|\\(?P<item>item)(?![A-Za-z])|\\label\s*(?:\[[^\[\]]*\])?\s*\{(?P<label>[^{}]*)\}|\\[\s\S]"
)
_REFERENCE = lazy_pattern(
    r"\\(?P<name>[A-Za-z]*[rR]ef(?:range|eq)?|hyperlink"
    r"|namecref)\*?\s*\{(?P<keys>[^{}]*)\}(?:\s*\{(?P<last>[^{}]*)\})?"
    r"|\\hyperref\s*\[(?P<target>[^\[\]]*)\]"
)
_USUAL = {
    **{f"{style}enum": "enumerate" for style in ("compact", "aspara", "inpara")},
    **{f"{style}item": "itemize" for style in ("compact", "aspara", "inpara")},
    **{f"{style}figure": "figure" for style in ("SC", "sideways", "margin")},
    **{f"{style}table": "table" for style in ("SC", "wrap", "sideways", "margin")},
    **{"algorithm2e": "algorithm", "dmath": "equation", "darray": "eqnarray"},
}
"""Environment of a package → usual environment with the same meaning."""
_ENVIRONMENT = lazy_pattern(rf"\\(?P<edge>begin|end)\s*\{{(?P<name>{'|'.join(_USUAL)})(?P<star>\*?)\}}")
_INVALID = lazy_pattern(r"[^\w.:-]+")
KindOf = Callable[[str], str | None]
_CHAPTER = lazy_pattern(r"\\chapter\*?\s*(?:\[[^\]]*\])?\s*\{")
_HEADING = lazy_pattern(r"\\(?P<name>part|chapter|section|subsection|subsubsection)(?P<star>\*?)(?![A-Za-z])")
_PARTS = name_set("subfigure subtable minipage")
_LETTERED = name_set("subfigure subtable")
_FLOATS = {"figure": "fig", "wrapfigure": "fig", "table": "tbl", "algorithm": "alg", "algorithmic": "line"}
_PART = lazy_pattern(r"\\sub(?:float|figure|table|captionbox)\*?(?=\s*[\[{])")
_UNIQUE = name_set("eq item line")
"""Prefixes of labels that belong to a part of their environment, such as one line of `align`."""
_MAX_ABBREVIATION = 12
_NUMBER = name_set("ref refeq pageref cpageref vpageref")
_KIND_PREFIXES = {
    "theorem": "thm",
    "lemma": "lem",
    "corollary": "cor",
    "proposition": "prp",
    "definition": "def",
}


class _Label(NamedTuple):
    """A label in the text of the paper."""

    start: int
    end: int
    written: str
    prefix: str
    """Kind of the label's target and prefix of the new label, such as `thm`; empty if the label has no
    target."""
    element: int
    """Offset of the environment that the label refers to; 0 if the label has no target."""
    is_part: bool
    """Whether the label is in a part of a figure or table, such as `subfigure`."""
    letter: str = ""
    """Letter of the part of a figure that contains the label; empty for other labels."""


class _Open(NamedTuple):
    """An environment that is open at the current position, or the current section."""

    name: str
    start: int
    items: int = 0
    """Number of list items, or of lettered parts, read so far."""


def _find_labels(text: str, kind_of: KindOf) -> Iterator[_Label]:
    stack = [_Open("", 0)]
    code = [span for span in find_spans(text) if span.kind in ("code", "drawing", "url")]
    at = 0
    for found in _EVENT.finditer(text):
        while at < len(code) and code[at].end <= found.start():
            at += 1
        if at < len(code) and code[at].start <= found.start():
            continue
        if found["edge"] == "begin":
            if found["name"] in _LETTERED:
                depth = next((n for n, one in enumerate(stack) if one.name in _FLOATS), 0)
                stack[depth] = stack[depth]._replace(items=stack[depth].items + 1)
            stack.append(_Open(found["name"], found.start()))
        elif found["edge"] == "end":
            names = [one.name for one in stack]
            if found["name"] in names[1:]:
                del stack[len(names) - 1 - names[::-1].index(found["name"]) :]
        elif found["heading"]:
            stack = [_Open("section", found.start())]
        elif found["item"]:
            stack[-1] = stack[-1]._replace(items=stack[-1].items + 1)
        elif found["label"] is not None:
            prefix, depth = _target(text, stack, kind_of)
            is_part = any(one.name in _PARTS for one in stack[depth + 1 :])
            is_lettered = any(one.name in _LETTERED for one in stack[depth + 1 :])
            letter = chr(ord("a") + min(stack[depth].items, 26) - 1) if is_lettered else ""
            yield _Label(*found.span(), found["label"].strip(), prefix, stack[depth].start, is_part, letter)


def _target(text: str, stack: list[_Open], kind_of: KindOf) -> tuple[str, int]:
    """Return the prefix for a label, and the index in `stack` of the environment that the label refers to.
    The prefix is empty if the label has no target."""
    for depth in range(len(stack) - 1, -1, -1):
        name = stack[depth].name
        if name in DISPLAY_ENVIRONMENTS:
            return "eq", depth
        if name in _FLOATS:
            return _float_prefix(text, stack[depth]), depth
        if name == "enumerate" and stack[depth].items:
            return "item", depth
        kind = kind_of(name) if name and name != "section" else None
        if kind and kind != "proof":
            return _KIND_PREFIXES.get(kind, kind), depth
        if name == "section":
            return "sec", depth
    return "", 0


def _float_prefix(text: str, one: _Open) -> str:
    """Return the prefix for a figure or table. It depends on the content, because a `figure` may contain only
    a table, and a `table` only an image."""
    end = text.find(f"\\end{{{one.name}", one.start)
    content = text[one.start : end if end > 0 else None]
    has_image = "\\includegraphics" in content or "\\begin{tikzpicture}" in content
    if one.name in ("figure", "wrapfigure", "table") and has_image != ("\\begin{tabular" in content):
        return "fig" if has_image else "tbl"
    return _FLOATS[one.name]


def name_parts(source: SourceText) -> SourceText:
    r"""Return the text with `\begin{subfigure}` instead of `\subfloat[caption]{…}` and `\subfigure`."""
    edits = list[tuple[int, int, str]]()
    for found in _PART.finditer(source.text):
        start = skip_space(source.text, found.end())
        option = option_end(source.text, start)
        content = skip_space(source.text, option if option > 0 else start)
        end = group_end(source.text, content)
        if end < 0 or (edits and edits[-1][1] > found.start()):
            continue
        caption = source.text[start + 1 : option - 1] if option > 0 else ""
        shown = f"\\caption{{{caption}}}" if caption.strip() else ""
        inside = source.text[content + 1 : end - 1]
        edits.append(
            (found.start(), end, f"\\begin{{subfigure}}{{.5\\textwidth}}{inside}{shown}\\end{{subfigure}}")
        )
    return source.edit(edits)


def rename_environments(source: SourceText) -> SourceText:
    """Return the text with the usual name of environments of packages, such as `equation` for `dmath`."""
    edits = list[tuple[int, int, str]]()
    for found in _ENVIRONMENT.finditer(source.text):
        end, name = found.end(), found["name"]
        new = _USUAL[name]
        if found["edge"] == "begin" and name.startswith(("wraptable", "SC")):
            # number of lines, position and width
            end = groups_end(source.text, end)
        edits.append((found.start(), end, f"\\{found['edge']}{{{new}{found['star']}}}"))
    return source.edit(edits)


def level_headings(source: SourceText) -> SourceText:
    r"""Return the text with its highest level of headings as `\section`. Titles of parts become sections
    without number."""
    has_chapters = _CHAPTER.search(source.text) is not None
    edits = list[tuple[int, int, str]]()
    for found in _HEADING.finditer(source.text):
        name = found["name"]
        if name == "part":
            edits.append((*found.span(), "\\section*"))
        elif has_chapters:
            new = {"chapter": "section", "section": "subsection"}.get(name, "subsubsection")
            # Classes with chapters number no headings below subsections.
            star = "*" if name == "subsubsection" else found["star"]
            edits.append((*found.span(), f"\\{new}{star}"))
    return source.edit(edits)


def _renamed(label: str, prefix: str) -> str:
    name = _INVALID.sub("-", label).strip("-") or "label"
    head, colon, rest = name.partition(":")
    if colon and len(head) <= _MAX_ABBREVIATION:
        # another abbreviation of the kind, such as `Thm:` or `tab:`
        name = rest if head[:1].casefold() == prefix[:1] else f"{head}-{rest}"
    return f"{prefix}:{name.strip('-:').replace(':', '-') or 'label'}"


def rename_labels(source: SourceText, kind_of: KindOf, *, only_referenced: bool) -> SourceText:
    """Return the text with renamed labels and references.

    kind_of: function that returns the callout kind of an environment; None for other environments.
    only_referenced: whether to remove labels of equations without references, so that these equations get no
    number.
    """
    labels = list(_find_labels(source.text, kind_of))
    used_keys = {
        key.strip() for found in _REFERENCE.finditer(source.text) for key in (found["keys"] or "").split(",")
    }
    main = dict[int, _Label]()
    for label in sorted(labels, key=lambda one: one.is_part):
        main.setdefault(_element(label), label)
    names, used = dict[str, str](), set[str]()
    for label in main.values():
        if label.prefix and label.written not in names:
            names[label.written] = _free_name(_renamed(label.written, label.prefix), used)
    edits = list[tuple[int, int, str]]()
    for label in labels:
        own = main[_element(label)]
        is_kept = own is label and label.prefix != ""
        if only_referenced and label.prefix == "eq" and label.written not in used_keys:
            is_kept = False
        if own is not label and own.prefix:
            names.setdefault(label.written, names[own.written])
        written = f"\\label{{{names[label.written]}}}" if is_kept else ""
        if written and label.prefix == "sec":
            end = _heading_end(source.text, label.element)
            if source.text[end : label.start].strip():
                edits.append((end, end, written))
                written = ""
        edits.append((label.start, label.end, written))
    letters = {label.written: label.letter for label in labels if label.letter}
    edits += _reference_edits(source.text, names, letters)
    return source.edit(sorted(edits))


def _element(label: _Label) -> int:
    """Return a number that all labels of an element have in common."""
    return ~label.start if label.prefix in ("", *_UNIQUE) else label.element


def _heading_end(text: str, start: int) -> int:
    """Return the index after the title of the heading at `start`."""
    found = _EVENT.match(text, start)
    position = skip_space(text, found.end() if found else start)
    position = skip_space(text, max(position, option_end(text, position)))
    return max(position, group_end(text, position))


def _free_name(name: str, used: set[str]) -> str:
    new, number = name, 2
    while new in used:
        new, number = f"{name}-{number}", number + 1
    used.add(new)
    return new


def _reference_edits(
    text: str, names: dict[str, str], letters: dict[str, str]
) -> Iterator[tuple[int, int, str]]:
    for found in _REFERENCE.finditer(text):
        if found["target"] is not None:
            label = names.get(found["target"].strip())
            if label:
                yield found.start(), found.end(), f"\\hyperref[{label}]"
            continue
        keys = [key.strip() for key in f"{found['keys']},{found['last'] or ''}".split(",") if key.strip()]
        if not keys or not all(key in names for key in keys):
            continue
        name = found["name"]
        command = "ref" if name in _NUMBER else "eqref" if name == "eqref" else "cref"
        written = [
            f"(\\ref{{{names[key]}}})"
            if command == "eqref" and not names[key].startswith("eq:")
            else f"\\{command}{{{names[key]}}}{letters.get(key, '')}"
            for key in keys
        ]
        if name == "subref":
            written = [
                f"({letters[key]})" if key in letters else one for one, key in zip(written, keys, strict=True)
            ]
        yield *found.span(), ", ".join(written)
