"""Front matter keys of other systems that restrict access to a page.

blogsmith has no access control, so a page that requests it must never be published. The table below lists all
restricting keys and values. An unknown value of a listed key also restricts the page, because published
content cannot be taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from .names import name_set

Remedy: TypeAlias = Literal["access", "list", "draft"]
"""Front matter to write instead. `access`: none, because blogsmith has no access control; `list`: `unlisted:
true`; `draft`: `draft: true`."""


class RestrictionRule(Struct, frozen=True):
    """Keys with the same meaning, and the values that restrict a page."""

    keys: frozenset[str]
    """Keys in lower case, without `-`, `_` and spaces. A dot separates a key from the mapping that contains
    it."""
    remedy: Remedy
    open: frozenset[str] = frozenset()
    """Values that leave the page public; every other value restricts it. Not used if `closed` is given."""
    closed: frozenset[str] = frozenset()
    """Values that restrict the page; every other value leaves it public."""

    def restricts(self, value: object) -> bool:
        """Return whether a value restricts the page. An empty value never restricts it."""
        words = [word for word in _words(value) if word]
        return any(word in self.closed if self.closed else word not in self.open for word in words)


class Restriction(NamedTuple):
    """A key that restricts a page."""

    path: tuple[str | int, ...]
    """Keys as written, from the outermost mapping on, with the indexes of lists."""
    remedy: Remedy
    meant: str = ""
    """Key in the table that the author probably meant, if the key is misspelt; empty if it is spelt as in the
    table."""

    @property
    def name(self) -> str:
        """Key in messages, such as `build.render`."""
        return ".".join(part for part in self.path if isinstance(part, str))

    @property
    def is_secret(self) -> bool:
        """Whether the value is a password, which no message may show."""
        return _fold(self.path[-1]) in _SECRETS or self.meant in _SECRETS


_NO = name_set("false no off 0 none never")
_YES = name_set("true yes on 1 always all")
_PUBLIC = name_set("public open free everyone everybody anyone anybody world unrestricted openaccess")
_SECRETS = name_set(
    "password passwords passwd passphrase passcode pwd postpassword pagepassword encpwd encryptpassword "
    "inlinepassword inlinepass globalpassword"
)
_FLAGS = name_set(
    "protect protected isprotected passwordprotected passwordprotect protection "
    "encrypt encrypted isencrypted encryption private isprivate confidential secret internal internalonly "
    "restrict restricted isrestricted restrictedaccess locked gated paywall paywalled premium "
    "auth authrequired requireauth requiresauth authenticated authentication requireauthentication "
    "loginrequired requirelogin requireslogin needslogin "
    "membersonly memberonly formembers subscribersonly subscriberonly patronsonly paidonly emailonly "
    "allowedusers allowedgroups allowedroles"
)
RULES: tuple[RestrictionRule, ...] = (
    RestrictionRule(name_set("visibility status"), "list", closed=name_set("hidden unlisted")),
    RestrictionRule(
        name_set("status"), "access", closed=name_set("private protected restricted members internal")
    ),
    # Substack's export
    RestrictionRule(
        name_set("audience"),
        "access",
        closed=name_set("onlypaid onlyfree founding paid members membersonly subscribers private internal"),
    ),
    # only an empty password means that there is none: `no` and `open` may be passwords
    RestrictionRule(_SECRETS, "access", open=name_set("false")),
    RestrictionRule(_FLAGS, "access", open=_NO | _PUBLIC),
    RestrictionRule(name_set("members"), "access", open=_NO | _PUBLIC),
    # Ghost, WordPress and others; `visibility: false` and `access: none` may mean either
    RestrictionRule(
        name_set("access accesslevel accesscontrol visibility"),
        "access",
        open=_PUBLIC | name_set("all any visible published default"),
    ),
    RestrictionRule(name_set("public ispublic visible isvisible"), "access", open=_YES | _PUBLIC),
    # Pelican, Hexo, Eleventy, Hugo: the page exists, but no list shows it
    RestrictionRule(
        name_set("hidden ishidden hide unlisted eleventyexcludefromcollections"), "list", closed=_YES
    ),
    RestrictionRule(name_set("listed build.list"), "list", closed=_NO),
    # Hugo, Zola, Obsidian Publish and Foam, Digital Garden, Eleventy, Astro
    RestrictionRule(name_set("build.render"), "draft", closed=_NO | name_set("link")),
    RestrictionRule(name_set("render publish dgpublish ispublished"), "draft", closed=_NO),
    RestrictionRule(name_set("permalink"), "draft", closed=name_set("false")),
    RestrictionRule(name_set("headless unpublished isdraft"), "draft", closed=_YES),
)
"""Rules in the order they are tried. The first rule that lists the key, and that restricts the page because
of the key's value, applies."""

