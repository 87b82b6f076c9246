"""Slugs (parts of URLs and ids made from titles), and the rules for slugs and aliases that authors write."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import PurePosixPath

from ..base.patterns import lazy_pattern
from .letters import find_words, fold_case, remove_invisible

_SEPARATORS = lazy_pattern(r"[^\w]+|_+")


@lru_cache(maxsize=4096)  # cached because a term is used on many pages
def slugify(text: str, *, marks: bool = False) -> str:
    """Return the words of `text` in lower case, joined by hyphens. Letters of all scripts and accents stay.

    `Why Scale by sqrt(d_k)?` → `why-scale-by-sqrt-d-k`. Empty if `text` has no letter or digit.

    marks: combining marks are part of a word. False: they separate words (`हिन्दी` → `ह-न-द`), which
    preserves the URLs of sites that do not set `slugs: {marks: …}`.
    """
    if marks:
        return "-".join(find_words(fold_case(remove_invisible(text))))
    if text.isascii():
        folded = text.lower()
    else:
        folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return _SEPARATORS.sub("-", folded).strip("-")


def github_slug(text: str) -> str:
    """Return the id that GitHub gives a heading: `A & B` → `a--b`, `Markov's` → `markovs`.

    Source: github-slugger 2.0. Letters, marks, digits, hyphens and underscores are preserved; each space
    becomes a hyphen. Empty if nothing is left.
    """
    return "".join("-" if char == " " else char for char in text.lower() if _is_kept(char))


def _is_kept(char: str) -> bool:
    category = unicodedata.category(char)
    return char in " -" or category[0] in "LM" or category in ("Nd", "Nl", "Pc")


def make_unique(
    wanted: str, taken: set[str], counts: dict[str, int], fallback: str = "section", first: int = 2
) -> str:
    """Return `wanted`, or `wanted-2`, `wanted-3`, … if that is taken, and add the result to `taken`. counts:
    name → next number to try; lower numbers are not free, because `taken` only grows. fallback: name if
    `wanted` is empty. first: number appended when a name is taken for the first time."""
    base = wanted or fallback
    name, count = base, counts.get(base, first)
    while name in taken:
        name, count = f"{base}-{count}", count + 1
    taken.add(name)
    counts[base] = count
    return name


# Each part of a URL becomes the name of a folder, so it must be valid on every operating system.


MAX_CHARACTERS = 120
MAX_BYTES = 240
"""Maximum length in bytes of one part of a URL, in UTF-8. File systems allow 255 bytes; scripts such as
Chinese use three for a character."""

_PLAIN = lazy_pattern(r"[a-z0-9-]*")
_PUNCTUATION = frozenset("-_.~")
_ALIAS_SYMBOLS = frozenset(" !$'()+,;=@")
_DEVICES = frozenset({"con", "prn", "aux", "nul"})
_NUMBERED_DEVICES = frozenset({"com", "lpt"})


def slug_problem(slug: str) -> str:
    """Return why `slug` cannot be part of a URL; empty if it is valid."""
    # a shortcut for nearly all slugs, because there are thousands
    wrong = "" if _PLAIN.fullmatch(slug) else next((char for char in slug if not _is_fit(char)), "")
    if wrong:
        return f"must not contain {_describe_character(wrong)}"
    if slug.startswith(".") or slug.endswith("."):
        return "must not start or end with a full stop"
    if not any(char.isalnum() for char in slug):
        return "must contain a letter or digit"
    if _is_device(slug):
        return "is a device name on Windows"
    if len(slug) > MAX_CHARACTERS:
        return f"is longer than {MAX_CHARACTERS} characters"
    return f"is longer than {MAX_BYTES} bytes" if len(slug.encode()) > MAX_BYTES else ""


def alias_problem(alias: str) -> str:
    """Return why `alias` cannot be the path of an old URL; empty if it is valid."""
    if not alias.startswith("/"):
        return 'must start with "/"'
    parts = PurePosixPath(alias).parts[1:]
    if not parts:
        return "is the URL of the home page"
    if ".." in parts:
        return 'contains "..", which is not allowed'
    if any(part != part.strip() for part in parts):
        return "has a name that starts or ends with a space"
    # an old URL contains whatever its system allowed, except URL syntax and symbols that some file system
    # rejects
    plain = ("".join("x" if _is_alias_symbol(char) else char for char in part) for part in parts)
    return next((problem for part in plain if (problem := slug_problem(part))), "")


def alias_url(alias: str) -> str:
    """Return the path in the site of an alias: `/old` → `/old/`, but `/2019/x.html` stays as it is."""
    url = "/" + "/".join(PurePosixPath(alias).parts[1:])
    return url if url.endswith(".html") else f"{url}/"


def nearest_slug(slug: str) -> str | None:
    """Return the valid slug nearest to `slug`; None if there is none."""
    better = slugify(slug, marks=True)[:MAX_CHARACTERS].strip("-")
    return better if better and better != slug and not slug_problem(better) else None


def slug_hint(slug: str) -> str:
    """Return a hint with the valid slug nearest to `slug`."""
    better = nearest_slug(slug)
    if better:
        return f"did you mean `{better}`?"
    return "write another slug of letters, digits, `-` and `_`"


def _is_fit(char: str) -> bool:
    return char.isalnum() or char in _PUNCTUATION or unicodedata.category(char).startswith("M")


def _is_alias_symbol(char: str) -> bool:
    if char.isascii():
        return char in _ALIAS_SYMBOLS
    return unicodedata.category(char)[0] in "PS"


def _describe_character(char: str) -> str:
    if char.isspace():
        return "spaces"
    return f'"{char}"' if char.isprintable() else f"U+{ord(char):04X}"


def _is_device(slug: str) -> bool:
    # Windows treats `con.html` as the device, too
    stem = slug.partition(".")[0].casefold()
    return stem in _DEVICES or (len(stem) == 4 and stem[:3] in _NUMBERED_DEVICES and stem[3].isdigit())
