"""Severity of diagnostics: which codes may be lowered, and for which files a rule applies."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.base.diagnostics.codes import (
    CELL_CODES,
    CODES,
    LOWERABLE,
    PUBLICATION_CODES,
    SITE_CODES,
    UNREAD_CODES,
    has_warnings,
)
from blogsmith.base.diagnostics.levels import DiagnosticLevels, LevelRule
from blogsmith.base.diagnostics.model import Diagnostic, Place
from blogsmith.cli.main import main
from blogsmith.config.load import parse_config
from tests.preview_sites import new_line, settled
from tests.rows import each_row
from tests.site_files import build, put, put_bare

_KINDS_OF_LOSS = ("math-", "cell-", "value-", "claim-", "yaml-", "plugin", "template", "theme", "output-")
"""Prefixes of codes about formulas, code, settings, templates or files."""


@each_row("code", CODES)
def test_a_code_is_lowered_where_the_table_says_so(code: str) -> None:
    """Other codes cause an error at their position."""
    loaded = parse_config(f"diagnostics: {{{code}: warning}}\n")
    if code in LOWERABLE:
        assert loaded.diagnostics == ()
        assert loaded.config.diagnostics.levels == {code: (LevelRule("warning"),)}
    else:
        (found,) = loaded.diagnostics
        assert (found.code, found.place) == ("config-value", Place(1, len(code) + 17, 7))
        assert found.message == f'"{code}" cannot be lowered to a warning'
        assert found.hint and found.source_line


def test_what_is_never_lowered() -> None:
    assert not LOWERABLE & (CELL_CODES | SITE_CODES | PUBLICATION_CODES | UNREAD_CODES)
    assert not [code for code in LOWERABLE if code.startswith(_KINDS_OF_LOSS)]
    safety = {"attribute", "link-scheme", "embed-host", "symlink", "plugin-untrusted", "private-file"}
    lost = {"table-cells", "div-content", "shortcode-open", "fence-open", "footnote-twice", "nesting"}
    assert not LOWERABLE & (safety | lost)
    assert CODES.keys() >= LOWERABLE | SITE_CODES | PUBLICATION_CODES | UNREAD_CODES


@each_row("code", CODES)
def test_warnings_of_a_code_may_be_off_and_errors_never(code: str) -> None:
    loaded = parse_config(f"diagnostics: {{{code}: off}}\n")
    assert [found.code for found in loaded.diagnostics] == ([] if has_warnings(code) else ["config-value"])
    found = Diagnostic(code, "m", "content/a.md")
    assert DiagnosticLevels({code: (LevelRule("off"),)}).apply(found) is found


@each_row("code", CODES)
def test_any_warning_may_weigh_more(code: str) -> None:
    levels = parse_config(f"diagnostics: {{{code}: error}}\n").config.diagnostics.as_levels
    found = levels.apply(Diagnostic(code, "m", severity="warning"))
    assert found and found.severity == "error"


@each_row(
    ("glob", "path", "covers"),
    [
        ("posts/old/**", "content/posts/old/a.md", True),
        ("posts/old/**", "content/posts/old/b/index.md", True),
        ("content/posts/old/**", "content/posts/old/a.md", True),
        ("posts/old/**", "content/posts/older.md", False),
        ("posts/*.md", "content/posts/a.md", True),
        ("posts/*.md", "content/posts/a/index.md", False),
        ("**/index.md", "content/posts/a/index.md", True),
        ("**/index.md", "content/index.md", True),
        ("posts/20??-*", "content/posts/2019-a.md", True),
        ("posts/a.md", "content/posts/axmd", False),
        ("(", "content/posts/a.md", False),
    ],
)
def test_globs(glob: str, path: str, covers: bool) -> None:
    assert LevelRule("warning", (glob,)).covers(path) is covers


def test_the_first_rule_that_covers_a_file_counts() -> None:
    text = "diagnostics:\n  link-missing:\n    - {level: error, in: posts/new/**}\n    - warning\n"
    loaded = parse_config(text)
    assert loaded.diagnostics == ()
    levels = loaded.config.diagnostics.as_levels
    found = [levels.apply(Diagnostic("link-missing", "m", f"content/posts/{name}/a.md")) for name in "ab"]
    assert [one.severity for one in found if one] == ["warning"] * 2
    new = levels.apply(Diagnostic("link-missing", "m", "content/posts/new/a.md"))
    assert new and new.severity == "error"


def test_only_content_is_lowered() -> None:
    """A link of the menu is a setting."""
    levels = DiagnosticLevels({"link-missing": (LevelRule("warning"),)})
    found = Diagnostic("link-missing", "m", "blogsmith.yaml")
    assert levels.apply(found) is found


@each_row(
    ("text", "message", "hint"),
    [
        ("{link-mising: warning}", 'unknown code "link-mising"', "did you mean `link-missing`?"),
        ("{link-missing: warn}", '"link-missing" must be error, warning or off', "did you mean `warning`?"),
        (
            "{link-missing: {in: a}}",
            'missing key "level"',
            "write `{level: warning, in: …}` or `link-missing: warning`",
        ),
        ("{link-missing: {level: warning, on: a}}", 'unknown key "on"', "write one of `level`, `in`"),
        (
            "{link-missing: off}",
            '"link-missing" cannot be "off": errors cannot be silenced',
            "write `warning`",
        ),
        (
            "{link-missing: 3}",
            '"link-missing" must be error, warning or off, or a mapping with "level" and "in"',
            "",
        ),
        ("{ignore: x}", '"ignore" must be a list of strings', "write a list such as `[link-missing]`"),
    ],
)
def test_mistakes_in_the_settings(text: str, message: str, hint: str) -> None:
    (found,) = parse_config(f"diagnostics: {text}\n").diagnostics
    assert (found.message, found.hint) == (message, hint)
    assert found.place and found.place.line == 1


def test_the_settings_count_in_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build, its cached report without changes, a check, and the preview."""
    text = "---\ntitle: A\n---\n[dead](gone.md)\n"
    settings = "title: S\ndiagnostics:\n  link-missing: {level: warning, in: posts/old/**}\n"
    put_bare(tmp_path, {"blogsmith.yaml": settings, "content/posts/old/a.md": text})
    monkeypatch.chdir(tmp_path)
    for command in ("build", "build", "check", "check"):
        assert main([command]) == 0
        assert 'warning: page or file not found: "gone.md" [link-missing]' in capsys.readouterr().err
    assert main(["build", "--strict"]) == 1
    line = new_line(tmp_path)
    present = settled(line)
    (found,) = present.page_diagnostics["content/posts/old/a.md"]
    assert found.severity == "warning"
    put(tmp_path, {"blogsmith.yaml": "title: S\ntheme: bare\n"})
    assert main(["build"]) == 1
    (found,) = settled(line, present).page_diagnostics["content/posts/old/a.md"]
    assert found.severity == "error"


