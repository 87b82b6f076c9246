"""Examples of every diagnostic code for the manual, printed by a build.

Most come from `tests/broken/`. Faults that need more than text files (a full disk, a lock, a pipe) are
produced here for real; only the name of the temporary folder is replaced.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping
from functools import cache as keep
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from blogsmith.base.diagnostics.format import format_diagnostic
from blogsmith.base.diagnostics.model import Diagnostic, SiteError
from blogsmith.base.storage.lock import site_lock
from blogsmith.base.timeout import LIMIT_S
from blogsmith.cells.verify import VerifyOptions
from blogsmith.cli.new_post import NewPost, write_post
from blogsmith.cli.new_site import new_site
from blogsmith.cli.new_theme import copy_theme_file
from blogsmith.cli.pyodide_vendor import vendor
from blogsmith.config.schema import Config
from blogsmith.epub.site_book import make_site_book
from blogsmith.features.links import LinkOptions, check_links
from blogsmith.features.result_changes import check_revision
from blogsmith.features.second_opinion import compare_formulas
from blogsmith.features.site_cells import survey_site, verify_site
from blogsmith.features.weights import measure_pages
from blogsmith.freeze.archive import unpack
from blogsmith.importers.block_map import read_block_map
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.model.documents import Output
from blogsmith.network.linkcheck.check import LinkVerdict, write_verdicts
from blogsmith.paper.site_latex import make_latex
from blogsmith.paper.site_paper import make_paper
from blogsmith.pools import page_executor
from blogsmith.preview.pages.site import RenderedPages
from blogsmith.project.report import BuildLog, BuildOptions, ExecutionOptions, no_progress
from blogsmith.project.trust.consent import trust
from blogsmith.pyodide.source import FolderSource
from blogsmith.render import html
from blogsmith.site.search.pagefind import PagefindError
from blogsmith.stages import pagefind
from blogsmith.write.output import write_site
from tests.picture_files import drawing, file_of
from tests.preview_sites import new_line, settled
from tests.publish_mistakes import PUBLISHING
from tests.recorded import unsealed
from tests.site_files import NOW, build
from tests.test_broken import FILES, check_range

HOME = "/home/ada/notes"
"""Replacement of the temporary folder in messages."""
_DAY = dt.date(2026, 6, 1)
Make = Callable[[Path], tuple[Diagnostic, ...]]


def example(code: str) -> str:
    """Return the shortest printed diagnostic with `code`; KeyError if there is none."""
    found = _from_broken_sites()
    return found[code] if code in found else _made(code)


@keep
def _from_broken_sites() -> Mapping[str, str]:
    """Map each code to its shortest message under `tests/broken/`."""
    shortest: dict[str, str] = {}
    for file in FILES:
        text = file.read_text(encoding="utf-8").partition("=== expected\n")[2].strip("\n")
        for message in _messages(text):
            code = message.split("\n")[0].rpartition("[")[2].rstrip("]")
            shortest[code] = min(shortest.get(code, message), message, key=lambda m: (len(m), m))
    return MappingProxyType(shortest)


def _messages(text: str) -> list[str]:
    """Split into printed diagnostics: a headline ends in its code."""
    messages: list[list[str]] = []
    for line in text.split("\n"):
        headline = line.endswith("]") and re.search(r"(^|: )(error|warning): ", line)
        if headline or not messages:
            messages.append([])
        messages[-1].append(line)
    return ["\n".join(lines) for lines in messages]


def _made(code: str) -> str:
    with TemporaryDirectory() as folder:
        root = Path(folder) / "notes"
        root.mkdir()
        found = next(d for d in MISTAKES[code](root) if d.code == code)
        check_range(found)
        text = format_diagnostic(found, color=False).replace(str(root), HOME)
        text = re.sub(r"process \d+", "process 4711", text).replace(sys.executable, "python")
        return re.sub(r"(python \S+ →) \d[\w.]*", r"\1 3.14.0", text)


def _raised(act: Callable[[], object]) -> tuple[Diagnostic, ...]:
    try:
        act()
    except SiteError as error:
        return error.diagnostics
    raise AssertionError("the mistake was not noticed")


def _site(root: Path) -> Path:
    """Create a site with an empty section. Return the section's folder."""
    (root / "blogsmith.yaml").write_text("title: Notes\n", encoding="utf-8")
    posts = root / "content" / "posts"
    posts.mkdir(parents=True)
    return posts


