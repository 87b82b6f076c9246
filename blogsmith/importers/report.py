"""Report of an import, as Markdown and as JSON. The same import always gives the same bytes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from ..api.importing import Diagnostic, first_names, plural, printable
from .block_map import FILE, suggest_entries
from .merge import CONFLICTS, Merge
from .model import Notice, NoticeKind, SiteImport
from .site_settings import LOST_MESSAGES
from .text.data import format_yaml
from .verify.facts import KINDS
from .verify.published_pages import PublishedCheck
from .verify.site import SiteCheck
from .write import RECORD, REPORT, record_text

_HEADINGS: Mapping[NoticeKind, str] = {
    "withheld": "Not imported: pages that the old site hides from readers",
    "unread": "Not read: documents of the source that are not imported",
    "held": "Held back: rejected by the build, so kept as code or in a draft, or left out",
    "left": "Not translated: kept unchanged in the page",
    "missing": "Missing: used in the source but not found",
    "mistake": "Errors in the source",
    "changed": "Changed: different in the new site",
    "dropped": "Removed: no effect or no equivalent in blogsmith",
    "kept": "Kept in the front matter: available to templates as `page.extra`",
}
"""Headings in the order of the report. The kinds that need most work come first."""
_MAX_LOCATIONS = 5
"""Maximum number of locations listed for one notice in the Markdown; the JSON contains all."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of a finished import."""

    site: SiteImport
    title: str
    """Title of the old system."""
    check: SiteCheck
    files: Mapping[str, str]
    """Path in the new site → digest."""
    merge: Merge
    """Difference between the import and the files in the folder of the new site."""

    @property
    def ok(self) -> bool:
        """Whether the new site contains all content of the old site, apart from content that notices
        explain."""
        return not self.check.differences and not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        """Phrases that count the losses of the new site, the worst first; empty if nothing is missing."""
        site, check = self.site, self.check
        kinds = Counter(notice.kind for notice in site.all_notices)
        lost = [notice for notice in site.notices if notice.message.startswith(LOST_MESSAGES)]
        addresses = sum(each.what == "addresses" for each in check.differences)
        rows = (
            ("not read", kinds["unread"], "document", ""),
            ("not answered", addresses, "URL", " of the old site"),
            ("not typeset", check.formula_errors, "error", f" in formulas{_commands(check)}"),
            ("not merged", len(self.merge.conflicts), "file", " that you changed here"),
            ("held back", kinds["held"] - bool(check.formula_errors), "part", ""),
            ("not built", check.errors, "error", ""),
            ("without effect", sum(len(_names(each)) for each in lost), "setting", " or data files"),
        )
        found = [f"{label}: {plural(count, noun)}{rest}" for label, count, noun, rest in rows if count > 0]
        return tuple(found if site.pages else ["no page of the source is imported", *found])


_MAX_COMMANDS = 10
"""Maximum number of unknown commands in a summary; the report lists all."""


def _commands(check: SiteCheck) -> str:
    """Return the unknown commands of formulas with their counts, as text; empty if there are none."""
    counts = [f"{name} ({count})" for name, count in check.unknown_commands.most_common()]
    return f": {first_names(counts, _MAX_COMMANDS)}" if counts else ""


def make_reports(done: ImportResult) -> dict[str, bytes]:
    """Return file name → content of each report."""
    text = "\n".join(printable(line, keep="\n") for line in _markdown(done))
    return {RECORD: _json(done), REPORT: text.encode()}


def _json(done: ImportResult) -> bytes:
    published = done.check.published
    return record_text(
        {
            "system": done.site.system,
            "problems": list(done.problems),
            "pages": [
                {**asdict(page), "counts": dict(page.counts), "address": source.address}
                for page, source in zip(done.check.pages, done.site.pages, strict=True)
            ],
            **({"published": {**asdict(published), "counts": dict(published.counts)}} if published else {}),
            "notices": [
                {name: value for name, value in asdict(each).items() if value not in ("", 0)}
                for each in done.site.all_notices
            ],
            "diagnostics": [_diagnostic(found) for found in done.check.diagnostics],
            "files": dict(done.merge.record.files),
            "sources": dict(done.merge.record.sources),
        }
    )


