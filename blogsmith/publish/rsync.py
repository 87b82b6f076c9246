"""rsync to the user's own server. A script builds the site, shows the changes and waits for confirmation.

An interrupted copy does no damage: new files are first stored next to the old ones, and replace them at the
end. Only then are removed files deleted. Hidden files on the server (`.well-known/` for certificates, keys in
a home folder) are never deleted, and a build that deletes too many files is rejected. Source: rsync(1).
"""

from __future__ import annotations

from collections.abc import Mapping

from ..api.publishing import MANIFEST
from .hosted_site import HostedSite, build_commands
from .quoting import quote_shell

SCRIPT = "publish/rsync.sh"
_SCRIPT = """\
#!/bin/sh
# Publishes the site on a server. Written by `blogsmith publish setup rsync`; change it as you like.
#   sh {script}             builds, shows what would change there, asks, copies
#   sh {script} --dry-run   builds and shows
#   sh {script} --yes       builds and copies
set -eu
cd -- "$(dirname -- "$0")/.."

destination={destination}
# stops if more files than this would be deleted
most_deleted=${{MOST_DELETED:-200}}

case "${{1:-}}" in "" | --dry-run | --yes) ;; *) echo "usage: $0 [--dry-run | --yes]" >&2; exit 2 ;; esac
{builds}

copy() {{
  rsync --recursive --links --times --checksum --compress --protect-args --chmod=D755,F644 \\
    --delete-after --delay-updates --max-delete="$most_deleted" \\
    --exclude={manifest} --filter='protect .*' "$@" -- {output} "$destination"
}}

changes=$(copy --dry-run --itemize-changes) || {{
  echo "nothing was copied: rsync fails, or more than $most_deleted files would be deleted" >&2
  echo "to delete them anyway: MOST_DELETED=10000 sh $0" >&2
  exit 1
}}
if [ -z "$changes" ]; then echo "nothing to publish"; exit 0; fi
printf '%s\\n' "$changes"
if [ "${{1:-}}" = --dry-run ]; then exit 0; fi
if [ "${{1:-}}" != --yes ]; then
  printf 'publish this at %s? [y/N] ' "$destination"
  read -r answer || answer=
  case "$answer" in y | Y | yes) ;; *) echo "nothing was copied"; exit 1 ;; esac
fi
copy
echo "published at $destination"
"""


def rsync_files(site: HostedSite) -> Mapping[str, str]:
    """Return path in the repository → content of each file that is needed."""
    destination = site.destination.rstrip("/") + "/"
    return {
        site.repository_path(SCRIPT): _SCRIPT.format(
            script=SCRIPT,
            destination=quote_shell(destination),
            builds="\n".join(build_commands(site)),
            manifest=quote_shell(f"/{MANIFEST}"),
            output=quote_shell(f"./{site.output}/"),
        )
    }


def rsync_steps(site: HostedSite) -> tuple[str, ...]:
    """Return the steps that the user has to take next, one per line."""
    return (f"sh {SCRIPT} --dry-run   builds, and shows what would change at {site.destination}",)
