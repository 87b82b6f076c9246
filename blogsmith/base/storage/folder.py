"""Folders that are opened without following links, and operations on files in them.

A stranger's site may contain symbolic links where our folders belong. Therefore only the first folder, which
the user names, is opened by its path. Every folder below it is opened by its name in its open parent, and
every file by its name in its open folder, never through a link (openat(2), O_NOFOLLOW). So nothing can be
replaced between a check and its use. If the system lacks these calls (Windows), each name is checked before
each use, and junctions are treated as links.

All methods raise OSError with the whole path as its file name; `UnexpectedLinkError` is one of these errors.

Every start of the program imports this module, so modules needed only for writing are imported at their use.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from .links import UnexpectedLinkError, is_junction, is_link, is_name, split_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from io import BufferedRandom, BufferedReader
    from pathlib import Path, PurePosixPath
    from typing import BinaryIO, Self, TypedDict

    class _At(TypedDict, total=False):
        dir_fd: int


HAS_DESCRIPTORS = {os.open, os.mkdir, os.stat, os.unlink, os.rename} <= os.supports_dir_fd
"""Whether this system can look up a name relative to an open folder."""
TEMPORARY_PREFIX = ".new-"
"""Prefix of files that are not complete yet. If a process dies while it writes, the file may remain."""
_PLAIN = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
_FOLDER = os.O_RDONLY | _PLAIN | getattr(os, "O_DIRECTORY", 0)
_READ = os.O_RDONLY | _PLAIN | getattr(os, "O_NONBLOCK", 0)
"""Flags for reading. O_NONBLOCK: a pipe that nobody writes to is rejected immediately."""
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | _PLAIN
_LOCK = os.O_RDWR | os.O_CREAT | _PLAIN | getattr(os, "O_NONBLOCK", 0)
_NO_LINKS = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)
"""Error numbers of opening a link with O_NOFOLLOW, on various systems; some occur only with O_DIRECTORY."""


class Folder:
    """An open folder, closed by `with`. Names in arguments are single names in it, not paths."""

    __slots__ = ("descriptor", "place")

    def __init__(self, place: str, descriptor: int | None) -> None:
        self.place = place
        """Path of the folder when it was opened. A string, because creating thousands of Path objects is
        slow."""
        self.descriptor = descriptor
        """File descriptor of the folder; None if the system has none for folders."""

    @property
    def path(self) -> Path:
        """Path of the folder when it was opened."""
        from pathlib import Path

        return Path(self.place)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)

    def enter(
        self, path: str | PurePosixPath, *, make: bool = False, mode: int | None = None, flags: int = _FOLDER
    ) -> Folder:
        """Open the folder at a path below this one; no component of the path may be a link. make: create
        missing folders. They survive a power failure once `sync` was called on their parents. mode:
        permissions of created folders, regardless of the umask; None: default permissions, reduced by the
        umask. flags: of open(2)."""
        here = self
        for name in split_path(path):
            try:
                there = here._enter_one(name, make=make, mode=mode, flags=flags)
            finally:
                if here is not self:
                    here.close()
            here = there
        return here

    def make(self, name: str, mode: int | None = None) -> Folder:
        """Create a folder and open it. FileExistsError if the name exists."""
        with self._locate(name) as (place, at):
            os.mkdir(place, **at)
        new = self._enter_one(name)
        if mode is not None:
            new.set_mode(mode)
        return new

    def status(self, name: str) -> os.stat_result | None:
        """Return the status of `name`, without following it if it is a link; None if it does not exist."""
        try:
            with self._locate(name, is_checked=False) as (place, at):
                return os.stat(place, follow_symlinks=False, **at)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def is_folder(self, name: str) -> bool:
        """Return whether `name` is a folder and not a link."""
        found = self.status(name)
        return found is not None and stat.S_ISDIR(found.st_mode) and not is_link(found)

    def entries(self) -> list[tuple[str, bool]]:
        """Return (name, is folder) for all entries, sorted by name. A link to a folder does not count as a
        folder."""
        try:
            with os.scandir(self.place if self.descriptor is None else self.descriptor) as found:
                return sorted((e.name, e.is_dir(follow_symlinks=False) and not is_junction(e)) for e in found)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.place) from error

    def open_file(self, name: str) -> BufferedReader:
        """Open a regular file for reading. OSError for anything else: a link, a pipe, a folder."""
        return os.fdopen(self._open_regular(name, _READ), "rb")

    def read(self, name: str, most: int = -1) -> bytes:
        """Return the first `most` bytes of a regular file; all of them by default."""
        with self.open_file(name) as file:
            return file.read(most)

    def create(self, name: str, mode: int | None = None) -> BufferedRandom:
        """Create a file for writing. FileExistsError if `name` exists. mode: permissions, regardless of the
        umask; None: default permissions, reduced by the umask."""
        descriptor = self._open_regular(name, _CREATE)
        if mode is not None:
            os.chmod(descriptor if HAS_DESCRIPTORS else f"{self.place}/{name}", mode)
        return os.fdopen(descriptor, "w+b")

    def open_lock(self, name: str, mode: int = 0o666) -> BufferedRandom:
        """Open a file for reading and writing, keeping its contents; create it if it is missing. OSError if
        the file has a second name (hard link), because a write would also change a file elsewhere. mode:
        permissions of a new file, which the umask reduces."""
        descriptor = self._open_regular(name, _LOCK, mode)
        if os.fstat(descriptor).st_nlink > 1:
            os.close(descriptor)
            raise OSError(errno.EMLINK, "the file has a second name (hard link)", f"{self.place}/{name}")
        return os.fdopen(descriptor, "r+b")

    def replace(
        self,
        name: str,
        data: bytes | BinaryIO,
        mode: int | None = None,
        prefix: bytes = b"",
        *,
        is_durable: bool = True,
    ) -> None:
        """Replace the contents of `name` in one step, so that after a power failure it has all old or all new
        contents.

        A link called `name` is replaced itself, not its target. Two processes may replace the same file at
        the same time. prefix: bytes written before `data`. is_durable: False allows an incomplete file after
        a power failure, for files whose reader notices that.
        """
        from shutil import copyfileobj

        new = f"{TEMPORARY_PREFIX}{os.urandom(6).hex()}"
        try:
            with self.create(new, mode) as stream:
                stream.write(prefix)
                if isinstance(data, bytes):
                    stream.write(data)
                else:
                    copyfileobj(data, stream)
                stream.flush()
                if is_durable:
                    os.fsync(stream.fileno())
            self.rename(new, self, name)
        except BaseException:
            with suppress(OSError):
                self.remove(new)
            raise
        if is_durable:
            self.sync()

    def rename(self, name: str, to: Folder, new: str) -> None:
        """Move `name` to `new` in the folder `to`. An existing file or empty folder there is replaced."""
        with (
            self._locate(name, is_checked=False) as (old_place, _),
            to._locate(new, is_checked=False) as (new_place, _),
        ):
            # rename(2) never follows the last component
            os.replace(old_place, new_place, src_dir_fd=self.descriptor, dst_dir_fd=to.descriptor)

    def link(self, name: str, to: Folder, new: str) -> None:
        """Add a hard link to a file. If `name` is a symbolic link, the new name refers to the link itself."""
        with self._locate(name, is_checked=False) as (old_place, _), to._locate(new) as (new_place, _):
            os.link(
                old_place,
                new_place,
                src_dir_fd=self.descriptor,
                dst_dir_fd=to.descriptor,
                follow_symlinks=False,
            )

    def copy(self, name: str, to: Folder, new: str) -> None:
        """Copy a file with its times and permissions. A link is copied as a link."""
        from shutil import copyfileobj

        found = self.status(name)
        if found is not None and is_link(found):
            with self._locate(name, is_checked=False) as (place, at), to._locate(new) as (new_place, new_at):
                os.symlink(os.readlink(place, **at), new_place, **new_at)
            return
        with self.open_file(name) as source, to.create(new) as target:
            copyfileobj(source, target)
            target.flush()
            status = os.fstat(source.fileno())
            if sys.platform != "win32":
                os.fchmod(target.fileno(), stat.S_IMODE(status.st_mode))
        with to._locate(new) as (place, at):
            os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns), **at)

    def remove(self, name: str) -> None:
        """Remove a file. If it is a link, remove the link."""
        with self._locate(name, is_checked=False) as (place, at):
            os.unlink(place, **at)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        with self._locate(name) as (place, at):
            os.rmdir(place, **at)

    def remove_inner(self, name: str, files: Iterable[str]) -> None:
        """Remove files of a subfolder, then the subfolder if it is empty. Fast enough for thousands of pages:
        it takes two system calls for the folder and one for each file."""
        with self._enter_one(name) as inner, inner._locate(".", is_inner=True) as (_, at):
            for file in files:
                if not is_name(file):
                    raise OSError(errno.EINVAL, "invalid file name", f"{inner.place}/{file}")
                os.unlink(file if at else f"{inner.place}/{file}", **at)
        self.remove_folder(name)

    def remove_tree(self, name: str) -> None:
        """Remove a folder with all its contents. For links in it, only the links are removed."""
        from shutil import rmtree

        with self._locate(name) as (place, at):
            if self._is_link(name):
                raise UnexpectedLinkError(f"{self.place}/{name}")
            rmtree(place, **at)

    def set_mode(self, mode: int) -> None:
        """Set the permissions of this folder."""
        os.chmod(self.place if self.descriptor is None else self.descriptor, mode)

    def set_time(self, modified_ns: int) -> None:
        """Set the modification time of this folder, in nanoseconds."""
        times = (modified_ns, modified_ns)
        os.utime(self.place if self.descriptor is None else self.descriptor, ns=times)

    def own_status(self) -> os.stat_result:
        return os.stat(self.place if self.descriptor is None else self.descriptor)

    def sync(self) -> None:
        """Flush the list of names in the folder to disk, if the system can. File contents need their own
        `os.fsync`."""
        if self.descriptor is not None:
            with suppress(OSError):  # some file systems do not support this
                os.fsync(self.descriptor)

    def _enter_one(
        self, name: str, *, make: bool = False, mode: int | None = None, flags: int = _FOLDER
    ) -> Folder:
        if make and name != ".":
            with suppress(FileExistsError):
                return self.make(name, mode)
        with self._locate(name, is_inner=True) as (place, at):
            if self.descriptor is None:
                if not os.path.isdir(place):
                    code = errno.ENOTDIR if os.path.lexists(place) else errno.ENOENT
                    raise OSError(code, os.strerror(code))
                return Folder(f"{self.place}/{name}", None)
            return Folder(f"{self.place}/{name}", os.open(place, flags, **at))

    def _open_regular(self, name: str, flags: int, mode: int = 0o666) -> int:
        with self._locate(name) as (place, at):
            descriptor = os.open(place, flags, mode, **at)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.close(descriptor)
                raise OSError(errno.EINVAL, "not a regular file")
            return descriptor

    @contextmanager
    def _locate(
        self, name: str, *, is_checked: bool = True, is_inner: bool = False
    ) -> Iterator[tuple[str, _At]]:
        """Yield arguments for system calls that find `name`. Errors that these calls raise get the whole path
        of `name` as their file name. is_checked: reject a link, either in the system call or, without
        descriptors, here. is_inner: accept `.`, the folder itself."""
        if not is_name(name) and not (is_inner and name == "."):
            raise OSError(errno.EINVAL, "invalid file name", f"{self.place}/{name}")
        path = f"{self.place}/{name}"
        try:
            if self.descriptor is not None:
                yield name, {"dir_fd": self.descriptor}
            else:
                # `.` is the folder itself, which was checked when it was opened
                if is_checked and name != "." and self._is_link(name):
                    raise UnexpectedLinkError(path)
                yield path, {}
        except UnexpectedLinkError:
            raise
        except OSError as error:
            if error.errno in _NO_LINKS and is_checked and self._is_link(name):
                raise UnexpectedLinkError(path) from error
            raise OSError(error.errno, error.strerror or str(error), path) from error

    def _is_link(self, name: str) -> bool:
        found = self.status(name)
        return found is not None and is_link(found)


def open_folder(
    path: Path | str, *, make: bool = False, mode: int | None = None, by_descriptor: bool = HAS_DESCRIPTORS
) -> Folder:
    """Open the folder at a path that the user names. Links on that path are followed, because the user named
    it. make: create the folder and its parents if they are missing. mode: permissions of created folders,
    regardless of the umask; None: default permissions, reduced by the umask."""
    if make:
        _make_folders(str(path), mode)
    if not by_descriptor:
        if not os.path.isdir(path):
            code = errno.ENOTDIR if os.path.exists(path) else errno.ENOENT
            raise OSError(code, os.strerror(code), str(path))
        return Folder(str(path), None)
    flags = _FOLDER & ~getattr(os, "O_NOFOLLOW", 0)
    try:
        return Folder(str(path), os.open(path, flags))
    except PermissionError:
        # O_PATH needs only permission to enter the folder, not to list it
        return Folder(str(path), os.open(path, flags | getattr(os, "O_PATH", 0)))


def _make_folders(path: str, mode: int | None) -> None:
    if mode is None or os.path.isdir(path):
        os.makedirs(path, exist_ok=True)
        return
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        _make_folders(parent, mode)
    with suppress(FileExistsError):
        os.mkdir(path, mode)
        os.chmod(path, mode)


def open_real_file(path: str | Path) -> BufferedReader:
    """Open the regular file at an absolute path that was resolved before. OSError if a component of the path
    is a link by now. Each component is opened by its name in its open parent, so no process can swap a folder
    for a link in between."""
    place, name = os.path.split(path)
    drive, tail = os.path.splitdrive(place)
    if HAS_DESCRIPTORS:
        # O_PATH needs only search permission; systems without it need read permission
        flags = _PLAIN | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", os.O_RDONLY)
        top = Folder("", os.open("/", flags))
    else:
        flags, top = 0, Folder(drive or "/", None)
    with top, top.enter(tail.replace(os.sep, "/").strip("/"), flags=flags) as folder:
        return folder.open_file(name)
