"""Every fix is applied to its file: its diagnostic must be gone without new errors.

`make test` tries one of each code; `make test-long` each one of all broken sites.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest

from blogsmith.base.diagnostics.codes import CODES, FIXABLE
from tests.fixed_sites import FixTrial, trials
from tests.site_files import read_site_text
from tests.test_broken import FILES, FOLDER

ROWS = MappingProxyType(
    {
        "bibliography-missing": ("bibliography-file",),
        "callout-id-twice": ("label-twice",),
        "callout-doubtful": ("callout-doubtful",),
        "cell-fallback": ("cell-fallback",),
        "cell-habits": ("fence-info",),
        "cell-kernel": ("cell-option",),
        "cell-magic": ("cell-magic",),
        "citation-style": (
            "citation-style",
            "front-matter-value",
        ),
        "cite-key": ("citation-key",),
        "claim-tuple": ("cell-assert",),
        "code-mark": ("code-mark",),
        "config-symbols": (
            "config-key",
            "config-value",
        ),
        "diagnostics-levels": ("heading-h1",),
        "div-open": ("div-open",),
        "div-unknown": ("div-unknown",),
        "fence-open": ("fence-open",),
        "fix-doubts": (
            "foreign-syntax",
            "label-unused",
            "macro-bypassed",
            "macro-unused",
            "notation-mixed",
        ),
        "fix-links": (
            "attribute",
            "id-twice",
            "image-width",
            "link-anchor",
            "link-missing",
            "link-scheme",
            "math-command",
            "math-syntax",
            "ref-kind",
            "ref-page",
            "slug",
            "value-open",
        ),
        "fix-yaml": (
            "date",
            "yaml-syntax",
        ),
        "footnote-undefined": (
            "footnote-undefined",
            "footnote-unused",
        ),
        "front-foreign-unread": ("front-matter-key",),
        "front-json": ("json-syntax",),
        "front-misspelt": ("front-matter-key",),
        "front-open": ("front-matter-open",),
        "front-toml": ("toml-syntax",),
        "front-types": ("front-matter-unknown",),
        "hidden-character": ("hidden-character",),
        "image-missing": ("image-missing",),
        "image-record": ("image-record",),
        "include-code": (
            "include-region",
            "shortcode-argument",
        ),
        "label-unnumbered": ("label-unnumbered",),
        "language-key": ("language-key",),
        "language-value": ("language-value",),
        "link-nested": ("link-nested",),
        "math-dollar": ("math-dollar",),
        "math-escape": ("math-escape",),
        "math-html": (
            "dollar-doubtful",
            "math-unclosed",
        ),
        "math-in-sentence": ("math-in-sentence",),
        "near-misses": (
            "heading-doubtful",
            "link-space",
        ),
        "near-misses-formulas": ("emphasis-doubtful",),
        "plugin-missing": ("plugin-missing",),
        "read-nul": ("encoding",),
        "ref-other-post": ("ref-undefined",),
        "several-in-one-file": (
            "callout-kind",
            "code-language",
        ),
        "section-rules": ("front-matter-rule",),
        "shortcode-open": ("shortcode-open",),
        "shortcode-unknown": ("shortcode-unknown",),
        "template-block": ("template-block",),
        "template-layout": ("layout-unknown",),
        "solution-exercise": ("solution-exercise",),
        "style-file": ("style-file",),
        "style-property": ("style-property",),
        "style-syntax": ("style-syntax",),
        "term-spelling": ("term-spelling",),
        "theme-missing": ("theme-missing",),
        "theme-value": ("theme-value",),
        "url-alias": ("alias",),
        "url-moved": ("url-moved",),
        "yaml-comment": ("yaml-comment",),
        "yaml-duplicate": ("yaml-duplicate-key",),
        "yaml-escape": ("yaml-escape",),
    }
)
"""Broken site → codes of fixes that are tried there."""


def test_many_codes_have_a_fix() -> None:
    assert len(FIXABLE) >= 60
    assert set(CODES) >= FIXABLE
    assert {code for codes in ROWS.values() for code in codes} == FIXABLE


@pytest.mark.parametrize("name", ROWS)
def test_fix(name: str) -> None:
    wanted = dict.fromkeys(ROWS[name])
    for trial in trials(read_site_text(FOLDER / f"{name}.txt"), wanted):
        assert not trial.problem, (trial.found, trial.problem)
    assert not wanted, "nothing of these codes has a fix"


TOGETHER = {
    # of two labels with the same name, the other one is unused then
    ("label-unused", "label-twice"): "",
    # the theorem that is referred to needs another fix
    ("foreign-syntax", "foreign-syntax"): "new errors: ref-undefined",
}
"""Codes of a fix and of another diagnostic → result of the fix alone; empty: anything."""


def is_expected(trial: FixTrial) -> bool:
    """Return whether another fix is needed as well."""
    codes = {found.code for found in trial.before.diagnostics if found is not trial.found}
    found = [TOGETHER.get((trial.found.code, code)) for code in codes]
    return any(problem in ("", trial.problem) for problem in found)


@pytest.mark.long
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_all_fixes(file: Path) -> None:
    for trial in trials(read_site_text(file)):
        assert not trial.problem or is_expected(trial), (trial.found, trial.problem)
