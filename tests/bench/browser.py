"""`make bench-browser`: how long a reader waits for Python after the first click, and after later ones.

    python -m tests.bench.browser [--rounds N]

Chromium loads everything from this machine, with an empty cache each round. The page takes the times, so
they do not include the driver. Times are meaningful only on an otherwise idle machine, so the load is
printed with them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from tests.browser.browser_python import PAGE, built_site
from tests.browser.reader import Reader, reading
from tests.browser.server import served

FIRST_GOAL_MS = 6000
NEXT_GOAL_MS = 50
NEXT_RUNS = 20
# Milliseconds from a click on Run to the next change below the block's bar, after the run.
RUN = """
const block = document.querySelector("#cell-count"), button = block.querySelector(".run-button");
const field = block.querySelector(".run-field");
field.value = `print(${Math.random()})`;
const status = block.querySelector(".run-status");
status.textContent = "";
const begun = performance.now();
return new Promise(resolve => {
  let first;
  const watch = new MutationObserver(() => {
    first ??= block.querySelector(".run-output")?.textContent.includes(field.value.slice(6, -1)) ?
      performance.now() - begun : undefined;
    if (!/^Ran in|^Ended|^Cannot/.test(status.textContent)) return;
    watch.disconnect();
    setTimeout(() => resolve([first, status.textContent]));
  });
  watch.observe(block, {childList: true, subtree: true, characterData: true});
  button.click();
});
"""


def main() -> None:
    """Print the times next to their goals."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    first: list[float] = []
    later: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        output = built_site(Path(folder))
        with served(output) as origin, reading(Path(folder) / "profile") as reader:
            for _ in range(rounds):
                reader.open(origin + PAGE)
                reader.tell("Network.clearBrowserCache")
                first.append(_run(reader))
                later += [_run(reader) for _ in range(NEXT_RUNS)]
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    _report("click to first output", first, FIRST_GOAL_MS)
    _report("next runs", later, NEXT_GOAL_MS)


def _run(reader: Reader) -> float:
    """Return the milliseconds from a click to the output of the run."""
    time, words = reader.ask(RUN)
    if not words.startswith("Ran in"):
        raise SystemExit(f"the code did not run: {words}")
    return float(time)


def _report(name: str, times: list[float], goal_ms: float) -> None:
    times.sort()
    middle = statistics.median(times)
    verdict = "reached" if middle <= goal_ms else "missed"
    spread = f"{times[0]:.0f} to {times[-1]:.0f}"
    print(f"{name:24} {middle:8.0f} ms  ({spread}, {len(times)} runs)  goal {goal_ms} ms: {verdict}")


if __name__ == "__main__":
    main()
