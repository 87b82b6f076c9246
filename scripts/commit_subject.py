"""Check the subject of a commit: at most 72 characters, imperative, no full stop. Used by pre-commit."""

from __future__ import annotations

import re
import sys
from pathlib import Path

MAX_CHARACTERS = 72
_AREA = re.compile(r"^[\w./, -]{1,24}: ")
_NOT_IMPERATIVE = re.compile(r"^(?:\w+(?:ed|ing)|The|A|An|What|Of|As|Those|Who|More|No|Some|All)\b")
_EXEMPT = ("Merge ", "Revert ", "fixup! ", "squash! ")


def problem(subject: str) -> str:
    """Return what is wrong with a subject; empty if nothing is."""
    if subject.startswith(_EXEMPT):
        return ""
    if len(subject) > MAX_CHARACTERS:
        return f"{len(subject)} characters: expected at most {MAX_CHARACTERS}"
    if subject.endswith("."):
        return "full stop at the end"
    found = _NOT_IMPERATIVE.match(_AREA.sub("", subject))
    return f'starts with "{found[0]}": write a verb in the imperative, such as "Report"' if found else ""


def main(file: str) -> int:
    """Print the problem of the message in a file. Return 1 if there is one."""
    lines = [line for line in Path(file).read_text("utf-8").splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if found := problem(subject):
        print(f"commit subject: {found}\n  {subject}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
