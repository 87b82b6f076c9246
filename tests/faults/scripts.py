"""Random edits of a site: posts, images, templates, settings, data and themes.

The same seed gives the same edits.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from tests.faults.small_site import BEFORE, SVG, post
from tests.site_files import put

NAMES = tuple("abcdefg")
BODIES = (
    "See [B](b.md#end).",
    "See [nothing](gone.md).",
    '{% hi name="x" %}',
    "## End\n\n$$y = \\sqrt{2}$$ {#eq-one}",
    "$\\wrong$",
    "```python\nprint(1)\n```",
    "![one](one.svg)\n\n![two](/two.svg)",
    "> [!NOTE] One\n> two[^1]\n\n[^1]: three",
    "{@b#eq-one} and {@eq-one}",
    "",
)
HEADS = ("tags: [x, y]\n", "series: S\n", "draft: true\n", "slug: s\n", "aliases: [/old/]\n")
CONFIGS = (
    "title: Site\nbase_url: https://example.org/b\npagination: 2\n",
    "title: Another\npagination: 1\narchive_pagination: 2\nnumbering: true\n",
    "title: Site\npermalinks: {posts: '/p/:year/:slug/'}\n",
    "title: Site\nfeeds: false\nmenu:\n  - {title: Posts, url: /posts/}\n",
    "tittle: Wrong\n",
    "title: Site\nmath: {macros: {R: '\\mathbb{R}'}, numbering: all}\n",
)
TEMPLATES = (
    "<p>hi {{ args.name }}</p>\n",
    "<p>hello {{ name }}</p>\n",
    "<p>{{ name }</p>\n",
    '<p>{% include "partials/piece.html" %}</p>\n',
)


def _post(chance: random.Random) -> str:
    more = "".join(
        line
        for line in (
            "tags: [x, y]\n",
            "tags: [z]\n",
            "series: S\n",
            "draft: true\n",
            "slug: s\n",
            "aliases: [/old/]\n",
        )
        if chance.random() < 0.25
    )
    if more.count("tags:") > 1:
        more = more.replace("tags: [z]\n", "")
    return post(chance.choice(["A", "B", "Other"]), chance.randint(1, 28), chance.choice(BODIES), more)


def _write_post(root: Path, chance: random.Random) -> None:
    name = chance.choice(NAMES)
    put(root, {f"content/posts/{name}{chance.choice(['.md', '/index.md'])}": _post(chance)})


def _append(root: Path, chance: random.Random) -> None:
    for file in _some(root, chance, "content/**/*.md"):
        file.write_text(f"{file.read_text('utf-8')}\n{chance.choice(BODIES)}\n", "utf-8")


def _delete(root: Path, chance: random.Random) -> None:
    for file in _some(root, chance, "content/**/*.*"):
        file.unlink()


def _rename(root: Path, chance: random.Random) -> None:
    for file in _some(root, chance, "content/**/*.md"):
        file.rename(root / f"content/posts/{chance.choice(NAMES)}.md")


def _move_bundle(root: Path, chance: random.Random) -> None:
    for folder in sorted(path for path in (root / "content/posts").iterdir() if path.is_dir())[:1]:
        target = root / "content/posts" / f"{chance.choice(NAMES)}{chance.choice(NAMES)}"
        if target != folder:
            shutil.rmtree(target, ignore_errors=True)
            folder.rename(target)


def _picture(root: Path, chance: random.Random) -> None:
    place = chance.choice(
        ["content/posts/one.svg", "static/two.svg", f"content/posts/{chance.choice(NAMES)}/one.svg"]
    )
    put(root, {place: SVG.format(chance.randint(1, 9))})


def _config(root: Path, chance: random.Random) -> None:
    theme = chance.choice(["bare", "bare", "mine"])
    (root / "blogsmith.yaml").write_text(f"{chance.choice(CONFIGS)}theme: {theme}\n")


def _template(root: Path, chance: random.Random) -> None:
    place = chance.choice(["shortcodes/hi.html", "partials/piece.html", "themes/mine/layouts/post.html"])
    text = (
        chance.choice(TEMPLATES)
        if "hi" in place
        else f"<p>{chance.randint(1, 9)}{{{{ page.content }}}}</p>\n"
    )
    put(root, {place: text if "piece" not in place else "piece\n"})


def _theme(root: Path, chance: random.Random) -> None:
    put(root, {"themes/bare/static/x.css": f"p {{ margin: {chance.randint(1, 9)}px }}\n"})
    for name in ("post", "section"):
        file = root / f"themes/bare/layouts/{name}.html"
        file.write_text(f"{file.read_text()}<!-- {chance.randint(1, 99)} -->\n")


def _data(root: Path, chance: random.Random) -> None:
    put(root, {f"static/{chance.choice(['data.txt', 'more.css', 'x/y.json'])}": f"{chance.randint(1, 9)}\n"})


def _delete_data(root: Path, chance: random.Random) -> None:
    for file in _some(root, chance, "static/**/*.*"):
        file.unlink()


def _damage_output(root: Path, chance: random.Random) -> None:
    for file in _some(root, chance, "public/**/*.html"):
        file.write_text("damaged")


def _some(root: Path, chance: random.Random, pattern: str) -> list[Path]:
    files = sorted(file for file in root.glob(pattern) if file.is_file())
    return [chance.choice(files)] if files else []


EDITS: Mapping[str, Callable[[Path, random.Random], None]] = MappingProxyType(
    {
        "write a post": _write_post,
        "write another post": _write_post,
        "append": _append,
        "delete": _delete,
        "rename": _rename,
        "move a bundle": _move_bundle,
        "picture": _picture,
        "settings": _config,
        "template": _template,
        "theme": _theme,
        "data": _data,
        "delete data": _delete_data,
        "damage": _damage_output,
    }
)


def edit(root: Path, chance: random.Random) -> str:
    """Make one random edit and return its name."""
    name = chance.choice(list(EDITS))
    EDITS[name](root, chance)
    return name


def mend(root: Path) -> None:
    """Restore the original text files of the site, because random edits hardly ever fix errors."""
    for folder in ("content", "shortcodes", "themes/mine/layouts"):
        shutil.rmtree(root / folder, ignore_errors=True)
    put(root, {path: text for path, text in BEFORE.items() if path != "blogsmith.yaml"})
    (root / "blogsmith.yaml").write_text(f"{CONFIGS[0]}theme: bare\n")


def snapshot(root: Path) -> dict[str, bytes]:
    """Return the source files of the site."""
    files = (file for file in sorted(root.rglob("*")) if file.is_file())
    kept = {file.relative_to(root).as_posix(): file for file in files}
    return {p: f.read_bytes() for p, f in kept.items() if not p.startswith(("public/", ".blogsmith"))}


def changed(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> tuple[str, ...]:
    return tuple(sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path)))
