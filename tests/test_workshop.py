"""The context of a build: settings, theme, trusted plugins, the table of callout kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import Diagnostic, Place, SiteError
from blogsmith.project.context import SiteContext, default_context, open_site
from blogsmith.project.trust.consent import trust


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def site(tmp_path: Path, config: str, **files: str) -> Path:
    """Create a site with these settings; `plugins__x` is the file `plugins/x.py`."""
    root = tmp_path / "site"
    (root / "plugins").mkdir(parents=True)
    (root / "blogsmith.yaml").write_text(config, encoding="utf-8")
    for name, text in files.items():
        (root / f"{name.replace('__', '/')}.py").write_text(text, encoding="utf-8")
    return root


def failure(root: Path, base_url: str | None = None) -> Diagnostic:
    with pytest.raises(SiteError) as caught:
        open_site(root, base_url)
    return caught.value.diagnostics[0]


def kinds(context: SiteContext, name: str) -> tuple[str, str, bool, str]:
    row = context.options.kinds[name]
    return row.name, row.title, row.numbered, row.color


def test_defaults(tmp_path: Path) -> None:
    context = open_site(site(tmp_path, ""))
    assert (context.config.theme, context.theme.name, context.plugins.names) == ("paper", "paper", ())
    assert context.options.block_classes == {}
    assert "hf-space" not in context.theme.shortcode_names()


def test_bundled_plugins_need_no_trust(tmp_path: Path) -> None:
    context = open_site(site(tmp_path, "plugins: [hf_space, emoji_callouts]\n"))
    assert context.plugins.names == ("hf_space", "emoji_callouts")
    assert context.options.block_classes == {"hf-space": "hf-space"}
    assert "hf-space" in context.theme.shortcode_names()
    assert ("💡 Key insight:", "insight") in context.options.prefixes


def test_own_plugins_need_trust(tmp_path: Path) -> None:
    code = 'def register(hooks):\n    hooks.callout_kind("aside", "Aside")\n'
    root = site(tmp_path, "plugins:\n  - hf_space\n  - mine\n", plugins__mine=code)
    found = failure(root)
    assert (found.code, found.place, found.source_line) == ("plugin-untrusted", Place(3, 5, 4), "  - mine")
    assert "read plugins/mine.py" in found.hint
    trust(root)
    assert open_site(root).plugins.names == ("hf_space", "mine")


def test_an_untrusted_site_cannot_stand_in_for_a_bundled_plugin(tmp_path: Path) -> None:
    root = site(tmp_path, "plugins: [hf_space]\n", plugins__hf_space="raise SystemError('ran')\n")
    assert open_site(root).plugins.block_divs == {"hf-space": "hf-space"}


def test_untrusted_code_is_not_run(tmp_path: Path) -> None:
    code = f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\n"
    failure(site(tmp_path, "plugins: [mine]\n", plugins__mine=code))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("config", "code", "place"),
    [
        ("title: x\ntheme: papr\n", "theme-missing", Place(2, 8, 4)),
        ("plugins: [hf_spce]\n", "plugin-missing", Place(1, 11, 7)),
        ("plugins: [hf_space, hf_spce]\n", "plugin-missing", Place(1, 21, 7)),
        ("tilte: x\n", "config-key", Place(1, 1, 5)),
    ],
)
def test_mistakes_stand_at_their_setting(tmp_path: Path, config: str, code: str, place: Place) -> None:
    found = failure(site(tmp_path, config))
    assert (found.code, found.path, found.place) == (code, "blogsmith.yaml", place)


def test_base_url_of_the_command_line(tmp_path: Path) -> None:
    root = site(tmp_path, "base_url: https://example.org/a\n")
    assert open_site(root).config.base_path == "/a"
    context = open_site(root, "https://example.org/b/c/")
    assert (context.config.base_path, context.theme.base_path) == ("/b/c", "/b/c")
    assert failure(root, "ftp://x").code == "config-value"


def test_kinds_of_the_site(tmp_path: Path) -> None:
    config = (
        "callouts:\n"
        "  recap: {title: In short, color: teal, alias: [short], prefix: 'In short:'}\n"
        "  theorem: {title: Satz}\n"
        "  warning: {color: purple}\n"
        "  two-words: {numbered: true}\n"
    )
    context = open_site(site(tmp_path, config))
    assert kinds(context, "recap") == kinds(context, "short") == ("recap", "In short", False, "teal")
    assert kinds(context, "theorem")[:3] == ("theorem", "Satz", True)
    assert kinds(context, "warning")[1::2] == ("Warning", "purple")
    assert kinds(context, "two-words")[:3] == ("two-words", "Two words", True)
    assert context.options.prefixes == (("In short:", "recap"),)


def test_longer_prefixes_are_tried_first(tmp_path: Path) -> None:
    config = "callouts:\n  a: {prefix: 'N:'}\n  b: {prefix: 'N: B:'}\n  c: {prefix: 'M:'}\n"
    context = open_site(site(tmp_path, config))
    assert [prefix for prefix, _ in context.options.prefixes] == ["N: B:", "M:", "N:"]


def test_a_site_changes_a_plugins_kind(tmp_path: Path) -> None:
    config = "plugins: [emoji_callouts]\ncallouts:\n  insight: {title: Aha}\n"
    context = open_site(site(tmp_path, config))
    assert kinds(context, "insight")[1::2] == ("Aha", "amber")
    assert ("💡 Key insight:", "insight") in context.options.prefixes


def test_without_a_site(tmp_path: Path) -> None:
    context = default_context(tmp_path)
    assert (context.config.title, context.theme.name) == ("Untitled site", "paper")
    assert context.settings.diagnostics == ()
