"""Signatures of recorded results, made and verified by OpenSSH: `ssh-keygen -Y sign` and `-Y verify`.

A signature is a file beside the record. It covers the bytes of the record, which contains digests of its
images. blogsmith has no keys. The author names a key on the command line or in the environment. The settings
of a site cannot name one, because the site may be a clone. A site lists the people who may sign in
`_freeze/allowed_signers`; without this file signatures have no effect. Sources: ssh-keygen(1),
PROTOCOL.sshsig of OpenSSH.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..base.diagnostics.model import Diagnostic, SiteError
from ..base.storage.folder import open_folder
from ..base.storage.temporary import temporary_folder

SIGNATURE = "outputs.json.sig"
SIGNERS = "allowed_signers"
KEY_VARIABLE = "BLOGSMITH_SIGNING_KEY"
"""Environment variable with the path of the author's key."""
_NAMESPACE = "blogsmith-record"
_HEAD = b"-----BEGIN SSH SIGNATURE-----"
_MOST_BYTES = 256 * 1024
"""Maximum size in bytes, for a signature and for the list of signers."""
_TIMEOUT_S = 60.0
"""Time limit in seconds for signing, which may wait until the user touches a security key."""


def make_signature(data: bytes, key: str) -> bytes:
    """Return a signature of a record's bytes. key: path of a private key, or of a public key whose private
    key is in `ssh-agent`. Raises `SiteError` `freeze-signature` if signing fails."""
    done = _run_ssh_keygen("sign", "-n", _NAMESPACE, "-f", str(Path(key).expanduser()), data=data)
    if done is None:
        raise SiteError(Diagnostic("freeze-signature", _MISSING, hint=_INSTALL))
    code, signature, said = done
    if code or not signature.startswith(_HEAD):
        message = f'invalid signing key "{key}": {said.splitlines()[-1] if said else "ssh-keygen failed"}'
        hint = "write the path of an OpenSSH key after `--key`; if it has a passphrase, run `ssh-add` first"
        raise SiteError(Diagnostic("freeze-signature", message, hint=hint))
    return signature


def find_signer(data: bytes, signature: bytes, signers: bytes, date: str, record: str) -> str | Diagnostic:
    """Return the signer's name in the list of signers. If the signature is not valid, return a
    `freeze-signature` error about the record. If ssh-keygen is not installed, return a warning.

    signers: content of the list of signers. date: ISO date of the record; the signer's key must be valid on
    that day. record: path of the record relative to the site root, for the diagnostic.
    """
    if not signature.startswith(_HEAD) or max(len(signature), len(signers)) > _MOST_BYTES:
        return _error(record, "it was not made by ssh-keygen")
    with temporary_folder() as path, open_folder(path) as folder:
        folder.replace(SIGNERS, signers)
        folder.replace(SIGNATURE, signature)
        options = ["-f", str(path / SIGNERS), "-s", str(path / SIGNATURE)]
        if b"valid-" in signers:
            # not today, so that a build does not depend on the clock
            options.append(f"-Overify-time={(date or '1970-01-01').replace('-', '')}")
        found = _run_ssh_keygen("find-principals", *options)
        if found is None:
            return Diagnostic("freeze-signature", _MISSING, record, hint=_INSTALL, severity="warning")
        name = found[1].decode("utf-8", "replace").partition("\n")[0].partition(",")[0].strip()
        if found[0] or not name:
            return _unknown_signer(record)
        code, _, said = _run_ssh_keygen("verify", "-n", _NAMESPACE, "-I", name, *options, data=data) or found
    if code:
        is_other_use = "namespace" in said
        return (
            _unknown_signer(record) if is_other_use else _error(record, "they changed after they were signed")
        )
    return name


_MISSING = "missing ssh-keygen, which signs recorded results and verifies their signatures"
_INSTALL = "install OpenSSH (`apt install openssh-client`)"
_REMOVE = "or run `blogsmith freeze accept` to remove the signature"


def _error(record: str, why: str) -> Diagnostic:
    message = f"invalid signature of the recorded results: {why}"
    hint = f"restore the record from version control, run its cells again, {_REMOVE}"
    return Diagnostic("freeze-signature", message, record, hint=hint)


def _unknown_signer(record: str) -> Diagnostic:
    message = f"unknown signer of the recorded results: not in _freeze/{SIGNERS}"
    hint = f"add the public key to _freeze/{SIGNERS}, {_REMOVE}"
    return Diagnostic("freeze-signature", message, record, hint=hint)


def _run_ssh_keygen(action: str, *arguments: str, data: bytes = b"") -> tuple[int, bytes, str] | None:
    """Run `ssh-keygen -Y`. Return its exit code, output and messages, or None if it is not installed. data:
    standard input."""
    import subprocess  # most sites have no signatures

    environment = {**os.environ, "LC_ALL": "C", "TZ": "UTC", "SSH_ASKPASS_REQUIRE": "never"}
    try:
        done = subprocess.run(
            ["ssh-keygen", "-Y", action, *arguments],
            input=data,
            capture_output=True,
            env=environment,
            # without a terminal, so that it cannot prompt for a passphrase while pages are built
            start_new_session=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return 1, b"", str(error)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace").strip()
