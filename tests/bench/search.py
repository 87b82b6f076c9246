"""The cost of search for readers and builds: milliseconds of a query in Chromium, size and time of the index.

    python -m tests.bench.search [--site FOLDER] [--rounds N]

FOLDER: a site that has `search: true`; by default this repository's. The queries are those of the tests.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from blogsmith.site.search.index import IndexedPage, SearchIndex
from blogsmith.site.search.page_record import make_record
from tests.browser.reader import reading
from tests.browser.server import served
from tests.site_files import build

ROOT = Path(__file__).parents[2]
QUERIES = ROOT / "tests" / "browser" / "search_queries.txt"
WORDS = ("recorded results", "softmax", "gradient descent", "attention in tiles", "th")
_ASK = """
const [queries, words, base, rounds] = arguments;
const {parts} = document.querySelector("[data-parts]").dataset;
return import(new URL(parts.split(" ")[1], location.href)).then(async (code) => {
  const times = {};
  const time = async (name, act) => {
    const start = performance.now();
    await act();
    (times[name] ??= []).push(performance.now() - start);
  };
  const index = new code.SearchIndex(base);
  await time("index loaded", () => index.loadFormulas());
  for (let round = 0; round < rounds; round += 1) {
    const suffix = round ? "" : ", first round";
    for (const text of queries) await time(`formulas${suffix}`, () => index.findFormulas(text));
    for (const text of words) await time(`words${suffix}`, () => index.findWords(text));
  }
  return times;
});
"""


def measure_answers(public: Path, rounds: int) -> dict[str, list[float]]:
    """Return the milliseconds of each repetition by action."""
    lines = QUERIES.read_text().splitlines()
    queries = [line.partition(" → ")[0] for line in lines if line and not line.startswith("#")]
    with TemporaryDirectory() as profile, served(public) as origin, reading(Path(profile)) as reader:
        reader.open(f"{origin}/search/")
        found: dict[str, list[float]] = reader.ask(_ASK, queries, WORDS, "/search/", rounds)
        return found


def measure_index(public: Path) -> None:
    """Print the cost of making records of pages and an index of them."""
    texts = [file.read_text("utf-8").partition("<main")[2] for file in sorted(public.rglob("index.html"))]
    start = time.process_time()
    records = [make_record(text) for text in texts]
    made = time.process_time()
    pages = [IndexedPage(f"/{at}/", f"Page {at}", (), record) for at, record in enumerate(records)]
    _ = SearchIndex(pages, {}).files
    done = time.process_time()
    size = sum(map(len, records)) / len(records)
    print(f"records   {(made - start) / len(texts) * 1000:8.2f} ms a page, {size:,.0f} bytes each")
    print(f"index     {(done - made) * 1000:8.0f} ms of {len(pages)} pages")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.search")
    parser.add_argument("--site", type=Path, default=ROOT)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        public = Path(folder) / "public"
        build(options.site, output=public, future=True, base_url="")
        measure_index(public)
        for file in sorted(public.glob("search/*/*.json")):
            data = file.read_bytes()
            print(f"{file.name:22} {len(data):9,} bytes, packed {len(gzip.compress(data, 9)):8,}")
        for name, times in measure_answers(public, options.rounds).items():
            slowest, middle = max(times), statistics.median(times)
            print(f"{name:22} {middle:7.2f} ms in the middle, {slowest:7.2f} at most, of {len(times)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
