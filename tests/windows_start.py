"""Runs blogsmith as far as Linux can be made to look like Windows: without its modules, calls and signals.

python tests/windows_start.py build --frozen
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import sys
import time
from importlib import import_module
from types import ModuleType

LIBRARIES = (
    *("asyncio", "multiprocessing.connection", "subprocess", "tempfile", "shutil", "uuid", "zoneinfo"),
    *("click.shell_completion", "rich.progress", "PIL.Image", "jinja2.sandbox", "markdown_it", "yaml"),
    *("mdit_py_plugins", "pygments.lexers", "fontTools.subset", "fontTools.ttLib.woff2", "ziamath"),
)
"""Imported before: they check the system, too, and are not tested here."""
ABSENT_MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty")
ABSENT = (
    (os, ("fork", "fchmod", "getuid", "killpg", "pread", "pwrite", "register_at_fork", "set_blocking")),
    (os, ("O_CLOEXEC", "O_NONBLOCK", "O_NOFOLLOW", "O_DIRECTORY", "O_PATH", "setsid", "uname", "WNOHANG")),
    (select, ("poll", "epoll", "POLLIN")),
    (
        signal,
        ("SIGALRM", "SIGBUS", "SIGCHLD", "SIGKILL", "SIGPROF", "SIGUSR2", "pthread_sigmask", "setitimer"),
    ),
    (socket, ("send_fds", "recv_fds", "AF_UNIX")),
    (time, ("tzset",)),
)


def look_like_windows() -> None:
    """From here on, modules and names that Windows lacks are missing."""
    for name in LIBRARIES:
        import_module(name)
    for name in ABSENT_MODULES:
        sys.modules[name] = None  # type: ignore[assignment] # which makes `import` fail
    for module, names in ABSENT:
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    os.supports_dir_fd = set()
    # it was set before the functions were removed
    vars(shutil)["_use_fd_functions"] = False
    locks = ModuleType("msvcrt")
    locks.__dict__.update(locking=lambda *_: None, LK_NBLCK=2)
    sys.modules["msvcrt"] = locks
    # not `os.name`: paths would be those of Windows
    sys.platform = "win32"


if __name__ == "__main__":
    look_like_windows()
    from blogsmith.cli.main import main

    sys.exit(main(sys.argv[1:]))