_FOREIGN_KEYS = frozenset().union(*(rule.keys for rule in RULES)) - name_set("status unlisted")
_CONTAINERS = name_set("build params extra cascade")
"""Keys whose values are mappings with keys that are checked too. `_build` is treated as `build`."""
_DEEPEST = 4
_CORRECTABLE_KEYS = tuple(
    sorted(
        name_set(
            "password protected passwordprotected encrypted private visibility access members membersonly "
            "restricted paywall"
        )
    )
)
_NOT_MISSPELT = name_set("member embers")
"""Names that look like a misspelling but are not."""


def is_known_key(key: str) -> bool:
    """Return whether the table contains a key that is not also a key of blogsmith."""
    return _fold(key) in _FOREIGN_KEYS


def find_restrictions(front: Mapping[str, object], *, is_foreign: bool = False) -> tuple[Restriction, ...]:
    """Return the keys of front matter that restrict a page, in their order. is_foreign: the page belongs to
    another system. If not, a key spelled exactly `unlisted` is a key of blogsmith and is not returned."""
    found = _search(front, (), "", _DEEPEST)
    return tuple(one for one in found if is_foreign or one.path != ("unlisted",))


def _search(value: object, path: tuple[str | int, ...], prefix: str, depth: int) -> Iterator[Restriction]:
    if isinstance(value, list) and depth:
        for index, entry in enumerate(value):
            yield from _search(entry, (*path, index), prefix, depth - 1)
    if not isinstance(value, Mapping) or not depth:
        return
    for key, each in value.items():
        name, place = _fold(key), (*path, str(key))
        if name in _CONTAINERS and isinstance(each, Mapping | list):
            yield from _search(each, place, "build." if name == "build" else "", depth - 1)
        elif found := _judge(prefix + name, each):
            yield Restriction(place, *found)


def _judge(name: str, value: object) -> tuple[Remedy, str] | None:
    for meant in (name, _correct(name)):
        for rule in RULES if meant else ():
            if meant in rule.keys and rule.restricts(value):
                return rule.remedy, meant if meant != name else ""
    return None


def _correct(name: str) -> str:
    """Return a known key that differs from `name` by one extra or missing letter, or by two swapped letters;
    empty if there is none."""
    if name in _NOT_MISSPELT or name in _FOREIGN_KEYS:
        return ""
    return next((known for known in _CORRECTABLE_KEYS if _is_misspelling(name, known)), "")


def _is_misspelling(written: str, known: str) -> bool:
    if abs(len(written) - len(known)) > 1:
        return False
    start = next(
        (at for at, pair in enumerate(zip(written, known, strict=False)) if pair[0] != pair[1]),
        min(len(written), len(known)),
    )
    left, right = written[start:], known[start:]
    return left[1:] == right or right[1:] == left or (left[1::-1] == right[:2] and left[2:] == right[2:])


def _words(value: object) -> list[str]:
    """Return the keywords of a value in lower case, without separators. For a mapping, return a keyword that
    no rule contains."""
    if isinstance(value, list):
        return [word for entry in value for word in _words(entry)]
    if isinstance(value, Mapping):
        return ["{}"] if value else []
    text = "" if value is None else str(value).strip()
    return [_fold(text) or text] if text else []


def _fold(value: object) -> str:
    return "".join(letter for letter in str(value).casefold().strip() if letter not in "-_ ")
