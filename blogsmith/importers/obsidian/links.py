"""Resolution of links and embeds in a vault, and the Markdown that replaces them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from html import escape
from pathlib import PurePosixPath
from urllib.parse import parse_qs, quote, unquote

from ...api.importing import github_slug, is_key, lazy_pattern, slugify
from ..model import NoticeKind
from ..text.containers import Replacement
from ..text.html import alt_text, image, link_destination
from .vault import Note, NoteIndex

IMAGE_SUFFIXES = frozenset(
    (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".avif", ".bmp", ".tif", ".tiff")
)
_VIDEO_SUFFIXES = frozenset((".mp4", ".webm", ".ogv", ".mov", ".mkv"))
_AUDIO_SUFFIXES = frozenset((".mp3", ".wav", ".m4a", ".ogg", ".flac", ".3gp", ".opus"))
_SIZE = lazy_pattern(r"[ \t]*(\d+)(?:x(\d+))?[ \t]*")
_VIDEO = lazy_pattern(
    r"https://(?:www\.|m\.)?(?:youtube\.com/(?:watch\?|embed/|shorts/)|youtu\.be/|vimeo\.com/)\S+"
)
_REMOTE = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_BLOCK = lazy_pattern(r"\^([A-Za-z0-9-]+)")

_HEADING = lazy_pattern(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_BLOCK_MARK = lazy_pattern(r"[ \t]+\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_MAX_COPY = 4_000
"""Maximum number of characters of a section that the importer copies to the page that embeds it."""

NoticeCallback = Callable[[NoticeKind, str, str], None]
"""Function that records a notice. Arguments: kind, message, and the removed text, which may be empty."""


class NoteLinks:
    """Converts the links of one note."""

    def __init__(self, note: Note, index: NoteIndex, notice: NoticeCallback) -> None:
        self._note = note
        self._index = index
        self._notice = notice

    def wiki_link(self, written: str) -> str:
        """Convert a link `[[…]]`, given without brackets, to a Markdown link. Return the same `[[…]]` if
        blogsmith resolves it to the same page. If the target does not exist, return the text of the link."""
        target, _, text = written.replace("\\|", "|").partition("|")
        name, _, fragment = target.strip().partition("#")
        if "\\" not in written and self._finds_page(name.strip(), fragment, text):
            return f"[[{written}]]"
        shown = text.strip() or _link_text(name.strip(), fragment)
        address = self._address(name.strip(), fragment)
        if address is None:
            self._notice("missing", f'note not found: "[[{target.strip()}]]"', "")
            return shown
        return f"[{alt_text(shown)}]({link_destination(address)})"

    def _finds_page(self, name: str, fragment: str, text: str) -> bool:
        """Return whether blogsmith resolves `[[name#fragment|text]]` to the same page and heading as
        Obsidian, and shows the same text."""
        note = self._index.note(name, self._note.path)
        if note is None or is_key(name) or not self._index.has_unique_slug(name, note):
            return False
        heading = fragment.rpartition("#")[2].strip()
        return not heading or (bool(text.strip()) and github_slug(heading) in note.headings().values())

    def _address(self, name: str, fragment: str) -> str | None:
        """Return the destination of a link in blogsmith's site; None if neither a note nor a file has this
        name."""
        note = self._index.note(name, self._note.path) if name else self._note
        if note is None:
            found = self._index.file(name, self._note.path)
            return self.path_to(found) if found else None
        path = "" if note.path == self._note.path else self.path_to(note.content_path)
        anchor = self._anchor(note, fragment)
        return f"{path}{anchor}" or self.path_to(note.content_path)

    def _anchor(self, note: Note, fragment: str) -> str:
        """Return `#id` of a heading or block in a note. If there is none, add a notice and return an empty
        string."""
        last = fragment.rpartition("#")[2].strip()
        if not last:
            return ""
        if block := _BLOCK.fullmatch(last):
            if re.search(rf"(?mi)(?:^|[ \t])\^{block[1]}[ \t]*$", note.body):
                return f"#{block_id(block[1])}"
            self._notice("missing", f'block not found: "{last}" in "{note.path}"', "")
            return ""
        found = note.headings().get(slugify(last))
        if found is None:
            self._notice("missing", f'heading not found: "{last}" in "{note.path}"', "")
            return ""
        return f"#{found}"

    def path_to(self, path: PurePosixPath) -> str:
        """Return the path of a file relative to this note. path: relative to the new content folder."""
        return os.path.relpath(path, self._note.content_path.parent).replace(os.sep, "/")

    def embed(self, written: str) -> Replacement | None:
        """Convert an embed `![[…]]`, given without brackets, to its replacement. Return None if neither a
        note nor a file has this name."""
        target, *options = written.replace("\\|", "|").split("|")
        name, _, fragment = target.strip().partition("#")
        file = self._index.file(name, self._note.path) or self._drawing(name)
        if file and file.suffix.lower() != ".md":
            return self._file(file, options)
        note = self._index.note(name, self._note.path) if name else self._note
        if note is None:
            self._notice("missing", f'file not found: "![[{target.strip()}]]"', f"![[{written}]]")
            return None
        shown = _link_text(name.strip() or note.title, fragment)
        address = self._address(name.strip(), fragment) or ""
        link = f"[{alt_text(shown)}]({link_destination(address)})"
        block = _BLOCK.fullmatch(fragment.rpartition("#")[2].strip())
        copied = block_text(note.body, block[1]) if block else ""
        if text := copied or section_text(note.body, fragment):
            quoted = "\n".join(f"> {line}".rstrip() for line in [*text.split("\n"), "", f"— {link}"])
            what = "block" if copied else "section"
            self._notice("changed", f"embedded {what} is replaced by a copy of its text", "")
            return Replacement(quoted, is_block=True, inline=link)
        self._notice("changed", "embedded note becomes a link", "")
        return Replacement(link, is_block=True, inline=link)

    def _drawing(self, name: str) -> PurePosixPath | None:
        """Return the exported image of an Excalidraw drawing; None if the name is not a drawing or has no
        image."""
        if not name.lower().removesuffix(".md").endswith(".excalidraw"):
            return None
        stem = name.removesuffix(".md")
        every = [stem.removesuffix(".excalidraw"), stem]
        found = (self._index.file(each + end, self._note.path) for each in every for end in (".svg", ".png"))
        return next((path for path in found if path), None)

    def _file(self, file: PurePosixPath, options: list[str]) -> Replacement:
        address, suffix = self.path_to(file), file.suffix.lower()
        width, alt = _size_and_text(options)
        if suffix in IMAGE_SUFFIXES:
            shown = image(address, alt, width=width)
            return Replacement(shown, is_block=True, inline=shown)
        if suffix in _VIDEO_SUFFIXES:
            return Replacement(f'<div class="video-embed" data-src="{escape(address)}"></div>', is_block=True)
        if suffix in _AUDIO_SUFFIXES:
            shown = f'<audio controls preload="none" src="{escape(address)}"></audio>'
            return Replacement(shown, is_block=True)
        self._notice("changed", f"embedded {suffix.lstrip('.') or 'file'} becomes a link", "")
        return Replacement(f"[{alt_text(alt or file.name)}]({link_destination(address)})")

    def markdown_link(self, mark: str, text: str, address: str, title: str) -> Replacement | None:
        """Convert `[text](address)` or `![text](address)`. mark: `!` for an image, otherwise empty. title:
        title with quotes. Return None if the source needs no change."""
        inner = _decode_open_url(address[1:-1] if address.startswith("<") else address)
        if mark and _VIDEO.match(inner):
            return Replacement(f'<div class="video-embed" data-src="{escape(inner)}"></div>', is_block=True)
        if inner.startswith("obsidian:"):
            return self._obsidian_link(text, inner)
        found = inner if _REMOTE.match(inner) else self._destination(inner)
        if not found and not mark:
            self._notice("missing", f'note not found: "{address}"', "")
            return Replacement(text)
        found = found or inner
        if not mark:
            return None if found == inner else Replacement(f"[{text}]({link_destination(found)}{title})")
        parts = text.split("|")
        width, alt = _size_and_text(parts[1:] if len(parts) > 1 else [text] if _SIZE.fullmatch(text) else [])
        alt = alt or ("" if _SIZE.fullmatch(parts[0]) else parts[0])
        if found == inner and alt == text and not width:
            return None
        return Replacement(image(found, alt, width=width, title=title.strip().strip("\"'")))

    def _obsidian_link(self, text: str, address: str) -> Replacement:
        """Replace an `obsidian:` link. If it is a link to a plugin, link to the plugin's web page instead;
        otherwise keep only the text."""
        asked = parse_qs(address.partition("?")[2])
        if address.startswith("obsidian://show-plugin?") and asked.get("id"):
            return Replacement(f"[{text}](https://obsidian.md/plugins?id={quote(asked['id'][0])})")
        self._notice("dropped", f'link that opens Obsidian is removed: "{address}"', "")
        return Replacement(text)

    def _destination(self, address: str) -> str:
        """Return the new destination of a link; empty if the link is to a note that does not exist."""
        name, _, fragment = unquote(address).partition("#")
        found = self._address(name, fragment)
        is_note = PurePosixPath(name).suffix in ("", ".md") or " " in PurePosixPath(name).suffix
        return address if found is None and not is_note else found or ""


def _link_text(name: str, fragment: str) -> str:
    """Return the text that Obsidian shows for a link without a text of its own."""
    parts = [part.strip().lstrip("^") for part in fragment.split("#") if part.strip()]
    return " > ".join([name, *parts] if name else parts) or name


def _size_and_text(options: list[str]) -> tuple[str, str]:
    """Return (width, alternative text) of an embed; each may be empty. options: the parts of the embed after
    each `|`."""
    width, words = "", []
    for option in options:
        if size := _SIZE.fullmatch(option):
            width = size[1]
        elif option.strip():
            words.append(option.strip())
    return width, " ".join(words)


def _decode_open_url(address: str) -> str:
    """Return the link destination in an `obsidian://open` URL with the parameter `file`. Other URLs are
    returned unchanged."""
    if not address.startswith("obsidian://open?"):
        return address
    asked = parse_qs(address.partition("?")[2])
    return quote(asked["file"][0]) if asked.get("file") else address


def section_text(body: str, fragment: str) -> str:
    """Return the text from a heading of a note to the next heading of the same or a higher level. Return
    an empty string if there is no such heading, or if the text is too long to copy or contains code or
    embeds."""
    wanted = slugify(fragment.rpartition("#")[2].strip())
    headings = list(_HEADING.finditer(body))
    for number, found in enumerate(headings):
        if not wanted or slugify(found[2]) != wanted:
            continue
        level = len(found[1])
        end = next((each.start() for each in headings[number + 1 :] if len(each[1]) <= level), len(body))
        text = _BLOCK_MARK.sub("", body[found.end() : end]).strip()
        return "" if len(text) > _MAX_COPY or "```" in text or "![[" in text else text
    return ""


def block_id(name: str) -> str:
    """Return the HTML id of a block. It differs from the ids of all headings."""
    return f"block-{name.lower()}"


def block_text(body: str, name: str) -> str:
    """Return the paragraph or list item with a block id; empty if the id is not in the note."""
    for paragraph in re.split(r"\n[ \t]*\n", body):
        for found in re.finditer(rf"[ \t]*\^{re.escape(name)}[ \t]*(?=\n|\Z)", paragraph):
            before = paragraph[: found.start()]
            items = list(re.finditer(r"(?m)^[ \t]*(?:[-*+]|\d+[.)])[ \t]+", before))
            return before[items[-1].end() :].strip() if items else before.strip()
    return ""
