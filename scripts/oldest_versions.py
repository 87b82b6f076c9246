"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

    python scripts/oldest_versions.py > constraints.txt
    python -m pip install --constraint constraints.txt '.[test]'

Covers the dependencies of a build, including extras. Test tools are always the newest versions.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
TOOLS = "test"
"""Extra whose packages no site needs."""
_LOWER = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*(?P<version>[^,;\s]+)")


def oldest_versions(project: Path) -> Iterator[str]:
    """Yield `name==version` for each requirement, in the order of the file.

    Raises ValueError for a requirement without a lower bound, because its promise cannot be tested.
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
