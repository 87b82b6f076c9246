"""The oldest versions that pyproject.toml promises, as constraints for pip.

    python scripts/oldest_versions.py > constraints.txt
    python -m pip install --constraint constraints.txt '.[test]'

Those of what a site is built with, extras too; tools of the tests are as new as there are.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
TOOLS = "test"
"""The extra whose packages no site needs."""
_LOWER = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*(?P<version>[^,;\s]+)")


def oldest_versions(project: Path) -> Iterator[str]:
    """`name==version` of each requirement that has a lower bound, in the order of the file.

    ValueError for one that has none: what it promises cannot be tested.
    """
    read = tomllib.loads(project.read_text("utf-8"))["project"]
    extras = read["optional-dependencies"].items()
    wanted = [*read["dependencies"], *(one for name, ones in extras if name != TOOLS for one in ones)]
    for requirement in wanted:
        found = _LOWER.match(requirement)
        if found is None:
            raise ValueError(f"{requirement} has no lower bound")
        yield f"{found['name']}=={found['version']}"


if __name__ == "__main__":
    print(*oldest_versions(PROJECT), sep="\n")