def _diagnostic(found: Diagnostic) -> dict[str, object]:
    place = found.place
    return {
        "code": found.code,
        "severity": found.severity,
        "message": found.message,
        "path": found.path,
        "line": place.line if place else 0,
        "column": place.column if place else 0,
        "hint": found.hint,
    }


def _markdown(done: ImportResult) -> Iterator[str]:
    site, check = done.site, done.check
    yield f"# Import from {done.title}\n"
    yield f"{plural(len(site.pages), 'page')}, {plural(len(site.files), 'file')} copied.\n"
    if line := withheld_line(done):
        yield f"{line}; see the list below.\n"
    for line in done.problems:
        yield f"- **{_escape(line)}**"
    if done.problems:
        yield ""
    yield "| in the source | |\n|:--|--:|"
    totals: Counter[str] = Counter()
    for page in check.pages:
        totals.update(page.counts)
    for kind, name in KINDS.items():
        yield f"| {name}s | {totals[kind]:,} |"
    yield f"| values of front matter | {sum(page.values for page in check.pages):,} |"
    yield f"| values of settings | {check.setting_count:,} |"
    yield ""
    yield from _merge(done.merge)
    yield from _differences(done)
    yield from _unknown_commands(check)
    if check.published:
        yield from _published(check.published)
    for kind, heading in _HEADINGS.items():
        yield from _notices(heading, [notice for notice in site.all_notices if notice.kind == kind])
    yield from _suggestions(site)
    yield from _diagnostics(check.diagnostics)
    yield "## What to do next\n"
    yield from (f"1. {step}" for step in next_steps(done))
    yield ""


def _merge(merge: Merge) -> Iterator[str]:
    """Yield lines about the files that the import left unchanged. Written files are not listed, so a repeated
    import without changes gives the same report."""
    if merge.conflicts:
        yield f"## Not merged: new versions are in `{CONFLICTS}/`\n"
        yield from (f"- {_escape(each.path)}: {each.reason}" for each in merge.conflicts)
        yield ""
    if merge.kept:
        yield "## Left as they are: files that you changed in the new site\n"
        yield from (f"- {_escape(each.path)}: {each.reason}" for each in merge.kept)
        yield ""


def _suggestions(site: SiteImport) -> Iterator[str]:
    if entries := suggest_entries(site.all_notices):
        yield f"## Suggested entries for `{FILE}`\n"
        yield f"Copy them to `{FILE}` in the folder of the new site, change them, and import again.\n"
        yield (
            '`"[!NOTE]"` makes a callout, `"{content}"` keeps only the content, so that a block without '
            "content disappears, and any other text replaces the block.\n"
        )
        yield f"```yaml\n{format_yaml(entries)}```\n"


def withheld_line(done: ImportResult) -> str:
    """Return the number of withheld pages as a sentence; empty if there are none."""
    count = sum(notice.kind == "withheld" for notice in done.site.all_notices)
    return f"not imported: {plural(count, 'page')} that the old site hides from readers" if count else ""


def next_steps(done: ImportResult) -> list[str]:
    """Return the next steps for the author, in order."""
    steps = []
    if done.merge.conflicts:
        steps.append(f"Merge each file below `{CONFLICTS}/` with yours, and remove it there.")
    if done.check.differences:
        steps.append("Check what is missing in the new pages; import-report.md lists it first.")
    if done.check.errors:
        steps.append("Fix the errors that `blogsmith check` reports; the old site had most of them too.")
    if any(notice.kind == "left" for notice in done.site.all_notices):
        steps.append("Rewrite the untranslated parts: search the pages for `<!-- import:`.")
    if suggest_entries(done.site.all_notices):
        steps.append(f"For blocks that occur often, write replacements into `{FILE}`, and import again.")
    kept = [name for notice in done.site.all_notices if notice.kind == "kept" for name in _names(notice)]
    if kept:
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(kept))
        steps.append(f"Show these front matter keys in a layout, or remove them: {names}.")
    for what in LOST_MESSAGES:
        found = [notice for notice in done.site.notices if notice.message.startswith(what)]
        names = ", ".join(f"`{name}`" for notice in found for name in _names(notice))
        steps += [f"Replace or remove {what}: {names}."] if names else []
    return [*steps, "Run `blogsmith serve` to preview the site."]


