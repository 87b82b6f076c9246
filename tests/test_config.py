"""`blogsmith.yaml`: values, defaults, and every error at its position in one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.config.load import load_config, parse_config
from blogsmith.config.schema import CalloutKind, Config, MenuItem
from blogsmith.config.services import ANALYTICS_HINT, COMMENTS_HINT
from tests.rows import each_row


def faults(text: str) -> list[str]:
    """Return each diagnostic of a settings file as `code line:column message`."""
    loaded = parse_config(text)
    return [
        f"{d.code} {d.place.line}:{d.place.column} {d.message}" if d.place else f"{d.code} {d.message}"
        for d in loaded.diagnostics
    ]


FULL = r"""
title: Notes
base_url: https://example.org/blog/
lang: pt-BR
theme: terminal
theme_options: {accent: [1, x]}
output: build/site
timezone: Europe/Vienna
menu:
  - {title: Posts, url: /posts/}
  - {title: Code, url: "https://example.org"}
permalinks: {posts: "/blog/:year/:month/:slug/"}
toc: false
plugins: [emoji, my_plugin]
callouts:
  insight: {title: Key insight, color: amber, alias: [aha], prefix: "💡 Key insight:"}
math:
  macros: {\R: '\mathbb{R}'}
  numbering: all
code: {deadline_s: 1, max_line: 500}
embeds: {allow: [vimeo]}
diagnostics: {ignore: [front-matter-key]}
execute: off
"""


def test_every_kind_of_setting_is_read() -> None:
    loaded = parse_config(FULL.lstrip())
    config = loaded.config
    assert loaded.diagnostics == ()
    assert (config.title, config.base_path, config.toc, config.lang) == ("Notes", "/blog", False, "pt-BR")
    assert config.menu == (
        MenuItem(title="Posts", url="/posts/"),
        MenuItem(title="Code", url="https://example.org"),
    )
    assert config.callouts == {
        "insight": CalloutKind(title="Key insight", color="amber", alias=("aha",), prefix="💡 Key insight:")
    }
    assert config.theme_options == {"accent": [1, "x"]}
    assert config.math.macros == {r"\R": r"\mathbb{R}"}
    assert (config.code.deadline_s, config.code.max_line) == (1.0, 500)
    assert loaded.locations[("math", "numbering")].line == 18


@each_row("text", ["", "\n# nothing\n", "---\n", "title:\nmenu:\n", "\ufeff{}\r\n"])
def test_nothing_set_gives_the_defaults(text: str) -> None:
    loaded = parse_config(text)
    assert loaded.diagnostics == ()
    assert loaded.config == Config()


@each_row(
    ("text", "expected"),
    [
        ("titel: x", ['config-key 1:1 unknown key "titel"']),
        ("math: {macro: {}}", ['config-key 1:8 unknown key "macro"']),
        ("menu:\n  - {title: a, url: /, icon: x}", ['config-key 2:24 unknown key "icon"']),
        ("menu:\n  - {titel: a, url: /}", ['config-key 2:6 unknown key "titel"']),
        ("menu: [{url: /}]", ['config-value 1:8 missing key "title"']),
        ("title: 2026", ['config-value 1:8 "title" must be a string']),
        ("toc: yes", ['config-value 1:6 "toc" must be true or false']),
        ("plugins: emoji", ['config-value 1:10 "plugins" must be a list of strings']),
        ("menu: x", ['config-value 1:7 "menu" must be a list']),
        ("menu: [x]", ['config-value 1:8 entry 1 of "menu" must be settings as `key: value`']),
        ("math: x", ['config-value 1:7 "math" must be settings as `key: value`']),
        ("permalinks: []", ['config-value 1:13 "permalinks" must be a mapping of `key: value`']),
        (
            "execute: some",
            ['config-value 1:10 "execute" must be one of all, marked, off or settings as `key: value`'],
        ),
        ("code: {max_line: 1.5}", ['config-value 1:18 "max_line" must be a whole number']),
        ("code: {deadline_s: fast}", ['config-value 1:20 "deadline_s" must be a number']),
        ("- a", ["config-value 1:1 the file must contain `key: value` lines"]),
        (
            "base_url: ftp://x",
            ['config-value 1:11 "base_url" must start with "http://" or "https://" and contain no spaces'],
        ),
        ("base_url: https://a/?b", ['config-value 1:11 "base_url" must not contain "?" or "#"']),
        ("base_url: https://a/#b", ['config-value 1:11 "base_url" must not contain "?" or "#"']),
        ("base_url: https:///b", ['config-value 1:11 "base_url" must contain a host and no user name']),
        ("base_url: https://u@b", ['config-value 1:11 "base_url" must contain a host and no user name']),
        ("base_url: 'https://[b'", ['config-value 1:11 "base_url" has an invalid host or port']),
        ("base_url: https://b:99999", ['config-value 1:11 "base_url" has an invalid host or port']),
        (
            "base_url: https://b/../c",
            ['config-value 1:11 "base_url" must not contain "." or ".." in its path'],
        ),
        ("output: /tmp", ['config-value 1:9 "output" must be a relative path inside the site']),
        ("output: a/../..", ['config-value 1:9 "output" must be a relative path inside the site']),
        ("output: 'C:\\x'", ['config-value 1:9 "output" must be a relative path inside the site']),
        ("output: ./", ['config-value 1:9 "output" must name a folder inside the site']),
        (
            "output: Content",
            ['config-value 1:9 "output" cannot be "Content", which contains files of the site'],
        ),
        ("output: .git/x", ['config-value 1:9 "output" cannot be ".git", which contains files of the site']),
        ("timezone: Mars/Base", ['config-value 1:11 unknown time zone "Mars/Base"']),
        ("timezone: localtime", ['config-value 1:11 unknown time zone "localtime"']),
        ("timezone: ../../etc/passwd", ['config-value 1:11 unknown time zone "../../etc/passwd"']),
        ("lang: en_US", ['config-value 1:7 invalid language tag "en_US"']),
        ("theme: ../x", ['config-value 1:8 invalid theme name "../x"']),
        ("plugins: [a, b/c]", ['config-value 1:14 invalid plugin name "b/c"']),
        ('menu: [{title: a, url: "javascript:x"}]', ['config-value 1:24 invalid URL "javascript:x"']),
        ("menu: [{title: a, url: //evil}]", ['config-value 1:24 invalid URL "//evil"']),
        ("math: {macros: {R: x}}", ['config-value 1:17 invalid macro name "R"']),
        ("callouts: {Big: {}}", ['config-value 1:12 invalid callout name "Big"']),
        ("callouts: {big: {color: gren}}", ['config-value 1:25 unknown color "gren"']),
        ("permalinks: {posts: blog/:slug}", ['config-value 1:21 permalink "blog/:slug" must start with "/"']),
        (
            "permalinks: {posts: /a/}",
            ['config-value 1:21 permalink "/a/" must contain ":slug", otherwise all posts have the same URL'],
        ),
        ("permalinks: {posts: /:slg/}", ['config-value 1:21 unknown placeholder ":slg"']),
        (
            "permalinks: {posts: /../:slug}",
            [
                'config-value 1:21 permalink "/../:slug" may only contain '
                "letters, digits, `-`, `_`, `.`, `~` and single slashes"
            ],
        ),
        ("code: {deadline_s: 0}", ['config-value 1:20 "deadline_s" must be more than 0']),
        ("code: {deadline_s: .inf}", ['config-value 1:20 "deadline_s" must be more than 0']),
        ("code: {max_line: 0}", ['config-value 1:18 "max_line" must be at least 1']),
        ("embeds: {allow: [vimeo, dailymotion]}", ['config-value 1:25 unknown provider "dailymotion"']),
        ("diagnostics: {ignore: [front-mater-key]}", ['config-value 1:24 unknown code "front-mater-key"']),
        ("diagnostics: {documentation: 1}", ['config-value 1:30 "documentation" must be a string']),
        (
            "diagnostics: {documentation: example.org/docs}",
            [
                'config-value 1:30 "documentation" must start with "http://" or "https://" '
                "and contain no spaces",
            ],
        ),
        (
            "a: 1\ntoc: 1\nlang: 1_\ntitle: b: c\n",
            [
                'yaml-syntax 4:8 a value that contains ": " needs quotes',
                'config-key 1:1 unknown key "a"',
                'config-value 2:6 "toc" must be true or false',
                'config-value 3:7 invalid language tag "1_"',
            ],
        ),
    ],
)
def test_mistakes_are_reported_at_their_places(text: str, expected: list[str]) -> None:
    assert faults(text) == expected


@each_row(
    ("text", "hint"),
    [
        ("titel: x", "did you mean `title`?"),
        ("math: {numberng: all}", "did you mean `numbering`?"),
        ("title: 2026", "put it in quotes"),
        ("timezone: Europe/Viena", "did you mean `Europe/Vienna`?"),
        ("permalinks: {posts: /:slg/}", "did you mean `:slug`?"),
        ("diagnostics: {ignore: [front-mater-key]}", "did you mean `front-matter-key`?"),
        ("diagnostics: {documentaton: 'https://example.org'}", "did you mean `documentation`?"),
        ("embeds: {allow: [youtub]}", "did you mean `youtube`?"),
        ("analytics: google", ANALYTICS_HINT),
        ("analytics: {provider: Google-Analytics}", ANALYTICS_HINT),
        ("analytics: {provider: goatcountr}", "did you mean `goatcounter`?"),
        ("google_analytics: G-XXXXXXX", ANALYTICS_HINT),
        ("comments: disqus", COMMENTS_HINT),
        ("comments: {provider: disqus}", COMMENTS_HINT),
        ("disqusShortname: notes", COMMENTS_HINT),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert [d.hint for d in parse_config(text).diagnostics] == [hint]


def test_a_wrong_setting_has_its_default_and_the_others_stand() -> None:
    config = parse_config("timezone: Mars\ntoc: 7\nlang: de\nmath: {macros: {R: x, \\S: y}}\n").config
    assert (config.timezone, config.toc, config.lang) == ("UTC", True, "de")
    assert config.math == Config().math


def test_what_stands_beside_a_wrong_value_counts() -> None:
    settings = parse_config("execute: {mode: off, memory: lots, env: [A, B=1]}\n").config.execution
    assert (settings.mode, settings.memory, settings.env) == ("off", "4 GB", ())


def test_hundreds_of_unknown_keys_end_in_a_bounded_report() -> None:
    assert len(parse_config("".join(f"key{n}: 1\n" for n in range(5000))).diagnostics) == 100


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"title: a\r\nlang: de\r\n", []),
        (b"\xef\xbb\xbftitle: a\n", []),
        (b"title: \xff\n", ["encoding"]),
        (b"title: a\0\n", ["encoding"]),
        (b"\xff\xfet\0", ["encoding"]),
        (b"#" * 70_000, ["file-too-large"]),
    ],
)
def test_bytes_of_the_file(tmp_path: Path, data: bytes, expected: list[str]) -> None:
    (tmp_path / "blogsmith.yaml").write_bytes(data)
    assert [d.code for d in load_config(tmp_path).diagnostics] == expected


def test_a_folder_without_settings_is_no_site(tmp_path: Path) -> None:
    loaded = load_config(tmp_path)
    assert [(d.code, d.path) for d in loaded.diagnostics] == [("config-missing", "blogsmith.yaml")]
    assert "blogsmith new site" in loaded.diagnostics[0].hint


@pytest.mark.parametrize("kind", ["folder", "dangling link"])
def test_settings_that_are_no_file(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "blogsmith.yaml"
    file.mkdir() if kind == "folder" else file.symlink_to("nowhere")
    assert [d.code for d in load_config(tmp_path).diagnostics] == ["unreadable"]
