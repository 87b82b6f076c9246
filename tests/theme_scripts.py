"""Minified scripts of the themes, made with terser, a program from npm.

They are next to the theme, named by the bytes they were made of. A script that has been edited since, or
that belongs to a site, is published unchanged. Only people who change our scripts need terser.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from blogsmith.render.templates.files import MINIFIED, minified_name

ROOT = Path(__file__).parent.parent
TERSER = ROOT / ".cache" / "node_modules" / "terser" / "dist" / "bundle.min.js"
"""Where `make test` installs it."""
_PROGRAM = """
const { minify } = require(process.argv[1]);
const options = { module: true, ecma: 2022, compress: { passes: 3 }, format: { comments: /^!/ } };
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const made = Object.entries(texts).map(async ([name, text]) => [name, (await minify(text, options)).code]);
Promise.all(made).then((found) => process.stdout.write(JSON.stringify(Object.fromEntries(found))));
"""


def scripts() -> dict[Path, bytes]:
    """Return the original scripts of the themes."""
    return {file: file.read_bytes() for file in sorted(ROOT.glob("themes/*/static/*.js"))}


def minified_file(script: Path, data: bytes) -> Path:
    """Return the path of the minified script."""
    return script.parent.parent / MINIFIED / minified_name(script.stem, data)


def minify(texts: Mapping[str, str]) -> dict[str, str]:
    """Minify scripts by name; CalledProcessError for one with an error."""
    made = subprocess.run(
        ["node", "-e", _PROGRAM, str(TERSER)],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    found: dict[str, str] = json.loads(made.stdout)
    return found


def minified_scripts() -> dict[Path, str]:
    """Return the path of each minified script of the themes → its new content."""
    found = scripts()
    made = minify({str(file): data.decode() for file, data in found.items()})
    return {minified_file(file, data): made[str(file)] + "\n" for file, data in found.items()}


def regenerate_scripts(names: Sequence[str]) -> None:
    """Write all minified scripts, and remove outdated ones."""
    made = minified_scripts()
    for old in set(ROOT.glob(f"themes/*/{MINIFIED}/*.js")) - made.keys():
        old.unlink()
    for file, text in made.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
