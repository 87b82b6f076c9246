r"""Speech Rule Engine reads our MathML as it reads Temml's, except where a reason is listed.

The formulas are those of the gallery. Both programs come from npm with `make bench-math`.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from blogsmith.tex.convert import convert_formula
from tests.browser.gallery_text import read_groups
from tests.browser.tools import MODULES, file, program

PACKAGES = (MODULES / "speech-rule-engine" / "package.json", MODULES / "temml" / "package.json")
SCRIPT = """
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
const require = createRequire(process.argv[1]);
const sre = require("speech-rule-engine"), temml = require("temml");
await sre.setupEngine({locale: "en", domain: "clearspeak", modality: "speech"});
await sre.engineReady();
const said = JSON.parse(readFileSync(0, "utf8")).map(({tex, mathml}) => {
  try { return [sre.toSpeech(mathml), sre.toSpeech(temml.renderToString(tex, {throwOnError: true}))]; }
  catch { return [sre.toSpeech(mathml), null]; }
});
console.log(JSON.stringify(said));
"""
_SELECTORS = re.compile("[\ufe00-\ufe0f]")
"""Variation selectors, which voices ignore: of script letters in ours, of operators in Temml's."""
ENOUGH = 750
"""Minimum number of formulas that Temml accepts."""


def read_aloud(formulas: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return TeX → readings of our MathML and Temml's, if Temml accepts it. formulas: TeX → our MathML."""
    given = [{"tex": tex, "mathml": mathml} for tex, mathml in formulas.items()]
    for package in PACKAGES:
        file(package)
    command = [program("node"), "--input-type=module", "-e", SCRIPT, str(Path(MODULES, "here.js"))]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    said = [[_words(one) for one in pair] for pair in json.loads(done.stdout)]
    return {tex: (ours, temml) for tex, (ours, temml) in zip(formulas, said, strict=True) if temml}


def _words(said: str | None) -> str:
    return " ".join(_SELECTORS.sub("", said or "").split())


_KINDS = (
    # Ours has a name for each kind of bar.
    (r"over horizontal bar|horizontal bar|overline|over bar|the line segment", "bar"),
    # Temml has letters of other alphabets, and one letter of words after the other.
    (r"\b(?:normal|bold|italic|monospace|sans serif|cap)\b", ""),
    # Ours has no invisible product beside upright letters.
    (r"\btimes\b", ""),
    # The program reads Temml's brackets of intervals as nothing.
    (r"open (?:paren|bracket|brace)|close (?:paren|bracket|brace)|the set", ""),
    # Ours has one character for several primes.
    ("prime prime prime prime", "quadruple prime"),
    ("prime prime prime", "triple prime"),
    ("prime prime", "double prime"),
    # Temml pads the labels of arrows with empty rows.
    (r"\bunder (?=over it)|(?<=over )to |over (?=to)| (?:under|over)$|sign with (?=over)", ""),
    # Ours has limits where Temml has subscripts.
    (r"\b(?:sub|from|over|to|of)\b", ""),
    (r"\s+", ""),
)
"""Kinds of differences that are right: patterns of words, and the words that they are compared as."""


def alike(said: str) -> str:
    """Return a reading without the differences of `_KINDS`."""
    for pattern, words in _KINDS:
        said = re.sub(pattern, words, said)
    return said.lower()


_ARGUED = Path(__file__).with_name("speech_reference.txt").read_text("utf-8")
"""Reasons, each followed by formulas that are read differently."""


@pytest.mark.long
def test_readings_are_those_of_temml() -> None:
    formulas = {
        tex: convert_formula(tex, display=True).mathml
        for group in read_groups()
        for line in group.lines
        for tex in line.formulas
    }
    said = read_aloud(formulas)
    assert len(said) >= ENOUGH
    differ = {tex: pair for tex, pair in said.items() if alike(pair[0]) != alike(pair[1])}
    assert set(differ) == {line[4:] for line in _ARGUED.splitlines() if line[:4] == "    "}, differ
