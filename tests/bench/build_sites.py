"""The sites that are built: one for each generator with the same posts, and edits of them."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from .build_corpus import make_post, slug_of
from .build_subjects import OURS, Subject

_TITLE = re.compile(r'^(title: ")mark\w+ (.*)$', re.MULTILINE)
_MARK = re.compile(r"<p>mark\w+</p>")


@dataclass(frozen=True, slots=True)
class Site:
    """A site of one generator, on disk."""

    subject: Subject
    root: Path
    posts: int

    @property
    def output(self) -> Path:
        return self.root / self.subject.output

    @property
    def page(self) -> Path:
        """The built page of the edited post, in the middle of the site."""
        return self.output / "posts" / slug_of(self.posts // 2) / "index.html"

    @property
    def user_cache(self) -> Path:
        """A stand-in for the user's cache folder."""
        return self.root.with_suffix(".cache")

    def clear(self) -> None:
        """Remove output and caches, so that the next build is cold."""
        kept = (self.root / name for name in (self.subject.output, *self.subject.caches))
        for path in (*kept, self.user_cache):
            if path.is_file():
                path.unlink()
            else:
                shutil.rmtree(path, ignore_errors=True)

    def edit_post(self, mark: str) -> None:
        """Add a sentence to one post."""
        file = self.root / self.subject.posts / f"{slug_of(self.posts // 2)}.md"
        file.write_text(f"{file.read_text('utf-8')}\nOne more sentence, {mark}.\n", encoding="utf-8")

    def edit_title(self, mark: str) -> None:
        """Put a word into the title of that post, replacing the word of the last edit."""
        file = self.root / self.subject.posts / f"{slug_of(self.posts // 2)}.md"
        text = _TITLE.sub(r"\1\2", file.read_text("utf-8"), count=1)
        file.write_text(text.replace('title: "', f'title: "{mark} ', 1), encoding="utf-8")

    def edit_template(self, mark: str) -> None:
        """Put a paragraph into the template of posts, replacing that of the last edit."""
        file = self.root / self.subject.template
        text = _MARK.sub("", file.read_text("utf-8"))
        file.write_text(text.replace("</article>", f"<p>{mark}</p></article>"), encoding="utf-8")

    def shows(self, mark: str) -> bool:
        """Return whether the built page contains the last edit."""
        return self.page.exists() and mark in self.page.read_text("utf-8")


def write_site(subject: Subject, root: Path, posts: int, seed: int = 1) -> Site:
    """Write a site with this number of posts, one at a time, because there may be very many."""
    folder = root / subject.posts
    folder.mkdir(parents=True)
    for number in range(posts):
        post = make_post(number, lambda slug: subject.address.format(slug=slug), seed)
        text = f"{post.head}\n{subject.start}{post.body}"
        (folder / f"{post.slug}.md").write_text(text, encoding="utf-8")
    for path, content in subject.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content, encoding="utf-8")
    if subject.modules:
        # Imports in its settings are resolved relative to the settings.
        (root / "node_modules").symlink_to(subject.modules)
    return Site(subject, root, posts)


def write_empty_site(subject: Subject, root: Path) -> Site:
    """Write a site of ours that has only a title."""
    assert subject.name == OURS
    root.mkdir(parents=True)
    (root / "blogsmith.yaml").write_text("title: Bench\n", encoding="utf-8")
    return Site(subject, root, 0)


def output_bytes(site: Site) -> int:
    return sum(file.stat().st_size for file in site.output.rglob("*") if file.is_file())


def output_formulas(site: Site) -> int:
    pages = (page.read_text("utf-8") for page in (site.output / "posts").glob("post-*/index.html"))
    # the end of a page shows other posts
    return sum(page.partition('class="post-end"')[0].count("<math") for page in pages)
