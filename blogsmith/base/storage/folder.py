"""Folders that are entered through no link, and what is made, replaced and removed in them.

A site may come from a stranger, with symbolic links where folders of ours belong. So only the first folder,
which the user names, is opened by a path. Every folder below it is opened by its name in the one above, and
every file by its name in an open folder, never through a link (openat(2), O_NOFOLLOW): nothing can be
exchanged between a check and its use. Where the system lacks these calls (Windows) each name is looked at
before each use, and junctions count as links.

All methods raise OSError, with the whole path as its file name; LinkInTheWay is one.

Every start reads through this, so what only writing needs is imported when something is written.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from .links import LinkInTheWay, is_junction, is_link, is_name, split_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from io import BufferedRandom, BufferedReader
    from pathlib import Path, PurePosixPath
    from typing import BinaryIO, Self, TypedDict

    class _At(TypedDict, total=False):
        dir_fd: int


HAS_DESCRIPTORS = {os.open, os.mkdir, os.stat, os.unlink, os.rename} <= os.supports_dir_fd
"""Whether names can be looked up in an open folder here."""
NEW = ".new-"
"""How the name of a file begins that is not whole yet; a writer that died may leave one."""
_PLAIN = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
_FOLDER = os.O_RDONLY | _PLAIN | getattr(os, "O_DIRECTORY", 0)
_READ = os.O_RDONLY | _PLAIN | getattr(os, "O_NONBLOCK", 0)
"""O_NONBLOCK: a pipe without a writer is refused, not waited for."""
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | _PLAIN
_LOCK = os.O_RDWR | os.O_CREAT | _PLAIN | getattr(os, "O_NONBLOCK", 0)
_NO_LINKS = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK)
"""What systems answer to O_NOFOLLOW at a link, some with O_DIRECTORY only."""


class Folder:
    """An open folder; closed by `with`. Names are single names in it, never paths."""

    __slots__ = ("descriptor", "place")

    def __init__(self, place: str, descriptor: int | None) -> None:
        self.place = place
        """Where it was when it was opened; a text, for thousands are opened."""
        self.descriptor = descriptor
        """None where the system has none for folders."""

    @property
    def path(self) -> Path:
        """Where it was when it was opened."""
        from pathlib import Path

        return Path(self.place)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the descriptor."""
        if self.descriptor is not None:
            os.close(self.descriptor)

    def enter(self, path: str | PurePosixPath, *, make: bool = False, mode: int | None = None) -> Folder:
        """The folder at a path below this one, no component of which is a link.

        make: folders that are missing are made, with the permissions `mode`, if given, whatever the umask.
        They survive a power cut once `sync` has been called on those that hold them.
        """
        here = self
        for name in split_path(path):
            try:
                there = here._enter_one(name, make=make, mode=mode)
            finally:
                if here is not self:
                    here.close()
            here = there
        return here

    def make(self, name: str, mode: int | None = None) -> Folder:
        """A new, empty folder."""
        with self._locate(name) as (place, at):
            os.mkdir(place, **at)
        new = self._enter_one(name)
        if mode is not None:
            new.set_mode(mode)
        return new

    def status(self, name: str) -> os.stat_result | None:
        """What stands under `name`, itself if it is a link; None if nothing does."""
        try:
            with self._locate(name, is_checked=False) as (place, at):
                return os.stat(place, follow_symlinks=False, **at)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def is_folder(self, name: str) -> bool:
        """Whether `name` is a folder, and no link to one."""
        found = self.status(name)
        return found is not None and stat.S_ISDIR(found.st_mode) and not is_link(found)

    def entries(self) -> list[tuple[str, bool]]:
        """Name of everything in it, and whether that is a folder and no link; sorted."""
        try:
            with os.scandir(self.place if self.descriptor is None else self.descriptor) as found:
                return sorted((e.name, e.is_dir(follow_symlinks=False) and not is_junction(e)) for e in found)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self.place) from error

    def open_file(self, name: str) -> BufferedReader:
        """A regular file to read; OSError for anything else: a link, a pipe, a folder."""
        return os.fdopen(self._open_regular(name, _READ), "rb")

    def read(self, name: str, most: int = -1) -> bytes:
        """The first `most` bytes of a regular file; all of them by default."""
        with self.open_file(name) as file:
            return file.read(most)

    def create(self, name: str, mode: int | None = None) -> BufferedRandom:
        """A new file to write, with the permissions `mode` whatever the umask if it is given.

        FileExistsError if anything stands under `name`.
        """
        descriptor = self._open_regular(name, _CREATE)
        if mode is not None:
            os.chmod(descriptor if HAS_DESCRIPTORS else f"{self.place}/{name}", mode)
        return os.fdopen(descriptor, "w+b")

    def open_lock(self, name: str) -> BufferedRandom:
        """A file to read and write, made if it is missing; what it holds stays.

        OSError if it is not a file of its own: with a second name, what is written would stand elsewhere too.
        """
        descriptor = self._open_regular(name, _LOCK)
        if os.fstat(descriptor).st_nlink > 1:
            os.close(descriptor)
            raise OSError(errno.EMLINK, "it is a file with two names", f"{self.place}/{name}")
        return os.fdopen(descriptor, "r+b")

    def replace(
        self,
        name: str,
        data: bytes | BinaryIO,
        mode: int | None = None,
        head: bytes = b"",
        *,
        is_durable: bool = True,
    ) -> None:
        """Give `name` new contents in one step that survives a power cut: the old ones or all of the new.

        A link under `name` is replaced itself. Two writers at once are safe: each file appears whole.
        head: stands before the data. is_durable: False where half of it may be left by a power
        cut, because the reader notices.
        """
        from shutil import copyfileobj

        new = f"{NEW}{os.urandom(6).hex()}"
        try:
            with self.create(new, mode) as stream:
                stream.write(head)
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
        """Move what stands under `name`; a file or an empty folder under `new` in `to` is replaced."""
        with (
            self._locate(name, is_checked=False) as (old_place, _),
            to._locate(new, is_checked=False) as (new_place, _),
        ):
            # rename(2) never follows a last component
            os.replace(old_place, new_place, src_dir_fd=self.descriptor, dst_dir_fd=to.descriptor)

    def link(self, name: str, to: Folder, new: str) -> None:
        """One more name for a file, or for a link itself."""
        with self._locate(name, is_checked=False) as (old_place, _), to._locate(new) as (new_place, _):
            os.link(
                old_place,
                new_place,
                src_dir_fd=self.descriptor,
                dst_dir_fd=to.descriptor,
                follow_symlinks=False,
            )

    def copy(self, name: str, to: Folder, new: str) -> None:
        """A copy of a file with its time and permissions, or of a link itself."""
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
        """Remove a file, or a link itself."""
        with self._locate(name, is_checked=False) as (place, at):
            os.unlink(place, **at)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        with self._locate(name) as (place, at):
            os.rmdir(place, **at)

    def remove_inner(self, name: str, files: Iterable[str]) -> None:
        """Remove files of a folder in this one, then that folder if nothing else is in it.

        A tree of thousands of pages goes this way: two system calls a folder and one a file.
        """
        with self._enter_one(name) as inner, inner._locate(".", is_inner=True) as (_, at):
            for file in files:
                if not is_name(file):
                    raise OSError(errno.EINVAL, "it is no name of a file", f"{inner.place}/{file}")
                os.unlink(file if at else f"{inner.place}/{file}", **at)
        self.remove_folder(name)

    def remove_tree(self, name: str) -> None:
        """Remove a folder with all that is in it; links in it are removed themselves."""
        from shutil import rmtree

        with self._locate(name) as (place, at):
            if self._is_link(name):
                raise LinkInTheWay(f"{self.place}/{name}")
            rmtree(place, **at)

    def set_mode(self, mode: int) -> None:
        """Its own permissions."""
        os.chmod(self.place if self.descriptor is None else self.descriptor, mode)

    def set_time(self, modified_ns: int) -> None:
        """When a name in it came or went last, as the file system shall have it."""
        times = (modified_ns, modified_ns)
        os.utime(self.place if self.descriptor is None else self.descriptor, ns=times)

    def own_status(self) -> os.stat_result:
        """Of the folder itself."""
        return os.stat(self.place if self.descriptor is None else self.descriptor)

    def sync(self) -> None:
        """Bring the names in it to disk, where the system can: file contents have `os.fsync` of their own."""
        if self.descriptor is not None:
            with suppress(OSError):  # some file systems refuse
                os.fsync(self.descriptor)

    def _enter_one(self, name: str, *, make: bool = False, mode: int | None = None) -> Folder:
        if make and name != ".":
            with suppress(FileExistsError):
                return self.make(name, mode)
        with self._locate(name, is_inner=True) as (place, at):
            if self.descriptor is None:
                if not os.path.isdir(place):
                    code = errno.ENOTDIR if os.path.lexists(place) else errno.ENOENT
                    raise OSError(code, os.strerror(code))
                return Folder(f"{self.place}/{name}", None)
            return Folder(f"{self.place}/{name}", os.open(place, _FOLDER, **at))

    def _open_regular(self, name: str, flags: int) -> int:
        with self._locate(name) as (place, at):
            descriptor = os.open(place, flags, 0o666, **at)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.close(descriptor)
                raise OSError(errno.EINVAL, "it is no regular file")
            return descriptor

    @contextmanager
    def _locate(
        self, name: str, *, is_checked: bool = True, is_inner: bool = False
    ) -> Iterator[tuple[str, _At]]:
        """Where system calls find `name`; what they raise then names its path.

        is_checked: a link under it is refused, by the call itself or, without descriptors, here.
        """
        if not is_name(name) and not (is_inner and name == "."):
            raise OSError(errno.EINVAL, "it is no name of a file", f"{self.place}/{name}")
        path = f"{self.place}/{name}"
        try:
            if self.descriptor is not None:
                yield name, {"dir_fd": self.descriptor}
            else:
                # `.` is the folder itself, which was looked at when it was entered
                if is_checked and name != "." and self._is_link(name):
                    raise LinkInTheWay(path)
                yield path, {}
        except LinkInTheWay:
            raise
        except OSError as error:
            if error.errno in _NO_LINKS and is_checked and self._is_link(name):
                raise LinkInTheWay(path) from error
            raise OSError(error.errno, error.strerror or str(error), path) from error

    def _is_link(self, name: str) -> bool:
        found = self.status(name)
        return found is not None and is_link(found)


def open_folder(path: Path | str, *, make: bool = False, by_descriptor: bool = HAS_DESCRIPTORS) -> Folder:
    """The folder at a path that the user names: links on the way there are the user's own word.

    make: it and the folders above it are made if they are missing.
    """
    if make:
        os.makedirs(path, exist_ok=True)
    if not by_descriptor:
        if not os.path.isdir(path):
            code = errno.ENOTDIR if os.path.exists(path) else errno.ENOENT
            raise OSError(code, os.strerror(code), str(path))
        return Folder(str(path), None)
    flags = _FOLDER & ~getattr(os, "O_NOFOLLOW", 0)
    try:
        return Folder(str(path), os.open(path, flags))
    except PermissionError:
        # to go through a folder is no right to list it
        return Folder(str(path), os.open(path, flags | getattr(os, "O_PATH", 0)))
