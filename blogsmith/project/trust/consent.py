"""Consent of the user of this machine to run the code of a site, which consists of its plugins and the cells
of its posts.

As in `direnv allow`, consent is a record of the user, outside the site. It covers one folder, a digest of
each file of its plugins, and the settings that decide what runs: those under `execute:`, and a command under
`editor:`. So a cloned site cannot contain consent to itself, another folder at the same path has none, and a
change requires new consent. The code of cells is not covered, because their author edits it all day.
"""

from __future__ import annotations

import json
import os
import stat
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ...base.diagnostics.model import Diagnostic, SiteError
from ...base.installed import PLUGINS, InstalledPart, installed_parts, part_digest
from ...base.patterns import lazy_pattern
from ...base.storage.folder import open_folder
from ...base.storage.own_folder import FILE_MODE, FOLDER_MODE, UnsafeFileError, check_private, open_own_folder
from ...config.editors import read_editor
from ...config.load import load_config
from ...config.schema import Config, Execution
from ...hooks.plugin_code import FOLDER, PluginCode, hash_site_file, read_plugin_code
from ..bundled_folders import bundled_plugins
from .place import record_file

State = Literal["given", "never", "earlier", "elsewhere", "changed", "unread"]
_MAX_LISTED_CHANGES = 3
"""Maximum number of changes that a message lists."""


class ConsentChange(Struct, frozen=True):
    """A file or setting that has changed since consent was given."""

    name: str
    """A path relative to the root, or the key of a setting."""
    is_setting: bool
    before: str | None
    """Digest of the file or value of the setting; None if it did not exist."""
    after: str | None
    """New digest or value; None if it was removed."""

    @property
    def kind(self) -> Literal["new", "changed", "gone"]:
        """The kind of change."""
        if self.before is None:
            return "new"
        return "gone" if self.after is None else "changed"


class Consent(Struct, frozen=True):
    """Whether code of a site may run here. If not, also the reason."""

    state: State
    """`earlier`: consent given in an old version of blogsmith, which did not record the folder. `elsewhere`:
    consent to another folder that was at this path. `unread`: the record of trust is unsafe or damaged, as
    `problem` explains."""
    code: PluginCode
    """The plugin code whose digests were checked; empty if there is no valid consent."""
    files: Mapping[str, str]
    """Digests of all checked files, which are the plugins, and programs of the site that the settings use."""
    settings: Mapping[str, str]
    changes: tuple[ConsentChange, ...] = ()
    problem: str = ""
    """Reason why the record of trust cannot be read, with the command that repairs it; otherwise empty."""

    @property
    def is_given(self) -> bool:
        """Whether the code may run."""
        return self.state == "given"

    @property
    def reason(self) -> str:
        """Reason why the user's trust in a site has ended, as part of a sentence; empty if the user never
        trusted the site."""
        if self.state == "unread":
            return self.problem
        if self.state == "earlier":
            return "it was trusted in an earlier version of blogsmith"
        if self.state == "elsewhere":
            return "another folder was trusted at this path"
        return f"since it was trusted, {_format_changes(self.changes)}" if self.state == "changed" else ""


def check_consent(root: Path, config: Config | None = None) -> Consent:
    """Return whether this user trusts exactly this folder with its present plugins and settings. config:
    settings of the site; None to read them."""
    root = root.resolve()
    try:
        record = _read_records().get(str(root))
    except UnsafeFileError as unsafe:
        return Consent("unread", PluginCode(root), {}, {}, problem=str(unsafe))
    if record is None:
        return _refused_consent("never", root)
    if not isinstance(record, dict):
        return _refused_consent("earlier", root)
    folder = record.get("folder")
    if not isinstance(folder, dict) or read_identity(root, folder.get("mark")) != folder:
        return _refused_consent("elsewhere", root)
    config = config or load_config(root).config
    code, settings = read_plugin_code(root), execution_settings(config)
    files = {**code.digests, **_programs(root, config), **installed_digests(root, config)}
    changes = tuple(_changes(record, files, settings))
    return Consent("changed" if changes else "given", code, files, settings, changes)


def is_trusted(root: Path, config: Config | None = None) -> bool:
    """Return whether the code of a site may run, see `check_consent`."""
    return check_consent(root, config).is_given


