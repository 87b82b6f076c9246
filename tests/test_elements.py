"""`new page --elements`: the page shows every element, and builds without a warning in every theme."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from blogsmith.cli.new_site import FirstSettings, new_site
from blogsmith.config.load import load_config
from blogsmith.project.bundled_folders import bundled_folder
from blogsmith.project.trust.consent import trust
from blogsmith.syntax.kinds import ROWS
from tests.cases_io import all_cases
from tests.site_files import build, printed
from tests.test_sites import broken_addresses

TODAY = dt.date(2026, 3, 1)
THEMES = sorted(file.parent.name for file in bundled_folder("themes").glob("*/theme.yaml"))
CLASS = re.compile(r'\bclass="([^"]*)"')
TAG = re.compile(r"<([a-z][a-z0-9]*)")

NOT_SHOWN = {
    "classes that the author of a case chose": (
        "appendix dark dark-ok external fine grid hf-spaces intro light margin mono narrow note old striped "
        "term unlisted unnumbered x"
    ),
    "callouts of a site's own": (
        "callout-aside callout-insight callout-margin callout-notice callout-recipe callout-rule"
    ),
    "pages of another kind, or settings of a site": (
        "award bibtex by-author by-style filter-mark heading-number publication-kinds publication-year "
        "publications ref-number step solutions changes venue work-side"
    ),
    "what is wrong, too much or out of date": (
        "cols-1 diagram-source math-error math-long output-dropped value-pending value-stale"
    ),
    "HTML of the author": "caption c",
    "words of highlighted languages": (
        "l language-c++ language-cuda language-fortran language-haskell language-lean "
        "language-ocaml language-php language-rust language-tex language-vim language-yaml "
        "language-Python language-bibtex language-css language-go language-html language-javascript "
        "language-js language-julia language-markdown language-mermaid language-py-onload-x "
        "language-pyton language-sql language-tikz nd ne nt nx s1 sb "
    ),
}
"""Classes of the case files that are not on the page, by reason."""
EXCEPTIONS = frozenset(name for names in NOT_SHOWN.values() for name in names.split())
TAGS_NOT_SHOWN = frozenset(
    (
        "b",
        "bdi",
        "center",
        "d",
        "i",
        "iframe",
        "int",
        "math",
        "small",
        "style",
        "textarea",
        "semantics",
        "defs",
        "use",
    )
)
"""HTML of the author, tags that browsers do not know, right-to-left text, and the content of formulas and
drawings."""

ELEMENTS = {
    "title": r'<h1 class="post-title"',
    **{f"heading {level}": rf'<h{level} id="[^"]+"' for level in range(2, 7)},
    "contents": r'<nav class="toc"',
    "emphasis": r"<em>",
    "strong": r"<strong>",
    "deleted": r"<del>",
    "marked": r"<mark>",
    "key": r"<kbd>",
    "abbreviation": r'<abbr title="',
    "line break": r"<br>",
    "thematic break": r"<hr\b",
    "quotation": r"<blockquote>",
    "nested list": r"<li>[^<]*<ul>|<li>[^<]*\n<ul>",
    "numbered list": r"<ol>",
    "task done": r'<input[^>]*type="checkbox"[^>]*checked',
    "definition list": r"<dl>\n<dt>",
    "aligned table": r'<th scope="col" class="align-right"',
    "numbered table": r'id="tbl-steps"',
    "note in the margin": r'<aside class="[^"]*margin-note',
    "folded callout": r'<details class="callout callout-note"',
    "open folded callout": r'<details class="callout callout-note"[^>]* open',
    "callout in a callout": r'<aside class="callout callout-note".*?<aside class="callout callout-tip"',
    "answer to a question": r'<details class="callout callout-success"',
    "numbered theorem": r'<aside class="callout callout-theorem"[^>]* id="thm-triangle"',
    "end of a proof": r'<span class="qed"',
    "inline math": r"<p>[^<]*<math alttext",
    "display math": r'<math display="block"',
    "numbered equation": r'<a class="eq-number" href="#eq-attention">',
    "numbered row": r'<mtr id="eq-first"',
    "tag": r'id="eq-star"',
    "reference to an equation": r'<a class="xref" href="#eq-attention">',
    "listing": r'id="lst-softmax"',
    "marked line": r'<span class="line hl[ "]',
    "line numbers": r'class="[^"]*\bnumbered\b',
    "fold of code": r'<details class="collapsible',
    "code of a file": r'<span class="code-title">mean.c',
    "tabs": r'<div class="tabs"',
    "code that readers run": r'<button[^>]*class="run-button"',
    "standard output": r'<pre class="output output-stdout',
    "standard error": r'<pre class="output output-stderr',
    "value": r'<div class="output output-value"',
    "computed table": r'id="tbl-squares"',
    "computed formula": r'<div class="output output-value">\s*<div class="math-display"',
    "computed figure": r'<figure class="output output-image" id="fig-lines"><picture>',
    "exception": r'<pre class="output output-error',
    "claim": r'<span class="claim-mark" ',
    "claim not checked": r'<span class="claim-mark claim-open"',
    "sweep": r'<div class="sweep-controls"',
    "provenance": r'<p class="provenance"',
    "value in the text": r"of 1, 2 and 4 is .*?2\.33",
    "numbered figure": r'<figure class="figure" id="fig-circle"',
    "figure in the margin": r'class="[^"]*margin-figure',
    "figure for light and dark pages": r'<picture class="scheme-pair">',
    "grid of two": r'<div class="image-grid cols-2"',
    "grid of three": r'<div class="image-grid cols-3"',
    "gallery": r'<div class="gallery',
    "lightbox": r'<a class="lightbox"',
    "compare slider": r'<input type="range" class="compare-slider"',
    "video file": r"<video [^>]*controls",
    "hosted video": r'<figure class="[^"]*video-embed" data-provider="youtube"',
    "space": r'<figure class="[^"]*hf-space',
    "diagram": r'<figure class="diagram"[^>]*>.*?<svg',
    "footnote": r'<sup class="footnote-ref">',
    "notes at the end": r'<section class="footnotes"',
    "citation": r'<cite class="citation">',
    "references": r'<section class="references"',
    "fold in HTML": r"<details>\n<summary>",
}
"""Elements of sections 3 to 7 of the vocabulary and of the manual, with their form on a page."""


def missing_elements(html: str) -> list[str]:
    """Return the elements that the page lacks: of ELEMENTS, the case files, and the callout kinds."""
    classes = {name for names in CLASS.findall(html) for name in names.split()}
    tags = {*TAG.findall(html)}
    missing = [name for name, pattern in ELEMENTS.items() if not re.search(pattern, html, re.DOTALL)]
    missing += [f"callout {row.name}" for row, _ in ROWS if f"callout-{row.name}" not in classes]
    for case in all_cases():
        if case.shows_mathml:
            continue
        used = {name for names in CLASS.findall(case.expected) for name in names.split()}
        absent = used - classes - EXCEPTIONS
        absent |= {f"<{tag}>" for tag in {*TAG.findall(case.expected)} - tags - TAGS_NOT_SHOWN}
        missing += [f"{name} of {case.id}" for name in sorted(absent)]
    return missing


def new_elements(root: Path, *arguments: str, theme: str = "paper") -> None:
    new_site(root, TODAY, FirstSettings("S", theme=theme))
    trust(root)
    assert main(["new", "page", "--elements", *arguments, "--site", str(root)]) == 0


@pytest.fixture(scope="module", params=THEMES)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the root of a new site with the page, built with a theme."""
    root = tmp_path_factory.mktemp("elements")
    new_elements(root, theme=request.param)
    report = build(root, drafts=True, strict=True)
    assert (report.diagnostics, report.ok) == ((), True), printed(report)
    return root


