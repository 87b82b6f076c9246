"""Which sites' own code the person at this machine has agreed to run: plugins, and the cells of posts.

Like `direnv allow`: a record outside the site, per user, of the site's folder and a digest of its
plugins, of its settings under `execute:` (which name the program that runs cells, and what it may
see) and of a command under `editor:`. A cloned site cannot bring its own consent, and changes to these ask
again. The cells themselves are not part of the digest: their author writes them all day long.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import msgspec

from .config import Config
from .editor_words import read_editor
from .errors import Diagnostic, SiteError
from .load_config import load_config
from .storage.folder import open_folder


def record_file() -> Path:
    """The user's record: `$XDG_STATE_HOME/blogsmith/trusted.json`."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "blogsmith" / "trusted.json"


def code_digest(root: Path, config: Config | None = None) -> str:
    """Hex SHA-256 over every Python file under the site's `plugins/`, and the settings that decide what runs.

    config: the site's settings, where they are known; else they are read.
    """
    config = config or load_config(root).config
    total = hashlib.sha256(msgspec.json.encode(config.execution))
    # a link that leads nowhere is an editor's lock, and is no code
    for file in sorted(path for path in (root / "plugins").rglob("*.py") if path.is_file()):
        total.update(str(file.relative_to(root)).encode() + b"\0")
        total.update(hashlib.sha256(file.read_bytes()).digest())
    # only where there is one: consent that was given before there was this setting holds
    if read_editor(config.editor).is_code:
        total.update(b"\0editor\0" + config.editor.strip().encode())
    return total.hexdigest()


def is_trusted(root: Path, config: Config | None = None) -> bool:
    """Whether this user trusted this folder with exactly these plugins and settings."""
    return _records().get(str(root.resolve())) == code_digest(root, config)


def was_trusted(root: Path) -> bool:
    """Whether this user trusted this folder, and its plugins or settings have changed since."""
    known = _records().get(str(root.resolve()))
    return known is not None and known != code_digest(root)


def trust(root: Path) -> None:
    """Record the site's plugins and settings as they are now; SiteError if the record cannot be written."""
    file = record_file()
    records = _records() | {str(root.resolve()): code_digest(root)}
    try:
        with open_folder(file.parent, make=True) as folder:
            folder.replace(file.name, (json.dumps(records, indent=1, sort_keys=True) + "\n").encode())
    except OSError as error:
        message = f"cannot record trust in {file}: {error.strerror or error}"
        raise SiteError(Diagnostic("trust-write", message)) from error


def _records() -> dict[str, str]:
    """A record that cannot be read trusts nothing."""
    try:
        data = json.loads(record_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in data.items()} if isinstance(data, dict) else {}
