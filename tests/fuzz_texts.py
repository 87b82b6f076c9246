"""Inputs of `fuzz_site`: random posts, records and requests, reproducible by seed and number."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.cases_io import case_files, read_cases, split_config, split_results
from tests.fault_variants import LINES, surround
from tests.markdown_texts import HOSTILE_TEXTS, MARKS, SLOTS
from tests.site_files import read_site_text
from tests.test_landmarks import PLACES, TRIGGERS
from tests.test_nothing_swallowed import CONSTRUCTS, DELIMITERS, FRONT, NOTE, PAIRS

ROOT = Path(__file__).parent.parent
KINDS = (
    *("markdown", "front matter", "shortcodes", "cells", "records", "preview", "requests"),
    *("sentences", "open HTML", "imports", "language server", "state"),
)
CONFIGS = (
    "plugins: [emoji_callouts, hf_space]\n",
    "markup: {untrusted: true}\nmath: {on_error: render}\nplugins: [emoji_callouts, hf_space]\n",
    "markup: {smart_quotes: true}\nnumbering: true\nmath: {numbering: all}\n",
    "math: {packages: [physics], on_error: render}\nexecute: all\n",
)
UNTRUSTED = CONFIGS[1]
MOST_CHARACTERS = 20_000
_HEAD_TOKENS = (
    *("title: ", "date: 2026-01-01\n", "tags: [", "]\n", "references:\n  - {id: a}\n", "  ", "- ", "{"),
    *("}", "'", '"', ": ", "#", "|\n", ">-\n", "&a ", "*a", "!!str ", "---\n", "...\n", "~\n"),
    *("true\n", "\t", "? ", "0x1f", "execute: {timeout: 3}\n", "series: {name: S, part: 1}\n"),
    *("math: {macros: {R: x}}\n", "slug: ", "\x00", "\ufeff"),
)
_CELL_TOKENS = (
    *("```{python}\n", "```\n", "#| label: a\n", "#| needs: [torch]\n", "#| echo: false\n", "{= x =}"),
    *("{= ", " =}", "#| fig-cap: |\n", "#|   x\n", "#| error: true\n", "#| claim: x\n", "{code-cell}"),
    *("#| run-in: browser\n", "%%bash\n", "x = 1\n", "1 / 0\n", "print('a')\n", "def f(:\n"),
    *("#| fallback: a\n", "~~~{r}\n", "#| tags: [x]\n", "#|\n", "@fig-a"),
)
_REQUEST_TOKENS = (
    *("GET ", "POST ", "/ ", "HTTP/1.1", "\r\n", "\n", "Host: 127.0.0.1:8000", "Origin: null"),
    *("Content-Length: 5", "Transfer-Encoding: chunked", "/%2e%2e/", "/%00", "\x00", "://", "?", "#"),
    *(" ", "\t", ":", ",", "*", "Range: bytes=0-", "/_blogsmith/", "version?path=", "do/edit", "\r\n\r\n"),
    *("Origin: http://127.0.0.1:8000", "X-Blogsmith-Token: t", "Content-Type: application/json", '{"path": '),
    *("X-Forwarded-For: 127.0.0.1", "Sec-Fetch-Site: cross-site", "/posts/a/", '"a"}', "[" * 9000, "HEAD "),
)
_REQUESTS = (
    "GET /posts/a/ HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n",
    "GET /_blogsmith/version?path=/posts/a/ HTTP/1.1\r\nHost: localhost:8000\r\nSec-Fetch-Site: same-origin"
    "\r\n\r\n",
    "POST /_blogsmith/do/edit HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nOrigin: http://127.0.0.1:8000\r\n"
    "Content-Type: application/json\r\nX-Blogsmith-Token: the token of this run\r\nContent-Length: 13\r\n\r\n"
    '{"path": "a"}',
)
_IMPORT_TOKENS = (
    *("{% include a.html %}", "{% for a in b %}", "{% endfor %}", "{% raw %}", "{{< figure src=a >}}"),
    *("{{< ", ">}}", "{{% notice %}}", "::: {.callout-note}\n", ":::\n", "```{note}\n", "!!! note\n    "),
    *("![[a.png]]", "[[a#b|c]]", "--8<-- 'a'", "{{ page.url }}", "{: .a #b}", "\\begin{align}", "$$"),
    *("+++\n", "---\n", "%%", "<details>", "<script>", "{{ site.baseurl }}/", "*[a]: b", "[^1]:", "{%", "%}"),
    *("\ue0100\ue011", "\x00", "../", "=== a.md\n", "=== index.ipynb\n", '{"cells": [', "&a [*a]", "title: "),
)
_SHA_256 = "0123456789abcdef" * 4
STATES = {
    "public/.blogsmith-manifest.json": f'{{"format": 1, "files": {{"index.html": "{_SHA_256}"}}}}',
    "trusted.json": f'{{"/site": {{"files": {{"plugins/a.py": "{_SHA_256}"}}, "settings": {{}}, '
    '"folder": {"born_ns": 1, "inode": 2, "mark": "trust-0"}}}',
    "publish/requirements.txt": f"click==8.3.3 \\\n    --hash=sha256:{_SHA_256}\n",
    "refs.bib": "@article{a, title={T {B}}, author={A and B, C}, year=2020, month=jan}\n@string{x = {y}}\n",
    "languages/en.yaml": "Contents: Contents\nFeed: Feed\nMade with {generator}: Made with {generator}\n",
    "themes/bare/theme.yaml": "name: bare\nstyles:\n  - {file: a.css, for: posts}\ncontrast: {--a: [--b]}\n",
    "data.ipynb": '{"cells": [{"cell_type": "code", "source": ["1"], "outputs": [], "metadata": {}}]}',
}
"""Path → valid content of files other than posts that commands read, apart from recorded results."""
_STATE_TOKENS = (
    *("{", "}", "[", "]", '"', ",", ":", "null", "1e999", "\\u0000", "-1", "&a ", "*a", "!!python/name:x"),
    *(
        "@",
        "../../x",
        "/etc/passwd",
        "[" * 5000,
        "{a: " * 2000,
        "1" * 5000,
        "\x00",
        "\ufeff",
        "\n",
        "sha256:",
    ),
)


@dataclass(frozen=True, slots=True)
class Case:
    """One input to try."""

    kind: str
    text: str
    """A post, a record or a request, depending on the kind."""
    config: str
    expected: str = ""
    """HTML of a construct in the text; empty if nothing in particular is expected."""
    plain: str = ""
    """The text with a word instead of the construct."""


@cache
def corpus() -> tuple[str, ...]:
    """Return real posts: the manual, our own posts, the cases of the syntax, broken sites."""
    files = [*sorted((ROOT / "content").rglob("*.md")), *sorted((ROOT / "tests/sites").rglob("*.md"))]
    found = [file.read_text("utf-8") for file in files]
    for file in case_files():
        found += [split_results(split_config(one.source)[1])[1] for one in read_cases(file)]
    for file in sorted((ROOT / "tests/broken").glob("*.txt")):
        site = read_site_text(file)
        found += [
            data.decode("utf-8", "replace") for path, data in site.files.items() if path.endswith(".md")
        ]
    return tuple(found)


@cache
def records() -> tuple[str, ...]:
    """Return recorded results."""
    return tuple(file.read_text("utf-8") for file in sorted((ROOT / "_freeze").rglob("outputs.json")))


def case(seed: str, number: int) -> Case:
    """Return the case with this number."""
    chance = random.Random(f"{seed} {number}")
    kind = KINDS[number % len(KINDS)]
    if kind == "sentences":
        return _sentence(chance)
    if kind == "open HTML":
        return Case(kind, _open_html(chance), "")
    make = {
        "records": _record,
        "requests": _request,
        "front matter": _front,
        "cells": _cells,
        "shortcodes": _shortcodes,
        "imports": _import,
        "state": _state,
    }
    text = make.get(kind, _markdown)(chance)
    return Case(
        kind,
        text[:MOST_CHARACTERS].replace("\r", "\n") if kind != "requests" else text,
        chance.choice(CONFIGS),
    )


def _sentence(chance: random.Random) -> Case:
    """Return a construct between things that open or close nothing, in a list, a quotation, a cell …"""
    names = [name for name, (source, _) in CONSTRUCTS.items() if "\n" not in source and "|" not in source]
    construct, expected = CONSTRUCTS[chance.choice(names)]
    pairs = chance.choices(PAIRS, k=3)
    place = chance.choice(LINES)
    texts = []
    for text in (construct, "ww"):
        sentence = f"a {pairs[0][0]}{text} {pairs[1][1]} {pairs[2][0]} zz"
        texts.append(f"{FRONT}{surround(sentence, place)}{NOTE}")
    is_eaten = any(first in pairs[0][0] and last in texts[0] for first, last in DELIMITERS)
    has_cells = place in ("cell", "header") and any("|" in part for pair in pairs for part in pair)
    return Case("sentences", texts[0], "", "" if is_eaten or has_cells else expected, texts[1])


def _open_html(chance: random.Random) -> str:
    """Return HTML that never ends in several places of a post."""
    parts = ["First words."]
    for _ in range(chance.randint(1, 4)):
        place = PLACES[chance.choice(sorted(PLACES))]
        parts.append(place.format(" ".join(chance.choices(TRIGGERS, k=chance.randint(1, 3)))))
    return "\n\n".join((*parts, "Last words.\n\n## Last\n"))


def _markdown(chance: random.Random) -> str:
    return _mutated(chance, chance.choice(corpus()), MARKS)


def _front(chance: random.Random) -> str:
    head = "".join(chance.choices(_HEAD_TOKENS, k=chance.randint(1, 30)))
    text = chance.choice(corpus())
    if chance.random() < 0.5:
        return _mutated(chance, text[:800], _HEAD_TOKENS)
    return f"---\n{head}\n---\n{text[:300]}"


def _cells(chance: random.Random) -> str:
    own = [text for text in corpus() if "{python}" in text or "#|" in text]
    return _mutated(chance, chance.choice(own), _CELL_TOKENS)


def _shortcodes(chance: random.Random) -> str:
    slot = chance.choice(SLOTS).format(_junk(chance, HOSTILE_TEXTS))
    return _mutated(chance, f"{chance.choice(corpus())[:400]}\n\n{slot}\n", (*SLOTS, *HOSTILE_TEXTS))


def _record(chance: random.Random) -> str:
    text = chance.choice(records())
    if chance.random() < 0.5:
        return _mutated(chance, text, ("{", "}", "[", "]", '"', ",", "null", "1e999", "\\u0000", "-1", '"x"'))
    data = json.loads(text)
    for _ in range(chance.randint(1, 4)):
        _change_leaf(chance, data)
    return json.dumps(data)


def _change_leaf(chance: random.Random, part: object) -> None:
    while isinstance(part, dict | list) and part:
        key = chance.choice(list(part)) if isinstance(part, dict) else chance.randrange(len(part))
        below = part[key]
        if not isinstance(below, dict | list) or not below or chance.random() < 0.1:
            new: object = chance.choice([None, -1, 1e308, "", [], {}, True, 10**400, *HOSTILE_TEXTS])
            part[key] = new
            return
        part = below


@cache
def sources() -> tuple[str, ...]:
    """Return small sites of other systems, each in one text."""
    files = sorted((ROOT / "tests/importers").glob("*/*.txt"))
    return tuple(file.read_text("utf-8").partition("\n=== becomes ")[0] for file in files)


def _import(chance: random.Random) -> str:
    return _mutated(chance, chance.choice(sources()), _IMPORT_TOKENS)


def _state(chance: random.Random) -> str:
    path = chance.choice(sorted(STATES))
    return f"{path}\n{_mutated(chance, STATES[path], _STATE_TOKENS)}"


def _request(chance: random.Random) -> str:
    if chance.random() < 0.8:
        return _mutated(chance, chance.choice(_REQUESTS), _REQUEST_TOKENS)
    return "".join(chance.choices(_REQUEST_TOKENS, k=chance.randint(1, 25)))


def _junk(chance: random.Random, tokens: tuple[str, ...]) -> str:
    """Return a random string that nobody would write."""
    roll = chance.random()
    if roll < 0.5:
        return chance.choice(tokens)
    if roll < 0.8:
        return chance.choice(tokens) * chance.randint(2, 400)
    return "".join(chr(_code_point(chance)) for _ in range(chance.randint(1, 12)))


def _code_point(chance: random.Random) -> int:
    low, high = chance.choice(
        [(0, 0x7F), (0x80, 0x2FF), (0x2000, 0x20FF), (0xE000, 0xFFFD), (0x1F300, 0x1FAFF)]
    )
    return chance.randint(low, high)


def _mutated(chance: random.Random, text: str, tokens: tuple[str, ...]) -> str:
    for _ in range(chance.randint(1, 6)):
        at = chance.randint(0, len(text))
        roll = chance.random()
        if roll < 0.45:
            text = text[:at] + _junk(chance, tokens) + text[at:]
        elif roll < 0.6:
            text = text[:at] + text[at + chance.randint(1, 60) :]
        elif roll < 0.7:
            other = chance.choice(corpus())
            start = chance.randint(0, len(other))
            text = text[:at] + other[start : start + chance.randint(1, 500)] + text[at:]
        else:
            text = _with_lines(chance, text)
    return text


def _with_lines(chance: random.Random, text: str) -> str:
    """Return `text` with lines doubled, removed, swapped or moved."""
    lines = text.split("\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    roll = chance.random()
    if roll < 0.3:
        lines.insert(one, lines[other])
    elif roll < 0.6:
        del lines[one]
    elif roll < 0.8:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines[one] = f"{chance.choice(['> ', '- ', '    ', '1. ', '| ', '#| '])}{lines[one]}"
    return "\n".join(lines)