def _names(notice: Notice) -> list[str]:
    """Return the quoted names in a notice. For a notice of kind `kept`, return only the last name, which
    templates use."""
    names = re.findall('"([^"]+)"', notice.message)
    return names[-1:] if notice.kind == "kept" else names


def _unknown_commands(check: SiteCheck) -> Iterator[str]:
    if check.unknown_commands:
        yield "## Unknown commands in formulas\n"
        yield "Define them under `math.macros` in blogsmith.yaml.\n"
        yield from (f"- {_code(name)}{_times(n, '')}" for name, n in check.unknown_commands.most_common())
        yield ""


def _differences(done: ImportResult) -> Iterator[str]:
    check = done.check
    differences = check.differences
    if check.unreadable_files:
        yield "Not compared, because their front matter cannot be read:\n"
        yield from (f"- {_escape(source)}" for source in check.unreadable_files)
        yield ""
    if not differences:
        if check.pages and not check.unreadable_files and not done.problems:
            yield "Nothing is missing in the new pages.\n"
        return
    yield f"## Missing in the new pages: {plural(len(differences), 'difference')}\n"
    for one in differences:
        place, times = _location(one.source, one.line), _times(one.count, one.what)
        yield f"- {place}: {one.what}: {_code(one.text)}{times}"
    yield ""


def published_line(check: PublishedCheck) -> str:
    """Return a sentence that counts the pages and items compared with the published site."""
    counts = [plural(check.counts["pages"], "page")]
    counts += [plural(count, KINDS[kind]) for kind, count in check.counts.items() if kind in KINDS]
    return f"compared with the published site: {', '.join(counts)}"


def _published(check: PublishedCheck) -> Iterator[str]:
    yield f"## The published site\n\n{published_line(check).capitalize()}.\n"
    for what, addresses in (
        ("imported but not on the published site", check.unmatched),
        ("on the published site but not in the new site", check.unanswered),
    ):
        if addresses:
            yield f"- {plural(len(addresses), 'page')} {what}"
            yield from _places(map(_code, addresses))
    yield ""


def _times(count: int, what: str) -> str:
    return f" ({count} times)" if count > 1 and what != "words" else ""


def _notices(heading: str, notices: Sequence[Notice]) -> Iterator[str]:
    if not notices:
        return
    yield f"## {heading}\n"
    grouped: dict[tuple[str, str], list[Notice]] = {}
    for notice in notices:
        grouped.setdefault((notice.message, notice.hint), []).append(notice)
    for (message, hint), every in grouped.items():
        yield (f"- {_escape(message)}" + (f"; {_escape(hint)}" if hint else "") + _times(len(every), ""))
        places = [_location(notice.source, notice.line) for notice in every if notice.source]
        yield from _places(places, _MAX_LOCATIONS if every[0].kind != "withheld" else len(places))
    yield ""


def _diagnostics(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    if not diagnostics:
        return
    yield "## What `blogsmith check` reports\n"
    grouped: dict[tuple[str, str], list[Diagnostic]] = {}
    for found in diagnostics:
        grouped.setdefault((found.severity, found.code), []).append(found)
    for (severity, code), every in sorted(grouped.items()):
        yield f"- {severity} `{code}`{_times(len(every), '')}"
        yield from _places(
            f"{_location(found.path, found.place.line if found.place else 0)}: {_escape(found.message)}"
            for found in every
        )
    yield ""


def _places(places: Iterable[str], most: int = _MAX_LOCATIONS) -> Iterator[str]:
    every = list(places)
    yield from (f"  - {place}" for place in every[:most])
    if len(every) > most:
        yield f"  - and {len(every) - most} more, in {RECORD}"


def _location(source: str, line: int) -> str:
    return f"{_escape(source)}:{line}" if line else _escape(source)


def _escape(text: str) -> str:
    """Return text of a source with HTML escaped, except inside code spans."""
    text = printable(text)
    pieces = [text] if "``" in text else re.split(r"(`[^`]*`)", text)
    return "".join(piece if number % 2 else piece.replace("<", "&lt;") for number, piece in enumerate(pieces))


def _code(text: str) -> str:
    text = " ".join(text.split())
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"`{text}`" if fence == "`" else f"{fence} {text} {fence}"