def trust(root: Path) -> Consent:
    """Record the consent to the current plugins and settings of the site. Raise SiteError if this fails. In
    the result, `files` and `settings` are those covered now, but `state` and `changes` are those before this
    call."""
    root = root.resolve()
    config = load_config(root).config
    code, settings = read_plugin_code(root), execution_settings(config)
    files = {**code.digests, **_programs(root, config), **installed_digests(root, config)}
    before = check_consent(root).state
    try:
        records = _read_records()
    except DamagedRecordError:
        records = {}
    except UnsafeFileError as unsafe:
        hint = f"run `{unsafe.remedy}`, and read the file before you trust it again"
        raise SiteError(Diagnostic("trust-write", unsafe.reason, hint=hint)) from unsafe
    known = records.get(str(root))
    known = known if isinstance(known, dict) else {}
    changes = tuple(_changes(known, files, settings)) if before in ("given", "changed") else ()
    mark = known.get("folder", {}).get("mark") if isinstance(known.get("folder"), dict) else None
    file = root / ".blogsmith"
    try:
        identity = mark_folder(root, mark)
        file = record_file()
        record = {"folder": dict(identity), "files": files, "settings": dict(settings)}
        text = json.dumps({**records, str(root): record}, indent=1, sort_keys=True) + "\n"
        with open_folder(file.parent, make=True, mode=FOLDER_MODE) as folder:
            folder.replace(file.name, text.encode(), FILE_MODE)
    except OSError as error:
        message = f'cannot record trust in "{file}": {error.strerror or error}'
        hint = "check the permissions of the folder and the free space"
        raise SiteError(Diagnostic("trust-write", message, hint=hint)) from error
    return Consent(before, code, files, settings, changes)


def _refused_consent(state: State, root: Path) -> Consent:
    return Consent(state, PluginCode(root), {}, {})


def execution_settings(config: Config) -> dict[str, str]:
    """Return key → value, without defaults, for the settings that decide what runs and what it may do."""
    usual = msgspec.to_builtins(Execution())
    now: dict[str, Any] = msgspec.to_builtins(config.execution)
    found = {
        f"execute.{key}": json.dumps(value, sort_keys=True, ensure_ascii=False)
        for key, value in now.items()
        if value != usual[key]
    }
    if read_editor(config.editor).runs_site_command:
        found["editor"] = config.editor.strip()
    if config.build.executor != "local" and config.execution.dask.scheduler:
        # the host at this URL receives the posts, and may have Dask run code here
        found["build.executor"] = json.dumps(config.build.executor)
    return found


def _programs(root: Path, config: Config) -> dict[str, str]:
    """Return digests of the site's files that the settings name as programs. Programs outside the site belong
    to the user and are not included."""
    editor = read_editor(config.editor)
    named = [config.execution.python, *(editor.command[:1] if editor.runs_site_command else ())]
    found = {}
    for program in named:
        path = PurePosixPath(os.path.relpath(root / program, root)).as_posix()
        # a name without a slash is searched in PATH
        if "/" in program and not path.startswith("../"):
            with suppress(ValueError):
                found[path] = hash_site_file(root, path)
    return found


def installed_plugins(root: Path, config: Config) -> dict[str, InstalledPart]:
    """Return name → installed package, for each plugin in the settings that an installed package contains. A
    file in the site's `plugins/` and a bundled plugin take precedence."""
    known = bundled_plugins()
    wanted = [
        name
        for name in config.plugins
        if name not in known and not os.path.lexists(root / FOLDER / f"{name}.py")
    ]
    parts = installed_parts(PLUGINS) if wanted else {}
    return {name: parts[name] for name in wanted if name in parts}


def installed_digests(root: Path, config: Config) -> dict[str, str]:
    """Return the digest of the package of each installed plugin. A key contains the plugin's name, its
    package and the version."""
    return {part.label: part_digest(part) for part in installed_plugins(root, config).values()}


def _changes(
    record: Mapping[str, Any], files: Mapping[str, str], settings: Mapping[str, str]
) -> Iterator[ConsentChange]:
    for part, now in (("files", files), ("settings", settings)):
        noted = record.get(part)
        before = {str(name): str(value) for name, value in noted.items()} if isinstance(noted, dict) else {}
        for name in sorted({*before, *now}):
            if before.get(name) != now.get(name):
                yield ConsentChange(name, part == "settings", before.get(name), now.get(name))