def page_of(root: Path) -> str:
    return (root / "public/elements/index.html").read_text("utf-8")


def test_the_page_has_every_element(built: Path) -> None:
    assert missing_elements(page_of(built)) == []


def test_no_exception_is_on_the_page(built: Path) -> None:
    classes = {name for names in CLASS.findall(page_of(built)) for name in names.split()}
    assert sorted(EXCEPTIONS & classes) == []


def test_the_page_is_valid_and_loads_nothing_from_elsewhere(built: Path) -> None:
    assert list(broken_addresses(built / "public", "")) == []
    assert (
        re.findall(r'<(?:img|script|link rel="stylesheet")[^>]*(?:src|href)="https?:[^"]*"', page_of(built))
        == []
    )


@pytest.mark.parametrize(
    ("removed", "name"),
    [
        (r'<figure class="image-compare".*?</figure>', "compare slider"),
        (r'<aside class="callout callout-danger".*?</aside>', "callout danger"),
        (r"<kbd>", "key"),
        (r'class="tab-body"', "tab-body of tabs:"),
        (r'<section class="references".*?</section>', "references"),
    ],
)
def test_an_element_that_is_gone_is_noticed(built: Path, removed: str, name: str) -> None:
    html = re.sub(removed, "", page_of(built), flags=re.DOTALL)
    assert any(missing.startswith(name) for missing in missing_elements(html))


