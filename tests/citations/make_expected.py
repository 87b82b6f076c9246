"""Write `expected.json`: the output of citeproc-js for our sixty references in each style.

Needs node, and citeproc from npm: `python -m tests.citations.make_expected NODE_MODULES`. Entries are
recorded without markup, because each processor prints its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path
from typing import Any

from blogsmith.base.patterns import lazy_pattern
from blogsmith.bibliography.bibliography_file import BibtexFile
from blogsmith.bibliography.citation_styles import BUNDLED_STYLES
from blogsmith.model.publications import Person, Publication

FOLDER = Path(__file__).parent
STYLES = FOLDER.parents[1] / "blogsmith" / "bibliography" / "styles"
_TAG = lazy_pattern(r"<[^<>]*>")


def works() -> list[Publication]:
    file = BibtexFile("works.bib", (FOLDER / "works.bib").read_text("utf-8"))
    found = (file.find(key) for key in file.keys)
    return [one.work for one in found if one and one.work]


def csl_item(work: Publication) -> dict[str, Any]:
    """Return the reference as an item of CSL-JSON."""
    item: dict[str, Any] = {"id": work.key, "type": work.kind, **work.variables}
    for role, people in work.people.items():
        others = [{"literal": "others"}] if role == "author" and work.has_others else []
        item[role] = [*map(_name, people), *others]
    for variable, date in work.dates.items():
        parts = [part for part in (date.year, date.month, date.month and date.day) if part]
        item[variable] = {"date-parts": [parts]}
    return {**item, "issued": {"literal": work.date_text}} if work.date_text else item


def _name(person: Person) -> dict[str, str]:
    parts = {
        "family": person.family,
        "given": person.given,
        "non-dropping-particle": person.particle,
        "suffix": person.suffix,
        "literal": person.literal,
    }
    return {name: text for name, text in parts.items() if text}


def plain(html: str) -> str:
    """Return an entry without markup and with collapsed whitespace."""
    return " ".join(unescape(_TAG.sub("", html.replace("</div>", " </div>"))).split())


def main(modules: Path) -> None:
    items = [csl_item(work) for work in works()]
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder, "items.json")
        given.write_text(json.dumps(items), "utf-8")
        styles = [str(STYLES / f"{name}.csl") for name in BUNDLED_STYLES]
        command = ["node", str(FOLDER / "expected.cjs"), str(given), str(STYLES.parent / "locales"), *styles]
        environment = {**os.environ, "NODE_PATH": str(modules)}
        made = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found = json.loads(made.stdout)
    expected = {
        style: {
            "order": result["order"],
            "entries": {key: plain(text) for key, text in result["entries"].items()},
            "cites": {key: plain(text) for key, text in result["cites"].items()},
        }
        for style, result in found.items()
    }
    text = json.dumps(expected, ensure_ascii=False, indent=1)
    (FOLDER / "expected.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
