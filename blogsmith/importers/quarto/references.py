"""Cross-references and citations, such as `@fig-a`, `[-@eq-x]` and `[see @key, p. 3]`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...api.importing import lazy_pattern
from ..bibliographies import fit_key
from ..text.pandoc import fit_id
from ..text.pieces import HiddenFragments
from .blocks import NUMBERED_BY_SETTING, convert_label
from .cells import NoticeCallback

KINDS = (
    *("fig", "tbl", "eq", "sec", "lst", "thm", "lem", "cor", "prp", "def"),
    *("cnj", "exr", "sol", "alg"),
    *NUMBERED_BY_SETTING,
)
_CALLOUTS: Mapping[str, str] = {
    **{"nte": "Note", "tip": "Tip", "wrn": "Warning", "imp": "Important", "cau": "Caution"}
}
_KEY = r"@(?:\{(?P<braced>[^{}\s]+)\}|(?P<key>[^\W_](?:[\w:.#$%&+?<>~/-]*[\w/])?|_[\w:.-]*\w))"
_CITATION = lazy_pattern(rf"(?P<minus>-)?{_KEY}")
_GROUP = lazy_pattern(
    r"(?<![\\^])\[(?P<inside>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*?@(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\](?!\(|\[(?!\^)|\{)"
)
_TEXTUAL_CITATION = lazy_pattern(rf"(?<![\w./@\\{{\[-]){_KEY}(?P<locator>[ ]?\[(?![^\]]*@)[^\[\]]+\](?!\())?")
_SEPARATOR = lazy_pattern(r";|,(?=\s*-?@)|,?\s+(?=and\s+-?@)")
_LABEL = lazy_pattern(rf"(?:{'|'.join(KINDS)}|{'|'.join(_CALLOUTS)})-[\w.:-]+", re.IGNORECASE)


@dataclass(slots=True)
class QuartoReferences:
    """Data for the references of one page, and the keys that the page cites."""

    entries: Mapping[str, Mapping[str, str]]
    """Bibliography key → fields of the entry."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Label → Markdown that replaces references to it, for labels that do not exist in blogsmith."""
    find_other_page: Callable[[str], str] = lambda label: ""
    """Function that returns the slug of another page with a label; empty if no page or several pages have the
    label."""
    cited: dict[str, None] = field(default_factory=dict)
    """Keys that the page cites, in order of their first citation."""


def translate_references(
    text: str, page: QuartoReferences, pieces: HiddenFragments, note: NoticeCallback
) -> str:
    """Replace every reference and citation of a masked text with a placeholder in `pieces`, which contains
    its translation. URLs must be masked already."""

    def substitute(found: re.Match[str]) -> str:
        made = _group(found, page, note)
        # without this, a footnote reference after a citation would be the second half of a reference link
        is_joined = made.endswith("]") and text.startswith("[^", found.end())
        return pieces.mask(f"{made} " if is_joined else made)

    text = _GROUP.sub(substitute, text)
    return _TEXTUAL_CITATION.sub(lambda found: pieces.mask(_translate_textual(found, page, note)), text)


def _group(found: re.Match[str], page: QuartoReferences, note: NoticeCallback) -> str:
    items = [item.strip() for item in _SEPARATOR.split(found["inside"])]
    read = [(item, _CITATION.search(item)) for item in items]
    if any(each is None or (each.start() and item[each.start() - 1].isalnum()) for item, each in read):
        return found[0]
    made, citations = [], []
    for item, each in read:
        assert each is not None
        key = each["braced"] or each["key"]
        before, after = item[: each.start()].strip(), item[each.end() :].strip()
        if _LABEL.fullmatch(key):
            made.append(_label(key, page, before=before, is_number=bool(each["minus"] or before)) + after)
            continue
        own = _cite(key, page)
        if own is None:
            _report_unknown(key, note)
            own = fit_key(key)
        locator = after.removeprefix(",").strip()
        # a semicolon or bracket would end the citation
        locator = re.sub(r"[\[\]]", "", locator)
        citations.append((before, f"@{own}{', ' + locator if locator else ''}"))
    if not citations:
        return ", ".join(made)
    return ", ".join([*made, _citations(citations)])


def _citations(citations: list[tuple[str, str]]) -> str:
    """Return a citation such as `[@a; @b, p. 3]`. citations: pairs of the text before the key, and the key
    with locator. If there is text before a key, the result is in parentheses."""
    if not any(before for before, _ in citations):
        return f"[{'; '.join(item for _, item in citations)}]"
    return f"({'; '.join(f'{before} [{item}]'.strip() for before, item in citations)})"


def _report_unknown(key: str, note: NoticeCallback) -> None:
    message = f'citation not found in a bibliography: "{key}"'
    note(
        "mistake", message, f"@{key}", hint="add it to `references` in the front matter", removed=f"[@{key}]"
    )


def _translate_textual(found: re.Match[str], page: QuartoReferences, note: NoticeCallback) -> str:
    key = found["braced"] or found["key"]
    if _LABEL.fullmatch(key):
        return _label(key, page) + (found["locator"] or "")
    own = _cite(key, page)
    if own is None:
        if page.entries:
            _report_unknown(key, note)
        return found[0]
    locator = (found["locator"] or "").strip().strip("[]")
    authors = author_text(page.entries[key])
    return f"{authors}{' ' if authors else ''}[@{own}{', ' + locator if locator else ''}]"


def _cite(key: str, page: QuartoReferences) -> str | None:
    """Add a key to the cited keys. Return the key in blogsmith's syntax; None if the bibliography does not
    contain it."""
    if key not in page.entries:
        return None
    page.cited.setdefault(key)
    return fit_key(key)


def _label(key: str, page: QuartoReferences, *, before: str = "", is_number: bool = False) -> str:
    prefix = key.partition("-")[0].lower()
    key = prefix + key[len(prefix) :]
    shown = f"{before} " if before else ""
    if key in page.labels:
        return shown + page.labels[key]
    if prefix in _CALLOUTS:
        return f"{shown}[{_CALLOUTS[prefix]}](#{fit_id(key)})"
    slug = page.find_other_page(key)
    own = convert_label(key)
    if slug:
        return f"{shown}{{@{slug}#{own}}}"
    if is_number:
        return f"{shown}\\{'eqref' if prefix == 'eq' else 'ref'}{{{own}}}"
    return f"{shown}{{@{own}}}"


def author_text(fields: Mapping[str, str]) -> str:
    """Return the names for a textual citation, such as `Vaswani`, `Kim and Lee` or `Kim et al.`; empty if the
    entry has none."""
    written = re.split(r"\s+and\s+", fields.get("author") or fields.get("editor", ""))
    names = [name for name in map(_family, written) if name]
    if len(names) > 2 or (len(names) == 2 and names[1] == "others"):
        return f"{names[0]} et al."
    return " and ".join(names)


def _family(name: str) -> str:
    name = name.strip()
    return name.partition(",")[0].strip() if "," in name else name.rpartition(" ")[2]