def _no_series(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    (posts / "masks.md").write_text("---\nseries: {name: Attention by hand}\n---\n", encoding="utf-8")
    return _raised(lambda: make_site_book(root, (), BuildOptions(now=NOW), series="Attention by heart"))


def _no_compiler(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    (posts / "masks.md").write_text("---\ndate: 2026-06-01\n---\n# Masks\n", encoding="utf-8")
    with patch.dict(sys.modules, {"typst": None}):
        return _raised(lambda: make_paper(root, (), BuildOptions(now=NOW)))


def _no_template(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    (posts / "masks.md").write_text("---\ndate: 2026-06-01\n---\n# Masks\n", encoding="utf-8")
    return _raised(lambda: make_paper(root, (), BuildOptions(now=NOW), template="thesis"))


def _static_paper(root: Path) -> tuple[Diagnostic, ...]:
    """Make a PDF of a post with a deep formula, a video, and a template without a title."""
    posts = _site(root)
    (root / "paper.typ").write_text(
        "#let template(document) = for chapter in document.chapters { chapter.body }\n", encoding="utf-8"
    )
    deep = r"\sqrt{" * 160 + "x" + "}" * 160
    video = '<div class="video-embed" data-src="https://vimeo.com/76979871"></div>'
    (posts / "masks.md").write_text(f"---\ndate: 2026-06-01\n---\n$${deep}$$\n\n{video}\n", encoding="utf-8")
    options = BuildOptions(now=NOW)
    return make_paper(root, (), options, template=str(root / "paper.typ")).warnings


def _no_latex_template(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    (posts / "masks.md").write_text("---\ndate: 2026-06-01\n---\n# Masks\n", encoding="utf-8")
    return _raised(
        lambda: make_latex(root, ("content/posts/masks.md",), BuildOptions(now=NOW), template="thesis")
    )


def _no_latex_character(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    (posts / "masks.md").write_text("---\ndate: 2026-06-01\n---\n# Masks\n\nA 🎭.\n", encoding="utf-8")
    return make_latex(root, ("content/posts/masks.md",), BuildOptions(now=NOW)).warnings


def _card_font(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    with (root / "blogsmith.yaml").open("a", encoding="utf-8") as settings:
        settings.write("base_url: https://example.org\ntheme: mine\n")
    theme = root / "themes" / "mine"
    theme.mkdir(parents=True)
    (theme / "theme.yaml").write_text("extends: paper\ncard: {font: own.ttf}\n", encoding="utf-8")
    (theme / "own.ttf").write_bytes(b"no font")
    return build(root).diagnostics


def _symlink(root: Path) -> tuple[Diagnostic, ...]:
    (_site(root) / "secrets").symlink_to("/etc")
    return build(root).diagnostics


def _unreadable(root: Path) -> tuple[Diagnostic, ...]:
    os.mkfifo(_site(root) / "pipe.md")
    return build(root).diagnostics


def _too_large(root: Path) -> tuple[Diagnostic, ...]:
    with (_site(root) / "long.md").open("wb") as file:
        file.truncate(11 << 20)
    return build(root).diagnostics


def _image_large(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    moving = file_of(drawing(400, 300), "GIF", save_all=True, append_images=[drawing(400, 300).rotate(9)])
    (posts / "steps.gif").write_bytes(moving + bytes(6_000_000))
    (posts / "large.md").write_text("---\ntitle: A\n---\n\n![The steps](steps.gif)\n", encoding="utf-8")
    return build(root).diagnostics


def _busy(root: Path) -> tuple[Diagnostic, ...]:
    output = Output(PurePosixPath("index.html"), b"")
    with site_lock(root, 0):
        return _raised(lambda: write_site([output], root / "public", site_root=root, wait_s=0))


def _output_write(root: Path) -> tuple[Diagnostic, ...]:
    (root / "dist").write_text("a file where a folder is needed", encoding="utf-8")
    output = Output(PurePosixPath("index.html"), b"")
    return _raised(lambda: write_site([output], root / "dist" / "public", site_root=root))


def _page_slow(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    footer = root / "partials" / "site_footer.html"
    footer.parent.mkdir()
    footer.write_text("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}")
    pages = RenderedPages(limit_s=0.1)
    present = settled(new_line(root))
    pages.render_page(present, "/404.html")
    # the manual names the limit that holds
    return tuple(
        replace(one, message=one.message.replace("0.1 s", f"{LIMIT_S:g} s"))
        for one in pages.problems(present)
    )


def _page_process(root: Path) -> tuple[Diagnostic, ...]:
    (_site(root) / "long.md").write_text("# Long\n", encoding="utf-8")
    here = os.getpid()

    def end_process(*_: object) -> None:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)

    with patch.object(html, "render_body", end_process), patch.object(page_executor, "MIN_FORK_BODIES", 1):
        return build(root, execution=ExecutionOptions(jobs=2), start_method="fork").diagnostics


def _no_pagefind(root: Path) -> tuple[Diagnostic, ...]:
    (root / "blogsmith.yaml").write_text("search: {engine: pagefind}\n", encoding="utf-8")
    failing = patch.object(pagefind, "make_index", side_effect=PagefindError("No space left on device"))
    with patch.object(pagefind, "is_installed", return_value=True), failing:
        return build(root).diagnostics


def _vendor(root: Path) -> tuple[Diagnostic, ...]:
    return _raised(lambda: vendor(root, root / "static" / "pyodide", FolderSource(root), (), ()))


def _trust_write(root: Path) -> tuple[Diagnostic, ...]:
    state = root / "state"
    state.write_text("a file where a folder is needed", encoding="utf-8")
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(state)
    try:
        return _raised(lambda: trust(root))
    finally:
        os.environ.pop("XDG_STATE_HOME")
        os.environ.update({"XDG_STATE_HOME": before} if before is not None else {})


def _file_exists(root: Path) -> tuple[Diagnostic, ...]:
    (root / "content").mkdir()
    (root / "content/about.md").write_text("mine", encoding="utf-8")
    return _raised(lambda: new_site(root, _DAY))


def _new_name(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    return _raised(lambda: write_post(root, NewPost(title="???", date=_DAY)))


def _theme_file(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    return _raised(lambda: copy_theme_file(root, Config(), "post.html"))


def _new_write(root: Path) -> tuple[Diagnostic, ...]:
    file = root / "file"
    file.write_text("", encoding="utf-8")
    return _raised(lambda: new_site(file / "site", _DAY))


_DOUBTFUL = r"""---
title: Descent
math:
  macros:
    '\grad': '\nabla'
    '\R': '\mathbb{R}'
---

Let $ x_1 $ be in $\mathbb{R}$. For $x \in \R$ a step lowers the loss:

$$ L(x - \eta g) < L(x) \label{eq:step} $$
"""


def _doubts(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    settings = "math:\n  symbols:\n    loss: {use: '\\mathcal{L}', avoid: ['L']}\n"
    (root / "blogsmith.yaml").write_text(settings, encoding="utf-8")
    (posts / "descent.md").write_text(_DOUBTFUL, encoding="utf-8")
    return build(root, write=False).diagnostics


def _preamble(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    (root / "blogsmith.yaml").write_text("math:\n  macros: [preamble.tex]\n", encoding="utf-8")
    (root / "preamble.tex").write_text("\\newcommand{\\R}{\\mathbb{R}}\n\\newacronym{GD}\n", encoding="utf-8")
    return build(root, write=False).diagnostics


def _wide_display(root: Path) -> tuple[Diagnostic, ...]:
    steps = " + ".join(f"g_{number}^2" for number in range(1, 10))
    text = f"---\ntitle: Descent\n---\n\n$$\\sqrt{{{steps} + \\varepsilon}} = \\lVert g \\rVert$$\n"
    (_site(root) / "descent.md").write_text(text, encoding="utf-8")
    return build(root, write=False).diagnostics


def _unclear_heads(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    head = "---\ntitle: {}\ntags: [{}]\n---\n\nText.\n"
    (posts / "descent.md").write_text(head.format("Descent, part 2 of 4", "deep-learning"), encoding="utf-8")
    (posts / "valley.md").write_text(head.format("Valley", "Deep Learning"), encoding="utf-8")
    return build(root, write=False).diagnostics


_INACCESSIBLE = """---
title: Descent
---

#### Steps

![](valley.svg)

Read more [here](https://example.org/descent).

##

|      |       |
|------|-------|
| step | loss  |
| 1    | 0.25  |

![One run](run.mp4)
"""


def _inaccessible(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    (posts / "valley.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', encoding="utf-8")
    (posts / "run.mp4").write_bytes(b"")
    (posts / "descent.md").write_text(_INACCESSIBLE, encoding="utf-8")
    return build(root, write=False).diagnostics


_LINKED = """---
title: Descent
date: 2021-05-04
---

[Lectures](https://example.org/lectures) and [slides](https://example.org/slides#one),
after [the paper](https://example.org/paper) and [its code](https://code.example/).
"""


def _links(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    (posts / "descent.md").write_text(_LINKED, encoding="utf-8")
    now_s = 1_772_000_000
    known = {
        "lectures": LinkVerdict("dead", "the server answers 404 Not Found"),
        "slides": LinkVerdict("good", sought=("one",), lacking=("one",)),
        "paper": LinkVerdict("moved", target="https://example.org/papers/descent"),
    }
    verdicts = {f"https://example.org/{path}": verdict for path, verdict in known.items()}
    reason = "no data from the server for 15 seconds"
    verdicts["https://code.example/"] = LinkVerdict("unreachable", reason)
    dated = {address: replace(verdict, asked_s=now_s) for address, verdict in verdicts.items()}
    write_verdicts(root, dated, now_s)

    def inspect(site: Any, log: BuildLog) -> str:
        return str(check_links(site, LinkOptions(now_s), log))

    return build(root, write=False, inspections=(inspect,)).diagnostics


def _budget(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    (root / "blogsmith.yaml").write_text("budget: {pictures: 20 kB}\n", encoding="utf-8")
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg"><title>{_noise()}</title></svg>'
    (posts / "valley.svg").write_text(drawing, encoding="utf-8")
    text = "---\ntitle: Descent\n---\n\n![A valley](valley.svg)\n"
    (posts / "descent.md").write_text(text, encoding="utf-8")
    return build(root, write=False, inspections=(measure_pages,)).diagnostics


def _second_opinion(root: Path) -> tuple[Diagnostic, ...]:
    post = _site(root) / "descent.md"
    post.write_text("---\ntitle: Descent\n---\n\nIf $a \\not= b$, go on.\n", encoding="utf-8")
    return build(root, write=False, inspections=(compare_formulas,)).diagnostics


def _noise() -> str:
    """Return data that cannot be compressed to less than half."""
    return "".join(hashlib.sha256(b"%d" % number).hexdigest() for number in range(1000))


_CELL = """---
title: Loss
date: 2026-03-01
---

```python
#| label: loss
import json
json.loads("0.25")
```
"""


def _with_cell(root: Path) -> Path:
    """Create a site with a post whose cell has a recorded result. Return the post."""
    post = _site(root) / "loss.md"
    post.write_text(_CELL, encoding="utf-8")
    assert build(root, execution=ExecutionOptions(execute="stale")).ok
    return post


def _stale(root: Path) -> tuple[Diagnostic, ...]:
    post = _with_cell(root)
    post.write_text(_CELL.replace("0.25", "0.5"), encoding="utf-8")
    return build(root, execution=ExecutionOptions(frozen=True)).diagnostics


def _twin_posts(root: Path) -> tuple[Diagnostic, ...]:
    posts = _site(root)
    for ending in ("md", "markdown"):
        (posts / f"p.{ending}").write_text("---\ntitle: P\n---\n", encoding="utf-8")
    return build(root).diagnostics


def _other_versions(root: Path) -> tuple[Diagnostic, ...]:
    _with_cell(root)
    record = root / "_freeze" / "posts" / "loss" / "outputs.json"
    text = unsealed(record.read_bytes()).decode()
    record.write_text(re.sub(r'"python": ".*"', '"python": "3.9.1"', text), encoding="utf-8")
    return build(root).diagnostics


def _nothing_needed(root: Path) -> tuple[Diagnostic, ...]:
    cell = _CELL.replace("#| label: loss\n", "#| label: loss\n#| needs: tensorflop\n#| fallback: skip\n")
    (_site(root) / "loss.md").write_text(cell, encoding="utf-8")
    return build(root, execution=ExecutionOptions(execute="stale", needs=("tensorflop",))).diagnostics


def _freeze_write(root: Path) -> tuple[Diagnostic, ...]:
    (root / "_freeze").write_text("a file where a folder is needed", encoding="utf-8")
    (_site(root) / "loss.md").write_text(_CELL, encoding="utf-8")
    return build(root, execution=ExecutionOptions(execute="stale")).diagnostics


def _no_archive(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    (root / "results.tar.gz").write_text("no archive", encoding="utf-8")
    return _raised(lambda: unpack(root, root / "results.tar.gz"))


def _no_revision(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    return _raised(lambda: check_revision(root, "mian"))


def _verify_invented(root: Path) -> tuple[Diagnostic, ...]:
    _with_cell(root)
    record = root / "_freeze" / "posts" / "loss" / "outputs.json"
    text = unsealed(record.read_bytes()).decode()
    record.write_text(text.replace('"0.25"', '"0.2"'), encoding="utf-8")
    return _verified(root)


def _verify_unstable(root: Path) -> tuple[Diagnostic, ...]:
    post = _with_cell(root)
    # each copy of the site has another name, so that the message is always the same
    text = _CELL.replace("import json", "from pathlib import Path")
    post.write_text(text.replace('json.loads("0.25")', "Path.cwd().parts[-3]"), encoding="utf-8")
    build(root, execution=ExecutionOptions(execute="stale"))
    return _verified(root)


def _verify_break(root: Path) -> tuple[Diagnostic, ...]:
    post = _with_cell(root)
    claim = _CELL.replace("import json", "#| claim: The loss is small.\nloss = 0.25")
    post.write_text(claim.replace('json.loads("0.25")', "loss - loss < 0.5"), encoding="utf-8")
    build(root, execution=ExecutionOptions(execute="stale"))
    return _verified(root, breaks=True)


def _verified(root: Path, *, breaks: bool = False) -> tuple[Diagnostic, ...]:
    log = BuildLog(no_progress)
    verify_site(root, (), VerifyOptions(breaks=breaks), NOW, log)
    return log.report()


def _no_post(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    return _raised(lambda: survey_site(root, ["posts/atention"], NOW))


def _import(source: Path, into: Path) -> tuple[Diagnostic, ...]:
    return _raised(lambda: import_site(source, into, ImportOptions(now=NOW), no_progress))


def _import_into_itself(root: Path) -> tuple[Diagnostic, ...]:
    return _import(root, root / "new")


def _import_of_nothing(root: Path) -> tuple[Diagnostic, ...]:
    return _import(root / "blog", root.with_name("new"))


def _import_map(root: Path) -> tuple[Diagnostic, ...]:
    (root / "import-map.yaml").write_text('definition: "[!DEFINITION]"\nplot: [image]\n', encoding="utf-8")
    return _raised(lambda: read_block_map(root))


def _import_of_unknown(root: Path) -> tuple[Diagnostic, ...]:
    return _import(root, root.with_name("new"))


MISTAKES: Mapping[str, Make] = MappingProxyType(
    {
        "book-empty": _no_series,
        "pdf-compiler": _no_compiler,
        "pdf-compile": _no_template,
        **dict.fromkeys(("pdf-accessibility", "pdf-rejected", "pdf-static"), _static_paper),
        "tex-rejected": _no_latex_character,
        "tex-template": _no_latex_template,
        "card-font": _card_font,
        "symlink": _symlink,
        "unreadable": _unreadable,
        "file-too-large": _too_large,
        "twin-posts": _twin_posts,
        "busy": _busy,
        "image-large": _image_large,
        "output-write": _output_write,
        "trust-write": _trust_write,
        "cell-versions": _other_versions,
        "freeze-archive": _no_archive,
        "freeze-revision": _no_revision,
        "freeze-stale": _stale,
        "verify-break": _verify_break,
        "verify-differs": _verify_invented,
        "verify-unstable": _verify_unstable,
        "freeze-write": _freeze_write,
        "need-unmet": _nothing_needed,
        "post-unknown": _no_post,
        "page-process": _page_process,
        "page-slow": _page_slow,
        "search-engine": _no_pagefind,
        "pyodide-vendor": _vendor,
        "file-exists": _file_exists,
        "new-name": _new_name,
        "import-into": _import_into_itself,
        "import-map": _import_map,
        "import-source": _import_of_nothing,
        "import-system": _import_of_unknown,
        "new-write": _new_write,
        "theme-file": _theme_file,
        **PUBLISHING,
        "dollar-doubtful": _doubts,
        **dict.fromkeys(("series-missing", "term-spelling"), _unclear_heads),
        **dict.fromkeys(("film-captions", "heading-empty", "heading-level", "image-alt"), _inaccessible),
        **dict.fromkeys(("link-text", "table-header"), _inaccessible),
        **dict.fromkeys(("link-dead", "link-fragment", "link-moved", "link-unreachable"), _links),
        "budget": _budget,
        "math-second-opinion": _second_opinion,
        "math-wide": _wide_display,
        "label-unused": _doubts,
        "macro-bypassed": _doubts,
        "macro-unused": _doubts,
        "notation-mixed": _doubts,
        "preamble-skipped": _preamble,
    }
)
"""Code → function that causes its error in an empty folder."""