def test_what_is_lowered_stays_to_be_seen(tmp_path: Path) -> None:
    """No text is lost."""
    text = (
        "[one](gone.md) [two](#gone) [@three] {@eq:four} {@five#eq:x} six[^six] ![seven](gone.png)\n\n"
        '<img src="https://elsewhere.example/a.png" alt="eight">\n\n'
        "Nine {% post_url 2020-01-01-ten %} eleven\n\n"
        "{% highlight python %}\ntwelve = 12\n{% endhighlight %}\n\n"
        "## Thirteen {#a}\n\n## Fourteen {#a}\n\n[fifteen](draft.md) ![sixteen](bad.png)\n"
    )
    levels = "".join(f"  {code}: warning\n" for code in sorted(LOWERABLE))
    files = {
        "blogsmith.yaml": f"title: S\ndiagnostics:\n{levels}",
        "content/posts/a.md": f"---\ntitle: A\nstatus: maybe\n---\n{text}",
        "content/posts/draft.md": "---\ndraft: true\n---\nNot for everybody.\n",
        "content/posts/bad.png": "no picture",
    }
    report = build(put_bare(tmp_path, files))
    assert report.ok, report.diagnostics
    assert LOWERABLE - {one.code for one in report.diagnostics} == {
        *("drawing-alt", "front-matter-value", "image-fetch", "image-width", "label-twice", "proof-circle")
    }
    page = (tmp_path / "public/posts/a/index.html").read_text()
    words = "one two three eq:four five#eq:x [^six] seven eight Nine 2020-01-01-ten eleven"
    words += " highlight twelve endhighlight Thirteen Fourteen fifteen sixteen"
    assert [word for word in words.split() if word not in page] == []
    assert '<a href="https://elsewhere.example/a.png">eight</a>' in page
    assert page.count("elsewhere.example") == 1 and "Not for everybody" not in page