def _format_changes(changes: tuple[ConsentChange, ...]) -> str:
    """Return a phrase such as `plugins/a.py has changed, plugins/b.py is new, and 2 more`."""
    verbs = {"new": "is new", "changed": "has changed", "gone": "was removed"}
    named = ", ".join(f"{change.name} {verbs[change.kind]}" for change in changes[:_MAX_LISTED_CHANGES])
    return named + (
        f", and {len(changes) - _MAX_LISTED_CHANGES} more" if len(changes) > _MAX_LISTED_CHANGES else ""
    )


class DamagedRecordError(UnsafeFileError):
    """The record of trust contains no valid JSON, so no site is trusted; the next consent replaces it."""


def _read_records() -> dict[str, object]:
    """Return all records; empty if the user has not trusted any site yet. Raise UnsafeFileError if other
    users may have written the records, or if the records are damaged."""
    file = record_file()
    try:
        with open_folder(file.parent) as folder:
            check_private(folder.own_status(), folder.place)
            with folder.open_file(file.name) as stream:
                check_private(os.fstat(stream.fileno()), str(file))
                data = json.loads(stream.read())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedRecordError(f'invalid JSON in "{file}"', "blogsmith trust") from error
    return data if isinstance(data, dict) else {}


# Identity of a site's folder, so that consent does not pass to another folder at the same path. Two things
# must be unchanged. First, the folder itself: its inode and creation time, or its inode and device if the
# system provides no creation time. (Device numbers of btrfs, ZFS and network drives change when the machine
# restarts.) Second, a file with a random name in the site's `.blogsmith/`, which no clone contains. It is
# needed because inodes are reused.


_MARK = "trust-"
_NAME = lazy_pattern(r"trust-[0-9a-f]{32}")
_STATX_BTIME = 0x800
_BIRTH_AT = 80
"""Offset of `stx_btime` in `struct statx`. The struct starts with a mask that shows which fields the kernel
has set."""
_AT_FDCWD = -100
"""Constant of Linux that means the current folder, the same on all architectures."""


def read_identity(root: Path, mark: object) -> Mapping[str, object] | None:
    """Return the current identity of the folder, in the form of `mark_folder`. Return None if the marker file
    is missing. mark: recorded name of that file."""
    if not isinstance(mark, str) or not _NAME.fullmatch(mark) or not _is_marked(root, mark):
        return None
    return {"mark": mark, **_folder_identity(root)}


def mark_folder(root: Path, known: object = None) -> Mapping[str, object]:
    """Create a marker file, and return the identity of the folder as JSON data. Raise OSError on failure.
    known: marker of an earlier consent, which is reused if its file still exists."""
    found = read_identity(root, known)
    if found:
        return found
    # each user and each container has a marker of its own, so that they do not share consent
    mark = f"{_MARK}{os.urandom(16).hex()}"
    _write_mark(root, mark)
    return {"mark": mark, **_folder_identity(root)}


def _folder_identity(root: Path) -> dict[str, object]:
    status = root.stat()
    born_ns = _birth_time_ns(root, status)
    when = {"born_ns": born_ns} if born_ns else {"device": status.st_dev}
    return {"inode": status.st_ino, **when}


def _birth_time_ns(root: Path, status: os.stat_result) -> int:
    """Return the creation time of the folder; 0 if the system does not provide it."""
    if sys.platform == "linux":
        return _birth_time_linux_ns(root)
    else:
        return int(getattr(status, "st_birthtime", 0) * 10**9)


def _birth_time_linux_ns(root: Path) -> int:
    import ctypes

    # `os.stat` provides the creation time from Python 3.15 on
    statx = getattr(ctypes.CDLL(None), "statx", None)
    found = ctypes.create_string_buffer(256)
    if statx is None or statx(_AT_FDCWD, os.fsencode(root), 0, _STATX_BTIME, found) != 0:
        return 0
    (mask,) = struct.unpack_from("=I", found)
    seconds, nanoseconds = struct.unpack_from("=qI", found, _BIRTH_AT)
    return int(seconds * 10**9 + nanoseconds) if mask & _STATX_BTIME else 0


def _is_marked(root: Path, mark: str) -> bool:
    try:
        with open_own_folder(root, make=False) as folder:
            status = folder.status(mark)
    except OSError:
        return False
    return status is not None and stat.S_ISREG(status.st_mode)


def _write_mark(root: Path, mark: str) -> None:
    with open_own_folder(root) as folder:
        folder.create(mark).close()
        folder.sync()
