"""CPU time for opening a large bibliography and reading the entries that a page cites.

    python -m tests.bench.bibliography [--entries N] [--rounds N]

Cold: there is no index. Warm: an earlier build stored the index. Both read twenty entries. The goals for
five thousand entries are less than 1 s cold and less than 20 ms warm.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import time
from collections.abc import Callable, Sequence

import msgspec

from blogsmith.bibliography.bibliography_file import BibtexFile
from blogsmith.bibliography.bibtex_index import BibIndex

CITED = 20
ENTRY = """\
@article{{key{n},
  author = {{Doe, Jane and Roe, Richard and M{{\\"u}}ller, J{{\\"o}}rg}},
  title = {{On the {{Title}} of number {n} and its $\\sqrt{{{n}}}$}},
  journal = tocs,
  year = {{{year}}},
  volume = {{{n}}},
  number = {{2}},
  pages = {{1--20}},
  doi = {{10.5555/{n}}},
  abstract = {{{abstract}}},
}}

"""


def bibliography(entries: int) -> str:
    """Return a BibTeX file with this number of entries."""
    abstract = "What we say in the paper, once more and shorter. " * 8
    parts = (ENTRY.format(n=n, year=1980 + n % 45, abstract=abstract) for n in range(entries))
    return '@string{tocs = "Transactions on Careful Systems"}\n' + "".join(parts)


def read_cited(file: BibtexFile, entries: int) -> None:
    """Read the cited entries, as a page does."""
    for number in range(CITED):
        found = file.find(f"key{number * (entries // CITED)}")
        assert found
        assert not found.diagnostics


def measure(act: Callable[[], object], rounds: int) -> float:
    """Return the median CPU time of a call in milliseconds."""
    times_ms = []
    for _ in range(rounds):
        start = time.process_time()
        act()
        times_ms.append(1000 * (time.process_time() - start))
    return statistics.median(times_ms)


def main(arguments: Sequence[str]) -> int:
    """Print the cold and the warm times."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bibliography")
    parser.add_argument("--entries", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    text = bibliography(options.entries)
    data = text.encode()
    kept = msgspec.msgpack.encode(BibtexFile("refs.bib", text).index)

    def cold() -> None:
        read_cited(BibtexFile("refs.bib", data.decode()), options.entries)

    def warm() -> None:
        hashlib.sha256(data).hexdigest()
        index = msgspec.msgpack.decode(kept, type=BibIndex)
        read_cited(BibtexFile("refs.bib", data.decode(), index), options.entries)

    print(
        f"{options.entries} entries, {len(data) / 1e6:.1f} MB, {CITED} cited; index {len(kept) / 1e3:.0f} kB"
    )
    print(f"cold {measure(cold, options.rounds):7.1f} ms")
    print(f"warm {measure(warm, options.rounds):7.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
