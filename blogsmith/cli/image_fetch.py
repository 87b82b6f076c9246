"""Implementation of `blogsmith images fetch`: compare the images in posts with the stored copies, and
download the rest.

An image that cannot be downloaded is reported at the location that names it, and the others are still
downloaded. The record is written at the end, even if the run is interrupted.
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
from ..features.remote_images import RemoteUse
from ..model.remote_images import FETCH_COMMAND, RECORD, ImageCopy, read_record
from ..model.units import format_size
from ..network.connection import Limits, download
from ..network.images.copies import CopyRefused, copy_state, fetch_copy, write_record
from ..project.context import SiteContext
from ..project.report import Progress
from ..project.trust.consent import is_trusted

MAX_TOTAL_BYTES = 2_000_000_000
"""Limit for one run."""
_NO_ADDRESS = "write an address that begins with https://, without a name or a password in it"
_CHANGED = f"put a picture of your own beside the post, or take theirs with {FETCH_COMMAND} --renew"


class FetchPlan(Struct, frozen=True):
    """Plan of the downloads."""

    wanted: tuple[RemoteUse, ...]
    """Images to download, one per URL."""
    copies: Mapping[str, ImageCopy]
    """Copies currently recorded, by URL."""
    present: int
    """Number of images that have a copy."""
    unused: tuple[str, ...]
    """Recorded URLs that no page names any more."""
    problems: tuple[Diagnostic, ...]
    renew: bool


class FetchReport(Struct, frozen=True):
    """Result of the downloads."""

    fetched: tuple[tuple[str, str, int], ...]
    """URL, file relative to the site root, and size in bytes. For a dry run, the file is empty and the size
    is 0.
    """
    present: int
    unused: tuple[str, ...]
    problems: tuple[Diagnostic, ...]


def plan_fetch(root: Path, uses: Iterable[RemoteUse], *, renew: bool) -> FetchPlan:
    """Compare the images in pages with the copies in the site. Raise SiteError if the record is damaged.

    renew: also download images that have a copy.
    """
    copies, damage = read_record(root)
    if damage:
        raise SiteError(*damage)
    wanted: list[RemoteUse] = []
    problems: list[Diagnostic] = []
    named: set[str] = set()
    present = 0
    for use in uses:
        if use.address in named and use.address:
            continue
        named.add(use.address)
        state = copy_state(root, copies.get(use.address))
        if not use.address:
            problems.append(_problem(use, "it is no address that can be asked", _NO_ADDRESS))
        elif renew or state in ("new", "missing"):
            wanted.append(use)
        elif state == "changed":
            message = f"{copies[use.address].path} has another SHA-256 than {RECORD} says"
            problems.append(_problem(use, message, _CHANGED))
        else:
            present += 1
    unused = tuple(sorted(copies.keys() - named))
    return FetchPlan(tuple(wanted), copies, present, unused, tuple(problems), renew)


def fetch_images(context: SiteContext, plan: FetchPlan, progress: Progress, *, is_dry: bool) -> FetchReport:
    """Download the images. Raise SiteError if the site cannot be written.

    is_dry: only report what would be downloaded.
    """
    if is_dry:
        named = tuple((use.address, "", 0) for use in plan.wanted)
        return FetchReport(named, plan.present, plan.unused, plan.problems)
    try:
        with site_lock(context.root, 0):
            return _fetch_all(context, plan, progress)
    except OSError as error:
        message = f"{error.filename or context.root} cannot be written: {error.strerror or error}"
        raise SiteError(Diagnostic("image-fetch", message)) from error


def _fetch_all(context: SiteContext, plan: FetchPlan, progress: Progress) -> FetchReport:
    may_be_private = is_trusted(context.root, context.config) and not context.config.markup.untrusted
    copies, problems = dict(plan.copies), list(plan.problems)
    fetched: list[tuple[str, str, int]] = []
    try:
        for number, use in enumerate(plan.wanted):
            if sum(size for _, _, size in fetched) > MAX_TOTAL_BYTES:
                message = f"more than {format_size(MAX_TOTAL_BYTES)} came in one run"
                problems.append(_problem(use, message, f"run {FETCH_COMMAND} again for the rest"))
                break
            watch = _watch(progress, urlsplit(use.address).netloc, number, len(plan.wanted))
            get = partial(download, limits=Limits(may_be_private=may_be_private, watch=watch))
            try:
                done = fetch_copy(context.root, use.address, copies.get(use.address), get, renew=plan.renew)
            except CopyRefused as refused:
                problems.append(_problem(use, str(refused), refused.hint))
            else:
                copies[use.address] = done.copy
                fetched.append((use.address, done.copy.path, done.size))
    finally:
        write_record(context.root, copies)
    return FetchReport(tuple(fetched), plan.present, plan.unused, tuple(problems))


def _watch(progress: Progress, host: str, number: int, total: int) -> Callable[[int], None]:
    """Return a callback that shows how many bytes of an image have arrived."""
    progress(host, number, total)
    return lambda done: progress(f"{host} {format_size(done)}", number, total)


def _problem(use: RemoteUse, reason: str, hint: str = "") -> Diagnostic:
    what = "the poster of" if use.is_poster else "image"
    message = f"{what} {use.written} cannot be copied: {reason}"
    return replace(use.at, code="image-fetch", message=message, hint=hint)