def test_kinds_of_the_site_are_shown(tmp_path: Path) -> None:
    new_site(tmp_path, TODAY)
    config = tmp_path / "blogsmith.yaml"
    config.write_text(config.read_text("utf-8") + "\ncallouts: {insight: {title: Key insight}}\n", "utf-8")
    trust(tmp_path)
    assert main(["new", "page", "--elements", "--site", str(tmp_path)]) == 0
    assert build(tmp_path, drafts=True, strict=True).diagnostics == ()
    assert '<p class="callout-title">Key insight</p>' in page_of(tmp_path)


def test_what_needs_a_plugin_is_left_out_without_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new_site(tmp_path, TODAY)
    config = tmp_path / "blogsmith.yaml"
    config.write_text(re.sub(r"^plugins:.*", "", config.read_text("utf-8"), flags=re.MULTILINE), "utf-8")
    trust(tmp_path)
    assert main(["new", "page", "--elements", "--site", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert out.endswith("content/elements/index.md\n")
    assert "note: elements of these plugins are omitted: hf_space, mermaid\n" in err
    assert "hint: write `plugins: [hf_space, mermaid]` in blogsmith.yaml" in err
    assert build(tmp_path, drafts=True, strict=True).diagnostics == ()
    missing = missing_elements(page_of(tmp_path))
    assert {"space", "diagram"} <= {*missing}


def test_the_extra_of_a_plugin_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("blogsmith.cli.new_elements.find_spec", lambda name: None)
    new_elements(tmp_path)
    assert load_config(tmp_path).config.plugins == ("hf_space", "mermaid")
    err = capsys.readouterr().err
    assert "omitted: mermaid\nhint: install blogsmith with the extra `diagrams`" in err
    assert "write `plugins" not in err


def test_title_and_section(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new_elements(tmp_path, "All: the parts", "--section", "docs")
    file = tmp_path / "content/docs/all-the-parts/index.md"
    assert file.read_text("utf-8").startswith('---\ntitle: "All: the parts"\n')
    assert not re.search(r"@\w+.*@$", file.read_text("utf-8"), re.MULTILINE)
    assert capsys.readouterr().out.endswith("content/docs/all-the-parts/index.md\n")


def test_an_existing_page_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new_elements(tmp_path)
    assert main(["new", "page", "--elements", "--site", str(tmp_path)]) == 1
    assert '"content/elements" already exists' in capsys.readouterr().err


def test_a_page_without_elements_needs_a_title(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "page", "--site", str(tmp_path)]) == 2
    assert "Missing argument 'TITLE'" in capsys.readouterr().err
