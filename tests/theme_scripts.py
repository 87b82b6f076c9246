"""The scripts of the themes in the form that is published: terser, a program of npm, makes them smaller.

They lie beside the theme, each named by the bytes it was made of, so a script that has been edited since, or
that a site has of its own, is published as it stands. Nobody needs terser who does not change ours.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from blogsmith.render.templates.files import MINIFIED, minified_name

ROOT = Path(__file__).parent.parent
TERSER = ROOT / ".cache" / "node_modules" / "terser" / "dist" / "bundle.min.js"
"""Where `make test` puts it."""
_PROGRAM = """
const { minify } = require(process.argv[1]);
const options = { module: true, ecma: 2022, compress: { passes: 3 }, format: { comments: /^!/ } };
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const made = Object.entries(texts).map(async ([name, text]) => [name, (await minify(text, options)).code]);
Promise.all(made).then((found) => process.stdout.write(JSON.stringify(Object.fromEntries(found))));
"""


def scripts() -> dict[Path, bytes]:
    """Scripts of the themes, as they are written."""
    return {file: file.read_bytes() for file in sorted(ROOT.glob("themes/*/static/*.js"))}


def minified_file(script: Path, data: bytes) -> Path:
    """Where the smaller form of a script lies."""
    return script.parent.parent / MINIFIED / minified_name(script.stem, data)


def minify(texts: Mapping[str, str]) -> dict[str, str]:
    """Name → smaller form of each script; CalledProcessError for one with a mistake."""
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
    """Where the smaller form of each script of the themes lies → that form, made now."""
    found = scripts()
    made = minify({str(file): data.decode() for file, data in found.items()})
    return {minified_file(file, data): made[str(file)] + "\n" for file, data in found.items()}


def regenerate_scripts(names: Sequence[str]) -> None:
    """Write the smaller forms of all scripts, and remove those of earlier ones."""
    made = minified_scripts()
    for old in set(ROOT.glob(f"themes/*/{MINIFIED}/*.js")) - made.keys():
        old.unlink()
    for file, text in made.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
