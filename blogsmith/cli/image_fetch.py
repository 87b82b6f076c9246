"""`blogsmith images fetch` finds the images in posts that have no stored copy, and downloads them.

If an image cannot be downloaded, this is reported at the line of the post that contains its URL, and the
other images are still downloaded. The list of copies is written at the end, even if the run is interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.lock import site_lock
from ..features.remote_images import RemoteImageUse
from ..model.remote_images import FETCH_COMMAND, RECORD, ImageCopy, read_record
from ..model.units import format_size
from ..network.connection import Limits, download
from ..network.images.copies import CopyError, copy_state, fetch_copy, write_record
from ..project.context import SiteContext
from ..project.report import Progress
from ..project.trust.consent import is_trusted

MAX_TOTAL_BYTES = 2_000_000_000
"""Maximum number of bytes that one run downloads."""
_URL_HINT = "write a URL that starts with https://, without a user name or password"
_CHANGED_HINT = (
    f"store your own image next to the post, or run `{FETCH_COMMAND} --renew` to download it again"
)


class FetchPlan(Struct, frozen=True):
    """Images to download, and existing copies."""

    downloads: tuple[RemoteImageUse, ...]
    """Images to download, one per URL."""
    copies: Mapping[str, ImageCopy]
    """URL → copy, for every copy in the list of the site."""
    present_count: int
    """Number of images that have a copy."""
    unused: tuple[str, ...]
    """URLs in the list that no page uses any more."""
    problems: tuple[Diagnostic, ...]
    renew: bool


class FetchReport(Struct, frozen=True):
    """Result of the downloads."""

    fetched: tuple[tuple[str, str, int], ...]
    """(URL, file relative to the site root, size in bytes) of each downloaded image. In a dry run, the file
    is empty and the size is 0."""
    present: int
    unused: tuple[str, ...]
    problems: tuple[Diagnostic, ...]


def plan_fetch(root: Path, uses: Iterable[RemoteImageUse], *, renew: bool) -> FetchPlan:
    """Compare the images in pages with the copies in the site. Raise SiteError if the list of copies is
    damaged. renew: whether to download also images that have a copy."""
    copies, damage = read_record(root)
    if damage:
        raise SiteError(*damage)
    wanted: list[RemoteImageUse] = []
    problems: list[Diagnostic] = []
    named: set[str] = set()
    present = 0
    for use in uses:
        if use.url in named and use.url:
            continue
        named.add(use.url)
        state = copy_state(root, copies.get(use.url))
        if not use.url:
            problems.append(_problem(use, "invalid URL", _URL_HINT))
        elif renew or state in ("new", "missing"):
            wanted.append(use)
        elif state == "changed":
            message = f"the SHA-256 of {copies[use.url].path} differs from the one in {RECORD}"
            problems.append(_problem(use, message, _CHANGED_HINT))
        else:
            present += 1
    unused = tuple(sorted(copies.keys() - named))
    return FetchPlan(tuple(wanted), copies, present, unused, tuple(problems), renew)


def fetch_images(context: SiteContext, plan: FetchPlan, progress: Progress, *, is_dry: bool) -> FetchReport:
    """Download the images. Raise SiteError if the site cannot be written. is_dry: whether to report only
    which images would be downloaded."""
    if is_dry:
        named = tuple((use.url, "", 0) for use in plan.downloads)
        return FetchReport(named, plan.present_count, plan.unused, plan.problems)
    try:
        with site_lock(context.root, 0):
            return _fetch_all(context, plan, progress)
    except OSError as error:
        message = f'cannot write "{error.filename or context.root}": {error.strerror or error}'
        hint = "check the permissions of the folder and the free space"
        raise SiteError(Diagnostic("image-fetch", message, hint=hint)) from error


def _fetch_all(context: SiteContext, plan: FetchPlan, progress: Progress) -> FetchReport:
    may_be_private = is_trusted(context.root, context.config) and not context.config.markup.untrusted
    copies, problems = dict(plan.copies), list(plan.problems)
    fetched: list[tuple[str, str, int]] = []
    try:
        for number, use in enumerate(plan.downloads):
            if sum(size for _, _, size in fetched) > MAX_TOTAL_BYTES:
                message = f"download limit of {format_size(MAX_TOTAL_BYTES)} per run exceeded"
                problems.append(_problem(use, message, f"run `{FETCH_COMMAND}` again to download the rest"))
                break
            watch = _size_progress(progress, urlsplit(use.url).netloc, number, len(plan.downloads))
            get = partial(download, limits=Limits(allow_private=may_be_private, watch=watch))
            try:
                done = fetch_copy(context.root, use.url, copies.get(use.url), get, renew=plan.renew)
            except CopyError as refused:
                problems.append(_problem(use, str(refused), refused.hint))
            else:
                copies[use.url] = done.copy
                fetched.append((use.url, done.copy.path, done.size))
    finally:
        write_record(context.root, copies)
    return FetchReport(tuple(fetched), plan.present_count, plan.unused, tuple(problems))


def _size_progress(progress: Progress, host: str, number: int, total: int) -> Callable[[int], None]:
    """Return a function that shows how many bytes of an image have arrived. host: host of the image. number:
    index of the image among `total` images."""
    progress(host, number, total)
    return lambda done: progress(f"{host} {format_size(done)}", number, total)


def _problem(use: RemoteImageUse, reason: str, hint: str = "") -> Diagnostic:
    what = "poster" if use.is_poster else "image"
    message = f'cannot copy {what} "{use.source_text}": {reason}'
    return replace(use.template, code="image-fetch", message=message, hint=hint)
